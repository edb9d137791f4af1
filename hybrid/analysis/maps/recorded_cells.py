"""What decides a cell of a map, written down at one cell for all that are decided alike."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.maps.node_states import NodeStates, node_states
from hybrid.contact.activity import Activity, element_activities, element_names
from hybrid.contact.batches import CellVerdict, contrast, thresholds
from hybrid.contact.candidates import count_modes, mode_combinations
from hybrid.contact.componentwise import accelerations, solve_mode
from hybrid.contact.conditions import ScaledProblem, problem_scale
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.problem import pose
from hybrid.contact.table import not_negative
from hybrid.dynamics.equations import Terms
from hybrid.dynamics.kinks import surface_kinks
from hybrid.dynamics.scales import scales_of, summand_nodes, with_sums
from hybrid.expressions import (
    FUNCTIONS,
    Graph,
    NotRecordable,
    Recorded,
    RecordedArray,
    Recording,
    magnitudes,
    recorded_nodes,
    turn_nodes,
)
from hybrid.tolerances import CLEAR, NEARLY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.analysis.maps.plane import Sweep
    from hybrid.contact.problem import ContactProblem

__all__ = ["PENDING", "CellRecording", "CellSource", "RecordedMode", "RecordedPair", "cell_source", "recorded_cell"]

PENDING = 255
"""In place of a verdict: not decided yet."""

MAX_MODES = 64
"""Modes at most that are written down: those of three planar contacts at rest."""

_WELL_POSED = NEARLY  # of the summands of a determinant by which pins are solved
_DEFINITE = CLEAR  # determinant of a mass matrix of unit diagonal; its least eigenvalue is larger than a third of it
_PARTIAL = {"/", "**", "exp", "sinh", "cosh"}  # operations whose value may be infinite or undefined


@attrs.frozen(eq=False)
class RecordedMode:
    """A mode of a cell: its bit, and the steps of its least slack and of its regularity."""

    bit: int
    least: int
    regularity: int


@attrs.frozen(eq=False)
class RecordedPair:
    """Two modes, and the steps of how far their accelerations are apart and of how far they have to be."""

    bits: tuple[int, int]
    gap: int
    limit: int


@attrs.frozen(eq=False)
class CellRecording:
    """How cells are decided, wherever all conditions of the recording hold.

    Attributes
    ----------
    recording : Recording
        Its inputs are the values of the two axes.
    labels : tuple of str
        Of the modes, by bit.
    verdict : CellVerdict or None
        That of all cells, if no mode has to be looked at.
    modes : tuple of RecordedMode
    pairs : tuple of RecordedPair
        Conditions of cells in which both modes are consistent.
    """

    recording: Recording
    labels: tuple[str, ...]
    verdict: CellVerdict | None
    modes: tuple[RecordedMode, ...]
    pairs: tuple[RecordedPair, ...]


@attrs.frozen(eq=False)
class CellSource:
    """The equations of a plane as nodes in terms of its axes.

    Attributes
    ----------
    plane : Sweep
    states : NodeStates
    graph : Graph
    terms : mapping of str to array of int
    summands : mapping of str to array of int
        Empty where nothing cancels.
    partial : tuple of int
        Nodes that may be undefined, or infinite, somewhere.
    divisors : tuple of (int, int)
        Determinants by which pins are solved, and the magnitudes of their summands.
    """

    plane: Sweep
    states: NodeStates
    graph: Graph
    terms: Mapping[str, Any]
    summands: Mapping[str, Any]
    partial: tuple[int, ...]
    divisors: tuple[tuple[int, int], ...]

    @property
    def roots(self) -> list[int]:
        """All nodes that are needed."""
        blocks = [*self.terms.values(), *self.summands.values()]
        nodes = [int(node) for block in blocks for node in np.ravel(block)]
        equations = self.states.dynamics.equations
        return [*nodes, *(self.states.at(node) for node in equations.state), *itertools.chain(*self.divisors)]


def cell_source(plane: Sweep) -> CellSource:
    """Write the equations of a plane in terms of its axes.

    Parameters
    ----------
    plane : Sweep

    Returns
    -------
    CellSource

    Raises
    ------
    NotRecordable
        The pins do not fix the posture by linear equations, or what turns an angle by one radian varies.
    """
    equations = plane.dynamics.equations
    if plane.branch is not None or plane.dynamics.rigid:
        raise NotRecordable("postures are found by iteration")
    if surface_kinks(plane.dynamics) is not None:
        raise NotRecordable("surfaces have kinks, which are looked for cell by cell")
    states = node_states(plane.dynamics, plane.axes, pins=plane.pins)
    if states.pins.sides and len(plane.dynamics.columns) > len(states.pins.sides):
        raise NotRecordable("other slips may vanish with the one whose limit is pinned")
    rates = turn_nodes(states.build, equations.roots, equations.coordinates)
    turns = _at(states, [int(node) for nodes in rates.values() for node in nodes])
    if states.conditions or states.build.graph().names(turns.tolist()):
        raise NotRecordable("postures, or what turns an angle by one radian, are found by iteration")
    terms = {name: _at(states, block) for name, block in equations.terms().items()}
    for index, name in enumerate(plane.dynamics.contacts):
        for quantity in ("gap", "gap_dot"):
            _pin(states, terms[quantity], index, f"{quantity}.{name}")
    for name, columns in plane.dynamics.columns.items():
        n_columns = columns.stop - columns.start
        for axis in range(n_columns):
            _pin(
                states, terms["slip"], columns.start + axis, f"slip.{name}" + (f".{axis + 1}" if n_columns > 1 else "")
            )
    summands = {name: _at(states, block) for name, block in summand_nodes(states.build, equations).items()}
    required = [node for node in states.required if not states.build.value(node)]
    sizes = [int(node) for node in magnitudes(states.build, required)]
    graph = states.build.graph()
    nodes = {int(node) for block in terms.values() for node in np.ravel(block)}
    return CellSource(
        plane,
        states,
        graph,
        terms,
        summands,
        tuple(sorted(node for node in nodes if _is_partial(graph, node))),
        tuple(zip(required, sizes, strict=True)),
    )


def _at(states: NodeStates, block: Any) -> Any:
    found = np.array([states.at(int(node)) for node in np.ravel(block)], dtype=np.intp)
    return found.reshape(np.shape(block))


def _pin(states: NodeStates, block: Any, index: int, name: str) -> None:
    """Put in what a quantity is pinned at, instead of what it would be computed as."""
    pinned = states.pinned.get(name)
    if pinned is not None:
        block[index] = pinned


def _is_partial(graph: Graph, node: int) -> bool:
    operations = {graph.operations[item] for item in graph.needed([node])}
    return any(
        operation in _PARTIAL or (operation in FUNCTIONS and not FUNCTIONS[operation].is_entire)
        for operation in operations
    )


def recorded_cell(source: CellSource, sample: tuple[float, float]) -> CellRecording:
    """Decide one cell and write down how.

    Parameters
    ----------
    source : CellSource
    sample : (float, float)
        Values of the axes.

    Returns
    -------
    CellRecording

    Raises
    ------
    NotRecordable
        The cell is close to a tie, or decided by more than arithmetic.
    """
    plane, recording = source.plane, Recording()
    axes = [recording.input(index, value) for index, value in enumerate(sample)]
    names = {source.states.names[index]: number for index, number in enumerate(axes)}
    numbers = recorded_nodes(source.graph, source.roots, names)

    def array(block: Any) -> RecordedArray:
        entries = np.empty(np.shape(block), dtype=object)
        for place in np.ndindex(entries.shape):
            entries[place] = numbers[int(block[place])]
        return entries.view(RecordedArray)

    def known(nodes: Any) -> RecordedArray:
        return array(np.array([source.states.at(int(node)) for node in nodes], dtype=np.intp))

    terms = Terms(**{name: array(block) for name, block in source.terms.items()})
    sums = {name: array(block) for name, block in source.summands.items()}
    summands = with_sums(terms, sums) if sums else None
    _require_definite(source, terms, numbers)
    equations, tolerances = plane.dynamics.equations, plane.tolerances
    q, v, t = known(equations.coordinates), known(equations.velocities), known([equations.time])[0]
    dynamics = plane.dynamics
    scales = scales_of(dynamics, terms, q, v, t=t)
    sides = source.states.pins.sides
    activities = element_activities(dynamics, terms, scales, sides=sides, tolerances=tolerances)
    pattern = tuple(Activity(int(activity)) for activity in activities)
    _check_slips(source, pattern)
    if Activity.PENETRATING in pattern:
        return CellRecording(recording, ("penetrating",), CellVerdict.PENETRATING, (), ())
    if Activity.APPROACHING in pattern:
        return CellRecording(recording, ("impact",), CellVerdict.IMPACT, (), ())
    problem = pose(dynamics, terms, pattern, sides=sides, summands=summands)
    if any(element.is_spatial_at_rest for element in problem.elements) or count_modes(problem) > MAX_MODES:
        raise NotRecordable("modes are decided one state at a time")
    return _recorded_modes(recording, plane, problem)


def _require_definite(source: CellSource, terms: Terms, numbers: Mapping[int, Any]) -> None:
    """Every quantity is defined, pins can be solved, masses are positive and friction is not negative."""
    sizes = [np.abs(RecordedArray.of(numbers[node])) for node in source.partial]
    diagonal = np.sqrt(np.abs(np.diagonal(terms.M)))
    left, determinant = terms.M / (diagonal[:, None] * diagonal[None, :]), 1.0
    is_positive = True
    for k in range(len(left)):
        pivot = left[k, k, None]
        is_positive &= bool(pivot > 0.0)
        determinant = determinant * pivot
        left = left - left[:, k, None] * left[None, k, :] / pivot
    conditions = [
        np.isfinite(sum(sizes, start=np.zeros(()))),
        is_positive,
        np.all(determinant > _DEFINITE),
        *(
            np.abs(RecordedArray.of(numbers[node])) > _WELL_POSED * RecordedArray.of(numbers[size])
            for node, size in source.divisors
        ),
        *(np.all(values >= 0.0) for _, values in not_negative(source.plane.dynamics, terms) if values.size),
    ]
    if not all(map(bool, conditions)):
        raise NotRecordable("a cell without a state")


def _check_slips(source: CellSource, pattern: tuple[Activity, ...]) -> None:
    """A slip that is pinned at a number too small to count as motion has its direction all the same."""
    pins = source.states.pins
    for name, value in pins.velocities.items():
        if name.startswith("slip.") and np.ndim(value) == 0 and value != 0.0:
            index = element_names(source.plane.dynamics).index(name.split(".")[1])
            if pattern[index] in (Activity.RESTING, Activity.TENDING):
                raise NotRecordable("a slip that is next to nothing")


def _recorded_modes(recording: Recording, plane: Sweep, problem: ContactProblem) -> CellRecording:
    parts, tolerances = ScaledProblem.of(problem, problem_scale(problem)), plane.tolerances
    found: list[tuple[RecordedMode, list[Any]]] = []
    labels: list[str] = []
    for modes in mode_combinations(problem):
        if any(mode.is_unnamed for mode in modes):
            raise NotRecordable("modes are named by accelerations")
        solution = solve_mode(parts, modes)
        least_regularity, limit = thresholds(parts, solution, tolerances)
        if not (np.all(solution.regularity > least_regularity) and np.all(np.abs(solution.least) > limit)):
            raise NotRecordable("a tie")
        chosen = {mode.element.name: mode.label for mode in modes}
        labels.append(Mode({name: chosen.get(name, ContactMode.FREE) for name in problem.names}).label)
        mode = RecordedMode(len(found), _place(recording, solution.least), _place(recording, solution.regularity))
        found.append((mode, accelerations(parts, solution)))
    if len(set(labels)) < len(labels):
        raise NotRecordable("modes of one name")
    pairs = []
    for (earlier, first), (later, second) in itertools.combinations(found, 2):
        gap, size = contrast(second, first)
        limit = tolerances.merge * size
        pairs.append(RecordedPair((earlier.bit, later.bit), _place(recording, gap), _place(recording, limit)))
    return CellRecording(recording, tuple(labels), None, tuple(mode for mode, _ in found), tuple(pairs))


def _place(recording: Recording, number: Any) -> int:
    """The step of an array of no axes, or of a plain number."""
    entry = number.item() if isinstance(number, np.ndarray) else number
    return recording.place(entry if isinstance(entry, Recorded) else float(entry))
