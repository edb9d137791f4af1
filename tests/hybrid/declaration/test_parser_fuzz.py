"""Random texts never do anything but parse or fail with a message; random expressions have the value Python gives."""

import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import sympy
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from hybrid.declaration import Expression, evaluate, parse_expression
from hybrid.declaration.tree import read
from hybrid.errors import DeclarationError
from hybrid.expressions import Builder, exact_values, sympy_expressions

NAMES = ("x", "y", "phi", "lambda", "I")
POINT = {"x": 1.25, "y": -0.75, "phi": 0.5, "lambda": 2.0, "I": 3.0}

WORDS = [
    *NAMES,
    *re.findall(r"\S+", "t pi sin cos atan2 sqrt min abs __import__ eval os __class__ if else for and not print"),
    *re.findall(r"\S+", "0 1 2 0.5 1e3 9e99 .5 1. 10 + - * / ** ( ) , ^ = : := [ ] { } . ' // % @ # \\ μ ²"),
    *(" ", '"', "\n", "\0"),
]

fuzz = settings(max_examples=5_000, suppress_health_check=[HealthCheck.too_slow], database=None)


def only_parses_or_complains(text: str) -> None:
    try:
        expression = parse_expression(text, known=NAMES)
    except DeclarationError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.message
            assert 1 <= problem.column <= len(text) + 1
    else:
        assert isinstance(expression, Expression)
        assert expression.names <= {*NAMES, "pi"}
        evaluate(expression, POINT)


@fuzz
@given(st.text(max_size=60))
def test_any_text_parses_or_gives_a_message_with_a_column(text):
    only_parses_or_complains(text)


@fuzz
@given(st.lists(st.sampled_from(WORDS), max_size=25).map("".join))
def test_any_sequence_of_words_parses_or_gives_a_message_with_a_column(text):
    only_parses_or_complains(text)


def trees(leaves: st.SearchStrategy[str], functions: tuple[str, ...], exponents: st.SearchStrategy[str]):
    """Texts of expressions, with brackets only where Python needs none either or where they change the meaning."""

    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        space = st.sampled_from(["", " "])
        binary = st.tuples(inner, space, st.sampled_from("+-*/"), space, inner).map("".join)
        bracketed = inner.map("({})".format)
        power = st.tuples(bracketed, st.just("**"), exponents).map("".join)
        signed = st.tuples(st.sampled_from("+-"), inner).map("".join)
        called = st.tuples(st.sampled_from(functions), inner).map(lambda pair: "{}({})".format(*pair))
        return st.one_of(binary, bracketed, power, signed, *([called] if functions else []))

    return st.recursive(leaves, grown, max_leaves=12)


LITERALS = st.sampled_from(["0", "1", "2", "3.5", "0.25", "7", "x", "y", "phi", "pi"])
FUNCTIONS = ("sin", "cos", "exp", "tanh", "sqrt", "abs", "log", "atan", "sign")
NUMPY = {name: getattr(np, {"atan": "arctan"}.get(name, name)) for name in FUNCTIONS}


@settings(max_examples=2_000, suppress_health_check=[HealthCheck.too_slow], database=None)
@given(trees(LITERALS, FUNCTIONS, st.sampled_from(["2", "-1", "3", "0.5", "x", "-y", "2**2"])))
def test_value_is_the_one_that_pythons_own_parser_gives(text):
    # The same floating-point operations in the same order: equal to the last bit, if the text is read alike.
    python = re.sub(r"(?<![\w.])(\d+\.?\d*)", r"F(\1)", text)
    with np.errstate(all="ignore"):
        expected = eval(
            python,
            {"F": np.float64, "pi": np.float64(math.pi), **NUMPY},
            {k: np.float64(POINT[k]) for k in ("x", "y", "phi")},
        )
    try:
        found = evaluate(parse_expression(text, known=NAMES), POINT)
    except DeclarationError as error:
        # Only what is made of constants and has no finite value may be refused.
        assert re.search("division by zero|infinite|exponent", str(error))
        assume(False)
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow], database=None)
@given(trees(st.sampled_from(["1", "2", "3", "0.5", "x", "y"]), (), st.sampled_from(["1", "2"])))
def test_value_is_the_exact_one_where_floating_point_is_exact(text):
    # Few small dyadic numbers: sums and products have no rounding; quotients only where the divisor is a power of 2.
    divisors = re.findall(r"/ ?([^ ]+)", text)
    assume(all(divisor in ("2", "0.5", "1") for divisor in divisors))
    expression = parse_expression(text, known=list("xy"))
    build = Builder()
    x, y = build.name("x"), build.name("y")
    node = read(build, expression, {"x": x, "y": y})
    (exact,) = exact_values(build.graph(), [node], {x: Fraction(5, 4), y: Fraction(-3, 4)})
    found = float(evaluate(expression, POINT))
    assume(abs(found) < 2**20)
    assert exact == Fraction(found)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], database=None)
@given(trees(LITERALS, ("sin", "cos", "exp", "tanh", "atan"), st.sampled_from(["2", "-1", "3"])))
def test_symbolic_form_has_the_same_value_in_30_digits(text):
    symbols = {name: sympy.Symbol(name, real=True) for name in ("x", "y", "phi")}
    try:
        expression = parse_expression(text, known=symbols)
        build = Builder()
        node = read(build, expression, {name: build.name(name) for name in symbols})
        (symbolic,) = sympy_expressions(build.graph(), [node])
    except DeclarationError:
        assume(False)
    values = {symbol: sympy.Rational(*POINT[name].as_integer_ratio()) for name, symbol in symbols.items()}
    exact = symbolic.evalf(30, subs=values)
    assume(exact.is_Number and exact.is_finite)
    found = float(evaluate(expression, POINT))
    # Rounding is amplified as a small relative change of the input is: estimated, with a factor 1000 to spare.
    moved = float(evaluate(expression, {name: value * (1 + 1e-10) for name, value in POINT.items()}))
    assume(math.isfinite(found) and math.isfinite(moved))
    assume(abs(moved - found) < 1e-4 * (1 + abs(found)))
    scale = max(map(abs, [found, 1.0, *intermediate(expression)]))
    assert abs(mpmath.mpf(found) - mpmath.mpf(str(exact))) <= 1e-12 * scale + 1e-2 * abs(moved - found)


def intermediate(expression: Expression) -> list[float]:
    """Values of all parts of an expression: cancellation between large ones loses digits."""
    parts = [Expression("", expression.tree[:end]) for end in range(1, len(expression.tree) + 1)]
    values = [_last(part) for part in parts]
    return [value for value in values if math.isfinite(value)]


def _last(part: Expression) -> float:
    needed, start = 1, len(part.tree)
    while needed:
        start -= 1
        needed += getattr(part.tree[start], "arity", 0) - 1
    return float(evaluate(Expression("", part.tree[start:]), POINT))
