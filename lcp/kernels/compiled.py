"""How the kernels are compiled: numba, with arithmetic as NumPy's and results kept on disk where there is a place."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import signal
import stat
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache

__all__ = [
    "Readiness",
    "compiled",
    "entry",
    "finite",
    "inlined",
    "kept_in",
    "readiness",
    "released",
    "rigorous",
    "threaded",
    "unordered",
]

F = TypeVar("F", bound=Callable[..., object])

# Division by zero gives infinity as in NumPy; a product and a sum may be rounded once together. Nothing else
# of "fast" mathematics is allowed but to `unordered` and `finite`: comparisons with NaN have to fail.
CONTRACT = frozenset({"contract"})


CACHE_VARIABLE = "PAINLEVE_CACHE"
_PLACES: dict[Path, str | None] = {}
_REFUSED: list[Path] = []


def kept_in(function: Callable[..., object]) -> str | None:
    """The folder in which compiled code of a function is kept; None if there is none, and every process compiles anew.

    There is none in a read-only installation without a home, or with ``PAINLEVE_CACHE=off``. One that belongs to
    somebody else than the user and the source, or in which others may write who may not write beside the source, is
    not used, which is said once: what lies in it would be run. A new folder apart from the source has mode 0700.

    Only what numba makes of sources of the package is kept. Its index names the versions of numba and Python and the
    processor, :func:`_stamp` what the code was made of, NumPy's version included; files appear by a rename, and one
    function has one index, which is begun anew with its code; those of lines at which it stood before are removed.
    Equations of mechanisms are never written to disk.

    Parameters
    ----------
    function : callable
        Of Python, with its source in a file.

    Returns
    -------
    str or None
    """
    source = Path(inspect.getfile(function))
    if source.parent not in _PLACES:
        _PLACES[source.parent] = _place(function, source)
    return _PLACES[source.parent]


def _place(function: Callable[..., object], source: Path) -> str | None:
    if os.environ.get(CACHE_VARIABLE) == "off":
        return None
    try:
        place = Path(FunctionCache(function).cache_path)
        folder, beside = place.stat(), source.parent.stat()
        own = os.getuid() if hasattr(os, "getuid") else folder.st_uid
        users = {source.stat().st_uid, own}
        opened = folder.st_mode & ~beside.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        is_apart = place.parent != source.parent
        if (opened or is_apart) and folder.st_uid == own and not any(place.iterdir()):
            place.chmod(stat.S_IRWXU)
            opened = 0
    except (RuntimeError, OSError):
        return None
    if folder.st_uid in users and not opened:
        return str(place)
    if not _REFUSED:
        whose = "others may write there" if opened else "it belongs to somebody else"
        advice = "remove the folder, or set NUMBA_CACHE_DIR"
        warnings.warn(f"compiled code is not kept in {place}, because {whose}: {advice}", stacklevel=3)
    _REFUSED.append(place)
    return None


# As numba names its files: module and function, line, Python; then a number, but of the index.
_KEPT = re.compile(r"(?P<function>.+)-(?P<line>\d+)\.(?P<python>py\w+)(\.\d+)?\.nb[ci]")
_SAME = ("function", "python")


class _KeptCode(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Compiled code on disk: old where anything is that was compiled into it, not only the file of the function."""

    def load_overload(self, sig: object, target_context: object) -> object:
        self._renew_stamp()
        return super().load_overload(sig, target_context)

    def save_overload(self, sig: object, data: object) -> None:
        self._renew_stamp()
        super().save_overload(sig, data)
        self._drop_other_lines()

    def _drop_other_lines(self) -> None:
        """Remove what was kept of the function when it began at another line, which is in the names of the files."""
        own = _KEPT.fullmatch(self._cache_file._index_name)
        if own is None:
            return
        for path in Path(self.cache_path).iterdir():
            other = _KEPT.fullmatch(path.name)
            if other is not None and own["line"] != other["line"] and own.group(*_SAME) == other.group(*_SAME):
                with suppress(OSError):  # another process removes them too, or holds one open
                    path.unlink(missing_ok=True)

    def _renew_stamp(self) -> None:  # not when decorated: what is called may be defined only later
        self._cache_file._source_stamp = _stamp(self._py_func)


