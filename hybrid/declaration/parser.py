"""From text to expression: a small grammar of its own, in which code cannot be written.

::

    sum     = product (("+" | "-") product)*
    product = signed (("*" | "/") signed)*
    signed  = ("+" | "-") signed | power
    power   = atom ["**" signed]
    atom    = number ["deg"] | name | function "(" sum ("," sum)* ")" | "(" sum ")"

Binding and association are Python's. Nothing is ever evaluated by Python; there is no syntax for attributes, indices,
strings, assignments or comparisons, so none can be smuggled in, and Python's keywords are names like any other.
"""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

from hybrid.arguments import explains_arguments
from hybrid.declaration.names import suggestion
from hybrid.declaration.tree import ALIASES, CONSTANTS, FUNCTIONS, Apply, Expression, Name, Node, Number, apply
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hybrid.expressions import Function

DEGREE = "deg"
MAX_NODES = 4_000
MAX_NESTING = 50
MAX_EXPONENT = 100
MAX_UNKNOWN_NAMES = 10

_BINDING = {"+": 10, "-": 10, "*": 20, "/": 20, "**": 40}
_SIGN_BINDING = 30


@explains_arguments
def parse_expression(
    text: str, *, known: Collection[str], field: str = "", path: tuple[str | int, ...] = ()
) -> Expression:
    """An expression, read from its text.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * / **``, brackets and the functions of ``FUNCTIONS``.
    known : collection of str
        The names that may occur. Functions and ``pi`` are always known.
    field, path
        Where the text stands, for messages.

    Returns
    -------
    Expression

    Raises
    ------
    DeclarationError
        With the column, counted from 1, of what is wrong: one problem for a text that cannot be read, otherwise one
        for every unknown name.

    Examples
    --------
    >>> sorted(parse_expression("I*phi_dot**2/2", known=["I", "phi_dot"]).names)
    ['I', 'phi_dot']
    >>> parse_expression("2^x", known=["x"])
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: column 2: unexpected '^'; power is written **
    """
    if not isinstance(text, str):
        raise DeclarationError(Problem(f"an expression is text, not {type(text).__name__}", field, path=path))
    try:
        parser = _Parser(tokenize(text), known)
        tree = parser.read()
    except SyntaxProblem as stop:
        problem = Problem(stop.message, field, column=stop.column, hint=stop.hint, path=path)
        raise DeclarationError(problem) from None
    if parser.unknown:
        raise DeclarationError(
            Problem(message, field, column=column, hint=hint, path=path) for message, column, hint in parser.unknown
        )
    return Expression(text, tree)


