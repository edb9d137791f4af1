"""How one planar contact answers to its two forces, at many states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.compliance.path import Array
from hybrid.contact.reduction import free_motion

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["ContactRates"]


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
