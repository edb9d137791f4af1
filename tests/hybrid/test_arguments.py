"""A mechanism that is not derived, and a certificate that there is not, where the one or the other is needed."""

import pytest

import mechanisms
from hybrid import (
    ArgumentError,
    HybridError,
    region_map,
    select,
    simulate,
    solve_state,
    solve_states,
    verify_certificate,
)
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
    with pytest.raises(ArgumentError, match=f"expected a Dynamics, got a {type(given).__name__}: derive it first"):
        ASKED[asked](given)


def test_the_error_is_of_the_package_and_of_the_type():
    assert issubclass(ArgumentError, HybridError)
    assert issubclass(ArgumentError, TypeError)


def test_a_certificate_that_there_is_not_is_not_verified():
    selection = select(dynamics_of("rod_on_incline"), PINS)
    assert selection.certificate is None  # one mode is consistent
    with pytest.raises(ArgumentError, match="no certificate to verify"):
        verify_certificate(selection.certificate)
