"""Forces of compliant contacts while every force element keeps what it does, whatever the kinematics."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.compliance.loading import LoadedRest
from hybrid.contact.compliance.rest import directions_from_rest, first_forces, holding_duals, holding_forces, yielding
from hybrid.contact.compliance.status import VANISHING, CompliantForces, ContactStatus, bilateral_forces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.compliance.path import Array

__all__ = ["AbstractCompliantFlow"]


@attrs.frozen(eq=False)
class AbstractCompliantFlow(ABC):
    """Forces and rates of compliant contacts; the kinematics, of a motion or frozen, are those of a subclass.

    Unknowns are a leading part that the kinematics choose, the impulses by row, those of the rigid constraints with
    friction, the work of friction, time and fast time.

    Attributes
    ----------
    stiffness : array, (k,)
        Of every contact.
    speed : float
        Size of the contact velocities of the whole history.
    rounding : float
        Velocities that the rounding of positions makes through the stiffness.
    names : tuple of str
        Contacts, then friction elements, then rigid constraints with friction.
    rough : tuple of str
        The last of these.
    rows : list of (int or None, list of int)
        Normal row (of a contact only) and tangential rows of every force element; normal rows come first.
    """

    stiffness: Array
    speed: float
    rounding: float
    names: tuple[str, ...]
    rough: tuple[str, ...]
    rows: list[tuple[int | None, list[int]]]

    @abstractmethod
    def leading_sizes(self, frequency: float) -> Array:
        """What the leading unknowns are measured by, per contact velocity; the frequency is that of the contacts."""

    @abstractmethod
    def evaluate(self, y: Array, status: ContactStatus) -> CompliantForces:
        """Everything at one state."""

    @abstractmethod
    def leading_rates(self, y: Array, at: CompliantForces) -> Array:
        """Rates of the leading unknowns in time."""

    @abstractmethod
    def pushed(self, y: Array, at: CompliantForces, rows: list[int], impulses: Array) -> Array:
        """The unknowns after impulses in some rows."""

    def begins_pressed(self, at: CompliantForces, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Contacts whose springs push at the start: of those closed to the tolerance, none."""
        return np.zeros(len(closed), dtype=bool)

    def touching(self, at: CompliantForces, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Contacts that are not apart at the start: those closed to the tolerance."""
        return closed

    def is_over(self, at: CompliantForces) -> bool:
        """True where nothing moves and the forces leave it so for ever: never known where loads may change in time."""
        return False

    def frequencies(self, G: Array) -> Array:
        """Frequency of every contact alone, (k,), undamped and without friction."""
        return np.asarray(np.sqrt(self.stiffness * np.diag(G)[: len(self.stiffness)]))

    @property
    def sizes(self) -> list[int]:
        """Tangential dimension of every force element."""
        return [len(rows) for _, rows in self.rows]

    def columns(self, i: int) -> list[int]:
        """Columns of the slip of a force element."""
        k = len(self.stiffness)
        return [row - k for row in self.rows[i][1]]

    def start(self, leading: Array, t: float = 0.0) -> Array:
        """The unknowns at the start."""
        rows = sum((normal is not None) + len(tangential) for normal, tangential in self.rows) + len(self.rough)
        return np.concatenate([leading, np.zeros(rows + 1), [t, 0.0]])

    def rates(self, y: Array, at: CompliantForces) -> Array:
        """Rates of the unknowns in time; that of fast time is 1."""
        forces = [at.forces, at.bilateral.normal(at.forces)]
        return np.concatenate([self.leading_rates(y, at), *forces, [at.slip_power(), 1.0, 1.0]])

    def forces(self, at: CompliantForces, status: ContactStatus) -> Array:
        """Contact forces by row: pressing contacts push, slip is opposed, sticking contacts are held."""
        found, bound = np.zeros(len(at.free), dtype=at.potential.dtype), at.given_bound
        for i, (normal, tangential) in enumerate(self.rows):
            if not status.presses[i]:
                continue
            if normal is not None:
                found[normal] = at.potential[i]
            if tangential and status.slip[i] is not None and i < len(bound):
                found[tangential] = -bound[i] * status.direction(i, at.slip[self.columns(i)])
        rest = status.resting(self.sizes)
        if at.bilateral.names:
            return bilateral_forces(at.G, at.free, at.bilateral, found, self.tangents(rest)[0], status)
        if rest:
            held, groups = self.tangents(rest)
            G, b = at.G[np.ix_(held, held)], at.free[held] + at.G[held] @ found
            is_dual = found.dtype == object
            found[held] = holding_duals(G, b) if is_dual else holding_forces(G, b, at.holds[rest], groups)
        return found

    def margins(self, at: CompliantForces) -> Array:
        """What is rounding of the forces of rigid constraints with friction."""
        return at.bilateral.margins(self.force(at))

    def verify(self, at: CompliantForces, status: ContactStatus) -> None:
        """Raise ComputationError where the force of a sliding constraint has not the sign that was taken."""
        at.bilateral.verify(at.forces, status, self.force(at))

    def force(self, at: CompliantForces) -> float:
        """Size of the forces of the contacts, with what rounding of positions makes of them."""
        size = self.speed + self.rounding / VANISHING
        return size * math.sqrt(float(np.max(self.stiffness) / np.max(np.diag(at.G)[: len(at.gap)])))

    def tangents(self, rest: list[int]) -> tuple[list[int], list[list[int]]]:
        """Tangential rows of force elements, and where those of each are among them."""
        rows = [row for i in rest for row in self.rows[i][1]]
        return rows, [[rows.index(row) for row in self.rows[i][1]] for i in rest]

    def yielding(self, at: CompliantForces, status: ContactStatus, rest: list[int]) -> float:
        """Positive where redundant force elements at rest no longer hold."""
        if at.bilateral.names:
            return -1.0 if self.loaded(at).holds_still(status, rest) else 1.0
        rows, groups = self.tangents(rest)
        forces = at.forces.copy()
        forces[rows] = 0.0
        b = at.free[rows] + at.G[rows] @ forces
        scale = self.speed * float(np.max(self.stiffness) * np.max(at.G)) ** 0.5
        return yielding(at.G[np.ix_(rows, rows)], b, at.forces[rows], at.holds[rest], groups, scale=scale)

    def loaded(self, at: CompliantForces) -> LoadedRest:
        """What decides beside rigid constraints with friction."""
        tangential = [rows for _, rows in self.rows]
        first = at.bilateral.first
        return LoadedRest(
            at.G, at.free, at.bilateral, tangential, at.given_bound, at.holds[:first],
            lambda trial: self.forces(at, trial), self.force(at),
        )  # fmt: skip

    def reserve(self, at: CompliantForces, *, i: int, margin: float) -> float:
        """What friction of a force element could hold beyond what it does; where both vanish together, no slip.

        The bound of a contact is negative once its force would pull, so that it falls through what is held however
        far a step goes.
        """
        held = float(np.linalg.norm(at.forces[self.rows[i][1]]))
        return float(at.holds[i]) + max(margin, VANISHING * self.force(at)) - held

    def factor(self, at: CompliantForces, status: ContactStatus) -> float:
        """Factor of the forces of sliding constraints with friction, 1 without it; not positive in their paradox."""
        return at.bilateral.factor(at.G, self.tangents(status.resting(self.sizes))[0], status)

    def beginning(self, at: CompliantForces, status: ContactStatus) -> Array:
        """Normal forces of the contacts that press; where all of them vanish, what they grow with first."""
        presses = np.array(status.presses)[: len(at.gap)]
        approach = np.where(at.gap_dot < -VANISHING * self.speed, -self.stiffness * at.gap_dot, 0.0)
        return first_forces(at.potential * presses, approach * presses, -at.free[: len(at.gap)] * presses)

    def settle(self, at: CompliantForces, status: ContactStatus, *, breaking: int | None = None) -> None:
        """Decide for every pressing element at rest whether it sticks and else where it slips; changes ``status``.

        ``breaking`` is a force element whose friction has just reached its static bound. Signs of the forces of rigid
        constraints that slide are found too.
        """
        presses, k = np.array(status.presses), len(at.gap)
        normal = np.maximum(at.potential, 0.0) * presses[:k]
        free = at.free
        if not normal.any():
            # accelerations that are rounding next to the others
            free = np.where(np.abs(free) <= VANISHING * float(np.max(np.abs(free), initial=0.0)), 0.0, free)
        at = at.under(normal, free)
        self._settle_under(at, status, status.resting(self.sizes), None, breaking)
        # what no force acts on yet is decided by the forces that come next; the others go on as they have begun
        idle = self.loaded(at).unloaded(status) if at.bilateral.names else []
        undecided = [i for i in status.resting(self.sizes) if (i < k and not normal.any()) or i in idle]
        growing = self._growing(at, status) if normal.any() else self.beginning(at, status)
        alone = at.under(growing, np.zeros(len(at.free)), limited=False)
        self._settle_under(alone, status, undecided, idle, breaking)
        at.bilateral.check(self.factor(at, status), status)

    def lift(self, at: CompliantForces, status: ContactStatus) -> Array:
        """Accelerations of the contacts, (k,), under the forces that act; where they leave it open, that come next."""
        k = len(at.gap)
        self.settle(at, status)
        now = at.free + at.G @ self.forces(at, status)
        alone = at.under(self.beginning(at, status), np.zeros(len(at.free)), limited=False)
        soon = at.G @ self.forces(alone, status)
        size = VANISHING * (np.abs(at.free) + np.abs(at.G) @ np.abs(self.forces(at, status)))
        least = VANISHING * float(np.max(np.abs(soon), initial=0.0))
        return np.where(np.abs(now) > size, now, np.where(np.abs(soon) > least, soon, 0.0))[:k]

    def flip(self, at: CompliantForces, status: ContactStatus, i: int) -> None:
        """Change the sign of the force of a sliding constraint; others that vanish take the one they grow with."""
        others = [j for j in self.loaded(at).unloaded(status) if j != i]
        status.side[i] = -status.side[i]
        growing = at.under(self._growing(at, status), np.zeros(len(at.free)), limited=False)
        self.loaded(growing).settle(status, [], reversible=others)

    def _growing(self, at: CompliantForces, status: ContactStatus) -> Array:
        """Rates of the normal forces."""
        k = len(at.gap)
        lift = (at.free + at.G @ self.forces(at, status))[:k]
        return np.asarray((-self.stiffness * at.gap_dot - at.damper * lift) * np.array(status.presses[:k]))

    def _settle_under(
        self, at: CompliantForces, status: ContactStatus, rest: list[int], idle: list[int] | None,
        breaking: int | None,
    ) -> None:  # fmt: skip
        """Decide for some of the force elements at rest, while the others at rest hold."""
        if at.bilateral.names:
            self.loaded(at).settle(status, rest, reversible=idle, breaking=breaking)
            return
        if not rest:
            return
        firm = self.tangents([i for i in status.resting(self.sizes) if i not in rest])[0]
        rows, groups = self.tangents(rest)
        forces = self.forces(at, status)
        forces[[*rows, *firm]] = 0.0
        held = at.G[:, firm] @ np.linalg.pinv(at.G[np.ix_(firm, firm)], hermitian=True)
        G, free = at.G - held @ at.G[firm], at.free - held @ at.free[firm]
        found = directions_from_rest(
            G[np.ix_(rows, rows)], free[rows] + G[rows] @ forces, at.given_bound[rest], at.holds[rest], groups,
            breaking=rest.index(breaking) if breaking in rest else None,
        )  # fmt: skip
        for i, direction in zip(rest, found, strict=True):
            status.begin_slip(i, direction)
