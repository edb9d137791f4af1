"""Compiled solvers for very many small problems; importing this imports numba, and compiles nothing."""

import numpy as np

from lcp import loaded
from lcp.kernels.batch import UNDECIDED, BatchEnumeration, BatchSolution, enumerate_batch, solve_batch
from lcp.kernels.cones import every_solution
from lcp.kernels.pivoting import follow_into, solve_into
from lcp.problem import LCP

__all__ = [
    "UNDECIDED",
    "BatchEnumeration",
    "BatchSolution",
    "enumerate_batch",
    "load",
    "solve_batch",
    "solve_into",
]


def load() -> None:
    """The kernels for ordinary calls, compiled or read from disk, which these use from now on.

    `lcp.solve`, `lcp.Lemke` and `lcp.enumerate_solutions` answer as before, sooner, and never load anything themselves.

    Returns
    -------
    None
        `lcp.loaded.kernels` has the compiled functions.

    Examples
    --------
    >>> from lcp import LCP, solve
    >>> load()
    >>> solve(LCP([[2.0]], [-1.0])).z
    array([0.5])
    """
    problem, z = LCP([[2.0]], [-1.0]), np.empty(1)
    follow_into(problem.M, problem.q, z, np.empty(1))
    every_solution(problem.M, problem.q, np.empty((1, 1)))
    loaded.kernels[:] = [loaded.Kernels(follow_into, every_solution)]
