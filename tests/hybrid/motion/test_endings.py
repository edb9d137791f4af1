"""How motions end: paradoxes, bad input, undefined expressions, interruption."""

import numpy as np
import pytest

import mechanisms
from hybrid import (
    ArgumentError,
    ComputationError,
    Contact,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    State,
    StateError,
    Termination,
    Verdict,
    derive,
    ensemble,
    simulate,
    solve_state,
)
from hybrid.analysis.ensemble_chunks import FEW
from hybrid.contact import AbstractImpactLaw, EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.expressions import Kernel
from hybrid.motion import EventKind, Prefer, Settings

DROP = np.sqrt(2 / 9.81)  # of the ball, from 1; the bounces after it last 1.6 and 1.28 times as long with e = 0.8


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


@pytest.mark.parametrize("t_end", [0.24285714285714285, 0.4476190476190476, 0.6904761904761904, 1])
def test_time_steps_end_when_they_are_to_end(t_end):
    """In the first three, as many steps as there are add up to a rounding less."""
    motion = simulate(
        derive(mechanisms.load("bouncing_ball")), State([5.0], [0.0]), t_end=t_end, method="time-stepping", step=0.01
    )
    assert motion.arcs[-1].end == motion.t == t_end
    q, _ = motion.sample([t_end])
    assert q[0] == pytest.approx(motion.q, rel=1e-14)  # a sum of three numbers like it


def test_rod_runs_into_the_singular_point_of_genot_and_brogliato(rod):
    # Glocker 1995, section 5.3.4: m = l = 1, g = 10, mu = 5/3, from 31 degrees with 30 m/s
    parameters = {"g": 10, "mu": 5 / 3}
    start = solve_state(rod, {"phi": np.radians(31), "phi_dot": 0, "x_dot": -30}, parameters=parameters)
    motion = simulate(rod, start, t_end=2, parameters=parameters)
    assert motion.termination is Termination.SINGULAR
    # the closed form of the point: A_s = 0 at 45 degrees, b = 0 at phi_dot = sqrt(10/sin 45)
    assert motion.events[-1].t == pytest.approx(0.8145497, abs=1e-7)
    assert np.degrees(motion.q[2]) == pytest.approx(45, abs=1e-4)
    assert motion.v[2] == pytest.approx(np.sqrt(10 / np.sin(np.pi / 4)), abs=1e-3)
    assert motion.q[0] == pytest.approx(-18.587282, abs=1e-5)
    assert "grows like" in motion.cause
    # the force grows like A_s^(r - 1) with the ratio r of the node's eigenvalues
    theta = np.pi / 4
    slope = -3 * np.sin(2 * theta) - 5 * np.cos(2 * theta)  # of A_s by the angle, times the mass
    ratio = 2 * np.tan(theta) / abs(slope)
    exponent = float(motion.cause.rsplit("^", 1)[1].rstrip("."))
    assert exponent == pytest.approx(ratio - 1, abs=1e-4)  # four digits are shown


def test_motion_ends_where_no_mode_is_consistent(rod):
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5})
    motion = simulate(rod, start, t_end=1, parameters={"mu": 1.5})
    assert motion.termination is Termination.INCONSISTENT
    assert motion.selection.verdict is Verdict.INCONSISTENT
    assert motion.t == 0.0
    assert motion.selection.certificate is not None


def test_rule_follows_a_branch_where_several_modes_are_consistent(rod):
    parameters = {"mu": 1.5}
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters=parameters)
    stopped = simulate(rod, start, t_end=0.1, parameters=parameters)
    assert stopped.termination is Termination.INDETERMINATE
    assert {branch.mode.label for branch in stopped.selection.branches} == {"free", "slide+"}
    freed = simulate(rod, start, t_end=0.1, parameters=parameters, rule=Prefer(("free",)))
    assert freed.termination is Termination.END_TIME
    assert [(event.kind.value, event.mode_after.label) for event in freed.events] == [("choice", "free")]
    # free flight, with unit gravity
    assert freed.v[1] == pytest.approx(start.v[1] - 0.1, abs=1e-12)


def test_impact_without_a_law_ends_the_motion_and_keeps_it():
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=5)
    assert motion.termination is Termination.NO_IMPACT_LAW
    assert motion.t == pytest.approx(np.sqrt(2 / 9.81), abs=1e-14)
    assert len(motion.arcs) == 1


