"""Watched functions that jump, have poles, or lose their value on the way."""

import numpy as np
import pytest
from scipy.optimize import brentq

import mechanisms
from hybrid import (
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
from hybrid.contact import NewtonImpact
from hybrid.declaration import mechanism_from_toml
from hybrid.motion import EventKind, Settings

HALF_WAY = np.sqrt(2 * 0.5 / 9.81)


@pytest.fixture(scope="module")
def falls():
    """A ball dropped from y = 1, which passes 0.5 at ``HALF_WAY`` and bounces at sqrt(2/g) = 0.4515."""
    ball = derive(mechanisms.load("bouncing_ball"))

    def follow(**how):
        return simulate(ball, State([1.0], [0.0]), t_end=0.44, law=NewtonImpact(), **how)

    return follow


@pytest.mark.parametrize("text", ["sqrt(y - 0.5)", "log(y - 0.5) + 20", "-sqrt(y - 0.5)"])
def test_condition_that_loses_its_value_ends_the_motion_there_and_is_named(falls, text):
    # the logarithm crosses zero at y - 0.5 = exp(-20), 1e-9 of time before
    for motion in (falls(until=text), falls(watch={text: text})):
        watched = [event.kind.value for event in motion.events]
        assert motion.termination is (Termination.UNTIL if watched == ["until"] else Termination.UNDEFINED)
        assert motion.t == pytest.approx(HALF_WAY, abs=2e-9)
        assert motion.termination is Termination.UNTIL or repr(text) in motion.cause
        assert motion.sample(0.1)[0][0] == pytest.approx(1 - 9.81 * 0.1**2 / 2, abs=1e-13)


@pytest.mark.parametrize("watched", [{"until": "sqrt(y - 2)"}, {"watch": {"w": "sqrt(y - 2)"}}])
def test_an_expression_without_a_value_from_the_start_is_refused(falls, watched):
    with pytest.raises(
        StateError, match=r"^(until|watch\.w): 'sqrt\(y - 2\)' has no finite value at the start, t = 0$"
    ):
        falls(**watched)


def test_zero_before_the_loss_is_an_event(falls):
    motion = falls(watch={"w": "sqrt(y - 0.5) - 0.1"})
    assert [event.t for event in motion.events] == pytest.approx([np.sqrt(2 * 0.49 / 9.81)], abs=1e-12)
    assert motion.termination is Termination.UNDEFINED


@pytest.mark.parametrize("text", ["sign(y - 0.5)", "1/(y - 0.5)"])
def test_jump_and_pole_are_events_where_the_sign_changes_and_once_only(falls, text):
    motion = falls(watch={"w": text})
    # halved down to neighbouring floats, on a series of the state
    assert [event.t for event in motion.events] == pytest.approx([HALF_WAY], abs=1e-13)
    assert motion.termination is Termination.END_TIME


LANDING = float(np.sqrt(2 / 9.81))
REBOUND = 0.8 * 9.81 * LANDING


@pytest.fixture(scope="module")
def bounces():
    """A ball dropped from y = 1 that bounces at ``LANDING`` with 0.8 of its speed, followed until it is in the air."""
    ball = derive(mechanisms.load("bouncing_ball"))

    def follow(restitution=0.8, **how):
        return simulate(ball, State([1.0], [0.0]), t_end=1.0, law=NewtonImpact(restitution=restitution), **how)

    return follow


@pytest.mark.parametrize(
    ("text", "times"),
    [
        (f"t - {LANDING!r}", [LANDING]),
        (f"{LANDING!r} - t", [LANDING]),
        ("y_dot", [LANDING, LANDING + REBOUND / 9.81]),
        ("y_dot - 1", [LANDING, LANDING + (REBOUND - 1) / 9.81]),
        ("y", []),
        ("y + y_dot/1000", []),
    ],
)
def test_signs_that_change_at_or_by_an_impact_are_told(bounces, text, times):
    if text == "y + y_dot/1000":  # it falls through zero just before the impact, and the impact brings it back
        fall = np.roots([-9.81 / 2, -9.81 / 1000, 1]).max()
        times = [fall, LANDING]
    watched = [event for event in bounces(watch={"w": text}).events if "w" in event.elements]
    assert {event.kind.value for event in watched} <= {"watch"}
    assert [event.t for event in watched] == pytest.approx(times, abs=1e-12)


@pytest.mark.parametrize("text", ["y_dot - 1", f"t - {LANDING!r}", "y_dot*(y - 2)"])
def test_condition_to_stop_at_that_an_impact_meets_ends_the_motion_there(bounces, text):
    motion = bounces(until=text)
    assert motion.termination is Termination.UNTIL
    assert motion.t == pytest.approx(LANDING, abs=1e-13)


def test_a_ball_that_stays_down_has_no_further_change_of_sign(bounces):
    motion = bounces(restitution=0.0, watch={"w": "y_dot"})
    assert [event.kind.value for event in motion.events] == ["impact"]


@pytest.mark.parametrize("text", ["y - l*sin(phi)", "x - l*cos(phi) + cos(0.4)", "x_dot + l*sin(phi)*phi_dot"])
@pytest.mark.parametrize("stepper", ["DOP853", "Radau"])
def test_a_function_that_the_motion_keeps_at_zero_has_no_events(text, stepper):
    # the gap, the place and the slip of the tip, which sticks at first: all that is left of them is rounding
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})
    settings = Settings(stepper=stepper, rtol=1e-12 if stepper == "DOP853" else 1e-9)
    plain, watched = (simulate(rod, start, t_end=2, settings=settings, watch=w) for w in (None, {"w": text}))
    assert [(event.t, event.kind) for event in watched.events] == [(event.t, event.kind) for event in plain.events]
    # only the slip changes its sign, where it reverses
    elements = [event.elements for event in watched.events]
    assert elements == [("tip",), ("tip", "w") if "phi_dot" in text else ("tip",)]


