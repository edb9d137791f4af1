"""Time-stepping gives the same kind of motion as events do: arcs, forces, energies, files."""

import math

import numpy as np
import pytest

import mechanisms
from hybrid import (
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
from hybrid.contact import ContactMode, EnergeticImpact
from hybrid.declaration import mechanism_from_toml
from hybrid.motion import Penalty, distance, load, save, time_stepping


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
    assert [warning.partition(" at t")[0] for warning in motion.warnings] == ["friction is beyond the critical one"]
    assert np.abs(motion.v - start.v).max() > 0.1
    assert motion.energy().final < motion.energy().initial


@pytest.mark.parametrize("mu", [0.9, 1.1])
@pytest.mark.parametrize("kind", ["spatial", "with four blocks"])
def test_friction_beyond_the_critical_one_is_said_of_every_kind_of_contact(kind, mu):
    """A rod of length 2 at 45 degrees, I = m/3: ``A m = 1 + 3 cos^2 - 3 mu sin cos``, negative beyond 5/3."""
    spatial = kind == "spatial"
    blocks = [] if spatial else ["a", "b", "c", "d"]
    rod = derive(
        Mechanism(
            name="rod",
            coordinates=["x", "y", "z", "phi", *blocks],
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2 + phi_dot**2/3)/2" + "".join(f" + {b}_dot**2" for b in blocks),
                potential="10*(z" + "".join(f" + {b}" for b in blocks) + ")",
            ),
            contact=[
                Contact(
                    name="tip",
                    gap="z - sin(phi)",
                    tangent=["x - cos(phi)", "y"] if spatial else "x - cos(phi)",
                    friction=str(5 * mu / 3),
                ),
                *(Contact(name=f"under_{block}", gap=block) for block in blocks),
            ],
        )
    )
    lean = np.sqrt(0.5)
    start = State([0, 0, lean, np.pi / 4] + [0.0] * len(blocks), [-1.0, 0, lean, 1.0] + [0.0] * len(blocks))
    said = [warning.partition(" at t")[0] for warning in stepped(rod, start, 1e-4, t_end=2e-4).warnings]
    assert said == (["friction is beyond the critical one"] if mu > 1 else [])


def test_a_step_without_impulses_ends_the_motion(rod, start, monkeypatch):
    from hybrid.motion import velocity_step

    whole = velocity_step._impulses
    made = []
    monkeypatch.setattr(
        velocity_step, "_impulses", lambda *how: None if len(made) == 2 else made.append(1) or whole(*how)
    )
    motion = stepped(rod, start, 0.1, t_end=0.5)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == motion.arcs[-1].end == pytest.approx(0.2)
    assert "in the step to t = 0.3" in motion.cause


def test_a_motion_whose_first_step_has_no_impulses_stays_where_it_is(rod, start, monkeypatch):
    monkeypatch.setattr("hybrid.motion.velocity_step._impulses", lambda *_: None)
    motion = stepped(rod, start, 0.1, t_end=0.3)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == 0.0 and not motion.arcs and motion.q.tolist() == start.q.tolist()


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

    motion = stepped(rod, start, 1e-2, t_end=1, progress=impatient, on_interrupt="keep")
    assert motion.termination is Termination.INTERRUPTED
    assert motion.t == motion.arcs[-1].end == pytest.approx(0.51)


def test_one_step_may_be_all_of_a_motion_however_its_end_is_rounded(rod):
    late = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0, "t": 0.2})
    assert 0.3 - 0.2 < 0.1
    assert stepped(rod, late, 0.1, t_end=0.3).t == 0.3


REFUSED = {
    "did you mean 'time-stepping'?": {"method": "timestepping", "step": 1e-3},
    "needs a step": {"method": "time-stepping"},
    "chooses its steps": {"step": 1e-3},
    "leave out rule and until": {"method": "time-stepping", "step": 1e-3, "rule": Penalty(), "until": "x"},
    "Newton's law": {"method": "time-stepping", "step": 1e-3, "law": EnergeticImpact()},
    "step must be a positive time, not -1": {"method": "time-stepping", "step": -1.0},
    "step 1.5 is longer than the motion, which takes 1": {"method": "time-stepping", "step": 1.5},
    "are too many": {"method": "time-stepping", "step": 1e-12},
    "known are event-driven and time-stepping": {"method": "magic"},
}


@pytest.mark.parametrize("message", REFUSED)
def test_arguments_that_a_method_does_not_know_are_refused(message, rod, start):
    with pytest.raises(StateError, match=message.replace("?", r"\?")):
        simulate(rod, start, t_end=1, **REFUSED[message])


