"""The hybrid automaton of a mechanism: its graph of modes, built node by node as it is asked for.

What the nodes of the graph hold.

Trees as graphs, for motions that branch.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import networkx as nx

from hybrid.arguments import checks_arguments
from hybrid.automaton.algebra import Algebra, RowTable, contact_algebra, row_table
from hybrid.automaton.impossible import Proofs, proofs_of, velocities_contradict
from hybrid.automaton.invariants import holds
from hybrid.automaton.location import Location, locate
from hybrid.automaton.numeric import active_rows, closed_postures, rank_of
from hybrid.automaton.structure import FREE, NodeMode, count_nodes, node_modes, node_of
from hybrid.automaton.transitions import IMPACT, Transition, transitions_from, transitions_from_impact
from hybrid.contact.table import ForceElement, force_elements
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics.derive import bound
from hybrid.errors import ArgumentError, ComputationError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import networkx

    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State


def node_attributes(location: Location | None) -> dict[str, object]:
    """Attributes of a node in the graph; without a location, those of the impact.

    Parameters
    ----------
    location : Location or None

    Returns
    -------
    dict of str to object
        The same keys for every node: ``kind``, which is ``mode`` or ``impact``, and the fields of the location.
    """
    if location is None:
        return {"kind": "impact", **_WITHOUT_MODE}
    return {"kind": "mode", **{name: getattr(location, name) for name in _WITHOUT_MODE}}


_WITHOUT_MODE: Mapping[str, object] = {
    "mode": None,
    "invariant": (),
    "vector_field": None,
    "n_freedom": None,
    "is_hyperstatic": False,
    "guards": (),
    "forces": {},
    "definitions": (),
}


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


MAX_NODES = 64
"""Nodes of the whole graph at most: three planar contacts; larger automata are explored node by node."""


@attrs.frozen(eq=False)
class Automaton(AbstractDisplayed):
    """The hybrid automaton of a mechanism; made by :func:`build_automaton`.

    Its nodes are the modes and, where velocities can jump, the instantaneous node ``impact``. Nodes that were built
    are kept, and so are proofs, so that asking again costs nothing.

    Attributes
    ----------
    dynamics : Dynamics
    parts : tuple of ForceElement
        Force elements of contact force, in the order of the mode labels.
    may_be_paradoxical : bool
        False if normal and tangential motion are decoupled in every posture, so that no paradox can occur.
    max_nodes : int
        Limit of :attr:`graph`.
    table : RowTable
        Directions of all contact forces.
    algebra : Algebra or None
        Delassus operator and free accelerations in closed form; None where that would be too long.
    """

    dynamics: Dynamics
    parts: tuple[ForceElement, ...]
    may_be_paradoxical: bool
    max_nodes: int
    table: RowTable = attrs.field(repr=False)
    algebra: Algebra | None = attrs.field(repr=False)
    _proofs: Proofs = attrs.field(repr=False)
    _built: dict[str, tuple[Location, tuple[Transition, ...]]] = attrs.field(factory=dict, repr=False)
    _reasons: dict[str, str] = attrs.field(factory=dict, repr=False)

    def __repr__(self) -> str:
        paradox = "" if self.may_be_paradoxical else "no paradox"
        names = " ".join(part.name for part in self.parts)
        return one_line(f"Automaton {self.name}", f"at most {count_nodes(self.parts)} modes of {names}", paradox)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied or sent to another process, it is built anew there: SymPy's fields of fractions cannot be sent."""
        return partial(build_automaton, max_nodes=self.max_nodes), (self.dynamics,)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.dynamics.name

    @property
    def has_impact(self) -> bool:
        """True if velocities can jump: some force element has a normal force, and can open or be in a paradox."""
        return any(part.is_unilateral for part in self.parts) or self.may_be_paradoxical

    def mode_keys(self) -> Iterator[str]:
        """Keys of all modes that are not proved impossible, one after the other; without the impact.

        Returns
        -------
        iterator of str
        """
        return (node.key for node in self._nodes())

    @checks_arguments
    def why_impossible(self, key: str | Mode) -> str:
        """The proof that a mode cannot occur, in words.

        Parameters
        ----------
        key : str or Mode
            A mode label, or the key of a node.

        Returns
        -------
        str
            Empty if there is no proof and the mode is a node.
        """
        return self._impossible(node_of(self.parts, key))

    @checks_arguments
    def location(self, key: str | Mode) -> Location:
        """The node of a mode, built when it is first asked for.

        Parameters
        ----------
        key : str or Mode
            A mode label, or the key of a node.

        Returns
        -------
        Location

        Raises
        ------
        ArgumentError
            It is no mode of this mechanism, or proved impossible.
        """
        return self._expanded(node_of(self.parts, key))[0]

    @checks_arguments
    def successors(self, key: str | Mode, *, regular_only: bool = False) -> tuple[Transition, ...]:
        """Edges that leave a node.

        Parameters
        ----------
        key : str or Mode
            A mode label, the key of a node, or ``"impact"``.
        regular_only : bool, default False
            Leave out what can only happen in a paradox.

        Returns
        -------
        tuple of Transition
        """
        if key == IMPACT and self.has_impact:
            return tuple(transitions_from_impact(self._nodes()))
        found = self._expanded(node_of(self.parts, key))[1]
        return tuple(edge for edge in found if edge.is_regular or not regular_only)

    def reachable(self, *keys: str | Mode, regular_only: bool = False, limit: int = MAX_NODES) -> tuple[str, ...]:
        """Keys of the nodes that paths of edges reach, nearest first, the given ones included.

        Parameters
        ----------
        *keys : str or Mode
        regular_only : bool, default False
        limit : int, optional
            Stop when so many nodes are found.

        Returns
        -------
        tuple of str
        """
        first = [key if key == IMPACT else node_of(self.parts, key).key for key in keys]
        found, waiting = dict.fromkeys(first), deque(first)
        while waiting and len(found) < limit:
            for edge in self.successors(waiting.popleft(), regular_only=regular_only):
                if edge.target not in found and len(found) < limit:
                    found[edge.target] = None
                    waiting.append(edge.target)
        return tuple(found)

    @property
    def graph(self) -> nx.MultiDiGraph:
        """The whole automaton.

        Returns
        -------
        networkx.MultiDiGraph
            Node attributes: ``kind`` (``"mode"`` or ``"impact"``), ``mode``, ``invariant``, ``vector_field``,
            ``n_freedom``, ``is_hyperstatic``, ``guards``, ``forces``, ``definitions`` (of the impact: empty or None);
            edge attribute: ``transition``. See :class:`Location` and :class:`Transition`.

        Raises
        ------
        ComputationError
            It has more than ``max_nodes`` modes.
        """
        check_size(self.dynamics, self.max_nodes)
        graph = nx.MultiDiGraph(name=self.name)
        for key in self.mode_keys():
            graph.add_node(key, **node_attributes(self.location(key)))
        edges = [edge for key in list(graph) for edge in self.successors(key)]
        if any(edge.target == IMPACT for edge in edges):  # an impact that no mode leads to is not shown
            graph.add_node(IMPACT, **node_attributes(None))
            edges += self.successors(IMPACT)
        for edge in edges:
            graph.add_edge(edge.source, edge.target, transition=edge)
        return graph

    @checks_arguments
    def is_consistent(
        self,
        key: str | Mode,
        state: State,
        *,
        parameters: Values | None = None,
        tolerances: Tolerances = Tolerances(),
    ) -> bool:
        """Whether a state satisfies the invariant of a mode.

        Parameters
        ----------
        key : str or Mode
        state : State
        parameters : mapping, optional
        tolerances : Tolerances, optional

        Returns
        -------
        bool
        """
        answer = holds(
            self.location(key),
            state.q[None],
            state.v[None],
            t=state.t,
            sides=state.sides,
            parameters=parameters,
            tolerances=tolerances,
        )
        return bool(answer)

    def _nodes(self) -> Iterator[NodeMode]:
        return (node for node in node_modes(self.parts) if not self._impossible(node))

    def _impossible(self, node: NodeMode) -> str:
        if node.key not in self._reasons:
            self._reasons[node.key] = self._proofs.against(node) or self._contradiction(node)
        return self._reasons[node.key]

    def _contradiction(self, node: NodeMode) -> str:
        closed = [part.index for part in self.parts if part.is_unilateral and node.mode[part.name] is not FREE]
        rows = active_rows(self.dynamics, self.parts, node, closed_postures(self.dynamics, closed))
        if rank_of(rows) == rows.shape[-2]:
            return ""
        if velocities_contradict(self.dynamics, self.parts, self.table, self.algebra, node):
            return "the velocity constraints are dependent and contradict each other"
        return ""

    def _expanded(self, node: NodeMode) -> tuple[Location, tuple[Transition, ...]]:
        if node.key not in self._built:
            reason = self._impossible(node)
            if reason:
                raise ArgumentError(f"the mode {node.key} cannot occur: {reason}")
            location = locate(self.dynamics, self.parts, self.table, self.algebra, node)
            edges = transitions_from(
                location,
                self.parts,
                is_possible=lambda other: not self._impossible(other),
                may_be_paradoxical=self.may_be_paradoxical,
                has_impact=self.has_impact,
            )
            self._built[node.key] = (location, edges)
        return self._built[node.key]


