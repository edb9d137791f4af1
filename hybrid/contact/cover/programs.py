"""Linear programs over the forces of a part of the cover, with the multipliers that prove their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import Conditions
from hybrid.tolerances import HIGHS_FEASIBILITY, ROUNDING

__all__ = ["UNCERTAIN", "ForceBound", "PosedPart", "Programs"]

Array = NDArray[np.float64]

UNCERTAIN = ROUNDING
"""What coefficients of accelerations may be off by, relatively: hundreds of roundings of what they are made of."""


@attrs.frozen(eq=False)
class PosedPart:
    """The scaled conditions of a part, with what their coefficients may be off by.

    Near a singular mode a small change of the data admits huge forces. A bound is therefore sought for all data within
    ``UNCERTAIN`` of the given ones: every condition on accelerations is relaxed by that share of the normal forces.

    Attributes
    ----------
    conditions : Conditions
        Equations ``E x + e = 0`` and inequalities ``A x + b >= 0``.
    moved_equations, moved_inequalities : array of bool, (q,) and (m,)
        Conditions on accelerations.
    pressing : array of int, (p, 2)
        Inequalities ``lambda_N >= 0``: their places, and the columns of the forces.
    """

    conditions: Conditions
    moved_equations: NDArray[np.bool_]
    moved_inequalities: NDArray[np.bool_]
    pressing: NDArray[np.int_]

    @classmethod
    def joined(cls, blocks: Sequence[PosedPart]) -> PosedPart:
        """The conditions of several elements, from those of each."""
        given = [block.conditions for block in blocks]
        first = np.cumsum([0, *(len(part.b) for part in given)])
        return cls(
            Conditions(
                *(np.concatenate([getattr(part, name) for part in given]) for name in ("E", "e", "A", "b")),
            ),
            np.concatenate([block.moved_equations for block in blocks]),
            np.concatenate([block.moved_inequalities for block in blocks]),
            np.concatenate([np.add(block.pressing, [k, 0]) for block, k in zip(blocks, first, strict=False)]),
        )

    def slacks(self, forces: Array) -> Array:
        """Values (m,) of the inequalities at scaled forces."""
        return np.asarray(self.conditions.A @ forces + self.conditions.b)

    def polished(self, forces: Array) -> Array:
        """The nearest forces (r,) that meet the equations to rounding: a program meets them to its tolerance."""
        part = self.conditions
        return np.asarray(forces - np.linalg.lstsq(part.E, part.E @ forces + part.e, rcond=None)[0])

    @property
    def first_inequality(self) -> int:
        """Number of rows of the relaxed conditions before those of the inequalities."""
        return len(self.moved_equations) + int(np.sum(self.moved_equations))

    def relaxed(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Coefficients and constants of the relaxed conditions, and which of them are equations.

        Equations on accelerations become two inequalities: first one side of each, then the rest of the equations as
        they are, then the other side, then the inequalities.
        """
        part, moved = self.conditions, self.moved_equations
        slack = np.zeros(part.E.shape[1])
        slack[self.pressing[:, 1]] = UNCERTAIN
        rows = np.vstack(
            [
                part.E + np.outer(moved, slack),
                -part.E[moved] + slack,
                part.A + np.outer(self.moved_inequalities, slack),
            ]
        )
        is_equation = np.zeros(len(rows), dtype=bool)
        is_equation[: len(moved)] = ~moved
        return rows, np.concatenate([part.e, -part.e[moved], part.b]), is_equation

    def multipliers(self, found: Array) -> tuple[Array, Array]:
        """Those of the conditions as they are, from those of the relaxed ones: ``lambda_N >= 0`` takes the rest."""
        n_equations, first, moved = len(self.moved_equations), self.first_inequality, self.moved_equations
        y, other, u = found[:n_equations].copy(), found[n_equations:first], np.maximum(found[first:], 0.0)
        above = np.maximum(y[moved], 0.0)
        taken = UNCERTAIN * float(np.sum(above) + np.sum(np.maximum(other, 0.0)) + np.sum(u[self.moved_inequalities]))
        y[moved] = above - np.maximum(other, 0.0)
        u[self.pressing[:, 0]] += taken
        return y, u


