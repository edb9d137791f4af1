"""What the fields of a declaration accept from Python: conversion of what fits, refusal of what does not.

A converter returns what it cannot convert unchanged; the validator of the same field then refuses it by name.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias, cast

import attrs

from hybrid.errors import DeclarationError, Problem

Written: TypeAlias = str | float
MAX_TEXT = 2_000


def expression(value: Written) -> str:
    """Turn a number into the text of an expression.

    Examples
    --------
    >>> expression(0.5), expression("mu")
    ('0.5', 'mu')
    """
    if isinstance(value, str) or not _is_number(value):
        return cast(str, value)
    return repr(int(value) if _is_integer(value) else float(value))


def optional_expression(value: Written | None) -> str | None:
    """Turn a number into the text of an expression, None into None."""
    return None if value is None else expression(value)


def expressions(value: Written | Sequence[Written] | None) -> tuple[str, ...]:
    """Turn one expression or several into a tuple.

    Examples
    --------
    >>> expressions("x"), expressions(["x", 0])
    (('x',), ('x', '0'))
    """
    if value is None:
        return ()
    if is_list(value):
        return tuple(expression(item) for item in cast(Sequence[Written], value))
    return (expression(cast(Written, value)),)


def matrix(value: Sequence[Sequence[Written]]) -> tuple[tuple[str, ...], ...]:
    """Turn a list of rows of expressions into tuples."""
    return tuple(expressions(row) for row in value) if is_list(value) else cast(Any, value)


def quantity(value: Written) -> float | str:
    """Turn a number of any type into a float, and leave an expression."""
    return float(value) if not isinstance(value, str) and _is_number(value) else value


def texts(value: Sequence[str]) -> tuple[str, ...]:
    """Turn a list into a tuple."""
    return tuple(value) if is_list(value) else cast(Any, value)


def pairs(value: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Turn a list of lists of texts into tuples."""
    return tuple(texts(item) for item in value) if is_list(value) else cast(Any, value)


def is_expression(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no expression."""
    if not isinstance(value, str):
        raise _refusal(field, "an expression or a number", value)


def is_quantity(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither a finite number nor an expression."""
    if not isinstance(value, str) and not _is_number(value):
        raise _refusal(field, "a number or an expression", value)


def is_text(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no text of printable lines."""
    if not isinstance(value, str):
        raise _refusal(field, "a text", value)
    if len(value) > MAX_TEXT:
        raise DeclarationError(Problem(f"is longer than {MAX_TEXT} characters", field.name))
    if not all(character.isprintable() or character in "\n\t" for character in value):
        raise DeclarationError(Problem("holds a control character", field.name))


def is_texts(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no list of texts."""
    if not isinstance(value, tuple):
        raise _refusal(field, "a list of texts", value)
    for item in value:
        is_text(None, field, item)


def is_expressions(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no list of expressions."""
    if not isinstance(value, tuple):
        raise _refusal(field, "an expression or a list of expressions", value)
    for item in value:
        is_expression(None, field, item)


def is_matrix(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no list of rows of expressions."""
    if not isinstance(value, tuple) or not all(isinstance(row, tuple) for row in value):
        raise _refusal(field, "a list of rows", value)
    for row in value:
        is_expressions(None, field, row)


def is_pairs(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no list of lists of texts."""
    if not isinstance(value, tuple):
        raise _refusal(field, "a list of pairs of names", value)
    for item in value:
        is_texts(None, field, item)


def is_table(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no mapping of names."""
    if not is_mapping(value):
        raise _refusal(field, "a mapping of names", value)


def is_table_of_expressions(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no mapping of names to expressions."""
    is_table(None, field, value)
    for name, item in cast(Mapping[str, object], value).items():
        if not isinstance(item, str):
            raise _refusal(field, "an expression or a number", item, f".{name}")


def is_mapping(value: object) -> bool:
    """Whether a value is a mapping of texts."""
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_number(value: object) -> bool:
    return _is_real(value) and abs(cast(float, value)) <= sys.float_info.max  # false for NaN too


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_list(value: object) -> bool:
    """Tell a list or tuple from a text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _refusal(field: attrs.Attribute[Any], must_be: str, value: object, key: str = "") -> DeclarationError:
    if _is_real(value) and not _is_number(value):
        must_be = "smaller than 1.8e308" if isinstance(value, int) else "finite"
    return DeclarationError(Problem(f"must be {must_be}, not {_named(value)}", field.name + key))


def _named(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        return "a longer one"  # Python refuses to print integers beyond 4300 digits
    shown = repr(value) if isinstance(value, str | Real) else str(value)
    return shown if len(shown) <= 40 else f"a {type(value).__name__} of {len(shown)} characters"
