"""Time-stepping gives the same kind of motion as events do: arcs, forces, energies, files."""

import math

import numpy as np
import pytest

import mechanisms
from hybrid import (
    ComputationError,
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    State,
    StateError,
    Termination,
    derive,
    simulate,
    solve_state,
)
from hybrid.contact import EnergeticImpact
from hybrid.motion import Penalty, distance, load, save


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def stepped(dynamics, state, step, **options):
    return simulate(dynamics, state, method="time-stepping", step=step, **options)


@pytest.fixture(scope="module")
def start(rod):
    return solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})


@pytest.fixture(scope="module")
def motion(rod, start):
    return stepped(rod, start, 1e-3, t_end=2)


@pytest.fixture(scope="module")
def exact(rod, start):
    return simulate(rod, start, t_end=2)


def test_modes_change_where_the_literature_has_them_to_a_step(motion):
    # Mamaev and Ivanova 2013 with mu = 1/2 on a level plane: stick to slide- to slide+
    assert [arc.mode.label for arc in motion.arcs] == ["stick", "slide-", "slide+"]
    assert [event.t for event in motion.events] == pytest.approx([0.161270, 1.842626], abs=2e-3)
    assert motion.termination is Termination.END_TIME
    assert motion.method == "time-stepping"


def test_forces_are_those_of_the_event_driven_motion(motion, exact):
    times = np.linspace(0.3, 1.4, 40)
    found, wanted = motion.forces(motion.arcs[1], times), exact.forces(exact.arcs[1], times)
    # a mean over one step of 1e-3, of forces of size 1 that change by about 1 in a unit of time
    assert found.lambda_N == pytest.approx(wanted.lambda_N, abs=3e-3)
    assert found.lambda_T == pytest.approx(wanted.lambda_T, abs=3e-3)
    assert found.acceleration == pytest.approx(wanted.acceleration, abs=3e-3)


def test_distance_to_the_event_driven_motion_is_of_first_order(rod, start, motion, exact):
    far, near = (distance(exact, found, points=20_000) for found in (stepped(rod, start, 8e-3, t_end=2), motion))
    assert near < 0.25 * far
    assert near < 1e-3


def test_friction_takes_what_the_swings_of_a_brake_lose():
    brake = derive(
        Mechanism(
            name="brake",
            coordinates=["x"],
            parameters={"k": 4},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="k*x**2/2"),
            friction=[FrictionElement(name="shoe", tangent="x", limit="0.5")],
        )
    )
    motion = stepped(brake, State([1.0], [0.0]), 4e-3, t_end=7)
    balance = motion.energy()
    # the scheme takes the spring's force in the middle of a step, off the mean of its ends by h^2 k x/4
    assert abs(balance.residual) < 1e-5 * balance.initial
    # every half swing the amplitude falls by 2 F/k = 1/4: from 1 over -3/4, 1/2 and -1/4 to rest at 0
    assert motion.q[0] == pytest.approx(0.0, abs=8e-3)
    assert balance.friction == pytest.approx(-0.5 * (1.75 + 1.25 + 0.75 + 0.25), rel=8e-3)
    assert motion.arcs[-1].mode.label == "stick"


def test_energy_balance_closes_to_rounding_with_constant_mass_and_linear_potential(motion):
    assert abs(motion.energy().residual) < 1e-13
    assert motion.energy().friction < -0.01


def test_bouncing_ball_loses_its_energy_in_impacts():
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = stepped(ball, State([1.0], [0.0]), 1e-3, t_end=1.0)
    # free fall from 1 m with e = 0.8: the first impact at sqrt(2/g) takes (1 - e^2) m g h
    first, *_ = motion.events
    assert first.t == pytest.approx(math.sqrt(2 / 9.81), abs=1e-3)
    assert first.v_after[0] == pytest.approx(-0.8 * first.v_before[0], rel=1e-12)
    assert motion.energy().impacts == pytest.approx(-0.36 * 9.81, rel=5e-3)
    assert motion.energy().friction == 0.0


def test_constraints_are_kept_on_the_way():
    pendulum = derive(
        Mechanism(
            name="pendulum",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="9.81*y"),
            constraint=[Constraint(name="rod", equation="x**2 + y**2 - 1")],
        )
    )
    motion = stepped(pendulum, State([1, 0], [0, 0]), 2e-3, t_end=2)
    q, v = motion.sample(np.array(motion.arcs[0].knots))
    assert np.abs(np.sum(q**2, axis=1) - 1).max() < 1e-12
    assert np.abs(np.sum(q * v, axis=1)).max() < 1e-12
    energy = np.sum(v**2, axis=1) / 2 + 9.81 * q[:, 1]
    assert np.abs(energy).max() < 0.04  # first order in the step, in units of m g l = 9.81


