"""Formulas entry by entry give the same in plain floats, at one state, and in arrays, at many."""

import numpy as np
import pytest

import mechanisms
from hybrid import derive
from hybrid.contact.activity import Activity, element_activities
from hybrid.contact.conditions import problem_scale
from hybrid.contact.problem import pose
from hybrid.dynamics.arithmetic import (
    ARRAYS,
    FLOATS,
    MAX_IN_FLOATS,
    arithmetic_of,
    decided_definiteness,
    solve_in_floats,
)
from hybrid.dynamics.scales import scales_of
from hybrid.tolerances import RANK, Tolerances

# A few roundings of sums of some ten terms, taken in another order.
ROUNDING = 1e-13
NAMES = ["rod_on_incline", "rod_two_ends", "painleve_klein", "block_on_belt", "three_ball_chain", "oblique_rod"]


def states(dynamics, count):
    rng = np.random.default_rng(3)
    return rng.uniform(0.2, 1.2, (count, dynamics.n)), rng.uniform(-1.0, 1.0, (count, dynamics.n))


@pytest.mark.parametrize("name", NAMES)
def test_sizes_and_contact_status_at_one_state_are_those_among_many(name):
    dynamics = derive(mechanisms.load(name))
    q, v = states(dynamics, 7)
    terms = dynamics.terms(q, v)
    together = scales_of(dynamics, terms, q, v)
    status = np.broadcast_to(
        element_activities(dynamics, terms, together, sides={}, tolerances=Tolerances()),
        (7, len(dynamics.contacts) + len(dynamics.elements) + sum(n in dynamics.columns for n in dynamics.rigid)),
    )
    for row in range(7):
        at = dynamics.terms(q[row], v[row])
        alone = scales_of(dynamics, at, q[row], v[row])
        for field in ("gap", "gap_dot", "slip", "constraint", "constraint_dot"):
            among = np.broadcast_to(getattr(together, field), (7, getattr(alone, field).shape[-1]))[row]
            np.testing.assert_allclose(getattr(alone, field), among, rtol=ROUNDING)
        found = element_activities(dynamics, at, alone, sides={}, tolerances=Tolerances())
        assert found.tolist() == status[row].tolist()


@pytest.mark.parametrize("name", ["rod_on_incline", "rod_two_ends", "oblique_rod"])
def test_units_of_a_contact_problem_at_one_state_are_those_among_many(name):
    dynamics = derive(mechanisms.load(name))
    q, v = states(dynamics, 5)
    pattern = (Activity.RESTING,) * len(dynamics.contacts)
    together = problem_scale(pose(dynamics, dynamics.terms(q, v), pattern, sides={}))
    for row in range(5):
        alone = problem_scale(pose(dynamics, dynamics.terms(q[row], v[row]), pattern, sides={}))
        for field in ("row", "size", "lost"):
            among = np.asarray(getattr(together, field))
            among = among if among.ndim < np.ndim(getattr(alone, field)) + 1 else among[row]
            np.testing.assert_allclose(getattr(alone, field), among, rtol=ROUNDING)


def test_vectors_without_further_axes_are_taken_as_one_state():
    one, many = np.zeros(3), np.zeros((2, 3))
    assert arithmetic_of(one, one, matrices=[many]) is FLOATS
    assert arithmetic_of(one, many) is ARRAYS
    assert arithmetic_of(one.astype(complex)) is ARRAYS
    assert arithmetic_of(one, matrices=[np.zeros((4, 2, 3))]) is ARRAYS


@pytest.mark.parametrize("n", [1, 2, 3, MAX_IN_FLOATS, MAX_IN_FLOATS + 3])
def test_small_systems_are_solved_as_by_lapack(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        A[0, 0] = 0.0 if n > 1 else A[0, 0]  # a pivot has to be looked for
        # both lose the condition number times some roundings
        limit = 100 * np.finfo(float).eps * np.linalg.cond(A)
        expected = np.linalg.solve(A, b)
        assert np.abs(solve_in_floats(A.tolist(), b.tolist()) - expected).max() <= limit * np.abs(expected).max()


@pytest.mark.parametrize("n", [2, MAX_IN_FLOATS + 2])
def test_a_singular_system_has_no_solution_in_floats(n):
    A = np.eye(n)
    A[-1] = 2 * A[0]
    assert solve_in_floats(A.tolist(), [1.0] * n) is None


@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 2), (2, 1), (2, 2)])
def test_a_matrix_with_a_number_that_is_none_is_not_definite(place):
    M = np.diag([1.0, 2.0, 3.0]) + 0.1
    assert decided_definiteness(M, rank=RANK) > 0.5  # by Gershgorin's circles
    M[place] = np.nan
    assert not decided_definiteness(M, rank=RANK) > RANK
