"""What expressions mean: values, derivatives through complex steps, SymPy expressions, messages."""

import math
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy

from hybrid.declaration import Expression, evaluate, parse_expression
from hybrid.declaration.tree import FUNCTIONS, bounds, read
from hybrid.errors import DeclarationError
from hybrid.expressions import Builder, sympy_expressions

NAMES = ("x", "y", "phi", "I", "E", "N", "S", "Q", "beta", "gamma", "lambda", "is", "in", "None")


def value(text: str, **values: float) -> float:
    return float(evaluate(parse_expression(text, known=values), values))


def symbolic(expression: Expression) -> sympy.Expr:
    build = Builder()
    node = read(build, expression, {name: build.name(name) for name in expression.names - {"pi"}})
    return sympy_expressions(build.graph(), [node])[0]


def message(text: object) -> str:
    with pytest.raises(DeclarationError) as caught:
        parse_expression(text, known=NAMES)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("7 - 4 - 1", 2.0),
        ("8/4/2", 1.0),
        ("2**3**2", 512.0),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**-1*6", 3.0),
        ("-2*3", -6.0),
        ("--3", 3.0),
        ("+-+3", -3.0),
        ("2*-3", -6.0),
        (".5 + 1.", 1.5),
        ("1e-3*1E3", 1.0),
        ("min(3, 1, 2) + max(3, 1, 2)", 4.0),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("0e999999999", 0.0),
        (" 1\n+\t2 ", 3.0),
    ],
)
def test_binding_and_association_are_those_of_python(text, expected):
    assert value(text) == pytest.approx(expected, rel=1e-15)


# Each function against the standard library's at points inside its domain; one rounding unit may differ.
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"abs", "sign", "min", "max", "atan2"}))
@pytest.mark.parametrize("x", [0.1, 0.5, 0.9])
def test_function_is_the_one_of_its_name(name, x):
    assert value(f"{name}(x)", x=x) == pytest.approx(getattr(math, name)(x), rel=4e-16)


@pytest.mark.parametrize(("x", "expected"), [(-2.0, -1.0), (0.0, 0.0), (3.0, 1.0)])
def test_sign_and_abs_of_a_number(x, expected):
    assert value("sign(x)", x=x) == expected
    assert value("abs(x)", x=x) == math.fabs(x)


@pytest.mark.parametrize("name", ["I", "E", "N", "S", "Q", "beta", "gamma", "lambda", "is", "in", "None"])
def test_letters_and_keywords_that_mean_something_elsewhere_are_plain_names(name):
    expression = parse_expression(f"2*{name}**2", known=NAMES)
    assert expression.names == {name}
    assert float(evaluate(expression, {name: 3.0})) == 18.0
    symbol = sympy.Symbol(name, real=True)
    assert symbolic(expression) == 2 * symbol**2


def test_evaluation_broadcasts():
    x, y = np.linspace(0, 1, 3), np.linspace(1, 2, 4)[:, None]
    result = evaluate(parse_expression("sin(x) + y**2", known=list("xy")), {"x": x, "y": y})
    np.testing.assert_allclose(result, [[math.sin(a) + b * b for a in x] for b in y[:, 0]], rtol=1e-15)


def test_evaluation_takes_integers_and_leaves_its_input_alone():
    x = np.array([1, 2, 3])
    result = evaluate(parse_expression("x", known=["x"]), {"x": x})
    assert result.dtype == float
    assert x.dtype != float


def test_undefined_values_are_nan_or_infinite_without_a_warning():
    x = np.array([-1.0, 0.0, 4.0])
    np.testing.assert_array_equal(evaluate(parse_expression("sqrt(x)", known=["x"]), {"x": x}), [np.nan, 0, 2])
    np.testing.assert_array_equal(evaluate(parse_expression("1/x", known=["x"]), {"x": x}), [-1, np.inf, 0.25])


def test_evaluation_names_the_value_that_is_missing():
    with pytest.raises(DeclarationError, match="no value was given for 'x'"):
        evaluate(parse_expression("x", known=["x"]), {})


