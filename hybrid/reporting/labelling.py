"""Words on plots: headings that fit, labels with their units, and the units of everything that an axis may name."""

from __future__ import annotations

import textwrap

from hybrid.reporting.symbols import symbol_mathtext

__all__ = ["as_written", "axis_label", "heading", "with_unit"]

_WIDTH = 0.62
"""Of a letter of DejaVu Sans, in ems: the mean of English text is below."""
_POINTS_PER_INCH = 72.0


def as_written(text: str) -> str:
    r"""Text that matplotlib shows as it is: a dollar sign does not begin a formula.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> as_written("5$ or 6$")
    '5\\$ or 6\\$'
    """
    return text.replace("$", r"\$")


def heading(text: str, *, inches: float, size: float) -> str:
    """A heading in as many lines as it takes, as text for matplotlib.

    Parameters
    ----------
    text : str
    inches : float
        Room from left to right.
    size : float
        Of the letters, in points.

    Returns
    -------
    str

    Examples
    --------
    >>> heading("A rod on a rough plane", inches=1.0, size=10)
    'A rod on a\\nrough plane'
    """
    letters = max(1, int(inches * _POINTS_PER_INCH / (_WIDTH * size)))
    return as_written("\n".join(textwrap.fill(line, letters) for line in text.splitlines()))


def with_unit(label: str, unit: str, *, gap: str = " ") -> str:
    """A label for matplotlib with its unit in brackets; a pure number has none.

    Parameters
    ----------
    label : str
        In matplotlib's mathtext.
    unit : str
        As ``m/s``; ``1`` for a pure number, empty where it is not known.
    gap : str
        What stands between them.

    Returns
    -------
    str

    Examples
    --------
    >>> with_unit("$x$", "m"), with_unit("$e$", "1")
    ('$x$ (m)', '$e$')
    """
    return label if unit in ("", "1") else f"{label}{gap}({as_written(unit)})"


def axis_label(name: str, unit: str) -> str:
    """The label of an axis that sweeps a quantity.

    Parameters
    ----------
    name : str
        Of a pin or a parameter.
    unit : str
        As of `with_unit`.

    Returns
    -------
    str
        In matplotlib's mathtext.
    """
    return with_unit(symbol_mathtext(name), unit, gap="  ")
