"""The rod that sticks, slips and reverses (Mamaev and Ivanova 2013), against the rod's equations written by hand.

The figures come from an independent integration of those equations, not from this package.
"""

import numpy as np
import pytest
from scipy.integrate import Radau, solve_ivp
from scipy.optimize import minimize_scalar

import mechanisms
from hybrid import Termination, derive, simulate, solve_state
from hybrid.motion import Settings
from hybrid.motion.steps import Stepper

TIMES = (0.16127030015596155, 1.8426260578936584, 2.0384518525054145)


@pytest.fixture(scope="module")
def motion():
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})
    return simulate(rod, start, t_end=3, until="phi", watch={"highest": "phi_dot"})


def value(motion, t, function):
    q, v = motion.sample(t)
    return function(q, v)


def slip(q, v):
    return v[0] + np.sin(q[2]) * v[2]


def test_event_times(motion):
    assert motion.termination is Termination.UNTIL
    mode_changes = [event for event in motion.events if event.kind.value != "watch"]
    assert [event.t for event in mode_changes] == pytest.approx(TIMES, abs=1e-11)
    assert [event.mode_after.label for event in mode_changes[:2]] == ["slide-", "slide+"]
    assert mode_changes[0].mode_before.label == "stick"


def test_states_at_events(motion):
    first, _, second, last = motion.events
    assert (first.q[2], first.v_after[2]) == pytest.approx((0.471752659, 0.3904551282), abs=1e-9)
    assert (second.q[2], second.v_after[2]) == pytest.approx((0.1603303128, -0.7490953844), abs=1e-9)
    assert (last.v_after[2], slip(last.q, last.v_after)) == pytest.approx((-0.8899806648, 0.0969222672), abs=1e-9)


def test_highest_point_is_found_as_a_watched_event(motion):
    highest = motion.events[1]
    assert highest.elements == ("highest",)
    # the figures have ten digits
    assert highest.t == pytest.approx(0.7287191291, abs=1e-10)
    assert (highest.q[2], slip(highest.q, highest.v_after)) == pytest.approx((0.5833899031, -0.06762069), abs=1e-8)
    assert highest.q[2] == pytest.approx(0.5833899031, abs=1e-9)


def test_energies(motion):
    balance = motion.energy()
    assert (balance.initial, balance.final) == pytest.approx((0.556085008975, 0.532740685392), abs=1e-10)
    assert abs(balance.residual) < 1e-10
    q, v = motion.sample(TIMES[1])
    energy, _ = motion.dynamics.energy(q, v)
    assert energy == pytest.approx(0.533740221664, abs=1e-10)


def sliding_by_hand(t, y, mu=0.5):
    """Angle, rate and slip of the rod that slides to the left; m = g = l = 1, I = 1/3."""
    phi, omega, _ = y
    s, c = np.sin(phi), np.cos(phi)
    force = (1 - s * omega**2) / (1 + 3 * c * c - 3 * mu * s * c)
    turn = 3 * (mu * s - c) * force
    return [omega, turn, mu * force + s * turn + c * omega**2]


def test_extreme_values_along_the_motion(motion):
    span = (TIMES[0], TIMES[1])
    start = [motion.events[0].q[2], motion.events[0].v_after[2], 0.0]
    hand = solve_ivp(sliding_by_hand, span, start, method="DOP853", rtol=1e-13, atol=1e-15, dense_output=True)
    lowest = minimize_scalar(lambda t: hand.sol(t)[2], bounds=(0.8, 1.6), method="bounded")
    slips, forces = [], []
    for arc in motion.arcs:
        t = np.linspace(arc.start, arc.end, 4001)
        q, v = arc.sample(t)
        slips.append(np.min(v[:, 0] + np.sin(q[:, 2]) * v[:, 2]))
        forces.append(np.min(motion.forces(arc, t).lambda_N))
    # a minimum sampled at 4000 points is exact to about the square of their distance, 1e-7
    assert min(slips) == pytest.approx(lowest.fun, abs=1e-7)
    assert min(forces) == pytest.approx(0.21885349, abs=1e-7)


def test_constraint_drift_stays_below_1e_10(motion):
    for arc in motion.arcs:
        q, v = arc.sample(np.linspace(arc.start, arc.end, 500))
        kinematics = motion.dynamics.kinematics(q, v)
        assert np.max(np.abs(kinematics["gap"])) < 1e-10
        assert np.max(np.abs(kinematics["gap_dot"])) < 1e-10
        if arc.mode.label == "stick":
            assert np.max(np.abs(kinematics["slip"])) < 1e-10
            assert np.ptp(q[:, 0] - np.cos(q[:, 2])) < 1e-10


def test_implicit_stepper_finds_the_same_events(motion):
    # Radau is of order 5 and its error estimate of order 3: the ends of its steps are far better than the 1e-9 asked
    # for, and events are reached by a step of their own; between them its series is a cubic
    stiff = simulate(
        motion.dynamics,
        solve_state(motion.dynamics, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}),
        t_end=3,
        until="phi",
        settings=Settings(stepper="Radau", rtol=1e-9, atol=1e-11),
    )
    assert [event.t for event in stiff.events] == pytest.approx(TIMES, abs=1e-11)
    for arc in stiff.arcs:
        q, v = arc.sample(np.linspace(arc.start, arc.end, 500))
        assert np.max(np.abs(motion.dynamics.kinematics(q, v)["gap"])) < 1e-9


def test_series_of_an_implicit_step_is_the_dense_output_of_its_method():  # of the explicit one: test_steps
    def turning(t, y):
        return [y[1], -np.sin(y[0])]

    start = np.array([0.3, 1.2])
    own = Stepper(turning, 0.0, start, 9.0, Settings(stepper="Radau", rtol=1e-9, atol=1e-9))
    theirs = Radau(turning, 0.0, start, 9.0, rtol=1e-9, atol=1e-9)
    for _ in range(3):
        step = own.step()
        theirs.step()
        assert (step.start, step.end) == (theirs.t_old, theirs.t)
        s = np.linspace(0, 1, 11)
        # eight coefficients of order one
        assert step.at(s) == pytest.approx(theirs.dense_output()(step.time(s)), abs=1e-14)
