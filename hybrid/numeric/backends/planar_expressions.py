"""Expressions of mechanism files from numbers and names, without their zeros and ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["identifier", "number", "product", "sum_of", "times"]


def identifier(text: str) -> str:
    """A text as a name of the mechanism file.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> identifier("left-leg"), identifier("2nd")
    ('left_leg', 'q_2nd')
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "unnamed"
    return f"q_{name}" if name[0].isdigit() or name in ("t", "pi", "g") else name


def times(factor: float, text: str) -> str:
    """A multiple of an expression.

    Parameters
    ----------
    factor : float
    text : str
        Without a sum at its top.

    Returns
    -------
    str

    Examples
    --------
    >>> times(2.0, "x"), times(-1.0, "x"), times(0.0, "x")
    ('2*x', '-x', '0')
    """
    if factor == 0.0 or text == "0":
        return "0"
    if factor == 1.0:
        return text
    return f"-{text}" if factor == -1.0 else f"{number(factor)}*{text}"


def product(text: str, factor: str) -> str:
    """A product with a factor that may be a number.

    Parameters
    ----------
    text : str
        Without a sum at its top.
    factor : str

    Returns
    -------
    str

    Examples
    --------
    >>> product("x", "-1"), product("x", "a + b")
    ('-x', 'x*(a + b)')
    """
    if factor in ("0", "1", "-1"):
        return times(float(factor), text)
    return f"{text}*({factor})"


def number(value: float) -> str:
    """A number with what rounding has added left out; models are written with fewer digits.

    Parameters
    ----------
    value : float

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.1 + 0.2)
    '0.3'
    """
    return f"{float(value):.14g}" if value else "0"


def sum_of(terms: Sequence[str]) -> str:
    """A sum without its zeros; a minus becomes a difference.

    Parameters
    ----------
    terms : sequence of str

    Returns
    -------
    str

    Examples
    --------
    >>> sum_of(["x", "0", "-y"])
    'x - y'
    """
    kept = [term for term in terms if term not in ("0", "-0")]
    if not kept:
        return "0"
    return "".join([kept[0], *(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in kept[1:])])
