"""The linear conditions of one mode in scaled forces, at one state or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.linear import solve_each
from hybrid.tolerances import CANCELLED, ROUNDING, SIGN

if TYPE_CHECKING:
    from hybrid.contact.active_elements import ActiveElement, ModeConditions, Row
    from hybrid.contact.problem import ContactProblem


_LEAST_SIZE = 1e-280  # of accelerations that can be divided by
_TOLD_FROM_ZERO = SIGN  # share of a problem's size above which a number has a sign
_LEAST_ROW = CANCELLED  # length of a force direction relative to the largest; one that vanishes leaves 1e-16

LOST = 64 * float(np.finfo(np.float64).eps)
"""Share of the largest scaled force that rounding adds to a slack; forces are huge next to singular equations."""

_NO_LENGTH = ROUNDING  # length of a direction, relative to its terms, that is rounding
_INVERTED = 4 * float(np.finfo(np.float64).eps)  # of the largest term, in a product with the inverse of a mass matrix


class HasRows(Protocol):
    """Anything with linear conditions: a mode, or a part of a cover of several."""

    @property
    def equations(self) -> tuple[Row, ...]:
        """Conditions that are zero."""
        ...

    @property
    def inequalities(self) -> tuple[Row, ...]:
        """Conditions that are not negative."""
        ...


@attrs.frozen(eq=False)
class Scale:
    """Units in which every row of the problem is of order one.

    Attributes
    ----------
    row : array, (..., r)
        ``sqrt(G_ii)``; for a direction that constraints block its length without them.
    size : array, (...)
        Largest scaled free acceleration (or limit force), but never so small that the rounding of an acceleration,
        whose terms may cancel, would count as a sign; 1 if all vanish.
    lost : array, (...)
        Rounding of a slack per unit of the largest scaled force: ``LOST``, times the share that constraints took from
        the direction of least mobility; more where the mass matrix is ill-conditioned.
    """

    row: NDArray[np.float64]
    size: NDArray[np.float64]
    lost: NDArray[np.float64]


@attrs.frozen(eq=False)
class Conditions:
    """Equations ``E x + e = 0`` and inequalities ``A x + b >= 0`` of one mode in scaled forces ``x``.

    Attributes
    ----------
    E, e : array, (..., r, r) and (..., r)
    A, b : array, (..., m, r) and (..., m)
    """

    E: NDArray[np.float64]
    e: NDArray[np.float64]
    A: NDArray[np.float64]
    b: NDArray[np.float64]


def row_scale(problem: ContactProblem) -> NDArray[np.float64]:
    """Units of the rows of a problem, see :class:`Scale`.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.

    Returns
    -------
    array, (..., r)
        Square roots of mobilities, 1/kg^(1/2) where rows are lengths.
    """
    diagonal = _roots(problem)
    largest = np.max(problem.length, axis=-1, keepdims=True, initial=0.0)
    unit = np.where(diagonal > 0.0, diagonal, problem.length)
    return np.where(unit > _LEAST_ROW * largest, unit, np.where(largest > 0, largest, 1.0))


def lost_share(problem: ContactProblem) -> NDArray[np.float64]:
    """Rounding of a slack per unit of the largest scaled force, see :class:`Scale`.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.

    Returns
    -------
    array, (...)
        Dimensionless.
    """
    return np.asanyarray(np.fmax(_taken(problem), _INVERTED * amplification(problem)))


def dependence(problem: ContactProblem) -> NDArray[np.float64]:
    """Singular value (...) down to which equations depend on each other, and are not only close to it.

    It is 0 where rounding would hide the difference: in the inverse of the mass matrix, or in the Delassus operator,
    whose singular values are the squares of those of the directions.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.

    Returns
    -------
    array, (...)
        Dimensionless.
    """
    directions = np.swapaxes(np.linalg.cholesky(problem.terms.M), -1, -2) @ problem.response_W
    lengths = np.linalg.svd(directions / row_scale(problem)[..., None, :], compute_uv=False)
    is_close = ((lengths > _NO_LENGTH) & (lengths**2 <= _TOLD_FROM_ZERO)).any(axis=-1)
    is_blurred = _INVERTED * amplification(problem) > _TOLD_FROM_ZERO
    return np.where(is_close | is_blurred, 0.0, 4 * _taken(problem))


def _taken(problem: ContactProblem) -> NDArray[np.float64]:
    diagonal = _roots(problem)
    taken = np.divide(problem.length, diagonal, out=np.ones_like(diagonal), where=diagonal > 0.0)
    return np.asanyarray(LOST * np.max(taken, axis=-1, initial=1.0))


def amplification(problem: ContactProblem) -> NDArray[np.float64]:
    """How much of the rounding of the mass matrix comes back in the Delassus operator, (...): 1 for a diagonal one.

    With the response ``R = M^-1 W`` a change ``dM`` changes ``W^T M^-1 W`` by ``-R^T dM R`` (Higham 2002, section 7.1).

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.

    Returns
    -------
    array, (...)
        At least 1.
    """
    size = np.abs(problem.response_W)
    changes = np.sum(size * (np.abs(problem.terms.M) @ size), axis=-2)
    own = np.abs(np.diagonal(problem.G, axis1=-2, axis2=-1))
    shares = np.divide(changes, own, out=np.ones_like(changes), where=own > 0.0)
    return np.asanyarray(np.max(shares, axis=-1, initial=1.0))


def _roots(problem: ContactProblem) -> NDArray[np.float64]:
    return np.asanyarray(np.sqrt(np.maximum(np.diagonal(problem.G, axis1=-2, axis2=-1), 0.0)))


def least_size(c: NDArray[np.float64], rounding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Magnitude of free accelerations, not below that at which their rounding could be told from zero.

    Parameters
    ----------
    c, rounding : array, (..., r)
        Free accelerations and what rounding may have added to them, in units of the row.

    Returns
    -------
    array, (..., r)
    """
    return np.maximum(np.abs(c), rounding / _TOLD_FROM_ZERO)


