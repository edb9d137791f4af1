"""A slip that vanishes because its direction does, at the dead centre of a crank, ends neither the slip nor the motion.

A crank of unit inertia moves a slider to ``cos(th)`` against dry friction 0.5. Of its energy half the way of the slider
is left behind: ``v(th)^2/2 = v_0^2/2 - way(th)/2``, and the time is the integral of ``1/v``.
"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, derive, ensemble, simulate, solve_state
from hybrid.analysis.ensemble_chunks import FEW

START, T_END = 0.5, 4.0


def crank():
    return derive(
        Mechanism(
            name="crank",
            coordinates=["th"],
            dynamics=EnergyDynamics(kinetic="th_dot**2/2", potential="0"),
            friction=[FrictionElement(name="guide", tangent="cos(th)", limit="0.5")],
        )
    )


def crank_on_a_table():
    """The slider presses with 10 and slides on the table."""
    return derive(
        Mechanism(
            name="crank",
            coordinates=["th", "z"],
            dynamics=EnergyDynamics(kinetic="(th_dot**2 + z_dot**2)/2", potential="10*z"),
            contact=[Contact(name="table", gap="z", tangent="cos(th)", friction="0.05")],
        )
    )


def way(th, start):
    """Of the slider, from the start."""
    half_turns = int(th // np.pi)
    corners = [start, *(np.pi * k for k in range(int(start // np.pi) + 1, half_turns + 1)), th]
    return float(np.sum(np.abs(np.diff(np.cos(corners)))))


def expected(v, start=START):
    """Angle and velocity at the end."""

    def speed(th):
        return np.sqrt(v * v - way(th, start))

    def late(th):
        corners = [np.pi * k for k in range(1, 20) if start < np.pi * k < th]
        return quad(lambda x: 1 / speed(x), start, th, points=corners, epsabs=1e-13, epsrel=1e-13, limit=500)[0] - T_END

    th = brentq(late, start, start + v * T_END, xtol=1e-13)
    return th, speed(th)


@pytest.mark.parametrize(("made", "pins"), [(crank, {}), (crank_on_a_table, {"gap.table": 0, "gap_dot.table": 0})])
def test_a_crank_passes_its_dead_centres(made, pins):
    dynamics = made()
    motion = simulate(dynamics, solve_state(dynamics, {"th": START, "th_dot": 3, **pins}), t_end=T_END)
    assert (motion.q[0], motion.v[0]) == pytest.approx(expected(3.0), abs=1e-8)
    assert motion.energy().residual == pytest.approx(0.0, abs=1e-9)
    # it passes pi, 2 pi and 3 pi, and friction turns over
    element = "guide" if made is crank else "table"
    assert [event.mode_after[element].value for event in motion.events] == ["slide+", "slide-", "slide+"]


def test_a_start_at_a_dead_centre_moves_on():
    dynamics = crank()
    motion = simulate(dynamics, solve_state(dynamics, {"th": "pi", "th_dot": 3}), t_end=T_END)
    assert (motion.q[0], motion.v[0]) == pytest.approx(expected(3.0, np.pi), abs=1e-8)


def test_cranks_side_by_side_pass_their_dead_centres():
    speeds = np.linspace(3.0, 4.0, FEW + 8)  # none stops before the end
    found = ensemble(crank(), starts={"th_dot": speeds}, pins={"th": START}, t_end=T_END)
    assert set(found.termination) == {"END_TIME"}
    assert found.singled_out == {}
    for v, (_, th, end) in zip(speeds.tolist(), found.end.tolist(), strict=True):
        assert (th, end) == pytest.approx(expected(v), abs=1e-7)


def test_a_crank_without_the_energy_for_its_friction_stops_short_of_the_dead_centre():
    # v^2 = cos(1/2) - cos(th) = 0.1^2
    dynamics = crank()
    motion = simulate(dynamics, solve_state(dynamics, {"th": START, "th_dot": 0.1}), t_end=T_END)
    assert motion.q[0] == pytest.approx(np.arccos(np.cos(START) - 0.1**2), abs=1e-9)
    assert motion.v[0] == 0.0
    assert motion.events[-1].mode_after["guide"].value == "stick"


@pytest.mark.parametrize(("th", "v"), [(0.01, -0.3), (0.01, 3), (0.5, 3), (0.5, -3), (0.01, -0.05)])
def test_a_dead_centre_of_a_contact_in_space_is_passed_or_ends_the_motion_by_name(th, v):
    # the slider moves to and fro along (1, 1/2), and loses mu N sqrt(5)/2 of its way, as in the plane
    contact = Contact(name="table", gap="z", tangent=["cos(th)", "cos(th)/2"], friction="0.1")
    dynamics = derive(
        Mechanism(
            name="crank",
            coordinates=["th", "z"],
            dynamics=EnergyDynamics(kinetic="(th_dot**2 + z_dot**2)/2", potential="5*z"),
            contact=[contact],
        )
    )
    pins = {"th": th, "th_dot": v, "gap.table": 0, "gap_dot.table": 0}
    motion = simulate(dynamics, solve_state(dynamics, pins), t_end=T_END)
    way, _ = quad(lambda x: abs(np.sin(x)), th, motion.q[0], points=[0.0, np.pi, -np.pi, 2 * np.pi], limit=200)
    lost = 0.5 * np.sqrt(5) / 2 * abs(way)
    assert motion.v[0] ** 2 / 2 == pytest.approx(v**2 / 2 - lost, abs=1e-8)
    if motion.termination.is_given_up:
        assert "the slip of 'table' vanishes, and has no direction to go on in" in motion.cause
        assert np.sin(motion.q[0]) == pytest.approx(0.0, abs=1e-9)
