"""What the fields of a declaration accept from Python, and what they turn it into."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import attrs

from hybrid.errors import DeclarationError, Problem

Written: TypeAlias = str | float
MAX_TEXT = 2_000


def _refuse(field: str, must_be: str, value: object) -> DeclarationError:
    return DeclarationError(Problem(f"must be {must_be}, not {_named(value)}", field))


def _named(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    shown = repr(value) if isinstance(value, str | Real) and value == value else str(value)
    return shown if len(shown) <= 40 else f"a {type(value).__name__} of {len(shown)} characters"


def expression(value: object, *, field: str = "") -> str:
    """Turn an expression or a number into the text of an expression.

    Examples
    --------
    >>> expression(0.5), expression("mu")
    ('0.5', 'mu')
    """
    if isinstance(value, str):
        return value
    return repr(number(value, field=field, must_be="an expression or a number"))


def number(value: object, *, field: str = "", must_be: str = "a number") -> int | float:
    """Turn a finite real number of any type into int or float.

    Examples
    --------
    >>> number(2), number(0.5)
    (2, 0.5)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _refuse(field, must_be, value)
    if abs(value) > sys.float_info.max:
        raise _refuse(field, "finite" if value in (math.inf, -math.inf) else "smaller than 1.8e308", value)
    plain = int(value) if isinstance(value, int) else float(value)
    if math.isnan(plain):
        raise _refuse(field, "finite", plain)
    return plain


def expressions(value: object, *, field: str = "") -> tuple[str, ...]:
    """Turn one expression or several into a tuple.

    Examples
    --------
    >>> expressions("x"), expressions(["x", 0])
    (('x',), ('x', '0'))
    """
    if value is None:
        return ()
    if isinstance(value, str | Real):
        return (expression(value, field=field),)
    return tuple(expression(item, field=field) for item in sequence(value, field=field))


def sequence(value: object, *, field: str = "", must_be: str = "a list") -> tuple[Any, ...]:
    """Turn a list, but not a text or a mapping, into a tuple."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise _refuse(field, must_be, value)
    return tuple(value)


def text(value: object, *, field: str = "") -> str:
    """Return a text of one or more printable lines.

    Examples
    --------
    >>> text("kg m^2")
    'kg m^2'
    """
    if not isinstance(value, str):
        raise _refuse(field, "a text", value)
    if len(value) > MAX_TEXT:
        raise DeclarationError(Problem(f"is longer than {MAX_TEXT} characters", field))
    if not all(character.isprintable() or character in "\n\t" for character in value):
        raise DeclarationError(Problem("holds a control character", field))
    return value


def texts(value: object, *, field: str = "") -> tuple[str, ...]:
    """Turn a list of texts into a tuple."""
    return tuple(text(item, field=field) for item in sequence(value, field=field, must_be="a list of texts"))


def mapping(value: object, *, field: str = "") -> Mapping[str, Any]:
    """Return a mapping whose keys are texts."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _refuse(field, "a mapping of names", value)
    return value


def converter(function: Callable[..., Any], *, optional: bool = False) -> Any:
    """Make an attrs converter that names the field in its messages."""

    def convert(value: Any, field: attrs.Attribute[Any]) -> Any:
        return None if optional and value is None else function(value, field=field.name)

    return attrs.Converter(convert, takes_field=True)  # type: ignore[call-overload]
