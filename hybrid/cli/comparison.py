"""``painleve impact`` and ``painleve compare``: velocities after an impact, and all methods side by side.

Over two quantities ``painleve compare-map``: where they agree; ``painleve restitution``: velocity given back.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import click

from hybrid import reporting
from hybrid.cli.arguments import LAWS, FiniteRange, impact_law, parameter_option, pin_option, plot_option
from hybrid.cli.output import Answered, Json, drawn, mechanism_command, number, page_option, table, write_page
from hybrid.cli.ranges import axes_option, two_axes
from hybrid.reporting.records import plain, scalars
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType

    from hybrid.cli.output import Asked
    from hybrid.contact.impacts.impact import Impact
    from hybrid.declaration import Mechanism

__all__ = ["compare", "compare_map", "damping_option", "impact", "read_stiffnesses", "restitution"]


def read_stiffnesses(_: click.Context, option: click.Parameter, value: str | None) -> tuple[float, ...]:
    """The different numbers above 0 of an option, separated by commas; none where it is not given.

    Parameters
    ----------
    _ : click.Context
        Not looked at.
    option : click.Parameter
        Named in the message.
    value : str or None
        As typed.

    Returns
    -------
    tuple of float
        In the order given.

    Raises
    ------
    click.BadParameter
        If one is no number above 0, or is given twice.
    """
    if value is None:
        return ()
    try:
        found = tuple(float(text) for text in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"expected numbers separated by commas, got {value!r}", param=option) from error
    for K in found:
        if not 0.0 < K < float("inf"):
            raise click.BadParameter(f"a stiffness must be a number above 0, got {K:g}", param=option)
        if found.count(K) > 1:
            raise click.BadParameter(f"{K:g} is given twice", param=option)
    return found


damping_option = click.option(
    "--damping", type=FiniteRange(min=0.0), metavar="D", help="Replace the declared damping of every contact."
)


@mechanism_command("impact of {}")
@pin_option
@parameter_option
@click.option("--law", type=click.Choice(LAWS), default="newton", show_default=True, help="The impact law.")
@click.option(
    "--restitution",
    type=FiniteRange(min=0.0, max=1.0),
    metavar="E",
    help="Replace the declared coefficients of restitution (newton, poisson, energetic).",
)
@damping_option
def impact(asked: Asked, *, law: str, restitution: float | None, damping: float | None) -> Answered:
    """Velocities of MECH after an impact of its closed contacts, by an impact law."""
    from hybrid.contact import resolve_impact
    from hybrid.contact.activity import closed_contacts

    dynamics, state = asked.dynamics, asked.state
    closed_contacts(dynamics.at(asked.values), state, wanted="impact")
    found = resolve_impact(dynamics, state, law=impact_law(law, restitution, damping), parameters=asked.values)
    answer = _impact_record(asked.declared, found)
    return Answered(answer, _impact_tables(answer))


@mechanism_command("comparing on {}")
@pin_option
@parameter_option
@click.option(
    "--stiffness",
    default="1e6,1e7,1e8",
    show_default=True,
    metavar="K1,K2,...",
    callback=read_stiffnesses,
    help="Stiffnesses of the penalty runs.",
)
@damping_option
@page_option("Write a page with plots (.html), or .md, .json.")
def compare(asked: Asked, *, stiffness: tuple[float, ...], damping: float | None, output: Path | None) -> Answered:
    """What the rigid problem, the impact laws and compliant contacts say about a state of MECH."""
    from hybrid.analysis.comparison.table import compare as compare_methods
    from hybrid.reporting import build_comparison, comparison_record

    how: dict[str, Any] = {"stiffness": stiffness, "damping": damping, "parameters": asked.values}
    how |= {"progress": asked.bar.advance}
    if output is None:
        found = compare_methods(asked.dynamics, asked.state, **how)
    else:
        from hybrid.analysis.comparison.rows import number_in_full

        stiffnesses = ",".join(map(number_in_full, stiffness))
        command = asked.command_line("compare", ("--stiffness", stiffnesses), ("--damping", damping), ("-o", output))
        built = build_comparison(asked.dynamics, asked.state, **how, command=command)
        found = built.comparison
    answer = comparison_record(asked.dynamics, asked.state, found)
    where = write_page(
        output,
        html=lambda: reporting.render_comparison_html(built),
        markdown=lambda: reporting.render_comparison_markdown(built),
        record=answer,
    )
    return Answered(answer, _comparison_tables(answer), where)


def _impact_record(declared: Mechanism, found: Impact) -> dict[str, Json]:
    return {
        "law": found.law,
        "v_before": dict(zip(declared.velocities, found.v_before.tolist(), strict=True)),
        "v_after": dict(zip(declared.velocities, found.v_after.tolist(), strict=True)),
        "gap_dot_after": found.gap_dot_after,
        "slip_after": scalars(found.slip_after),
        "impulse_N": found.impulse_N,
        "impulse_T": scalars(found.impulse_T),
        "energy_change": found.energy_change,
        "phases": [attrs.asdict(phase) for phase in found.phases],
        "duration": found.duration,
        "warnings": list(found.warnings),
    }


def _shown(value: Json, size: float = 0.0) -> str:
    """A number or a pair; what is rounding of numbers of that size is 0."""
    if isinstance(value, list):
        return "(" + ", ".join(_shown(item, size) for item in value) + ")" if value else "-"
    if isinstance(value, float):
        return number(0.0 if abs(value) < NOTHING * size else value)
    return number(None) if value is None else str(value)


def _time(times: Mapping[str, float | None], name: str) -> str:
    """A time to stick; infinite ones are None in a record."""
    return "-" if name not in times else "inf" if times[name] is None else number(times[name])


def _impact_tables(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    speeds = [(name, number(before), number(answer["v_after"][name])) for name, before in answer["v_before"].items()]
    yield table(f"Impact by the {answer['law']} law", ("velocity", "before", "after"), speeds)
    size = max(abs(value) for value in answer["v_before"].values())
    rows = [
        (name, *(_shown(answer[key][name], size) for key in ("gap_dot_after", "slip_after", "impulse_N", "impulse_T")))
        for name in answer["gap_dot_after"]
    ]
    yield table("Contacts", ("contact", "gap_dot after", "slip after", "impulse_N", "impulse_T"), rows)
    phases = [(phase["kind"], number(phase["impulse_N"]), number(phase["duration"])) for phase in answer["phases"]]
    if phases:
        yield table("Phases", ("kind", "impulse_N", "duration in fast time"), phases)
    yield f"Kinetic energy changes by {number(answer['energy_change'])}."
    yield from (f"Warning: {warning}." for warning in answer["warnings"])


def _comparison_tables(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    columns = ("method", "outcome", "mode", "energy change", "error")
    rows = [
        (row["method"], row["outcome"], row["mode"], number(row["energy_change"]), number(row["error"]))
        for row in answer["rows"]
    ]
    yield table(f"{answer['mechanism']}: {answer['verdict']}", columns, rows)
    size = max((abs(value) for row in answer["rows"] for value in row["v_after"].values()), default=0.0)
    for name in sorted({name for row in answer["rows"] for name in row["gap_dot_after"]}):
        shown = [
            (
                row["method"],
                *(_shown(plain(row[key].get(name)), size) for key in ("gap_dot_after", "slip_after", "impulse_N")),
                _time(row["time_to_stick"], name),
            )
            for row in answer["rows"]
        ]
        yield table(f"Afterwards at {name}", ("method", "gap_dot", "slip", "impulse_N", "time to stick"), shown)
    if answer["observed_order"] is not None:
        low, high = answer["order_stiffness"]
        spread = answer["order_standard_error"]
        order = f"{answer['observed_order']:.3f}" + ("" if spread is None else f" +- {spread:.2g}")
        runs = f"{answer['order_runs']} runs with K = {low:g} to {high:g}"
        verb = "fall" if answer["observed_order"] < 0.0 else "do not fall: they go"
        yield f"The errors of the penalty runs {verb} as K^({order}), from {runs}."
    yield from (f"Note: {note}." for note in answer["notes"])


@mechanism_command("impacts of {}")
@click.option("--over", required=True, metavar="NAME=LOW:HIGH:CELLS", help="A coordinate or a parameter to sweep.")
@click.option(
    "--incidence",
    default="-0.45*pi:0.45*pi:180",
    show_default=True,
    metavar="LOW:HIGH:CELLS",
    help="Angles of the contact velocity to the normal, radians.",
)
@pin_option
@parameter_option
@damping_option
@plot_option("Draw the sweep")
def restitution(asked: Asked, *, over: str, incidence: str, damping: float | None, plot: Path | None) -> Answered:
    """Restitution and absorbed energy of a compliant impact of MECH over posture and incidence."""
    from hybrid.analysis import Axis
    from hybrid.analysis.comparison.restitution import restitution_map
    from hybrid.reporting.restitution import plot_restitution, restitution_record

    swept = Axis.parse(over, values=asked.resolved)
    angles = Axis.parse(f"incidence={incidence}", values=asked.resolved)
    found = restitution_map(
        asked.dynamics, over=swept, incidence=angles, pins=asked.pins, damping=damping, parameters=asked.values
    )
    written = drawn(plot, partial(plot_restitution, found), asked.dynamics)
    answer = {"mechanism": asked.declared.name, **restitution_record(found)}
    return Answered(answer, _extremes(answer), written)


def _extremes(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    rows = [
        (f"{end} {name}", number(item["value"]), ", ".join(f"{k} = {number(v)}" for k, v in item["at"].items()))
        for name, key in (("restitution", "restitution"), ("absorbed share of energy", "absorbed"))
        for end, item in answer[key].items()
    ]
    yield table(f"{answer['mechanism']}: compliant impacts", ("", "value", "at"), rows)


SHOWN = 12
"""Exceptions listed for people; all are in the JSON."""


@mechanism_command("comparing over a map of {}", "compare-map")
@axes_option
@pin_option
@parameter_option
@click.option(
    "--stiffness",
    metavar="K1,K2,...",
    callback=read_stiffnesses,
    help="Penalty runs of these stiffnesses in every cell; by default only the limit.",
)
@click.option(
    "--duration",
    type=FiniteRange(min=0.0, min_open=True),
    metavar="T",
    help="Duration of penalty runs where the rigid motion is unique; by default 12 / sqrt(least stiffness).",
)
@damping_option
@plot_option("Draw the map")
def compare_map(
    asked: Asked,
    *,
    axes: tuple[str, ...],
    stiffness: tuple[float, ...],
    duration: float | None,
    damping: float | None,
    plot: Path | None,
) -> Answered:
    """Where the rigid problem, the compliant limit and penalty runs of MECH agree over two quantities."""
    swept = two_axes(axes, asked.resolved)
    from hybrid.analysis.comparison.agreement import compare_map as compare_over

    found = compare_over(
        asked.dynamics,
        axes=swept,
        pins=asked.pins,
        damping=damping,
        stiffness=stiffness,
        duration=duration,
        parameters=asked.values,
        progress=asked.bar.advance,
    )
    written = drawn(plot, lambda **named: reporting.plot_comparison_map(found, **named), asked.dynamics)
    answer = {"mechanism": asked.declared.name, **reporting.comparison_map_record(found)}
    return Answered(answer, _description(answer), written)


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    swept = ", ".join(f"{item['name']} from {number(item['low'])} to {number(item['high'])}" for item in answer["axes"])
    yield f"{answer['mechanism']}: {answer['cells']} states, {swept}"
    yield ""
    shares = [(name, f"{share:.6f}") for name, share in answer["shares"].items()]
    yield table("Rigid verdict and compliant limit", ("cells", "share"), shares)
    if not answer["penalty"]:
        return
    columns = ["verdict", "cells", "agree", "ends in"]
    columns += [f"error at K={K:g}" for K in answer["stiffness"]] + ["order (median)"]
    rows = []
    for verdict, item in answer["penalty"].items():
        ends = ", ".join(f"{name} {count}" for name, count in item["modes"].items())
        order = number(None if item["order"] is None else item["order"]["median"])
        errors = [number(error) for error in item["errors"]]
        rows.append([verdict, str(item["cells"]), str(item.get("agree", "-")), ends, *errors, order])
    yield table(f"Penalty runs over {answer['duration']:.4g} s, or to release (errors: medians)", columns, rows)
    exceptions = answer["exceptions"]
    if exceptions:
        places = [(item["verdict"], *(number(x) for x in item["place"]), item["reason"]) for item in exceptions[:SHOWN]]
        names = [item["name"] for item in answer["axes"]]
        yield table("Cells in which penalty runs do not settle", ("verdict", *names, "why"), places)
    if len(exceptions) > SHOWN:
        yield f"... and {len(exceptions) - SHOWN} more; --json lists all."
