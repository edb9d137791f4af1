"""Kinematics of compliant contacts at frozen position: what is left of a motion as the stiffness tends to infinity."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np

from hybrid.contact.compliance.bilateral import NO_BILATERAL, BilateralContacts
from hybrid.contact.compliance.flow import AbstractCompliantFlow
from hybrid.contact.compliance.forces import CompliantForces
from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.status import VANISHING, ContactStatus
from hybrid.expressions import plain
from hybrid.tolerances import NOTHING

__all__ = ["ContactRows", "FrozenFlow"]

_NONE = np.zeros(0)
_AT_REST = NOTHING  # of the velocities, and of what accelerations are sums of: nothing moves and forces are in balance


@attrs.frozen(eq=False)
class ContactRows:
    """One compliant contact among several: its rows, friction, damping, relative stiffness and static friction."""

    name: str
    normal: int
    tangential: tuple[int, ...]
    friction: float
    damping: float
    stiffness_ratio: float = 1.0
    static_friction: float | None = None

    @property
    def holds(self) -> float:
        """Coefficient of friction up to which the contact sticks."""
        return self.friction if self.static_friction is None else self.static_friction


@attrs.frozen(eq=False)
class FrozenFlow(AbstractCompliantFlow):
    """Contacts at frozen position in fast time; leading unknowns are their stretched gaps.

    Numbers may be duals; ``speed`` is a plain one.

    Attributes
    ----------
    G : array, (r, r)
        Delassus operator; the normal rows come first.
    gamma : array, (r,)
        Contact velocities at the start.
    contacts : tuple of ContactRows
    bilateral : BilateralContacts
        Rigid constraints with friction, which ``G`` has eliminated.
    """

    G: Array
    gamma: Array
    contacts: tuple[ContactRows, ...]
    bilateral: BilateralContacts

    @classmethod
    def of(
        cls, G: Array, gamma: Array, contacts: tuple[ContactRows, ...], bilateral: BilateralContacts = NO_BILATERAL
    ) -> tuple[FrozenFlow, list[int]]:
        """The flow of contacts whose rows are in any order, and where its rows are among these."""
        order = [contact.normal for contact in contacts]
        order += [row for row in range(len(gamma)) if row not in order]
        place = {row: index for index, row in enumerate(order)}
        moved = tuple(
            attrs.evolve(item, normal=place[item.normal], tangential=tuple(place[row] for row in item.tangential))
            for item in contacts
        )
        if bilateral.names:
            bilateral = attrs.evolve(
                bilateral, rows=tuple(place[row] for row in bilateral.rows), L=bilateral.L[:, order]
            )
        stiffness = np.array([contact.stiffness_ratio for contact in contacts])
        speed = float(np.max(np.abs(plain(gamma))))
        ordered = (G[np.ix_(order, order)], gamma[order])
        return cls(stiffness, speed, 0.0, *ordered, moved, bilateral), order

    @property
    def names(self) -> tuple[str, ...]:
        """Contacts, then rigid constraints with friction."""
        return (*(contact.name for contact in self.contacts), *self.bilateral.names)

    @property
    def rough(self) -> tuple[str, ...]:
        """Rigid constraints with friction."""
        return self.bilateral.names

    @cached_property
    def rows(self) -> list[tuple[int | None, list[int]]]:
        """Normal row (of a contact only) and tangential rows of every force element; normal rows come first."""
        found: list[tuple[int | None, list[int]]] = [(item.normal, list(item.tangential)) for item in self.contacts]
        return found + [(None, [row]) for row in self.bilateral.rows]

    @property
    def n_leading(self) -> int:
        """One gap a contact."""
        return len(self.contacts)

    def leading_sizes(self, root: float) -> Array:
        """What the gaps are measured by, per contact velocity."""
        return np.ones(len(self.contacts))

    def velocities(self, y: Array) -> Array:
        """Contact velocities, (r,)."""
        k = len(self.contacts)
        return np.asarray(self.gamma + self.G @ y[k : k + len(self.gamma)])

    def slip(self, y: Array, i: int) -> Array:
        """Slip velocity of a force element."""
        return np.asarray(self.velocities(y)[self.rows[i][1]])

    def evaluate(self, y: Array, status: ContactStatus) -> CompliantForces:
        """Everything at one state."""
        k, nothing = len(self.contacts), np.zeros(len(self.gamma))
        gamma = self.velocities(y)
        forces = np.zeros(len(gamma), dtype=gamma.dtype)
        damper, friction, static = self._coefficients
        at = CompliantForces(
            y[:k], gamma[:k], gamma[k:], -self.stiffness * y[:k] - damper * gamma[:k], damper,
            nothing, self.G, self.G, nothing, friction, static, _NONE, _NONE, forces, self.bilateral,
        )  # fmt: skip
        at.forces[:] = self.forces(at, status)
        return at

    @cached_property
    def _coefficients(self) -> tuple[Array, Array, Array]:
        """Force per velocity, kinetic and static friction of every contact."""
        damping, friction, static = (
            np.array([getattr(contact, name) for contact in self.contacts]) for name in ("damping", "friction", "holds")
        )
        return 2 * np.sqrt(self.stiffness) * damping, friction, static

    def leading_rates(self, y: Array, at: CompliantForces) -> Array:
        """Rates of the gaps."""
        return at.gap_dot

    def pushed(self, y: Array, at: CompliantForces, rows: list[int], impulses: Array) -> Array:
        """The unknowns after impulses in some rows."""
        y = y.copy()
        y[[len(self.contacts) + row for row in rows]] += impulses
        return y

    def reserve(self, at: CompliantForces, *, i: int, margin: float) -> float:
        """What friction of a force element could hold beyond what it does; at release both vanish, which is no slip."""
        held = float(np.linalg.norm(at.forces[self.rows[i][1]]))
        return float(at.holds[i]) + max(margin, VANISHING * self.force(at)) - held

    def is_in_balance(self, at: CompliantForces) -> bool:
        """True where nothing moves and the forces, which are not zero, leave it so for ever."""
        sizes = np.abs(self.G) @ np.abs(at.forces)
        is_still = max(np.max(np.abs(at.gap_dot)), np.max(np.abs(at.slip), initial=0.0)) <= _AT_REST * self.speed
        return bool(is_still and np.max(np.abs(self.G @ at.forces)) <= _AT_REST * np.max(sizes) and np.any(at.forces))