def test_bad_starts_are_refused_with_their_reason():
    ball = derive(mechanisms.load("bouncing_ball"))
    with pytest.raises(StateError, match=r"'floor' penetrates at the start: gap = -0\.1"):
        simulate(ball, State([-0.1], [0.0]), t_end=1)
    with pytest.raises(StateError, match=r"approaches at the start .*give an impact law"):
        simulate(ball, State([0.0], [-1.0]), t_end=1)
    with pytest.raises(StateError, match="t_end must be a time later than the start, t = 2; it is 1"):
        simulate(ball, State([1.0], [0.0], t=2.0), t_end=1)
    with pytest.raises(ArgumentError, match="t_end must be a number, not nan"):
        simulate(ball, State([1.0], [0.0]), t_end=float("nan"))


def test_approaching_start_begins_with_an_impact():
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([0.0], [-1.0]), t_end=0.1, law=NewtonImpact(restitution=0.5))
    assert (motion.events[0].t, motion.events[0].kind.value) == (0.0, "impact")
    assert motion.v[0] == pytest.approx(0.5 - 0.981, abs=1e-13)


def test_expression_without_a_value_ends_the_motion_where_it_loses_it():
    # y falls from 1 to 0 near sqrt(2), and the root has no value below
    drained = derive(
        Mechanism(
            name="drained",
            coordinates=["y"],
            dynamics=EquationDynamics(mass_matrix=(("1",),), forces=("-1 - sqrt(y)/1000",)),
        )
    )
    motion = simulate(drained, State([1.0], [0.0]), t_end=5)
    assert motion.termination is Termination.UNDEFINED
    assert "y = " in motion.cause
    # it ends where y reaches zero, up to the last step that fits
    assert abs(motion.q[0]) < 1e-6
    assert motion.sample(1.0)[0][0] == pytest.approx(1 - 0.5, abs=1e-3)


def test_mass_matrix_that_turns_singular_ends_the_motion():
    shrinking = derive(
        Mechanism(
            name="shrinking",
            coordinates=["x"],
            dynamics=EquationDynamics(mass_matrix=(("1 - t",),), forces=("1",)),
        )
    )
    motion = simulate(shrinking, State([0.0], [0.0]), t_end=2)
    assert motion.termination is Termination.SINGULAR_MASS
    assert motion.t == pytest.approx(1.0, abs=1e-5)
    # v = -log(1 - t)
    assert motion.sample(0.5)[1][0] == pytest.approx(np.log(2), abs=1e-11)


def test_interruption_returns_what_was_computed(monkeypatch):
    from hybrid.motion import steps

    ball = derive(mechanisms.load("bouncing_ball"))
    original, count = steps.Stepper.step, iter(range(100))

    def interrupted(self):
        if next(count) == 10:
            raise KeyboardInterrupt
        return original(self)

    monkeypatch.setattr(steps.Stepper, "step", interrupted)
    motion = simulate(ball, State([1.0], [0.0]), t_end=5, law=NewtonImpact(), on_interrupt="keep")
    assert motion.termination is Termination.INTERRUPTED
    # it ends within a bounce, where the last step did; each bounce is a parabola and e = 0.8
    assert motion.t == motion.arcs[-1].end > DROP + 1e-3
    hop = [event.t for event in motion.events][-1]
    speed = 9.81 * DROP * 0.8 ** len(motion.events)
    for t in (motion.t, (hop + motion.t) / 2):
        assert motion.sample(t)[0][0] == pytest.approx(speed * (t - hop) - 9.81 / 2 * (t - hop) ** 2, abs=1e-12)


def test_two_contacts_on_one_coordinate_leave_no_room_and_no_motion():
    # a point between two walls that both touch it: more constraints than freedom
    pinched = derive(
        Mechanism(
            name="pinched",
            coordinates=["x"],
            parameters={"P": 0},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            forces={"x": "P"},
            contact=[Contact(name="left", gap="x"), Contact(name="right", gap="-x")],
        )
    )
    for push in (0, 3):
        motion = simulate(pinched, State([0.0], [0.0]), t_end=1, parameters={"P": push})
        assert motion.termination is Termination.END_TIME
        assert (motion.q[0], motion.v[0]) == (0.0, 0.0)
        # the walls bear the push; how hard they press against each other besides is not told
        left, right = motion.forces(motion.arcs[0], 0.5).lambda_N[:, 0]
        assert right - left == pytest.approx(push, abs=1e-12)
        assert min(left, right) >= 0
        assert "they form a set of dimension 1" in motion.warnings[0]


