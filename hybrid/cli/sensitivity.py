"""``painleve sensitivity``: the derivative of a functional of a motion through its events."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    LAWS,
    declared_with,
    impact_law,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    plot_option,
)
from hybrid.cli.output import command_as_written, number, page_option, print_answer, table, write_page
from hybrid.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType


__all__ = ["sensitivity"]


def _names(_: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(text.strip() for text in value.split(",") if text.strip())
    if not names:
        raise click.BadParameter("expected names separated by commas", param=option)
    return names


@click.command()
@mechanism_argument
@pin_option
@parameter_option
@click.option("--t-end", type=float, required=True, metavar="T", help="When the motion ends.")
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
@json_option
def sensitivity(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    t_end: float,
    functional: str | None,
    terminal: str | None,
    names: tuple[str, ...],
    law: str,
    check: bool,
    plot: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Differentiate a functional of a motion of MECH, exactly through impacts, release and stick-slip."""
    if functional is None and terminal is None:
        raise click.UsageError("nothing to differentiate: give --functional or --terminal")
    declared, values = declared_with(mechanism, parameters)
    with ProgressBar(f"sensitivity of {declared.name}"):
        from hybrid.analysis import Functional
        from hybrid.analysis.sensitivities.gradient import sensitivity as differentiate
        from hybrid.analysis.sensitivities.start_slopes import base_values
        from hybrid.dynamics import derive, solve_state
        from hybrid.motion import simulate
        from hybrid.reporting.render_sensitivity import (
            SensitivityReport,
            plot_tornado,
            render_sensitivity_html,
            render_sensitivity_markdown,
            sensitivity_record,
        )

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values)
        motion = simulate(dynamics, state, t_end=t_end, parameters=values, law=impact_law(law, None, None))
        chosen = {"integrand": functional, "terminal": terminal}
        quantity = Functional(**{name: text for name, text in chosen.items() if text is not None})
        found = differentiate(motion, quantity, names, pins=pins, check=check)
        options = ["--t-end", f"{t_end!r}"]
        options += [] if functional is None else ["--functional", functional]
        options += [] if terminal is None else ["--terminal", terminal]
        options += ["--wrt", ",".join(names), "--law", law, *([] if check else ["--no-check"])]
        again = command_as_written(
            "sensitivity", mechanism, parameters=parameters, pins=pins, options=options, output=output
        )
        base = base_values(motion, names, pins=pins)
        report = SensitivityReport(motion, found, base, again, metadata.version("painleve"))
        answer = sensitivity_record(report)
        if plot is not None:
            from hybrid.reporting import save_figure

            save_figure(plot_tornado(report), plot)
        if output is not None:
            write_page(
                output,
                html=lambda: render_sensitivity_html(report),
                markdown=lambda: render_sensitivity_markdown(report),
                record=answer,
            )
    where = [] if output is None else ["", f"The page is in {output}."]
    print_answer(answer, _tables(answer), where, as_json=as_json)


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
