"""One or two conditions that a mode holds, in plain floats, and the projection onto them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.equations import Reader
from hybrid.expressions import Builder, compile_kernel, dot, solve_definite
from hybrid.motion.flow import MAX_ROWS
from hybrid.tolerances import CANCELLED, CLEAR, NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.dynamics.derive import Dynamics
    from hybrid.expressions import Kernel

__all__ = [
    "ENOUGH",
    "ITERATIONS",
    "NEGLIGIBLE",
    "REGULAR",
    "SMALL",
    "At",
    "HeldRows",
    "displacements",
    "held_rows",
    "onto",
]

Array = NDArray[np.float64]

ITERATIONS = 5
"""Most steps of Newton's method."""
SMALL = CANCELLED
"""Of the position: after a move so small the next is below rounding, and so is the change of the Jacobians."""
NEGLIGIBLE = NOTHING
"""Of the position: after a move so small the next is below rounding, its square."""
ENOUGH = 2e-16
"""Of the terms of a residual: that of a converged Newton step is rounding."""
REGULAR = CLEAR
"""Of the product of their mobilities: two rows as independent as this need no pseudo-inverse."""


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
        if not determinant > REGULAR * first * second:
            return None
        return (second * of[0] - mixed * of[1]) / determinant, (first * of[1] - mixed * of[0]) / determinant


At = Callable[[float, list[float], Sequence[float]], HeldRows | None]


def held_rows(dynamics: Dynamics, normals: tuple[int, ...], sticking: tuple[int, ...]) -> At | None:
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


def onto(at: At, t: float, q: Array, v: Array, anchors: Sequence[float]) -> tuple[Array, Array] | None:
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
    for _ in range(ITERATIONS):
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
        if move <= SMALL * size:
            break
        held = at(t, [*place, *speed], anchors)
        if held is None:
            return None
        if move <= NEGLIGIBLE * size:
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