def test_zero_soon_after_a_function_was_watched_from_its_zero():
    # sin(1e3 t) starts at zero; its next zero is that of a function that has been clearly positive
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=0.01, watch={"w": "sin(1000*t)"})
    assert [event.t for event in motion.events] == pytest.approx(np.pi * np.arange(1, 4) / 1000, abs=1e-14)


# second road for tan t = t: sin t - t cos t has no poles
TANGENTS = [brentq(lambda t: np.sin(t) - t * np.cos(t), k * np.pi, (k + 0.5) * np.pi, xtol=1e-14) for k in range(1, 32)]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("sign(sin(t))", np.pi * np.arange(1, 32)),
        ("1/(t - 50.5)", [50.5]),
        ("1/(t - 50.3)", [50.3]),
        ("tan(t/20) + 1", [10 * np.pi, 15 * np.pi, 30 * np.pi]),
        ("cos(t)**2 + sin(t)**2 - 1", []),
        ("max(0, t - 30) - max(0, t - 60) - 10", [40.0]),
        ("0*t", []),
        ("tan(t) - t", sorted([*(np.pi * (np.arange(32) + 0.5)), *TANGENTS])),
        ("t - sin(t)", []),
    ],
)
@pytest.mark.parametrize("v", [0.0, 1.0])
def test_functions_of_time_with_jumps_poles_and_kinks_at_rest_and_on_the_way(text, times, v):
    slider = derive(
        Mechanism(
            name="slider",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            friction=[FrictionElement(name="guide", tangent="x", limit="0.001")],
        )
    )
    motion = simulate(slider, State([0.0], [v]), t_end=100, watch={"w": text})
    assert motion.termination is Termination.END_TIME, motion.cause
    # halved down to neighbouring floats
    assert [event.t for event in motion.events] == pytest.approx(list(times), abs=1e-12)


