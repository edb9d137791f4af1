"""Slices of certified maps: against the same map certified at the value, and against verdicts at single states."""

import json

import numpy as np
import pytest

from hybrid import derive, mechanism_from_toml, select, sliced, solve_state
from hybrid.analysis import Axis, certified_map
from hybrid.cli import main
from hybrid.errors import StateError
from tests.catalogue import dynamics_of

AXES = [Axis("phi", 0, np.pi), Axis("phi_dot", -3, 3), Axis("mu", 0, 3)]
WORDS = ["certify", "rod_on_incline", "--axis=phi=0:pi", "--axis=phi_dot=-3:3", "--axis=mu=0:3", "--pin=slip.tip=-1"]


@pytest.fixture(scope="module")
def whole():
    return certified_map(dynamics_of("rod_on_incline"), axes=AXES, pins={"slip.tip": -1}, gap=0.01)


@pytest.mark.parametrize("mu", [0.0, 1.5, 1.7, 3.0])  # at ends, on faces of boxes and inside of them
def test_a_slice_is_the_map_at_its_value(whole, mu):
    found = sliced(whole, {"mu": mu})
    direct = certified_map(
        dynamics_of("rod_on_incline"), axes=AXES[:2], pins={"slip.tip": -1}, parameters={"mu": mu}, gap=1e-4
    )
    assert [axis.name for axis in found.axes] == ["phi", "phi_dot"]
    for name, (low, high) in direct.regions.items():
        assert found.regions[name][0] <= high and low <= found.regions[name][1]
    areas = np.prod(found.parts[..., 1] - found.parts[..., 0], axis=-1)
    assert areas.sum() == pytest.approx(6 * np.pi, rel=1e-12)
    assert areas[found.region < 0].sum() == pytest.approx(6 * np.pi * found.undecided, rel=1e-9)
    assert found.absent["HYPERSTATIC"] and not found.witness


@pytest.mark.parametrize("mu", [1.5, 1.7])
def test_states_of_a_slice_have_the_modes_of_their_boxes(whole, mu):
    found = sliced(whole, {"mu": mu})
    rng, names = np.random.default_rng(3), list(found.regions)
    bound = dynamics_of("rod_on_incline").at({"mu": mu})
    chosen = [rng.choice(np.flatnonzero(found.region == number)) for number in range(len(names)) for _ in range(8)]
    for box, number in zip(found.parts[chosen], found.region[chosen], strict=True):
        phi, rate = (box[:, 0] + rng.random(2) * (box[:, 1] - box[:, 0])).tolist()
        state = solve_state(bound, {"phi": phi, "phi_dot": rate, "slip.tip": -1})
        assert "|".join(sorted(branch.mode.label for branch in select(bound, state).branches)) == (
            "" if names[number] == "none" else names[number]
        )


def test_a_slice_on_which_a_slip_vanishes_is_not_decided():
    axes = [*AXES[:2], Axis("slip.tip", -1, 1)]
    found = certified_map(dynamics_of("rod_on_incline"), axes=axes, parameters={"mu": 0.5}, gap=0.02)
    within = sliced(found, {"slip.tip": 0.0})
    # what does not depend on the slip: the tip lifts off
    assert {name for name, (low, _) in within.regions.items() if low > 0.0} <= {"free"}


