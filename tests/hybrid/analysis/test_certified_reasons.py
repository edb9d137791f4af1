"""Why a certified map proves no more: boxes without a state, functions without a value, verdicts at a boundary."""

import json

import pytest

from hybrid import derive, read_mechanism, select, solve_state
from hybrid.analysis import Axis, certified_map, sliced
from hybrid.cli import main
from hybrid.errors import ComputationError
from tests.catalogue import dynamics_of

SLIPPING = {"phi_dot": 0, "slip.tip": -1}
ROD = """
name = "rod"
coordinates = ["x", "y", "phi"]
[parameters]
m = 1
g = 9.81
J = "m/3"
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2 + J*phi_dot**2/2"
potential = "{potential}"
[[contact]]
name = "tip"
gap = "y - sin(phi)"
tangent = "x - cos(phi)"
friction = "{friction}"
"""


def declared(tmp_path, *, potential="m*g*y", friction="1"):
    path = tmp_path / "rod.toml"
    path.write_text(ROD.format(potential=potential, friction=friction))
    return derive(read_mechanism(path))


def certified(dynamics, axes, pins=SLIPPING, **options):
    return certified_map(dynamics, axes=[Axis.parse(axis) for axis in axes], pins=pins, gap=1e-3, **options)


@pytest.mark.parametrize(
    ("axis", "share", "because"),
    [
        ("m=-1:2", 1 / 3, "the mass matrix is not positive definite"),
        ("m=-2:-1", 1, "the mass matrix is not positive definite"),
        ("I=-1:3", 1 / 4, "the mass matrix is not positive definite"),
    ],
)
def test_masses_below_zero_are_the_reason(axis, share, because):
    found = certified(dynamics_of("rod_on_incline"), ["phi=0:pi", axis], max_boxes=20_000)
    (reason,) = [reason for reason in found.reasons if reason.because == because]
    assert share - 1e-12 <= reason.share <= share + 1e-3  # outwards: boxes on the boundary count
    assert not found.complete and found.gap >= share - 1e-12 and True not in found.absent.values()
    assert found.regions["undecided"][1] == pytest.approx(reason.share)


def test_friction_below_zero_is_the_reason(tmp_path):
    found = certified(declared(tmp_path, friction="1 - x"), ["x=0:2", "phi=0.1:3"], max_boxes=20_000)
    assert found.reasons[0].because == "the friction of tip is negative"
    assert 0.5 <= found.reasons[0].share <= 0.501 and found.reasons[0].box["x"][0] >= 1.0


def test_a_function_without_a_value_is_the_reason(tmp_path):
    """The slope of a root has none in a third of the box."""
    found = certified(declared(tmp_path, potential="m*g*y + sqrt(x)"), ["x=-1:2", "phi=0.1:3"], max_boxes=20_000)
    (reason,) = [item for item in found.reasons if item.because == "a function is undefined, or jumps"]
    assert reason.share >= 1 / 3 - 1e-12 and not found.complete


@pytest.mark.parametrize(
    ("axes", "because"),
    [
        (["phi=0:pi", "mu=0:4/3"], "a sign is open, on or beside a boundary of regions"),
        (["phi=0:pi", "slip.tip=-1:1"], "a slip or a gap vanishes on a set without volume, where other modes hold"),
    ],
)
def test_a_complete_map_says_why_a_verdict_is_neither_absent_nor_met(axes, because):
    pins = {"phi_dot": 0} | ({} if "slip" in axes[1] else {"slip.tip": -1})
    found = certified(dynamics_of("rod_on_incline"), axes, pins, max_boxes=20_000)
    assert found.complete and None in found.absent.values()
    assert because in [reason.because for reason in found.reasons]


def test_a_map_without_open_questions_has_no_reasons():
    found = certified(dynamics_of("rod_on_incline"), ["phi=0:pi", "mu=0:1"])
    assert found.complete and set(found.absent.values()) == {True} and found.reasons == ()


def test_boxes_without_a_state_are_not_divided():
    """Nor those that hold a boundary, once the gap besides is reached: a third of the box stays open in any case."""
    found = certified(dynamics_of("rod_on_incline"), ["phi=0:pi", "m=-1:2"])
    assert found.evaluations < 50_000


def test_a_slice_gives_no_reasons_of_the_whole():
    found = certified(dynamics_of("rod_on_incline"), ["phi=0:pi", "mu=0:1", "m=-1:2"], max_boxes=3000)
    assert found.reasons and not sliced(found, {"mu": 0.5}).reasons


def test_the_command_tells_the_reasons(capsys):
    box = ["rod_on_incline", "--axis", "phi=0:pi", "--axis", "m=-1:2", "--pin", "phi_dot=0", "--pin", "slip.tip=-1"]
    assert main(["certify", *box, "--gap", "1e-2"]) == 0
    assert "the mass matrix is not positive definite" in " ".join(capsys.readouterr().out.split())
    assert main(["certify", *box, "--gap", "1e-2", "--json"]) == 0
    (reason,) = json.loads(capsys.readouterr().out)["reasons"]
    assert reason["because"] == "the mass matrix is not positive definite" and reason["box"]["m"][1] <= 0


@pytest.mark.parametrize(
    ("name", "axes", "pins"),
    [
        ("painleve_klein", ["mu1=0.1:0.5", "P1=1:1.5"], {"x1": -0.8, "x1_dot": 0}),
        (
            "ladder_in_corner",
            ["e=0.2:0.6", "mu=0.3:0.4"],
            {"x": 0.1, "gap.floor": 0, "gap_dot.floor": 0, "gap.wall": 0, "gap_dot.wall": 0, "slip.wall": 0},
        ),
    ],
)
def test_a_slip_that_vanishes_everywhere_is_rest_or_refused(name, axes, pins):
    """Pinned elsewhere, or by a constraint, it was taken for one of unknown sign: no mode of rest was listed."""
    dynamics = dynamics_of(name)
    at = {axis.partition("=")[0]: (Axis.parse(axis).low + Axis.parse(axis).high) / 2 for axis in axes}
    (branch,) = select(dynamics.at(at), solve_state(dynamics, pins)).branches
    try:
        found = certified(dynamics, axes, pins, max_boxes=500)
    except ComputationError as error:
        assert "without friction" in str(error) or "vanish" in str(error)
    else:
        assert {branch.mode.label, "undecided"} & set(found.regions)  # what is not listed has no more than undecided


def test_a_slip_that_vanishes_at_the_end_of_boxes_takes_nothing_from_the_shares():
    """Friction below 4/3 leaves one mode for either direction; where nothing slides the rod sticks."""
    found = certified(dynamics_of("rod_on_incline"), ["phi=1.2:1.4", "slip.tip=-1:1"], {"phi_dot": 0})
    assert set(found.regions) == {"slide+", "slide-"} and found.undecided == 0.0 and found.complete
    for low, high in found.regions.values():
        assert low <= 0.5 <= high
    sides = [list(found.regions)[number] for number in found.region]
    assert [box[1].tolist() for box in found.parts[[sides.index("slide-"), sides.index("slide+")]]] == [[-1, 0], [0, 1]]
    assert set(found.absent.values()) == {None}  # of the closed box, in which other modes hold, too
    assert sliced(found, {"slip.tip": 0.0}).regions["undecided"][1] == pytest.approx(1.0)


def test_a_gap_that_vanishes_at_the_end_of_boxes_takes_nothing_from_the_shares():
    found = certified(dynamics_of("bouncing_ball"), ["y=0:1", "y_dot=-1:1"], {})
    assert set(found.regions) == {"free"} and found.regions["free"][0] > 1.0 - 1e-9 and None in found.absent.values()
