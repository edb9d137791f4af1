"""Derivatives through the beginning and the end of a spatial slip, against closed forms and by three roads."""

import attrs
import numpy as np
import pytest

from hybrid import (
    Contact,
    EnergyDynamics,
    Functional,
    Mechanism,
    Refusal,
    derive,
    saltation_matrix,
    sensitivity,
    simulate,
    solve_state,
)
from hybrid.contact import EnergeticImpact, NewtonImpact
from hybrid.motion import Settings
from tests.catalogue import dynamics_of
from tests.hybrid.analysis.test_sensitivity import by_three_roads

REST = {"gap.floor": 0, "gap_dot.floor": 0}


def particle_on_incline():
    return derive(
        Mechanism(
            name="particle_on_incline",
            coordinates=["x", "y", "z"],
            parameters={"g": 9.81, "slope": 0.3, "mu": 0.6},
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential="g*cos(slope)*z - g*sin(slope)*x"
            ),
            contact=[Contact(name="floor", gap="z", tangent=["x", "y"], friction="mu")],
        )
    )


INCLINE = {"x": 0, "y": 0, "x_dot": 0.5, "y_dot": 1.0, **REST}


def test_a_particle_comes_to_rest_on_an_incline_while_its_slip_turns_downhill():
    # v (k + cos psi), with psi the angle to the line of fall and k = mu / tan(slope), falls at the constant rate
    # g sin(slope) (k^2 - 1): v' = g sin (cos psi - k), v psi' = -g sin sin psi (Appell, Traite de mecanique, 1893)
    import mpmath

    motion = simulate(particle_on_incline(), solve_state(particle_on_incline(), INCLINE), t_end=1)
    names = ["mu", "slope", "x_dot", "y_dot", "g"]
    found = sensitivity(motion, Functional("x", "y + x"), names, pins=INCLINE, method="forward")

    def rest(mu, slope, x_dot, y_dot, g):
        v, k = mpmath.hypot(x_dot, y_dot), mu / mpmath.tan(slope)
        return (v * k + x_dot) / (g * mpmath.sin(slope) * (k**2 - 1))

    values = [mpmath.mpf(text) for text in ("0.6", "0.3", "0.5", "1", "9.81")]
    assert found.events[0].t == pytest.approx(float(rest(*values)), abs=1e-13)
    for place, name in enumerate(names):
        order = [int(index == place) for index in range(5)]
        with mpmath.workdps(40):
            slope = float(mpmath.diff(rest, values, tuple(order)))
        # the direction approaches its limit as the power 1.06 of the time left: steps that shrink to 1e-7 resolve it
        assert found.events[0].gradient[name] == pytest.approx(slope, abs=1e-10)


def test_a_particle_on_an_incline_by_three_roads():
    incline = particle_on_incline()
    motion = simulate(incline, solve_state(incline, INCLINE), t_end=1)
    by_three_roads(motion, Functional("x", "y + x"), ["mu", "slope", "y_dot"], pins=INCLINE)


def test_a_ball_begins_to_roll():
    # its slip keeps its direction and falls by 7/2 mu g, so it rolls after 2 s / (7 mu g) with 5/7 of what it
    # had to the slip's point, wherever it was (Coriolis 1835)
    ball = dynamics_of("spatial_ball")
    rates = {"x_dot": 1, "y_dot": 0.3, "alpha_dot": 0.2, "beta_dot": -0.4, "gamma_dot": 0.1}
    pins = {name: 0 for name in ball.mechanism.coordinates if name != "z"} | rates | REST
    motion = simulate(ball, solve_state(ball, pins), t_end=1)
    found = sensitivity(motion, Functional(terminal="x_dot"), ["mu", "x_dot", "y_dot"], pins=pins, method="forward")
    slip, g, mu = np.array([1 + 0.1 * 0.4, 0.3 + 0.1 * 0.2]), 9.81, 0.2
    speed = np.linalg.norm(slip)
    assert found.events[0].t == pytest.approx(2 * speed / (7 * mu * g), abs=1e-13)
    slopes = [-2 * speed / (7 * mu**2 * g), *(2 * slip / speed / (7 * mu * g))]
    assert list(found.events[0].gradient.values()) == pytest.approx(slopes, abs=1e-12)
    # x_dot at the end is x_dot - 2/7 slip_x: neither friction nor the other component has a say
    assert list(found.gradient.values()) == pytest.approx([0, 5 / 7, 0], abs=1e-12)
    by_three_roads(motion, Functional("x", "y"), ["mu", "x_dot", "R"], pins=pins)


