"""The catalogue: one declaration file for each mechanism, with its references.

A catalogue entry is read anew at each call of :func:`load`; nothing is kept between calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid.declaration.mechanism import Mechanism

__all__ = ["load", "names", "path"]


def names() -> tuple[str, ...]:
    """Names of all catalogue mechanisms, sorted.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "rod_on_incline" in names()
    True
    """
    return tuple(sorted(file.stem for file in _folder().glob("*.toml")))


def path(name: str) -> Path:
    """File that declares a catalogue mechanism.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    hybrid.errors.DeclarationError
        If the catalogue has no such mechanism; the message names the nearest one.

    Examples
    --------
    >>> path("two_carts").name
    'two_carts.toml'
    """
    known = names()
    if str(name) not in known:
        from difflib import get_close_matches

        from hybrid.errors import DeclarationError, Problem

        near = get_close_matches(str(name), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the catalogue has {', '.join(known)}"
        raise DeclarationError((Problem(f"unknown catalogue mechanism {name!r}", hint=hint),))
    return _folder() / f"{name}.toml"


def load(name: str) -> Mechanism:
    """Read a catalogue mechanism.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Returns
    -------
    hybrid.declaration.Mechanism

    Raises
    ------
    hybrid.errors.DeclarationError
        If the catalogue has no such mechanism; the message names the nearest one.

    Examples
    --------
    >>> load("rod_on_incline").coordinates
    ('x', 'y', 'phi')
    """
    from hybrid.declaration import read_mechanism

    return read_mechanism(path(name))


def _folder() -> Path:
    from pathlib import Path  # not before the command can be interrupted

    return Path(__file__).parent
