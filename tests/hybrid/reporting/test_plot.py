"""Plots of region maps: what is drawn is what the map says."""

import re
import xml.etree.ElementTree as ET
from functools import cache, partial

import numpy as np
import pytest
from matplotlib.colors import to_hex

from hybrid import simulate, solve_state
from hybrid.analysis import Axis, region_map
from hybrid.contact import CellVerdict
from hybrid.reporting import figure_svg, plot_map, save_figure
from hybrid.reporting.regions import regions
from hybrid.reporting.samples import quantity, sampled
from hybrid.reporting.touching import plot_posture, posture
from tests.catalogue import dynamics_of
from tests.hybrid.reporting.states import solved

UNITS = {"phi": "rad", "phi_dot": "rad/s", "theta": "rad", "theta_dot": "rad/s"}


@cache
def rod_map(*, slip="+0", mu=1.5, cells=80):
    axes = [Axis("phi", 0, np.pi, cells), Axis("phi_dot", -3, 3, cells)]
    rod = dynamics_of("rod_on_incline")
    return region_map(rod, axes=axes, pins={"slip.tip": slip}, parameters={"mu": mu}, with_boundaries=True)


@cache
def ladder_map():
    axes = [Axis("theta", 0.1, 1.5, 40), Axis("theta_dot", -6, 6, 40)]
    pins = dict.fromkeys(["gap.floor", "gap.wall", "gap_dot.floor", "gap_dot.wall"], 0)
    return region_map(dynamics_of("ladder_in_corner"), axes=axes, pins=pins, parameters={"mu": 1.6})


@pytest.mark.parametrize("found", [rod_map, ladder_map])
def test_regions_partition_the_map(found):
    drawn = regions(found())
    assert np.array_equal(np.sum([region.cells for region in drawn], axis=0), np.ones(found().verdict.shape))
    assert sum(region.fraction for region in drawn) == pytest.approx(1, abs=1e-12)
    for region in drawn:
        verdicts = {CellVerdict(int(code)).name for code in np.unique(found().verdict[region.cells])}
        assert verdicts <= {region.verdict, "UNIQUE", "HYPERSTATIC"} if region.verdict == "UNIQUE" else {region.verdict}


def test_a_label_of_one_contact_has_one_fill_in_every_map():
    found = {}
    for mu, slip in ((0.3, "+0"), (1.5, "+0"), (1.5, "-0"), (0.3, 0)):
        for region in regions(rod_map(slip=slip, mu=mu, cells=20)):
            found.setdefault(region.label, set()).add(region.fill)
    assert {"free", "slide+", "slide-", "free | slide+ (indeterminate)", "none (inconsistent)"} <= found.keys()
    assert all(len(fills) == 1 for fills in found.values())


def test_regions_of_several_contacts_have_one_fill_whatever_their_areas():
    ladder, found = dynamics_of("ladder_in_corner"), []
    for postures in ("0.1:0.9:20", "0.5:1.5:20"):
        axes = [Axis.parse(f"theta={postures}"), Axis.parse("theta_dot=-3:3:20")]
        pins = dict.fromkeys(["gap.floor", "gap.wall", "gap_dot.floor", "gap_dot.wall"], 0)
        found.append(regions(region_map(ladder, axes=axes, pins=pins, parameters={"mu": 0.8})))
    by_area = [[region.label for region in sorted(drawn, key=lambda region: region.fraction)] for drawn in found]
    assert by_area[0] != by_area[1]
    first, second = ([(region.label, region.fill) for region in drawn] for drawn in found)
    assert first == second


def test_legend_gives_the_area_of_every_region():
    figure = plot_map(rod_map(), state=(2.0, 0.0), units=UNITS)
    entries = [text.get_text().strip("\u200b") for text in figure.legends[0].get_texts()]
    for label, fraction in rod_map().mode_fractions.items():
        name = re.escape(label.replace("|", " | "))
        [entry] = [text for text in entries if re.match(rf"{name}( \(\w+\))?  ", text)]
        assert entry.endswith(f"{100 * fraction:.1f} %")
    assert entries[-1] == "the state"