def test_progress_is_told_on_the_way_of_a_single_long_arc():
    known = []

    def tell(passed, whole):
        known.append((passed, whole))

    swing = Mechanism(
        name="swing", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/2")
    )
    motion = simulate(derive(swing), State([1.0], [0.0], t=2.0), t_end=42.0, progress=tell)
    assert len(motion.arcs) == 1
    assert len(known) > 20
    assert {whole for _, whole in known} == {40.0}
    assert [passed for passed, _ in known] == sorted(passed for passed, _ in known)


def test_interrupt_within_an_arc_keeps_its_steps():
    def impatient(passed, whole):
        if passed > whole / 2:
            raise KeyboardInterrupt

    swing = Mechanism(
        name="swing", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/2")
    )
    motion = simulate(derive(swing), State([1.0], [0.0]), t_end=40.0, progress=impatient, on_interrupt="keep")
    assert motion.termination is Termination.INTERRUPTED
    assert 20.0 < motion.t < 25.0
    assert motion.q[0] == pytest.approx(np.cos(motion.t), abs=1e-9)
    assert motion.sample(motion.t / 2)[0][0] == pytest.approx(np.cos(motion.t / 2), abs=1e-9)


@pytest.mark.parametrize("law", [NewtonImpact(), PoissonImpact()])
def test_a_body_squeezed_between_walls_keeps_its_motion_up_to_then(law):
    # the right wall comes in with speed 1 and leaves no room at t = 1
    squeezed = derive(
        Mechanism(
            name="squeezed",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            contact=[Contact(name="left", gap="x"), Contact(name="right", gap="1 - t - x")],
        )
    )
    motion = simulate(squeezed, State([0.0], [0.0]), t_end=3, law=law)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == pytest.approx(1.0, abs=1e-14)
    assert "at t = 1 (x = 0): no impulses satisfy the impact law" in motion.cause
    assert np.array_equal(motion.sample(0.5)[0], [0.0])


class Failing(AbstractImpactLaw):
    """Newton's law, until one impact fails."""

    def __init__(self, error, *, after):
        self.errors = iter([*[None] * after, error])

    @property
    def name(self):
        return "failing"

    def impulses(self, problem):
        error = next(self.errors)
        if error is not None:
            raise error
        return NewtonImpact().impulses(problem)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ComputationError("no impulses"), "no impulses"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (np.linalg.LinAlgError("SVD did not converge"), "LinAlgError: SVD did not converge"),
        (ValueError("math domain error"), "ValueError: math domain error"),
    ],
)
def test_a_failure_on_the_way_keeps_the_motion_up_to_then(error, said):
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=9, law=Failing(error, after=2))
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == motion.arcs[-1].end == pytest.approx(DROP * (1 + 1.6 + 1.28), abs=1e-12)
    assert motion.v[0] == pytest.approx(-9.81 * DROP * 0.8**2, abs=1e-11)
    assert f"at t = {motion.t:.12g} (y = " in motion.cause
    assert motion.cause.endswith(said)
    assert len(motion.events) == 3


@pytest.mark.parametrize(
    ("error", "ending"),
    [(ComputationError("lost"), Termination.NOT_COMPUTED), (KeyboardInterrupt(), Termination.INTERRUPTED)],
)
def test_a_motion_cut_short_right_after_an_arc_ends_at_its_end(monkeypatch, error, ending):
    from hybrid.motion import run

    original, count = run.moment_after, iter(range(1, 100))

    def failing(*arguments):
        if next(count) == 3:
            raise error
        return original(*arguments)

    monkeypatch.setattr(run, "moment_after", failing)
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=9, law=NewtonImpact(), on_interrupt="keep")
    assert motion.termination is ending
    assert motion.t == motion.arcs[-1].end == pytest.approx(DROP * (1 + 1.6 + 1.28), abs=1e-12)
    assert motion.sample(motion.t)[1] == pytest.approx(motion.v, abs=0)
    assert motion.v[0] == pytest.approx(-9.81 * DROP * 0.8**2, abs=1e-11)
    assert motion.q[0] == pytest.approx(0, abs=1e-13)


