"""The balance of energy: what guides and forces bring, what friction and impacts take, closes to 1e-9."""

import math
import subprocess
import sys

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, State, derive, simulate, solve_state
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.motion import Settings
from hybrid.motion.flow import CompiledFlow, make_flow
from hybrid.motion.numeric import NumericFlow
from hybrid.motion.recorded import EventKind
from hybrid.reporting import motion_record

G = 9.81


def block(**contact):
    return derive(
        Mechanism(
            name="block",
            coordinates=["x", "y"],
            parameters={"m": 2, "u": 1.5, "mu": 0.3, "e": 0, "a": 0, "P": 0},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="9.81*m*y"),
            forces={"x": "P"},
            contact=[Contact(name="floor", friction="mu", restitution="e", **contact)],
        )
    )


@pytest.fixture(scope="module")
def on_belt():
    return block(gap="y", slip="x_dot - u")


def test_a_block_dropped_on_a_belt_takes_twice_what_it_keeps(on_belt):
    # the belt does m u^2, half of it is lost to friction while the block gets up to speed, after u/(mu g)
    motion = simulate(on_belt, State([0, 0], [0, 0]), t_end=1)
    balance = motion.energy()
    assert balance.final == pytest.approx(2 * 1.5**2 / 2, abs=1e-12)
    assert balance.applied == pytest.approx(2 * 1.5**2, abs=1e-9)
    assert balance.friction == pytest.approx(-2 * 1.5**2 / 2, abs=1e-9)
    assert balance.impacts == 0.0
    assert abs(balance.residual) < 1e-12


def test_a_block_that_falls_on_a_belt_is_accelerated_by_its_impulse(on_belt):
    # normal impulse m sqrt(2 g h), tangential mu times that: the belt does mu m sqrt(2 g h) u
    h, mu, m, u = 0.05, 0.3, 2, 1.5
    fall = math.sqrt(2 * G * h)
    gained = mu * fall
    assert gained < u
    motion = simulate(on_belt, State([0, h], [0, 0]), t_end=fall / G + 1e-6, law=NewtonImpact())
    balance = motion.energy()
    assert motion.v[0] == pytest.approx(gained, abs=1e-5)
    assert balance.impacts == pytest.approx(-m * G * h + m * gained**2 / 2 - mu * m * fall * u, abs=1e-9)
    assert balance.applied == pytest.approx(mu * m * fall * u, abs=1e-4)  # and the belt's work in the last 1e-6 s
    assert abs(balance.residual) < 1e-12


def test_a_rising_floor_works_on_what_it_strikes():
    lift = block(gap="y - a*t", tangent="x")
    a, e, m = 0.7, 0.5, 2
    motion = simulate(lift, State([0, 1], [0, 0]), t_end=0.5, law=NewtonImpact(), parameters={"a": a, "e": e, "mu": 0})
    (event,) = motion.events
    before, after = event.v_before[1], event.v_after[1]
    assert after - a == pytest.approx(-e * (before - a), abs=1e-12)
    balance = motion.energy()
    assert balance.applied == pytest.approx(m * (after - before) * a, abs=1e-10)
    assert balance.impacts == pytest.approx(-m * (1 - e**2) * (before - a) ** 2 / 2, abs=1e-10)
    assert abs(balance.residual) < 1e-12


def test_a_user_force_pays_for_friction():
    # pushed with P = 10 N over mu m g = 5.886 N: a = (P - mu m g)/m
    pushed = block(gap="y", tangent="x")
    balance = simulate(pushed, State([0, 0], [0, 0]), t_end=2, parameters={"P": 10}).energy()
    distance = (10 - 0.3 * 2 * G) / 2 * 2**2 / 2
    assert balance.applied == pytest.approx(10 * distance, rel=1e-12)
    assert balance.friction == pytest.approx(-0.3 * 2 * G * distance, rel=1e-12)
    assert balance.final == pytest.approx((10 - 0.3 * 2 * G) * distance, rel=1e-12)
    assert abs(balance.residual) < 1e-11


