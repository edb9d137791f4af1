"""Problems of too many unknowns to enumerate: a solution or a proof that there is none, by linear programs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from lcp.exact.certificate import NoSolutionCertificate, rational, verify
from lcp.exact.search import refutation_by
from lcp.problem import scaled
from lcp.tolerances import RESIDUAL

if TYPE_CHECKING:
    from lcp.problem import LCP, FloatArray

__all__ = ["decide", "is_positive_definite"]

MAX_PARTS = 300  # some seconds at 48 unknowns


def decide(problem: LCP, *, max_parts: int = MAX_PARTS) -> FloatArray | NoSolutionCertificate | None:
    """A solution, or a proof that there is none, or None where neither was found within the budget.

    The complementary bases are divided, index by index, as long as the linear conditions of a part have a point. A part
    without one is refuted by multipliers whose inequalities hold strictly, so that they survive rounding; the proof is
    checked in rational arithmetic before it is returned. Parts whose conditions fail by no margin are not decided.

    Parameters
    ----------
    problem : LCP
    max_parts : int, default 300
        Parts to look at.

    Returns
    -------
    ndarray (n,), NoSolutionCertificate or None

    Examples
    --------
    >>> from lcp import LCP
    >>> len(decide(LCP([[-1.0]], [-1.0])).refutations), decide(LCP([[-1.0]], [1.0])).tolist()
    (1, [0.0])
    """
    scaling = scaled(problem, always=True)
    exact, given = rational(problem), scaling.problem
    # undone by powers of two, which are exact
    units = np.ldexp(1.0, (scaling.row_exponents - scaling.row_exponents.max(initial=0.0)).astype(int))
    refutations = []
    parts: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
    for _ in range(max_parts):
        zero_w, zero_z = parts.pop()
        z = _point(given, zero_w, zero_z)
        if z is None:
            y = _contradiction(given, zero_w, zero_z)
            if y is None:
                return None
            multipliers = [Fraction(value) for value in (units * y).tolist()]
            refutations.append(refutation_by(exact, zero_w, zero_z, multipliers))
        else:
            violations = np.minimum(z, given.w(z))
            worst = int(np.argmax(violations))
            if violations[worst] <= RESIDUAL:
                point = np.maximum(scaling.point(z), 0.0)
                return point if problem.residual(point) <= RESIDUAL else None
            parts += [((*zero_w, worst), zero_z), (zero_w, (*zero_z, worst))]
        if not parts:
            certificate = NoSolutionCertificate(tuple(refutations))
            return certificate if verify(exact, certificate) else None
    return None


def _point(problem: LCP, zero_w: tuple[int, ...], zero_z: tuple[int, ...]) -> FloatArray | None:
    """A point with ``w >= 0``, ``z >= 0`` and these zeros, near to complementary; None where there is none."""
    from scipy.optimize import linprog  # slow to import

    bounds = [(0.0, 0.0 if i in zero_z else None) for i in range(problem.n)]
    at_zero = list(zero_w)
    found = linprog(
        1.0 + problem.M.sum(axis=0),  # the sum of z and w, which is not negative
        A_ub=-problem.M,
        b_ub=problem.q,
        A_eq=problem.M[at_zero] if at_zero else None,
        b_eq=-problem.q[at_zero] if at_zero else None,
        bounds=bounds,
        method="highs",
    )
    return np.asarray(found.x) if found.status == 0 else None


def _contradiction(problem: LCP, zero_w: tuple[int, ...], zero_z: tuple[int, ...]) -> FloatArray | None:
    """Multipliers that exclude the part, every inequality as strict as can be; None where none is strict."""
    from scipy.optimize import linprog

    n = problem.n
    free = np.isin(np.arange(n), zero_w)
    kept = ~np.isin(np.arange(n), zero_z)
    # unknowns y and t: y >= t, -(y^T M) >= t, -(y^T q) >= t
    rows = np.vstack([-np.eye(n)[~free], problem.M.T[kept], problem.q])
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([rows, np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        bounds=[*((-1.0, 1.0) for _ in range(n)), (None, 1.0)],
        method="highs",
    )
    if found.status or found.x[-1] <= RESIDUAL:
        return None
    return np.asarray(found.x[:-1])


def is_positive_definite(M: FloatArray) -> bool:
    """Whether ``M + M^T`` is proved to be positive definite, rounding included; M is a P-matrix then.

    Parameters
    ----------
    M : ndarray (n, n)

    Returns
    -------
    bool
        False also where rounding decides.

    References
    ----------
    Cottle, Pang and Stone 1992, theorem 3.1.6; Rump, BIT 46 (2006) 433 (Cholesky's factorisation as a proof).

    Examples
    --------
    >>> is_positive_definite(np.array([[1.0, 2.0], [-2.0, 1.0]])), is_positive_definite(np.ones((2, 2)))
    (True, False)
    """
    doubled, n = M + M.T, len(M)
    # Rump's bound, doubled for the rounding of the sum and of the shift
    shift = 4 * (n + 2) * np.finfo(float).eps * np.abs(np.diagonal(doubled)).sum() + np.finfo(float).tiny
    shift += 2 * np.finfo(float).eps * np.abs(doubled).sum()
    try:
        np.linalg.cholesky(doubled - shift * np.eye(n))
    except np.linalg.LinAlgError:
        return False
    return True
