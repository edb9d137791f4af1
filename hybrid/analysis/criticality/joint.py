"""The friction of several sliding contacts at once from which on their sliding is paradoxical.

The first multiplier of friction at which a determinant becomes negative.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.reduction import free_motion
from hybrid.contact.sliding import bilateral_contacts
from hybrid.tolerances import AGREEING, NOTHING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.tolerances import Tolerances

__all__ = ["JointFriction", "SlidingContacts", "determinants", "first_below", "first_negative", "sliding_contacts"]


Array = NDArray[np.float64]

# Rounding of a determinant of order m, relative to the product of its columns (Hadamard): some tens of operations on
# entries that are themselves results of a linear solve.
_BLOCK = 16_384  # matrices that are looked at together: their numbers stay in the processor's cache
# A pair of roots that rounding may have parted from the real axis: the root of rounding.
_IMAGINARY = AGREEING


def first_negative(G: Array, B: Array, size: Array) -> Array:
    """Find the least ``f >= 0`` beyond which ``det(G - f B)`` is negative.

    Parameters
    ----------
    G, B : array, (..., m, m)
    size : array, (..., m)
        Of the rows, so that entry ``(i, j)`` of ``G`` is at most ``size[i] size[j]``.

    Returns
    -------
    array, (...)
        Infinite where the determinant becomes negative nowhere, also where it vanishes identically; 0 where it does at
        once. Roots at which it only touches zero are passed over.

    Examples
    --------
    >>> first_negative(np.eye(2), np.array([[0.0, 2.0], [-0.5, 0.0]]), np.ones(2)).item()
    inf
    >>> first_negative(np.eye(2), np.array([[0.0, 2.0], [0.5, 0.0]]), np.ones(2)).round(12).item()
    1.0
    """
    return first_below(determinants(G, B, size), np.asarray(np.inf))


def determinants(G: Array, B: Array, size: Array) -> Array:
    """Coefficients of ``det(G - f B)`` in powers of ``f``, rows and columns in units of their sizes.

    Parameters
    ----------
    G, B : array, (..., m, m)
    size : array, (..., m)

    Returns
    -------
    array, (..., m + 1)
        Those of rounding are 0; NaN where a number is not finite.
    """
    unit = np.maximum(size, np.finfo(float).tiny)
    with np.errstate(all="ignore"):  # a normal that constraints hold has no size
        G, B = (part / unit[..., :, None] / unit[..., None, :] for part in (G, B))
    shape, m = np.broadcast_shapes(G.shape[:-2], B.shape[:-2]), G.shape[-1]
    G, B = (np.broadcast_to(part, (*shape, m, m)).reshape(-1, m, m) for part in (G, B))
    found = np.empty((len(G), m + 1))
    for first in range(0, len(G), _BLOCK):
        block = slice(first, first + _BLOCK)
        with np.errstate(over="ignore", invalid="ignore"):
            found[block] = _coefficients(G[block], B[block])
    return found.reshape(*shape, m + 1)


def first_below(coefficients: Array, below: Array) -> Array:
    """Find the least place beyond which polynomials are negative, where it is less than given ones.

    Parameters
    ----------
    coefficients : array, (..., d + 1)
        Of powers that grow.
    below : array, (...)
        Positive; infinite ones allow all places.

    Returns
    -------
    array, (...)
        Infinite where there is no such place; NaN where a coefficient is.
    """
    shape = coefficients.shape[:-1]
    flat = coefficients.reshape(-1, coefficients.shape[-1])
    finite = np.isfinite(flat).all(axis=-1)
    found = np.where(finite, np.inf, np.nan)
    some = finite & _may_be_negative(flat, np.broadcast_to(below, shape).ravel())
    if some.any():
        found[some] = _first(flat[some])
    return found.reshape(shape)


def _may_be_negative(coefficients: Array, below: Array) -> NDArray[np.bool_]:
    """Where a polynomial is not proved to be non-negative from 0 to a place: Bernstein coefficients bound it.

    They bound the values on the interval (Lorentz 1986, chapter 1); on all of the half line, the coefficients do.
    """
    degree = coefficients.shape[1] - 1
    bounded = np.isfinite(below)
    at = coefficients * np.where(bounded, below, 1.0)[:, None] ** np.arange(degree + 1)
    shares = np.array([[comb(k, i) / comb(degree, i) for i in range(degree + 1)] for k in range(degree + 1)])
    with np.errstate(invalid="ignore"):
        inside = (at @ shares.T < 0.0).any(axis=1)
        return np.asarray(np.where(bounded, inside, (coefficients < 0.0).any(axis=1)))


def _coefficients(G: Array, B: Array) -> Array:
    """Coefficients (N, m + 1) of the determinant in powers of ``f``, those of rounding set to 0.

    Minors of the first rows are expanded along their last one, so that each is found once.
    """
    m = G.shape[-1]
    G, B = (np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in (G, B))
    minors: dict[tuple[int, ...], list[Array]] = {(): [np.ones(G.shape[-1])]}
    for row in range(m):
        larger: dict[tuple[int, ...], list[Array]] = {}
        for columns in combinations(range(m), row + 1):
            total = [np.zeros(G.shape[-1]) for _ in range(row + 2)]
            for place, column in enumerate(columns):
                sign = (-1.0) ** (row + place)
                for power, term in enumerate(minors[columns[:place] + columns[place + 1 :]]):
                    total[power] += sign * G[row, column] * term
                    total[power + 1] -= sign * B[row, column] * term
            larger[columns] = total
        minors = larger
    bound = [np.ones(G.shape[-1])]
    for column in range(m):  # of every coefficient, by Hadamard: products of the lengths of columns of both
        lengths = np.sqrt(np.sum(G[:, column] ** 2, axis=0)), np.sqrt(np.sum(B[:, column] ** 2, axis=0))
        grown = [np.zeros(G.shape[-1]) for _ in range(column + 2)]
        for power, term in enumerate(bound):
            grown[power] += lengths[0] * term
            grown[power + 1] += lengths[1] * term
        bound = grown
    value, most = np.stack(minors[tuple(range(m))], axis=-1), np.stack(bound, axis=-1)
    return np.where(np.abs(value) <= ROUNDING * most, 0.0, value)


def _first(coefficients: Array) -> Array:
    """Least positive place beyond which each polynomial (N, d + 1) is negative."""
    result = np.full(len(coefficients), np.inf)
    nonzero = coefficients != 0.0
    some = nonzero.any(axis=1)
    lowest = np.argmax(nonzero, axis=1)
    for order in np.unique(lowest[some]):
        rows = np.flatnonzero(some & (lowest == order))
        result[rows] = _deflated(coefficients[rows, order:])
    return result


def _deflated(coefficients: Array) -> Array:
    """The same for polynomials whose constant is not 0."""
    result = np.where(coefficients[:, 0] < 0.0, 0.0, np.inf)
    degree = coefficients.shape[1] - 1
    if degree == 0:
        return result
    # in 1/f the polynomial is monic, and high coefficients may vanish
    inverse: NDArray[Any] = -coefficients[:, 1:] / coefficients[:, :1]
    if degree == 2:
        inverse = _both_roots(inverse[:, 0], inverse[:, 1])
    elif degree > 2:
        companion = np.zeros((len(coefficients), degree, degree))
        companion[:, 0, :] = inverse
        companion[:, range(1, degree), range(degree - 1)] = 1.0
        inverse = np.linalg.eigvals(companion)
    real = (np.abs(inverse.imag) <= _IMAGINARY * np.abs(inverse)) & (inverse.real > 0.0)
    with np.errstate(divide="ignore"):
        roots = np.sort(np.where(real, 1.0 / np.where(real, inverse.real, 1.0), np.inf), axis=1)
    for k in range(degree - 1, -1, -1):
        here = roots[:, k]
        ahead = roots[:, k + 1] if k + 1 < degree else np.full(len(roots), np.inf)
        with np.errstate(invalid="ignore"):
            between = np.where(np.isfinite(ahead), (here + ahead) / 2, 2.0 * here)
            terms = coefficients * between[:, None] ** np.arange(degree + 1)
            # two roots that rounding has parted enclose a value of rounding: the polynomial only touches zero there
            negative = np.sum(terms, axis=1) < -ROUNDING * np.sum(np.abs(terms), axis=1)
        hit = np.isfinite(here) & negative & (result > 0.0)
        result = np.where(hit, here, result)
    return result


def _both_roots(p: Array, q: Array) -> NDArray[np.complex128]:
    """Roots (N, 2) of ``x**2 = p x + q``, the smaller one without cancellation."""
    root = np.sqrt(p * p / 4 + q + 0j)
    larger = p / 2 + np.where(p >= 0, root, -root)
    smaller = -q / np.where(larger == 0, 1.0, larger)
    return np.stack([larger, smaller], axis=-1)


Signs = tuple[int, ...]

_RANK = NOTHING  # of slips that velocities can give the contacts: the root of rounding, with room for long mechanisms


@attrs.frozen
class JointFriction:
    """The least common multiplier of the friction of several sliding contacts that makes sliding paradoxical.

    With all closed contacts pressing and sliding, ``a_N = A lambda_N + b`` with ``A_ij = G_NN[i, j] - f s_j mu_j
    G_NT[i, j]``, where ``s`` are the signs of the slips and ``f`` multiplies every coefficient of friction. Sliding has
    exactly one solution, whatever ``b``, if and only if all principal minors of ``A`` are positive (Samelson, Thrall
    and Wesler 1958). ``factor`` is the least ``f`` at which one becomes negative, for slips that velocities can give
    the closed contacts on surfaces that move as they do; minors that vanish whatever ``f``, as those of redundant
    supports do, are skipped.

    Attributes
    ----------
    factor : float
        Dimensionless; infinite where no minor becomes negative.
    at : mapping of str to float
        Values of the swept quantities there; empty if it is infinite.
    modes : mapping of str to str
        The contacts of that minor, each with ``slide+`` or ``slide-`` (``closed`` without friction).
    friction : mapping of str to float
        Their coefficients of friction there, multiplied by ``factor``.
    """

    factor: float
    at: Mapping[str, float]
    modes: Mapping[str, str]
    friction: Mapping[str, float]


@attrs.frozen(eq=False)
class SlidingContacts:
    """Contacts that are closed at the same postures.

    Attributes
    ----------
    dynamics : Dynamics
    indices : tuple of int, length k
        Of the contacts; frictionless ones too, which press.
    """

    dynamics: Dynamics
    indices: tuple[int, ...]

    @property
    def members(self) -> list[tuple[tuple[int, ...], Signs]]:
        """Sets of contacts, by their place among ``indices``, with signs of slip, 0 without friction: the minors."""
        found = []
        for size in range(1, len(self.indices) + 1):
            for chosen in combinations(range(len(self.indices)), size):
                signs = product(*[(1, -1) if self._is_rough(i) else (0,) for i in chosen])
                found += [(chosen, sign) for sign in signs if any(sign)]
        return found

    def _is_rough(self, place: int) -> bool:
        return self.dynamics.dimension(self.dynamics.contacts[self.indices[place]]) > 0

    def multipliers(self, dynamics: Dynamics, q: Array, t: Any) -> Array:
        """Least multipliers (N, m) at which the minors of the members become negative.

        Infinite where they do not, NaN where there is no posture, or no velocity makes the contacts slip so.
        """
        terms = dynamics.terms(q, np.zeros(dynamics.n), t=t)
        response = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid)))).response
        W_N = terms.W_N[..., :, list(self.indices)]
        lead = np.broadcast_shapes(W_N.shape[:-2], terms.W_T.shape[:-2])  # gaps may be linear where tangents are not
        W_T = np.zeros((*lead, *W_N.shape[-2:]))
        for place, index in enumerate(self.indices):
            if self._is_rough(place):
                W_T[..., :, place] = terms.W_T[..., :, dynamics.columns[dynamics.contacts[index]].start]
        vectors = (terms.friction, terms.gap_dot, terms.constraint_dot, terms.slip, q)
        shape = np.broadcast_shapes(response.shape[:-2], lead, *(vector.shape[:-1] for vector in vectors))
        normal = np.swapaxes(W_N, -1, -2) @ response
        size = np.sqrt(np.abs(np.sum(W_N * (response @ W_N), axis=-2)))
        scale = np.broadcast_to(size, (*shape, len(self.indices)))
        G_NN = np.broadcast_to(normal @ W_N, (*shape, *2 * (len(self.indices),)))
        pushed = np.broadcast_to((normal @ W_T) * terms.friction[..., None, list(self.indices)], G_NN.shape)
        allowed = self._allowed(terms, W_N, W_T, shape)
        columns = []
        for (chosen, signs), is_allowed in zip(self.members, allowed, strict=True):
            rows, across = np.ix_(chosen, chosen)
            slopes = pushed[..., rows, across] * np.array(signs)
            factor = first_negative(G_NN[..., rows, across], slopes, scale[..., list(chosen)])
            columns.append(np.where(is_allowed, factor, np.nan))
        found = np.stack(columns, axis=-1)
        reached = np.broadcast_to(np.isfinite(q).all(axis=-1), shape)
        return np.asarray(np.where(reached[..., None], found, np.nan))

    def described(self, member: int, at: Mapping[str, float], dynamics: Dynamics, q: Array, t: Any) -> JointFriction:
        """The limit at one posture (1, n), where a member's minor becomes negative."""
        chosen, signs = self.members[member]
        names = [dynamics.contacts[self.indices[place]] for place in chosen]
        factor = float(np.ravel(self.multipliers(dynamics, q, t)[..., member])[0])
        terms = dynamics.terms(q, np.zeros(dynamics.n), t=t)
        friction = {name: float(np.ravel(terms.friction[..., dynamics.contacts.index(name)])[0]) for name in names}
        words = {1: "slide+", -1: "slide-", 0: "closed"}
        return JointFriction(
            factor=factor,
            at=dict(at),
            modes={name: words[sign] for name, sign in zip(names, signs, strict=True)},
            friction={name: factor * value for name, value in friction.items() if dynamics.dimension(name)},
        )

    def _allowed(self, terms: Terms, W_N: Array, W_T: Array, shape: tuple[int, ...]) -> list[NDArray[np.bool_]]:
        """Where some velocity keeps the contacts closed and gives them slips of the signs of each member.

        Slips of a smallest dependent set have ``sum c_i slip_i = d``, which moving surfaces give it. If all signs are
        those of ``c_i``, they are impossible unless ``d > 0``, if all are the others, unless ``d < 0``; all else is
        possible (a theorem of Motzkin, for the circuits of a matroid). A set of one is a slip that no velocity changes.
        """
        rough = [place for place in range(len(self.indices)) if self._is_rough(place)]
        columns = [self.dynamics.columns[self.dynamics.contacts[self.indices[place]]].start for place in rough]
        moved = np.concatenate(_batched(terms.gap_dot[..., list(self.indices)], terms.constraint_dot), axis=-1)
        tangents = W_T[..., :, rough]
        slips, prescribed, size = _slips(W_N, tangents, terms.J, moved, terms.slip[..., columns])
        length = np.linalg.norm(slips, axis=-1)
        is_free = length > _RANK * np.linalg.norm(tangents, axis=-2)
        scale = np.where(is_free, length, 1.0)
        unit = np.where(is_free[..., None], slips / scale[..., None], 0.0)
        ties = []
        for number in range(1, min(len(rough), unit.shape[-1]) + 1):
            for chosen in combinations(range(len(rough)), number):
                own = list(chosen)
                left, singular, _ = np.linalg.svd(unit[..., own, :], full_matrices=False)
                weights = left[..., -1]
                is_tied = (singular[..., -1] <= _RANK) & (np.abs(weights) > _RANK).all(axis=-1)
                if number > 1:
                    is_tied &= singular[..., -2] > _RANK
                if is_tied.any():
                    given = np.sum(weights * (prescribed / scale)[..., own], axis=-1)
                    rounding = _RANK * np.sum(np.abs(weights) * (size / scale)[..., own], axis=-1)
                    side = np.where(np.abs(given) > rounding, np.sign(given), 0.0)
                    ties.append(([rough[place] for place in chosen], np.sign(weights), side, is_tied))
        found = []
        for chosen, signs in self.members:
            sign = dict(zip(chosen, signs, strict=True))
            is_possible = np.ones(np.broadcast_shapes(is_free.shape[:-1], prescribed.shape[:-1]), dtype=bool)
            for places, weights, side, is_tied in ties:
                if all(sign.get(place) for place in places):
                    agreed = weights * np.array([sign[place] for place in places])
                    is_one_sided = np.all(agreed == agreed[..., :1], axis=-1) & (agreed[..., 0] != side)
                    is_possible &= ~(is_tied & is_one_sided)
            found.append(np.broadcast_to(is_possible, shape))
        return found


