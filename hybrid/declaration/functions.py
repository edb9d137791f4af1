"""The functions and constants that expressions know, and how NumPy evaluates them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

MAX_ARGUMENTS = 10


@attrs.frozen
class DeclaredFunction:
    """A function that expressions may call.

    Attributes
    ----------
    evaluate : callable
        Takes and returns floats or arrays, real or complex. On complex input it is the analytic continuation of the
        real branch, so that complex-step derivatives are right.
    least, most : int
        Number of arguments.
    """

    evaluate: Callable[..., Any]
    least: int = 1
    most: int = 1


def _abs(z: Any) -> Any:
    return z * np.sign(np.real(z)) if np.iscomplexobj(z) else np.abs(z)


def _sign(z: Any) -> Any:
    return np.sign(np.real(z)) if np.iscomplexobj(z) else np.sign(z)


def _atan2(y: Any, x: Any) -> Any:
    if not (np.iscomplexobj(y) or np.iscomplexobj(x)):
        return np.arctan2(y, x)
    steep = np.abs(np.real(y)) > np.abs(np.real(x))
    half_turns = np.where(steep, np.sign(np.real(y)) / 2, np.where(np.real(x) < 0, _side(y), 0.0))
    ratio = np.where(steep, x, y) / np.where(steep, y, x)
    return half_turns * np.pi + np.where(steep, -1.0, 1.0) * np.arctan(ratio)


def _side(y: Any) -> Any:
    return np.where(np.real(y) < 0, -1.0, 1.0)


def _minimum(*arguments: Any) -> Any:
    return _select(lambda left, right: left <= right, np.minimum, arguments)


def _maximum(*arguments: Any) -> Any:
    return _select(lambda left, right: left >= right, np.maximum, arguments)


def _select(prefers: Callable[[Any, Any], Any], real: Callable[[Any, Any], Any], arguments: Any) -> Any:
    result = arguments[0]
    for other in arguments[1:]:
        if np.iscomplexobj(result) or np.iscomplexobj(other):
            result = np.where(prefers(np.real(result), np.real(other)), result, other)
        else:
            result = real(result, other)
    return result


FUNCTIONS: Mapping[str, DeclaredFunction] = MappingProxyType(
    {
        "sin": DeclaredFunction(np.sin),
        "cos": DeclaredFunction(np.cos),
        "tan": DeclaredFunction(np.tan),
        "asin": DeclaredFunction(np.arcsin),
        "acos": DeclaredFunction(np.arccos),
        "atan": DeclaredFunction(np.arctan),
        "atan2": DeclaredFunction(_atan2, 2, 2),
        "sinh": DeclaredFunction(np.sinh),
        "cosh": DeclaredFunction(np.cosh),
        "tanh": DeclaredFunction(np.tanh),
        "exp": DeclaredFunction(np.exp),
        "log": DeclaredFunction(np.log),
        "sqrt": DeclaredFunction(np.sqrt),
        "abs": DeclaredFunction(_abs),
        "sign": DeclaredFunction(_sign),
        "min": DeclaredFunction(_minimum, 2, MAX_ARGUMENTS),
        "max": DeclaredFunction(_maximum, 2, MAX_ARGUMENTS),
    }
)

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})

# What users of other systems write.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "ln": "log",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "tg": "tan",
        "sgn": "sign",
        "signum": "sign",
        "fabs": "abs",
        "Abs": "abs",
        "Max": "max",
        "Min": "min",
        "maximum": "max",
        "minimum": "min",
    }
)
