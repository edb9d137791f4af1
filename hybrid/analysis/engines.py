"""Tasks worked off here or elsewhere: any executor, the failures of single tasks, processes that die."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import TypeVar

from hybrid.errors import ComputationError, HybridError

__all__ = ["Engine", "worked_off"]

Asked = TypeVar("Asked")
Found = TypeVar("Found")

Engine = Callable[[], Executor]
"""Makes an executor; called again where the processes of one have died."""

_TOLD = (HybridError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)
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
            except _TOLD as error:
                _tell(failed, number, error)
                continue
            yield number, found
        return
    if isinstance(engine, Executor):
        suspects = yield from _round(work, tasks, deque(range(len(tasks))), engine, failed)
        if suspects:
            raise ComputationError(
                "the executor has lost tasks: a process of it has died, or its scheduler;"
                " a function that makes executors can replace it"
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
                _tell(failed, number, ComputationError("its process died"))


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
                    _tell(failed, futures.pop(future), error)
                    continue
                yield futures.pop(future), future.result()
        return []
    finally:
        for future in futures:
            future.cancel()


def _tell(failed: Callable[[int, str], None] | None, number: int, error: BaseException) -> None:
    if failed is None or not isinstance(error, Exception):
        raise error
    failed(number, str(error) or type(error).__name__)
