"""Names: which may be declared, the nearest one to a name that was not, and tables by name that cannot be changed.

Declarations are made of such tables, so that they can be compared, hashed and sent to other processes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")


class Table(Mapping[str, V]):
    """A mapping of names to values that keeps its order and cannot be changed.

    Examples
    --------
    >>> table = Table({"m": 1.0})
    >>> table["m"], table == {"m": 1.0}
    (1.0, True)
    """

    __slots__ = ("_items",)
    _items: dict[str, V]

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        object.__setattr__(self, "_items", dict(items or {}))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Table cannot be changed")

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[type[Table[V]], tuple[dict[str, V]]]:
        return Table, (self._items,)


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
