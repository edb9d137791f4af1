"""Sweeps: states over some quantities, everything else pinned, and planes, which are those over two."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.maps.axes import Axis, axes_of, branch_over, check_axes, placed
from hybrid.contact.classification import CellVerdict, Classification, classify
from hybrid.contact.selection import select
from hybrid.dynamics import solve_state, solve_states
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import CANCELLED, INTEGRATED, ROUNDING, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.posture_branch import PostureBranch
    from hybrid.dynamics.state import States

UNDECIDED_CODE = np.uint64(1 << 63)
SEVERAL_CODE = np.uint64(1 << 62)  # one mode has several solutions: bilateral contacts with forces of either sign
_MOST_LABELS = 62
# Next to a boundary every state is close to a tie. Bisection wants to know on which side, not whether a tolerance
# vouches for it, so signs and ranks are taken down to where rounding alone makes redundant contacts look regular.
_SHARP = CANCELLED
# The rim of a map, just inside an axis of slips that begins at zero, must not count as at rest.
_STILL = ROUNDING
# A point on a tie belongs to no side; its code is that of a point this share of the axes further on.
_SHIFT = INTEGRATED

Code = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.uint64]]


@attrs.frozen(eq=False)
class Sweep:
    """States over axes.

    Attributes
    ----------
    dynamics : Dynamics
    axes : tuple of Axis
    pins : mapping of str to value
        What is fixed besides the axes.
    tolerances : Tolerances
    branch : PostureBranch or None
        Of postures, to which all states belong; None where the pins fix the posture by linear equations.
    decides_ties : bool
        False leaves states on a tie undecided.
    """

    dynamics: Dynamics
    axes: tuple[Axis, ...]
    pins: Mapping[str, Any]
    tolerances: Tolerances
    branch: PostureBranch | None = None
    decides_ties: bool = True

    def states(self, *at: NDArray[np.float64]) -> tuple[States, Dynamics]:
        """States, and the equations, at values of the two axes that broadcast against each other."""
        pins, dynamics = placed(self.dynamics, self.axes, at, pins=self.pins)
        return solve_states(dynamics, pins, branch=self.branch, tolerances=self.tolerances), dynamics

    def classified(self, *at: NDArray[np.float64]) -> Classification:
        """Verdicts and consistent modes there, in the broadcast shape."""
        states, dynamics = self.states(*at)
        found = classify(dynamics, states, tolerances=self.tolerances, decide_ties=self.decides_ties)
        shape = np.broadcast_shapes(*(value.shape for value in at))
        if found.verdict.shape == shape:
            return found
        # nothing depends on one of the axes
        return Classification(
            np.broadcast_to(found.verdict, shape),
            np.broadcast_to(found.modes, shape),
            found.labels,
            np.broadcast_to(found.margin, shape),
        )

    def verdict(self, *at: float) -> str | None:
        """The verdict at one value of every axis; None where there is no state."""
        pins, dynamics = placed(self.dynamics, self.axes, list(map(float, at)), pins=self.pins)
        given = {name: value if isinstance(value, str) else float(value) for name, value in pins.items()}
        start = None if self.branch is None else dict(self.branch.start)
        try:
            state = solve_state(dynamics, given, branch=start, tolerances=self.tolerances)
            return select(dynamics, state, tolerances=self.tolerances).verdict.name
        except (StateError, ComputationError):
            return None

    def coder(self, dictionary: RegionCodes) -> Code:
        """A function that gives the region codes at values of the two axes."""

        def code(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.uint64]:
            codes = dictionary.codes(self.classified(x, y))
            tied = codes == UNDECIDED_CODE
            if tied.any():
                moved = [
                    np.where(2 * value > axis.low + axis.high, value - shift, value + shift)[tied]
                    for axis, value in zip(self.axes, np.broadcast_arrays(x, y), strict=True)
                    for shift in (_SHIFT * axis.width,)
                ]
                codes[tied] = dictionary.codes(self.classified(moved[0], moved[1]))
            return codes

        return code

    def sharp(self) -> Sweep:
        """The same plane without a tolerance band around ties, for bisection."""
        tolerances = attrs.evolve(
            self.tolerances, sign=_SHARP, rank=_SHARP, velocity=min(_STILL, self.tolerances.velocity)
        )
        return attrs.evolve(self, tolerances=tolerances, decides_ties=False)


def plane_of(
    dynamics: Dynamics,
    axes: Sequence[Axis | str],
    *,
    pins: Mapping[str, Any] | None,
    fixed: Collection[str] | None = None,
    branch: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
) -> Sweep:
    """A plane of states on one branch of postures, after a check that it has two axes that nothing else fixes.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis or str
        Two. As texts, such as ``"phi=0:pi:100"``, they are read by :meth:`Axis.parse`.
    pins : mapping of str to value, or None
        What is fixed besides.
    fixed : collection of str, optional
        Parameters that are given a value, and so are not swept.
    branch : mapping of str to value, optional
        A posture of the branch, for a choice among several.
    tolerances : Tolerances, optional

    Returns
    -------
    Sweep

    Raises
    ------
    StateError
        There are not two axes, or one is no pin or parameter, or is fixed.
    """
    pins, axes = dict(pins or {}), axes_of(dynamics, axes)
    if len(axes) != 2:
        raise StateError(f"give two axes, as phi=0:pi:400 and phi_dot=-3:3:400; got {len(axes)}")
    check_axes(dynamics, axes, fixed=(*pins, *(fixed or ())))
    followed = branch_over(dynamics, axes, pins=pins, start=branch, tolerances=tolerances)
    return Sweep(dynamics, axes, pins, tolerances, followed)


@attrs.define(eq=False)
class RegionCodes:
    """Mode labels met so far; bit ``i`` of a region's code stands for ``labels[i]``."""

    labels: list[str] = attrs.field(factory=list)

    def translated(self, modes: NDArray[np.uint64], labels: Sequence[str]) -> NDArray[np.uint64]:
        """Bits over another list of labels in terms of this one, which grows as needed."""
        if list(labels) == self.labels[: len(labels)]:
            return modes
        used = int(np.bitwise_or.reduce(modes, axis=None)) if modes.size else 0
        translated = np.zeros_like(modes)
        for index, label in enumerate(labels):
            if used >> index & 1:
                bit = (modes >> np.uint64(index)) & np.uint64(1)
                translated |= bit << np.uint64(self.place(label))
        return translated

    def codes(self, found: Classification) -> NDArray[np.uint64]:
        """One code for each state: its consistent modes, and if a single one is indeterminate, or undecided."""
        codes = self.translated(found.modes, found.labels)
        several, undecided = found.verdict == CellVerdict.INDETERMINATE, found.verdict == CellVerdict.UNDECIDED
        if several.any():
            several &= (codes & (codes - np.uint64(1)) == 0) & (codes != 0)
            codes = np.where(several, codes | SEVERAL_CODE, codes) if several.any() else codes
        return np.where(undecided, UNDECIDED_CODE, codes) if undecided.any() else codes

    def region(self, code: int) -> str:
        """Consistent labels of a code, sorted and joined by bars; ``none`` without any.

        A label that stands alone though the verdict is indeterminate says so.
        """
        if code == UNDECIDED_CODE:
            return "undecided"
        names = "|".join(sorted(label for i, label in enumerate(self.labels) if code >> i & 1)) or "none"
        return f"{names} (indeterminate)" if code & int(SEVERAL_CODE) else names

    def place(self, label: str) -> int:
        """The bit of a label, a new one if it has not been met; ComputationError if there are too many."""
        if label not in self.labels:
            self.labels.append(label)
        if len(self.labels) > _MOST_LABELS:
            raise ComputationError(
                f"a map holds at most {_MOST_LABELS} different modes; pin more contacts open or slipping"
            )
        return self.labels.index(label)
