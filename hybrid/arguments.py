"""Arguments of public functions and values, held against the annotations that say what they are.

An annotation is the one place that says the kind of a parameter. :func:`checks_arguments` reads it at the first call,
by the names in it, because what it names may be imported for types only. Kinds are checked, and that a number is not
NaN where it is an argument itself; what else a value must be is checked by the function that uses it.

Checkers of types would do half of it: typeguard and beartype refuse NumPy's numbers, fractions and arrays where a float
or a sequence is asked for, take NaN and look at one entry of a sequence; typeguard skips what is imported for types.
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar, cast

import attrs

from hybrid.errors import BEYOND_FLOATS, ArgumentError, ComputationError, HybridError

__all__ = ["checks_arguments", "explains_arguments", "is_masked"]

F = TypeVar("F", bound=Callable[..., Any])

# What annotations call by a name of their own.
_ALIASES = {
    "Box": "Mapping[str, tuple[float, float]]",
    "Engine": "Callable",
    "Json": "Any",
    "OnInterrupt": "Literal['raise', 'keep']",
    "Progress": "Callable",
    "Stiffness": "float | str | Mapping[str, float | str]",
    "StyleName": "Literal['screen', 'page', 'single', 'double']",
    "Values": "Mapping[str, Any]",
    "Written": "str | float",
}
_ARRAYS = {"Array", "ArrayLike", "NDArray", "ndarray"}
_MAPPINGS = {"Mapping", "dict"}
_SEQUENCES = {"Collection", "Iterable", "Sequence", "list", "tuple"}
_LONG = 60  # letters of a value that is shown

_FIRST = {
    "Dynamics": "derive it first, as hybrid.derive(mechanisms.load('rod_on_incline'))",
    "Mechanism": "read it first, as mechanisms.load('rod_on_incline') or hybrid.read_mechanism('chalk.toml')",
    "State": "solve it first, as hybrid.solve_state(dynamics, {'phi': 1}), or hybrid.State(q, v)",
    "Certificate": "only a verdict that is proved has one",
    "ContactProblem": "pose it first, as hybrid.contact_problem(dynamics, state)",
    "Trajectory": "compute it first, as hybrid.simulate(dynamics, state, t_end=1)",
    "Functional": "write it first, as hybrid.Functional(terminal='x')",
    "AbstractImpactLaw": "choose one, as hybrid.EnergeticImpact()",
    "SelectionRule": "choose one, as hybrid.Penalty()",
    "Settings": "write hybrid.Settings(rtol=1e-9)",
    "Tolerances": "write hybrid.Tolerances(sign=1e-9)",
}
"""How one comes by a value of a class, for those who hold something else."""


@attrs.frozen
class Kind:
    """What a parameter may be.

    Attributes
    ----------
    words : str
        What is expected, in words.
    accepts : callable
        Whether a value is of this kind.
    """

    words: str
    accepts: Callable[[Any], bool]


def checks_arguments(subject: F) -> F:
    """A function, or a class of values, that refuses arguments of another kind than its annotations say.

    Parameters
    ----------
    subject : callable, or attrs class
        Of a class, what its fields take.

    Returns
    -------
    callable, or the class

    Examples
    --------
    >>> @checks_arguments
    ... def double(of: float) -> float:
    ...     return 2 * of
    >>> double("4")
    Traceback (most recent call last):
    ...
    hybrid.errors.ArgumentError: double: of must be a number, not '4'; give 4.0
    """
    return _wrapped(subject, is_checked_first=True)


def explains_arguments(subject: F) -> F:
    """As :func:`checks_arguments`, but the arguments are looked at only where the call fails: for what is called often.

    Parameters
    ----------
    subject : callable, or attrs class

    Returns
    -------
    callable, or the class
    """
    return _wrapped(subject, is_checked_first=False)


def _wrapped(subject: F, *, is_checked_first: bool) -> F:
    is_class = isinstance(subject, type)
    function: Callable[..., Any] = subject.__init__ if isinstance(subject, type) else subject  # type: ignore[misc]
    kinds = dict[str, Kind]()

    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if not kinds:
            kinds.update(_kinds_of(function, subject if is_class else None))
        for name, value in (*zip(kinds, args, strict=False), *kwargs.items()):
            if name in kinds and not kinds[name].accepts(value):
                _refuse(f"{subject.__qualname__.lstrip('_')}: {name}", kinds[name], value)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_checked_first:
            check(args, kwargs)
        try:
            return function(*args, **kwargs)
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            if not isinstance(error, HybridError):
                check(args, kwargs)
            if isinstance(error, OverflowError):
                raise ComputationError(BEYOND_FLOATS) from error
            raise

    if isinstance(subject, type):
        subject.__init__ = call  # type: ignore[misc]
        return subject
    return cast("F", call)


def _kinds_of(function: Callable[..., Any], owner: Any) -> Iterator[tuple[str, Kind]]:
    """By name. What a converter of a field takes is in the signature, unless it is that of a built-in type."""
    fields = {} if owner is None else {field.alias: str(field.type) for field in attrs.fields(owner)}
    for name, parameter in inspect.signature(function).parameters.items():
        said = parameter.annotation
        if said is parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            said = fields.get(name, "Any")
        yield name, _kind(said if isinstance(said, str) else inspect.formatannotation(said), is_argument=True)


@functools.cache
def _kind(annotation: str, *, is_argument: bool = False) -> Kind:
    node = ast.parse(annotation, mode="eval").body
    if isinstance(node, ast.BinOp):
        first, second = (_kind(ast.unparse(part), is_argument=is_argument) for part in (node.left, node.right))
        words = dict.fromkeys((*first.words.split(" or "), *second.words.split(" or ")))
        return Kind(" or ".join(words), lambda value: first.accepts(value) or second.accepts(value))
    parts: list[str] = []
    if isinstance(node, ast.Subscript):
        parts = [ast.unparse(part) for part in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])]
        node = node.value
    name = ast.unparse(node).rpartition(".")[2]
    if name in _ALIASES:
        return _kind(_ALIASES[name], is_argument=is_argument)
    if name == "float" and is_argument:
        return Kind("a number", lambda value: _is_number(value) and value == value and not _is_beyond_floats(value))
    if name == "Literal":
        return Kind(f"one of {', '.join(parts)}", lambda value: isinstance(value, str) and repr(value) in parts)
    if name in _ARRAYS:
        return Kind("an array of numbers", _is_array)
    if name in _MAPPINGS:
        return _mapping(*map(_kind, parts or ("Any", "Any")))
    if name in _SEQUENCES:
        return _sequence(
            [_kind(part) for part in parts if part != "..."], is_fixed=name == "tuple" and parts[1:] != ["..."]
        )
    article = "an" if name[0] in "AEIOU" else "a"
    return _WORDS.get(name) or Kind(f"{article} {name}", lambda value: _is_named(type(value), name))


def _is_named(kind: type[Any], name: str) -> bool:
    return kind.__name__ == name or any(base.__name__ == name for base in kind.__mro__)


def _mapping(keys: Kind, values: Kind) -> Kind:
    def accepts(value: Any) -> bool:
        return isinstance(value, Mapping) and all(map(keys.accepts, value)) and all(map(values.accepts, value.values()))

    return Kind(f"a mapping of {_plural(keys)} to {_plural(values)}", accepts)


def _sequence(entries: list[Kind], *, is_fixed: bool) -> Kind:
    def has_entries(value: Any) -> bool:
        is_one = isinstance(value, str | bytes | Mapping) or getattr(value, "shape", None) == ()
        return isinstance(value, Iterable) and not is_one

    def accepts(value: Any) -> bool:
        return has_entries(value) and (_is_uniform(value, entry) or all(map(entry.accepts, value)))

    def accepts_each(value: Any) -> bool:
        return (
            has_entries(value)
            and len(value) == len(entries)
            and all(one.accepts(item) for one, item in zip(entries, value, strict=True))
        )

    entry = entries[0] if entries else _WORDS["Any"]
    if is_fixed and entries:
        return Kind(f"a sequence of {len(entries)} {_plural(entry)}", accepts_each)
    return Kind(f"a sequence of {_plural(entry)}", accepts)


def _plural(kind: Kind) -> str:
    """As ``texts or Axis objects``."""
    words = re.sub(r"\ban? ([A-Z]\w*)", r"\1 objects", kind.words.replace("anything", "values"))
    return re.sub(r"\ban? ((?:whole )?(?:array|function|mapping|motion|number|sequence|text))\b", r"\1s", words)


def _is_uniform(value: Any, expected: Kind) -> bool:
    """Whether an array is of one type of number that is accepted, so that none need be looked at."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and dtype.kind in "iuf" and len(value.shape) == 1 and expected.accepts(dtype.type())


