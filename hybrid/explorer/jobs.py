"""Questions of many clients worked off by a few processes: in turn, one at a time for each client, within bounds.

A process that answers questions one after the other, and gives one up when it is told to.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections import deque
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from multiprocessing.context import SpawnProcess
    from multiprocessing.sharedctypes import Synchronized
    from types import FrameType

__all__ = ["END", "Jobs", "failure", "work"]


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
        shown = ("message", "field", "line", "column", "hint")
        problems = [{name: getattr(item, name) for name in shown} for item in error.problems]
        yield failure("declaration", str(error), problems=problems)
    except ComputationError as error:
        yield failure("computation", str(error))
    except (HybridError, LCPError) as error:
        yield failure("input", str(error))
    except MemoryError:
        yield failure("memory", "this needs more memory than a question may have")
    except _DEFECTS as error:
        yield failure("defect", f"this is a defect of painleve, please report it: {type(error).__name__}: {error}")


_MAX_WAITING = 2000  # clients; beyond it a question is refused at once
_STILLBORN = 3  # processes that die before they are ready; then there is no use in more
_GRACE = 1.0  # seconds that a process has to give up a job before it is ended


def failure(kind: str, message: str, **more: Any) -> bytes:
    """The last line of an answer that was not found.

    Parameters
    ----------
    kind : str
        ``replaced``, ``time``, ``memory``, ``busy``, ``declaration``, ``input``, ``computation`` or ``defect``.
    message : str
    **more : object
        What else JSON can hold.

    Returns
    -------
    bytes
        A line of JSON.
    """
    return _line({"error": {"kind": kind, "message": message, **more}})


def _line(part: Mapping[str, Any]) -> bytes:
    return json.dumps(part, separators=(",", ":"), allow_nan=False).encode() + b"\n"


@attrs.define(eq=False)
class _Job:
    client: str
    question: bytes
    lines: asyncio.Queue[bytes | None] = attrs.field(factory=asyncio.Queue)
    hand: _Hand | None = None
    is_over: bool = False

    def say(self, line: bytes) -> None:
        if not self.is_over:
            self.lines.put_nowait(line)

    def end(self, line: bytes = b"") -> None:
        if line:
            self.say(line)
        if not self.is_over:
            self.is_over = True
            self.lines.put_nowait(None)


@attrs.define(eq=False)
class _Hand:
    """A process that works off one job at a time."""

    process: SpawnProcess
    connection: Connection
    cancelled: Synchronized[int]
    job: _Job | None = None
    number: int = 0
    is_ready: bool = False
    timers: list[asyncio.TimerHandle] = attrs.field(factory=list)

    def give_up(self) -> None:
        """Ask the process to end its job; it ends by itself, or is ended."""
        self.cancelled.value = self.number
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, signal.SIGINT)


@attrs.define(eq=False)
class Jobs:
    """The questions under way.

    A client has one job: a newer question replaces the older one, whether it waits or is worked on. Jobs are begun in
    the order in which they came, so that nobody waits for somebody's hundred questions.

    Attributes
    ----------
    count : int
        Number of processes.
    seconds : float
        That a job may take.
    memory : int
        Bytes that a process may have.
    """

    count: int = 2
    seconds: float = 10.0
    memory: int = 3 << 30
    _hands: list[_Hand] = attrs.field(factory=list)
    _idle: list[_Hand] = attrs.field(factory=list)
    _waiting: deque[_Job] = attrs.field(factory=deque)
    _of_client: dict[str, _Job] = attrs.field(factory=dict)
    _stillborn: int = 0
    _is_open: bool = True

    def start(self) -> None:
        """Begin the processes; to be called where an event loop runs."""
        while len(self._hands) < self.count:
            self._begin()

    def stop(self) -> None:
        """End all jobs and processes."""
        self._is_open = False
        for job in (*self._waiting, *(hand.job for hand in self._hands if hand.job is not None)):
            job.end(failure("busy", "the explorer has ended"))
        for hand in self._hands:
            asyncio.get_running_loop().remove_reader(hand.connection.fileno())
            for timer in hand.timers:
                timer.cancel()
            hand.connection.close()
            hand.process.kill()
            hand.process.join()
        self._hands.clear()
        self._idle.clear()

    async def answer(self, client: str, question: bytes) -> AsyncIterator[bytes]:
        """The lines of an answer as they are found.

        Parameters
        ----------
        client : str
        question : bytes
            As of :func:`hybrid.explorer.questions.read_question`.

        Returns
        -------
        async iterator of bytes
            Lines of JSON; the last one has the answer, or an ``error``. Who stops listening ends the job.
        """
        older = self._of_client.get(client)
        if older is not None:
            self._drop(older, failure("replaced", "a newer question has replaced this one"))
        if not self._is_open or len(self._waiting) >= _MAX_WAITING:
            yield failure("busy", "too many questions are waiting; try again")
            return
        job = _Job(client, question)
        self._of_client[client] = job
        self._waiting.append(job)
        self._hand_out()
        try:
            while (line := await job.lines.get()) is not None:
                yield line
        finally:
            self._drop(job, b"")
            if self._of_client.get(client) is job:
                del self._of_client[client]

    def _drop(self, job: _Job, line: bytes) -> None:
        if job.is_over:
            return
        job.end(line)
        if job.hand is None:
            self._waiting.remove(job)
        elif job.hand.job is job:
            self._cancel(job.hand)

    def _cancel(self, hand: _Hand) -> None:
        hand.give_up()
        hand.timers.append(asyncio.get_running_loop().call_later(_GRACE, self._end, hand, hand.number))

    def _begin(self) -> None:
        context = get_context("spawn")  # a process that serves has threads, which fork does not survive
        ours, theirs = context.Pipe()
        cancelled: Synchronized[int] = context.Value("Q", 0)
        process = context.Process(
            target=work, args=(theirs, cancelled, self.memory), daemon=True, name="painleve-worker"
        )
        process.start()
        theirs.close()
        hand = _Hand(process, ours, cancelled)
        self._hands.append(hand)  # idle when it says so: until then it loads what it needs
        asyncio.get_running_loop().add_reader(ours.fileno(), self._hear, hand)

    def _hand_out(self) -> None:
        """Jobs to processes; that which was idle last knows the mechanism that is looked at."""
        while self._idle and self._waiting:
            hand, job = self._idle.pop(), self._waiting.popleft()
            hand.job, job.hand = job, hand
            hand.number += 1
            try:
                hand.connection.send_bytes(hand.number.to_bytes(8, "big") + job.question)
            except OSError:  # it has died while it was idle: another one takes the job
                hand.job, job.hand = None, None
                self._waiting.appendleft(job)
                self._lost(hand)
                return
            hand.timers.append(asyncio.get_running_loop().call_later(self.seconds, self._expire, hand, hand.number))

    def _hear(self, hand: _Hand) -> None:
        try:
            message = hand.connection.recv_bytes()
        except (EOFError, OSError):
            self._lost(hand)
            return
        job = hand.job
        if message == END:
            hand.is_ready, self._stillborn = True, 0
            self._free(hand)
            if job is not None:
                job.end()
            self._idle.append(hand)
            self._hand_out()
        elif job is not None:
            job.say(message)

    def _free(self, hand: _Hand) -> None:
        for timer in hand.timers:
            timer.cancel()
        hand.timers.clear()
        hand.job = None

    def _expire(self, hand: _Hand, number: int) -> None:
        if hand.number == number and hand.job is not None:
            hand.job.end(
                failure("time", f"this takes longer than {self.seconds:g} s; ask for less, or use the command")
            )
            self._cancel(hand)

    def _end(self, hand: _Hand, number: int) -> None:
        if hand.number == number and hand.job is not None:
            hand.process.kill()  # what is said of it is heard when its pipe closes

    def _lost(self, hand: _Hand) -> None:
        """A process has died: its job ends, another process takes its place."""
        asyncio.get_running_loop().remove_reader(hand.connection.fileno())
        if hand.job is not None:
            hand.job.end(failure("memory", "the process that worked on this has died; it may have needed more memory"))
        self._free(hand)
        hand.connection.close()
        hand.process.kill()
        hand.process.join()
        self._hands.remove(hand)
        if hand in self._idle:
            self._idle.remove(hand)
        self._stillborn += not hand.is_ready
        if self._stillborn >= _STILLBORN:
            self._is_open = False
            for job in tuple(self._waiting):
                job.end(failure("memory", "the processes that compute die before they begin; is there memory left?"))
            self._waiting.clear()
        if self._is_open:
            self._begin()
            self._hand_out()