@pytest.mark.parametrize("law", [NewtonImpact(), PoissonImpact(), EnergeticImpact()], ids=lambda law: law.name)
def test_balance_closes_with_friction_impacts_and_a_moving_rail(law):
    # an arm that falls on a rail which moves along itself and up and down
    arm = derive(mechanisms.load("two_link_arm"))
    values = {"rail_speed": 1.5, "heave": 0.03, "Omega": 5, "e": 0.3, "mu": 0.05}
    motion = simulate(arm, State([1.1, -0.3], [0.5, -1.0]), t_end=1.5, law=law, parameters=values)
    balance = motion.energy()
    assert len(motion.events) > 3
    assert balance.friction < -1e-3
    assert balance.impacts < -1e-3
    assert abs(balance.applied) > 1e-2
    assert abs(balance.residual) < 1e-9


def test_energies_along_a_rod_that_falls_and_slides_agree_with_the_balance():
    rod = derive(mechanisms.load("rod_two_ends"))
    start = solve_state(rod, {"phi": 0.3, "x": 0, "y": 1, "x_dot": 1, "y_dot": 0, "phi_dot": 0.5})
    motion = simulate(rod, start, t_end=5, law=EnergeticImpact(), parameters={"e": 0.2, "mu": 0.2})
    q, v = motion.q, motion.v
    # m = g = l = 1, I = 1/3, written by hand
    final = (v[0] ** 2 + v[1] ** 2) / 2 + v[2] ** 2 / 6 + q[1]
    balance = motion.energy()
    assert balance.final == pytest.approx(final, abs=1e-12)
    assert balance.initial == pytest.approx(0.5 + 0.5**2 / 6 + 1, abs=1e-12)
    assert balance.friction < 0 > balance.impacts
    assert balance.dissipated == pytest.approx(balance.initial - final, abs=1e-9)
    assert np.isclose(balance.applied, 0.0)


def test_forces_of_a_linkage_come_from_the_kind_of_flow_that_its_run_used():
    linkage = derive(mechanisms.load("four_bar"))
    parameters = {"l1": 1, "l2": 3, "l3": 2.5, "d": 2, "g": 1}
    start = solve_state(linkage, {"theta1": 1.0, "theta1_dot": 4.0}, parameters=parameters)
    motion = simulate(linkage, start, t_end=3, parameters=parameters)
    (arc,) = motion.arcs
    # four_bar's two constraints are independent: eliminated when the program was written, not solved at every instant
    assert isinstance(motion._flow(arc), CompiledFlow)
    solved = make_flow(linkage.at(parameters), arc.mode, independent=False)
    assert isinstance(solved, NumericFlow)
    t = np.linspace(arc.start, arc.end, 50)
    q, v = arc.sample(t)
    other = solved.observe(t, np.vstack([q.T, v.T]))
    scale = np.max(np.abs(other.acceleration))
    np.testing.assert_allclose(motion.forces(arc, t).acceleration, other.acceleration, atol=1e-12 * scale)
    assert abs(motion.energy().residual) < 1e-9


def guided(force, equation):
    """A unit mass in the plane with a force along x, held by an equation, at rest at the origin or moving along x."""
    return derive(
        Mechanism(
            name="guided",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2"),
            forces={"x": force},
            constraint=[Constraint(name="guide", equation=equation)],
        )
    )


@pytest.mark.parametrize(("step", "is_too_long"), [(0.1, True), (0.001, False)])
def test_a_guide_at_rest_does_not_take_the_error_of_steps_for_its_work(step, is_too_long):
    # v -> (1 - c h) v in each step: 1.5 times as fast, with the sign changed, for c h = 2.5
    damped = guided("-25*x_dot", "y")
    motion = simulate(damped, State([0, 0], [1, 0]), t_end=1, method="time-stepping", step=step)
    ratio, n = 1 - 25 * step, round(1 / step)
    mean = (1 + ratio) / 2  # the velocity in the middle of a step over that before it
    taken = -25 * step * mean**2 * sum(ratio ** (2 * k) for k in range(n))
    balance = motion.energy()
    assert balance.final == pytest.approx(ratio ** (2 * n) / 2, rel=1e-12)
    assert balance.applied == pytest.approx(taken, rel=1e-12)
    assert any("the steps are too long" in warning for warning in motion.warnings) == is_too_long


def test_the_rod_of_a_pendulum_does_no_work_in_steps():
    rod = derive(
        Mechanism(
            name="pendulum",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="9.81*y"),
            constraint=[Constraint(name="rod", equation="sqrt(x**2 + y**2) - 1")],
        )
    )
    long, short = (simulate(rod, State([1, 0], [0, 0]), t_end=4, method="time-stepping", step=h) for h in (0.1, 0.01))
    for motion in (long, short):
        assert abs(motion.energy().applied) < 1e-13  # roundings of forces of 30 N on 4 m
    assert any("the steps are too long" in warning for warning in long.warnings)
    assert not short.warnings


