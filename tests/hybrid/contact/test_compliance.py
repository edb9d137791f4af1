"""The compliant limit of one contact: closed forms, direct integration, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import DeclarationError, KelvinVoigtLimit, StateError, derive, solve_state
from hybrid.analysis import Axis
from hybrid.analysis.comparison.restitution import restitution_map
from hybrid.contact import EnergeticImpact, resolve_impact
from hybrid.contact.compliance.law import KelvinVoigt
from hybrid.contact.compliance.limit import KINDS, planar_limit
from hybrid.contact.compliance.spatial import spatial_limit
from hybrid.contact.impacts.impact import ImpactProblem
from hybrid.contact.modes import ActiveElement, ElementKind
from tests.random_problems import problem_from


def rod(theta, alpha=3.0):
    """Delassus operator of the tip of Painleve's rod, m = l = 1."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[1 + alpha * c * c, alpha * s * c], [alpha * s * c, 1 + alpha * s * s]])


def impact(G, gamma, mu, damping=0.0):
    size = len(gamma)
    element = ActiveElement("tip", ElementKind.CONTACT, 0, tuple(range(1, size)), None, mu, mu)
    return ImpactProblem(
        problem_from(np.array(G, float), np.zeros(size), [element]), np.array(gamma, float), np.zeros(1)
    )


def fast_system(G, gamma, mu, d):
    """The fast system integrated directly, with slip stop as an event; the second road."""
    G_NN, G_NT, G_TT = G[0, 0], G[0, 1], G[1, 1]

    def leg(y, ratio, stops):
        def rates(_, x):
            F = -x[0] - 2 * d * x[1]
            return [x[1], (G_NN + ratio * G_NT) * F, (G_NT + ratio * G_TT) * F]

        def released(_, x):
            return -x[0] - 2 * d * x[1]

        def stopped(_, x):
            return x[2] if stops else 1.0

        released.terminal = stopped.terminal = True
        released.direction = -1
        answer = solve_ivp(rates, (0, 1e4), y, "DOP853", rtol=1e-12, atol=1e-14, events=[released, stopped])
        assert answer.status == 1
        return answer.y[:, -1], answer.t[-1], len(answer.t_events[0]) > 0

    y, total = np.array([0.0, *gamma]), 0.0
    y, time, is_done = leg(y, -np.sign(gamma[1]) * mu, True)
    total += time
    if not is_done:
        y[2] = 0.0
        ratio = -G_NT / G_TT if abs(G_NT) <= mu * G_TT else -np.sign(G_NT) * mu
        y, time, is_done = leg(y, ratio, False)
        total += time
    assert is_done
    return y[1:], total


@pytest.mark.parametrize(
    ("zeta", "e"),
    [
        (0.1, 0.7440794),
        (0.25, 0.5062766),
        (0.5, 0.2984361),
        (0.5**0.5, np.exp(-np.pi / 2)),
        (1.0, np.exp(-2.0)),
        (1.5, 0.0755883),
    ],
)
@pytest.mark.parametrize("inertia", [1.0, 0.2, 7.0])
def test_restitution_of_a_damped_contact_ends_where_the_force_vanishes(zeta, e, inertia):
    # Schwager and Poeschel 2007: the contact ends at F = 0; ending at y = 0 would give 0.1630335 for zeta = 1/2.
    # Seven printed digits for the decimals.
    d = zeta / np.sqrt(inertia)
    got = planar_limit(np.diag([inertia, 1.0]), [-1.0, 0.3], friction=0.0, damping=d).gamma
    assert got[0] == pytest.approx(e, abs=6e-8)
    assert got[1] == 0.3
    frictionless = KelvinVoigtLimit(d).impulses(impact([[inertia]], [-1.0], 0.0))
    assert -1 + inertia * frictionless.values[0] == pytest.approx(got[0], abs=1e-14)
    assert [phase.kind for phase in frictionless.phases] == ["closed"]
    if zeta < 1:
        w = np.sqrt(1 - zeta**2)
        s = np.arctan2(2 * zeta * w, 2 * zeta**2 - 1) / w
        # the closed form itself, to rounding
        assert got[0] == pytest.approx(np.exp(-zeta * s), abs=1e-14)
        assert frictionless.duration == pytest.approx(s / np.sqrt(inertia), rel=1e-13)


