"""States from pins: solved positions and velocities, defaults, limits, and what is refused."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import mechanisms
from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    EquationDynamics,
    Mechanism,
    StateError,
    Verdict,
    derive,
    select,
    solve_state,
    solve_states,
)
from hybrid.declaration import mechanism_from_toml
from hybrid.dynamics.state import read_number


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


@pytest.fixture(scope="module")
def arm():
    return derive(mechanisms.load("two_link_arm"))


def test_pins_are_met_by_the_state(rod):
    state = solve_state(rod, {"phi": "pi/3", "phi_dot": 0.7, "slip.tip": -0.2, "x": 1.5})
    phi, phi_dot = np.pi / 3, 0.7
    # tip = centre - (cos phi, sin phi): y = sin phi, y_dot = phi_dot cos phi, x_dot = slip - phi_dot sin phi
    np.testing.assert_allclose(state.q, [1.5, np.sin(phi), phi], atol=1e-15)
    np.testing.assert_allclose(state.v, [-0.2 - phi_dot * np.sin(phi), phi_dot * np.cos(phi), phi_dot], atol=1e-15)


def test_pinned_gap_and_gap_dot_override_their_defaults(rod):
    state = solve_state(rod, {"phi": 0.3, "gap.tip": 2, "phi_dot": 0, "gap_dot.tip": -1, "slip.tip": 0})
    terms = rod.terms(state.q, state.v)
    # y = 2 + sin(0.3) cancels in the gap, and the rate comes from a linear system: a few rounding units of 2.3
    assert terms.gap[0] == pytest.approx(2, abs=1e-14)
    assert terms.gap_dot[0] == pytest.approx(-1, abs=1e-14)


def test_pin_values_are_expressions_of_parameters(rod):
    state = solve_state(rod, {"phi": "atan(mu)", "phi_dot": "sqrt(g/l)", "slip.tip": 0}, parameters={"mu": 1.0})
    assert state.q[2] == pytest.approx(np.pi / 4, abs=1e-15)
    assert state.v[2] == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(("text", "sides"), [("+0", {"tip": (1.0,)}), ("-0", {"tip": (-1.0,)}), ("0", {})])
def test_signed_zero_slip_is_a_limit_and_plain_zero_is_rest(rod, text, sides):
    state = solve_state(rod, {"phi": 1.0, "phi_dot": 0, "slip.tip": text})
    assert state.sides == sides
    assert rod.terms(state.q, state.v).slip[0] == pytest.approx(0, abs=1e-15)


def test_arrays_of_pins_give_the_states_solved_one_by_one(rod):
    phi, phi_dot = np.linspace(0.1, 3.0, 7)[:, None], np.linspace(-2, 2, 5)[None, :]
    states = solve_states(rod, {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0.3})
    assert states.shape == (7, 5)
    assert states.reached.all()
    for i, j in np.ndindex(7, 5):
        one = solve_state(rod, {"phi": float(phi[i, 0]), "phi_dot": float(phi_dot[0, j]), "slip.tip": 0.3})
        np.testing.assert_allclose(np.broadcast_to(states.q, (7, 5, 3))[i, j], one.q, atol=1e-14)
        np.testing.assert_allclose(states.v[i, j], one.v, atol=1e-14)


def test_nonlinear_gap_is_solved_and_other_positions_are_listed(arm):
    # links of length 1 at angles t1, t2 from the vertical, base height H: cos t1 + cos t2 = H has t2 and -t2
    state = solve_state(arm, {"theta1": 0.3, "gap.tip": 0, "theta1_dot": 0, "gap_dot.tip": 0})
    assert arm.terms(state.q, state.v).gap[0] == pytest.approx(0, abs=1e-12)
    values = sorted([state.q[1], *(other[1] for other in state.alternatives)])
    assert len(values) == 2
    assert values[0] == pytest.approx(-values[1], abs=1e-9)


def test_velocity_pins_may_leave_a_moving_guide_at_rest_relative_to_it():
    drum = derive(mechanisms.load("brake_shoe"))
    state = solve_state(drum, {})
    assert drum.terms(state.q, state.v).gap_dot[0] == pytest.approx(0, abs=1e-15)


def test_a_rigid_constraint_supplies_one_pin_of_either_kind():
    pendulum = derive(
        Mechanism(
            name="pendulum",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="y"),
            constraint=[Constraint(name="rod", equation="x**2 + y**2 - 1")],
        )
    )
    state = solve_state(pendulum, {"x": 0.6, "x_dot": 0.5})
    assert abs(state.q[1]) == pytest.approx(0.8, abs=1e-12)
    assert state.q @ state.v == pytest.approx(0, abs=1e-12)
    assert len(state.alternatives) == 1  # above and below


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ({"phi": 0.3}, "too few velocity pins"),
        ({}, "too few position pins: rod_on_incline needs 3, got 1 (x); add 2 of y, phi, gap.tip"),
        ({}, "or 1 where gap.tip = 0"),
        ({"phi": 0.3, "y": 0, "gap.tip": 0, "x": 0}, "too many position pins"),
        ({"phi": 0.3, "phi_dot": 0, "x_dot": 0, "y_dot": 0, "slip.tip": 0}, "too many velocity pins"),
        ({"phy": 0.3}, "unknown pin 'phy'; did you mean 'phi'?"),
        ({"phi": 0.3, "gap.tipp": 0}, "did you mean 'gap.tip'?"),
        ({"phi": float("nan")}, "must be a finite number"),
        ({"phi": "nan"}, "pin phi: the value must be a finite number, got nan"),
        ({"slip.tip": "-Infinity"}, "pin slip.tip: the value must be a finite number, got -Infinity"),
        ({"slip.tip": "+ inf "}, "pin slip.tip: the value must be a finite number, got + inf "),
        ({"x": 0, "y": 0, "gap.tip": 2, "phi_dot": 0, "slip.tip": 0}, "cannot be reached"),
        ({"phi": 0, "phi_dot": 0, "x_dot": 0, "slip.tip": 0, "gap.tip": 0}, "dependent"),
    ],
)
def test_bad_pins_are_refused_with_what_is_missing(rod, pins, message):
    with pytest.raises(StateError) as error:
        solve_state(rod, pins)
    assert message in str(error.value)


def test_a_parameter_may_have_the_name_of_what_is_no_finite_number():
    assert read_number("pin x", "-inf", {"inf": 2.0}) == -2.0


def test_replacements_of_dependent_velocity_pins_are_not_given_already(rod):
    # the tip is (x - cos phi, y - sin phi) with l = 1: at phi = 0 its slip is x_dot, whatever phi_dot is
    with pytest.raises(StateError) as error:
        solve_state(rod, {"phi": 0, "phi_dot": 0, "x_dot": 0, "slip.tip": 0, "gap.tip": 0})
    dependent, _, others = str(error.value).partition("; replace one of them by one of ")
    assert "velocity pins x_dot, slip.tip are dependent" in dependent
    assert others.split(", ") == ["y_dot", "gap_dot.tip"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"phi": [1, 2, "x"]}, "pin phi: the value must be a finite number, got [1, 2, 'x']"),
        ({"phi": [1, [2, 3]]}, "pin phi: the value must be a finite number"),
        ({"phi": b"0.5"}, "pin phi: the value must be a finite number"),
        ({"phi": [1j]}, "pin phi: the value must be a finite number"),
        ({"phi": [1, 2], "phi_dot": [0, 1, 2]}, "must broadcast against each other: phi (2,), phi_dot (3,)"),
        ({"phi": [1, 2], "mu": [0, 1, 2]}, "must broadcast against each other: phi (2,), mu (3,)"),
    ],
)
def test_bad_arrays_of_pins_are_refused_by_name(rod, changed, message):
    pins = {"phi": 1, "phi_dot": 0, "slip.tip": 0, **changed}
    parameters = {name: pins.pop(name) for name in ("mu",) if name in pins}
    with pytest.raises(StateError) as error:
        solve_states(rod, pins, parameters=parameters)
    assert message in str(error.value)


def test_unreachable_states_of_an_array_are_marked_not_raised(rod):
    states = solve_states(rod, {"x": 0, "y": np.array([0.5, 3.0]), "gap.tip": 0, "phi_dot": 0, "slip.tip": 0})
    assert states.reached.tolist() == [True, False]


def test_signed_zero_in_space_needs_the_other_component_at_rest():
    rod = derive(mechanisms.load("oblique_rod"))
    pins = {"psi": 0, "theta": 1, "psi_dot": 0, "theta_dot": 0}
    state = solve_state(rod, {**pins, "slip.tip.1": "+0", "slip.tip.2": 0})
    assert state.sides == {"tip": (1.0, 0.0)}
    with pytest.raises(StateError, match=r"needs its other component"):
        solve_state(rod, {**pins, "slip.tip.1": "+0", "slip.tip.2": 0.3})


def test_a_moving_floor_enters_gap_dot_through_time():
    floor = derive(
        Mechanism(
            name="shaker",
            coordinates=["y"],
            parameters={"a": 0.1},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="y"),
            contact=[Contact(name="table", gap="y - a*sin(t)")],
        )
    )
    state = solve_state(floor, {"t": 0.4})
    assert state.q[0] == pytest.approx(0.1 * np.sin(0.4), abs=1e-15)
    assert state.v[0] == pytest.approx(0.1 * np.cos(0.4), abs=1e-15)


def held(*equations, **parameters):
    """A particle in the plane with constraints."""
    return derive(
        Mechanism(
            name="held",
            coordinates=["x", "y"],
            parameters=parameters,
            dynamics=EnergyDynamics(kinetic="x_dot**2/2 + y_dot**2/2"),
            constraint=[Constraint(name=f"c{i}", equation=text) for i, text in enumerate(equations)],
        )
    )


def test_constraint_that_repeats_another_takes_no_pin():
    for first, second in (("x - 2", "3*x - 6"), ("x - y**2", "(x - y**2)*exp(x)")):
        state = solve_state(held(first, second), {"y": 2, "y_dot": 1})
        x = 2 if "y" not in first else 4
        np.testing.assert_allclose(state.q, [x, 2], atol=1e-12)
        np.testing.assert_allclose(state.v, [0 if "y" not in first else 4, 1], atol=1e-12)


def test_loop_that_is_overconstrained_only_where_it_closes_takes_a_pin():
    # f and f^2 + f x: their gradients are parallel where f = 0, and nowhere else
    state = solve_state(held("x - y", "(x - y)**2 + (x - y)*(x + 2)"), {"y": 0.5, "y_dot": 1})
    np.testing.assert_allclose((*state.q, *state.v), [0.5, 0.5, 1, 1], atol=1e-9)


def test_a_gap_without_a_gradient_is_not_said_to_contradict_a_pin():
    root = Mechanism(
        name="root", coordinates=["x", "y"], dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="y"),
        contact=[Contact(name="c", gap="y**0.5")],
    )  # fmt: skip
    with pytest.raises(StateError, match=r"the coefficients of gap_dot.c are not finite at x=0, gap.c=0"):
        solve_state(derive(root), {"x": 0, "x_dot": 1, "gap.c": 0, "gap_dot.c": 0})


def test_constraints_that_contradict_each_other_are_said_to():
    with pytest.raises(
        StateError, match=r"no position of held satisfies y=0 and the constraints c0, c1: .* contradict"
    ):
        solve_state(held("x", "x - 1"), {"y": 0, "y_dot": 0})
    with pytest.raises(StateError, match=r"satisfies y_dot=0 and the constraints c0, c1 at y=0: .* contradict"):
        solve_state(held("x", "x - t"), {"y": 0, "y_dot": 0})
    with pytest.raises(StateError, match=r"too many position pins: held needs 1 .2 coordinates less 1 independent con"):
        solve_state(held("x", "2*x"), {"x": 0, "y": 0, "y_dot": 0})


def test_redundant_constraints_leave_accelerations_unique_from_pins_on():
    bead = held("y - x**2/2", "2*y - x**2")
    state = solve_state(bead, {"x": 1, "x_dot": 2})
    found = select(bead, state)
    assert found.verdict is Verdict.HYPERSTATIC
    # no force but the wire's: (1 + x^2) x'' + x x'^2 = 0
    assert found.branches[0].acceleration[0] == pytest.approx(-1 * 4 / 2, abs=1e-12)


def test_a_linear_gap_has_one_position_however_its_quotient_rounds():
    """``c*y + d*z = 0`` at z = 0 is solved by y = 0 alone; from another start Newton's method leaves 1e-32."""
    dynamics = derive(
        Mechanism(
            name="point",
            coordinates=["y", "z"],
            parameters={"c": 1.0, "d": 1.0},
            dynamics=EnergyDynamics(kinetic="(y_dot**2 + z_dot**2)/2"),
            contact=[Contact(name="one", gap="c*y + d*z"), Contact(name="two", gap="d*y - c*z")],
        )
    )
    for c in np.linspace(0.1, 7.3, 25):
        pins = {"gap.one": 0, "gap.two": 0, "y_dot": 0, "z_dot": 0}
        state = solve_state(dynamics, pins, parameters={"c": float(c), "d": 0.7})
        assert state.alternatives == ()


