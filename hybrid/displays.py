"""How a value shows itself: a line in a terminal, its section of a page in a notebook."""

from __future__ import annotations

import importlib

__all__ = ["AbstractDisplayed", "one_line"]

_LONGEST = 118
_SECTIONS = "hybrid.reporting.sections"
"""What draws values lies above them, and is loaded by its name when a notebook asks."""


class AbstractDisplayed:
    """A value that a notebook shows as the section of a page that is on values of its class."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        found: str = importlib.import_module(_SECTIONS).section_html(self)
        return found


def one_line(subject: str, *facts: str) -> str:
    """A value in one line, as its ``repr``.

    Parameters
    ----------
    subject : str
        Class and name.
    *facts : str
        Empty ones are left out; what is too long ends in dots.

    Returns
    -------
    str
        No more than 120 characters.

    Examples
    --------
    >>> one_line("Selection rod", "UNIQUE: stick", "", "margin 0.25")
    '<Selection rod: UNIQUE: stick, margin 0.25>'
    """
    text = " ".join(f"{subject}: {', '.join(filter(None, facts))}".split())
    return f"<{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'}>"