def test_slices_of_slices_keep_one_axis(whole):
    line = sliced(whole, {"mu": 1.5, "phi_dot": 0.0})
    assert line.parts.shape[1:] == (1, 2) and "none" in line.regions
    assert line.regions == sliced(sliced(whole, {"mu": 1.5}), {"phi_dot": 0.0}).regions


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"nu": 1.0}, "no such axis; there are phi, phi_dot, mu"),
        ({"mu": 4.0}, "mu: 4 is beyond its axis from 0 to 3"),
        ({"mu": float("nan")}, "mu: nan is beyond"),
        ({"mu": 1.0, "phi": 1.0, "phi_dot": 1.0}, "keeps one axis"),
    ],
)
def test_a_slice_that_there_is_not_is_refused(whole, at, message):
    with pytest.raises(StateError, match=message):
        sliced(whole, at)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--slice=nu=1"], "no such axis"),
        (["--slice=mu=7/2"], "beyond its axis"),
        (["--slice=mu=1", "--slice=mu=2"], "given twice"),
        (["--slice=mu=nan"], "unknown name"),
        (["--slice=mu=1", "--slice=phi=1", "--slice=phi_dot=1"], "keeps one axis"),
        (["--slice=mu=1", "--slice=phi=1", "--plot=line.svg"], "two axes, got 1"),
        (["--plot=solid.svg"], "two axes, got 3"),
    ],
)
def test_bad_slices_are_one_message_before_any_work(words, message, capsys):
    assert main([*WORDS, "--gap=1e-9", *words]) == 2
    assert message in capsys.readouterr().err


def test_the_command_draws_and_records_a_slice(capsys, tmp_path):
    picture = tmp_path / "slice.svg"
    assert main([*WORDS, "--gap=0.05", "--slice=mu=3/2", "--json", "--plot", str(picture)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["slice"]["at"] == {"mu": 1.5} and len(answer["axes"]) == 3
    assert set(answer["slice"]) == {"at", "regions", "undecided", "boxes"}
    low, high = answer["slice"]["regions"]["none"]
    assert low <= 0.0444 <= high  # 1e-4 of the share that the exact curves give in the guide to maps
    assert picture.stat().st_size > 5000


BLOCK = """
name = "block"
coordinates = ["x", "y"]
[parameters]
F = 1
m = 1
mu = 1
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2"
[forces]
y = "{force}"
[[contact]]
name = "tip"
gap = "y"
friction = "mu"
{slip}
"""
BOX = [Axis("F", -1, 1), Axis("m", 1, 2), Axis("mu", 0.1, 1)]
ON_WALL = {"x": 0, "slip.tip": 1}


@pytest.mark.parametrize(
    ("force", "slip", "pins"),
    [
        ("-F**2", 'tangent = "x"', ON_WALL),  # no load: free or sliding
        ("F", 'tangent = "x"', ON_WALL),
        ("-1", 'slip = "F**2*x_dot"', {"x": 0, "x_dot": 1}),  # no slip: it sticks
    ],
    ids=["square", "boundary", "slip"],
)
def test_a_slice_in_the_zeros_of_a_function_is_undecided(force, slip, pins):
    """At ``F = 0`` the block has other modes than beside it, and the whole map knows those beside it only."""
    dynamics = derive(mechanism_from_toml(BLOCK.format(force=force, slip=slip)))
    whole = certified_map(dynamics, axes=BOX, pins=pins, gap=3e-2)
    found = sliced(whole, {"F": 0.0})
    assert found.regions["undecided"] == pytest.approx((0.0, 1.0), abs=1e-12) and not found.complete
    assert all(low == 0.0 for low, _ in found.regions.values()) and (found.region < 0).all()
    assert sliced(whole, {"F": 0.0, "m": 1.5}).regions == sliced(found, {"m": 1.5}).regions
    across = sliced(whole, {"m": 1.5})  # F is kept: F = 0 is a line without area
    assert "undecided" not in across.regions


def test_a_slice_of_signs_that_are_known_is_the_whole():
    """``F^2 > 0`` where ``F`` runs from 1 to 2."""
    dynamics = derive(mechanism_from_toml(BLOCK.format(force="-F**2", slip='tangent = "x"')))
    whole = certified_map(dynamics, axes=[Axis("F", 1, 2), *BOX[1:]], pins=ON_WALL)
    assert sliced(whole, {"F": 1.0}).regions == {"slide+": pytest.approx((1.0, 1.0), abs=1e-12)}


def test_no_more_boxes_are_looked_at_than_are_allowed():
    found = certified_map(dynamics_of("rod_on_incline"), axes=AXES, pins={"slip.tip": -1}, gap=1e-4, max_boxes=2000)
    assert 1990 < found.evaluations <= 2000 and not found.complete
