"""Gradients of functionals through single events, against closed forms and by three roads."""

import numpy as np
import pytest

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
    solve_state,
)
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact
from tests.catalogue import dynamics_of
from tests.constrained import particle

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]


def two_balls():
    return derive(
        Mechanism(
            name="two_balls",
            coordinates=["x1", "x2"],
            parameters={"R": 0.1, "e": 1, "idle": 3},
            dynamics=EnergyDynamics(kinetic="x1_dot**2/2 + x2_dot**2/2", potential="0"),
            contact=[Contact(name="pair", gap="x2 - x1 - 2*R", restitution="e")],
        )
    )


def by_three_roads(motion, functional, names, **options):
    found = sensitivity(motion, functional, names, check=True, **options)
    assert found.refusal is None, found.refusal
    assert found.check.disagreement < 1e-11
    size = max(1.0, *(abs(value) for value in found.gradient.values()))
    for name in names:
        assert found.check.differences[name].value == pytest.approx(found.gradient[name], abs=1e-7 * size)
    return found


@pytest.mark.parametrize("law", LAWS)
def test_two_equal_balls_exchange_velocities_and_so_do_the_gradients(law):
    # x2(1) = x1 + 2 R + v1 + ..., because the second ball leaves with the velocity of the first
    motion = simulate(two_balls(), State([0, 0.52], [1, 0]), t_end=1, law=law)
    found = by_three_roads(motion, Functional(terminal="x2"), ["x1", "x2", "x1_dot", "x2_dot", "R"])
    assert found.value == pytest.approx(1.2, abs=1e-14)
    # the derivative that another engine returns here is (0.75, 0.25, 0.91, 0.08)
    assert list(found.gradient.values()) == pytest.approx([1, 0, 1, 0, 2], abs=1e-13)


def test_end_state_and_event_time_of_a_bounce():
    g, e, h, T = 9.81, 0.8, 1.0, 0.7
    motion = simulate(dynamics_of("bouncing_ball"), State([h], [0]), t_end=T, law=NewtonImpact())
    found = sensitivity(motion, Functional(terminal="y"), ["e", "g", "y"], method="forward")
    t1 = np.sqrt(2 * h / g)
    # y = e v1 (T - t1) - g (T - t1)^2 / 2 with v1 = sqrt(2 g h), by hand
    v1, rest = np.sqrt(2 * g * h), T - t1
    dt = {"e": 0.0, "g": -t1 / (2 * g), "y": t1 / (2 * h)}
    dv = {"e": 0.0, "g": v1 / (2 * g), "y": v1 / (2 * h)}
    for name in ("e", "g", "y"):
        slope = e * dv[name] * rest - e * v1 * dt[name] + g * rest * dt[name]
        slope += {"e": v1 * rest, "g": -(rest**2) / 2, "y": 0.0}[name]
        assert found.gradient[name] == pytest.approx(slope, abs=1e-12)
        assert found.events[0].gradient[name] == pytest.approx(dt[name], abs=1e-13)
        assert found.end_slopes[0, found.names.index(name)] == pytest.approx(slope, abs=1e-12)


@pytest.mark.parametrize("law", [LAWS[0], *(pytest.param(law, marks=pytest.mark.long) for law in LAWS[1:])])
def test_limit_of_the_bounces_of_a_ball(law):
    # sqrt(2 h / g) (1 + e) / (1 - e): 4.0637128 s and 22.576182 s per unit of e (Brogliato 2016)
    h, g, e = 1.0, 9.81, 0.8
    motion = simulate(dynamics_of("bouncing_ball"), State([h], [0]), t_end=5, law=law)
    found = sensitivity(motion, Functional("y"), ["e", "g", "y"], method="forward")
    limit = next(event for event in found.events if "accumulation" in event.kind.value)
    fall = np.sqrt(2 * h / g)
    assert limit.t == pytest.approx(fall * (1 + e) / (1 - e), abs=1e-12)
    assert limit.gradient["e"] == pytest.approx(fall * 2 / (1 - e) ** 2, abs=1e-10)
    assert limit.gradient["e"] == pytest.approx(22.576182, abs=1e-6)
    assert limit.gradient["g"] == pytest.approx(-limit.t / (2 * g), abs=1e-11)
    assert limit.gradient["y"] == pytest.approx(limit.t / (2 * h), abs=1e-11)
    # the area under bounce j is g T_j^3 / 12 with T_j = 2 fall e^j, and the first fall gives 2 h fall / 3
    area = 2 * h * fall / 3 + g * (2 * fall) ** 3 / 12 * e**3 / (1 - e**3)
    slope = g * (2 * fall) ** 3 / 12 * 3 * e**2 / (1 - e**3) ** 2
    assert found.value == pytest.approx(area, abs=1e-11)
    assert found.gradient["e"] == pytest.approx(slope, abs=1e-9)