# A complex step has no cancellation, so its derivative is exact to rounding; the truth is written by hand.
@pytest.mark.parametrize(
    ("text", "x", "derivative"),
    [
        ("x**3", 1.5, 6.75),
        ("x**2.5", 4.0, 20.0),
        ("sin(x)*exp(x)", 0.7, math.exp(0.7) * (math.sin(0.7) + math.cos(0.7))),
        ("abs(x)", -2.0, -1.0),
        ("abs(x)**3", -2.0, -12.0),
        ("sign(x)*x", -2.0, -1.0),
        ("min(x, 1)", 0.5, 1.0),
        ("max(x, 1)", 0.5, 0.0),
        ("atan2(x, 2)", 0.5, 2 / 4.25),
        ("atan2(x, -2)", 0.5, -2 / 4.25),
        ("atan2(x, -2)", -0.5, -2 / 4.25),
        ("atan2(3, x)", 0.5, -3 / 9.25),
        ("atan2(-3, x)", 0.5, 3 / 9.25),
        ("tanh(x)/x", 1.0, 1 - math.tanh(1) ** 2 - math.tanh(1)),
    ],
)
def test_complex_step_gives_the_derivative(text, x, derivative):
    expression = parse_expression(text, known=["x"])
    stepped = evaluate(expression, {"x": np.array([x + 1e-30j])})[0]
    assert stepped.imag / 1e-30 == pytest.approx(derivative, rel=1e-14)
    assert stepped.real == pytest.approx(float(evaluate(expression, {"x": x})), rel=1e-15)


def test_literals_are_exact_in_the_graph():
    x = sympy.Symbol("x", real=True)
    built = symbolic(parse_expression("0.5*x + 0.1 + 1e-3 + 2/3", known=["x"]))
    assert built == x / 2 + sympy.Rational(1, 10) + sympy.Rational(1, 1000) + sympy.Rational(2, 3)


def test_sum_of_a_thousand_terms_is_built_and_evaluated():
    expression = parse_expression("+".join(f"{n}*x" for n in range(1000)), known=["x"])
    assert symbolic(expression) == 499500 * sympy.Symbol("x", real=True)
    assert float(evaluate(expression, {"x": 2.0})) == 999000.0
    assert pickle.loads(pickle.dumps(expression)) == expression


@pytest.mark.parametrize("text", ["1/(x - x)", "sqrt(x - x - 1)", "tan(pi/2)", "1/sin(pi)", "min(sqrt(x - x - 1), 2)"])
def test_expression_without_a_value_at_any_state_is_refused(text):
    with pytest.raises(DeclarationError, match="not real"):
        symbolic(parse_expression(text, known=["x"]))


@pytest.mark.parametrize("text", ["(((1.0000001*x)**100)**100)**100", "((((7**90*x/x)**90)*x/x)**90)"])
def test_power_that_would_fill_the_memory_is_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(DeclarationError, match="too many digits"):
        symbolic(parse_expression(text, known=["x"]))
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("text", ["2**(1e300*x/x)", "exp(1e300*log(2*x))"])
def test_nothing_is_cancelled_that_may_be_zero_and_no_power_expanded(text):
    build = Builder()
    start = time.process_time()
    read(build, parse_expression(text, known=["x"]), {"x": build.name("x")})
    assert time.process_time() - start < 2.0
    assert len(build.graph()) < 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x^2", "column 2: unexpected '^'; power is written **"),
        ("2x", "column 2: unexpected 'x' after '2'; multiplication is written *, as 2*x"),
        ("x y", "column 3: unexpected 'y' after 'x'; multiplication is written *, as x*y"),
        ("2(x)", "column 2: unexpected '(' after '2'; multiplication is written *"),
        ("(x)(y)", "column 4: unexpected '(' after ')'; multiplication is written *"),
        ("x(3)", "column 1: 'x' is not a function; multiplication is written *, as x*(...)"),
        ("1 + phy", "column 5: unknown name 'phy'; did you mean 'phi'?"),
        ("2*sen(x)", "column 3: unknown function 'sen'; did you mean 'sin'?"),
        ("ln(x)", "column 1: unknown function 'ln'; write log(...)"),
        ("arctan2(x, y)", "column 1: unknown function 'arctan2'; write atan2(...)"),
        ("sin", "column 1: sin is a function; write sin(...)"),
        ("sin x", "column 1: sin is a function; write sin(...)"),
        ("sin()", "column 1: sin takes one argument, not 0"),
        ("atan2(x)", "column 1: atan2 takes 2 arguments, not 1"),
        ("min(x)", "column 1: min takes 2 to 10 arguments, not 1"),
        ("", "column 1: the expression is empty; write 0 for nothing"),
        ("x +", "column 4: expected a number, a name or a bracket after '+', not the end"),
        ("x +* y", "column 4: expected a number, a name or a bracket after '+', not '*'"),
        ("(x", "column 1: this bracket is not closed"),
        ("x)", "column 2: ')' closes no bracket"),
        ("x, y", "column 2: ',' stands outside the brackets of a function"),
        ("x // y", "column 4: expected a number, a name or a bracket after '/', not '/'"),
        ("x = y", "column 3: unexpected '='; write one expression, not an equation"),
        ("x < y", "column 3: unexpected '<'; comparisons and conditions are not available"),
        ("μ*x", "column 1: unexpected 'μ' (greek small letter mu); names are ASCII: write mu"),
        ("x − y", "column 3: unexpected '−' (minus sign); write -"),
        ("x·y", "column 2: unexpected '·' (middle dot); multiplication is written *"),
        ("x²", "column 2: unexpected '²' (superscript two); power is written **"),
        ("65°", "column 3: unexpected '°' (degree sign); degrees are written deg, as 65 deg"),
        ("x\0", "column 2: unexpected U+0000 (control character)"),
        ("1/0", "column 2: division by zero"),
        ("x/(1 - 1)", "column 2: division by zero"),
        ("log(0)", "column 1: the value is infinite or undefined"),
        ("sqrt(-1)", "column 1: the value is infinite or undefined"),
        ("9**9**9**9", "column 5: the exponent 3.8742e+08 is beyond 100"),
        ("x**1000", "column 2: the exponent 1000 is beyond 100"),
        ("1e999", "column 1: the number 1e999 is too large"),
        ("1e-999", "column 1: the number 1e-999 is too close to zero"),
        ("9" * 101, "column 1: the number has 101 characters; at most 100 are allowed"),
        ("(" * 5000, "column 52: brackets, signs or powers are nested more than 50 deep"),
        ("-" * 5000 + "x", "column 52: brackets, signs or powers are nested more than 50 deep"),
        ("x**" * 3000 + "x", "column 154: brackets, signs or powers are nested more than 50 deep"),
        ("x" * 20_000, "column 1: the expression has 20000 characters; at most 10000 are allowed"),
        (3, "an expression is text, not int"),
        (None, "an expression is text, not NoneType"),
        (b"x", "an expression is text, not bytes"),
    ],
)
def test_what_is_wrong_is_said_at_its_column(text, expected):
    assert message(text).startswith(expected)
    assert "\n" not in message(text)


