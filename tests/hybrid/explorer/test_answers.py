"""What a page is told: first states, drawings, maps as runs, motions with all their futures."""

import itertools
import json
import math
import re

import numpy as np
import pytest

import mechanisms
from hybrid import derive, region_map, select, solve_state
from hybrid.analysis import Axis
from hybrid.declaration.document import mechanism_from_toml
from hybrid.errors import ComputationError, StateError
from hybrid.explorer import Served, offline_page
from hybrid.explorer.answers import Models, answers
from hybrid.explorer.questions import Question
from hybrid.explorer.starting import starting_pins
from tests.catalogue import dynamics_of

ROD = mechanisms.path("rod_on_incline").read_text(encoding="utf-8")
PINS = {"phi": "1.1", "phi_dot": "0.4", "slip.tip": "-1"}


BEAD = """name = "bead"
coordinates = ["x", "z"]
parameters.R = 0.5
[dynamics]
kinetic = "(x_dot**2 + z_dot**2)/2"
potential = "9.81*z"
[[{} = "R - sqrt(x**2 + z**2)"
"""


def answered(kind, **details):
    """The parts of an answer, as a page reads them."""
    found = answers(Models(), Question(kind, ROD, **details))
    return [json.loads(json.dumps(part, allow_nan=False)) for part in found]


@pytest.mark.parametrize("name", mechanisms.names())
def test_every_mechanism_of_the_catalogue_begins_where_a_verdict_is_defined(name):
    dynamics = dynamics_of(name)
    state = solve_state(dynamics, starting_pins(dynamics))
    gap = dynamics.terms(state.q, state.v).gap
    assert np.all(gap > -1e-9)
    assert select(dynamics, state).verdict.name in ("UNIQUE", "HYPERSTATIC", "INDETERMINATE", "INCONSISTENT")


@pytest.mark.parametrize(("name", "closed"), [("ladder_in_corner", 2), ("rod_on_incline", 1), ("rod_two_ends", 2)])
def test_contacts_that_go_together_are_closed_at_first(name, closed):
    assert sum(pin.startswith("gap.") for pin in starting_pins(dynamics_of(name))) == closed


@pytest.mark.parametrize("part", ['contact]]\nname = "wall"\ngap', 'constraint]]\nname = "wall"\nequation'])
def test_a_bead_on_a_circle_round_the_origin_begins_on_the_circle(part):
    # the distance from the origin has no gradient at x = z = 0, where no posture is either
    dynamics = derive(mechanism_from_toml(BEAD.format(part)))
    state = solve_state(dynamics, starting_pins(dynamics))
    assert np.hypot(*state.q) == pytest.approx(0.5, rel=1e-12)


def test_points_are_dragged_along_their_tangents():
    # the tip stays on the plane at x = 0: top = (x + l cos phi, l sin phi) moves with phi by l (-sin phi, cos phi)
    drawing = answered("look", pins={**PINS, "x": "0"}, cells=4)[0]["state"]["drawing"]
    top, tip = drawing["moves"]["phi"]["top"], drawing["moves"]["phi"]["tip"]
    length = math.dist(drawing["points"]["top"], drawing["points"]["tip"])
    turn = np.subtract(top, tip)
    np.testing.assert_allclose(turn, [-length * math.sin(1.1), length * math.cos(1.1)], atol=1e-4 * length)
    assert drawing["moves"]["x"]["top"] == pytest.approx([1.0, 0.0], abs=1e-6)


def test_forces_of_every_branch_are_drawn_where_they_act():
    state = answered("look", pins={**PINS, "phi_dot": "2.5"}, parameters={"mu": "3/2"}, cells=4)[0]["state"]
    assert state["verdict"] == "INDETERMINATE"
    for branch, arrows in zip(state["branches"], state["drawing"]["forces"], strict=True):
        pressing = branch["lambda_N"]["tip"]
        assert [arrow["point"] for arrow in arrows] == (["tip"] if pressing else [])
        for arrow in arrows:  # the plane is level: normal up, friction along it
            np.testing.assert_allclose(arrow["vector"], [branch["lambda_T"]["tip"], pressing], rtol=1e-9)


def test_forces_and_accelerations_have_their_units():
    units = answered("declaration")[0]["declaration"]["branch_units"]
    assert units["forces"] == units["tangential_forces"] == {"tip": "N"}
    assert units["accelerations"] == {"x": "m/s²", "y": "m/s²", "phi": "rad/s²"}


def test_a_map_is_told_as_runs_of_its_regions():
    found = answered("look", pins=PINS, parameters={"mu": "3/2"}, axes=("phi=0:pi", "phi_dot=-3:3"), cells=50)[-1][
        "map"
    ]
    axes = [Axis("phi", 0, math.pi, 50), Axis("phi_dot", -3, 3, 50)]
    whole = region_map(dynamics_of("rod_on_incline"), axes=axes, pins={"slip.tip": -1}, parameters={"mu": 1.5})
    lengths, codes = found["runs"][::2], found["runs"][1::2]
    names = np.array([region["verdict"] for region in found["regions"]])
    cells = names[np.repeat(codes, lengths)].reshape(50, 50).T
    from hybrid.contact import CellVerdict

    own = np.array([[CellVerdict(int(code)).name for code in row] for row in whole.verdict])
    assert (cells == own).all()
    assert found["complete"]


