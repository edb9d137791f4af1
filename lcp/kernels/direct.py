"""Thin entries that Python calls without numba's dispatcher, which takes longer than four unknowns do.

A dispatcher looks for code that fits the types of its arguments and makes numba's arrays of them. Here C code of the
kind that CPython calls fastest sees for itself whether it was given plain arrays of float64, a problem and room for the
answer, and reads them where they are; whatever else it is given it hands to the dispatcher. It relies on where CPython
and NumPy keep the parts of their objects. That is looked at when this module is imported; where something is elsewhere,
or not known, the dispatcher stays.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np
from numba import carray, cfunc, types

from lcp.arrays import FloatArray
from lcp.kernels.admission import admit_apart
from lcp.kernels.compiled import inlined, kept_in
from lcp.kernels.vectors import Generated, intrinsic, ir

__all__ = ["ask", "direct", "fits", "integer", "matrix", "vector"]

F = TypeVar("F", bound=Callable[..., object])
Entry = Callable[[int, int, int, int], int]

SIGNATURE = "intp(intp, intp, intp, intp)"
VECTORCALL = 0x0080 | 0x0002  # METH_FASTCALL | METH_KEYWORDS: (self, arguments, how many, names)
MOST = 62  # unknowns
WORD = 8

# Parts of an object, of what is asked, of an array and of its type of numbers, in bytes from the start.
TYPE, HELD, DATA, AXES, SHAPE, NUMBERS, FLAGS, KIND = 8, 16, 16, 24, 32, 56, 64, 24
READABLE, WRITABLE = 0x0101, 0x0501  # contiguous rows, aligned; and writeable


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("call", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)
    )  # fmt: skip


class _Asked:
    """What an entry hands its arguments to, and refers to as its `__self__`.

    An entry is pickled as an attribute of it, so it is pickled as the entry's module.
    """

    __slots__ = ("array", "called", "module")  # the array first: compiled code looks for it there

    def __init__(self, array: FloatArray, module: str, called: Callable[..., object]) -> None:
        self.array, self.module, self.called = array, module, called

    def __call__(self, *arguments: object, **keywords: object) -> object:
        return self.called(*arguments, **keywords)

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return import_module, (self.module,)


def _word_at(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _half_at(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _reference() -> FloatArray | None:
    """An array to compare others with; its number is the address of CPython's call of any object.

    None where objects are not laid out as this module takes them to be.
    """
    has_one_lock = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
    if (
        not has_one_lock
        or ctypes.sizeof(ctypes.c_void_p) != WORD
        or not hasattr(ctypes.pythonapi, "PyObject_Vectorcall")
    ):
        return None
    call = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    array, probe = np.array([call], np.int64).view(np.float64), np.empty((2, 3))
    array.flags.writeable = False
    asked, at = _Asked(array, "", print), id(probe)
    parts = [
        (_word_at(at + TYPE), id(np.ndarray)),
        (_word_at(at + DATA), probe.ctypes.data),
        (_half_at(at + AXES), 2),
        (_word_at(at + NUMBERS), id(probe.dtype)),
        (_half_at(at + FLAGS), probe.flags.num),
        (ctypes.string_at(id(probe.dtype) + KIND, 3), b"fd="),
        (_half_at(id(probe.dtype) + KIND + 4), probe.dtype.num),
        (_word_at(id(asked) + HELD), id(array)),
    ]
    if any(found != expected for found, expected in parts):
        return None
    shape = _word_at(at + SHAPE)
    return array if (_word_at(shape), _word_at(shape + WORD)) == probe.shape else None


_REFERENCE = _reference()
_KEPT: list[object] = []  # what CPython refers to by address alone


def direct(code: Entry) -> Callable[[F], F]:
    """Have CPython call `code` in place of a dispatcher, which is asked for what `code` does not take.

    Parameters
    ----------
    code : callable
        Compiled at the first call. Gets the addresses of what to `ask` and of the arguments, and their number, and
        returns an `integer` or what it was told when it asked.

    Returns
    -------
    callable
        A decorator of an entry as by `lcp.kernels.compiled.entry`.
    """

    def decorate(dispatcher: F) -> F:
        if _REFERENCE is None:
            return dispatcher
        function: Any = dispatcher
        definition = _Definition(
            function.__name__.encode(),
            int(_REFERENCE.view(np.int64)[0]),
            VECTORCALL,
            f"{function.__name__}(M, q, {'Z' if 'Z' in function.py_func.__annotations__ else 'z'})\n--\n\n"
            f"{function.__doc__}".encode(),
        )
        kept = [definition]

        def asked(*arguments: object, **keywords: object) -> object:
            if len(kept) > 1:
                admit_apart(*arguments, *(keywords[name] for name in ("M", "q", "z", "Z") if name in keywords))
                return dispatcher(*arguments, **keywords)
            kept.append(cfunc(SIGNATURE, cache=kept_in(code) is not None)(code))
            definition.call = kept[1].address
            return entry(*arguments, **keywords)

        create = ctypes.pythonapi.PyCFunction_NewEx
        create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
        entry = create(
            ctypes.addressof(definition), _Asked(_REFERENCE, function.__module__, asked), function.__module__
        )
        _KEPT.append(kept)
        return cast("F", entry)

    return decorate


@intrinsic
def _word(_typing: Any, address: Any) -> Generated:
    """The eight bytes at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.intp(types.intp), generate