@checks_arguments
def check_size(dynamics: Dynamics, max_nodes: int = MAX_NODES) -> None:
    """The refusal of a whole automaton that has too many modes, before anything of it is built.

    Parameters
    ----------
    dynamics : Dynamics
    max_nodes : int, optional
        Impossible combinations of modes count too.

    Returns
    -------
    None
        It has few enough.

    Raises
    ------
    ComputationError
        If it has more.
    """
    size = count_nodes(force_elements(dynamics))
    if size > max_nodes:
        raise ComputationError(
            f"the automaton of {dynamics.name} has up to {size} modes, more than {max_nodes}; in Python "
            "build_automaton(dynamics, max_nodes=...) takes more, and successors() and reachable() explore it by modes"
        )


@checks_arguments
def build_automaton(dynamics: Dynamics, *, max_nodes: int = MAX_NODES) -> Automaton:
    """The hybrid automaton of a mechanism.

    Parameters
    ----------
    dynamics : Dynamics
    max_nodes : int, optional
        Limit of the whole graph; nodes are built on demand.

    Returns
    -------
    Automaton

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> automaton = build_automaton(derive(mechanisms.load("rod_on_incline")))
    >>> list(automaton.graph)
    ['free', 'stick', 'slide+', 'slide-', 'impact']
    >>> [guard.label for guard in automaton.location("slide+").guards]
    ['lambda_N falls to 0', 'slip falls to 0', 'A_slide+ reaches 0']
    >>> automaton.location("slide+").guards[2].text
    '(I + l**2*m*mu*sin(phi)*cos(phi) + l**2*m*cos(phi)**2)/(I*m)'
    """
    dynamics = bound(dynamics, None)
    parts = force_elements(dynamics)
    table = row_table(dynamics, parts)
    algebra = contact_algebra(dynamics, parts, table)
    return Automaton(
        dynamics=dynamics,
        parts=parts,
        may_be_paradoxical=_may_be_paradoxical(parts, table, algebra),
        max_nodes=max_nodes,
        table=table,
        algebra=algebra,
        proofs=proofs_of(dynamics, parts),
    )


def _may_be_paradoxical(parts: tuple[ForceElement, ...], table: RowTable, algebra: Algebra | None) -> bool:
    """False where no normal acceleration depends on a friction force of a contact: friction then cannot jam."""
    rows = [row for part in parts if part.has_normal for row in part.rows]
    normals = [table.places[row] for row in rows if row.axis is None]
    tangentials = [table.places[row] for row in rows if row.axis is not None]
    if not normals or not tangentials:
        return False
    if algebra is None:
        return True
    return not all(algebra.fractions.is_zero(algebra.G[i][j]) for i in normals for j in tangentials)
