"""Where ordinary calls look for compiled kernels: importing this compiles nothing, and `lcp.kernels.load` fills it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray

__all__ = ["Kernels", "kernels"]


class Kernels(NamedTuple):
    """Compiled functions that say the same as the plain ones, but for their last digits, sooner.

    Parameters
    ----------
    follow : callable
        `lcp.path.follow` of (M, q, z, w).
    clear_bases : callable
        `lcp.transforms.clear_bases` of (M, q, bases), 1 to 8 unknowns: how many of the 2**n `bases` it has written,
        negative where something is close.
    """

    follow: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], int]
    clear_bases: Callable[[FloatArray, FloatArray, npt.NDArray[np.int64]], int]


kernels: Final[list[Kernels]] = []
"""Empty until they are loaded."""
