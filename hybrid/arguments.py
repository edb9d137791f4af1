"""Arguments of public functions and values, held against the annotations that say what they are.

An annotation is the one place that says the kind of a parameter. :func:`checks_arguments` reads it at the first call,
by the names in it, because what it names may be imported for types only. Kinds are checked, and that a number is not
NaN where it is an argument itself; what else a value must be is checked by the function that uses it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from typing import Any, NoReturn, TypeVar, cast

import attrs

from hybrid.errors import ArgumentError, HybridError

__all__ = ["checks_arguments", "explains_arguments"]

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
_MANY = 4  # of a value that is shown
_LONG = 60

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
    """One alternative of an annotation.

    Attributes
    ----------
    words : str
        What is expected, in words.
    accepts : callable
        Whether a value is of this kind.
    by_type : bool
        Whether the type of a value decides.
    options : tuple of str
        Texts that are accepted, if no others are.
    """

    words: str
    accepts: Callable[[Any], bool]
    by_type: bool = False
    options: tuple[str, ...] = ()


@attrs.frozen
class Expected:
    """What a parameter may be: any of several kinds.

    Attributes
    ----------
    kinds : tuple of Kind
    known : set of type
        Of values that were accepted for their type.
    """

    kinds: tuple[Kind, ...]
    known: set[type] = attrs.field(factory=set, init=False, eq=False)

    @property
    def words(self) -> str:
        """The kinds in words."""
        return " or ".join(dict.fromkeys(kind.words for kind in self.kinds))

    def accepts(self, value: Any) -> bool:
        """Whether one of the kinds is that of a value.

        Parameters
        ----------
        value : object

        Returns
        -------
        bool
        """
        for kind in self.kinds:
            if kind.accepts(value):
                if kind.by_type:
                    self.known.add(type(value))
                return True
        return False


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
    return _wrapped(subject, _before)


def explains_arguments(subject: F) -> F:
    """As :func:`checks_arguments`, but the arguments are looked at only where the call fails: for what is called often.

    Parameters
    ----------
    subject : callable, or attrs class

    Returns
    -------
    callable, or the class
    """
    return _wrapped(subject, _after)


_Check = Callable[[tuple[Any, ...], Mapping[str, Any]], None]


def _wrapped(subject: F, order: Callable[[Callable[..., Any], _Check], Callable[..., Any]]) -> F:
    if isinstance(subject, type):
        subject.__init__ = order(subject.__init__, _check_of(subject.__init__, subject))  # type: ignore[misc]
        return subject
    return cast("F", order(subject, _check_of(subject, None)))


def _before(function: Callable[..., Any], check: _Check) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        check(args, kwargs)
        return function(*args, **kwargs)

    return call


def _after(function: Callable[..., Any], check: _Check) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            if not isinstance(error, HybridError):
                check(args, kwargs)
            raise

    return call


def _check_of(function: Callable[..., Any], owner: type[Any] | None) -> _Check:
    order: list[Expected] = []
    named: dict[str, Expected] = {}

    def check(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if not named:
            named.update(_of_parameters(function, owner))
            order.extend(named.values())
        for expected, value in zip(order, args, strict=False):
            if type(value) not in expected.known and not expected.accepts(value):
                _refuse(owner or function, named, expected, value)
        for name, value in kwargs.items():
            found = named.get(name)
            if found is not None and type(value) not in found.known and not found.accepts(value):
                _refuse(owner or function, named, found, value)

    return check


_ANYTHING = Expected((Kind("anything", lambda _: True, by_type=True),))


def _of_parameters(function: Callable[..., Any], owner: type[Any] | None) -> dict[str, Expected]:
    """By name. What a converter of a field takes is in the signature, unless it is that of a built-in type."""
    fields = {} if owner is None else {field.alias: str(field.type) for field in attrs.fields(owner)}
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        said = parameter.annotation
        if said is parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            said = fields.get(name, "Any")
        kinds = _expected(said if isinstance(said, str) else inspect.formatannotation(said)).kinds
        found[name] = Expected(tuple(_DEFINITE if kind == _NUMBER else kind for kind in kinds))
    return found


def _expected(annotation: str | ast.expr) -> Expected:
    node = ast.parse(annotation, mode="eval").body if isinstance(annotation, str) else annotation
    return Expected(tuple(_of_node(node)))


def _of_node(node: ast.expr) -> Iterator[Kind]:
    if isinstance(node, ast.BinOp):
        yield from _of_node(node.left)
        yield from _of_node(node.right)
        return
    parts: tuple[ast.expr, ...] = ()
    if isinstance(node, ast.Subscript):
        parts = tuple(node.slice.elts) if isinstance(node.slice, ast.Tuple) else (node.slice,)
        node = node.value
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    if name in _ALIASES:
        yield from _expected(_ALIASES[name]).kinds
    elif name == "Literal":
        options = tuple(ast.literal_eval(part) for part in parts)
        yield Kind(
            f"one of {', '.join(map(repr, options))}",
            lambda value: _is_text(value) and value in options,
            False,
            options,
        )
    elif name in _ARRAYS:
        yield Kind("an array of numbers", _is_array)
    elif name in _MAPPINGS:
        yield _mapping(*map(_expected, parts))
    elif name in _SEQUENCES:
        yield _sequence(parts, is_fixed=name == "tuple")
    else:
        yield _named(name)


def _named(name: str | None) -> Kind:
    """Of a plain word; one that is none of the words below is a class, which has its name alone."""
    if name is None:
        return Kind("None", lambda value: value is None, by_type=True)
    words: dict[str, Kind] = {
        "Any": _ANYTHING.kinds[0],
        "object": _ANYTHING.kinds[0],
        "float": _NUMBER,
        "int": Kind("a whole number", _is_whole),
        "str": Kind("a text", _is_text, by_type=True),
        "bool": Kind("True or False", lambda value: type(value).__name__ in ("bool", "bool_"), by_type=True),
        "Callable": Kind("a function", callable),
        "Curve": Kind("a motion", lambda value: hasattr(value, "graph")),
    }
    if name in words:
        return words[name]
    article = "an" if name[0] in "AEIOU" else "a"
    return Kind(f"{article} {name}", lambda value: any(base.__name__ == name for base in type(value).__mro__), True)


def _mapping(keys: Expected = _ANYTHING, values: Expected = _ANYTHING) -> Kind:
    is_any = values.words == _ANYTHING.words

    def accepts(value: Any) -> bool:
        if not (type(value) is dict or isinstance(value, Mapping)) or not _all(value, keys):
            return False
        return is_any or _all(value.values(), values)

    return Kind(f"a mapping of {_plural(keys)} to {_plural(values)}", accepts)


def _sequence(parts: tuple[ast.expr, ...], *, is_fixed: bool) -> Kind:
    entries = [_expected(part) for part in parts if ast.unparse(part) != "..."]
    if not is_fixed or len(entries) < len(parts):
        entry = entries[0] if entries else _ANYTHING

        def accepts(value: Any) -> bool:
            return _has_entries(value) and (_is_uniform(value, entry) or _all(value, entry))

        return Kind(f"a sequence of {_plural(entry)}", accepts)

    def accepts_each(value: Any) -> bool:
        if not (_has_entries(value) and len(value) == len(entries)):
            return False
        return all(one.accepts(item) for one, item in zip(entries, value, strict=True))

    return Kind(f"a sequence of {len(entries)} {_plural(entries[0])}", accepts_each)


def _all(values: Iterable[Any], expected: Expected) -> bool:
    return expected.known.issuperset(map(type, values)) or all(map(expected.accepts, values))


def _has_entries(value: Any) -> bool:
    is_one = isinstance(value, str | bytes | Mapping) or getattr(value, "shape", None) == ()
    return isinstance(value, Iterable) and not is_one


def _is_uniform(value: Any, expected: Expected) -> bool:
    """Whether nothing need be looked at one by one: numbers in an array, or what has been hashed already."""
    if isinstance(value, Set):
        return True
    dtype = getattr(value, "dtype", None)
    return dtype is not None and dtype.kind in "iuf" and len(value.shape) == 1 and expected.accepts(dtype.type())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    if type(value) is float:
        return True
    if isinstance(value, str | bool | complex) or type(value).__name__ == "bool_":
        return False
    try:
        return getattr(value, "ndim", 0) == 0 and getattr(value, "imag", 0) == 0 and isinstance(float(value), float)
    except (TypeError, ValueError, OverflowError):
        return isinstance(value, int)


_NUMBER = Kind("a number", _is_number)
_DEFINITE = Kind("a number", lambda value: _is_number(value) and value == value)


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


def _is_array(value: Any) -> bool:
    if value is None or isinstance(value, str | bytes | Mapping):
        return False
    import numpy as np  # not before there is an array

    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return False
    if array.dtype.kind != "O":
        return array.dtype.kind in "biuf"
    return all(hasattr(item, "__float__") or hasattr(item, "__mul__") for item in array.flat)


_PLURALS = {"anything": "values", "a text": "texts", "a number": "numbers", "a whole number": "whole numbers"}


def _plural(expected: Expected) -> str:
    return " or ".join(dict.fromkeys(_PLURALS.get(kind.words, f"{kind.words} each") for kind in expected.kinds))


def _refuse(subject: Any, named: Mapping[str, Expected], expected: Expected, value: Any) -> NoReturn:
    name = next(name for name, item in named.items() if item is expected)
    asked = f"{subject.__qualname__.lstrip('_')}: {name} must be {expected.words}"
    raise ArgumentError(f"{asked}, not {_shown(value)}{_advice(expected, value)}")


def _shown(value: Any) -> str:
    if (
        value is None
        or isinstance(value, str | int | float | complex)
        or (isinstance(value, Collection) and isinstance(value, list | tuple | dict | set) and len(value) <= _MANY)
    ):
        text = repr(value)
        if len(text) <= _LONG:
            return text
    shape = getattr(value, "shape", None)
    article = "an" if type(value).__name__[0] in "AEIOUaeiou" else "a"
    return f"{article} {type(value).__name__}" + (f" of shape {shape}" if shape is not None else "")


def _advice(expected: Expected, value: Any) -> str:
    """The nearest right thing: what the value becomes that is accepted, or how one comes by a value of the class."""
    for near in _nearest(expected, value):
        if expected.accepts(near) and len(repr(near)) <= _LONG:
            return f"; give {near!r}"
    for kind in expected.kinds:
        if kind.words.rpartition(" ")[2] in _FIRST:
            return f"; {_FIRST[kind.words.rpartition(' ')[2]]}"
    return ""


def _nearest(expected: Expected, value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        from difflib import get_close_matches  # for an error message

        yield from get_close_matches(value, [option for kind in expected.kinds for option in kind.options], n=1)
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
