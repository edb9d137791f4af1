"""The linear conditions of one mode in scaled forces, at one state or many."""

from __future__ import annotations

import operator
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np

from hybrid.dynamics.arithmetic import ARRAYS, FLOATS, arithmetic_of
from hybrid.expressions import straight_line
from hybrid.tolerances import CANCELLED, ROUNDING, SIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hybrid.contact.modes import ModeConditions, Row
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.arithmetic import Arithmetic
    from hybrid.expressions import StraightLine


_LEAST_SIZE = 1e-280  # of accelerations that can be divided by
_SURELY_NONZERO = SIGN  # share of a problem's size above which a number has a sign
_LEAST_ROW = CANCELLED  # length of a force direction relative to the largest; one that vanishes leaves 1e-16

LOST = 64 * float(np.finfo(np.float64).eps)
"""Share of the largest scaled force that rounding adds to a slack; forces are huge next to singular equations."""

_AMPLE = 16.0  # so that no condition lies on the edge of the tolerance
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
    lengths = np.linalg.svd(directions / problem_scale(problem).row[..., None, :], compute_uv=False)
    is_close = ((lengths > _NO_LENGTH) & (lengths**2 <= _SURELY_NONZERO)).any(axis=-1)
    amplified = _amplification(problem.terms.M, problem.response_W, problem.G, kind)
    is_blurred = np.asanyarray(_INVERTED * amplified > _SURELY_NONZERO)
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
    return kind.larger(abs(c), rounding / _SURELY_NONZERO)


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
    is_plain = type(problem.G) is np.ndarray and given[1].ndim == 2 and not is_many
    if is_plain and 0 < problem.n_rows <= _FEW and len(given[0]) <= _FEW:
        found = _straight(*given[1].shape)(*given, np.array(limits))
        if found is not None:
            return Scale(*found)
    return Scale(*_scale(*given, ARRAYS.stacked(limits) if is_many else np.array(limits)))


def all_tied(problem: ContactProblem) -> ContactProblem:
    """A problem of which rounding may have made all free accelerations, so that no condition of a mode has a sign.

    Parameters
    ----------
    problem : ContactProblem
        At one state or many.

    Returns
    -------
    ContactProblem
    """
    return attrs.evolve(problem, rounding=np.maximum(problem.rounding, _AMPLE * np.abs(problem.c)))


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
    found, r = ScaledProblem.of(problem, scale).conditions(modes), problem.n_rows
    e, b = (_stacked([[entry] for entry in constants], 1)[..., 0] for constants in (found.e, found.b))
    return Conditions(_stacked(found.E, r), e, _stacked(found.A, r), b)


def _stacked(lines: Sequence[Sequence[Any]], width: int) -> NDArray[np.float64]:
    """A matrix (..., number of lines, width) of entries that broadcast to one shape."""
    entries = [entry for line in lines for entry in line]
    if {float}.issuperset(map(type, entries)):
        return np.array(entries).reshape(len(lines), width)
    stacked = np.empty((len(entries), *np.broadcast_shapes(*map(np.shape, entries))))
    for place, entry in enumerate(entries):
        stacked[place] = entry
    return np.moveaxis(stacked, 0, -1).reshape(*stacked.shape[1:], len(lines), width)


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
                shares[place, index] = float(value) * unit[index] / weight_of(row, unit)
        found.append(shares)
    return found[0], found[1]


@attrs.frozen(eq=False)
class EntryConditions:
    """:class:`Conditions` of one mode entry by entry: in plain floats, an order of magnitude quicker to solve.

    Attributes
    ----------
    E, e : list of list, list
    A, b : list of list, list
    weights : list
        By which the inequalities were divided, see :func:`weight_of`.
    """

    E: list[list[Any]]
    e: list[Any]
    A: list[list[Any]]
    b: list[Any]
    weights: list[Any]

    def slacks(self, x: Sequence[float]) -> list[float]:
        """Values of the inequalities under scaled forces."""
        return [sum(map(operator.mul, line, x)) + constant for line, constant in zip(self.A, self.b, strict=True)]


@attrs.frozen(eq=False)
class ScaledProblem:
    """A contact problem in its own units, entry by entry: plain floats at one state, arrays at many.

    Attributes
    ----------
    row, size, lost
        See :class:`Scale`.
    G : list of list
    c : list
        Accelerations are ``G x + c`` under scaled forces ``x``.
    """

    row: list[Any]
    size: Any
    lost: Any
    G: list[list[Any]]
    c: list[Any]

    @classmethod
    def of(cls, problem: ContactProblem, scale: Scale) -> ScaledProblem:
        """The same problem."""
        kind = arithmetic_of(problem.c, scale.row, matrices=(problem.G,))
        row = kind.vector(scale.row)
        size: Any = scale.size.item() if kind is FLOATS and not scale.size.ndim else scale.size
        G = [
            [g / (u * v) for g, v in zip(line, row, strict=True)]
            for line, u in zip(kind.matrix(problem.G), row, strict=True)
        ]
        c = [value / (u * size) for value, u in zip(kind.vector(problem.c), row, strict=True)]
        return cls(row, size, scale.lost, G, c)

    def conditions(self, modes: Sequence[HasRows]) -> EntryConditions:
        """The linear conditions of one mode; every row is divided by its largest scaled coefficient."""
        E, e, _ = self._assembled([row for mode in modes for row in mode.equations])
        A, b, weights = self._assembled([row for mode in modes for row in mode.inequalities])
        return EntryConditions(E, e, A, b, weights)

    def _assembled(self, rows: Sequence[Row]) -> tuple[list[list[Any]], list[Any], list[Any]]:
        matrix, vector, weights, unit = [], [], [], self.row
        for row in rows:
            entries = [0.0] * len(unit)
            if len(row.alpha) + len(row.beta) == 1:  # scaled, the coefficient has magnitude 1
                ((index, value),) = (row.alpha or row.beta).items()
                size = abs(value)
                weight, share = (size * unit[index] if row.alpha else size / unit[index]), value / size
                constant = row.constant / (self.size * weight)
                if row.alpha:
                    entries, constant = [0.0 + share * g for g in self.G[index]], constant + share * self.c[index]
                else:
                    entries[index] = share
            else:
                weight = weight_of(row, unit)
                constant = row.constant / (self.size * weight)
                for index, value in row.alpha.items():
                    share = value * unit[index] / weight
                    entries = [entry + share * g for entry, g in zip(entries, self.G[index], strict=True)]
                    constant = constant + share * self.c[index]
                for index, value in row.beta.items():
                    entries[index] = entries[index] + value / unit[index] / weight
            matrix.append(entries)
            vector.append(constant)
            weights.append(weight)
        return matrix, vector, weights


def weight_of(row: Row, unit: Sequence[Any]) -> Any:
    """The largest scaled coefficient of a condition.

    Parameters
    ----------
    row : Row
    unit : sequence of float or array
        See :class:`Scale`.

    Returns
    -------
    float or array
    """
    sizes = [abs(value) * unit[index] for index, value in row.alpha.items()]
    sizes += [abs(value) / unit[index] for index, value in row.beta.items()]
    return max(sizes) if {float}.issuperset(map(type, sizes)) else reduce(np.maximum, sizes)
