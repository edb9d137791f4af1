"""A certified map: what is proved about all states of a box, and about its slices, where some axes have one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import StateError
from hybrid.tables import dataframe
from hybrid.tolerances import SUMMED

if TYPE_CHECKING:
    from hybrid.analysis.maps.axes import Axis
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = ["CertifiedMap", "Reason", "Witness", "check_slice", "sliced"]

Array = NDArray[np.float64]
PointReading = Callable[[Array, NDArray[np.intp]], tuple[NDArray[np.intp], NDArray[np.bool_]]]


@attrs.frozen
class Witness:
    """A state that has a verdict.

    Attributes
    ----------
    at : mapping of str to float
        Values of the axes.
    box : mapping of str to pair of float
        The box that it is the middle of.
    """

    at: Mapping[str, float]
    box: Mapping[str, tuple[float, float]]


@attrs.frozen
class Reason:
    """Why nothing more is proved about some boxes.

    Attributes
    ----------
    because : str
        What is the case in them, or could not be excluded.
    share : float
        Of the whole box that the boxes have, even where only states without volume are open.
    box : mapping of str to pair of float
        The largest of them.
    """

    because: str
    share: float
    box: Mapping[str, tuple[float, float]]


@attrs.frozen(eq=False)
class CertifiedMap(AbstractDisplayed):
    """What is proved about all states of a box.

    Attributes
    ----------
    axes : tuple of Axis
    gap, gap_wanted : float
        Largest difference of the bounds of a region's share, reached and asked for.
    complete : bool
        False where the number of boxes or the time ended the work before the gap was reached, or divisions no longer
        helped.
    regions : mapping of str to (low, high)
        Bounds of the share of every region that is not excluded; largest first. The names are those of a map; any
        region that is not listed has no more than ``undecided``, where nothing is known.
    undecided : float
        Share of the boxes with more than one possible region.
    absent : mapping of str to bool or None
        For INCONSISTENT, INDETERMINATE and HYPERSTATIC: True if it is proved that no state of the closed box has this
        verdict, False if a state was met that has it, else None.
    witness : mapping of str to Witness
        These states.
    evaluations, boxes : int
        Boxes that were looked at, and that are left.
    parts : array, (boxes, number of axes, 2)
        Their ends.
    region : array of int, (boxes,)
        Number of the only region of each in the order of ``regions``, -1 where several are possible. It holds up to
        states without volume, at which a function vanishes.
    across : array of bool, (boxes, number of axes)
        Axes of which a slice has to keep one, so that those states have no area in it, either; none where nothing is
        known.
    at_points : callable
        ``at_points(points, places)`` reads what is proved at states ``points`` (N, number of axes) in parts of these
        ``places`` (N,), also where several regions are possible in a part: ``region`` (N,) and ``across`` (N, number of
        axes).
    branch : PostureBranch or None
        The branch of postures that it is about; None where the pins fix the posture by linear equations.
    reasons : tuple of Reason
        Why bounds are apart, or a verdict is neither absent nor met; largest share first.
    is_interrupted : bool
        True after Ctrl-C: bounds are proved all the same.
    units : mapping of str to str
        Of what is swept, by name, as far as they are known.
    """

    axes: tuple[Axis, ...]
    gap: float
    gap_wanted: float
    complete: bool
    regions: Mapping[str, tuple[float, float]]
    undecided: float
    absent: Mapping[str, bool | None]
    witness: Mapping[str, Witness]
    evaluations: int
    boxes: int
    parts: Array = attrs.field(repr=False)
    region: NDArray[np.intp] = attrs.field(repr=False)
    across: NDArray[np.bool_] = attrs.field(repr=False)
    at_points: PointReading = attrs.field(repr=False)
    branch: PostureBranch | None = None
    reasons: tuple[Reason, ...] = ()
    is_interrupted: bool = False
    units: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    def __repr__(self) -> str:
        shares = [f"{name} {100 * low:.4g} to {100 * high:.4g} %" for name, (low, high) in self.regions.items()]
        swept = " and ".join(axis.name for axis in self.axes)
        return one_line(f"CertifiedMap over {swept}", f"gap {self.gap:.2g}", f"{self.boxes} boxes", *shares)

    def to_dataframe(self) -> Any:
        """The boxes as a ``pandas.DataFrame``, a row for each.

        Returns
        -------
        pandas.DataFrame
            ``NAME.low`` and ``NAME.high`` of every axis, and ``region``, empty where several are possible.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).
        """
        columns: dict[str, Any] = {}
        for place, axis in enumerate(self.axes):
            columns |= {f"{axis.name}.low": self.parts[:, place, 0], f"{axis.name}.high": self.parts[:, place, 1]}
        names = np.array([*self.regions, ""])
        return dataframe(columns | {"region": names[self.region]})


_ROUNDING = SUMMED  # of sums of products of lengths, relative


@checks_arguments
def sliced(certified: CertifiedMap, at: Mapping[str, float]) -> CertifiedMap:
    """The boxes of a certified map that a slice meets.

    Parameters
    ----------
    certified : CertifiedMap
    at : mapping of str to float
        Values of the axes that are given up.

    Returns
    -------
    CertifiedMap
        Of the other axes. Shares are those of the slice: a box with several possible regions counts for all of them;
        one in which the zeros of a function may fill the slice is ``undecided``.
        What is proved absent is so in the slice, too; witnesses lie elsewhere and are left out.

    Raises
    ------
    StateError
        A name is not one of the axes, a value is beyond its ends, or no axis is left.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Axis, certified_map, derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis.parse(text) for text in ("phi=0:pi", "phi_dot=-2:2", "mu=0.5:2")]
    >>> found = sliced(certified_map(rod, axes=axes, pins={"slip.tip": -1}, gap=0.1), {"mu": 1.0})
    >>> [axis.name for axis in found.axes], next(iter(found.regions))
    (['phi', 'phi_dot'], 'slide-')
    """
    check_slice(certified.axes, at)
    axes = {axis.name: place for place, axis in enumerate(certified.axes)}
    kept = [place for name, place in axes.items() if name not in at]
    is_inside = np.ones(len(certified.parts), dtype=bool)
    for name, value in at.items():
        low, high = certified.parts[:, axes[name], 0], certified.parts[:, axes[name], 1]
        is_last = value >= certified.axes[axes[name]].high
        is_inside &= (low <= value) & ((value <= high) if is_last else (value < high))
    parts, across = certified.parts[is_inside][:, kept], certified.across[is_inside][:, kept]
    is_known = across.any(axis=-1)
    region = np.where(is_known, certified.region[is_inside], -1)
    left = tuple(certified.axes[place] for place in kept)
    widths = np.array([axis.width for axis in left])
    areas = np.prod((parts[..., 1] - parts[..., 0]) / widths, axis=-1)
    undecided = min(1.0, float(areas[region < 0].sum()))
    shares = {name: float(areas[region == number].sum()) for number, name in enumerate(certified.regions)}
    bounds = {
        name: (share * (1.0 - _ROUNDING), min(1.0, (share + undecided) * (1.0 + _ROUNDING)))
        for name, share in shares.items()
    }
    loose = min(1.0, float(areas[~is_known].sum()) * (1.0 + _ROUNDING))
    bounds["undecided"] = (0.0, loose)
    order = sorted((name for name, (_, high) in bounds.items() if high > 0.0), key=lambda name: -bounds[name][1])
    numbers = np.array([order.index(name) if name in order else -1 for name in certified.regions] + [-1])
    values = np.array([at.get(name, np.nan) for name in axes])

    return attrs.evolve(
        certified,
        at_points=partial(_on_slice, certified.at_points, values, kept, np.flatnonzero(is_inside), numbers),
        axes=left,
        gap=undecided,
        complete=undecided <= certified.gap_wanted,
        regions={name: bounds[name] for name in order},
        undecided=undecided,
        absent={key: True if is_absent else None for key, is_absent in certified.absent.items()},
        witness={},
        reasons=(),
        boxes=len(parts),
        parts=parts,
        region=numbers[region],
        across=across,
    )


def _on_slice(
    at_points: PointReading,
    values: Array,
    kept: list[int],
    inside: NDArray[np.intp],
    numbers: NDArray[np.intp],
    points: Array,
    places: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """What a map reads at states of its slice."""
    whole = np.repeat(values[None], len(points), axis=0)
    whole[:, kept] = points
    region, across = at_points(whole, inside[places])
    return numbers[region], across[:, kept]


def check_slice(axes: Sequence[Axis], at: Mapping[str, float]) -> None:
    """Refuse a slice that axes do not have.

    Parameters
    ----------
    axes : sequence of Axis
    at : mapping of str to float
        Values of the axes that are given up.

    Returns
    -------
    None
        Every value lies on its axis, and one axis at least is left.

    Raises
    ------
    StateError
        Names the axis.
    """
    ends = {axis.name: (axis.low, axis.high) for axis in axes}
    for name, value in at.items():
        if name not in ends:
            raise StateError(f"slice {name}: no such axis; there are {', '.join(ends)}")
        low, high = ends[name]
        if not low <= value <= high:
            raise StateError(f"slice {name}: {value:g} is beyond its axis from {low:g} to {high:g}")
    if len(at) == len(ends):
        raise StateError("a slice keeps one axis at least")
