"""Compiled solvers for very many small problems; importing this imports numba."""

from lcp.kernels.pivoting import FAILED, RAY, lemke_into

__all__ = ["FAILED", "RAY", "lemke_into"]
