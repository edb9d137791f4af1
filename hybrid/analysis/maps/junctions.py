"""Points at which three or more regions meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.crossings import CellGrid, crossings, links
from hybrid.analysis.maps.plane import Code

# Cutting a cell of a map of 10 cells into parts this often ends below 1e-10 of the axes.
_MAX_ROUNDS = 9
_PARTS = 16
# A part is taken with this much of its neighbours: curves that meet on its rim would end inside it or not by rounding.
_MARGIN = 1 / 4
# Crossings of the small lattices need only be in order along their edges.
_WIDTH = 1e-4


def junctions(
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
        To 1e-10 of the axes; the centre of the last part in which curves end if they do not meet in one point.
    """
    corner, size = corner.copy(), size.copy()
    active = np.arange(len(corner))
    for _ in range(_MAX_ROUNDS):
        if not active.size:
            break
        ends = _ends(code, corner[active], size[active])
        best = np.argmax(ends, axis=1)
        holds = ends[np.arange(len(ends)), best] > 0
        active, best = active[holds], best[holds]
        part = size[active] / _PARTS
        start = corner[active] + part * (np.stack(np.divmod(best, _PARTS), axis=-1) - _MARGIN)
        end = np.minimum(start + (1 + 2 * _MARGIN) * part, rim[1])
        corner[active] = np.maximum(start, rim[0])
        size[active] = end - corner[active]
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
