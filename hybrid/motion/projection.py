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
from hybrid.dynamics.equations import Reader
from hybrid.expressions import Builder, compile_kernel, dot, solve_definite
from hybrid.tolerances import AGREEING, CANCELLED, CLEAR, NOTHING, RANK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.expressions import Kernel

__all__ = [
    "ENOUGH",
    "NEAR",
    "Array",
    "Constraints",
    "RankGuard",
    "SingleGap",
    "displacements",
    "rank_guard",
    "single_gap",
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


_REGULAR = CLEAR  # two rows as independent as this need no pseudo-inverse
_ITERATIONS = 5
_SMALL = CANCELLED
_NEGLIGIBLE = NOTHING  # of the position: after a move so small the next is below rounding, its square
ENOUGH = 2e-16
"""Of the terms of a residual: that of a converged Newton step is rounding."""


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
    _single: Callable[[float, list[float]], SingleGap | None] | None = attrs.field(init=False)

    @_normals.default
    def _contacts_that_hold(self) -> list[int]:
        return [part.index for part in self.parts if part.presses and part.kind is ElementKind.CONTACT]

    @_sticking.default
    def _columns_that_stick(self) -> list[int]:
        columns = [column for part in self.parts if part.sticks for column in part.columns]
        places = self.dynamics.once(displacements)[0] if columns else {}
        return sorted(columns, key=lambda column: column not in places)  # first those that hold a position

    @_single.default
    def _only_contact(self) -> Callable[[float, list[float]], SingleGap | None] | None:
        """The gap of a single contact where nothing else is held: the most frequent case."""
        if self.dynamics.rigid or self._sticking or len(self._normals) != 1:
            return None
        return single_gap(self.dynamics, self._normals[0])

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
        closed = None if self._single is None else _closed(self._single, t, q, v)
        return self._held(t, q, v) if closed is None else closed

    def _held(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        terms = self.terms(t, q, v)
        held, residual, rates = self._rows(terms, t, q)
        m = len(residual)
        for _ in range(_ITERATIONS):
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
            if move <= _SMALL * size:
                break  # quadratic: the next correction is below rounding, and so is the change of the Jacobians
            terms = self.terms(t, q, v)
            held, residual, rates = self._rows(terms, t, q)
            if move <= _NEGLIGIBLE * size:
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


def _closed(
    single: Callable[[float, list[float]], SingleGap | None], t: float, q: Array, v: Array
) -> tuple[Array, Array] | None:
    """The same for a single gap; None where it takes more than plain floats."""
    place, speed = q.tolist(), v.tolist()
    held = single(t, [*place, *speed])
    if held is None:
        return None
    for _ in range(_ITERATIONS):
        if not abs(held.gap) > ENOUGH * sum(abs(w * x) for w, x in zip(held.direction, place, strict=True)):
            break
        share = held.gap / held.mobility
        place = [x - share * lift for x, lift in zip(place, held.lift, strict=True)]
        move, size = abs(share) * max(map(abs, held.lift)), max(map(abs, place))
        if move <= _SMALL * size:
            break
        held = single(t, [*place, *speed])
        if held is None:
            return None
        if move <= _NEGLIGIBLE * size:
            break
    if held.rate:
        share = held.rate / held.mobility
        stands = len(speed) == 1 and held.rate == held.direction[0] * speed[0]
        speed = [0.0] if stands else [x - share * lift for x, lift in zip(speed, held.lift, strict=True)]
    return np.array(place), np.array(speed)


def _correction(lift: Array, mobility: Array, residual: Array) -> Array:
    if len(residual) == 1 and mobility[0, 0] > 0.0:
        return np.asarray(lift[:, 0] * (residual[0] / mobility[0, 0]))
    if not np.isfinite(mobility).all():
        return np.zeros(len(lift))
    if len(residual) == 2 and np.linalg.det(mobility) > _REGULAR * mobility[0, 0] * mobility[1, 1]:
        return np.asarray(lift @ np.linalg.solve(mobility, residual))
    return np.asarray(lift @ (np.linalg.pinv(mobility, rcond=RANK, hermitian=True) @ residual))


def displacements(dynamics: Dynamics) -> tuple[Mapping[int, int], Kernel]:
    """Tangential displacements of all force elements that declare one, compiled.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    places : mapping of int to int
        Of a tangential column, where its displacement is; a column with a slip in place of one is missing.
    kernel : Kernel
        Gives them as ``displacement``, (number,).
    """
    mechanism, equations = dynamics.mechanism, dynamics.equations
    declared: dict[str, tuple[str, ...]] = {contact.name: tuple(contact.tangent) for contact in mechanism.contact}
    declared |= {item.name: (item.tangent,) for item in mechanism.friction if item.tangent}
    declared |= {item.name: (item.tangent,) for item in mechanism.constraint if item.tangent}
    texts = {
        column: text
        for name in dynamics.columns
        for column, text in zip(dynamics.columns_of(name), declared.get(name, ()), strict=False)
    }
    reader = Reader(Builder(equations.graph), mechanism)
    nodes = reader.column(texts.values())
    kernel = compile_kernel(reader.build.graph(), {"displacement": nodes}, equations.arguments)
    return {column: place for place, column in enumerate(texts)}, kernel


@attrs.frozen
class SingleGap:
    """A gap with what moves it, at one state.

    Attributes
    ----------
    gap, rate : float
        The gap and its velocity.
    mobility : float
        ``w . M^-1 w``, with the gap's direction ``w``.
    direction, lift : sequence of float, (n,)
        ``w`` and ``M^-1 w``.
    """

    gap: float
    rate: float
    mobility: float
    direction: Sequence[float]
    lift: Sequence[float]


def single_gap(dynamics: Dynamics, index: int) -> Callable[[float, list[float]], SingleGap | None]:
    """Compile the function of ``t`` and ``y = (q, v)`` that gives one contact's gap with what moves it.

    Parameters
    ----------
    dynamics : Dynamics
    index : int
        Of the contact.

    Returns
    -------
    callable
        Gives None where an expression is undefined, or a force at the contact would not move it.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> held = single_gap(ball, 0)(0.0, [0.5, -2.0])
    >>> held.gap, held.rate, held.lift
    (0.5, -2.0, [1.0])
    """
    function = dynamics.once(_program, index)(dynamics.arguments)
    n = dynamics.n

    def evaluate(t: float, y: list[float]) -> SingleGap | None:
        try:
            gap, rate, mobility, *columns = function(t, y)
        except (ArithmeticError, ValueError):
            return None
        return SingleGap(gap, rate, mobility, columns[:n], columns[n:]) if mobility > 0.0 else None

    return evaluate


def _jacobian_program(dynamics: Dynamics) -> Callable[..., Callable[[Any, Any], tuple[Any, ...]]]:
    build = Builder(dynamics.equations.graph)
    return dynamics.equations.program(build, dynamics.equations.J.ravel().tolist()).vector


def _program(dynamics: Dynamics, index: int) -> Callable[..., Any]:
    equations = dynamics.equations
    build, normal = Builder(equations.graph), equations.W_N[:, index]
    lift = solve_definite(build, equations.M, [normal])[0]
    mobility = dot(build, normal, lift)
    results = [equations.gap[index], equations.gap_dot[index], mobility, *normal, *lift]
    return equations.program(build, results).scalar
