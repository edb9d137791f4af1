"""The door to cvxpy: Gauss' principle as a quadratic program, Farkas vectors, the relaxed friction cone.

Each kind and size of problem is built once, with parameters, and solved again with other numbers. Importing
this module imports cvxpy, which takes seconds.
"""

from __future__ import annotations

import functools
from typing import NamedTuple, Protocol

import cvxpy
import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray, float_array
from lcp.errors import LCPError
from lcp.gauss import GaussSolution, gauss_arrays, kkt_residual
from lcp.problem import LCP

__all__ = ["ConeRelaxation", "farkas_certificate", "friction_cone_relaxation", "gauss_least_constraint"]

ACCURACY = 1e-7  # what an interior-point answer with default settings keeps in the scaled problem


class _Cell(Protocol):
    """What is used of cvxpy's variables and parameters."""

    value: FloatArray


class _Program(NamedTuple):
    problem: cvxpy.Problem
    parameters: tuple[_Cell, ...]
    unknown: _Cell
    inequality: cvxpy.Constraint | None


@functools.cache
def _gauss_program(n: int, k: int) -> _Program:
    factor, free = cvxpy.Parameter((n, n)), cvxpy.Parameter(n)
    directions, bias = cvxpy.Parameter((k, n)), cvxpy.Parameter(k)
    acceleration = cvxpy.Variable(n)
    inequality = directions @ acceleration + bias >= 0
    objective = cvxpy.Minimize(cvxpy.sum_squares(factor @ acceleration - free) / 2)
    problem = cvxpy.Problem(objective, [inequality])
    return _Program(problem, (factor, free, directions, bias), acceleration, inequality)


def gauss_least_constraint(
    M: npt.ArrayLike, h: npt.ArrayLike, W_N: npt.ArrayLike, zeta_N: npt.ArrayLike
) -> GaussSolution:
    """The acceleration closest to the free one among those the contacts allow.

    Minimises (v' - M^-1 h)^T M (v' - M^-1 h) / 2 subject to W_N^T v' + zeta_N >= 0, a strictly convex
    quadratic program; the answer of the interior-point method is refined on its active set.

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

    Returns
    -------
    GaussSolution

    Raises
    ------
    LCPError
        If no acceleration satisfies the inequalities, or the solver fails.

    References
    ----------
    Gauss 1829; Moreau 1966.

    Examples
    --------
    >>> gauss_least_constraint([[2.0]], [-20.0], [[1.0]], [0.0]).lambda_N.round(6)
    array([20.])
    """
    mass, force, directions, bias, factor = gauss_arrays(M, h, W_N, zeta_N)
    n, k = directions.shape
    free = np.linalg.solve(factor, force).astype(np.float64)
    if k == 0:
        acceleration = np.linalg.solve(factor.T, free).astype(np.float64)
        return GaussSolution(acceleration, np.zeros(0), 0.0)
    size = float(max(1.0, np.abs(free).max(), np.abs(bias).max()))
    program = _gauss_program(n, k)
    _solve(program, (factor.T, free / size, directions.T, bias / size))
    raw = program.inequality.dual_value if program.inequality is not None else np.zeros(k)
    lambda_N = size * np.maximum(np.asarray(raw, dtype=np.float64), 0.0)
    data = (mass, force, directions, bias)
    candidates = [
        _from_multipliers(data, lambda_N),
        _from_multipliers(data, _refined(data, lambda_N, size * program.unknown.value)),
    ]
    return min(candidates, key=lambda candidate: candidate.residual)


def _from_multipliers(
    data: tuple[FloatArray, FloatArray, FloatArray, FloatArray], lambda_N: FloatArray
) -> GaussSolution:
    M, h, W_N, _ = data
    acceleration = np.linalg.solve(M, h + W_N @ lambda_N).astype(np.float64)
    return GaussSolution(acceleration, lambda_N, kkt_residual(data, acceleration, lambda_N))


def _refined(
    data: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    lambda_N: FloatArray,
    acceleration: FloatArray,
) -> FloatArray:
    """The multipliers that make the accelerations of the active contacts exactly zero."""
    M, h, W_N, zeta_N = data
    G = W_N.T @ np.linalg.solve(M, W_N)
    c = W_N.T @ np.linalg.solve(M, h) + zeta_N
    active = np.flatnonzero(np.diag(G) * lambda_N > W_N.T @ acceleration + zeta_N)
    refined = np.zeros_like(lambda_N)
    refined[active] = np.linalg.lstsq(G[np.ix_(active, active)], -c[active], rcond=None)[0]
    return refined


def _solve(program: _Program, values: tuple[FloatArray, ...]) -> None:
    for parameter, value in zip(program.parameters, values, strict=True):
        parameter.value = value
    try:
        program.problem.solve(solver=cvxpy.CLARABEL)
    except cvxpy.error.SolverError as error:
        raise LCPError(f"the convex program could not be solved: {error}") from error
    if program.problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        raise LCPError(f"the convex program has no solution: it is {program.problem.status}")


@functools.cache
def _farkas_program(n: int) -> _Program:
    M, q = cvxpy.Parameter((n, n)), cvxpy.Parameter(n)
    y = cvxpy.Variable(n)
    problem = cvxpy.Problem(cvxpy.Minimize(q @ y), [y >= 0, M @ y <= 0, cvxpy.sum(y) <= 1])
    return _Program(problem, (M, q), y, None)


