"""Impacts of hinged bodies, whose contacts cannot move in every direction: the Delassus operator is singular."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid import Contact, EnergyDynamics, Mechanism, State, derive, simulate
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact, resolve_impact
from hybrid.contact.impacts.spatial_jump import spatial_jumps, stopping_impulse
from hybrid.errors import ComputationError
from hybrid.motion import Termination

E = 0.5
LAWS = [NewtonImpact(E), PoissonImpact(E), EnergeticImpact(E)]
HEIGHTS = [0.2, 0.5, 0.9]  # of the hinge above the floor, for a link of length one


def spherical(height):
    """A point of mass one on a massless link, hinged in space."""
    return derive(
        Mechanism(
            name="spherical_pendulum",
            coordinates=["a", "b"],
            dynamics=EnergyDynamics(kinetic="(a_dot**2 + sin(a)**2*b_dot**2)/2", potential="-cos(a)"),
            contact=[
                Contact(name="tip", gap=f"{height} - cos(a)", tangent=["sin(a)*cos(b)", "sin(a)*sin(b)"], friction="mu")
            ],
            parameters={"mu": 0.3},
        )
    )


def planar(height):
    return derive(
        Mechanism(
            name="pendulum",
            coordinates=["a"],
            dynamics=EnergyDynamics(kinetic="a_dot**2/2", potential="-cos(a)"),
            contact=[Contact(name="tip", gap=f"{height} - cos(a)", tangent="sin(a)", friction="mu")],
            parameters={"mu": 0.3},
        )
    )


def by_hand(angle, mu, law):
    """The velocity after a blow of -1 in the plane: friction helps against the swing and then hinders it.

    With w = (sin a, cos a) per unit of angular velocity the mobilities are w w^T; compression takes the normal impulse
    1/(sin a + mu cos a) and restitution returns with the rate sin a - mu cos a, or not at all where it jams.
    """
    down, up = np.sin(angle) + mu * np.cos(angle), np.sin(angle) - mu * np.cos(angle)
    if isinstance(law, NewtonImpact):
        return E if up > 0 else None
    if isinstance(law, PoissonImpact):
        return max(E * up / down, 0.0)
    # the normal work is sin(a) v^2/2 over the rate
    return E * np.sqrt(max(up / down, 0.0))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("height", HEIGHTS)
def test_a_hinged_body_that_swings_in_a_plane_rebounds_as_by_hand(height, law):
    angle = np.arccos(height)
    for mu in (0.0, 0.1, 0.3, 1.0, 3.0):
        expected = by_hand(angle, mu, law)
        for dynamics, q, v in ((planar(height), [angle], [-1.0]), (spherical(height), [angle, 0.3], [-1.0, 0.0])):
            if expected is None:
                with pytest.raises(ComputationError, match="satisf"):
                    resolve_impact(dynamics, State(q, v), law=law, parameters={"mu": mu})
                continue
            impact = resolve_impact(dynamics, State(q, v), law=law, parameters={"mu": mu})
            # the path is integrated to 1e-12 and straight in its last 1e-9
            assert impact.v_after[0] == pytest.approx(expected, abs=1e-11)
            assert np.abs(impact.v_after[1:]).max(initial=0.0) <= 1e-11


def along_the_normal_impulse(dynamics, q, v, mu):
    """Poisson's law in generalised velocities; the slip must not end on the way."""
    terms = dynamics.terms(q, v)
    normal, tangents = terms.W_N[:, 0], terms.W_T

    def rate(_, v):
        slip = tangents.T @ v
        return np.linalg.solve(terms.M, normal - mu * tangents @ (slip / np.linalg.norm(slip)))

    def closed(_, v):
        return normal @ v

    closed.terminal, closed.direction = True, 1.0
    compression = solve_ivp(rate, (0, 100), v, method="DOP853", rtol=1e-12, atol=1e-13, events=closed)
    restitution = solve_ivp(
        rate, (0, E * compression.t[-1]), compression.y[:, -1], method="DOP853", rtol=1e-12, atol=1e-13
    )
    return restitution.y[:, -1]


@pytest.mark.parametrize("mu", [0.1, 0.3])
@pytest.mark.parametrize("height", HEIGHTS)
def test_a_hinged_body_that_turns_follows_the_normal_impulse(height, mu):
    dynamics, q, v = spherical(height), np.array([np.arccos(height), 0.3]), np.array([-1.0, 6.0])
    impact = resolve_impact(dynamics, State(q, v), law=PoissonImpact(E), parameters={"mu": mu})
    # both integrate to 1e-12
    assert impact.v_after == pytest.approx(along_the_normal_impulse(dynamics, q, v, mu), abs=1e-10)


def test_without_friction_a_spatial_contact_takes_the_normal_impulse_alone():
    (impulse,) = spatial_jumps(np.diag([2.0, 3.5, 3.5]), np.array([-1.0, 3.0, 4.0]), 0.0)
    assert impulse.tolist() == [0.5, 0.0, 0.0]


