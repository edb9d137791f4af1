"""Ctrl-C in a long computation: it is raised as ever, unless the caller asks for what was computed until then."""

from __future__ import annotations

from typing import Literal

from hybrid.errors import StateError

__all__ = ["OnInterrupt", "keeps_partial"]

OnInterrupt = Literal["raise", "keep"]


def keeps_partial(on_interrupt: OnInterrupt) -> bool:
    """Whether an interrupt ends in a partial answer; ``"raise"`` lets the KeyboardInterrupt through.

    Raises
    ------
    StateError
        For any other word.

    Examples
    --------
    >>> keeps_partial("raise"), keeps_partial("keep")
    (False, True)
    """
    if on_interrupt not in ("raise", "keep"):
        raise StateError(f"on_interrupt must be 'raise' or 'keep', not {on_interrupt!r}")
    return on_interrupt == "keep"
