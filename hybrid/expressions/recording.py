"""Arithmetic that is written down while it is carried out, so that it can be repeated elsewhere.

Functions that are written for NumPy's arrays run on arrays of recorded numbers as they stand. Each of these has a
value, that at one sample, and says how it was computed. Where a function asks whether one number is larger than
another, the sample answers, and the answer becomes a condition: the recording holds wherever all of them do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

if TYPE_CHECKING:
    from hybrid.expressions.graph import Graph

__all__ = [
    "NotRecordable",
    "Recorded",
    "RecordedChoice",
    "RecordedCondition",
    "RecordedStep",
    "Recording",
    "applied",
    "combined",
    "is_number",
    "recorded_nodes",
]


class NotRecordable(TypeError):  # no error of the user's: another way is taken
    """A function does something with recorded numbers that cannot be written down."""


@attrs.frozen
class RecordedStep:
    """One operation of a recording.

    Attributes
    ----------
    operation : str
        ``input``, ``number``, or the name of a NumPy function.
    operands : tuple of int
        Earlier steps.
    number : float
        Of a ``number``; of an ``input``, which one it is.
    """

    operation: str
    operands: tuple[int, ...] = ()
    number: float = 0.0


@attrs.frozen(eq=False)
class Recorded:
    """A number with the way it was computed.

    Attributes
    ----------
    recording : Recording
        The steps so far.
    place : int
        Its own step there.
    """

    recording: Recording
    place: int

    @property
    def value(self) -> float:
        """Its value at the sample."""
        return self.recording.values[self.place]

    def __bool__(self) -> bool:
        return bool(_compared("greater", combined("absolute", self), 0.0))

    def __float__(self) -> float:
        raise NotRecordable("a recorded number is made into a float")


@attrs.define(eq=False)
class Recording:
    """Operations on numbers, each written down once.

    Attributes
    ----------
    steps : list of RecordedStep
    values : list of float
        Of every step, at the sample.
    inputs : list of int
        On which inputs every step depends, as bits.
    signs : list of bool
        Steps that cannot be negative.
    conditions : dict of (int, int, bool) to None
        Steps of which the first is larger than the second or, where the third entry says so, at least as large.
    """

    steps: list[RecordedStep] = attrs.field(factory=list)
    values: list[float] = attrs.field(factory=list)
    inputs: list[int] = attrs.field(factory=list)
    signs: list[bool] = attrs.field(factory=list)
    conditions: dict[tuple[int, int, bool], None] = attrs.field(factory=dict)
    _known: dict[RecordedStep, int] = attrs.field(factory=dict)

    def input(self, index: int, sample: float) -> Recorded:
        """A number that will be given.

        Parameters
        ----------
        index : int
            Which of the numbers that will be given.
        sample : float
            Its value for now.

        Returns
        -------
        Recorded
        """
        return Recorded(
            self, self._place(RecordedStep("input", (), index), float(sample), 1 << index, is_nonnegative=False)
        )

    def place(self, number: Recorded | float) -> int:
        """The step of a number; a plain one is written down.

        Parameters
        ----------
        number : Recorded or float

        Returns
        -------
        int
        """
        if isinstance(number, Recorded):
            return number.place
        value = float(number)
        return self._place(RecordedStep("number", (), value), value, 0, is_nonnegative=value >= 0.0)

    def require(self, larger: int, smaller: int, *, or_equal: bool) -> None:
        """Add a condition; see ``conditions``.

        Parameters
        ----------
        larger, smaller : int
            Steps.
        or_equal : bool

        Returns
        -------
        None
        """
        self.conditions[larger, smaller, or_equal] = None

    def apply(self, operation: str, operands: Sequence[Recorded | float]) -> Recorded:
        """Write down an operation of which an operand is recorded.

        Parameters
        ----------
        operation : str
            The name of a NumPy function.
        operands : sequence of Recorded or float

        Returns
        -------
        Recorded
        """
        places = tuple(map(self.place, operands))
        with np.errstate(all="ignore"):
            value = float(_FLOATS[operation](*(np.float64(self.values[place]) for place in places)))
        depends = reduce(int.__or__, (self.inputs[place] for place in places))
        is_nonnegative = _is_nonnegative(operation, [self.signs[place] for place in places], places)
        return Recorded(
            self, self._place(RecordedStep(operation, places), value, depends, is_nonnegative=is_nonnegative)
        )

    def _place(self, step: RecordedStep, value: float, depends: int, *, is_nonnegative: bool) -> int:
        place = self._known.get(step)
        if place is None:
            place = self._known[step] = len(self.steps)
            self.steps.append(step)
            self.values.append(value)
            self.inputs.append(depends)
            self.signs.append(is_nonnegative)
        return place


def _is_nonnegative(operation: str, signs: Sequence[bool], places: tuple[int, ...]) -> bool:
    if operation in ("absolute", "sqrt", "exp", "cosh", "heaviside"):
        return True
    if operation == "multiply" and places[0] == places[1]:
        return True
    if operation == "maximum":
        return any(signs)
    return operation in ("add", "multiply", "divide", "minimum") and all(signs)


_SAME_FOR_NUMBERS = {"fmax": "maximum", "fmin": "minimum", "true_divide": "divide", "float_power": "power"}
_OPERATIONS = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "negative", "absolute", "sqrt")
_FUNCTIONS = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "exp", "log")
_FLOATS: Mapping[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in (*_OPERATIONS, *_FUNCTIONS, "sign", "heaviside")
}
_COMPARISONS = {
    "greater": (False, False),
    "greater_equal": (False, True),
    "less": (True, False),
    "less_equal": (True, True),
}


def combined(operation: str, *operands: Any) -> Any:
    """An operation on numbers, recorded or not; what changes nothing is not written down.

    Parameters
    ----------
    operation : str
    *operands : float or Recorded

    Returns
    -------
    float or Recorded
        A float if all operands are.
    """
    recorded = [item for item in operands if isinstance(item, Recorded)]
    if not recorded:
        with np.errstate(all="ignore"):
            return float(_FLOATS[operation](*map(np.float64, operands)))
    first, second = operands[0], operands[-1]
    recording = recorded[0].recording
    if operation == "add" and not (is_number(first, 0.0) or is_number(second, 0.0)):
        return recording.apply(operation, operands)
    if operation == "add":
        return second if is_number(first, 0.0) else first
    if operation == "subtract" and is_number(second, 0.0):
        return first
    if operation == "subtract" and is_number(first, 0.0):
        return combined("negative", second)
    if operation == "multiply":
        if is_number(first, 0.0) or is_number(second, 0.0):
            return 0.0
        for factor, other in ((first, second), (second, first)):
            if is_number(factor, 1.0):
                return other
            if is_number(factor, -1.0):
                return combined("negative", other)
    if operation == "divide" and (is_number(second, 1.0) or is_number(first, 0.0)):
        return first
    if operation in ("maximum", "minimum") and len(recorded) == 2 and first.place == second.place:
        return first
    if operation == "maximum":
        for number, other in ((first, second), (second, first)):
            if not isinstance(number, Recorded) and number <= 0.0 and recording.signs[other.place]:
                return other
    if operation == "absolute" and recording.signs[first.place]:
        return first
    if operation == "negative" and (step := recording.steps[first.place]).operation == "negative":
        return Recorded(recording, step.operands[0])
    return recording.apply(operation, operands)


def is_number(number: Any, value: float) -> bool:
    """Whether an operand is a plain number, and this one.

    Parameters
    ----------
    number : Recorded or float
    value : float

    Returns
    -------
    bool
    """
    return not isinstance(number, Recorded) and number == value


@attrs.frozen(eq=False)
class RecordedCondition:
    """Whether one number is larger than another, which the sample decides when it is asked for."""

    recording: Recording
    larger: int
    smaller: int
    or_equal: bool

    def __bool__(self) -> bool:
        above, below = (self.recording.values[place] for place in (self.larger, self.smaller))
        if math.isnan(above) or math.isnan(below):
            raise NotRecordable("a number is not defined at the sample")
        holds = above >= below if self.or_equal else above > below
        if holds:
            self.recording.require(self.larger, self.smaller, or_equal=self.or_equal)
        else:
            self.recording.require(self.smaller, self.larger, or_equal=not self.or_equal)
        return holds


@attrs.frozen(eq=False)
class RecordedChoice:
    """One of two plain numbers, which is settled when it is asked for."""

    condition: Any
    first: Any
    second: Any

    def __int__(self) -> int:
        return int(self.first if self.condition else self.second)

    __index__ = __int__


def _compared(operation: str, first: Any, second: Any) -> Any:
    recorded = [item for item in (first, second) if isinstance(item, Recorded)]
    if not recorded:
        return bool(getattr(np, operation)(first, second))
    is_turned, or_equal = _COMPARISONS[operation]
    larger, smaller = (second, first) if is_turned else (first, second)
    recording = recorded[0].recording
    if is_number(smaller, 0.0) and or_equal and recording.signs[larger.place]:
        return True
    if is_number(larger, 0.0) and not or_equal and recording.signs[smaller.place]:
        return False
    return RecordedCondition(recording, recording.place(larger), recording.place(smaller), or_equal)


def _logical(operation: str, *operands: Any) -> bool:
    if operation in ("invert", "logical_not"):
        return not operands[0]
    first, second = operands
    if not isinstance(first, RecordedCondition):
        first, second = second, first  # what is known need not be asked for
    if operation in ("bitwise_and", "logical_and"):
        return bool(second) and bool(first)
    return bool(second) or bool(first)


def applied(ufunc: str, *operands: Any) -> Any:
    """Any supported function of single numbers.

    Parameters
    ----------
    ufunc : str
        Name of a NumPy function, such as ``"arctan2"``.
    *operands : float or Recorded

    Returns
    -------
    float or Recorded
        NotRecordable is raised for a function that has no operation in the table.
    """
    name = _SAME_FOR_NUMBERS.get(ufunc, ufunc)
    if name in _FLOATS:
        return combined(name, *operands)
    if name in _COMPARISONS:
        return _compared(name, *operands)
    if name in ("bitwise_and", "bitwise_or", "logical_and", "logical_or", "invert", "logical_not"):
        return _logical(name, *operands)
    if name == "isfinite":
        return _compared("less", combined("absolute", *operands), math.inf)
    if name == "square":
        return combined("multiply", operands[0], operands[0])
    if name == "positive":
        return operands[0]
    raise NotRecordable(name)


_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "abs": "absolute"}
_NUMPY_NAMES |= {"min": "minimum", "max": "maximum"}


def recorded_nodes(graph: Graph, roots: Iterable[int], inputs: Mapping[int, Recorded]) -> dict[int, Any]:
    """The numbers that nodes have, with the way they are computed.

    Parts of sums and products that depend on the same inputs are put together first: what depends on one of them alone
    need not be computed for every value of another.

    Parameters
    ----------
    graph : Graph
    roots : iterable of int
    inputs : mapping of int to Recorded
        Numbers of the names.

    Returns
    -------
    dict of int to Recorded or float
        Of all nodes that were needed.

    Raises
    ------
    NotRecordable
        A root depends on another name.

    Examples
    --------
    >>> from hybrid.expressions import Builder
    >>> build, recording = Builder(), Recording()
    >>> x = build.name("x")
    >>> root = build.add(build.call("sin", x), build.number(1))
    >>> found = recorded_nodes(build.graph(), [root], {x: recording.input(0, 0.0)})
    >>> [step.operation for step in recording.steps], found[root].value
    (['input', 'sin', 'number', 'add'], 1.0)
    """
    numbers: dict[int, Any] = dict(inputs)
    for node in graph.needed(roots):
        if node not in numbers:
            numbers[node] = _recorded_node(graph, node, numbers)
    return numbers


def _recorded_node(graph: Graph, node: int, numbers: Mapping[int, Any]) -> Any:
    operation, value = graph.operations[node], graph.values[node]
    operands = [numbers[argument] for argument in graph.arguments[node]]
    if isinstance(value, int | Fraction):
        return float(value)
    if operation == "pi":
        return math.pi
    if operation in ("+", "*"):
        return _gathered("add" if operation == "+" else "multiply", operands)
    if operation == "/":
        return combined("divide", *operands)
    if operation == "**":
        exponent = graph.values[graph.arguments[node][1]]
        if isinstance(exponent, int) and 0 < abs(exponent) <= _FACTORS:
            product = reduce(lambda x, y: combined("multiply", x, y), [operands[0]] * abs(exponent))
            return product if exponent > 0 else combined("divide", 1.0, product)
        return combined("power", *operands)
    if operation == "step":
        return combined("heaviside", operands[0], 0.5)
    name = _NUMPY_NAMES.get(operation, operation)
    if name not in _FLOATS:
        raise NotRecordable(f"{value} is not given" if operation == "name" else operation)
    return combined(name, *operands) if len(operands) == 1 else reduce(lambda x, y: combined(name, x, y), operands)


_FACTORS = 4  # a power with more of them is left to the mathematical library


def _gathered(operation: str, operands: Sequence[Any]) -> Any:
    groups: dict[int, list[Any]] = {}
    for item in operands:
        groups.setdefault(item.recording.inputs[item.place] if isinstance(item, Recorded) else 0, []).append(item)
    parts = [reduce(lambda x, y: combined(operation, x, y), groups[key]) for key in sorted(groups)]
    return reduce(lambda x, y: combined(operation, x, y), parts)
