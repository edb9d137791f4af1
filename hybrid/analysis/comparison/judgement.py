"""Which cells of a map of penalty runs agree with the rigid motion, and why others do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.comparison.cells import Cells
from hybrid.contact.classify import CellVerdict
from hybrid.contact.compliance.grid import LABELS, MAX_EVENTS
from hybrid.tolerances import NOTHING

__all__ = ["EXACT", "STRIKING", "judged", "orders"]

EXACT = NOTHING
"""Relative error of velocities at which the integration itself is met."""
STRIKING = 200.0
"""Fast time after which a departure from rest is given up."""
_ORDER = -0.4  # the stiffest error lies below the largest of the softer ones by this power: theory has -1/2 or faster

Array = NDArray[np.float64]


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
