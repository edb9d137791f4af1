"""Elimination of the bilateral constraints: free motion and Delassus operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.dynamics.arithmetic import applied, inverse_of_each
from hybrid.dynamics.scales import single_terms
from hybrid.tolerances import RANK, ROUNDING, Tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.scales import Summands


_VANISHING = ROUNDING  # length of a gradient relative to the longest; rounding leaves 1e-16

SUM_ROUNDING = 8 * float(np.finfo(np.float64).eps)  # of a sum of some terms, relative to their magnitudes
CANCELLED_ROUNDINGS = (
    8  # roundings of the terms below which a blocked contact does not accelerate: gradients are rounded, too
)

_CLEARLY = 1e3  # times the sign's tolerance: whether constraints are dependent is less precise than a sign
_BLOCKED = ROUNDING  # length of what constraints leave of a direction, relative to what cancels; formulas leave 1e-14


@attrs.frozen(eq=False)
class FreeMotion:
    """How the mechanism accelerates without contact forces and how it answers to them.

    ``v' = a_free + response f`` for generalised contact forces ``f``, with the eliminated constraints satisfied.

    Attributes
    ----------
    a_free : array, (..., n)
    response : array, (..., n, n)
        ``M^-1 - M^-1 J^T (J M^-1 J^T)^+ J M^-1`` over the eliminated constraints (Glocker 2001, section 5).
    redundancy : array of int, (...)
        Number of dependent rows among the eliminated constraints.
    inconsistency : array, (...)
        Largest acceleration residual of the eliminated constraints; above rounding only where constraints contradict.
    summands : array, (..., n)
        Magnitudes of the terms of which ``a_free`` is the sum: its rounding is a share of them.
    inverse : array, (..., n, n)
        ``M^-1``.
    J, lift : array, (..., k, n) and (..., n, k)
        Gradients of the eliminated constraints and ``M^-1 J^T (J M^-1 J^T)^+``.
    """

    a_free: NDArray[Any]
    response: NDArray[Any]
    redundancy: NDArray[Any]
    inconsistency: NDArray[Any]
    summands: NDArray[Any]
    inverse: NDArray[Any]
    J: NDArray[Any]
    lift: NDArray[Any]


@attrs.frozen(eq=False)
class Answer:
    """How the mechanism answers to forces along given directions ``W``, the eliminated constraints satisfied.

    Attributes
    ----------
    response : array, (..., n, r)
        Generalised accelerations per unit force; exactly zero along a direction that the constraints block.
    G : array, (..., r, r)
        ``W^T M^-1 W`` of what the constraints leave of the directions: the rows of a blocked one are exactly zero.
    length : array, (..., r)
        Magnitude, in the metric of ``M^-1``, of what cancelled to leave a length of ``sqrt(G_ii)``.
    """

    response: NDArray[Any]
    G: NDArray[Any]
    length: NDArray[Any]


def answer(motion: FreeMotion, W: NDArray[Any]) -> Answer:
    """Answer to forces along the columns of ``W``.

    The constraints' part is taken off the directions, not off their Delassus operator: where nothing is left, that
    shows in a length, far above its rounding, whereas in the operator it is a difference of squares.

    Parameters
    ----------
    motion : FreeMotion
    W : array, (..., n, r)

    Returns
    -------
    Answer
    """
    response = motion.inverse @ W
    length = _length(W, response)
    if not motion.J.shape[-2]:
        return Answer(response, _symmetric(W.swapaxes(-1, -2) @ response), length)
    gradients = np.swapaxes(motion.J, -1, -2)
    shares = np.swapaxes(motion.lift, -1, -2) @ W
    left = W - gradients @ shares
    left = left - gradients @ (np.swapaxes(motion.lift, -1, -2) @ left)  # once more: the shares are rounded, too
    weights = _length(gradients, motion.inverse @ gradients)
    length = length + np.sum(np.abs(shares) * weights[..., None], axis=-2)
    is_blocked = _length(left, motion.inverse @ left) <= _BLOCKED * length
    left = np.where(is_blocked[..., None, :], 0.0, left)
    response = motion.inverse @ left
    return Answer(response, _symmetric(np.swapaxes(left, -1, -2) @ response), length)


def _length(W: NDArray[Any], response: NDArray[Any]) -> NDArray[Any]:
    """Lengths (..., r) of directions (..., n, r) with the accelerations that they cause."""
    return np.asanyarray(np.sqrt(np.abs(np.add.reduce(W * response, axis=-2))))


def _symmetric(G: NDArray[Any]) -> NDArray[Any]:
    return np.asanyarray((G + G.swapaxes(-1, -2)) / 2 + 0.0)  # no negative zeros


def free_motion(terms: Terms, *, eliminated: tuple[int, ...] = (), summands: Summands | None = None) -> FreeMotion:
    """Eliminate bilateral constraints from the equations of motion.

    Parameters
    ----------
    terms : Terms
        At one state or many.
    eliminated : tuple of int
        Rows of ``J`` that act without friction and are eliminated.
    summands : Summands, optional
        Of the terms; without them, nothing is taken to cancel in the forces and remainders.

    Returns
    -------
    FreeMotion
        NaN where the mass matrix is singular.
    """
    motion = unconstrained(terms.M, terms.h, np.zeros(terms.M.shape[-1]) if summands is None else summands.h)
    if not eliminated:
        return motion
    a_free, inverse, magnitudes = motion.a_free, motion.inverse, motion.summands
    known = single_terms(terms) if summands is None else summands
    rows = list(eliminated)
    J, zeta = terms.J[..., rows, :], terms.zeta_B[..., rows]
    finite = np.isfinite(inverse).all(axis=(-2, -1), keepdims=True)
    mobility = np.where(finite, J @ inverse @ np.swapaxes(J, -1, -2), 0.0)
    units = _units(J, mobility)
    lift = inverse @ np.swapaxes(J, -1, -2) @ pseudo_inverse(mobility, J)
    response = inverse - lift @ J @ inverse
    unmet = applied(np.abs(J), magnitudes) + known.zeta_B[..., rows]
    magnitudes = magnitudes + applied(np.abs(lift), unmet)
    for _ in range(2):  # the second time for the rounding of the first
        a_free = a_free - applied(lift, applied(J, a_free) + zeta)
    residual = applied(J, a_free) + zeta
    redundancy = len(rows) - np.linalg.matrix_rank(mobility / units, tol=None, rtol=RANK, hermitian=True)
    inconsistency = np.max(np.abs(residual), axis=-1)
    return FreeMotion(a_free, _symmetric(response), redundancy, inconsistency, magnitudes, inverse, J, lift)


def are_contradictory(
    inconsistency: Any, zeta: NDArray[Any], a_free: NDArray[Any], sign: float = Tolerances().sign
) -> NDArray[np.bool_]:
    """Whether no acceleration satisfies the eliminated constraints.

    Parameters
    ----------
    inconsistency : float or array, (...)
        Of the :class:`FreeMotion`.
    zeta : array, (..., k)
        What the constraints prescribe.
    a_free : array, (..., n)
    sign : float
        What is left open beside a quantity of size 1.

    Returns
    -------
    array of bool, (...)
    """
    size = 1.0 + np.max(np.abs(zeta), axis=-1, initial=0.0) + np.max(np.abs(a_free), axis=-1, initial=0.0)
    return np.asarray(inconsistency > _CLEARLY * sign * size)


def unconstrained(M: NDArray[Any], h: NDArray[Any], sizes: NDArray[Any]) -> FreeMotion:
    """The motion without constraints.

    Parameters
    ----------
    M : array, (..., n, n)
    h : array, (..., n)
    sizes : array, (..., n)
        Magnitudes of the summands of the forces.

    Returns
    -------
    FreeMotion
    """
    n = M.shape[-1]
    inverse = inverse_of_each(M)
    inverse = (inverse + inverse.swapaxes(-1, -2)) / 2
    a_free = applied(inverse, h)
    # what the mass matrix multiplies cancels in its inverse (Higham 2002, section 7.1)
    magnitudes = applied(np.abs(inverse), applied(np.abs(M), np.abs(a_free)))
    magnitudes = np.fmax(magnitudes, applied(np.abs(inverse), sizes))
    none, zero = np.zeros(a_free.shape[:-1], dtype=int), np.zeros(a_free.shape[:-1])
    return FreeMotion(a_free, inverse, none, zero, magnitudes, inverse, np.zeros((0, n)), np.zeros((n, 0)))


def pseudo_inverse(mobility: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """Generalised inverse of the mobility ``J M^-1 J^T`` of constraints, dependent ones too.

    Parameters
    ----------
    mobility : array, (..., k, k)
        Symmetric and positive semidefinite.
    J : array, (..., k, n)
        Gradients of the constraints, which show whether a row vanishes.

    Returns
    -------
    array, (..., k, k)
        Moore and Penrose's inverse in units in which the diagonal of the mobility is 1.
    """
    units = _units(J, mobility)
    return np.asarray(np.linalg.pinv(mobility / units, rcond=RANK, hermitian=True) / units)


def _units(J: NDArray[Any], mobility: NDArray[Any]) -> NDArray[Any]:
    """Units (..., k, k) of a mobility: whether rows are dependent must hang neither on units nor on the masses held.

    A gradient that is mere rounding beside the others keeps the largest unit: it vanishes, in a singular configuration.
    """
    lengths = np.linalg.norm(J, axis=-1)
    size = np.sqrt(np.abs(np.diagonal(mobility, axis1=-2, axis2=-1)))
    largest = np.max(size, axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        is_known = lengths > _VANISHING * np.max(lengths, axis=-1, keepdims=True)
    size = np.where(is_known & (size > 0.0), size, np.where(largest > 0.0, largest, 1.0))
    return np.asarray(size[..., :, None] * size[..., None, :])
