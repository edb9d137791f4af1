"""The graph of expressions against floats, complex steps, 40 digits, and what every rewriting may and may not do."""

import functools
import math
import operator
import re
from fractions import Fraction

import attrs
import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from hybrid.declaration import evaluate, parse_expression
from hybrid.declaration.tree import read
from hybrid.errors import DeclarationError
from hybrid.expressions import (
    FUNCTIONS,
    Builder,
    NotRationalError,
    compile_kernel,
    derivative,
    exact_values,
    gradient,
    jacobian,
    magnitudes,
    roundings,
    switches,
    sympy_expressions,
)
from hybrid.expressions.derivatives import partials

AT = {"x": 0.7, "y": -1.3, "z": 2.1}
DERIVATIVES = {  # written by hand
    "x**3*y": (3 * 0.49 * -1.3, 0.343, 0.0),
    "sin(x*y)": (-1.3 * math.cos(0.91), 0.7 * math.cos(0.91), 0.0),
    "x/(y*z)": (1 / (-1.3 * 2.1), -0.7 / (1.69 * 2.1), -0.7 / (-1.3 * 4.41)),
    "z**x": (math.log(2.1) * 2.1**0.7, 0.0, 0.7 * 2.1**-0.3),
    "sqrt(x + z)": (0.5 / math.sqrt(2.8), 0.0, 0.5 / math.sqrt(2.8)),
    "atan2(y, x)": (1.3 / 2.18, 0.7 / 2.18, 0.0),
    "max(x, y, z)": (0.0, 0.0, 1.0),
    "min(x, y)*z": (0.0, 2.1, -1.3),
    "abs(y)*sign(y)": (0.0, 1.0, 0.0),
}


def built(text, names="xyz"):
    build = Builder()
    nodes = {name: build.name(name) for name in names}
    return build, nodes, read(build, parse_expression(text, known=list(names)), nodes)


def floats(build, nodes, roots, at=AT):
    kernel = compile_kernel(build.graph(), {"f": np.asarray(roots)}, list(nodes.values()))
    return kernel([at[name] for name in nodes])["f"]


@pytest.mark.parametrize("text", DERIVATIVES)
def test_both_ways_of_differentiation_give_the_derivative_by_hand(text):
    build, nodes, root = built(text)
    forward = floats(build, nodes, jacobian(build, [root], list(nodes.values()))[0])
    backward = floats(build, nodes, gradient(build, root, list(nodes.values())))
    assert forward == pytest.approx(DERIVATIVES[text], rel=1e-14)
    assert backward == pytest.approx(DERIVATIVES[text], rel=1e-14)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_row_of_the_table_has_the_derivative_of_forty_digits(name):
    build = Builder()
    arguments = [build.name(letter) for letter in "xy"][: 2 if name in ("atan2", "min", "max") else 1]
    node = build.call(name, *arguments)
    point = (0.3, 0.4)[: len(arguments)]
    slopes = partials(build, node)
    kernel = compile_kernel(build.graph(), {"d": slopes}, arguments)
    found = kernel(list(point))["d"]
    for place in range(len(arguments)):
        expected = mpmath.diff(lambda t, k=place: _precise(name, *(*point[:k], t, *point[k + 1 :])), point[place])
        assert found[place] == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_row_of_the_table_continues_its_real_branch(name):
    # A step of 1e-20 along the imaginary axis has no truncation error; of abs and sign NumPy would take the modulus.
    build = Builder()
    arguments = [build.name(letter) for letter in "xy"][: FUNCTIONS[name].least]
    node = build.call(name, *arguments)
    kernel = compile_kernel(build.graph(), {"d": [node]}, arguments)
    point = (-0.3, 0.4) if len(arguments) == 2 else (0.3,)
    for place in range(len(arguments)):
        moved = [x + 1e-20j * (k == place) for k, x in enumerate(point)]
        expected = mpmath.diff(lambda t, k=place: _precise(name, *(*point[:k], t, *point[k + 1 :])), point[place])
        assert kernel(moved)["d"][0].imag / 1e-20 == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


def _precise(name, *arguments):
    own = {"abs": abs, "sign": mpmath.sign, "step": lambda x: mpmath.mpf(x > 0), "min": min, "max": max}
    return own[name](*arguments) if name in own else getattr(mpmath, name)(*arguments)


