"""How the kernels are compiled: numba, with arithmetic as NumPy's and results kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled", "entry", "finite", "inlined", "threaded", "unordered"]

F = TypeVar("F", bound=Callable[..., object])

# Division by zero gives infinity as in NumPy; a product and a sum may be rounded once together. Nothing else
# of "fast" mathematics is allowed but to `unordered` and `finite`: comparisons with NaN have to fail.
CONTRACT = frozenset({"contract"})


def compiled(function: F) -> F:
    """Compile a function at its first call."""
    return cast("F", njit(cache=True, error_model="numpy", fastmath=set(CONTRACT))(function))


def entry(admit: Callable[..., None]) -> Callable[[F], F]:
    """Compile a function that users call; `admit` sees the arguments whenever their types are met first.

    Numba looks for code that fits the types of all arguments, and only if there is none calls the method that is
    wrapped here. So this costs nothing, and what `admit` refuses is never compiled.
    """

    def decorate(function: F) -> F:
        dispatcher: Any = compiled(function)
        compile_for = dispatcher._compile_for_args

        def compile_admitted(*arguments: object, **keywords: object) -> object:
            admit(*arguments, **keywords)
            return compile_for(*arguments, **keywords)

        dispatcher._compile_for_args = compile_admitted
        return cast("F", dispatcher)

    return decorate


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
