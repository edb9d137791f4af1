"""Curves between the regions of a map, refined by root finding."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.plane import UNDECIDED_CODE, Code, RegionCodes, Sweep
from hybrid.analysis.maps.transitions import transitions
from hybrid.tolerances import NOTHING, RESOLVED

Indices = NDArray[np.int64]

WIDTH = RESOLVED
"""Points of a boundary are this close to it, as a share of the axes."""

_FLICKER = 64  # curves between the same two regions do not cross one square so often


@attrs.frozen(eq=False)
class CellGrid:
    """Nodes in rows and columns with their region codes.

    Attributes
    ----------
    x, y : array, (N0, N1)
        Values of the two axes.
    codes : array of uint64, (N0, N1)
    cut_every : int
        Rows come in groups of so many between which there are no edges; 0: all rows are connected.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    codes: NDArray[np.uint64]
    cut_every: int = 0

    def squares(self, corners: Indices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower corners (k, 2) and sizes (k, 2) of squares by index (k, 2)."""
        i, j = corners.T
        low = np.stack([self.x[i, j], self.y[i, j]], axis=-1)
        return low, np.stack([self.x[i + 1, j + 1], self.y[i + 1, j + 1]], axis=-1) - low


@attrs.frozen(eq=False)
class Crossings:
    """Points at which boundaries cross the edges of a lattice.

    Attributes
    ----------
    points : array, (m, 2)
    between : array of uint64, (m, 2)
        Codes of the two regions, sorted.
    axis, i, j : array of int, (m,)
        The edge: from node ``(i, j)`` to the next node along ``axis``.
    """

    points: NDArray[np.float64]
    between: NDArray[np.uint64]
    axis: Indices
    i: Indices
    j: Indices


def crossings(code: Code, lattice: CellGrid, *, width: float) -> Crossings:
    """Bisect every edge whose ends lie in different regions.

    Parameters
    ----------
    code : callable
    lattice : CellGrid
    width : float
        To this share of the edges.

    Returns
    -------
    Crossings
    """
    codes = lattice.codes
    along = codes[1:] != codes[:-1]
    if lattice.cut_every:
        along[lattice.cut_every - 1 :: lattice.cut_every] = False
    edges = (np.nonzero(along), np.nonzero(codes[:, 1:] != codes[:, :-1]))
    i, j = (np.concatenate([edges[0][k], edges[1][k]]) for k in (0, 1))
    axis = np.repeat([0, 1], [len(edges[0][0]), len(edges[1][0])])
    i_end, j_end = i + (axis == 0), j + (axis == 1)
    start, end = ((lattice.x[a, b], lattice.y[a, b]) for a, b in ((i, j), (i_end, j_end)))

    def code_on_edge(edge: Indices, share: NDArray[np.float64]) -> NDArray[np.uint64]:
        x, y = ((1 - share) * start[k][edge] + share * end[k][edge] for k in (0, 1))
        return code(x, y)

    low, high = np.zeros(len(i)), np.ones(len(i))
    found = transitions(code_on_edge, np.arange(len(i)), low, high, codes[i, j], codes[i_end, j_end], width=width)
    edge, share = found.segment, found.share
    return Crossings(
        points=np.stack([(1 - share) * start[k][edge] + share * end[k][edge] for k in (0, 1)], axis=-1),
        between=np.sort(np.stack([found.before, found.after], axis=-1), axis=-1),
        axis=axis[edge],
        i=i[edge],
        j=j[edge],
    )


def links(crossings: Crossings, shape: tuple[int, ...]) -> tuple[Indices, Indices, Indices]:
    """Link the crossings of every square of the lattice that lie on the same boundary.

    Parameters
    ----------
    crossings : Crossings
    shape : tuple of two int
        Of the lattice.

    Returns
    -------
    pairs : array of int, (l, 2)
        Crossings to be joined by a straight piece.
    dangling : array of int, (d, 2)
        Crossings whose boundary ends within the square, with the number of the square among ``squares``.
    squares : array of int, (s, 2)
        Lower corners of the squares in which boundaries end.
    """
    square, crossing = _memberships(crossings, shape)
    first, second = crossings.between[crossing].T
    order = np.lexsort((crossing, second, first, square))
    square, crossing, first, second = square[order], crossing[order], first[order], second[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(square) != 0) | (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    start = np.flatnonzero(new)
    size = np.diff(np.append(start, len(order)))
    two = start[size == 2]
    pairs = [np.stack([crossing[two], crossing[two + 1]], axis=-1)]
    ends: list[tuple[int, int]] = []
    for begin, count in zip(start[size != 2], size[size != 2], strict=True):
        group = crossing[begin : begin + count].tolist()
        pairs += [np.array([pair]) for pair in _nearest_pairs(group, crossings.points)]
        ends += [(item, int(square[begin])) for item in group]  # those that found no partner are left in it
    dangling = np.array(ends, dtype=np.int64).reshape(-1, 2)
    found, number = np.unique(dangling[:, 1], return_inverse=True)
    dangling[:, 1] = number
    squares = np.stack(np.divmod(found, shape[1] - 1), axis=-1)
    return np.concatenate(pairs), dangling, squares


def _memberships(crossings: Crossings, shape: tuple[int, ...]) -> tuple[Indices, Indices]:
    """The two squares on either side of each crossed edge; on the rim only one."""
    i = np.concatenate([crossings.i, crossings.i - (crossings.axis == 1)])
    j = np.concatenate([crossings.j, crossings.j - (crossings.axis == 0)])
    crossing = np.tile(np.arange(len(crossings.i)), 2)
    inside = (i >= 0) & (j >= 0) & (i < shape[0] - 1) & (j < shape[1] - 1)
    return (i * (shape[1] - 1) + j)[inside], crossing[inside]


def _nearest_pairs(group: list[int], points: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Take nearest pairs out of a group until fewer than two are left in it; none where regions flicker by rounding."""
    if not 1 < len(group) <= _FLICKER:
        return []
    first, second = np.triu_indices(len(group), k=1)
    apart = np.sum((points[group][first] - points[group][second]) ** 2, axis=-1)
    pairs = []
    left = set(group)
    for k in np.argsort(apart, kind="stable").tolist():  # of equally near pairs the earlier one, as they stand
        a, b = group[first[k]], group[second[k]]
        if a in left and b in left:
            pairs.append((a, b))
            left -= {a, b}
    group[:] = [item for item in group if item in left]
    return pairs


def chains(n: int, pairs: Indices) -> Iterator[list[int]]:
    """Linked points joined to chains.

    Parameters
    ----------
    n : int
        Points ``0 ... n - 1`` have at most two links; chains end at any other.
    pairs : array of int, (l, 2)
        The links.

    Returns
    -------
    iterator of list of int
        Points of a chain in order; the first is repeated at the end of a closed one.

    Examples
    --------
    >>> list(chains(4, np.array([[0, 1], [1, 2], [2, 7], [3, 8]])))
    [[0, 1, 2, 7], [8, 3]]
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in pairs.tolist():
        if a < n:
            neighbours[a].append(b)
        if b < n:
            neighbours[b].append(a)
    visited = [False] * n
    ends = [p for p in range(n) if len(neighbours[p]) < 2 or max(neighbours[p]) >= n]
    for start in (*ends, *range(n)):
        if visited[start] or not neighbours[start]:
            continue
        outer = [p for p in neighbours[start] if p >= n]
        chain = [*outer[:1], start]
        visited[start] = True
        rest = [p for p in neighbours[start] if p not in chain] or outer[1:]
        while rest:
            here = rest[0]
            previous = chain[-1]
            chain.append(here)
            if here >= n or visited[here]:
                break
            visited[here] = True
            others = list(neighbours[here])
            others.remove(previous)
            rest = others
        yield chain


# Cutting a cell of a map of 10 cells into parts this often ends below 1e-10 of the axes.
_MAX_ROUNDS = 9
_PARTS = 16
# A part is taken with this much of its neighbours: curves that meet on its rim would end inside it or not by rounding.
_MARGIN = 1 / 4
# Crossings of the small lattices need only be in order along their edges.
_WIDTH = 1e-4


def common_points(
    code: Code, corner: NDArray[np.float64], size: NDArray[np.float64], *, rim: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find where the curves that end within squares meet.

    A square is cut into 16 x 16 parts. Curves only pass through the parts that do not hold the point, so the part in
    which curves end is kept; where a narrow region lies between two curves, that is more reliable than to count
    regions.

    Parameters
    ----------
    code : callable
    corner, size : array, (k, 2)
        Lower corners and sizes of the squares.
    rim : array, (2, 2)
        Lower and upper corner of the map, beyond which a quantity may have no value.

    Returns
    -------
    array, (k, 2)
        To 1e-10 of the axes; the centre of the last part in which curves end if they do not meet in one point, and of
        the first in which regions flicker by rounding.
    """
    corner, size = corner.copy(), size.copy()
    active = np.arange(len(corner))
    for _ in range(_MAX_ROUNDS):
        if not active.size:
            break
        ends = _ends(code, corner[active], size[active])
        best = np.argmax(ends, axis=1)
        most = ends[np.arange(len(ends)), best]
        holds = most > 0
        active, best, flickers = active[holds], best[holds], most[holds] > _FLICKER
        part = size[active] / _PARTS
        start = corner[active] + part * (np.stack(np.divmod(best, _PARTS), axis=-1) - _MARGIN)
        end = np.minimum(start + (1 + 2 * _MARGIN) * part, rim[1])
        corner[active] = np.maximum(start, rim[0])
        size[active] = end - corner[active]
        active = active[~flickers]  # there rounding decides over whole parts, and no point is to be found
    return np.asarray(corner + size / 2)


def _ends(code: Code, corner: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number of curves that end in each part, (k, 256)."""
    steps = np.arange(_PARTS + 1) / _PARTS
    x = corner[:, 0, None, None] + size[:, 0, None, None] * steps[:, None]
    y = corner[:, 1, None, None] + size[:, 1, None, None] * steps[None, :]
    # the small lattices one below the other, without edges between them
    stacked = (len(corner) * (_PARTS + 1), _PARTS + 1)
    nodes = [item.reshape(stacked) for item in (*np.broadcast_arrays(x, y), code(x, y))]
    lattice = CellGrid(nodes[0], nodes[1], nodes[2], cut_every=_PARTS + 1)
    _, dangling, squares = links(crossings(code, lattice, width=_WIDTH), stacked)
    ends = np.zeros((len(corner), _PARTS + 1, _PARTS), dtype=np.int64)
    index, row = np.divmod(squares[dangling[:, 1], 0], _PARTS + 1)
    np.add.at(ends, (index, row, squares[dangling[:, 1], 1]), 1)
    return ends[:, :_PARTS].reshape(len(corner), -1)


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


def trace_boundaries(plane: Sweep, codes: NDArray[np.uint64], dictionary: RegionCodes) -> tuple[Boundary, ...]:
    """Trace the curves between the regions of a classified map.

    Every pair of neighbouring cells with different regions has a point of the curve between their midpoints; these are
    found by bisection and joined across squares of four midpoints. Where three or more regions meet in a square, the
    point at which they meet is found by halving the square.

    Parameters
    ----------
    plane : Sweep
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
    points = np.concatenate([found.points, common_points(code, corner, size, rim=rim)])
    n = len(found.points)
    curves = []
    for chain in chains(n, np.concatenate([pairs, dangling + np.array([0, n])])):
        names = sorted(dictionary.region(int(item)) for item in found.between[min(chain)])
        curves.append(Boundary((names[0], names[1]), points[chain]))
    return tuple(sorted(curves, key=lambda curve: (curve.between, -len(curve.points))))


def _framed(plane: Sweep, code: Code, codes: NDArray[np.uint64]) -> CellGrid:
    """The midpoints of the cells with their codes, and a frame of points on the rim."""
    x, y = (np.concatenate([axis.at([_INSET]), axis.values, axis.at([1 - _INSET])]) for axis in plane.axes)
    framed = np.empty((len(x), len(y)), dtype=np.uint64)
    framed[1:-1, 1:-1] = codes
    framed[[0, -1], :] = code(x[[0, -1], None], y[None, :])
    framed[:, [0, -1]] = code(x[:, None], y[None, [0, -1]])
    i, j = np.nonzero(framed == UNDECIDED_CODE)
    framed[i, j] = code(x[i], y[j])
    return CellGrid(np.broadcast_to(x[:, None], framed.shape), np.broadcast_to(y, framed.shape), framed)