LEAVES = st.sampled_from(["x", "y", "z", "2", "0.5", "3", "x", "y"])
TEXTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda part: f"({' '.join(part)})")
        | st.tuples(st.sampled_from(["sin", "cos", "tanh", "abs"]), inner).map(lambda part: f"{part[0]}({part[1]})")
        | inner.map(lambda part: f"({part})**2")
        | st.tuples(inner, inner).map(lambda part: f"{part[0]}/(2 + ({part[1]})**2)")
    ),
    max_leaves=12,
)


@attrs.frozen
class Bounded:
    """A value to 400 digits, and a bound of the error of its computation in floats: running error analysis.

    Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3.3, with all terms kept. An operation rounds
    by half a unit of 2**-52; of its functions glibc states at most two (tanh), and vectorised ones get four here. What
    is below the normal numbers is rounded by 2**-1074.
    """

    value: mpmath.mpf
    error: mpmath.mpf

    @classmethod
    def rounded(cls, value, error, units=1):
        assume(abs(value) < 1e300)  # beyond it floats overflow
        return cls(value, error + (abs(value) + error) * units * mpmath.mpf(2) ** -52 + mpmath.mpf(2) ** -1074)

    def __add__(self, other):
        return self.rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other):
        return self.rounded(self.value - other.value, self.error + other.error)

    def __mul__(self, other):
        error = abs(self.value) * other.error + abs(other.value) * self.error + self.error * other.error
        return self.rounded(self.value * other.value, error)

    def __truediv__(self, other):
        assume(abs(other.value) > other.error)
        error = abs(self.value) * other.error + abs(other.value) * self.error
        return self.rounded(self.value / other.value, error / (abs(other.value) * (abs(other.value) - other.error)))

    def __pow__(self, exponent):
        # by products, which round more often than the power of the library
        return self if exponent == 1 else self ** (exponent - 1) * self

    def call(self, name):
        if name == "sign":
            return Bounded(mpmath.sign(self.value), mpmath.mpf(2 if abs(self.value) <= self.error else 0))
        return self.rounded(
            _precise(name, self.value), self.error, units=4
        )  # no slope of sin, cos, tanh and abs exceeds 1


def bounded(number):
    return Bounded.rounded(mpmath.mpf(number.numerator) / number.denominator, mpmath.mpf(0))


def bounded_text(text):
    """A text as Python reads it, which has the same rules of precedence."""
    functions = {name: lambda of, name=name: of.call(name) for name in ("sin", "cos", "tanh", "abs")}
    numbers = re.sub(r"(?<!\*\*)(?<![\w.])(\d+(?:\.\d+)?)", r"number('\1')", text)
    names = {name: Bounded(mpmath.mpf(at), mpmath.mpf(0)) for name, at in AT.items()}
    return eval(numbers, {"__builtins__": {}, "number": lambda of: bounded(Fraction(of))} | functions | names)


def bounded_node(build, root):
    known = {}
    for node in build.needed([root]):
        operation, value = build.operation(node), build.value(node)
        parts = [known[argument] for argument in build.arguments(node)]
        if operation == "number":
            known[node] = bounded(Fraction(value))
        elif operation == "name":
            known[node] = next(Bounded(mpmath.mpf(AT[x]), mpmath.mpf(0)) for x in "xyz" if build.name(x) == node)
        elif operation == "**":
            known[node] = parts[0] ** int(build.value(build.arguments(node)[1]))
        elif operation in ("+", "*", "/"):
            known[node] = functools.reduce(
                {"+": operator.add, "*": operator.mul, "/": operator.truediv}[operation], parts
            )
        else:
            known[node] = parts[0].call(operation)
    return known[root]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], database=None, deadline=None)
