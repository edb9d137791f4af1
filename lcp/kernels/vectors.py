"""What numba cannot express: reads and writes that do not overlap, and operations on eight numbers at once.

Arrays are contiguous and float64 and indices count their entries; nothing is checked. A compiler that has to assume
that a write changes what is read next serves one problem with an instruction where it could serve eight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as untyped_intrinsic

from lcp.kernels.compiled import inlined

__all__ = [
    "EIGHT",
    "INDEX",
    "VECTOR",
    "Generated",
    "address",
    "eliminate",
    "intrinsic",
    "ir",
    "largest_modulus",
    "least",
    "read",
    "smaller",
    "write",
]

ir = cgutils.ir  # what numba itself builds its code with
Generated: TypeAlias = tuple[Any, Callable[..., Any]]
intrinsic = cast("Callable[[Callable[..., Generated]], Callable[..., Any]]", untyped_intrinsic)
EIGHT = 8
INDEX = ir.IntType(32)
VECTOR = ir.VectorType(ir.DoubleType(), EIGHT)


@inlined
def smaller(a: float, b: float) -> float:
    """The smaller of two numbers, b if one is NaN: one instruction, which `min` is not.

    Parameters
    ----------
    a, b : float

    Returns
    -------
    float
    """
    return a if a < b else b


def address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """A pointer to an entry of an array, as an instruction of the compiler.

    Parameters
    ----------
    context, builder : objects of numba
        What code is generated for, and the builder of its instructions.
    array_type : numba type
    array : LLVM value
    index : LLVM value
        Counts entries, not bytes.

    Returns
    -------
    LLVM value
        The pointer; nothing has been checked.
    """
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def _inputs(module: Any) -> Any:
    domain = module.add_metadata(["lcp kernels"])
    return module.add_metadata([module.add_metadata(["inputs", domain])])


@intrinsic
def read(_typing: Any, array: Any, index: Any) -> Generated:
    """The entry array[index] of an array that no `write` of the same function changes.

    Parameters
    ----------
    array : numba type
        Of a contiguous array.
    index : numba type
        Of an integer; counts entries.

    Returns
    -------
    signature, generate : numba signature and callable
        For the compiler. The compiled call returns an entry of the array.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = builder.load(address(context, builder, signature.args[0], *arguments))
        value.set_metadata("alias.scope", _inputs(builder.module))
        return value

    return array.dtype(array, types.int64), generate


@intrinsic
def write(_typing: Any, array: Any, index: Any, value: Any) -> Generated:
    """The assignment array[index] = value, into an array that no `read` of the same function sees.

    Parameters
    ----------
    array : numba type
        Of a contiguous array.
    index : numba type
        Of an integer; counts entries.
    value : numba type
        That of an entry.

    Returns
    -------
    signature, generate : numba signature and callable
        For the compiler. The compiled call returns nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = address(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], target).set_metadata("noalias", _inputs(builder.module))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), generate


def _eight(context: Any, builder: Any, signature: Any, array: Any, index: Any) -> Any:
    return builder.bitcast(address(context, builder, signature.args[0], array, index), VECTOR.as_pointer())


def _repeated(builder: Any, value: Any, vector: Any) -> Any:
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INDEX, EIGHT), [0] * EIGHT))


@intrinsic
def eliminate(_typing: Any, T: Any, source: Any, column: Any, row: Any, factor: Any, target: Any) -> Generated:
    """T[target + i] = T[source + i] - factor T[column + i] for eight i, but -factor for i = row.

    Parameters
    ----------
    T : numba type
        Of a contiguous array of float64.
    source, column, target : numba type
        Of integers: where eight entries begin, of the operands and of the result.
    row : numba type
        Of an integer, 0 to 7: the row of the pivot.
    factor : numba type
        Of a float.

    Returns
    -------
    signature, generate : numba signature and callable
        For the compiler. The compiled call returns nothing; a product and its difference are rounded once together.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        T, source, column, row, factor, target = arguments
        minus = builder.fneg(_repeated(builder, factor, VECTOR))
        left = builder.load(_eight(context, builder, signature, T, source), align=8)
        right = builder.load(_eight(context, builder, signature, T, column), align=8)
        rounded_once = ir.FunctionType(VECTOR, [VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(builder.module, rounded_once, "llvm.fma.v8f64")
        result = builder.call(multiply_add, [minus, right, left])
        rows = ir.Constant(ir.VectorType(ir.IntType(64), EIGHT), list(range(EIGHT)))
        is_row = builder.icmp_signed("==", rows, _repeated(builder, row, rows.type))
        chosen = builder.select(is_row, minus, result)
        builder.store(chosen, _eight(context, builder, signature, T, target), align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(T, index, index, index, types.float64, index), generate


def _reduced(builder: Any, values: Any, comparison: str) -> Any:
    for width in (4, 2, 1):
        masks = (ir.Constant(ir.VectorType(INDEX, width), list(range(k, k + width))) for k in (0, width))
        low, high = (builder.shuffle_vector(values, values, mask) for mask in masks)
        values = builder.select(builder.fcmp_ordered(comparison, low, high), low, high)
    return builder.extract_element(values, ir.Constant(INDEX, 0))


@intrinsic
def largest_modulus(_typing: Any, T: Any, index: Any) -> Generated:
    """The largest abs(T[index + i]) of eight i; any number if one is NaN.

    Parameters
    ----------
    T : numba type
        Of a contiguous array of float64.
    index : numba type
        Of an integer: where eight entries begin.

    Returns
    -------
    signature, generate : numba signature and callable
        For the compiler. The compiled call returns a float.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = builder.load(_eight(context, builder, signature, *arguments), align=8)
        modulus = ir.FunctionType(VECTOR, [VECTOR])
        moduli = cgutils.get_or_insert_function(builder.module, modulus, "llvm.fabs.v8f64")
        return _reduced(builder, builder.call(moduli, [values]), ">")

    return types.float64(T, types.int64), generate


@intrinsic
def least(_typing: Any, T: Any, index: Any) -> Generated:
    """The least T[index + i] of eight i; any number if one is NaN.

    Parameters
    ----------
    T : numba type
        Of a contiguous array of float64.
    index : numba type
        Of an integer: where eight entries begin.

    Returns
    -------
    signature, generate : numba signature and callable
        For the compiler. The compiled call returns a float.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _reduced(builder, builder.load(_eight(context, builder, signature, *arguments), align=8), "<")

    return types.float64(T, types.int64), generate
