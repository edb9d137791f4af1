"""Motion of a mechanism on compliant contacts of finite stiffness, while every contact keeps what it does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.activity import carrier_names
from hybrid.contact.compliance.forces import CompliantForces
from hybrid.contact.compliance.loading import LoadedRest
from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rails import NO_RAILS, RoughRails, loads, rail_forces
from hybrid.contact.compliance.rest import directions_from_rest, first_forces, holding_forces, yielding
from hybrid.contact.compliance.standing import VANISHING, CompliantStanding
from hybrid.contact.reduction import free_motion
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms


@attrs.frozen(eq=False)
class CompliantFlow:
    """Forces and accelerations of a mechanism on compliant contacts at a position, velocity and time.

    Attributes
    ----------
    dynamics : Dynamics
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
    stiffness: Array
    damping: Array | None
    speed: float
    rounding: float

    @property
    def names(self) -> tuple[str, ...]:
        """Contacts, then friction elements, then rigid constraints with friction."""
        return carrier_names(self.dynamics)

    @property
    def rough(self) -> tuple[str, ...]:
        """Rigid constraints with friction."""
        return self.names[len(self.dynamics.contacts) + len(self.dynamics.elements) :]

    @property
    def rows(self) -> list[tuple[int | None, list[int]]]:
        """Normal row (of a contact only) and tangential rows of every carrier among the forces."""
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
        terms = self.dynamics.terms(q, v, t=t)
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
            self._rails(terms, W),
        )  # fmt: skip
        at.forces[:] = self.forces(at, standing)
        return at

    def _rails(self, terms: Terms, W: Array) -> RoughRails:
        """The rigid constraints with friction at a state, and what loads them."""
        names, rigid = self.rough, self.dynamics.rigid
        if not names:
            return NO_RAILS
        picked = [rigid.index(name) for name in names]
        lift = np.linalg.solve(terms.M, np.column_stack([terms.h, W, terms.J.T]))
        driven = terms.J @ lift
        driven[:, 0] += terms.zeta_B
        friction = terms.constraint_friction[picked]
        found = loads(driven[:, -len(rigid) :], driven[:, : -len(rigid)], picked, names, friction)
        first = len(self.names) - len(names)
        rows = tuple(tangential[0] for _, tangential in self.rows[first:])
        return RoughRails(names, first, rows, friction, found[:, 0], found[:, 1:])

    def forces(self, at: CompliantForces, standing: CompliantStanding) -> Array:
        """Contact forces by row: pressing contacts push, slip is opposed, sticking contacts are held."""
        found, bound = np.zeros(len(at.free)), at.given_bound
        for i, (normal, tangential) in enumerate(self.rows):
            if not standing.presses[i]:
                continue
            if normal is not None:
                found[normal] = at.potential[i]
            if tangential and standing.slip[i] is not None and i < len(bound):
                found[tangential] = -bound[i] * standing.direction(i, at.slip[self.columns(i)])
        rest = standing.resting(self.sizes)
        if at.rails.names:
            return rail_forces(at.G, at.free, at.rails, found, self.tangents(rest)[0], standing)
        if rest:
            held, groups = self.tangents(rest)
            b = at.free[held] + at.G[held] @ found
            found[held] = holding_forces(at.G[np.ix_(held, held)], b, at.holds[rest], groups)
        return found

    def margins(self, at: CompliantForces) -> Array:
        """What is rounding of the forces of rigid constraints with friction."""
        return at.rails.margins(self._force(at))

    def verify(self, at: CompliantForces, standing: CompliantStanding) -> None:
        """Raise ComputationError where the force of a sliding constraint has not the sign that was taken."""
        at.rails.verify(at.forces, standing, self._force(at))

    def _force(self, at: CompliantForces) -> float:
        """Size of the forces of the contacts, with what rounding of positions makes of them."""
        size = self.speed + self.rounding / VANISHING
        return size * math.sqrt(float(np.max(self.stiffness) / np.max(np.diag(at.G)[: len(at.gap)])))

    def tangents(self, rest: list[int]) -> tuple[list[int], list[list[int]]]:
        """Tangential rows of carriers, and where those of each are among them."""
        rows = [row for i in rest for row in self.rows[i][1]]
        return rows, [[rows.index(row) for row in self.rows[i][1]] for i in rest]

    def yielding(self, at: CompliantForces, standing: CompliantStanding, rest: list[int]) -> float:
        """Positive where redundant carriers at rest no longer hold."""
        if at.rails.names:
            return -1.0 if self.loaded(at).holds_still(standing, rest) else 1.0
        rows, groups = self.tangents(rest)
        forces = at.forces.copy()
        forces[rows] = 0.0
        b = at.free[rows] + at.G[rows] @ forces
        scale = self.speed * float(np.max(self.stiffness) * np.max(at.G)) ** 0.5
        return yielding(at.G[np.ix_(rows, rows)], b, at.forces[rows], at.holds[rest], groups, scale=scale)

    def loaded(self, at: CompliantForces) -> LoadedRest:
        """What decides beside rigid constraints with friction."""
        tangential = [rows for _, rows in self.rows]
        first = at.rails.first
        return LoadedRest(
            at.G, at.free, at.rails, tangential, at.given_bound, at.holds[:first], lambda trial: self.forces(at, trial),
            self._force(at),
        )  # fmt: skip

    def factor(self, at: CompliantForces, standing: CompliantStanding) -> float:
        """Factor of the forces of sliding constraints with friction, 1 without it; not positive in their paradox."""
        return at.rails.factor(at.G, self.tangents(standing.resting(self.sizes))[0], standing)

    def settle(self, at: CompliantForces, standing: CompliantStanding, *, breaking: int | None = None) -> None:
        """Decide for every pressing carrier at rest whether it sticks and else where it slips; changes ``standing``.

        ``breaking`` is a carrier whose friction has just reached its static bound. Signs of the forces of rigid
        constraints that slide are found too.
        """
        presses, k = np.array(standing.presses), len(at.gap)
        normal = np.maximum(at.potential, 0.0) * presses[:k]
        free = at.free
        if not normal.any():
            # accelerations that are rounding next to the others
            free = np.where(np.abs(free) <= VANISHING * float(np.max(np.abs(free), initial=0.0)), 0.0, free)
        at = at.under(normal, free)
        self._settle_under(at, standing, standing.resting(self.sizes), None, breaking)
        # what no force acts on yet is decided by the forces that come next; the others go on as they have begun
        idle = self.loaded(at).unloaded(standing) if at.rails.names else []
        undecided = [i for i in standing.resting(self.sizes) if (i < k and not normal.any()) or i in idle]
        growing = self._growing(at, standing)
        if not normal.any():
            approach = np.where(at.gap_dot < -VANISHING * self.speed, -self.stiffness * at.gap_dot, 0.0)
            growing = first_forces(approach * presses[:k], -at.free[:k] * presses[:k])
        alone = at.under(growing, np.zeros(len(at.free)), limited=False)
        self._settle_under(alone, standing, undecided, idle, breaking)
        at.rails.check(self.factor(at, standing), standing)

    def flip(self, at: CompliantForces, standing: CompliantStanding, i: int) -> None:
        """Change the sign of the force of a sliding constraint; others that vanish take the one they grow with."""
        others = [j for j in self.loaded(at).unloaded(standing) if j != i]
        standing.side[i] = -standing.side[i]
        growing = at.under(self._growing(at, standing), np.zeros(len(at.free)), limited=False)
        self.loaded(growing).settle(standing, [], sides=others)

    def _growing(self, at: CompliantForces, standing: CompliantStanding) -> Array:
        """Rates of the normal forces."""
        k = len(at.gap)
        lift = (at.free + at.G @ self.forces(at, standing))[:k]
        return np.asarray((-self.stiffness * at.gap_dot - at.damper * lift) * np.array(standing.presses[:k]))

    def _settle_under(
        self, at: CompliantForces, standing: CompliantStanding, rest: list[int], idle: list[int] | None,
        breaking: int | None,
    ) -> None:  # fmt: skip
        """Decide for some of the carriers at rest, while the others at rest hold."""
        if at.rails.names:
            self.loaded(at).settle(standing, rest, sides=idle, breaking=breaking)
            return
        if not rest:
            return
        firm = self.tangents([i for i in standing.resting(self.sizes) if i not in rest])[0]
        rows, groups = self.tangents(rest)
        forces = self.forces(at, standing)
        forces[[*rows, *firm]] = 0.0
        held = at.G[:, firm] @ np.linalg.pinv(at.G[np.ix_(firm, firm)], hermitian=True)
        G, free = at.G - held @ at.G[firm], at.free - held @ at.free[firm]
        found = directions_from_rest(
            G[np.ix_(rows, rows)], free[rows] + G[rows] @ forces, at.given_bound[rest], at.holds[rest], groups,
            breaking=rest.index(breaking) if breaking in rest else None,
        )  # fmt: skip
        for i, direction in zip(rest, found, strict=True):
            standing.begin_slip(i, direction)
