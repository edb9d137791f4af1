"""Pictures of automata: everything is in them once, inside the frame and apart."""

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from hybrid.automaton.export.diagrams import arrows
from hybrid.automaton.outline import outline
from hybrid.reporting import figure_svg, plot_automaton
from tests.hybrid.automaton.machines import automaton_of

NAMES = [
    "rod_on_incline",
    "bouncing_ball",
    "ladder_in_corner",
    "collar on rail",
    "oblique_rod",
    "seal",
    "floor and ceiling",
]


def named(figure, *beginnings):
    return [patch for patch in figure.axes[0].patches if patch.get_gid().startswith(beginnings)]


@pytest.mark.parametrize("name", NAMES)
def test_every_node_is_drawn_inside_the_frame_and_apart_from_the_others(name):
    automaton = automaton_of(name)
    figure = plot_automaton(automaton)
    figure.draw_without_rendering()
    nodes = named(figure, "mode", "impact")
    assert len(nodes) == len(automaton.graph)
    boxes = [node.get_window_extent() for node in nodes]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for extent in [*boxes, *(patch.get_window_extent() for patch in named(figure, "edge"))]:
        assert figure.bbox.x0 <= extent.x0 <= extent.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= extent.y0 <= extent.y1 <= figure.bbox.y1


@pytest.mark.parametrize("name", NAMES)
def test_words_of_a_node_lie_inside_it(name):
    figure = plot_automaton(automaton_of(name))
    figure.draw_without_rendering()
    (x0, y0), (x1, y1) = figure.bbox.min, figure.bbox.max
    for text in figure.axes[0].texts:
        extent = text.get_window_extent()
        assert x0 <= extent.x0 <= extent.x1 <= x1
        assert y0 <= extent.y0 <= extent.y1 <= y1
    for text in figure.axes[0].texts:
        if "degree" in text.get_text():
            box = min((node.get_window_extent() for node in named(figure, "mode")), key=_distance(text))
            assert box.x0 <= text.get_window_extent().x0
            assert text.get_window_extent().x1 <= box.x1


def _distance(text):
    extent = text.get_window_extent()
    return lambda box: abs(box.x0 + box.x1 - extent.x0 - extent.x1) + abs(box.y0 + box.y1 - extent.y0 - extent.y1)


@pytest.mark.parametrize(
    ("name", "labels"), [("rod_on_incline", ["stick", "slide+"]), ("ladder_in_corner", ["floor=stick,wall=stick"])]
)
def test_the_consistent_modes_are_marked(name, labels):
    figure = plot_automaton(automaton_of(name), highlight=labels)
    assert len(named(figure, "consistent")) == len(labels)
    assert len({patch.get_facecolor() for patch in named(figure, "consistent", "mode")}) == 2


def test_every_pair_of_the_rod_has_an_arrow_from_source_to_target_and_the_paradoxes_are_dashed():
    automaton = automaton_of("rod_on_incline")
    figure = plot_automaton(automaton)
    figure.draw_without_rendering()
    drawn = named(figure, "edge")
    edges = [edge for *_, edge in automaton.graph.edges(data="transition")]
    pairs = {(edge.source, edge.target) for edge in edges}
    regular = {(edge.source, edge.target) for edge in edges if edge.is_regular}
    assert len(drawn) == len(pairs)
    assert sum(arrow.get_linestyle() not in ("-", "solid") for arrow in drawn) == len(pairs - regular)
    found = outline(automaton)
    boxes = {
        node.key: patch.get_path().transformed(patch.get_patch_transform()).get_extents().padded(8)
        for node, patch in zip(found.nodes, named(figure, "mode", "impact"), strict=True)
    }
    for arrow, merged in zip(drawn, arrows(found), strict=True):
        points = arrow.get_path().vertices  # the line, then its head
        assert boxes[merged.source].contains(*points[0])
        assert boxes[merged.target].contains(*points[-3])
        assert not boxes[merged.source].contains(*points[-3])
    # labels, of what does not come from the impact, stand where their arrow passes
    written = [text.get_text() for text in figure.axes[0].texts]
    assert written.count("slip = 0") == 4
    assert written.count("gap = 0") == 1


def test_the_file_is_well_formed_and_refers_to_nothing_outside():
    root = ET.fromstring(figure_svg(plot_automaton(automaton_of("ladder_in_corner"))))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    links = [element.get("{http://www.w3.org/1999/xlink}href") for element in root.iter()]
    assert {link for link in links if link} <= {f"#{name}" for name in ids}
