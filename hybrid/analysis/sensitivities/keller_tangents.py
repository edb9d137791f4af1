"""Tangents along the path of a spatial impact in the space of contact velocities and impulses (Keller 1986)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.refusal import NoDerivative

if TYPE_CHECKING:
    from hybrid.contact.impacts.routh_spatial import SpatialLeg, SpatialPath

__all__ = ["INPUTS", "path_slopes"]

Array = NDArray[np.float64]

INPUTS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Entries of the Delassus operator on which a path depends, after the three velocities; then friction, restitution."""
_COUNT = 3 + len(INPUTS) + 2
_MU, _E = _COUNT - 2, _COUNT - 1
_SIZE = 7  # contact velocities, tangential impulses, normal work, normal impulse
_WORK, _NORMAL = 5, 6
_ACCURACY = 1e-12
_EDGE = 1e-9


def path_slopes(path: SpatialPath, G: Array, mu: float, e: float, *, is_energetic: bool) -> Array:
    """Derivatives of the impulses (3,) with respect to velocities, ``INPUTS``, friction and restitution, (3, 11).

    Within a leg tangents obey the variational equation; from one to the next they pass by the derivative of its
    duration.

    Parameters
    ----------
    path : SpatialPath
    G : array, (3, 3)
        In the units of the path.
    mu, e : float
    is_energetic : bool
        Restitution by work, or by impulses (Poisson).

    Returns
    -------
    array, (3, 11)

    Raises
    ------
    NoDerivative
        The path begins or passes where friction can just hold.
    """
    mobilities = np.linalg.eigvalsh(G)
    stops = any(leg.ratio is not None for leg in path.legs) or path.legs[0].ends_by == "stop"
    if stops and (mu == 0.0 or mobilities[0] <= _EDGE * mobilities[-1]):
        # without friction slip passes zero; of a hinged body it may end just where compression does
        raise NoDerivative("slip that ends in the impact of a hinged body or without friction", is_proven=False)
    walk = _Walk(G, mu, e, is_energetic)
    z, Z = np.zeros(_SIZE), np.zeros((_SIZE, _COUNT))
    z[:3], Z[:3, :3] = path.legs[0].start[:3], np.eye(3)
    compressed: tuple[float, Array] = (0.0, np.zeros(_COUNT))
    for number, leg in enumerate(path.legs):
        ratio_slopes = None
        if leg.ratio is not None:
            if number == 0 and leg.kind == "slide":
                raise NoDerivative("an impact without slip in which friction cannot hold: it slips to any side")
            z, Z = walk.without_slip(z, Z)
            ratio_slopes = walk.ratio_slopes(leg)
        z, Z = walk.along(leg, z, Z, ratio_slopes)
        flow = walk.rates(z, leg.ratio)
        row, change = walk.end(leg, z, compressed)
        Z = Z - np.outer(flow, (row @ Z - change) / (row @ flow))
        if leg.ends_by == "compression":
            stored = (z[_WORK], Z[_WORK]) if is_energetic else (z[_NORMAL], Z[_NORMAL])
            compressed = float(stored[0]), np.array(stored[1])
            z, Z = walk.released(z, Z)
    if path.legs[-1].ends_by == "compression":
        Z = walk.with_first_restitution(path.legs[-1], z, Z, compressed[0])
    return np.stack([Z[_NORMAL], Z[3], Z[4]])


