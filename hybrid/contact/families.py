"""Modes whose equations leave one force undetermined, at many states: redundant contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.contact.conditions import Conditions
    from hybrid.tolerances import Tolerances

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# A slack that changes by less than this along the undetermined force does not depend on it: rounding of unit vectors.
_FLAT = ROUNDING


@attrs.frozen(eq=False)
class Families:
    """What a mode with singular equations amounts to at ``k`` states; undecided where neither flag is set.

    Attributes
    ----------
    is_consistent : array of bool, (k,)
        An interval of forces fits, with the same accelerations throughout.
    is_refuted : array of bool, (k,)
        No forces fit.
    distance : array, (k,)
        By how much the best forces of a refuted mode fail.
    forces : array, (k, r)
        Scaled forces in the middle of the interval.
    """

    is_consistent: Flags
    is_refuted: Flags
    distance: Array
    forces: Array


def families(mode: Conditions, G: Array, tolerances: Tolerances) -> Families:
    """Decide a mode at states where its equations are singular.

    Decides as a single state is decided, but leaves undecided what has more than one undetermined force, or equations
    that unbounded forces would nearly meet.

    Parameters
    ----------
    mode : Conditions
        Of ``k`` states: E (k, r, r), e (k, r), A (k, m, r), b (k, m).
    G : array, (k, r, r)
        Scaled Delassus operators.
    tolerances : Tolerances

    Returns
    -------
    Families
    """
    norms = np.linalg.norm(mode.E, axis=-1)
    norms = np.where(norms > 0, norms, 1.0)
    left, values, right = np.linalg.svd(mode.E / norms[..., None])
    has_one = values[:, -1] <= tolerances.rank
    if values.shape[1] > 1:
        has_one &= values[:, -2] > tolerances.rank
    image = np.einsum("kij,ki->kj", left, mode.e / norms)
    with np.errstate(all="ignore"):
        x0 = -np.einsum("kj,kji->ki", image[:, :-1] / values[:, :-1], right[:, :-1])
    kernel = right[:, -1]
    is_met = np.abs(image[:, -1]) <= tolerances.sign * (1 + np.max(np.abs(x0), axis=-1))
    at = np.einsum("kmi,ki->km", mode.A, x0) + mode.b
    slope = np.einsum("kmi,ki->km", mode.A, kernel)
    escapes = (slope >= -_FLAT).all(axis=-1) | (slope <= _FLAT).all(axis=-1)
    low, high = _interval(at + tolerances.sign, slope)
    middle = _middle(low, high)
    forces = x0 + middle[:, None] * kernel
    least = np.min(at + slope * middle[:, None], axis=-1, initial=np.inf)
    half = np.where(np.isfinite(high - low), (high - low) / 2, 1.0)
    effect = np.max(np.abs(np.einsum("kij,kj->ki", G, kernel)), axis=-1) * half
    is_alike = effect <= tolerances.merge * (1 + half)
    fits = low <= high
    return Families(
        is_consistent=has_one & is_met & fits & is_alike & (least > tolerances.sign),
        is_refuted=has_one & np.where(is_met, ~fits, ~escapes),
        distance=np.where(is_met, -_best_least(at, slope), np.abs(image[:, -1])),
        forces=forces,
    )


def _interval(at: Array, slope: Array) -> tuple[Array, Array]:
    """Ends (k,) of the interval of ``s`` with ``at + slope s >= 0``; empty where ``low > high``."""
    with np.errstate(all="ignore"):
        root = -at / slope
    low = np.max(np.where(slope > _FLAT, root, -np.inf), axis=-1, initial=-np.inf)
    high = np.min(np.where(slope < -_FLAT, root, np.inf), axis=-1, initial=np.inf)
    is_empty = ((np.abs(slope) <= _FLAT) & (at < 0)).any(axis=-1)
    return np.where(is_empty, np.inf, low), np.where(is_empty, -np.inf, high)


def _middle(low: Array, high: Array) -> Array:
    """A point inside of each interval, near its ends where it is long or open; 0 for an empty one without ends."""
    with np.errstate(invalid="ignore"):
        half = np.fmin(np.abs(high - low) / 2, 1.0)
    half = np.where(np.isfinite(half), half, 1.0)
    return np.where(np.isfinite(low), low + half, np.where(np.isfinite(high), high - half, 0.0))


def _best_least(at: Array, slope: Array) -> Array:
    """Largest over ``s`` of the least of ``at + slope s``, which is where two of the lines cross."""
    with np.errstate(all="ignore"):
        crossing = (at[:, None, :] - at[:, :, None]) / (slope[:, :, None] - slope[:, None, :])
    crossing = np.where(np.isfinite(crossing), crossing, 0.0).reshape(len(at), -1)
    least = np.min(at[:, None, :] + slope[:, None, :] * crossing[..., None], axis=-1, initial=np.inf)
    return np.asarray(np.max(least, axis=-1, initial=-np.inf))
