"""Where no derivative exists the answer says so, with time and reason; and what is asked wrongly is an error."""

import re

import attrs
import numpy as np
import pytest

from hybrid import (
    ArgumentError,
    Constraint,
    Contact,
    DeclarationError,
    EnergyDynamics,
    FrictionElement,
    Functional,
    Mechanism,
    Refusal,
    State,
    StateError,
    derive,
    mechanism_from_toml,
    saltation_matrix,
    sensitivity,
    simulate,
    solve_state,
)
from hybrid.analysis.sensitivities import differences
from hybrid.contact import AbstractImpactLaw, NewtonImpact
from hybrid.contact.impacts.impact import Impulses
from hybrid.motion import Penalty, Prefer, Settings
from tests.catalogue import dynamics_of


def refusal_of(motion, functional, names, **options):
    for method in ("adjoint", "forward"):
        found = sensitivity(motion, functional, names, method=method, **options)
        assert isinstance(found.refusal, Refusal)
        assert found.gradient == {}
        assert np.isnan(found.value)
        assert found.end_slopes is None
    return found.refusal


def particle(*, parameters=None, **options):
    """A particle in the plane above a floor with a step of its choice."""
    return derive(
        Mechanism(
            name="particle",
            coordinates=["x", "y"],
            parameters=parameters or {"g": 1, "e": 0.5, "idle": 2},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="g*y"),
            **options,
        )
    )


@pytest.mark.parametrize("method", ["adjoint", "forward"])
def test_a_name_without_derivative_is_refused_by_name_and_the_others_are_given(method):
    # Dropped from 1, with e = 0 the ball stays where it lands at sqrt(2/g); with any other it would leave again. Until
    # then the integral of y is 2/3 sqrt(2/g), with the derivative -1/3 sqrt(2) g^(-3/2).
    ball = particle(contact=[Contact(name="floor", gap="y", restitution="e")])
    motion = simulate(ball, State([0, 1], [0, 0]), t_end=3, law=NewtonImpact(), parameters={"e": 0})
    found = sensitivity(motion, Functional("y"), ["e", "g"], method=method)
    assert found.refusal is None
    assert found.value == pytest.approx(2 / 3 * np.sqrt(2), abs=1e-12)
    assert found.gradient == pytest.approx({"g": -np.sqrt(2) / 3}, abs=1e-11)
    assert found.names == ("g",)
    assert list(found.refusals) == ["e"]
    assert found.refusals["e"].t == pytest.approx(np.sqrt(2), abs=1e-9)
    assert found.refusals["e"] == sensitivity(motion, Functional("y"), ["e"]).refusal


def test_a_trajectory_that_grazes_a_corner():
    # over the circle x^2 + y^2 = 1 on the parabola y = 1 + x - x^2/2 ...: touches y = 1 at its top
    ball = particle(contact=[Contact(name="ceiling", gap="1 - y", restitution="e")])
    motion = simulate(ball, State([0, 0.5], [1, 1]), t_end=3, law=NewtonImpact())  # top at y = 0.5 + 1/2 = 1, t = 1
    found = refusal_of(motion, Functional("x"), ["g", "y_dot"])
    assert found.t == pytest.approx(1.0, abs=1e-6)
    assert "graz" in found.reason


def test_a_contact_that_touches_without_pressing_is_not_said_to_have_no_derivative():
    # two balls that touch at rest in free space: changed together they have one, x3 = (t - t1) x1_dot
    balls = dynamics_of("three_ball_chain")
    pins = {"x1": -0.6, "x2": 0, "gap.second_pair": 0, "x1_dot": 1, "x2_dot": 0, "gap_dot.second_pair": 0}
    motion = simulate(balls, solve_state(balls, pins), t_end=1, law=NewtonImpact())
    found = refusal_of(motion, Functional(terminal="x3"), ["x1_dot"], pins=pins)
    assert "touches without pressing" in found.reason
    assert not found.is_proven


