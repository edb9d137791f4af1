"""Motions that meet singular configurations: linkages in one line, near misses, starts, other events on the way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid import State, StateError, Termination, derive, simulate, solve_state
from hybrid.motion import singular_points_of
from hybrid.motion.recorded import EventKind
from mechanisms import load
from tests.catalogue import dynamics_of
from tests.constrained import particle

G = 9.81


def parallelogram(t_end: float, theta: float, rate: float):
    """The parallelogram linkage as a pendulum: bars l1 = l3 = 1 turn alike, the coupler of mass 3 only moves along.

    T = (1/3 + 3 + 1/3) theta'^2/2, V = g (1/2 + 3 + 1/2) sin(theta).
    """

    def flow(t, y):
        return [y[1], -G * 4 * np.cos(y[0]) / (11 / 3)]

    def in_line(t, y):
        return np.sin(y[0])

    return solve_ivp(
        flow, (0, t_end), [theta, rate], method="DOP853", rtol=1e-13, atol=1e-14, events=in_line, dense_output=True
    )


def test_parallelogram_swings_through_its_change_points_as_a_parallelogram():
    linkage = dynamics_of("four_bar")
    start = solve_state(linkage, {"theta1": 1.0, "theta1_dot": -7.0})
    motion = simulate(linkage, start, t_end=1.5, singular="smooth")
    by_hand = parallelogram(1.5, 1.0, -7.0)
    assert motion.termination is Termination.END_TIME
    passed = [event for event in motion.events if event.kind is EventKind.SINGULAR_CONFIGURATION]
    assert len(passed) == len(by_hand.t_events[0]) >= 3
    np.testing.assert_allclose([event.t for event in passed], by_hand.t_events[0], atol=1e-9)
    t = np.linspace(0, 1.5, 101)
    q, v = motion.sample(t)
    expected = by_hand.sol(t)
    # three passages, each a tenfold of the error of a step
    np.testing.assert_allclose(q[:, 0], expected[0], atol=1e-8)
    np.testing.assert_allclose(q[:, 2], expected[0], atol=1e-8)
    np.testing.assert_allclose(q[:, 1], 0, atol=1e-9)
    np.testing.assert_allclose(v[:, 0], expected[1], atol=1e-7)
    assert abs(motion.energy().residual) < 1e-8


def test_linkage_in_one_line_ends_with_both_ways_to_go_on():
    linkage = dynamics_of("four_bar")
    start = solve_state(linkage, {"theta1": 1.0, "theta1_dot": -7.0})
    motion = simulate(linkage, start, t_end=1.5)
    assert motion.termination is Termination.SINGULAR_CONFIGURATION
    (point,) = singular_points_of(motion)
    assert point.kind.value == "transversal crossing"
    # parallelogram: all rates of crank and rocker alike; antiparallelogram: from the second-order closure by hand,
    # l1 a^2 + l2 c^2 = l3 e^2 and l1 a + l2 c = l3 e with l1 = l3 = 1, l2 = 3 give c = -a/2... and e = a + 3 c
    rates = sorted((branch.tangent / branch.tangent[0]).round(9).tolist() for branch in point.branches)
    assert rates == [[1.0, -1.0, -2.0], [1.0, 0.0, 1.0]]
    for rate in rates:
        a, c, e = rate
        assert a + 3 * c == pytest.approx(e)
        assert a**2 + 3 * c**2 == pytest.approx(e**2)


@pytest.mark.parametrize("excess", [1e-3, pytest.param(1e-6, marks=pytest.mark.long)])
def test_linkage_that_just_misses_its_change_point_is_followed_around_the_bend(excess):
    # with a longer ground link the bars do not come into one line: branches avoid each other, with a sharp bend
    linkage = dynamics_of("four_bar")
    parameters = {"d": 3 + excess}
    start = solve_state(linkage, {"theta1": 0.5, "theta1_dot": -7.0}, parameters=parameters)
    motion = simulate(linkage, start, t_end=0.12, parameters=parameters, singular="smooth")
    assert motion.termination is Termination.END_TIME
    assert not motion.events
    q, v = motion.sample(np.linspace(0, motion.t, 200))
    assert np.abs(linkage.kinematics(q, v, parameters=parameters)["constraint"]).max() < 1e-9
    assert abs(motion.energy().residual) < 1e-7 * motion.energy().initial


def test_watched_function_that_vanishes_at_the_passage_is_found_there():
    pendulum = dynamics_of("singular_pendulum")
    start = solve_state(pendulum, {"u": 0.5, "u_dot": 0})
    motion = simulate(pendulum, start, t_end=2, singular="smooth", until="u")
    assert motion.termination is Termination.UNTIL
    assert motion.t == pytest.approx(0.737896267, abs=1e-8)
    assert motion.q[0] == pytest.approx(0, abs=1e-9)
    before = simulate(pendulum, start, t_end=2, singular="smooth", until="u - 1/200")
    assert before.q[0] == pytest.approx(0.005, abs=1e-10)
    after = simulate(pendulum, start, t_end=2, singular="smooth", until="u + 1/200")
    assert after.q[0] == pytest.approx(-0.005, abs=1e-10)
    assert [event.kind for event in after.events] == [EventKind.SINGULAR_CONFIGURATION, EventKind.UNTIL]


def test_time_that_ends_within_the_passage_ends_the_motion_there():
    pendulum = dynamics_of("singular_pendulum")
    start = solve_state(pendulum, {"u": 0.5, "u_dot": 0})
    whole = simulate(pendulum, start, t_end=2, singular="smooth")
    for t_end in (0.735, 0.74):
        motion = simulate(pendulum, start, t_end=t_end, singular="smooth")
        assert motion.termination is Termination.END_TIME
        assert motion.t == t_end
        np.testing.assert_allclose(motion.q, whole.sample(t_end)[0], atol=1e-10)


def test_start_at_a_singular_configuration_ends_at_once_with_its_kind():
    pendulum = dynamics_of("singular_pendulum")
    for b, kind in ((3, "transversal crossing"), (2, "tangency"), (1.8, "isolated point")):
        motion = simulate(pendulum, State([0, 0], [0, 0]), t_end=1, parameters={"b": b})
        assert motion.termination is Termination.SINGULAR_CONFIGURATION
        assert motion.t == 0
        assert kind in motion.cause


def test_particle_crosses_itself_on_a_figure_of_eight():
    # x = sin(s), y = sin(s) cos(s) with the constraint y^2 = x^2 - x^4; gravity-free: the speed stays
    eight = particle("y**2 - x**2 + x**4")
    s0 = 1.0
    q = np.array([np.sin(s0), np.sin(s0) * np.cos(s0)])
    tangent = np.array([np.cos(s0), np.cos(2 * s0)])
    start = State(q, -tangent / np.linalg.norm(tangent))
    motion = simulate(eight, start, t_end=3, singular="smooth")
    assert [event.kind for event in motion.events] == [EventKind.SINGULAR_CONFIGURATION]
    # it keeps its direction, (1, 1), and its unit speed
    np.testing.assert_allclose(motion.events[0].v_after, -np.array([1, 1]) / np.sqrt(2), atol=1e-8)
    assert np.linalg.norm(motion.v) == pytest.approx(1, abs=1e-10)

    def length(s):
        return np.hypot(np.cos(s), np.cos(2 * s))

    path = solve_ivp(lambda t, s: -1 / length(s), (0, 3), [s0], rtol=1e-12, atol=1e-13).y[0, -1]
    np.testing.assert_allclose(motion.q, [np.sin(path), np.sin(path) * np.cos(path)], atol=1e-8)


def test_particle_goes_straight_on_where_four_lines_meet():
    lines = particle("x*y", "(x - z)*(y - z)", coordinates="xyz", potential="x")
    start = State([1.0, 0, 1], [-1.0, 0, -1])
    stopped = simulate(lines, start, t_end=3)
    assert stopped.termination is Termination.SINGULAR_CONFIGURATION
    assert "of undecided kind" in stopped.cause and "2 constraints are lost at once" in stopped.cause
    passed = simulate(lines, start, t_end=3, singular="smooth")
    # along (1, 0, 1) with twice the inertia: 1 - t - t^2/4
    np.testing.assert_allclose(passed.q, [-4.25, 0, -4.25], atol=1e-9)


def test_redundant_constraints_do_not_disturb_the_passage():
    single = particle("x*y", potential="x")
    double = particle("x*y", "2*x*y + x**2*y", potential="x")
    start = State([1.0, 0.0], [-1.0, 0.0])
    motions = [simulate(one, start, t_end=2, singular="smooth") for one in (single, double)]
    # along y = 0 it is a free fall in x: 1 - t - t^2/2
    for motion in motions:
        assert len(motion.events) == 1
        assert motion.events[0].t == pytest.approx(np.sqrt(3) - 1, abs=1e-9)
        np.testing.assert_allclose(motion.q, [1 - 2 - 2, 0], atol=1e-9)


def test_wrong_rules_at_singular_configurations_are_refused():
    pendulum = dynamics_of("singular_pendulum")
    start = solve_state(pendulum, {"u": 0.5, "u_dot": 0})
    with pytest.raises(StateError, match=r"'smoth' is not known; did you mean 'smooth'"):
        simulate(pendulum, start, t_end=1, singular="smoth")
    with pytest.raises(StateError, match="leave out singular"):
        simulate(pendulum, start, t_end=1, singular="smooth", method="time-stepping", step=1e-3)


@pytest.fixture(scope="module")
def crank_rocker():
    """A crank that turns fully (Grashof: 1 + 3 < 2.5 + 2), driven over the top by its start."""
    return derive(load("four_bar")), {"l1": 1, "l2": 3, "l3": 2.5, "d": 2, "g": 1}


def run_linkage(crank_rocker, t_end):
    linkage, parameters = crank_rocker
    start = solve_state(linkage, {"theta1": 1.0, "theta1_dot": 4.0}, parameters=parameters)
    motion = simulate(linkage, start, t_end=t_end, parameters=parameters)
    assert motion.termination is Termination.END_TIME
    energy = motion.energy()
    t = np.linspace(0, t_end, 5000)
    q, v = motion.sample(t)
    at = linkage.kinematics(q, v, parameters=parameters)
    drift = abs(energy.residual) / energy.initial
    return np.abs(at["constraint"]).max(), np.abs(at["constraint_dot"]).max(), drift, motion


def test_four_bar_keeps_its_constraints_and_its_energy(crank_rocker):
    position, velocity, drift, motion = run_linkage(crank_rocker, 10.0)
    # between steps the interpolation of order 7 counts
    assert position < 1e-10
    assert velocity < 1e-8
    assert drift < 1e-10
    assert motion.q[0] > 6 * np.pi  # it turns


@pytest.mark.long
def test_four_bar_keeps_its_constraints_and_its_energy_over_a_thousand_units(crank_rocker):
    position, _, drift, _ = run_linkage(crank_rocker, 1e3)
    assert position < 1e-9
    assert drift < 1e-7
