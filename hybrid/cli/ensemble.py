"""``painleve ensemble``: many motions from drawn or given starts."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hybrid import reporting
from hybrid.cli.arguments import (
    LAWS,
    OutputPath,
    declared_with,
    impact_law,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
)
from hybrid.cli.engines import engine_options, opened_engine, store_option, stored_line, was_finished
from hybrid.cli.output import drawn, number, print_answer, table
from hybrid.cli.program import ExitStatus
from hybrid.files import read_file, read_table
from hybrid.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from hybrid.analysis import Ensemble

__all__ = ["ensemble"]

_MOST_BYTES = 1 << 30
_MANY = 8192  # motions for which starting processes pays


def _needs_pyarrow(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse what could not be written before anything is computed."""
    if value is not None and find_spec("pyarrow") is None:
        raise click.BadParameter("Parquet needs pyarrow; install it with: pip install 'painleve[parquet]'")
    return value


@click.command("ensemble")
@mechanism_argument
@click.option("--vary", multiple=True, metavar="NAME=LOW:HIGH", help="A pin or a parameter that is drawn; repeatable.")
@click.option("--n", type=int, help="Number of draws.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option(
    "--starts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Given starts in place of draws: a CSV table with pins and parameters as columns.",
)
@pin_option
@parameter_option
@click.option("--t-end", type=float, required=True, metavar="T", help="When every motion ends.")
@click.option("--law", type=click.Choice(LAWS), default="energetic", show_default=True, help="The impact law.")
@click.option("--rtol", type=float, help="Relative tolerance of the integration.")
@store_option("Keep all motions and events as a Zarr group, or read them from it")
@engine_options
@plot_option("Draw how motions end, when their events are, their starts, and a phase portrait of the ends")
@click.option("--portrait", metavar="NAME", help="Coordinate of the phase portrait; by default the last one.")
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path, endings=(".parquet",)),
    metavar="FILE",
    callback=_needs_pyarrow,
    help="Write a row for every motion, and beside it a table of the events (.parquet).",
)
@json_option
def ensemble(
    *,
    mechanism: str,
    vary: tuple[str, ...],
    n: int | None,
    seed: int,
    starts: Path | None,
    pins: dict[str, str],
    parameters: dict[str, str],
    t_end: float,
    law: str,
    rtol: float | None,
    workers: int | None,
    scheduler: str | None,
    plot: Path | None,
    portrait: str | None,
    output: Path | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Follow motions of MECH from many starts, and count how they end."""
    declared, values = declared_with(mechanism, parameters)
    if portrait is not None and (plot is None or portrait not in declared.coordinates):
        known = ", ".join(declared.coordinates)
        raise click.UsageError(f"--portrait {portrait}: it needs --plot, and a coordinate, which are {known}")
    is_seeded = click.get_current_context().get_parameter_source("seed") is ParameterSource.COMMANDLINE
    if starts is not None and is_seeded:
        raise click.UsageError("--seed draws starts, which --starts gives: remove one")
    was_kept = was_finished(store)
    with ProgressBar(f"reading {store}" if was_kept else f"following motions of {declared.name}") as bar:
        from hybrid.analysis import Axis, ensemble as follow, save_ensemble
        from hybrid.dynamics import derive

        dynamics = derive(declared)

        resolved = declared.parameter_values(values)
        axes = [Axis.parse(text, values=resolved) for text in vary]
        twice = next((axis.name for axis in axes if sum(axis.name == other.name for other in axes) > 1), None)
        if twice is not None:
            raise click.UsageError(f"--vary {twice} is given twice")
        with_cells = next((axis.name for axis in axes if axis.n is not None), None)
        if with_cells is not None:
            raise click.UsageError(f"--vary {with_cells}: a range has no cells; write {with_cells}=LOW:HIGH")
        given = None if starts is None else _table(starts)
        count = n if given is None else len(next(iter(given.values()), ()))
        with opened_engine(workers, scheduler, is_long=(count or 0) >= _MANY) as engine:
            found = follow(
                dynamics,
                vary={axis.name: (axis.low, axis.high) for axis in axes} if axes or given is None else None,
                n=n,
                seed=seed,
                starts=given,
                pins=pins,
                parameters=values,
                t_end=t_end,
                law=impact_law(law, None, None),
                rtol=rtol,
                executor=engine,
                store=store,
                progress=bar.advance,
                on_interrupt="keep",
            )
        files = [] if output is None else list(save_ensemble(found, output))
        written = drawn(plot, lambda **named: reporting.plot_ensemble(found, coordinate=portrait, **named), dynamics)
    answer = {"mechanism": declared.name, **_record(found)}
    written += [f"Written to {file}." for file in files]
    written += stored_line(store, was_kept=was_kept)
    print_answer(answer, _description(answer), written, as_json=as_json)
    if found.failures:
        click.echo(f"not computed: {'; '.join(found.failures)}", err=True)
        raise click.exceptions.Exit(ExitStatus.NOT_COMPUTED)
    if found.n_missing:
        click.echo(f"interrupted: {found.n_missing} of {found.n} motions are missing", err=True)
        raise click.exceptions.Exit(ExitStatus.INTERRUPTED)


def _table(path: Path) -> dict[str, Any]:
    return read_table(read_file(path, limit=_MOST_BYTES), source=str(path), rows_are="starts")


def _record(found: Ensemble) -> dict[str, Any]:
    from hybrid.analysis import statistics

    return {
        "n": found.n,
        "seed": found.seed,
        "terminations": found.counts(found.termination),
        "verdicts": found.counts(found.verdict),
        "events": dict(found.events),
        "handed_over": sum(found.handed_over.values()),
        "handed_over_reasons": dict(found.handed_over),
        "not_started": {str(k): reason for k, reason in list(found.reasons.items())[:10]},
        "missing": found.n_missing,
        "statistics": statistics(found),
        "seconds": found.seconds,
        "compile_seconds": found.compile_seconds,
    }


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    drawn = "given" if answer["seed"] is None else f"drawn with seed {answer['seed']}"
    yield f"{answer['mechanism']}: {answer['n']} starts, {drawn}; {number(answer['seconds'])} s"
    yield ""
    for title, key in (("How motions end", "terminations"), ("Verdict at the end", "verdicts"), ("Events", "events")):
        if answer[key]:
            yield table(title, (key, "number"), [(name, str(count)) for name, count in answer[key].items()])
    if answer["statistics"]:
        rows = [
            (name, *(number(row[key]) for key in ("mean", "deviation", "q05", "median", "q95")))
            for name, row in answer["statistics"].items()
        ]
        yield table("At the ends", ("quantity", "mean", "deviation", "5 %", "median", "95 %"), rows)
    for k, reason in answer["not_started"].items():
        yield f"Start {k} is refused: {reason}"