def test_positions_over_two_parameters_of_which_one_moves_them():
    rod = derive(mechanisms.load("painleve_rod"))
    lengths, shapes = np.array([[1.0], [2.0], [3.0]]), np.array([[2.0, 3.0, 4.0, 5.0]])
    pins = {"x": 0, "theta": 0.6, "theta_dot": 0, "gap.tip": 0, "gap_dot.tip": 0, "slip.tip": 1}
    for parameters in ({"l": lengths, "alpha": shapes}, {"alpha": shapes.T, "l": lengths.T}):
        heights = solve_states(rod, pins, parameters=parameters).q[..., 1]
        expected = parameters["l"] * np.sin(0.6)  # the tip is on the floor
        np.testing.assert_allclose(heights, expected, rtol=1e-12)


@pytest.mark.parametrize("phi", [-3.0, 1e3, -99_999.0])
def test_a_rod_touches_at_any_angle_of_some_turns(rod, phi):
    state = solve_state(rod, {"phi": phi, "phi_dot": 0, "slip.tip": -1})
    with mpmath.workdps(40):
        assert state.q[1] == pytest.approx(float(mpmath.sin(phi)), rel=0, abs=1e-15 * max(1.0, abs(phi)))


@pytest.mark.parametrize("phi", [1e6, -1e9, 1e14, 1e300])
def test_angles_of_very_many_turns_are_refused_with_what_is_left_of_them(rod, phi):
    with pytest.raises(
        StateError, match=r"phi = \S+ turns by more than 100000 radians.*; without whole turns it is "
    ) as refused:
        solve_state(rod, {"phi": phi, "phi_dot": 0, "slip.tip": -1})
    offered = float(str(refused.value).rpartition(" ")[2])
    assert abs(offered) <= 3.15
    with mpmath.workdps(400):  # 300 digits before the point
        exact = float(mpmath.sin(mpmath.mpf(phi)))
    assert np.sin(offered) == pytest.approx(exact, rel=0, abs=1e-11)  # twelve digits are shown