def test_near_grazing_has_a_derivative_that_grows_as_the_root():
    ball = particle(contact=[Contact(name="ceiling", gap="1 - y", restitution="e")])
    slopes = []
    for excess in (1e-4, 1e-6):
        motion = simulate(ball, State([0, 0.5 + excess], [1, 1]), t_end=1.5, law=NewtonImpact())
        found = sensitivity(motion, Functional(terminal="y"), ["y"], method="forward")
        slopes.append(found.events[0].gradient["y"])
        assert found.events[0].gradient["y"] == pytest.approx(-1 / np.sqrt(2 * excess), rel=1e-8)
    assert slopes[1] / slopes[0] == pytest.approx(10, rel=1e-6)


def test_a_corner_met_exactly_whose_orders_differ():
    # two smooth walls that meet at an obtuse angle: who comes first decides where the particle goes
    wedge = particle(
        contact=[
            Contact(name="left", gap="y - x/2", restitution="e"),
            Contact(name="right", gap="y + x/2", restitution="e"),
        ]
    )
    motion = simulate(wedge, State([0, 0.5], [0, 0]), t_end=1.2, law=NewtonImpact())
    found = refusal_of(motion, Functional(terminal="x"), ["x"])
    assert found.t == pytest.approx(1.0, abs=1e-9)
    assert "at once" in found.reason


def test_a_right_angle_is_the_same_in_either_order():
    corner = particle(
        contact=[
            Contact(name="floor", gap="y", restitution="e"),
            Contact(name="wall", gap="x", restitution="e"),
        ]
    )
    motion = simulate(corner, State([1, 0.5], [-1, 0]), t_end=1.4, law=NewtonImpact())
    found = sensitivity(motion, Functional(terminal="x + y"), ["x", "y", "x_dot", "g"])
    assert found.refusal is None
    # both bounces by hand: x = e (t - 1), y = e (t - 1) - (t - 1)^2/2 at t = 1.4, with v1 = t1 = sqrt(2 y / g) = 1
    e, rest = 0.5, 0.4
    assert found.gradient["x"] == pytest.approx(-e, abs=1e-12)
    assert found.gradient["x_dot"] == pytest.approx(-e * rest - e, abs=1e-12)
    # y: v1 = sqrt(2 g y), t1 = sqrt(2 y / g): dv1 = 1, dt1 = 1
    assert found.gradient["y"] == pytest.approx(e * rest - e + rest, abs=1e-12)


def test_an_integral_that_depends_on_the_order_although_the_state_does_not():
    corner = particle(
        contact=[
            Contact(name="floor", gap="y", restitution="e"),
            Contact(name="wall", gap="x", restitution="e"),
        ]
    )
    motion = simulate(corner, State([1, 0.5], [-1, 0]), t_end=1.4, law=NewtonImpact())
    found = refusal_of(motion, Functional("x_dot*y_dot"), ["x"])
    assert "for each order" in found.reason
    # a sum of one term for each coordinate does not: by hand, the wall is met at t = x, the floor at sqrt(2 y)
    kinetic = sensitivity(motion, Functional("x_dot**2 + y_dot**2"), ["x", "y"], method="forward")
    e = 0.5
    assert kinetic.gradient["x"] == pytest.approx(1 - e**2, abs=1e-12)
    # y: integral of t^2 to t1 and of (e v1 - s)^2 to 1.4 - t1 =: r with v1 = t1 = 1, d v1 = d t1 = 1
    r = 0.4
    slope = 1 + 2 * e * (e * r - r**2 / 2) - (e - r) ** 2
    assert kinetic.gradient["y"] == pytest.approx(slope, abs=1e-12)
    assert kinetic.events[0].gradient == {}  # the two times part