def test_limit_of_bounces_with_friction_is_refused():
    motion = simulate(
        dynamics_of("block_on_belt"), State([0, 0.02], [0, 0]), t_end=1, law=NewtonImpact(), parameters={"e": 0.5}
    )
    refusal = sensitivity(motion, Functional("x"), ["mu"]).refusal
    assert "impacts accumulate" in refusal.reason
    assert refusal.t == pytest.approx(np.sqrt(2 * 0.02 / 10) * 3, abs=1e-9)  # fall (1 + e)/(1 - e)


def test_restitution_of_zero_has_no_two_sided_derivative_with_respect_to_itself():
    block = dynamics_of("block_on_belt")
    motion = simulate(block, State([0, 0.02], [0, 0]), t_end=0.2, law=NewtonImpact())
    refusal = sensitivity(motion, Functional("x**2"), ["e"]).refusal
    assert "restitution of zero" in refusal.reason
    assert refusal.t == pytest.approx(np.sqrt(2 * 0.02 / 10), abs=1e-12)
    # with respect to all else there is one
    by_three_roads(motion, Functional("x**2"), ["mu", "y", "x_dot"])


def test_stick_and_slip_of_a_block_on_a_belt():
    block = dynamics_of("block_on_belt")
    pins = {"x": 0.1, "slip.floor": 0}
    start = solve_state(block, pins)
    motion = simulate(block, start, t_end=5)
    kinds = [event.kind.value for event in motion.events]
    assert kinds[:3] == ["slip start", "slip end", "slip start"]
    names = ["mu", "mu_s", "k", "belt_speed", "m", "P", "x"]
    found = by_three_roads(motion, Functional("x_dot**2 + x", "x**2"), ["mu", "mu_s", "belt_speed"], pins=pins)
    # it slips where the spring reaches the static friction: x = mu_s P / k, from x = 0.1 at the belt's speed
    forward = sensitivity(motion, Functional("x"), names, pins=pins, method="forward")
    slopes = forward.events[0].gradient
    k, P, mu_s, speed = 4, 10, 0.12, 0.15
    assert forward.events[0].t == pytest.approx((mu_s * P / k - 0.1) / speed, abs=1e-12)
    assert slopes["mu_s"] == pytest.approx(P / k / speed, abs=1e-10)
    assert slopes["k"] == pytest.approx(-mu_s * P / k**2 / speed, abs=1e-10)
    assert slopes["x"] == pytest.approx(-1 / speed, abs=1e-10)
    assert slopes["mu"] == pytest.approx(0, abs=1e-12)
    assert found.gradient["mu"] != 0


def test_reversal_and_rest_of_an_oscillator_with_dry_friction():
    oscillator = dynamics_of("coulomb_oscillator")
    motion = simulate(oscillator, State([0.5], [0]), t_end=2)
    found = sensitivity(
        motion, Functional(terminal="x"), ["mu", "k", "m", "x"], method="forward", pins={"x": 0.5, "x_dot": "-0"}
    )
    # two half cycles of duration pi sqrt(m/k), each shortening the amplitude by 2 mu m g / k
    m, k, g = 2, 50, 9.81
    assert found.end[0] == pytest.approx(0.5 - 4 * 0.3 * m * g / k, abs=1e-12)
    assert found.gradient["mu"] == pytest.approx(-4 * m * g / k, abs=1e-11)
    assert found.gradient["k"] == pytest.approx(4 * 0.3 * m * g / k**2, abs=1e-11)
    assert found.gradient["x"] == pytest.approx(1, abs=1e-11)
    assert found.events[-1].gradient["k"] == pytest.approx(-np.pi * np.sqrt(m / k) / k, abs=1e-11)


