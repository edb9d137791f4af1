"""Changes of the impulses of every law against differences of the law itself, against closed forms, and refused."""

import attrs
import numpy as np
import pytest

from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.impacts.impact import ImpactChange, ImpactProblem
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.expressions import NotDifferentiable
from tests.random_problems import problem_from

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]
WIDTH = 1e-4  # central differences of order 4: 1e-12 / 1e-4 of the path, and the width to the 4th


def impact(G, gamma, mu, e, *, size):
    n = len(gamma) // size
    elements = [
        ActiveElement(f"c{i}", ElementKind.CONTACT, size * i, tuple(range(size * i + 1, size * (i + 1))), None, mu, mu)
        for i in range(n)
    ]
    return ImpactProblem(problem_from(np.array(G, dtype=float), gamma, elements), np.array(gamma), np.full(n, e))


def change(problem, *, gamma=0.0, G=0.0, mu=0.0, e=0.0):
    """One change of a problem."""
    n, r = len(problem.elements), len(problem.gamma)
    blocks = (np.broadcast_to(gamma, (r,)), np.broadcast_to(G, (r, r)), np.full(n, mu), np.full(n, e), np.zeros(n))
    return ImpactChange(*(np.array(block, dtype=float)[..., None] for block in blocks))


def moved(problem, step, by):
    elements = [
        attrs.evolve(element, friction=mu)
        for element, mu in zip(problem.elements, problem.friction + step * by.friction[:, 0], strict=True)
    ]
    posed = attrs.evolve(problem.posed, G=problem.G + step * by.G[..., 0], elements=tuple(elements))
    return ImpactProblem(
        posed, problem.gamma + step * by.gamma[:, 0], problem.restitution + step * by.restitution[:, 0]
    )


def by_differences(law, problem, by):
    def central(step):
        return (law.impulses(moved(problem, step, by)).values - law.impulses(moved(problem, -step, by)).values) / step

    return (4 * central(WIDTH) - central(2 * WIDTH)) / 6


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize(("size", "n"), [(1, 3), (2, 1), (2, 2), (3, 1)])
def test_changes_are_those_of_the_law(law, size, n):
    rng = np.random.default_rng([size, n])
    compared = 0
    for _ in range(5):
        A, H = rng.normal(size=(2, size * n, size * n))
        gamma = rng.normal(size=size * n)
        gamma[::size] = -np.abs(gamma[::size]) - 0.1
        problem = impact(
            A @ A.T + 0.3 * np.eye(size * n), gamma, rng.uniform(0.1, 0.8), rng.uniform(0.2, 0.8), size=size
        )
        by = change(problem, gamma=rng.normal(size=size * n), G=H + H.T, mu=0.4, e=0.3)
        if law.impulses(problem).warnings:
            continue  # several solutions: differences may jump from one to another
        try:
            found = law.impulse_change(problem, by)
        except NotDifferentiable:
            continue
        expected = by_differences(law, problem, by)
        assert found[:, 0] == pytest.approx(expected, abs=1e-7 * max(1.0, np.max(np.abs(expected))))
        compared += 1
    assert compared >= 3


