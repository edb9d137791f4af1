"""Modes that leave forces undetermined, at many states: against linear programs, and against a body by hand."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from hybrid import Contact, EquationDynamics, Mechanism, State, Verdict, derive, select, solve_states
from hybrid.contact import CellVerdict, classify
from hybrid.contact.conditions import LOST
from hybrid.contact.families import SharedConditions, families
from hybrid.contact.selection import select_in_floats
from hybrid.dynamics.state import States
from hybrid.tolerances import Tolerances
from tests.campaigns.exact_modes import Part, solve
from tests.campaigns.structures import delassus


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


def test_a_mode_that_a_change_within_the_tolerance_admits_is_not_refuted():
    """Coordinates of 1e-7 and 15 kg: where both contacts slide, the forces are fixed by 5e-11 of the coefficients."""
    M = [
        [2**-24, 0.00016117095947265625, 0.0008821487426757812, 0.0007238388061523438],
        [0.00016117095947265625, 1.4358062744140625, 1.7564239501953125, 1.7580413818359375],
        [0.0008821487426757812, 1.7564239501953125, 13.701324462890625, 9.808807373046875],
        [0.0007238388061523438, 1.7580413818359375, 9.808807373046875, 15.317794799804688],
    ]
    h = [-1.80859375, -0.01953125, -3.9921875, -2.46484375]
    rows = [
        [1.8671875, 2.2421875, -1.51171875, 1.83984375],
        [-2.0625, -3.08984375, -0.90625, -2.30859375],
        [1.13671875, -2.70703125, 0.1796875, -2.125],
        [0.56640625, -2.375, 0.12890625, 1.796875],
    ]
    accelerations, friction = [0.0, 0.0, 3.84375, -18.8], [0.83935546875, 1.28173828125]
    displacements = [
        " + ".join(f"({p!r})*x{i}" for i, p in enumerate(row)) + f" + ({a!r})*t**2/2"
        for row, a in zip(rows, accelerations, strict=True)
    ]
    displacements[1] += " - t"  # the first contact slips, the second is at rest
    mechanism = Mechanism(
        name="light",
        coordinates=["x0", "x1", "x2", "x3"],
        dynamics=EquationDynamics(mass_matrix=M, forces=h),
        contact=[
            Contact(name=f"c{k}", gap=displacements[2 * k], tangent=displacements[2 * k + 1], friction=friction[k])
            for k in range(2)
        ],
    )
    exact = [[Fraction(value) for value in line] for line in (*M, h, *rows, accelerations)]
    G, c, _, _ = delassus(exact[:4], exact[4], exact[5:9], exact[9])
    parts = [
        Part("contact", (2 * k, 2 * k + 1), slip, Fraction(friction[k]), Fraction(friction[k]))
        for k, slip in enumerate([(Fraction(-1),), None])
    ]
    truth = solve(G, c, parts, reported=range(4)).verdict
    light = derive(mechanism)
    together = classify(light, States(np.zeros((1, 4)), np.zeros((1, 4)), np.zeros(1), {})).verdict
    alone = select_in_floats(light, State([0.0] * 4, [0.0] * 4))
    assert truth == "UNIQUE"
    assert {CellVerdict(int(together[0])).name, alone.verdict.name} <= {truth, "UNDECIDED"}
    assert any("singular" in note for note in alone.notes)


@pytest.mark.parametrize(("unmet", "is_refuted"), [(1e-9, False), (1.9e-9, False), (2.1e-9, True), (1e-6, True)])
def test_forces_that_a_change_within_the_tolerance_admits_are_looked_for_as_far_as_it_reaches(unmet, is_refuted):
    # x1 + x2 = 1 twice, but for what is unmet: equations that are off by 1e-10 admit forces of length unmet/1e-10
    # along (1, -1)/sqrt(2), of which the inequalities 0 <= x1 <= L leave those up to 20 (L = 1/2 + 20/sqrt(2))
    E = np.array([[[1.0, 1.0], [1.0, 1.0]]])
    given = SharedConditions(
        E,
        np.array([[[1.0, 0.0], [-1.0, 0.0]]]),
        np.zeros((1, 2, 2)),
        np.zeros(1, int),
        np.array([[-1.0 - unmet, -1.0 + unmet]]),
        np.array([[0.0, 0.5 + 20 / 2**0.5]]),
        np.full(1, LOST),
    )
    assert families(given, Tolerances()).is_refuted.tolist() == [is_refuted]


@pytest.mark.parametrize(("unmet", "is_refuted"), [(1e-5, False), (1e-3, True)])
def test_several_undetermined_forces_that_may_reach_far_are_left_to_single_states(unmet, is_refuted):
    # x1 + x2 + x3 = 1 three times within 0 <= x <= 1: bounded, so that nothing is met by forces of 1e7
    given = SharedConditions(
        np.ones((1, 3, 3)),
        np.concatenate([np.eye(3), -np.eye(3)])[None],
        np.zeros((1, 3, 3)),
        np.zeros(1, int),
        np.array([[-1.0 - unmet, -1.0, -1.0 + unmet]]),
        np.array([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]]),
        np.full(1, LOST),
    )
    assert families(given, Tolerances()).is_refuted.tolist() == [is_refuted]
