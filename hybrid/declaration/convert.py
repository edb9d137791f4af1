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
    """The text of an expression, also for one given as a number.

    Parameters
    ----------
    value : str or float

    Returns
    -------
    str
        Of a number its shortest decimal form.

    Examples
    --------
    >>> expression(0.5), expression("mu")
    ('0.5', 'mu')
    """
    if isinstance(value, str) or not _is_number(value):
        return cast(str, value)
    return repr(int(value) if _is_integer(value) else float(value))


def optional_expression(value: Written | None) -> str | None:
    """The text of an expression, also for one given as a number; None for None.

    Parameters
    ----------
    value : str, float or None

    Returns
    -------
    str or None
    """
    return None if value is None else expression(value)


def expressions(value: Written | Sequence[Written] | None) -> tuple[str, ...]:
    """One expression or several as a tuple of texts.

    Parameters
    ----------
    value : str, float, a list of them, or None

    Returns
    -------
    tuple of str
        Empty for None.

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
    """A list of rows of expressions as tuples of texts.

    Parameters
    ----------
    value : sequence of sequences of str or float

    Returns
    -------
    tuple of tuples of str
        Rows as they are, of any length; what is no list unchanged.
    """
    return tuple(expressions(row) for row in value) if is_list(value) else cast(Any, value)


def quantity(value: Written) -> float | str:
    """A number of any type as a float; an expression as it is.

    Parameters
    ----------
    value : float or str

    Returns
    -------
    float or str
        What is neither unchanged.
    """
    return float(value) if not isinstance(value, str) and _is_number(value) else value


def texts(value: Sequence[str]) -> tuple[str, ...]:
    """A list of texts as a tuple.

    Parameters
    ----------
    value : sequence of str

    Returns
    -------
    tuple of str
        What is no list unchanged.
    """
    return tuple(value) if is_list(value) else cast(Any, value)


def pairs(value: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """A list of lists of texts as tuples.

    Parameters
    ----------
    value : sequence of sequences of str

    Returns
    -------
    tuple of tuples of str
        Of any lengths; what is no list unchanged.
    """
    return tuple(texts(item) for item in value) if is_list(value) else cast(Any, value)


def is_expression(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no expression.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: an expression as text.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, str):
        raise _refusal(field, "an expression or a number", value)


def is_quantity(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is neither a finite number nor an expression.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a finite number, which a truth value is not, or an expression as text.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, str) and not _is_number(value):
        raise _refusal(field, "a number or an expression", value)


def is_text(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no text of printable lines.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a text of at most ``MAX_TEXT`` characters.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, str):
        raise _refusal(field, "a text", value)
    if len(value) > MAX_TEXT:
        raise DeclarationError(Problem(f"is longer than {MAX_TEXT} characters", field.name))
    if not all(character.isprintable() or character in "\n\t" for character in value):
        raise DeclarationError(Problem("holds a control character", field.name))


def is_texts(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no tuple of texts.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a tuple of texts, as `texts` makes it.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, tuple):
        raise _refusal(field, "a list of texts", value)
    for item in value:
        is_text(None, field, item)


def is_expressions(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no tuple of expressions.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a tuple of texts, as `expressions` makes it.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, tuple):
        raise _refusal(field, "an expression or a list of expressions", value)
    for item in value:
        is_expression(None, field, item)


def is_matrix(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no tuple of rows of expressions.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a tuple of tuples of texts, as `matrix` makes it; rows may differ in length.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, tuple) or not all(isinstance(row, tuple) for row in value):
        raise _refusal(field, "a list of rows", value)
    for row in value:
        is_expressions(None, field, row)


def is_pairs(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no tuple of tuples of texts.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a tuple of tuples of texts, as `pairs` makes it; their lengths are not looked at.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not isinstance(value, tuple):
        raise _refusal(field, "a list of pairs of names", value)
    for item in value:
        is_texts(None, field, item)


def is_table(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no mapping of names.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a mapping with texts as keys.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    if not is_mapping(value):
        raise _refusal(field, "a mapping of names", value)


def is_table_of_expressions(_: object, field: attrs.Attribute[Any], value: object) -> None:
    """A validator that refuses what is no mapping of names to expressions.

    Parameters
    ----------
    _ : object
        The object that has the field, not looked at.
    field : attrs.Attribute
        Named in the message.
    value : object
        Accepted: a mapping of texts to texts.

    Returns
    -------
    None
        The value was accepted.

    Raises
    ------
    DeclarationError
        Otherwise, with the name of the field and what it must be.
    """
    is_table(None, field, value)
    for name, item in cast(Mapping[str, object], value).items():
        if not isinstance(item, str):
            raise _refusal(field, "an expression or a number", item, f".{name}")


def is_mapping(value: object) -> bool:
    """Whether a value is a mapping with texts as keys.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_number(value: object) -> bool:
    return _is_real(value) and abs(cast(float, value)) <= sys.float_info.max  # false for NaN too


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def is_list(value: object) -> bool:
    """Whether a value is a list, a tuple or another sequence that is no text.

    Parameters
    ----------
    value : object

    Returns
    -------
    bool
    """
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
