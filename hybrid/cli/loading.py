"""Find a mechanism by its name in the installed catalogues, or by the path of its file."""

from __future__ import annotations

import difflib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import click

if TYPE_CHECKING:
    from hybrid.declaration import Mechanism

__all__ = ["Catalogue", "catalogues", "load_mechanism", "mechanism_file"]

GROUP = "hybrid.mechanisms"


class Catalogue(Protocol):
    """What an entry point of the group ``hybrid.mechanisms`` provides: a module or an object."""

    def names(self) -> tuple[str, ...]:
        """Names of the mechanisms."""

    def path(self, name: str) -> Path:
        """File of one of them."""

    def load(self, name: str) -> Mechanism:
        """Declaration of one of them."""


def catalogues() -> dict[str, Catalogue]:
    """Every installed catalogue, by the name of its entry point.

    Returns
    -------
    dict of str to Catalogue
        One that cannot be imported is left out, with a warning on standard error.

    Examples
    --------
    >>> "rod_on_incline" in catalogues()["mechanisms"].names()
    True
    """
    loaded = {entry.name: _load(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}
    return {name: catalogue for name, catalogue in loaded.items() if catalogue is not None}


def _load(entry: EntryPoint) -> Catalogue | None:
    try:
        return cast("Catalogue", entry.load())
    except (ImportError, AttributeError) as error:
        click.echo(f"warning: the catalogue {entry.name!r} ({entry.value}) cannot be loaded: {error}", err=True)
        return None


def load_mechanism(name: str) -> Mechanism:
    """The mechanism of a name or a path.

    Parameters
    ----------
    name : str
        A name of a catalogue, or a path: anything that ends in ``.toml`` or has a directory in it.

    Returns
    -------
    Mechanism

    Raises
    ------
    click.ClickException
        If no catalogue has it; the message names the nearest one.
    hybrid.errors.DeclarationError
        If the file has errors.

    Examples
    --------
    >>> load_mechanism("rod_on_incline").coordinates
    ('x', 'y', 'phi')
    """
    from hybrid.declaration import read_mechanism

    return read_mechanism(Path(name)) if _is_path(name) else _catalogue_of(name).load(name)


def mechanism_file(name: str) -> Path:
    """The file of the mechanism of a name or a path, whatever is in it.

    Parameters
    ----------
    name : str
        As of :func:`load_mechanism`.

    Returns
    -------
    Path

    Raises
    ------
    click.ClickException
        If no catalogue has it.

    Examples
    --------
    >>> mechanism_file("rod_on_incline").name
    'rod_on_incline.toml'
    """
    return Path(name) if _is_path(name) else _catalogue_of(name).path(name)


def _is_path(name: str) -> bool:
    return name.endswith(".toml") or len(Path(name).parts) != 1


def _catalogue_of(name: str) -> Catalogue:
    known: set[str] = set()
    for catalogue in catalogues().values():
        if name in catalogue.names():
            return catalogue
        known.update(catalogue.names())
    raise click.ClickException(f"no mechanism is called {name!r}; {_hint(name, known)}")


def _hint(name: str, known: set[str]) -> str:
    if not known:
        return "no catalogue is installed: run `pip install -e .` in the project, or give a file.toml"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    if Path(name).exists():
        return f"to read a file of that name write ./{name}"
    return f"the catalogue has {', '.join(sorted(known))}; a file's name ends in .toml"
