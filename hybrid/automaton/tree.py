"""Trees as graphs, for motions that branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx


def tree_graph(
    nodes: Iterable[tuple[int, Mapping[str, Any]]], edges: Iterable[tuple[int, int, Mapping[str, Any]]]
) -> networkx.DiGraph:
    """A directed graph from numbered nodes and edges with their attributes.

    Parameters
    ----------
    nodes : iterable of (int, mapping)
    edges : iterable of (int, int, mapping)
        From, to, attributes.

    Returns
    -------
    networkx.DiGraph

    Examples
    --------
    >>> graph = tree_graph([(0, {"label": "root"}), (1, {})], [(0, 1, {"choice": "free"})])
    >>> graph.edges[0, 1]["choice"]
    'free'
    """
    import networkx

    graph = networkx.DiGraph()
    for number, attributes in nodes:
        graph.add_node(number, **attributes)
    for start, end, attributes in edges:
        graph.add_edge(start, end, **attributes)
    return graph