def test_a_floor_out_of_reach_is_not_met_after_very_many_turns():
    # next to an angle of 1e16 radians every gap is small: Newton's method went there where no posture exists
    arm = derive(
        Mechanism(
            name="arm",
            coordinates=["q1", "q2"],
            parameters={"L": 0.1},
            dynamics=EnergyDynamics(kinetic="q1_dot**2 + (q1_dot + q2_dot)**2", potential="0"),
            contact=[Contact(name="pad", gap="L*sin(q1) + L*sin(q1 + q2) + 1.2*L")],
        )
    )
    q1 = np.linspace(-np.pi, np.pi, 401)
    found = solve_states(arm, {"q1": q1, "q1_dot": 0, "q2_dot": 0})
    np.testing.assert_array_equal(found.reached, np.abs(1.2 + np.sin(q1)) <= 1)
    with pytest.raises(StateError, match="cannot be reached"):
        solve_state(arm, {"q1": np.pi / 2, "q1_dot": 0, "q2_dot": 0})


def test_a_map_over_angles_of_very_many_turns_is_refused(rod):
    with pytest.raises(StateError, match="phi = 1e\\+07 turns by more than"):
        solve_states(rod, {"phi": np.array([1.0, 1e7, 2.0]), "phi_dot": 0, "slip.tip": -1})
    far = solve_states(rod, {"x": 1e9, "y": 5.0, "phi": 1.0, "x_dot": 0, "y_dot": 0, "phi_dot": 0})
    assert far.reached.all()  # a length turns nothing


