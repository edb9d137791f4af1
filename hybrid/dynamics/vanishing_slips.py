"""Slips that vanish together, in the limit of one that pins name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.scales import scales_of
from hybrid.errors import StateError
from hybrid.tolerances import CLEAR, ROUNDING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Collection

    from hybrid.dynamics.derive import Dynamics

__all__ = ["tied_sides"]

Array = NDArray[np.float64]


def tied_sides(
    dynamics: Dynamics,
    q: Array,
    v: Array,
    change: Array,
    *,
    t: Any,
    given: Collection[str],
    tolerances: Tolerances,
) -> dict[str, tuple[float, ...]]:
    """Directions of further slips that vanish in a limit along a change of the velocities.

    Two feet of one body slide together: the limit of a vanishing slip of one foot is one of the other, too.

    Parameters
    ----------
    dynamics : Dynamics
    q, v : array, (..., n)
        States in the limit; NaN where there is none.
    change : array, (..., n)
        Of the velocities, on the way there.
    t : array_like, (...)
    given : collection of str
        Force elements whose directions are known.
    tolerances : Tolerances

    Returns
    -------
    dict of str to tuple of float
        Unit vectors by force element.

    Raises
    ------
    StateError
        A closed contact opens or approaches on the way, or a direction differs between states.
    """
    named, terms = next(iter(given)), dynamics.terms(q, v, t=t)
    scales = scales_of(dynamics, terms, q, v, t=t)
    sizes = (scales.gap, scales.gap_dot, scales.slip)
    vectors, matrices = (v, change, terms.gap, terms.gap_dot, terms.slip, *sizes), (terms.W_N, terms.W_T)
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in vectors), *(part.shape[:-2] for part in matrices))

    with np.errstate(invalid="ignore"):
        closed = np.abs(terms.gap) <= tolerances.gap * scales.gap
        closed = closed & (np.abs(terms.gap_dot) <= tolerances.velocity * scales.gap_dot)
        closed = np.broadcast_to(closed, (*shape, len(dynamics.contacts)))
        moving = (closed & (_moved(change, terms.W_N) != 0.0)).any(axis=tuple(range(len(shape))))
        if moving.any():
            other = dynamics.contacts[int(np.argmax(moving))]
            raise StateError(
                f"slip.{named}: the closed contact {other!r} opens or approaches with this slip, and is not closed in "
                "the limit; pin a slip that differs from rest instead, as 1e-6"
            )
        found = {}
        for name in (name for name in dynamics.columns if name not in given):
            rows = list(dynamics.columns_of(name))
            slip, size = (np.abs(part[..., rows]).max(axis=-1) for part in (terms.slip, scales.slip))
            still = np.broadcast_to(slip <= tolerances.velocity * size, shape)
            if name in dynamics.contacts:
                still = still & closed[..., dynamics.contacts.index(name)]
            moved = _moved(change, terms.W_T[..., rows])
            units = _directions(np.broadcast_to(moved, (*shape, len(rows)))[still])
            if (np.abs(units - units[:1]) > CLEAR).any():
                raise StateError(
                    f"slip.{named}: the slip of {name!r} vanishes with it, and not in one direction at all states; pin "
                    "a slip that differs from rest instead, as 1e-6"
                )
            if units.any():
                found[name] = tuple(float(x) for x in units[0])
    return found


def _moved(change: Array, W: Array) -> Array:
    """Components (..., c) of a change along directions; zero where there is only rounding."""
    moved, size = (change[..., None, :] @ W)[..., 0, :], (np.abs(change)[..., None, :] @ np.abs(W))[..., 0, :]
    return np.where(np.abs(moved) > ROUNDING * size, moved, 0.0)


def _directions(moved: Array) -> Array:
    """Unit vectors (N, c), or zeros."""
    lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
    return np.asarray(moved / np.where(lengths > 0.0, lengths, 1.0))