def test_release_from_a_moving_guide_by_its_force_and_not_by_its_gap():
    # a block on a table y = a sin(w t) leaves where a w^2 sin(w t) = g
    table = dynamics_of("ball_on_vibrating_table")
    w, gamma = 20 * np.pi, 2.0
    pins = {"gap.floor": 0, "gap_dot.floor": 0}
    motion = simulate(
        table, solve_state(table, pins, parameters={"Gamma": gamma}), t_end=0.02, parameters={"Gamma": gamma}
    )
    found = by_three_roads(motion, Functional("y", "y_dot**2"), ["Gamma", "Omega", "g"], pins=pins)
    release = sensitivity(motion, Functional("y"), ["Gamma", "Omega"], pins=pins, method="forward").events[0]
    assert release.t == pytest.approx(np.arcsin(1 / gamma) / w, abs=1e-13)
    assert release.gradient["Gamma"] == pytest.approx(-1 / (gamma**2 * w * np.sqrt(1 - 1 / gamma**2)), abs=1e-11)
    assert release.gradient["Omega"] == pytest.approx(-release.t / w, abs=1e-12)
    assert found.events[0].kind.value == "detachment"


@pytest.mark.parametrize(
    "law", [LAWS[2], *(pytest.param(law, marks=pytest.mark.long) for law in (*LAWS[:2], KelvinVoigtLimit()))]
)
def test_an_impact_with_friction_under_every_law(law):
    rod = dynamics_of("painleve_rod")
    start = State([0.0, 0.85, 0.9], [0.3, -0.4, 0.2])
    motion = simulate(rod, start, t_end=0.4, law=law, parameters={"e": 0.5, "mu": 0.4, "delta": 0.2})
    assert [event.kind.value for event in motion.events] == ["impact"]
    names = ["mu", "delta" if law == KelvinVoigtLimit() else "e", "m", "l", "alpha", "theta", "y_dot"]
    known = {*rod.mechanism.parameters, *rod.mechanism.coordinates, *rod.mechanism.velocities}
    by_three_roads(motion, Functional("x_dot**2", "y"), [name for name in names if name in known])


def test_moving_guide_with_impacts():
    table = dynamics_of("ball_on_vibrating_table")
    motion = simulate(table, State([0.02], [0]), t_end=0.3, law=NewtonImpact(), parameters={"Gamma": 2.5})
    assert len(motion.events) == 3
    by_three_roads(motion, Functional("y_dot**2", "y"), ["Omega", "e", "y_dot"])


def test_a_motion_that_ends_where_a_condition_is_met():
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([1.0], [0]), t_end=5, law=NewtonImpact(), until="(y_dot - 2)*(y_dot - 1)")
    found = by_three_roads(motion, Functional("y", "t*y"), ["e", "g", "y"])
    # the condition is met on the way up, v1 e - g (t - t1) = 2; the impact takes no sign with it across zero
    t1, v1 = np.sqrt(2 / 9.81), np.sqrt(2 * 9.81)
    assert found.t_end == pytest.approx(t1 + (0.8 * v1 - 2) / 9.81, abs=1e-12)


def test_a_motion_that_starts_with_an_impact():
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([0.0], [-2.0]), t_end=0.2, law=NewtonImpact())
    pins = {"gap.floor": 0, "gap_dot.floor": -2}
    found = by_three_roads(motion, Functional(terminal="y"), ["e", "gap_dot.floor"], pins=pins)
    assert found.gradient == pytest.approx({"e": 0.4, "gap_dot.floor": -0.16}, abs=1e-13)


