"""Verdicts of many states at once, for maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity, element_activities
from hybrid.contact.batches import CellTable, CellVerdict, decide_together
from hybrid.contact.candidates import count_modes
from hybrid.contact.problem import pose
from hybrid.contact.selection import select_in_floats
from hybrid.contact.table import check_friction, force_elements
from hybrid.contact.verdict import Verdict
from hybrid.dynamics.arithmetic import definiteness
from hybrid.dynamics.consistency import check_mass
from hybrid.dynamics.derive import bound
from hybrid.dynamics.kinks import surface_kinks
from hybrid.dynamics.positions import has_kinks
from hybrid.dynamics.scales import scales_of, summands_of
from hybrid.dynamics.state import State
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.verdict import Selection
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.scales import Summands
    from hybrid.dynamics.state import States
    from hybrid.dynamics.structure import AbstractStructure

__all__ = ["CellVerdict", "Classification", "classify"]

Gathered = TypeVar("Gathered", "Terms", "Summands")

MAX_TOGETHER = 4096
"""Modes that are solved at all states together, six planar contacts at rest; a search at each state is quicker then."""

_WITHOUT_MODE = {
    CellVerdict.IMPACT: "impact",
    CellVerdict.PENETRATING: "penetrating",
    CellVerdict.UNREACHABLE: "unreachable",
}


@attrs.frozen(eq=False)
class Classification:
    """Verdicts and consistent modes of an array of states.

    Attributes
    ----------
    verdict : array of uint8, (...)
        Values of :class:`CellVerdict`.
    modes : array of uint64, (...)
        Bit ``i`` is set where mode ``labels[i]`` is consistent.
    labels : tuple of str
        Mode labels.
    margin : array, (...)
        As ``Selection.margin``, of all modes one by one, without sets of forces of two and more dimensions.
    """

    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    labels: tuple[str, ...]
    margin: NDArray[np.float64]


@checks_arguments
def classify(
    dynamics: Dynamics,
    states: States,
    *,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
    decide_ties: bool = True,
) -> Classification:
    """Decide the verdicts of arrays of states.

    States that share a pattern of open, resting and slipping contacts are decided together: every mode's linear system
    is solved for all of them. States near a tie, with singular modes, or with spatial contacts at rest are decided one
    by one as :func:`select` does in floats, a thousand in some seconds; several spatial contacts at rest are left open.

    Parameters
    ----------
    dynamics : Dynamics
    states : States
    parameters : mapping of str to float or array, optional
        Arrays broadcast against the states.
    tolerances : Tolerances, optional
    decide_ties : bool, optional
        False leaves the states near a tie ``UNDECIDED`` instead of deciding them one by one, for searches that look at
        many states near boundaries.

    Returns
    -------
    Classification

    Examples
    --------
    >>> import mechanisms, numpy as np
    >>> from hybrid import derive, solve_states
    >>> from hybrid.contact import classify
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> pins = {"phi": np.array([0.4, 2.0]), "phi_dot": 0.0, "slip.tip": "+0"}
    >>> classify(rod, solve_states(rod, pins, parameters={"mu": 1.5}), parameters={"mu": 1.5}).verdict.tolist()
    [0, 3]
    """
    dynamics = bound(dynamics, parameters)
    terms = dynamics.terms(states.q, states.v, t=states.t)
    scales = scales_of(dynamics, terms, states.q, states.v, t=states.t)
    activities = element_activities(dynamics, terms, scales, sides=states.sides, tolerances=tolerances)
    arrays = [np.shape(value) for value in dynamics.given.values()]
    shape = np.broadcast_shapes(states.shape, activities.shape[:-1], *arrays)
    check_friction(dynamics, terms)
    check_mass(dynamics, terms, rank=tolerances.rank)
    summands = summands_of(dynamics, terms, states.q, states.v, t=states.t)
    massive = np.broadcast_to(definiteness(terms.M) > tolerances.rank, shape)
    defined = _defined(terms, shape) & np.broadcast_to(states.reached, shape) & massive
    if has_kinks(dynamics) and (kinks := surface_kinks(dynamics)) is not None:
        closed = terms.gap <= tolerances.gap * scales.gap
        defined &= ~kinks.are_met(dynamics, states.q, states.t, closed).any(axis=-1)
    q, v = (np.broadcast_to(array, (*shape, dynamics.n)) for array in (states.q, states.v))
    t = np.broadcast_to(states.t, shape)
    values: dict[str, Any] = {name: np.broadcast_to(dynamics.values[name], shape) for name in dynamics.given}

    def decide(place: tuple[int, ...]) -> Selection:
        state = State(q[place], v[place], float(t[place]), states.sides)
        own = {name: float(value[place]) for name, value in values.items()}
        # seconds a cell would be hours a map: several spatial contacts at rest are left open
        return select_in_floats(dynamics.at(own), state, tolerances=tolerances, cover_budget=0.0)

    table = decide_states(
        PosedStates(dynamics, terms, summands, activities, states.sides),
        defined,
        decide if decide_ties else None,
        tolerances=tolerances,
    )
    for verdict, label in _WITHOUT_MODE.items():
        where = table.verdict == verdict
        if where.any():
            table.mark(label, where)
    return Classification(table.verdict, table.bits(), tuple(table.modes), table.margin)


@attrs.frozen(eq=False)
class PosedStates:
    """The numbers of many states of one model.

    Attributes
    ----------
    structure : AbstractStructure
    terms : Terms
    summands : Summands or None
    activities : array of int8, (..., number of force elements)
    sides : mapping of str to tuple of float
    """

    structure: AbstractStructure
    terms: Terms
    summands: Summands | None
    activities: NDArray[np.int8]
    sides: Mapping[str, tuple[float, ...]]


def decide_states(
    states: PosedStates,
    defined: NDArray[np.bool_],
    decide: Callable[[tuple[int, ...]], Selection] | None,
    *,
    tolerances: Tolerances,
) -> CellTable:
    """Decide states together that share a pattern of activities, and those in doubt one by one.

    Parameters
    ----------
    states : PosedStates
    defined : array of bool, (...)
        States without it stay ``UNREACHABLE``.
    decide : callable or None
        Decides the state at an index; None leaves states near a tie ``UNDECIDED``.
    tolerances : Tolerances

    Returns
    -------
    CellTable
    """
    table, code = CellTable.of(defined.shape), _codes(states)
    activities = np.broadcast_to(states.activities, (*code.shape, states.activities.shape[-1]))
    for value, first in zip(*np.unique(code, return_index=True), strict=True):
        where = np.broadcast_to(code == value, defined.shape) & defined
        pattern = tuple(Activity(int(kind)) for kind in activities[np.unravel_index(first, code.shape)])
        _decide_pattern(states, pattern, where, tolerances, table, decide)
    return table


_LARGEST = 2**62
"""Of a code: those of more force elements are numbered anew before they leave the range of int64."""


def _codes(states: PosedStates) -> NDArray[np.int64]:
    """A number (...) that is the same where activities are, and which elements at rest have vanishing friction."""
    code, size, terms = np.zeros(states.activities.shape[:-1], dtype=np.int64), 1, states.terms
    for index, element in enumerate(force_elements(states.structure)):
        activity = states.activities[..., index].astype(np.int64)
        friction = getattr(terms, element.friction_term(is_static=True))[..., element.index]
        # modes without friction are others than those with it
        digit = 2 * activity + ((activity == Activity.RESTING) & (friction == 0.0))
        if size > _LARGEST // (2 * len(Activity)):
            known, places = np.unique(code, return_inverse=True)
            code, size = places.reshape(code.shape), len(known)
        code, size = 2 * len(Activity) * code + digit, 2 * len(Activity) * size
    return np.asarray(code)


def _defined(terms: Terms, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    defined = np.ones(shape, dtype=bool)
    for field in attrs.fields(type(terms)):
        value = getattr(terms, field.name)
        batch = value.ndim - (2 if field.name in ("M", "W_N", "W_T", "J") else 1)
        defined &= np.isfinite(value).all(axis=tuple(range(batch, value.ndim)))
    return defined


def _decide_pattern(
    states: PosedStates,
    pattern: tuple[Activity, ...],
    where: NDArray[np.bool_],
    tolerances: Tolerances,
    table: CellTable,
    decide: Callable[[tuple[int, ...]], Selection] | None,
) -> None:
    if not where.any():
        return
    if Activity.PENETRATING in pattern:
        table.verdict[where] = CellVerdict.PENETRATING
        return
    if Activity.APPROACHING in pattern:
        table.verdict[where] = CellVerdict.IMPACT
        return
    terms, summands = states.terms, states.summands
    if not where.all():
        terms = _gathered(terms, where)
        summands = None if summands is None else _gathered(summands, where)
    problem = pose(states.structure, terms, pattern, sides=states.sides, summands=summands)
    doubtful = np.ones(int(where.sum()), dtype=bool)
    is_linear = not any(element.is_spatial_at_rest for element in problem.elements)
    if is_linear and count_modes(problem) <= MAX_TOGETHER:
        doubtful = decide_together(problem, where, tolerances, table, marks_close=decide is not None)
        doubtful |= _mark_redundant(problem, where, table)
    places = np.argwhere(where)[doubtful]
    if decide is None:
        table.verdict[tuple(places.T)] = CellVerdict.UNDECIDED
    else:
        decide_singly(decide, places, table)


def _mark_redundant(problem: ContactProblem, where: NDArray[np.bool_], table: CellTable) -> NDArray[np.bool_]:
    """Say where multipliers are not unique; True where constraints are more dependent than elsewhere, singular."""
    shape = where.shape if where.all() else (int(where.sum()),)
    redundancy = np.broadcast_to(problem.redundancy, shape).ravel()
    usual = int(redundancy.min())
    if usual:
        table.verdict[where & (table.verdict == CellVerdict.UNIQUE)] = CellVerdict.HYPERSTATIC
    return np.asarray(redundancy > usual)


def _gathered(terms: Gathered, where: NDArray[np.bool_]) -> Gathered:
    """Terms, or summands of them, of the selected states only, one after the other."""
    fields: dict[str, NDArray[Any]] = {}
    for field in attrs.fields(type(terms)):
        value: NDArray[Any] = getattr(terms, field.name)
        core: tuple[int, ...] = np.shape(value)[np.ndim(value) - (2 if field.name in ("M", "W_N", "W_T", "J") else 1) :]
        fields[field.name] = np.broadcast_to(value, (*where.shape, *core))[where]
    return type(terms)(**fields)


def decide_singly(decide: Callable[[tuple[int, ...]], Selection], places: NDArray[np.int64], table: CellTable) -> None:
    """Decide some states of a table one by one.

    Parameters
    ----------
    decide : callable
        The answer at a place.
    places : array of int, (number of states, number of axes)
    table : CellTable
        Its entries there are filled in.

    Returns
    -------
    None
    """
    for place in map(tuple, places):
        table.forget(place)
        try:
            selection = decide(place)
        except (ComputationError, StateError):
            table.verdict[place] = CellVerdict.UNREACHABLE
            continue
        table.verdict[place] = CellVerdict[selection.verdict.name]
        table.margin[place] = selection.margin
        for item in selection.branches:
            # modes at the edge of a set of forces are no solutions of their own
            others = () if selection.verdict is Verdict.HYPERSTATIC else item.equivalent_modes
            for mode in (item.mode, *others):
                table.mark(mode.label, place)
