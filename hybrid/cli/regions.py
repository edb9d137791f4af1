"""``painleve map``: verdicts over two quantities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    axes_option,
    branch_option,
    declared_with,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
    plot_style_option,
    two_axes,
)
from hybrid.cli.engines import engine_options, opened_engine, store_option, stored_line, was_finished
from hybrid.cli.output import number, print_answer, table
from hybrid.cli.program import ExitStatus
from hybrid.progress import ProgressBar, interruptible
from hybrid.reporting.branches import branch_sentences, map_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from hybrid.analysis import RegionMap
    from hybrid.dynamics import Dynamics
    from hybrid.motion import Trajectory
    from hybrid.reporting.figures import StyleName

__all__ = ["map_"]

_SHOWN = 5


@click.command("map")
@mechanism_argument
@axes_option
@pin_option
@parameter_option
@branch_option
@plot_option("Draw the map, its boundaries refined")
@plot_style_option
@click.option(
    "--motion",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw a motion over the map, as `simulate -o FILE` keeps it; needs --plot.",
)
@store_option("Keep every cell as a Zarr group, or read them from it")
@engine_options
@json_option
def map_(
    *,
    mechanism: str,
    axes: tuple[str, ...],
    pins: dict[str, str],
    parameters: dict[str, str],
    branch: dict[str, str],
    plot: Path | None,
    plot_style: StyleName,
    motion: Path | None,
    store: Path | None,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Which modes of MECH are consistent over two quantities."""
    if plot is not None and store is not None and plot.resolve() == store.resolve():
        raise click.UsageError(f"--plot and --store both name {plot}")
    if motion is not None and plot is None:
        raise click.UsageError("--motion is drawn over the map: it needs --plot FILE")
    declared, values = declared_with(mechanism, parameters)
    was_kept = was_finished(store)
    with ProgressBar(f"reading {store}" if was_kept else f"mapping {declared.name}") as bar:
        swept = two_axes(axes, declared.parameter_values(values))
        from hybrid.analysis import region_map
        from hybrid.dynamics import derive

        dynamics = derive(declared)
        drawn_over = None if motion is None else _motion_of(motion, dynamics, values)
        with opened_engine(workers, scheduler, is_long=False) as engine:
            found = region_map(
                dynamics,
                axes=swept,
                pins=pins,
                parameters=values,
                branch=branch,
                with_boundaries=plot is not None,
                progress=bar.advance,
                executor=engine,
                store=store,
                on_interrupt="keep",
            )
        is_drawn = plot is None or _draw(dynamics, found, plot, plot_style, drawn_over)
    answer = {"mechanism": declared.name, **map_record(found)}
    print_answer(
        answer, _description(answer), _written(plot if is_drawn else None, store, was_kept=was_kept), as_json=as_json
    )
    if found.failures:
        for failure in found.failures[:_SHOWN]:
            click.echo(f"not computed: {failure}", err=True)
        more = len(found.failures) - _SHOWN
        if more > 0:
            click.echo(f"... and {more} more", err=True)
        raise click.exceptions.Exit(ExitStatus.NOT_COMPUTED)
    if not found.is_complete:
        click.echo(f"interrupted: {found.n_missing} of {found.cells} cells are missing", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)
    if not is_drawn:
        click.echo("interrupted: the map is not drawn", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)


def _motion_of(path: Path, dynamics: Dynamics, values: Mapping[str, float]) -> Trajectory:
    """A motion of the map's mechanism and parameters; that of others has other regions."""
    from hybrid.motion import load

    found = load(path)
    if found.dynamics.mechanism != dynamics.mechanism:
        raise click.UsageError(f"{path} holds a motion of another mechanism, {found.dynamics.name}")
    of_map, of_motion = (dynamics.mechanism.parameter_values(given) for given in (values, found.parameters))
    others = [f"{name} = {of_motion[name]:g}" for name in of_map if of_map[name] != of_motion[name]]
    if others:
        raise click.UsageError(f"{path} holds a motion with {', '.join(others)}: give the map the same by --param")
    return found


def _draw(dynamics: Dynamics, found: RegionMap, path: Path, style: StyleName, motion: Trajectory | None) -> bool:
    """Draw a map; False after an interrupt, which does not take away what was computed."""
    from hybrid.analysis.maps.axes import quantities_with_units
    from hybrid.reporting.figures import STYLES, save_figure
    from hybrid.reporting.plot import plot_map

    try:
        with interruptible(keeps=True):
            title = dynamics.mechanism.title if STYLES[style].has_title else ""
            units = quantities_with_units(dynamics)
            save_figure(plot_map(found, units=units, title=title, motion=motion, style=style), path)
    except KeyboardInterrupt:
        return False
    return True


def _written(plot: Path | None, store: Path | None, *, was_kept: bool) -> Iterator[str]:
    if plot is not None:
        yield f"Drawn in {plot}."
    yield from stored_line(store, was_kept=was_kept)


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    swept = ", ".join(f"{item['name']} from {number(item['low'])} to {number(item['high'])}" for item in answer["axes"])
    missing = f", of which {answer['missing']} are missing" if answer["missing"] else ""
    yield f"{answer['mechanism']}: {answer['cells']} states{missing}, {swept}"
    yield ""
    for title, key in (("verdict", "verdict_fractions"), ("consistent modes", "mode_fractions")):
        rows = [(name, f"{share:.6f}") for name, share in answer[key].items()]
        yield table(f"Shares by {title}", (title, "share"), rows)
    yield from branch_sentences(answer["branch"])
