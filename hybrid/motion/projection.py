"""Keeping positions and velocities on the active constraints, in plain floats where these are one or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.modes import ElementKind
from hybrid.dynamics.equations import Reader
from hybrid.expressions import Builder, compile_kernel, dot, solve_definite
from hybrid.motion.flow import MAX_ROWS
from hybrid.tolerances import CANCELLED, CLEAR, NEARLY, NOTHING, RANK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.expressions import Kernel

__all__ = ["ENOUGH", "Constraints", "HeldRows", "displacements", "held_rows", "rates_that_end"]

Array = NDArray[np.float64]

ENOUGH = 2e-16
"""Of the terms of a residual: that of a converged Newton step is rounding."""
_ITERATIONS = 5
_SMALL = CANCELLED  # of the position: after a move so small the next is below rounding, and so is the Jacobians' change
_NEGLIGIBLE = NOTHING  # of the position: after a move so small the next is below rounding, its square
_END = NEARLY  # of a velocity: what a located event leaves of a slip is 1e-11 of it, and what is more is none
_REGULAR = CLEAR  # of the product of their mobilities: two rows as independent as this need no pseudo-inverse


@attrs.frozen(eq=False)
class Constraints:
    """What a mode holds at zero: gaps and constraints, tangential displacements of sticking contacts, velocities.

    Attributes
    ----------
    dynamics : Dynamics
    parts : tuple of ElementMode
    terms : callable
        ``terms(t, q, v)``, all terms at one state.
    speeds : array, (n,), optional
        How fast the motion has been, by which slips that end are told from those whose direction vanishes.
    anchors : dict of int to float
        Where they stick, by tangential column.
    """

    dynamics: Dynamics
    parts: tuple[ElementMode, ...]
    terms: Callable[[float, Array, Array], Terms]
    speeds: Array | None = None
    anchors: dict[int, float] = attrs.field(factory=dict)
    _normals: list[int] = attrs.field(init=False)
    _sticking: list[int] = attrs.field(init=False)
    _few: _At | None = attrs.field(init=False)

    @_normals.default
    def _contacts_that_hold(self) -> list[int]:
        return [part.index for part in self.parts if part.presses and part.kind is ElementKind.CONTACT]

    @_sticking.default
    def _columns_that_stick(self) -> list[int]:
        columns = [column for part in self.parts if part.sticks for column in part.columns]
        places = self.dynamics.once(displacements)[0] if columns else {}
        return sorted(columns, key=lambda column: column not in places)  # first those that hold a position

    @_few.default
    def _few_rows(self) -> _At | None:
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
        found = None if self._few is None else _onto(self._few, t, q, v, anchors)
        return self._held(t, q, v) if found is None or self._may_be_lost(found[1] - v) else found

    def _may_be_lost(self, change: Array) -> bool:
        """Whether so much of a velocity goes that it may be that of a slip whose direction vanishes."""
        if not self._sticking or self.speeds is None:
            return False
        return any(abs(x) > _END * speed for x, speed in zip(change.tolist(), self.speeds.tolist(), strict=True))

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
        if self._sticking and self.speeds is not None:
            first = len(held) - len(self._sticking)
            own = mobility.diagonal()[first:]
            rates = np.append(rates[:first], rates_that_end(rates[first:], own, terms.M, self.speeds))
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


def rates_that_end(rates: Array, mobility: Array, M: Array, speeds: Array) -> Array:
    """Slips that a force along them can end; zero for those that vanish with their direction.

    At the dead centre of a crank the slip of its slider is zero, and the crank turns on: to take away what rounding
    leaves of that slip would take away the velocity of the crank.

    Parameters
    ----------
    rates, mobility : array, (..., c)
        Slips, and the diagonal of ``W^T M^-1 W``.
    M : array, (..., n, n)
    speeds : array, (..., n)
        How fast the motion has been.

    Returns
    -------
    array, (..., c)
    """
    energy = np.sum(np.diagonal(M, axis1=-2, axis2=-1) * speeds**2, axis=-1)[..., None]
    return np.where(rates * rates > _END**2 * energy * mobility, 0.0, rates)


def _correction(lift: Array, mobility: Array, residual: Array) -> Array:
    if len(residual) == 1 and mobility[0, 0] > 0.0:
        return np.asarray(lift[:, 0] * (residual[0] / mobility[0, 0]))
    if not np.isfinite(mobility).all():
        return np.zeros(len(lift))
    if len(residual) == 2 and np.linalg.det(mobility) > _REGULAR * mobility[0, 0] * mobility[1, 1]:
        return np.asarray(lift @ np.linalg.solve(mobility, residual))
    return np.asarray(lift @ (np.linalg.pinv(mobility, rcond=RANK, hermitian=True) @ residual))


@attrs.define(eq=False)
class HeldRows:
    """What is held at zero, with what moves it, at one state.

    Attributes
    ----------
    residual : sequence of float, (m,)
        Positions: gaps, constraints and displacements from where contacts stick. They belong to the first rows.
    rates : sequence of float, (k,)
        Velocities.
    rows, lifts : sequence of sequence of float, (k, n)
        The directions ``w``, and ``M^-1 w``.
    mobility : sequence of float, (k (k + 1)/2,)
        Lower triangle of ``w . M^-1 w``, by rows.
    """

    residual: Sequence[float]
    rates: Sequence[float]
    rows: Sequence[Sequence[float]]
    lifts: Sequence[Sequence[float]]
    mobility: Sequence[float]

    def shares(self, of: Sequence[float]) -> Sequence[float] | None:
        """How much of each lift takes values of the first rows to zero; None where that needs a pseudo-inverse."""
        if len(of) < MAX_ROWS:
            return [value / self.mobility[0] for value in of] if self.mobility[0] > 0.0 else None
        first, mixed, second = self.mobility
        determinant = first * second - mixed * mixed
        if not determinant > _REGULAR * first * second:
            return None
        return (second * of[0] - mixed * of[1]) / determinant, (first * of[1] - mixed * of[0]) / determinant


_At = Callable[[float, list[float], Sequence[float]], HeldRows | None]


def held_rows(dynamics: Dynamics, normals: tuple[int, ...], sticking: tuple[int, ...]) -> _At | None:
    """Compile what rigid constraints, closed contacts and sticking columns hold.

    Parameters
    ----------
    dynamics : Dynamics
    normals, sticking : tuple of int
        Contacts and tangential columns, first those with a displacement.

    Returns
    -------
    callable or None
        A function of ``t``, ``y = (q, v)`` and the displacements at which columns stick, if they are held; gives None
        where an expression is undefined. None if more is held than plain floats solve, or nothing.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> held = held_rows(ball, (0,), ())(0.0, [0.5, -2.0], [])
    >>> held.residual, held.rates, held.lifts
    ([0.5], (-2.0,), [(1.0,)])
    """
    k, n = len(dynamics.rigid) + len(normals) + len(sticking), dynamics.n
    if not 0 < k <= MAX_ROWS:
        return None
    function = dynamics.once(_program, normals, sticking)(dynamics.arguments)
    fixed, mobility = k - len(sticking), k + 2 * k * n
    moved = mobility + k * (k + 1) // 2

    def at(t: float, y: list[float], anchors: Sequence[float]) -> HeldRows | None:
        try:
            values = function(t, y)
        except (ArithmeticError, ValueError):
            return None
        end = moved + fixed
        residual = [*values[moved:end], *(x - x_0 for x, x_0 in zip(values[end:], anchors, strict=False))]
        rows = [values[start : start + n] for start in range(k, mobility, n)]
        return HeldRows(residual, values[:k], rows[:k], rows[k:], values[mobility:moved])

    return at


def _program(dynamics: Dynamics, normals: tuple[int, ...], sticking: tuple[int, ...]) -> Callable[..., Any]:
    equations, build = dynamics.equations, Builder(dynamics.equations.graph)
    rows = [*equations.J, *equations.W_N.T[list(normals)], *equations.W_T.T[list(sticking)]]
    lifts = solve_definite(build, equations.M, rows)
    mobility = [dot(build, row, lift) for at, row in enumerate(rows) for lift in lifts[: at + 1]]
    rates = [*equations.constraint_dot, *equations.gap_dot[list(normals)], *equations.slip[list(sticking)]]
    reader, texts = Reader(build, dynamics.mechanism), _displaced(dynamics)
    moved = [reader.expression(texts[column]) for column in sticking if column in texts]
    places = [*equations.constraint, *equations.gap[list(normals)], *moved]
    return equations.program(build, [*rates, *np.ravel(rows), *np.ravel(lifts), *mobility, *places]).scalar


def _onto(at: _At, t: float, q: Array, v: Array, anchors: Sequence[float]) -> tuple[Array, Array] | None:
    """Nearest position and velocity, in the metric of the mass matrix, that satisfy what is held.

    Parameters
    ----------
    at : callable
        Of :func:`held_rows`.
    t : float
    q, v : array, (n,)
    anchors : sequence of float
        Displacements at which columns stick.

    Returns
    -------
    (array, array) or None
        None where it takes more than plain floats.
    """
    place, speed = q.tolist(), v.tolist()
    held = at(t, [*place, *speed], anchors)
    if held is None:
        return None
    for _ in range(_ITERATIONS):
        if all(not abs(x) > ENOUGH * _size(w, place) for x, w in zip(held.residual, held.rows, strict=False)):
            break
        shares = held.shares(held.residual)
        if shares is None:
            return None
        move = 0.0
        for share, lift in zip(shares, held.lifts, strict=False):
            place = [x - share * change for x, change in zip(place, lift, strict=True)]
            move += abs(share) * max(map(abs, lift))
        size = max(map(abs, place))
        if move <= _SMALL * size:
            break
        held = at(t, [*place, *speed], anchors)
        if held is None:
            return None
        if move <= _NEGLIGIBLE * size:
            break
    if any(held.rates):
        shares = held.shares(held.rates)
        if shares is None:
            return None
        if len(held.rows) == len(speed) and _are_given(held, speed):
            return np.array(place), np.zeros(len(speed))
        for share, lift in zip(shares, held.lifts, strict=True):
            speed = [x - share * change for x, change in zip(speed, lift, strict=True)]
    return np.array(place), np.array(speed)


def _are_given(held: HeldRows, speed: Sequence[float]) -> bool:
    """True if the rates are those of the rows alone: nothing prescribes a velocity."""
    rates = (sum(w * x for w, x in zip(row, speed, strict=True)) for row in held.rows)
    return all(rate == given for rate, given in zip(rates, held.rates, strict=True))


def _size(row: Sequence[float], place: Sequence[float]) -> float:
    return sum(abs(w * x) for w, x in zip(row, place, strict=True))


def _displaced(dynamics: Dynamics) -> dict[int, str]:
    """The displacements that are declared, by tangential column; one with a slip in place of one is missing."""
    mechanism = dynamics.mechanism
    declared: dict[str, tuple[str, ...]] = {contact.name: tuple(contact.tangent) for contact in mechanism.contact}
    declared |= {item.name: (item.tangent,) for item in mechanism.friction if item.tangent}
    declared |= {item.name: (item.tangent,) for item in mechanism.constraint if item.tangent}
    return {
        column: text
        for name in dynamics.columns
        for column, text in zip(dynamics.columns_of(name), declared.get(name, ()), strict=False)
    }


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
    texts, equations = _displaced(dynamics), dynamics.equations
    reader = Reader(Builder(equations.graph), dynamics.mechanism)
    nodes = reader.column(texts.values())
    kernel = compile_kernel(reader.build.graph(), {"displacement": nodes}, equations.arguments)
    return {column: place for place, column in enumerate(texts)}, kernel
