"""What a person types, texts with degrees and fractions, is what the numbers are, at every door of the library."""

import math

import numpy as np
import pytest

import mechanisms
from hybrid import (
    Axis,
    StateError,
    build_report,
    certified_friction,
    certified_map,
    compare,
    contact_problem,
    critical_friction,
    derive,
    genot_brogliato_points,
    region_map,
    resolve,
    select,
    simulate,
    simulate_branches,
    solve_state,
    time_stepping,
)
from hybrid.analysis import compare_map, restitution_map
from hybrid.contact import NewtonImpact, resolve_impact
from hybrid.errors import DeclarationError
from hybrid.reporting import build_comparison

TYPED = {"phi": "60 deg", "phi_dot": "1/2", "slip.tip": "-1"}
NUMBERS = {"phi": math.pi / 3, "phi_dot": 0.5, "slip.tip": -1.0}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


@pytest.fixture(scope="module")
def pinned(rod):
    return solve_state(rod, NUMBERS, parameters={"mu": 1.5})


def test_pins_stand_for_a_state(rod, pinned):
    values = {"mu": "3/2"}
    assert select(rod, TYPED, parameters=values).verdict is select(rod, pinned, parameters={"mu": 1.5}).verdict
    assert select(rod, TYPED, parameters=values).verdict.name == "INCONSISTENT"  # README: alpha = 3, s c > 2/3
    assert np.array_equal(
        contact_problem(rod, TYPED, parameters=values).G, contact_problem(rod, pinned, parameters={"mu": 1.5}).G
    )
    assert resolve(rod, TYPED, parameters=values).outcome is resolve(rod, pinned, parameters={"mu": 1.5}).outcome


@pytest.mark.long
def test_a_report_is_made_of_pins(rod, pinned):
    report = build_report(rod, TYPED, parameters={"mu": "3/2"}, axes=["phi=0:180 deg:4", "phi_dot=-1:1:4"])
    assert report.state == pinned
    assert report.region_map.axes == (Axis("phi", 0, math.pi, 4), Axis("phi_dot", -1, 1, 4))


def test_motions_start_from_pins():
    ball = derive(mechanisms.load("bouncing_ball"))
    # a fall from 2 m with 1 m/s upwards: y = 2 + t - g t^2/2
    typed = {"y": "4/2", "y_dot": "sqrt(1)"}
    for motion in (
        simulate(ball, typed, t_end=0.5, parameters={"g": "981/100"}),
        simulate_branches(ball, typed, t_end=0.5, parameters={"g": "981/100"}).branches[0].motion,
        time_stepping(ball, typed, t_end=0.5, step=0.1, parameters={"g": "981/100"}),
    ):
        assert float(motion.q[0]) == pytest.approx(2 + 0.5 - 9.81 * 0.125, abs=1e-9)


def test_impacts_start_from_pins():
    ball = derive(mechanisms.load("bouncing_ball"))
    falling = {"gap_dot.floor": "-4/2"}
    assert float(resolve_impact(ball, falling, law=NewtonImpact(restitution=0.5)).v_after[0]) == pytest.approx(1.0)
    assert compare(ball, falling, stiffness=()).verdict == "IMPACT"
    assert build_comparison(ball, falling, stiffness=[1e6]).state.v.tolist() == [-2.0]


def test_axes_of_maps_are_read(rod):
    typed = ["phi=0:180 deg:8", "phi_dot=-2*mu:2*mu:6"]
    axes = [Axis("phi", 0, math.pi, 8), Axis("phi_dot", -3, 3, 6)]
    common = {"pins": {"slip.tip": "+0"}, "parameters": {"mu": "3/2"}}
    assert region_map(rod, axes=typed, **common).axes == tuple(axes)
    assert np.array_equal(region_map(rod, axes=typed, **common).region, region_map(rod, axes=axes, **common).region)


def test_sweeps_of_critical_friction_are_read():
    # Genot and Brogliato 1999: 4/3, at tan(theta) = 2 of the rod between a vertical and a horizontal posture
    found = critical_friction(derive(mechanisms.load("painleve_rod")), over=["theta=0:90 deg"])
    assert found.minimum == pytest.approx(4 / 3, abs=1e-12)
    assert math.tan(found.at["theta"]) == pytest.approx(2, abs=1e-9)


@pytest.mark.long
def test_certified_sweeps_are_read(rod):
    assert certified_friction(rod, over=["phi=0:pi"]).low == pytest.approx(4 / 3, abs=1e-12)
    certified = certified_map(rod, axes=["phi=0:pi", "mu=0:13/10"], pins={"phi_dot": 0, "slip.tip": -1}, gap=0.1)
    assert certified.absent["INCONSISTENT"] is True


def test_other_sweeps_are_read():
    rod = derive(mechanisms.load("painleve_rod"))
    common = {"pins": {"slip.tip": 1}, "parameters": {"mu": 1.6}}
    typed = genot_brogliato_points(rod, over=["theta=0:1", "theta_dot=0:4/2"], **common)
    numbers = genot_brogliato_points(rod, over=[Axis("theta", 0, 1), Axis("theta_dot", 0, 2)], **common)
    assert [point.at for point in typed] == [point.at for point in numbers] != []
    assert compare_map(rod, axes=["theta=6 deg:80 deg:6", "theta_dot=0:3:6"], **common).axes[0].low == math.pi / 30
    swept = restitution_map(rod, over="theta=0.1:1.5:5", incidence="incidence=-1:1:3", damping=0.0)
    assert (swept.axes[0], swept.axes[1].n) == (Axis("theta", 0.1, 1.5, 5), 3)


@pytest.mark.parametrize(("axis", "message"), [("phi", "expected NAME=LOW:HIGH"), ("phi=0:pee:4", "pee")])
def test_a_text_that_is_no_axis_is_refused(rod, axis, message):
    with pytest.raises((StateError, DeclarationError), match=message):
        region_map(rod, axes=[axis, "phi_dot=-1:1:4"])


def test_pins_that_fix_no_state_are_refused(rod):
    with pytest.raises(StateError, match="too few velocity pins"):
        select(rod, {"phi": "65 deg"})
