"""Convex sets of solutions, by their vertices and rays.

Generators of polyhedral cones by the double description method.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import attrs
import numpy as np
import numpy.typing as npt

from lcp.errors import LCPError
from lcp.lemke import polished
from lcp.problem import FloatArray, float_array, value_key
from lcp.tolerances import PIVOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lcp.dictionary import Dictionary
    from lcp.problem import LCP

__all__ = ["Generators", "Polytope", "cone_generators", "polytope"]  # the others serve the searches alone


T = TypeVar("T", int, float)


@attrs.frozen(eq=False)
class Generators(Generic[T]):
    """A cone as all sums of multiples of `lines` and non-negative multiples of `rays`.

    Attributes
    ----------
    lines : list of list of float or int
        Directions that may be taken with either sign.
    rays : list of list of float or int
        Directions that may be taken forwards only.
    """

    lines: list[list[T]]
    rays: list[list[T]]


@attrs.define(eq=False)
class _Ray(Generic[T]):
    vector: list[T]
    zeros: int  # bit k set: inequality k holds with equality


def cone_generators(
    inequalities: Iterable[Sequence[T]],
    *,
    dimension: int,
    tolerance: T,
    unit: T,
    equalities: Iterable[Sequence[T]] = (),
) -> Generators[T]:
    """Generators of {x : a.x >= 0 for every inequality a, e.x = 0 for every equality e}.

    Parameters
    ----------
    inequalities, equalities : iterables of rows of length `dimension`
    dimension : int
    tolerance : int or float
        Scalar products up to this size, of vectors of maximum norm one, count as zero; 0 for integers.
    unit : int or float
        The number one of the arithmetic.

    Returns
    -------
    Generators
        The rays are the extreme rays of the pointed part.

    References
    ----------
    Motzkin, Raiffa, Thompson and Thrall 1953; Fukuda and Prodon 1996, proposition 7 (combinatorial
    adjacency test).

    Examples
    --------
    >>> cone_generators([[1, 0], [1, 1]], dimension=2, tolerance=0, unit=1).rays
    [[1, -1], [0, 1]]
    """
    zero = unit - unit
    lines = [[unit if i == k else zero for i in range(dimension)] for k in range(dimension)]
    rays: list[_Ray[T]] = []
    rows = [(row, True) for row in equalities] + [(row, False) for row in inequalities]
    for k, (row, is_equality) in enumerate(rows):
        vector = _normalised(list(row))
        products = [_dot(vector, line) for line in lines]
        best = max(range(len(lines)), key=lambda i: abs(products[i]), default=None)
        if best is not None and abs(products[best]) > tolerance:
            rays = _cut_lines(lines, rays, vector, products, best=best, k=k)
            if is_equality:
                rays.pop()
        else:
            rays = _cut_rays(rays, vector, tolerance, k=k, is_equality=is_equality)
    return Generators(lines=lines, rays=[ray.vector for ray in rays])


def _cut_lines(
    lines: list[list[T]], rays: list[_Ray[T]], row: list[T], products: list[T], *, best: int, k: int
) -> list[_Ray[T]]:
    """Turn line `best` into the last ray and move everything else into the hyperplane of `row`."""
    line, product = lines[best], products[best]
    if product < 0:
        line, product = [-a for a in line], -product
    moved = [_combined(other, product, line, -products[i]) for i, other in enumerate(lines) if i != best]
    lines[:] = moved
    kept: list[_Ray[T]] = []
    for ray in rays:
        vector = _combined(ray.vector, product, line, -_dot(row, ray.vector))
        kept.append(_Ray(vector, ray.zeros | (1 << k)))
    kept.append(_Ray(line, (1 << k) - 1))
    return kept


def _cut_rays(rays: list[_Ray[T]], row: list[T], tolerance: T, *, k: int, is_equality: bool) -> list[_Ray[T]]:
    products = [_dot(row, ray.vector) for ray in rays]
    positive = [i for i, product in enumerate(products) if product > tolerance]
    negative = [i for i, product in enumerate(products) if product < -tolerance]
    kept: list[_Ray[T]] = []
    if not is_equality:
        kept = [rays[i] for i in positive]
    for ray, product in zip(rays, products, strict=True):
        if -tolerance <= product <= tolerance:
            kept.append(_Ray(ray.vector, ray.zeros | (1 << k)))
    for i in positive:
        for j in negative:
            common = rays[i].zeros & rays[j].zeros
            if any(ray.zeros & common == common for m, ray in enumerate(rays) if m not in (i, j)):
                continue
            vector = _combined(rays[i].vector, -products[j], rays[j].vector, products[i])
            kept.append(_Ray(vector, common | (1 << k)))
    return kept


def _dot(a: Sequence[T], b: Sequence[T]) -> T:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total += x * y
    return total


def _combined(a: Sequence[T], alpha: T, b: Sequence[T], beta: T) -> list[T]:
    return _normalised([alpha * x + beta * y for x, y in zip(a, b, strict=True)])


def _normalised(vector: list[T]) -> list[T]:
    """Divide by the greatest common divisor, or by the largest entry in floating point."""
    if isinstance(vector[0], int):
        divisor = math.gcd(*map(int, vector))
        return vector if divisor <= 1 else [a // divisor for a in vector]
    largest = max(abs(a) for a in vector)
    return vector if not largest else cast("list[T]", [a / largest for a in vector])


def _points(values: npt.ArrayLike) -> FloatArray:
    return float_array(values, name="vertices", ndim=2)


def _directions(values: npt.ArrayLike) -> FloatArray:
    return float_array(values, name="rays", ndim=2)


@attrs.frozen
class Polytope:
    """The convex hull of the vertices plus all non-negative combinations of the rays.

    Parameters
    ----------
    vertices : array_like, shape (nv, n)
        At least one. A set that contains a line has no vertices; one point of each minimal face then.
    rays : array_like, shape (nr, n)
        Directions of unbounded edges, largest entry one; a line is a pair of opposite rays.

    Examples
    --------
    >>> Polytope([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]]).dimension
    2
    """

    vertices: FloatArray = attrs.field(converter=_points, eq=value_key)
    rays: FloatArray = attrs.field(converter=_directions, eq=value_key)

    @rays.validator
    def _matches(self, attribute: object, value: FloatArray) -> None:
        if self.vertices.shape[0] == 0 or value.shape[1] != self.vertices.shape[1]:
            raise LCPError(
                f"a polytope needs a vertex, and rays as long as it, got {self.vertices.shape} and {value.shape}"
            )

    @property
    def dimension(self) -> int:
        """Dimension of the smallest affine set that contains the polytope; 0 for a point."""
        # vertices carry rounding of about 1e-15 of their size, which must not count as a direction; rays have no size
        size = float(np.abs(self.vertices).max(initial=0.0)) or 1.0
        edges = self.vertices[1:] / size - self.vertices[0] / size
        lengths = np.abs(self.rays).max(axis=1, keepdims=True, initial=0.0)
        directions = np.vstack([edges, self.rays / np.where(lengths > 0.0, lengths, 1.0)])
        return int(np.linalg.matrix_rank(directions, tol=PIVOT)) if directions.size else 0


def polytope(
    A: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    equalities: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    tolerance: float = PIVOT,
) -> Polytope | None:
    """Vertices and rays of {x : A x + b >= 0} or {x : A x + b >= 0, E x = r}.

    Parameters
    ----------
    A : array_like, shape (m, n)
    b : array_like, shape (m,)
    equalities : pair of array_like, optional
        E of shape (k, n) and r of shape (k,).
    tolerance : float
        Violations up to this size, with every row scaled to maximum norm one, count as none.

    Returns
    -------
    Polytope or None
        None if the set is empty.

    References
    ----------
    Fukuda and Prodon 1996, section 2 (the cone over a polyhedron).

    Examples
    --------
    >>> segment = polytope([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], equalities=([[1.0, 1.0]], [1.0]))
    >>> sorted(segment.vertices.tolist())
    [[0.0, 1.0], [1.0, 0.0]]
    """
    matrix, constant = float_array(A, name="A", ndim=2), float_array(b, name="b", ndim=1)
    n = matrix.shape[1]
    E = np.zeros((0, n)) if equalities is None else float_array(equalities[0], name="E", ndim=2)
    r = np.zeros(0) if equalities is None else float_array(equalities[1], name="r", ndim=1)
    if matrix.shape[0] != constant.shape[0] or E.shape != (r.shape[0], n):
        raise LCPError(f"A, b, E, r do not match: {matrix.shape}, {constant.shape}, {E.shape}, {r.shape}")
    size = _distance(np.vstack([matrix, E]), np.append(constant, r))
    rows = np.column_stack([matrix, constant / size])
    at_infinity = np.append(np.zeros(n), 1.0)
    generators = cone_generators(
        np.vstack([at_infinity, rows]).tolist(),
        dimension=n + 1,
        tolerance=tolerance,
        unit=1.0,
        equalities=np.column_stack([E, -r / size]).tolist(),
    )
    vertices = [[x / ray[-1] * size for x in ray[:-1]] for ray in generators.rays if ray[-1] > tolerance]
    rays = [ray[:-1] for ray in generators.rays if ray[-1] <= tolerance]
    for line in generators.lines:
        rays += [line[:-1], [-x for x in line[:-1]]]
    if not vertices:
        return None
    return Polytope(np.array(vertices).reshape(len(vertices), n), np.array(rays).reshape(len(rays), n))


def _distance(rows: FloatArray, constants: FloatArray) -> float:
    """A power of two between the distances of the nearest and the farthest hyperplane from the origin."""
    lengths = np.abs(rows).max(axis=1, initial=0.0)
    is_away = (lengths > 0.0) & (constants != 0.0)
    if not is_away.any():
        return 1.0
    exponents = np.frexp(constants[is_away])[1] - np.frexp(lengths[is_away])[1]
    return float(np.ldexp(1.0, np.clip((exponents.min() + exponents.max()) // 2, -1000, 1000)))


@attrs.frozen(eq=False)
class Piece:
    """The solutions of one leaf: vertices (nv, n) and rays (nr, n) of a convex set of z."""

    vertices: FloatArray
    rays: FloatArray


def piece_of(dictionary: Dictionary[T]) -> Piece:
    """The feasible points of a dictionary, all of them solutions, by vertices and rays.

    Parameters
    ----------
    dictionary : Dictionary
        Feasible: no constant is negative. In floats or in integers.

    Returns
    -------
    Piece
        Floats. The largest entry of every ray is one; directions along which w alone grows are left out.
    """
    vertices, rays = [], []
    for scale, z in face_generators(dictionary):
        if scale > dictionary.tolerance:
            divisor = scale * dictionary.denominator
            vertices.append([entry / divisor for entry in z])
        else:
            largest = max(abs(entry) for entry in z)
            if largest > dictionary.tolerance:  # zero where only slack grows along the ray
                rays.append([entry / largest for entry in z])
    n = dictionary.n
    return Piece(
        np.array(vertices, dtype=np.float64).reshape(len(vertices), n),
        np.array(rays, dtype=np.float64).reshape(len(rays), n),
    )


def face_generators(dictionary: Dictionary[T]) -> list[tuple[T, list[T]]]:
    """Extreme generators of the feasible points of a dictionary.

    They come from the extreme rays (t, s) of {t >= 0, s >= 0, T t + constant s >= 0}, with t the free
    nonbasic variables.

    Parameters
    ----------
    dictionary : Dictionary
        Feasible, in floats or in integers.

    Returns
    -------
    list of pairs (s, z)
        A vertex z / (s denominator), or a ray z where s = 0.
    """
    unit: T = dictionary.denominator // dictionary.denominator
    zero: T = unit - unit
    free = dictionary.free_columns()
    size = len(free) + 1
    rows: list[list[T]] = [[unit if i == k else zero for i in range(size)] for k in range(size)]
    for row, variable in zip(dictionary.rows, dictionary.basic, strict=True):
        cut = [row[j] for j in free] + row[-1:]
        if free and variable not in dictionary.fixed and min(cut) < -dictionary.tolerance:
            rows.append(cut)
    rays = cone_generators(rows, dimension=size, tolerance=dictionary.tolerance, unit=unit).rays
    return [(ray[-1], _point(dictionary, free, ray)) for ray in rays]


def _point(dictionary: Dictionary[T], free: list[int], generator: list[T]) -> list[T]:
    """The z of a generator, times the common denominator."""
    z = [dictionary.tolerance * 0] * dictionary.n
    for j, t in zip(free, generator, strict=False):
        if dictionary.nonbasic[j] >= dictionary.n:
            z[dictionary.nonbasic[j] - dictionary.n] = t * dictionary.denominator
    for row, variable in zip(dictionary.rows, dictionary.basic, strict=True):
        if variable >= dictionary.n and variable not in dictionary.fixed:
            value = row[-1] * generator[-1]
            for j, t in zip(free, generator, strict=False):
                value += row[j] * t
            z[variable - dictionary.n] = value
    return z


def union(problem: LCP, pieces: list[Piece], *, tolerance: float) -> tuple[list[FloatArray], list[Polytope]]:
    """The isolated points, each once, and the maximal faces of positive dimension.

    A piece lies in another one if its vertices and rays satisfy the complementarity of the other.

    Parameters
    ----------
    problem : LCP
        Scaled to entries of about one.
    pieces : list of Piece
        Convex sets of solutions, which may overlap.
    tolerance : float
        Numbers up to a hundred times this size, relative to the largest entry of a vertex (at least 1), count as zero.

    Returns
    -------
    isolated : list of ndarray, shape (n,)
        Solved again with the support of each point.
    continua : list of Polytope
    """
    points: list[FloatArray] = []
    faces: list[Piece] = []
    for piece in pieces:
        if len(piece.vertices) == 1 and not len(piece.rays):
            points.append(_polish(problem, piece.vertices[0], tolerance))
        else:
            faces.append(piece)
    faces.sort(key=lambda face: -len(face.vertices) - len(face.rays))
    maximal: list[Piece] = []
    for face in sorted(faces, key=lambda face: -_dimension(face)):
        if not any(_lies_in(problem, face, other, tolerance) for other in maximal):
            maximal.append(face)
    isolated: dict[bytes, list[FloatArray]] = {}
    for point in points:
        single = Piece(point[None, :], np.zeros((0, problem.n)))
        if any(_lies_in(problem, single, face, tolerance) for face in maximal):
            continue
        # isolated solutions differ in what is positive: all between two with the same support would be solutions
        same_support = isolated.setdefault((point > 0).tobytes(), [])
        if not any(_is_near(point, other, tolerance) for other in same_support):
            same_support.append(point)
    return [z for same in isolated.values() for z in same], [Polytope(face.vertices, face.rays) for face in maximal]


def _polish(problem: LCP, z: FloatArray, tolerance: float) -> FloatArray:
    support = np.flatnonzero(z > tolerance)
    cleaned = np.zeros(problem.n)
    cleaned[support] = z[support]
    return polished(problem, cleaned, support)


def _dimension(face: Piece) -> int:
    return Polytope(face.vertices, face.rays).dimension


def _is_near(point: FloatArray, other: FloatArray, tolerance: float) -> bool:
    size = max(1.0, float(np.abs(point).max(initial=0.0)))
    return float(np.abs(other - point).max(initial=0.0)) <= 1e2 * tolerance * size


def _lies_in(problem: LCP, piece: Piece, other: Piece, tolerance: float) -> bool:
    """Whether all of `piece` vanishes where all of `other` does (both consist of solutions)."""
    zero_z, zero_w = _zeros(problem, other, tolerance)
    size = max(1.0, float(np.abs(piece.vertices).max(initial=0.0)))
    slack = piece.vertices @ problem.M.T + problem.q
    growth = piece.rays @ problem.M.T
    largest = max(
        float(np.abs(block).max(initial=0.0)) / scale
        for block, scale in (
            (piece.vertices[:, zero_z], size),
            (slack[:, zero_w], size),
            (piece.rays[:, zero_z], 1.0),
            (growth[:, zero_w], 1.0),
        )
    )
    return largest <= 1e2 * tolerance


def _zeros(problem: LCP, face: Piece, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Indices whose z, and whose w, vanish on the whole face."""
    size = max(1.0, float(np.abs(face.vertices).max(initial=0.0)))
    bound = 1e2 * tolerance * size
    z = np.abs(np.vstack([face.vertices, face.rays])).max(axis=0, initial=0.0)
    slack = np.vstack([face.vertices @ problem.M.T + problem.q, face.rays @ problem.M.T])
    w = np.abs(slack).max(axis=0, initial=0.0)
    return z <= bound, w <= bound