def test_every_patch_of_the_legend_is_framed_a_hatched_one_in_the_colour_of_its_lines():
    # a white patch that shows some dots of its hatching only would seem to be a symbol that is cut off
    legend = plot_map(rod_map(), units=UNITS).legends[0]
    fills = [region.fill for region in regions(rod_map())]
    assert any(fill.hatch for fill in fills)
    for patch, fill in zip(legend.get_patches(), fills, strict=True):
        assert patch.get_linewidth() > 0.0
        assert to_hex(patch.get_edgecolor()) == to_hex(fill.ink if fill.hatch else "0.5")


def test_every_pixel_inside_a_plain_region_has_the_colour_of_the_legend(tmp_path):
    from matplotlib.image import imread

    found, path = rod_map(), tmp_path / "map.png"
    figure = plot_map(found, units=UNITS)
    save_figure(figure, path)
    pixels = imread(path)[..., :3]
    axes = figure.axes[0]
    scale = pixels.shape[0] / figure.bbox.height
    for region in regions(found):
        if region.fill.hatch:
            continue
        # cells whose neighbours are alike, away from curves and frame
        inner = region.cells.copy()
        for shift in range(-3, 4):
            for axis in (0, 1):
                inner &= np.roll(region.cells, shift, axis)
        inner[:4], inner[-4:], inner[:, :4], inner[:, -4:] = False, False, False, False
        for i, j in np.argwhere(inner)[::37]:
            x, y = axes.transData.transform((found.axes[0].values[i], found.axes[1].values[j])) * scale
            # eight bits a channel
            np.testing.assert_allclose(pixels[-round(y), round(x)], region.fill.colour, atol=1 / 255)


def test_paradoxes_and_only_these_are_hatched():
    drawn = {region.verdict: bool(region.fill.hatch) for region in regions(rod_map())}
    assert drawn == {"UNIQUE": False, "INDETERMINATE": True, "INCONSISTENT": True}
    hatched = [patch for patch in plot_map(rod_map()).axes[0].patches if patch.get_hatch()]
    assert len(hatched) == 2
    # the inconsistent strip is bounded by the roots of 1 + 3 cos^2 + 4.5 sin cos (Mamaev and Ivanova 2013)
    roots = np.sort(np.pi + np.arctan(np.roots([1, 4.5, 4])))
    strip = min(hatched, key=lambda patch: np.ptp(patch.get_path().vertices[:, 1]))
    ends = strip.get_path().vertices[:, 0]
    # contours lie between cell centres, half a cell from the truth at most
    np.testing.assert_allclose([ends.min(), ends.max()], roots, atol=np.pi / 80)


def test_curves_of_the_plot_are_the_boundaries_of_the_map():
    lines = plot_map(rod_map()).axes[0].lines
    assert len(lines) == len(rod_map().boundaries) > 0
    for line, boundary in zip(lines, rod_map().boundaries, strict=True):
        assert np.array_equal(line.get_xydata(), boundary.points, equal_nan=True)


def test_axes_have_symbols_units_and_ticks_in_pi():
    axes = plot_map(rod_map(), units=UNITS).axes[0]
    assert axes.get_xlabel() == r"$\varphi$  (rad)"
    assert axes.get_ylabel() == r"$\dot{\varphi}$  (rad/s)"
    shown = {round(value, 9): axes.xaxis.get_major_formatter()(value, 0) for value in axes.get_xticks()}
    assert shown[round(np.pi / 4, 9)] == "π/4"
    assert shown[round(np.pi, 9)] == "π"


