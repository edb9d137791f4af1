"""Verdicts of many states at once, for maps."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import conditions, mode_combinations, problem_scale, solve_conditions
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.problem import Activity, ContactProblem, carrier_activities, pose
from hybrid.contact.selection import select
from hybrid.dynamics.state import State
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms, Values
    from hybrid.dynamics.state import States

MAX_SINGLE_DECISIONS = 4096
"""States near a tie that are decided one by one; more than that are left UNDECIDED."""


class CellVerdict(IntEnum):
    """Verdict of a state of a map, including states at which no acceleration-level question arises.

    ``MISSING`` marks the cells that an interrupted map leaves out; no state gets it.
    """

    UNIQUE = 0
    INDETERMINATE = 1
    HYPERSTATIC = 2
    INCONSISTENT = 3
    UNDECIDED = 4
    IMPACT = 5
    PENETRATING = 6
    UNREACHABLE = 7
    MISSING = 8


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
        Smallest scaled distance of a mode's decision to its flip.
    """

    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    labels: tuple[str, ...]
    margin: NDArray[np.float64]


@attrs.define(eq=False)
class _Table:
    """Results under construction."""

    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    margin: NDArray[np.float64]
    labels: dict[str, int] = attrs.field(factory=dict)

    def bit(self, label: str) -> np.uint64:
        index = self.labels.setdefault(label, len(self.labels))
        if index >= 64:
            raise ComputationError("a map holds at most 64 different modes; classify fewer contacts at once")
        return np.uint64(1 << index)