def test_interruption_keeps_an_accumulation_whose_limit_lies_ahead(monkeypatch):
    from hybrid.motion import run

    original, seen = run.completed, []

    def known(*arguments):
        after, event = original(*arguments)
        seen.extend([] if event is None else [event])
        return after, event

    def interrupt(passed, whole):
        if seen:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "completed", known)
    ball = derive(mechanisms.load("bouncing_ball"))
    start, law = State([1.0], [0.0]), NewtonImpact(0.5)
    motion = simulate(ball, start, t_end=9, law=law, progress=interrupt, on_interrupt="keep")
    assert motion.termination is Termination.INTERRUPTED
    assert motion.events[-1].kind is EventKind.ACCUMULATION
    assert motion.events[-1].t == pytest.approx(DROP * 1.5 / 0.5, rel=1e-12)


def test_a_failure_before_anything_was_computed_is_an_error_that_names_time_and_state():
    ball = derive(mechanisms.load("bouncing_ball"))
    law = Failing(ZeroDivisionError("division by zero"), after=0)
    with pytest.raises(ComputationError, match=r"at t = 2 \(y = 0\): ZeroDivisionError: division by zero"):
        simulate(ball, State([0.0], [-1.0], t=2.0), t_end=9, law=law)


def test_a_failure_within_an_arc_keeps_its_steps(monkeypatch):
    from hybrid.motion import arcs

    original = arcs.first_event

    def failing(watch, step, **more):
        if step.end > 20.0:
            raise np.linalg.LinAlgError("SVD did not converge")
        return original(watch, step, **more)

    monkeypatch.setattr(arcs, "first_event", failing)
    swing = Mechanism(
        name="swing",
        coordinates=["x"],
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/2"),
        contact=[Contact(name="wall", gap="x + 2")],
    )
    motion = simulate(derive(swing), State([1.0], [0.0]), t_end=40.0)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.cause.endswith("LinAlgError: SVD did not converge")
    assert 15.0 < motion.t == motion.arcs[-1].end < 20.0
    assert motion.q[0] == pytest.approx(np.cos(motion.t), abs=1e-9)


def test_a_mistake_in_the_program_is_not_taken_for_an_expression_without_a_value():
    # a power of something negative has no value and ends the motion; a wrong call is an error
    cooling = derive(
        Mechanism(
            name="cooling",
            coordinates=["x"],
            dynamics=EquationDynamics(mass_matrix=(("1",),), forces=("-1 - x**0.3/1000",)),
        )
    )
    motion = simulate(cooling, State([1.0], [0.0]), t_end=5)
    assert motion.termination is Termination.UNDEFINED
    assert abs(motion.q[0]) < 1e-6
    assert np.isnan(cooling.terms(np.array([-1.0]), np.array([0.0])).h[0])
    wrong = Kernel({"h": (1,)}, "", {"h": frozenset([0])}, lambda x: (x,), lambda: ())
    with pytest.raises(TypeError, match="positional argument"):
        wrong([np.array(-1.0)])


@pytest.mark.parametrize(("crowd", "termination"), [(1, Termination.CROWDED), (2, Termination.END_TIME)])
def test_so_many_events_at_one_instant_end_a_motion(crowd, termination):
    # the first ball lands on the second and bounces: a touchdown and an impact without time between them
    chain = derive(mechanisms.load("three_ball_chain"))
    start = State([0.0, 1.1, 3.0], [1.0, 0.0, 0.0])
    motion = simulate(chain, start, t_end=2, law=NewtonImpact(restitution=1), settings=Settings(crowd=crowd))
    assert motion.termination is termination
    assert motion.events[0].t == pytest.approx(1.0, abs=1e-14)
    assert motion.v == pytest.approx([1, 0, 0] if crowd == 1 else [0, 1, 0], abs=1e-15)


