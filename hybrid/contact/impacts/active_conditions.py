"""Derivatives of joint impulses: the linear conditions that hold in their complementarity problem, solved in duals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.active_elements import ActiveElement, ElementKind
from hybrid.expressions import NotDifferentiable, changes, duals, plain
from hybrid.tolerances import LEAST, NOTHING, RANK

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = ["joint_duals"]

Array = NDArray[np.float64]
Condition = tuple[Any, Any]  # a row (r,) and a number: row . P = number


def joint_duals(problem: ImpactProblem, gamma: NDArray[Any], preload: NDArray[Any], P: Array) -> NDArray[Any]:
    """Impulses that solve a joint complementarity problem, with the derivatives of its data.

    Parameters
    ----------
    problem : ImpactProblem
    gamma : array, (r,)
        Contact velocities, shifted as in the law.
    preload : array, (number of force elements,)
        Given normal impulses.
    P : array, (r,)
        The impulses without derivatives.

    Returns
    -------
    array of Dual, (r,)
        With one linear piece for each choice of conditions where a contact is on the edge of two.

    Raises
    ------
    NotDifferentiable
        Friction of a constraint is on its edge, or one of several contacts is spatial with friction.
    """
    at = _Solved.of(problem, gamma, preload, P)
    if any(element.is_spatial_at_rest for element in problem.elements):
        raise NotDifferentiable("an impact of several contacts at once, one of them spatial with friction")
    normals = [at.normals(place, element) for place, element in enumerate(problem.elements)]
    frictions = [at.frictions(place, element) for place, element in enumerate(problem.elements) if element.tangential]
    systems: list[_System] = []
    for pressing in product(*normals):
        found = [_System.of((*pressing, *friction)) for friction in product(*frictions)]
        # impulses of contacts that hold each other are at the edge of a cone: without it, conditions repeat each other
        systems += [system for system in found if system.is_regular] or found
    pieces = np.broadcast_arrays(*(system.inverse @ changes(system.b - system.A @ P) for system in systems))
    return duals(P, np.moveaxis(np.stack(pieces) if len(pieces) > 1 else pieces[0], -2, 0))


@attrs.frozen(eq=False)
class _System:
    """Conditions ``A P = b``, with the inverse of ``A``: the least impulses where conditions repeat each other."""

    A: NDArray[Any]
    b: NDArray[Any]
    inverse: Array
    is_regular: bool

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> _System:
        A, b = np.array([row for row, _ in conditions]), np.array([number for _, number in conditions])
        scale = np.max(np.abs(plain(A)), axis=1, keepdims=True)
        scale = np.where(scale > 0.0, scale, 1.0)
        scaled = plain(A) / scale
        is_regular = bool(np.linalg.matrix_rank(scaled, rtol=RANK) == len(scaled))
        return cls(A, b, np.linalg.pinv(scaled, rcond=RANK) / scale.T, is_regular)


@attrs.frozen(eq=False)
class _Solved:
    """A joint problem with its solution, and what counts as zero of impulses and of velocities."""

    problem: ImpactProblem
    gamma: NDArray[Any]
    preload: NDArray[Any]
    P: Array
    after: Array
    force: float
    speed: float

    @classmethod
    def of(cls, problem: ImpactProblem, gamma: NDArray[Any], preload: NDArray[Any], P: Array) -> _Solved:
        after = plain(gamma) + problem.plain.G @ P
        force = NOTHING * max(float(np.max(np.abs(P), initial=0.0)), LEAST)
        speed = NOTHING * max(float(np.max(np.abs(problem.plain.gamma), initial=0.0)), LEAST)
        return cls(problem, gamma, preload, P, after, force, speed)

    def normals(self, place: int, element: ActiveElement) -> list[Condition]:
        """What may hold of the normal impulse of a element: two conditions where it neither presses nor separates."""
        row = element.rows[0]
        if element.kind is not ElementKind.CONTACT:
            return [self.still(row)]
        pressing = self.P[row] - float(plain(self.preload[place])) > self.force
        apart = self.after[row] > self.speed
        held, given = self.still(row), self.impulse(row, self.preload[place])
        return [held] if pressing and not apart else [given] if apart and not pressing else [held, given]

    def still(self, row: int) -> Condition:
        """No velocity at the end."""
        return self.problem.G[row], -self.gamma[row]

    def impulse(self, row: int, number: Any = 0.0) -> Condition:
        """An impulse that is given."""
        return np.eye(len(self.P))[row], number

    def coulomb(self, place: int, element: ActiveElement, sign: float) -> Condition:
        """Friction at its limit, ``P_T + sign mu P_N = 0``."""
        unit = np.eye(len(self.P))
        return unit[element.tangential[0]] + sign * self.problem.friction[place] * unit[element.rows[0]], 0.0

    def frictions(self, place: int, element: ActiveElement) -> list[Condition]:
        """What may hold of the friction of a force element; two conditions where it just sticks."""
        if element.kind is not ElementKind.CONTACT:
            return [self.constraint_friction(place, element)]
        row, normal = element.tangential[0], self.P[element.rows[0]]
        limit = float(self.problem.plain.friction[place]) * normal
        if normal <= self.force:
            return [self.impulse(row)]
        if abs(self.after[row]) > self.speed:
            return [self.coulomb(place, element, float(np.sign(self.after[row])))]
        if limit <= self.force:
            return [self.impulse(row)]
        if abs(self.P[row]) < limit - self.force:
            return [self.still(row)]
        return [self.still(row), self.coulomb(place, element, -float(np.sign(self.P[row])))]

    def constraint_friction(self, place: int, element: ActiveElement) -> Condition:
        """That of a rigid constraint, in proportion to the size of its impulse, which may have either sign."""
        row, normal = element.tangential[0], self.P[element.rows[0]]
        limit = float(self.problem.plain.friction[place]) * abs(normal)
        if np.max(np.abs(self.problem.plain.G @ self.P)) <= self.speed:
            return self.impulse(row)  # nothing happens
        stops = abs(self.after[row]) <= self.speed
        if stops and abs(self.P[row]) < limit - self.force:
            return self.still(row)
        if stops or abs(normal) <= self.force:
            raise NotDifferentiable(f"friction of the constraint {element.name!r} is on its edge in the impact")
        return self.coulomb(place, element, float(np.sign(self.after[row]) * np.sign(normal)))
