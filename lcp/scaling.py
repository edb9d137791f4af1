"""Exact scaling of problems with extreme entries."""

from __future__ import annotations

import attrs
import numpy as np

from lcp.errors import LCPError
from lcp.problem import LCP, FloatArray

__all__ = ["TOO_LARGE", "Scaling", "scaled"]

TOO_LARGE = "the solution exceeds the largest floating-point number; rescale the unknowns"
EXTREME = 100  # powers of ten: products of three such entries stay clear of overflow at 1e308


SMALLEST_ROW = -24


@attrs.frozen
class Scaling:
    """A problem with rows, columns and q multiplied by powers of two, and the way back.

    With R and C positive diagonal and s > 0, z solves (M, q) if and only if C^-1 z / s solves
    (R M C, R q / s). Powers of two make every product exact.
    """

    problem: LCP
    row_exponents: FloatArray
    columns: FloatArray
    size: float

    @property
    def rows(self) -> FloatArray:
        """The factors R of the rows, up to a common one, for a covering vector of the scaled problem.

        Factors below 2**-24 are raised to it: the ratio test would take them for zero.
        """
        exponents = np.maximum(self.row_exponents - self.row_exponents.max(), SMALLEST_ROW)
        result: FloatArray = np.ldexp(1.0, exponents.astype(np.int64))
        return result

    def point(self, z: FloatArray) -> FloatArray:
        """Undo the scaling of a point."""
        with np.errstate(over="ignore"):
            result: FloatArray = np.ldexp(z, (self.columns + self.size).astype(np.int64))
        if not np.isfinite(result).all():
            raise LCPError(TOO_LARGE)
        return result

    def direction(self, ray: FloatArray) -> FloatArray:
        """Undo the scaling of a direction, up to a positive factor: its largest entry is one."""
        exponents = self.columns + np.frexp(ray)[1]
        largest = exponents[ray != 0].max(initial=-np.inf)
        result: FloatArray = np.ldexp(ray, (self.columns - largest).astype(np.int64)) if np.any(ray) else ray.copy()
        result /= float(np.abs(result).max(initial=0.0)) or 1.0
        result.flags.writeable = False
        return result


def scaled(problem: LCP, *, always: bool = False) -> Scaling:
    """The problem itself where its entries are moderate, else an equilibrated one.

    Parameters
    ----------
    problem : LCP
    always : bool
        Equilibrate moderate entries too.

    Returns
    -------
    Scaling

    Examples
    --------
    >>> from lcp import LCP
    >>> scaled(LCP([[1e300]], [-1e-300])).problem.M.item() < 2
    True
    """
    if problem.n == 0 or (not always and _is_moderate(problem)):
        zero = np.zeros(problem.n)
        return Scaling(problem=problem, row_exponents=zero, columns=zero, size=0.0)
    exponents = np.where(problem.M != 0, np.frexp(problem.M)[1].astype(np.float64), np.nan)
    rows, columns = _equilibrium(exponents)
    shift = (rows[:, None] + columns[None, :]).astype(np.int64)
    M = np.ldexp(problem.M, shift)
    q_exponents = np.frexp(problem.q)[1] + rows
    size = float(q_exponents[problem.q != 0].max()) if np.any(problem.q) else 0.0
    q = np.ldexp(problem.q, (rows - size).astype(np.int64))
    return Scaling(problem=LCP(M, q), row_exponents=rows, columns=columns, size=size)


def _is_moderate(problem: LCP) -> bool:
    entries = np.abs(np.append(problem.M.ravel(), problem.q))
    entries = entries[entries > 0]
    return entries.size == 0 or bool(entries.max() < 10.0**EXTREME and entries.min() > 10.0**-EXTREME)


def _equilibrium(exponents: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Row and column shifts that bring the largest binary exponent of rows and columns near 0."""
    n = exponents.shape[0]
    rows, columns = np.zeros(n), np.zeros(n)
    present = np.where(np.isnan(exponents), -np.inf, exponents)
    for _ in range(4):
        largest = (present + rows[:, None] + columns).max(axis=1)
        of_rows = np.where(np.isfinite(largest), np.round(largest), 0.0)
        rows -= of_rows
        largest = (present + rows[:, None] + columns).max(axis=0)
        of_columns = np.where(np.isfinite(largest), np.round(largest), 0.0)
        columns -= of_columns
        if not (of_rows.any() or of_columns.any()):
            break
    return rows, columns
