"""The animated page: the right numbers in it, nothing executable from a declaration, nothing from elsewhere."""

import json
import math
import re
from html.parser import HTMLParser

import attrs
import numpy as np
import pytest

from hybrid import (
    ComputationError,
    Constraint,
    Contact,
    DeclarationError,
    EnergyDynamics,
    Mechanism,
    State,
    derive,
    render_animation,
    simulate,
    solve_state,
)
from hybrid.contact import NewtonImpact
from hybrid.reporting.samples import MODE_FILLS, ink_on, timeline
from hybrid.reporting.scene import build_scene
from mechanisms import load

MEGABYTE = 1_000_000


class Page(HTMLParser):
    """A second reader of the page: open tags, addresses, handlers, and the text of scripts."""

    VOID = frozenset({"meta", "input", "br", "link", "img"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.addresses, self.handlers, self.ids = [], [], [], [], []
        self.scripts, self.text = [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            self.ids += [value] if name == "id" else []
            self.addresses += [value] if name in ("src", "href", "srcset", "action", "data", "poster") else []
            self.handlers += [name] if name.startswith("on") else []
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text += data


@pytest.fixture(scope="module")
def sliding():
    rod = derive(load("rod_on_incline"))
    return simulate(rod, solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}), t_end=2)


def scene_of(text):
    return json.loads(Page(text).scripts[0])


def test_the_page_needs_nothing_else_and_is_small(sliding):
    text = render_animation(sliding)
    page = Page(text)
    assert len(text.encode()) < MEGABYTE / 4
    assert page.addresses == []
    assert page.handlers == []
    assert len(set(page.ids)) == len(page.ids)
    assert "default-src 'none'" in text
    assert not re.findall(r"https?:|url\(|@import|fetch\(|XMLHttp|innerHTML|document\.write|eval\(", text)
    assert page.tags.count("button") >= 3
    assert set(re.findall(r'by\("(\w+)"\)', page.scripts[1])) <= set(page.ids) | {"scene"}


def test_every_control_has_a_name(sliding):
    text = render_animation(sliding)
    for control in re.findall(r"<(?:input|button|select|canvas)[^>]*>[^<]*", text):
        is_named = "aria-label" in control or "aria-hidden" in control or 'id="play"' in control or "data-at" in control
        assert is_named or re.search(rf"<label>[^<]*{re.escape(control)}", text), control


def test_positions_are_those_of_the_motion(sliding):
    scene = scene_of(render_animation(sliding))
    t = np.array(scene["t"])
    places = np.array(scene["origin"]) + scene["grid"] * np.array(scene["points"]).reshape(len(t), -1, 2)
    q, _ = sliding.sample(np.clip(t, sliding.t_start, sliding.t))
    x, y, phi = q.T
    # the upper end of a rod of half length 1
    wanted = np.column_stack([x + np.cos(phi), y + np.sin(phi)])
    assert np.abs(places[:, scene["names"].index("top")] - wanted).max() < 2 * scene["grid"]


def test_every_event_has_frames_of_its_own(sliding):
    scene = scene_of(render_animation(sliding))
    assert [t for t, _, _ in scene["events"]] == [event.t for event in sliding.events]
    for event in sliding.events:
        assert np.isclose(scene["t"], event.t, rtol=1e-9).sum() == 2  # before and after it


def test_the_force_of_a_resting_block_carries_its_weight_along_the_slope():
    block = derive(load("block_on_incline"))
    motion = simulate(block, State([0, 0], [1.0, 0]), t_end=0.5, parameters={"alpha": 0.2})
    scene = build_scene(motion)
    (force,) = scene.forces
    # m = 1, g = 9.81, mu = 0.5: sliding down, friction points up
    normal = 9.81 * math.cos(0.2)
    moving = scene.t < motion.events[0].t if motion.events else scene.t >= 0
    assert force.point == "base"
    assert force.vector[moving] == pytest.approx(np.broadcast_to([-0.5 * normal, normal], force.vector[moving].shape))


def test_a_floor_at_rest_is_one_line_and_a_vibrating_table_moves():
    ball = derive(load("bouncing_ball"))
    (floor,) = build_scene(simulate(ball, State([1.0], [0.0]), t_end=0.4)).surfaces
    assert floor.is_still
    assert floor.at[0] == pytest.approx([0, 0], abs=1e-9)
    assert floor.normal[0] == pytest.approx([0, 1])
    table = derive(
        Mechanism(
            name="table",
            coordinates=["y"],
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="9.81*y"),
            contact=[Contact(name="top", gap="y - 0.1*sin(7*t)")],
            drawing={"points": {"ball": ["0", "y"]}},
        )
    )
    scene = build_scene(simulate(table, State([2.0], [0.0]), t_end=0.5))
    (top,) = scene.surfaces
    assert not top.is_still
    assert top.at[:, 1] == pytest.approx(0.1 * np.sin(7 * scene.t), abs=1e-8)


def test_two_balls_push_each_other():
    chain = derive(load("three_ball_chain"))
    R = chain.mechanism.parameter_values({})["R"]
    motion = simulate(chain, State([0, 2 * R, 4 * R], [0, 0, 0]), t_end=0.1)
    scene = build_scene(motion)
    assert {(force.name, force.point) for force in scene.forces} == {
        ("first_pair", "right1"),
        ("first_pair", "left2"),
        ("second_pair", "right2"),
        ("second_pair", "left3"),
    }
    for name in ("first_pair", "second_pair"):
        back, forth = (force.vector for force in scene.forces if force.name == name)
        assert np.array_equal(back, -forth)


def hostile(**fields):
    return Mechanism(
        name="hostile",
        coordinates=["y"],
        dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="9.81*y"),
        contact=[Contact(name="floor", gap="y")],
        **fields,
    )


