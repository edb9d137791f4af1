"""Arguments and options that commands share, and how their text is read."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from hybrid.analysis import Axis
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.declaration import Mechanism

__all__ = [
    "LAWS",
    "PLOT_ENDINGS",
    "FiniteRange",
    "OutputPath",
    "axes_option",
    "branch_option",
    "impact_law",
    "json_option",
    "mechanism_argument",
    "offered_mechanisms",
    "output_option",
    "parameter_option",
    "pin_option",
    "plot_option",
    "plot_style_option",
    "read_parameters",
    "slice_option",
    "two_axes",
]

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
    from hybrid.cli.loading import catalogues

    names = sorted({name for catalogue in catalogues().values() for name in catalogue.names()})
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def mechanism_argument(command: Command) -> Command:
    """The argument MECH, a catalogue name or a path.

    Parameters
    ----------
    command : callable
        Takes it as ``mechanism``.

    Returns
    -------
    callable
        The command with the argument.
    """
    return click.argument("mechanism", metavar="MECH", shell_complete=offered_mechanisms)(command)


def parameter_option(command: Command) -> Command:
    """The repeatable option ``--param NAME=VALUE``.

    Parameters
    ----------
    command : callable
        Takes it as ``parameters``, a dict of str to str.

    Returns
    -------
    callable
        The command with the option.
    """
    return click.option(
        "--param",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_assignments,
        help="Replace a parameter's value; repeatable.",
    )(command)


def pin_option(command: Command) -> Command:
    """The repeatable option ``--pin NAME=VALUE``.

    Parameters
    ----------
    command : callable
        Takes it as ``pins``, a dict of str to str.

    Returns
    -------
    callable
        The command with the option.
    """
    return click.option(
        "--pin",
        "pins",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_assignments,
        help="Fix a coordinate, a velocity (phi_dot), gap.tip, gap_dot.tip or slip.tip; repeatable. "
        "slip.tip=+0 and -0 are the limits of vanishing slip.",
    )(command)


def branch_option(command: Command) -> Command:
    """The repeatable option ``--branch NAME=VALUE``.

    Parameters
    ----------
    command : callable
        Takes it as ``branch``, a dict of str to str.

    Returns
    -------
    callable
        The command with the option.
    """
    return click.option(
        "--branch",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_assignments,
        help="Where several postures satisfy the pins, as elbow up and down: take the one nearest to this value of a "
        "coordinate that the pins leave open. A pinned or swept quantity: where that choice is made; repeatable.",
    )(command)


def slice_option(command: Command) -> Command:
    """The repeatable option ``--slice NAME=VALUE``.

    Parameters
    ----------
    command : callable
        Takes it as ``slice_at``, a dict of str to str.

    Returns
    -------
    callable
        The command with the option.
    """
    return click.option(
        "--slice",
        "slice_at",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_assignments,
        help="Show also what is proved where an axis has this value; repeatable.",
    )(command)


def json_option(command: Command) -> Command:
    """The flag ``--json``.

    Parameters
    ----------
    command : callable
        Takes it as ``as_json``.

    Returns
    -------
    callable
        The command with the flag.
    """
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")(command)


class FiniteRange(click.FloatRange):
    """A range of numbers that has neither infinity nor, unlike click's own, what is not a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the number as click does, and that it is one."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class OutputPath(click.Path):
    """A file or folder to write, refused before anything is computed if its folder cannot be written.

    Parameters
    ----------
    file_okay, dir_okay, allow_dash, path_type
        As of ``click.Path``.
    endings : sequence of str, optional
        How the name must end; by default anyhow.
    """

    def __init__(
        self,
        *,
        file_okay: bool = True,
        dir_okay: bool = True,
        allow_dash: bool = False,
        path_type: type[Any] | None = None,
        endings: Sequence[str] = (),
    ) -> None:
        super().__init__(
            file_okay=file_okay, dir_okay=dir_okay, allow_dash=allow_dash, path_type=path_type, writable=True
        )
        self.endings = tuple(endings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the path as click does, its ending, and the folder it is to stand in."""
        path = super().convert(value, param, ctx)
        if self.allow_dash and str(value) == "-":
            return path
        if self.endings and Path(os.fsdecode(path)).suffix.lower() not in self.endings:
            self.fail(f"{value} must end in {', '.join(self.endings)}", param, ctx)
        folder = Path(os.fsdecode(path)).absolute().parent
        if not folder.is_dir():
            self.fail(f"the folder {str(folder)!r} does not exist", param, ctx)
        if not os.access(folder, os.W_OK | os.X_OK):
            self.fail(f"the folder {str(folder)!r} cannot be written", param, ctx)
        return path


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
    kind = OutputPath(dir_okay=False, path_type=Path, endings=PLOT_ENDINGS)
    return click.option("--plot", type=kind, metavar="FILE", help=f"{help_text} ({', '.join(PLOT_ENDINGS)}).")


def plot_style_option(command: Command) -> Command:
    """The option ``--plot-style`` for the size and letters of a picture.

    Parameters
    ----------
    command : callable
        Takes it as ``plot_style``, a name of :data:`hybrid.reporting.figures.STYLES`.

    Returns
    -------
    callable
        The command with the option.
    """
    return click.option(
        "--plot-style",
        type=click.Choice(PLOT_STYLES),
        default="screen",
        show_default=True,
        help="For a window, a page that is read on a telephone too, or one or both columns of a journal (88, 174 mm).",
    )(command)


def axes_option(command: Command) -> Command:
    """The option ``--axis``, to be given twice.

    Parameters
    ----------
    command : callable
        Takes it as ``axes``, a tuple of str.

    Returns
    -------
    callable
        The command with the option.
    """
    return click.option(
        "--axis",
        "axes",
        multiple=True,
        required=True,
        metavar="NAME=LOW:HIGH:CELLS",
        help="A pin or a parameter; give two.",
    )(command)


def two_axes(texts: Sequence[str], values: Mapping[str, float]) -> list[Axis]:
    """The two axes of a map, as ``--axis`` gives them.

    Parameters
    ----------
    texts : sequence of str
        As ``phi=0:pi:400``.
    values : mapping of str to float
        Of the parameters, which a text may use.

    Returns
    -------
    list of Axis

    Raises
    ------
    click.UsageError
        If there are not two.
    """
    if len(texts) != 2:
        raise click.UsageError(f"a map has two axes, got {len(texts)}: --axis phi=0:pi:400 --axis phi_dot=-3:3:400")
    from hybrid.analysis import Axis

    return [Axis.parse(text, values=values) for text in texts]


def output_option(help_text: str) -> Callable[[Command], Command]:
    """The option ``-o FILE``.

    Parameters
    ----------
    help_text : str
        What the help says of it.

    Returns
    -------
    callable
        Decorates a command, which takes the path as ``output``, or ``-`` for standard output.
    """

    def add(command: Command) -> Command:
        kind = OutputPath(dir_okay=False, allow_dash=True)
        return click.option("-o", "--output", "output", type=kind, metavar="FILE", help=help_text)(command)

    return add


def read_parameters(mechanism: Mechanism, texts: Mapping[str, str]) -> dict[str, float]:
    """The values of ``--param``, which are expressions of other parameters.

    Parameters
    ----------
    mechanism : Mechanism
    texts : mapping of str to str

    Returns
    -------
    dict of str to float
        Only the replaced ones.

    Raises
    ------
    hybrid.errors.DeclarationError
        If there is no such parameter (the message names the nearest one), or a value is not a finite number.

    Examples
    --------
    >>> import mechanisms
    >>> read_parameters(mechanisms.load("rod_on_incline"), {"mu": "4/3"})
    {'mu': 1.3333333333333333}
    """
    values = mechanism.parameter_values(texts)
    return {name: float(values[name]) for name in texts}


def impact_law(name: str, restitution: float | None, damping: float | None) -> AbstractImpactLaw:
    """The impact law of a name.

    Parameters
    ----------
    name : str
        One of ``LAWS``.
    restitution : float or None
        Coefficient of restitution of every contact, without unit; None for the declared ones.
    damping : float or None
        Of every contact, in units of the square root of a mass; None for the declared ones.

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
