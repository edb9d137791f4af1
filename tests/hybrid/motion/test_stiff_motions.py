"""Stiff arcs are followed by an implicit method, without being asked for it."""

import numpy as np
import pytest
from scipy.optimize import brentq

from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.contact import NewtonImpact


def body(force, *contacts):
    return derive(
        Mechanism(
            name="body",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            forces={"x": force},
            contact=list(contacts),
        )
    )


def steps(motion):
    return sum(len(arc.knots) - 1 for arc in motion.arcs)


@pytest.mark.parametrize("damping", [1e4, 1e8, 1e12])
def test_a_body_that_strong_damping_stops_is_followed_in_few_steps(damping):
    motion = simulate(body(f"-{damping}*x_dot"), State([0.25], [1.0]), t_end=10.0)
    # x = 1/4 + (1 - exp(-c t))/c; an explicit method is stable for steps of 6/c: 16 000 of them and more
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] == pytest.approx(0.25 + 1 / damping, rel=1e-13)
    assert abs(motion.v[0]) < 1e-13
    assert steps(motion) < 300


def relaxation(c, x):
    """``x'' + c (x' + x - cos t) = 0`` from rest at x: its two decays and the forced wave."""
    roots = (-c + np.array([1.0, -1.0]) * np.sqrt(c * c - 4 * c)) / 2
    roots[0] = c / roots[1]  # their product, without what cancels
    a, b = c * np.array([c - 1, c]) / ((c - 1) ** 2 + c**2)
    weights = np.linalg.solve(np.array([[1.0, 1.0], roots]), [x - a, -b])
    return lambda t: a * np.cos(t) + b * np.sin(t) + weights @ np.exp(roots * t)


def test_an_event_on_a_stiff_arc_is_located_as_closely_as_elsewhere():
    c = 1e5
    motion = simulate(body(f"-{c}*(x_dot + x - cos(t))"), State([2.0], [0.0]), t_end=4.0, watch={"w": "x"})
    expected = relaxation(c, 2.0)
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] == pytest.approx(expected(4.0), abs=1e-10)
    assert [event.t for event in motion.events] == pytest.approx([brentq(expected, 1, 4, xtol=1e-14)], abs=1e-10)
    assert steps(motion) < 6000  # an explicit method takes 65 000


def test_an_impact_ends_a_stiff_arc_and_begins_another():
    c = 1e5
    dynamics = body(f"-{c}*(x_dot + x - cos(t))", Contact(name="wall", gap="x"))
    motion = simulate(dynamics, State([2.0], [0.0]), t_end=3.0, law=NewtonImpact())
    assert motion.termination is Termination.END_TIME
    assert motion.events[0].t == pytest.approx(brentq(relaxation(c, 2.0), 1, 4, xtol=1e-14), abs=1e-10)
    assert motion.q[0] == pytest.approx(0.0, abs=1e-15)  # it is pressed against the wall from then on


def test_a_fast_wave_that_grows_out_of_nothing_is_not_followed_as_stiff():
    # While the wave is below the tolerance, steps are as long as the explicit method is stable: the arc looks stiff.
    # Then the wave has to be followed. Mean cos(t), difference from it f'' = -w^2 f + a cos(w t): a t sin(w t)/(2 w).
    w, a, t_end = 1e3, 4e-4, 2.0
    pair = derive(
        Mechanism(
            name="pair",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential=f"(x + y)**2/4 + {w}**2*(x - y)**2/4"),
            forces={"x": f"{a}*cos({w}*t)", "y": f"-{a}*cos({w}*t)"},
        )
    )
    motion = simulate(pair, State([1.0, 1.0], [0.0, 0.0]), t_end=t_end)
    wave = a * t_end * np.sin(w * t_end) / (2 * w)
    assert motion.q == pytest.approx(np.cos(t_end) + np.array([wave, -wave]), abs=1e-11)
    # An error of 1e-12 in a wave of 4e-7 allows order 8 a step of (9! 1e-12/4e-7)^(1/9)/w: 6.5 to a period.
    assert steps(motion) < 20 * w * t_end / (2 * np.pi)
