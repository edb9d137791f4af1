"""Keeping positions and velocities on the active constraints.

The guard of an arc that watches whether the rigid constraints are about to become dependent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.modes import ElementKind
from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.expressions import Builder
from hybrid.motion.held_rows import ENOUGH, ITERATIONS, NEGLIGIBLE, REGULAR, SMALL, displacements, held_rows, onto
from hybrid.tolerances import AGREEING, RANK

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.motion.held_rows import At

__all__ = [
    "NEAR",
    "Array",
    "Constraints",
    "RankGuard",
    "rank_guard",
]


Array = NDArray[np.float64]

NEAR = 0.02
"""Share of its usual size at which the smallest singular value says that a singular configuration may be near."""
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
        return min(NEAR**2, _LEFT**2 * product / self.usual)

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


@attrs.frozen(eq=False)
class Constraints:
    """What a mode holds at zero: gaps and constraints, tangential displacements of sticking contacts, velocities.

    Attributes
    ----------
    dynamics : Dynamics
    parts : tuple of ElementMode
    terms : callable
        ``terms(t, q, v)``, all terms at one state.
    anchors : dict of int to float
        Where they stick, by tangential column.
    """

    dynamics: Dynamics
    parts: tuple[ElementMode, ...]
    terms: Callable[[float, Array, Array], Terms]
    anchors: dict[int, float] = attrs.field(factory=dict)
    _normals: list[int] = attrs.field(init=False)
    _sticking: list[int] = attrs.field(init=False)
    _few: At | None = attrs.field(init=False)

    @_normals.default
    def _contacts_that_hold(self) -> list[int]:
        return [part.index for part in self.parts if part.presses and part.kind is ElementKind.CONTACT]

    @_sticking.default
    def _columns_that_stick(self) -> list[int]:
        columns = [column for part in self.parts if part.sticks for column in part.columns]
        places = self.dynamics.once(displacements)[0] if columns else {}
        return sorted(columns, key=lambda column: column not in places)  # first those that hold a position

    @_few.default
    def _few_rows(self) -> At | None:
        """All that is held, where plain floats solve it: the most frequent case."""
        return held_rows(self.dynamics, tuple(self._normals), tuple(self._sticking))

    @property
    def is_empty(self) -> bool:
        """True if nothing is held."""
        return not (self.dynamics.rigid or self._normals or self._sticking)

    def anchor(self, t: float, q: Array) -> None:
        """Remember where the sticking contacts are."""
        if self._sticking:
            self.anchors.update(self._displacements(t, q))

    def _displacements(self, t: float, q: Array) -> dict[int, float]:
        """Those of the sticking contacts, by tangential column, where they are declared."""
        places, kernel = self.dynamics.once(displacements)
        at = kernel.at_one_state([*q.tolist(), *[0.0] * len(q), t, *self.dynamics.arguments])["displacement"]
        return {column: float(at[places[column]]) for column in self._sticking if column in places}

    def _rows(self, terms: Terms, t: float, q: Array) -> tuple[Array, Array, Array]:
        """Jacobian of what is held, residual of positions (of its first rows), residual of velocities."""
        held = np.concatenate([terms.J, terms.W_N.T[self._normals], terms.W_T.T[self._sticking]])
        moved = self._displacements(t, q) if self.anchors else {}
        offsets = [at - self.anchors[column] for column, at in moved.items() if column in self.anchors]
        residual = np.concatenate([terms.constraint, terms.gap[self._normals], offsets])
        rates = np.concatenate([terms.constraint_dot, terms.gap_dot[self._normals], terms.slip[self._sticking]])
        return held, residual, rates

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Nearest position and velocity, in the metric of the mass matrix, that satisfy what the mode holds.

        Parameters
        ----------
        t : float
        q, v : array, (n,)

        Returns
        -------
        q, v : array, (n,)
        """
        if self.is_empty:
            return q, v
        anchors = [self.anchors[column] for column in self._sticking if column in self.anchors]
        found = None if self._few is None else onto(self._few, t, q, v, anchors)
        return self._held(t, q, v) if found is None else found

    def _held(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        terms = self.terms(t, q, v)
        held, residual, rates = self._rows(terms, t, q)
        m = len(residual)
        for _ in range(ITERATIONS):
            try:
                lift = np.linalg.solve(terms.M, held.T)
            except np.linalg.LinAlgError:
                return q, v
            mobility = held @ lift
            if not (np.abs(residual) > ENOUGH * (np.abs(held[:m]) @ np.abs(q))).any():
                break
            correction = _correction(lift[:, :m], mobility[:m, :m], residual)
            q = q - correction
            move, size = (max(map(abs, vector.tolist())) for vector in (correction, q))
            if move <= SMALL * size:
                break  # quadratic: the next correction is below rounding, and so is the change of the Jacobians
            terms = self.terms(t, q, v)
            held, residual, rates = self._rows(terms, t, q)
            if move <= NEGLIGIBLE * size:
                break  # the same, but for the rates
        if rates.any():
            stands = len(held) >= self.dynamics.n and not (rates - held @ v).any()
            v = v - _correction(lift, mobility, rates)
            if stands and self.rank(held) == self.dynamics.n:
                v = np.zeros_like(v)
        return q, v

    def rank(self, rows: Array) -> int:
        """Rank of constraint rows."""
        return int(np.linalg.matrix_rank(rows, rtol=RANK)) if rows.size else 0

    def hold_everything(self, t: float, q: Array, v: Array) -> bool:
        """True if the constraints leave no freedom and never move, so that the mechanism stays at rest."""
        if np.any(v):
            return False
        held, _, rates = self._rows(self.terms(t, q, v), t, q)
        if rates.any() or len(held) < self.dynamics.n or self.rank(held) < self.dynamics.n:
            return False
        return not self.are_driven

    @property
    def are_driven(self) -> bool:
        """True if what they prescribe depends on time."""
        return self.dynamics.once(is_driven, tuple(self._normals), tuple(self._sticking))


def is_driven(dynamics: Dynamics, normals: tuple[int, ...], sticking: tuple[int, ...]) -> bool:
    """Whether velocities that constraints, closed contacts and sticking columns prescribe depend on time.

    Such a drive may stand still at an instant, as a belt that is about to start.

    Parameters
    ----------
    dynamics : Dynamics
    normals, sticking : tuple of int
        Contacts and tangential columns.

    Returns
    -------
    bool
    """
    held = dynamics.equations
    return "t" in held.names(held.constraint_dot, held.gap_dot[list(normals)], held.slip[list(sticking)])


def _correction(lift: Array, mobility: Array, residual: Array) -> Array:
    if len(residual) == 1 and mobility[0, 0] > 0.0:
        return np.asarray(lift[:, 0] * (residual[0] / mobility[0, 0]))
    if not np.isfinite(mobility).all():
        return np.zeros(len(lift))
    if len(residual) == 2 and np.linalg.det(mobility) > REGULAR * mobility[0, 0] * mobility[1, 1]:
        return np.asarray(lift @ np.linalg.solve(mobility, residual))
    return np.asarray(lift @ (np.linalg.pinv(mobility, rcond=RANK, hermitian=True) @ residual))


def _jacobian_program(dynamics: Dynamics) -> Callable[..., Callable[[Any, Any], tuple[Any, ...]]]:
    build = Builder(dynamics.equations.graph)
    return dynamics.equations.program(build, dynamics.equations.J.ravel().tolist()).vector