@pytest.mark.parametrize(
    ("force", "gap"), [("-tanh(x/1e-7)", "1 + sin(y)"), ("-sin(x/1e-7)", "1 + cos(y)"), ("exp(-x/1e-7)", "tanh(x)")]
)
def test_steep_forces_turn_nothing(force, gap):
    steep = Mechanism(
        name="steep",
        coordinates=["x", "y"],
        dynamics=EquationDynamics(mass_matrix=[["1", "0"], ["0", "1"]], forces=[force, "0"]),
        contact=[Contact(name="floor", gap=gap)],
    )
    state = solve_state(derive(steep), {"x": 1, "y": 0.5, "x_dot": 0, "y_dot": 0})
    assert state.q.tolist() == [1.0, 0.5]


def test_a_pin_that_names_a_coordinate_is_told_what_it_may_name(rod):
    with pytest.raises(StateError, match=r"pin phi_dot: 'phi - 2' names phi, which moves; .* numbers and parameters$"):
        solve_state(rod, {"phi": 1, "phi_dot": "phi - 2", "slip.tip": 0})


DEPENDENT = """
name = "dependent"
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2 + z_dot**2)/2"
[[contact]]
name = "a"
gap = "x"
tangent = "y"
friction = 1
[[contact]]
name = "b"
gap = "y - z"
"""