@pytest.mark.parametrize("method", [{}, {"method": "time-stepping", "step": 0.05}])
def test_a_guide_that_moves_works_against_a_damper(method):
    # x = a t^2/2: the guide pays for the kinetic energy and the damper; both are in what is applied
    a, t_end = 2.0, 1.5
    moved = guided("-0.3*x_dot", f"x - {a}*t**2/2")
    motion = simulate(moved, State([0, 0], [0, 0]), t_end=t_end, **method)
    balance = motion.energy()
    assert balance.final == pytest.approx((a * t_end) ** 2 / 2, rel=1e-12)
    assert balance.applied == pytest.approx((a * t_end) ** 2 / 2, rel=1e-10)


def test_a_motion_does_not_load_what_only_graphs_need():
    code = "import sys, hybrid.motion; print(sorted({'networkx', 'hybrid.automaton'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"


@pytest.mark.parametrize("law", [NewtonImpact(), EnergeticImpact()])
@pytest.mark.parametrize("V", [0, 1, -100, 1000])
def test_bounces_that_die_on_a_lift_lose_what_they_lose_on_the_ground(V, law):
    # seen from the floor it is one drop from 0.2; the floor carries the weight 9.81 over the way V
    lift = derive(
        Mechanism(
            name="lift",
            coordinates=["y"],
            parameters={"V": V},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="9.81*y"),
            contact=[Contact(name="floor", gap="y - V*t", restitution="0.5")],
        )
    )
    motion = simulate(lift, State([0.2], [V]), t_end=1, law=law)
    assert EventKind.ACCUMULATION in {event.kind for event in motion.events}
    # rounding of the energies, 5e5 at V = 1000
    assert motion.energy().dissipated == pytest.approx(9.81 * 0.2, abs=1e-14 * (1 + V**2))
    assert motion.energy().applied == pytest.approx(9.81 * V, abs=1e-14 * (1 + V**2))


@pytest.mark.parametrize("V", [0, 3, -3])
def test_a_moving_rail_works_in_an_impact_that_presses_on_it(V):
    # a bead on the rail y = V t meets a stop at 45 degrees that the rail carries: it comes with 2 and leaves with 1
    carried = derive(
        Mechanism(
            name="carried",
            coordinates=["x", "y"],
            parameters={"V": V},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="0"),
            constraint=[Constraint(name="rail", equation="y - V*t")],
            contact=[Contact(name="stop", gap="1 - x + (y - V*t)", restitution="0.5")],
        )
    )
    motion = simulate(carried, State([0.0, 0.0], [2.0, V]), t_end=1, law=NewtonImpact())
    assert [event.kind for event in motion.events] == [EventKind.IMPACT]
    assert motion.energy().dissipated == pytest.approx(1.5, abs=1e-12)
    assert motion.energy().applied == pytest.approx(0.0, abs=1e-12)
    assert motion.energy().residual == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("lost", [0.0, 1e-7, 1e-4, 0.5])
def test_a_motion_that_lost_energy_to_nothing_says_so(on_belt, lost):
    # a block in free fall, but for what its last velocity is told to lack: a millionth is the least that counts
    h, m = 1, 2
    fall = simulate(on_belt, State([0, h], [0, 0]), t_end=0.4)
    energy = m * (G * 0.4) ** 2 / 2
    altered = attrs.evolve(fall, v=fall.v * math.sqrt(1 - lost))
    said = [text for text in motion_record(altered)["warnings"] if "energy" in text]
    assert altered.energy().residual == pytest.approx(lost * energy, abs=1e-9)
    assert bool(said) == (lost > 1e-6)
    assert all(f"off by {lost * energy:.3g}" in text for text in said)


def test_the_coarsest_settings_raise_no_warning(on_belt):
    # an impact, slip on the belt, stick: steps may be wrong by a thousandth, few are
    motion = simulate(on_belt, State([0, 0.3], [0, 0]), t_end=1.5, settings=Settings(rtol=1e-3, atol=1e-3))
    assert motion_record(motion)["warnings"] == []
