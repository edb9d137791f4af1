"""Where long work is done: in processes of this machine, or on those that a scheduler has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hybrid.cli.arguments import OutputPath

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from hybrid.analysis.engines import Engine

__all__ = ["engine_options", "opened_engine", "resumption", "store_option", "stored_line", "was_finished"]

Command = TypeVar("Command", bound=Callable[..., Any])

_PATIENCE = 10.0  # seconds


def _needs_distributed(_: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse what could not be reached before anything is computed."""
    if value is not None and find_spec("distributed") is None:
        advice = "install it with: pip install 'painleve[cluster]'"
        raise click.BadParameter(f"a scheduler needs Dask's distributed; {advice}", param=param)
    return value


def engine_options(command: Command) -> Command:
    """The options ``--workers N`` and ``--scheduler ADDRESS``.

    Parameters
    ----------
    command : callable
        Takes them as ``workers`` and ``scheduler``.

    Returns
    -------
    callable
    """
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        callback=_needs_distributed,
        help="Work on the machines of a Dask scheduler, as tcp://HOST:8786.",
    )
    workers = click.option(
        "--workers", type=click.IntRange(1), help="Processes; by default as many as processors for long work."
    )
    return workers(scheduler(command))


def _folder(context: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    """A folder that a result can be kept in or read from, or the reason why not, before anything is computed."""
    if folder is None:
        return None
    from hybrid.analysis.maps.store import check_folder, is_finished
    from hybrid.errors import StateError

    if not is_finished(folder):  # which is read, wherever it is
        folder = OutputPath(is_folder=True).convert(folder, option, context)
    try:
        check_folder(folder, may_be_finished=True)  # of what, is asked later
    except StateError as error:
        raise click.BadParameter(str(error), param=option) from None
    missing = [name for name in ("xarray", "zarr") if find_spec(name) is None]
    if missing:
        advice = "install it with: pip install 'painleve[store]'"
        raise click.BadParameter(f"a store needs {' and '.join(missing)}; {advice}", param=option)
    return folder


def store_option(help_text: str) -> Callable[[Command], Command]:
    """The option ``--store DIR`` for results that are kept while they are computed.

    Parameters
    ----------
    help_text : str

    Returns
    -------
    callable
        Decorates a command, which takes the folder as ``store``.
    """
    return click.option(
        "--store",
        type=click.Path(path_type=Path),
        metavar="DIR",
        callback=_folder,
        help=f"{help_text}; what is finished is kept, and the same command goes on.",
    )


def was_finished(store: Path | None) -> bool:
    """Whether a folder holds a finished result, which is read.

    Parameters
    ----------
    store : Path or None

    Returns
    -------
    bool
    """
    if store is None:
        return False
    from hybrid.analysis.maps.store import is_finished

    return is_finished(store)


def stored_line(store: Path | None, *, was_kept: bool) -> Iterator[str]:
    """What a command says of its store.

    Parameters
    ----------
    store : Path or None
    was_kept : bool
        Whether the result was there before.

    Returns
    -------
    iterator of str
        A line, or none.
    """
    if store is not None:
        yield f"Read from {store}, where it was kept." if was_kept else f"Kept in {store}."


def resumption(store: Path | None) -> str:
    """How an interrupted command is resumed.

    Parameters
    ----------
    store : Path or None

    Returns
    -------
    str
        A clause for the end of a message.
    """
    return "the same command goes on" if store is not None else "with --store DIR, which keeps them, it could go on"


@contextmanager
def opened_engine(workers: int | None, scheduler: str | None, *, is_long: bool) -> Iterator[Executor | Engine | None]:
    """What works tasks off, for as long as it is needed.

    Parameters
    ----------
    workers : int or None
    scheduler : str or None
    is_long : bool
        Whether processes pay by default.

    Returns
    -------
    context manager of an executor, a function that makes executors, or None for this process

    Raises
    ------
    UsageError
        Both are asked for, or the scheduler does not answer.
    """
    if scheduler is not None:
        if workers is not None:
            raise click.UsageError("--scheduler has workers of its own: leave out --workers")
        with _scheduled(scheduler) as executor:
            yield executor
        return
    processes = workers or ((os.cpu_count() or 1) if is_long else 1)
    if processes == 1:
        yield None
        return
    from hybrid.analysis.engines import Processes

    yield partial(Processes, processes)


@contextmanager
def _scheduled(address: str) -> Iterator[Executor]:
    import logging

    from distributed import Client

    # they would print tracebacks where a scheduler goes away
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(asyncio.wait_for(_answered(address), 1.2 * _PATIENCE))
        client = Client(address, timeout=f"{_PATIENCE} s")
    except TimeoutError:
        raise click.UsageError(f"no scheduler answers at {address}: something listens there and is silent") from None
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise click.UsageError(f"no scheduler answers at {address}: {reason}") from None
    except (MemoryError, LookupError, AttributeError, AssertionError, EOFError, RuntimeError):
        raise click.UsageError(f"no scheduler answers at {address}: it is not Dask that does") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            advice = f"start some, as by: dask worker {address}"
            raise click.UsageError(f"the scheduler at {address} has no workers: {advice}") from None
        yield client.get_executor(retries=3)


async def _answered(address: str) -> None:
    """Ask what an address is: a client would wait for ever for something silent, and take greetings for lengths."""
    from distributed import Security
    from distributed.core import rpc

    secured = Security().get_connection_args("client")
    async with rpc(address, timeout=_PATIENCE, connection_args=secured) as asked:
        kind = (await asked.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"it is Dask's {kind.lower()}")
