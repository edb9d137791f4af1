"""Gauss' principle of least constraint as a complementarity problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lcp.errors import LCPError
from lcp.lemke import Lemke
from lcp.problem import LCP, FloatArray, Status, float_array
from lcp.tolerances import ACCURACY, TIE, ZERO

__all__ = ["GaussSolution", "gauss_arrays", "gauss_lcp", "kkt_residual", "without_units"]


class GaussSolution(NamedTuple):
    """The accelerations of least constraint.

    Parameters
    ----------
    acceleration : ndarray, shape (n,)
        v' in coordinate units / s^2.
    lambda_N : ndarray, shape (k,)
        Multipliers of the inequalities, normal forces in N.
    residual : float
        Largest violation of the Karush-Kuhn-Tucker conditions, see `kkt_residual`.
    """

    acceleration: FloatArray
    lambda_N: FloatArray
    residual: float


def gauss_arrays(
    M: npt.ArrayLike, h: npt.ArrayLike, W_N: npt.ArrayLike, zeta_N: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The checked arrays M, h, W_N, zeta_N and the lower Cholesky factor of M.

    Parameters
    ----------
    M : array_like, shape (n, n)
        Mass matrix.
    h : array_like, shape (n,)
        Generalised forces.
    W_N : array_like, shape (n, k)
        Directions of the contact forces.
    zeta_N : array_like, shape (k,)
        Contact accelerations are W_N^T v' + zeta_N.

    Returns
    -------
    M, h, W_N, zeta_N : ndarray of float64, shapes (n, n), (n,), (n, k) and (k,)
        Read-only copies.
    factor : ndarray of float64, shape (n, n)
        L of M = L L^T.

    Raises
    ------
    LCPError
        If the shapes do not match or M is not symmetric positive definite.
    """
    mass, force = float_array(M, name="M", ndim=2), float_array(h, name="h", ndim=1)
    directions, bias = float_array(W_N, name="W_N", ndim=2), float_array(zeta_N, name="zeta_N", ndim=1)
    n, k = force.shape[0], bias.shape[0]
    if mass.shape != (n, n) or directions.shape != (n, k):
        raise LCPError(f"M and W_N must have shapes {(n, n)} and {(n, k)}, got {mass.shape}, {directions.shape}")
    try:
        factor = np.linalg.cholesky(mass).astype(np.float64)
    except np.linalg.LinAlgError as error:
        raise LCPError("the mass matrix M must be positive definite") from error
    sizes = np.sqrt(np.diag(mass))
    if (np.abs(mass - mass.T) > ZERO * np.outer(sizes, sizes)).any():
        raise LCPError("the mass matrix M must be symmetric")
    return mass, force, directions, bias, factor


def kkt_residual(
    problem: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    acceleration: FloatArray,
    lambda_N: FloatArray,
) -> float:
    """Violation of M v' = h + W_N lambda_N and 0 <= lambda_N, W_N^T v' + zeta_N >= 0, product 0.

    A multiplier counts by the contact acceleration that it causes, so that both of a product have one unit.

    Parameters
    ----------
    problem : tuple
        M, h, W_N, zeta_N.
    acceleration, lambda_N : ndarray, shapes (n,) and (k,)

    Returns
    -------
    float
        The largest entry of both natural residuals, each scaled by the size of its data (at least 1).
    """
    M, h, W_N, zeta_N = problem
    balance = M @ acceleration - h - W_N @ lambda_N
    answer = np.sum(W_N * np.linalg.solve(M, W_N), axis=0)
    natural = np.minimum(answer * lambda_N, W_N.T @ acceleration + zeta_N)
    force = max(1.0, float(np.abs(h).max(initial=0.0)))
    bias = max(1.0, float(np.abs(W_N.T @ np.linalg.solve(M, h) + zeta_N).max(initial=0.0)))
    return max(float(np.abs(balance).max(initial=0.0)) / force, float(np.abs(natural).max(initial=0.0)) / bias)


