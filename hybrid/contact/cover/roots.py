"""Incipient slip of several contacts: directions in which acceleration and friction are opposite, by Krawczyk's test.

With the angles ``theta`` of slip as further unknowns, the conditions of a mode are as many equations as unknowns: those
of the elements that do not slip, ``a_N = 0``, ``lambda_T = -mu lambda_N u(theta)`` and ``a_T x u(theta) = 0``. In a box
of radii ``R`` around ``z``, with ``C`` close to the inverse of the Jacobian matrix ``F'`` and ``|C| D`` a bound of what
it changes in the box, ``|C F(z)| + (|1 - C F'(z)| + |C| D) R < R`` proves one solution in the box, and the second term
alone that there is at most one (Krawczyk 1969; Neumaier 1990, section 5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import conditions
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from hybrid.contact.conditions import Scale
    from hybrid.contact.cover.parts import CoverPart
    from hybrid.contact.problem import ContactProblem

__all__ = ["SlipRoot", "find_root", "holds_at_most_one", "is_proved"]

Array = NDArray[np.float64]

_STEPS = 30
_SINGULAR = 1e12
_SMALL = NOTHING  # radius in which a solution is proved, relative to its size: far above rounding, far below the data
_WIDER = 1.1  # of a bound that rounding may have made too small
_CONTRACTED = 0.9  # spectral radius below which bounds of the forces converge
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@attrs.frozen(eq=False)
class SlipRoot:
    """A solution of the equations of incipient slip.

    Attributes
    ----------
    forces : array, (r,)
        Scaled.
    angles : tuple of float
        Of the parts that slip, in order; rad.
    """

    forces: Array
    angles: tuple[float, ...]


@attrs.frozen(eq=False)
class _SlipEquations:
    """The equations of a mode with directions of slip unknown, in scaled forces.

    Attributes
    ----------
    E, e : array, (r - 2 m, r) and (r - 2 m,)
        Equations that do not depend on the directions.
    normals, tangents : tuple of int, and of tuples of int
        Rows of the ``m`` contacts that slip.
    shares : array, (m, 2)
        Scaled friction force of each component per unit of ``u`` and of the scaled normal force.
    slopes, free : array, (m, 2, r) and (m, 2)
        Tangential accelerations, both components in one unit.
    """

    E: Array
    e: Array
    normals: tuple[int, ...]
    tangents: tuple[tuple[int, ...], ...]
    shares: Array
    slopes: Array
    free: Array

    @classmethod
    def of(cls, problem: ContactProblem, parts: Sequence[CoverPart], scale: Scale) -> _SlipEquations:
        given = conditions(problem, parts, scale)
        moving = [part.element for part in parts if part.is_sector]
        rows = np.array([element.tangential for element in moving])
        normals = [element.normal or 0 for element in moving]
        unit = scale.row / scale.size
        size = np.max(scale.row[rows], axis=1) * scale.size
        friction = np.array([float(element.friction) for element in moving])
        return cls(
            E=given.E,
            e=given.e,
            normals=tuple(normals),
            tangents=tuple(element.tangential for element in moving),
            shares=friction[:, None] * scale.row[rows] / scale.row[normals][:, None],
            slopes=problem.G[rows] / unit / size[:, None, None],
            free=problem.c[rows] / size[:, None],
        )

    @property
    def r(self) -> int:
        """Number of forces."""
        return int(self.E.shape[1])

    def linear(self, angles: Array) -> tuple[Array, Array]:
        """Equations ``E x + e = 0`` of the forces for given directions."""
        laws = np.zeros((2 * len(self.normals), self.r))
        for k, (normal, rows) in enumerate(zip(self.normals, self.tangents, strict=True)):
            u = np.cos(angles[k]), np.sin(angles[k])
            for place, row in enumerate(rows):
                laws[2 * k + place, row] = 1.0
                laws[2 * k + place, normal] = self.shares[k, place] * u[place]
        return np.vstack([self.E, laws]), np.concatenate([self.e, np.zeros(len(laws))])

    def value(self, z: Array) -> tuple[Array, Array]:
        """``F`` and ``F'`` at a point: the linear equations, then one of alignment for every contact that slips."""
        x, angles = z[: self.r], z[self.r :]
        E, e = self.linear(angles)
        cosine, sine = np.cos(angles), np.sin(angles)
        a = self.slopes @ x + self.free
        value = np.concatenate([E @ x + e, a[:, 0] * sine - a[:, 1] * cosine])
        jacobian = np.zeros((len(value), len(z)))
        jacobian[: len(e), : self.r] = E
        jacobian[len(e) :, : self.r] = self.slopes[:, 0] * sine[:, None] - self.slopes[:, 1] * cosine[:, None]
        for k, normal in enumerate(self.normals):
            place = len(self.e) + 2 * k
            jacobian[place : place + 2, self.r + k] = self.shares[k] * x[normal] * np.array([-sine[k], cosine[k]])
            jacobian[len(e) + k, self.r + k] = a[k, 0] * cosine[k] + a[k, 1] * sine[k]
        return value, jacobian

    def change(self, z: Array, radius: Array) -> Array:
        """What ``F'`` changes at most (absolute values) within a box around a point: sine and cosine have slope 1."""
        x, turn, R = np.abs(z[: self.r]), radius[self.r :], radius[: self.r]
        size = np.linalg.norm(self.slopes, axis=1)
        a = np.linalg.norm(self.slopes @ z[: self.r] + self.free, axis=1)
        change = np.zeros((len(z), len(z)))
        change[: self.r, : self.r] = self.turned(turn)
        for k, normal in enumerate(self.normals):
            place = len(self.e) + 2 * k
            change[place : place + 2, self.r + k] = self.shares[k] * (x[normal] * turn[k] + R[normal])
            change[self.r + k, : self.r] = size[k] * turn[k]
            change[self.r + k, self.r + k] = a[k] * turn[k] + size[k] @ R
        return change

    def turned(self, turn: Array) -> Array:
        """What the linear equations' coefficients (r, r) change at most in directions up to ``turn`` (m,) away."""
        change = np.zeros((self.r, self.r))
        for k, normal in enumerate(self.normals):
            place = len(self.e) + 2 * k
            change[place : place + 2, normal] = self.shares[k] * turn[k]
        return change


