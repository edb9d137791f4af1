"""Which names may be declared, and the nearest one to a name that was not."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

MAX_NAME_LENGTH = 64
VELOCITY_SUFFIX = "_dot"
TIME = "t"

IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
"""A name as a regular expression."""


def is_identifier(text: str) -> bool:
    """Whether a text is a name: ASCII letters, digits and underscores, not starting with a digit.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool
        False too for more than ``MAX_NAME_LENGTH`` characters.

    Examples
    --------
    >>> is_identifier("lambda"), is_identifier("2x"), is_identifier("μ")
    (True, False, False)
    """
    return len(text) <= MAX_NAME_LENGTH and re.fullmatch(IDENTIFIER, text) is not None


def velocity_name(coordinate: str) -> str:
    """Name of the velocity of a coordinate.

    Parameters
    ----------
    coordinate : str

    Returns
    -------
    str

    Examples
    --------
    >>> velocity_name("phi")
    'phi_dot'
    """
    return coordinate + VELOCITY_SUFFIX


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that a reader most likely meant, or an empty text.

    Parameters
    ----------
    name : str
        Not known itself.
    known : iterable of str

    Returns
    -------
    str
        One that differs by upper and lower case only, else the most similar by `difflib`.

    Examples
    --------
    >>> nearest("phy", ["x", "phi", "psi"])
    'phi'
    >>> nearest("M", ["m", "l"])
    'm'
    """
    candidates = sorted(known)
    for candidate in candidates:
        if candidate.lower() == name.lower():
            return candidate
    matches = difflib.get_close_matches(name[:MAX_NAME_LENGTH], candidates, n=1, cutoff=0.6)
    return matches[0] if matches else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The hint that names the nearest known name, or an empty text.

    Parameters
    ----------
    name : str
        Not known itself.
    known : iterable of str

    Returns
    -------
    str

    Examples
    --------
    >>> suggestion("phy", ["x", "phi"])
    "did you mean 'phi'?"
    """
    match = nearest(name, known)
    return f"did you mean '{match}'?" if match else ""
