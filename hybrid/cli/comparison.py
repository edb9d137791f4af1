"""``painleve impact`` and ``painleve compare``: velocities after an impact, and all methods side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from hybrid.cli.arguments import (
    LAWS,
    FiniteRange,
    impact_law,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
    read_parameters,
)
from hybrid.cli.loading import load_mechanism
from hybrid.cli.output import Json, command_as_written, number, page_option, print_answer, table, write_page
from hybrid.progress import ProgressBar
from hybrid.reporting.records import plain
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType

    from hybrid.contact.impacts.impact import Impact
    from hybrid.declaration import Mechanism

__all__ = ["compare", "damping_option", "impact", "read_stiffnesses"]


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


@click.command()
@mechanism_argument
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
@json_option
def impact(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    law: str,
    restitution: float | None,
    damping: float | None,
    as_json: bool,
) -> None:
    """Velocities of MECH after an impact of its closed contacts, by an impact law."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"impact of {declared.name}"):
        from hybrid.contact import resolve_impact
        from hybrid.contact.activity import closed_contacts
        from hybrid.dynamics import derive, solve_state

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values)
        closed_contacts(dynamics.at(values), state, wanted="impact")
        found = resolve_impact(dynamics, state, law=impact_law(law, restitution, damping), parameters=values)
        answer = _impact_record(declared, found)
    print_answer(answer, _impact_tables(answer), as_json=as_json)


@click.command()
@mechanism_argument
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
@json_option
def compare(
    *,
    mechanism: str,
    pins: dict[str, str],
    parameters: dict[str, str],
    stiffness: tuple[float, ...],
    damping: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """What the rigid problem, the impact laws and compliant contacts say about a state of MECH."""
    declared = load_mechanism(mechanism)
    values = read_parameters(declared, parameters)
    with ProgressBar(f"comparing on {declared.name}") as bar:
        from hybrid.analysis.comparison.table import compare as compare_methods
        from hybrid.dynamics import derive, solve_state
        from hybrid.reporting import (
            build_comparison,
            comparison_record,
            render_comparison_html,
            render_comparison_markdown,
        )

        dynamics = derive(declared)
        state = solve_state(dynamics, pins, parameters=values)
        asked: dict[str, Any] = {"stiffness": stiffness, "damping": damping, "parameters": values}
        asked |= {"progress": bar.advance}
        if output is None:
            found = compare_methods(dynamics, state, **asked)
        else:
            from hybrid.analysis.comparison.rows import number_in_full

            options = ["--stiffness", ",".join(map(number_in_full, stiffness))]
            options += [] if damping is None else ["--damping", repr(damping)]
            command = command_as_written(
                "compare", mechanism, parameters=parameters, pins=pins, options=options, output=output
            )
            built = build_comparison(dynamics, state, **asked, command=command)
            found = built.comparison
        answer = comparison_record(dynamics, state, found)
        if output is not None:
            write_page(
                output,
                html=lambda: render_comparison_html(built),
                markdown=lambda: render_comparison_markdown(built),
                record=answer,
            )
    where = [] if output is None else ["", f"The page is in {output}."]
    print_answer(answer, _comparison_tables(answer), where, as_json=as_json)


def _tangential(values: Mapping[str, tuple[float, ...]]) -> dict[str, Json]:
    """Planar quantities as numbers, spatial ones as lists."""
    return {name: value[0] if len(value) == 1 else list(value) for name, value in values.items()}


def _impact_record(declared: Mechanism, found: Impact) -> dict[str, Json]:
    return {
        "law": found.law,
        "v_before": dict(zip(declared.velocities, found.v_before.tolist(), strict=True)),
        "v_after": dict(zip(declared.velocities, found.v_after.tolist(), strict=True)),
        "gap_dot_after": found.gap_dot_after,
        "slip_after": _tangential(found.slip_after),
        "impulse_N": found.impulse_N,
        "impulse_T": _tangential(found.impulse_T),
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
        yield f"The errors of the penalty runs fall as K^({order}), from {runs}."
    yield from (f"Note: {note}." for note in answer["notes"])
