"""Tell somebody who waits how far a computation is.

Ctrl-C in a long computation: it is raised as ever, unless the caller asks for what was computed until then.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

    from rich.progress import Progress, TaskID

__all__ = [
    "OnInterrupt",
    "ProgressBar",
    "answers_come_first",
    "comes_to_its_end",
    "interruptible",
    "keeps_partial",
    "say_meanwhile",
]


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
    """A program in which Ctrl-C behind an :func:`interruptible` computation waits for the answer; a second does not.

    What is there by then is complete, or says that it is not; a further such computation does not begin.

    Returns
    -------
    context manager
        Without effect outside the main thread, or where the program handles the signal itself.
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
    if handler.came:
        raise KeyboardInterrupt
    handler.depth += 1
    handler.has_answer = False
    try:
        yield
    finally:
        handler.depth -= 1
        handler.has_answer = handler.depth == 0


def comes_to_its_end(work: Callable[[], object], *, keeps: bool) -> bool:
    """Work until it is done, or until an interrupt if what is there by then is kept.

    Parameters
    ----------
    work : callable
        Its effects are what is kept.
    keeps : bool
        As of :func:`interruptible`.

    Returns
    -------
    bool
        False after an interrupt.

    Raises
    ------
    KeyboardInterrupt
        Nothing is kept.

    Examples
    --------
    >>> comes_to_its_end(lambda: None, keeps=True)
    True
    """
    try:
        with interruptible(keeps=keeps):
            work()
    except KeyboardInterrupt:
        if not keeps:
            raise
        return False
    return True


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
        from hybrid.errors import StateError  # the help of a program needs this module, and no errors

        raise StateError(f"on_interrupt must be 'raise' or 'keep', not {on_interrupt!r}")
    return on_interrupt == "keep"


# What takes less is over before a bar could be read.
PATIENCE_SECONDS = 2.0
# Between two words in a notebook, each of which is a message to the browser.
_PAUSE_SECONDS = 0.25


_OPEN: list[ProgressBar] = []


def say_meanwhile(note: str) -> None:
    """Say on the bar that was opened last what is done before anything can be counted; nothing without a bar.

    Parameters
    ----------
    note : str
        Shown until the computation advances.

    Returns
    -------
    None

    Examples
    --------
    >>> with ProgressBar("following motions"):
    ...     say_meanwhile("compiling")
    """
    if _OPEN:
        _OPEN[-1]._shown.say(note)


class ProgressBar:
    """A bar that shows itself only when the work takes longer than two seconds.

    In a terminal it is on standard error; a computation that cannot tell how far it is leaves it moving to and fro. In
    a notebook it is one line below the cell, which says in the end how long it took. Use it as a context manager, and
    hand :meth:`advance` to the computation.

    Parameters
    ----------
    label : str
        What is being done.
    patience : float, optional
        After how many seconds the bar appears; where standard error is no terminal, the label is printed.

    Examples
    --------
    >>> with ProgressBar("counting") as bar:
    ...     for done in range(3):
    ...         bar.advance(done + 1, 3)
    """

    def __init__(self, label: str, *, patience: float = PATIENCE_SECONDS) -> None:
        shell = _notebook_shell()
        self._shown: _TerminalBar | _NotebookLine
        self._shown = _TerminalBar(label, patience) if shell is None else _NotebookLine(label, patience, shell)

    def __enter__(self) -> Self:
        _OPEN.append(self)
        self._shown.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _OPEN.remove(self)
        self._shown.stop(is_done=kind is None)

    def advance(self, done: float, total: float, note: str = "") -> None:
        """Say that ``done`` of ``total`` pieces, or seconds of a motion, are finished.

        Parameters
        ----------
        done, total : float
            Both in pieces, or both in s of a motion.
        note : str, optional
            What else is worth knowing meanwhile.
        """
        self._shown.advance(done, total, note)


def _notebook_shell() -> Any:
    """The shell of the notebook in which this runs; None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") else None


class _NotebookLine:
    """A line of the cell's output that is written anew, by the computation itself: other threads have no cell."""

    def __init__(self, label: str, patience: float, shell: Any) -> None:
        import uuid  # which asks for the platform, and few run in a notebook

        self._label, self._patience, self._shell = label, patience, shell
        self._name = uuid.uuid4().hex
        self._is_shown = False
        self._begin = self._last = 0.0

    def start(self) -> None:
        self._begin = time.perf_counter()
        self._last = self._begin + self._patience - _PAUSE_SECONDS

    def advance(self, done: float, total: float, note: str) -> None:
        now = time.perf_counter()
        if now - self._last < _PAUSE_SECONDS or not total:
            return
        self._last = now
        left = (now - self._begin) * (total - done) / done if done else None
        rest = "" if left is None else f", {left:.0f} s left"
        self._write(f"{self._label}: {100 * done / total:.0f} %{rest}{note and ', '}{note}")

    def say(self, note: str) -> None:
        self._write(f"{self._label}, {note}")  # at once: nothing else is written until it is over

    def stop(self, *, is_done: bool) -> None:
        taken = time.perf_counter() - self._begin
        if self._is_shown:
            self._write(f"{self._label}: {'done in' if is_done else 'ended after'} {taken:.1f} s")

    def _write(self, text: str) -> None:
        self._shell.display_pub.publish(
            {"text/plain": text}, transient={"display_id": self._name}, update=self._is_shown
        )
        self._is_shown = True


class _TerminalBar:
    """A bar on standard error, which a timer shows."""

    def __init__(self, label: str, patience: float) -> None:
        self._label = label
        self._text = label
        self._done = 0.0
        self._total: float | None = None
        self._finished = False
        self._lock = threading.Lock()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True

    def start(self) -> None:
        self._timer.start()

    def stop(self, *, is_done: bool) -> None:
        self._timer.cancel()
        with self._lock:
            self._finished = True
            if self._bar is not None:
                self._bar.stop()

    def advance(self, done: float, total: float, note: str) -> None:
        with self._lock:
            self._done, self._total, self._text = done, total, f"{self._label}{note and ', '}{note}"
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=done, total=total, description=self._text)

    def say(self, note: str) -> None:
        with self._lock:
            self._text = f"{self._label}, {note}"
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, description=self._text)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with self._lock:
            if self._finished:
                return
            if not console.is_terminal:
                console.print(f"{self._text} ...", markup=False, highlight=False)
                return
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task(self._text, total=self._total)
            self._bar.update(self._task, completed=self._done)
            self._bar.start()
