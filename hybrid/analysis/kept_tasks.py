"""Runs that can be gone on with: a folder in which every finished task is kept until the whole result is there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, FileError, StateError
from hybrid.files import read_arrays, read_file, read_json

__all__ = ["DRAFT", "SCHEMA", "KeptTasks", "first_difference", "kept_tasks", "part_of"]

SCHEMA = 2
"""Number of the layout of unfinished runs and of finished folders."""

DRAFT = ".draft-"
"""Begins the names of what is not finished yet; the next run removes what a kill has left of it."""

_SPECIFICATION, _LOCK = _OWN = "specification.json", "lock"
_MOST_BYTES = 1 << 33
_SHOWN, _BEFORE = 80, 30  # letters of a value, and those that stand before a difference
_TASK = re.compile(r"task-(\d{8})-([0-9a-f]{64})\.npz")


@attrs.define(eq=False)
class KeptTasks:
    """The tasks of one run that are finished.

    Attributes
    ----------
    folder : Path
        Beside the folder of the result, with ``.part`` at its end.
    seal : bytes
        Digest of the specification.
    done : dict of int to str
        The names of their files by number. They have the SHA-256 of the seal, of the number and of what is in them: a
        file of another run or task has another name.
    """

    folder: Path
    seal: bytes
    done: dict[int, str] = attrs.field(factory=dict)

    def put(self, number: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep the result of a task: first its data, then its name, so that what has the name is whole."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=DRAFT, delete=False) as draft:
                try:
                    np.savez(draft, **arrays)  # type: ignore[arg-type]
                    draft.flush()
                    os.fsync(draft.fileno())
                    draft.seek(0)
                    digest = hashlib.file_digest(draft, partial(hashlib.sha256, self._seal_of(number)))
                    name = f"task-{number:08d}-{digest.hexdigest()}.npz"
                    Path(draft.name).replace(self.folder / name)
                finally:
                    Path(draft.name).unlink(missing_ok=True)  # which it is not if it has its name
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self.done[number] = name

    def get(self, number: int) -> dict[str, NDArray[Any]]:
        """The arrays of a finished task; FileError if they are not what this run has put."""
        path = self.folder / self.done[number]
        content, digest = read_file(path, limit=_MOST_BYTES), hashlib.sha256(self._seal_of(number))
        digest.update(content)
        if digest.hexdigest() not in path.name:
            raise FileError("is damaged or of another run", str(path))
        return read_arrays(content, limit=_MOST_BYTES, source=str(path))

    def _seal_of(self, number: int) -> bytes:
        """What the digest of a task takes before its file."""
        return self.seal + number.to_bytes(8)

    def remove(self) -> None:
        """Remove the folder, as the result is elsewhere."""
        for path in self.folder.iterdir():  # the specification last: without it nothing else is left to be taken for
            if path.name not in _OWN:
                _removed(path)
        _removed(self.folder / _SPECIFICATION)
        shutil.rmtree(self.folder, ignore_errors=True)


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
        yield _found(KeptTasks(folder, hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()))


def _found(kept: KeptTasks) -> KeptTasks:
    """The tasks that a folder has; files that are not as this run has put them are removed and computed again."""
    folder = kept.folder
    for match in [match for path in sorted(folder.iterdir()) if (match := _TASK.fullmatch(path.name))]:
        number = int(match[1])
        kept.done[number] = match[0]
        try:
            kept.get(number)
        except FileError as error:
            warnings.warn(f"{error.source} is damaged or of another run: its task is computed again", stacklevel=4)
            _removed(folder / kept.done.pop(number))
    return kept


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
    if (difference := first_difference(known, asked)) is not None:
        raise StateError(f"{folder} is a run with {difference}: remove it, or choose another folder")


def first_difference(known: Mapping[str, Any], asked: Mapping[str, Any]) -> str | None:
    """The first part in which two specifications differ, as ``NAME = VALUE, not VALUE``, or ``axis AXIS, not AXIS``.

    Parameters
    ----------
    known, asked : mapping
        JSON values by name, of which the layout and the kind are compared first, then in the order of what is asked.

    Returns
    -------
    str or None
        None if they are the same; ``no NAME`` where the first one lacks a part.

    Examples
    --------
    >>> first_difference({"n": 10, "seed": 1}, {"n": 10, "seed": 2})
    'seed = 1, not 2'
    """
    wanted = json.loads(json.dumps(asked))
    for name in dict.fromkeys(("schema", "kind", *wanted, *sorted(known))):
        if name in wanted and name not in known:
            return f"no {name}, which earlier versions did not keep"
        if known.get(name) != wanted.get(name):
            if name == "axes" and (axes := _differing_axes(known[name], wanted.get(name))) is not None:
                return axes
            was, now = _differing(known.get(name), wanted.get(name))
            return f"{name} = {was}, not {now}"
    return None


def _differing_axes(known: Any, asked: Any) -> str | None:
    """The axes that differ, as ``--axis`` takes them; None where one side is no list of as many axes."""
    try:
        pairs = [(one, other) for one, other in zip(known, asked, strict=True) if one != other]
        for digits in (6, 17):  # all of them where ends differ by less than the first show
            was, now = (" and ".join(_axis(axis, digits) for axis in side) for side in zip(*pairs, strict=True))
            if was != now:
                return f"axis {was}, not {now}"
    except (KeyError, TypeError, ValueError):  # a file that no map has written
        pass
    return None


def _axis(axis: Mapping[str, Any], digits: int) -> str:
    return f"{axis['name']}={axis['low']:.{digits}g}:{axis['high']:.{digits}g}:{axis['n']}"


def _differing(known: Any, asked: Any) -> tuple[str, str]:
    """What differs in two values, in few words."""
    if isinstance(known, dict) and isinstance(asked, dict):
        known, asked = (
            {key: item for key, item in each.items() if other.get(key) != item}
            for each, other in ((known, asked), (asked, known))
        )
    texts = [json.dumps(value) if value != {} else "nothing more" for value in (known, asked)]
    same = next((k for k, (one, other) in enumerate(zip(*texts, strict=False)) if one != other), min(map(len, texts)))
    begin = max(0, same - _BEFORE)
    return _part(texts[0], begin), _part(texts[1], begin)


def _part(text: str, begin: int) -> str:
    """A text, or so much of a long one as shows where it differs."""
    if len(text) <= _SHOWN:
        return text
    end = begin + _SHOWN
    return f"{'...' * (begin > 0)}{text[begin:end]}{'...' * (end < len(text))}"


def _unwritable(folder: Path, error: OSError) -> ComputationError:
    return ComputationError(f"{folder} cannot be written: {error.strerror or error}; what it holds already is kept")
