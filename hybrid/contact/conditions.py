"""The linear conditions of one mode in scaled forces, at one state or many."""

from __future__ import annotations

import operator
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from hybrid.dynamics.arithmetic import ARRAYS, arithmetic_of
from hybrid.expressions import straight_line
from hybrid.tolerances import CANCELLED, ROUNDING, SIGN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hybrid.contact.modes import ActiveElement, ModeConditions, Row
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.arithmetic import Arithmetic
    from hybrid.expressions import StraightLine


_LEAST_SIZE = 1e-280  # of accelerations that can be divided by
_TOLD_FROM_ZERO = SIGN  # share of a problem's size above which a number has a sign
_LEAST_ROW = CANCELLED  # length of a force direction relative to the largest; one that vanishes leaves 1e-16

LOST = 64 * float(np.finfo(np.float64).eps)
"""Share of the largest scaled force that rounding adds to a slack; forces are huge next to singular equations."""

_FEW = 4  # coordinates and rows up to which units are found by straight-line code

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
    kind = _arithmetic(problem)
    return kind.stacked(_units(problem.length, _roots(problem.G, kind), kind))


def _arithmetic(problem: ContactProblem) -> Arithmetic:
    return arithmetic_of(
        problem.c, problem.length, problem.rounding, matrices=(problem.G, problem.response_W, problem.terms.M)
    )


def _units(length: Any, roots: Sequence[Any], kind: Arithmetic) -> list[Any]:
    lengths, chosen = kind.vector(length), kind.chosen
    largest = kind.largest(lengths)
    least, other = _LEAST_ROW * largest, chosen(largest > 0.0, largest, 1.0)
    units = [chosen(root > 0.0, root, length) for root, length in zip(roots, lengths, strict=True)]
    return [chosen(unit > least, unit, other) for unit in units]


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
    kind = _arithmetic(problem)
    return np.asanyarray(
        _lost(problem.terms.M, problem.response_W, problem.G, problem.length, _roots(problem.G, kind), kind)
    )


def _lost(M: Any, response: Any, G: Any, length: Any, roots: Sequence[Any], kind: Arithmetic) -> Any:
    return kind.larger(_taken(length, roots, kind), _INVERTED * _amplification(M, response, G, kind))


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
    kind = _arithmetic(problem)
    directions = np.swapaxes(np.linalg.cholesky(problem.terms.M), -1, -2) @ problem.response_W
    lengths = np.linalg.svd(directions / row_scale(problem)[..., None, :], compute_uv=False)
    is_close = ((lengths > _NO_LENGTH) & (lengths**2 <= _TOLD_FROM_ZERO)).any(axis=-1)
    amplified = _amplification(problem.terms.M, problem.response_W, problem.G, kind)
    is_blurred = np.asanyarray(_INVERTED * amplified > _TOLD_FROM_ZERO)
    return np.where(is_close | is_blurred, 0.0, 4 * _taken(problem.length, _roots(problem.G, kind), kind))


def _taken(length: Any, roots: Sequence[Any], kind: Arithmetic) -> Any:
    pairs = zip(kind.vector(length), roots, strict=True)
    return LOST * kind.largest([1.0, *(_share(length, root, kind) for length, root in pairs)])


def _share(part: Any, whole: Any, kind: Arithmetic) -> Any:
    """A quotient; 1 where the divisor vanishes."""
    return kind.chosen(whole > 0.0, part, 1.0) / kind.chosen(whole > 0.0, whole, 1.0)


def _amplification(M: Any, response: Any, G: Any, kind: Arithmetic) -> Any:
    """How much of the rounding of the mass matrix comes back in the Delassus operator: 1 for a diagonal one.

    With the response ``R = M^-1 W`` a change ``dM`` changes ``W^T M^-1 W`` by ``-R^T dM R`` (Higham 2002, section 7.1).
    """
    size = np.abs(response)
    changes = kind.vector(np.add.reduce(size * (np.abs(M) @ size), axis=-2))
    own = map(abs, kind.vector(G.diagonal(0, -2, -1)))
    return kind.largest([1.0, *(_share(change, part, kind) for change, part in zip(changes, own, strict=True))])


def _roots(G: Any, kind: Arithmetic) -> list[Any]:
    return [kind.root(kind.chosen(g > 0.0, g, 0.0)) for g in kind.vector(G.diagonal(0, -2, -1))]


def least_size(c: Any, rounding: Any, kind: Arithmetic = ARRAYS) -> Any:
    """Magnitude of free accelerations, not below that at which their rounding could be told from zero.

    Parameters
    ----------
    c, rounding : array, (..., r), or what the arithmetic takes
        Free accelerations and what rounding may have added to them, in units of the row.
    kind : Arithmetic

    Returns
    -------
    array, (..., r)
    """
    return kind.larger(abs(c), rounding / _TOLD_FROM_ZERO)


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
    limits: list[Any] = [0.0] * problem.n_rows
    for element in problem.elements:
        if element.normal is None:
            limits[element.tangential[0]] = abs(element.static_friction)
    given = (problem.terms.M, problem.response_W, problem.G, problem.length, problem.c, problem.rounding)
    is_many = any(map(np.ndim, limits))
    if not is_many and given[1].ndim == 2 and 0 < problem.n_rows <= _FEW and len(given[0]) <= _FEW:
        found = _straight(*given[1].shape)(*given, np.array(limits))
        if found is not None:
            return Scale(*found)
    return Scale(*_scale(*given, ARRAYS.stacked(limits) if is_many else np.array(limits)))


