"""Models of engines by installed backends, found by entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, cast

from hybrid.errors import ComputationError, StateError
from hybrid.numeric.frames import AbstractBackend

__all__ = ["Loader", "load_model"]

GROUP = "painleve.backends"


class Loader(Protocol):
    """What an entry point of the group ``painleve.backends`` names."""

    def __call__(self, path: str, *, contacts: str | None) -> AbstractBackend:
        """The model of a file, with the contacts that another one names; an error of this package if there is none."""


def load_model(path: str | Path, *, backend: str | None = None, contacts: str | Path | None = None) -> AbstractBackend:
    """Read a model.

    Parameters
    ----------
    path : str or Path
    backend : str, optional
        The name of an entry point. By default that which is called as the file ends (``sdf`` for ``robot.sdf``), where
        there is one; else ``pinocchio`` for a model with a file of contacts and ``mujoco`` for one without.
    contacts : str or Path, optional
        A file that names contacts.

    Returns
    -------
    AbstractBackend

    Raises
    ------
    StateError
        No backend has the name.
    ComputationError
        The backend, or its engine, cannot be imported.
    FileError
        It cannot read the files.
    """
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    ending, usual = Path(path).suffix.removeprefix("."), "mujoco" if contacts is None else "pinocchio"
    name = backend if backend is not None else ending if ending in known else usual
    if name not in known:
        there = f"there are {', '.join(sorted(known))}" if known else "none is installed: run `pip install painleve`"
        raise StateError(f"no backend is called {name!r}; {there}")
    try:
        loader = cast("Loader", known[name].load())
    except (ImportError, AttributeError) as error:
        raise ComputationError(f"the backend {name!r} ({known[name].value}) cannot be loaded: {error}") from None
    return loader(str(path), contacts=None if contacts is None else str(contacts))
