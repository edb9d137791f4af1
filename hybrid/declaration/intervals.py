"""Intervals that expressions can be evaluated with: bounds of a function over a range of its arguments.

Natural interval extensions (Moore 1966, Interval Analysis): every operation is bounded by itself, so a bound is sharp
where every argument occurs once, and too wide by an amount that shrinks with the range elsewhere. Bounds of the slope
make that the square of the range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

__all__ = ["Interval"]

Array = NDArray[np.float64]

_TURN = 2 * np.pi
_ULP = float(np.finfo(float).eps)
_EXACT = frozenset((np.negative, np.positive, np.absolute, np.sign, np.maximum, np.minimum, np.heaviside))


def _array(value: Any) -> Array:
    return np.asarray(value, dtype=float)


@attrs.frozen(eq=False)
class Interval(NDArrayOperatorsMixin):
    """Intervals ``[low, high]``, with the operators and functions of expressions.

    Ends are moved outwards by a rounding unit after every operation that is rounded. Where an operation is undefined
    anywhere within its arguments, its result is unbounded.

    Attributes
    ----------
    low, high : array, (...)
    slope : Interval or None
        Bounds of the derivative with respect to a variable, carried along from arguments that have them.

    Examples
    --------
    >>> t = Interval(np.array([0.0, 2.0]), np.array([1.0, 4.0]))
    >>> bound = np.sin(t) + 1
    >>> bound.low.round(3), bound.high.round(3)
    (array([1.   , 0.243]), array([1.841, 1.909]))
    """

    low: Array = attrs.field(converter=_array)
    high: Array = attrs.field(converter=_array)
    slope: Interval | None = None

    @classmethod
    def variable(cls, low: Array, high: Array) -> Interval:
        """The variable with respect to which slopes are taken."""
        return cls(low, high, cls(1.0, 1.0))

    def centred(self, middle: Interval, value: Any) -> Interval:
        """Bounds by the mean value theorem as well, which are wrong by the square of a range only.

        Parameters
        ----------
        middle : Interval
            The variable minus the centre of its range.
        value : array_like, (...)
            The function at the centre.
        """
        if self.slope is None:
            return self
        bound: Interval = middle * self.slope + value
        return Interval(np.maximum(self.low, bound.low), np.minimum(self.high, bound.high), self.slope)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Interval:
        """What NumPy calls for an operator or a function of intervals."""
        rule = _RULES.get(ufunc)
        if rule is None or method != "__call__" or options:
            return NotImplemented  # type: ignore[no-any-return]
        first, *others = (value if isinstance(value, Interval) else Interval(value, value) for value in inputs)
        if len(inputs) == 2 and inputs[0] is inputs[1]:
            others = [first]
        with np.errstate(all="ignore"):
            low, high = rule(first, *others)
            if ufunc not in _EXACT:
                low, high = low - _ULP * np.abs(low), high + _ULP * np.abs(high)
            unknown = np.isnan(low + high)
        if unknown.any():
            low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
        if first.slope is None and all(other.slope is None for other in others):
            return Interval(low, high)
        return Interval(low, high, _slope(ufunc, Interval(low, high), (first, *others)))


def _slope(ufunc: np.ufunc, result: Interval, arguments: tuple[Interval, ...]) -> Interval:
    """The chain rule."""
    plain = [Interval(argument.low, argument.high) for argument in arguments]
    if len(plain) == 2 and arguments[0] is arguments[1]:
        plain[1] = plain[0]
    total: Interval | None = None
    for argument, partial in zip(arguments, _PARTIALS[ufunc], strict=True):
        if argument.slope is not None:
            factor = partial(result, *plain)
            if isinstance(factor, Interval):
                term = factor * argument.slope
            else:  # 1 or -1
                term = argument.slope if factor > 0.0 else -argument.slope
            total = term if total is None else total + term
    assert total is not None
    return total


Bounds = tuple[Any, Any]
Rule = Callable[..., Bounds]


def _hull(*ends: Any) -> Bounds:
    return reduce(np.minimum, ends), reduce(np.maximum, ends)


def _increasing(function: Callable[[Any], Any]) -> Rule:
    return lambda x: (function(x.low), function(x.high))


def _magnitude(x: Interval) -> Bounds:
    least, most = _hull(np.abs(x.low), np.abs(x.high))
    return np.where((x.low <= 0.0) & (x.high >= 0.0), 0.0, least), most


def _product(x: Interval, y: Interval) -> Bounds:
    if x is y:
        least, most = _magnitude(x)
        return least * least, most * most
    return _hull(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high)


def _quotient(x: Interval, y: Interval) -> Bounds:
    low, high = _hull(x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high)
    through = (y.low <= 0.0) & (y.high >= 0.0)
    return np.where(through, np.nan, low), high


def _power(x: Interval, y: Interval) -> Bounds:
    """Of an exponent that is a whole number, or of a base that is not negative."""
    low, high = _hull(x.low**y.low, x.low**y.high, x.high**y.low, x.high**y.high)
    whole = (y.low == y.high) & (y.low == np.round(y.low))
    through = (x.low <= 0.0) & (x.high >= 0.0)
    low = np.where(whole & (np.mod(y.low, 2.0) == 0.0) & through & (y.low > 0.0), 0.0, low)
    defined = np.where(whole, ~(through & (y.low < 0.0)), x.low >= 0.0)
    return np.where(defined, low, np.nan), high


def _wave(function: Callable[[Any], Any], crest: float) -> Rule:
    """Of the sine or cosine, with crests at ``crest`` and every turn: the ends, and 1 or -1 where one lies between."""

    def rule(x: Interval) -> Bounds:
        low, high = _hull(function(x.low), function(x.high))

        def between(angle: float) -> Any:
            return np.floor((x.high - angle) / _TURN) > np.floor((x.low - angle) / _TURN)

        return np.where(between(crest - np.pi), -1.0, low), np.where(between(crest), 1.0, high)

    return rule


def _tangent(x: Interval) -> Bounds:
    low, high = np.tan(x.low), np.tan(x.high)
    pole = (np.floor(x.high / np.pi - 0.5) > np.floor(x.low / np.pi - 0.5)) | (low > high)
    return np.where(pole, np.nan, low), high


def _angle(y: Interval, x: Interval) -> Bounds:
    """Its extremes lie at corners of a rectangle that stays to the right of the origin."""
    low, high = _hull(*(np.arctan2(a, b) for a in (y.low, y.high) for b in (x.low, x.high)))
    right = x.low > 0.0
    return np.where(right, low, -np.pi), np.where(right, high, np.pi)


def _even(function: Callable[[Any], Any]) -> Rule:
    """Of a function of the magnitude that increases with it."""

    def rule(x: Interval) -> Bounds:
        least, most = _magnitude(x)
        return function(least), function(most)

    return rule


_RULES: Mapping[Any, Rule] = MappingProxyType(
    {
        np.add: lambda x, y: (x.low + y.low, x.high + y.high),
        np.subtract: lambda x, y: (x.low - y.high, x.high - y.low),
        np.multiply: _product,
        np.true_divide: _quotient,
        np.power: _power,
        np.negative: lambda x: (-x.high, -x.low),
        np.positive: lambda x: (x.low, x.high),
        np.absolute: _magnitude,
        np.sin: _wave(np.sin, np.pi / 2),
        np.cos: _wave(np.cos, 0.0),
        np.tan: _tangent,
        np.arccos: lambda x: (np.arccos(x.high), np.arccos(x.low)),
        np.arctan2: _angle,
        np.cosh: _even(np.cosh),
        np.maximum: lambda x, y: (np.maximum(x.low, y.low), np.maximum(x.high, y.high)),
        np.minimum: lambda x, y: (np.minimum(x.low, y.low), np.minimum(x.high, y.high)),
        np.heaviside: lambda x, y: (np.heaviside(x.low, y.low), np.heaviside(x.high, y.high)),
        **{
            function: _increasing(function)
            for function in (np.arcsin, np.arctan, np.sinh, np.tanh, np.exp, np.log, np.sqrt, np.sign)
        },
    }
)


def _jump(result: Interval, x: Interval, *_: Interval) -> Interval:
    """Nothing, but without bounds where a jump may be."""
    open_ = np.where(result.low == result.high, 0.0, np.inf)
    return Interval(-open_, open_)


def _chosen(sign: float) -> tuple[Callable[..., Interval], ...]:
    """Between 0 and 1, of the larger of two arguments (sign 1) or the smaller one (sign -1)."""

    def first(_: Interval, x: Interval, y: Interval) -> Interval:
        x, y = (x, y) if sign > 0 else (-x, -y)
        return Interval(np.where(x.low > y.high, 1.0, 0.0), np.where(x.high < y.low, 0.0, 1.0))

    return first, lambda r, x, y: first(r, y, x)


_PARTIALS: Mapping[Any, tuple[Callable[..., Any], ...]] = MappingProxyType(
    {
        np.add: (lambda r, x, y: 1.0, lambda r, x, y: 1.0),
        np.subtract: (lambda r, x, y: 1.0, lambda r, x, y: -1.0),
        np.multiply: (lambda r, x, y: y, lambda r, x, y: x),
        np.true_divide: (lambda r, x, y: 1.0 / y, lambda r, x, y: -x / (y * y)),
        # a whole exponent stays one
        np.power: (lambda r, x, y: y * x ** Interval(y.low - 1.0, y.high - 1.0), lambda r, x, y: r * np.log(x)),
        np.negative: (lambda r, x: -1.0,),
        np.positive: (lambda r, x: 1.0,),
        np.absolute: (lambda r, x: np.sign(x),),
        np.sign: (_jump,),
        np.heaviside: (_jump, _jump),
        np.sin: (lambda r, x: np.cos(x),),
        np.cos: (lambda r, x: -np.sin(x),),
        np.tan: (lambda r, x: 1.0 + r * r,),
        np.arcsin: (lambda r, x: 1.0 / np.sqrt(1.0 - x * x),),
        np.arccos: (lambda r, x: -1.0 / np.sqrt(1.0 - x * x),),
        np.arctan: (lambda r, x: 1.0 / (1.0 + x * x),),
        np.arctan2: (lambda r, y, x: x / (x * x + y * y), lambda r, y, x: -y / (x * x + y * y)),
        np.sinh: (lambda r, x: np.cosh(x),),
        np.cosh: (lambda r, x: np.sinh(x),),
        np.tanh: (lambda r, x: 1.0 - r * r,),
        np.exp: (lambda r, x: r,),
        np.log: (lambda r, x: 1.0 / x,),
        np.sqrt: (lambda r, x: 0.5 / r,),
        np.maximum: _chosen(1.0),
        np.minimum: _chosen(-1.0),
    }
)
