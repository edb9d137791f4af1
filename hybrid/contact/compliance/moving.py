"""Kinematics of compliant contacts on a mechanism that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.activity import element_names
from hybrid.contact.compliance.bilateral import NO_BILATERAL, BilateralContacts, loads
from hybrid.contact.compliance.flow import AbstractCompliantFlow
from hybrid.contact.compliance.forces import CompliantForces
from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.status import ContactStatus
from hybrid.contact.reduction import free_motion
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms

__all__ = ["MovingFlow"]


@attrs.frozen(eq=False)
class MovingFlow(AbstractCompliantFlow):
    """A mechanism on compliant contacts of finite stiffness; leading unknowns are its positions and velocities.

    Attributes
    ----------
    dynamics : Dynamics
    damping : array, (k,) or None
        In place of the declared one.
    """

    dynamics: Dynamics
    damping: Array | None

    @property
    def names(self) -> tuple[str, ...]:
        """Contacts, then friction elements, then rigid constraints with friction."""
        return element_names(self.dynamics)

    @property
    def rough(self) -> tuple[str, ...]:
        """Rigid constraints with friction."""
        return self.names[len(self.dynamics.contacts) + len(self.dynamics.elements) :]

    @property
    def rows(self) -> list[tuple[int | None, list[int]]]:
        """Normal row (of a contact only) and tangential rows of every force element; normal rows come first."""
        k = len(self.dynamics.contacts)
        columns = [self.dynamics.columns.get(name, slice(0, 0)) for name in self.names]
        return [(i if i < k else None, [k + j for j in range(at.start, at.stop)]) for i, at in enumerate(columns)]

    @property
    def n_leading(self) -> int:
        """Positions and velocities."""
        return 2 * self.dynamics.n

    def leading_sizes(self, root: float) -> Array:
        """What the leading unknowns are measured by, per contact velocity."""
        return np.repeat([1.0 / root, 1.0], self.dynamics.n)

    def evaluate(self, y: Array, status: ContactStatus) -> CompliantForces:
        """Everything at one state."""
        n, t = self.dynamics.n, float(y[-2])
        terms = self.dynamics.terms(y[:n], y[n : 2 * n], t=t)
        damping = terms.damping if self.damping is None else self.damping
        potential = -self.stiffness * terms.gap - 2 * damping * np.sqrt(self.stiffness) * terms.gap_dot
        W = np.concatenate([terms.W_N, terms.W_T], axis=1)
        if self.dynamics.rigid:
            motion = free_motion(terms, eliminated=tuple(range(len(self.dynamics.rigid))))
            a_free, response = motion.a_free, motion.response @ W
        else:
            solved = np.linalg.solve(terms.M, np.column_stack([terms.h, W]))
            a_free, response = solved[:, 0], solved[:, 1:]
        free = W.T @ a_free + np.concatenate([terms.zeta_N, terms.zeta_T])
        if not (np.isfinite(free).all() and np.isfinite(potential).all()):
            raise ComputationError(f"a compliant motion leaves the range of numbers at t = {t:.6g}")
        at = CompliantForces(
            terms.gap, terms.gap_dot, terms.slip, potential, 2 * damping * np.sqrt(self.stiffness),
            a_free, response, W.T @ response, free,
            terms.friction, terms.static_friction, terms.limit, terms.static_limit, np.zeros(W.shape[1]),
            self._bilateral(terms, W),
        )  # fmt: skip
        at.forces[:] = self.forces(at, status)
        return at

    def leading_rates(self, y: Array, at: CompliantForces) -> Array:
        """Velocities and accelerations."""
        n = self.dynamics.n
        return np.concatenate([y[n : 2 * n], at.acceleration])

    def pushed(self, y: Array, at: CompliantForces, rows: list[int], impulses: Array) -> Array:
        """The unknowns after impulses in some rows."""
        y, n = y.copy(), self.dynamics.n
        y[n : 2 * n] += at.response[:, rows] @ impulses
        return y

    def is_in_balance(self, at: CompliantForces) -> bool:
        """Never known: loads may change in time."""
        return False

    def _bilateral(self, terms: Terms, W: Array) -> BilateralContacts:
        """The rigid constraints with friction at a state, and what loads them."""
        names, rigid = self.rough, self.dynamics.rigid
        if not names:
            return NO_BILATERAL
        picked = [rigid.index(name) for name in names]
        lift = np.linalg.solve(terms.M, np.column_stack([terms.h, W, terms.J.T]))
        driven = terms.J @ lift
        driven[:, 0] += terms.zeta_B
        friction = terms.constraint_friction[picked]
        found = loads(driven[:, -len(rigid) :], driven[:, : -len(rigid)], picked, names, friction)
        first = len(self.names) - len(names)
        rows = tuple(tangential[0] for _, tangential in self.rows[first:])
        return BilateralContacts(names, first, rows, friction, found[:, 0], found[:, 1:])