def test_a_paradox_at_the_end():
    rod = dynamics_of("painleve_rod")
    pins = {"theta": 1.0, "theta_dot": 0.5, "slip.tip": 1} if "theta" in rod.mechanism.coordinates else {}
    motion = simulate(rod, solve_state(rod, pins, parameters={"mu": 1.5}), t_end=1, parameters={"mu": 1.5})
    assert motion.termination.name == "INCONSISTENT"
    found = refusal_of(motion, Functional("x"), ["mu"])
    assert found.t == 0.0
    assert "no contact mode is consistent" in found.reason


def test_an_impact_without_collision_between_two_arcs():
    # Glocker 1995, section 5.3.4: a slide into the singular point
    rod, changed = dynamics_of("rod_on_incline"), {"g": 10, "mu": 5 / 3}
    start = solve_state(rod, {"phi": np.radians(31), "phi_dot": 0, "x_dot": -30}, parameters=changed)
    motion = simulate(rod, start, t_end=1, parameters=changed, rule=Penalty(), law=NewtonImpact())
    found = refusal_of(motion, Functional(terminal="x"), ["mu"])
    assert found.t == pytest.approx(0.8145497, abs=1e-6) and "impact without collision" in found.reason


def test_a_choice_between_several_motions():
    rod = dynamics_of("painleve_rod")
    parameters = {"mu": 1.5, "g": 1}
    start = solve_state(rod, {"theta": 1.0, "theta_dot": 1.3, "slip.tip": 1}, parameters=parameters)
    motion = simulate(rod, start, t_end=0.1, parameters=parameters, rule=Prefer(("free",)))
    found = refusal_of(motion, Functional("x"), ["mu"])
    assert found.t == 0.0
    assert "several modes" in found.reason


def test_the_end_at_an_event():
    ball = dynamics_of("bouncing_ball")
    e, fall = 0.8, float(np.sqrt(2 / 9.81))
    motion = simulate(ball, State([1.0], [0]), t_end=1, law=NewtonImpact())
    t_impact = motion.events[0].t
    assert t_impact == pytest.approx(fall, abs=1e-12)
    for delay in (-1e-14, 0.0, 1e-14):
        cut = simulate(ball, State([1.0], [0]), t_end=t_impact + delay, law=NewtonImpact())
        found = refusal_of(cut, Functional(terminal="y"), ["y"])
        assert "cut off at an event" in found.reason
        assert found.t == pytest.approx(fall, abs=1e-12)
    # rightly: at that time a ball that starts higher by dy is at the height dy, one that starts lower has been thrown
    # up with e v1 since the time dy / (g t)
    sides = []
    for delay in (-1e-6, 1e-6):
        near = simulate(ball, State([1.0], [0]), t_end=t_impact + delay, law=NewtonImpact())
        sides.append(sensitivity(near, Functional(terminal="y"), ["y"]).gradient["y"])
    # -e v1 / (g t) = -e as v1 = g t, and it changes by (1 + e) g / v1 = 4 per second
    assert sides == pytest.approx([1.0, -e], abs=1.01e-6 * (1 + e) / fall)


def test_equations_that_jump():
    fan = derive(
        Mechanism(
            name="fan",
            coordinates=["x"],
            parameters={"c": 1},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            forces={"x": "-c*sign(x)"},
        )
    )
    motion = simulate(fan, State([1.0], [0.0]), t_end=1.0)
    assert sensitivity(motion, Functional("x"), ["c"]).refusal is None
    motion = simulate(fan, State([1.0], [-1.0]), t_end=1.0)
    found = refusal_of(motion, Functional("x"), ["c"])
    assert found.t == pytest.approx(np.sqrt(3) - 1, abs=0.2)
    assert found.reason == "the equations jump where x is zero"


def test_an_integrand_that_jumps():
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([1.0], [1.0]), t_end=0.4)
    found = refusal_of(motion, Functional("sign(y_dot)"), ["g"])
    assert "integrand jumps" in found.reason
    # a kink is no jump: the derivative of its integral exists
    kink = sensitivity(motion, Functional("abs(y_dot)"), ["g"])
    # integral of |1 - g t| over 0.4 = (1/g + (0.4 g - 1)^2 / g) / 2
    g = 9.81
    assert kink.value == pytest.approx((1 + (0.4 * g - 1) ** 2) / (2 * g), abs=1e-13)
    assert kink.gradient["g"] == pytest.approx(0.08 - 1 / g**2, abs=1e-12)


