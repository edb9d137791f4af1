"""The compliant limit of one planar contact in closed form: slide, stick or reversed slide, for arrays of states.

How one planar contact answers to its two forces, at many states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.reduction import free_motion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hybrid.contact.compliance.path import Array
    from hybrid.dynamics.derive import Dynamics

__all__ = ["KINDS", "ContactRates", "PlanarLimit", "planar_limit"]


@attrs.frozen(eq=False)
class ContactRates:
    """What the forces of the contact do at many states; row 0 is the normal one.

    Attributes
    ----------
    gap, gap_dot, slip : array, (N,)
    a_free : array, (N, n)
    response : array, (N, n, 2)
        Generalised acceleration per unit normal and tangential force.
    G : array, (N, 2, 2)
    c : array, (N, 2)
        Contact accelerations without contact forces.
    friction, static_friction, damping, stiffness_ratio : array, (N,)
    """

    gap: Array
    gap_dot: Array
    slip: Array
    a_free: Array
    response: Array
    G: Array
    c: Array
    friction: Array
    static_friction: Array
    damping: Array
    stiffness_ratio: Array

    @classmethod
    def at(cls, dynamics: Dynamics, q: Array, v: Array, t: Array, parameters: Mapping[str, Any]) -> ContactRates:
        """Evaluate at states, (N, n)."""
        dynamics = dynamics.at(parameters)
        terms = dynamics.terms(q, v, t=t)
        motion = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid))))
        count, n = q.shape
        W = np.concatenate(np.broadcast_arrays(terms.W_N, terms.W_T), axis=-1)
        response = np.broadcast_to(motion.response @ W, (count, n, 2))
        a_free = np.broadcast_to(motion.a_free, (count, n))
        zeta = np.concatenate(np.broadcast_arrays(terms.zeta_N, terms.zeta_T), axis=-1)
        c = np.einsum("...ij,...i->...j", W, a_free) + zeta

        def flat(values: Any) -> Array:
            return np.asarray(np.broadcast_to(values, (count, 1))[:, 0])

        G = np.broadcast_to(np.swapaxes(W, -1, -2) @ response, (count, 2, 2))
        return cls(
            flat(terms.gap), flat(terms.gap_dot), flat(terms.slip), a_free, response, G,
            np.broadcast_to(c, (count, 2)), flat(terms.friction), flat(terms.static_friction), flat(terms.damping),
            flat(terms.stiffness_ratio),
        )  # fmt: skip

    def held(self, normal: Array) -> Array:
        """Tangential force that holds the contact at rest under a normal force."""
        return np.asarray(-(self.c[:, 1] + self.G[:, 1, 0] * normal) / self.G[:, 1, 1])

    def acceleration(self, forces: Array) -> Array:
        """Generalised accelerations, (N, n), under forces, (N, 2)."""
        return np.asarray(self.a_free + np.einsum("ijk,ik->ij", self.response, forces))


KINDS = ("none", "slide+", "slide-", "stick")


@attrs.frozen(eq=False)
class PlanarLimit:
    """Outcome of the compliant limit at one or many states of a planar contact.

    Attributes
    ----------
    gamma : array, (..., 2)
        Normal and tangential velocity after the impact.
    impulse : array, (..., 2)
        Normal and tangential impulse.
    kind : array of int8, (..., 2)
        Index into ``KINDS`` of the first and second phase.
    impulse_N : array, (..., 2)
        Normal impulse of each phase.
    duration : array, (..., 2)
        Duration of each phase in fast time; infinite for the first phase of an impact without collision, and for
        a last phase that cannot end: the contact is locked, velocities and impulses are not finite.
    work_N, work_T : array, (..., 2)
        Work of the normal force and of friction in each phase.
    """

    gamma: Array
    impulse: Array
    kind: NDArray[np.int8]
    impulse_N: Array
    duration: Array
    work_N: Array
    work_T: Array


def planar_limit(G: Any, gamma: Any, *, friction: Any, damping: Any, static_friction: Any = None) -> PlanarLimit:
    """Velocities after the impact of a compliant contact whose stiffness tends to infinity.

    The fast system of Miller and Rubinovich (2017): ``dY/ds = gamma_N``, ``d gamma/ds = G (F_N, F_T)`` with ``F_N = -Y
    - 2 d gamma_N`` and Coulomb friction, at frozen position, until the force vanishes. An approach of zero is its limit
    from below: an impact without collision where ``G_NN - s mu G_NT < 0``, no impact elsewhere.

    Parameters
    ----------
    G : array_like, (..., 2, 2)
        Delassus operator, 1/mass; positive definite, or with a zero tangential row.
    gamma : array_like, (..., 2)
        Normal and tangential velocity before.
    friction, damping : array_like, (...)
        Friction coefficient, and ``d`` in units of the square root of a mass.
    static_friction : array_like, (...), optional
        Coefficient up to which the contact sticks; by default ``friction``.

    Returns
    -------
    PlanarLimit

    Examples
    --------
    Restitution of a damped contact without friction (Schwager and Poeschel 2007) is ``exp(-pi/2)`` for ``d = 1/sqrt2``:

    >>> planar_limit(np.eye(2), [-1.0, 0.0], friction=0.0, damping=0.5**0.5).gamma[0].round(12)
    np.float64(0.207879576351)
    """
    from hybrid.contact.compliance.linear import COLUMNS, limits

    G, gamma = np.asarray(G, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    mu, d = np.asarray(friction, dtype=np.float64), np.asarray(damping, dtype=np.float64)
    static = mu if static_friction is None else np.asarray(static_friction, dtype=np.float64)
    shape = np.broadcast_shapes(G.shape[:-2], gamma.shape[:-1], mu.shape, d.shape, static.shape)
    flat = [
        np.ascontiguousarray(np.broadcast_to(item, shape)).reshape(-1)
        for item in (G[..., 0, 0], G[..., 0, 1], G[..., 1, 1], gamma[..., 0], gamma[..., 1], mu, static, d)
    ]
    answers, kinds = np.empty((flat[0].size, COLUMNS)), np.empty((flat[0].size, 2), dtype=np.int8)
    G_NN, G_NT, G_TT, w, u, friction, holds, damping = flat
    limits(G_NN, G_NT, G_TT, w, u, friction, holds, damping, answers, kinds)
    parts = answers.reshape((*shape, COLUMNS // 2, 2))
    gamma_after, impulse, impulse_N, duration, work_N, work_T = (parts[..., i, :] for i in range(COLUMNS // 2))
    return PlanarLimit(gamma_after, impulse + 0.0, kinds.reshape((*shape, 2)), impulse_N, duration, work_N, work_T)
