"""Jumps and kinks of equations and functionals: refused wherever a change moves the motion off them, else exact."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
    Functional,
    Mechanism,
    State,
    derive,
    saltation_matrix,
    sensitivity,
    simulate,
)
from hybrid.contact import NewtonImpact


def cart(force):
    """A cart of mass 1 under a force of its choice."""
    return derive(
        Mechanism(
            name="cart",
            coordinates=["x"],
            parameters={"m": 1, "k": 3, "w": 1.1, "L": 0.4},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="0"),
            forces={"x": force},
        )
    )


def found_of(force, start, t_end, functional, names, **options):
    motion = simulate(cart(force), State(start[:1], start[1:]), t_end=t_end)
    answers = [sensitivity(motion, functional, names, method=method, **options) for method in ("adjoint", "forward")]
    assert answers[0].refusal == answers[1].refusal
    return answers[0]


END = Functional(terminal="x_dot")


@pytest.mark.parametrize(
    ("force", "start", "t_end", "functional", "name", "t"),
    [
        # d x_dot/dw = 2 k, though a stage of the motion may fall on the jump itself
        ("-k*(1 + sign(t - w))", (0, 1.5), 2, END, "w", 1.1),
        ("-k*(1 + sign(t*w - 1.1))", (0, 1.5), 2, END, "w", 1.0),
        ("-k*sign(t - w)", (0, 1), 1.1, Functional(terminal="x"), "w", 1.1),
        # one side is braked for a moment, the other is not
        ("-k*(1 + sign(x))", (-0.5, 1), 0.5, END, "x", 0.5),
        ("-k*(1 - sign(x))", (0, 1), 0.5, END, "x", 0.0),
        # x = v t + t^2: a negative v is followed to the left for a time, a positive one is not
        ("(3 + sign(x))/2", (0, 0), 0.5, END, "x_dot", 0.0),
        # x comes to rest at 0 without crossing it: (t - 1)^2
        ("2 + (sign(x) - 1)**2", (1, -2), 2, END, "x", 1.0),
        # the integral of sign(x) is t_end + 2 x / v below x = 0 and t_end above
        ("0", (0, 1), 0.5, Functional("sign(x)"), "x", 0.0),
        ("0", (0, 1), 2, Functional("sign(x - 2)"), "x_dot", 2.0),
        ("0", (0, 0), 2, Functional(terminal="sign(x)"), "x", 2.0),
        ("0", (-1, 0.5), 2, Functional(terminal="abs(x)"), "x_dot", 2.0),
        # one-sided derivatives t_end and -t_end; 1 and 0; cos and cosh; cos and 1
        ("0", (0, 0), 2, Functional("abs(x)"), "x", 0.0),
        ("0", (0, 0), 2, Functional("max(x, 0)"), "x", 0.0),
        ("-k*abs(x)", (0, 0), 1, Functional(terminal="x"), "x", 0.0),
        ("-k*max(x - L, 0)", (0.4, 0), 1, Functional(terminal="x"), "x", 0.0),
        ("-k*max(x - L, 0)", (0.4, 0), 1, Functional(terminal="x"), "L", 0.0),
    ],
)
def test_a_motion_on_a_jump_or_a_kink_is_refused(force, start, t_end, functional, name, t):
    found = found_of(force, start, t_end, functional, [name])
    assert found.refusal is not None, found.gradient
    assert found.gradient == {}
    assert found.refusal.t == pytest.approx(t, abs=0.02)
    assert str(found.refusal).startswith("the derivative is not computed")


def test_a_crossing_is_not_said_to_have_no_derivative():
    # the integral of sign(x - L) over 2 s at speed 1 from 0 is 2 - 2 L, with the derivative -2
    found = found_of("0", (0, 1), 2, Functional("sign(x - L)"), ["L"])
    assert not found.refusal.is_proven
    assert "no derivative exists" not in str(found.refusal)


@pytest.mark.parametrize(
    ("force", "start", "t_end", "functional", "expected"),
    [
        # the jump is where the motion starts, and nothing moves it there
        ("-k*sign(t)", (0, 1), 1.1, Functional(terminal="x"), {"k": -(1.1**2) / 2}),
        ("-k*(1 + sign(x))/2", (0, 1), 0.5, Functional(terminal="x"), {"k": -(0.5**2) / 2}),
        # at rest on the jump or kink of a friction that no direction moves
        ("-k*sign(x_dot)", (0.3, 0), 1, Functional(terminal="x"), {"x": 1.0, "k": 0.0}),
        # v |v| has no kink: a cart at rest that is pushed by dv moves on by dv t to first order
        ("-k*x_dot*abs(x_dot)", (0.4, 0), 1, Functional(terminal="x"), {"x_dot": 1.0, "k": 0.0}),
        # a kink met at one instant: free to x = L at t = L/v, then a spring, x = L + v sin(w s)/w at s = t - L/v
        (
            "-k*max(x - L, 0)",
            (0, 1),
            1,
            Functional(terminal="x"),
            {"L": 1 - np.cos(np.sqrt(3) * 0.6), "x": np.cos(np.sqrt(3) * 0.6)},
        ),
        # begins on the kink and leaves it: x = v sin(w t)/w, and a start further left by dx comes dx/v later
        ("-k*max(x, 0)", (0, 1), 1, Functional(terminal="x"), {"x": np.cos(np.sqrt(3))}),
        # ends on a kink of the integrand: the integral of 1 - t - dx - dv t over one second
        ("0", (-1, 1), 1, Functional("abs(x)"), {"x": -1.0, "x_dot": -0.5}),
    ],
)
def test_a_kink_or_an_unmoved_jump_has_its_derivative(force, start, t_end, functional, expected):
    found = found_of(force, start, t_end, functional, list(expected))
    assert found.refusal is None, found.refusal
    assert found.gradient == pytest.approx(expected, abs=1e-11)


def test_an_impact_at_the_start_leaves_the_start_as_constrained_as_it_was():
    # x y = 0 holds a particle to the x-axis while it hits the floor; a start with y > 0 is none
    guided = derive(
        Mechanism(
            name="guided",
            coordinates=["x", "y", "z"],
            parameters={"g": 1, "e": 0.5},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential="g*z"),
            constraint=[Constraint(name="cross", equation="x*y")],
            contact=[Contact(name="floor", gap="z", restitution="e")],
        )
    )
    motion = simulate(guided, State([-0.5, 0, 0], [1, 0, -0.5]), t_end=0.3, law=NewtonImpact())
    for names, guilty in ((["y"], "y"), (["z_dot", "y_dot"], "y_dot"), (["z"], "z")):
        found = sensitivity(motion, Functional("z", "y"), names)
        # the others have theirs: see below
        assert found.gradient == pytest.approx({"z_dot": -0.0225} if "z_dot" in names else {}, abs=1e-14)
        refusal = found.refusals[guilty] if found.gradient else found.refusal
        assert refusal.t == 0.0
        assert f"a change of {guilty} leaves" in refusal.reason
    found = sensitivity(motion, Functional("z", "x"), ["z_dot", "x_dot", "e"])
    # z = -e v t - t^2/2: its integral over 0.3 is -e v 0.045 - 0.0045
    assert found.gradient == pytest.approx({"z_dot": -0.0225, "x_dot": 0.3, "e": 0.0225}, abs=1e-14)


def belt(force):
    """A block on a belt at speed b, with a seal that sticks and slips and a force of its choice."""
    return derive(
        Mechanism(
            name="belt",
            coordinates=["x"],
            parameters={"m": 1, "k": 4, "b": 0.3, "Fk": 0.8, "Fs": 1.2, "c": 0.5},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="k*x**2/2"),
            forces={"x": force},
            friction=[FrictionElement(name="seal", tangent="x - b*t", limit="Fk", static_limit="Fs")],
        )
    )


@pytest.mark.parametrize(("b", "number"), [(0.3, 3), (0.1, 2), (1 / 3, 3)])
def test_a_kink_that_friction_holds_has_its_derivative(b, number):
    # the slip is zero while the seal sticks, whatever changes; differences of whole motions are the other road. What
    # is left of x_dot - b while it sticks is rounding, of a sign that changes with b and from processor to processor.
    motion = simulate(belt("-c*abs(x_dot - b)"), State([0], [0]), t_end=4, parameters={"b": b})
    assert [event.kind.value for event in motion.events] == ["slip end", "slip start", "slip end"][:number]
    names = ["b", "k", "Fs", "c"]
    found = sensitivity(motion, Functional("x", "x_dot"), names, check=True)
    assert found.refusal is None
    assert found.check.warnings == ()
    differences = {name: item.value for name, item in found.check.differences.items()}
    assert found.gradient == pytest.approx(differences, abs=1e-7)


@pytest.mark.parametrize("L", [0.01, 3.9, 3.99])
def test_a_kink_next_to_an_end_of_the_motion_is_met(L):
    # the integral of abs(t v - L) over 4 s at v = 1 is L^2/2 + (4 - L)^2/2; its slope in v that of t sign(t - L)
    motion = simulate(cart("0"), State([0], [1]), t_end=4, parameters={"L": L})
    found = sensitivity(motion, Functional("abs(x - L)"), ["x_dot", "L"])
    assert found.value == pytest.approx(L**2 / 2 + (4 - L) ** 2 / 2, abs=1e-13)
    assert found.gradient == pytest.approx({"x_dot": 8 - L**2, "L": 2 * L - 4}, abs=1e-11)


def test_a_jump_at_an_event_is_refused():
    # the force jumps just where the slip ends
    motion = simulate(belt("-c*sign(x_dot - b)/5"), State([0], [0]), t_end=1)
    found = sensitivity(motion, Functional("x"), ["k"])
    assert found.gradient == {}
    assert found.refusal.t == pytest.approx(motion.events[0].t, abs=1e-6)
    assert not found.refusal.is_proven


@pytest.mark.parametrize(
    "force", [{"x": "6*(1 + sign(t - s))"}, {"x": "2*t + 6*(1 + sign(t - s))"}, {"y": "15*(1 + sign(t - s))"}]
)
def test_an_event_that_a_jump_of_a_load_brings_about_is_not_said_to_graze(force):
    # 2*6 > 0.3*20 makes the block slip, 2*15 > 20 lifts it: the derivative exists, and only the jump is not followed
    block = derive(
        Mechanism(
            name="block",
            coordinates=["x", "y"],
            parameters={"m": 2, "s": 0.5},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="20*y"),
            forces=force,
            contact=[Contact(name="floor", gap="y", tangent="x", friction="0.3")],
        )
    )
    motion = simulate(block, State([0, 0], [4 if "y" in force else 0, 0]), t_end=0.8)
    assert motion.events[0].t == pytest.approx(0.5, abs=1e-9)
    for refusal in (sensitivity(motion, END, ["s"]).refusal, saltation_matrix(block, motion.events[0])):
        assert not refusal.is_proven
        assert refusal.reason == "the equations jump where -s + t is zero, and there it is zero"


@pytest.mark.parametrize("law", ["k*max(x, 0)**2/2", "k*x**2*(1 + sign(x))/4", "k*max(x, 0)**3/3"])
def test_a_spring_of_one_side_may_be_written_as_a_potential(law):
    # its force sets in without a jump, though sign() stands in its derivative
    def position(stiffness, start):
        run = (math.sqrt(1 - start) - 1) / 0.5  # until start + t + t^2/4 is zero, at the speed 1 + t/2
        speed = 1 + run / 2

        def rate(t, y):
            force = stiffness * max(y[0], 0) ** (2 if "**3" in law else 1)
            return [y[1], 0.5 - force]

        return solve_ivp(rate, (run, 0.45), [0.0, speed], method="DOP853", rtol=1e-13, atol=1e-14).y[0, -1]

    dynamics = EnergyDynamics(kinetic="x_dot**2/2", potential=f"{law} - x/2")
    spring = derive(Mechanism(name="spring", coordinates=["x"], parameters={"k": 20.0}, dynamics=dynamics))
    motion = simulate(spring, State([-0.2], [1.0]), t_end=0.45)
    found = sensitivity(motion, Functional(terminal="x"), ["k", "x"])
    h = 1e-3
    expected = {
        "k": (position(20 + h, -0.2) - position(20 - h, -0.2)) / (2 * h),
        "x": (position(20, -0.2 + h) - position(20, -0.2 - h)) / (2 * h),
    }
    assert found.refusal is None
    assert found.gradient == pytest.approx(expected, rel=2e-5)  # h^2 of a third derivative of some tens


@pytest.mark.parametrize(
    ("force", "start", "reason", "t"),
    [
        ("-k*atan2(sin(x), cos(x))", (0, 8), "the equations jump where sin(x) is zero", None),
        ("k*atan2(sin(w*t), cos(w*t))", (0, 0), "the equations jump where sin(t*w) is zero", math.pi / 1.1),
        ("k*atan2(0, w - t)", (0, 0), "the equations jump where -t + w is zero", 1.1),
        ("k*atan2(t - w, w - t)", (0, 0), "the equations jump where -t + w is zero", 1.1),
        ("k*atan(1/(t - w))", (0, 0), "the equations divide by t - w, which is zero", 1.1),
        ("k*atan((t - w)**(-3))", (0, 0), "the equations divide by t - w, which is zero", 1.1),
        ("k*atan(tan(w*t))", (0, 0), "the equations divide by cos(t*w), which is zero", math.pi / 2.2),
        ("k*(t - w)/abs(t - w)", (0, 0), "the equations divide by t - w, which is zero", 1.1),
        ("k*(t - w)*abs(1/(t - w))", (0, 0), "the equations divide by t - w, which is zero", 1.1),
        ("k*sign(max(0, t - w))", (0, 0), "the equations jump where t - w is zero", 1.1),  # zero until then
        ("k*sign(2*min(t - w, 0)**2)", (0, 0), "the equations jump where t - w is zero", 1.1),
        ("k*sign(t - w + abs(t - w))", (0, 0), "the equations jump where t - w is zero", 1.1),
        ("k*max(0, t - w)/(t - w)", (0, 0), "the equations divide by t - w, which is zero", 1.1),
    ],
)
def test_the_cut_of_an_angle_and_poles_are_jumps(force, start, reason, t):
    # a sawtooth loses 2 pi k, a bounded function of a pole changes sign: the gradient without their share was returned
    found = found_of(force, start, 3, Functional(terminal="x"), ["k"])
    assert found.refusal.reason == reason
    assert not found.refusal.is_proven
    assert t is None or found.refusal.t == pytest.approx(t, abs=0.1)  # the stage of a step after it


def test_an_integrand_jumps_at_the_cut_of_an_angle():
    found = found_of("0", (0, 1), 4, Functional("atan2(sin(x), cos(x))"), ["x"])
    assert found.refusal.reason == "the integrand jumps where sin(x) is zero"


@pytest.mark.parametrize(
    ("shape", "value", "slope"),
    [
        ("atan2(t - w, 2)", lambda s: math.atan2(s, 2), lambda s: 2 / (4 + s * s)),
        ("sin(t - w)/(t - w)", lambda s: np.sinc(s / math.pi), lambda s: (s * math.cos(s) - math.sin(s)) / s**2),
        ("((t - w)**2 - 4)/(t - w - 2)", lambda s: s + 2, lambda s: 1.0),
        ("(t - w)*abs(t - w)/(t - w)", abs, lambda s: math.copysign(1.0, s)),
        ("max(0, (t - w)**5)", lambda s: max(0.0, s**5), lambda s: 5 * max(0.0, s) ** 4),  # a zero of high order
    ],
)
def test_an_angle_off_its_cut_and_a_quotient_that_goes_on_have_their_derivative(shape, value, slope):
    found = found_of(f"k*{shape}", (0, 0), 4, Functional(terminal="x"), ["k", "w"])
    assert found.refusal is None, found.refusal
    # x(T) = integral of (T - t) k f(t - w), by quadrature of its own on either side of t = w

    def integral(function):
        pieces = ((0, 1.1), (1.1, 4))
        return sum(quad(lambda t: (4 - t) * function(t - 1.1), *piece, epsabs=1e-13)[0] for piece in pieces)

    expected = {"k": integral(value), "w": -3 * integral(slope)}
    # beside a zero of the denominator the quotient has lost some digits
    assert found.gradient == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("force", ["k*sqrt((t - w)**2)", "k*((t - w)**2)**0.5"])
def test_a_root_of_a_square_has_a_kink_at_which_steps_end(force):
    found = found_of(force, (0, 0), 2, Functional(terminal="x"), ["k", "w"])
    # x(2)/k = integral of (2 - t)|t - w| = w^2 - w^3/6 + (2 - w)^3/6, a polynomial on either side: exact to rounding
    w = 1.1
    expected = {"k": w**2 - w**3 / 6 + (2 - w) ** 3 / 6, "w": 3 * (2 * w - w**2 / 2 - (2 - w) ** 2 / 2)}
    assert found.gradient == pytest.approx(expected, rel=1e-12)


def test_a_derivative_that_overflows_is_not_returned():
    # the slope 1e300/(1 + (1e300 (t - w))^2) is an infinity over another
    found = found_of("k*atan(1e300*(t - w))", (0, 0), 2, Functional(terminal="x"), ["k", "w"], check=True)
    assert "w" not in found.gradient
    assert "no finite value" in found.refusals["w"].reason
    assert 0.0 <= found.refusals["w"].t <= 1.2
    assert not found.refusals["w"].is_proven
    # that with respect to k is one: pi/2 times the integral of 2 - t after w less that before
    assert found.gradient["k"] == pytest.approx(math.pi / 2 * (0.9**2 - 2), rel=1e-6)


def point_on_a_spring(reach, constraint=()):
    """A point of mass 1 that is drawn back where a reach of it exceeds 1."""
    return derive(
        Mechanism(
            name="point",
            coordinates=["x", "y"],
            parameters={"k": 3},
            definitions={"r": reach},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="k*max(0, r - 1)**2/2"),
            constraint=constraint,
        )
    )


@pytest.mark.parametrize(
    ("reach", "rate", "late", "share", "constraint"),
    [
        # the reach r exceeds 1 after a time `late` at a rate v: r = 1 + v sin(w s)/w from there on, w^2 = k `share`
        ("x", 1, 0.4, 1, []),
        ("x - t/10", 0.9, 0.4 / 0.9, 1, []),
        ("x + y", 1.5, 0.1 / 1.5, 2, []),
        ("x", 1, 0.4, 1 / 1.25, [Constraint(name="line", equation="y - x/2")]),
    ],
)
def test_a_spring_that_sets_in_as_a_potential(reach, rate, late, share, constraint):
    motion = simulate(point_on_a_spring(reach, constraint), State([0.6, 0.3], [1, 0.5]), t_end=1)
    found = [sensitivity(motion, Functional(terminal="r"), ["k"], method=how) for how in ("adjoint", "forward")]
    w, s = math.sqrt(3 * share), 1 - late
    expected = rate * (s * math.cos(w * s) / w - math.sin(w * s) / w**2) * share / (2 * w)
    for each in found:
        assert each.refusal is None
        assert each.gradient["k"] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("reach", ["sqrt(x**2 + y**2)", "x*cos(t) + y*sin(t)"])
def test_a_spring_that_turns(reach):
    point, start, step = point_on_a_spring(reach), State([0.6, 0.3], [1, 0.5]), 1e-3
    found = sensitivity(simulate(point, start, t_end=1), Functional(terminal="x"), ["k"])
    assert found.refusal is None
    ends = [simulate(point, start, t_end=1, parameters={"k": 3 + d}).sample([1])[0][0][0] for d in (-step, step)]
    assert found.gradient["k"] == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize(
    "factor",
    ["max(0, x - L)", "max(0, L - x) + x - L", "max(x, L) - L", "abs(L - x)", "(x**2 - L**2)/(x + L)"],
)
def test_a_jump_with_a_factor_that_vanishes_there_is_none(factor):
    found = found_of(f"-k*(1 + sign(x - L))*({factor})/2", (0, 1), 1, Functional(terminal="x"), ["L"])
    plain = found_of("-k*max(0, x - L)", (0, 1), 1, Functional(terminal="x"), ["L"])
    assert found.refusal is None
    assert found.gradient == pytest.approx(plain.gradient, abs=1e-11)
    assert plain.gradient["L"] == pytest.approx(1 - math.cos(math.sqrt(3) * 0.6), abs=1e-11)


@pytest.mark.parametrize(
    "factor",
    ["1", "max(x, L)", "0.01**4 + max(0, x - L)", "max(0, x - L)/(x - L)", "abs(x - L)**(k - 3)"],
)
def test_a_jump_with_a_factor_that_does_not_vanish_is_one(factor):
    found = found_of(f"-k*(1 + sign(x - L))*({factor})/2", (0, 1), 1, Functional(terminal="x"), ["L"])
    assert found.refusal.reason.startswith(("the equations jump where", "the equations divide by"))
    assert not found.refusal.is_proven
    assert found.refusal.t == pytest.approx(0.4, abs=1e-11)


def over_table(v):
    """A point without weight, 0.4 above a table that is raised with the acceleration 2 A from t = 0.4 on."""
    table = derive(
        Mechanism(
            name="table", coordinates=["y"], parameters={"A": 0.5, "e": 0.5},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="0"),
            contact=[Contact(name="top", gap="y - A*max(0, t - 0.4)**2", restitution="e")],
        )
    )  # fmt: skip
    return simulate(table, State([0.4], [v]), t_end=1, law=NewtonImpact())


def test_what_the_gap_of_an_open_contact_does_is_no_jump_of_the_equations():
    rising = sensitivity(over_table(0.3), Functional(terminal="y"), ["y", "y_dot", "A"])
    assert not over_table(0.3).events
    np.testing.assert_allclose([*rising.gradient.values()], [1, 1, 0], atol=1e-12)


def test_a_contact_that_has_jumped_while_it_was_open_closes_as_any_other():
    motion = over_table(-0.3)
    found = sensitivity(motion, Functional(terminal="y"), ["y", "y_dot", "A"])
    (impact,) = motion.events

    def end(y, v, A):
        # y + v t = A (t - 0.4)^2; the velocity relative to the table turns round by half
        t = 0.4 + (v + math.sqrt(v * v + 4 * A * (y + 0.4 * v))) / (2 * A)
        rises = 2 * A * (t - 0.4)
        return y + v * t + (rises - (v - rises) / 2) * (1 - t)

    assert impact.t == pytest.approx(0.4 + (-0.3 + math.sqrt(0.09 + 2 * 0.28)) / 1, rel=1e-10)
    assert found.value == pytest.approx(end(0.4, -0.3, 0.5), rel=1e-10)
    point, step = np.array([0.4, -0.3, 0.5]), 1e-5
    expected = [(end(*point + off) - end(*point - off)) / (2 * step) for off in step * np.eye(3)]
    np.testing.assert_allclose(
        [*found.gradient.values()], expected, rtol=1e-8
    )  # differences: 1e-10 of rounding, 1e-10 of step


def test_a_contact_that_is_closed_feels_the_jump_of_its_gap():
    held = simulate(over_table(0.3).dynamics, State([0.0], [0.0]), t_end=1, law=NewtonImpact())
    assert held.q[0] == pytest.approx(0.5 * 0.36, rel=1e-10)
    refusal = sensitivity(held, Functional(terminal="y"), ["A"]).refusal
    assert (refusal.t, refusal.reason) == (pytest.approx(0.4), "the equations jump where t - 2/5 is zero")


@pytest.mark.parametrize("t_kink", [0.4, 0.4000001])
def test_a_kink_of_a_velocity_takes_the_derivative_of_an_impact_away(t_kink):
    # a wall that begins to come closer as it is hit throws back at e v, a moment later at more; it follows until 0.9
    wall = derive(
        Mechanism(
            name="wall", coordinates=["x"], parameters={"d": 0.4, "tw": t_kink, "e": 0.5},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            contact=[Contact(name="wall", gap="d - x - max(0, t - tw)**2", restitution="e")],
        )
    )  # fmt: skip
    motion = simulate(wall, State([0.0], [1.0]), t_end=0.8, law=NewtonImpact())
    assert motion.events[0].t == pytest.approx(0.4, rel=1e-10)
    found = sensitivity(motion, END, ["d"])
    if t_kink == 0.4:
        assert found.refusal.reason.startswith("the equations jump where")
    else:
        assert found.gradient["d"] == pytest.approx(0.0, abs=1e-9)  # the wall still stands