def test_a_start_that_a_motion_cannot_have_is_refused_as_between_events():
    ball = derive(mechanisms.load("bouncing_ball"))
    arm = derive(
        Mechanism(
            name="arm",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="9.81*y"),
            constraint=[Constraint(name="arm", equation="x**2 + y**2 - 1")],
        )
    )
    for method in ({"method": "time-stepping", "step": 1e-2}, {}):
        with pytest.raises(StateError, match="'floor' penetrates at the start: gap = -1"):
            simulate(ball, State([-1.0], [0.0]), t_end=1, **method)
        with pytest.raises(StateError, match=r"violates the constraint arm \(value 3, rate 0\)"):
            simulate(arm, State([2.0, 0.0], [0.0, 0.0]), t_end=1, **method)
        with pytest.raises(StateError, match=r"violates the constraint arm \(value 0, rate 6\)"):
            simulate(arm, State([1.0, 0.0], [3.0, 0.0]), t_end=1, **method)
    with pytest.raises(StateError, match=r"must have the shape \(1,\)"):
        time_stepping(ball, State([1.0, 2.0], [0.0, 0.0]), t_end=1, step=1e-2)
    # a law of impact is its own, so it may start with an impact: e = 0.8
    motion = simulate(ball, State([0.0], [-1.0]), t_end=1e-3, method="time-stepping", step=1e-3)
    assert motion.v[0] == pytest.approx(0.8, abs=2 * 9.81e-3)


def test_a_failure_on_the_way_keeps_the_steps_made(monkeypatch, rod, start):
    from hybrid.motion import timestepping

    original, count = timestepping.velocity_step, iter(range(1, 100))

    def failing(*arguments, **more):
        if next(count) == 8:
            raise np.linalg.LinAlgError("SVD did not converge")
        return original(*arguments, **more)

    monkeypatch.setattr(timestepping, "velocity_step", failing)
    motion = stepped(rod, start, 1e-2, t_end=1)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == motion.arcs[-1].end == pytest.approx(0.07, abs=1e-15)
    assert "at t = 0.07 (x = " in motion.cause
    assert motion.cause.endswith("LinAlgError: SVD did not converge")


SLOPE = 0.4


@pytest.fixture(scope="module")
def puck():
    """A point mass on a plane inclined in the direction x."""
    return derive(
        Mechanism(
            name="puck",
            coordinates=["x", "y", "z"],
            parameters={"mu": 0.6},
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2",
                potential=f"9.81*(cos({SLOPE})*z - sin({SLOPE})*x)",
            ),
            contact=[Contact(name="plane", gap="z", tangent=["x", "y"], friction="mu")],
        )
    )


def test_a_slip_that_turns_ends_when_the_closed_form_says(puck):
    # With f = mu g cos(slope), a = g sin(slope) and the angle theta of the velocity from the line of fall,
    # d/dt [s (f + a cos theta)] = a^2 - f^2, so a push across the slope stops at s0 f/(f^2 - a^2).
    f, a = 0.6 * 9.81 * math.cos(SLOPE), 9.81 * math.sin(SLOPE)
    stop = f / (f**2 - a**2)
    for step in (4e-3, 1e-3):
        motion = stepped(puck, State([0.0, 0.0, 0.0], [0.0, 1.0, 0.0]), step, t_end=stop + 0.1)
        assert [arc.mode.label for arc in motion.arcs] == ["slide", "stick"]
        # an error of first order: deceleration changes by the slope's share while the direction lags a step behind
        assert motion.events[0].t == pytest.approx(stop, abs=4 * step)
        assert np.abs(motion.v).max() < 1e-15  # rounding of one step: the impulse is of 1e-2
        assert abs(motion.energy().residual) < 1e-12


@pytest.mark.parametrize("angle", [0.0, math.pi / 8, 1.0])
@pytest.mark.parametrize(("share", "sticks"), [(1.001, True), (0.999, False)])
def test_a_spatial_contact_holds_and_yields_at_its_cone_in_all_directions(angle, share, sticks):
    # a pyramid with eight facets would lose up to 7.6 % between two of them
    slope = EnergyDynamics(
        kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential="z - 0.5*(cos(angle)*x + sin(angle)*y)"
    )
    box = derive(
        Mechanism(
            name="box",
            coordinates=["x", "y", "z"],
            parameters={"angle": angle},
            dynamics=slope,
            contact=[Contact(name="plane", gap="z", tangent=["x", "y"], friction=f"{0.5 * share}")],
        )
    )
    motion = stepped(box, State([0.0] * 3, [0.0] * 3), 0.01, t_end=1.0)
    if sticks:
        assert np.abs(motion.q).max() < 1e-15  # a hundred steps, each with rounding of an impulse of 1e-2
    else:
        assert np.linalg.norm(motion.v) == pytest.approx(0.5 * (1 - share), rel=1e-9)


