"""Arguments and options that commands share, and how their text is read.

A mechanism is found by its name in the installed catalogues, or by the path of its file.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.declaration import Mechanism

__all__ = [
    "LAWS",
    "PLOT_ENDINGS",
    "Catalogue",
    "FiniteRange",
    "OutputPath",
    "branch_option",
    "catalogues",
    "impact_law",
    "json_option",
    "load_mechanism",
    "mechanism_argument",
    "mechanism_file",
    "offered_mechanisms",
    "output_option",
    "parameter_option",
    "pin_option",
    "plot_option",
    "plot_style_option",
    "read_parameters",
    "slice_option",
]

GROUP = "hybrid.mechanisms"
LAWS = ("newton", "poisson", "energetic", "kelvin-voigt")
PLOT_ENDINGS = (".svg", ".png", ".pdf")
PLOT_STYLES = ("screen", "page", "single", "double")

Command = TypeVar("Command", bound=Callable[..., Any])


def _assignments(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    read: dict[str, str] = {}
    for text in values:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise click.BadParameter(f"expected NAME=VALUE, got {text!r}", param=option)
        if name in read:
            raise click.BadParameter(f"{name} is given twice, {read[name]} and {value}", param=option)
        read[name] = value
    return read


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

    return read_mechanism(_path(name)) if _is_path(name) else _catalogue_of(name).load(name)


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
    return _path(name) if _is_path(name) else _catalogue_of(name).path(name)


def _is_path(name: str) -> bool:
    return name.endswith(".toml") or Path(name).name != name  # ./name and name/ are paths, too


def _path(name: str) -> Path:
    """The path of a file that is there; else that whose stem is nearest in its folder is named, if one is near."""
    path = Path(name)
    stems = (
        [] if path.exists() else sorted(other.stem for other in path.parent.glob("*.toml") if other.name != path.name)
    )
    for near in difflib.get_close_matches(path.stem, stems, n=1, cutoff=0.5):
        raise click.ClickException(
            f"{name}: there is no such file; did you mean {str(path.with_name(near + '.toml'))!r}?"
        )
    return path


def _catalogue_of(name: str) -> Catalogue:
    known: set[str] = set()
    for catalogue in catalogues().values():
        if name in catalogue.names():
            return catalogue
        known.update(catalogue.names())
    raise click.ClickException(_not_found(name, known))


def _not_found(name: str, known: set[str]) -> str:
    missing = f"no mechanism is called {name!r}"
    if not known:
        return f"{missing}; no catalogue is installed: run `pip install -e .` in the project, or give a file.toml"
    beside = [path.name for path in Path().glob("*.toml")]
    near = difflib.get_close_matches(name, [*known, *beside], n=1, cutoff=0.5)
    if near:
        return f"{missing}; did you mean {near[0]!r}?"
    if not name:
        return "the name of the mechanism is empty; give one of the catalogue, or a file.toml"
    if Path(name).is_dir():
        return f"{Path(name)}: cannot be read: it is a directory"
    if Path(name).exists():
        return f"{missing}; to read a file of that name write ./{name}"
    return f"{missing}; the catalogue has {', '.join(sorted(known))}; a file's name ends in .toml"


def offered_mechanisms(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers for MECH: names of the catalogues, and files where no name begins so.

    Parameters
    ----------
    incomplete : str
        The beginning that was typed.

    Returns
    -------
    list of CompletionItem
    """
    names = sorted({name for catalogue in catalogues().values() for name in catalogue.names()})
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


mechanism_argument = click.argument("mechanism", metavar="MECH", shell_complete=offered_mechanisms)
"""The argument MECH, a catalogue name or a path; the command takes it as ``mechanism``."""


def _assigned(*names: str, shown: str) -> Callable[[Command], Command]:
    return click.option(*names, multiple=True, metavar="NAME=VALUE", callback=_assignments, help=shown)


parameter_option = _assigned("--param", "parameters", shown="Replace a parameter's value; repeatable.")
"""The repeatable option ``--param NAME=VALUE``; the command takes it as ``parameters``, a dict of str to str."""

pin_option = _assigned(
    "--pin",
    "pins",
    shown="Fix a coordinate, a velocity (phi_dot), gap.tip, gap_dot.tip or slip.tip; repeatable. "
    "slip.tip=+0 and -0 are the limits of vanishing slip.",
)
"""The repeatable option ``--pin NAME=VALUE``; the command takes it as ``pins``, a dict of str to str."""

branch_option = _assigned(
    "--branch",
    shown="Where several postures satisfy the pins, as elbow up and down: take the one nearest to this value of a "
    "coordinate that the pins leave open. A pinned or swept quantity: where that choice is made; repeatable.",
)
"""The repeatable option ``--branch NAME=VALUE``; the command takes it as ``branch``, a dict of str to str."""

