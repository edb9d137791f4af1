"""One stage of an impact: velocities and impulses of a linear system, with their derivatives."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.partials import Forces, Partials

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Terms, Values

__all__ = ["Condition", "ImpactSite", "Stage", "before_impact", "idle_conditions", "run_stage"]

Array = NDArray[np.float64]

_RANK = 1e-10  # as for the elimination of bilateral constraints


@attrs.frozen(eq=False)
class ImpactSite:
    """Where an impact happens: all that stays the same while velocities jump.

    Derivatives are with respect to ``z = (q, v, t, parameters)`` before the impact, ``size`` numbers.

    Attributes
    ----------
    partials : Partials
    parameters : mapping
    t : float
    q, v : array, (n,)
        Before the impact.
    """

    partials: Partials
    parameters: Values
    t: float
    q: Array
    v: Array

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.q)

    @property
    def size(self) -> int:
        """Number of variables ``z``."""
        return 2 * self.n + 1 + len(self.partials.parameters)

    def terms(self, v: Array) -> Terms:
        """Terms at the position of the impact and a velocity."""
        return self.partials.dynamics.terms(self.q, v, t=self.t, parameters=self.parameters)

    def slopes(self, v: Array, change: Array, impulses: tuple[Array, Array, Array]) -> dict[str, Array]:
        """Derivatives of every quantity with respect to ``z`` at a velocity, with ``change`` for the acceleration."""
        y, t = np.concatenate([self.q, v])[None, :], np.array([self.t])
        forces = Forces(change[None, :], *(block[None, :] for block in impulses))
        state = self.partials.state(t, y, forces, self.parameters)
        parameter = self.partials.parameter(t, y, forces, self.parameters)
        return {name: np.concatenate([state[name][0], parameter[name][0]], axis=1) for name in state}

    def impulse_slopes(self, v: Array, change: Array, impulses: tuple[Array, Array, Array]) -> Array:
        """Derivatives of ``M change - W_N P_N - W_T P_T - J^T P_B`` at fixed change and impulses, (n, size)."""
        none = tuple(np.zeros_like(block) for block in impulses)
        loaded = self.slopes(v, change, impulses)["balance"]
        return np.asarray(loaded - self.slopes(v, np.zeros_like(change), (none[0], none[1], none[2]))["balance"])

    def carried(self, slopes: Array, velocity_slopes: Array) -> Array:
        """Total derivative of a quantity at a velocity that depends on ``z``, from its partial derivatives."""
        n = self.n
        total = slopes.copy()
        total[:, n : 2 * n] = 0.0
        return np.asarray(total + slopes[:, n : 2 * n] @ velocity_slopes)


@attrs.frozen(eq=False)
class Condition:
    """One linear condition of a stage.

    Attributes
    ----------
    kind : str
        ``"gap_dot"`` or ``"slip"``: the velocity at the end has a value; ``"impulse_N"`` or ``"impulse_T"``: the
        impulse has one; ``"coulomb"``: ``P_T + sign mu P_N = 0``, with the sign as the value, or the component of
        the direction of a spatial slip; ``"coulomb_B"``: ``P_T + sign mu P_B = 0`` for a rigid constraint, with the
        sign of the slip times that of ``P_B``.
    index : int
        Contact, or tangential column.
    value : float
    slope : array, (size,) or None
        Derivative of the value; None for zero.
    contact : int
        Contact of the tangential column, for ``"coulomb"``; rigid constraint, for ``"coulomb_B"``.
    turning : array, (p,) or None
        Derivative of that component with respect to the slip at the end.
    """

    kind: str
    index: int
    value: float = 0.0
    slope: Array | None = None
    contact: int = -1
    turning: Array | None = None


@attrs.frozen(eq=False)
class Stage:
    """The end of a stage.

    Attributes
    ----------
    v : array, (n,)
    v_slopes : array, (n, size)
    P_N, P_T, P_B : array
        Impulses of this stage.
    P_N_slopes : array, (k, size)
    gap_dot, slip : array
        Contact velocities at its end.
    gap_dot_slopes, slip_slopes : array, (k, size) and (p, size)
    """

    v: Array
    v_slopes: Array
    P_N: Array
    P_T: Array
    P_B: Array
    P_N_slopes: Array
    gap_dot: Array
    slip: Array
    gap_dot_slopes: Array
    slip_slopes: Array


def idle_conditions(site: ImpactSite, contacts: Collection[int], columns: Collection[int]) -> list[Condition]:
    """No impulse at all contacts and tangential columns but those given."""
    _, k, p, _ = _sizes(site)
    idle = [Condition("impulse_N", index) for index in range(k) if index not in contacts]
    return idle + [Condition("impulse_T", column) for column in range(p) if column not in columns]


def before_impact(site: ImpactSite) -> Stage:
    """The stage of no impulse that an impact starts from."""
    n, k, p, m = _sizes(site)
    slopes = np.zeros((n, site.size))
    slopes[:, n : 2 * n] = np.eye(n)
    return _ended(site, site.v, slopes, (np.zeros(k), np.zeros(p), np.zeros(m)), np.zeros((k, site.size)))


def run_stage(site: ImpactSite, start: Stage, conditions: Sequence[Condition]) -> Stage:
    """Solve a stage and differentiate it.

    Parameters
    ----------
    site : ImpactSite
    start : Stage
        The one before.
    conditions : sequence of Condition
        As many as contacts and tangential columns together.

    Returns
    -------
    Stage
    """
    n, k, p, m = _sizes(site)
    terms = site.terms(start.v)
    size = n + k + p + m
    A, b = np.zeros((size, size)), np.zeros(size)
    A[:n, :n] = terms.M
    A[:n, n : n + k], A[:n, n + k : n + k + p], A[:n, n + k + p :] = -terms.W_N, -terms.W_T, -terms.J.T
    for row, condition in enumerate(conditions, start=n):
        _write(A, b, row, condition, terms, n, k)
    A[n + k + p :, :n] = terms.J  # rates of constraints stay zero
    inverse = _inverse(A)
    u = inverse @ b
    impulses = (u[n : n + k], u[n + k : n + k + p], u[n + k + p :])
    v = start.v + u[:n]
    residual = _residual_slopes(site, start, conditions, v, u[:n], impulses)
    if any(condition.turning is not None for condition in conditions):
        inverse = _inverse(A + _turning_rows(conditions, terms, impulses[0], n, size))
    slopes = -inverse @ residual  # of the velocity at the end, and of the impulses
    return _ended(site, v, slopes[:n], impulses, slopes[n : n + k])


def _sizes(site: ImpactSite) -> tuple[int, int, int, int]:
    dynamics = site.partials.dynamics
    p = max((columns.stop for columns in dynamics.columns.values()), default=0)
    return dynamics.n, len(dynamics.contacts), p, len(dynamics.rigid)


def _write(A: Array, b: Array, row: int, condition: Condition, terms: Terms, n: int, k: int) -> None:
    """Put a condition on the change of velocity and the impulses into the linear system."""
    index = condition.index
    if condition.kind == "gap_dot":
        A[row, :n] = terms.W_N[:, index]
        b[row] = condition.value - terms.gap_dot[index]
    elif condition.kind == "slip":
        A[row, :n] = terms.W_T[:, index]
        b[row] = condition.value - terms.slip[index]
    elif condition.kind == "impulse_N":
        A[row, n + index] = 1.0
        b[row] = condition.value
    else:
        A[row, n + k + index] = 1.0
        if condition.kind == "impulse_T":
            b[row] = condition.value
        elif condition.kind == "coulomb_B":
            first = len(A) - len(terms.J)
            A[row, first + condition.contact] = condition.value * terms.constraint_friction[condition.contact]
        else:
            A[row, n + condition.contact] = condition.value * terms.friction[condition.contact]


def _turning_rows(conditions: Sequence[Condition], terms: Terms, P_N: Array, n: int, size: int) -> Array:
    """What a change of the velocity at the end does to Coulomb's law because the slip turns, (size, size)."""
    rows = np.zeros((size, size))
    for row, condition in enumerate(conditions, start=n):
        if condition.turning is not None:
            limit = terms.friction[condition.contact] * P_N[condition.contact]
            rows[row, :n] = limit * (terms.W_T @ condition.turning)
    return rows


