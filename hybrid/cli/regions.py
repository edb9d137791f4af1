"""``painleve map``: verdicts over two quantities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    OutputPath,
    axes_option,
    branch_option,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    read_parameters,
    two_axes,
)
from hybrid.cli.boundary import ExitStatus
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import number, print_answer, table
from hybrid.cli.progress import ProgressBar
from hybrid.interrupts import interruptible
from hybrid.reporting.branches import branch_sentences
from hybrid.reporting.records import map_record

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.analysis import RegionMap
    from hybrid.declaration import Mechanism
    from hybrid.dynamics import Dynamics

__all__ = ["map_"]


def _new_folder(_: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    """A folder that a map can be kept in, or the reason why not, before anything is computed."""
    if folder is None:
        return None
    if folder.exists() and any(folder.iterdir()):
        raise click.BadParameter(f"{folder} exists already: choose another folder, or remove it", param=option)
    missing = [name for name in ("xarray", "zarr") if find_spec(name) is None]
    if missing:
        advice = "install it with: pip install 'painleve[store]'"
        raise click.BadParameter(f"keeping a map needs {' and '.join(missing)}; {advice}", param=option)
    return folder


@click.command("map")
@mechanism_argument
@axes_option
@pin_option
@parameter_option
@branch_option
@plot_option("Draw the map, its boundaries refined")
@click.option(
    "--store",
    type=OutputPath(file_okay=False, path_type=Path),
    metavar="DIR",
    callback=_new_folder,
    help="Keep every cell as a Zarr group in a new folder; after Ctrl-C, what was computed.",
)
@json_option
def map_(
    *,
    mechanism: str,
    axes: tuple[str, ...],
    pins: dict[str, str],
    parameters: dict[str, str],
    branch: dict[str, str],
    plot: Path | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Which modes of MECH are consistent over two quantities."""
    if plot is not None and store is not None and plot.resolve() == store.resolve():
        raise click.UsageError(f"--plot and --store both name {plot}")
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"mapping {declared.name}") as bar:
        swept = two_axes(axes, declared.parameter_values(values))
        from hybrid.analysis import region_map
        from hybrid.dynamics import derive

        dynamics = derive(declared)
        found = region_map(
            dynamics,
            axes=swept,
            pins=pins,
            parameters=values,
            branch=branch,
            with_boundaries=plot is not None,
            progress=bar.advance,
            on_interrupt="keep",
        )
        if store is not None:  # first, in case the picture fails
            _keep(declared, found, pins=pins, parameters=values, folder=store)
        is_drawn = plot is None or _draw(dynamics, found, plot)
    answer = {"mechanism": declared.name, **map_record(found)}
    print_answer(answer, _description(answer), _written(plot if is_drawn else None, store), as_json=as_json)
    if not found.is_complete:
        click.echo(f"interrupted: {found.n_missing} of {found.cells} cells are missing", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)
    if not is_drawn:
        click.echo("interrupted: the map is not drawn", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)


def _keep(
    mechanism: Mechanism,
    found: RegionMap,
    *,
    pins: Mapping[str, str],
    parameters: Mapping[str, float],
    folder: Path,
) -> None:
    from hybrid.analysis.maps.store import save_map
    from hybrid.declaration import mechanism_to_toml

    about = {
        "mechanism": mechanism.name,
        "declaration": mechanism_to_toml(mechanism),
        "pins": dict(pins),
        "parameters": dict(parameters),
    }
    save_map(found, folder, about=about)


def _draw(dynamics: Dynamics, found: RegionMap, path: Path) -> bool:
    """Draw a map; False after an interrupt, which does not take away what was computed."""
    from hybrid.reporting.labelling import quantities_with_units
    from hybrid.reporting.plot import plot_map, save_figure

    try:
        with interruptible(keeps=True):
            units = quantities_with_units(dynamics)
            save_figure(plot_map(found, units=units, title=dynamics.mechanism.title), path)
    except KeyboardInterrupt:
        return False
    return True


def _written(plot: Path | None, store: Path | None) -> Iterator[str]:
    if plot is not None:
        yield f"Drawn in {plot}."
    if store is not None:
        yield f"Kept in {store}."


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    swept = ", ".join(f"{item['name']} from {number(item['low'])} to {number(item['high'])}" for item in answer["axes"])
    missing = f", of which {answer['missing']} are missing" if answer["missing"] else ""
    yield f"{answer['mechanism']}: {answer['cells']} states{missing}, {swept}"
    yield ""
    for title, key in (("verdict", "verdict_fractions"), ("consistent modes", "mode_fractions")):
        rows = [(name, f"{share:.6f}") for name, share in answer[key].items()]
        yield table(f"Shares by {title}", (title, "share"), rows)
    yield from branch_sentences(answer["branch"])
