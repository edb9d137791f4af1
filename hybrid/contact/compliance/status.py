"""What compliant contacts do between two events: press or not, stick or slip."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.modes import ContactMode, Mode
from hybrid.expressions import plain
from hybrid.tolerances import AGREEING, CLEAR, ROUNDING

__all__ = ["STOPPED", "VANISHING", "ContactStatus", "beyond_leaving", "has_stopped", "pace"]

STOPPED = AGREEING
"""Spatial slip at or below this share of the velocities has stopped; an impulse removes the rest."""
VANISHING = ROUNDING
"""Share of the velocities that is rounding."""
_LEFT = CLEAR  # slip from rest keeps its first direction up to this share of the velocities


@attrs.define(eq=False)
class ContactStatus:
    """What each element does: whether it presses, the direction of its slip (None while it sticks), and if it leaves.

    Force elements are contacts, then friction elements and rough constraints, which always press. A planar direction is
    ``(1.0,)`` or ``(-1.0,)``; that of a spatial contact is the one in which its slip began. A spatial contact leaves
    rest while its slip is too small to have a direction of its own. The force of a rough constraint that slides has the
    sign ``side``.
    """

    presses: list[bool]
    slip: list[tuple[float, ...] | None]
    leaves: list[bool]
    side: list[float]

    @classmethod
    def open(cls, count: int) -> ContactStatus:
        """Force elements that do nothing."""
        return cls([False] * count, [None] * count, [False] * count, [1.0] * count)

    def copy(self) -> ContactStatus:
        """An independent copy."""
        return ContactStatus(list(self.presses), list(self.slip), list(self.leaves), list(self.side))

    def begin_slip(self, index: int, direction: tuple[float, ...] | None) -> None:
        """Let a contact at rest slip, or stick with None."""
        self.slip[index] = direction
        self.leaves[index] = direction is not None and len(direction) == 2

    def resting(self, sizes: Sequence[int]) -> list[int]:
        """Force elements with friction that press and do not slip; ``sizes`` are their tangential dimensions."""
        return [i for i, size in enumerate(sizes) if size and self.presses[i] and self.slip[i] is None]

    def rotating(self, sizes: Sequence[int]) -> list[int]:
        """Spatial contacts whose slip turns."""
        return [
            i for i, size in enumerate(sizes)
            if size == 2 and self.presses[i] and self.slip[i] is not None and not self.leaves[i]
        ]  # fmt: skip

    def direction(self, index: int, slip: NDArray[np.float64]) -> NDArray[np.float64]:
        """Direction of the slip of a contact that slips: its own, unless it is planar or only leaves rest."""
        own = len(slip) == 2 and not self.leaves[index] and np.any(plain(slip))
        return np.asarray(slip / np.linalg.norm(slip)) if own else np.array(self.slip[index])

    def label(self, names: Sequence[str], sizes: Sequence[int]) -> str:
        """The label of the mode, as of the rigid problem: ``"a=stick,b=free"``."""
        modes = {
            name: ContactMode.of_slip(direction, size) if presses else ContactMode.FREE
            for name, presses, direction, size in zip(names, self.presses, self.slip, sizes, strict=True)
        }
        return Mode(modes).label


def has_stopped(slip: NDArray[np.float64], speed: float) -> bool:
    """True if a slip is too small, next to the velocities, to have a direction: the same at its start and its end.

    Parameters
    ----------
    slip : array, (1,) or (2,)
        Slip velocity of one contact.
    speed : float
        Size of the velocities, in the same unit.

    Returns
    -------
    bool
    """
    return bool(np.linalg.norm(slip) <= (STOPPED if len(slip) == 2 else VANISHING) * speed)


def beyond_leaving(slip: NDArray[np.float64], speed: float) -> float:
    """Quantity that is positive once a slip that began at rest is large enough to have its own direction.

    Parameters
    ----------
    slip : array, (2,)
        Slip velocity of one contact.
    speed : float
        Size of the velocities, in the same unit, next to which it is large enough.

    Returns
    -------
    float
        In the unit of the velocities.
    """
    return float(np.linalg.norm(slip)) - _LEFT * speed


def pace(slips: Sequence[NDArray[np.float64]], speed: float) -> float:
    """Rate of fast time while spatial slips turn: their speeds, so that each dies out exponentially (Batlle 1996).

    Parameters
    ----------
    slips : sequence of array, (2,)
        Slip velocities that turn.
    speed : float
        Size of the velocities.

    Returns
    -------
    float
        1 if none turns.
    """
    sizes = [float(np.linalg.norm(slip)) for slip in slips]
    if not sizes:
        return 1.0
    return 0.0 if min(sizes) == 0.0 else 1.0 / sum(speed / size for size in sizes)
