"""Dual numbers ``v + d``: a value with derivatives that arithmetic carries along (forward differentiation).

Code written for numbers is read with duals in arrays of dtype object. A comparison looks at values alone and is refused
where rounding decides it and the derivatives differ, for there the code has a kink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError
from hybrid.tolerances import NOTHING, RANK

__all__ = [
    "Dual",
    "NotDifferentiable",
    "changes",
    "duals",
    "implicit",
    "must_not_change",
    "plain",
    "tie_means",
]

Array = NDArray[np.float64]

_TIE = NOTHING  # of the larger of two numbers: what an iteration, or a motion to its tolerance, leaves of equality


class NotDifferentiable(ComputationError):
    """What is differentiated has a kink here, or its derivative is not computed.

    Parameters
    ----------
    reason : str
    margin : float, optional
        Relative distance of the numbers whose comparison decides.
    is_proven : bool
        True where no derivative exists.
    switch : Dual, optional
        The switching function, which is zero at the kink: its value here, and its derivatives.
    """

    def __init__(
        self, reason: str, margin: float | None = None, *, is_proven: bool = False, switch: Dual | None = None
    ) -> None:
        super().__init__(reason)
        self.margin = margin
        self.is_proven = is_proven
        self.switch = switch


Rule = Callable[[float, Any, float, Any], tuple[float, Any]]


def _binary(rule: Rule, *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    def operation(self: Dual, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # its own loop comes back with one element after the other
        v, d = (other.v, other.d) if isinstance(other, Dual) else (float(other), 0.0)
        return Dual(*(rule(v, d, self.v, self.d) if swapped else rule(self.v, self.d, v, d)))

    return operation


def _comparison(holds: Callable[[float, float], bool]) -> Callable[[Any, Any], Any]:
    def comparison(self: Dual, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        v, d = (other.v, other.d) if isinstance(other, Dual) else (float(other), 0.0)
        distance, size = abs(self.v - v), max(abs(self.v), abs(v))
        if distance <= _TIE * size < math.inf and _differ(self.d, d):
            margin = distance / size if size else 0.0
            reason = f"two numbers that decide what follows agree to {margin:.2g} of their size"
            raise NotDifferentiable(reason, margin, switch=Dual(self.v - v, self.d - d))
        return holds(self.v, v)

    return comparison


def _differ(first: Any, second: Any) -> bool:
    size = max(np.max(np.abs(first), initial=0.0), np.max(np.abs(second), initial=0.0))
    return bool(np.max(np.abs(first - second), initial=0.0) > _TIE * size)


def _function(f: Callable[[float], float], slope: Callable[[float], float], name: str) -> Callable[[Any], Any]:
    def function(self: Dual) -> Dual:
        return Dual(f(self.v), slope(self.v) * self.d)

    function.__doc__ = f"""The {name}, which ``numpy.{f.__name__}`` asks for.

    Returns
    -------
    Dual
    """
    return function


class Dual:
    """A number with derivatives. It has no plain value: ``float`` raises, and so does an array of floats.

    Parameters
    ----------
    v : float
    d : array, (..., m)
        Derivatives with respect to m variables; along leading axes, in each of several linear pieces that meet here.

    Examples
    --------
    >>> x = Dual(3.0, np.array([1.0]))
    >>> (x * x + 1 / x).d.round(12).tolist(), np.sqrt(4 * x * x).d.tolist()
    ([5.888888888889], [2.0])
    """

    __slots__ = ("d", "v")

    def __init__(self, v: float, d: Array) -> None:
        self.v = v
        self.d = d

    __add__ = _binary(lambda a, da, b, db: (a + b, da + db))
    __radd__ = __add__
    __sub__ = _binary(lambda a, da, b, db: (a - b, da - db))
    __rsub__ = _binary(lambda a, da, b, db: (a - b, da - db), swapped=True)
    __mul__ = _binary(lambda a, da, b, db: (a * b, da * b + a * db))
    __rmul__ = __mul__
    __truediv__ = _binary(lambda a, da, b, db: (a / b, (da - a / b * db) / b))
    __rtruediv__ = _binary(lambda a, da, b, db: (a / b, (da - a / b * db) / b), swapped=True)
    __lt__ = _comparison(lambda a, b: a < b)
    __le__ = _comparison(lambda a, b: a <= b)
    __gt__ = _comparison(lambda a, b: a > b)
    __ge__ = _comparison(lambda a, b: a >= b)
    __eq__ = _comparison(lambda a, b: a == b)
    __ne__ = _comparison(lambda a, b: a != b)
    __hash__ = None  # type: ignore[assignment]

    exp = _function(math.exp, math.exp, "exponential")
    log = _function(math.log, lambda v: 1 / v, "natural logarithm")
    sin = _function(math.sin, math.cos, "sine")
    cos = _function(math.cos, lambda v: -math.sin(v), "cosine")

    def __neg__(self) -> Dual:
        return Dual(-self.v, -self.d)

    def __abs__(self) -> Dual:
        return self if self > 0.0 else -self

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def __pow__(self, exponent: float) -> Dual:
        if self.v == 0.0 and exponent < 1.0:
            raise NotDifferentiable(f"the power {exponent:g} of zero", 0.0, switch=self)
        return Dual(self.v**exponent, exponent * self.v ** (exponent - 1) * self.d)

    def sqrt(self) -> Dual:
        """The square root, which ``numpy.sqrt`` asks for.

        Returns
        -------
        Dual

        Raises
        ------
        NotDifferentiable
            Of zero.
        """
        return self**0.5

    def __repr__(self) -> str:
        return f"Dual({self.v!r}, {self.d!r})"


def plain(x: Any) -> Any:
    """A number, or an array, without derivatives.

    Parameters
    ----------
    x : float, Dual or array, (...)
        An array of any type; of dtype object it may hold duals.

    Returns
    -------
    float or array, (...)
    """
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([plain(item) for item in x.ravel()], dtype=np.float64).reshape(x.shape)
    return x.v if isinstance(x, Dual) else x


def duals(x: Any, d: Array) -> NDArray[Any]:
    """Numbers with their derivatives, as an array of duals.

    Parameters
    ----------
    x : array_like, (...)
    d : array, (..., m)
        Derivatives with respect to m variables.

    Returns
    -------
    array of Dual, (...)
        Of dtype object.
    """
    x = np.asarray(x, dtype=np.float64)
    found = np.empty(x.shape, dtype=object)
    for place in np.ndindex(x.shape):
        found[place] = Dual(float(x[place]), d[place])
    return found


def changes(x: Any) -> Array:
    """Derivatives of numbers, in one linear piece or several.

    Parameters
    ----------
    x : array_like, (r,)
        Duals or plain numbers, whose derivatives are zero.

    Returns
    -------
    array, (..., r, m)
        With respect to m variables; m is 1 if there is no dual. Leading axes are linear pieces.
    """
    parts = [item.d if isinstance(item, Dual) else np.zeros(1) for item in np.ravel(x)]
    return np.stack(np.broadcast_arrays(*parts), axis=-2)


def implicit(equations: Callable[..., NDArray[Any]], root: Array, *given: Any) -> NDArray[Any]:
    """The root of ``equations(x, *given)``, known as plain numbers, with its derivatives.

    Parameters
    ----------
    equations : callable
        Gives as many numbers as there are unknowns.
    root : array, (r,)
    *given
        Numbers or arrays that the equations depend on, with derivatives.

    Returns
    -------
    array of Dual, (r,)
        By the implicit function theorem; the least change where equations repeat each other.

    Examples
    --------
    >>> (x,) = implicit(lambda x, a: x * x - a, np.array([2.0]), Dual(4.0, np.ones(1)))
    >>> x.d.tolist()
    [0.25]
    """
    jacobian = changes(equations(duals(root, np.eye(len(root))), *map(plain, given)))
    return np.asarray(root - np.linalg.pinv(jacobian, rcond=RANK) @ equations(root, *given))


def must_not_change(x: Any, reason: str) -> None:
    """The refusal of a number that changes where what is computed from it has a kink.

    Parameters
    ----------
    x : float or Dual
    reason : str
        What to say of it.

    Returns
    -------
    None
        Its derivatives vanish.

    Raises
    ------
    NotDifferentiable
        If one does not, as proven.
    """
    if isinstance(x, Dual) and np.any(x.d):
        raise NotDifferentiable(reason, 0.0, is_proven=True, switch=x)


@contextmanager
def tie_means(reason: str, *, is_proven: bool = False) -> Iterator[None]:
    """A context that says what it means if a comparison of duals inside is too close to call.

    Parameters
    ----------
    reason : str
    is_proven : bool
        Whether no derivative exists at the tie.

    Returns
    -------
    context manager
        That raises NotDifferentiable with the reason in place of the one of the comparison.
    """
    try:
        yield
    except NotDifferentiable as tie:
        if tie.__cause__ is not None or tie.margin is None:
            raise  # said already
        reason = f"{reason} (within {tie.margin:.2g})"
        raise NotDifferentiable(reason, tie.margin, is_proven=is_proven, switch=tie.switch) from tie
