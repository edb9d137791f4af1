"""Motion of a mechanism on compliant contacts of finite stiffness, while every contact keeps what it does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.compliance_path import Array
from hybrid.contact.reduction import free_motion
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

_AT_REST = 1e-8  # slip below this, relative to the velocities of the passage, has the direction in which it began


@attrs.define(eq=False)
class CompliantStanding:
    """What each carrier does: whether it presses, and the direction of slip from rest; None while it sticks.

    Carriers are the contacts, then the friction elements, which always press.
    A planar direction is ``(1.0,)`` or ``(-1.0,)``; that of a spatial contact that slips is only where its slip began.
    """

    presses: list[bool]
    slip: list[tuple[float, ...] | None]

    def copy(self) -> CompliantStanding:
        """An independent copy."""
        return CompliantStanding(list(self.presses), list(self.slip))


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
    """

    dynamics: Dynamics
    parameters: Values | None
    stiffness: Array
    damping: Array | None
    speed: float

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
        bound, holds = terms.friction * potential, terms.static_friction * potential
        at = CompliantForces(
            terms.gap, terms.gap_dot, terms.slip, potential, a_free, response, W.T @ response,
            W.T @ a_free + np.concatenate([terms.zeta_N, terms.zeta_T]), np.concatenate([bound, terms.limit]),
            np.concatenate([holds, terms.static_limit]), np.zeros(W.shape[1]),
        )  # fmt: skip
        at.forces[:] = self.forces(at, standing)
        return at

    def forces(self, at: CompliantForces, standing: CompliantStanding) -> Array:
        """Contact forces by row: pressing contacts push, slip is opposed, sticking contacts are held."""
        k = len(self.dynamics.contacts)
        found = np.zeros(len(at.free))
        held: list[int] = []
        for i, (normal, tangential) in enumerate(self.rows):
            if not standing.presses[i]:
                continue
            if normal is not None:
                found[normal] = at.potential[i]
            direction = standing.slip[i]
            if not tangential:
                continue
            if direction is None:
                held += tangential
                continue
            u = np.array(direction)
            if len(tangential) == 2:
                slip = at.slip[[row - k for row in tangential]]
                size = float(np.linalg.norm(slip))
                u = slip / size if size > _AT_REST * self.speed else u
            found[tangential] = -at.bound[i] * u
        if held:
            block = at.G[np.ix_(held, held)]
            found[held] = -np.linalg.lstsq(block, at.free[held] + at.G[held] @ found, rcond=1e-12)[0]
        return found

    def settle(self, at: CompliantForces, standing: CompliantStanding) -> None:
        """Decide for every pressing contact at rest whether it sticks and else where it slips; changes ``standing``."""
        rest = [i for i, (_, rows) in enumerate(self.rows) if rows and standing.presses[i] and standing.slip[i] is None]
        if any(len(self.rows[i][1]) == 2 for i in rest):
            self._settle_spatial(at, standing, rest)
            return
        best, choice = -float("inf"), standing
        options: Sequence[tuple[float, ...] | None] = (None, (1.0,), (-1.0,))
        for directions in itertools.product(options, repeat=len(rest)):
            trial = standing.copy()
            for i, direction in zip(rest, directions, strict=True):
                trial.slip[i] = direction
            forces = self.forces(at, trial)
            a = at.free + at.G @ forces
            slacks = [float("inf")]
            for i, direction in zip(rest, directions, strict=True):
                (row,) = self.rows[i][1]
                reserve = at.holds[i] - abs(forces[row])
                slacks.append(float(reserve if direction is None else direction[0] * a[row]))
            if min(slacks) > best:
                best, choice = min(slacks), trial
            if best >= 0:
                break
        standing.slip = choice.slip

    def _settle_spatial(self, at: CompliantForces, standing: CompliantStanding, rest: list[int]) -> None:
        if len(rest) > 1:
            names = ", ".join(self.names[i] for i in rest)
            raise ComputationError(f"{names} are at rest at once on compliant surfaces, one of them a spatial contact")
        i = rest[0]
        rows = self.rows[i][1]
        forces = self.forces(at, standing)
        needed, bound = forces[rows], float(at.holds[i])
        size = float(np.linalg.norm(needed))
        if size > bound:
            standing.slip[i] = tuple(float(x) for x in -needed / size)


@attrs.frozen(eq=False)
class CompliantForces:
    """Kinematics, inertia and forces at one state.

    Attributes
    ----------
    gap, gap_dot, slip : array, (k,), (k,), (p,)
    potential : array, (k,)
        ``-K gap - 2 d sqrt(K) gap_dot``: the normal force where a contact presses.
    a_free, response : array, (n,) and (n, k + p)
        Acceleration without contact forces, and per unit force.
    G, free : array, (k + p, k + p) and (k + p,)
        Delassus operator and contact accelerations without contact forces.
    bound, holds : array, (k + e,)
        Largest friction force of every carrier while it slips, and while it sticks.
    forces : array, (k + p,)
    """

    gap: Array
    gap_dot: Array
    slip: Array
    potential: Array
    a_free: Array
    response: Array
    G: Array
    free: Array
    bound: Array
    holds: Array
    forces: Array

    @property
    def acceleration(self) -> Array:
        """Generalised accelerations, (n,)."""
        return np.asarray(self.a_free + self.response @ self.forces)

    def slip_power(self) -> Any:
        """Power of the tangential forces."""
        return self.forces[len(self.gap) :] @ self.slip