ROD = np.array([[2.5, -1.5], [-1.5, 2.5]])


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_slip_of_zero_that_friction_holds_is_taken_away(law):
    # Newton: G P = -((1 + e) gamma_N, gamma_T). Otherwise P_N is (1 + e) times that of G P = -gamma, and friction takes
    # away all slip: G_TN P_N + G_TT P_T = -gamma_T.
    problem, gamma = impact(ROD, [-1.0, 0.0], 0.9, 0.5, size=2), np.array([0.3, 0.7])
    found = law.impulse_change(problem, change(problem, gamma=gamma))
    expected = -np.linalg.solve(ROD, gamma * [1.5, 1.0])
    if law.name != "newton":
        normal = -1.5 * np.linalg.solve(ROD, gamma)[0]
        expected = np.array([normal, -(gamma[1] + ROD[1, 0] * normal) / ROD[1, 1]])
    assert found[:, 0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("size", [2, 3])
def test_the_first_restitution_has_its_derivative(law, size):
    # of a contact whose directions are independent: P_N = (1 + e) m, with the same slip throughout
    problem = impact(np.diag([2.0, 3.5, 3.5][:size]), [-1.0, 3.0, 4.0][:size], 0.1, 0.0, size=size)
    found = law.impulse_change(problem, change(problem, e=1.0))
    along = [-0.05 * 0.6, -0.05 * 0.8] if size == 3 else [-0.05]
    assert found[:, 0] == pytest.approx([0.5, *along], abs=1e-11)


@pytest.mark.parametrize("law", [PoissonImpact(), EnergeticImpact()], ids=lambda law: law.name)
@pytest.mark.parametrize(
    ("G", "gamma", "mu", "reason", "is_proven"),
    [
        # compression ends at P_N = 1, and so does the slip
        ([[1.0, 0.0], [0.0, 1.0]], [-1.0, 0.5], 0.5, r"slip ends in the impact just where .* \(within", False),
        (ROD, [-1.0, 0.0], 0.6, r"friction can just hold the contact in the impact \(within", True),
        (ROD, [-1.0, 0.0], 0.5, "without slip in which friction cannot hold: it slips to either side", True),
        (ROD, [0.0, 1.0], 0.1, "a contact that does not approach", False),
        (np.diag([1.0, 2.0, 2.0]), [0.0, 1.0, 0.0], 0.1, "a contact that does not approach", True),
        # mu = abs(G_TN) / G_TT, and no slip
        ([[2.0, 0.6, 0], [0.6, 2.0, 0], [0, 0, 2.0]], [-1.0, 0, 0], 0.3, "friction can just hold a spatial", True),
        ([[2.0, 0.6, 0], [0.6, 2.0, 0], [0, 0, 1.0]], [-1.0, 0, 0], 0.2, "it slips to any side", True),
        ([[1.0, 0, 0], [0, 1.0, 1.0], [0, 1.0, 1.0]], [-1.0, 0.1, 0.1], 0.9, "hinged body or without friction", False),
    ],
)
def test_a_kink_is_refused_with_its_reason(law, G, gamma, mu, reason, is_proven):
    problem = impact(G, gamma, mu, 0.0 if len(gamma) == 2 and gamma[1] == 0.5 else 0.4, size=len(gamma))
    with pytest.raises(NotDifferentiable, match=reason) as caught:
        law.impulse_change(problem, change(problem, gamma=np.arange(1.0, len(gamma) + 1), mu=0.3))
    assert caught.value.is_proven == is_proven


def test_the_slip_of_newtons_law_that_just_stops():
    # P = (1.5, 0.75), at the edge of the cone
    problem = impact(np.eye(3), [-1.0, -0.75, 0.0], 0.5, 0.5, size=3)
    with pytest.raises(NotDifferentiable, match="on the edge of its cone"):
        NewtonImpact().impulse_change(problem, change(problem, gamma=[0.1, 0.2, 0.3]))


def test_contacts_that_neither_press_nor_separate_give_a_piece_for_each_side():
    # frictionless, and each would be left at rest by the other: P_2 = 0 and gamma_2 = 0
    problem = impact([[2.0, 1.0], [1.0, 2.0]], [-1.0, -0.5], 0.0, 0.0, size=1)
    found = NewtonImpact().impulse_change(problem, change(problem, gamma=[0.0, 1.0]))
    assert found.shape == (2, 2, 1)
    # pressed: G dP = -d gamma; not pressed: nothing happens to it
    assert found[0, :, 0] == pytest.approx(-np.linalg.solve(problem.G, [0.0, 1.0]), abs=1e-15)
    assert found[1, :, 0] == pytest.approx([0.0, 0.0], abs=1e-15)
