"""The automaton as plain text: what is exported, stored and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import networkx as nx

from hybrid.arguments import checks_arguments
from hybrid.dynamics.notation import text

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton
    from hybrid.automaton.guards import GuardFunction
    from hybrid.automaton.location import Location


@attrs.frozen
class GuardText:
    """A guard, in words.

    Attributes
    ----------
    contact, kind, expression : str
    direction : int
    label : str
        All as in :class:`hybrid.automaton.GuardFunction`.
    """

    contact: str
    kind: str
    expression: str
    direction: int
    label: str


@attrs.frozen
class NodeText:
    """A node.

    Attributes
    ----------
    key : str
    kind : str
        ``"mode"`` or ``"impact"``.
    mode : mapping of str to str
        Contact to label; empty for the impact.
    n_freedom : int or None
    is_hyperstatic : bool
    invariant, vector_field, definitions : tuple of str
    forces : mapping of str to str
    guards : tuple of GuardText
    """

    key: str
    kind: str
    mode: Mapping[str, str]
    n_freedom: int | None
    is_hyperstatic: bool
    invariant: tuple[str, ...]
    vector_field: tuple[str, ...]
    forces: Mapping[str, str]
    definitions: tuple[str, ...]
    guards: tuple[GuardText, ...]


@attrs.frozen
class EdgeText:
    """An edge, in words.

    Attributes
    ----------
    source, target : str
        Labels of its nodes.
    guard : int or None
        Place among the guards of the source; None for an edge that is taken at once.
    reset, rule : str
        What it does to the state, and what picks it among the edges of its guard.
    is_regular : bool
        No paradox leads along it.
    """

    source: str
    target: str
    guard: int | None
    reset: str
    rule: str
    is_regular: bool


@attrs.frozen
class Outline:
    """An automaton in words; compared by value.

    Attributes
    ----------
    name, title : str
    coordinates, velocities : tuple of str
    parameters : mapping of str to str
        Values as declared.
    contacts : mapping of str to tuple of str
        Labels of each force element.
    nodes : tuple of NodeText
    edges : tuple of EdgeText
    """

    name: str
    title: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    parameters: Mapping[str, str]
    contacts: Mapping[str, tuple[str, ...]]
    nodes: tuple[NodeText, ...]
    edges: tuple[EdgeText, ...]

    @property
    def graph(self) -> nx.MultiDiGraph:
        """The same as a graph whose attributes are text, numbers, tuples and mappings of them."""
        graph = nx.MultiDiGraph(name=self.name)
        for node in self.nodes:
            graph.add_node(node.key, **attrs.asdict(node, filter=lambda field, _: field.name != "key"))
        for edge in self.edges:
            guard = None if edge.guard is None else self.node(edge.source).guards[edge.guard]
            graph.add_edge(
                edge.source,
                edge.target,
                guard=None if guard is None else attrs.asdict(guard),
                reset=edge.reset,
                rule=edge.rule,
                is_regular=edge.is_regular,
            )
        return graph

    def node(self, key: str) -> NodeText:
        """The node of a key.

        Parameters
        ----------
        key : str

        Returns
        -------
        NodeText

        Raises
        ------
        KeyError
            There is none.
        """
        for node in self.nodes:
            if node.key == key:
                return node
        raise KeyError(key)

    def label(self, edge: EdgeText) -> str:
        """What makes an edge be taken, in words.

        Parameters
        ----------
        edge : EdgeText

        Returns
        -------
        str
        """
        return edge.rule if edge.guard is None else self.node(edge.source).guards[edge.guard].label


@checks_arguments
def outline(automaton: Automaton | Outline, *, formulas: bool = True) -> Outline:
    """A whole automaton as text.

    Parameters
    ----------
    automaton : Automaton or Outline
        An outline is returned as it is.
    formulas : bool, default True
        Write invariants, equations and forces, too; they take most of the time where there are many coordinates.

    Returns
    -------
    Outline

    Raises
    ------
    ComputationError
        It has more than ``max_nodes`` modes.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> ball = outline(build_automaton(derive(mechanisms.load("bouncing_ball"))))
    >>> [(node.key, node.vector_field) for node in ball.nodes]
    [('free', ('y_ddot = -g',)), ('closed', ('y_ddot = 0',)), ('impact', ())]
    """
    if isinstance(automaton, Outline):
        return automaton
    mechanism, given = automaton.dynamics.mechanism, automaton.dynamics.given
    graph = automaton.graph
    nodes, edges = [], []
    for key, kind in graph.nodes(data="kind"):
        location = automaton.location(key) if kind == "mode" else None
        nodes.append(_node(key, kind, location, formulas))
        guards = () if location is None else location.guards
        for edge in automaton.successors(key):
            guard = None if edge.guard is None else guards.index(edge.guard)
            edges.append(EdgeText(key, edge.target, guard, str(edge.reset), str(edge.rule), edge.is_regular))
    return Outline(
        name=mechanism.name,
        title=mechanism.title,
        coordinates=tuple(mechanism.coordinates),
        velocities=tuple(mechanism.velocities),
        parameters={name: str(given.get(name, item.value)) for name, item in mechanism.parameters.items()},
        contacts={part.name: tuple(mode.value for mode in part.modes) for part in automaton.parts},
        nodes=tuple(nodes),
        edges=tuple(edges),
    )


def _node(key: str, kind: str, location: Location | None, formulas: bool) -> NodeText:
    if location is None:
        return NodeText(key, kind, {}, None, False, (), (), {}, (), ())
    mode = {name: label.value for name, label in location.mode.items()}
    guards = tuple(_guard(guard, formulas) for guard in location.guards)
    if not formulas:
        return NodeText(key, kind, mode, location.n_freedom, location.is_hyperstatic, (), (), {}, (), guards)
    return NodeText(
        key=key,
        kind=kind,
        mode=mode,
        n_freedom=location.n_freedom,
        is_hyperstatic=location.is_hyperstatic,
        invariant=tuple(condition.text for condition in location.invariant),
        vector_field=location.vector_field.text,
        forces={name: text(value) for name, value in location.forces.items()},
        definitions=location.definitions,
        guards=guards,
    )


def _guard(guard: GuardFunction, formulas: bool) -> GuardText:
    return GuardText(guard.contact, str(guard.kind), guard.text if formulas else "", guard.direction, guard.label)