class _Parser:
    """Precedence climbing over tokens; writes nodes in postfix order and folds constants to check them."""

    def __init__(self, tokens: list[Token], known: Collection[str]) -> None:
        self._tokens = tokens
        self._position = 0
        self._known = known
        self._nodes: list[Node] = []
        self._constants: list[float | None] = []
        self.unknown: list[tuple[str, int, str]] = []

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def read(self) -> tuple[Node, ...]:
        if self._next.kind == "end":
            raise SyntaxProblem("the expression is empty", 1, "write 0 for nothing")
        self._expression(0, 0)
        if self._position < len(self._tokens) - 1:
            raise self._unexpected()
        return tuple(self._nodes)

    def _expression(self, minimum: int, depth: int) -> None:
        self._operand(depth)
        while True:
            operator = self._next
            binding = _BINDING.get(operator.text, -1)
            if binding < minimum:
                return
            self._position += 1
            # ** groups from the right, the others from the left.
            self._expression(binding if operator.text == "**" else binding + 1, depth + 1)
            self._apply(operator.text, 2, operator.column)

    def _operand(self, depth: int) -> None:
        token = self._next
        if depth > MAX_NESTING:
            message = f"brackets, signs or powers are nested more than {MAX_NESTING} deep"
            raise SyntaxProblem(message, token.column, "split it with [definitions]")
        self._position += 1
        if token.kind == "number":
            self._number(token)
        elif token.kind == "name":
            self._name(token, depth)
        elif token.text == "(":
            self._expression(0, depth + 1)
            self._close(token)
        elif token.text in ("+", "-"):
            self._expression(_SIGN_BINDING, depth + 1)
            if token.text == "-":
                self._apply("negate", 1, token.column)
        else:
            self._position -= 1
            raise self._expected_value(token)

    def _expected_value(self, token: Token) -> SyntaxProblem:
        before = self._tokens[self._position - 1] if self._position else None
        after = f" after {before}" if before else ""
        hint = ""
        if before and before.text == token.text == "/":
            hint = "the whole part of a quotient is not available"
        elif before and before.text == "**" and token.text == "*":
            hint = "power is written **"
        return SyntaxProblem(f"expected a number, a name or a bracket{after}, not {token}", token.column, hint)

    def _unexpected(self) -> SyntaxProblem:
        token, before = self._next, self._tokens[self._position - 1]
        if token.text == ")":
            return SyntaxProblem("')' closes no bracket", token.column)
        if token.text == ",":
            return SyntaxProblem("',' stands outside the brackets of a function", token.column)
        if before.kind == "number" and token.kind == "number":
            return SyntaxProblem(f"unexpected {token} after {before}", token.column)
        written = "multiplication is written *"
        if before.kind != "operator" and token.kind != "operator":
            written += f", as {_short(before.text)}*{_short(token.text)}"
        return SyntaxProblem(f"unexpected {token} after {before}", token.column, written)

    def _close(self, opening: Token) -> None:
        if self._next.kind == "end":
            raise SyntaxProblem("this bracket is not closed", opening.column)
        if self._next.text != ")":
            raise self._unexpected()
        self._position += 1

    def _number(self, token: Token) -> None:
        nearest = float(token.text)
        if not math.isfinite(nearest):
            raise SyntaxProblem(f"the number {_short(token.text)} is too large", token.column)
        if nearest == 0.0 and token.text.lower().partition("e")[0].strip("0."):
            raise SyntaxProblem(f"the number {_short(token.text)} is too close to zero", token.column)
        # A zero may carry any exponent: never hand that to Fraction.
        exact = Fraction(token.text) if nearest else Fraction(0)
        self._push(Number(exact, nearest), nearest, token.column)
        if self._next.text == DEGREE and DEGREE not in self._known:
            self._position += 1
            self._push(Name("pi", token.column), CONSTANTS["pi"], token.column)
            self._apply("*", 2, token.column)
            self._push(Number(Fraction(180), 180.0), 180.0, token.column)
            self._apply("/", 2, token.column)

    def _name(self, token: Token, depth: int) -> None:
        name = token.text
        if self._next.text == "(":
            self._call(token, depth)
        elif name in CONSTANTS:
            self._push(Name(name, token.column), CONSTANTS[name], token.column)
        elif name in self._known:
            self._push(Name(name, token.column), None, token.column)
        elif name in FUNCTIONS:
            raise SyntaxProblem(f"{name} is a function", token.column, f"write {name}(...)")
        else:
            self._report("name", name, token.column, [*self._known, *CONSTANTS])

    def _call(self, token: Token, depth: int) -> None:
        name = token.text
        function = FUNCTIONS.get(name)
        if function is None and (name in self._known or name in CONSTANTS):
            hint = f"multiplication is written *, as {name}*(...)"
            raise SyntaxProblem(f"'{name}' is not a function", token.column, hint)
        opening = self._next
        arity = 0
        while self._next.text == "," or arity == 0:
            self._position += 1
            if arity == 0 and self._next.text == ")":
                break
            self._expression(0, depth + 1)
            arity += 1
        self._close(opening)
        if function is None:
            del self._constants[len(self._constants) - arity :]
            self._report("function", name, token.column, FUNCTIONS)
            return
        if not function.least <= arity <= function.most:
            raise SyntaxProblem(f"{name} takes {_count(function)}, not {arity}", token.column)
        self._apply(name, arity, token.column)

    def _report(self, kind: str, name: str, column: int, names: Collection[str]) -> None:
        # The hint costs a comparison with every known name: only for as many as are shown.
        if len(self.unknown) < MAX_UNKNOWN_NAMES:
            alias = ALIASES.get(name) if kind == "function" else None
            hint = f"write {alias}(...)" if alias else suggestion(name, names)
            self.unknown.append((f"unknown {kind} '{_short(name)}'", column, hint))
        self._push(Name(name, column), None, column)

    def _push(self, node: Node, constant: float | None, column: int) -> None:
        if len(self._nodes) >= MAX_NODES:
            message = f"the expression has more than {MAX_NODES} numbers, names and operators"
            raise SyntaxProblem(message, column, "split it with [definitions]")
        self._nodes.append(node)
        self._constants.append(constant)

    def _apply(self, operation: str, arity: int, column: int) -> None:
        arguments = self._constants[-arity:]
        del self._constants[-arity:]
        if operation == "/" and arguments[1] == 0.0:
            raise SyntaxProblem("division by zero", column)
        if operation == "**" and arguments[1] is not None and abs(arguments[1]) > MAX_EXPONENT:
            message = f"the exponent {arguments[1]:g} is beyond {MAX_EXPONENT}"
            raise SyntaxProblem(message, column, "such a power overflows for almost every base")
        value = None
        if None not in arguments:
            value = float(apply(operation, [np.float64(argument) for argument in arguments if argument is not None]))
            if not math.isfinite(value):
                raise SyntaxProblem("the value is infinite or undefined", column)
        self._push(Apply(operation, arity, column), value, column)


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:20]}... ({len(text)} characters)"