@pytest.mark.parametrize(("mu", "theta"), [(1.4, 1.0), (2.0, 1.0), (0.3, 0.7), (0.8, 0.5)])
def test_undamped_contact_is_the_energetic_law_without_loss(mu, theta):
    # no damping: the normal force does no net work, which is Stronge's law with e = 1
    for gamma in ([-1.0, 0.4], [-0.3, -2.0], [-0.0, 1.0]):
        problem = impact(rod(theta), gamma, mu)
        compliant = KelvinVoigtLimit(0.0).path(problem)
        energetic = EnergeticImpact(1.0).impulses(problem)
        assert compliant.impulse == pytest.approx(energetic.values, abs=1e-12)
        assert compliant.work_N == pytest.approx(0.0, abs=1e-14)


def test_closed_form_agrees_with_direct_integration_of_the_fast_system():
    rng = np.random.default_rng(5)
    for _ in range(60):
        directions = rng.normal(size=(3, 2))
        G, gamma = directions.T @ directions + 0.02 * np.eye(2), rng.normal(size=2)
        gamma[0] = -abs(gamma[0])
        mu, d = rng.uniform(0, 3), rng.uniform(0, 1)
        got = planar_limit(G, gamma, friction=mu, damping=d)
        velocity, duration = fast_system(G, gamma, mu, d)
        # the integration holds 1e-12 of the velocities; conditioning of G up to 1e3 is amplified by it
        assert got.gamma == pytest.approx(velocity, abs=1e-9)
        assert got.duration.sum() == pytest.approx(duration, abs=1e-8)


def test_closed_form_is_smooth_where_the_inertia_factor_changes_sign():
    # A_s = 0 at mu_c = G_NN/G_NT: neither an oscillator nor a saddle; both sides must meet there to rounding
    G = rod(1.0)
    mu = G[0, 0] / G[0, 1]
    rates = [planar_limit(G, [-0.2, 1.0], friction=mu + h, damping=0.3).gamma[0] for h in (-1e-9, 0.0, 1e-9)]
    assert abs(rates[2] - 2 * rates[1] + rates[0]) < 1e-13
    assert abs(rates[2] - rates[0]) < 1e-8
    velocity, _ = fast_system(G, [-0.2, 1.0], mu, 0.3)
    assert rates[1] == pytest.approx(velocity[0], abs=1e-11)


def test_impact_without_collision_is_the_limit_of_slow_approaches():
    limit = planar_limit(rod(1.0), [-0.0, 1.0], friction=1.4, damping=0.25)
    assert [KINDS[kind] for kind in limit.kind] == ["slide+", "stick"]
    for approach in (1e-4, 1e-6, 1e-8):
        near = planar_limit(rod(1.0), [-approach, 1.0], friction=1.4, damping=0.25)
        # w at the end depends smoothly on the approach, with a slope of order one
        assert abs(near.gamma[0] - limit.gamma[0]) < 20 * approach
    assert np.isinf(limit.duration[0])


def check_what_must_hold(G, gamma, after, impulse, work_T, duration):
    energy = (impulse * (gamma + after)).sum(axis=-1) / 2
    before = (gamma * np.linalg.solve(G, gamma[..., None])[..., 0]).sum(axis=-1) / 2
    assert np.all(np.isfinite(duration))
    assert np.all(after[..., 0] >= 0)
    # energy differences are known to rounding of the energy before
    assert np.all(energy <= 1e-12 * before)
    assert np.all(work_T <= 1e-12 * before)


def random_mechanisms(rng, n, rows):
    """Delassus operators of mechanisms with five coordinates: random mass matrices and force directions."""
    roots, W = rng.normal(size=(n, 5, 5)), rng.normal(size=(n, 5, rows))
    M = np.swapaxes(roots, 1, 2) @ roots + 0.1 * np.eye(5)
    return np.swapaxes(W, 1, 2) @ np.linalg.solve(M, W)


@pytest.mark.parametrize("n", [400, 10_000])
def test_every_planar_impact_ends_separating_without_gain_of_energy(n):
    # Miller and Rubinovich 2017: existence and uniqueness for any friction coefficient
    rng = np.random.default_rng(n)
    G = random_mechanisms(rng, n, 2)
    gamma = rng.normal(size=(n, 2))
    gamma[:, 0] = -np.abs(gamma[:, 0])
    got = planar_limit(G, gamma, friction=rng.uniform(0, 10, n), damping=rng.uniform(0, 1, n))
    check_what_must_hold(G, gamma, got.gamma, got.impulse, got.work_T.sum(axis=-1), got.duration.sum(axis=-1))
    energy = (got.impulse * (gamma + got.gamma)).sum(axis=-1) / 2
    works = (got.work_N + got.work_T).sum(axis=-1)
    assert np.max(np.abs(works - energy) / (1 + np.abs(energy))) < 1e-9


