"""The fast system of several compliant contacts: forces and contact velocities in stretched time."""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import numpy as np

from hybrid.contact.compliance.loading import LoadedRest
from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rails import NO_RAILS, RoughRails, rail_forces
from hybrid.contact.compliance.rest import first_forces, holding_duals, holding_forces, yielding
from hybrid.contact.compliance.rows import ContactRows
from hybrid.contact.compliance.standing import VANISHING, CompliantStanding

__all__ = ["FastSystem"]


@attrs.frozen(eq=False)
class FastSystem:
    """Contacts at frozen position; unknowns ``y`` are ``Y`` (k), the impulses (r), work of friction, stretched time."""

    G: Array
    gamma: Array
    contacts: tuple[ContactRows, ...]
    rails: RoughRails = NO_RAILS

    @property
    def tangential(self) -> list[tuple[int, ...]]:
        """Tangential rows of every carrier: the contacts, then rigid constraints with friction."""
        return [*(contact.tangential for contact in self.contacts), *((row,) for row in self.rails.rows)]

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
        """Tangential dimension of every carrier."""
        return [len(rows) for rows in self.tangential]

    def label(self, standing: CompliantStanding) -> str:
        """The mode, with the names of the carriers."""
        label = standing.label([*(contact.name for contact in self.contacts), *self.rails.names], self.sizes)
        return label if len(self.sizes) > 1 else f"{self.contacts[0].name}={label}"

    def slip(self, y: Array, index: int) -> Array:
        """Slip velocity of a carrier."""
        return np.asarray(self.velocities(y)[list(self.tangential[index])])

    def velocities(self, y: Array) -> Array:
        """Contact velocities, (r,)."""
        return np.asarray(self.gamma + self.G @ y[len(self.contacts) : -2])

    def potential_forces(self, y: Array) -> Array:
        """``f`` of every contact: its normal force where positive."""
        kappa = np.array([contact.stiffness_ratio for contact in self.contacts])
        d = np.array([contact.damping for contact in self.contacts])
        w = self.velocities(y)[self.normals]
        return np.asarray(-kappa * y[: len(self.contacts)] - 2 * d * np.sqrt(kappa) * w)

    def overlap(self, y: Array, index: int) -> float:
        """Positive where a contact that has let go presses again: it must touch, however fast it approaches.

        One that nothing moves stays at zero, and lets go.
        """
        force = min(self.potential_forces(y)[index], -self.contacts[index].stiffness_ratio * y[index])
        return float(force) - VANISHING * self._force

    def growing(self, y: Array, standing: CompliantStanding) -> Array:
        """Normal forces; at the very first moment of undamped contacts, what they grow with: the approach."""
        presses = np.array(standing.presses)[: len(self.contacts)]
        kappa = np.array([contact.stiffness_ratio for contact in self.contacts])
        approach = -kappa * self.velocities(y)[self.normals]
        return first_forces(self.potential_forces(y) * presses, approach * presses)

    def remembering(self, standing: CompliantStanding) -> Callable[[Array], Array]:
        """Forces in one phase, not found again for every event of the same state."""
        last: list[tuple[bytes, Array]] = []

        def forces(y: Array) -> Array:
            key = y.tobytes()
            if not last or last[0][0] != key:
                last[:] = [(key, self.forces(y, standing))]
            return last[0][1]

        return forces

    def forces(self, y: Array, standing: CompliantStanding, *, normal: Array | None = None) -> Array:
        """Forces by row."""
        if normal is None:
            normal = self.potential_forces(y) * np.array(standing.presses)[: len(self.contacts)]
        rows = np.zeros(len(self.gamma), dtype=normal.dtype)
        for index, contact in enumerate(self.contacts):
            rows[contact.normal] = normal[index]
            if contact.tangential and standing.presses[index] and standing.slip[index] is not None:
                u = standing.direction(index, self.slip(y, index))
                rows[list(contact.tangential)] = -contact.friction * normal[index] * u
        rest = standing.resting(self.sizes)
        if self.rails.names:
            return rail_forces(self.G, np.zeros(len(rows)), self.rails, rows, self.tangents(rest)[0], standing)
        if rest:
            held, groups = self.tangents(rest)
            if rows.dtype == object:
                rows[held] = holding_duals(self.G[np.ix_(held, held)], self.G[held] @ rows)
                return rows
            bounds = np.array([self.contacts[i].holds * normal[i] for i in rest])
            rows[held] = holding_forces(self.G[np.ix_(held, held)], self.G[held] @ rows, bounds, groups)
        return rows

    def tangents(self, rest: list[int]) -> tuple[list[int], list[list[int]]]:
        """Tangential rows of contacts, and where those of each are among them."""
        rows = [row for i in rest for row in self.tangential[i]]
        return rows, [[rows.index(row) for row in self.tangential[i]] for i in rest]

    def loaded(self, y: Array, normal: Array) -> LoadedRest:
        """What decides beside rigid constraints with friction, under normal forces of the contacts."""
        kinetic = np.array([contact.friction for contact in self.contacts])
        static = np.array([contact.holds for contact in self.contacts])
        return LoadedRest(
            self.G, np.zeros(len(self.G)), self.rails, self.tangential, kinetic * normal, static * normal,
            lambda trial: self.forces(y, trial, normal=normal), self._force,
        )  # fmt: skip

    @property
    def _force(self) -> float:
        """Size of the forces of the contacts."""
        kappa = max(contact.stiffness_ratio for contact in self.contacts)
        return self.speed * math.sqrt(kappa / float(np.max(np.diag(self.G)[self.normals])))

    @property
    def margins(self) -> Array:
        """What is rounding of the forces of rigid constraints with friction."""
        return self.rails.margins(self._force)

    def settle_loaded(self, y: Array, standing: CompliantStanding, normal: Array, breaking: int | None) -> None:
        """Decide who sticks, who slips, and the signs of the forces of sliding constraints with friction."""
        self.loaded(y, normal).settle(standing, standing.resting(self.sizes), breaking=breaking)
        held = self.tangents(standing.resting(self.sizes))[0]
        self.rails.check(self.rails.factor(self.G, held, standing), standing)

    def verify(self, y: Array, standing: CompliantStanding) -> None:
        """Raise ComputationError where the force of a sliding constraint has not the sign that was taken."""
        self.rails.verify(self.forces(y, standing), standing, self._force)

    def flip(self, y: Array, standing: CompliantStanding, index: int) -> None:
        """Change the sign of the force of a sliding constraint; others that vanish take the one they grow with."""
        k, kappa = len(self.contacts), np.array([contact.stiffness_ratio for contact in self.contacts])
        forces = self.forces(y, standing)
        others = [j for j in self.loaded(y, forces[self.normals]).unloaded(standing) if j != index]
        standing.side[index] = -standing.side[index]
        damper = 2 * np.sqrt(kappa) * np.array([contact.damping for contact in self.contacts])
        w, lift = self.velocities(y)[self.normals], (self.G @ forces)[self.normals]
        growing = (-kappa * w - damper * lift) * np.array(standing.presses[:k])
        self.loaded(y, growing).settle(standing, [], sides=others)

    def load(self, forces: Array, standing: CompliantStanding, index: int) -> float:
        """The force of a rigid constraint that slides, positive until its sign changes."""
        j = index - len(self.contacts)
        force = float(self.rails.normal(forces)[j])
        return standing.side[index] * force + float(self.margins[j])

    def yielding(self, x: Array, standing: CompliantStanding, rest: list[int]) -> float:
        """Positive where redundant contacts at rest no longer hold."""
        rows, groups = self.tangents(rest)
        forces = self.forces(x, standing)
        if self.rails.names:
            return -1.0 if self.loaded(x, forces[self.normals]).holds_still(standing, rest) else 1.0
        found = forces[rows].copy()
        forces[rows] = 0.0
        bounds = np.array([self.contacts[i].holds * forces[self.contacts[i].normal] for i in rest])
        G, scale = self.G[np.ix_(rows, rows)], self.speed * float(np.max(self.G)) ** 0.5
        return yielding(G, self.G[rows] @ forces, found, bounds, groups, scale=scale)

    def hold(self, forces: Array, index: int) -> float:
        """What friction of a sticking carrier could hold beyond what it does."""
        # the margin: at release both vanish, which is no slip
        k = len(self.contacts)
        held = float(np.linalg.norm(forces[list(self.tangential[index])]))
        if index >= k:
            j = index - k
            return float(self.rails.bounds(forces)[j] + self.margins[j]) - held
        contact = self.contacts[index]
        return float(contact.holds * forces[contact.normal]) + VANISHING * self._force - held
