"""Figures in every style: the width that was asked for, legible letters, and nothing cut off or overlapping."""

import itertools
import re
import zlib

import numpy as np
import pytest

from hybrid import derive, plot_map, plot_motion, select, simulate, solve_state
from hybrid.analysis import Axis, region_map
from hybrid.motion import simulate_branches
from hybrid.reporting import friction_cones, plot_cones, plot_phase, plot_tree, save_figure
from hybrid.reporting.figures import STYLES, settings, style_of
from hybrid.reporting.regions import lightness, line_styles
from tests.catalogue import dynamics_of
from tests.hybrid.reporting.test_palette import BLIND, lab, linear

PHONE = 360  # CSS pixels that a page has for a figure on a telephone


@pytest.fixture(scope="module")
def rod():
    return dynamics_of("rod_on_incline")


@pytest.fixture(scope="module")
def motion(rod):
    return simulate(rod, solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}), t_end=2)


@pytest.fixture(scope="module")
def draw(rod, motion):
    """Every kind of figure that takes a style."""
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters={"mu": 1.5})
    tree = simulate_branches(rod, start, t_end=0.3, parameters={"mu": 1.5})
    axes = [Axis("phi", 0, np.pi, 30), Axis("phi_dot", -3, 3, 30)]
    found = region_map(rod, axes=axes, pins={"slip.tip": -1}, with_boundaries=True)
    units = {"phi": "rad", "phi_dot": "rad/s"}
    ladder = dynamics_of("ladder_in_corner")
    pins = dict.fromkeys(["gap.floor", "gap.wall", "gap_dot.floor", "gap_dot.wall"], 0)
    standing = solve_state(ladder, {"theta": 1.0, "theta_dot": 0, **pins})
    cones = friction_cones(select(ladder, standing))
    many = region_map(ladder, axes=[Axis("theta", 0.1, 1.5, 20), Axis("theta_dot", -6, 6, 20)], pins=pins)
    return {
        "motion": lambda style: plot_motion(motion, style=style),
        "tree": lambda style: plot_tree(tree, style=style),
        "phase": lambda style: plot_phase(motion, style=style),
        "tree in phase": lambda style: plot_phase(tree, style=style),
        "map": lambda style: plot_map(found, units=units, title="A map", motion=motion, state=(1, 1), style=style),
        "cones": lambda style: plot_cones(cones, units=dict.fromkeys(ladder.contacts, "N"), style=style),
        "crowded map": lambda style: plot_map(many, units=units, style=style),
    }


KINDS = ("motion", "tree", "phase", "tree in phase", "map", "crowded map", "cones")


def texts(figure):
    """Every text that is seen, with its box in points."""
    from matplotlib.text import Text

    with settings(style_of(figure)):
        figure.canvas.draw()
        scale = 72 / figure.dpi
        for text in figure.findobj(Text):
            if text.get_visible() and text.get_text().strip("\u200b \n"):
                yield text, text.get_window_extent().frozen().transformed(_scaled(scale))


def undrawn_ticks(figure):
    """Words of ticks beyond the limits, which are not drawn."""
    found = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            room = 1e-9 * (high - low)
            places = axis.get_majorticklocs()
            drawn = {
                tick
                for tick, place in zip(axis.get_major_ticks(len(places)), places, strict=True)
                if low - room <= place <= high + room
            }
            found |= {label for tick in axis.majorTicks if tick not in drawn for label in (tick.label1, tick.label2)}
    return found


def _scaled(factor):
    from matplotlib.transforms import Affine2D

    return Affine2D().scale(factor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "style", [pytest.param(name, marks=() if name == "single" else pytest.mark.long) for name in STYLES]
)
def test_a_figure_has_its_width_and_every_word_is_whole_and_legible(draw, style, kind):
    figure = draw[kind](style)
    width, height = 72 * figure.get_figwidth(), 72 * figure.get_figheight()
    assert figure.get_figwidth() == pytest.approx(STYLES[style].width)
    boxes = list(texts(figure))
    outside = undrawn_ticks(figure)
    for text, box in boxes:
        if text in outside:
            continue
        assert box.x0 >= -1, text.get_text()
        assert box.y0 >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()
        assert box.y1 <= height + 1, text.get_text()
        assert text.get_fontsize() >= 6.5  # no journal asks for more than 7, and 6 is the least of any
        if style == "page":
            assert text.get_fontsize() * PHONE / width >= 8.5, text.get_text()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("style", [pytest.param("page", marks=pytest.mark.long), "single"])
