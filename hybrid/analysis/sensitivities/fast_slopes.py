"""The fast system of compliant contacts with its derivatives: forces and rates, and those of a changed impact."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.fast import FastSystem
from hybrid.contact.compliance.standing import CompliantStanding

__all__ = ["FastSlopes", "Tangent"]

Array = NDArray[np.float64]

_DEPENDENT = 1e-11  # of the largest singular value: tangential rows that hold each other


@attrs.frozen(eq=False)
class Tangent:
    """Unknowns of the fast system with their derivatives at fixed stretched time.

    Attributes
    ----------
    x : array, (k + r,)
        Stretched gaps, then impulses.
    slopes : array, (k + r, size)
    """

    x: Array
    slopes: Array


@attrs.frozen(eq=False)
class FastSlopes:
    """The fast system and the derivatives of all that it depends on.

    Attributes
    ----------
    system : FastSystem
    gamma, G : array, (r, size) and (r, r, size)
    friction, static_friction, damping, stiffness : array, (k, size)
    """

    system: FastSystem
    gamma: Array
    G: Array
    friction: Array
    static_friction: Array
    damping: Array
    stiffness: Array

    @property
    def k(self) -> int:
        """Number of contacts."""
        return len(self.system.contacts)

    def frozen(self) -> FastSlopes:
        """The same system, of which nothing changes but its unknowns: for rates in time."""
        return FastSlopes(self.system, *(np.zeros((*field.shape[:-1], 1)) for field in self._fields()))

    def _fields(self) -> tuple[Array, ...]:
        return self.gamma, self.G, self.friction, self.static_friction, self.damping, self.stiffness

    def velocities(self, at: Tangent) -> tuple[Array, Array]:
        """Contact velocities and their derivatives, (r,) and (r, size)."""
        P = at.x[self.k :]
        values = self.system.gamma + self.system.G @ P
        return values, self.gamma + self.turned(P) + self.system.G @ at.slopes[self.k :]

    def turned(self, P: Array) -> Array:
        """What a change of the Delassus operator does to the velocities of impulses, (r, size)."""
        return np.asarray((P @ self.G.reshape(len(P), -1)).reshape(self.gamma.shape))

    def potential_forces(self, at: Tangent, velocities: tuple[Array, Array]) -> tuple[Array, Array]:
        """``f`` of every contact, which is its normal force where positive, and its derivatives."""
        contacts, normals = self.system.contacts, self.system.normals
        kappa = np.array([contact.stiffness_ratio for contact in contacts])
        d, root = np.array([contact.damping for contact in contacts]), np.sqrt(kappa)
        gamma, slopes = velocities
        Y, w = at.x[: self.k], gamma[normals]
        changed = -kappa[:, None] * at.slopes[: self.k] - (2 * d * root)[:, None] * slopes[normals]
        changed = changed - 2 * (w * root)[:, None] * self.damping - (Y + w * d / root)[:, None] * self.stiffness
        return -kappa * Y - 2 * d * root * w, changed

    def forces(self, at: Tangent, standing: CompliantStanding) -> tuple[Array, Array]:
        """Forces by row and their derivatives, (r,) and (r, size)."""
        return self._forces(at, standing, self.velocities(at))

    def _forces(self, at: Tangent, standing: CompliantStanding, velocities: tuple[Array, Array]) -> tuple[Array, Array]:
        gamma, slopes = velocities
        f, f_slopes = self.potential_forces(at, velocities)
        F, changed = np.zeros(len(gamma)), np.zeros_like(slopes)
        for index, contact in enumerate(self.system.contacts):
            if not standing.presses[index]:
                continue
            F[contact.normal], changed[contact.normal] = f[index], f_slopes[index]
            if not contact.tangential or standing.slip[index] is None:
                continue
            rows = list(contact.tangential)
            u = standing.direction(index, gamma[rows])
            F[rows] = -contact.friction * f[index] * u
            changed[rows] = -np.outer(u, self.friction[index] * f[index] + contact.friction * f_slopes[index])
            if len(rows) == 2:
                turning = (np.eye(2) - np.outer(u, u)) / np.linalg.norm(gamma[rows])
                changed[rows] -= contact.friction * f[index] * turning @ slopes[rows]
        rest = self.resting_rows(standing)
        if rest:
            inverse, G = self.inverse(rest), self.system.G
            F[rest] = -inverse @ (G[rest] @ F)
            changed[rest] = -inverse @ (self.turned(F)[rest] + G[rest] @ changed)
        return F, changed

    def rates(self, at: Tangent, standing: CompliantStanding) -> Tangent:
        """Rates of the unknowns and of their derivatives in stretched time."""
        gamma, slopes = self.velocities(at)
        F, changed = self._forces(at, standing, (gamma, slopes))
        normals = self.system.normals
        return Tangent(np.concatenate([gamma[normals], F]), np.concatenate([slopes[normals], changed]))

    def resting_rows(self, standing: CompliantStanding) -> list[int]:
        """Tangential rows of the contacts that stick."""
        return self.system.tangents(standing.resting(self.system.sizes))[0]

    def inverse(self, rows: list[int]) -> Array:
        """Impulses that take velocities away at rows; the least ones where contacts hold each other."""
        return np.asarray(np.linalg.pinv(self.system.G[np.ix_(rows, rows)], rcond=_DEPENDENT))

    def stopped(self, at: Tangent, standing: CompliantStanding) -> Tangent:
        """Without the slip of contacts that stick: what a changed impact slips there ends in no time."""
        rest = self.resting_rows(standing)
        if not rest:
            return at
        gamma, slopes = self.velocities(at)
        x, changed, inverse = at.x.copy(), at.slopes.copy(), self.inverse(rest)
        places = [self.k + row for row in rest]
        taken = inverse @ gamma[rest]
        x[places] -= taken
        changed[places] -= inverse @ (slopes[rest] - np.tensordot(taken, self.G[np.ix_(rest, rest)], axes=(0, 1)))
        return Tangent(x, changed)
