"""The linear conditions of one mode in scaled forces, at one state or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.linear import solve_each

if TYPE_CHECKING:
    from hybrid.contact.carriers import Carrier, CarrierMode, Row
    from hybrid.contact.problem import ContactProblem


_TOLD_FROM_ZERO = 1e-10  # share of a problem's size above which a number has a sign: the default ``Tolerances.sign``


@attrs.frozen(eq=False)
class Scale:
    """Units in which every row of the problem is of order one.

    Attributes
    ----------
    row : array, (..., r)
        ``sqrt(G_ii)``; 1 for a direction without mobility.
    size : array, (...)
        Largest scaled free acceleration (or limit force), but never so small that the rounding of an acceleration,
        whose terms may cancel, would count as a sign; 1 if all vanish.
    """

    row: NDArray[np.float64]
    size: NDArray[np.float64]


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


def row_scale(G: NDArray[np.float64]) -> NDArray[np.float64]:
    """Units (..., r) of the rows of a Delassus operator (..., r, r); see :class:`Scale`."""
    diagonal = np.sqrt(np.maximum(np.diagonal(G, axis1=-2, axis2=-1), 0.0))
    largest = np.max(diagonal, axis=-1, keepdims=True, initial=0.0)
    return np.where(diagonal > 1e-8 * largest, diagonal, np.where(largest > 0, largest, 1.0))


def least_size(c: NDArray[np.float64], rounding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Magnitude of free accelerations, not below that at which their rounding could be told from zero."""
    return np.maximum(np.abs(c), rounding / _TOLD_FROM_ZERO)


def problem_scale(problem: ContactProblem) -> Scale:
    """Units of the problem, from the diagonal of the Delassus operator and the free accelerations."""
    row = row_scale(problem.G)
    sizes = [np.max(least_size(problem.c, problem.rounding) / row, axis=-1, initial=0.0)]
    for carrier in problem.carriers:
        if carrier.normal is None:
            sizes.append(np.abs(carrier.static_friction) * row[..., carrier.tangential[0]])
    size = np.max(np.stack(np.broadcast_arrays(*sizes), axis=-1), axis=-1)
    return Scale(row, np.where(size > 0, size, 1.0))


def conditions(problem: ContactProblem, modes: Sequence[CarrierMode], scale: Scale) -> Conditions:
    """Assemble the scaled linear conditions of one mode, at one state or many."""
    G = problem.G / (scale.row[..., :, None] * scale.row[..., None, :])
    c = problem.c / (scale.row * scale.size[..., None])
    equations = [row for mode in modes for row in mode.equations]
    inequalities = [row for mode in modes for row in mode.inequalities]
    numbers = [scale.size, *(value for carrier in problem.carriers for value in _numbers(carrier))]
    single = G.ndim == 2 and c.ndim == 1 and all(np.ndim(value) == 0 for value in numbers)
    assemble = _assemble_at_one_state if single else _assemble
    E, e = assemble(equations, problem.n_rows, G, c, scale)
    A, b = assemble(inequalities, problem.n_rows, G, c, scale)
    return Conditions(E, e, A, b)


def _numbers(carrier: Carrier) -> Iterator[Any]:
    yield from (carrier.friction, carrier.static_friction, *(carrier.direction or ()))


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


def _assemble_at_one_state(
    rows: Sequence[Row], r: int, G: NDArray[np.float64], c: NDArray[np.float64], scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same in plain floats, an order of magnitude quicker."""
    unit, size, mobility, free = scale.row.tolist(), float(scale.size), G.tolist(), c.tolist()
    matrix, vector = [], []
    for row in rows:
        alpha = [(index, float(value) * unit[index]) for index, value in row.alpha.items()]
        beta = [(index, float(value) / unit[index]) for index, value in row.beta.items()]
        weight = max(abs(value) for _, value in (*alpha, *beta)) or 1.0
        entries, constant = [0.0] * r, float(row.constant) / (size * weight)
        for index, value in alpha:
            share = value / weight
            entries = [entry + share * g for entry, g in zip(entries, mobility[index], strict=True)]
            constant += share * free[index]
        for index, value in beta:
            entries[index] += value / weight
        matrix.append(entries)
        vector.append(constant)
    return np.array(matrix).reshape(len(rows), r), np.array(vector)


def solve_conditions(mode: Conditions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Solve the equations of one mode at many states.

    Returns
    -------
    forces : array, (..., r)
        Scaled; NaN where the equations are singular.
    slacks : array, (..., m)
    """
    x = -solve_each(mode.E, mode.e[..., None])[..., 0]
    return x, (mode.A @ x[..., None])[..., 0] + mode.b
