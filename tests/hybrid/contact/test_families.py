"""Modes that leave forces undetermined, at many states: against linear programs, and against a body by hand."""

import numpy as np
import pytest
from scipy.optimize import linprog

from hybrid import Contact, EquationDynamics, Mechanism, State, Verdict, derive, select, solve_states
from hybrid.contact import CellVerdict, classify
from hybrid.contact.conditions import LOST
from hybrid.contact.families import SharedConditions, families
from hybrid.tolerances import Tolerances


def best_by_program(E, e, A, b):
    """The largest value, up to one, that all inequalities can have at once."""
    m, r = A.shape
    found = linprog(
        np.append(np.zeros(r), -1.0),
        A_ub=np.column_stack([-A, np.ones(m)]),
        b_ub=b,
        A_eq=np.column_stack([E, np.zeros(len(E))]),
        b_eq=-e,
        bounds=[(None, None)] * r + [(None, 1.0)],
    )
    assert found.status == 0
    return found.x[-1]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_undetermined_forces_allow_is_that_of_a_linear_program(count):
    rng = np.random.default_rng(1947)
    r, m, states = 5, 7, 40
    E = rng.normal(size=(2, r, r - count)) @ rng.normal(size=(2, r - count, r))
    A = rng.normal(size=(2, m, r))
    which = rng.integers(0, 2, size=states)
    e = np.einsum("kij,kj->ki", E[which], rng.normal(size=(states, r)))
    b = rng.normal(size=(states, m))
    given = SharedConditions(  # nothing that E leaves open accelerates
        E, A, np.swapaxes(E, -1, -2) @ E, which, e, b, np.full(states, LOST)
    )
    found = families(given, Tolerances())
    expected = np.array([best_by_program(E[n], e[k], A[n], b[k]) for k, n in enumerate(which)])
    assert {True, False} == set((expected > 0).tolist())
    np.testing.assert_array_equal(found.is_consistent, expected > 0)
    np.testing.assert_array_equal(found.is_refuted, expected < 0)
    # HiGHS meets its conditions to 1e-7
    np.testing.assert_allclose(np.minimum(-found.distance, 1.0), expected, atol=1e-6)


def test_an_inequality_that_holds_by_nothing_is_a_tie():
    # x1 + x2 = 1, x1 >= 0, x2 >= 1: the point (0, 1) alone
    E = np.array([[[1.0, 1.0], [2.0, 2.0]]])
    given = SharedConditions(
        E,
        np.eye(2)[None],
        np.zeros((1, 2, 2)),
        np.zeros(1, int),
        np.array([[-1.0, -2.0]]),
        np.array([[0.0, -1.0]]),
        np.full(1, LOST),
    )
    found = families(given, Tolerances())
    assert (found.is_tied.tolist(), found.is_consistent.tolist(), found.is_refuted.tolist()) == (
        [True],
        [False],
        [False],
    )


def test_equations_that_no_forces_meet_are_refuted_unless_huge_ones_nearly_do():
    # x1 + x2 = 1 and = 2; forces along (1, -1) lower x1 >= 0 or x2 >= 0, but not x1 + 2 x2 >= 0 alone
    E = np.array([[[1.0, 1.0], [1.0, 1.0]]])
    for A, is_refuted in (([[1.0, 0.0], [0.0, 1.0]], True), ([[1.0, 2.0], [0.0, 1.0]], False)):
        given = SharedConditions(
            E,
            np.array([A]),
            np.zeros((1, 2, 2)),
            np.zeros(1, int),
            np.array([[-1.0, -2.0]]),
            np.zeros((1, 2)),
            np.full(1, LOST),
        )
        found = families(given, Tolerances())
        assert found.is_refuted.tolist() == [is_refuted]
        assert not (found.is_consistent | found.is_tied).any()


