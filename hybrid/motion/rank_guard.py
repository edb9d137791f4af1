"""The guard of an arc that watches whether the rigid constraints are about to become dependent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.expressions import Builder
from hybrid.tolerances import AGREEING, RANK

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["RankGuard", "rank_guard"]

Array = NDArray[np.float64]

_NEAR = 0.02  # share of its usual size at which the smallest singular value says that a singular posture may be near
_LEFT = 0.5  # an arc that starts nearer than that is watched for half of what it starts with
_DEPENDENT = RANK  # relative size of an eigenvalue of J M^-1 J^T that belongs to a redundant constraint
_SINGULAR = AGREEING  # share of its usual size below which the rank is lost at a given state


@attrs.define(eq=False)
class RankGuard:
    """The product of the squared singular values of ``J M^-1/2`` that a motion has, and its usual size.

    It is smooth along a motion, also through a singular configuration, where it has a double zero at least.

    Attributes
    ----------
    space : ConfigurationSpace
    metric : array, (n, n)
        Inverse mass matrix where the motion starts.
    rank : int
        Number of independent constraints.
    usual : float
        Size of the product away from singular configurations: the largest met so far.
    """

    space: ConfigurationSpace
    metric: Array
    rank: int
    usual: float
    _jacobian: Callable[[Any, Any], tuple[Any, ...]] = attrs.field(init=False, repr=False)

    @_jacobian.default
    def _compiled(self) -> Callable[[Any, Any], tuple[Any, ...]]:
        return self.space.dynamics.once(_jacobian_program)(self.space.dynamics.arguments)

    @property
    def is_full(self) -> bool:
        """True if all constraints are independent."""
        return self.rank == len(self.space.dynamics.rigid)

    def sizes(self, t: Array, q: Array) -> Array:
        """The product at N postures (N, n), as a share of its usual size."""
        return self._products(t, q) / self.usual

    def jacobians(self, t: Array, q: Array) -> Array:
        """The Jacobian at N postures, (N, m, n)."""
        with np.errstate(all="ignore"):
            rows = self._jacobian(t, np.concatenate([q.T, np.zeros_like(q.T)]))
        table = np.empty((len(rows), len(q)))
        for index, row in enumerate(rows):
            table[index] = row
        return table.T.reshape(len(q), -1, self.space.n)

    def _products(self, t: Array, q: Array) -> Array:
        J = self.jacobians(t, q)
        mobility = J @ self.metric @ np.swapaxes(J, -1, -2)
        if mobility.shape[-1] == 1:
            return np.asarray(mobility[:, 0, 0])
        if not np.isfinite(mobility).all():
            return np.full(len(q), np.nan)
        return np.asarray(np.prod(np.linalg.eigvalsh(mobility)[:, -self.rank :], axis=-1))

    def level(self, t: float, q: Array) -> float:
        """What the size must fall to for an arc that starts at a posture to end."""
        product = float(self._products(np.array([t]), q[None])[0])
        self.usual = max(self.usual, product)
        return min(_NEAR**2, _LEFT**2 * product / self.usual)

    def function(self, t: float, q: Array) -> Callable[[Array, Array], Array]:
        """The guard of an arc that starts at a posture: a function of times (N,) and states (2n, N), (1, N)."""
        level, n = self.level(t, q), self.space.n
        return lambda times, y: (self.sizes(times, y[:n].T) - level)[None]

    def is_lost(self, t: float, q: Array) -> bool:
        """True if the constraints are dependent at a posture, but not nearby."""
        return bool(self.sizes(np.array([t]), q[None])[0] < _SINGULAR**2)


def rank_guard(dynamics: Dynamics, t: float, q: Array) -> RankGuard | None:
    """The guard for motions from a posture; None for a mechanism without rigid constraints.

    Parameters
    ----------
    dynamics : Dynamics
    t : float
    q : array, (n,)

    Returns
    -------
    RankGuard or None
    """
    if not dynamics.rigid:
        return None
    space = ConfigurationSpace(dynamics, t)
    terms = dynamics.terms(q, np.zeros(dynamics.n), t=t)
    try:
        metric = np.linalg.inv(terms.M)
    except np.linalg.LinAlgError:
        return None
    J = np.broadcast_to(terms.J, (len(dynamics.rigid), dynamics.n))
    if not (np.isfinite(J).all() and np.isfinite(metric).all()):
        return None
    around = [q]
    if _may_be_singular(space, J, q):
        around += space.neighbours(q) or [q + space.reach * direction for direction in np.eye(dynamics.n)]
    spectra = np.array([np.linalg.eigvalsh(j @ metric @ j.T) for j in map(space.jacobian, around)])
    rank = int(np.median((spectra > _DEPENDENT * spectra.max()).sum(axis=1)))
    usual = float(np.median(np.prod(spectra[:, -rank:], axis=1))) if rank else 0.0
    return RankGuard(space, metric, rank, usual) if usual > 0.0 else None


def _may_be_singular(space: ConfigurationSpace, J: Array, q: Array) -> bool:
    """True unless the Jacobian is too large to lose its rank within the reach of a posture."""
    smallest = float(np.linalg.svd(J, compute_uv=False)[-1])
    change = max(float(np.linalg.norm(space.curvature(q, direction))) for direction in np.eye(space.n))
    return not smallest > space.reach * change


def _jacobian_program(dynamics: Dynamics) -> Callable[..., Callable[[Any, Any], tuple[Any, ...]]]:
    build = Builder(dynamics.equations.graph)
    return dynamics.equations.program(build, dynamics.equations.J.ravel().tolist()).vector