@attrs.frozen(eq=False)
class ForceBound:
    """An upper bound of a linear function over the forces of a part, or that there are none.

    For equations ``E x + e = 0`` and inequalities ``A x + b >= 0``, multipliers ``y`` and ``u >= 0`` with ``y E + u A =
    -f`` give ``f x + g <= y e + u b + g``; with ``f = 0`` a negative ``y e + u b`` leaves no forces (Schrijver 1986,
    corollary 7.1d).

    Attributes
    ----------
    value : float
        The bound in units of the problem's data; negative where there are no forces.
    equations, inequalities : array, (q,) and (m,)
        ``y`` and ``u``, of the scaled conditions; adding up to one in magnitude where there are no forces.
    forces : array, (r,), or None
        Scaled forces that attain it; None where there are none, or it grows without bound.
    """

    value: float
    equations: Array
    inequalities: Array
    forces: Array | None


class Programs:
    """The solver, kept for many small programs: making one takes longer than solving."""

    def __init__(self) -> None:
        import highspy

        self._highspy: Any = highspy
        self._solver: Any = self._highspy.Highs()
        options: dict[str, bool | int | float | str] = {
            "output_flag": False,
            "presolve": "off",
            "threads": 1,
            "small_matrix_value": UNCERTAIN / 2,
            "primal_feasibility_tolerance": HIGHS_FEASIBILITY,
            "dual_feasibility_tolerance": HIGHS_FEASIBILITY,
        }
        for name, value in options.items():
            self._solver.setOptionValue(name, value)

    def least_slack(self, given: PosedPart) -> ForceBound:
        """The largest value, up to one, that all inequalities can have at once; negative where they have no forces."""
        r = given.conditions.E.shape[1]
        # unknowns: the forces, and the slack that is common to all inequalities
        return self._maximum(np.append(np.zeros(r), 1.0), given, slack=True)

    def greatest(self, given: PosedPart, function: Array) -> ForceBound:
        """The largest value of a linear function (r,) of the forces of a part."""
        return self._maximum(function, given, slack=False)

    def _maximum(self, function: Array, given: PosedPart, *, slack: bool) -> ForceBound:
        h, part = self._highspy, given.conditions
        rows, constants, is_equation = given.relaxed()
        if slack:
            rows = np.column_stack([rows, np.where(np.arange(len(rows)) < given.first_inequality, 0.0, -1.0)])
        m, n = rows.shape
        program = h.HighsLp()
        program.num_col_, program.num_row_ = n, m
        program.col_cost_ = -function
        program.col_lower_, program.col_upper_ = np.full(n, -h.kHighsInf), np.full(n, h.kHighsInf)
        if slack:
            program.col_upper_ = np.append(np.full(n - 1, h.kHighsInf), 1.0)
        program.row_lower_ = -constants
        program.row_upper_ = np.where(is_equation, -constants, h.kHighsInf)
        program.a_matrix_.format_ = h.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.arange(0, m * n + 1, n)
        program.a_matrix_.index_ = np.tile(np.arange(n), m)
        program.a_matrix_.value_ = rows.ravel()
        self._solver.passModel(program)
        self._solver.run()
        status = self._solver.getModelStatus()
        if status == h.HighsModelStatus.kOptimal:
            solution = self._solver.getSolution()
            values = np.array(solution.col_value)
            y, u = given.multipliers(np.array(solution.row_dual))
            return ForceBound(float(function @ values), y, u, values[: part.E.shape[1]])
        if status == h.HighsModelStatus.kInfeasible:
            _, has_ray, ray = self._solver.getDualRay()
            if has_ray:
                multipliers = np.array(ray) / np.sum(np.abs(ray))
                value = float(multipliers @ constants)
                return ForceBound(-abs(value), *given.multipliers(-np.sign(value) * multipliers), None)
        nothing = np.zeros(0)
        return ForceBound(np.inf, nothing, nothing, None)
