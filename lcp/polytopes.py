"""Convex sets of solutions, by their vertices and rays."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray, float_array, value_key
from lcp.double_description import cone_generators
from lcp.errors import LCPError
from lcp.tolerances import PIVOT

__all__ = ["Polytope", "polytope"]


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