@pytest.mark.parametrize("apart", [0, 1])
def test_position_pins_that_leave_a_coordinate_open_are_refused_even_if_they_hold_at_the_start(apart):
    # x is pinned twice, and y = z - apart holds for any y
    dynamics = derive(mechanism_from_toml(DEPENDENT))
    pins = {"gap.a": 0, "x": 0, "gap.b": apart, "gap_dot.a": 0, "gap_dot.b": 0, "slip.a": 1}
    with pytest.raises(StateError, match="they depend on each other and leave a coordinate open"):
        solve_state(dynamics, pins)
    assert not solve_states(dynamics, {**pins, "x": np.zeros(3)}).reached.any()


@pytest.mark.parametrize("size", [1e-6, 1, 1e6])
@pytest.mark.parametrize("pins", [{"z": 0}, {"gap.side": 0.5}])
def test_a_slope_that_is_zero_but_for_rounding_leads_nowhere(size, pins):
    # 1 + x sin(th) vanishes at x = -1/sin(th), and nowhere at th = pi, whose sine is 1.2e-16 in floats
    text = f"""
        name = "slope"
        coordinates = ["x", "z", "th"]
        [dynamics]
        kinetic = "(x_dot**2 + z_dot**2 + th_dot**2)/2"
        [[contact]]
        name = "end"
        gap = "{size} + x*sin(th)"
        [[contact]]
        name = "side"
        gap = "z - {size}*cos(th)"
    """
    slope = derive(mechanism_from_toml(text))
    rates = {"x_dot": 0, "z_dot": 0, "th_dot": 0}
    with pytest.raises(StateError, match="cannot be reached"):
        solve_state(slope, {"th": "pi", "gap.end": 0, **pins, **rates})
    angles = np.array([np.pi, 3.1415, np.pi - 1e-9, np.pi / 2])
    states = solve_states(slope, {"th": angles, "gap.end": 0, **pins, **rates})
    assert states.reached.tolist() == [False, True, True, True]
    # the angle is rounded by 4e-16, which is 4e-7 of its distance to pi
    np.testing.assert_allclose(states.q[1:, 0], -size / np.sin(angles[1:]), rtol=1e-6)


def plain(coordinates, *gaps):
    kinetic = " + ".join(f"{name}_dot**2" for name in coordinates)
    declared = "".join(f'[[contact]]\nname = "g{k}"\ngap = "{gap}"\n' for k, gap in enumerate(gaps))
    names = ", ".join(f'"{name}"' for name in coordinates)
    return derive(
        mechanism_from_toml(f'name = "plain"\ncoordinates = [{names}]\n[dynamics]\nkinetic = "{kinetic}"\n{declared}')
    )


