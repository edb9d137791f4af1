"""The friction of several sliding contacts at once from which on their sliding is paradoxical."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.criticality.multipliers import first_negative
from hybrid.contact.reduction import free_motion
from hybrid.contact.sliding import bilateral_contacts
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.tolerances import Tolerances

__all__ = ["JointFriction", "SlidingContacts", "sliding_contacts"]

Array = NDArray[np.float64]
Signs = tuple[int, ...]

_RANK = NOTHING  # of slips that velocities can give the contacts: the root of rounding, with room for long mechanisms


@attrs.frozen
class JointFriction:
    """The least common multiplier of the friction of several sliding contacts that makes sliding paradoxical.

    With all closed contacts pressing and sliding, ``a_N = A lambda_N + b`` with ``A_ij = G_NN[i, j] - f s_j mu_j
    G_NT[i, j]``, where ``s`` are the signs of the slips and ``f`` multiplies every coefficient of friction. Sliding has
    exactly one solution, whatever ``b``, if and only if all principal minors of ``A`` are positive (Samelson, Thrall
    and Wesler 1958). ``factor`` is the least ``f`` at which one becomes negative, for slips that velocities can give
    the closed contacts; minors that vanish whatever ``f``, as those of redundant supports do, are skipped.

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

    def multipliers(self, q: Array, t: Any, parameters: Values) -> Array:
        """Least multipliers (N, m) at which the minors of the members become negative.

        Infinite where they do not, NaN where there is no posture, or no velocity makes the contacts slip so.
        """
        dynamics = self.dynamics
        terms = dynamics.terms(q, np.zeros(dynamics.n), t=t, parameters=parameters)
        response = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid)))).response
        W_N = terms.W_N[..., :, list(self.indices)]
        lead = np.broadcast_shapes(W_N.shape[:-2], terms.W_T.shape[:-2])  # gaps may be linear where tangents are not
        W_T = np.zeros((*lead, *W_N.shape[-2:]))
        for place, index in enumerate(self.indices):
            if self._is_rough(place):
                W_T[..., :, place] = terms.W_T[..., :, dynamics.columns[dynamics.contacts[index]].start]
        shape = np.broadcast_shapes(response.shape[:-2], lead, terms.friction.shape[:-1], q.shape[:-1])
        normal = np.swapaxes(W_N, -1, -2) @ response
        size = np.sqrt(np.abs(np.sum(W_N * (response @ W_N), axis=-2)))
        scale = np.broadcast_to(size, (*shape, len(self.indices)))
        G_NN = np.broadcast_to(normal @ W_N, (*shape, *2 * (len(self.indices),)))
        pushed = np.broadcast_to((normal @ W_T) * terms.friction[..., None, list(self.indices)], G_NN.shape)
        allowed = self._allowed(W_N, W_T, terms.J, shape)
        columns = []
        for (chosen, signs), is_allowed in zip(self.members, allowed, strict=True):
            rows, across = np.ix_(chosen, chosen)
            slopes = pushed[..., rows, across] * np.array(signs)
            factor = first_negative(G_NN[..., rows, across], slopes, scale[..., list(chosen)])
            columns.append(np.where(is_allowed, factor, np.nan))
        found = np.stack(columns, axis=-1)
        reached = np.broadcast_to(np.isfinite(q).all(axis=-1), shape)
        return np.asarray(np.where(reached[..., None], found, np.nan))

    def described(self, member: int, at: Mapping[str, float], q: Array, t: Any, parameters: Values) -> JointFriction:
        """The limit at one posture (1, n), where a member's minor becomes negative."""
        dynamics = self.dynamics
        chosen, signs = self.members[member]
        names = [dynamics.contacts[self.indices[place]] for place in chosen]
        factor = float(np.ravel(self.multipliers(q, t, parameters)[..., member])[0])
        terms = dynamics.terms(q, np.zeros(dynamics.n), t=t, parameters=parameters)
        friction = {name: float(np.ravel(terms.friction[..., dynamics.contacts.index(name)])[0]) for name in names}
        words = {1: "slide+", -1: "slide-", 0: "closed"}
        return JointFriction(
            factor=factor,
            at=dict(at),
            modes={name: words[sign] for name, sign in zip(names, signs, strict=True)},
            friction={name: factor * value for name, value in friction.items() if dynamics.dimension(name)},
        )

    def _allowed(self, W_N: Array, W_T: Array, J: Array, shape: tuple[int, ...]) -> list[NDArray[np.bool_]]:
        """Where some velocity keeps the contacts closed and gives them slips of the signs of each member.

        Signs are impossible where slips of a smallest dependent set, ``sum c_i slip_i = 0``, would all have the sign of
        ``c_i``, or all the other one (a theorem of Gordan, for the circuits of a matroid); a set of one does not slip.
        """
        rough = [place for place in range(len(self.indices)) if self._is_rough(place)]
        tangents = W_T[..., :, rough]
        slips = _slips(W_N, tangents, J)
        length = np.linalg.norm(slips, axis=-1)
        is_free = length > _RANK * np.linalg.norm(tangents, axis=-2)
        unit = np.where(is_free[..., None], slips / np.where(is_free, length, 1.0)[..., None], 0.0)
        ties = []
        for size in range(1, min(len(rough), unit.shape[-1]) + 1):
            for chosen in combinations(range(len(rough)), size):
                left, singular, _ = np.linalg.svd(unit[..., list(chosen), :], full_matrices=False)
                weights = left[..., -1]
                is_tied = (singular[..., -1] <= _RANK) & (np.abs(weights) > _RANK).all(axis=-1)
                if size > 1:
                    is_tied &= singular[..., -2] > _RANK
                if is_tied.any():
                    ties.append(([rough[place] for place in chosen], np.sign(weights), is_tied))
        found = []
        for chosen, signs in self.members:
            sign = dict(zip(chosen, signs, strict=True))
            is_possible = np.ones(is_free.shape[:-1], dtype=bool)
            for places, weights, is_tied in ties:
                if all(sign.get(place) for place in places):
                    agreed = weights * np.array([sign[place] for place in places])
                    is_possible &= ~(is_tied & np.all(agreed == agreed[..., :1], axis=-1))
            found.append(np.broadcast_to(is_possible, shape))
        return found