def _slips(W_N: Array, W_T: Array, J: Array, moved: Array, drift: Array) -> tuple[Array, Array, Array]:
    """Slips by velocities that keep the contacts closed and the constraints satisfied, and what is prescribed of them.

    Parameters
    ----------
    W_N, W_T, J : array, (..., n, k), (..., n, r) and (..., m, n)
    moved : array, (..., k + m)
        Velocities of the surfaces along their normals, and of the constraints.
    drift : array, (..., r)
        Velocities of the surfaces along their tangents.

    Returns
    -------
    slips : array, (..., r, n)
        Their change with velocities.
    prescribed : array, (..., r)
        What they are besides.
    size : array, (..., r)
        Of the terms that it sums.
    """
    normals, J, tangents = _batched(np.swapaxes(W_N, -1, -2), J, np.swapaxes(W_T, -1, -2), own=2)
    held = np.concatenate([normals, J], axis=-2)
    length = np.maximum(np.linalg.norm(held, axis=-1), np.finfo(float).tiny)
    held = held / length[..., None]
    finite = np.isfinite(held).all(axis=(-2, -1)) & np.isfinite(tangents).all(axis=(-2, -1))
    held, tangents = (np.where(finite[..., None, None], part, 0.0) for part in (held, tangents))
    shares = tangents @ np.linalg.pinv(held, rcond=_RANK)
    carried = shares * (moved / length)[..., None, :]
    prescribed, size = drift - carried.sum(axis=-1), np.abs(drift) + np.abs(carried).sum(axis=-1)
    return np.asarray(tangents - shares @ held), prescribed, size


