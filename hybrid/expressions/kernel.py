"""Straight-line Python code of nodes, for floats and for arrays of states."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.expressions.functions import FUNCTIONS
from hybrid.expressions.graph import Graph, Number

__all__ = ["Kernel", "Program", "StraightLine", "compile_kernel", "compile_program"]

_ARRAYS: Mapping[str, Any] = {
    "__builtins__": {},
    **{name: function.arrays for name, function in FUNCTIONS.items()},
    "power": np.power,
    "pi": np.float64(np.pi),
    "zero": np.float64(0.0),  # divides; a plain one raises
    "nan": np.nan,
    "inf": np.inf,
}

_SCALARS: Mapping[str, Any] = {
    **_ARRAYS,
    **{name: function.floats for name, function in FUNCTIONS.items()},
    "power": math.pow,  # refuses what has no real value, which ** would make complex
    "pi": math.pi,
    "zero": 0.0,
}

_MINUS = "(-1.0)"
_INLINE = 300  # characters of a text that is used once and written where it is used


@attrs.frozen(eq=False)
class Kernel:
    """A compiled function of scalars or broadcastable arrays that returns named arrays.

    Attributes
    ----------
    shapes : mapping of str to tuple of int
        Shape of each quantity at one state.
    source : str
        The generated Python source, for inspection.
    used : mapping of str to frozenset of int
        On which of the arguments each quantity depends.
    """

    shapes: Mapping[str, tuple[int, ...]]
    source: str
    used: Mapping[str, frozenset[int]] = attrs.field(repr=False)
    _function: Callable[..., tuple[Any, ...]] = attrs.field(repr=False)
    _scalar: Callable[..., tuple[Any, ...]] = attrs.field(repr=False)

    @cached_property
    def _places(self) -> tuple[tuple[str, slice, tuple[int, ...]], ...]:
        """Every quantity with its part of the entries and its shape."""
        ends = list(itertools.accumulate((math.prod(shape) for shape in self.shapes.values()), initial=0))
        parts = itertools.starmap(slice, itertools.pairwise(ends))
        return tuple((name, part, shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True))

    def __call__(self, arguments: Sequence[Any]) -> dict[str, NDArray[Any]]:
        """Evaluate at arguments that broadcast against each other.

        Parameters
        ----------
        arguments : sequence of array_like, each broadcastable to the common shape ``(...)``
            Values in the order in which the kernel was compiled; whole numbers are taken as floats.

        Returns
        -------
        dict of array, ``(...)`` + shape of the quantity
            A quantity that depends on few arguments keeps only their axes (as axes of length 1 where they broadcast),
            so that work is done once per distinct input. Undefined values are NaN or infinite.
        """
        values = list(map(_as_floats, arguments))
        batches = {value.shape for value in values} - {()}
        if not batches and all(value.dtype == float for value in values):
            return self.at_one_state([value.item() for value in values])
        if len(batches) == 1 and all(value.size == 1 and value.dtype == float for value in values):
            (axes,), found = batches, self.at_one_state([value.item() for value in values])
            along = {index for index, value in enumerate(values) if value.ndim}
            return {
                name: block.reshape((*axes, *block.shape)) if self.used[name] & along else block
                for name, block in found.items()
            }
        with np.errstate(all="ignore"):
            entries = self._function(*[value[()] for value in values])
        return {name: _stack(entries[part], shape) for name, part, shape in self._places}

    def at_one_state(self, values: Sequence[float]) -> dict[str, NDArray[Any]]:
        """Evaluate at plain floats, an order of magnitude quicker; arrays say what is infinite or undefined.

        Parameters
        ----------
        values : sequence of float

        Returns
        -------
        dict of array, shape of the quantity
        """
        try:
            entries = self._scalar(*values)
        except (ArithmeticError, ValueError):
            with np.errstate(all="ignore"):
                entries = self._function(*map(np.float64, values))
        flat = np.array(entries, dtype=float)
        flat.setflags(write=False)
        return {
            name: flat[part] if len(shape) == 1 else flat[part].reshape(shape) for name, part, shape in self._places
        }


def _as_floats(value: Any) -> NDArray[Any]:
    """An array of floats, or of complex numbers."""
    array = np.asarray(value)
    return array if array.dtype == float else array.astype(np.result_type(float, array))


def _stack(entries: tuple[Any, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    batch = np.broadcast_shapes(*{entry.shape for entry in entries if isinstance(entry, np.ndarray)})
    kind = np.result_type(float, *entries) if entries else np.dtype(float)
    stacked = np.empty((*batch, len(entries)), dtype=kind)
    for index, entry in enumerate(entries):
        stacked[..., index] = entry
    stacked = stacked.reshape((*batch, *shape))
    stacked.setflags(write=False)
    return stacked


def functions_of(source: str, name: str, *scopes: Mapping[str, Any]) -> list[Callable[..., Any]]:
    """A function from source that this package has written, in which no text of the user's is, once for each scope.

    Parameters
    ----------
    source : str
        With one definition.
    name : str
        Of the function.
    *scopes : mapping of str to object
        What the source may use.

    Returns
    -------
    list of callable

    Examples
    --------
    >>> [twice] = functions_of("def twice(x): return x + x", "twice", {})
    >>> twice(2.0)
    4.0
    """
    code, own = compile(source, f"<derived {name}>", "exec"), [dict(scope) for scope in scopes]
    for scope in own:
        exec(code, scope)  # noqa: S102  # our own generated source
    return [scope[name] for scope in own]


def compile_kernel(graph: Graph, quantities: Mapping[str, Any], arguments: Sequence[int]) -> Kernel:
    """Named vectors and matrices of nodes as one compiled function that computes what they share once.

    The source is written by this module alone, and names are replaced by numbered arguments: no text of the user's
    reaches the compiler.

    Parameters
    ----------
    graph : Graph
    quantities : mapping of str to array of int
    arguments : sequence of int
        The nodes of the names, in the order in which their values will be given.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x = build.name("x")
    >>> f = np.array([build.multiply(x, x), build.call("sin", x)])
    >>> compile_kernel(build.graph(), {"f": f}, [x])([[0.0, 1.0]])["f"].shape
    (2, 2)
    """
    blocks = {name: np.asarray(block, dtype=np.intp) for name, block in quantities.items()}
    roots = [int(node) for block in blocks.values() for node in block.ravel()]
    numbered = {int(node): f"a{index}" for index, node in enumerate(arguments)}
    assigned, entries = _texts(graph, roots, numbered)
    lines = [f"def kernel({', '.join(numbered.values())}):"]
    lines += [f"    {name} = {text}" for _, name, text in assigned]
    lines.append("    return (" + "".join(f"{text}, " for text in entries) + ")")
    source = "\n".join(lines)
    shapes = {name: block.shape for name, block in blocks.items()}
    places = {int(node): index for index, node in enumerate(arguments)}
    used = {
        name: frozenset(places[node] for node in graph.needed(block.ravel().tolist()) if node in places)
        for name, block in blocks.items()
    }
    return Kernel(shapes, source, used, *functions_of(source, "kernel", _ARRAYS, _SCALARS))


def _texts(
    graph: Graph, roots: Sequence[int], numbered: Mapping[int, str], fixed: Collection[int] = ()
) -> tuple[list[tuple[int, str, str]], list[str]]:
    """Assignments (node, name, text) of what is used more than once, and the text of every root.

    What only depends on ``fixed`` nodes is assigned where others use it, so that it can be computed beforehand; so is
    the product of such factors of a product.
    """
    order = graph.needed(roots)
    uses = Counter(argument for node in order for argument in graph.arguments[node])
    uses.update(int(root) for root in roots)
    apart = {argument for node in order if node not in fixed for argument in graph.arguments[node] if argument in fixed}
    texts: dict[int, str] = {}
    assigned: list[tuple[int, str, str]] = []
    products: dict[str, str] = {}
    for node in order:
        if node in numbered:
            texts[node] = numbered[node]
            continue
        parts = [texts[argument] for argument in graph.arguments[node]]
        constant = [argument for argument in graph.arguments[node] if argument in fixed and texts[argument] != _MINUS]
        if graph.operations[node] == "*" and node not in fixed and len(constant) > 1:
            product = "*".join(texts[argument] for argument in constant)
            if product not in products:
                products[product] = f"p{len(products)}"
                assigned.append((constant[0], products[product], product))
            others = [texts[argument] for argument in graph.arguments[node] if argument not in fixed]
            parts = [*(part for part in parts if part == _MINUS), products[product], *others]
        text = _written(graph, node, parts)
        if parts and (uses[node] > 1 or node in apart or len(text) > _INLINE):
            assigned.append((node, f"s{len(assigned)}", text))
            text = assigned[-1][1]
        texts[node] = text
    return assigned, [texts[int(root)] for root in roots]


def _written(graph: Graph, node: int, arguments: Sequence[str]) -> str:
    """The text of a node from those of its arguments; for a product, of its factors, however grouped."""
    operation, value = graph.operations[node], graph.values[node]
    if isinstance(value, int | Fraction):
        return _number(value)
    if operation == "pi":
        return "pi"
    if operation == "+":
        terms = zip(graph.arguments[node], arguments, strict=True)
        signed = [
            f"- ({text[2:]}" if graph.operations[term] == "*" and text.startswith("(-") else f"+ {text}"
            for term, text in terms
        ]
        return "(" + " ".join([arguments[0], *signed[1:]]) + ")"
    if operation == "*":
        if arguments[0] == _MINUS:
            return "(-" + "*".join(arguments[1:]) + ")"
        return "(" + "*".join(arguments) + ")"
    if operation in ("/", "**"):
        above, below = (
            "zero" if graph.values[i] == 0 else text for i, text in zip(graph.arguments[node], arguments, strict=True)
        )
        return f"({above}/{below})" if operation == "/" else _power(graph, node, (above, below))
    if operation in FUNCTIONS:
        return f"{operation}({', '.join(arguments)})"
    raise KeyError(value or operation)


def _number(value: Number) -> str:
    try:
        return f"({float(value)!r})"
    except OverflowError:
        return "inf" if value > 0 else "(-inf)"


def _power(graph: Graph, node: int, arguments: Sequence[str]) -> str:
    base, exponent = arguments
    value = graph.values[graph.arguments[node][1]]
    if isinstance(value, int | Fraction) and value.denominator == 1 and abs(Fraction(value)) <= 4:
        product = "(" + "*".join([base] * abs(int(value))) + ")"
        return product if value > 0 else f"(1.0/{product})"
    if value == Fraction(-1, 2):
        return f"(1.0/sqrt({base}))"
    return f"power({base}, {exponent})"


@attrs.frozen(eq=False)
class Program:
    """A function of one state after another, of which the parameters' part is computed once.

    Attributes
    ----------
    scalar, vector : callable
        ``make(parameters, extra=None)``, which returns ``f(t, y)`` with ``y = (q, v)`` giving a tuple: of plain floats,
        which raise where undefined, and of arrays. ``extra`` is a mutable sequence of further arguments.
    """

    scalar: Callable[..., Any]
    vector: Callable[..., Any]


def compile_program(
    graph: Graph,
    results: Sequence[int],
    *,
    state: Sequence[int],
    time: int,
    parameters: Sequence[int],
    extra: Sequence[int] = (),
) -> Program:
    """Nodes as a compiled function of time and state.

    Parameters
    ----------
    graph : Graph
    results : sequence of int
    state : sequence of int
        Coordinates and velocities.
    time : int
    parameters : sequence of int
    extra : sequence of int
        Names whose values are looked up in a mutable sequence at every call.

    Returns
    -------
    Program

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build = Builder()
    >>> x, k, t = (build.name(name) for name in "xkt")
    >>> force = build.multiply(k, x)
    >>> program = compile_program(build.graph(), [force], state=[x], time=t, parameters=[k])
    >>> program.scalar([3.0])(0.0, [2.0])
    (6.0,)
    """
    names = {int(node): f"a{index}" for index, node in enumerate((*state, time, *parameters, *extra))}
    fixed, varying = set(parameters), {*state, time, *extra}
    for node in graph.needed(results):
        if node not in varying and all(argument in fixed for argument in graph.arguments[node]):
            fixed.add(node)
    assigned, texts = _texts(graph, results, names, fixed)
    early = [f"    {name} = {text}" for node, name, text in assigned if node in fixed]
    late = [f"        {name} = {text}" for node, name, text in assigned if node not in fixed]

    def unpacked(nodes: Sequence[int], source: str) -> list[str]:
        return [f"{', '.join(names[node] for node in nodes)}, = {source}"] if nodes else []

    lines = ["def make(parameters, extra=None):"]
    lines += [f"    {line}" for line in unpacked(parameters, "parameters")]
    lines += [*early, f"    def f({names[time]}, y):"]
    lines += [f"        {line}" for line in (*unpacked(state, "y"), *unpacked(extra, "extra"))]
    lines += [*late, f"        return ({''.join(f'{text}, ' for text in texts)})", "    return f"]
    return Program(*functions_of("\n".join(lines), "make", _SCALARS, _ARRAYS))


@attrs.frozen(eq=False)
class StraightLine:
    """A function of arrays of given shapes, which does the same operations on their entries in the same order.

    Attributes
    ----------
    source : str
        Python's text.
    """

    source: str = attrs.field(repr=False)
    _written: Callable[..., tuple[float, ...] | None] = attrs.field(repr=False)
    _places: tuple[tuple[slice, tuple[int, ...] | None], ...] = attrs.field(repr=False)

    def __call__(self, *arrays: NDArray[Any]) -> list[NDArray[np.float64]] | None:
        """Evaluate at arrays.

        Parameters
        ----------
        *arrays : array

        Returns
        -------
        list of array, or None
            None where the arrays are others than those of floats with these shapes; where a comparison, the choice of
            a pivot say, does not come out as at the samples; or where an operation has no finite value.
        """
        values = self._written(*arrays)
        if values is None:
            return None
        flat = np.array(values)
        return [flat[part] if shape is None else flat[part].reshape(shape) for part, shape in self._places]