def farkas_certificate(problem: LCP) -> FloatArray | None:
    """A proof that M z + q >= 0, z >= 0 has no point, if there is one.

    Parameters
    ----------
    problem : LCP

    Returns
    -------
    ndarray, shape (n,), or None
        y >= 0 with y^T M <= 0 and y^T q < 0, up to 1e-7 with M and q scaled to maximum one and sum(y) = 1;
        None if there is none. `lcp.exact.refute` gives the same in rational numbers.

    References
    ----------
    Farkas' lemma, Cottle, Pang and Stone 1992, theorem 2.7.9.

    Examples
    --------
    >>> farkas_certificate(LCP([[-1.0]], [-1.0])).round(6)
    array([1.])
    >>> farkas_certificate(LCP([[1.0]], [-1.0])) is None
    True
    """
    if not (problem.q < 0).any():
        return None
    M = problem.M / max(float(np.abs(problem.M).max()), np.finfo(float).tiny)
    q = problem.q / float(np.abs(problem.q).max())
    program = _farkas_program(problem.n)
    _solve(program, (M.T, q))
    y: FloatArray = np.maximum(np.asarray(program.unknown.value, dtype=np.float64), 0.0)
    y[y < ACCURACY] = 0.0
    if float(q @ y) > -ACCURACY or float((y @ M).max()) > ACCURACY:
        return None
    return y / float(y.sum())


class ConeRelaxation(NamedTuple):
    """The answer of the convex relaxation of Coulomb's law in space; not a solution of the law itself.

    Parameters
    ----------
    lambda_N : ndarray, shape (k,)
    lambda_T : ndarray, shape (k, 2)
        Forces in N, inside the friction cones.
    contact_acceleration : ndarray, shape (k, 3)
        Normal and two tangential accelerations in m/s^2.
    dilation : ndarray, shape (k,)
        Normal acceleration of the contacts that carry a force. Coulomb's law wants zero; the relaxation
        gives mu times the sliding acceleration. Where it vanishes the answer satisfies Coulomb's law.
    """

    lambda_N: FloatArray
    lambda_T: FloatArray
    contact_acceleration: FloatArray
    dilation: FloatArray


@functools.cache
def _cone_program(k: int) -> _Program:
    root, bias = cvxpy.Parameter((3 * k, 3 * k)), cvxpy.Parameter(3 * k)
    mu = cvxpy.Parameter(k, nonneg=True)
    force = cvxpy.Variable(3 * k)
    cones = [cvxpy.SOC(mu[i] * force[3 * i], force[3 * i + 1 : 3 * i + 3]) for i in range(k)]
    normal = [force[3 * i] >= 0 for i in range(k)]
    objective = cvxpy.Minimize(cvxpy.sum_squares(root @ force) / 2 + bias @ force)
    return _Program(cvxpy.Problem(objective, [*cones, *normal]), (root, bias, mu), force, None)


def friction_cone_relaxation(G: npt.ArrayLike, c: npt.ArrayLike, mu: npt.ArrayLike) -> ConeRelaxation:
    """Forces of least complementary energy in the friction cones: a convex relaxation of Coulomb's law.

    Minimises f^T G f / 2 + c^T f over |f_T| <= mu f_N. Its optimality conditions put the contact acceleration
    into the dual cone, a_N >= mu |a_T|, so a sliding contact separates; `dilation` says by how much.

    Parameters
    ----------
    G : array_like, shape (3 k, 3 k)
        Symmetric positive semidefinite; rows ordered normal, first and second tangent, contact by contact.
    c : array_like, shape (3 k,)
        Contact accelerations without contact forces.
    mu : array_like, shape (k,)

    Returns
    -------
    ConeRelaxation

    Raises
    ------
    LCPError
        If the shapes do not match, a coefficient of friction is negative, or the program is unbounded.

    References
    ----------
    Anitescu and Tasora, Computational Optimization and Applications 47 (2010) 207; De Saxce and Feng,
    Mathematical and Computer Modelling 28 (1998) 225 (the term that the relaxation leaves out).

    Examples
    --------
    >>> relaxed = friction_cone_relaxation([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]], [-1.0, 0.0, 0.0], [0.5])
    >>> relaxed.lambda_N.round(6), abs(relaxed.dilation.round(6))
    (array([1.]), array([0.]))
    """
    delassus, bias = float_array(G, name="G", ndim=2), float_array(c, name="c", ndim=1)
    friction = float_array(mu, name="mu", ndim=1)
    k = friction.shape[0]
    if delassus.shape != (3 * k, 3 * k) or bias.shape != (3 * k,) or (friction < 0).any():
        raise LCPError(
            f"G and c must have shapes {(3 * k, 3 * k)} and {(3 * k,)} and mu be >= 0, "
            f"got {delassus.shape}, {bias.shape}"
        )
    values, vectors = np.linalg.eigh((delassus + delassus.T) / 2)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    program = _cone_program(k)
    _solve(program, (root, bias, friction))
    force = np.asarray(program.unknown.value, dtype=np.float64).reshape(k, 3)
    acceleration = (delassus @ force.ravel() + bias).reshape(k, 3)
    is_loaded = force[:, 0] > ACCURACY * max(1.0, float(force[:, 0].max(initial=0.0)))
    dilation = np.where(is_loaded, acceleration[:, 0], 0.0)
    return ConeRelaxation(force[:, 0], force[:, 1:], acceleration, dilation)
