"""Tasks worked off here or elsewhere: any executor, the failures of single tasks, processes that die."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from hybrid.errors import ComputationError, HybridError

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

__all__ = ["REPORTED", "Engine", "Processes", "worked_off"]

Asked = TypeVar("Asked")
Found = TypeVar("Found")

Engine = Callable[[], Executor]
"""Makes an executor; called again where the processes of one have died."""

REPORTED = (HybridError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)
"""Errors of a task that are told and do not stop the others."""

_LOOK = 1.0  # seconds between two looks at the process that was started
_AT_ONCE = 64  # tasks handed out at once: results that wait take memory


def worked_off(
    work: Callable[[Asked], Found],
    tasks: Sequence[Asked],
    *,
    engine: Executor | Engine | None,
    failed: Callable[[int, str], None] | None = None,
) -> Iterator[tuple[int, Found]]:
    """Results of tasks as they are finished.

    Parameters
    ----------
    work : callable
        From a task to its result; sent to other processes with it.
    tasks : sequence
    engine : concurrent.futures.Executor, or callable that makes one, or None
        None works them off here, one after the other. What is made here is shut down here.
    failed : callable, optional
        Called with the number of a task and the reason where it raises an error or its process dies; the others go on.
        Without it the first error is raised.

    Returns
    -------
    iterator of (int, result)
        Numbers among the tasks.

    Raises
    ------
    ComputationError
        A given executor has lost tasks, as processes or a scheduler died: only who made it can replace it.
    """
    if engine is None:
        for number, task in enumerate(tasks):
            try:
                found = work(task)
            except REPORTED as error:
                _report_failure(failed, number, error)
                continue
            yield number, found
        return
    if isinstance(engine, Executor):
        suspects = yield from _round(work, tasks, deque(range(len(tasks))), engine, failed)
        if suspects:
            raise ComputationError(
                "the executor has lost tasks: a process of it has died, or its scheduler; start that anew"
                " (a function that makes executors would do so), and with a store the same call goes on"
            )
        return
    waiting = deque(range(len(tasks)))
    while waiting:
        with engine() as executor:
            suspects = yield from _round(work, tasks, waiting, executor, failed)
        for number in suspects:  # one of them has taken its process along: each alone tells which
            with engine() as executor:
                lost = yield from _round(work, tasks, deque([number]), executor, failed)
            if lost:
                _report_failure(failed, number, ComputationError("its process died"))


def _round(
    work: Callable[[Asked], Found],
    tasks: Sequence[Asked],
    waiting: deque[int],
    executor: Executor,
    failed: Callable[[int, str], None] | None,
) -> Generator[tuple[int, Found], None, list[int]]:
    """Work off what waits; returns what was under way when processes died, else nothing."""
    futures: dict[Future[Found], int] = {}
    try:
        while waiting or futures:
            while waiting and len(futures) < _AT_ONCE:
                try:
                    futures[executor.submit(work, tasks[waiting[0]])] = waiting[0]
                except BrokenExecutor:
                    return sorted(futures.values()) or [waiting.popleft()]
                waiting.popleft()
            for future in wait(futures, return_when=FIRST_COMPLETED).done:
                error = CancelledError() if future.cancelled() else future.exception()
                if isinstance(error, BrokenExecutor | CancelledError):
                    return sorted(futures.values())
                if error is not None:
                    _report_failure(failed, futures.pop(future), error)
                    continue
                yield futures.pop(future), future.result()
        return []
    finally:
        if not isinstance(executor, Processes):  # which end, and before Python 3.12 trip over what was cancelled
            for future in futures:
                future.cancel()


def _report_failure(failed: Callable[[int, str], None] | None, number: int, error: BaseException) -> None:
    if failed is None or not isinstance(error, Exception):
        raise error
    failed(number, str(error) or type(error).__name__)


class Processes(ProcessPoolExecutor):
    """Processes that end at once where an error, or Ctrl-C, ends the work: what they are at is of no use any more.

    Results travel in files. A process that ends, or is killed, while it sends a long message leaves a part of it, and
    the rest would be waited for without end; that of a file's name is short enough to be sent at once or not at all.

    Parameters
    ----------
    number : int
    """

    def __init__(self, number: int) -> None:
        self._is_over = multiprocessing.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="painleve-", ignore_cleanup_errors=True)
        super().__init__(number, initializer=_begin_as_worker, initargs=(self._is_over,))

    def submit(self, work: Callable[..., Found], /, *args: Any, **named: Any) -> Future[Found]:
        """Hand out a task, as any executor does."""
        return super().submit(_by_file, self._folder.name, work, *args, **named)

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> bool | None:
        if kind is not None:
            self._is_over.set()
        with self._folder:
            return super().__exit__(kind, *error)


def _by_file(folder: str, work: Callable[..., Any], *args: Any, **named: Any) -> Any:
    return _Sent(work(*args, **named), folder)


@attrs.frozen
class _Sent:
    """A result on its way: pickled, it is the name of a file; read again, it is the result."""

    found: Any
    folder: str

    def __reduce__(self) -> tuple[Callable[[Path], Any], tuple[Path]]:
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            pickle.dump(self.found, file, pickle.HIGHEST_PROTOCOL)
        return _received, (Path(file.name),)


def _received(path: Path) -> Any:
    with path.open("rb") as file:
        found = pickle.load(file)  # written by a process of ours, in a folder that no one else may read
    path.unlink()
    return found


def _begin_as_worker(is_over: Event) -> None:
    """Ctrl-C reaches every process of a terminal: the one that was started answers it, and tells the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(), is_over), daemon=True).start()


def _end_with(parent: int, is_over: Event) -> None:
    """End when the work is over, or the process that asked for it has gone, killed perhaps."""
    while os.getppid() == parent and not is_over.wait(_LOOK):
        pass
    os._exit(1)
