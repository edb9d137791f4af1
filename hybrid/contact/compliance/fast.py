"""The fast system of several compliant contacts: forces and contact velocities in stretched time."""

from __future__ import annotations

import attrs
import numpy as np

from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rest import first_forces, holding_forces, yielding
from hybrid.contact.compliance.rows import ContactRows
from hybrid.contact.compliance.standing import CompliantStanding

__all__ = ["FastSystem"]


@attrs.frozen(eq=False)
class FastSystem:
    """Contacts at frozen position; unknowns ``y`` are ``Y`` (k), the impulses (r), work of friction, stretched time."""

    G: Array
    gamma: Array
    contacts: tuple[ContactRows, ...]

    @property
    def normals(self) -> list[int]:
        """Normal rows."""
        return [contact.normal for contact in self.contacts]

    @property
    def speed(self) -> float:
        """Size of the velocities."""
        return float(np.max(np.abs(self.gamma)))

    @property
    def sizes(self) -> list[int]:
        """Tangential dimension of every contact."""
        return [len(contact.tangential) for contact in self.contacts]

    def label(self, standing: CompliantStanding) -> str:
        """The mode, with the names of the contacts."""
        label = standing.label([contact.name for contact in self.contacts], self.sizes)
        return label if len(self.contacts) > 1 else f"{self.contacts[0].name}={label}"

    def slip(self, y: Array, index: int) -> Array:
        """Slip velocity of a contact."""
        return np.asarray(self.velocities(y)[list(self.contacts[index].tangential)])

    def velocities(self, y: Array) -> Array:
        """Contact velocities, (r,)."""
        return np.asarray(self.gamma + self.G @ y[len(self.contacts) : -2])

    def potential_forces(self, y: Array) -> Array:
        """``f`` of every contact: its normal force where positive."""
        kappa = np.array([contact.stiffness_ratio for contact in self.contacts])
        d = np.array([contact.damping for contact in self.contacts])
        w = self.velocities(y)[self.normals]
        return np.asarray(-kappa * y[: len(self.contacts)] - 2 * d * np.sqrt(kappa) * w)

    def growing(self, y: Array, standing: CompliantStanding) -> Array:
        """Normal forces; at the very first moment of undamped contacts, what they grow with: the approach."""
        presses = np.array(standing.presses)
        kappa = np.array([contact.stiffness_ratio for contact in self.contacts])
        approach = -kappa * self.velocities(y)[self.normals]
        return first_forces(self.potential_forces(y) * presses, approach * presses)

    def forces(self, y: Array, standing: CompliantStanding, *, normal: Array | None = None) -> Array:
        """Forces by row."""
        if normal is None:
            normal = self.potential_forces(y) * np.array(standing.presses)
        rows = np.zeros(len(self.gamma))
        for index, contact in enumerate(self.contacts):
            rows[contact.normal] = normal[index]
            if contact.tangential and standing.presses[index] and standing.slip[index] is not None:
                u = standing.direction(index, self.slip(y, index))
                rows[list(contact.tangential)] = -contact.friction * normal[index] * u
        rest = standing.resting(self.sizes)
        if rest:
            held, groups = self.tangents(rest)
            bounds = np.array([self.contacts[i].holds * normal[i] for i in rest])
            rows[held] = holding_forces(self.G[np.ix_(held, held)], self.G[held] @ rows, bounds, groups)
        return rows

    def tangents(self, rest: list[int]) -> tuple[list[int], list[list[int]]]:
        """Tangential rows of contacts, and where those of each are among them."""
        rows = [row for i in rest for row in self.contacts[i].tangential]
        return rows, [[rows.index(row) for row in self.contacts[i].tangential] for i in rest]

    def yielding(self, x: Array, standing: CompliantStanding, rest: list[int]) -> float:
        """Positive where redundant contacts at rest no longer hold."""
        rows, groups = self.tangents(rest)
        forces = self.forces(x, standing)
        found = forces[rows].copy()
        forces[rows] = 0.0
        bounds = np.array([self.contacts[i].holds * forces[self.contacts[i].normal] for i in rest])
        G, scale = self.G[np.ix_(rows, rows)], self.speed * float(np.max(self.G)) ** 0.5
        return yielding(G, self.G[rows] @ forces, found, bounds, groups, scale=scale)

    def hold(self, x: Array, standing: CompliantStanding, index: int) -> float:
        """What friction of a sticking contact could hold beyond what it does."""
        # squares: where the normal force vanishes this touches zero without crossing it
        forces, contact = self.forces(x, standing), self.contacts[index]
        held = forces[list(contact.tangential)]
        return float((contact.holds * forces[contact.normal]) ** 2 - held @ held)