def test_a_jam_by_newtons_law_ends_a_motion_with_the_cause():
    dynamics = planar(0.9)
    motion = simulate(
        dynamics, State([1.0], [-1.0]), t_end=2.0, law=NewtonImpact(E), parameters={"mu": 3.0},
    )  # fmt: skip
    assert motion.termination is Termination.NOT_COMPUTED
    assert "no impulses satisfy" in motion.cause
    assert motion.q[0] == pytest.approx(np.arccos(0.9), abs=1e-9)


@pytest.mark.parametrize("mu", [1.0, 3.0])
@pytest.mark.parametrize("height", [0.5, 0.9])
def test_time_stepping_holds_a_hinged_body_that_jams(height, mu):
    """The angle of touching is reached to first order in the step, and is never left again."""
    step, angle = 1e-3, np.arccos(height)
    motion = simulate(
        planar(height), State([1.4], [0.0]), t_end=3.0, method="time-stepping", step=step, parameters={"mu": mu}
    )
    assert motion.termination is Termination.END_TIME
    # falling from rest it is not faster than sqrt(2), and goes too far by a step at most
    assert angle - np.sqrt(2) * step <= motion.q[0] <= angle + 1e-9
    assert abs(motion.v[0]) <= 1e-7


def problems(count):
    random = np.random.default_rng(5)
    for _ in range(count):
        rank = random.integers(1, 4)
        B = random.standard_normal((rank, 3))
        G = B.T @ B
        gamma = G @ random.standard_normal(3)
        gamma = -gamma if gamma[0] > 0 else gamma
        gamma[0] *= random.choice([1.0, 1.5])
        yield G, gamma, float(random.choice([0.1, 0.5, 1.0, 2.0]))


def jumps(G, gamma, mu):
    try:
        return spatial_jumps(G, gamma, mu)
    except ComputationError:
        return []


def test_jumps_obey_the_law_and_a_scan_of_directions_finds_no_others():
    angles = np.linspace(0, 2 * np.pi, 4001)
    u = np.stack([np.cos(angles), np.sin(angles)])
    seen = 0
    for G, gamma, mu in problems(400):
        found, size = jumps(G, gamma, mu), np.abs(gamma).max()
        for P in found:
            after = gamma + G @ P
            slack = 1e-9 * (size + np.abs(G).max() * np.abs(P).max())  # digits of a root of a quartic
            assert abs(after[0]) <= slack and P[0] > 0
            assert np.hypot(*P[1:]) <= mu * P[0] * (1 + 1e-9)
            assert np.abs(mu * P[0] * after[1:] + np.hypot(*after[1:]) * P[1:]).max() <= slack * (1 + mu * P[0])
        force = np.vstack([np.ones_like(angles), -mu * u])
        mobility = G[0] @ force
        open_ = mobility > 1e-6
        P = np.where(open_, -gamma[0] / np.where(open_, mobility, 1.0), 0.0) * force
        slip = (gamma[:, None] + G @ P)[1:]
        turned, along = slip[0] * u[1] - slip[1] * u[0], (slip * u).sum(axis=0)
        for k in range(len(angles) - 1):
            clear = min(along[k], along[k + 1]) > 0.01 * size and open_[k] and open_[k + 1]
            if clear and turned[k] * turned[k + 1] < 0:
                seen += 1
                far = 4 * abs(P[:, k + 1] - P[:, k]).max()
                assert any(np.abs(other - P[:, k]).max() <= far for other in found)
    assert seen > 100


def test_an_impulse_that_stops_is_found_where_a_scan_along_the_free_directions_finds_one():
    places = np.tan(np.linspace(-1.55, 1.55, 301))
    decided = 0
    for G, gamma, mu in problems(300):
        values, vectors = np.linalg.eigh(G)
        moves = values > 1e-10 * values[-1]
        free = vectors[:, ~moves]
        stop = stopping_impulse(G, gamma, mu)
        if np.linalg.norm(free.T @ gamma) > 1e-9 * np.linalg.norm(gamma):
            assert stop is None
            continue
        least = -vectors[:, moves] @ ((vectors[:, moves].T @ gamma) / values[moves])
        shares = np.array(list(itertools.product(places, repeat=free.shape[1])))
        trials = least + shares @ free.T
        margin = float(np.max((mu * trials[:, 0] - np.hypot(trials[:, 1], trials[:, 2])) / np.abs(trials).sum(axis=1)))
        if margin > 0.0:
            assert stop is not None
        elif margin < -0.2:  # the scan is coarse: its directions are up to a hundredth apart, and the last ones more
            assert stop is None
        if stop is not None:
            decided += 1
            assert np.abs(gamma + G @ stop).max() <= 1e-9 * np.abs(G).max() * (1 + np.abs(stop).max())
            assert np.hypot(*stop[1:]) <= mu * stop[0] * (1 + 1e-9)
    assert decided > 50