@pytest.mark.parametrize(
    ("integrand", "t", "reason"),
    [
        ("1/y_dot", (0.05, 0.15), "beyond bounds"),  # y_dot = 1 - 9.81 t falls through zero at 0.102
        ("sqrt(abs(y_dot))", (0.05, 0.15), "beyond bounds"),
        ("log(y_dot)", (0.1, 0.2), "no finite value"),
        ("exp(4000*t)", (0.1, 0.4), "no finite value"),
        ("1e308*(1 + y)*10", (0, 0.1), "no finite value"),
    ],
)
def test_an_integrand_without_bounds(integrand, t, reason):
    motion = simulate(dynamics_of("bouncing_ball"), State([1.0], [1.0]), t_end=0.4)
    found = refusal_of(motion, Functional(integrand), ["g"])
    assert reason in found.reason
    assert t[0] <= found.t <= t[1]
    # A number may only be too large for the machine, and an improper integral may have a derivative: that of
    # sqrt(abs(1 - g t)) up to T is 2/(3 g) (1 + (g T - 1)^(3/2)).
    assert not found.is_proven


def test_a_terminal_term_that_overflows():
    motion = simulate(dynamics_of("bouncing_ball"), State([1.0], [1.0]), t_end=0.4)
    found = refusal_of(motion, Functional(terminal="1e308*(1 + y)*10"), ["g"])
    assert not found.is_proven


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(rtol=1e-6, atol=1e-6), "rtol=1e-06 and atol=1e-06, .* simulate with DOP853 and 1e-12 at most"),
        (Settings(rtol=1e-11), "rtol=1e-11 and atol=1e-14, "),
        (Settings(atol=1e-11), "rtol=1e-12 and atol=1e-11, "),
        (Settings(stepper="Radau", rtol=1e-8), "rtol=1e-08 and atol=1e-14, .* with Radau and 1e-09 at most"),
    ],
)
def test_a_coarse_motion_is_refused_before_its_events_are_judged(settings, told):
    motion = simulate(
        dynamics_of("bouncing_ball"), State([1.0], [0.0]), t_end=0.6, law=NewtonImpact(), settings=settings
    )
    found = refusal_of(motion, Functional(terminal="y"), ["e"])
    assert re.search(told, found.reason)
    assert (found.t, found.is_proven) == (0.0, False)


@pytest.mark.parametrize(
    "settings", [Settings(rtol=1e-12, atol=1e-12), Settings(stepper="Radau", rtol=1e-9, atol=1e-9)]
)
def test_a_motion_just_fine_enough_has_its_derivative(settings):
    motion = simulate(
        dynamics_of("bouncing_ball"), State([1.0], [0.0]), t_end=0.6, law=NewtonImpact(), settings=settings
    )
    # thrown up with e g s at s = sqrt(2/g) it is at e g s (0.6 - s) - g (0.6 - s)^2/2
    g, e = 9.81, 0.8
    s = np.sqrt(2 / g)
    found = sensitivity(motion, Functional(terminal="y"), ["e", "g"])
    slope = e * (s * 0.6 - s**2) + (e * g * (0.6 - 2 * s) + g * (0.6 - s)) * (-s / (2 * g)) - (0.6 - s) ** 2 / 2
    assert found.gradient == pytest.approx({"e": g * s * (0.6 - s), "g": slope}, rel=1e-10)


