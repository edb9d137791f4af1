"""From the leaves of the search to the solution set: pieces, and their union without repetition."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs
import numpy as np

from lcp.lemke import polished
from lcp.polytopes import Polytope, cone_generators

if TYPE_CHECKING:
    from lcp.dictionary import Dictionary
    from lcp.problem import LCP, FloatArray

__all__ = ["Piece", "face_generators", "piece_of", "union"]


T = TypeVar("T", int, float)


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
