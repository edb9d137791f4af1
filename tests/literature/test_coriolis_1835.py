"""Coriolis, Theorie mathematique des effets du jeu de billard, Paris 1835: the ball that slips, then rolls.

The slip of a ball with isotropic inertia keeps its direction, so friction is a constant force: the path is a parabola
until the slip has died out, and the tangent of its end from then on.
"""

import numpy as np
import pytest

from hybrid import State, Termination, Verdict, simulate
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from tests.catalogue import decide, dynamics_of

MU, G, R = 0.2, 9.81, 0.1
LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]

# velocities and rates of turning about x, y, z
SHOTS = {
    "stun": ((3, 0), (0, 0, 0)),
    "draw": ((2, 0), (0, -30, 0)),
    "follow": ((1, 0.5), (0, 60, 0)),
    "side and masse": ((3, 1), (20, -7, 40)),
    "swerve": ((1, 0), (-45, 10, -12)),
}


def slip_of(v, turning):
    return np.array([v[0] - R * turning[1], v[1] + R * turning[0]])


def start(v, turning, height=0.0):
    return State([0, 0, R + height, 0, 0, 0], [*v, 0, *turning])


def test_ball_without_spin_rolls_at_five_sevenths_of_its_speed():
    motion = simulate(dynamics_of("spatial_ball"), start((3, 0), (0, 0, 0)), t_end=5)
    assert [event.t for event in motion.events] == pytest.approx([2 * 3 / (7 * MU * G)], abs=1e-12)
    assert motion.v[:2] == pytest.approx([5 * 3 / 7, 0], abs=1e-12)
    assert motion.v[4] == pytest.approx(5 * 3 / 7 / R, abs=1e-11)


@pytest.mark.parametrize("shot", SHOTS)
def test_path_is_a_parabola_and_then_a_straight_line(shot):
    v, turning = SHOTS[shot]
    slip = slip_of(v, turning)
    speed = np.linalg.norm(slip)
    rolls = speed / (3.5 * MU * G)
    motion = simulate(dynamics_of("spatial_ball"), start(v, turning), t_end=2 * rolls)
    # the slip falls through zero along its own direction, so the zero is one of a smooth function; some 1e-12 of error
    # stay from the rounding of the direction where the slip is small
    assert [event.t for event in motion.events] == pytest.approx([rolls], abs=1e-10)
    assert motion.events[0].mode_after.label == "stick"
    t = np.linspace(0, 2 * rolls, 201)
    while_slipping = np.minimum(t, rolls)[:, None]
    bend = -MU * G * slip / speed
    after = np.array(v) - slip * 2 / 7
    path = while_slipping * v + while_slipping**2 / 2 * bend + (t[:, None] - while_slipping) * after
    assert motion.sample(t)[0][:, :2] == pytest.approx(path, abs=1e-10)
    assert motion.v[:2] == pytest.approx(after, abs=1e-10)
    # the spin about the vertical has no part in it
    assert motion.v[5] == turning[2]
    assert np.max(np.abs(slip_of(motion.v, motion.v[3:]))) < 1e-12
    assert abs(motion.energy().residual) < 1e-10


def test_angular_momentum_about_the_contact_point_is_kept():
    # the force of the table acts at the point of contact: J omega + m R e_z x v, taken about a line of the table
    v, turning = SHOTS["swerve"]
    motion = simulate(dynamics_of("spatial_ball"), start(v, turning), t_end=3)
    _, rates = motion.sample(np.linspace(0, 3, 50))
    about_x = 0.4 * R**2 * rates[:, 3] - R * rates[:, 1]
    about_y = 0.4 * R**2 * rates[:, 4] + R * rates[:, 0]
    assert about_x == pytest.approx(about_x[0], abs=1e-12)
    assert about_y == pytest.approx(about_y[0], abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("mu", [0.05, 0.2, 1.5])
def test_first_bounce_of_a_ball_with_spin(law, mu):
    # tangential impulse against the slip, mu P_N at most, 2/7 m times the slip where that suffices
    v, turning, e = (1.0, 0.5), (20, -7, 5), 0.5
    slip = slip_of(v, turning)
    fall = np.sqrt(2 * G * 0.5)
    normal = (1 + e) * fall
    share = min(mu * normal / np.linalg.norm(slip), 2 / 7)
    motion = simulate(
        dynamics_of("spatial_ball"), start(v, turning, height=0.5), t_end=0.4, law=law, parameters={"mu": mu}
    )
    (event,) = motion.events
    assert event.t == pytest.approx(fall / G, abs=1e-13)
    assert event.v_after[:3] == pytest.approx([v[0] - share * slip[0], v[1] - share * slip[1], e * fall], abs=1e-9)
    kick = 2.5 * share / R * np.array([-slip[1], slip[0]])
    assert event.v_after[3:5] == pytest.approx(np.array(turning[:2]) + kick, abs=1e-7)
    assert event.v_after[5] == turning[2]


@pytest.mark.parametrize("law", LAWS)
def test_bouncing_ball_with_spin_rolls_in_the_end_as_if_it_had_not_bounced(law):
    # all friction is against the slip, whose direction lasts: 2/7 of it is lost by whatever bounces
    v, turning, e = (1.0, 0.5), (20, -7, 5), 0.5
    motion = simulate(dynamics_of("spatial_ball"), start(v, turning, height=0.5), t_end=3, law=law)
    assert motion.termination is Termination.END_TIME
    assert motion.v[:2] == pytest.approx(np.array(v) - 2 / 7 * slip_of(v, turning), abs=1e-8)
    limit = next(event for event in motion.events if event.kind.value == "accumulation of impacts")
    assert limit.t == pytest.approx(np.sqrt(2 * 0.5 / G) * (1 + e) / (1 - e), abs=1e-9)
    assert motion.arcs[-1].mode.label == "stick"
    assert abs(motion.energy().residual) < 1e-9


def test_ball_at_rest_stays_and_a_pushed_one_rolls_within_its_cone():
    found = decide("spatial_ball", {"slip.floor.1": 0, "slip.floor.2": 0, "x_dot": 0, "y_dot": 0, "gamma_dot": 0})
    assert found.verdict is Verdict.UNIQUE
    assert [branch.mode.label for branch in found.branches] == ["stick"]
    assert found.branches[0].lambda_N["floor"] == pytest.approx(G)