def test_every_unknown_name_is_reported():
    assert message("phj + x*coss(2) + www").splitlines() == [
        "column 1: unknown name 'phj'; did you mean 'phi'?",
        "column 9: unknown function 'coss'; did you mean 'cos'?",
        "column 19: unknown name 'www'",
    ]


@pytest.mark.parametrize(
    "text", ["9**9**9**9", "(" * 9_000, "1e999", "9" * 9_000, "x" + "*y" * 4_000, "x/" * 4_999 + "x"]
)
def test_oversized_expression_is_answered_at_once(text):
    start = time.process_time()
    message(text)
    assert time.process_time() - start < 1.0


def test_number_is_kept_exactly():
    (node,) = parse_expression("0.1", known=()).tree
    assert node.exact == Fraction(1, 10)
    assert node.nearest == 0.1


def test_expressions_with_the_same_meaning_compare_equal_whatever_the_spaces():
    assert parse_expression("x + y", known=list("xy")) == parse_expression("x+y", known=list("xy"))
    assert parse_expression("x + y", known=list("xy")) != parse_expression("y + x", known=list("xy"))


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("0.3 + 0.1*sin(10*x)", 0.2, 0.4),
        ("0.5 - 0.2*exp(-x**2)", 0.3, 0.5),
        ("1/(1 + x**2)", 0.0, 1.0),
        ("x*x", 0.0, math.inf),
        ("(x - 1)*(x - 1)", 0.0, math.inf),
        ("x*y", -math.inf, math.inf),
        ("sqrt(x)", -math.inf, math.inf),
        ("sqrt(4 + x**2) - 5", -3.0, math.inf),
        ("max(0.2, x) - min(3, abs(y))", -2.8, math.inf),
        ("abs(x - 3)**-2", -math.inf, math.inf),
        ("(2 + cos(x))**-1 - 2**y", -math.inf, math.inf),
        ("-3*cosh(x)*sign(y)", -math.inf, math.inf),
        ("acos(sin(x)/2) + atan2(y, x)", -math.pi, 2 * math.pi),
    ],
)
def test_no_value_lies_outside_the_bounds_of_an_expression(text, least, most):
    expression = parse_expression(text, known=list("xy"))
    found = bounds(expression)
    # by hand; rounding of a few operations
    assert found == pytest.approx((least, most), rel=1e-14, abs=1e-15)
    x, y = np.random.default_rng(7).standard_cauchy((2, 5000))
    with np.errstate(all="ignore"):
        values = np.broadcast_to(evaluate(expression, {"x": x, "y": y}), x.shape)
    values = values[np.isfinite(values)]
    assert ((values >= found[0]) & (values <= found[1])).all()
