"""Values show themselves: in one line, and in a notebook as parts of a page that live side by side."""

import re
from html.parser import HTMLParser

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import (
    CertifiedMap,
    Comparison,
    Functional,
    State,
    build_automaton,
    build_report,
    certified_friction,
    certified_map,
    compare,
    critical_friction,
    derive,
    ensemble,
    region_map,
    select,
    sensitivity,
    simulate,
)
from hybrid.contact import NewtonImpact
from hybrid.displays import AbstractDisplayed
from hybrid.numeric import NumericContact, NumericState, select as select_numbers
from hybrid.reporting.sections import notebook_html, themed

PARADOX = {"phi": "60 deg", "phi_dot": "1/2", "slip.tip": -1}
STRONG = {"mu": "3/2"}
VOID = {"br", "hr", "img", "input", "meta", "link"}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


@pytest.fixture(scope="module")
def values(rod):
    """One value of every class that a notebook shows but the log of a robot, cheap ones."""
    carts = derive(mechanisms.load("two_carts"))
    bounce = simulate(carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact())
    swept = ["phi=0:pi:8", "phi_dot=-3:3:8"]
    return {
        "Mechanism": rod.mechanism,
        "Dynamics": rod.at(STRONG),
        "Selection": select(rod, PARADOX, parameters=STRONG),
        "RegionMap": region_map(rod, axes=swept, pins={"slip.tip": "+0"}, parameters=STRONG),
        "CriticalFriction": critical_friction(rod, over=["phi=0:pi"]),
        "Automaton": build_automaton(rod),
        "Trajectory": simulate(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}, t_end=0.5),
        "Comparison": compare(rod, PARADOX, stiffness=(), parameters=STRONG),
        "Sensitivity": sensitivity(bounce, Functional("q1_dot**2"), ["k1", "k2"]),
        "Report": build_report(rod, PARADOX, parameters=STRONG, axes=swept),
        "Ensemble": ensemble(rod, starts={"phi": [0.4, 0.5]}, pins={"phi_dot": 0, "slip.tip": 0}, t_end=0.1),
    }


@pytest.fixture(scope="module")
def shown(values):
    return {name: value._repr_html_() for name, value in values.items()}