@pytest.mark.parametrize("n", [60, pytest.param(10_000, marks=pytest.mark.long)])
def test_every_spatial_impact_ends_separating_without_gain_of_energy(n):
    rng = np.random.default_rng(n + 1)
    for G in random_mechanisms(rng, n, 3):
        gamma = rng.normal(size=3)
        gamma[0] = -abs(gamma[0])
        got = spatial_limit(G, gamma, friction=rng.uniform(0, 10), damping=rng.uniform(0, 1))
        check_what_must_hold(G, gamma, got.gamma_after, got.impulse, np.array(got.work_T), np.array(got.duration))


def turning_by_integration(G, gamma, mu, d):
    """The fast system in the contact velocities themselves, by Runge-Kutta steps; the second road in space.

    Only for slips that do not stop: there the direction of friction is undefined.
    """

    def rates(_, x):
        F = -x[0] - 2 * d * x[1]
        u = x[2:4] / np.hypot(*x[2:4])
        return [x[1], *(G @ np.array([F, *(-mu * F * u)]))]

    def released(_, x):
        return -x[0] - 2 * d * x[1]

    released.terminal, released.direction = True, -1
    answer = solve_ivp(rates, (0, 1e3), [0.0, *gamma], "DOP853", rtol=1e-12, atol=1e-14, events=[released])
    assert answer.status == 1
    return answer.y[1:, -1], answer.t[-1]


def test_turning_slip_agrees_with_direct_integration_of_the_fast_system():
    rng = np.random.default_rng(11)
    checked = 0
    while checked < 25:
        directions = rng.normal(size=(5, 3))
        G, gamma = directions.T @ directions, rng.normal(size=3)
        gamma[0] = -abs(gamma[0])
        mu, d = rng.uniform(0, 0.4), rng.uniform(0, 1)
        path = KelvinVoigtLimit(d).path(impact(G, gamma, mu), samples=7)
        if len(path.phases) > 1:
            continue
        checked += 1
        velocity, duration = turning_by_integration(G, gamma, mu, d)
        # the integration holds 1e-12 per step over some dozens of steps
        assert path.gamma_after == pytest.approx(velocity, abs=1e-10)
        assert path.duration == pytest.approx(duration, abs=1e-10)
        assert path.samples.s[[0, -1]] == pytest.approx([0.0, path.duration], abs=1e-12)
        assert path.samples.gamma[0] == pytest.approx(gamma, abs=1e-14)
        assert path.samples.gamma[-1] == pytest.approx(path.gamma_after, abs=1e-12)


def test_spatial_contact_that_slips_in_a_plane_of_symmetry_is_the_planar_one():
    G = np.zeros((3, 3))
    G[:2, :2], G[2, 2] = rod(1.0), 2.0
    for gamma, mu in (([-0.3, 1.0], 1.4), ([-1.0, -0.2], 0.3), ([-1.0, 0.0], 0.2), ([-0.5, 0.0], 1.2)):
        planar = planar_limit(rod(1.0), gamma, friction=mu, damping=0.25)
        spatial = spatial_limit(G, np.array([*gamma, 0.0]), friction=mu, damping=0.25)
        # the integration holds 1e-13 relative
        assert spatial.gamma_after[:2] == pytest.approx(planar.gamma, abs=1e-10)
        assert spatial.duration == pytest.approx(planar.duration.sum(), abs=1e-9)


def test_states_in_arrays_are_decided_one_by_one():
    rng = np.random.default_rng(0)
    gamma = rng.normal(size=(3, 4, 2))
    mu = rng.uniform(0, 2, size=4)
    together = planar_limit(rod(1.1), gamma, friction=mu, damping=0.2)
    for index in np.ndindex(3, 4):
        alone = planar_limit(rod(1.1), gamma[index], friction=mu[index[1]], damping=0.2)
        assert together.gamma[index] == pytest.approx(alone.gamma, abs=1e-15)
        assert together.kind[index].tolist() == alone.kind.tolist()


