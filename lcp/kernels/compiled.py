"""How the kernels are compiled: numba, with arithmetic as NumPy's and results kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["compiled", "finite", "inlined", "threaded", "unordered"]

F = TypeVar("F", bound=Callable[..., object])

# Division by zero gives infinity as in NumPy; a product and a sum may be rounded once together. Nothing else
# of "fast" mathematics is allowed but to `unordered` and `finite`: comparisons with NaN have to fail.
CONTRACT = frozenset({"contract"})


def compiled(function: F) -> F:
    """Compile a function at its first call."""
    return cast("F", njit(cache=True, error_model="numpy", fastmath=set(CONTRACT))(function))


def inlined(function: F) -> F:
    """Compile a function into those that call it."""
    return cast("F", njit(cache=True, error_model="numpy", fastmath=set(CONTRACT), forceinline=True)(function))


def unordered(function: F) -> F:
    """Compile a function whose sums may be formed in any order, several terms an instruction."""
    return cast("F", njit(cache=True, error_model="numpy", fastmath={"reassoc", *CONTRACT})(function))


def finite(function: F) -> F:
    """Compile a function that meets no NaN, so that maxima may be formed in any order."""
    return cast("F", njit(cache=True, error_model="numpy", fastmath={"nnan", "nsz"})(function))


def threaded(function: F) -> F:
    """Compile a function whose `prange` loops run on all processors."""
    return cast("F", njit(cache=True, error_model="numpy", fastmath=set(CONTRACT), parallel=True)(function))