def test_words_of_a_legend_do_not_lie_on_one_another(draw, style, kind):
    figure = draw[kind](style)
    boxes = dict(texts(figure))
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    words = [boxes[text] for legend in legends for text in legend.get_texts()]
    assert words
    for one, other in itertools.combinations(words, 2):
        assert min(one.x1, other.x1) - max(one.x0, other.x0) < 1 or min(one.y1, other.y1) - max(one.y0, other.y0) < 1


def test_columns_are_those_of_journals():
    single, double = (STYLES[name].width * 25.4 for name in ("single", "double"))
    assert 85 <= single <= 90
    assert 170 <= double <= 180


def test_a_pdf_embeds_whole_truetype_fonts_and_none_of_type_3(motion, tmp_path):
    save_figure(plot_motion(motion, style="single"), tmp_path / "motion.pdf")
    data = (tmp_path / "motion.pdf").read_bytes()
    streams = [
        zlib.decompress(part) for part in re.findall(rb"FlateDecode.*?stream\r?\n(.*?)endstream", data, re.DOTALL)
    ]
    text = data + b"".join(streams)
    fonts = set(re.findall(rb"/BaseFont /(?:[A-Z]{6}\+)?([\w-]+)", text))
    assert any(name.startswith(b"STIX") for name in fonts)
    assert b"/Subtype /Type3" not in text
    assert text.count(b"/FontFile2") >= len({name for name in fonts if name.startswith(b"STIX")})
    width = float(re.search(rb"/MediaBox \[\s*0 0 ([\d.]+)", text)[1])
    assert width == pytest.approx(88 / 25.4 * 72, abs=0.1)


def test_a_figure_of_a_journal_has_no_title_unless_one_is_given(motion):
    assert plot_motion(motion, style="single").get_suptitle() == ""
    assert plot_motion(motion, style="single", title="A rod").get_suptitle() == "A rod"
    assert plot_motion(motion).get_suptitle() != ""


def colours(count):
    return [tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)) for colour, _ in line_styles(count)]


def test_lines_are_told_apart_by_lightness_and_seen_on_white():
    lights = np.array([lightness(colour) for colour in colours(5)])
    # 44 of L* in four steps, rounded to eight bits
    assert np.all(np.diff(lights) >= 10.5)
    for colour in colours(5):
        # WCAG 2.2, 1.4.11: what carries meaning has a contrast of 3 to the ground
        luminance = np.array([0.2126, 0.7152, 0.0722]) @ linear(colour)
        assert 1.05 / (luminance + 0.05) >= 3


# Machado, Oliveira and Fernandes 2009, severity 1, as the other two.
TRITANOPIA = np.array(
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
)


@pytest.mark.parametrize("vision", [*BLIND.values(), TRITANOPIA], ids=[*BLIND, "tritanopia"])
def test_lines_are_told_apart_by_every_reader(vision):
    seen = [lab(vision @ linear(colour)) for colour in colours(5)]
    # CIE 1976 colour difference; 2.3 is just noticeable side by side, thin lines need several times as much
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) > 10 * 2.3


def test_thirty_lines_have_thirty_looks_and_neighbours_differ_in_colour_and_stroke():
    looks = line_styles(30)
    assert len(set(looks)) == 30
    for (colour, stroke), (next_colour, next_stroke) in itertools.pairwise(looks):
        assert colour != next_colour
        assert stroke != next_stroke


def test_a_phase_portrait_holds_the_motion_and_its_jumps():
    from hybrid import State
    from hybrid.contact import NewtonImpact

    ball = derive(dynamics_of("bouncing_ball").mechanism)
    motion = simulate(ball, State([1.0], [0.0]), t_end=1.0, law=NewtonImpact())
    (axes,) = plot_phase(motion).axes
    curve, jumps, start, end = axes.get_lines()
    y, v = curve.get_xydata().T
    kept = ~np.isnan(y)
    # between impacts the energy is kept: v^2/2 + g y = g before the first, e^2 g = 0.64 g after it
    energy = v[kept] ** 2 / 2 + 9.81 * y[kept]
    assert np.allclose(np.minimum(abs(energy - 9.81), abs(energy - 0.64 * 9.81)), 0, atol=1e-9)
    fall = np.sqrt(2 * 9.81)
    assert jumps.get_xydata()[:2] == pytest.approx(np.array([[0, -fall], [0, 0.8 * fall]]), abs=1e-9)
    assert start.get_xydata() == pytest.approx(np.array([[1, 0]]))
    assert end.get_xydata()[0] == pytest.approx([motion.q[0], motion.v[0]])
