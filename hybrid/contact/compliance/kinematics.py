"""Kinematics of compliant contacts at frozen position: what is left of a motion as the stiffness tends to infinity.

Kinematics of compliant contacts on a mechanism that moves.

An impact with the normal rows of rigid constraints with friction eliminated, as the compliant limit takes it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.compliance.flow import AbstractCompliantFlow
from hybrid.contact.compliance.path import Array, CompliantPath, CompliantSamples
from hybrid.contact.compliance.status import (
    NO_BILATERAL,
    BilateralContacts,
    CompliantForces,
    ContactStatus,
    loads,
)
from hybrid.contact.modes import ElementKind
from hybrid.contact.reduction import free_motion
from hybrid.contact.table import force_elements
from hybrid.errors import ComputationError
from hybrid.expressions import plain
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hybrid.contact.impacts.impact import ImpactProblem
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms

__all__ = ["ContactRows", "FrozenFlow", "MovingFlow", "WithoutBilateral", "without_bilateral"]


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

    @classmethod
    def of(cls, dynamics: Dynamics, stiffness: Array, damping: Array | None) -> MovingFlow:
        """The flow of a mechanism, its velocities not yet sized."""
        elements, k = force_elements(dynamics), len(dynamics.contacts)
        rough = tuple(element.name for element in elements if element.kind is ElementKind.BILATERAL)
        rows = [(i if i < k else None, [k + j for j in element.columns]) for i, element in enumerate(elements)]
        return cls(stiffness, 1.0, 0.0, tuple(element.name for element in elements), rough, rows, dynamics, damping)

    def leading_sizes(self, frequency: float) -> Array:
        """What the leading unknowns are measured by, per contact velocity."""
        return np.repeat([1.0 / frequency, 1.0], self.dynamics.n)

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
    load : array, (r,) or None
        Contact accelerations without contact forces.
    grown : float
        Change of normal velocities at which a history under loads is over; 0 for one without.
    """

    G: Array
    gamma: Array
    contacts: tuple[ContactRows, ...]
    bilateral: BilateralContacts
    load: Array | None = None
    grown: float = 0.0

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
        names = (*(item.name for item in moved), *bilateral.names)
        rows: list[tuple[int | None, list[int]]] = [(item.normal, list(item.tangential)) for item in moved]
        rows += [(None, [row]) for row in bilateral.rows]
        ordered = (G[np.ix_(order, order)], gamma[order])
        return cls(stiffness, speed, 0.0, names, bilateral.names, rows, *ordered, moved, bilateral), order

    def leading_sizes(self, frequency: float) -> Array:
        """What the gaps are measured by, per contact velocity."""
        return np.full(len(self.contacts), 1.0 / frequency)

    def velocities(self, y: Array) -> Array:
        """Contact velocities, (r,)."""
        k = len(self.contacts)
        gamma = self.gamma + self.G @ y[k : k + len(self.gamma)]
        return np.asarray(gamma if self.load is None else gamma + self.load * y[-2])

    def slip(self, y: Array, i: int) -> Array:
        """Slip velocity of a force element."""
        return np.asarray(self.velocities(y)[self.rows[i][1]])

    def evaluate(self, y: Array, status: ContactStatus) -> CompliantForces:
        """Everything at one state."""
        k, nothing = len(self.contacts), np.zeros(len(self.gamma))
        gamma, free = self.velocities(y), nothing if self.load is None else self.load
        forces = np.zeros(len(gamma), dtype=gamma.dtype)
        damper, friction, static = self._coefficients
        at = CompliantForces(
            y[:k], gamma[:k], gamma[k:], -self.stiffness * y[:k] - damper * gamma[:k], damper,
            nothing, self.G, self.G, free, friction, static, _NONE, _NONE, forces, self.bilateral,
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

    def begins_pressed(self, at: CompliantForces, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Contacts whose springs push at the start."""
        return closed & (at.gap < 0.0) & (at.potential > 0.0)

    def touching(self, at: CompliantForces, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Contacts that are not apart at the start."""
        return closed & (at.gap <= 0.0)

    def is_over(self, at: CompliantForces) -> bool:
        """True where loads have made contacts move, or nothing moves and the forces leave it so for ever."""
        if self.load is not None:
            return bool(np.max(np.abs(at.gap_dot - self.gamma[: len(at.gap)])) >= self.grown)
        sizes = np.abs(self.G) @ np.abs(at.forces)
        is_still = max(np.max(np.abs(at.gap_dot)), np.max(np.abs(at.slip), initial=0.0)) <= _AT_REST * self.speed
        return bool(is_still and np.max(np.abs(self.G @ at.forces)) <= _AT_REST * np.max(sizes) and np.any(at.forces))


@attrs.frozen(eq=False)
class WithoutBilateral:
    """An impact problem in the rows that are left.

    Attributes
    ----------
    G, gamma : array, (s, s) and (s,)
    bilateral : BilateralContacts
        What the impulses in these rows load.
    loads : array, (s,)
        Contact accelerations without contact forces.
    base : array, (m,)
        Forces of the constraints that go with them.
    kept, removed : list of int
        Rows of the problem.
    """

    G: Array
    gamma: Array
    bilateral: BilateralContacts
    loads: Array
    base: Array
    kept: list[int]
    removed: list[int]

    @property
    def place(self) -> Mapping[int, int]:
        """Where the rows of the problem are among those that are left."""
        return {row: index for index, row in enumerate(self.kept)}

    @property
    def full(self) -> Array:
        """Delassus operator in all rows of the problem, (r, r), zero in those of the constraints."""
        return self.velocities(self.velocities(self.G).T)

    def impulses(self, values: Array) -> Array:
        """Impulses in all rows of the problem, (..., r), of those in the rows that are left, (..., s)."""
        found = self.velocities(values)
        found[..., self.removed] = values @ self.bilateral.L.T
        return found

    def velocities(self, values: Array) -> Array:
        """Contact velocities in all rows: those of the constraints vanish."""
        found = np.zeros((*values.shape[:-1], len(self.kept) + len(self.removed)))
        found[..., self.kept] = values
        return found

    def restored(self, path: CompliantPath) -> CompliantPath:
        """The path in the rows of the problem."""
        samples = path.samples
        if samples is not None:
            samples = CompliantSamples(
                samples.s, samples.Y, self.velocities(samples.gamma), self.impulses(samples.force),
                self.impulses(samples.impulse),
            )  # fmt: skip
        return attrs.evolve(
            path, gamma_before=self.velocities(path.gamma_before), gamma_after=self.velocities(path.gamma_after),
            impulse=self.impulses(path.impulse), samples=samples,
        )  # fmt: skip


def without_bilateral(problem: ImpactProblem) -> WithoutBilateral | None:
    """Eliminate the rigid constraints with friction of an impact; None if there are none.

    Parameters
    ----------
    problem : ImpactProblem

    Returns
    -------
    WithoutBilateral or None

    Raises
    ------
    ComputationError
        Constraints are redundant, so that how they share their load is not determined.
    """
    rough = [element for element in problem.elements if element.kind is ElementKind.BILATERAL]
    if not rough:
        return None
    G, removed = problem.G, [element.rows[0] for element in rough]
    kept = [row for row in range(len(G)) if row not in removed]
    friction = np.array([float(element.friction) for element in rough])
    names = tuple(element.name for element in rough)
    c = problem.posed.c
    driven = np.column_stack([c[removed], G[np.ix_(removed, kept)]])
    found = loads(G[np.ix_(removed, removed)], driven, range(len(rough)), names, friction)
    base, L = found[:, 0], found[:, 1:]
    reduced = G[np.ix_(kept, kept)] + G[np.ix_(kept, removed)] @ L
    bilateral = BilateralContacts(
        names,
        len(problem.elements) - len(rough),
        tuple(kept.index(element.tangential[0]) for element in rough),
        friction,
        np.zeros(len(rough)),
        L,
    )
    free = c[kept] + G[np.ix_(kept, removed)] @ base
    return WithoutBilateral((reduced + reduced.T) / 2, problem.gamma[kept], bilateral, free, base, kept, removed)