def test_many_regions_are_numbered_and_at_most_nine_are_told_apart():
    drawn = regions(ladder_map())
    assert 5 < len(drawn) <= 9 + 4
    figure = plot_map(ladder_map(), units=UNITS)
    numbers = {text.get_text() for text in figure.axes[0].texts}
    assert numbers <= {str(i + 1) for i in range(len(drawn))}
    largest = max(range(len(drawn)), key=lambda i: drawn[i].fraction)
    assert str(largest + 1) in numbers
    assert figure.legends[0].get_texts()[0].get_text().startswith("1  ")


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_file_is_what_its_ending_says_and_the_same_every_time(tmp_path, ending, start):
    paths = [tmp_path / f"{name}.{ending}" for name in ("one", "two")]
    for path in paths:
        save_figure(plot_map(rod_map(cells=20), state=(2.0, 0.0)), path)
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("name", ["map", "map.gif"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"written as \.svg, \.png or \.pdf"):
        save_figure(plot_map(rod_map(cells=20)), tmp_path / name)


def test_svg_is_well_formed_and_loads_nothing():
    svg = figure_svg(plot_map(rod_map(cells=20), state=(2.0, 0.0), units=UNITS, title="a $ < b"))
    root = ET.fromstring(svg)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name.endswith("href"):
                assert value.startswith(("#", "data:image/png;base64,"))
            assert not re.search(r"url\((?!#)", value)
    assert not list(root.iter("{http://www.w3.org/2000/svg}text"))


def test_plotting_leaves_the_settings_of_the_user_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    figure_svg(plot_map(rod_map(cells=20)))
    assert dict(matplotlib.rcParams) == before


def test_sketch_draws_every_link_and_names_every_point():
    dynamics, state, parameters = solved("ladder_in_corner")
    drawn = posture(dynamics, state, closed=("floor", "wall"), parameters=parameters)
    axes = plot_posture(drawn).axes[0]
    assert {text.get_text() for text in axes.texts} == {"foot", "top"}
    ends = np.array([[2 * np.cos(1.2), 0], [0, 2 * np.sin(1.2)]])
    assert any(line.get_xydata().shape == (2, 2) and np.allclose(line.get_xydata(), ends) for line in axes.lines)


def test_a_motion_over_a_map_lies_where_it_passes_and_is_dotted_where_it_flies():
    rod = dynamics_of("rod_on_incline")
    start = solve_state(rod, {"phi": 2.9, "phi_dot": -2.4, "slip.tip": -1}, parameters={"mu": 1.5})
    motion = simulate(rod, start, t_end=0.2, parameters={"mu": 1.5})
    axes = plot_map(rod_map(), motion=motion, units=UNITS).axes[0]
    drawn = {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}
    assert [arc.mode["tip"].value for arc in motion.arcs] == ["free"]
    assert set(drawn) == {"the motion, a contact apart", "its start", "its end"}
    # in flight nothing turns the rod: it goes on at the speed that it has
    curve = drawn["the motion, a contact apart"].get_xydata()
    curve = curve[~np.isnan(curve[:, 0])]
    assert curve[:, 1] == pytest.approx(-2.4, abs=1e-9)
    assert curve[[0, -1], 0] == pytest.approx([2.9, 2.9 - 2.4 * 0.2], abs=1e-9)
    assert drawn["its start"].get_xydata() == pytest.approx(np.array([[2.9, -2.4]]))


def test_a_motion_over_a_map_is_followed_by_gaps_slips_and_parameters_too():
    rod = dynamics_of("rod_on_incline")
    start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}, parameters={"mu": 0.4})
    motion = simulate(rod, start, t_end=0.5, parameters={"mu": 0.4})
    samples = sampled(motion)
    seen = ~np.isnan(samples.t)
    # the slip is that of the end x - l cos(phi), with l = 1
    x_dot, phi, phi_dot = samples.v[:, 0], samples.q[:, 2], samples.v[:, 2]
    at = partial(quantity, q=samples.q, v=samples.v, t=samples.t, parameters=motion.parameters)
    assert at(motion.dynamics, "slip.tip")[seen] == pytest.approx((x_dot + np.sin(phi) * phi_dot)[seen], abs=1e-12)
    assert at(motion.dynamics, "gap.tip")[seen] == pytest.approx(0, abs=1e-9)
    assert at(motion.dynamics, "mu") == pytest.approx(0.4)
    assert at(motion.dynamics, "gap.heel") is None