@attrs.frozen(eq=False)
class _Walk:
    """What the legs of one path share."""

    G: Array
    mu: float
    e: float
    is_energetic: bool

    def rates(self, z: Array, ratio: Array | None) -> Array:
        """Derivatives of the unknowns along a leg, (7,)."""
        pace = float(np.hypot(z[1], z[2])) if ratio is None else 1.0
        tangential = -self.mu * z[1:3] if ratio is None else ratio
        return np.concatenate([self.G @ [pace, *tangential], tangential, [z[0] * pace, pace]])

    def _variation(self, z: Array, leg: SpatialLeg, ratio_slopes: Array | None) -> tuple[Array, Array]:
        """Derivatives of the rates with respect to the unknowns, (7, 7), and the inputs, (7, 11)."""
        force, of_z, of_input = np.zeros(3), np.zeros((3, _SIZE)), np.zeros((3, _COUNT))
        if leg.ratio is None:
            pace = float(np.hypot(z[1], z[2]))
            force[:] = pace, -self.mu * z[1], -self.mu * z[2]
            of_z[0, 1:3] = z[1:3] / pace
            of_z[1, 1] = of_z[2, 2] = -self.mu
            of_input[1:, _MU] = -z[1:3]
        else:
            force[:] = 1.0, *leg.ratio
            of_input[1:] = 0.0 if ratio_slopes is None else ratio_slopes
        J, K = np.zeros((_SIZE, _SIZE)), np.zeros((_SIZE, _COUNT))
        J[:3], K[:3] = self.G @ of_z, self.G @ of_input
        for place, (a, b) in enumerate(INPUTS, start=3):
            K[a, place] += force[b]
            if a != b:
                K[b, place] += force[a]
        J[3:5], K[3:5] = of_z[1:], of_input[1:]
        J[_WORK] = z[0] * of_z[0]
        J[_WORK, 0] += force[0]
        J[_NORMAL] = of_z[0]
        return J, K

    def along(self, leg: SpatialLeg, z: Array, Z: Array, ratio_slopes: Array | None) -> tuple[Array, Array]:
        """Unknowns and tangents at the end of a leg, its duration held fixed."""
        from scipy.integrate import solve_ivp

        def rates(_: float, both: Array) -> Array:
            here, tangents = both[:_SIZE], both[_SIZE:].reshape(_SIZE, _COUNT)
            J, K = self._variation(here, leg, ratio_slopes)
            return np.concatenate([self.rates(here, leg.ratio), (J @ tangents + K).ravel()])

        found = solve_ivp(
            rates,
            (0.0, leg.duration),
            np.concatenate([z, Z.ravel()]),
            method="DOP853",
            rtol=_ACCURACY,
            atol=_ACCURACY,
        )
        both = found.y[:, -1]
        return both[:_SIZE], both[_SIZE:].reshape(_SIZE, _COUNT)

    def end(self, leg: SpatialLeg, z: Array, compressed: tuple[float, Array]) -> tuple[Array, Array]:
        """The row whose change ends a leg, (7,), and what it must change by, (11,)."""
        row, change = np.zeros(_SIZE), np.zeros(_COUNT)
        if leg.ends_by == "stop":
            row[1:3] = z[1:3] / np.hypot(z[1], z[2])
        elif leg.ends_by == "compression":
            row[0] = 1.0
        else:
            stored, slope = compressed
            row[_WORK if self.is_energetic else _NORMAL] = 1.0
            factor, rate = (-(self.e**2), -2 * self.e) if self.is_energetic else (1 + self.e, 1.0)
            change = factor * slope
            change[_E] += rate * stored
        return row, change

    def released(self, z: Array, Z: Array) -> tuple[Array, Array]:
        """The start of restitution, whose work is counted anew."""
        z, Z = z.copy(), Z.copy()
        z[_WORK], Z[_WORK] = 0.0, 0.0
        return z, Z

    def with_first_restitution(self, leg: SpatialLeg, z: Array, Z: Array, stored: float) -> Array:
        """Tangents where there is no restitution yet: what a first share of it adds, with compression's last leg."""
        flow = self.rates(z, leg.ratio)
        flow = flow / flow[_NORMAL]
        # half the square of the normal impulse times the rate of the normal velocity is its work
        length = np.sqrt(-2 * stored / flow[0]) if self.is_energetic else stored
        added = np.zeros(_COUNT)
        added[_E] = length
        return np.asarray(Z + np.outer(flow, added))

    def without_slip(self, z: Array, Z: Array) -> tuple[Array, Array]:
        """The last of the slip taken away by an impulse; a slip so small that the operator's own change has no say."""
        rest = -np.linalg.solve(self.G[1:, 1:], z[1:3])
        change = -np.linalg.solve(self.G[1:, 1:], Z[1:3])
        z, Z = z.copy(), Z.copy()
        z[0] += self.G[0, 1:] @ rest
        Z[0] += self.G[0, 1:] @ change
        z[1:3], Z[1:3] = 0.0, 0.0
        z[3:5] += rest
        Z[3:5] += change
        return z, Z

    def ratio_slopes(self, leg: SpatialLeg) -> Array:
        """Derivatives of the tangential impulse per normal impulse of a leg without turning, (2, 11)."""
        ratio = np.zeros(2) if leg.ratio is None else leg.ratio
        residual = np.zeros((2, _COUNT))  # of the rate of slip G_TN + G_TT ratio
        force = np.array([1.0, *ratio])
        for place, (a, b) in enumerate(INPUTS, start=3):
            for row, other in {(a, b), (b, a)}:
                if row > 0:
                    residual[row - 1, place] += force[other]
        hold = -np.linalg.solve(self.G[1:, 1:], self.G[1:, 0])
        if abs(np.linalg.norm(hold) - self.mu) <= _EDGE * max(self.mu, 1.0):
            raise NoDerivative("friction can just hold a spatial contact in the impact")
        if leg.kind == "stick":
            return np.asarray(-np.linalg.solve(self.G[1:, 1:], residual))
        # renewed slip along u = -ratio / mu keeps its direction: the rate has no component across it
        u = -ratio / self.mu
        left = np.array([-u[1], u[0]])
        residual[:, _MU] = -self.G[1:, 1:] @ u
        rate = self.G[1:, 0] + self.G[1:, 1:] @ ratio
        turn = -(left @ residual) / (-self.mu * left @ self.G[1:, 1:] @ left - u @ rate)
        slopes = -self.mu * np.outer(left, turn)
        slopes[:, _MU] -= u
        return slopes
