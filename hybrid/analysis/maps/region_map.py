"""A region map: verdicts and consistent modes of the cells over two quantities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary
from hybrid.contact.classify import CellVerdict
from hybrid.displays import AbstractDisplayed, one_line

if TYPE_CHECKING:
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = ["RegionMap"]


@attrs.frozen(eq=False)
class RegionMap(AbstractDisplayed):
    """Verdicts and consistent modes at the midpoints of the cells of a map.

    Attributes
    ----------
    axes : tuple of two Axis
        Cell ``(i, j)`` is at ``axes[0].values[i]``, ``axes[1].values[j]``.
    verdict : array of uint8, (n0, n1)
        Values of :class:`hybrid.contact.CellVerdict`; ``MISSING`` where an interrupted map was not computed.
    modes : array of uint64, (n0, n1)
        Bit ``i`` is set where mode ``labels[i]`` is consistent.
    labels : tuple of str
        Modes that occur, sorted; also ``impact``, ``penetrating`` and ``unreachable``.
    margin : array, (n0, n1)
        Smallest scaled distance of a mode's decision to its flip.
    region : array of uint16, (n0, n1)
        Index into ``regions``; meaningless where the verdict is ``MISSING``.
    regions : tuple of str
        The labels of all modes that are consistent in a cell, sorted and joined by bars; ``none`` without any,
        ``undecided`` where the verdict is.
    verdict_fractions, mode_fractions : mapping of str to float
        Shares of the computed cells, which are areas by the midpoint rule, by name of the verdict and by region;
        largest first.
    boundaries : tuple of Boundary
        Curves between the regions, if they were asked for.
    branch : PostureBranch or None
        The branch of postures that the map shows, with its start, its folds and seams; None where the pins fix the
        posture by linear equations. A cell in which the branch has no posture is ``unreachable``.
    is_complete : bool
        False if the computation was interrupted.
    failures : tuple of str
        Chunks that could not be decided, with the ranges of their axes and the reasons.
    n_general : int
        Cells that the general method decided; the others were decided by compiled operations, as it would have.
    units : mapping of str to str
        Of what is swept, by name, as far as they are known.
    """

    axes: tuple[Axis, Axis]
    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    labels: tuple[str, ...]
    margin: NDArray[np.float64]
    region: NDArray[np.uint16]
    regions: tuple[str, ...]
    verdict_fractions: Mapping[str, float]
    mode_fractions: Mapping[str, float]
    boundaries: tuple[Boundary, ...] = ()
    is_complete: bool = True
    branch: PostureBranch | None = None
    n_general: int = 0
    failures: tuple[str, ...] = ()
    units: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    def __repr__(self) -> str:
        first, second = self.axes
        shares = [f"{name} {100 * share:.3g} %" for name, share in self.mode_fractions.items()]
        missing = "" if self.is_complete else f"{self.n_missing} missing"
        return one_line(f"RegionMap over {first.name} and {second.name}", f"{first.n} x {second.n}", missing, *shares)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.verdict.size)

    @property
    def n_missing(self) -> int:
        """Number of cells that an interrupted computation left out."""
        return int(np.count_nonzero(self.verdict == CellVerdict.MISSING))
