"""``painleve sensitivity``: the derivative of a functional of a motion through its events."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import LAWS, Finite, impact_law, parameter_option, pin_option, plot_option
from hybrid.cli.output import Answered, mechanism_command, number, page_option, table, write_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType

    from hybrid.cli.output import Asked

__all__ = ["sensitivity"]


def _names(_: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(text.strip() for text in value.split(",") if text.strip())
    if not names:
        raise click.BadParameter("expected names separated by commas", param=option)
    return names


@mechanism_command("sensitivity of {}")
@pin_option
@parameter_option
@click.option("--t-end", type=Finite(), required=True, metavar="T", help="When the motion ends.")
@click.option("--functional", metavar="EXPR", help="Integrated over time, for example 'q1_dot**2'.")
@click.option("--terminal", metavar="EXPR", help="Added at the end of the motion.")
@click.option(
    "--wrt",
    "names",
    required=True,
    metavar="NAME,...",
    callback=_names,
    help="Parameters and pins to differentiate with respect to.",
)
@click.option(
    "--law", type=click.Choice(LAWS), default="energetic", show_default=True, help="The law that decides impacts."
)
@click.option(
    "--check/--no-check",
    default=True,
    show_default=True,
    help="Also by tangents carried forwards, and by differences of neighbouring motions.",
)
@plot_option("Draw the gradient as a tornado")
@page_option("Write a page with table and plot (.html), or .md, .json.")
def sensitivity(
    asked: Asked,
    *,
    t_end: float,
    functional: str | None,
    terminal: str | None,
    names: tuple[str, ...],
    law: str,
    check: bool,
    plot: Path | None,
    output: Path | None,
) -> Answered:
    """Differentiate a functional of a motion of MECH, exactly through impacts, release and stick-slip."""
    if functional is None and terminal is None:
        raise click.UsageError("nothing to differentiate: give --functional or --terminal")
    from hybrid.analysis import Functional
    from hybrid.analysis.sensitivities.gradient import sensitivity as differentiate
    from hybrid.analysis.sensitivities.start_slopes import base_values
    from hybrid.motion import simulate
    from hybrid.reporting.render_sensitivity import (
        SensitivityReport,
        plot_tornado,
        render_sensitivity_html,
        render_sensitivity_markdown,
        sensitivity_record,
    )

    motion = simulate(asked.dynamics, asked.state, t_end=t_end, parameters=asked.values, law=impact_law(law))
    chosen = {"integrand": functional, "terminal": terminal}
    quantity = Functional(**{name: text for name, text in chosen.items() if text is not None})
    found = differentiate(motion, quantity, names, pins=asked.pins, check=check)
    options: list[tuple[str, Any]] = [
        ("--t-end", t_end),
        ("--functional", functional),
        ("--terminal", terminal),
        ("--wrt", ",".join(names)),
    ]
    options += [("--law", law), ("--no-check", None if check else True), ("-o", output)]
    again = asked.command_line("sensitivity", *options)
    base = base_values(motion, names, pins=asked.pins)
    report = SensitivityReport(motion, found, base, again, metadata.version("painleve"))
    answer = sensitivity_record(report)
    if plot is not None:
        from hybrid.reporting import save_figure

        save_figure(plot_tornado(report), plot)
    where = write_page(
        output,
        html=lambda: render_sensitivity_html(report),
        markdown=lambda: render_sensitivity_markdown(report),
        record=answer,
    )
    return Answered(answer, _tables(answer), where)


def _tables(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    refusal, check = answer["refusal"], answer["check"]
    if refusal is not None:
        yield f"{answer['mechanism']}: {refusal['verdict']}: at t = {refusal['t']:.10g}, {refusal['reason']}."
    else:
        yield f"{answer['mechanism']}: the functional is {answer['value']:.12g} at t = {answer['t_end']:.10g}"
        rows = [
            (
                name,
                f"{slope:.12g}",
                _shown(check["forward"].get(name)),
                _shown(check["finite_difference"].get(name)),
            )
            for name, slope in answer["gradient"].items()
        ]
        yield table("Gradient", ["with respect to", "adjoint", "forward", "differences"], rows)
        for name, item in answer["refusals"].items():
            yield f"With respect to {name}: {item['verdict']}: at t = {item['t']:.10g}, {item['reason']}."
        if check["forward"]:
            yield f"Adjoint and forward differ by {number(check['disagreement'])} of the largest derivative."
            if check["deviation"] is not None:
                yield f"Differences of simulated motions deviate by {number(check['deviation'])} of it."
            yield from (f"Warning: {text}." for text in check["warnings"])
    events = [(f"{event['t']:.10g}", event["kind"], event["contact"]) for event in answer["events"]]
    if events:
        yield table("Events", ["t", "event", "contact"], events)
    yield from (f"Note: {note}." for note in answer["notes"])


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.12g}"