def problem_scale(problem: ContactProblem) -> Scale:
    """Units of the problem, from the diagonal of the Delassus operator and the free accelerations.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.

    Returns
    -------
    Scale
    """
    row = row_scale(problem)
    size = np.max(least_size(problem.c, problem.rounding) / row, axis=-1, initial=0.0)
    for element in problem.elements:
        if element.normal is None:
            size = np.maximum(size, np.abs(element.static_friction) * row[..., element.tangential[0]])
    return Scale(row, np.where(size > _LEAST_SIZE, size, 1.0), lost_share(problem))


def conditions(problem: ContactProblem, modes: Sequence[HasRows], scale: Scale) -> Conditions:
    """The scaled linear conditions of one mode, at one state or many.

    Parameters
    ----------
    problem : ContactProblem
    modes : sequence of ModeConditions
        One for every force element, or other parts with equations and inequalities.
    scale : Scale

    Returns
    -------
    Conditions
        In the order of the modes; every row is divided by its largest scaled coefficient.
    """
    equations = [row for mode in modes for row in mode.equations]
    inequalities = [row for mode in modes for row in mode.inequalities]
    if _is_one_state(problem, scale):
        units = _PlainUnits(scale.row.tolist(), float(scale.size))
        mobility, free = units.scaled(problem)
        return Conditions(
            *_assemble_at_one_state(equations, mobility, free, units),
            *_assemble_at_one_state(inequalities, mobility, free, units),
        )
    G = problem.G / (scale.row[..., :, None] * scale.row[..., None, :])
    c = problem.c / (scale.row * scale.size[..., None])
    return Conditions(
        *_assemble(equations, problem.n_rows, G, c, scale), *_assemble(inequalities, problem.n_rows, G, c, scale)
    )