@given(TEXTS)
def test_a_graph_has_the_value_of_its_text_and_what_is_computed_differs_by_rounding(text):
    build, nodes, root = built(text)
    size = int(magnitudes(build, [root])[0])
    computed = floats(build, nodes, [root, size])
    with mpmath.workdps(400):
        graph, written, terms = bounded_node(build, root), bounded_text(text), bounded_node(build, size)
        # 400 digits leave 60 of a number of which 300 cancel
        assert abs(graph.value - written.value) <= mpmath.mpf(10) ** -60 * (1 + abs(written.value))
        assert abs(computed[0] - graph.value) <= graph.error
        assert abs(evaluate(parse_expression(text, known=list("xyz")), AT) - written.value) <= written.error
        assert abs(computed[1] - terms.value) <= terms.error
        assert terms.value >= abs(graph.value) * (1 - mpmath.mpf(10) ** -60)  # no term is left out of the size


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("cos(x)**2 + sin(x)**2 - 1", lambda x, y, z: mpmath.mpf(0)),
        ("(x - y)**2*z", lambda x, y, z: (x - y) ** 2 * z),
        ("exp(-(x - y)**2) - sqrt(z)", lambda x, y, z: mpmath.exp(-((x - y) ** 2)) - mpmath.sqrt(z)),
        ("sin(x*y)/(x - y) - atan2(z, x)", lambda x, y, z: mpmath.sin(x * y) / (x - y) - mpmath.atan2(z, x)),
        ("tanh(x - y)*log(z) + z**x", lambda x, y, z: mpmath.tanh(x - y) * mpmath.log(z) + z**x),
    ],
)
def test_rounding_stays_within_what_its_operations_may_leave(text, exact):
    build, nodes, root = built(text)
    quantities = {"f": [root], "size": roundings(build, [root])}
    kernel = compile_kernel(build.graph(), quantities, list(nodes.values()))
    random = np.random.default_rng(11)
    y = random.uniform(1.0, 30.0, 400)
    # close to y, so that their difference cancels; z away from zero, where the logarithm grows
    x, z = y + random.normal(0.0, 0.5, y.size), random.uniform(0.1, 3.0, y.size)
    found = kernel([x, y, z])
    with mpmath.workdps(60):
        for place, at in enumerate(zip(x.tolist(), y.tolist(), z.tolist(), strict=True)):
            error = abs(mpmath.mpf(float(found["f"][place, 0])) - exact(*map(mpmath.mpf, at)))
            # an operation is off by half a unit of 2**-52 at most, a function of the library by one
            assert error <= 2.0**-52 * float(found["size"][place, 0])
            # and no more than some operations of the largest terms: the bound says something
            largest = max(1.0, *map(abs, at)) ** 2 * max(1.0, 1.0 / abs(at[0] - at[1])) ** 2 * max(1.0, at[2] ** at[0])
            assert float(found["size"][place, 0]) <= 100.0 * largest


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], database=None, deadline=None)
@given(TEXTS)
def test_derivatives_are_those_of_a_complex_step(text):
    assume("abs" not in text)
    expression = parse_expression(text, known=list("xyz"))
    build, nodes, root = built(text)
    slopes = jacobian(build, [root], list(nodes.values()))[0]
    sizes = floats(build, nodes, magnitudes(build, slopes))
    found = floats(build, nodes, slopes)
    for place, name in enumerate(nodes):
        stepped = complex(evaluate(expression, {**AT, name: AT[name] + 1e-30j})).imag / 1e-30
        assert abs(found[place] - stepped) <= 1e-12 * max(sizes[place], 1.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x*y*2", "y*2*x"),
        ("x + x", "2*x"),
        ("x*x*x", "x**3"),
        ("x/4", "0.25*x"),
        ("sin(-x)", "-sin(x)"),
        ("x - x", "0"),
        ("(x*y)**2", "x**2*y**2"),
        ("cos(2*pi/3)", "-1/2"),
        ("sqrt(9/4)", "3/2"),
        ("x**0.5", "sqrt(x)"),
    ],
)
def test_equal_expressions_are_one_node(first, second):
    build = Builder()
    names = {name: build.name(name) for name in "xy"}
    one, other = (read(build, parse_expression(text, known=list("xy")), names) for text in (first, second))
    assert one == other


@pytest.mark.parametrize("text", ["x/x", "0*sqrt(x)", "0/x", "0*log(x)", "sqrt(x)*sqrt(x)/x"])
def test_nothing_is_cancelled_that_may_be_undefined(text):
    build, nodes, root = built(text, "x")
    assert np.isnan(floats(build, nodes, [root], {"x": 0.0 if "log" not in text else -1.0})[0]) or "sqrt" in text
    assert build.value(root) is None


