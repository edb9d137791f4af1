"""Every row of the table of functions in every reader: its value of forty digits, or a refusal that names it."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from hybrid.analysis.certified.tape import tape_of
from hybrid.analysis.maps.cell_program import cell_program
from hybrid.analysis.maps.recorded_cells import PENDING, CellRecording, RecordedMode
from hybrid.declaration import evaluate, parse_expression
from hybrid.declaration.tree import bounds
from hybrid.expressions import (
    FUNCTIONS,
    Builder,
    Dual,
    Graph,
    NotRationalError,
    NotRecordable,
    Recording,
    compile_kernel,
    exact_values,
    recorded_nodes,
    sympy_expressions,
)
from hybrid.expressions.functions import value_of
from hybrid.motion.together.lanes import lane_program
from tests.catalogue import dynamics_of

# Libraries of C, of NumPy and of vectorised code promise four units in the last place at most.
ROUNDING = 4 * np.finfo(float).eps
POINTS = [(Fraction(3, 8), Fraction(5, 8)), (Fraction(-3, 8), Fraction(5, 8)), (Fraction(3, 4), Fraction(-1, 8))]
POSITIVE_ONLY = ("log", "sqrt")
CASES = [
    (name, point[: FUNCTIONS[name].least])
    for name in sorted(FUNCTIONS)
    for point in POINTS
    if point[0] > 0 or name not in POSITIVE_ONLY
]
each_value = pytest.mark.parametrize(("name", "point"), CASES, ids=str)
UFUNCS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "abs": "absolute"}
UFUNCS |= {"min": "minimum", "max": "maximum", "step": "heaviside"}
UNKNOWN = Graph(("name", "cube"), ((), (0,)), ("x", None))  # of a function that no reader has


def precise(name, point):
    """The value to forty digits."""
    own = {"abs": abs, "sign": mpmath.sign, "step": lambda x: mpmath.mpf(x > 0), "min": min, "max": max}
    with mpmath.workdps(40):
        numbers = [mpmath.mpf(x.numerator) / x.denominator for x in point]
        return own[name](*numbers) if name in own else getattr(mpmath, name)(*numbers)


def built(name, count):
    build = Builder()
    names = [build.name(letter) for letter in "xy"[:count]]
    return build, names, build.call(name, *names)


def close(value):
    return pytest.approx(float(value), rel=ROUNDING, abs=0.0)


@each_value
def test_floats_and_arrays(name, point):
    build, names, node = built(name, len(point))
    kernel = compile_kernel(build.graph(), {"f": [node]}, names)
    floats, expected = [float(x) for x in point], close(precise(name, point))
    assert kernel(floats)["f"][0] == expected
    assert kernel([np.full(3, x) for x in floats])["f"][..., 0] == close(precise(name, point))
    assert value_of(name, None, floats) == expected
    if name != "step":  # which people do not write
        text = f"{name}({', '.join('xy'[: len(point)])})"
        assert evaluate(parse_expression(text, known="xy"), dict(zip("xy", floats, strict=False))) == expected


@each_value
def test_exact_values_are_exact_or_refused(name, point):
    build, names, node = built(name, len(point))
    try:
        (found,) = exact_values(build.graph(), [node], dict(zip(names, point, strict=True)))
    except NotRationalError as refusal:
        assert str(refusal).startswith(f"{name} of ")
        assert name not in ("abs", "sign", "step", "min", "max")
    else:
        with mpmath.workdps(40):
            assert mpmath.mpf(found.numerator) / found.denominator == precise(name, point)


def test_exact_values_know_where_functions_are_rational():
    places = {name: (Fraction(1 if name in ("log", "acos") else 0),) for name in FUNCTIONS}
    places |= {"atan2": (Fraction(0), Fraction(2)), "sqrt": (Fraction(9, 4),), "step": (Fraction(1, 7),)}
    places |= {name: (Fraction(2, 7), Fraction(1, 3)) for name in ("min", "max")}
    for name in FUNCTIONS:
        build, names, node = built(name, len(places[name]))
        (found,) = exact_values(build.graph(), [node], dict(zip(names, places[name], strict=True)))
        assert abs(precise(name, places[name]) - mpmath.mpf(found.numerator) / found.denominator) < 1e-16, name


@each_value
def test_sympy(name, point):
    build, _, node = built(name, len(point))
    (found,) = sympy_expressions(build.graph(), [node])
    at = dict(zip("xy", point, strict=False))
    value = found.subs({symbol: at[symbol.name] for symbol in found.free_symbols}).evalf(40)
    with mpmath.workdps(40):
        assert abs(mpmath.mpf(str(value)) - precise(name, point)) <= mpmath.mpf(10) ** -38


@each_value
def test_intervals_hold_the_value_and_little_else(name, point):
    build, names, node = built(name, len(point))
    floats = [float(x) for x in point]
    (((low, high),),), broken = tape_of(build.graph(), [node], names)(np.array([[[x, x] for x in floats]]))
    value = precise(name, point)
    assert mpmath.mpf(float(low)) <= value <= mpmath.mpf(float(high))
    assert high - low <= 8 * ROUNDING  # eight units in the last place to each side
    assert not broken[0]


@each_value
def test_bounds_of_texts_hold_the_value(name, point):
    if name == "step":  # which people do not write
        return
    numbers = ", ".join(f"({x.numerator}/{x.denominator})" for x in point)
    low, high = bounds(parse_expression(f"{name}({numbers})", known=()))
    assert low <= precise(name, point) <= high


@pytest.mark.parametrize("name", [name for name, function in sorted(FUNCTIONS.items()) if function.least == 1])
def test_facts_of_the_table_hold(name):
    """An increasing function does not fall, and no value lies outside of those that the table allows."""
    places = [Fraction(k, 16) for k in range(1 if name in POSITIVE_ONLY else -16, 17)]
    values = [precise(name, (x,)) for x in places]
    low, high = FUNCTIONS[name].values
    assert all(low <= float(value) <= high for value in values)  # the float of pi lies below pi
    falls = any(after < before for before, after in pairwise(values))
    assert not (falls and FUNCTIONS[name].is_increasing)


@each_value
def test_programs_of_many_states(name, point):
    equations = dynamics_of("bouncing_ball").equations
    build = Builder(equations.graph)
    names = [equations.time, equations.velocities[0]][: len(point)]
    program = lane_program(equations, build, [build.call(name, *names)])
    y = np.zeros((len(equations.state) - 1, 3))
    y[list(equations.state).index(equations.velocities[0])] = float(point[-1])
    found = program.values([0.0] * len(equations.parameters), np.full(3, float(point[0])), y)
    assert found[0] == close(precise(name, point))


@each_value
def test_recordings_and_compiled_cells(name, point):
    """The cell whose margin is the value plus two is decided at one place of a row of eight."""
    build, names, node = built(name, len(point))
    recording = Recording()
    axes = [recording.input(k, float(x)) for k, x in enumerate((*point, Fraction(1))[:2])]
    inputs = dict(zip(names, axes, strict=False))
    found = recorded_nodes(build.graph(), [node], inputs)[node]
    assert found.value == close(precise(name, point))
    on_both = recording.apply("add", [found, recording.apply("multiply", [axes[1], axes[0]])])
    mode = RecordedMode(0, on_both.place, recording.place(1e9))
    program = cell_program(CellRecording(recording, ("m",), None, (mode,), ()), [0])
    x, y = np.array([float(point[0])]), np.full(8, axes[1].value)
    margin = np.zeros((1, 8))
    program(x, y, np.full((1, 8), PENDING, np.uint8), np.zeros((1, 8), np.uint64), margin)
    expected = abs(float(precise(name, point)) + axes[0].value * axes[1].value)
    assert margin[0] == pytest.approx(expected, rel=0.0, abs=2 * ROUNDING)  # of two numbers below two


@each_value
def test_duals_have_the_derivative_or_are_refused(name, point):
    given = [Dual(float(x), row) for x, row in zip(point, np.eye(len(point)), strict=True)]
    ufunc = UFUNCS.get(name, name)
    if name not in ("sin", "cos", "exp", "log", "sqrt", "abs", "min", "max", "sign"):
        with pytest.raises((AttributeError, TypeError), match=ufunc):  # which the laws of impact turn into a refusal
            getattr(np, ufunc)(*given, *([0.5] if name == "step" else []))
        return
    found = getattr(np, ufunc)(*given)
    if name == "sign":  # a plain number: it does not change
        assert found == precise(name, point)
        return
    assert found.v == close(precise(name, point))
    for place, slope in enumerate(found.d):
        moved = [list(point), list(point)]
        step = Fraction(1, 10**12)  # the quotient of differences is exact to its square
        moved[0][place] -= step
        moved[1][place] += step
        with mpmath.workdps(40):
            below, above = (precise(name, at) for at in moved)
            assert slope == pytest.approx(float((above - below) / (2 * mpmath.mpf(10) ** -12)), rel=1e-14, abs=1e-14)


def program_of_unknown():
    equations = dynamics_of("bouncing_ball").equations
    graph = equations.graph
    arguments, values = (*graph.arguments, (equations.time,)), (*graph.values, None)
    return lane_program(equations, Builder(Graph((*graph.operations, "cube"), arguments, values)), [len(graph)])


@pytest.mark.parametrize(
    ("reader", "refusal"),
    [
        (lambda: compile_kernel(UNKNOWN, {"f": [1]}, [0]), KeyError),
        (lambda: value_of("cube", None, [1.0]), KeyError),
        (lambda: exact_values(UNKNOWN, [1], {0: Fraction(1)}), NotRationalError),
        (lambda: sympy_expressions(UNKNOWN, [1]), KeyError),
        (lambda: tape_of(UNKNOWN, [1], [0]), KeyError),
        (lambda: recorded_nodes(UNKNOWN, [1], {0: Recording().input(0, 1.0)}), NotRecordable),
        (program_of_unknown, KeyError),
    ],
)
def test_a_function_that_a_reader_lacks_is_named(reader, refusal):
    with pytest.raises(refusal, match="cube"):
        reader()