def test_differences_of_an_integrand_with_a_kink_and_a_peak():
    motion = simulate(dynamics_of("bouncing_ball"), State([1.0], [1.0]), t_end=0.4)
    # by hand: the integral of abs(v) v' is v abs(v) / 2, that of w v' / (1 + (w v)^2) is atan(w v)
    v = 1 - 0.4 * 9.81
    for integrand, slope in (
        ("-g*abs(y_dot)", -0.4 * abs(v)),
        ("-g*300/(1+(300*y_dot)**2)", -120 / (1 + (300 * v) ** 2)),
    ):
        found = sensitivity(motion, Functional(integrand), ["g"], check=True)
        assert found.gradient["g"] == pytest.approx(slope, abs=1e-9)
        assert found.check.differences["g"].value == pytest.approx(slope, abs=1e-7)


def test_directions_that_leave_a_closed_contact():
    rod = dynamics_of("rod_on_incline")
    motion = simulate(rod, solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}), t_end=1)
    found = refusal_of(motion, Functional("x"), ["phi"])
    assert found.t == 0.0
    assert "give the pins" in found.reason
    assert sensitivity(motion, Functional("x"), ["mu", "x"]).refusal is None


def test_a_start_on_a_surface_that_separates_is_no_start_a_little_lower():
    # thrown up with 1.5 from where it touches a floor at r: y(T) = r + 1.5 T - g T^2/2, and x(T) = x + 2 T
    ball = derive(
        Mechanism(
            name="ball",
            coordinates=["x", "y"],
            parameters={"g": 10, "r": 0.1},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="g*y"),
            contact=[Contact(name="floor", gap="y - r")],
        )
    )
    pins = {"x": 0, "x_dot": 2, "gap.floor": 0, "gap_dot.floor": 1.5}
    with pytest.raises(StateError, match="'floor' penetrates at the start"):
        simulate(ball, solve_state(ball, pins | {"gap.floor": -1e-5}), t_end=0.2)
    motion = simulate(ball, solve_state(ball, pins), t_end=0.2)
    total = Functional(terminal="x + y")
    found = sensitivity(motion, total, [*pins, "g", "r"], pins=pins)
    assert list(found.refusals) == ["gap.floor"]
    assert "a change of gap.floor leaves" in found.refusals["gap.floor"].reason
    assert found.refusals["gap.floor"].is_proven
    slopes = {"x": 1, "x_dot": 0.2, "gap_dot.floor": 0.2, "g": -0.02, "r": 1}  # the start follows r with the pins
    assert found.gradient == pytest.approx(slopes, abs=1e-13)
    found = sensitivity(motion, total, ["x", "y", "y_dot", "r"])
    assert list(found.refusals) == ["y", "r"]
    assert found.gradient == pytest.approx({"x": 1, "y_dot": 0.2}, abs=1e-13)


def test_a_spatial_slip_that_begins_without_acceleration():
    # pulled ever harder, and kinetic friction holds as much as static friction did
    puck = derive(
        Mechanism(
            name="puck",
            coordinates=["x", "y", "z"],
            parameters={"A": 3, "mu": 0.3},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential="10*z"),
            forces={"x": "A*t", "y": "1"},
            contact=[Contact(name="floor", gap="z", tangent=["x", "y"], friction="mu")],
        )
    )
    start = State([0, 0, 0], [0, 0, 0])
    motion = simulate(puck, start, t_end=1.5, settings=Settings(stepper="Radau", rtol=1e-9))
    found = refusal_of(motion, Functional(terminal="x"), ["A"])
    assert found.t == pytest.approx(np.sqrt(3**2 - 1) / 3, abs=1e-9)  # (A t)^2 + 1 = (10 mu)^2
    assert "begins without acceleration" in found.reason


def test_saltation_of_a_graze_is_refused():
    ball = particle(contact=[Contact(name="floor", gap="y", restitution="e")])
    motion = simulate(ball, State([0, 1], [0, 0]), t_end=2, law=NewtonImpact())
    event = motion.events[0]
    assert not isinstance(saltation_matrix(ball, event), Refusal)
    with pytest.raises(StateError, match="does not give the recorded velocities"):
        saltation_matrix(ball, event, law=NewtonImpact(restitution=0.9))


