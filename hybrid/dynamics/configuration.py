"""The configuration space that rigid constraints leave: their Jacobian and curvature, and the nearest posture.

Which of the constraints are independent, and which only repeat others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import CANCELLED, CLEAR, NOTHING, ROOT, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.dynamics.derive import Dynamics

__all__ = ["LOST", "ConfigurationSpace", "Regularity", "independent_constraints", "independent_rows"]

Array = NDArray[np.float64]

_STEP = 1e-20  # of a complex step, whose truncation error is its square
_ITERATIONS = 30
_STEPS = 15  # of the same where only a distance is asked
_SETTLED = ROUNDING
_AROUND = 2
_CONVERGED = 4.0 * float(np.finfo(float).eps)
_ON_IT = NOTHING  # residual, relative to the Jacobian times the size of the posture, of a posture on the space
_NEIGHBOURS = 8
_MOVED = 0.05  # share of the reach by which a neighbour must differ from the posture
_PSEUDO = NOTHING  # relative singular value below which constraint rows count as dependent
_RANK = ROOT  # relative; rounding leaves 1e-16, a Jacobian on the space 1e-12
_TRIED = 20
_TURNED = 1.0  # spread of the postures at which a Jacobian is looked at: radians or so
LOST = CLEAR
"""A singular value below this share of its size nearby counts as lost."""


@attrs.frozen(eq=False)
class Regularity:
    """How the Jacobian of the constraints at a posture compares with postures nearby.

    Attributes
    ----------
    rank : int
        At the posture.
    regular_rank : int
        At most postures of the configuration space nearby.
    measure : float
        The singular value that is lost first, as a share of its size nearby; 0 at a singular configuration.
    size : float
        Its size nearby.
    """

    rank: int
    regular_rank: int
    measure: float
    size: float

    @property
    def is_singular(self) -> bool:
        """True if the constraints have fewer independent gradients here than nearby."""
        return self.rank < self.regular_rank


@attrs.frozen(eq=False)
class ConfigurationSpace:
    """The postures ``f(q) = 0`` that the rigid constraints of a mechanism allow at a time.

    Attributes
    ----------
    dynamics : Dynamics
    t : float
        Time, in s, of constraints that depend on it.
    reach : float
        Distance at which a posture's neighbours are looked at, in the units of the coordinates.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> space = ConfigurationSpace(derive(mechanisms.load("singular_pendulum")))
    >>> space.regularity(np.array([0.0, 0.0])).is_singular
    True
    """

    dynamics: Dynamics
    t: float = 0.0
    reach: float = 0.05

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.dynamics.n

    def values(self, q: Array) -> Array:
        """Constraints ``f(q)``.

        Parameters
        ----------
        q : array, (..., n)

        Returns
        -------
        array, (..., m)
        """
        return np.asarray(self._at(q)["constraint"], dtype=float)

    def jacobian(self, q: Array) -> Array:
        """Derivatives ``df/dq`` of the constraints.

        Parameters
        ----------
        q : array, (..., n)

        Returns
        -------
        array, (..., m, n)
        """
        return np.asarray(self._at(q)["J"], dtype=float)

    def curvature(self, q: Array, direction: Array) -> Array:
        """Derivative of the Jacobian along a direction, by a complex step.

        Parameters
        ----------
        q, direction : array, (n,)

        Returns
        -------
        array, (m, n)
        """
        return np.asarray(self._at(q + 1j * _STEP * direction)["J"].imag) / _STEP

    def _at(self, q: Any) -> dict[str, NDArray[Any]]:
        with np.errstate(all="ignore"):
            at = self.dynamics.kinematics(q, np.zeros(self.n), t=self.t)
        m = len(self.dynamics.rigid)
        return {
            "constraint": np.broadcast_to(at["constraint"], (*np.shape(q)[:-1], m)),
            "J": np.broadcast_to(at["J"], (*np.shape(q)[:-1], m, self.n)),
        }

    def residual(self, q: Array) -> float:
        """Largest violation of a constraint at a posture.

        Parameters
        ----------
        q : array, (n,)

        Returns
        -------
        float
        """
        return float(np.max(np.abs(self.values(q)), initial=0.0))

    def nearest(self, q: Array, *, rank: int | None = None, hold: Array | None = None) -> Array | None:
        """A posture of the space near a given one, by Gauss and Newton's method.

        Parameters
        ----------
        q : array, (n,)
        rank : int, optional
            Number of independent constraints to use; by default all that are independent at each iterate.
        hold : array, (k, n), optional
            Combinations of the coordinates that keep their values.

        Returns
        -------
        array, (n,), or None
            None if it does not converge.
        """
        fixed = np.zeros((0, self.n)) if hold is None else np.atleast_2d(hold)
        q = np.array(q, dtype=float)
        for _ in range(_ITERATIONS):
            J, f = self.jacobian(q), self.values(q)
            if not (np.isfinite(J).all() and np.isfinite(f).all()):
                return None
            rows = np.vstack([J, fixed])
            left, sizes, right = np.linalg.svd(rows, full_matrices=False)
            count = len(sizes) if rank is None else min(rank + len(fixed), len(sizes))
            kept = (np.arange(len(sizes)) < count) & (sizes > CANCELLED * sizes[0] if sizes.size else False)
            right_side = np.concatenate([f, np.zeros(len(fixed))])
            change = right[kept].T @ ((left[:, kept].T @ right_side) / sizes[kept])
            q = q - change
            if np.max(np.abs(change), initial=0.0) <= _CONVERGED * (1.0 + np.max(np.abs(q))):
                break
        return q if self.contains(q) else None

    def contains(self, q: Array) -> bool:
        """Whether a posture satisfies the constraints, up to rounding and the iteration's error.

        Parameters
        ----------
        q : array, (n,)

        Returns
        -------
        bool
        """
        allowed = _ON_IT * (1.0 + float(np.max(np.abs(self.jacobian(q)), initial=0.0)) * float(np.max(np.abs(q))))
        return self.residual(q) <= allowed

    def neighbours(self, q: Array) -> list[Array]:
        """Postures of the space at about the reach from a given one.

        Parameters
        ----------
        q : array, (n,)

        Returns
        -------
        list of array, (n,)
        """
        generator = np.random.default_rng(1)
        found = []
        for direction in generator.normal(size=(_NEIGHBOURS, self.n)):
            other = self.nearest(q + self.reach * direction / np.linalg.norm(direction))
            if other is not None and _MOVED * self.reach < np.linalg.norm(other - q) < 4.0 * self.reach:
                found.append(other)
        return found

    def distances(self, q: Array) -> Array:
        """Distance of postures from the space.

        The least distance to where Gauss and Newton's method leads from a posture and from others on either side of it
        along every coordinate: between two branches that touch, the method alone runs along them.

        Parameters
        ----------
        q : array, (N, n)

        Returns
        -------
        array, (N,)
        """
        q = np.asarray(q, dtype=float)
        least = np.linalg.norm(self._reached(q) - q, axis=-1)
        for _ in range(_AROUND):
            away = least[:, None] / 2 * np.ones(self.n)
            for index in range(self.n):
                for side in (1.0, -1.0):
                    start = q + side * away * np.eye(self.n)[index]
                    least = np.fmin(least, np.linalg.norm(self._reached(start) - q, axis=-1))
        return np.asarray(least)

    def _reached(self, q: Array) -> Array:
        """Where Gauss and Newton's method leads from N postures."""
        for _ in range(_STEPS):
            at = self._at(q)
            with np.errstate(all="ignore"):
                change = (np.linalg.pinv(at["J"], rcond=_PSEUDO) @ at["constraint"][..., None])[..., 0]
            q = q - change
            if np.max(np.abs(change), initial=0.0) <= _SETTLED * (1.0 + np.max(np.abs(q), initial=0.0)):
                break
        return q

    def regularity(self, q: Array, *, lost: float = LOST) -> Regularity:
        """Compare the rank of the constraints at a posture with that nearby.

        An isolated posture has no neighbours; it is compared with postures off the space.

        Parameters
        ----------
        q : array, (n,)
        lost : float
            A singular value below this share of its size nearby counts as lost.

        Returns
        -------
        Regularity
        """
        around = self.neighbours(q)
        if not around:
            generator = np.random.default_rng(1)
            around = [q + self.reach * d / np.linalg.norm(d) for d in generator.normal(size=(_NEIGHBOURS, self.n))]
        nearby = np.array([np.linalg.svd(self.jacobian(other), compute_uv=False) for other in around])
        nearby = nearby[np.isfinite(nearby).all(axis=1)]
        own = np.linalg.svd(self.jacobian(q), compute_uv=False)
        if not own.size or not len(nearby):
            return Regularity(len(own), len(own), 1.0, 1.0)
        largest = max(float(nearby.max()), float(own[0]))
        regular_rank = int(np.median((nearby > LOST * largest).sum(axis=1)))
        sizes = np.median(nearby, axis=0)
        if regular_rank == 0:
            return Regularity(0, 0, 1.0, 1.0)
        last = float(sizes[regular_rank - 1])
        rank = int(sum(value > lost * size for value, size in zip(own, sizes, strict=True) if size > LOST * largest))
        return Regularity(rank, regular_rank, float(own[regular_rank - 1]) / last, last)