def test_a_sum_collected_cancels_what_was_added_in_another_order():
    build, _, root = built("(x*y + z) - (z - 3*x) - y*x")
    assert build.operation(root) == "+"
    assert build.collected(root) == build.multiply(build.number(3), build.name("x"))


def test_nodes_of_a_graph_stay_what_they_are_when_it_grows():
    build, _, root = built("sin(x)*y")
    graph = build.graph()
    grown = Builder(graph)
    (slope,) = derivative(grown, [root], {grown.name("x"): grown.number(1)})
    assert grown.graph().operations[: len(graph)] == graph.operations
    assert grown.graph().arguments[: len(graph)] == graph.arguments
    assert slope >= len(graph)
    assert all(argument < node for node, row in enumerate(grown.graph().arguments) for argument in row)


def test_exact_values_are_those_of_fractions_and_others_are_refused_by_name():
    build, nodes, root = built("x**2/3 + abs(y)*sqrt(z) - max(x, y)")
    x, y, z = Fraction(3, 7), Fraction(-5, 11), Fraction(9, 4)
    known = dict(zip(nodes.values(), (x, y, z), strict=True))
    assert exact_values(build.graph(), [root], dict(known)) == [x**2 / 3 - y * Fraction(3, 2) - x]
    with pytest.raises(NotRationalError, match="sqrt of 2"):
        exact_values(build.graph(), [root], {**known, nodes["z"]: Fraction(2)})


def test_jumps_and_kinks_are_found_with_what_they_change():
    build, nodes, root = built("3*sign(x)*y + abs(y - z)*z")
    jump, kink = switches(build, [root])
    assert (jump.is_jump, kink.is_jump) == (True, False)
    assert floats(build, nodes, [jump.quantity, jump.weight]).tolist() == pytest.approx([0.7, 6 * 1.3])
    assert floats(build, nodes, [kink.quantity, kink.weight]).tolist() == pytest.approx([-3.4, 2.1])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("sqrt(x**2)", "abs(x)"),
        ("(x**2)**0.5", "abs(x)"),
        ("sqrt(4*x**2*y)", "abs(x)*sqrt(4*y)"),
        ("sqrt(x**4)", "x**2"),
        ("(x**2)**1.5", "abs(x)**3"),
        ("(x**2)**(-1/2)", "abs(x)**(-1)"),
        ("(x**2*y**2)**(1/4)", "sqrt(abs(x))*sqrt(abs(y))"),
    ],
)
def test_a_root_of_an_even_power_has_the_kink_of_abs(text, same):
    build, nodes, root = built(text)
    assert root == read(build, parse_expression(same, known=list(nodes)), nodes)


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("atan2(x, y)", ["x", "y"]),
        ("atan2(x, 2) + x/z + y/(1 + x**2) + sin(x)/x", []),  # off the cut, z stands still, no zero, goes on
        ("atan2(x, -2)", ["x"]),
        ("y/(x**2*z) + x**(-2)", ["x", "x"]),
        ("atan(tan(x))", ["cos(x)"]),
        ("z/(x**2 + y**2)", ["x**2 + y**2"]),
    ],
)
def test_cuts_and_poles_are_jumps(text, quantities):
    build, nodes, root = built(text)
    found = switches(build, [root], [nodes[name] for name in "xy" if name in nodes])
    assert all(switch.is_jump for switch in found)
    texts = sympy_expressions(build.graph(), [switch.quantity for switch in found]) if found else []
    assert sorted(map(str, texts)) == quantities


def test_definitions_are_shared_and_not_put_in_again_and_again():
    from hybrid import EnergyDynamics, Mechanism
    from hybrid.dynamics import equations_of

    doubled = {
        f"d{k + 1}": f"d{k}*d{k} + sin(d{k})" for k in range(8)
    }  # put in, the last has 16 000 names and operators
    chained = Mechanism(
        name="chained",
        coordinates=["x"],
        definitions={"d0": "x", **doubled},
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="d8"),
    )
    assert len(equations_of(chained).graph) < 300


@pytest.mark.parametrize("text", ["1/(x - x)", "log(x - x)", "acos(2 + 0*x)"])
def test_what_has_no_value_at_any_state_is_refused(text):
    with pytest.raises(DeclarationError, match="infinite, undefined or not real"):
        built(text)