@pytest.mark.parametrize("v", [0.0, 1.0])
def test_a_function_of_time_that_loses_its_value_ends_the_motion_at_rest_and_on_the_way(v):
    slider = derive(
        Mechanism(name="slider", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"))
    )
    motion = simulate(slider, State([0.0], [v]), t_end=1e3, watch={"w": "sqrt(500.3 - t)"})
    assert motion.termination is Termination.UNDEFINED
    assert motion.t == pytest.approx(500.3, abs=1e-12)


OSCILLATOR = Mechanism(
    name="oscillator",
    coordinates=["x"],
    dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/2"),
)
CHANGES = {  # of sign: a multiple of pi and an offset of the phase
    "sign(x)": (1.0, 0.5),
    "x/abs(x)": (1.0, 0.5),
    "1/x": (1.0, 0.5),
    "1/x**3": (1.0, 0.5),
    "1/x_dot": (1.0, 0.0),
    "x/x_dot": (0.5, 0.0),
    "x*x_dot": (0.5, 0.0),
}


@pytest.mark.parametrize("function", CHANGES)
def test_jumps_and_poles_of_a_function_are_told_once_each_and_all_of_them(function):
    # x = r cos(t + p)
    oscillator, rng = derive(OSCILLATOR), np.random.default_rng(5)
    period, offset = (np.pi * part for part in CHANGES[function])
    for _ in range(12):
        r, p = rng.uniform(0.5, 2.0), rng.uniform(0.05, 0.45) * np.pi
        motion = simulate(oscillator, State([r * np.cos(p)], [-r * np.sin(p)]), t_end=9.0, watch={"w": function})
        expected = [t for t in offset + period * np.arange(20) - p if 0.0 < t < 9.0]
        assert motion.termination is Termination.END_TIME
        # the state is known to 1e-12 of a step, over ten time units
        np.testing.assert_allclose([event.t for event in motion.events], expected, rtol=0, atol=1e-10)


def test_poles_of_a_function_of_time_hide_no_change_after_them():
    motion = simulate(derive(OSCILLATOR), State([1.0], [0.0], 0.5), t_end=9.0, watch={"w": "tan(t)"})
    np.testing.assert_allclose([event.t for event in motion.events], np.pi / 2 * np.arange(1, 6), rtol=0, atol=1e-10)


@pytest.mark.parametrize("e", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("watch", [{"v": "y_dot"}, {"g": "y"}, {"g": "y", "v": "y_dot"}])
def test_recording_ends_no_motion_whose_impacts_accumulate(e, watch):
    # the velocity changes its sign at every impact but the last and at the top of every bounce, the height never
    ball = derive(mechanisms.load("bouncing_ball"))
    start = State([1.0], [0.0])
    motion = simulate(ball, start, t_end=8.0, law=NewtonImpact(), parameters={"e": e}, watch=watch)
    assert motion.termination is Termination.END_TIME
    impacts = sum(event.kind is EventKind.IMPACT for event in motion.events)
    watched = [event.elements for event in motion.events if event.kind is EventKind.WATCH]
    assert watched == [("v",)] * (2 * (impacts - 1) if "v" in watch else 0)


def test_zeros_of_a_function_that_vanishes_with_the_gap_are_those_of_its_other_factor():
    # after an impact at 50.22/om the next zero of the sine is a millisecond away, the first step a second long
    e, om, t_end = 0.9306087998534046, 39.248470991449636, 2.5
    ball = derive(
        mechanism_from_toml(
            'name = "ball"\ncoordinates = ["y"]\n[dynamics]\nkinetic = "y_dot**2/2"\npotential = "10*y"\n'
            '[[contact]]\nname = "floor"\ngap = "y"\n'
        )
    )
    motion = simulate(
        ball, State([1.0], [0.0]), t_end=t_end, law=NewtonImpact(restitution=e), watch={"w": f"y*sin({om}*t)"}
    )
    assert motion.termination is Termination.END_TIME
    found = [event.t for event in motion.events if event.kind is EventKind.WATCH]
    assert found == pytest.approx(np.pi / om * np.arange(1, int(t_end * om / np.pi) + 1), abs=1e-9)


FLIGHT = 2 * REBOUND / 9.81
UP = REBOUND / 9.81 - np.sqrt((REBOUND / 9.81) ** 2 - 2 * 0.5 / 9.81)
SLIP_ENDS = np.pi / 5  # half a period of the mass on its spring, which then slips back; again after another half
SHIFT = 0.3 * 9.81 * 2 / 50  # of the middle of its oscillation by the friction
BESIDE = {  # a motion and the simple zeros of a function of it
    "y - 0.5": ("ball", [HALF_WAY, LANDING + UP, LANDING + FLIGHT - UP]),
    "t - 0.7": ("ball", [0.7]),
    "y_dot": ("ball", [LANDING, LANDING + FLIGHT / 2, LANDING + FLIGHT]),
    "x - 0.1": ("mass", [np.arccos((0.1 - SHIFT) / (0.5 - SHIFT)) / 5]),
    "x_dot": ("mass", [SLIP_ENDS, 2 * SLIP_ENDS]),
}
EVEN = ["({})**2", "-({})**2", "({})*({}) + t*({})**2", "({})**4", "abs({})"]
ODD = {"{}": 1e-11, "-2*({})": 1e-11, "({})*(t + 1)": 1e-11, "({})**3": 3e-6}  # cubed it is lost in rounding around


@pytest.fixture(scope="module")
def beside():
    mass = derive(mechanisms.load("coulomb_oscillator"))
    ways = {
        "ball": (derive(mechanisms.load("bouncing_ball")), State([1.0], [0.0])),
        "mass": (mass, solve_state(mass, {"x": 0.5, "x_dot": 0})),
    }

    def follow(way, *texts, **how):
        dynamics, start = ways[way]
        watch = {text: text for text in texts}
        return simulate(dynamics, start, t_end=1.26, law=NewtonImpact(), watch=watch, **how)

    return follow


@pytest.mark.parametrize("function", BESIDE)
def test_what_is_recorded_of_a_function_does_not_depend_on_what_else_is(beside, function):
    way, zeros = BESIDE[function]
    odd = {form.replace("{}", function): allowed for form, allowed in ODD.items()}
    even = [form.replace("{}", function) for form in EVEN]
    groups = [*([text] for text in (*odd, *even)), *([text, function] for text in even), [*odd, *even], [*even, *odd]]
    plain = beside(way)
    for texts in groups:
        motion = beside(way, *texts)
        assert motion.t == plain.t
        np.testing.assert_allclose(motion.q, plain.q, rtol=0, atol=1e-11)
        for text in texts:
            found = [event.t for event in motion.events if text in event.elements]
            np.testing.assert_allclose(found, zeros if text in odd else [], rtol=0, atol=odd.get(text, 0.0))


@pytest.mark.parametrize("function", BESIDE)
@pytest.mark.parametrize("form", EVEN)
def test_a_double_zero_ends_no_motion_whatever_is_recorded(beside, function, form):
    way, _ = BESIDE[function]
    until = form.replace("{}", function)
    for texts in ([], [function], [function, until]):
        assert beside(way, *texts, until=until).termination is Termination.END_TIME


def test_a_double_zero_in_a_short_bounce_is_none_either():
    # bounces of microseconds, before their accumulation, begin with the rounding of an impact
    ball = derive(mechanisms.load("bouncing_ball"))
    watch = {"v": "y_dot", "square": "y_dot*y_dot", "size": "abs(y_dot)", "height": "y*y"}
    motion = simulate(ball, State([0.14098883161799503], [-1.0]), t_end=3.0, law=NewtonImpact(), watch=watch)
    assert {name for event in motion.events for name in event.elements} == {"floor", "v"}


@pytest.mark.parametrize("text", ["1/x_dot", "-1/x_dot", "1/x_dot**3", "1/(x - 1.1)"])
def test_a_pole_from_which_a_motion_starts_is_no_change_of_sign(text):
    # from 1.1 at rest the oscillator goes back, x_dot < 0 until half a turn later
    oscillator = derive(mechanisms.load("coulomb_oscillator"))
    motion = simulate(oscillator, State([1.1], [0.0]), t_end=0.3, watch={"pole": text}, until=text)
    assert (motion.termination, motion.events) == (Termination.END_TIME, ())
