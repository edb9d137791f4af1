"""Ctrl-C in a long computation: it is raised as ever, unless the caller asks for what was computed until then."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

from hybrid.errors import StateError

__all__ = ["OnInterrupt", "answers_come_first", "interruptible", "keeps_partial"]

OnInterrupt = Literal["raise", "keep"]


class _Patient:
    """What a program does at SIGINT: raises, but waits once where an answer is there and not yet printed."""

    def __init__(self) -> None:
        self.depth = 0
        self.has_answer = False
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.came or not self.has_answer:
            raise KeyboardInterrupt
        self.came = True


@contextmanager
def answers_come_first() -> Iterator[None]:
    """A program in which Ctrl-C behind an :func:`interruptible` computation waits for the end; a second does not.

    Returns
    -------
    context manager
        Without effect outside the main thread, or where the program handles the signal itself.

    Raises
    ------
    KeyboardInterrupt
        At the end, if one waited.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    patient = _Patient()
    signal.signal(signal.SIGINT, patient)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if patient.came:
        raise KeyboardInterrupt


@contextmanager
def interruptible(*, keeps: bool) -> Iterator[None]:
    """A computation that Ctrl-C ends; what the caller keeps of it is an answer to be printed.

    Parameters
    ----------
    keeps : bool
        Whether the caller answers with what was computed until then.

    Returns
    -------
    context manager
        Without effect if it does not, or outside :func:`answers_come_first`.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not keeps or not isinstance(handler, _Patient):
        yield
        return
    handler.depth += 1
    handler.has_answer = False
    try:
        yield
    finally:
        handler.depth -= 1
        handler.has_answer = handler.depth == 0


def keeps_partial(on_interrupt: OnInterrupt) -> bool:
    """Whether an interrupt ends in a partial answer; ``"raise"`` lets the KeyboardInterrupt through.

    Parameters
    ----------
    on_interrupt : str
        ``"raise"`` or ``"keep"``.

    Returns
    -------
    bool

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