slice_option = _assigned(
    "--slice", "slice_at", shown="Show also what is proved where an axis has this value; repeatable."
)
"""The repeatable option ``--slice NAME=VALUE``; the command takes it as ``slice_at``, a dict of str to str."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
"""The flag ``--json``; the command takes it as ``as_json``."""


class Finite(click.types.FloatParamType):
    """A number that is neither infinite nor, unlike click's own, what is no number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number as click does, and check that it is one."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class FiniteRange(Finite, click.FloatRange):
    """A range of such numbers."""


class OutputPath(click.Path):
    """A file or folder to write, refused before anything is computed if its folder cannot be written.

    Parameters
    ----------
    endings : sequence of str, optional
        How the name must end; by default anyhow.
    is_folder : bool, optional
    """

    def __init__(self, *endings: str, is_folder: bool = False) -> None:
        super().__init__(file_okay=not is_folder, dir_okay=is_folder, path_type=Path, writable=True)
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the path as click does, its ending, and the folder it is to stand in."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if self.endings and path.suffix.lower() not in self.endings:
            self.fail(f"{value} must end in {', '.join(self.endings)}", param, ctx)
        folder = path.absolute().parent
        if not folder.is_dir():
            self.fail(f"the folder {str(folder)!r} does not exist", param, ctx)
        if not (os.access(folder, os.W_OK | os.X_OK) and _takes_files(folder)):
            self.fail(f"the folder {str(folder)!r} cannot be written", param, ctx)
        return path


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made in a folder: in some of the system's nobody can, whatever the permissions say."""
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def output_option(*endings: str, shown: str, callback: Any = None) -> Callable[[Command], Command]:
    """The option ``-o FILE`` for a file.

    Parameters
    ----------
    *endings : str
        How its name must end; by default anyhow.
    shown : str
        What the help says of it.
    callback : callable, optional
        As of ``click.option``.

    Returns
    -------
    callable
        Decorates a command, which takes the path as ``output``.
    """
    own: dict[str, Any] = {"type": OutputPath(*endings), "callback": callback}
    return click.option("-o", "--output", metavar="FILE", help=shown, **own)


def plot_option(help_text: str) -> Callable[[Command], Command]:
    """The option ``--plot FILE`` for a picture.

    Parameters
    ----------
    help_text : str
        What the help says of it; the endings are added.

    Returns
    -------
    callable
        Decorates a command, which takes the path as ``plot``.
    """
    kind = OutputPath(*PLOT_ENDINGS)
    return click.option("--plot", type=kind, metavar="FILE", help=f"{help_text} ({', '.join(PLOT_ENDINGS)}).")


plot_style_option = click.option(
    "--plot-style",
    type=click.Choice(PLOT_STYLES),
    default="screen",
    show_default=True,
    help="For a window, a page that is read on a telephone too, or one or both columns of a journal (88, 174 mm).",
)
"""The option ``--plot-style``; the command takes it as ``plot_style``, a name of `hybrid.reporting.figures.STYLES`."""


def read_parameters(mechanism: Mechanism, texts: Mapping[str, str]) -> dict[str, float | str]:
    """The values of ``--param``, which may be expressions of other parameters.

    Parameters
    ----------
    mechanism : Mechanism
    texts : mapping of str to str

    Returns
    -------
    dict of str to float or str
        Only the replaced ones: a number, or the text where it follows other parameters, which a command may vary.

    Raises
    ------
    hybrid.errors.DeclarationError
        If there is no such parameter (the message names the nearest one), or a value is not a finite number.

    Examples
    --------
    >>> import mechanisms
    >>> read_parameters(mechanisms.load("rod_on_incline"), {"mu": "4/3", "I": "m*l**2"})
    {'mu': 1.3333333333333333, 'I': 'm*l**2'}
    """
    values = mechanism.parameter_values(texts)
    return {name: text if mechanism.expression(text).names else float(values[name]) for name, text in texts.items()}


def impact_law(name: str, restitution: float | None = None, damping: float | None = None) -> AbstractImpactLaw:
    """The impact law of a name.

    Parameters
    ----------
    name : str
        One of ``LAWS``.
    restitution : float, optional
        Coefficient of restitution of every contact, without unit; by default the declared ones.
    damping : float, optional
        Of every contact, in units of the square root of a mass; by default the declared ones.

    Returns
    -------
    AbstractImpactLaw

    Raises
    ------
    click.UsageError
        If a coefficient belongs to another law.
    """
    from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
    from hybrid.contact.compliance.law import KelvinVoigtLimit

    if name == "kelvin-voigt":
        if restitution is not None:
            raise click.UsageError("the kelvin-voigt law has a damping and no restitution: give --damping")
        return KelvinVoigtLimit(damping)
    if damping is not None:
        raise click.UsageError(f"the {name} law has a restitution and no damping: give --restitution")
    if name == "newton":
        return NewtonImpact(restitution)
    return PoissonImpact(restitution) if name == "poisson" else EnergeticImpact(restitution)