def _count(function: Function) -> str:
    if function.most == 1:
        return "one argument"
    return (
        f"{function.least} arguments"
        if function.least == function.most
        else (f"{function.least} to {function.most} arguments")
    )


MAX_LENGTH = 10_000
MAX_DIGITS = 100

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator>\*\*|[-+*/(),])"
)

_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "^": "power is written **",
        "=": "write one expression, not an equation",
        "[": "group with round brackets",
        "{": "group with round brackets",
        "\N{MINUS SIGN}": "write -",
        "\N{EN DASH}": "write -",
        "\N{MIDDLE DOT}": "multiplication is written *",
        "\N{DOT OPERATOR}": "multiplication is written *",
        "\N{MULTIPLICATION SIGN}": "multiplication is written *",
        "\N{DIVISION SIGN}": "division is written /",
        "\N{SUPERSCRIPT TWO}": "power is written **",
        "\N{SUPERSCRIPT THREE}": "power is written **",
        "\N{DEGREE SIGN}": "degrees are written deg, as 65 deg",
        "\N{SQUARE ROOT}": "write sqrt(...)",
    }
)


@attrs.frozen
class Token:
    """A number, a name, an operator or the end of an expression.

    Attributes
    ----------
    text : str
        As written; empty at the end.
    column : int
        Place of the first character, counted from 1.
    """

    kind: Literal["number", "name", "operator", "end"]
    text: str
    column: int

    def __str__(self) -> str:
        return f"'{self.text}'" if self.text else "the end"


class SyntaxProblem(Exception):
    """What stops the reading of an expression; turned into a DeclarationError before it leaves the package."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.column = column
        self.hint = hint


def tokenize(text: str) -> list[Token]:
    """The tokens of an expression, the last of kind ``end``.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Token

    Raises
    ------
    SyntaxProblem
        At the first character that no expression contains, at a number that is too long, or for a text that is.

    Examples
    --------
    >>> [token.text for token in tokenize("2*cos(phi)")]
    ['2', '*', 'cos', '(', 'phi', ')', '']
    """
    if len(text) > MAX_LENGTH:
        message = f"the expression has {len(text)} characters; at most {MAX_LENGTH} are allowed"
        raise SyntaxProblem(message, 1, "split it with [definitions]")
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SyntaxProblem(f"unexpected {_describe(text[position])}", position + 1, _hint(text, position))
        if match.lastgroup == "number":
            if len(match.group()) > MAX_DIGITS:
                message = f"the number has {len(match.group())} characters; at most {MAX_DIGITS} are allowed"
                raise SyntaxProblem(message, position + 1)
            tokens.append(Token("number", match.group(), position + 1))
        elif match.lastgroup == "name":
            tokens.append(Token("name", match.group(), position + 1))
        elif match.lastgroup == "operator":
            tokens.append(Token("operator", match.group(), position + 1))
        position = match.end()
    tokens.append(Token("end", "", len(text) + 1))
    return tokens


def _describe(character: str) -> str:
    if character.isprintable() and character.isascii():
        return f"'{character}'"
    name = unicodedata.name(character, "control character").lower()
    code = f"U+{ord(character):04X}"
    return f"'{character}' ({name})" if character.isprintable() else f"{code} ({name})"


def _hint(text: str, position: int) -> str:
    character = text[position]
    if character in _HINTS:
        return _HINTS[character]
    greek = re.match(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(character, ""))
    if greek:
        return f"names are ASCII: write {_spelt(greek[1], greek[2])}"
    if character in "<>!&|~:?":
        return "comparisons and conditions are not available; min, max, abs and sign are"
    if character in "\"'`\\@#$;%.":
        return "an expression holds numbers, names, + - * / **, brackets and the usual functions"
    return "names are ASCII letters, digits and underscores" if character.isalpha() else ""


def _spelt(case: str, letter: str) -> str:
    letter = {"LAMDA": "LAMBDA"}.get(letter, letter)  # codespell:ignore lamda
    return letter.capitalize() if case == "CAPITAL" else letter.lower()
