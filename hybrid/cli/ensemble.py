"""``painleve ensemble``: many motions from drawn or given starts."""

from __future__ import annotations

import csv
import io
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hybrid import reporting
from hybrid.cli.arguments import LAWS, Finite, impact_law, output_option, parameter_option, pin_option, plot_option
from hybrid.cli.engines import engine_options, opened_engine, resumption, store_option, stored_line, was_finished
from hybrid.cli.output import Answered, drawn, mechanism_command, number, table
from hybrid.cli.program import ExitStatus
from hybrid.cli.ranges import whole_ranges
from hybrid.csv_files import read_table
from hybrid.errors import FileError
from hybrid.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from hybrid.analysis import Axis, Ensemble
    from hybrid.cli.output import Asked

__all__ = ["ensemble"]

_MOST_BYTES = 1 << 30
_MANY = 8192  # motions for which starting processes pays


def _needs_pyarrow(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Refuse what could not be written before anything is computed."""
    if value is not None and find_spec("pyarrow") is None:
        raise click.BadParameter("Parquet needs pyarrow; install it with: pip install 'painleve[parquet]'")
    return value


@mechanism_command("following motions of {}")
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
@click.option("--t-end", type=Finite(), required=True, metavar="T", help="When every motion ends.")
@click.option("--law", type=click.Choice(LAWS), default="energetic", show_default=True, help="The impact law.")
@click.option("--rtol", type=Finite(), help="Relative tolerance of the integration.")
@store_option("Keep all motions and events as a Zarr group, or read them from it")
@engine_options
@plot_option("Draw how motions end, when their events are, their starts, and a phase portrait of the ends")
@click.option("--portrait", metavar="NAME", help="Coordinate of the phase portrait; by default the last one.")
@output_option(
    ".parquet",
    callback=_needs_pyarrow,
    shown="Write a row for every motion, and beside it a table of the events (.parquet).",
)
def ensemble(
    asked: Asked,
    *,
    vary: tuple[str, ...],
    n: int | None,
    starts: Path | None,
    law: str,
    workers: int | None,
    scheduler: str | None,
    plot: Path | None,
    portrait: str | None,
    output: Path | None,
    store: Path | None,
    **how: Any,
) -> Answered:
    """Follow motions of MECH from many starts, and count how they end."""
    if portrait is not None and (plot is None or portrait not in asked.declared.coordinates):
        known = ", ".join(asked.declared.coordinates)
        raise click.UsageError(f"--portrait {portrait}: it needs --plot, and a coordinate, which are {known}")
    is_seeded = click.get_current_context().get_parameter_source("seed") is ParameterSource.COMMANDLINE
    if starts is not None and is_seeded:
        raise click.UsageError("--seed draws starts, which --starts gives: remove one")
    was_kept = was_finished(store)
    from hybrid.analysis import ensemble as follow, save_ensemble

    axes = _varied(asked, vary)
    given = None if starts is None else _table(starts)
    count = n if given is None else len(next(iter(given.values()), ()))
    with opened_engine(workers, scheduler, is_long=(count or 0) >= _MANY) as engine:
        found = follow(
            asked.dynamics,
            vary={axis.name: (axis.low, axis.high) for axis in axes} if axes or given is None else None,
            n=n,
            starts=given,
            pins=asked.pins,
            parameters=asked.values,
            law=impact_law(law),
            executor=engine,
            store=store,
            progress=asked.bar.advance,
            on_interrupt="keep",
            **how,
        )
    is_empty = found.n_missing == found.n  # there is nothing to write or draw
    files = [] if output is None or is_empty else list(save_ensemble(found, output))
    picture = None if is_empty else plot
    written = drawn(
        picture, lambda **named: reporting.plot_ensemble(found, coordinate=portrait, **named), asked.dynamics
    )
    written += [f"Written to {file}." for file in files]
    written += stored_line(store, was_kept=was_kept)
    answer = {"mechanism": asked.declared.name, **_record(found), "notes": list(found.warnings)}
    ending = None
    if found.failures:
        ending = (ExitStatus.NOT_COMPUTED, f"not computed: {'; '.join(found.failures)}")
    elif found.n_missing:
        missing = f"{found.n_missing} of {found.n} motions are missing"
        if is_empty:
            left = [word for word, file in (("drawn", plot), ("written", output)) if file is not None]
            missing = f"no motion was finished of {found.n}" + (f", and none is {' or '.join(left)}" if left else "")
        ending = (ExitStatus.INTERRUPTED, f"interrupted: {missing}; {resumption(store)}")
    return Answered(answer, _description(answer), written, ending)


def _varied(asked: Asked, texts: tuple[str, ...]) -> list[Axis]:
    """The ranges of ``--vary``, each of another quantity."""
    axes = whole_ranges("--vary", texts, asked.resolved, what="a range")
    twice = next((axis.name for axis in axes if sum(axis.name == other.name for other in axes) > 1), None)
    if twice is not None:
        raise click.UsageError(f"--vary {twice} is given twice")
    return axes


_LIMIT = re.compile(r"[+-]0(\.0*)?")


def _table(path: Path) -> dict[str, Any]:
    """The starts of a file; a zero with a sign, which as a pin is the limit of vanishing slip, is none of them."""
    data = read_file(path, limit=_MOST_BYTES)
    found = read_table(data, source=str(path), rows_are="starts")
    slips = [place for place, name in enumerate(found) if name.startswith("slip.")]
    if slips and re.search(rb"[+-]0(\.0*)?\s*[,\r\n]|[+-]0(\.0*)?\s*$", data):
        lines = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        for row in filter(None, lines):
            limit = next((row[place].strip() for place in slips if _LIMIT.fullmatch(row[place].strip())), None)
            if limit is not None:
                advice = "a limit of vanishing slip is that of all starts, as by --pin"
                raise FileError(f"line {lines.line_num}: a slip of {limit} is no number; {advice}", str(path))
    return found


def _record(found: Ensemble) -> dict[str, Any]:
    from hybrid.analysis import statistics

    return {
        "n": found.n,
        "seed": found.seed,
        "terminations": found.counts(found.termination),
        "verdicts": found.counts(found.verdict),
        "events": dict(found.events),
        "handed_over": sum(found.singled_out.values()),
        "handed_over_reasons": dict(found.singled_out),
        "not_started": {str(k): reason for k, reason in list(found.reasons.items())[:10]},
        "missing": found.n_missing,
        "complete": not found.n_missing,
        "statistics": statistics(found),
        "seconds": found.seconds,
        "compile_seconds": found.compile_seconds,
    }


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    drawn = "given" if answer["seed"] is None else f"drawn with seed {answer['seed']}"
    yield f"{answer['mechanism']}: {answer['n']} starts, {drawn}; {number(answer['seconds'])} s"
    if answer["handed_over"]:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in answer["handed_over_reasons"].items())
        yield f"{answer['handed_over']} of them were followed one by one, which takes longer: {reasons}."
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
    yield from (f"Note: {note}" for note in answer["notes"])
