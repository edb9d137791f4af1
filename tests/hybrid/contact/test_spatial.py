"""Spatial contacts: known slip directions, the circular cone, and directions of incipient slip."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import mechanisms
from hybrid import (
    ComputationError,
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    State,
    Termination,
    derive,
    simulate,
    solve_state,
    solve_states,
)
from hybrid.automaton import build_automaton
from hybrid.contact import CellVerdict, Verdict, classify, select, select_problem, verify_certificate
from hybrid.contact.modes import ActiveElement, ElementKind
from tests.random_problems import problem_from


def spatial(G, c, mu, *, direction=None, others=()):
    element = ActiveElement("tip", ElementKind.CONTACT, 0, (1, 2), direction, mu, mu)
    return problem_from(np.array(G, dtype=float), np.array(c, dtype=float), [element, *others])


def scanned_slides(G, c, mu, n=40000):
    """Directions of incipient slip by brute force: sign changes of a_T x u on a fine circle."""
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    A = G[0, 0] - mu * u @ G[0, 1:]
    N = -c[0] / A
    a = np.outer(N, G[1:, 0]) - mu * N[:, None] * (u @ G[1:, 1:].T) + c[1:]
    cross = a[:, 0] * u[:, 1] - a[:, 1] * u[:, 0]
    along = np.sum(a * u, axis=1)
    found = []
    for i in range(n):
        j = (i + 1) % n
        if cross[i] * cross[j] < 0 and A[i] * A[j] > 0 and N[i] > 0 and N[j] > 0 and along[i] > 0 and along[j] > 0:
            found.append(angle[i])
    return found


def test_every_direction_of_incipient_slip_is_found():
    rng = np.random.default_rng(1773)
    counts = set()
    for _ in range(60):
        W = rng.normal(size=(4, 3))
        G, c, mu = W.T @ W, rng.normal(size=3), float(rng.uniform(0.1, 3))
        selection = select_problem(spatial(G, c, mu))
        assert selection.verdict is not Verdict.UNDECIDED
        slides = [b for b in selection.branches if b.mode.label == "slide"]
        angles = sorted(np.arctan2(*(-np.array(b.lambda_T["tip"]))[::-1]) % (2 * np.pi) for b in slides)
        expected = sorted(scanned_slides(G, c, mu))
        assert len(angles) == len(expected)
        # a sign change on the grid lies within one step of the root
        np.testing.assert_allclose(angles, expected, atol=2 * np.pi / 40000 + 1e-12)
        counts.add(len(angles))
    assert {0, 1} <= counts


def test_sticking_is_confined_by_the_circle_not_by_a_pyramid():
    # lambda_N = 1, lambda_T = -(c_1, c_2): inside the circle of radius mu but outside every inscribed square
    for angle in np.linspace(0, np.pi, 7):
        inside = 0.499 * np.array([np.cos(angle), np.sin(angle)])
        outside = 0.501 * np.array([np.cos(angle), np.sin(angle)])
        assert select_problem(spatial(np.eye(3), [-1, *inside], 0.5)).branches[0].mode.label == "stick"
        slipping = select_problem(spatial(np.eye(3), [-1, *outside], 0.5))
        assert slipping.verdict is Verdict.UNIQUE
        assert slipping.branches[0].mode.label == "slide"
        np.testing.assert_allclose(slipping.branches[0].lambda_T["tip"], -outside / 0.501 * 0.5, atol=1e-12)


def test_planar_motion_of_a_spatial_contact_gives_the_planar_verdict():
    rng = np.random.default_rng(1895)
    for _ in range(40):
        W = rng.normal(size=(3, 2))
        planar_G, planar_c, mu = W.T @ W, rng.normal(size=2), float(rng.uniform(0, 3))
        G, c = np.zeros((3, 3)), np.zeros(3)
        G[np.ix_([0, 1], [0, 1])] = planar_G
        G[2, 2] = 1.0
        c[:2] = planar_c
        for sign in (1.0, -1.0):
            planar = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), (sign,), mu, mu)
            flat = select_problem(problem_from(planar_G, planar_c, [planar]))
            full = select_problem(spatial(G, c, mu, direction=(sign, 0.0)))
            assert flat.verdict is full.verdict
            forces = [sorted(b.lambda_N["tip"] for b in s.branches) for s in (flat, full)]
            np.testing.assert_allclose(forces[0], forces[1], rtol=1e-10)


def test_spatial_rod_at_rest_sticks_within_its_cone_and_slips_beyond():
    rod = derive(mechanisms.load("oblique_rod"))
    pins = {"psi": 0.3, "theta": "pi/3", "psi_dot": 0, "theta_dot": 0, "slip.tip.1": 0, "slip.tip.2": 0}
    # abs(F_T)/F_N of sticking, from the Delassus matrix 4 I - 3 r r^T: 3 sin cos / (1 + 3 sin^2) = 0.39970403
    ratio = 3 * np.sin(np.pi / 3) * np.cos(np.pi / 3) / (1 + 3 * np.sin(np.pi / 3) ** 2)
    for factor, label in ((1.001, "stick"), (0.999, "slide")):
        name = next(n for n in rod.mechanism.parameters if n in ("mu", "k"))
        parameters = {name: factor * ratio}
        selection = select(rod, solve_state(rod, pins, parameters=parameters), parameters=parameters)
        assert selection.branches[0].mode.label == label


def test_the_complementarity_problem_of_several_spatial_contacts_says_that_it_approximates():
    first = ActiveElement("a", ElementKind.CONTACT, 0, (1, 2), None, 0.5, 0.5)
    second = ActiveElement("b", ElementKind.CONTACT, 3, (4, 5), None, 0.5, 0.5)
    problem = problem_from(np.eye(6), np.array([-1, 0.1, 0, -1, 0, 0.1]), [first, second])
    selection = select_problem(problem, solver="lemke")
    assert selection.verdict is Verdict.UNDECIDED
    assert any("pyramids of 8 facets" in note for note in selection.notes)
    assert selection.branches[0].mode.label == "a=stick,b=stick"


def test_isotropic_contact_without_tangential_drive_sticks():
    # every direction of slip is aligned by symmetry, and all are refuted: a_T opposes them
    selection = select_problem(spatial(np.eye(3), [-1, 0, 0], 0.5))
    assert selection.verdict is Verdict.UNIQUE
    assert selection.branches[0].mode.label == "stick"


@pytest.mark.parametrize("slip", [1.0, -1.0])
def test_spatial_contact_at_rest_next_to_a_slipping_planar_one(slip):
    # independent blocks: the verdict is the product of the two, also where the planar one has no solution
    planar = ActiveElement("wall", ElementKind.CONTACT, 3, (4,), (slip,), 3.0, 3.0)
    G, c = np.eye(5), np.array([-1.0, 0.1, 0.0, -1.0, 0.0])
    G[3, 4] = G[4, 3] = 0.5  # A = 1 - 3/2 < 0 for slip > 0: inconsistent; A = 1 + 3/2 for slip < 0
    tip = ActiveElement("tip", ElementKind.CONTACT, 0, (1, 2), None, 0.5, 0.5)
    selection = select_problem(problem_from(G, c, [tip, planar]))
    if slip < 0:
        assert selection.verdict is Verdict.UNIQUE
        assert selection.branches[0].mode.label == "tip=stick,wall=slide-"
    else:
        assert selection.verdict is Verdict.INCONSISTENT
        assert verify_certificate(selection.certificate)


@cache
def rod_by_its_centre():
    """A uniform rod of length 2 and mass 1 in space, its lower end on a rough floor, by the coordinates of its centre.

    The slip of the tip then cancels between the velocity of the centre and the turning, which leaves rounding.
    """
    return derive(
        Mechanism(
            name="rod_by_its_centre",
            coordinates=["x", "y", "z", "psi", "theta"],
            parameters={"g": 9.81, "mu": 1.7},
            definitions={"cx": "cos(theta)*cos(psi)", "cy": "cos(theta)*sin(psi)"},
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2 + (theta_dot**2 + psi_dot**2*cos(theta)**2)/6",
                potential="g*z",
            ),
            contact=[Contact(name="tip", gap="z - sin(theta)", tangent=["x - cx", "y - cy"], friction="mu")],
        )
    )


def sliding_in_closed_form(psi, theta, psi_dot, theta_dot, direction, mu):
    """A and b of ``a_N = A lambda_N + b`` while the tip of that rod slides, from Newton's and Euler's equations."""
    s, c = np.sin(theta), np.cos(theta)
    M = np.diag([1, 1, 1, c * c / 3, 1 / 3])
    h = np.array([0, 0, -9.81, 2 / 3 * c * s * theta_dot * psi_dot, -(psi_dot**2) * c * s / 3])
    W_N = np.array([0, 0, 1, 0, -c])
    W_x = np.array([1, 0, 0, c * np.sin(psi), s * np.cos(psi)])
    W_y = np.array([0, 1, 0, -c * np.cos(psi), s * np.sin(psi)])
    push = W_N - mu * (direction[0] * W_x + direction[1] * W_y)
    return W_N @ np.linalg.solve(M, push), W_N @ np.linalg.solve(M, h) + s * theta_dot**2


EXPECTED = {
    (True, True): Verdict.UNIQUE,  # leaves
    (True, False): Verdict.UNIQUE,  # slides
    (False, True): Verdict.INDETERMINATE,
    (False, False): Verdict.INCONSISTENT,
}


def random_rods(n):
    rng = np.random.default_rng(5)
    return [
        (rng.uniform(0, 6.28), rng.uniform(0.2, 1.4), *rng.uniform(-2, 2, 2), rng.choice(["+0", "-0"], 2))
        for _ in range(n)
    ]


def test_a_slip_that_vanishes_from_a_side_keeps_it_whatever_rounding_leaves_of_the_slip():
    rod = rod_by_its_centre()
    automaton = build_automaton(rod)
    cases = [(4.97, 1.21, 1.4, -1.6, ("-0", "0")), *random_rods(60)]
    found = set()
    for psi, theta, psi_dot, theta_dot, (first, second) in cases:
        pins = {"psi": psi, "theta": theta, "psi_dot": psi_dot, "theta_dot": theta_dot}
        state = solve_state(rod, pins | {"slip.tip.1": first, "slip.tip.2": second})
        signs = np.array([{"+0": 1.0, "-0": -1.0, "0": 0.0}[text] for text in (first, second)])
        A, b = sliding_in_closed_form(psi, theta, psi_dot, theta_dot, signs / np.linalg.norm(signs), 1.7)
        selection = select(rod, state)
        assert selection.verdict is EXPECTED[A > 0, b > 0], (psi, theta, first, second, A, b)
        found.add(selection.verdict)
        graph_says = [mode for mode in ("free", "slide") if automaton.is_consistent(mode, state)]
        assert len(graph_says) == len(selection.branches)
    assert found == {Verdict.UNIQUE, Verdict.INCONSISTENT}


def test_a_map_and_a_motion_keep_the_side_of_a_vanishing_slip():
    rod, psi = rod_by_its_centre(), np.linspace(4.0, 6.0, 40)
    pins = {"theta": 1.21, "psi_dot": 1.4, "theta_dot": -1.6, "slip.tip.1": "-0", "slip.tip.2": "0"}
    found = classify(rod, solve_states(rod, pins | {"psi": psi})).verdict
    for angle, code in zip(psi, found, strict=True):
        A, b = sliding_in_closed_form(angle, 1.21, 1.4, -1.6, (-1.0, 0.0), 1.7)
        assert Verdict[CellVerdict(code).name] is EXPECTED[A > 0, b > 0], angle
    for angle, code in list(zip(psi, found, strict=True))[::6]:
        state = solve_state(rod, pins | {"psi": angle})
        assert starts(rod, state) == (code != CellVerdict.INCONSISTENT), angle


def starts(rod, state):
    """Whether a motion finds a mode; what comes then is another matter, as friction turns so small a slip at once."""
    try:
        return simulate(rod, state, t_end=1e-9).termination is not Termination.INCONSISTENT
    except ComputationError as error:
        assert "unstable" in str(error)
        return True


def test_mass_alike_along_the_surface_leaves_no_doubt_beyond_the_critical_friction():
    # With M = [[a, k], [k, 1]] in contact coordinates the direction where A_N vanishes is a root of the polynomial, but
    # A_T points against it: forces that are huge nearby stop a slip there. 30 random states, most beyond mu_c.
    rng, several = np.random.default_rng(3), 0
    for _ in range(30):
        k = 2 * rng.normal(size=2)
        M = np.eye(3)
        M[0, 1:] = M[1:, 0] = k
        M[0, 0] = k @ k + rng.uniform(0.02, 0.5)
        G, mu = np.linalg.inv(M), float(rng.choice([0.3, 1.0, 2.0, 5.0]))
        c = G @ np.array([-abs(rng.normal()), *rng.normal(size=2)])
        lam = np.linalg.solve(G, -c)
        count = int(c[0] > 0) + int(np.hypot(*lam[1:]) < mu * lam[0]) + len(scanned_slides(G, c, mu, n=4000))
        found = select_problem(spatial(G, c, mu))
        assert found.verdict is {0: Verdict.UNDECIDED, 1: Verdict.UNIQUE}.get(count, Verdict.INDETERMINATE)
        assert len(found.branches) == count
        several += count > 1
    assert several >= 2


def held_on_a_line(normal, force, mu):
    """Solutions of a unit mass on the floor z = 0, at rest, on a smooth rail: sticking (with its margin) and slips.

    Sticking: |f_T + R n_T| <= -mu (f_z + R n_z) for a rail force R, a convex function of one variable. Slip: along
    +t or -t with t across n_T, the two constraints giving R and lambda_N.
    """
    n, f = np.array(normal), np.array(force)
    excess = minimize_scalar(lambda R: np.hypot(*(f + R * n)[:2]) + mu * (f + R * n)[2], bounds=(-1e3, 1e3)).fun
    t = np.array([-n[1], n[0], 0.0]) / np.hypot(n[0], n[1])
    slips = 0
    for u in (t, -t):
        rows = np.array([[*(np.array([0, 0, 1]) - mu * u), *n]]).reshape(2, 3)
        lam = np.linalg.solve(
            np.array([[rows[0] @ e, rows[1] @ e] for e in (np.array([0.0, 0, 1]), n)]), [-f[2], -f @ n]
        )
        slips += bool(lam[0] > 0 and (f + lam @ rows) @ u > 0)
    lift = f - n * (f @ n) / (n @ n)
    return excess, slips + int(lift[2] > 0)


def test_a_contact_at_rest_that_a_rail_holds_on_a_line():
    rng, seen = np.random.default_rng(77), {}
    for _ in range(80):
        n, f = np.round(rng.normal(size=3), 2), np.round(rng.normal(size=3) - (0, 0, 1), 2)
        mu = float(rng.choice([0.3, 0.8, 2.0, 3.0]))
        excess, others = held_on_a_line(n, f, mu)
        if -0.05 * np.abs(f).max() < excess < 0.02 * np.abs(f).max():
            continue  # nearer to the edge of the cone than the polygon, or a tie
        along = [f"({float(a)!r})*{q}" for a, q in zip(n, "xyz", strict=True)]
        mechanism = Mechanism(
            name="on_a_line",
            coordinates=["x", "y", "z"],
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2",
                potential=" ".join(f"-({float(a)!r})*{q}" for a, q in zip(f, "xyz", strict=True)),
            ),
            contact=[Contact(name="tip", gap="z", tangent=["x", "y"], friction=repr(mu))],
            constraint=[Constraint(name="rail", equation=" + ".join(along))],
        )
        dynamics = derive(mechanism)
        found = select(dynamics, State(np.zeros(3), np.zeros(3)))
        sticks = excess < 0
        expected = (
            Verdict.INDETERMINATE
            if sticks + others > 1
            else Verdict.HYPERSTATIC
            if sticks
            else Verdict.UNIQUE
            if others
            else Verdict.UNDECIDED
        )
        assert (found.verdict, len(found.branches)) == (expected, sticks + others)
        seen[expected] = seen.get(expected, 0) + 1
    assert min(seen.get(verdict, 0) for verdict in (Verdict.INDETERMINATE, Verdict.HYPERSTATIC, Verdict.UNIQUE)) >= 3, (
        seen
    )


@pytest.mark.parametrize("tangent", ["x", "x/2", "2*x"])
def test_a_continuum_beside_a_slip_that_begins_is_undecided(tangent):
    """A brake acts along the normal, so that it shares a force with the contact; across, the body is pulled away."""
    mechanism = Mechanism(
        name="shared",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="-1.5*y"),
        contact=[Contact(name="wall", gap="x", tangent=[tangent, "y"], friction=0.5)],
        friction=[FrictionElement(name="brake", tangent="x", limit=0.5)],
    )
    found = select(derive(mechanism), State(np.zeros(2), np.zeros(2)))
    # the brake may press the body to the wall by any force up to its limit, and y'' = 1.5 - mu lambda_N depends on it
    assert found.verdict is Verdict.UNDECIDED
    assert any("continuum of forces with different accelerations" in note for note in found.notes)