def test_parameters_that_others_follow():
    rod = dynamics_of("rod_on_incline")
    pins = {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}
    motion = simulate(rod, solve_state(rod, pins), t_end=1)
    # the inertia m l^2 / 3 follows mass and length, so that the mass cancels from the motion
    found = by_three_roads(motion, Functional("x_dot**2", "phi"), ["l", "m", "mu"], pins=pins)
    assert found.gradient["m"] == pytest.approx(0, abs=1e-12)
    # and times grow with the root of the length at fixed phi and phi_dot sqrt(l), lengths with the length itself:
    # dphi/dl = (t phi_dot - phi_dot_0 dphi/dphi_dot_0) / (-2 l)
    slopes = sensitivity(motion, Functional(terminal="phi"), ["l", "m", "phi_dot"], pins=pins)
    expected = -(motion.t * float(motion.v[2]) - 0.5 * slopes.gradient["phi_dot"]) / 2  # l = 1
    assert slopes.gradient["l"] == pytest.approx(expected, abs=1e-11)
    assert slopes.gradient["m"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("mass", [1e-16, 1e-12, 1e-6, 1e6, 1e12, 1e16])
@pytest.mark.parametrize("slope", [None, 2])
def test_no_unit_of_mass_decides_a_derivative(law, mass, slope):
    g, e, h, T = 9.81, 0.6, 0.9, 0.8
    bead = derive(
        Mechanism(
            name="bead",
            coordinates=["x", "y"],
            parameters={"m": mass, "e": e},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential=f"m*{g}*y"),
            contact=[Contact(name="floor", gap="y", restitution="e")],
            constraint=[] if slope is None else [Constraint(name="rail", equation=f"y - {slope}*x")],
        )
    )
    down = g if slope is None else g * slope**2 / (1 + slope**2)  # the rail leaves this of gravity in y
    x = 0.0 if slope is None else h / slope
    motion = simulate(bead, State([x, h], [0, 0]), t_end=T, law=law)
    names = ["e", "m"] if slope is None else ["e"]
    found = sensitivity(motion, Functional(terminal="y"), names)
    assert found.refusal is None, found.refusal
    fall = np.sqrt(2 * h / down)
    rest = T - fall
    # y(T) = e v rest - down rest^2 / 2 with v = down fall, without the mass; to some hundred roundings
    assert found.value == pytest.approx(e * down * fall * rest - down * rest**2 / 2, abs=1e-13)
    assert found.gradient["e"] == pytest.approx(down * fall * rest, abs=1e-13)
    assert found.gradient.get("m", 0.0) * mass == pytest.approx(0, abs=1e-13)


def test_friction_element_with_a_given_limit():
    seal = derive(
        Mechanism(
            name="seal",
            coordinates=["x"],
            parameters={"m": 1, "F": 1, "A": 2},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="0"),
            forces={"x": "A*sin(t)"},
            friction=[FrictionElement(name="seal", tangent="x", limit="F")],
        )
    )
    pins = {"x": 0, "x_dot": 0}
    motion = simulate(seal, solve_state(seal, pins), t_end=3.5)
    assert [event.kind.value for event in motion.events] == ["slip start"]
    found = by_three_roads(motion, Functional(terminal="x"), ["F", "A", "m"], pins=pins)
    assert motion.events[0].t == pytest.approx(np.pi / 6, abs=1e-12)
    # m x = A (sin t0 - sin t + (t - t0) cos t0) - F (t - t0)^2 / 2 with A sin t0 = F; at fixed t0 by hand (d/dt0 = 0)
    t0, rest = np.pi / 6, 3.5 - np.pi / 6
    assert found.gradient["F"] == pytest.approx(-(rest**2) / 2, abs=1e-11)
    assert found.gradient["A"] == pytest.approx(np.sin(t0) - np.sin(3.5) + rest * np.cos(t0), abs=1e-11)


def test_saltation_matrix_of_a_bounce():
    # [[-e, 0], [-(1 + e) g / v-, -e]] for a ball (Leine and Nijmeijer 2004, section 7.4)
    ball = dynamics_of("bouncing_ball")
    motion = simulate(ball, State([1.0], [0]), t_end=0.6, law=NewtonImpact())
    v = -np.sqrt(2 * 9.81)
    expected = [[-0.8, 0], [-1.8 * 9.81 / v, -0.8]]
    assert saltation_matrix(ball, motion.events[0]) == pytest.approx(np.array(expected), abs=1e-11)


def test_saltation_matrix_where_a_block_comes_to_stick_forgets_the_slip():
    block = dynamics_of("block_on_belt")
    motion = simulate(block, solve_state(block, {"x": 0.1, "slip.floor": 0}), t_end=5)
    event = next(event for event in motion.events if event.kind.value == "slip end")
    matrix = saltation_matrix(block, event)
    # coordinates x, y; the tangential velocity after the event is the belt's, whatever it was
    assert matrix[2] == pytest.approx(np.zeros(4), abs=1e-12)
    # and x is the belt's motion from where the slip ended: the velocity is continuous, so x does not shift
    assert matrix[0] == pytest.approx([1, 0, 0, 0], abs=1e-12)