@intrinsic
def _half(_typing: Any, address: Any) -> Generated:
    """The four bytes at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(32).as_pointer()))

    return types.int32(types.intp), generate


@intrinsic
def _pointer(_typing: Any, address: Any) -> Generated:
    """An address as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.intp), generate


@intrinsic
def integer(_typing: Any, value: Any) -> Generated:
    """The address of a new Python integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.get_python_api(builder).long_from_ssize_t(arguments[0])
        return builder.ptrtoint(made, ir.IntType(64))

    return types.intp(types.intp), generate


@intrinsic
def _call(_typing: Any, function: Any, called: Any, arguments: Any, count: Any, names: Any) -> Generated:
    """What the C function at an address answers to four words."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [word] * 4).as_pointer())
        return builder.call(function, arguments[1:])

    return types.intp(*[types.intp] * 5), generate


@inlined
def ask(called: int, arguments: int, count: int, names: int) -> int:
    """Hand the arguments on to the dispatcher."""
    return _call(_word(_word(_word(called + HELD) + DATA)), called, arguments, count, names)  # type: ignore[no-any-return]


@inlined
def _is_array(array: int, reference: int, axes: int, flags: int) -> bool:
    if _word(array + TYPE) != _word(reference + TYPE) or _half(array + AXES) != axes:
        return False
    if _half(array + FLAGS) & flags != flags:
        return False
    return bool(_word(_word(array + NUMBERS) + KIND) == _word(_word(reference + NUMBERS) + KIND))


@inlined
def fits(called: int, arguments: int, count: int, names: int, axes: int) -> bool:
    """Whether the arguments are a problem and, of so many axes, the array for its answer."""
    if count != 3 or names != 0:
        return False
    reference, M, q, z = _word(called + HELD), _word(arguments), _word(arguments + WORD), _word(arguments + 2 * WORD)
    if not (_is_array(M, reference, 2, READABLE) and _is_array(q, reference, 1, READABLE)):
        return False
    if not _is_array(z, reference, axes, WRITABLE):
        return False
    n, rows, answers = _word(_word(q + SHAPE)), _word(M + SHAPE), _word(z + SHAPE)
    is_square = _word(rows) == n and _word(rows + WORD) == n
    if not (is_square and _word(answers + (axes - 1) * WORD) == n and 0 < n <= MOST):
        return False
    size = WORD * (n if axes == 1 else n * _word(answers))
    return bool(_are_apart(M, WORD * n * n, z, size) and _are_apart(q, WORD * n, z, size))


@inlined
def _are_apart(array: int, size: int, other: int, other_size: int) -> bool:
    first, second = _word(array + DATA), _word(other + DATA)
    return bool(first + size <= second or second + other_size <= first)


@inlined
def vector(arguments: int, place: int) -> FloatArray:
    """An argument that fits, of one axis."""
    array = _word(arguments + place * WORD)
    return carray(_pointer(_word(array + DATA)), (_word(_word(array + SHAPE)),), np.float64)  # type: ignore[no-any-return]


@inlined
def matrix(arguments: int, place: int) -> FloatArray:
    """An argument that fits, of two axes."""
    array = _word(arguments + place * WORD)
    shape = _word(array + SHAPE)
    return carray(_pointer(_word(array + DATA)), (_word(shape), _word(shape + WORD)), np.float64)  # type: ignore[no-any-return]
