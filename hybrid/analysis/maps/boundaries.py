"""Curves between the regions of a map, refined by root finding."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.crossings import WIDTH, CellGrid, chains, crossings, links
from hybrid.analysis.maps.junctions import junctions
from hybrid.analysis.maps.plane import UNDECIDED_CODE, Code, Plane, RegionCodes
from hybrid.tolerances import NOTHING

# The rim of the map is looked at from just inside, where a pin at its end has no special meaning.
_INSET = NOTHING


@attrs.frozen(eq=False)
class Boundary:
    """A curve between two regions of a map.

    Attributes
    ----------
    between : tuple of two str
        Names of the regions, sorted.
    points : array, (k, 2)
        Points of the curve in order, to 1e-10 of the axes, and to 1e-6 where a branch of postures ends at a fold; the
        first is repeated at the end of a closed curve. Curves that meet end at the same point.
    """

    between: tuple[str, str]
    points: NDArray[np.float64]

    @property
    def is_closed(self) -> bool:
        """True for a curve that returns to its start."""
        return bool(np.array_equal(self.points[0], self.points[-1]))


def trace_boundaries(plane: Plane, codes: NDArray[np.uint64], dictionary: RegionCodes) -> tuple[Boundary, ...]:
    """Trace the curves between the regions of a classified map.

    Every pair of neighbouring cells with different regions has a point of the curve between their midpoints; these are
    found by bisection and joined across squares of four midpoints. Where three or more regions meet in a square, the
    point at which they meet is found by halving the square.

    Parameters
    ----------
    plane : Plane
    codes : array of uint64, (n0, n1)
        Region codes at the midpoints of the cells.
    dictionary : RegionCodes
        Names the bits of the codes.

    Returns
    -------
    tuple of Boundary
        Sorted by the regions' names, long curves first.
    """
    code = plane.sharp().coder(dictionary)
    lattice = _framed(plane, code, codes)
    found = crossings(code, lattice, width=WIDTH * min(codes.shape))
    pairs, dangling, squares = links(found, lattice.codes.shape)
    corner, size = lattice.squares(squares)
    rim = np.array([[axis.at([share])[0] for axis in plane.axes] for share in (_INSET, 1 - _INSET)])
    points = np.concatenate([found.points, junctions(code, corner, size, rim=rim)])
    n = len(found.points)
    curves = []
    for chain in chains(n, np.concatenate([pairs, dangling + np.array([0, n])])):
        names = sorted(dictionary.region(int(item)) for item in found.between[min(chain)])
        curves.append(Boundary((names[0], names[1]), points[chain]))
    return tuple(sorted(curves, key=lambda curve: (curve.between, -len(curve.points))))


def _framed(plane: Plane, code: Code, codes: NDArray[np.uint64]) -> CellGrid:
    """The midpoints of the cells with their codes, and a frame of points on the rim."""
    x, y = (np.concatenate([axis.at([_INSET]), axis.values, axis.at([1 - _INSET])]) for axis in plane.axes)
    framed = np.empty((len(x), len(y)), dtype=np.uint64)
    framed[1:-1, 1:-1] = codes
    framed[[0, -1], :] = code(x[[0, -1], None], y[None, :])
    framed[:, [0, -1]] = code(x[:, None], y[None, [0, -1]])
    i, j = np.nonzero(framed == UNDECIDED_CODE)
    framed[i, j] = code(x[i], y[j])
    return CellGrid(np.broadcast_to(x[:, None], framed.shape), np.broadcast_to(y, framed.shape), framed)