class Elements(HTMLParser):
    """Tags that are closed in order, ids, and the links to them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]
        self.note(dict(attributes))

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.note(dict(attributes))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def note(self, attributes):
        self.ids += [attributes["id"]] if "id" in attributes else []
        for name in ("href", "xlink:href"):
            link = attributes.get(name, "")
            self.links += [link[1:]] if link.startswith("#") else []
        self.links += re.findall(r"url\(#([^)]+)\)", " ".join(value or "" for value in attributes.values()))


def test_every_value_is_one_short_line(values):
    for name, value in values.items():
        line = repr(value)
        assert line.startswith(f"<{name}"), line
        assert len(line) <= 120, line
        assert "\n" not in line


def test_a_line_says_what_was_found(rod, values):
    assert repr(rod.at({"mu": "3/2"})) == "<Dynamics rod_on_incline: coordinates x y phi, with tip, mu = 3/2>"
    assert "INCONSISTENT" in repr(values["Selection"])
    # the least critical friction of a rod is 4/3 (Genot and Brogliato 1999)
    assert "1.33333 at phi = 1.10715" in repr(values["CriticalFriction"])
    assert "8 x 8" in repr(values["RegionMap"])
    assert "2 motions over phi" in repr(values["Ensemble"])
    assert "over an array" in repr(rod.at({"mu": np.array([0.1, 0.2])}))


def test_a_line_costs_nothing(rod):
    fresh = derive(rod.mechanism)
    automaton = build_automaton(fresh)
    built = len(automaton._built), len(automaton._reasons), len(fresh._shared)
    repr(automaton), repr(fresh), repr(fresh.mechanism)
    assert (len(automaton._built), len(automaton._reasons), len(fresh._shared)) == built


def test_sections_live_side_by_side(shown):
    pages = {name: Elements(text) for name, text in shown.items()}
    ids = [item for page in pages.values() for item in page.ids]
    assert len(ids) == len(set(ids))
    for name, page in pages.items():
        assert not {"html", "body", "head", "script", "link", "h1", "h2", "h3"} & set(page.tags), name
        assert set(page.links) <= set(page.ids), name


def test_a_section_is_the_same_each_time(values, shown):
    for name in ("Selection", "RegionMap"):
        assert values[name]._repr_html_() == shown[name]


def test_a_section_styles_nothing_else(shown):
    text = shown["Report"]
    rules = [rule for style in re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL) for rule in style.split("}")]
    selectors = [
        one.strip()
        for rule in rules
        if "{" in rule
        for one in re.sub(r"/\*.*?\*/", "", rule, flags=re.DOTALL).partition("{")[0].split(",")
    ]
    assert len(selectors) > 30
    own = re.search(r'id="(p[0-9a-f]+)"', text)[1]
    assert {item for item in selectors if not item.startswith((".painleve", f"#{own}-"))} == set()


def test_letters_and_axes_have_the_colour_of_the_notebook(shown):
    for name in ("RegionMap", "Trajectory", "Sensitivity"):
        (picture,) = re.findall("<svg.*?</svg>", shown[name], re.DOTALL)
        assert "stroke: #000000" not in picture, name
        assert picture.count("currentColor") > 5, name
        ground = re.search(r'id="[^"]*patch_1">\s*<path[^>]*style="([^"]*)"', picture)[1]
        assert ground == "fill: none", name


def test_colours_of_areas_and_their_letters_stay():
    drawn = '<svg><path style="fill: #12ab34; stroke: none"/><g style="fill: #ffffff"/><g style="fill: #123456"/></svg>'
    assert themed(drawn) == drawn.replace("<svg", '<svg fill="currentColor"')


def test_dark_lines_are_mixed_with_the_colour_of_the_text():
    dark, bright = (themed(f'<svg><path style="fill: none; stroke: {c}"/></svg>') for c in ("#123a6d", "#e0c040"))
    assert "stroke: color-mix(in srgb, #123a6d 60%, currentColor)" in dark
    assert "stroke: #e0c040" in bright


def test_ids_tell_different_parts_apart_and_are_the_same_tomorrow():
    first, other = (notebook_html(f'<p id="a">{text}</p><a href="#a">there</a>') for text in "xy")
    assert set(re.findall(r'id="([^"]+)"', first)).isdisjoint(re.findall(r'id="([^"]+)"', other))
    assert first == notebook_html('<p id="a">x</p><a href="#a">there</a>')


def test_a_section_says_what_the_page_says(shown):
    verdict = shown["Selection"]
    assert 'class="painleve INCONSISTENT"' in verdict
    assert "No contact mode is consistent." in verdict
    assert "Certificate of inconsistency" in verdict
    assert "Verified in exact rational arithmetic" in verdict
    # a_N of free flight: l phi_dot^2 sin(phi) - g = sin(60 deg)/4 - 1
    free = float(re.search(r'<data value="(-0\.78[^"]*)">', verdict)[1])
    assert free == pytest.approx(np.sin(np.pi / 3) / 4 - 1, abs=1e-12)
    assert "INDETERMINATE" in shown["RegionMap"]


def test_what_a_user_declares_is_text(rod):
    hostile = attrs.evolve(rod.mechanism, title="<script>alert(1)</script>", references=["<img src=x>", "| a | b"])
    for value in (hostile, derive(hostile), select(derive(hostile), PARADOX, parameters=STRONG)):
        page = Elements(value._repr_html_())
        assert not {"script", "img"} & set(page.tags)


def test_a_state_in_numbers_is_shown_without_names():
    # a block of 2 kg at rest on a floor: lambda_N = 2 * 9.81
    floor = NumericContact("floor", [0.0, 1.0], W_T=[1.0, 0.0], slip=[0.0], friction=0.5)
    found = select_numbers(NumericState(2 * np.eye(2), [0.0, -19.62], contacts=[floor]))
    shown = found._repr_html_()
    assert '<data value="19.62">' in shown
    assert "State</div>" not in shown


def test_a_comparison_made_by_hand_leaves_its_line_to_the_notebook():
    assert Comparison("UNIQUE", (), None, ())._repr_html_() is None


@pytest.mark.long
def test_certified_answers_show_themselves(rod):
    proved = certified_map(rod, axes=["phi=0:pi", "mu=0:2"], pins={"phi_dot": 0, "slip.tip": -1}, gap=0.1)
    assert isinstance(proved, CertifiedMap)
    least = certified_friction(rod, over=["phi=0:pi"])
    for value in (proved, least):
        assert isinstance(value, AbstractDisplayed)
        assert len(repr(value)) <= 120
        Elements(value._repr_html_())
    assert "proved absent" in proved._repr_html_()  # one sliding contact: INDETERMINATE needs b > 0, and b = -g
    assert repr(least.low) in least._repr_html_()
