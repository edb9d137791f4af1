"""A certified map: what is proved about all states of a box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.displays import AbstractDisplayed, one_line
from hybrid.tables import dataframe

if TYPE_CHECKING:
    from hybrid.analysis.maps.axes import Axis
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = ["CertifiedMap", "Reason", "Witness"]

Array = NDArray[np.float64]


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
        Of the whole box.
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
        Number of the only region of each in the order of ``regions``, -1 where several are possible.
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
