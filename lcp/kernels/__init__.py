"""Compiled solvers for very many small problems; importing this imports numba."""

from lcp.kernels.batch import (
    NO_BASIS,
    UNDECIDED,
    BatchEnumeration,
    BatchSolution,
    enumerate_batch,
    solve_batch,
)
from lcp.kernels.cones import solutions_into
from lcp.kernels.pivoting import lemke_into, solve_into

__all__ = [
    "NO_BASIS",
    "UNDECIDED",
    "BatchEnumeration",
    "BatchSolution",
    "enumerate_batch",
    "lemke_into",
    "solutions_into",
    "solve_batch",
    "solve_into",
]
