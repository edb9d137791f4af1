"""Every field of `Tolerances` decides: a verdict that is known by hand changes when that field alone is changed."""

from math import cos, sin

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import EquationDynamics, Mechanism, State, StateError, Tolerances, derive, select
from hybrid.contact.selection import select_problem
from tests.hybrid.contact.test_close_solutions import sliding
from tests.random_problems import problem_from

PHI, OMEGA = 0.4, 0.5
WIDE = 1e-3


def modes(selection):
    if selection.verdict.name == "UNDECIDED":
        return "UNDECIDED", None
    return selection.verdict.name, {branch.mode.label for branch in selection.branches}


def rod(height, speed, tolerances):
    """A rod whose lower end is a little above the plane, or leaves it slowly; terms of order one cancel in both."""
    q = [cos(PHI), sin(PHI) + height, PHI]
    v = [-sin(PHI) * OMEGA - 1.0, cos(PHI) * OMEGA + speed, OMEGA]  # the end slips backwards at 1
    return modes(select(derive(mechanisms.load("rod_on_incline")), State(q, v), tolerances=tolerances))


def a_gap(tolerances):
    return rod(1e-6, 0.0, tolerances)


def a_velocity(tolerances):
    return rod(0.0, 1e-6, tolerances)


def a_sign(tolerances):
    """Slip with A = 1 - 2 * 3/4 < 0 and b = 1e-6 > 0: it can slide or open, if 1e-6 has a sign."""
    problem = problem_from(np.array([[1.0, 0.75], [0.75, 1.0]]), np.array([1e-6, 1.0]), [sliding(1.0)])
    return modes(select_problem(problem, tolerances=tolerances))


def a_merge(tolerances):
    """Pressed with 1, pulled by 0.500005: static friction 1 holds it, or it slides under 0.5, a motion 5e-6 away."""
    problem = problem_from(np.eye(2), np.array([-1.0, 0.500005]), [sliding(0, 0.5, 1.0)])
    return modes(select_problem(problem, tolerances=tolerances))


def a_rank(tolerances):
    """Two coordinates of nearly the same body: eigenvalues 1e-6 and 2 of the mass matrix."""
    bodies = Mechanism(
        name="bodies",
        coordinates=["x", "y"],
        dynamics=EquationDynamics(mass_matrix=[[1, "1 - 1e-6"], ["1 - 1e-6", 1]], forces=["0", "0"]),
    )
    try:
        return modes(select(derive(bodies), State([0.0, 0.0], [0.0, 0.0]), tolerances=tolerances))
    except StateError as error:
        assert "the mass matrix is singular" in str(error)
        return "refused", None


# the decision, and by hand what it is with the default and with 1e-3 for the field of this name
CASES = {
    "gap": (a_gap, ("UNIQUE", {"free"}), ("UNIQUE", {"slide-"})),
    "velocity": (a_velocity, ("UNIQUE", {"free"}), ("UNIQUE", {"slide-"})),
    "sign": (a_sign, ("INDETERMINATE", {"free", "slide+"}), ("UNDECIDED", None)),
    "merge": (a_merge, ("INDETERMINATE", {"stick", "slide+"}), ("UNDECIDED", None)),
    "rank": (a_rank, ("UNIQUE", {"no contacts"}), ("refused", None)),
}


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Tolerances)])
def test_every_tolerance_changes_a_decision(field):
    decide, usual, wide = CASES[field]  # a new field wants a case, or it decides nothing
    assert decide(Tolerances()) == usual
    assert decide(Tolerances(**{field: WIDE})) == wide