def _batched(*parts: Array, own: int = 1) -> list[Array]:
    """Arrays with the leading axes of all, before their own last ones."""
    lead = np.broadcast_shapes(*(part.shape[:-own] for part in parts))
    return [np.broadcast_to(part, (*lead, *part.shape[-own:])) for part in parts]


def sliding_contacts(dynamics: Dynamics, q: Array, t: Any, *, tolerances: Tolerances) -> SlidingContacts | None:
    """The contacts that are closed at all postures of a sweep, if several may slide jointly.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (..., n)
        The postures.
    t : float or array, (...)
    tolerances : Tolerances
        ``gap`` is the largest gap of a closed contact.

    Returns
    -------
    SlidingContacts or None
        None if fewer than two contacts are closed, none of them has friction, one is spatial, or the friction of a
        rail pushes one along its normal.
    """
    terms = dynamics.terms(q, np.zeros(dynamics.n), t=t)
    with np.errstate(invalid="ignore"):
        open_ = np.any(np.abs(terms.gap) > tolerances.gap, axis=tuple(range(terms.gap.ndim - 1)))
    closed = tuple(int(index) for index in np.flatnonzero(~open_))
    dimensions = [dynamics.dimension(dynamics.contacts[index]) for index in closed]
    if len(closed) < 2 or max(dimensions) != 1:
        return None
    motion = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid))))
    if any(bilateral_contacts(dynamics, terms, motion, terms.W_N[..., :, index]) for index in closed):
        return None
    return SlidingContacts(dynamics, closed)
