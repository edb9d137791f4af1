"""Motion of a mechanism on compliant contacts of finite stiffness, while every contact keeps what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rest import directions_from_rest, first_forces, holding_forces, yielding
from hybrid.contact.compliance.standing import VANISHING, CompliantStanding
from hybrid.contact.reduction import free_motion
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values


@attrs.frozen(eq=False)
class CompliantFlow:
    """Forces and accelerations of a mechanism on compliant contacts at a position, velocity and time.

    Attributes
    ----------
    dynamics : Dynamics
    parameters : mapping
    stiffness : array, (k,)
        Of every contact.
    damping : array, (k,) or None
        In place of the declared one.
    speed : float
        Size of the contact velocities of the passage.
    rounding : float
        Velocities that the rounding of positions makes through the stiffness.
    """

    dynamics: Dynamics
    parameters: Values | None
    stiffness: Array
    damping: Array | None
    speed: float
    rounding: float

    @property
    def names(self) -> tuple[str, ...]:
        """Contacts, then friction elements."""
        return (*self.dynamics.contacts, *self.dynamics.elements)

    @property
    def rows(self) -> list[tuple[int | None, list[int]]]:
        """Normal row (None for a friction element) and tangential rows of every carrier among the forces."""
        k = len(self.dynamics.contacts)
        columns = [self.dynamics.columns.get(name, slice(0, 0)) for name in self.names]
        return [(i if i < k else None, [k + j for j in range(at.start, at.stop)]) for i, at in enumerate(columns)]

    @property
    def sizes(self) -> list[int]:
        """Tangential dimension of every carrier."""
        return [len(rows) for _, rows in self.rows]

    def columns(self, i: int) -> list[int]:
        """Columns of the slip of a carrier."""
        k = len(self.dynamics.contacts)
        return [row - k for row in self.rows[i][1]]

    def evaluate(self, q: Array, v: Array, t: float, standing: CompliantStanding) -> CompliantForces:
        """Everything at one state."""
        terms = self.dynamics.terms(q, v, t=t, parameters=self.parameters)
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
        )  # fmt: skip
        at.forces[:] = self.forces(at, standing)
        return at

    def forces(self, at: CompliantForces, standing: CompliantStanding) -> Array:
        """Contact forces by row: pressing contacts push, slip is opposed, sticking contacts are held."""
        found = np.zeros(len(at.free))
        for i, (normal, tangential) in enumerate(self.rows):
            if not standing.presses[i]:
                continue
            if normal is not None:
                found[normal] = at.potential[i]
            if tangential and standing.slip[i] is not None:
                found[tangential] = -at.bound[i] * standing.direction(i, at.slip[self.columns(i)])
        rest = standing.resting(self.sizes)
        if rest:
            held, groups = self.tangents(rest)
            b = at.free[held] + at.G[held] @ found
            found[held] = holding_forces(at.G[np.ix_(held, held)], b, at.holds[rest], groups)
        return found

    def tangents(self, rest: list[int]) -> tuple[list[int], list[list[int]]]:
        """Tangential rows of carriers, and where those of each are among them."""
        rows = [row for i in rest for row in self.rows[i][1]]
        return rows, [[rows.index(row) for row in self.rows[i][1]] for i in rest]

    def yielding(self, at: CompliantForces, rest: list[int]) -> float:
        """Positive where redundant carriers at rest no longer hold."""
        rows, groups = self.tangents(rest)
        forces = at.forces.copy()
        forces[rows] = 0.0
        b = at.free[rows] + at.G[rows] @ forces
        scale = self.speed * float(np.max(self.stiffness) * np.max(at.G)) ** 0.5
        return yielding(at.G[np.ix_(rows, rows)], b, at.forces[rows], at.holds[rest], groups, scale=scale)

    def settle(self, at: CompliantForces, standing: CompliantStanding, *, breaking: int | None = None) -> None:
        """Decide for every pressing carrier at rest whether it sticks and else where it slips; changes ``standing``.

        ``breaking`` is a carrier whose friction has just reached its static bound.
        """
        presses, k = np.array(standing.presses), len(at.gap)
        normal = np.maximum(at.potential, 0.0) * presses[:k]
        free = at.free
        if not normal.any():
            # accelerations that are rounding next to the others
            free = np.where(np.abs(free) <= VANISHING * float(np.max(np.abs(free), initial=0.0)), 0.0, free)
        at = at.under(normal, free)
        self._settle_under(at, standing, standing.resting(self.sizes), breaking)
        # what no force acts on yet is decided by the forces that come next; the others go on as they have begun
        undecided = [i for i in standing.resting(self.sizes) if i < k and not normal.any()]
        approach = np.where(at.gap_dot < -VANISHING * self.speed, -self.stiffness * at.gap_dot, 0.0)
        normal = first_forces(normal, approach * presses[:k], -at.free[:k] * presses[:k])
        self._settle_under(at.under(normal, np.zeros(len(at.free)), limited=False), standing, undecided, breaking)

    def _settle_under(
        self, at: CompliantForces, standing: CompliantStanding, rest: list[int], breaking: int | None
    ) -> None:
        """Decide for some of the carriers at rest, while the others at rest hold."""
        if not rest:
            return
        firm = self.tangents([i for i in standing.resting(self.sizes) if i not in rest])[0]
        rows, groups = self.tangents(rest)
        forces = self.forces(at, standing)
        forces[[*rows, *firm]] = 0.0
        held = at.G[:, firm] @ np.linalg.pinv(at.G[np.ix_(firm, firm)], hermitian=True)
        G, free = at.G - held @ at.G[firm], at.free - held @ at.free[firm]
        found = directions_from_rest(
            G[np.ix_(rows, rows)], free[rows] + G[rows] @ forces, at.bound[rest], at.holds[rest], groups,
            breaking=rest.index(breaking) if breaking in rest else None,
        )  # fmt: skip
        for i, direction in zip(rest, found, strict=True):
            standing.begin_slip(i, direction)


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

    @property
    def bound(self) -> Array:
        """Largest friction force of every carrier while it slips, (k + e,)."""
        return np.concatenate([self.friction * self.potential, self.limit])

    @property
    def holds(self) -> Array:
        """Largest friction force of every carrier while it sticks, (k + e,)."""
        return np.concatenate([self.static_friction * self.potential, self.static_limit])

    def under(self, normal: Array, free: Array, *, limited: bool = True) -> CompliantForces:
        """The same state under other normal forces; ``limited=False`` leaves the friction elements out."""
        limit, static = (self.limit, self.static_limit) if limited else (0 * self.limit, 0 * self.static_limit)
        return attrs.evolve(self, potential=normal, free=free, limit=limit, static_limit=static)

    @property
    def acceleration(self) -> Array:
        """Generalised accelerations, (n,)."""
        return np.asarray(self.a_free + self.response @ self.forces)

    def slip_power(self) -> Any:
        """Power of the tangential forces."""
        return self.forces[len(self.gap) :] @ self.slip
