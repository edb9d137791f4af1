"""Blocks of problems, entry by entry in the innermost cache, so that one instruction serves several problems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.arrays import FloatArray
from lcp.kernels.compiled import compiled
from lcp.kernels.minors import bases_one, bases_three, bases_two
from lcp.kernels.minors_four import bases_four

__all__ = ["LANES", "bases_of_block", "is_in_range", "solutions_of_block", "transpose"]

LANES = 256  # 20 rows of 256 doubles at n = 4 are 40 kB, the innermost cache of current processors
SMALL, LARGE = 1e-70, 1e70  # products of four such entries neither vanish nor overflow
IntArray = npt.NDArray[np.int64]

# Entry e of M, row by row, then of q, of problem k is block[LANES * e + k]. One array with constant distances tells
# the compiler that the answers, in other arrays, overlap none of the entries; otherwise it would not vectorise.


@compiled
def is_in_range(block: FloatArray, length: int) -> bool:
    """Whether the first entries are finite and zero or of a size whose products can be formed."""
    bad = 0
    for k in range(length):
        size = abs(block[k])
        # written so that a NaN is bad, too
        bad += 0 if (size <= LARGE) & ((size >= SMALL) | (size == 0.0)) else 1
    return bad == 0


@compiled
def transpose(problems: FloatArray, start: int, length: int, block: FloatArray, first: int) -> None:
    """Entry e of problem start + k, in row start + k, becomes block[LANES * (first + e) + k]."""
    width = problems.shape[1]
    for k in range(length):
        problem = problems[start + k]
        for r in range(width):
            block[(first + r) * LANES + k] = problem[r]


@compiled
def bases_of_block(block: FloatArray, masks: IntArray, n: int) -> None:
    """The solving bases of every problem of a block, as bits."""
    if n == 1:
        _bases_one(block, masks)
    elif n == 2:
        _bases_two(block, masks)
    elif n == 3:
        _bases_three(block, masks)
    else:
        _bases_four(block, masks)


@compiled
def solutions_of_block(block: FloatArray, masks: IntArray, z: FloatArray, n: int) -> None:
    """The solving bases, and z of the lowest one: entry i of problem k at z[LANES * i + k]."""
    if n == 1:
        _solutions_one(block, masks, z)
    elif n == 2:
        _solutions_two(block, masks, z)
    elif n == 3:
        _solutions_three(block, masks, z)
    else:
        _solutions_four(block, masks, z)


@compiled
def _bases_one(block: FloatArray, masks: IntArray) -> None:
    for k in range(LANES):
        masks[k] = bases_one(
            block[k],
            block[1 * LANES + k], 1.0,
        )[0]  # fmt: skip


@compiled
def _solutions_one(block: FloatArray, masks: IntArray, z: FloatArray) -> None:
    for k in range(LANES):
        found = bases_one(
            block[k],
            block[1 * LANES + k], 1.0,
        )  # fmt: skip
        masks[k] = found[0]
        z[k] = found[2]


@compiled
def _bases_two(block: FloatArray, masks: IntArray) -> None:
    for k in range(LANES):
        masks[k] = bases_two(
            block[k], block[1 * LANES + k],
            block[2 * LANES + k], block[3 * LANES + k],
            block[4 * LANES + k], block[5 * LANES + k], 1.0,
        )[0]  # fmt: skip


@compiled
def _solutions_two(block: FloatArray, masks: IntArray, z: FloatArray) -> None:
    for k in range(LANES):
        found = bases_two(
            block[k], block[1 * LANES + k],
            block[2 * LANES + k], block[3 * LANES + k],
            block[4 * LANES + k], block[5 * LANES + k], 1.0,
        )  # fmt: skip
        masks[k] = found[0]
        z[k] = found[2]
        z[1 * LANES + k] = found[3]


@compiled
def _bases_three(block: FloatArray, masks: IntArray) -> None:
    for k in range(LANES):
        masks[k] = bases_three(
            block[k], block[1 * LANES + k], block[2 * LANES + k],
            block[3 * LANES + k], block[4 * LANES + k], block[5 * LANES + k],
            block[6 * LANES + k], block[7 * LANES + k], block[8 * LANES + k],
            block[9 * LANES + k], block[10 * LANES + k], block[11 * LANES + k], 1.0,
        )[0]  # fmt: skip


@compiled
def _solutions_three(block: FloatArray, masks: IntArray, z: FloatArray) -> None:
    for k in range(LANES):
        found = bases_three(
            block[k], block[1 * LANES + k], block[2 * LANES + k],
            block[3 * LANES + k], block[4 * LANES + k], block[5 * LANES + k],
            block[6 * LANES + k], block[7 * LANES + k], block[8 * LANES + k],
            block[9 * LANES + k], block[10 * LANES + k], block[11 * LANES + k], 1.0,
        )  # fmt: skip
        masks[k] = found[0]
        z[k] = found[2]
        z[1 * LANES + k] = found[3]
        z[2 * LANES + k] = found[4]


@compiled
def _bases_four(block: FloatArray, masks: IntArray) -> None:
    for k in range(LANES):
        masks[k] = bases_four(
            block[k], block[1 * LANES + k], block[2 * LANES + k], block[3 * LANES + k],
            block[4 * LANES + k], block[5 * LANES + k], block[6 * LANES + k], block[7 * LANES + k],
            block[8 * LANES + k], block[9 * LANES + k], block[10 * LANES + k], block[11 * LANES + k],
            block[12 * LANES + k], block[13 * LANES + k], block[14 * LANES + k], block[15 * LANES + k],
            block[16 * LANES + k], block[17 * LANES + k], block[18 * LANES + k], block[19 * LANES + k], 1.0,
        )[0]  # fmt: skip


@compiled
def _solutions_four(block: FloatArray, masks: IntArray, z: FloatArray) -> None:
    for k in range(LANES):
        found = bases_four(
            block[k], block[1 * LANES + k], block[2 * LANES + k], block[3 * LANES + k],
            block[4 * LANES + k], block[5 * LANES + k], block[6 * LANES + k], block[7 * LANES + k],
            block[8 * LANES + k], block[9 * LANES + k], block[10 * LANES + k], block[11 * LANES + k],
            block[12 * LANES + k], block[13 * LANES + k], block[14 * LANES + k], block[15 * LANES + k],
            block[16 * LANES + k], block[17 * LANES + k], block[18 * LANES + k], block[19 * LANES + k], 1.0,
        )  # fmt: skip
        masks[k] = found[0]
        z[k] = found[2]
        z[1 * LANES + k] = found[3]
        z[2 * LANES + k] = found[4]
        z[3 * LANES + k] = found[5]
