"""Penalty runs over a map: whether they follow the rigid mode where it is unique, and what they do elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.comparison.approach import approaching_impulse
from hybrid.analysis.comparison.cells import Cells
from hybrid.analysis.comparison.judgement import EXACT, STRIKING, judged, orders
from hybrid.analysis.comparison.rigid_motions import rigid_motions
from hybrid.contact.classify import CellVerdict
from hybrid.contact.compliance.grid import LABELS
from hybrid.contact.compliance.rates import ContactRates
from hybrid.errors import StateError
from hybrid.tolerances import NOTHING

__all__ = ["MapException", "PenaltyMap", "penalty_map"]

SETTLING = 12.0
"""Fast time of the softest run of a unique motion; stiffer ones last as long in seconds."""
_LEFT, _ENOUGH = 0.1, 0.5  # shares of rigid motions that keep their mode: below the first, runs are refused
_LEAST = NOTHING  # of a duration: where not even that helps, none does
_APPROACH = 2.0  # of an indeterminate state, in units of the one that separates lift-off from impact

Array = NDArray[np.float64]


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
    q, v, t, values = cells.at(unique)
    _, rigid, kept = rigid_motions(cells.dynamics, q, v, t, mode=cells.mode[unique], duration=T, parameters=values)
    count, k = len(cells.q), len(ordered)
    mode, sticks = np.full((k, count), -1, dtype=np.int8), np.zeros((k, count), dtype=bool)
    error, early = np.full((k, count), np.nan), np.zeros((k, count), dtype=bool)
    until = STRIKING * slowness
    for row, K in enumerate(ordered):
        parts = [(unique, v, rigid, T * math.sqrt(K)), (striking, cells.v[striking], cells.after[striking], until)]
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
    q, v, t, values = cells.at(unique)
    _, _, kept = rigid_motions(cells.dynamics, q, v, t, mode=cells.mode[unique], duration=duration, parameters=values)
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
    q, v, t, values = cells.at(free)
    _, flown, _ = rigid_motions(
        cells.dynamics, q, v, t, mode=np.zeros(len(free), dtype=np.int8), duration=T, parameters=values
    )
    return np.asarray(np.max(np.abs(flown - rigid[np.searchsorted(unique, free)]), axis=-1, initial=0.0))


def _approaching(cells: Cells, index: NDArray[np.intp], K: float) -> Array:
    """Velocities with the contact approaching beyond the separatrix (Hogan and Kristiansen 2017), its slip kept."""
    q, v, t, values = cells.at(index)
    at = ContactRates.at(cells.dynamics, q, v, t, values)
    d = at.damping if cells.damping is None else cells.damping
    A = np.abs(at.G[:, 0, 0] - np.sign(at.slip) * at.friction * at.G[:, 0, 1])
    approach = _APPROACH * (A * d - np.sqrt((A * d) ** 2 + A)) * at.c[:, 0] / (A * np.sqrt(K * at.stiffness_ratio))
    return np.asarray(v + np.einsum("ijk,ik->ij", at.response, approaching_impulse(at.G, 0, approach)))