def test_an_event_of_another_mechanism_is_refused():
    ball = particle(contact=[Contact(name="floor", gap="y", restitution="e")])
    event = simulate(ball, State([0, 1], [0, 0]), t_end=2, law=NewtonImpact()).events[0]
    with pytest.raises(StateError, match=r"of another mechanism, with 2 coordinates and the force elements floor; "):
        saltation_matrix(particle(contact=[Contact(name="wall", gap="x")]), event)
    with pytest.raises(StateError, match="bouncing_ball has 1 coordinate and the force elements"):
        saltation_matrix(dynamics_of("bouncing_ball"), event)


def carts_motion():
    carts = dynamics_of("two_carts")
    return simulate(carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact())


def test_unknown_names_are_errors_that_tell_the_nearest():
    motion = carts_motion()
    with pytest.raises(DeclarationError, match=r"(?s)q1_dto.*q1_dot"):
        sensitivity(motion, Functional("q1_dto**2"), ["k1"])
    with pytest.raises(DeclarationError, match="terminal"):
        sensitivity(motion, Functional("0", "q3"), ["k1"])
    with pytest.raises(StateError, match="did you mean 'k1'"):
        sensitivity(motion, Functional("q1"), ["K1"])
    with pytest.raises(StateError, match="pin of the start"):
        sensitivity(motion, Functional("q1"), ["q3"], pins={"q1": 1, "q2": 2, "q1_dot": 1, "q2_dot": 0})
    with pytest.raises(StateError, match="nothing to differentiate"):
        sensitivity(motion, Functional("q1"), [])
    with pytest.raises(StateError, match="twice"):
        sensitivity(motion, Functional("q1"), ["k1", "k1"])
    with pytest.raises(ArgumentError, match="must be a Functional"):
        sensitivity(motion, "q1", ["k1"])
    with pytest.raises(ArgumentError, match=r"sequence of texts, not 'k1'; give \['k1'\]"):
        sensitivity(motion, Functional("q1"), "k1")
    with pytest.raises(ArgumentError, match="'adjoint', 'forward', not 'backward'"):
        sensitivity(motion, Functional("q1"), ["k1"], method="backward")


def test_text_is_not_executed():
    with pytest.raises(DeclarationError):
        sensitivity(carts_motion(), Functional("__import__('os').getcwd()"), ["k1"])


def test_a_parameter_that_occurs_nowhere_has_derivative_zero_and_a_note():
    ball = particle(contact=[Contact(name="floor", gap="y", restitution="e")])
    motion = simulate(ball, State([0, 1], [1, 0]), t_end=2, law=NewtonImpact())
    found = sensitivity(motion, Functional("x"), ["idle", "g"])
    assert found.gradient["idle"] == 0.0
    assert found.notes == (
        "the parameter idle occurs neither in the equations nor in the functional: its derivative is 0",
    )
    found = sensitivity(motion, Functional("idle*x"), ["idle"])
    assert found.notes == ()
    assert found.gradient["idle"] == pytest.approx(found.value / 2)


def test_an_expression_that_is_named_itself_is_held_and_a_note_says_so():
    spring = derive(
        Mechanism(
            name="spring",
            coordinates=["x"],
            parameters={"a": 2.0, "k": "a**2"},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="k*x**2/2"),
        )
    )
    motion = simulate(spring, State([1.0], [0.0]), t_end=1.0)
    alone = sensitivity(motion, Functional("0", "x"), ["a"])
    # x = cos(sqrt(k/m) t) with k = a^2 and m = 1: dx/da = -t sin(a t)
    assert alone.gradient["a"] == pytest.approx(-np.sin(2.0), rel=1e-9)
    assert alone.notes == ()
    both = sensitivity(motion, Functional("0", "x"), ["a", "k"])
    assert both.gradient["a"] == 0.0
    assert both.gradient["k"] == pytest.approx(-np.sin(2.0) / 4.0, rel=1e-9)
    assert both.notes == ("k is held where a differs, though it is an expression of it: it is named, too",)


