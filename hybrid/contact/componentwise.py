"""Linear conditions of modes over large batches, one array for each entry of the problem.

A batch of systems of two or four unknowns is quicker to solve entry by entry over all states than matrix by matrix;
what depends on the posture alone is worked out once for each posture, because its axes have length 1 where it is
constant.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import weight_of
from hybrid.dynamics.arithmetic import solve_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hybrid.contact.conditions import ScaledProblem
    from hybrid.contact.modes import ModeConditions, Row

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class ModeSolution:
    """The solution of one mode's equations.

    Attributes
    ----------
    unknowns : mapping of int to array
        Scaled forces that remained unknown after substitution.
    factors : mapping of int to (int, array)
        Forces that are a multiple of one of them.
    constants : mapping of int to array
        Their constant parts.
    least : array
        Least scaled slack of the mode's inequalities; infinite without any, NaN where the equations are singular.
    regularity : array
        Magnitude of the determinant of the equations, each scaled to length 1; infinite without any.
    determinant : array
        Of the equations for the unknowns; it has the sign of that of all equations.
    """

    unknowns: Mapping[int, Array]
    factors: Mapping[int, tuple[int, Array]]
    constants: Mapping[int, Array]
    least: Array
    regularity: Array
    determinant: Array

    @property
    def size(self) -> Array:
        """Magnitude of the largest unknown, or 0 without any."""
        return reduce(np.maximum, map(np.abs, self.unknowns.values()), np.zeros(()))

    def forces(self, r: int) -> list[Any]:
        """Scaled force of every one of ``r`` rows."""
        forces: list[Any] = [np.zeros(())] * r
        for index, value in self.unknowns.items():
            forces[index] = value
        with np.errstate(invalid="ignore"):  # infinite at states where the equations are singular, and judged so
            for index, (other, factor) in self.factors.items():
                forces[index] = factor * self.unknowns[other]
        for index, constant in self.constants.items():
            forces[index] = forces[index] + constant
        return forces


def solve_mode(problem: ScaledProblem, modes: Sequence[ModeConditions]) -> ModeSolution:
    """Solve the equations of one mode and evaluate its inequalities, at all states.

    Equations between forces alone (no force, sliding friction) are substituted, which leaves one unknown for every
    contact acceleration that has to vanish.

    Parameters
    ----------
    problem : ScaledProblem
    modes : sequence of ModeConditions

    Returns
    -------
    ModeSolution
    """
    equations = [row for mode in modes for row in mode.equations]
    closed = [index for row in equations for index in row.alpha]
    regularity = np.ones(()) if equations else np.full((), np.inf)
    factors: dict[int, tuple[int, Array]] = {}
    constants: dict[int, Array] = {}
    for row in equations:
        if row.alpha:
            continue
        (pivot, lead), *others = _force_terms(problem, row)
        regularity = regularity * np.abs(lead) / _length([lead, *(value for _, value in others)])
        if others:
            factors[pivot] = others[0][0], -others[0][1] / lead
        if np.any(row.constant):
            constants[pivot] = -row.constant / (problem.size * weight_of(row, problem.row)) / lead
    given = {next(iter(row.beta)) for row in equations if not row.alpha}
    unknown = [index for index in range(len(problem.c)) if index not in given]
    answers = _Answers(problem, unknown, factors, constants)
    matrix = [answers.coefficients(index) for index in closed]
    for index in closed:
        regularity = regularity / _length(problem.G[index])
    determinant, inverse = _inverse(matrix)
    rests = [answers.rest(index) for index in closed]
    solved = {
        index: -_sum(entry * rest for entry, rest in zip(line, rests, strict=True))
        for index, line in zip(unknown, inverse, strict=True)
    }
    slacks = [_slack(problem, answers, solved, row) for mode in modes for row in mode.inequalities]
    least = reduce(np.minimum, slacks) if slacks else np.full((), np.inf)
    return ModeSolution(solved, factors, constants, least, regularity * np.abs(determinant), determinant)


def accelerations(problem: ScaledProblem, solution: ModeSolution) -> list[Array]:
    """Scaled contact accelerations under the forces of a mode, one for every row.

    Parameters
    ----------
    problem : ScaledProblem
    solution : ModeSolution

    Returns
    -------
    list of array
    """
    x = solution.forces(len(problem.c))
    return [
        _sum([c, *(entry * force for entry, force in zip(line, x, strict=True))])
        for line, c in zip(problem.G, problem.c, strict=True)
    ]


@attrs.frozen(eq=False)
class _Answers:
    """Contact accelerations as linear functions of the unknown forces."""

    problem: ScaledProblem
    unknown: Sequence[int]
    factors: Mapping[int, tuple[int, Array]]
    constants: Mapping[int, Array]

    def coefficients(self, index: int) -> list[Array]:
        """Of acceleration ``index``, for each unknown."""
        line = self.problem.G[index]
        return [
            _sum([line[p], *(line[j] * factor for j, (other, factor) in self.factors.items() if other == p)])
            for p in self.unknown
        ]

    def rest(self, index: int) -> Array:
        """Acceleration ``index`` without the unknown forces."""
        line = self.problem.G[index]
        return _sum([self.problem.c[index], *(line[j] * constant for j, constant in self.constants.items())])


def _force_terms(problem: ScaledProblem, row: Row) -> list[tuple[int, Array]]:
    """Scaled coefficients of the forces in a row, the largest 1."""
    weight = weight_of(row, problem.row)
    return [(index, np.asanyarray(value / problem.row[index] / weight)) for index, value in row.beta.items()]


def _slack(problem: ScaledProblem, answers: _Answers, solved: Mapping[int, Array], row: Row) -> Array:
    weight = weight_of(row, problem.row)
    coefficients: dict[int, list[Array]] = {p: [] for p in answers.unknown}
    rest: list[Array] = []
    for index, value in row.alpha.items():
        scaled = value * problem.row[index] / weight
        for p, coefficient in zip(answers.unknown, answers.coefficients(index), strict=True):
            coefficients[p].append(scaled * coefficient)
        rest.append(scaled * answers.rest(index))
    for index, scaled in _force_terms(problem, row):
        if index in solved:
            coefficients[index].append(scaled)
        if index in answers.factors:
            other, factor = answers.factors[index]
            coefficients[other].append(scaled * factor)
        if index in answers.constants:
            rest.append(scaled * answers.constants[index])
    if np.any(row.constant):
        rest.append(row.constant / (problem.size * weight))
    terms = [_sum(parts) * solved[p] for p, parts in coefficients.items() if parts]
    return _sum([*terms, *rest])


def _inverse(matrix: list[list[Array]]) -> tuple[Array, list[list[Array]]]:
    """Determinant and inverse of a matrix of arrays."""
    n = len(matrix)
    if n == 0:
        return np.ones(()), []
    if n == 1:
        return matrix[0][0], [[1 / matrix[0][0]]]
    if n == 2:
        (a, b), (c, d) = matrix
        determinant = a * d - b * c
        return determinant, [[d / determinant, -b / determinant], [-c / determinant, a / determinant]]
    stacked = np.stack([np.stack(np.broadcast_arrays(*line), axis=-1) for line in matrix], axis=-2)
    inverse = solve_each(stacked, np.broadcast_to(np.eye(n), stacked.shape))
    return np.asanyarray(np.linalg.det(stacked)), [[inverse[..., i, j] for j in range(n)] for i in range(n)]


def _length(values: Iterable[Array]) -> Array:
    return np.asanyarray(np.sqrt(_sum(value * value for value in values)))


def _sum(values: Iterable[Any]) -> Array:
    return np.asanyarray(reduce(np.add, values))