def classify(
    dynamics: Dynamics,
    states: States,
    *,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> Classification:
    """Decide the verdicts of arrays of states, without a loop over states.

    States that share a pattern of open, resting and slipping contacts are decided together: every mode's linear system
    is solved for all of them. States near a tie, with singular modes, or with spatial contacts at rest are decided one
    by one as :func:`select` does, up to ``MAX_SINGLE_DECISIONS``.

    Parameters
    ----------
    dynamics : Dynamics
    states : States
    parameters : mapping of str to float or array, optional
        Arrays broadcast against the states.
    tolerances : Tolerances, optional

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
    terms = dynamics.terms(states.q, states.v, t=states.t, parameters=parameters)
    activities = carrier_activities(dynamics, terms, sides=states.sides, tolerances=tolerances)
    arrays = [np.shape(value) for value in (parameters or {}).values()]
    shape = np.broadcast_shapes(states.shape, activities.shape[:-1], *arrays)
    table = _Table(
        np.full(shape, CellVerdict.UNREACHABLE, np.uint8), np.zeros(shape, np.uint64), np.full(shape, np.inf)
    )
    defined = _defined(terms, shape) & np.broadcast_to(states.reached, shape)
    # one code per state: the activities as digits
    code = np.zeros(activities.shape[:-1], dtype=np.int64)
    for digit in range(activities.shape[-1]):
        code = code * len(Activity) + activities[..., digit]
    for value in np.unique(code):
        where = np.broadcast_to(code == value, shape) & defined
        pattern = _pattern(int(value), activities.shape[-1])
        _decide_pattern(dynamics, states, terms, pattern, where, parameters, tolerances, table)
    for verdict, label in _WITHOUT_MODE.items():
        where = table.verdict == verdict
        if where.any():
            table.modes[where] = table.bit(label)
    return Classification(table.verdict, table.modes, tuple(table.labels), table.margin)


def _pattern(code: int, n_carriers: int) -> tuple[Activity, ...]:
    digits = []
    for _ in range(n_carriers):
        code, digit = divmod(code, len(Activity))
        digits.append(Activity(digit))
    return tuple(reversed(digits))


def _defined(terms: Terms, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    defined = np.ones(shape, dtype=bool)
    for field in attrs.fields(type(terms)):
        value = getattr(terms, field.name)
        batch = value.ndim - (2 if field.name in ("M", "W_N", "W_T", "J") else 1)
        defined &= np.isfinite(value).all(axis=tuple(range(batch, value.ndim)))
    return defined


def _decide_pattern(
    dynamics: Dynamics,
    states: States,
    terms: Terms,
    pattern: tuple[Activity, ...],
    where: NDArray[np.bool_],
    parameters: Values | None,
    tolerances: Tolerances,
    table: _Table,
) -> None:
    if not where.any():
        return
    if Activity.PENETRATING in pattern:
        table.verdict[where] = CellVerdict.PENETRATING
        return
    if Activity.APPROACHING in pattern:
        table.verdict[where] = CellVerdict.IMPACT
        return
    if not where.all():
        terms = _gathered(terms, where)
    problem = pose(dynamics, terms, pattern, sides=states.sides)
    doubtful = np.ones(int(where.sum()), dtype=bool)
    if not any(carrier.is_spatial_at_rest for carrier in problem.carriers):
        doubtful = _decide_together(problem, where, tolerances, table)
    places = np.argwhere(where)[doubtful]
    _decide_singly(dynamics, states, places, parameters, tolerances, table)


def _gathered(terms: Terms, where: NDArray[np.bool_]) -> Terms:
    """Terms of the selected states only, one after the other."""
    fields = {}
    for field in attrs.fields(type(terms)):
        value = getattr(terms, field.name)
        core = value.shape[value.ndim - (2 if field.name in ("M", "W_N", "W_T", "J") else 1) :]
        fields[field.name] = np.broadcast_to(value, (*where.shape, *core))[where]
    return type(terms)(**fields)


def _decide_together(
    problem: ContactProblem, where: NDArray[np.bool_], tolerances: Tolerances, table: _Table
) -> NDArray[np.bool_]:
    """Enumerate the modes of all states at once; returns which states are too close to a tie."""
    shape = where.shape if where.all() else (int(where.sum()),)
    scale = problem_scale(problem)
    doubtful = np.zeros(shape, dtype=bool)
    bits = np.zeros(shape, dtype=np.uint64)
    margin = np.full(shape, np.inf)
    fits: list[NDArray[np.bool_]] = []
    accelerations: list[NDArray[np.float64]] = []
    G, c = problem.G / (scale.row[..., :, None] * scale.row[..., None, :]), problem.c
    for modes in mode_combinations(problem):
        mode = conditions(problem, modes, scale)
        norms = np.linalg.norm(mode.E, axis=-1, keepdims=True)
        regularity = np.abs(np.linalg.det(mode.E / np.where(norms > 0, norms, 1.0)))
        x, slacks = solve_conditions(mode)
        with np.errstate(invalid="ignore"):
            least = np.min(slacks, axis=-1, initial=np.inf)
            fit = np.broadcast_to(least > 0, shape)
            distance = np.minimum(np.abs(least), np.where(least > 0, regularity, np.inf))
        doubtful |= ~(np.abs(least) > tolerances.sign) | ~(regularity > tolerances.rank)
        np.minimum(margin, distance, out=margin, where=np.isfinite(distance))
        labels = {part.carrier.name: part.label for part in modes}
        if fit.any():
            bits |= np.where(fit, table.bit(_label(problem, labels)), np.uint64(0))
        fits.append(fit)
        accelerations.append((G @ x[..., None])[..., 0] + c / (scale.row * scale.size[..., None]))
    verdict = _verdicts(fits, accelerations, shape, tolerances)
    table.verdict[where] = verdict.reshape(-1)
    table.modes[where] = bits.reshape(-1)
    table.margin[where] = margin.reshape(-1)
    return doubtful.reshape(-1)


def _verdicts(
    fits: list[NDArray[np.bool_]],
    accelerations: list[NDArray[np.float64]],
    shape: tuple[int, ...],
    tolerances: Tolerances,
) -> NDArray[np.uint8]:
    count = np.sum(fits, axis=0)
    verdict = np.full(shape, CellVerdict.UNIQUE, dtype=np.uint8)
    verdict[count == 0] = CellVerdict.INCONSISTENT
    several = np.nonzero(count > 1)
    if len(several[0]):
        fit = np.stack([item[several] for item in fits])
        a = np.stack([np.broadcast_to(item, (*shape, item.shape[-1]))[several] for item in accelerations])
        verdict[several] = np.where(_distinct(fit, a, tolerances) > 1, CellVerdict.INDETERMINATE, CellVerdict.UNIQUE)
    return verdict


def _distinct(fit: NDArray[np.bool_], accelerations: NDArray[np.float64], tolerances: Tolerances) -> NDArray[np.int64]:
    """Number of different accelerations among the modes that fit; arrays (modes, states) and (modes, states, r)."""
    distinct = np.zeros(fit.shape[1], dtype=np.int64)
    for later in range(len(fit)):
        repeated = np.zeros(fit.shape[1], dtype=bool)
        for earlier in range(later):
            gap = np.max(np.abs(accelerations[later] - accelerations[earlier]), axis=-1, initial=0.0)
            size = 1.0 + np.max(np.abs(accelerations[later]), axis=-1, initial=0.0)
            with np.errstate(invalid="ignore"):
                repeated |= fit[earlier] & (gap <= tolerances.merge * size)
        distinct += fit[later] & ~repeated
    return distinct


def _label(problem: ContactProblem, labels: Mapping[str, ContactMode]) -> str:
    return Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names}).label


def _decide_singly(
    dynamics: Dynamics,
    states: States,
    places: NDArray[np.int64],
    parameters: Values | None,
    tolerances: Tolerances,
    table: _Table,
) -> None:
    shape = table.verdict.shape
    for place in places[MAX_SINGLE_DECISIONS:]:
        table.verdict[tuple(place)] = CellVerdict.UNDECIDED
    q = np.broadcast_to(states.q, (*shape, dynamics.n))
    v = np.broadcast_to(states.v, (*shape, dynamics.n))
    t = np.broadcast_to(states.t, shape)
    values: dict[str, Any] = {name: np.broadcast_to(value, shape) for name, value in (parameters or {}).items()}
    for place in map(tuple, places[:MAX_SINGLE_DECISIONS]):
        state = State(q[place], v[place], float(t[place]), states.sides)
        own = {name: float(value[place]) for name, value in values.items()}
        try:
            selection = select(dynamics, state, parameters=own, tolerances=tolerances)
        except (ComputationError, StateError):
            table.verdict[place] = CellVerdict.UNREACHABLE
            continue
        table.verdict[place] = CellVerdict[selection.verdict.name]
        table.margin[place] = selection.margin
        bits = np.uint64(0)
        for item in selection.branches:
            for mode in (item.mode, *item.equivalent_modes):
                bits |= table.bit(mode.label)
        table.modes[place] = bits