def test_a_law_with_its_own_restitution_says_so():
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([1.0], [0]), t_end=0.6, law=NewtonImpact(restitution=0.5))
    found = sensitivity(motion, Functional("y"), ["e"])
    assert found.gradient["e"] == 0.0
    assert "replaces the declared restitution by 0.5" in found.notes[0]


@attrs.frozen
class Halved(AbstractImpactLaw):
    """One contact without friction, with half the declared restitution; knows its derivative."""

    name = "halved"

    def impulses(self, problem):
        return Impulses(-(1 + problem.restitution / 2) * problem.gamma / problem.G[0, 0], ())

    def impulse_change(self, problem, change):
        e, G, gamma = problem.restitution / 2, problem.G[0, 0], problem.gamma
        along = -(1 + e) * change.gamma / G - change.restitution / 2 * gamma / G
        return along + (1 + e) * gamma * change.G[0] / G**2


class Plain(AbstractImpactLaw):
    """The same without a word on its derivative."""

    name = "plain"

    def impulses(self, problem):
        return Halved().impulses(problem)


class Unknown(AbstractImpactLaw):
    """One that leaves arithmetic."""

    name = "unknown"

    def impulses(self, problem):
        return Impulses(np.linalg.solve(problem.G, -1.5 * problem.gamma), ())


class Wrong(Halved):
    def impulse_change(self, problem, change):
        return np.zeros(2)


@pytest.mark.parametrize("law", [Halved(), Plain()])
def test_a_law_of_ones_own_may_know_its_derivative_or_is_read_with_duals(law):
    ball = dynamics_of("bouncing_ball")
    start = State([1.0], [0])
    motion = simulate(ball, start, t_end=0.7, law=law)
    found = sensitivity(motion, Functional(terminal="y"), ["e", "g", "y"], method="forward", check=True)
    e, g, s = float(ball.mechanism.parameter_values()["e"]) / 2, 9.81, 0.7 - np.sqrt(2 / 9.81)
    # y = e v1 s - g s^2/2 with v1 = sqrt(2 g h), s = t - sqrt(2 h / g)
    v1 = np.sqrt(2 * g)
    assert found.gradient["e"] == pytest.approx(v1 * s / 2, abs=1e-11)
    assert found.gradient["y"] == pytest.approx(e * g / v1 * s - (e * v1 - g * s) / v1, abs=1e-11)
    assert found.check.disagreement < 1e-11
    assert found.check.warnings == ()
    # Newton's law with half the restitution is the same law
    parameters = {"e": e}
    same = simulate(ball, start, t_end=0.7, law=NewtonImpact(), parameters=parameters)
    expected = sensitivity(same, Functional(terminal="y"), ["g", "y"], method="forward").gradient
    assert {name: found.gradient[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_a_law_of_ones_own_that_duals_do_not_pass_is_refused_by_name():
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([1.0], [0]), t_end=0.7, law=Unknown())
    found = refusal_of(motion, Functional(terminal="y"), ["g"])
    assert "of the impact law 'unknown' is not known" in found.reason
    assert "give it a method impulse_change" in found.reason
    assert not found.is_proven
    motion = simulate(ball, State([1.0], [0]), t_end=0.7, law=Wrong())
    with pytest.raises(StateError, match="must return 1 finite numbers"):
        sensitivity(motion, Functional(terminal="y"), ["g"])


def test_time_stepping_has_no_located_events():
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([1.0], [0]), t_end=0.6, method="time-stepping", step=1e-2)
    assert "time-stepping" in refusal_of(motion, Functional("y"), ["e"]).reason