def _slips(W_N: Array, W_T: Array, J: Array) -> Array:
    """Slips (..., k, n) by velocities that keep the contacts closed and the constraints satisfied."""
    lead = np.broadcast_shapes(W_N.shape[:-2], W_T.shape[:-2], J.shape[:-2])
    parts = [np.broadcast_to(part, (*lead, *part.shape[-2:])) for part in (np.swapaxes(W_N, -1, -2), J)]
    held = np.concatenate(parts, axis=-2)
    held = held / np.maximum(np.linalg.norm(held, axis=-1, keepdims=True), np.finfo(float).tiny)
    tangents = np.broadcast_to(np.swapaxes(W_T, -1, -2), (*lead, *W_T.shape[:-3:-1]))
    finite = np.isfinite(held).all(axis=(-2, -1)) & np.isfinite(tangents).all(axis=(-2, -1))
    held, tangents = (np.where(finite[..., None, None], part, 0.0) for part in (held, tangents))
    return np.asarray(tangents - tangents @ np.linalg.pinv(held, rcond=_RANK) @ held)


def sliding_contacts(
    dynamics: Dynamics, q: Array, t: Any, parameters: Values, *, tolerances: Tolerances
) -> SlidingContacts | None:
    """The contacts that are closed at all postures of a sweep, if several may slide jointly.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (..., n)
        The postures.
    t : float or array, (...)
    parameters : mapping
        Values, or arrays of them, in place of the declared ones.
    tolerances : Tolerances
        ``gap`` is the largest gap of a closed contact.

    Returns
    -------
    SlidingContacts or None
        None if fewer than two contacts are closed, none of them has friction, one is spatial, or the friction of a
        rail pushes one along its normal.
    """
    terms = dynamics.terms(q, np.zeros(dynamics.n), t=t, parameters=parameters)
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