def test_all_futures_of_a_state_with_two_branches_are_told():
    (answer,) = answered("motion", pins={**PINS, "phi_dot": "2.5"}, parameters={"mu": "3/2"}, t_end=0.2)
    parts = answer["motion"]["parts"]
    assert {part["choice"] for part in parts if part["parent"] == 0} == {"free", "slide-"}
    for part in parts[1:]:
        assert part["scene"]["t"][0] == part["start"]
        assert len(part["curves"]["t"]) == len(part["curves"]["energy"]) == len(part["curves"]["forces"]["tip"])


def test_a_free_flight_keeps_its_energy_in_the_curve():
    ball = mechanisms.path("bouncing_ball").read_text(encoding="utf-8")
    (answer,) = answers(Models(), Question("motion", ball, {"y": "1", "y_dot": "0"}, t_end=0.3))
    energy = [value for value in answer["motion"]["parts"][0]["curves"]["energy"] if value is not None]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


def test_penalty_and_laws_are_compared_with_their_histories():
    (answer,) = answered("comparison", pins=PINS, parameters={"mu": "3/2"}, stiffness=1e4)
    found = answer["comparison"]
    assert found["verdict"] == "INCONSISTENT"
    assert "penalty K=10000" in [row["method"] for row in found["rows"]]
    assert set(found["histories"]) >= {"kelvin-voigt", "penalty K=10000"}
    for item in found["histories"].values():
        assert len(item["tip"]["s"]) == len(item["tip"]["force_N"]) > 10


def test_the_automaton_has_the_modes_of_the_contact():
    found = answered("automaton")[0]["automaton"]
    assert {node["key"] for node in found["nodes"]} == {"free", "stick", "slide+", "slide-", "impact"}
    assert {(arrow["source"], arrow["target"]) for arrow in found["arrows"]} >= {("free", "impact"), ("stick", "free")}


def test_the_critical_friction_over_the_posture_is_four_thirds():
    (answer,) = answered("critical", pins=PINS)
    assert answer["critical"][0]["minimum"] == pytest.approx(4 / 3, rel=1e-9)  # Mamaev and Ivanova 2013


ARM = mechanisms.path("two_link_arm").read_text(encoding="utf-8")
REST = {"theta1": "0.2", "theta1_dot": "0", "gap_dot.tip": "0"}
OVER = ("theta1=-1.2:1.2", "theta1_dot=-3:3")


def critical(pins, **parameters):
    question = Question("critical", ARM, {**REST, **pins}, parameters, OVER)
    ((found,),) = (part["critical"] for part in answers(Models(), question))
    return found


@pytest.mark.long
def test_the_critical_friction_is_that_of_the_time():
    # only the distance from the base to the rail matters: a rail that has risen is a base that stands lower
    risen = critical({"gap.tip": "0", "t": "1"}, heave="0.2", Omega="1")
    lower = critical({"gap.tip": "0"}, H="1.6 - 0.2*sin(1)")
    assert risen["minimum"] == pytest.approx(lower["minimum"], rel=1e-9)
    assert risen["at"]["theta1"] == pytest.approx(lower["at"]["theta1"], rel=1e-6)


@pytest.mark.long
def test_the_critical_friction_is_that_of_the_branch_of_the_state():
    # the mirror image of the arm is the other elbow, with the angle turned round and the slip to the other side
    one, other = (critical({"theta2": f"{side}*acos(1.6 - cos(0.2))"}) for side in ("1", "-1"))
    assert one["minimum"] == pytest.approx(other["minimum"], rel=1e-9)
    assert one["at"]["theta1"] == pytest.approx(-other["at"]["theta1"], rel=1e-6)
    assert {one["mode"], other["mode"]} == {"slide+", "slide-"}


@pytest.mark.long
def test_a_page_without_a_server_has_what_it_shows():
    page = offline_page(Served("rod_on_incline", ROD))
    assert "src=" not in re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    tables = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page)[1])
    assert (tables["slider"], len(tables["maps"]), len(tables["states"])) == ("mu", 11, 11)
    for value, found, states in zip(tables["values"], tables["maps"], tables["states"], strict=True):
        paradox = any(region["verdict"] == "INCONSISTENT" for region in found["regions"])
        assert paradox == (value > 4 / 3)
        assert len(states) == 121