def test_friction_that_is_met_from_both_sides_at_once():
    # two equal seals on two equal masses slip at one instant; they are apart, so the order does not matter
    pair = derive(
        Mechanism(
            name="pair",
            coordinates=["x", "z"],
            parameters={"F": 1, "A": 2},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + z_dot**2)/2", potential="0"),
            forces={"x": "A*sin(t)", "z": "A*sin(t)"},
            friction=[
                FrictionElement(name="one", tangent="x", limit="F"),
                FrictionElement(name="two", tangent="z", limit="F"),
            ],
        )
    )
    pins = {"x": 0, "z": 0, "x_dot": 0, "z_dot": 0}
    motion = simulate(pair, solve_state(pair, pins), t_end=1.5)
    found = sensitivity(motion, Functional(terminal="x + z"), ["F", "A"], pins=pins)
    rest = 1.5 - np.pi / 6
    assert found.gradient["F"] == pytest.approx(-(rest**2), abs=1e-11)


def test_an_interruption_ends_the_check_too(monkeypatch):
    # Ctrl-C during the simulation of a neighbour
    motion = carts_motion()

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(differences, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sensitivity(motion, Functional("q1"), ["k1"], check=True)


def test_what_moves_none_of_two_surfaces_may_have_a_derivative():
    # floor and wall are hit at t = 0.2, whatever the restitution is; friction makes their order matter
    text = """
        name = "ball"
        coordinates = ["x", "y"]
        [parameters]
        e = 0.6
        [dynamics]
        kinetic = "x_dot**2/2 + y_dot**2/2"
        potential = "9.81*y"
        [[contact]]
        name = "floor"
        gap = "y"
        slip = "x_dot - 0.4"
        friction = "0.3"
        restitution = "e"
        [[contact]]
        name = "wall"
        gap = "0.5 - x"
        restitution = "e"
    """
    ball, start = derive(mechanism_from_toml(text)), State([0.24, 0.1962], [1.3, 0.0])
    ends = {e: simulate(ball, start, t_end=0.3, law=NewtonImpact(), parameters={"e": e}).v[0] for e in (0.5, 0.6, 0.7)}
    assert list(ends.values()) == pytest.approx([-1.3 * e for e in ends], rel=1e-12)
    motion = simulate(ball, start, t_end=0.3, law=NewtonImpact())
    found = sensitivity(motion, Functional(terminal="x_dot"), ["e"])
    assert "happen at once" in found.refusal.reason and not found.refusal.is_proven


@pytest.mark.parametrize(
    ("pins", "names"),
    [({"x": 1, "y_dot": 0}, "x, rod"), ({"y": -1, "x_dot": 2}, "y, rod"), ({"y": 1, "x_dot": 0}, "y, rod")],
)
@pytest.mark.parametrize("name", ["L", "g"])
def test_pins_at_a_double_root_give_the_start_no_derivative(pins, names, name):
    # on the circle dy/dx = -x/y and dx/dy = -y/x have no value where their divisor is zero
    pendulum = particle(constraint=[Constraint(name="rod", equation="x**2 + y**2 - L**2")], parameters={"L": 1, "g": 1})
    motion = simulate(pendulum, solve_state(pendulum, pins), t_end=0.1)
    with pytest.raises(StateError, match=f"the start has no derivative: {names} depend on each other"):
        sensitivity(motion, Functional(terminal="y"), [name], pins=pins)


def test_a_start_beside_a_double_root_has_its_derivative():
    # after a microsecond y is still sqrt(L^2 - x^2), up to the 1e-12 that gravity moves it
    pendulum = particle(constraint=[Constraint(name="rod", equation="x**2 + y**2 - L**2")], parameters={"L": 1, "g": 1})
    pins = {"x": 0.999, "y_dot": 0}
    motion = simulate(pendulum, solve_state(pendulum, pins), t_end=1e-6)
    found = sensitivity(motion, Functional(terminal="y"), ["L"], pins=pins)
    assert found.gradient["L"] == pytest.approx(1 / np.sqrt(1 - 0.999**2), rel=1e-9)
