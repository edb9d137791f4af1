"""Signs and moduli by bits, and which sizes products can be formed of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lcp.kernels.compiled import compiled, inlined

__all__ = ["ALL_CLEAR", "CLEAR", "LEAST", "MOST", "TINY", "are_near", "bits", "has_negative", "modulus"]

# A minor of order four is 24 products of four entries, each rounded at most six times: 144 half units of 2**-52.
CLEAR = 2.0**-44
MODULUS = np.int64(0x7FFFFFFFFFFFFFFF)
SIGNS = np.uint64(0x8080808080808080).view(np.int64)
ALL_CLEAR = (
    2.0**-49
)  # a product of entries is rounded ten times at most, by 2**-53; the rest is for products of the sums
TINY = 1e-250  # a product above it shows that no factor has been rounded to fewer digits, if sizes are as below
LEAST, MOST = 1e-70, 1e70  # products of four such entries, and of `CLEAR`, neither vanish nor overflow


@inlined
def bits(x: float) -> int:
    """The bits of a float as an integer, negative if its sign bit is set.

    Parameters
    ----------
    x : float

    Returns
    -------
    int
        Of 64 bits.
    """
    return np.float64(x).view(np.int64)  # type: ignore[return-value]  # an integer to the compiler


@inlined
def modulus(x: float) -> float:
    """The modulus of a float, by its bits.

    Parameters
    ----------
    x : float

    Returns
    -------
    float
    """
    return np.int64(bits(x) & MODULUS).view(np.float64)


@compiled
def are_near(entries: npt.NDArray[np.float64]) -> bool:
    """Whether products of a few entries neither vanish nor overflow: all are zero or between `LEAST` and `MOST`.

    Parameters
    ----------
    entries : ndarray of float64, shape (N,)

    Returns
    -------
    bool
    """
    found = True
    for entry in entries:
        found &= entry == 0.0 or LEAST <= abs(entry) <= MOST
    return found


@compiled
def has_negative(counts: npt.NDArray[np.int8], first: int, last: int) -> bool:
    """Whether one of the counts from first to last - 1 is negative: eight of them are one integer.

    Parameters
    ----------
    counts : ndarray of int8, shape (N,)
        Contiguous.
    first, last : int
        0 <= first <= last <= N.

    Returns
    -------
    bool
    """
    end = last - (last - first) % 8
    signs = np.int64(0)
    for eight in counts[first:end].view(np.int64):
        signs |= eight
    for k in range(end, last):
        signs |= np.int64(counts[k]) & SIGNS
    return bool((signs & SIGNS) != 0)