def acceleration_shares(
    modes: Sequence[ModeConditions], scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rates at which ``e`` and ``b`` of a mode's conditions change with the scaled free accelerations, at one state.

    Parameters
    ----------
    modes : sequence of ModeConditions
        One for every force element.
    scale : Scale

    Returns
    -------
    array, (r, r), and array, (m, r)
    """
    units = _PlainUnits(scale.row.tolist(), float(scale.size))
    found = []
    for rows in (
        [row for mode in modes for row in mode.equations],
        [row for mode in modes for row in mode.inequalities],
    ):
        shares = np.zeros((len(rows), len(units.row)))
        for place, row in enumerate(rows):
            for index, value in units.weighted(row)[0]:
                shares[place, index] = value
        found.append(shares)
    return found[0], found[1]


def _is_one_state(problem: ContactProblem, scale: Scale) -> bool:
    if problem.G.ndim != 2 or problem.c.ndim != 1 or np.ndim(scale.size):
        return False
    return all(np.ndim(value) == 0 for element in problem.elements for value in _numbers(element))


def _numbers(element: ActiveElement) -> Iterator[Any]:
    yield from (element.friction, element.static_friction, *(element.direction or ()))


def _assemble(
    rows: Sequence[Row], r: int, G: NDArray[np.float64], c: NDArray[np.float64], scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not rows:
        return np.zeros((0, r)), np.zeros(0)
    matrices, vectors = [], []
    for row in rows:
        alpha = [(index, value * scale.row[..., index]) for index, value in row.alpha.items()]
        beta = [(index, value / scale.row[..., index]) for index, value in row.beta.items()]
        weight = np.maximum.reduce(np.broadcast_arrays(*[np.abs(value) for _, value in (*alpha, *beta)]))
        weight = np.where(weight > 0, weight, 1.0)
        constant = np.asarray(row.constant / (scale.size * weight))
        shape = np.broadcast_shapes(weight.shape, G.shape[:-2])
        matrix = np.zeros((*shape, r))
        vector = np.zeros(np.broadcast_shapes(weight.shape, c.shape[:-1], constant.shape)) + constant
        for index, value in alpha:
            matrix = matrix + (value / weight)[..., None] * G[..., index, :]
            vector = vector + value / weight * c[..., index]
        for index, value in beta:
            matrix[..., index] += value / weight
        matrices.append(matrix)
        vectors.append(vector)
    return np.stack(np.broadcast_arrays(*matrices), axis=-2), np.stack(np.broadcast_arrays(*vectors), axis=-1)


@attrs.frozen(eq=False)
class _PlainUnits:
    """The units of one state in plain floats, an order of magnitude quicker than arrays."""

    row: list[float]
    size: float

    def scaled(self, problem: ContactProblem) -> tuple[list[list[float]], list[float]]:
        """Delassus operator and free accelerations."""
        G, c, unit = problem.G.tolist(), problem.c.tolist(), self.row
        mobility = [[g / (u * v) for g, v in zip(line, unit, strict=True)] for line, u in zip(G, unit, strict=True)]
        return mobility, [value / (u * self.size) for value, u in zip(c, unit, strict=True)]

    def weighted(self, row: Row) -> tuple[list[tuple[int, float]], list[tuple[int, float]], float]:
        """Coefficients of accelerations and of forces, of which the largest is one, and the constant."""
        alpha = [(index, float(value) * self.row[index]) for index, value in row.alpha.items()]
        beta = [(index, float(value) / self.row[index]) for index, value in row.beta.items()]
        weight = max(abs(value) for _, value in (*alpha, *beta)) or 1.0
        return (
            [(index, value / weight) for index, value in alpha],
            [(index, value / weight) for index, value in beta],
            float(row.constant) / (self.size * weight),
        )


def _assemble_at_one_state(
    rows: Sequence[Row], mobility: list[list[float]], free: list[float], units: _PlainUnits
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    matrix, vector = [], []
    for row in rows:
        alpha, beta, constant = units.weighted(row)
        entries = [0.0] * len(free)
        for index, share in alpha:
            entries = [entry + share * g for entry, g in zip(entries, mobility[index], strict=True)]
            constant += share * free[index]
        for index, share in beta:
            entries[index] += share
        matrix.append(entries)
        vector.append(constant)
    return np.array(matrix).reshape(len(rows), len(free)), np.array(vector)


def solve_conditions(mode: Conditions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Forces that meet the equations of one mode, and its slacks there, at many states.

    Parameters
    ----------
    mode : Conditions
        E (..., r, r), e (..., r), A (..., m, r), b (..., m).

    Returns
    -------
    forces : array, (..., r)
        Scaled; NaN where the equations are singular.
    slacks : array, (..., m)
    """
    x = -solve_each(mode.E, mode.e[..., None])[..., 0]
    return x, (mode.A @ x[..., None])[..., 0] + mode.b
