"""A mechanism that is not derived, and a certificate that there is not, where the one or the other is needed."""

import inspect

import pytest

import hybrid
import hybrid.analysis
import mechanisms
from hybrid import (
    ArgumentError,
    HybridError,
    certified_friction,
    certified_map,
    contact_problem,
    critical_friction,
    genot_brogliato_points,
    region_map,
    select,
    simulate,
    solve_state,
    solve_states,
    verify_certificate,
)
from hybrid.analysis import compare_map
from hybrid.dynamics import project_state
from tests.catalogue import dynamics_of

PINS = {"phi": 1.0, "phi_dot": 0.0, "slip.tip": 1.0}
START = solve_state(dynamics_of("rod_on_incline"), PINS)
UNDERIVED = (mechanisms.load("rod_on_incline"), "rod_on_incline", None)
ASKED = {
    "solve_state": lambda given: solve_state(given, PINS),
    "solve_states": lambda given: solve_states(given, PINS),
    "project_state": lambda given: project_state(given, START),
    "select": lambda given: select(given, START),
    "select at pins": lambda given: select(given, PINS, parameters={"mu": 1}),
    "simulate": lambda given: simulate(given, START, t_end=1.0),
    "region_map": lambda given: region_map(given, axes=["phi=0:1:2", "phi_dot=0:1:2"], pins={"slip.tip": 1}),
}


@pytest.mark.parametrize(
    "given", [mechanisms.load("rod_on_incline"), "rod_on_incline", None], ids=lambda given: type(given).__name__
)
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_not_derived_is_to_be_derived_first(asked, given):
    with pytest.raises(ArgumentError, match=r"dynamics must be a Dynamics, not .*; derive it first"):
        ASKED[asked](given)


def _asking(kind):
    """Public functions whose first argument is of a kind, and what else they must be given."""
    for face in (hybrid, hybrid.analysis):
        for name in face.__all__:
            function = getattr(face, name)
            if inspect.isfunction(function):
                first, *others = inspect.signature(function).parameters.values()
                if first.annotation == kind:
                    needed = [item for item in others if item.default is item.empty]
                    yield pytest.param(function, needed, id=name)


def _called(function, needed, given):
    positional = [object() for item in needed if item.kind is not item.KEYWORD_ONLY]
    named = {item.name: object() for item in needed if item.kind is item.KEYWORD_ONLY}
    return function(given, *positional, **named)


@pytest.mark.parametrize(("function", "needed"), [*_asking("Dynamics")])
def test_every_public_function_refuses_what_is_not_derived_before_it_reads_anything_else(function, needed):
    for given in UNDERIVED:
        with pytest.raises(ArgumentError, match=r"dynamics must be a Dynamics, not .*; derive it first"):
            _called(function, needed, given)


@pytest.mark.parametrize(("function", "needed"), [*_asking("Mechanism")])
def test_every_public_function_refuses_what_is_not_declared(function, needed):
    needed = [item for item in needed if item.name != "names"]
    positional = ["rail"] if function is hybrid.realise else []
    for given in (dynamics_of("rod_on_incline"), "rod_on_incline", None):
        with pytest.raises(ArgumentError, match=r"mechanism must be a Mechanism, not .*; read it first"):
            _called(lambda first, **named: function(first, *positional, **named), needed, given)


def test_the_functions_that_are_asked_are_not_few():
    assert len([*_asking("Dynamics")]) > 20
    assert {item.id for item in _asking("Mechanism")} >= {"derive", "realise"}


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ("phi=0:1", "must be a sequence of .* not 'phi=0:1'; give"),
        (None, "must be a sequence of .* not None"),
        ([1, 2], r"must be a sequence of Axis objects or texts, not \[1, 2\]"),
        (["phi=0:1", {"mu": (0, 1)}], "must be a sequence of Axis objects or texts, not .*'mu'"),
    ],
)
def test_what_are_no_axes_is_refused(axes, message):
    rod = dynamics_of("rod_on_incline")
    pins = {"phi_dot": 0, "slip.tip": 1}
    for asked in (region_map, certified_map, compare_map):
        with pytest.raises(ArgumentError, match=message):
            asked(rod, axes=axes, pins=pins)
    for asked in (critical_friction, certified_friction, genot_brogliato_points):
        with pytest.raises(ArgumentError, match=message):
            asked(rod, over=axes, pins=pins)


def test_the_error_is_of_the_package_and_of_the_type():
    assert issubclass(ArgumentError, HybridError)
    assert issubclass(ArgumentError, TypeError)


def test_a_certificate_that_there_is_not_is_not_verified():
    selection = select(dynamics_of("rod_on_incline"), PINS)
    assert selection.certificate is None  # one mode is consistent
    with pytest.raises(ArgumentError, match="not None; only a verdict that is proved has one"):
        verify_certificate(selection.certificate)


@pytest.mark.parametrize("value", [[0.5, 1.0], 1j])
def test_one_state_takes_one_real_number_of_every_parameter(value):
    rod = dynamics_of("rod_on_incline")
    start = solve_state(rod, PINS)
    for asked in (select, contact_problem, lambda *given, **named: simulate(*given, t_end=1.0, **named)):
        with pytest.raises(ArgumentError, match="mu must be one real number"):
            asked(rod, start, parameters={"mu": value})