def test_a_stepped_motion_survives_a_file(motion, tmp_path):
    save(motion, tmp_path / "motion.npz")
    read = load(tmp_path / "motion.npz")
    assert (read.method, read.energy()) == ("time-stepping", motion.energy())
    times = np.linspace(0.2, 0.9, 50)
    assert np.array_equal(read.forces(read.arcs[1], times).lambda_T, motion.forces(motion.arcs[1], times).lambda_T)


def test_inconsistent_states_are_passed_by_an_impact_without_collision(rod):
    # beyond the critical friction 4/3 no acceleration exists, but velocities do (Anitescu and Potra 1997): the first
    # step takes a finite part of the slip of 1
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5})
    motion = stepped(rod, start, 1e-6, t_end=1e-6, parameters={"mu": 1.5})
    assert not motion.warnings
    assert np.abs(motion.v - start.v).max() > 0.1
    assert motion.energy().final < motion.energy().initial


def test_steps_without_impulses_are_told(rod, start, monkeypatch):
    monkeypatch.setattr("hybrid.motion.velocity_step._impulses", lambda *_: None)
    motion = stepped(rod, start, 0.1, t_end=0.3)
    (warning,) = motion.warnings
    assert warning.startswith("t = 0: Lemke's method found no impulses")
    assert [arc.mode.label for arc in motion.arcs] == ["free"]


def test_undefined_expressions_end_the_motion_with_what_was_computed():
    falling = derive(
        Mechanism(
            name="root",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="sqrt(x)"),
            contact=[Contact(name="floor", gap="x + 9")],
        )
    )
    motion = stepped(falling, State([1.0], [0.0]), 1e-2, t_end=10)
    assert motion.termination is Termination.UNDEFINED
    assert motion.t > 1.0
    assert motion.t == motion.arcs[-1].end


def test_an_interrupt_keeps_the_steps_made(rod, start):
    def impatient(done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    motion = stepped(rod, start, 1e-2, t_end=1, progress=impatient)
    assert motion.termination is Termination.INTERRUPTED
    assert motion.t == motion.arcs[-1].end == pytest.approx(0.51)


REFUSED = {
    "did you mean 'time-stepping'?": {"method": "timestepping", "step": 1e-3},
    "needs a step": {"method": "time-stepping"},
    "chooses its steps": {"step": 1e-3},
    "leave out rule and until": {"method": "time-stepping", "step": 1e-3, "rule": Penalty(), "until": "x"},
    "Newton's law": {"method": "time-stepping", "step": 1e-3, "law": EnergeticImpact()},
    "in steps of -1": {"method": "time-stepping", "step": -1.0},
    "are too many": {"method": "time-stepping", "step": 1e-12},
    "known are event-driven and time-stepping": {"method": "magic"},
}


@pytest.mark.parametrize("message", REFUSED)
def test_arguments_that_a_method_does_not_know_are_refused(message, rod, start):
    with pytest.raises(StateError, match=message.replace("?", r"\?")):
        simulate(rod, start, t_end=1, **REFUSED[message])


def test_spatial_contacts_are_refused():
    rod = derive(mechanisms.load("oblique_rod"))
    start = State([0, 0, 1, 0, 1], [0, 0, 0, 0, 0])
    with pytest.raises(ComputationError, match="planar contacts"):
        stepped(rod, start, 1e-3, t_end=1)


@pytest.mark.parametrize(("static", "told"), [(4.0, 1), (2.0, 0)])
def test_static_friction_that_steps_do_not_know_is_told(static, told):
    # On the belt the block holds up to 4 N; steps let it slip at 2 N.
    belt = derive(
        Mechanism(
            name="belt",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="50*x**2"),
            friction=[FrictionElement(name="belt", slip="x_dot - 0.1", limit="2", static_limit=str(static))],
        )
    )
    motion = simulate(belt, State([0.0], [0.1]), t_end=0.05, method="time-stepping", step=0.01)
    assert sum("no static friction" in warning and "belt" in warning for warning in motion.warnings) == told
