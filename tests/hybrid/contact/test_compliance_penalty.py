"""Contacts of finite stiffness: closed forms, the limit, the rigid mode, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import KelvinVoigt, KelvinVoigtLimit, StateError, derive, resolve, select, solve_state
from hybrid.contact import resolve_impact
from hybrid.contact.compliance.resolution import Outcome, critical_approach
from hybrid.declaration import mechanism_from_toml
from hybrid.errors import ComputationError


@pytest.fixture(scope="module")
def ball():
    return derive(mechanisms.load("bouncing_ball"))


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


def test_undamped_ball_is_thrown_back_as_it_came(ball):
    # conservative: gravity and spring alone; 1e-11 of the integration
    state = solve_state(ball, {"gap_dot.floor": -1})
    motion = KelvinVoigt(1e4, 0.0).pass_through(ball, state)
    assert motion.has_separated
    assert motion.gap_dot_after["floor"] == pytest.approx(1.0, abs=1e-8)
    assert motion.energy_change == pytest.approx(0.0, abs=1e-8)
    # y'' = -K y - g with m = 1: an oscillation about -g/K, in contact for pi + 2 atan(g / sqrt K) of its phase
    weight = 9.81
    assert motion.duration == pytest.approx(np.pi + 2 * np.arctan(weight / 1e2), abs=1e-7)


def test_finite_stiffness_approaches_the_limit_with_order_one_half(ball):
    state = solve_state(ball, {"gap_dot.floor": -1})
    limit = resolve_impact(ball, state, law=KelvinVoigtLimit(0.3)).v_after
    errors = [abs(KelvinVoigt(K, 0.3).pass_through(ball, state).state.v[0] - limit[0]) for K in (1e6, 1e8, 1e10)]
    orders = np.diff(np.log(errors)) / np.log(100)
    assert orders == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize(
    ("theta", "theta_dot", "slip", "mu", "label"),
    [
        (0.5, 0.0, 1, 1.5, "slide+"),
        (0.5, 0.0, -1, 0.5, "slide-"),
        (1.4, 0.0, 0, 0.5, "stick"),
        (0.5, 2.5, 1, 1.5, "free"),
    ],
)
def test_penalty_motion_follows_the_unique_rigid_mode(rod, theta, theta_dot, slip, mu, label):
    parameters = {"mu": mu, "delta": 0.25}
    state = solve_state(rod, {"theta": theta, "theta_dot": theta_dot, "slip.tip": slip}, parameters=parameters)
    selection = select(rod, state, parameters=parameters)
    assert selection.verdict.name == "UNIQUE"
    assert selection.branches[0].mode.label == label
    force = selection.branches[0].lambda_N["tip"]
    errors = []
    for K in (1e4, 1e8):
        motion = KelvinVoigt(K).pass_through(rod.at(parameters), state, horizon=60.0)
        assert motion.label == label
        errors.append(abs(motion.force_N["tip"] * (label != "free") - force))
    if label != "free":
        # the rod moves on by 60 / sqrt(K) while the contact settles
        assert errors[1] < 1e-2 * abs(force)
        assert errors[1] < 0.05 * errors[0]


@pytest.mark.parametrize("n", [6, pytest.param(150, marks=pytest.mark.long)])
def test_penalty_motion_follows_the_rigid_mode_over_the_map_of_the_rod(rod, n):
    # states drawn over the map of posture and rate; those within 0.02 of a change of mode settle too slowly to be told
    rng = np.random.default_rng(n)
    followed = 0
    while followed < n:
        mu, slip = rng.uniform(0.2, 1.8), rng.choice([-1, 1])
        parameters = {"mu": mu, "delta": 0.5}
        pins = {"theta": rng.uniform(0.1, np.pi - 0.1), "theta_dot": rng.uniform(-2, 2), "slip.tip": slip}
        state = solve_state(rod, pins, parameters=parameters)
        selection = select(rod, state, parameters=parameters)
        if selection.verdict.name != "UNIQUE" or selection.margin < 0.02:
            continue
        followed += 1
        (branch,) = selection.branches
        motion = KelvinVoigt(1e10).pass_through(rod.at(parameters), state, horizon=60.0)
        assert motion.label == branch.mode.label
        if branch.mode.label != "free":
            # an oscillation of the size of the force decays as exp(-d A s), slowly where A is small; the rigid force at
            # the posture reached meanwhile is the closed form -b/A of the rod, which the contact follows with a lag of
            # K^-1/2 = 1e-5 times its rate of change
            theta, rate = motion.state.q[2], motion.state.v[2]
            c, s = np.cos(theta), np.sin(theta)
            A = 1 + 3 * c * (c - slip * mu * s)
            remains = 3 * np.exp(-0.5 * A * 60.0)
            assert motion.force_N["tip"] == pytest.approx((1 - rate**2 * s) / A, rel=remains, abs=1e-3)


def test_run_whose_effort_is_spent_ends_where_it_is(ball):
    # m = 1: y'' = -K y - g from y = 0, y' = -1, which would press for pi / sqrt(K) at least
    state = solve_state(ball, {"gap_dot.floor": -1})
    motion = KelvinVoigt(1e-2, 0.0).pass_through(ball, state, effort=100)
    assert motion.is_cut
    assert not motion.has_separated
    t, w, g = motion.state.t, 1e-1, 9.81
    assert 0 < t < np.pi / w
    y = -np.sin(w * t) / w + g * (np.cos(w * t) - 1) / w**2
    assert motion.state.q[0] == pytest.approx(y, rel=1e-9)
    whole = KelvinVoigt(1e-2, 0.0).pass_through(ball, state)
    assert whole.has_separated
    assert not whole.is_cut
    assert whole.posture_change == 0.0


@pytest.mark.parametrize("damping", [20.0, 100.0])
def test_strongly_damped_contact_is_followed_to_the_horizon(rod, damping):
    # the rod's own equations while its tip slides to the positive side, by Radau; the damper decays 2 d A = 50 and 250
    # times per unit of fast time, of which there are 80
    K, mu, horizon = 1e8, 0.3, 80.0
    state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters={"mu": mu})
    motion = KelvinVoigt(K, damping).pass_through(rod.at({"mu": mu}), state, horizon=horizon)
    assert motion.phases == (("slide+", pytest.approx(horizon)),)
    assert not motion.is_cut

    def rate(_, y):
        F = -K * (y[1] - np.sin(y[2])) - 2 * damping * np.sqrt(K) * (y[4] - np.cos(y[2]) * y[5])
        return [*y[3:], -mu * F, -1 + F, 3 * (-np.cos(y[2]) + mu * np.sin(y[2])) * F]

    alone = solve_ivp(rate, (0, horizon / np.sqrt(K)), [*state.q, *state.v], "Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    assert motion.state.v == pytest.approx(alone[3:], abs=1e-8)
    assert motion.state.q == pytest.approx(alone[:3], abs=1e-10)


def test_posture_change_is_that_of_the_delassus_operator(rod):
    state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters={"mu": 1.4})
    motion = KelvinVoigt(1e2).pass_through(rod.at({"mu": 1.4}), state, horizon=3.0)

    def G(theta):
        # uniform rod, m = 1, half length 1
        c, s = np.cos(theta), np.sin(theta)
        return np.array([[1 + 3 * c**2, 3 * s * c], [3 * s * c, 1 + 3 * s**2]])

    theta = motion.state.q[2]
    assert theta > 1.1
    change = np.linalg.norm(G(theta) - G(1.0)) / np.linalg.norm(G(1.0))
    assert motion.posture_change == pytest.approx(change, rel=1e-9)


@pytest.mark.parametrize("m", [1e-6, 1e6, 1e12])
def test_heavy_and_light_bodies_are_followed_to_release(ball, m):
    parameters = {"m": m, "g": 0.0}
    state = solve_state(ball, {"gap_dot.floor": -1}, parameters=parameters)
    motion = KelvinVoigt(1e6, 0.0).pass_through(ball.at(parameters), state)
    assert motion.has_separated
    assert motion.duration == pytest.approx(np.pi * np.sqrt(m), rel=1e-9)


def test_energy_is_lost_to_friction_and_damping_only(rod):
    parameters = {"mu": 0.3, "g": 0.0}
    state = solve_state(rod, {"theta": 1, "theta_dot": 0, "slip.tip": 1, "gap_dot.tip": -1}, parameters=parameters)
    undamped = KelvinVoigt(1e8, 0.0).pass_through(rod.at(parameters), state)
    assert undamped.energy_change == pytest.approx(undamped.work_T, abs=1e-8)
    damped = KelvinVoigt(1e8, 0.25).pass_through(rod.at(parameters), state)
    assert damped.energy_change < damped.work_T < 0


def test_critical_approach_follows_the_stable_direction_of_the_saddle():
    # undamped: w_crit sqrt(K) = -b / sqrt(abs(A))
    assert critical_approach(-0.25, 0.3, damping=0.0) == pytest.approx(-0.6, rel=1e-14)


def test_inconsistent_state_is_resolved_with_its_reason(rod):
    state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters={"mu": 1.4})
    found = resolve(rod, state, parameters={"mu": 1.4})
    assert found.outcome is Outcome.IMPACT_WITHOUT_COLLISION
    assert found.impact is not None
    # p = 1 + 3 c (c - mu s), b = -1 + theta_dot^2 s
    assert "A = -0.0337449 < 0, b = -0.789632 < 0" in found.reason


def test_unique_and_approaching_states_are_told_apart(rod):
    state = solve_state(rod, {"theta": 0.5, "theta_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5})
    assert resolve(rod, state, parameters={"mu": 1.5}).outcome is Outcome.PERSISTS
    pins = {"theta": 0.5, "theta_dot": 0, "slip.tip": 1, "gap_dot.tip": -1}
    assert resolve(rod, solve_state(rod, pins)).outcome is Outcome.IMPACT


@pytest.mark.parametrize("stiffness", [0.0, -1.0, float("inf"), float("nan"), "1e6", None])
def test_bad_stiffness_is_refused(stiffness):
    with pytest.raises(ValueError, match="stiffness"):
        KelvinVoigt(stiffness)


def test_bad_damping_of_a_penalty_contact_is_refused():
    for damping in (-1.0, float("nan"), "0.1"):
        with pytest.raises(ValueError, match="damping"):
            KelvinVoigt(1e6, damping=damping)
        with pytest.raises(ValueError, match="damping"):
            KelvinVoigtLimit(damping)


def test_a_stiffness_whose_penetration_is_rounding_of_the_position_is_refused():
    """A ball on a floor at the height 1 sinks by v/sqrt(K), and the height has 16 digits."""
    high = derive(
        mechanism_from_toml(
            'name = "high"\ncoordinates = ["y"]\n[dynamics]\nkinetic = "y_dot**2/2"\npotential = "10*y"\n'
            '[[contact]]\nname = "floor"\ngap = "y - 1"\n'
        )
    )
    state = solve_state(high, {"gap.floor": 0, "gap_dot.floor": -1})
    most = (1e-4 / np.finfo(float).eps) ** 2  # rounding of y, times sqrt(K), is 1e-4 of the velocity
    motion = KelvinVoigt(0.9 * most, 0.0).pass_through(high, state)
    assert motion.gap_dot_after["floor"] == pytest.approx(1.0, abs=1e-2)
    with pytest.raises(ComputationError, match=r"rounding of positions: take at most 2e\+23"):
        KelvinVoigt(1.1 * most, 0.0).pass_through(high, state)


@pytest.mark.parametrize("horizon", [0.0, -1.0, float("nan")])
def test_bad_horizon_is_refused(ball, horizon):
    with pytest.raises(StateError, match="horizon"):
        KelvinVoigt(1e6).pass_through(ball, solve_state(ball, {"gap_dot.floor": -1}), horizon=horizon)


def test_separated_contacts_are_refused(ball):
    for pins in ({"gap.floor": 1, "gap_dot.floor": -1}, {"gap_dot.floor": 1}):
        state = solve_state(ball, pins)
        with pytest.raises(StateError, match="separate already"):
            KelvinVoigt(1e6).pass_through(ball, state)
        with pytest.raises(StateError, match="separate already"):
            resolve(ball, state)


def test_bad_approach_and_stiffness_of_a_resolution_are_refused(rod):
    state = solve_state(rod, {"theta": 1, "theta_dot": 1.3, "slip.tip": 1})
    with pytest.raises(StateError, match="approach"):
        resolve(rod, state, approach=0.1)
    with pytest.raises(StateError, match="stiffness"):
        resolve(rod, state, approach=-0.1, stiffness=0.0)


def test_friction_element_brakes_a_compliant_impact():
    # valve spool: m x'' = -K x - 2 d sqrt(K) x' - F sign(x') - preload - k x + A p(t), integrated by itself in parts
    # of one direction of motion
    spool = derive(mechanisms.load("valve_spool"))
    parameters = {"F": 2.0, "delta": 0.05}
    values = spool.mechanism.parameter_values(parameters)
    m, k, A = (float(values[name]) for name in ("m", "k", "A"))
    K = 1e6
    state = solve_state(spool, {"gap.closed": 0, "gap_dot.closed": -1}, parameters=parameters)
    motion = KelvinVoigt(K).pass_through(spool.at(parameters), state)

    def rates(sign):
        def rate(t, y):
            p = values["p_mean"] + values["p_swing"] * np.sin(2 * np.pi * values["f"] * t)
            F_N = -K * y[0] - 2 * 0.05 * np.sqrt(K) * y[1]
            return [y[1], (F_N - sign * 2.0 - values["preload"] - k * y[0] + A * p) / m]

        return rate

    def stops(_, y):
        return y[1]

    def released(_, y):
        return -K * y[0] - 2 * 0.05 * np.sqrt(K) * y[1]

    stops.terminal = released.terminal = True
    released.direction = -1
    down = solve_ivp(rates(-1), (0, 1), [0.0, -1.0], "DOP853", rtol=1e-12, atol=1e-15, events=[stops])
    back = down.y[:, -1] * [1, 0]
    up = solve_ivp(rates(1), (down.t[-1], 1), back, "DOP853", rtol=1e-12, atol=1e-15, events=[released])
    assert motion.has_separated
    assert motion.gap_dot_after["closed"] == pytest.approx(up.y[1, -1], abs=1e-8)
    assert motion.state.t == pytest.approx(up.t[-1], abs=1e-10)
    # the seal takes F times the way in and out
    assert motion.work_T == pytest.approx(-2.0 * (-2 * down.y[0, -1] + up.y[0, -1]), rel=1e-7)
    free = KelvinVoigt(K).pass_through(spool.at({**parameters, "F": 0.0}), state)
    assert free.gap_dot_after["closed"] > motion.gap_dot_after["closed"] + 1e-3


def test_friction_element_does_not_change_the_limit_of_infinite_stiffness():
    # a given force acts for a time of the size K^-1/2: what it takes from the rebound vanishes with it
    spool = derive(mechanisms.load("valve_spool"))
    state = solve_state(spool, {"gap.closed": 0, "gap_dot.closed": -1})
    taken = []
    for K in (1e8, 1e10):
        free, braked = (KelvinVoigt(K, 0.005).pass_through(spool.at({"F": F}), state).state.v[0] for F in (0.0, 2.0))
        taken.append(free - braked)
    assert np.log10(taken[1] / taken[0]) == pytest.approx(-1.0, abs=0.02)


SLIDER = """
name = "slider_that_strikes"
coordinates = ["x", "y"]
parameters = { m = 1, mu = 0.3, N = 1e7, alpha = 0.4 }
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2"
[[contact]]
name = "stop"
gap = "-x*cos(alpha) + y*sin(alpha)"
"""
RIGID_RAIL = """
[[constraint]]
name = "rail"
equation = "y"
slip = "x_dot"
friction = "mu"
"""
ELASTIC_RAIL = """
[[constraint]]
name = "rail"
equation = "y"
stiffness = "N"
[[friction]]
name = "rub"
slip = "x_dot"
limit = "mu*N*abs(y)"
"""


def test_a_rough_rail_that_gives_way_comes_close_to_the_rigid_one():
    rigid = derive(mechanism_from_toml(SLIDER + RIGID_RAIL))
    stiff = KelvinVoigt(1e4, 0.0).pass_through(rigid, solve_state(rigid, {"x": 0, "x_dot": 1}))
    elastic = derive(mechanism_from_toml(SLIDER + ELASTIC_RAIL))
    start = solve_state(elastic, {"x": 0, "y": 0, "x_dot": 1, "y_dot": 0})
    motion = KelvinVoigt(1e4, 0.0).pass_through(elastic, start)
    # by hand on a rigid rail: F presses along (-cos, sin), the rail with F sin against y, and its friction mu F sin
    # opposes x_dot: m x'' = -F (cos + mu sin) on the way in and -F (cos - mu sin) on the way out, with F = K x cos,
    # so that the energy of the spring, which is the same, gives x_dot after^2 (cos + mu sin) = (cos - mu sin)
    c, s, mu = np.cos(0.4), np.sin(0.4), 0.3
    assert motion.has_separated
    # = 0.881; the rail rings, nothing damps it, with sqrt(K/N) of the velocity
    assert motion.state.v[0] == pytest.approx(-np.sqrt((c - mu * s) / (c + mu * s)), abs=np.sqrt(1e4 / 1e7))
    assert motion.state.v[0] == pytest.approx(stiff.state.v[0], abs=np.sqrt(1e4 / 1e7))


def test_a_shoe_that_friction_locks_is_said_to_have_no_end():
    # Spurr 1961: self-locking above mu = a/h = 1/2; one coordinate, so that sticking leaves no inertia at all
    shoe = derive(mechanisms.load("brake_shoe"))
    state = solve_state(shoe, {"phi": 0, "phi_dot": 0}, parameters={"mu": 0.8})
    with pytest.raises(ComputationError, match="'tip' on a compliant surface cannot end"):
        resolve_impact(shoe, state, law=KelvinVoigtLimit(), parameters={"mu": 0.8})
    motion = KelvinVoigt(1e6).pass_through(shoe.at({"mu": 0.8}), state, horizon=60.0)
    assert motion.label == "stick"
    # it turns with the belt, at belt_speed / h
    assert motion.state.v == pytest.approx([0.5], abs=0.02)
