"""Ctrl-C in a computation that simulates many motions: it ends, and no half motion is taken for a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid.motion.outcome import Termination

if TYPE_CHECKING:
    from hybrid.motion.trajectory import Trajectory

__all__ = ["check_uninterrupted"]


def check_uninterrupted(motion: Trajectory) -> None:
    """Raise again the interruption that a simulation has answered with the motion up to it.

    Raises
    ------
    KeyboardInterrupt
    """
    if motion.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