def test_the_saltation_matrix_at_the_end_of_a_spatial_slip_forgets_the_slip():
    ball = dynamics_of("spatial_ball")
    pins = {name: 0 for name in ball.mechanism.coordinates if name != "z"} | REST
    motion = simulate(ball, solve_state(ball, pins | {"x_dot": 1, "y_dot": 0.3} | _still()), t_end=1)
    matrix = saltation_matrix(ball, motion.events[0])
    slip = np.zeros((2, 12))
    slip[0, [6, 10]], slip[1, [7, 9]] = (1, -0.1), (1, 0.1)
    assert np.max(np.abs(slip @ matrix)) < 1e-12
    # by hand: an impulse at the point of contact takes the slip away, x_dot - 2/7 slip_x and y_dot - 2/7 slip_y
    expected = np.eye(12)
    expected[[6, 7]] -= 2 / 7 * slip
    assert matrix[[6, 7]] == pytest.approx(expected[[6, 7]], abs=1e-12)
    incline = particle_on_incline()
    event = simulate(incline, solve_state(incline, INCLINE), t_end=1).events[0]
    assert saltation_matrix(incline, event)[3:5] == pytest.approx(np.zeros((2, 6)), abs=1e-9)


def _still():
    return {"alpha_dot": 0, "beta_dot": 0, "gamma_dot": 0}


def pulled_puck(static):
    return derive(
        Mechanism(
            name="pulled_puck",
            coordinates=["x", "y", "z"],
            parameters={"g": 9.81, "A": 3, "B": 2, "mu": 0.3, "mu_s": static},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential="g*z"),
            forces={"x": "A*t", "y": "B"},
            contact=[Contact(name="floor", gap="z", tangent=["x", "y"], friction="mu", static_friction="mu_s")],
        )
    )


PUCK = {"x": 0, "y": 0, "x_dot": 0, "y_dot": 0, **REST}


def test_a_spatial_slip_begins_where_static_friction_is_reached():
    puck = pulled_puck(0.4)
    motion = simulate(puck, solve_state(puck, PUCK), t_end=1.5, settings=Settings(stepper="Radau", rtol=1e-10))
    assert [event.kind.value for event in motion.events] == ["slip start"]
    names = ["mu", "mu_s", "A", "B"]
    found = sensitivity(motion, Functional("x", "y + x"), names, pins=PUCK, method="forward")
    # (A t)^2 + B^2 = (mu_s g)^2
    A, B, limit = 3, 2, 0.4 * 9.81
    t = np.sqrt(limit**2 - B**2) / A
    slopes = [0, limit * 9.81 / (A**2 * t), -t / A, -B / (A**2 * t)]
    assert found.events[0].t == pytest.approx(t, abs=1e-12)
    assert list(found.events[0].gradient.values()) == pytest.approx(slopes, abs=1e-11)
    by_three_roads(motion, Functional("x", "y + x"), ["mu", "mu_s", "B"], pins=PUCK)
    assert not isinstance(saltation_matrix(puck, motion.events[0]), Refusal)


TURNING = {"x": -0.056, "y": -0.07, "x_dot": -1.62, "y_dot": -0.937, "gap.p": 0, "gap_dot.p": 0}