def test_nothing_of_a_declaration_becomes_markup():
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    declared = hostile(title=evil, drawing={"points": {evil: ["0", "y"], "b": ["1", "y"]}, "links": [[evil, "b"]]})
    text = render_animation(simulate(derive(declared), State([1.0], [0.0]), t_end=0.1))
    page = Page(text)
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert evil in page.text
    assert scene_of(text)["names"] == [evil, "b"]


def test_without_a_drawing_the_page_says_how_to_declare_one():
    motion = simulate(derive(hostile()), State([1.0], [0.0]), t_end=0.1)
    with pytest.raises(DeclarationError, match=r"declares no points to draw; declare them as \[drawing\] points"):
        render_animation(motion)


def test_a_point_without_a_place_is_named_with_its_time():
    declared = hostile(drawing={"points": {"root": ["sqrt(y)", "y"]}})
    motion = simulate(derive(declared), State([0.5], [0.0]), t_end=0.3)
    assert render_animation(motion)
    lost = derive(attrs.evolve(declared, contact=(), drawing={"points": {"root": ["sqrt(y)", "y"]}}))
    with pytest.raises(ComputationError, match=r"point 'root' has no place at t = 0\.3"):
        render_animation(simulate(lost, State([0.5], [0.0]), t_end=0.5))


def test_contacts_that_act_at_no_point_are_named():
    declared = hostile(drawing={"points": {"elsewhere": ["0", "0"]}})
    page = Page(render_animation(simulate(derive(declared), State([1.0], [0.0]), t_end=0.1)))
    assert "because no point of the drawing moves with it: the force of floor" in page.text


def test_a_motion_without_arcs_is_one_picture():
    rod = derive(load("rod_on_incline"))
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5})
    text = render_animation(simulate(rod, start, t_end=1, parameters={"mu": 1.5}))
    assert scene_of(text)["t"] == [0.0]
    assert "No contact mode is consistent" in Page(text).text


def test_spatial_drawings_have_three_axes():
    rod = derive(load("oblique_rod"))
    text = render_animation(simulate(rod, State([0, 0, 1, 0, 1], [0, 0, 0, 0.5, 0]), t_end=0.3))
    scene = scene_of(text)
    assert scene["axes"] == 3
    assert scene["surfaces"][0]["normal"] == pytest.approx([0, 0, 1], abs=1e-6)
    assert "to look from elsewhere" in text


def test_thousands_of_arcs_still_make_a_small_page():
    ball = derive(load("bouncing_ball"))
    stepped = simulate(ball, State([1.0], [0.0]), t_end=4.0, method="time-stepping", step=1e-3, parameters={"e": 0.97})
    arc = simulate(ball, State([1.0], [0.0]), t_end=0.4).arcs[0]
    count = 6000
    times = np.linspace(0, 4.0, count + 1)
    # a motion that changes its mode six thousand times, made of pieces of one fall
    arcs = tuple(
        attrs.evolve(
            arc, mode=stepped.arcs[0].mode if i % 2 else type(arc.mode)({"floor": "closed"}), knots=times[i : i + 2],
            coefficients=arc.coefficients[:1],
        )
        for i in range(count)
    )  # fmt: skip
    motion = attrs.evolve(stepped, arcs=arcs, events=())
    text = render_animation(motion)
    assert len(text.encode()) < MEGABYTE
    assert len(timeline(motion)["floor"]) <= 1000


def test_pieces_of_the_timeline_cover_the_time_with_their_modes(sliding):
    pieces = timeline(sliding)["tip"]
    assert [piece.label for piece in pieces] == ["stick", "slide-", "slide+"]
    assert [piece.end for piece in pieces[:-1]] == [piece.start for piece in pieces[1:]]
    assert (pieces[0].start, pieces[-1].end) == (0.0, 2.0)
    bounced = simulate(derive(load("bouncing_ball")), State([1.0], [0.0]), t_end=2, law=NewtonImpact())
    assert [piece.label for piece in timeline(bounced)["floor"]] == ["free"]  # impacts take no time


def relative_luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("label", MODE_FILLS)
def test_labels_are_legible_on_their_colours(label):
    # contrast by the Web Content Accessibility Guidelines 2.1, 1.4.3: at least 4.5 to 1
    fill = MODE_FILLS[label]
    light, dark = sorted((relative_luminance(fill), relative_luminance(ink_on(fill))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_rough_rail_has_its_guide_and_its_force_in_the_picture():
    # a bead of 2 kg slides down the rail y = -0.3 x with mu = 0.1: the rail carries m g cos(alpha) across itself, and
    # friction of a tenth of that points up the slope, alpha = atan(0.3)
    rail = Constraint(name="rail", equation="(y + 0.3*x)/sqrt(1.09)", tangent="(x - 0.3*y)/sqrt(1.09)", friction="0.1")
    bead = Mechanism(
        name="bead",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="x_dot**2 + y_dot**2", potential="20*y"),
        constraint=[rail],
        drawing={"points": {"bead": ["x", "y"]}},
    )
    dynamics = derive(bead)
    scene = build_scene(simulate(dynamics, solve_state(dynamics, {"x": 0, "x_dot": 1}), t_end=0.3))
    (guide,) = scene.surfaces
    assert guide.is_guide
    assert guide.is_still
    along = np.array([1.0, -0.3]) / math.sqrt(1.09)
    assert abs(guide.normal[0] @ along) < 1e-9
    (force,) = scene.forces
    normal = 20 / math.sqrt(1.09)
    across = np.array([0.3, 1.0]) / math.sqrt(1.09)
    # central differences of the points are good to 1e-9
    assert np.allclose(force.vector, normal * (across - 0.1 * along), rtol=1e-6)
    assert scene.without_force == ()