def test_a_separating_contact_has_no_impact():
    got = KelvinVoigtLimit(0.1).path(impact(rod(1.0), [0.1, 1.0], 1.4))
    assert got.phases == ()
    assert not got.impulse.any()


def test_samples_follow_the_phases():
    path = KelvinVoigtLimit(0.25).path(impact(rod(1.0), [-0.3, 1.0], 1.4), samples=200)
    samples = path.samples
    assert samples.s[-1] == pytest.approx(path.duration, abs=1e-12)
    assert samples.gamma[-1] == pytest.approx(path.gamma_after, abs=1e-12)
    assert samples.impulse[-1] == pytest.approx(path.impulse, abs=1e-12)
    # the impulse is the integral of the force; trapezoidal rule over 400 samples
    integral = np.sum((samples.force[1:] + samples.force[:-1]).T / 2 * np.diff(samples.s), axis=1)
    assert integral == pytest.approx(path.impulse, abs=1e-4)


@pytest.mark.parametrize("approach", [1e-3, 1e-9, 1e-11])
def test_slow_departures_do_not_overflow(approach):
    # A = -1e-3 and an approach of 1e-11: the slip stops after hundreds of stretched times, in which the saddle grows
    G = rod(1.0)
    mu = (G[0, 0] + 1e-3) / G[0, 1]
    alone = planar_limit(G, [-approach, 1.0], friction=mu, damping=0.25)
    pair = planar_limit(G, [[-approach, 1.0]] * 2, friction=mu, damping=0.25)
    assert alone.gamma == pytest.approx(pair.gamma[0], abs=1e-12)
    assert np.isfinite(alone.duration).all()


@pytest.mark.parametrize("damping", [-0.1, float("nan"), float("inf"), 1.1e100, 1e154])
def test_bad_damping_is_refused(damping):
    with pytest.raises(ValueError, match="damping"):
        KelvinVoigtLimit(damping)
    with pytest.raises(ValueError, match="damping"):
        KelvinVoigt(1e6, damping)
    dynamics = derive(mechanisms.load("painleve_rod"))
    with pytest.raises(ValueError, match="damping"):
        restitution_map(dynamics, over=Axis("mu", 0, 3, 3), pins={"theta": 1}, damping=damping)
    with pytest.raises(DeclarationError, match=r"contact\.tip\.damping|delta"):
        solve_state(dynamics, {"theta": 1, "gap_dot.tip": -1}, parameters={"delta": damping})


def test_the_largest_damping_lets_no_contact_rebound():
    G, mu, w, u = rod(1.0), 0.5, -1.0, 1.0
    found = planar_limit(G, [w, u], friction=mu, damping=1e100)
    # it slides until the approach has ended
    P = -w / (G[0, 0] - mu * G[0, 1])
    after = u + (G[0, 1] - mu * G[1, 1]) * P
    assert after > 0.0
    np.testing.assert_allclose(found.gamma, [0.0, after], atol=1e-14)
    energy = found.impulse @ (found.gamma + np.array([w, u])) / 2
    assert energy == pytest.approx((P * w - mu * P * (u + after)) / 2, rel=1e-14)


def test_open_contact_is_refused_by_name():
    ball = derive(mechanisms.load("bouncing_ball"))
    state = solve_state(ball, {"gap.floor": 1, "gap_dot.floor": -1})
    with pytest.raises(StateError, match=r"gap\.floor"):
        resolve_impact(ball, state, law=KelvinVoigtLimit())


def test_a_rough_guide_that_nothing_loads_takes_no_part():
    elements = [
        ActiveElement("tip", ElementKind.CONTACT, 0, (1,), None, 0.3, 0.3),
        ActiveElement("guide", ElementKind.BILATERAL, 2, (3,), None, 0.3, 0.3),
    ]
    gamma = np.array([-1.0, -1.0, 0.0, -1.0])
    problem = ImpactProblem(problem_from(np.eye(4), np.zeros(4), elements), gamma, np.zeros(2))
    alone = planar_limit(np.eye(2), gamma[:2], friction=0.3, damping=0.1)
    found = KelvinVoigtLimit(0.1).impulses(problem).values
    assert found == pytest.approx([*alone.impulse, 0.0, 0.0], abs=1e-9)