def test_a_ball_rolls_after_the_time_of_coriolis():
    # Coriolis 1835: slip s0 vanishes at 2 s0/(7 mu g), the path before is a parabola, and v' = v0 - 2/7 s0 after it
    ball = derive(mechanisms.load("spatial_ball"))
    start = State([0, 0, 0.1, 0, 0, 0], [1, 0.5, 0, 3.0, -20, 1])
    slip = np.array([1 + 0.1 * 20, 0.5 + 0.1 * 3])
    rolls = 2 * np.linalg.norm(slip) / (7 * 0.2 * 9.81)
    motion = stepped(ball, start, 1e-3, t_end=1.0)
    assert [arc.mode.label for arc in motion.arcs] == ["slide", "stick"]
    assert motion.events[0].t == pytest.approx(rolls, abs=1e-3)
    assert motion.v[:2] == pytest.approx(start.v[:2] - 2 * slip / 7, abs=1e-12)


@pytest.mark.parametrize("way", [pytest.param(1.0, marks=pytest.mark.long), -1.0])
def test_rails_with_friction_slow_down_as_painleve_has_it(way):
    # Sum of both equations of Painleve and Klein with mu2 = 0: 2 x'' = P - s mu1 sin(phi) |T|, and the second,
    # x'' = -T cos(phi), gives T; s is the sign of x', here with T < 0 for P > 0
    rails = derive(mechanisms.load("painleve_klein"))
    values = {"mu1": 0.3, "mu2": 0.0, "P1": 1.0, "P2": 0.0}
    start = State([1 / math.tan(1.0), 0, 0, 0], [way, 0, way, 0])
    motion = stepped(rails, start, 1e-3, t_end=0.5, parameters=values)
    acceleration = 1 / (2 + way * 0.3 * math.tan(1.0))
    assert motion.v[[0, 2]] == pytest.approx(way + acceleration * 0.5, rel=1e-12)
    assert set(motion.arcs[0].mode.values()) <= {
        ContactMode.SLIDE_PLUS if way > 0 else ContactMode.SLIDE_MINUS,
        ContactMode.CLOSED,
    }
    assert abs(motion.energy().residual) < 1e-12


LIFT = """
name = "lift"
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
potential = "10*y"
[[constraint]]
name = "rail"
equation = "y - 5*t**2/2"
slip = "x_dot"
friction = 0.4
"""

WIRE = """
name = "wire"
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
[[constraint]]
name = "rail"
equation = "sqrt(x**2 + y**2) - 1"
slip = "(x*y_dot - y*x_dot)/sqrt(x**2 + y**2)"
friction = 0.4
"""


@pytest.mark.parametrize(
    ("text", "start", "speed", "force"),
    [
        # of unit mass; on a rail that accelerates at 5 against gravity of 10: N = 15, and x' = 2 - 0.4 * 15 t
        (LIFT, State([0.0, 0.0], [2.0, 0.0]), 0.2, 6.0),
        # on a circle N = v**2, so that v' = -0.4 v**2 and v = v0/(1 + 0.4 v0 t); the force is 0.4 v**2
        (WIRE, State([1.0, 0.0], [0.0, 2.0]), 2 / 1.24, 0.4 * (2 / 1.24) ** 2),
    ],
    ids=["accelerated rail", "curved rail"],
)
def test_rails_that_bend_or_accelerate_rub_with_all_of_their_force(text, start, speed, force):
    rail = derive(mechanism_from_toml(text))
    motion = stepped(rail, start, 1e-3, t_end=0.3)
    slip = rail.terms(motion.q, motion.v, t=motion.t).slip[0]
    friction = motion.forces(motion.arcs[-1], [motion.t]).lambda_T[0, 0]
    assert (slip, -friction) == pytest.approx((speed, force), abs=6e-3)  # of first order: what 6 N do in one step


@pytest.mark.parametrize(("static", "known"), [(4.0, 1), (2.0, 0)])
def test_static_friction_that_steps_do_not_know_is_told(static, known):
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
    assert sum("no static friction" in warning and "belt" in warning for warning in motion.warnings) == known


def test_steps_too_long_for_a_motion_are_told_by_their_energy():
    # the midpoint scheme is stable on an oscillator of frequency 50 for 50 h < 2 only
    spring = derive(
        Mechanism(
            name="spring", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="1250*x**2")
        )
    )
    long, short = (stepped(spring, State([1.0], [0.0]), h, t_end=2.0) for h in (0.041, 0.001))
    assert any("the steps are too long" in warning for warning in long.warnings)
    assert not short.warnings


@pytest.mark.parametrize(("step", "told"), [(0.3, "0.3 does not divide the time: every step is 0.25"), (0.25, None)])
def test_a_step_that_does_not_divide_the_time_is_told(step, told):
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = stepped(ball, State([100.0], [0.0]), step, t_end=1.0)
    assert motion.warnings == (() if told is None else (told,))