def test_friction_in_a_bilateral_constraint():
    # slips, reverses, and slips on, with the force of the rails on the other side
    machine = dynamics_of("painleve_klein")
    pins, parameters = {"x1": 0, "x1_dot": 1}, {"P1": -1}
    motion = simulate(machine, solve_state(machine, pins, parameters=parameters), t_end=3, parameters=parameters)
    assert [event.kind.value for event in motion.events] == ["slip end"]
    by_three_roads(motion, Functional("x1", "x1_dot**2"), ["mu1", "m1", "x1_dot"], pins=pins)


def test_rigid_constraints_without_friction():
    linkage = dynamics_of("four_bar")
    pins = {"theta1": 1.0, "theta1_dot": 0.3}
    motion = simulate(linkage, solve_state(linkage, pins), t_end=0.5)
    names = ["l2", "theta1_dot"]
    by_three_roads(motion, Functional("theta3", "theta2"), names, pins=pins)
    # whatever changes, the loop stays closed
    for constraint in linkage.mechanism.constraint:
        for method in ("adjoint", "forward"):
            kept = sensitivity(motion, Functional(terminal=constraint.equation), names, pins=pins, method=method)
            assert kept.value == pytest.approx(0, abs=1e-11)
            assert list(kept.gradient.values()) == pytest.approx([0, 0], abs=1e-11)


def test_a_ball_that_slips_on_the_floor_in_a_turning_direction():
    ball = dynamics_of("spatial_ball")
    rates = {"x_dot": 1, "y_dot": 0.3, "alpha_dot": 0.2, "beta_dot": -0.4, "gamma_dot": 0.1}
    pins = {name: 0 for name in ball.mechanism.coordinates if name != "z"} | rates
    pins |= {"gap.floor": 0, "gap_dot.floor": 0}
    motion = simulate(ball, solve_state(ball, pins), t_end=0.1)
    found = by_three_roads(motion, Functional("x", "y_dot"), ["mu", "x_dot"], pins=pins)
    # the slip of a homogeneous ball keeps its direction (Coriolis 1835): y_dot falls by mu g t times its share
    terms = ball.terms(motion.q_start, motion.v_start)
    slip = terms.slip / np.linalg.norm(terms.slip)
    g = float(ball.mechanism.parameter_values()["g"])
    assert found.gradient["mu"] - _integral_of_x(found, g, slip) == pytest.approx(-g * 0.1 * slip[1], abs=1e-11)


def _integral_of_x(found, g, slip):
    """Derivative of the integral of x with respect to mu: that of - mu g s_x t^2 / 2, over 0.1."""
    return -g * slip[0] * found.t_end**3 / 6


@pytest.mark.parametrize(("mu", "k"), [(0.08, 4), (0.08, 11), (0.07, 9)])
def test_a_start_on_the_edge_of_its_mode_is_refused(mu, k):
    # the spring pulls with exactly the greatest static friction, or so but for the rounding of k*(mu*P/k)
    block = dynamics_of("block_on_belt")
    pins = {"x": "mu_s*P/k", "slip.floor": 0}
    parameters = {"mu": mu, "mu_s": mu, "k": k}
    motion = simulate(block, solve_state(block, pins, parameters=parameters), t_end=0.2, parameters=parameters)
    found = sensitivity(motion, Functional("x"), ["x"], pins=pins)
    assert found.gradient == {}
    assert found.refusal.t == 0.0


def test_a_kink_in_the_equations():
    # x'' = -c abs(x): a cosine up to x = 0, then a hyperbolic sine; by hand with c = 1, x(0) = 1, x'(0) = 0
    folded = derive(
        Mechanism(
            name="folded",
            coordinates=["x"],
            parameters={"c": 1},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
            forces={"x": "-c*abs(x)"},
        )
    )
    motion = simulate(folded, State([1.0], [0.0]), t_end=2.5)
    found = sensitivity(motion, Functional(terminal="x"), ["c", "x"])
    rest = 2.5 - np.pi / 2
    assert found.gradient["x"] == pytest.approx(-np.sinh(rest), abs=1e-9)
    # in the time sqrt(c) t the motion does not depend on c
    assert found.gradient["c"] == pytest.approx(-2.5 / 2 * np.cosh(rest), abs=1e-9)


