"""A region map: verdicts and consistent modes of the cells over two quantities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary
from hybrid.contact.classification import CellVerdict
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.tables import dataframe, dataset

if TYPE_CHECKING:
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = ["RegionMap"]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


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
        The labels of the modes that are consistent in a cell, sorted and joined by bars; ``none`` without any,
        ``undecided`` where the verdict is. One stands for a set of forces, though others hold at its edges; followed by
        ``(indeterminate)``, for several accelerations.
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
    verdict: NDArray[np.uint8] = attrs.field(converter=_read_only)
    modes: NDArray[np.uint64] = attrs.field(converter=_read_only)
    labels: tuple[str, ...]
    margin: NDArray[np.float64] = attrs.field(converter=_read_only)
    region: NDArray[np.uint16] = attrs.field(converter=_read_only)
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

    def to_xarray(self) -> Any:
        """The cells as an ``xarray.Dataset``.

        Returns
        -------
        xarray.Dataset
            ``verdict`` and ``region``, texts, and ``margin`` over the two axes; empty texts where cells are missing.

        Raises
        ------
        ComputationError
            xarray is not installed (the extra ``store``).

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive, region_map
        >>> rod = derive(mechanisms.load("rod_on_incline"))
        >>> found = region_map(rod, axes=["phi=0:pi:4", "phi_dot=-4:4:2"], pins={"slip.tip": "+0"})
        >>> table = found.to_xarray()
        >>> table.region.sel(phi=1.5, phi_dot=2, method="nearest").item(), table.phi.units
        ('free', 'rad')
        """
        names = tuple(axis.name for axis in self.axes)
        verdicts, regions = self._texts()
        return dataset(
            {
                "verdict": (names, verdicts, {"long_name": "verdict"}),
                "region": (names, regions, {"long_name": "consistent modes"}),
                "margin": (names, self.margin, {"long_name": "scaled distance to the flip of a decision"}),
            },
            coords={
                axis.name: (axis.name, axis.values, {"units": self.units.get(axis.name, "")}) for axis in self.axes
            },
        )

    def to_dataframe(self) -> Any:
        """The cells as a ``pandas.DataFrame``, a row for each.

        Returns
        -------
        pandas.DataFrame
            Columns by the names of the axes, ``verdict``, ``region`` and ``margin``.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).
        """
        places = np.meshgrid(*(axis.values for axis in self.axes), indexing="ij")
        columns = {axis.name: place.ravel() for axis, place in zip(self.axes, places, strict=True)}
        verdicts, regions = self._texts()
        cells = {"verdict": verdicts.ravel(), "region": regions.ravel(), "margin": self.margin.ravel()}
        return dataframe(columns | cells)

    def _texts(self) -> tuple[NDArray[np.str_], NDArray[np.str_]]:
        """Names of verdicts and regions (n0, n1), empty where cells are missing."""
        is_missing = self.verdict == CellVerdict.MISSING
        verdicts = np.array([CellVerdict(code).name for code in range(len(CellVerdict))])[self.verdict]
        regions = np.array([*self.regions, ""])[np.where(is_missing, len(self.regions), self.region)]
        return np.where(is_missing, "", verdicts), regions