@pytest.mark.parametrize("count", [1, 2])
def test_a_slack_that_depends_on_undetermined_forces_by_rounding_alone_is_not_raised_by_them(count):
    rng = np.random.default_rng(10106)
    U, V = (np.linalg.qr(rng.normal(size=(5, 5)))[0] for _ in range(2))
    values = np.array([1.0, 0.5, 1e-6, 0.0, 0.0]) if count == 2 else np.array([1.0, 0.5, 0.2, 1e-6, 0.0])
    E = (U * values @ V)[None]  # its entries are rounded: its kernel is known to 1e-10
    row = V[4 - count]  # of the least singular value: at right angles to the kernel, so this slack is -1 whatever it is
    x = V.T @ np.array([1.0, 1.0, 1.0, 1.0, 0.0][: 5 - count] + [0.0] * count)
    given = SharedConditions(
        E,
        row[None, None],
        np.zeros((1, 5, 5)),
        np.zeros(1, int),
        -E @ x,
        np.array([[-1.0 - row @ x]]),
        np.full(1, LOST),
    )
    found = families(given, Tolerances())
    assert found.is_refuted.tolist() == [True]
    assert not (found.is_consistent | found.is_tied).any()


PLACES = (-1.0, 0.0, 1.0)
AT_REST = {"x": 0, "y": 1, "theta": 0, "x_dot": 0, "y_dot": 0, "theta_dot": 0}


@pytest.fixture(scope="module")
def body():
    """A body of mass 1 on three feet, 1 below its centre of mass, pushed along by fx and turned by tau."""
    feet = [
        Contact(
            name=f"foot{index}",
            gap=f"y - cos(theta) + ({x})*sin(theta)",
            slip=f"x_dot + (cos(theta) - ({x})*sin(theta))*theta_dot",
            friction="mu",
        )
        for index, x in enumerate(PLACES)
    ]
    return derive(
        Mechanism(
            name="feet",
            coordinates=["x", "y", "theta"],
            parameters={"fx": 0.1, "tau": 0.0, "mu": 0.5},
            dynamics=EquationDynamics(mass_matrix=[[1, 0, 0], [0, 1, 0], [0, 0, 0.5]], forces=["fx", -10, "tau"]),
            contact=feet,
        )
    )


def classified(body, fx, tau):
    parameters = {"fx": fx[:, None], "tau": tau[None, :]}
    return classify(body, solve_states(body, AT_REST, parameters=parameters), parameters=parameters)


STUCK = "foot0=stick,foot1=stick,foot2=stick"


def test_three_feet_stand_where_friction_and_their_width_hold_the_body(body):
    # N = 10 in all; |fx| <= 0.5 N; the feet's moment sum(x N) = fx - tau lies between -10 and 10
    fx, tau = np.linspace(-12, 12.1, 31), np.linspace(-14.8, 15.3, 29)
    cells = classified(body, fx, tau)
    stands = (np.abs(fx)[:, None] < 5) & (np.abs(fx[:, None] - tau[None, :]) < 10)
    stuck = (cells.modes >> np.uint64(cells.labels.index(STUCK))) & np.uint64(1)
    np.testing.assert_array_equal(stuck.astype(bool), stands)
    assert set(cells.verdict[stands].tolist()) == {int(CellVerdict.HYPERSTATIC)}
    # sliding, the feet tip where -tau +- 5 is 10 or -10: the grid holds no such tie
    assert int(CellVerdict.UNDECIDED) not in cells.verdict


def test_states_together_and_one_by_one_have_the_same_verdicts_and_modes(body):
    rng = np.random.default_rng(1950)
    fx, tau = rng.uniform(-12, 12, size=9), rng.uniform(-15, 15, size=9)
    cells = classified(body, fx, tau)
    for i, j in np.ndindex(cells.verdict.shape):
        alone = select(body, State([0, 1, 0], [0, 0, 0]), parameters={"fx": fx[i], "tau": tau[j]})
        assert CellVerdict(int(cells.verdict[i, j])).name == alone.verdict.name
        marked = {label for k, label in enumerate(cells.labels) if int(cells.modes[i, j]) >> k & 1}
        assert {branch.mode.label for branch in alone.branches} <= marked
        assert alone.verdict is not Verdict.UNDECIDED
