"""Runs that can be gone on with: a folder in which every finished task is kept until the whole result is there."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, FileError, StateError
from hybrid.files import read_arrays, read_file, read_json

__all__ = ["DRAFT", "SCHEMA", "KeptTasks", "first_difference", "kept_tasks", "part_of"]

SCHEMA = 1
"""Number of the layout of unfinished runs and of finished folders."""

DRAFT = ".draft-"
"""Begins the names of what is not finished yet; the next run removes what a kill has left of it."""

_SPECIFICATION, _LOCK = _OWN = "specification.json", "lock"
_MOST_BYTES = 1 << 33
_TASK = re.compile(r"task-(\d{8})\.npz")


@attrs.define(eq=False)
class KeptTasks:
    """The tasks of one run that are finished.

    Attributes
    ----------
    folder : Path
        Beside the folder of the result, with ``.part`` at its end.
    done : set of int
        Their numbers.
    """

    folder: Path
    done: set[int]

    def put(self, number: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep the result of a task: first its data, then its name, so that what has the name is whole."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=DRAFT, delete=False) as draft:
                try:
                    np.savez(draft, **arrays)  # type: ignore[arg-type]
                    draft.flush()
                    os.fsync(draft.fileno())
                    Path(draft.name).replace(self._path(number))
                finally:
                    Path(draft.name).unlink(missing_ok=True)  # which it is not if it has its name
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self.done.add(number)

    def get(self, number: int) -> dict[str, NDArray[Any]]:
        """The arrays of a finished task."""
        path = self._path(number)
        return read_arrays(read_file(path, limit=_MOST_BYTES), limit=_MOST_BYTES, source=str(path))

    def remove(self) -> None:
        """Remove the folder, as the result is elsewhere."""
        for path in self.folder.iterdir():  # the specification last: without it nothing else is left to be taken for
            if path.name not in _OWN:
                _removed(path)
        _removed(self.folder / _SPECIFICATION)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"task-{number:08d}.npz"


def part_of(target: Path) -> Path:
    """Folder beside that of a result in which the tasks of its run are kept.

    Parameters
    ----------
    target : Path

    Returns
    -------
    Path
    """
    place = target.resolve()
    return place.with_name(f"{place.name}.part")


@contextmanager
def kept_tasks(target: str | Path, specification: Mapping[str, Any]) -> Iterator[KeptTasks]:
    """The tasks of a run whose result will be in a folder; those that an earlier run has finished are there.

    Parameters
    ----------
    target : str or Path
        Folder of the result, which is not there yet.
    specification : mapping
        What the run computes, as JSON values. The same target with another one is refused.

    Returns
    -------
    context manager of KeptTasks

    Raises
    ------
    StateError
        The folder holds a run of another specification, or another process is at it.
    ComputationError
        The folder cannot be written.
    """
    folder = part_of(Path(target))
    asked = {"schema": SCHEMA, **specification}
    try:
        _check_own(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise _unwritable(folder, error) from error
    with lock:
        _hold(lock, folder)
        for draft in folder.glob(f"{DRAFT}*"):  # of a run that was killed
            _removed(draft)
        if not (folder / _SPECIFICATION).exists():
            _specify(folder, asked)
        _check_same(folder, asked)
        found = (_TASK.fullmatch(path.name) for path in folder.iterdir())
        yield KeptTasks(folder, {int(match[1]) for match in found if match})


def _check_own(folder: Path) -> None:
    """Refuse a folder that no run has made; one that was killed as it began may have no specification yet."""
    if not folder.exists() or (folder / _SPECIFICATION).exists():
        return
    if any(path.name not in _OWN and not path.name.startswith(DRAFT) for path in folder.iterdir()):
        raise StateError(f"{folder} holds no run that can be gone on with: remove it, or choose another folder")


def _specify(folder: Path, asked: Mapping[str, Any]) -> None:
    """Write the specification at once or not at all."""
    draft = folder / f"{DRAFT}specification"
    try:
        draft.write_text(json.dumps(asked, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(folder / _SPECIFICATION)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _removed(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _hold(lock: Any, folder: Path) -> None:
    """Keep other runs out; the system lets go of it however this process ends."""
    try:
        import fcntl
    except ImportError:  # a system without it
        return
    try:
        # of this process alone: its workers, which may outlive it for a moment, do not inherit it
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        holder = lock.read().strip()
        raise StateError(
            f"{folder} is in use by process {holder or 'unknown'}: wait for it, or choose another folder"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


def _check_same(folder: Path, asked: Mapping[str, Any]) -> None:
    path = folder / _SPECIFICATION
    try:
        known = read_json(read_file(path, limit=_MOST_BYTES), source=str(path))
    except FileError as error:
        raise StateError(f"{folder} holds no run that can be gone on with: {error}") from None
    if (told := first_difference(known, asked)) is not None:
        raise StateError(f"{folder} is a run with {told}: remove it, or choose another folder")


def first_difference(known: Mapping[str, Any], asked: Mapping[str, Any]) -> str | None:
    """The first part in which two specifications differ, as ``NAME = VALUE, not VALUE``.

    Parameters
    ----------
    known, asked : mapping
        JSON values by name, of which the layout and the kind are compared first.

    Returns
    -------
    str or None
        None if they are the same.

    Examples
    --------
    >>> first_difference({"n": 10, "seed": 1}, {"n": 10, "seed": 2})
    'seed = 1, not 2'
    """
    wanted = json.loads(json.dumps(asked))
    for name in ("schema", "kind", *sorted({*known, *wanted} - {"schema", "kind"})):
        if known.get(name) != wanted.get(name):
            was, now = (
                _difference(each.get(name), other.get(name)) for each, other in ((known, wanted), (wanted, known))
            )
            return f"{name} = {was}, not {now}"
    return None


def _difference(value: Any, other: Any) -> str:
    """What differs from another value, in few words."""
    if isinstance(value, dict) and isinstance(other, dict):
        own = {key: item for key, item in value.items() if other.get(key) != item}
        return json.dumps(own) if own else "nothing more"
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _unwritable(folder: Path, error: OSError) -> ComputationError:
    return ComputationError(f"{folder} cannot be written: {error.strerror or error}; what it holds already is kept")
