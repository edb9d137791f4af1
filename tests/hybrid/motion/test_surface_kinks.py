"""Gaps and rigid constraints with kinks: what guides a body over one is met with a velocity, and nobody is told so."""

import numpy as np
import pytest

from hybrid import (
    ComputationError,
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    State,
    derive,
    ensemble,
    select,
    simulate,
    solve_state,
)
from hybrid.analysis import Axis, region_map
from hybrid.analysis.ensemble_chunks import FEW
from hybrid.contact import NewtonImpact, resolve_impact
from hybrid.motion import Termination

G = 9.81


def body(gap=None, constraint=None):
    return derive(
        Mechanism(
            name="body",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential=f"{G}*y"),
            contact=[] if gap is None else [Contact(name="floor", gap=gap, restitution="1")],
            constraint=[] if constraint is None else [Constraint(name="wire", equation=constraint)],
        )
    )


WEDGE = "y - max(x, 0)"


def energy(motion):
    return float(motion.v @ motion.v / 2 + G * motion.q[1])


@pytest.mark.parametrize(
    ("mechanism", "pins", "t", "name"),
    [
        (body(WEDGE), {"x": -0.1, "x_dot": 1, "gap.floor": 0, "y_dot": 0}, 0.1, "floor"),
        (body(constraint="y - abs(x) + x"), {"x": 0.1, "x_dot": -1}, 0.1, "wire"),
        (body("y - 0.3*sqrt(x**2)"), {"x": -0.1, "x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0}, None, "floor"),
        (body("y - (0.01*x**2)**0.5"), {"x": -0.1, "x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0}, None, "floor"),
        (body(constraint="y - sqrt((x - 0.2)**2)"), {"x": 0, "x_dot": 1}, None, "wire"),
        (body("y - max(t - 0.2, 0)"), {"x": 0, "x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0}, 0.2, "floor"),
        (body("y - atan2(x, 2*abs(x))"), {"x": 0.1, "x_dot": -1, "gap.floor": 0, "y_dot": 0}, 0.1, "floor"),
        (body("y - 0.5*sign(x + 0.1)"), {"x": -0.4, "x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0}, 0.3, "floor"),
    ],
)
def test_a_motion_that_is_guided_over_a_kink_ends_there_with_its_energy(mechanism, pins, t, name):
    start = solve_state(mechanism, pins)
    motion = simulate(mechanism, start, t_end=1.0, law=NewtonImpact())
    assert motion.termination is Termination.NOT_COMPUTED
    assert f"{name!r} has a kink there" in motion.cause
    assert t is None or motion.t == pytest.approx(t, abs=1e-9)
    assert energy(motion) == pytest.approx(float(start.v @ start.v / 2 + G * start.q[1]), abs=1e-9)


def test_a_motion_whose_rates_are_rounding_near_a_cusp_ends_in_seconds_by_name():
    """The curvature of 1/(1 + |x|), written as a quotient that is 0/0 at the cusp, loses all digits beside it."""
    cusp = body("y - abs(x)/(x**2 + abs(x))")
    start = solve_state(cusp, {"x": 0.1, "x_dot": -3, "gap.floor": 0, "gap_dot.floor": 0})
    motion = simulate(cusp, start, t_end=1.0)
    assert motion.termination is Termination.STEP_SIZE
    assert 0.0 < motion.q[0] < 1e-5


@pytest.mark.parametrize("gap", ["y - 0.3*atan2(x, -2)", "y - 0.3*atan(1/x)"])
def test_a_surface_that_jumps_at_a_cut_or_a_pole_ends_a_motion_there(gap):
    surface = body(gap)
    start = solve_state(surface, {"x": -0.1, "x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0})
    motion = simulate(surface, start, t_end=1.0, law=NewtonImpact())
    assert motion.termination is Termination.NOT_COMPUTED
    assert "'floor' has a kink there" in motion.cause
    assert motion.q[0] == pytest.approx(0.0, abs=1e-9)


def test_a_surface_goes_on_where_an_angle_is_zero_off_its_cut():
    surface = body("y - 0.3*atan2(x, 2)")
    start = solve_state(surface, {"x": -0.1, "x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0})
    motion = simulate(surface, start, t_end=0.5, law=NewtonImpact())
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] > 0.1
    assert motion.q[1] == pytest.approx(0.3 * np.arctan2(motion.q[0], 2), abs=1e-9)
    assert energy(motion) == pytest.approx(float(start.v @ start.v / 2 + G * start.q[1]), abs=1e-9)


def test_one_that_flies_over_it_goes_on():
    wedge = body(WEDGE)
    start = solve_state(wedge, {"x": -0.1, "x_dot": 1, "y": 1.0, "y_dot": 0})
    motion = simulate(wedge, start, t_end=0.4, law=NewtonImpact())
    assert motion.termination is Termination.END_TIME
    # 1 - G t^2/2 = -0.1 + t
    hit = (-1 + np.sqrt(1 + 2 * G * 1.1)) / G
    assert motion.events[0].t == pytest.approx(hit, abs=1e-9)


def test_a_bend_that_changes_no_direction_is_none():
    bowl = body("y - x*abs(x)")
    start = solve_state(bowl, {"x": 0.5, "x_dot": -1, "gap.floor": 0, "gap_dot.floor": 0})
    motion = simulate(bowl, start, t_end=0.4, law=NewtonImpact())
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] < -0.1
    assert energy(motion) == pytest.approx(float(start.v @ start.v / 2 + G * start.q[1]), rel=1e-9)


@pytest.mark.parametrize("declared", ["gap", "constraint"])
@pytest.mark.parametrize(
    ("rate", "place", "speed"), [("0", 0, 0), ("0.1*t", 0.2, 0.1), ("0.1*sin(t)", 0.1 * np.sin(2), 0.1 * np.cos(2))]
)
@pytest.mark.parametrize("power", [2, 3, 4])
@pytest.mark.parametrize(("start", "since"), [("1", 1), ("1/3", 5 / 3)])
def test_a_surface_that_sets_in_smoothly_takes_a_body_along(declared, rate, place, speed, power, start, since):
    carried = body(**{declared: f"y - max(0, t - {start})**{power} - {rate}"})
    pins = {"x": 0, "x_dot": 0} | ({"gap.floor": 0, "gap_dot.floor": 0} if declared == "gap" else {})
    motion = simulate(carried, solve_state(carried, pins), t_end=2.0)
    assert motion.termination is Termination.END_TIME
    assert not motion.events
    np.testing.assert_allclose(motion.q[1], since**power + place, rtol=1e-7)
    np.testing.assert_allclose(motion.v[1], power * since ** (power - 1) + speed, rtol=1e-7)


@pytest.mark.parametrize("declared", ["gap", "constraint"])
@pytest.mark.parametrize(
    "shape",
    [
        "max(0, 1 - {})",
        "abs(max(0, 1 - {}))",
        "sqrt(min(0, {} - 1)**2)",
        "abs(abs(1 - {}))",
        "abs(1 - {0} + abs(1 - {0}))",
        "sign(min(0, {0} - 1))*({0} - 1)",
        "3*(1 + sign(min(0, {} - 1)))",
    ],
)
def test_a_kink_within_a_kink_is_met(declared, shape):
    # its speed jumps at t = 1, whatever else is bent there without a kink
    carried = body(**{declared: "y - " + shape.format("t")})
    pins = {"x": 0, "x_dot": 0} | ({"gap.floor": 0, "gap_dot.floor": 0} if declared == "gap" else {})
    motion = simulate(carried, solve_state(carried, pins), t_end=2.0)
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == pytest.approx(1.0, abs=1e-12)


def test_nothing_is_decided_on_a_kink_and_all_beside_it():
    wedge = body(WEDGE)
    on, beside = ({"x": x, "x_dot": -1, "gap.floor": 0, "y_dot": 0} for x in (0.0, -1e-9))
    with pytest.raises(ComputationError, match="'floor' has a kink there, where its direction or its speed jumps"):
        select(wedge, solve_state(wedge, on))
    with pytest.raises(ComputationError, match="has a kink"):
        resolve_impact(wedge, solve_state(wedge, {**on, "y_dot": -1}), law=NewtonImpact())
    motion = simulate(wedge, solve_state(wedge, on), t_end=0.1, law=NewtonImpact())
    assert motion.termination is Termination.NOT_COMPUTED
    assert select(wedge, solve_state(wedge, beside)).verdict.name == "UNIQUE"
    above = {"x": 0.0, "x_dot": 1, "y": 1.0, "y_dot": 0}
    assert select(wedge, solve_state(wedge, above)).verdict.name == "UNIQUE"


@pytest.mark.parametrize("cells", [11, 2001])
def test_a_map_decides_no_cell_on_a_kink(cells):
    axes = [Axis("x", -1, 1, cells), Axis("x_dot", -1, 1, 100)]
    found = region_map(body(WEDGE), axes=axes, pins={"gap.floor": 0, "gap_dot.floor": 0})
    assert found.verdict_fractions["UNREACHABLE"] == pytest.approx(1 / cells)
    assert found.verdict_fractions["UNIQUE"] == pytest.approx(1 - 1 / cells)


def test_an_ensemble_follows_them_one_by_one(monkeypatch):
    monkeypatch.delattr("hybrid.motion.together.following.ready")  # nothing is compiled that no motion needs
    wedge, x = body(WEDGE), np.linspace(-0.5, 0.3, 40)
    pins = {"x_dot": 1, "gap.floor": 0, "gap_dot.floor": 0}
    found = ensemble(wedge, starts={"x": x}, pins=pins, t_end=0.2, law=NewtonImpact())
    assert found.singled_out == {"surfaces with kinks": 40}
    ends = ["NOT_COMPUTED" if -0.2 < value <= 0.0 else "END_TIME" for value in x[:20]]
    assert list(found.termination[:20]) == ends


@pytest.mark.parametrize("gap", ["y - x*abs(x)", "y - abs(-3)"])
def test_bends_that_are_no_kinks_take_no_detour(gap):
    starts, pins = {"x": np.linspace(1, 2, 40)}, {"x_dot": 1, "y": 9, "y_dot": 0}
    found = ensemble(body(gap), starts=starts, pins=pins, t_end=0.1)
    assert not found.singled_out
    np.testing.assert_allclose(found.end[:, 2], 9 - G * 0.1**2 / 2, atol=1e-9)  # they fall


def on_belt(**declared):
    """A mass of 1 on a belt with friction of at most 1, beside another that swings."""
    return derive(
        Mechanism(
            name="belt", coordinates=["x", "p"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + p_dot**2)/2", potential="10*p**2/2"),
            friction=[FrictionElement(name="belt", limit="1", **declared)],
        )
    )  # fmt: skip


@pytest.mark.parametrize("swings", [0.0, 1.0])
@pytest.mark.parametrize(
    ("declared", "speed", "t", "x"),
    [
        ({"tangent": "x - max(0, t - 1.2)"}, 0.0, 1.2, 0.0),  # it is switched on under what sticks to it
        ({"slip": "x_dot - (1 + sign(t - 1.2))/2"}, 0.0, 1.2, 0.0),
        ({"slip": "x_dot - 1 + (1 + sign(t - 1.2))/2"}, 1.0, 1.2, 1.2),  # switched off
        ({"tangent": "x - abs(t - 1.2)"}, -1.0, 1.2, -1.2),  # reversed
        ({"slip": "x_dot - 1 + (1 + sign(t - 0.5))"}, 0.0, 0.5, 0.125),  # reversed under what slides with 1
        ({"tangent": "abs(x - 0.1)"}, 0.5, (0.5 - np.sqrt(0.05)), 0.1),
    ],
)
def test_a_motion_ends_where_the_speed_of_what_it_is_held_by_jumps(declared, speed, t, x, swings):
    # no force with a limit gives a velocity at once; the work of the friction would be that of no motion
    motion = simulate(on_belt(**declared), State([0.0, 0.0], [speed, swings]), t_end=3.0)
    assert motion.termination is Termination.NOT_COMPUTED
    assert "'belt' has a kink there, where its direction or its speed jumps" in motion.cause
    assert (motion.t, motion.q[0]) == pytest.approx((t, x), abs=1e-9)


@pytest.mark.parametrize("x_dot", [0.0, 1.0])
def test_nothing_is_decided_where_the_direction_of_a_friction_jumps(x_dot):
    # its moment arm is 1/2 on one side and 3/2 on the other: at 0 neither, whether it slips there or rests
    cable = on_belt(tangent="x + abs(x)/2")
    with pytest.raises(ComputationError, match="'belt' has a kink there"):
        select(cable, State([0.0, 0.0], [x_dot, 0.0]))
    for x, friction in ((-1e-9, -0.5), (1e-9, -1.5)):
        found = select(cable, State([x, 0.0], [1.0, 0.0]))
        assert found.branches[0].acceleration[0] == friction


def test_a_belt_that_speeds_up_from_some_time_on_is_followed():
    # its acceleration jumps from 0 to 1/2, which the friction of 1 can give
    motion = simulate(on_belt(slip="x_dot - max(0, t - 1.2)/2"), State([0.0, 0.0], [0.0, 1.0]), t_end=3.0)
    assert motion.termination is Termination.END_TIME
    assert (motion.q[0], motion.v[0]) == pytest.approx((1.8**2 / 4, 0.9), abs=1e-12)


@pytest.mark.parametrize("height", [0.3, 0.6])
def test_a_surface_that_leaps_into_a_body_ends_its_motion(height):
    lift = derive(
        Mechanism(
            name="lift", coordinates=["y"], dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="0"),
            contact=[Contact(name="table", gap="y - (1 + sign(t - 1.2))/4")],
        )
    )  # fmt: skip
    motion = simulate(lift, State([height], [0.0]), t_end=2.0, law=NewtonImpact())
    assert motion.q[0] == height
    assert motion.termination is (Termination.NOT_COMPUTED if height < 0.5 else Termination.END_TIME)
    assert motion.t == pytest.approx(1.2 if height < 0.5 else 2.0, abs=1e-12)


def rod_by_its_foot(gap):
    return derive(
        Mechanism(
            name="rod",
            coordinates=["u", "v", "phi"],
            definitions={"x": "u + cos(phi)/2", "y": "v + sin(phi)/2"},
            dynamics=EnergyDynamics(
                kinetic="((u_dot - sin(phi)*phi_dot/2)**2 + (v_dot + cos(phi)*phi_dot/2)**2)/2 + 0.083*phi_dot**2/2",
                potential="9.81*y",
            ),
            contact=[Contact(name="foot", gap=gap, tangent="x - cos(phi)/2", friction="0.5", restitution="0.4")],
        )
    )


def test_a_gap_from_the_centre_down_to_the_foot_has_no_kink():
    # y - sin(phi)/2 is v but for the rounding of what cancels, which was taken for a floor that leaps
    plain, cancelling = rod_by_its_foot("v"), rod_by_its_foot("y - sin(phi)/2")
    rng = np.random.default_rng(1)
    n = FEW + 8
    pins = {"v": (0.02, 0.5), "phi": (0.3, 2.8), "u_dot": (-1, 1), "v_dot": (-2, 0), "phi_dot": (-1, 1)}
    starts = {name: rng.uniform(*ends, n) for name, ends in pins.items()}
    found = ensemble(cancelling, starts=starts, pins={"u": 0}, t_end=0.6, law=NewtonImpact())
    assert set(found.termination) == {"END_TIME"}
    for k in range(8):
        pinned = {"u": 0.0} | {name: float(column[k]) for name, column in starts.items()}
        ends = [
            simulate(dynamics, solve_state(dynamics, pinned), t_end=0.6, law=NewtonImpact())
            for dynamics in (plain, cancelling)
        ]
        assert [motion.termination.name for motion in ends] == ["END_TIME"] * 2
        # of bounces lower than the rounding, 1e-15, nothing is left: sqrt(2 g 1e-15) = 1.4e-7 of the slip each
        np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-6)
        np.testing.assert_allclose(found.end[k, 1:4], ends[0].q, atol=1e-6)