def turning_particle():
    """Its slip turns before it ends, at an equilibrium of its direction beside another one that repels."""
    spring, bowl = "m*g*z + 1.1765*(x**2 + 2*y**2)", "z + 0.1*x**2 - 0.05*sin(y)"
    tangent = ["x + 0.3*y", "y - 0.275*t"]
    return derive(
        Mechanism(
            name="turning_particle",
            coordinates=["x", "y", "z"],
            parameters={"m": 1.918, "g": 9.81, "mu": 0.339},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2 + z_dot**2)/2", potential=spring),
            forces={"x": "1.942*sin(1.981*t)", "y": "0.275*x_dot", "z": "-1.942*x"},
            contact=[Contact(name="p", gap=bowl, tangent=tangent, friction="mu*(1 + 0.275*sin(x)**2)")],
        )
    )


def test_the_end_of_a_spatial_slip_at_the_coarsest_errors():
    particle = turning_particle()
    start = solve_state(particle, TURNING)

    def followed(mu, rtol, atol):
        settings = Settings(rtol=rtol, atol=atol)
        return simulate(particle, start, t_end=0.6, parameters={"mu": mu}, settings=settings)

    motion = followed(0.339, 1e-12, 1e-12)
    assert [event.kind.value for event in motion.events] == ["slip end"]
    found = sensitivity(motion, Functional(terminal="x"), ["mu"], pins=TURNING)
    # differences of order four, with steps of 1e-3: truncation is about 1e-9
    ends = {k: followed(0.339 + k * 1e-3, 1e-12, 1e-14).q[0] for k in (-2, -1, 1, 2)}
    slope = (8 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / 12e-3
    assert found.gradient["mu"] == pytest.approx(slope, rel=1e-7)


def test_a_slip_that_ends_too_coarsely_for_a_direction_is_refused():
    # a file of an earlier version does not say how coarse its motion is
    particle = turning_particle()
    motion = simulate(particle, solve_state(particle, TURNING), t_end=0.6, settings=Settings(rtol=1e-9, atol=1e-9))
    found = sensitivity(attrs.evolve(motion, settings=None), Functional(terminal="x"), ["mu"], pins=TURNING)
    assert "direction in the limit does not show" in found.refusal.reason
    assert not found.refusal.is_proven
    assert "computed with rtol=1e-09" in sensitivity(motion, Functional(terminal="x"), ["mu"]).refusal.reason


@pytest.mark.parametrize("law", [NewtonImpact(), pytest.param(EnergeticImpact(), marks=pytest.mark.long)])
def test_a_spinning_ball_bounces_twice(law):
    ball = dynamics_of("spatial_ball")
    pins = {"x": 0, "y": 0, "z": 0.3, "alpha": 0, "beta": 0, "gamma": 0}
    pins |= {"x_dot": 3, "y_dot": 0.9, "z_dot": 0, "alpha_dot": 2, "beta_dot": -4, "gamma_dot": 0.1}
    motion = simulate(ball, solve_state(ball, pins), t_end=0.5, law=law)
    assert [event.kind.value for event in motion.events] == ["impact", "impact"]
    by_three_roads(motion, Functional("x", "y + z"), ["mu", "e", "y_dot", "R"], pins=pins)
    # it slips through both impacts, which take mu (1 + e) v1 and mu (1 + e) e v1 of its speed against the slip, whose
    # direction stays (Coriolis 1835); v1^2 = 2 g (z - R)
    found = sensitivity(motion, Functional(terminal="x_dot"), ["mu", "e", "z"], pins=pins)
    mu, e, g = 0.2, 0.5, 9.81
    slip, v1 = np.array([3 + 0.1 * 4, 0.9 + 0.1 * 2]), np.sqrt(2 * g * 0.2)
    share = slip[0] / np.linalg.norm(slip)
    slopes = [-share * (1 + e) ** 2 * v1, -share * 2 * mu * (1 + e) * v1, -share * mu * (1 + e) ** 2 * g / v1]
    assert list(found.gradient.values()) == pytest.approx(slopes, abs=1e-9)  # the path's tangents are good to 1e-11
