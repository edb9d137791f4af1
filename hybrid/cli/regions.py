"""``painleve map``: verdicts over two quantities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import branch_option, parameter_option, pin_option, plot_option, plot_style_option
from hybrid.cli.engines import engine_options, opened_engine, resumption, store_option, stored_line, was_finished
from hybrid.cli.output import Answered, mechanism_command, number, table
from hybrid.cli.program import ExitStatus
from hybrid.cli.ranges import axes_option, two_axes
from hybrid.progress import comes_to_its_end
from hybrid.reporting.branches import branch_sentences, map_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from hybrid.analysis import RegionMap
    from hybrid.cli.output import Asked
    from hybrid.dynamics import Dynamics
    from hybrid.dynamics.derive import Values
    from hybrid.motion import Trajectory
    from hybrid.reporting.figures import StyleName

__all__ = ["map_"]

_SHOWN = 5


@mechanism_command("mapping {}", "map")
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
def map_(
    asked: Asked,
    *,
    axes: tuple[str, ...],
    plot: Path | None,
    plot_style: StyleName,
    motion: Path | None,
    store: Path | None,
    workers: int | None,
    scheduler: str | None,
) -> Answered:
    """Which modes of MECH are consistent over two quantities."""
    if plot is not None and store is not None and plot.resolve() == store.resolve():
        raise click.UsageError(f"--plot and --store both name {plot}")
    if motion is not None and plot is None:
        raise click.UsageError("--motion is drawn over the map: it needs --plot FILE")
    was_kept = was_finished(store)
    swept = two_axes(axes, asked.resolved)
    from hybrid.analysis import region_map

    dynamics = asked.dynamics
    drawn_over = None if motion is None else _motion_of(motion, dynamics, asked.values)
    with opened_engine(workers, scheduler, is_long=False) as engine:
        found = region_map(
            dynamics,
            axes=swept,
            pins=asked.pins,
            parameters=asked.values,
            branch=asked.branch,
            with_boundaries=plot is not None,
            progress=asked.bar.advance,
            executor=engine,
            store=store,
            on_interrupt="keep",
        )
    answer = {"mechanism": asked.declared.name, **map_record(found)}
    if not found.regions:
        nothing = f"interrupted before the first of {found.cells} cells was computed: there is nothing to draw or keep"
        return Answered(answer, _description(answer), (), (ExitStatus.INTERRUPTED, nothing))
    is_drawn = plot is None or _draw(dynamics, found, plot, plot_style, drawn_over)
    written = _written(plot if is_drawn else None, store, was_kept=was_kept)
    return Answered(answer, _description(answer), written, _ending(found, store, is_drawn=is_drawn))


def _ending(found: RegionMap, store: Path | None, *, is_drawn: bool) -> tuple[ExitStatus, str] | None:
    """What keeps a map from being whole."""
    if found.failures:
        lines = [f"not computed: {failure}" for failure in found.failures[:_SHOWN]]
        more = len(found.failures) - _SHOWN
        lines += [f"... and {more} more"] if more > 0 else []
        return ExitStatus.NOT_COMPUTED, "\n".join(lines)
    if not found.is_complete:
        missing = f"{found.n_missing} of {found.cells} cells" if found.n_missing else "the curves between regions"
        return ExitStatus.INTERRUPTED, f"interrupted: {missing} are missing; {resumption(store)}"
    return None if is_drawn else (ExitStatus.INTERRUPTED, "interrupted: the map is not drawn")


def _motion_of(path: Path, dynamics: Dynamics, values: Values) -> Trajectory:
    """A motion of the map's mechanism and parameters; that of others has other regions."""
    from hybrid.motion import load

    found = load(path)
    if found.dynamics.mechanism != dynamics.mechanism:
        raise click.UsageError(f"{path} holds a motion of another mechanism, {found.dynamics.name}")
    of_map, of_motion = (dynamics.at(given).values for given in (values, found.parameters))
    others = [f"{name} = {of_motion[name]:g}" for name in of_map if of_map[name] != of_motion[name]]
    if others:
        raise click.UsageError(f"{path} holds a motion with {', '.join(others)}: give the map the same by --param")
    return found


def _draw(dynamics: Dynamics, found: RegionMap, path: Path, style: StyleName, motion: Trajectory | None) -> bool:
    """Draw a map; False after an interrupt, which does not take away what was computed."""
    from hybrid.analysis.maps.axes import quantities_with_units
    from hybrid.reporting.figures import STYLES, save_figure
    from hybrid.reporting.plot import plot_map

    def draw() -> None:
        title = dynamics.mechanism.title if STYLES[style].has_title else ""
        units = quantities_with_units(dynamics)
        save_figure(plot_map(found, units=units, title=title, motion=motion, style=style), path)

    return comes_to_its_end(draw, keeps=True)


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
        if rows:
            yield table(f"Shares by {title}", (title, "share"), rows)
    yield from branch_sentences(answer["branch"])