@pytest.mark.parametrize("is_declared", [True, False])
@pytest.mark.parametrize("mu", [1.5, 0.5, 0.123456789, 7.0])
def test_the_slider_of_a_page_without_a_server_has_its_own_value(mu, is_declared, monkeypatch):
    for name, few in (("_CELLS", 4), ("_STATES", 2)):  # what is asked about is neither on the map nor on the grid
        monkeypatch.setattr(f"hybrid.explorer.offline.{name}", few)
    text = re.sub(r"(?m)^mu = \{ value = [0-9.]+", f"mu = {{ value = {mu!r}", ROD)
    page = (
        offline_page(Served("rod", text))
        if is_declared
        else offline_page(Served("rod", ROD), parameters={"mu": str(mu)})
    )
    tables = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page)[1])
    assert (tables["slider"], tables["declaration"]["parameters"]["mu"]["value"]) == ("mu", mu)
    assert mu in tables["values"]
    assert tables["values"] == sorted(set(tables["values"]))


@pytest.mark.parametrize(
    ("name", "pins", "axes"),
    [("block_on_belt", {}, ["x", "slip.floor"]), ("bouncing_ball", {"y": "1", "y_dot": "0"}, ["y", "y_dot"])],
)
def test_where_posture_changes_nothing_a_page_varies_what_is_pinned(name, pins, axes, monkeypatch):
    for constant, few in (("_CELLS", 4), ("_STATES", 3), ("_VALUES", 3)):
        monkeypatch.setattr(f"hybrid.explorer.offline.{constant}", few)
    text = mechanisms.path(name).read_text(encoding="utf-8")
    page = offline_page(Served(name, text), pins=pins)
    tables = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page)[1])
    assert [axis["name"] for axis in tables["axes"]] == axes
    if name == "block_on_belt":  # static friction is 0.12, and kinetic friction no more
        assert (tables["slider"], tables["values"][0]) == ("mu", 0.0) and 0.1 < tables["values"][-1] <= 0.12
    labels = {region["label"] for found in tables["maps"] for region in found["regions"]}
    # the pressed block slides to either side and sticks nowhere in the middle of a cell; half of the balls are inside
    assert labels == ({"slide+", "slide-"} if name == "block_on_belt" else {"free", "penetrating"})


def test_a_slider_goes_no_farther_than_the_pins_give_states(monkeypatch):
    for constant, few in (("_CELLS", 4), ("_STATES", 3), ("_VALUES", 3)):
        monkeypatch.setattr(f"hybrid.explorer.offline.{constant}", few)
    text = BEAD.format('contact]]\nname = "wall"\ngap')
    page = offline_page(Served("bead", text), pins={"x": "0.2", "z_dot": "0"})
    tables = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page)[1])
    # x = 0.2 meets no circle of a radius below 0.2
    assert tables["slider"] == "R" and 0.2 <= tables["values"][0] < 0.5 < tables["values"][-1]


def test_a_mechanism_without_two_quantities_has_no_page():
    with pytest.raises(StateError, match="no two quantities"):
        offline_page(Served("bouncing_ball", mechanisms.path("bouncing_ball").read_text(encoding="utf-8")))
    ladder = Served("ladder_in_corner", mechanisms.path("ladder_in_corner").read_text(encoding="utf-8"))
    pins = {"gap.floor": "0", "gap.wall": "0", "theta": "1", "gap_dot.floor": "0", "gap_dot.wall": "0"}
    with pytest.raises(StateError, match="varies theta and theta_dot; pin theta_dot in place"):
        offline_page(ladder, pins={**pins, "slip.floor": "-1"})


def test_where_nothing_is_pinned_a_page_pins_what_its_map_varies(monkeypatch):
    for constant in ("_CELLS", "_STATES", "_VALUES"):
        monkeypatch.setattr(f"hybrid.explorer.offline.{constant}", 4)
    text = BEAD.format('contact]]\nname = "hill"\ntangent = "x"\nfriction = "mu"\ngap').replace(
        '"R - sqrt(x**2 + z**2)"', '"sqrt(x**2 + z**2) - R"'
    )
    page = offline_page(Served("hill", text.replace("parameters.R = 0.5", "parameters = {R = 1, mu = 0.3}")))
    tables = json.loads(re.search(r'<script type="application/json" id="tables">(.*?)</script>', page)[1])
    assert [axis["name"] for axis in tables["axes"]] == ["x", "x_dot"]
    xs, speeds = (axis["values"] for axis in tables["axes"])
    for mu, states in zip(tables["values"], tables["states"], strict=True):
        for (x, x_dot), state in zip(itertools.product(xs, speeds), states, strict=True):
            # on the hill x x_dot + z z_dot = 0, and N (1 - mu x sign(x_dot)) = 9.81 z - v**2, friction along x
            z, share = math.sqrt(1 - x**2), 1 - mu * x * math.copysign(1, x_dot)
            if share > 0:  # no paradox
                force = max(0.0, 9.81 * z - (x_dot / z) ** 2) / share
                assert state["branches"][0]["lambda_N"]["hill"] == pytest.approx(force, rel=1e-9)


def test_a_film_without_ffmpeg_is_refused_in_one_line(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ComputationError, match="ffmpeg"):
        answered("film", pins=PINS, t_end=0.1)
