"""The words of an expression, each with its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import attrs

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
