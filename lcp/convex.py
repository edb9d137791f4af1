"""The door to cvxpy: Gauss' principle as a quadratic program, Farkas vectors, the relaxed friction cone.

Each kind and size of problem is built once, with parameters, and solved again with other numbers. Importing
this module imports cvxpy, which takes seconds.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple, Protocol

import cvxpy
import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from lcp.errors import LCPError
from lcp.gauss import GaussSolution, gauss_arrays, kkt_residual, without_units
from lcp.problem import LCP, FloatArray, float_array
from lcp.tolerances import ACCURACY, ROUGH, ZERO

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ConeRelaxation", "farkas_certificate", "friction_cone_relaxation", "gauss_least_constraint"]

DISTANT = 1e4  # contacts further away are moved here, or the program is not solved; the check of the answer sees them


class _Cell(Protocol):
    """What is used of cvxpy's variables and parameters."""

    value: FloatArray


class _ConvexProgram(NamedTuple):
    problem: cvxpy.Problem
    parameters: tuple[_Cell, ...]
    unknown: _Cell
    inequality: cvxpy.Constraint | None


@functools.cache
def _gauss_program(n: int, k: int) -> _ConvexProgram:
    free, directions, bias = cvxpy.Parameter(n), cvxpy.Parameter((k, n)), cvxpy.Parameter(k)
    velocity = cvxpy.Variable(n)
    inequality = directions @ velocity + bias >= 0
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(velocity - free) / 2), [inequality])
    return _ConvexProgram(problem, (free, directions, bias), velocity, inequality)


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
    free, half, bounds, size, lengths = without_units(factor, force, directions, bias)
    y, multipliers = _least_change(free, half, bounds)
    acceleration = np.linalg.solve(factor.T, size * y).astype(np.float64)
    lambda_N = size * multipliers / lengths
    return GaussSolution(acceleration, lambda_N, kkt_residual((mass, force, directions, bias), acceleration, lambda_N))


