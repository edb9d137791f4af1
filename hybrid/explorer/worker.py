"""A process that answers questions one after the other, and gives one up when it is told to."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

__all__ = ["END", "work"]

END = b""
"""Follows the last line of an answer, and comes first of all: a process is ready for the next question."""

_DEFECTS = (ArithmeticError, LookupError, TypeError, AttributeError, ValueError, RuntimeError, OSError)


def work(connection: Connection, cancelled: Synchronized[int], memory: int) -> None:
    """Answer questions until the pipe closes.

    Parameters
    ----------
    connection : multiprocessing Connection
        Brings numbered questions, and takes lines of answers, each answer followed by ``END``.
    cancelled : multiprocessing Value
        The number of a question that is to be given up; a SIGINT says that it was set.
    memory : int
        Bytes of data that this process may have.

    Returns
    -------
    None
    """
    _limit(memory)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    interrupt = _Interrupt(connection, cancelled)
    signal.signal(signal.SIGINT, interrupt)
    from hybrid.explorer.answers import Models

    models = Models()
    with _pipe_gone_ends():
        connection.send_bytes(END)
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            return
        with _pipe_gone_ends():
            try:
                interrupt.current = int.from_bytes(message[:8], "big")
                for line in _lines(models, message[8:]):
                    interrupt.send(line)
            except KeyboardInterrupt:
                pass  # given up
            finally:
                interrupt.current = 0
            connection.send_bytes(END)


@attrs.define(eq=False)
class _Interrupt:
    """What the process does at SIGINT: gives up the question that was cancelled, but never half a line."""

    connection: Connection
    cancelled: Synchronized[int]
    current: int = 0
    is_sending: bool = False
    came: bool = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        if not self.current or self.cancelled.value < self.current:
            return
        if not self.is_sending:
            raise KeyboardInterrupt
        self.came = True

    def send(self, line: bytes) -> None:
        self.came, self.is_sending = False, True
        self.connection.send_bytes(line)
        self.is_sending = False
        if self.came:
            raise KeyboardInterrupt


def _limit(memory: int) -> None:
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _end_with_parent() -> None:
    """Whatever has become of the server, no process stays behind."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)


@contextmanager
def _pipe_gone_ends() -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)


def _lines(models: Any, question: bytes) -> Iterator[bytes]:
    from hybrid.errors import ComputationError, DeclarationError, HybridError
    from hybrid.explorer.answers import answers
    from hybrid.explorer.questions import read_question
    from lcp import LCPError

    try:
        for part in answers(models, read_question(question)):
            yield _line(part)
    except DeclarationError as error:
        yield _line({"error": {"kind": "declaration", "message": str(error), "problems": _problems(error)}})
    except ComputationError as error:
        yield _line({"error": {"kind": "computation", "message": str(error)}})
    except (HybridError, LCPError) as error:
        yield _line({"error": {"kind": "input", "message": str(error)}})
    except MemoryError:
        yield _line({"error": {"kind": "memory", "message": "this needs more memory than a question may have"}})
    except _DEFECTS as error:
        what = f"this is a defect of painleve, please report it: {type(error).__name__}: {error}"
        yield _line({"error": {"kind": "defect", "message": what}})


def _problems(error: Any) -> list[dict[str, Any]]:
    return [
        {"message": item.message, "field": item.field, "line": item.line, "column": item.column, "hint": item.hint}
        for item in error.problems
    ]


def _line(part: Mapping[str, Any]) -> bytes:
    return json.dumps(part, separators=(",", ":"), allow_nan=False).encode() + b"\n"
