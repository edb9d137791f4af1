"""Tell somebody who waits how far a computation is."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["ProgressBar"]

# What takes less is over before a bar could be read.
PATIENCE_SECONDS = 2.0


class ProgressBar:
    """A bar on standard error that shows itself only when the work takes longer than two seconds.

    Use it as a context manager, and hand :meth:`advance` to the computation. A computation that cannot tell
    how far it is leaves the bar moving to and fro.

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
        self._label = label
        self._done = 0
        self._total: int | None = None
        self._finished = False
        self._lock = threading.Lock()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._finished = True
            if self._bar is not None:
                self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """Say that ``done`` of ``total`` pieces are finished."""
        with self._lock:
            self._done, self._total = done, total
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=done, total=total)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with self._lock:
            if self._finished:
                return
            if not console.is_terminal:
                console.print(f"{self._label} ...", markup=False, highlight=False)
                return
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task(self._label, completed=self._done, total=self._total)
            self._bar.start()
