"""Impact laws against published numbers, closed forms and the laws themselves."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import mechanisms
from hybrid import Contact, EnergyDynamics, Mechanism, State, StateError, derive, solve_state
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact, resolve_impact
from hybrid.contact.impacts.impact import ImpactProblem
from hybrid.contact.impacts.impulse_lcp import joint_impulse
from hybrid.contact.impacts.laws import AbstractImpactLaw
from hybrid.contact.modes import ActiveElement, ElementKind
from tests.random_problems import problem_from

LAWS = [NewtonImpact, PoissonImpact, EnergeticImpact]


def impact(G, gamma, mu, *, size=2, n=1):
    """Contacts of ``size`` rows each with given Delassus operator and velocities."""
    elements = [
        ActiveElement(f"c{i}", ElementKind.CONTACT, size * i, tuple(range(size * i + 1, size * (i + 1))), None, mu, mu)
        for i in range(n)
    ]
    posed = problem_from(np.array(G, dtype=float), np.zeros(size * n), elements)
    return ImpactProblem(posed, np.array(gamma, dtype=float), np.zeros(n))


def after(problem, law):
    answer = law.impulses(problem)
    return answer, problem.gamma + problem.G @ answer.values


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("mu", "impulse_N", "slip"),
    [
        (0.1, 0.63829787, -0.79787234),
        (0.3, 0.73170732, -0.54878049),
        (0.5, 0.85714286, -0.21428571),
        (0.6, 0.9375, 0.0),
        (0.9, 0.9375, 0.0),
    ],
)
def test_dropped_rod_at_45_degrees(law, mu, impulse_N, slip):
    # uniform rod, m = 1, alpha = 3, v_N = -1, e = 1/2; without reversal all laws agree. Sign: G_NT < 0 gives slip < 0.
    problem = impact([[2.5, -1.5], [-1.5, 2.5]], [-1, 0], mu)
    answer, gamma = after(problem, law(0.5))
    assert answer.values[0] == pytest.approx(impulse_N, abs=5e-9)
    assert gamma[1] == pytest.approx(slip, abs=5e-9)
    assert gamma[0] == pytest.approx(0.5, abs=1e-14)


def kane_levinson():
    """Two uniform rods of length and mass 1 at 20 and 30 degrees, rates -0.1 and -0.2 (Kane and Levinson 1985)."""
    t1, t2 = np.radians([20.0, 30.0])
    M = np.array([[4 / 3, np.cos(t1 - t2) / 2], [np.cos(t1 - t2) / 2, 1 / 3]])
    W = np.array([[np.sin(t1), np.cos(t1)], [np.sin(t2), np.cos(t2)]])
    v = np.array([-0.1, -0.2])
    return W.T @ np.linalg.solve(M, W), W.T @ v


@pytest.mark.parametrize(
    ("law", "mu", "gap_dot", "energy"),
    [
        (NewtonImpact, 0.5, 0.7 * 0.13420201, 0.0407439),
        (PoissonImpact, 0.5, 0.04613788, -0.00992922),
        (EnergeticImpact, 0.5, 0.05002588, -0.00927044),
        (EnergeticImpact, 0.7, 0.04023541, None),
    ],
)
def test_double_pendulum_paradox_of_energy(law, mu, gap_dot, energy):
    G, gamma = kane_levinson()
    answer, post = after(impact(G, gamma, mu), law(0.7))
    assert post[0] == pytest.approx(gap_dot, abs=5e-9)
    if energy is not None:
        assert answer.values @ (gamma + post) / 2 == pytest.approx(energy, abs=5e-8)


def test_energetic_impact_reverses_slip_and_may_stick_instead():
    G, gamma = kane_levinson()
    answer, post = after(impact(G, gamma, 0.5), EnergeticImpact(0.7))
    assert [phase.kind for phase in answer.phases] == ["slide-", "slide+"]
    assert post[1] == pytest.approx(0.01416651, abs=5e-9)
    answer, post = after(impact(G, gamma, 0.7), EnergeticImpact(0.7))
    assert [phase.kind for phase in answer.phases] == ["slide-", "stick"]
    assert post[1] == pytest.approx(0.0, abs=1e-15)


def test_newton_names_the_energy_it_creates():
    ball = derive(mechanisms.load("bouncing_ball"))
    state = solve_state(ball, {"gap_dot.floor": -2})
    assert not resolve_impact(ball, state, law=NewtonImpact(restitution=1.0)).warnings
    # a mass of which normal and tangent are the coordinates: M = G^-1
    G, gamma = kane_levinson()
    M = np.linalg.inv(G)
    arm = derive(
        Mechanism(
            name="arm",
            coordinates=["y", "x"],
            dynamics=EnergyDynamics(
                kinetic=f"({M[0, 0]}*y_dot**2 + {M[1, 1]}*x_dot**2)/2 + ({M[0, 1]})*y_dot*x_dot",
                potential="0",
            ),
            contact=[Contact(name="tip", gap="y", tangent="x", friction="0.5")],
        )
    )
    impact_there = resolve_impact(arm, State([0, 0], gamma), law=NewtonImpact(0.7))
    before, after_it = (float(v @ M @ v) / 2 for v in (np.array(gamma), impact_there.v_after))
    assert after_it > 1.01 * before
    assert impact_there.energy_change == pytest.approx(after_it - before, rel=1e-12)
    (warning,) = impact_there.warnings
    assert warning == f"the newton law created energy: {after_it - before:.6g} on top of {before:.6g}"


@pytest.mark.parametrize(("alpha", "mu", "theta"), [(3.0, 1.4, 1.0), (3.0, 2.0, 1.0)])
def test_impact_without_collision_in_closed_form(alpha, mu, theta):
    # initial slip v0 = 1, v_N = 0, A = p < 0 (Genot and Brogliato 1999; Hogan and Kristiansen 2017):
    # Poisson e v0 (p_S + |p|)/|q|, energetic e v0 sqrt(|p| (p_S + |p|))/|q|, slip stopped
    c, s = np.cos(theta), np.sin(theta)
    G = np.array([[1 + alpha * c * c, alpha * s * c], [alpha * s * c, 1 + alpha * s * s]])
    p, q = G[0, 0] - mu * G[0, 1], G[0, 1] - mu * G[1, 1]
    p_stick = G[0, 0] - G[0, 1] ** 2 / G[1, 1]
    assert p < 0
    for law, expected in (
        (PoissonImpact, 0.6 * (p_stick - p) / -q),
        (EnergeticImpact, 0.6 * np.sqrt(-p * (p_stick - p)) / -q),
    ):
        _, post = after(impact(G, [0.0, 1.0], mu), law(0.6))
        np.testing.assert_allclose(post, [expected, 0.0], atol=1e-14)


@pytest.mark.parametrize(("b", "h", "ratio"), [(0.5, 1.0, 0.7), (0.2, 0.6, 0.85), (1.0, 1.0, 0.25), (1.5, 1.0, 0.0)])
def test_rocking_block_of_housner(b, h, ratio):
    # block 2b x 2h, unit mass, both corners closed, rotating about the right corner onto the left one (Housner 1963)
    J = (b * b + h * h) / 3
    omega = 1.0
    v = np.array([-omega * h, -omega * b, omega])  # centre, from no velocity at the right corner (b, -h)
    W = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [-b, h, b, h]])
    M = np.diag([1.0, 1.0, J])
    G = W.T @ np.linalg.solve(M, W)
    gamma = W.T @ v
    landing = 0 if gamma[0] < 0 else 2
    assert gamma[landing] < 0 and abs(gamma[2 - landing]) < 1e-14
    problem = impact(G, gamma, 5.0, n=2)
    answer = NewtonImpact(0.0).impulses(problem)
    v_after = v + np.linalg.solve(M, W @ answer.values)
    assert v_after[2] / omega == pytest.approx(ratio, abs=1e-12)


def test_three_equal_balls_share_the_speed_in_one_simultaneous_impact():
    # gaps x2 - x1 and x3 - x2, first ball at speed 1, e = 1: (-1/3, 2/3, 2/3), not the sequential (0, 0, 1)
    W = np.array([[-1.0, 0.0], [1.0, -1.0], [0.0, 1.0]])
    v = np.array([1.0, 0.0, 0.0])
    problem = impact(W.T @ W, W.T @ v, 0.0, size=1, n=2)
    answer = NewtonImpact(1.0).impulses(problem)
    np.testing.assert_allclose(v + W @ answer.values, [-1 / 3, 2 / 3, 2 / 3], atol=1e-14)


@pytest.mark.parametrize("law", LAWS)
def test_frictionless_impact_in_closed_form(law):
    problem = impact([[2.0]], [-3.0], 0.0, size=1)
    answer, post = after(problem, law(0.4))
    assert post[0] == pytest.approx(1.2, rel=1e-12)
    assert answer.values[0] == pytest.approx(2.1, rel=1e-12)


@pytest.mark.parametrize("law", [EnergeticImpact, PoissonImpact])
def test_energetic_and_poisson_never_create_energy_and_leave_no_approach(law):
    rng = np.random.default_rng(1990)
    for _ in range(400):
        n = int(rng.integers(1, 3))
        W = rng.normal(size=(2 * n + 1, 2 * n))
        gamma = rng.normal(size=2 * n)
        gamma[::2] = -np.abs(gamma[::2])
        problem = impact(W.T @ W, gamma, float(rng.uniform(0, 3)), n=n)
        answer, post = after(problem, law(float(rng.uniform(0, 1))))
        size = 1 + np.abs(gamma).max()
        assert answer.values @ (gamma + post) / 2 <= 1e-12 * size**2
        assert (post[::2] >= -1e-9 * size).all()
        normal, tangential = answer.values[::2], answer.values[1::2]
        assert (np.abs(tangential) <= problem.elements[0].friction * normal + 1e-9 * (1 + normal)).all()


def landed(rng, *, n):
    """Random contacts, of which some approach, and their friction coefficient."""
    W = rng.normal(size=(int(rng.integers(2 * n - 1, 2 * n + 2)), 2 * n))
    gamma = W.T @ rng.normal(size=len(W))
    gamma *= -np.sign(gamma[0])
    return impact(W.T @ W, gamma, float(rng.uniform(0, 2)), n=n)


def test_energetic_law_of_two_contacts_releases_e_squared_of_the_stored_work_or_all_that_energy_allows():
    rng = np.random.default_rng(1995)
    jumps = 0
    for _ in range(60):
        problem, e = landed(rng, n=2), float(rng.uniform(0.05, 1))
        compression = joint_impulse(problem, problem.gamma).values
        answer, post = after(problem, EnergeticImpact(e))
        restitution = answer.values - compression
        between = problem.gamma + problem.G @ compression
        stored = -(compression * (problem.gamma + between) / 2)[::2]
        released = float(np.sum((restitution * (between + post) / 2)[::2]))
        allowed = e**2 * float(np.sum(np.maximum(stored, 0.0)))
        gain = float(answer.values @ (problem.gamma + post) / 2)
        # energies are sums of a few products; 1e-12 of those leaves three digits for the linear solves
        size = 1e-12 * float(np.abs(compression) @ np.abs(problem.gamma))
        assert released <= allowed + size
        assert gain <= size
        jumps += max(released - allowed, gain) < -size
    # several solutions of one complementarity problem make the impulses jump, and no share meets the bound exactly
    assert jumps <= 3


@pytest.mark.parametrize("law", [PoissonImpact, EnergeticImpact])
def test_two_spatial_contacts_in_a_plane_are_two_planar_ones(law):
    # the pyramids have facets along the plane, so nothing is approximated
    rng = np.random.default_rng(1996)
    for _ in range(8):
        flat = landed(rng, n=2)
        rows = [0, 1, 3, 4]
        G, gamma = np.eye(6), np.zeros(6)
        G[np.ix_(rows, rows)], gamma[rows] = flat.G, flat.gamma
        mu = float(flat.elements[0].friction)
        _, planar = after(flat, law(0.4))
        answer, spatial = after(impact(G, gamma, mu, size=3, n=2), law(0.4))
        np.testing.assert_allclose(spatial[rows], planar, atol=1e-9 * (1 + np.abs(planar).max()))
        # 20 unknowns: which of several solutions is answered is not known, and said
        not_counted = "whether the law has further solutions was not looked for: there are too many contacts"
        assert answer.warnings == ("friction cones approximated by pyramids of 8 facets", not_counted)


@pytest.mark.parametrize("law", [PoissonImpact, EnergeticImpact])
def test_spatial_impact_in_a_plane_is_the_planar_impact(law):
    rng = np.random.default_rng(1986)
    for _ in range(10):
        W = rng.normal(size=(3, 2))
        flat = W.T @ W
        gamma = np.array([-abs(rng.normal()), rng.normal()])
        mu = float(rng.uniform(0.1, 2))
        G = np.eye(3)
        G[:2, :2] = flat
        planar, _ = after(impact(flat, gamma, mu), law(0.5))
        spatial, _ = after(impact(G, [*gamma, 0.0], mu, size=3), law(0.5))
        # the spatial path is integrated to 1e-12 and slip counts as stopped at 1e-9 of its speed
        np.testing.assert_allclose(spatial.values[:2], planar.values, atol=1e-7 * (1 + np.abs(planar.values).max()))
        assert spatial.values[2] == pytest.approx(0.0, abs=1e-9)


def test_newton_at_one_spatial_contact_obeys_coulomb_on_the_circular_cone():
    rng = np.random.default_rng(1988)
    for _ in range(200):
        W = rng.normal(size=(4, 3))
        G, mu, e = W.T @ W, float(rng.uniform(0, 2)), float(rng.uniform(0, 1))
        gamma = np.array([-abs(rng.normal()), *rng.normal(size=2)])
        answer, post = after(impact(G, gamma, mu, size=3), NewtonImpact(e))
        impulse, size = answer.values, 1 + np.abs(answer.values).max() * np.abs(G).max()
        slip = np.linalg.norm(post[1:])
        assert post[0] == pytest.approx(-e * gamma[0], abs=1e-12 * size)
        if slip > 1e-9 * size:  # friction against the slip after the impact, at its full strength
            np.testing.assert_allclose(impulse[1:], -mu * impulse[0] * post[1:] / slip, atol=1e-7 * size)
        else:
            assert np.linalg.norm(impulse[1:]) <= mu * impulse[0] + 1e-12 * size


@pytest.mark.parametrize("speed", [1e-16, 1e-10, 1e-3, 1.0])
@pytest.mark.parametrize("law", LAWS)
def test_slip_of_any_size_stops_in_the_impact_of_a_ball(law, speed):
    # solid sphere, G_TT = 7/2: the tangential impulse -slip/3.5 stops any slip below 3.5 mu (1 + e)
    problem = impact(np.diag([1.0, 3.5, 3.5]), [-2.0, 0.6 * speed, -0.8 * speed], 0.5, size=3)
    answer, post = after(problem, law(0.5))
    np.testing.assert_allclose(answer.values, [3.0, -0.6 * speed / 3.5, 0.8 * speed / 3.5], rtol=1e-9)
    # slip that stops is gone, not small: else the ball would slide on instead of rolling
    assert np.abs(post[1:]).max() <= 1e-15 * max(1.0, speed)


def test_no_closed_contact_is_no_impact():
    rod = derive(mechanisms.load("rod_on_incline"))
    state = solve_state(rod, {"phi": 1, "gap.tip": 1, "phi_dot": 0, "gap_dot.tip": -1, "slip.tip": 0})
    with pytest.raises(StateError, match="no contact is closed"):
        resolve_impact(rod, state, law=NewtonImpact())


def test_restitution_outside_zero_to_one_is_refused():
    for law in LAWS:
        assert issubclass(law, AbstractImpactLaw)
        with pytest.raises(ValueError, match="between 0 and 1"):
            law(1.5)


@pytest.mark.parametrize("law", [PoissonImpact, EnergeticImpact])
@pytest.mark.parametrize("disturbance", [-3e-16, -1e-17, 0.0, 1e-17, 3e-16])
def test_an_end_on_a_circle_stops_where_friction_holds_it_whatever_the_rounding(law, disturbance):
    # The end of a hinged link at the angle a has one freedom, v = s (sin a, cos a) along its circle. Friction with
    # mu >= tan a, against a slip that goes with the approach, stops both velocities at once: P_N = s/(g (sin a + mu cos
    # a)), and from there on holds any normal impulse.
    a, g, mu, e = 0.4, 1.7, 0.5, 0.3
    w = np.array([np.sin(a), np.cos(a)])
    G = g * np.outer(w, w)
    G[0, 0] *= 1 + disturbance
    answer, gamma = after(impact(G, -1.3 * w, mu), law(e))
    assert answer.values[0] >= 1.3 / (g * (np.sin(a) + mu * np.cos(a))) * (1 - 1e-12)
    assert gamma == pytest.approx([0.0, 0.0], abs=1e-12)


# Two rows a contact of a mechanism with three coordinates, every number a dyadic fraction.
_M = [[5, 2, -3], [2, 14, -6], [-3, -6, 7]]
_W = np.array([[1.5, -0.5, -0.5, 1.25], [-1.5, 1.5, 0.0, 1.0], [-1.25, -1.25, 0.0, 0.75]])
_V = np.array([-0.375, 0.75, -1.25])
_MU = (1.75, 1.625)


def _at_an_edge(moved, *, scale=1.0):
    elements = [
        ActiveElement(f"c{i}", ElementKind.CONTACT, 2 * i, (2 * i + 1,), None, _MU[i], _MU[i]) for i in range(2)
    ]
    posed = problem_from(_W.T @ np.linalg.solve(_M, _W), np.zeros(4), elements)
    return ImpactProblem(posed, scale * (_W.T @ _V + moved), np.zeros(2))


def test_a_second_solution_exactly_at_an_edge_of_the_cone_is_not_passed_over():
    # in rational numbers: the impulses keep both contacts closed and the second at rest, on the edge of its cone
    P = sp.Matrix([sp.Rational(802, 129), sp.Rational(-2807, 258), sp.Rational(29551, 516), sp.Rational(361, 43)])
    W = sp.Matrix(4, 3, [sp.Rational(x) for x in _W.T.ravel()])
    after = W * sp.Matrix([sp.Rational(x) for x in _V]) + W * sp.Matrix(_M).inv() * W.T * P
    assert after[0] == after[2] == 0
    for i in range(2):
        bound = sp.Rational(_MU[i]) * P[2 * i]
        assert (after[2 * i + 1] == 0 and abs(P[2 * i + 1]) <= bound) or P[2 * i + 1] == -sp.sign(
            after[2 * i + 1]
        ) * bound
    answer, gamma = newton_after(_at_an_edge(0.0))
    assert abs(gamma[1]) > 1  # the other solution: the first contact slips, the second flies off
    assert any("further solution" in text for text in answer.warnings)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_next_to_the_edge_the_number_of_solutions_is_told_in_all_units(scale):
    known = [newton_after(_at_an_edge([0, 0, s, s], scale=scale))[0].warnings for s in (-1e-3, 1e-3)]
    assert sorted(len(texts) for texts in known) == [0, 1]
    assert any("has 1 further solution" in text for texts in known for text in texts)


def newton_after(problem):
    return after(problem, NewtonImpact(0.0))
