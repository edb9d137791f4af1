"""Where ordinary calls look for compiled kernels: importing this compiles nothing, and `lcp.kernels.load` fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lcp.problem import FloatArray

__all__ = ["Kernels", "kernels"]


class Kernels(NamedTuple):
    """Compiled functions that say the same as the plain ones, but for their last digits, sooner.

    Parameters
    ----------
    follow : callable
        `lcp.path.follow` of (M, q, z, w).
    every_solution : callable
        `lcp.kernels.cones.every_solution` of (M, q, Z), at most 30 unknowns: how many solutions there are, those for
        which Z has rows written there, or a negative number where rounding may have decided.
    """

    follow: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], int]
    every_solution: Callable[[FloatArray, FloatArray, FloatArray], int]


kernels: Final[list[Kernels]] = []
"""Empty until they are loaded."""