@pytest.mark.parametrize("e", [0.5, 0.8])
@pytest.mark.parametrize("share", [1e-7, 1e-8])
def test_an_accumulation_is_completed_when_little_of_it_remains(e, share):
    # bounces last d, d e, d e^2, ...: after j impacts e^(j - 1) of the time from the first one to the limit remains
    ball = derive(mechanisms.load("bouncing_ball"))
    settings = Settings(zeno_rest=share)
    motion = simulate(ball, State([1.0], [0.0]), t_end=20, law=NewtonImpact(restitution=e), settings=settings)
    *impacts, limit = motion.events
    assert {event.kind.value for event in impacts} == {"impact"}
    assert len(impacts) == 1 + np.ceil(np.log(share) / np.log(e))
    assert limit.t == pytest.approx(np.sqrt(2 / 9.81) * (1 + e) / (1 - e), abs=1e-12)


@pytest.mark.parametrize("e", [0.2, 0.34, 0.6])
@pytest.mark.parametrize("together", [False, True])
def test_bounces_end_beside_a_contact_whose_load_alone_would_lift_them(e, together):
    # A wall at x = 1 takes the load of 50, and y obeys gravity alone. Without the wall the floor y = -x/2 would fall
    # away under the body faster than it does: which hops are too low to be told from rest depends on the wall.
    corner = Mechanism(
        name="corner", coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"), forces={"x": "50"},
        contact=[Contact(name="floor", gap="y + x/2", restitution=e), Contact(name="wall", gap="1 - x")],
    )  # fmt: skip
    dynamics, law = derive(corner), NewtonImpact()
    pins, heights = {"x": 1.0, "x_dot": 0.0, "y_dot": 0.0}, np.linspace(-0.4, -0.3, FEW if together else 2)
    fall = np.sqrt(2 * (heights + 0.5) / 10)
    if together:
        found = ensemble(dynamics, starts={"y": heights}, pins=pins, t_end=3.0, law=law)
        assert not found.singled_out
        assert {found.log.kinds[kind] for kind in found.log.kind} == {"IMPACT", "ACCUMULATION"}
        log = [(found.log.t[found.log.motion == k], found.termination[k]) for k in range(FEW)]
    else:
        motions = [simulate(dynamics, solve_state(dynamics, {**pins, "y": y}), t_end=3.0, law=law) for y in heights]
        log = [([event.t for event in motion.events], motion.termination.name) for motion in motions]
    for (times, ending), first in zip(log, fall, strict=True):
        assert ending == "END_TIME"
        assert times[0] == pytest.approx(first, rel=1e-12)
        assert times[-1] == pytest.approx(first * (1 + e) / (1 - e), rel=1e-9)  # 1 + 2 e + 2 e^2 + ... falls


def test_what_comes_before_the_last_bounces_have_ended_is_not_told_before_them():
    # a slip that ends at every bounce on the stop ends once more within the bounces that are left out
    declared = Mechanism(
        name="masses", coordinates=["q0", "q1", "q2"],
        dynamics=EnergyDynamics(
            kinetic="2.941*q0_dot**2/2 + 1.594*q1_dot**2/2 + 1.8*q2_dot**2/2",
            potential="16.28*q0**2/2 + 14.807*(q1 - q0 - 1)**2/2 + 28.646*(q2 - q1 - 1)**2/2",
        ),
        forces={
            "q0": "-0.545*q0_dot + 2.029*cos(3.961*t)", "q1": "2.734*max(0, min(1, t))",
            "q2": "-0.547*q2_dot + 1.986*cos(1.614*t)",
        },
        contact=[Contact(name="stop", gap="2.3 - q2", restitution=0.3)],
        friction=[
            FrictionElement(name="belt", tangent="q1 + 0.094*t", limit="1.291*(1 + 0.5*sin(2*t))", reverse_limit="0"),
            FrictionElement(name="joint", tangent="q2 - q1", limit="1.739", static_limit="2.885"),
        ],
    )  # fmt: skip
    start = State([-0.029, 0.963, 1.952], [0.088, 0.779, 0.343])
    motion = simulate(derive(declared), start, t_end=4.0, law=EnergeticImpact())
    times = [event.t for event in motion.events]
    assert EventKind.ACCUMULATION in {event.kind for event in motion.events}
    assert times == sorted(times)
