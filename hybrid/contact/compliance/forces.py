"""Kinematics, inertia and forces of a mechanism on compliant contacts at one state."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from hybrid.contact.compliance.bilateral import BilateralContacts
from hybrid.contact.compliance.path import Array

__all__ = ["CompliantForces"]


@attrs.frozen(eq=False)
class CompliantForces:
    """Kinematics, inertia and forces at one state.

    Attributes
    ----------
    gap, gap_dot, slip : array, (k,), (k,), (p,)
    potential : array, (k,)
        ``-K gap - 2 d sqrt(K) gap_dot``: the normal force where a contact presses.
    damper : array, (k,)
        Force per velocity, ``2 d sqrt(K)``.
    a_free, response : array, (n,) and (n, k + p)
        Acceleration without contact forces, and per unit force.
    G, free : array, (k + p, k + p) and (k + p,)
        Delassus operator and contact accelerations without contact forces.
    friction, static_friction : array, (k,)
    limit, static_limit : array, (e,)
        Largest friction forces of the friction elements.
    forces : array, (k + p,)
    bilateral : BilateralContacts
        The rigid constraints with friction.
    """

    gap: Array
    gap_dot: Array
    slip: Array
    potential: Array
    damper: Array
    a_free: Array
    response: Array
    G: Array
    free: Array
    friction: Array
    static_friction: Array
    limit: Array
    static_limit: Array
    forces: Array
    bilateral: BilateralContacts

    @property
    def given_bound(self) -> Array:
        """Largest friction forces of contacts and elements while they slip, (k + e,)."""
        return np.concatenate([self.friction * self.potential, self.limit])

    @property
    def holds(self) -> Array:
        """Largest friction force of every force element while it sticks, (k + e + m,)."""
        given = [self.static_friction * self.potential, self.static_limit]
        return np.concatenate([*given, self.bilateral.bounds(self.forces)] if self.bilateral.names else given)

    def under(self, normal: Array, free: Array, *, limited: bool = True) -> CompliantForces:
        """The same state under other normal forces; ``limited=False`` leaves friction elements and other loads out."""
        if limited:
            return attrs.evolve(self, potential=normal, free=free)
        bilateral = attrs.evolve(self.bilateral, load=0 * self.bilateral.load)
        limits = {"limit": 0 * self.limit, "static_limit": 0 * self.static_limit}
        return attrs.evolve(self, potential=normal, free=free, bilateral=bilateral, **limits)

    @property
    def acceleration(self) -> Array:
        """Generalised accelerations, (n,)."""
        return np.asarray(self.a_free + self.response @ self.forces)

    def slip_power(self) -> Any:
        """Power of the tangential forces."""
        return self.forces[len(self.gap) :] @ self.slip