def _residual_slopes(
    site: ImpactSite,
    start: Stage,
    conditions: Sequence[Condition],
    v: Array,
    change: Array,
    impulses: tuple[Array, Array, Array],
) -> Array:
    """Derivatives of the rows of a stage at fixed velocity at the end and fixed impulses."""
    n, k, p, m = _sizes(site)
    found = site.slopes(v, change, impulses)
    fixed = {name: rows.copy() for name, rows in found.items()}
    for rows in fixed.values():
        rows[:, n : 2 * n] = 0.0
    residual = np.zeros((n + k + p + m, site.size))
    balance = site.impulse_slopes(v, change, impulses)
    balance[:, n : 2 * n] = 0.0
    residual[:n] = balance - site.terms(v).M @ start.v_slopes
    for row, condition in enumerate(conditions, start=n):
        slope = np.zeros(site.size) if condition.slope is None else condition.slope
        if condition.kind in ("gap_dot", "slip"):
            residual[row] = fixed[condition.kind][condition.index] - slope
        elif condition.kind in ("impulse_N", "impulse_T"):
            residual[row] = -slope
        elif condition.kind == "coulomb_B":
            normal = impulses[2][condition.contact]
            residual[row] = condition.value * normal * fixed["constraint_friction"][condition.contact]
        else:
            normal = impulses[0][condition.contact]
            residual[row] = condition.value * normal * fixed["friction"][condition.contact]
            if condition.turning is not None:
                friction = site.terms(v).friction[condition.contact]
                residual[row] += friction * normal * (condition.turning @ fixed["slip"])
    residual[n + k + p :] = fixed["constraint_dot"]
    return residual


def _ended(
    site: ImpactSite, v: Array, v_slopes: Array, impulses: tuple[Array, Array, Array], P_N_slopes: Array
) -> Stage:
    terms = site.terms(v)
    found = site.slopes(v, np.zeros_like(v), (impulses[0] * 0, impulses[1] * 0, impulses[2] * 0))
    return Stage(
        v, v_slopes, *impulses, P_N_slopes,
        gap_dot=np.asarray(terms.gap_dot), slip=np.asarray(terms.slip),
        gap_dot_slopes=site.carried(found["gap_dot"], v_slopes), slip_slopes=site.carried(found["slip"], v_slopes),
    )  # fmt: skip


def _inverse(A: Array) -> Array:
    scale = np.max(np.abs(A), axis=1, keepdims=True)
    scaled = A / np.where(scale > 0.0, scale, 1.0)
    singular = np.linalg.svd(scaled, compute_uv=False)
    if singular[-1] > _RANK * singular[0]:
        return np.asarray(np.linalg.inv(A))
    return np.asarray(np.linalg.pinv(scaled, rcond=_RANK) / scale.T)
