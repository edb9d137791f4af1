"""``painleve lint``: where the rigid contacts of a robot's motion have no solution, or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hybrid.cli.arguments import FiniteRange, json_option
from hybrid.cli.output import number, page_option, print_answer, table, write_page
from hybrid.cli.program import notify
from hybrid.progress import ProgressBar
from hybrid.reporting.wording import command_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType

__all__ = ["lint"]

_SIZE = FiniteRange(min=0.0)


@click.command()
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.option("--log", "log", metavar="FILE", help="Frames: .npz with qpos, qvel, ctrl, or .csv.")
@click.option("--contacts", metavar="FILE", help="Contacts of a model for pinocchio, with logs of q, v, tau (.toml).")
@click.option("--backend", "engine", metavar="NAME", help="What reads MODEL: mujoco, pinocchio or another backend.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N random postures in contact instead of a log.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random postures.")
@click.option("--gap", type=_SIZE, help="Largest gap (m) of a closed contact; by default 1e-3, or 1e-3 of the model.")
@click.option("--persistent", type=_SIZE, default=0.1, show_default=True, help="Normal velocity (m/s) of persistence.")
@click.option("--slip-min", type=_SIZE, default=0.05, show_default=True, help="Slip (m/s) below which contacts rest.")
@click.option("--project", is_flag=True, help="Take normal velocities away instead of leaving impacts out.")
@click.option("--static-friction", type=_SIZE, help="Static friction of all contacts; by default their friction.")
@click.option("--worst", type=click.IntRange(0), default=10, show_default=True, help="How many frames are listed.")
@click.option(
    "--standing-budget",
    "cover_budget",
    type=_SIZE,
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="For each of a sample of ten frames in which several contacts in space rest.",
)
@click.option("--no-sweep", is_flag=True, help="Do not repeat the verdicts at friction 0.4 to 2.")
@click.option("--resolve", type=int, metavar="FRAME", help="Penalty and time-stepping runs from a frame, side by side.")
@page_option("A page with the timeline and the worst frames (.html), or .md, .json.")
@click.option("--fail-below", type=_SIZE, metavar="F", help="Exit with status 1 if a critical factor is below F.")
@json_option
@click.pass_context
def lint(
    context: click.Context,
    /,
    *,
    model: str,
    log: str | None,
    contacts: str | None,
    engine: str | None,
    sample: int | None,
    seed: int,
    cover_budget: float,
    no_sweep: bool,
    resolve: int | None,
    fail_below: float | None,
    output: Path | None,
    as_json: bool,
    **limits: Any,
) -> None:
    """Where the rigid contacts of MODEL, an MJCF or URDF file, have no solution or several along a log.

    The critical factor of a frame is the number by which all friction may be multiplied until sliding contacts have no
    unique motion; below 1 the friction in force is beyond it.
    """
    if (log is None) is (sample is None):
        raise click.UsageError("Give either --log FILE or --sample N.")
    with ProgressBar(f"linting {log or model}") as bar:
        from hybrid.numeric.frames import load_model
        from hybrid.numeric.lint import FRICTIONS, lint as lint_log
        from hybrid.numeric.logs import read_log
        from hybrid.numeric.posing import Thresholds
        from hybrid.numeric.samples import sampled_log
        from hybrid.reporting.lint_page import lint_record, render_lint_html, render_lint_markdown

        backend = load_model(model, backend=engine, contacts=contacts)
        thresholds = Thresholds.of(backend, **limits)
        if sample is None:
            frames = read_log(str(log), backend)
        else:
            frames = sampled_log(backend, sample, seed=seed, thresholds=thresholds)
        report = lint_log(
            backend,
            frames,
            thresholds=thresholds,
            frictions=() if no_sweep else FRICTIONS,
            cover_budget=cover_budget,
            resolve=resolve,
            others=() if output is None else thresholds.others(),
            progress=bar.advance,
            on_interrupt="keep",
        )
        answer = lint_record(
            report,
            standing_budget=cover_budget,
            no_sweep=no_sweep,
            sample=sample,
            seed=seed,
            resolve=resolve,
            fail_below=fail_below,
        )
        if output is not None:
            places = [item.frame for item in report.worst]
            found = frames.chosen(places)
            rows = [found[k] for k in places]
            drawn: list[Any] | None = backend.pictures(rows)
            if drawn is None:
                drawn = [backend.skeleton(row, near=thresholds.gap) for row in rows]
            postures = dict(zip(places, drawn, strict=True))
            command = _command(context, model)
            write_page(
                output,
                html=lambda: render_lint_html(report, postures=postures, command=command),
                markdown=lambda: render_lint_markdown(report, command=command),
                record=answer,
            )
    for note in report.notes if as_json else ():  # the tables have them
        if note.startswith("warning: ") or note in frames.notes:
            notify(note if note.startswith("warning: ") else f"note: {note}")
    print_answer(answer, _tables(answer), as_json=as_json)
    if output is not None:
        click.echo(f"The page is in {output}.", err=as_json)
    if not report.is_complete:
        raise KeyboardInterrupt
    if fail_below is not None and report.minimum is not None and report.minimum < fail_below:
        notify(f"the least critical factor, {report.minimum:.4g}, is below {fail_below:g}")
        context.exit(1)


def _command(context: click.Context, model: str) -> str:
    """The command line with the options that were given."""
    given = [
        (option.opts[-1], context.params[option.name or ""])
        for option in context.command.params
        if option.name != "model" and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    ]
    return command_text("lint", model, given)


def _tables(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    counted, factor = answer["counted"], answer["critical_factor"]
    yield Text(f"{answer['model']}: {answer['frames']} frames, {counted} with slipping contacts only", style="bold")
    left = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in answer["left_out"].items())
    yield f"Left out: {left or 'none'}; at rest: {answer['resting']['frames']}."
    spatial_rest = answer["resting"]["standing"]
    if spatial_rest["frames"]:
        sample = ", ".join(f"{count} {verdict}" for verdict, count in spatial_rest["sample"].items())
        yield f"Several contacts in space rest in {spatial_rest['frames']} frames; of a sample {sample or 'none'}."
    if not counted:
        yield "No frame has contacts that all slip: there is nothing to count."
    else:
        shares = [(verdict, f"{100 * share:.4g} %") for verdict, share in answer["verdict_fractions"].items()]
        yield table("Slipping frames", ("verdict", "share"), shares)
        if answer["by_friction"]:
            rows = [
                (number(item["friction"]), f"{100 * item['none']:.4g} %", f"{100 * item['several']:.4g} %")
                for item in answer["by_friction"]
            ]
            yield table("At another friction of all contacts", ("friction", "no solution", "several"), rows)
        yield f"Least critical factor: {number(factor['minimum'])}."
        listed = [
            (
                str(item["frame"]),
                number(item["time"]),
                item["verdict"],
                ", ".join(item["contacts"]),
                number(item["critical_factor"]),
            )
            for item in answer["worst"]
        ]
        if listed:
            yield table("Worst frames", ("frame", "t", "verdict", "contacts", "critical factor"), listed)
    if answer["resolved"] is not None:
        yield from _resolved_tables(answer["resolved"])
    pairs = [
        (
            " / ".join(item["pair"]),
            number(item["value"]),
            *(number(value) for value in item["declared"]),
            item["source"],
        )
        for item in answer["friction_in_force"]
    ]
    if pairs:
        yield table("Friction in force", ("pair", "in force", "declared", "declared", "source"), pairs)
    for note in answer["notes"]:
        yield f"{note[0].upper()}{note[1:]}." if note.startswith("warning: ") else f"Note: {note}."
    if not answer["complete"]:
        yield "Interrupted: the frames behind are missing."


def _resolved_tables(resolved: Mapping[str, Any]) -> Iterator[RenderableType]:
    from hybrid.reporting.lint_page import RESOLVED_TITLES, resolved_rows

    yield f"From frame {resolved['frame']}, without normal velocities: {resolved['verdict']}."
    for run in resolved["runs"]:
        title = f"Largest normal force (N) at {number(run['factor'])} of the friction in force"
        yield table(title, RESOLVED_TITLES, resolved_rows(run))