def _stamp(function: Callable[..., object]) -> bytes:
    """A hash of the code of a function, of what it calls, and of the numbers that they use."""
    found, pending, met = hashlib.sha256(np.__version__.encode()), [function], set[int]()
    while pending:
        called: Any = pending.pop()
        if id(called) in met:
            continue
        met.add(id(called))
        cells = [cell.cell_contents for cell in called.__closure__ or ()]
        for code in _codes(called.__code__):
            found.update(code.co_code + repr((code.co_names, code.co_varnames)).encode())
            cells += [item for item in code.co_consts if not isinstance(item, CodeType)]
            cells += [called.__globals__[name] for name in code.co_names if name in called.__globals__]
        for value in cells:
            inner = getattr(value, "py_func", getattr(value, "_defn", value))
            if isinstance(inner, FunctionType) and not inner.__module__.startswith(("numba", "numpy")):
                pending.append(inner)
            elif isinstance(value, np.ndarray):
                found.update(value.tobytes())
            elif isinstance(value, (bool, int, float, complex, str, tuple, np.generic)):
                found.update(repr(value).encode())
    return found.digest()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _jit(function: F, **options: Any) -> F:
    dispatcher: Any = njit(**options)(function)
    if kept_in(function) is not None:
        dispatcher._cache = _KeptCode(function)
    compile_for = dispatcher._compile_for_args

    def compile_undisturbed(*arguments: object, **keywords: object) -> object:
        with _interrupts_wait():
            return compile_for(*arguments, **keywords)

    dispatcher._compile_for_args = compile_undisturbed
    return cast("F", dispatcher)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C is raised behind the compiler: within, a callback of LLVM would swallow it and leave code half made."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    met: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *signal_and_frame: met.append(signal_and_frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if met:
        usual(*met[0])


class Readiness(Enum):
    """Where the code of a compiled function is: in this process, on disk, or still to be made."""

    LOADED = 0
    KEPT = 1
    UNKNOWN = 2


def readiness(function: Callable[..., object]) -> Readiness:
    """How soon a compiled function can be called.

    Parameters
    ----------
    function : callable
        As from the decorators of this module.

    Returns
    -------
    Readiness
        ``KEPT`` may be an older version's code, which is then compiled anew.
    """
    dispatcher: Any = function
    if dispatcher.signatures:
        return Readiness.LOADED
    place = kept_in(dispatcher.py_func)
    name = f"{Path(inspect.getfile(dispatcher.py_func)).stem}.{dispatcher.py_func.__qualname__}-*.nbi"
    return Readiness.KEPT if place is not None and any(Path(place).glob(name)) else Readiness.UNKNOWN


def compiled(function: F) -> F:
    """A function as compiled code, made at its first call.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        With the same arguments; a division by zero gives infinity, and an interrupt waits for the compiler.
    """
    return _jit(function, error_model="numpy", fastmath=set(CONTRACT))


def entry(admit: Callable[..., None]) -> Callable[[F], F]:
    """The decorator of compiled functions that users call.

    `admit` sees the arguments whenever their types are met first. Numba looks for code that fits the types of all
    arguments, and only if there is none calls the method that is wrapped here. So this costs nothing, and what `admit`
    refuses is never compiled.

    Parameters
    ----------
    admit : callable
        Takes the arguments of the function and raises if it refuses them.

    Returns
    -------
    callable
        The decorator.
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
    """A function as code that is compiled into those that call it.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        As from `compiled`.
    """
    return _jit(function, error_model="numpy", fastmath=set(CONTRACT), forceinline=True)


def unordered(function: F) -> F:
    """A function as compiled code whose sums may be formed in any order, several terms an instruction.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        As from `compiled`; the last digits of sums depend on the processor.
    """
    return _jit(function, error_model="numpy", fastmath={"reassoc", *CONTRACT})


def finite(function: F) -> F:
    """A function as compiled code that meets no NaN, so that maxima may be formed in any order.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        As from `compiled`; its answer to NaN means nothing.
    """
    return _jit(function, error_model="numpy", fastmath={"nnan", "nsz"})


def rigorous(function: F) -> F:
    """A function as compiled code in which every operation is rounded on its own, as written.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        With the same arguments; a division by zero gives infinity or NaN, and bits do not depend on the processor.
    """
    return _jit(function, error_model="numpy")


def released(function: F) -> F:
    """As :func:`rigorous`, and other threads of Python run meanwhile.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        With the same arguments, arrays of which no other thread may change meanwhile.
    """
    return _jit(function, error_model="numpy", nogil=True)


def threaded(function: F) -> F:
    """A function as compiled code whose `prange` loops run on all processors.

    Parameters
    ----------
    function : callable
        What numba can compile.

    Returns
    -------
    callable
        As from `compiled`.
    """
    return _jit(function, error_model="numpy", fastmath=set(CONTRACT), parallel=True)