def gauss_lcp(
    M: npt.ArrayLike,
    h: npt.ArrayLike,
    W_N: npt.ArrayLike,
    zeta_N: npt.ArrayLike,
    *,
    solver: Lemke | None = None,
) -> GaussSolution:
    """The solution of the frictionless contact problem, by Lemke's method on its Karush-Kuhn-Tucker conditions.

    With G = W_N^T M^-1 W_N and c = W_N^T M^-1 h + zeta_N, lambda_N solves the complementarity problem
    (G, c) and v' = M^-1 (h + W_N lambda_N).

    Parameters
    ----------
    M : array_like, shape (n, n)
        Mass matrix, symmetric positive definite.
    h : array_like, shape (n,)
        Generalised forces.
    W_N : array_like, shape (n, k)
        Directions of the contact forces.
    zeta_N : array_like, shape (k,)
        Contact accelerations are W_N^T v' + zeta_N.
    solver : Lemke, optional

    Returns
    -------
    GaussSolution

    Raises
    ------
    LCPError
        If no acceleration satisfies the inequalities (Lemke's method decides it: G is positive semidefinite), or
        none was found.

    References
    ----------
    Gauss, Journal fuer die reine und angewandte Mathematik 4 (1829) 232; Moreau, SIAM Journal on Control 4
    (1966) 153.

    Examples
    --------
    >>> gauss_lcp([[2.0]], [-20.0], [[1.0]], [0.0]).lambda_N
    array([20.])
    """
    mass, force, directions, bias, factor = gauss_arrays(M, h, W_N, zeta_N)
    free, half, bounds, size, lengths = without_units(factor, force, directions, bias)
    G, c = half.T @ half, half.T @ free + bounds
    multipliers = np.zeros(bias.shape[0])
    able = np.flatnonzero(half.any(axis=0) | (c < 0))  # a contact that no force moves decides nothing else
    multipliers[able] = _contact_multipliers(G[np.ix_(able, able)], c[able], solver or Lemke())
    acceleration = np.linalg.solve(factor.T, size * (free + half @ multipliers)).astype(np.float64)
    lambda_N = size * multipliers / lengths
    return GaussSolution(acceleration, lambda_N, kkt_residual((mass, force, directions, bias), acceleration, lambda_N))


def _contact_multipliers(G: FloatArray, c: FloatArray, solver: Lemke) -> FloatArray:
    solution = solver.solve(LCP(G, c))
    if solution.status is not Status.SOLVED:
        # redundant contacts contradict each other by rounding; an answer within it shows in the residual
        solution = solver.solve(LCP(G, c + TIE))
    if solution.status is Status.RAY:
        raise LCPError(f"no acceleration satisfies the contact inequalities: {solution.status.value}")
    # distant contacts have large c, which would hide what the near ones miss
    miss = float(np.abs(np.minimum(solution.z, G @ solution.z + c)).max(initial=0.0))
    if solution.status is not Status.SOLVED or miss > ACCURACY:
        raise LCPError(f"no acceleration was found, though there may be one: {Status.INACCURATE.value}")
    return solution.z


def without_units(
    factor: FloatArray, force: FloatArray, directions: FloatArray, bias: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float, FloatArray]:
    """The problem in y = L^T v' / size: minimise |y - free|^2 / 2 subject to half^T y + bounds >= 0.

    The mass matrix L L^T becomes one and so does every direction that is not zero. Distant contacts (large bounds) do
    not set the size of what the near ones decide.

    Parameters
    ----------
    factor : ndarray, shape (n, n)
        The lower Cholesky factor L of the mass matrix.
    force, directions, bias : ndarray, shapes (n,), (n, k) and (k,)
        h, W_N and zeta_N of `gauss_lcp`.

    Returns
    -------
    free, half, bounds : ndarray, shapes (n,), (n, k) and (k,)
    size : float
        Largest entry of L^-1 h, or of -bounds before the division; 1 if both vanish.
    lengths : ndarray, shape (k,)
        lambda_N is size / lengths times the multipliers.
    """
    half = np.linalg.solve(factor, directions).astype(np.float64)
    lengths = np.linalg.norm(half, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    free, bounds = np.linalg.solve(factor, force).astype(np.float64), bias / lengths
    size = max(float(np.abs(free).max(initial=0.0)), float((-bounds).max(initial=0.0))) or 1.0
    return free / size, half / lengths, bounds / size, size, lengths