def test_two_ends_of_a_rigid_rod_stop_together():
    # flat on the floor it brakes by mu g: at rest after t = v / (mu g), v^2 / (2 mu g) further on
    rod = dynamics_of("rod_two_ends")
    parameters = {"mu": 0.3, "g": 1}
    motion = simulate(rod, State([0, 0, 0], [1, 0, 0]), t_end=5, parameters=parameters)
    assert [set(event.elements) for event in motion.events] == [{"left", "right"}]
    found = sensitivity(motion, Functional(terminal="x"), ["mu", "x_dot"], method="forward")
    assert found.gradient["mu"] == pytest.approx(-1 / (2 * 0.3**2), abs=1e-11)
    assert found.gradient["x_dot"] == pytest.approx(1 / 0.3, abs=1e-11)
    assert found.events[0].gradient["mu"] == pytest.approx(-1 / 0.3**2, abs=1e-10)


def test_constraint_that_repeats_another_leaves_the_gradient_alone():
    bead = particle("x - k*y", "2*x - 2*k*y", k=2)
    pins = {"y": 1, "y_dot": 1}
    motion = simulate(bead, solve_state(bead, pins), t_end=1)
    # y = y0 + v0 t on a straight wire, x = k y: the integral of x is k (y0 + v0/2)
    found = sensitivity(motion, Functional("x"), ("y", "y_dot", "k"), pins=pins)
    assert found.value == pytest.approx(3, abs=1e-12)
    assert [found.gradient[name] for name in ("y", "y_dot", "k")] == pytest.approx([2, 1, 1.5], abs=1e-10)


@pytest.mark.parametrize("theta", [-1.62, 0.5, 2.5])
def test_a_pinned_velocity_of_a_linkage_moves_no_position(theta):
    # without gravity a parallelogram turns evenly, its coupler parallel: theta3 = theta + w t
    linkage, w, end = dynamics_of("four_bar"), 1.3, 0.1
    start = State([theta, 0, theta], [w, 0, w])
    pins = {"theta1": theta, "theta1_dot": w}
    motion = simulate(linkage, start, t_end=end, parameters={"g": 0})
    found = sensitivity(motion, Functional(terminal="theta3"), ["theta1", "theta1_dot"], pins=pins)
    assert found.refusal is None, found.refusal
    assert found.gradient == pytest.approx({"theta1": 1, "theta1_dot": end}, abs=1e-9)
    # with the other angles held, a change of one violates the closure or its rate
    for name in ("theta1", "theta1_dot"):
        assert "a constraint" in sensitivity(motion, Functional(terminal="theta3"), [name]).refusal.reason


@pytest.mark.parametrize("a", [-0.7, 0.4, 0.6])
def test_a_driven_crank_stays_where_the_other_pins_change(a):
    # A point on a rod of length l at the tip of a crank of length r that is turned with w. Seen from the crank the rod
    # is a pendulum, psi'' = -(r/l) w^2 sin(psi), which starts stretched, psi = 0, and so is linear to first order.
    r, length, w, end = 0.3, 0.8, 1.1, 0.4
    driven = derive(
        Mechanism(
            name="driven",
            coordinates=["y", "a", "x"],
            parameters={"r": r, "l": length, "w": w, "a0": a},
            dynamics=EnergyDynamics(kinetic="(a_dot**2 + x_dot**2 + y_dot**2)/2", potential="0"),
            constraint=[
                Constraint(name="rod", equation="(x - r*cos(a))**2 + (y - r*sin(a))**2 - l**2"),
                Constraint(name="drive", equation="a - a0 - w*t"),
            ],
        )
    )
    x, y = (r + length) * np.cos(a), (r + length) * np.sin(a)
    motion = simulate(driven, State([y, a, x], [w * x, w, -w * y]), t_end=end)
    pins = {"y": y, "y_dot": w * x}
    found = sensitivity(motion, Functional(terminal="y"), list(pins), pins=pins)
    assert found.refusal is None, found.refusal
    # y = r sin(a) + l sin(a + psi), so that psi changes by 1/(l cos(a)) and psi' by w tan(a) as much
    rate = w * np.sqrt(r / length)
    swing, push = np.cos(rate * end), np.sin(rate * end) / rate
    share = np.cos(a + w * end) / np.cos(a)
    expected = {"y": share * (swing + w * np.tan(a) * push), "y_dot": share * push}
    assert found.gradient == pytest.approx(expected, abs=1e-9)
    # the drive holds the crank itself
    assert "a constraint" in sensitivity(motion, Functional(terminal="y"), ["a"]).refusal.reason