@pytest.mark.parametrize(
    ("gaps", "pins"),
    [
        (["1 + x*sin(th)", "z - 1e-6*x"], {"th": "pi"}),  # another coordinate feels x
        (["(x - 1)*sin(th)"], {"th": "pi", "z": 0}),  # any x will do
        (["(x - 1)*cos(th)"], {"th": "-pi/2", "z": 0}),
        (["1 + exp(x)*sin(th)"], {"th": "-pi", "z": 0}),
        (["x*sin(th)", "2*sin(th)"], {"z": 0}),  # a telescope on the floor: its angle is 0 to rounding, its length open
    ],
)
def test_pins_that_determine_a_coordinate_by_rounding_alone_are_refused(gaps, pins):
    pins |= {f"gap.g{k}": 0 for k in range(len(gaps))} | {"x_dot": 0, "z_dot": 0, "th_dot": 0}
    with pytest.raises(StateError, match="cannot be reached"):
        solve_state(plain(["x", "z", "th"], *gaps), pins)


@pytest.mark.parametrize("size", [1e-9, 1, 1e9])
def test_a_coordinate_that_is_zero_beside_large_ones_is_determined(size):
    # two planes through (300, 0), at angles of which none has a short decimal
    planes = plain(["x", "y"], f"0.1*x + 0.3*y - 30*{size}", f"0.7*x - 0.6*y - 210*{size}")
    state = solve_state(planes, {"gap.g0": 0, "gap.g1": 0, "x_dot": 0, "y_dot": 0})
    np.testing.assert_allclose(state.q, [300 * size, 0], atol=1e-12 * 300 * size)


def test_a_stretched_posture_from_which_the_search_starts_is_one():
    # the reach of an arm has no gradient where it is stretched, but has one beside that posture
    arm = derive(
        mechanism_from_toml(
            'name = "arm"\ncoordinates = ["p", "q"]\n[dynamics]\nkinetic = "(p_dot**2 + q_dot**2)/2"\n'
            '[[contact]]\nname = "wall"\ngap = "2 - cos(p) - cos(p + q)"\n'
        )
    )
    states = solve_states(arm, {"p": 0, "gap.wall": 0, "p_dot": 0.5, "q_dot": 0})
    assert states.reached.all()
    assert states.q.tolist() == [0, 0]


@pytest.mark.parametrize(
    "gap", ["min(y, 0.5 - x)", "tanh((y + x - 0.2)/0.001)", "y + 0.01 - 0.01*exp(-((x - 0.2)/0.01)**2)"]
)
def test_a_gap_that_is_flat_elsewhere_is_solved_where_it_is_not(gap):
    # each vanishes at x = 0.2, y = 0, alone there, with a gradient in y
    dynamics = derive(
        mechanism_from_toml(
            'name = "m"\ncoordinates = ["x", "y"]\n[dynamics]\nkinetic = "(x_dot**2 + y_dot**2)/2"\n'
            f'[[contact]]\nname = "c"\ngap = "{gap}"\n'
        )
    )
    assert solve_state(dynamics, {"x": 0.2, "gap.c": 0, "x_dot": 1, "y_dot": 0}).q == pytest.approx([0.2, 0], abs=1e-9)


def two_gaps(a, b):
    """A point in a plane with two gaps."""
    return derive(
        mechanism_from_toml(
            'name = "point"\ncoordinates = ["x", "y"]\n[dynamics]\nkinetic = "(x_dot**2 + y_dot**2)/2"\n'
            f'[[contact]]\nname = "a"\ngap = "{a}"\n[[contact]]\nname = "b"\ngap = "{b}"\n'
        )
    )


REST = {"x_dot": 0, "y_dot": 0}


@pytest.mark.parametrize(
    ("a", "b", "pins"),
    [
        ("sin(x) + y", "2*(sin(x) + y)", {"gap.a": 2, "gap.b": 4}),  # everywhere dependent
        ("x**2 + y**2", "(x**2 + y**2 - 1)*(2 + x)", {"gap.a": 1, "gap.b": 0}),  # only on the circle
        ("x + y", "(x + y - 1)**2", {"gap.a": 1, "gap.b": 0}),  # without a gradient on the line
        ("max(y, 0)", "2*max(y, 0)", {"gap.a": 0, "gap.b": 0}),  # a half plane
    ],
)
def test_pins_that_hold_along_a_curve_are_refused(a, b, pins):
    dynamics = two_gaps(a, b)
    with pytest.raises(StateError, match="they depend on each other and leave a coordinate open"):
        solve_state(dynamics, {**pins, **REST})
    assert not solve_states(
        dynamics, {**pins, **REST, "x_dot": np.zeros(3), "gap.a": np.full(3, pins["gap.a"])}
    ).reached.any()