def find_root(problem: ContactProblem, parts: Sequence[CoverPart], scale: Scale) -> SlipRoot | None:
    """A solution of the equations of a mode near its sectors, by Newton's method from their middles.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    parts : sequence of CoverPart
        One for every element, some of them sectors.
    scale : Scale

    Returns
    -------
    SlipRoot or None
        None where the equations are singular or the iteration does not converge; nothing is proved by it.
    """
    system = _SlipEquations.of(problem, parts, scale)
    angles = np.array([sum(part.angles) / 2 for part in parts if part.angles is not None])
    E, e = system.linear(angles)
    if E.shape[0] != E.shape[1] or not np.linalg.cond(E) < _SINGULAR:
        return None
    z = np.concatenate([np.linalg.solve(E, -e), angles])
    for _ in range(_STEPS):
        value, slope = system.value(z)
        if not np.linalg.cond(slope) < _SINGULAR:
            return None
        step = np.linalg.solve(slope, value)
        z = z - step
        if np.max(np.abs(step)) <= _ROUNDING * (1.0 + np.max(np.abs(z))):
            return SlipRoot(z[: system.r], tuple(float(angle) for angle in z[system.r :]))
    return None


def is_proved(problem: ContactProblem, parts: Sequence[CoverPart], scale: Scale, root: SlipRoot) -> bool:
    """Whether a small box around a root holds a solution, and one only.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    parts : sequence of CoverPart
        One for each force element.
    scale : Scale
    root : SlipRoot
        Of the equations of the parts.

    Returns
    -------
    bool
        True by Krawczyk's test (Neumaier 1990, section 5.1); False proves nothing.
    """
    system, z = _SlipEquations.of(problem, parts, scale), np.concatenate([root.forces, root.angles])
    return _contracts(system, z, np.full(len(z), _SMALL * (1.0 + float(np.max(np.abs(z))))), from_centre=True)


def holds_at_most_one(problem: ContactProblem, parts: Sequence[CoverPart], scale: Scale, root: SlipRoot) -> bool:
    """Whether the sectors of the parts hold no solution but this one.

    The box has the sectors as its sides, and all forces that the linear equations have for directions in it.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    parts : sequence of CoverPart
        One for each force element.
    scale : Scale
    root : SlipRoot
        Of the equations of the parts.

    Returns
    -------
    bool
        True by Krawczyk's test (Neumaier 1990, section 5.1); False proves nothing.
    """
    system, angles = _SlipEquations.of(problem, parts, scale), np.array(root.angles)
    edges = [part.angles for part in parts if part.angles is not None]
    turn = np.array([max(abs(edge - at) for edge in pair) for pair, at in zip(edges, angles, strict=True)])
    E, _ = system.linear(angles)
    if not np.linalg.cond(E) < _SINGULAR:
        return False
    # x(theta) - x = -E^-1 (E(theta) - E) x(theta): bounds of it converge where the change is small
    share = np.abs(np.linalg.inv(E)) @ system.turned(turn) * (1.0 + _ROUNDING)
    if not np.linalg.norm(share, np.inf) < 1.0 and not np.max(np.abs(np.linalg.eigvals(share))) < _CONTRACTED:
        return False
    reach = np.linalg.solve(np.eye(len(share)) - share, share @ np.abs(root.forces))
    radius = np.concatenate([_WIDER * reach + _SMALL, turn + _SMALL])
    return _contracts(system, np.concatenate([root.forces, angles]), radius, from_centre=False)


def _contracts(system: _SlipEquations, z: Array, radius: Array, *, from_centre: bool) -> bool:
    value, jacobian = system.value(z)
    if not np.linalg.cond(jacobian) < _SINGULAR:
        return False
    C = np.linalg.inv(jacobian)
    rounding = _ROUNDING * (np.abs(C) @ np.abs(jacobian))
    matrix = np.abs(np.eye(len(z)) - C @ jacobian) + np.abs(C) @ system.change(z, radius) + rounding
    moved = matrix @ radius
    if from_centre:
        moved = moved + np.abs(C @ value) + _ROUNDING * np.abs(C) @ (np.abs(jacobian) @ (np.abs(z) + 1.0))
    return bool(np.all(moved < radius))
