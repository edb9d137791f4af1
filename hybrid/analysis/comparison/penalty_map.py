"""Penalty runs over a map: whether they follow the rigid mode where it is unique, and what they do elsewhere.

Which cells of a map of penalty runs agree with the rigid motion, and why others do not.

Motions of a rigid planar contact that keeps its mode, from many states at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.comparison.restitution import approaching_impulse
from hybrid.contact.classification import CellVerdict
from hybrid.contact.compliance.grid import LABELS, MAX_EVENTS, CompliantMotions, compliant_motions
from hybrid.contact.compliance.limit import ContactRates
from hybrid.errors import StateError
from hybrid.tolerances import NOTHING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.dynamics.derive import Dynamics

__all__ = [
    "EXACT",
    "STRIKING",
    "Cells",
    "MapException",
    "PenaltyMap",
    "judged",
    "orders",
    "penalty_map",
    "rigid_motions",
]


Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Cells:
    """States of a map in a row, with what is known of them.

    Attributes
    ----------
    dynamics : Dynamics
    q, v, t : array, (N, n), (N, n), (N,)
    parameters : mapping of str to array, (N,)
        Their values differ from cell to cell.
    verdict : array of uint8, (N,)
    mode : array of int8, (N,)
        The mode of a unique motion.
    touches : array of bool, (N,)
        Whether the contact is closed.
    after : array, (N, n)
        Velocities after the impact of the compliant limit.
    damping : float or None
    """

    dynamics: Dynamics
    q: Array
    v: Array
    t: Array
    parameters: Mapping[str, Array]
    verdict: NDArray[np.uint8]
    mode: NDArray[np.int8]
    touches: NDArray[np.bool_]
    after: Array
    damping: float | None

    def among(self, *verdicts: CellVerdict) -> NDArray[np.intp]:
        """Cells with a closed contact and one of some verdicts."""
        return np.flatnonzero(self.touches & np.isin(self.verdict, verdicts))

    def at(self, index: NDArray[np.intp]) -> tuple[Array, Array, Array, dict[str, Array]]:
        """States and parameters of some cells."""
        values = {name: value[index] for name, value in self.parameters.items()}
        return self.q[index], self.v[index], self.t[index], values

    def slowness(self, index: NDArray[np.intp]) -> float:
        """Time that the contact takes, relative to one with ``stiffness_ratio = 1``: the longest of some cells."""
        q, v, t, values = self.at(index)
        ratio = ContactRates.at(self.dynamics.at(values), q, v, t).stiffness_ratio
        return float(np.max(ratio**-0.5)) if len(index) else 1.0

    def runs(self, index: NDArray[np.intp], v: Array, K: float, horizon: float) -> CompliantMotions:
        """Penalty runs of some cells, from other velocities."""
        q, _, t, values = self.at(index)
        return compliant_motions(self.dynamics.at(values), q, v, t, stiffness=K, damping=self.damping, horizon=horizon)


EXACT = NOTHING
"""Relative error of velocities at which the integration itself is met."""
STRIKING = 200.0
"""Fast time after which a departure from rest is given up."""
_ORDER = -0.4  # the stiffest error lies below the largest of the softer ones by this power: theory has -1/2 or faster


def orders(logs: Array, error: Array, floor: Array) -> Array:
    """Slopes of the logarithms of errors over those of the stiffness, by least squares.

    Parameters
    ----------
    logs : array, (k,)
        Logarithms of the stiffnesses.
    error : array, (k, N)
    floor : array, (N,)
        Error up to which one is the integration's own.

    Returns
    -------
    array, (N,)
        NaN where an error is the integration's own, and for a single stiffness.
    """
    x = logs - logs.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(error > floor, np.log(error), np.nan)
    return np.asarray(x @ (y - y.mean(axis=0)) / (x @ x)) if len(logs) > 1 else np.full(error.shape[1], np.nan)


def _falls(stiffness: Array, error: Array) -> NDArray[np.bool_]:
    """Whether errors, (k, N), fall: a softer one may be small by chance, where an oscillation crosses zero."""
    if len(stiffness) < 2:
        return np.zeros(error.shape[1], dtype=bool)
    softer = np.nan_to_num(error[:-1], nan=np.inf)
    largest = np.argmax(softer, axis=0)
    bound = softer.max(axis=0) * (stiffness[-1] / stiffness[largest]) ** _ORDER
    return np.asarray(np.isfinite(bound) & (error[-1] <= bound))


def judged(
    cells: Cells,
    mode: NDArray[np.int8],
    error: Array,
    kept: NDArray[np.bool_],
    early: NDArray[np.bool_],
    speed: Array,
    ordered: Sequence[float],
) -> tuple[NDArray[np.bool_], dict[int, str]]:
    """Which unique cells agree, and why the others do not; which of the others have not let go.

    Parameters
    ----------
    cells : Cells
        N states.
    mode : array of int8, (k, N)
        Mode at the end of each run, by ascending stiffness.
    error : array, (k, N)
        Largest difference of the velocities from those expected.
    kept : array of bool, (N,)
        Whether the rigid motion keeps its mode.
    early : array of bool, (k, N)
        Whether a contact that presses is open at the end.
    speed : array, (N,)
        Largest velocity before, for the accuracy of the integration.
    ordered : sequence of float, length k
        Stiffnesses, ascending.

    Returns
    -------
    agrees : array of bool, (N,)
    reasons : dict of int to str
        By cell; one that neither agrees nor has a reason is not unique, and lets go.
    """
    unique = cells.touches & (cells.verdict == CellVerdict.UNIQUE)
    exact = np.nan_to_num(error[-1], nan=np.inf) <= EXACT * speed
    follows = mode[-1] == cells.mode
    agrees = unique & kept & follows & (exact | _falls(np.array(ordered), error))
    reasons: dict[int, str] = {}
    for i in np.flatnonzero(unique & ~agrees).tolist():
        label = LABELS[cells.mode[i]]
        if not kept[i]:
            reasons[i] = f"the rigid motion leaves {label} within the duration"
        elif early[:, i].any() and label != "free":
            reasons[i] = f"the contact lets go while it settles, at K = {ordered[int(np.argmax(early[:, i]))]:g}"
        elif not follows[i]:
            reasons[i] = f"the stiffest run ends in {LABELS[mode[-1, i]]}, the rigid motion in {label}"
        else:
            errors = ", ".join(f"{item:.2g}" for item in error[:, i])
            reasons[i] = f"the contact has not settled: errors {errors}"
    left = ~unique & (mode[-1] > 0)
    for i in np.flatnonzero(left).tolist():
        bound = f"a fast time of {STRIKING:g}, or {MAX_EVENTS} changes of mode"
        reasons[i] = f"the contact has not let go after {bound}; it is in {LABELS[mode[-1, i]]}"
    return agrees, dict(sorted(reasons.items()))


_STEPS = 24  # the motions compared last no longer than a compliant contact takes to settle
_VANISHING = ROUNDING  # relative to the velocities
_SIGNS = np.array([0.0, 1.0, -1.0, 0.0])
_FREE, _STICK = LABELS.index("free"), LABELS.index("stick")


def rigid_motions(
    cells: Cells, index: NDArray[np.intp], duration: float, *, mode: NDArray[np.int8]
) -> tuple[Array, NDArray[np.bool_]]:
    """Follow the rigid motions of some cells, each in one mode, by steps of the fourth order.

    Parameters
    ----------
    cells : Cells
    index : array of int, (N,)
        Which cells.
    duration : float
        In seconds.
    mode : array of int8, (N,)
        Index into the labels of :mod:`hybrid.contact.compliance.grid`.

    Returns
    -------
    v : array, (N, n)
        At the end.
    kept : array of bool, (N,)
        True where the mode's inequalities held all the way.
    """
    q, v, t, parameters = cells.at(index)
    dynamics = cells.dynamics.at(parameters)
    kept = np.ones(len(q), dtype=bool)
    h = duration / _STEPS

    def rate(x: Array, u: Array, time: Array) -> tuple[Array, NDArray[np.bool_]]:
        return _accelerations(dynamics, x, u, time, mode)

    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # motions that have left their mode may leave the range of numbers
        for _ in range(_STEPS):
            a1, holds = rate(q, v, t)
            a2, _ = rate(q + h / 2 * v, v + h / 2 * a1, t + h / 2)
            a3, _ = rate(q + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2, t + h / 2)
            a4, _ = rate(q + h * v + h * h / 2 * a2, v + h * a3, t + h)
            kept &= holds
            q, v, t = q + h * v + h * h / 6 * (a1 + a2 + a3), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), t + h
        return v, kept & rate(q, v, t)[1]


def _accelerations(
    dynamics: Dynamics, q: Array, v: Array, t: Array, mode: NDArray[np.int8]
) -> tuple[Array, NDArray[np.bool_]]:
    """Generalised accelerations of the modes, and whether their inequalities hold."""
    at = ContactRates.at(dynamics, q, v, t)
    sign = _SIGNS[mode]
    with np.errstate(divide="ignore", invalid="ignore"):
        A = at.G[:, 0, 0] - sign * at.friction * at.G[:, 0, 1]
        sliding = -at.c[:, 0] / A
        held = (at.G[:, 0, 1] * at.c[:, 1] - at.G[:, 1, 1] * at.c[:, 0]) / (
            at.G[:, 0, 0] * at.G[:, 1, 1] - at.G[:, 0, 1] ** 2
        )
    is_free, is_stuck = mode == _FREE, mode == _STICK
    normal = np.where(is_free, 0.0, np.where(is_stuck, held, sliding))
    tangential = np.where(is_stuck, at.held(normal), -sign * at.friction * normal)
    along, gains = sign * at.slip, sign * (at.c[:, 1] + at.G[:, 1, 0] * normal + at.G[:, 1, 1] * tangential)
    zero = _VANISHING * np.max(np.abs(v), axis=-1, initial=0.0)
    slips = np.where(np.abs(along) <= zero, gains > 0, along > 0)  # a slip may begin at rest
    holds = np.where(
        is_free,
        at.gap_dot >= -ROUNDING,
        (normal >= 0) & np.where(is_stuck, np.abs(tangential) <= at.static_friction * normal, (A > 0) & slips),
    )
    return at.acceleration(np.stack([normal, tangential], axis=-1)), holds


SETTLING = 12.0
"""Fast time of the softest run of a unique motion; stiffer ones last as long in seconds."""
_LEFT, _ENOUGH = 0.1, 0.5  # shares of rigid motions that keep their mode: below the first, runs are refused
_LEAST = NOTHING  # of a duration: where not even that helps, none does
_APPROACH = 2.0  # of an indeterminate state, in units of the one that separates lift-off from impact


@attrs.frozen
class MapException:
    """A cell in which penalty runs do not settle what is expected of them.

    Attributes
    ----------
    cell : tuple of int
    place : tuple of float
        Values of the two axes.
    verdict : str
    reason : str
    """

    cell: tuple[int, int]
    place: tuple[float, float]
    verdict: str
    reason: str


@attrs.frozen(eq=False)
class PenaltyMap:
    """Penalty runs of every cell at several stiffnesses.

    Attributes
    ----------
    stiffness : tuple of float, (k,)
        Ascending, in N/m.
    duration : float
        In seconds, of the runs where the verdict is unique; the others go on to release.
    mode : array of int8, (k, n, m)
        What the contact does at the end: index into ``labels``, -1 without a run.
    sticks : array of bool, (k, n, m)
        Whether the contact stuck on its way.
    error : array, (k, n, m)
        Largest difference of the velocities, to the rigid motion of the same duration where the verdict is ``UNIQUE``,
        elsewhere to the compliant limit. ``INDETERMINATE`` states are met at twice the separatrix. NaN without a run.
    order : array, (n, m)
        Exponent of ``K`` with which the error falls; NaN where it is the integration's own.
    agrees : array of bool, (n, m)
        ``UNIQUE`` cells whose stiffest run ends in the rigid mode, with an error that falls as theory has it or is
        the integration's own.
    exceptions : tuple of MapException
        ``UNIQUE`` cells that do not agree, and others in which the contact has not let go, with the reason.
    labels : tuple of str
    """

    stiffness: tuple[float, ...]
    duration: float
    mode: NDArray[np.int8]
    sticks: NDArray[np.bool_]
    error: Array
    order: Array
    agrees: NDArray[np.bool_]
    exceptions: tuple[MapException, ...]
    labels: tuple[str, ...] = LABELS


def penalty_map(
    cells: Cells,
    *,
    places: Sequence[Array],
    stiffness: Sequence[float],
    duration: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PenaltyMap:
    """Run the penalty contact in every cell of a map.

    Parameters
    ----------
    cells : Cells
        Row by row of the map.
    places : sequence of two arrays, (n,) and (m,)
        Values of the axes.
    stiffness : sequence of float
    duration : float, optional
        In seconds, of the runs of unique motions; by default twelve units of fast time of the softest.
    progress : callable, optional
        Called with how many of the stiffnesses are done, and their number.

    Returns
    -------
    PenaltyMap

    Raises
    ------
    StateError
        The runs last so long that hardly any rigid motion keeps its mode.
    """
    ordered = tuple(sorted(float(K) for K in stiffness))
    unique, several = cells.among(CellVerdict.UNIQUE), cells.among(CellVerdict.INDETERMINATE)
    striking = cells.among(CellVerdict.INCONSISTENT, CellVerdict.IMPACT)
    slowness = cells.slowness(np.concatenate([unique, striking, several]))
    T = SETTLING * slowness / math.sqrt(ordered[0]) if duration is None else duration
    _check_duration(cells, unique, T, slowness, is_given=duration is not None)
    rigid, kept = rigid_motions(cells, unique, T, mode=cells.mode[unique])
    count, k = len(cells.q), len(ordered)
    mode, sticks = np.full((k, count), -1, dtype=np.int8), np.zeros((k, count), dtype=bool)
    error, early = np.full((k, count), np.nan), np.zeros((k, count), dtype=bool)
    until = STRIKING * slowness
    for row, K in enumerate(ordered):
        parts = [
            (unique, cells.v[unique], rigid, T * math.sqrt(K)),
            (striking, cells.v[striking], cells.after[striking], until),
        ]
        parts.append((several, _approaching(cells, several, K), cells.after[several], until))
        for index, start, expected, horizon in parts:
            found = cells.runs(index, start, K, horizon)
            mode[row, index], sticks[row, index] = found.mode, found.sticks
            error[row, index] = np.max(np.abs(found.v - expected), axis=-1, initial=0.0)
            early[row, index] = found.presses & (found.mode == 0)
        free = unique[mode[row, unique] == 0]
        error[row, free] = np.where(early[row, free], np.nan, _flight(cells, free, rigid, unique, T))
        if progress is not None:
            progress(row + 1, k)
    speed = np.max(np.abs(cells.v), axis=-1, initial=0.0)
    order = orders(np.log(ordered), error, EXACT * speed)
    held = np.zeros(count, dtype=bool)
    held[unique] = kept
    agrees, reasons = judged(cells, mode, error, held, early, speed, ordered)
    shape = (len(places[0]), len(places[1]))
    exceptions = tuple(
        MapException(divmod(i, shape[1]), (float(places[0][i // shape[1]]), float(places[1][i % shape[1]])),
                     CellVerdict(int(cells.verdict[i])).name, reason)
        for i, reason in reasons.items()
    )  # fmt: skip
    return PenaltyMap(
        ordered, T, mode.reshape(k, *shape), sticks.reshape(k, *shape), error.reshape(k, *shape),
        order.reshape(shape), agrees.reshape(shape), exceptions,
    )  # fmt: skip


def _persisting(cells: Cells, unique: NDArray[np.intp], duration: float) -> float:
    """Share of the unique states whose rigid motion keeps its mode for a duration; 1 if there are none."""
    _, kept = rigid_motions(cells, unique, duration, mode=cells.mode[unique])
    return float(np.mean(kept)) if unique.size else 1.0


def _check_duration(cells: Cells, unique: NDArray[np.intp], T: float, slowness: float, *, is_given: bool) -> None:
    """Refuse runs that last so long that hardly a rigid motion is left to compare with; say what would do."""
    share = _persisting(cells, unique, T)
    if share >= _LEFT:
        return
    said = (
        f"there is nothing to compare: penalty runs would last {T:.4g}, and in only {100 * share:.0f} percent of the "
        f"{unique.size} UNIQUE states does the rigid motion keep its mode so long; "
    )
    shorter = T / 2.0
    while _persisting(cells, unique, shorter) < _ENOUGH:
        shorter /= 2.0
        if shorter < T * _LEAST:
            raise StateError(said + "shorter runs do not help, as its modes end where they begin")
    stiffer = f"stiffnesses from about K = {(SETTLING * slowness / shorter) ** 2:.1g}"
    raise StateError(f"{said}take " + (f"a duration of about {shorter:.2g}" if is_given else stiffer))


def _flight(cells: Cells, free: NDArray[np.intp], rigid: Array, unique: NDArray[np.intp], T: float) -> Array:
    """Error of contacts that never press: their flight against the rigid one, both free of forces."""
    flown, _ = rigid_motions(cells, free, T, mode=np.zeros(len(free), dtype=np.int8))
    return np.asarray(np.max(np.abs(flown - rigid[np.searchsorted(unique, free)]), axis=-1, initial=0.0))


def _approaching(cells: Cells, index: NDArray[np.intp], K: float) -> Array:
    """Velocities with the contact approaching beyond the separatrix (Hogan and Kristiansen 2017), its slip kept."""
    q, v, t, values = cells.at(index)
    at = ContactRates.at(cells.dynamics.at(values), q, v, t)
    d = at.damping if cells.damping is None else cells.damping
    A = np.abs(at.G[:, 0, 0] - np.sign(at.slip) * at.friction * at.G[:, 0, 1])
    approach = _APPROACH * (A * d - np.sqrt((A * d) ** 2 + A)) * at.c[:, 0] / (A * np.sqrt(K * at.stiffness_ratio))
    return np.asarray(v + np.einsum("ijk,ik->ij", at.response, approaching_impulse(at.G, 0, approach)))