def _is_number(value: Any) -> bool:
    if type(value) is float:
        return True
    if isinstance(value, str | bytes | bool | complex) or _entries(value) not in "iufO":
        return False
    try:
        return getattr(value, "ndim", 0) == 0 and getattr(value, "imag", 0) == 0 and isinstance(float(value), float)
    except (TypeError, ValueError, OverflowError):
        return isinstance(value, int)


def _is_beyond_floats(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _entries(value: Any) -> str:
    """The letter that NumPy has for the kind of the entries of an array; that of floats for what is none."""
    return str(getattr(getattr(value, "dtype", None), "kind", "f"))


def _is_whole(value: Any) -> bool:
    if type(value) is int:
        return True
    if isinstance(value, bool) or getattr(value, "ndim", 0) > 0:
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def is_masked(value: Any) -> bool:
    """Whether a value is an array of which some entries are masked.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    if not hasattr(value, "filled"):
        return False
    import numpy as np  # its module of masks is loaded for a masked array alone

    return bool(np.ma.is_masked(value))


def _is_array(value: Any) -> bool:
    if value is None or isinstance(value, str | bytes | Mapping) or is_masked(value):
        return False
    import numpy as np  # not before there is an array

    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return False
    if array.dtype.kind != "O":
        return array.dtype.kind in "biuf"
    return all(hasattr(item, "__float__") or hasattr(item, "__mul__") for item in array.flat)


_WORDS = {
    "None": Kind("None", lambda value: value is None),
    "Any": Kind("anything", lambda _: True),
    "object": Kind("anything", lambda _: True),
    "float": Kind("a number", _is_number),
    "int": Kind("a whole number", _is_whole),
    "str": Kind("a text", lambda value: isinstance(value, str)),
    "bool": Kind("True or False", lambda value: type(value).__name__ in ("bool", "bool_")),
    "Callable": Kind("a function", callable),
    "Curve": Kind("a motion", lambda value: hasattr(value, "graph")),
}
"""Kinds that have a word of their own; what is none of them is a class, which has its name alone."""


def _refuse(place: str, expected: Kind, value: Any) -> NoReturn:
    words = expected.words.replace("a number", "a finite number") if _is_beyond_floats(value) else expected.words
    raise ArgumentError(f"{place} must be {words}, not {_shown(value)}{_advice(expected, value)}")


def _shown(value: Any) -> str:
    if _is_beyond_floats(value):
        return "a whole number beyond the range of floats"
    if value is None or isinstance(value, str | int | float | complex | list | tuple | dict | set):
        text = repr(value)
        if len(text) <= _LONG:
            return text
    shape = getattr(value, "shape", None)
    article = "an" if type(value).__name__[0] in "AEIOUaeiou" else "a"
    of = " of complex numbers" if _entries(value) == "c" else ""
    of = " with masked entries" if is_masked(value) else of
    return f"{article} {type(value).__name__}{of}" + (f" of shape {shape}" if shape is not None else "")


def _advice(expected: Kind, value: Any) -> str:
    """The nearest right thing: what the value becomes that is accepted, or how one comes by a value of the class."""
    for near in _nearest(expected, value):
        if expected.accepts(near) and len(repr(near)) <= _LONG:
            return f"; give {near!r}"
    return next((f"; {_FIRST[word]}" for word in expected.words.split() if word in _FIRST), "")


def _nearest(expected: Kind, value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        from difflib import get_close_matches  # for an error message

        yield from get_close_matches(value, re.findall(r"'([^']*)'", expected.words), n=1)
        name, equals, text = value.partition("=")
        if equals:
            yield {name.strip(): text.strip()}
        try:
            yield float(value)
            yield [float(value)]
            yield int(float(value))
        except (ValueError, OverflowError):
            pass
    elif isinstance(value, float) and value.is_integer():
        yield int(value)
    elif isinstance(value, int) and value in (0, 1):
        yield bool(value)
    yield [value]
