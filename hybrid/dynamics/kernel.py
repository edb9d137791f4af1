"""Compiled evaluation of symbolic matrices over arrays of states."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.printing.pycode import PythonCodePrinter

_NAMESPACE: Mapping[str, Any] = {
    "__builtins__": {},
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "power": np.power,
    "abs": np.abs,
    "sign": np.sign,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "heaviside": np.heaviside,
    "pi": np.pi,
    "e": np.e,
    "nan": np.nan,
    "inf": np.inf,  # a product of declared numbers that is beyond the range of floats
}

_SCALARS: Mapping[str, Any] = {
    **{name: getattr(math, name) for name in _NAMESPACE if hasattr(math, name)},
    "__builtins__": {},
    "power": math.pow,  # refuses what has no real value, which ** would make complex
    "abs": abs,
    "sign": lambda x: math.copysign(1.0, x) if x else x,
    "maximum": max,
    "minimum": min,
    "heaviside": lambda x, middle: middle if x == 0 else float(x > 0),
}


class _KernelPrinter(PythonCodePrinter):  # type: ignore[misc]
    """Prints expressions with bare function names; any other function is refused by the base class."""

    _kf = {  # the name and form that SymPy's printers look up
        name: name
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log")
    } | {"Abs": "abs"}
    _kc = {  # noqa: RUF012
        "Pi": "pi",
        "Exp1": "e",
        # derivatives without a value, as that of 0**x
        "NaN": "nan",
        "ComplexInfinity": "nan",
        "Infinity": "inf",
        "NegativeInfinity": "(-inf)",
    }

    def _print_known_func(self, expr: sympy.Expr) -> str:
        name = self.known_functions[expr.__class__.__name__]
        return f"{name}({', '.join(self._print(argument) for argument in expr.args)})"

    def _print_known_const(self, expr: sympy.Expr) -> str:
        return str(self.known_constants[expr.__class__.__name__])

    def _print_Max(self, expr: sympy.Max) -> str:
        return self._fold("maximum", expr.args)

    def _print_Min(self, expr: sympy.Min) -> str:
        return self._fold("minimum", expr.args)

    def _print_Heaviside(self, expr: sympy.Heaviside) -> str:
        return f"heaviside({self._print(expr.args[0])}, 0.5)"

    def _print_sign(self, expr: sympy.sign) -> str:
        return f"sign({self._print(expr.args[0])})"

    def _print_Pow(self, expr: sympy.Pow, **_: object) -> str:
        base = f"({self._print(expr.base)})"
        if expr.exp == sympy.Rational(1, 2):
            return f"sqrt{base}"
        if expr.exp == sympy.Rational(-1, 2):
            return f"(1.0/sqrt{base})"
        if expr.exp == -1:
            return f"(1.0/{base})"
        if expr.exp.is_Integer and -4 <= int(expr.exp) <= 4:
            product = "(" + "*".join([base] * abs(int(expr.exp))) + ")"
            return product if expr.exp > 0 else f"(1.0/{product})"
        return f"power({base}, {self._print(expr.exp)})"

    def _print_Rational(self, expr: sympy.Rational) -> str:
        return f"({float(expr)!r})"

    def _print_Integer(self, expr: sympy.Integer) -> str:
        return f"({float(expr)!r})"

    def _fold(self, name: str, arguments: Sequence[sympy.Expr]) -> str:
        text = self._print(arguments[0])
        for argument in arguments[1:]:
            text = f"{name}({text}, {self._print(argument)})"
        return str(text)


@attrs.frozen(eq=False)
class Kernel:
    """A compiled function of scalars or broadcastable arrays that returns named arrays.

    Attributes
    ----------
    shapes : mapping of str to tuple of int
        Shape of each quantity at one state.
    source : str
        The generated Python source, for inspection.
    shared : tuple of (str, str)
        The assignments of that source, in order: name and text.
    entries : tuple of str
        The text of every entry of every quantity, in order.
    """

    shapes: Mapping[str, tuple[int, ...]]
    source: str
    shared: tuple[tuple[str, str], ...]
    entries: tuple[str, ...]
    _function: Callable[..., tuple[Any, ...]] = attrs.field(repr=False)

    def __call__(self, arguments: Sequence[Any]) -> dict[str, NDArray[Any]]:
        """Evaluate at arguments that broadcast against each other.

        Parameters
        ----------
        arguments : sequence of array, each broadcastable to the common shape ``(...)``
            Values in the order in which the kernel was compiled.

        Returns
        -------
        dict of array, ``(...)`` + shape of the quantity
            A quantity that depends on few arguments keeps only their axes (as axes of length 1 where they broadcast),
            so that work is done once per distinct input. Undefined values are NaN or infinite.
        """
        with np.errstate(all="ignore"):
            entries = self._function(*[np.asarray(value)[()] for value in arguments])
        result: dict[str, NDArray[Any]] = {}
        position = 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            result[name] = _stack(entries[position : position + size], shape)
            position += size
        return result


def _stack(entries: tuple[Any, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    batch = np.broadcast_shapes(*(np.shape(entry) for entry in entries)) if entries else ()
    kind = np.result_type(float, *entries) if entries else np.dtype(float)
    stacked = np.empty((*batch, len(entries)), dtype=kind)
    for index, entry in enumerate(entries):
        stacked[..., index] = entry
    stacked = stacked.reshape((*batch, *shape))
    stacked.setflags(write=False)
    return stacked


def compile_kernel(
    quantities: Mapping[str, sympy.Matrix | Sequence[sympy.Expr]], arguments: Sequence[sympy.Symbol]
) -> Kernel:
    """Compile named SymPy vectors and matrices into one function with shared subexpressions.

    The source is written by this module alone, from expressions whose symbols were replaced by numbered arguments:
    no text of the user's, not even a name, reaches the compiler.

    Parameters
    ----------
    quantities : mapping of str to Matrix or sequence of Expr
        A Matrix gives a two-dimensional quantity, a sequence a one-dimensional one.
    arguments : sequence of Symbol

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> kernel = compile_kernel({"f": [x**2, sympy.sin(x)]}, [x])
    >>> kernel([[0.0, 1.0]])["f"].shape
    (2, 2)
    """
    numbered = {symbol: sympy.Symbol(f"a{index}", real=True) for index, symbol in enumerate(arguments)}
    flat = [entry.xreplace(numbered) for matrix in quantities.values() for entry in matrix]
    shared, reduced = sympy.cse(flat, symbols=sympy.numbered_symbols("s", real=True), optimizations=None)
    printer = _KernelPrinter({"fully_qualified_modules": False})
    assignments = tuple((str(symbol), printer.doprint(value)) for symbol, value in shared)
    entries = tuple(printer.doprint(value) for value in reduced)
    lines = [f"def kernel({', '.join(str(symbol) for symbol in numbered.values())}):"]
    lines += [f"    {symbol} = {text}" for symbol, text in assignments]
    lines.append("    return (" + "".join(f"{text}, " for text in entries) + ")")
    source = "\n".join(lines)
    namespace = dict(_NAMESPACE)
    exec(compile(source, "<derived kernel>", "exec"), namespace)  # noqa: S102  # our own generated source
    shapes = {
        name: value.shape if isinstance(value, sympy.MatrixBase) else (len(value),)
        for name, value in quantities.items()
    }
    return Kernel(shapes, source, assignments, entries, namespace["kernel"])


def compile_tape(source: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Compile a function ``make`` that was put together from the texts of kernels, without builtins in reach.

    Parameters
    ----------
    source : str
        Definition of ``make``, written by the package from ``Kernel.shared``, ``Kernel.entries`` and arithmetic.

    Returns
    -------
    scalar, vector : callable
        The same function with functions of plain floats, which raise where undefined, and with functions of arrays.

    Examples
    --------
    >>> compile_tape("def make(a0):\\n    return sin(a0)")[0](0.0)
    0.0
    """
    code = compile(source, "<tape of one mode>", "exec")
    scalar, vector = dict(_SCALARS), dict(_NAMESPACE)
    exec(code, scalar)  # noqa: S102  # our own generated source
    exec(code, vector)  # noqa: S102  # our own generated source
    return scalar["make"], vector["make"]