def test_pins_that_nearly_hold_along_a_line_are_none_of_it():
    # the line y = -1e-12 x is none of y = 0
    dynamics = two_gaps("1e-6*x + 1e6*y", "x**2")
    assert solve_state(dynamics, {"gap.a": 0, "y": 0, **REST}).q.tolist() == [0, 0]


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("place", [0.3, -0.25, -1.58])
@pytest.mark.parametrize("turned", ["sin(x - {0}) + y", "x - {0} + y"])
def test_an_isolated_root_of_high_order_is_a_posture(turned, place, order):
    first = turned.format(f"({place})")
    state = solve_state(two_gaps(first, f"{first} + (x - ({place}))**{order}"), {"gap.a": 0, "gap.b": 0, **REST})
    # where the pins hold to 1e-9, the root of an order is known to that power of it
    assert state.q == pytest.approx([place, 0], abs=2 * 1e-9 ** (1 / order))


@pytest.mark.parametrize("length", [1e-8, 1e-6, 1e-3, 1e6, 1e8])
def test_an_angle_beside_a_length_that_ends_at_zero_is_determined_in_all_units(length):
    dynamics = two_gaps(f"x + {length}*sin(y - 3/10)", f"x + {2 * length}*sin(y - 3/10)")
    state = solve_state(dynamics, {"gap.a": 0, "gap.b": 0, **REST})
    assert np.sin(state.q[1] - 0.3) == pytest.approx(0, abs=1e-9)
    assert abs(state.q[0]) <= 1e-9 * length


@pytest.mark.parametrize("h", [0.5, 1.2, 3])
def test_a_level_rod_whose_ends_are_pinned_alone_is_refused_wherever_the_search_finds_it(h):
    # both gaps are y = h: nothing fixes x
    rod = derive(mechanisms.load("rod_two_ends"))
    with pytest.raises(StateError, match="leave a coordinate open"):
        solve_state(rod, {"phi": 0, "gap.left": h, "gap.right": h, "phi_dot": 0, **REST})


def test_dependent_pins_that_hold_nowhere_contradict_each_other():
    with pytest.raises(StateError, match="or they contradict each other"):
        solve_state(two_gaps("sin(x) + y", "2*(sin(x) + y)"), {"gap.a": 2, "gap.b": 4.1, **REST})


def test_a_posture_beside_a_curve_of_them_is_the_one_that_the_pins_determine():
    # x (x - 2) = x (y - 1) = 0 along x = 0, and at (2, 1)
    state = solve_state(two_gaps("x*(x - 2)", "x*(y - 1)"), {"gap.a": 0, "gap.b": 0, **REST})
    assert state.q == pytest.approx([2, 1], abs=1e-12)
    assert state.alternatives == ()


@pytest.mark.parametrize(
    ("a", "b", "pins"),
    [
        ("x**2 + y**2", "x", {"gap.a": 1, "x": 1}),  # a circle and its tangent
        ("x**2 + y**2", "x", {"gap.a": 1, "gap.b": 1}),
        ("x - 1 + y**3", "x + y**3", {"gap.a": 0, "x": 1}),  # y**3 = 0
        ("x - 1 + y**2", "x", {"gap.a": 0, "x": 1}),
    ],
)
def test_a_multiple_root_is_one_posture(a, b, pins):
    state = solve_state(two_gaps(a, b), {**pins, **REST})
    # a root of order three of a residual of 1e-13
    assert state.q == pytest.approx([1, 0], abs=1e-4)
    assert state.alternatives == ()


def test_close_postures_that_are_two_are_both_found():
    # x = cos(1e-4) cuts the circle at y = +-sin(1e-4)
    state = solve_state(two_gaps("x**2 + y**2", "x"), {"gap.a": 1, "x": "cos(1e-4)", **REST})
    found = sorted(float(q[1]) for q in (state.q, *state.alternatives))
    # a residual of 1e-13, over a gradient of 2e-4
    assert found == pytest.approx([-1e-4, 1e-4], abs=1e-9)