@cache
def _straight(n: int, r: int) -> StraightLine:
    rng = np.random.default_rng(0)
    shapes = ((n, n), (n, r), (r, r), r, r, r, r)
    return straight_line(_scale, [rng.uniform(1.0, 2.0, shape) for shape in shapes])


def _scale(M: Any, response: Any, G: Any, length: Any, c: Any, rounding: Any, limits: Any) -> tuple[Any, Any, Any]:
    """What :class:`Scale` holds; ``limits`` (..., r) are those of friction elements, and 0 in other rows."""
    kind = arithmetic_of(length, c, rounding, limits, matrices=(M, response, G))
    roots = _roots(G, kind)
    row = _units(length, roots, kind)
    entries = zip(*map(kind.vector, (c, rounding, limits)), row, strict=True)
    sizes = [kind.larger(least_size(a, blur, kind) / unit, limit * unit) for a, blur, limit, unit in entries]
    size, lost = kind.largest(sizes), _lost(M, response, G, length, roots, kind)
    return kind.stacked(row), np.asanyarray(kind.chosen(size > _LEAST_SIZE, size, 1.0)), np.asanyarray(lost)


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
    if _is_one_state(problem, scale):
        found, r = FloatProblem.of(problem, scale).conditions(modes), problem.n_rows
        E, A = (np.array(rows).reshape(len(rows), r) for rows in (found.E, found.A))
        return Conditions(E, np.array(found.e), A, np.array(found.b))
    equations = [row for mode in modes for row in mode.equations]
    inequalities = [row for mode in modes for row in mode.inequalities]
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
    unit = scale.row.tolist()
    found = []
    for rows in (
        [row for mode in modes for row in mode.equations],
        [row for mode in modes for row in mode.inequalities],
    ):
        shares = np.zeros((len(rows), len(unit)))
        for place, row in enumerate(rows):
            for index, value in row.alpha.items():
                shares[place, index] = float(value) * unit[index] / _weight(row, unit)
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
class FloatConditions:
    """:class:`Conditions` of one mode at one state in plain floats, an order of magnitude quicker to solve.

    Attributes
    ----------
    E, e : list of list of float, list of float
    A, b : list of list of float, list of float
    weights : list of float
        By which the inequalities were divided, see :class:`FloatProblem`.
    """

    E: list[list[float]]
    e: list[float]
    A: list[list[float]]
    b: list[float]
    weights: list[float]

    def slacks(self, x: Sequence[float]) -> list[float]:
        """Values of the inequalities under scaled forces."""
        return [sum(map(operator.mul, line, x)) + constant for line, constant in zip(self.A, self.b, strict=True)]


@attrs.frozen(eq=False)
class FloatProblem:
    """A contact problem at one state in plain floats and in its own units.

    Attributes
    ----------
    row : list of float
    size : float
        See :class:`Scale`.
    G : list of list of float
    c : list of float
        Accelerations are ``G x + c`` under scaled forces ``x``.
    """

    row: list[float]
    size: float
    G: list[list[float]]
    c: list[float]

    @classmethod
    def of(cls, problem: ContactProblem, scale: Scale) -> FloatProblem:
        """The same problem."""
        row, size = scale.row.tolist(), float(scale.size)
        G = [
            [g / (u * v) for g, v in zip(line, row, strict=True)]
            for line, u in zip(problem.G.tolist(), row, strict=True)
        ]
        return cls(row, size, G, [value / (u * size) for value, u in zip(problem.c.tolist(), row, strict=True)])

    def conditions(self, modes: Sequence[HasRows]) -> FloatConditions:
        """The linear conditions of one mode; every row is divided by its largest scaled coefficient."""
        E, e, _ = self._assembled([row for mode in modes for row in mode.equations])
        A, b, weights = self._assembled([row for mode in modes for row in mode.inequalities])
        return FloatConditions(E, e, A, b, weights)

    def _assembled(self, rows: Sequence[Row]) -> tuple[list[list[float]], list[float], list[float]]:
        matrix, vector, weights, unit = [], [], [], self.row
        for row in rows:
            if len(row.alpha) + len(row.beta) == 1:  # scaled, the coefficient has magnitude 1
                ((index, value),) = (row.alpha or row.beta).items()
                sign = 1.0 if value > 0.0 else -1.0 if value < 0.0 else 0.0
                weight = abs(value) * unit[index] if row.alpha else abs(value) / unit[index]
                weight = weight or 1.0
                constant = float(row.constant) / (self.size * weight)
                if row.alpha:
                    matrix.append([0.0 + sign * g for g in self.G[index]])
                    constant += sign * self.c[index]
                else:
                    entries = [0.0] * len(unit)
                    entries[index] = sign
                    matrix.append(entries)
                vector.append(constant)
                weights.append(weight)
                continue
            weight = _weight(row, unit)
            entries, constant = [0.0] * len(unit), float(row.constant) / (self.size * weight)
            for index, value in row.alpha.items():
                share = float(value) * unit[index] / weight
                entries = [entry + share * g for entry, g in zip(entries, self.G[index], strict=True)]
                constant += share * self.c[index]
            for index, value in row.beta.items():
                entries[index] += float(value) / unit[index] / weight
            matrix.append(entries)
            vector.append(constant)
            weights.append(weight)
        return matrix, vector, weights


def _weight(row: Row, unit: Sequence[float]) -> float:
    """The largest scaled coefficient of a condition."""
    largest = 0.0
    for index, value in row.alpha.items():
        largest = max(largest, abs(float(value)) * unit[index])
    for index, value in row.beta.items():
        largest = max(largest, abs(float(value)) / unit[index])
    return largest or 1.0