def _least_change(free: FloatArray, directions: FloatArray, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The y next to `free` with directions^T y + bounds >= 0, and the multipliers; entries of about one."""
    n, k = directions.shape
    if (directions.T @ free + bounds >= 0).all():
        return free, np.zeros(k)
    if n == 0:
        raise LCPError("the convex program has no solution: it is infeasible")
    program = _gauss_program(n, k)
    _solve(program, (free, directions.T, np.minimum(bounds, DISTANT)))
    raw = program.inequality.dual_value if program.inequality is not None else np.zeros(k)
    multipliers = np.maximum(np.asarray(raw, dtype=np.float64), 0.0)
    G, c = directions.T @ directions, directions.T @ free + bounds
    candidates = [multipliers]
    for active in _active_sets(program.unknown.value, free, directions, bounds, multipliers):
        # the multipliers that make the accelerations of the active contacts exactly zero
        refined = np.zeros(k)
        refined[active] = np.linalg.lstsq(G[np.ix_(active, active)], -c[active], rcond=None)[0]
        candidates.append(refined)
    misses = [float(np.abs(np.minimum(x, G @ x + c)).max()) for x in candidates]
    if not min(misses) <= ROUGH:
        raise LCPError(f"the convex program was solved with an error of {min(misses):.1e} only")
    best = candidates[misses.index(min(misses))]
    return free + directions @ best, best


def _active_sets(
    y: FloatArray, free: FloatArray, directions: FloatArray, bounds: FloatArray, multipliers: FloatArray
) -> Iterator[npt.NDArray[np.intp]]:
    """Contacts that an inexact optimum (y, multipliers) shows as active; then independent ones of the near ones."""
    gaps = directions.T @ y + bounds
    yield np.flatnonzero(multipliers > gaps)
    for width in (1e-6, 1e-4, 1e-2):
        near = np.flatnonzero(gaps <= width)
        if near.size:
            yield near[nnls(directions[:, near], y - free)[0] > 0.0]


def _solve(program: _ConvexProgram, values: tuple[FloatArray, ...]) -> None:
    for parameter, value in zip(program.parameters, values, strict=True):
        parameter.value = value
    try:
        program.problem.solve(solver=cvxpy.CLARABEL)
    except cvxpy.error.SolverError as error:
        raise LCPError(f"the convex program could not be solved: {error}") from error
    if program.problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        raise LCPError(f"the convex program has no solution: it is {program.problem.status}")


@functools.cache
def _farkas_program(n: int) -> _ConvexProgram:
    M, q = cvxpy.Parameter((n, n)), cvxpy.Parameter(n)
    y = cvxpy.Variable(n)
    problem = cvxpy.Problem(cvxpy.Minimize(q @ y), [y >= 0, M @ y <= 0, cvxpy.sum(y) <= 1])
    return _ConvexProgram(problem, (M, q), y, None)


def farkas_certificate(problem: LCP) -> FloatArray | None:
    """A proof that M z + q >= 0, z >= 0 has no point, if there is one.

    Parameters
    ----------
    problem : LCP

    Returns
    -------
    ndarray, shape (n,), or None
        y >= 0 with y^T M <= 0 and y^T q < 0, up to 1e-7 with M and q scaled to maximum one and sum(y) = 1;
        None if there is none of this accuracy. `lcp.exact.refute` decides it, and in rational numbers.

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
def _cone_program(k: int) -> _ConvexProgram:
    root, bias = cvxpy.Parameter((3 * k, 3 * k)), cvxpy.Parameter(3 * k)
    mu = cvxpy.Parameter(k, nonneg=True)
    force = cvxpy.Variable(3 * k)
    cones = [cvxpy.SOC(mu[i] * force[3 * i], force[3 * i + 1 : 3 * i + 3]) for i in range(k)]
    normal = [force[3 * i] >= 0 for i in range(k)]
    objective = cvxpy.Minimize(cvxpy.sum_squares(root @ force) / 2 + bias @ force)
    return _ConvexProgram(cvxpy.Problem(objective, [*cones, *normal]), (root, bias, mu), force, None)


def friction_cone_relaxation(G: npt.ArrayLike, c: npt.ArrayLike, mu: npt.ArrayLike) -> ConeRelaxation:
    """Forces of least complementary energy in the friction cones: a convex relaxation of Coulomb's law.

    Minimises f^T G f / 2 + c^T f over abs(f_T) <= mu f_N. Its optimality conditions put the contact acceleration
    into the dual cone, a_N >= mu abs(a_T), so a sliding contact separates; `dilation` says by how much.

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
        If the shapes do not match, G is not symmetric positive semidefinite, a coefficient of friction is
        negative, or the program is unbounded or not solved.

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
    if k == 0:
        return ConeRelaxation(np.zeros(0), np.zeros((0, 2)), np.zeros((0, 3)), np.zeros(0))
    # one factor for the three forces of a contact leaves its cone as it is
    largest = np.abs(np.diag(delassus)).reshape(k, 3).max(axis=1)
    factors = np.repeat(1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0)), 3)
    matrix, vector = factors[:, None] * delassus * factors, factors * bias
    size = float(np.abs(vector).max()) or 1.0
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values.min() < -ZERO * k or (np.abs(matrix - matrix.T) > ZERO).any():
        raise LCPError("G must be symmetric and positive semidefinite")
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    program = _cone_program(k)
    _solve(program, (root, vector / size, friction))
    force = np.asarray(program.unknown.value, dtype=np.float64)
    _check_cones(force.reshape(k, 3), (matrix @ force + vector / size).reshape(k, 3), friction)
    is_loaded = force[::3] > ACCURACY * max(1.0, float(force[::3].max()))
    force = (size * factors * force).reshape(k, 3)
    acceleration = (delassus @ force.ravel() + bias).reshape(k, 3)
    dilation = np.where(is_loaded, acceleration[:, 0], 0.0)
    return ConeRelaxation(force[:, 0], force[:, 1:], acceleration, dilation)


def _check_cones(force: FloatArray, acceleration: FloatArray, mu: FloatArray) -> None:
    """Refuse forces that a step against their accelerations and back into the cones would change."""
    step = force - acceleration
    slip = np.hypot(step[:, 1], step[:, 2])
    normal = np.where(slip <= mu * step[:, 0], step[:, 0], np.maximum(step[:, 0] + mu * slip, 0.0) / (1.0 + mu**2))
    tangential = step[:, 1:] * (np.minimum(mu * normal, slip) / np.where(slip > 0.0, slip, 1.0))[:, None]
    miss = float(np.abs(np.column_stack([normal, tangential]) - force).max())
    if not miss <= ROUGH * max(1.0, float(np.abs(force).max())):
        raise LCPError(f"the convex program was solved with an error of {miss:.1e} only")
