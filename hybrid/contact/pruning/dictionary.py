"""The conditions of partial modes as a dictionary: functions of the forces through some of them, kept by pivoting.

A search changes one partial mode into the next by a few conditions. Its dictionary then needs a few pivots of the dual
simplex method to meet them, or ends with a row that contradicts them all: what a linear program would begin anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import Scale, conditions, dependence
from hybrid.contact.modes import Row
from hybrid.contact.pruning.partial_modes import Key, PartialMode, key_of
from hybrid.tolerances import NOTHING, SQUARED, Tolerances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.problem import ContactProblem

__all__ = ["FIXED", "Contradiction", "Functions", "ModeDictionary", "functions_of"]

Array = NDArray[np.float64]

FIXED = 2
"""Status of a function that is zero; 1 and -1 of one that is not negative, not positive; 0 of one that is free."""

_FIRM = 16.0  # times ``Tolerances.rank``: what well-conditioned mobilities may be off by without reviving a part
_SEED = 18  # of the other masses
_MOST_STEPS = 4  # per force, at a vertex where many conditions meet
_BLAND_AFTER = 8  # pivots per force by largest entry, before the finite least-index rule
_MOST_PIVOTS = 200  # per force: rounding may defeat that rule, too


@attrs.frozen(eq=False)
class Functions:
    """All conditions of all modes of a problem as functions of the scaled forces.

    Attributes
    ----------
    places : mapping of Key to int
        Where each function stands.
    rows : tuple of Row
        The functions, with the signs of their keys.
    values : array, (F, n + 1)
        Coefficients of the scaled forces, and constants.
    of_accelerations : array of bool, (F,)
        Those whose coefficients come from the mobilities, and are rounded with them.
    sizes : array, (F, n + 1)
        Magnitudes of the coefficients that are rounded so; zero for the others.
    forces : array of int, (n,)
        The functions that are the scaled forces themselves.
    otherwise : array, (F, n), or None
        Coefficients with other masses and friction; None where it is not clear which directions depend on each other.
    uncertainty : float
        What coefficients of accelerations may be off by, relatively: more than the rounding that a slack of one mode
        is judged by. As there, the inverse of the equations multiplies it.
    tolerances : Tolerances
    """

    places: dict[Key, int]
    rows: tuple[Row, ...]
    values: Array
    of_accelerations: NDArray[np.bool_]
    sizes: Array
    forces: NDArray[np.int_]
    otherwise: Array | None
    uncertainty: float
    tolerances: Tolerances

    def conditions(self, part: PartialMode) -> list[tuple[int, int]]:
        """Places of a partial mode's functions, and the status that it gives each.

        Parameters
        ----------
        part : PartialMode

        Returns
        -------
        list of tuple of int
            Pairs of place and status.
        """
        given = [(self.places[key_of(row)[0]], FIXED) for row in part.equations]
        for row in part.inequalities:
            key, sign = key_of(row)
            given.append((self.places[key], int(sign)))
        return given


@attrs.frozen(eq=False)
class _ElementRows:
    """Rows of several elements, as :func:`conditions` reads them."""

    equations: tuple[Row, ...]
    inequalities: tuple[Row, ...] = ()


def functions_of(
    problem: ContactProblem, parts: Sequence[PartialMode], scale: Scale, tolerances: Tolerances
) -> Functions:
    """The functions in the conditions of some partial modes.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    parts : sequence of PartialMode
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    Functions
    """
    forces = [Row("force", beta={index: 1.0}) for index in range(problem.n_rows)]
    found: dict[Key, Row] = {}
    for row in (*forces, *(row for part in parts for row in (*part.equations, *part.inequalities))):
        key, sign = key_of(row)
        found.setdefault(key, row if sign > 0 else _opposite(row))
    rows = tuple(found.values())
    given = conditions(problem, (_ElementRows(rows),), scale)
    values = np.column_stack([given.E, given.e])
    of_accelerations = np.array([bool(row.alpha) for row in rows], dtype=bool)
    return Functions(
        places={key: place for place, key in enumerate(found)},
        rows=rows,
        values=values,
        of_accelerations=of_accelerations,
        sizes=np.where(of_accelerations[:, None], np.abs(values), 0.0),
        forces=np.arange(problem.n_rows),
        otherwise=_otherwise(problem, rows, scale) if dependence(problem) > 0 else None,
        uncertainty=max(_FIRM * tolerances.rank, float(scale.lost)),
        tolerances=tolerances,
    )


def _otherwise(problem: ContactProblem, rows: Sequence[Row], scale: Scale) -> Array:
    """Coefficients of the functions with other masses, and with more friction."""
    rng = np.random.default_rng(_SEED)
    directions = np.linalg.cholesky(problem.terms.M).T @ problem.response_W
    weights = rng.uniform(1.0, 2.0, size=len(directions))
    other = attrs.evolve(problem, G=directions.T @ (weights[:, None] * directions))
    rougher, normals = rng.uniform(1.0, 2.0), {element.normal for element in problem.elements}
    changed = tuple(
        attrs.evolve(
            row, beta={index: value * (rougher if index in normals else 1.0) for index, value in row.beta.items()}
        )
        if len(row.beta) > 1
        else row
        for row in rows
    )
    return conditions(other, (_ElementRows(changed),), scale).E


def _opposite(row: Row) -> Row:
    alpha, beta = ({index: -value for index, value in given.items()} for given in (row.alpha, row.beta))
    return Row(row.label, alpha=alpha, beta=beta, constant=-row.constant)


@attrs.frozen(eq=False)
class Contradiction:
    """A row of a dictionary that no forces meet.

    ``sign f = constant + sum_j weights_j f_j`` with a negative constant, where the conditions want the left side not
    negative (or zero) and every term on the right not positive (or zero).

    Attributes
    ----------
    place : int
        Of ``f``.
    sign : float
    columns : array of int, (n,)
        Of the functions on the right.
    value : float
        The constant, for weights whose magnitudes add up to one with that of ``f``.
    """

    place: int
    sign: float
    columns: NDArray[np.int_]
    value: float


@attrs.define(eq=False)
class ModeDictionary:
    """All functions through as many of them as there are forces.

    Attributes
    ----------
    functions : Functions
    table : array, (F, n + 1)
    status : array of int, (F,)
    columns : array of int, (n,)
        The functions through which the others are written.
    """

    functions: Functions
    table: Array
    status: NDArray[np.int_]
    columns: NDArray[np.int_]

    @classmethod
    def of(cls, functions: Functions) -> ModeDictionary:
        """Every function through the forces, none with a condition."""
        status = np.zeros(len(functions.rows), dtype=int)
        return cls(functions, functions.values.copy(), status, functions.forces.copy())

    def with_conditions(self, given: Sequence[tuple[int, int]]) -> ModeDictionary:
        """A copy in which some functions have further conditions."""
        status = self.status.copy()
        for place, wanted in given:
            status[place] = wanted if status[place] in (0, wanted) else FIXED
        return ModeDictionary(self.functions, self.table.copy(), status, self.columns.copy())

    @property
    def values(self) -> Array:
        """Every function (F,) at the vertex."""
        return self.table[:, -1]

    def release_columns(self) -> None:
        """Write functions without a condition through others that have one, as far as these depend on them."""
        for column, place in enumerate(self.columns.tolist()):
            if self.status[place] == 0:
                sizes = np.where(self.status != 0, np.abs(self.table[:, column]), 0.0)
                sizes[self.columns] = 0.0
                best = int(sizes.argmax())
                if sizes[best] > NOTHING:
                    self._pivot(best, column)

    def contradiction(self) -> Contradiction | None:
        """None at a vertex that meets the conditions; otherwise the row by which nothing meets them.

        A row that changes of the data within the tolerances could lift is no contradiction: its condition is dropped,
        so that what it forbids is looked at more closely in the end.
        """
        low = (self.status == 1) | (self.status == FIXED)
        high = (self.status == -1) | (self.status == FIXED)
        n, steps = len(self.columns), 0
        while True:
            values = self.table[:, -1]
            unmet = np.maximum(np.where(low, -values, 0.0), np.where(high, values, 0.0))
            unmet[self.columns] = 0.0
            careful = steps > _BLAND_AFTER * n
            row = int((unmet > NOTHING).argmax() if careful else unmet.argmax())
            if unmet[row] <= NOTHING:
                return None
            sign = 1.0 if values[row] < 0 else -1.0
            gains = self._gains(sign * self.table[row, :-1])
            column = int(gains.argmax())
            if gains[column] > SQUARED and steps <= _MOST_PIVOTS * n:
                if careful:
                    column = min(np.flatnonzero(gains > SQUARED).tolist(), key=lambda j: int(self.columns[j]))
                self._pivot(row, column)
                steps += 1
                continue
            found = self._firm(row, sign, gains) if gains[column] <= SQUARED else None
            if found is not None:
                return found
            self.status[row], low[row], high[row] = 0, False, False

    def _gains(self, entries: Array) -> Array:
        """How much (n,) the functions of the columns can raise one that has these entries."""
        status = self.status[self.columns]
        return np.where(status == FIXED, 0.0, np.where(status == 0, np.abs(entries), entries * status))

    def _pivot(self, row: int, column: int) -> None:
        """Write the functions through that of a row instead of that of a column."""
        table = self.table
        shares = table[:, column] / table[row, column]
        entries = table[row].copy()
        entries[column] = 0.0
        table -= shares[:, None] * entries
        table[:, column] = shares
        table[row] = 0.0
        table[row, column] = 1.0
        self.columns[column] = row

    def _firm(self, row: int, sign: float, gains: Array) -> Contradiction | None:
        """The contradiction, if it outlives all changes of the data within the tolerances."""
        wanted = np.zeros(len(self.status))
        wanted[row] = sign
        entries = sign * self.table[row, :-1]
        is_open = np.abs(self.status[self.columns]) == 1
        total = float(np.sum(np.abs(entries[is_open]))) + float(self.status[row] != FIXED)
        value = abs(float(self.table[row, -1]))
        least, change = self.functions.tolerances.sign * max(total, 1.0), self._change(wanted, entries)
        if value <= least + change[-1] or not self._outlives(wanted, gains, change):
            return None
        return Contradiction(row, sign, self.columns.copy(), -value / (1.0 + float(np.sum(np.abs(entries)))))

    def _change(self, wanted: Array, entries: Array) -> Array:
        """How much (n + 1,) the entries and the constant of a sum of functions may change with the mobilities.

        With the same columns each changes by what the coefficients are off by, times their weights and the forces per
        unit of the column.
        """
        given = self.functions
        weights = np.abs(wanted)
        weights[self.columns] += np.abs(entries)
        moved = weights @ given.sizes
        bounds = moved[:-1] @ np.abs(self.table[given.forces])
        bounds[-1] += moved[-1]
        return np.asarray(given.uncertainty * bounds)

    def _outlives(self, wanted: Array, gains: Array, change: Array) -> bool:
        """Whether no column can raise a sum of functions, whatever the data are within the tolerances.

        What vanishes with other masses and friction, too, does so because directions depend on each other.
        """
        given, is_open = self.functions, self.status[self.columns] != FIXED
        doubtful = np.flatnonzero(is_open & (gains > -change[:-1]))
        if not len(doubtful):
            return True
        if given.otherwise is None:
            return False
        try:
            shares = np.linalg.solve(given.otherwise[self.columns].T, wanted @ given.otherwise)
        except np.linalg.LinAlgError:
            return False
        return bool(np.max(np.abs(shares[doubtful])) <= given.tolerances.sign * max(1.0, float(np.max(np.abs(shares)))))

    def vanishing(self) -> NDArray[np.int_]:
        """Accelerations that are zero wherever the conditions are met: all those with a sign, or else the fixed ones.

        From the vertex on, the sum of those that are zero there and have a sign is raised as far as it goes.
        """
        tolerance = self.functions.tolerances.sign
        is_zero = self.functions.of_accelerations & (np.abs(self.values) <= tolerance)
        signs = np.where(is_zero & (np.abs(self.status) == 1), self.status, 0)
        is_fixed = self.functions.of_accelerations & (self.status == FIXED)
        for _ in range(_MOST_STEPS * len(self.columns)):
            entries = signs @ self.table[:, :-1]
            gains = self._gains(entries)
            column = int(gains.argmax())
            if gains[column] <= tolerance:
                wanted = signs.astype(float)
                outlives = self._outlives(wanted, gains, self._change(wanted, entries))
                return np.flatnonzero(is_fixed | (signs != 0)) if outlives else np.flatnonzero(is_fixed)
            row, step = self._limit(column, float(signs @ self.table[:, column]))
            if row < 0 or step * gains[column] > NOTHING:
                break
            self._pivot(row, column)
        return np.flatnonzero(is_fixed)

    def _limit(self, column: int, slope: float) -> tuple[int, float]:
        """The row that stops the function of a column as it moves to where a slope rises, and how far that is."""
        moved = self.table[:, column] * (1.0 if slope > 0 else -1.0)
        falling = ((self.status == 1) | (self.status == FIXED)) & (moved < -SQUARED)
        rising = ((self.status == -1) | (self.status == FIXED)) & (moved > SQUARED)
        steps = np.full(len(moved), np.inf)
        stopped = falling | rising
        steps[stopped] = np.abs(self.values[stopped] / moved[stopped])
        steps[self.columns] = np.inf
        row = int(steps.argmin())
        return (row, float(steps[row])) if np.isfinite(steps[row]) else (-1, np.inf)