def independent_rows(space: ConfigurationSpace, postures: Sequence[Array], *, on_space: bool = True) -> list[int]:
    """Constraints that are independent at most postures, in the order of declaration; further ones repeat them.

    Parameters
    ----------
    space : ConfigurationSpace
    postures : sequence of array, (n,)
        Near which to look.
    on_space : bool
        Go to the nearest postures that satisfy the constraints: a linkage in space may be overconstrained only there.

    Returns
    -------
    list of int
    """
    found = [q for q in map(space.nearest, postures[:_TRIED]) if q is not None] if on_space else []
    jacobians = [J for J in map(space.jacobian, found or postures) if np.isfinite(J).all()]
    if not jacobians:
        return list(range(len(space.dynamics.rigid)))
    sized = [J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), np.finfo(float).tiny) for J in jacobians]
    ranks = [int(np.linalg.matrix_rank(J, rtol=_RANK)) for J in sized]
    J = sized[ranks.index(max(ranks))]
    kept: list[int] = []
    for row in range(len(J)):
        if np.linalg.matrix_rank(J[[*kept, row]], rtol=_RANK) > len(kept):
            kept.append(row)
    return kept


def independent_constraints(dynamics: Dynamics, *, t: Any = 0.0, on_space: bool = False) -> tuple[int, ...]:
    """Rows of the rigid constraints that are independent at most postures.

    Parameters
    ----------
    dynamics : Dynamics
    t : float or array
    on_space : bool
        As for :func:`independent_rows`; slower.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> independent_constraints(derive(mechanisms.load("four_bar")))
    (0, 1)
    """
    m = len(dynamics.rigid)
    if m < 2:
        return tuple(range(m))
    declared = dynamics.mechanism.parameter_values()
    values = {name: _first(v if np.size(v) else declared[name]) for name, v in dynamics.given.items()}
    space = ConfigurationSpace(dynamics.at(values), float(_first(t)) if np.size(t) else 0.0)
    postures = list(np.random.default_rng(1).normal(scale=_TURNED, size=(_TRIED if on_space else 3, dynamics.n)))
    return tuple(independent_rows(space, postures, on_space=on_space))


def _first(value: Any) -> Any:
    return np.ravel(value)[0] if np.ndim(value) else value
