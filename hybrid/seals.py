"""Digests of what is kept in files: whoever reads it later knows whether it is what was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

__all__ = ["change_of", "digest_of", "first_changed", "sealed"]


def digest_of(table: Mapping[str, Any]) -> str:
    """The digest of JSON values.

    Parameters
    ----------
    table : mapping

    Returns
    -------
    str
        SHA-256, whatever the order of the names.

    Examples
    --------
    >>> digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()


def first_changed(known: Mapping[str, Any], found: Mapping[str, str], *, kind: str) -> tuple[str, str] | None:
    """The first of several parts that is not as it was written.

    Parameters
    ----------
    known, found : mapping of str to str
        Digests by name: those that were written, and those of what is there.
    kind : str
        What the parts are, in the plural.

    Returns
    -------
    (str, str) or None
        Its name, and what is wrong with it.

    Examples
    --------
    >>> first_changed({"q": "1f", "v": "2e"}, {"q": "1f"}, kind="arrays")
    ('v', 'is missing')
    """
    for name in sorted({*known, *found}):
        if known.get(name) != found.get(name):
            unknown = "is damaged" if name in known else f"is none of its {kind}"
            return name, unknown if name in found else "is missing"
    return None


def sealed(table: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """A table with the digests of arrays that are kept beside it, and its own.

    Parameters
    ----------
    table : mapping
        JSON values by name.
    arrays : mapping of str to array

    Returns
    -------
    dict
        With two further entries, ``arrays`` and ``digest``.
    """
    whole = {**table, "arrays": _digests(arrays)}
    return {**whole, "digest": digest_of(whole)}


def change_of(table: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """What is not as it was sealed.

    Parameters
    ----------
    table : mapping
        As :func:`sealed` gives it. One without either entry was never sealed, as in files of earlier versions.
    arrays : mapping of str to array

    Returns
    -------
    str or None
        The first change in words.

    Examples
    --------
    >>> import numpy as np
    >>> table = sealed({"t": 1.0}, {"q": np.zeros((2, 3))})
    >>> change_of(table, {"q": np.zeros((2, 3))})
    >>> change_of(table, {"q": np.zeros((3, 2))})
    'q is damaged'
    >>> change_of({**table, "t": 2.0}, {"q": np.zeros((2, 3))})
    'its record is damaged'
    """
    if not table.keys() & {"arrays", "digest"}:
        return None
    if table.get("digest") != digest_of({name: value for name, value in table.items() if name != "digest"}):
        return "its record is damaged"
    known = table.get("arrays")
    changed = first_changed(known if isinstance(known, dict) else {}, _digests(arrays), kind="arrays")
    return None if changed is None else " ".join(changed)


def _digests(arrays: Mapping[str, NDArray[Any]]) -> dict[str, str]:
    """Of the type, the shape and the bytes of each."""
    found = {}
    for name, array in arrays.items():
        digest = hashlib.sha256(json.dumps([array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())  # in rows, however they lie in memory
        found[name] = digest.hexdigest()
    return found
