"""``painleve verdict``: which contact modes are consistent at a state, as tables for people or as JSON.

``painleve report``: everything that is known about a state, on one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from hybrid.cli.arguments import (
    FiniteRange,
    branch_option,
    parameter_option,
    pin_option,
    plot_option,
    plot_style_option,
)
from hybrid.cli.output import Answered, mechanism_command, number, page_option, page_path, table, write_page
from hybrid.cli.program import ExitStatus
from hybrid.declaration.units import inequality_unit
from hybrid.reporting.records import numeric_verdict_record, verdict_record
from hybrid.tolerances import CANCELLED

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.cli.output import Asked
    from hybrid.contact import Selection
    from hybrid.declaration.units import Units
    from hybrid.dynamics import Dynamics
    from hybrid.reporting.figures import StyleName

__all__ = ["report", "verdict", "verdict_tables"]


Solver = Literal["enumeration", "lemke", "gauss"]


def _decide_numbers(
    path: str,
    *,
    solver: Solver,
    cover_budget: float,
    pins: dict[str, str],
    parameters: dict[str, str],
    branch: dict[str, str],
    plot: Path | None,
    plot_style: StyleName,
) -> Answered:
    """The verdict of a state that a file holds in numbers."""
    if pins or parameters or branch or plot:
        raise click.UsageError(f"{path} is a state in numbers: it takes no --pin, --param, --branch or --plot")
    from hybrid.declaration.units import Units
    from hybrid.numeric import read_state, select

    state = read_state(path)
    answer = numeric_verdict_record(state, select(state, solver=solver, cover_budget=cover_budget))
    return Answered(answer, verdict_tables(answer, Units.none()))


@mechanism_command("deciding {}", numbers=_decide_numbers)
@pin_option
@parameter_option
@branch_option
@click.option(
    "--solver",
    type=click.Choice(get_args(Solver)),
    default="enumeration",
    show_default=True,
    help="How the modes are found; only enumeration finds all.",
)
@click.option(
    "--standing-budget",
    "cover_budget",
    type=FiniteRange(min=0.0),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="For several spatial contacts at rest, whose motions are divided until all parts are decided.",
)
@plot_option("Draw the friction cone of every contact with the forces of the consistent modes in it")
@plot_style_option
def verdict(asked: Asked, *, solver: Solver, cover_budget: float, plot: Path | None, plot_style: StyleName) -> Answered:
    """Which contact modes of MECH are consistent at a state: one, several, or none, with evidence.

    A file that ends in .json is a state in numbers, as an engine writes it with hybrid.numeric.capture; it takes no
    pins.
    """
    from hybrid.contact import select

    dynamics, state = asked.dynamics, asked.state
    # as texts: 4/3 is known exactly, its float is not
    selection = select(dynamics, state, parameters=asked.parameters, solver=solver, cover_budget=cover_budget)
    answer = verdict_record(dynamics, state, selection, parameters=asked.values)
    drawn = [] if plot is None else _draw(selection, dynamics, plot, plot_style)
    return Answered(answer, verdict_tables(answer, asked.declared.units()), drawn)


def _draw(selection: Selection, dynamics: Dynamics, path: Path, style: StyleName) -> list[str]:
    """Draw the friction cones; what to say of it."""
    from hybrid.reporting import friction_cones, plot_cones, save_figure
    from hybrid.reporting.figures import STYLES

    cones = friction_cones(selection)
    if not cones:
        raise click.UsageError(f"--plot: no contact of {dynamics.name} that touches at this state has friction")
    title = dynamics.mechanism.title if STYLES[style].has_title else ""
    save_figure(plot_cones(cones, units=dynamics.mechanism.units().forces, title=title, style=style), path)
    return [f"Drawn in {path}."]


Answer = Mapping[str, Any]
Names = Mapping[str, Mapping[str, str]]


def verdict_tables(answer: Answer, units: Units) -> Iterator[RenderableType]:
    """What :func:`hybrid.reporting.records.verdict_record` found, laid out for the console.

    Parameters
    ----------
    answer : mapping
    units : Units
        Of the quantities in it.

    Returns
    -------
    iterator of str or rich table
        In the order of reading.
    """
    from rich.text import Text

    named = units.tables()
    yield Text(f"{answer['mechanism']}: {answer['verdict']}", style="bold")
    yield f"{_capital(answer['sentence'])}."
    yield ""
    state = answer["state"]
    quantities = [*state["q"].items(), *state["v"].items()]
    shown = [(name, _with(number(value), named["coordinates"].get(name))) for name, value in quantities]
    if shown:
        yield table("State", ("quantity", "value"), shown)
    if answer["branches"]:
        has_contacts = any(branch["mode"] for branch in answer["branches"])
        if has_contacts:
            yield _forces(answer, named)
        yield _accelerations(answer, named)
        if any(branch["slacks"] for branch in answer["branches"]):
            yield _slacks(answer, named)
    if answer["contact"]:
        yield _sliding(answer, named)
    if answer["certificate"] is not None:
        yield from _certificate(answer["certificate"], named)
    several = len(answer["branches"]) > 1
    for index, branch in enumerate(answer["branches"], start=1):
        if branch["force_set"] is not None:
            yield from _force_set(branch["force_set"], f" of branch {index}" if several else "", named)
    for name, report in answer["tangential"].items():
        yield from (f"{name}: {report[kind]} ({kind} paradox)." for kind in ("algebraic", "dynamic") if report[kind])
    yield f"Decided by {answer['decided_by']}{_margin(answer)}."
    yield from (f"Note: {note}." for note in answer["notes"])


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _size(answer: Answer) -> float:
    """The largest force or acceleration of a verdict."""
    sizes: list[float] = [0.0, *(abs(terms["b"]) for terms in answer["contact"].values())]
    for branch in answer["branches"]:
        sizes += [abs(value) for value in (*branch["lambda_N"].values(), *branch["acceleration"].values())]
    return max(sizes)


def _shown(value: float | list[float] | None, size: float) -> str:
    """A planar or a spatial quantity; what is rounding of numbers of that size is 0."""
    if isinstance(value, list):
        return "(" + ", ".join(_shown(item, size) for item in value) + ")" if value else ""
    return number(0.0 if value is not None and abs(value) < CANCELLED * size else value)


def _with(shown: str, unit: str | None) -> str:
    """A number with its unit, if there are both."""
    return f"{shown} {unit}" if shown not in ("", "-") and unit else shown


def _margin(answer: Answer) -> str:
    """How far the next decision is from its flip, or that nothing was to be decided."""
    if answer["margin"] is not None:
        return f"; margin {number(answer['margin'])}"
    labels = {label for branch in answer["branches"] for label in branch["mode"].values()}
    is_open = labels == {"free"} and answer["decided_by"].startswith("enumeration")  # others give no margin at all
    return "; no contact takes part, so there is no margin" if is_open else ""


def _compared(item: Answer, units: Names) -> str:
    """The value of an inequality with its unit."""
    return _with(number(item["value"]), inequality_unit(units, item["contact"], item["inequality"]))


def _mode(mode: Mapping[str, str]) -> str:
    if len(mode) == 1:
        return next(iter(mode.values()))
    return ", ".join(f"{name}={label}" for name, label in mode.items())


def _forces(answer: Answer, units: Names) -> RenderableType:
    columns = ("branch", "contact", "mode", "lambda_N", "lambda_T", "a_N", "a_T", "margin")
    rows, size = [], _size(answer)
    for index, branch in enumerate(answer["branches"], start=1):
        for place, (name, label) in enumerate(branch["mode"].items()):
            at = branch["contact_acceleration"].get(name, {"normal": None, "tangential": []})
            rows.append(
                (
                    str(index) if place == 0 else "",
                    name,
                    label,
                    _with(_shown(branch["lambda_N"].get(name), size), units["forces"].get(name)),
                    _with(_shown(branch["lambda_T"].get(name), size), units["tangential_forces"].get(name)),
                    _with(_shown(at["normal"], size), units["contact_accelerations"].get(name)),
                    _with(_shown(at["tangential"], size), units["tangential_accelerations"].get(name)),
                    number(branch["margin"]) if place == 0 else "",
                )
            )
    modes = "Modes that may be consistent" if answer["verdict"] == "UNDECIDED" else "Consistent modes"
    return table(f"{modes}: contact forces and contact accelerations", columns, rows)


def _accelerations(answer: Answer, units: Names) -> RenderableType:
    branches = answer["branches"]
    columns = (
        "coordinate",
        *(f"{index}: {_mode(b['mode'])}" if b["mode"] else "value" for index, b in enumerate(branches, start=1)),
    )
    names, size = list(branches[0]["acceleration"]), _size(answer)
    rows = [
        (
            name,
            *(
                _with(_shown(branch["acceleration"][name], size), units["accelerations"].get(name))
                for branch in branches
            ),
        )
        for name in names
    ]
    return table("Accelerations", columns, rows)


def _slacks(answer: Answer, units: Names) -> RenderableType:
    rows = [
        (str(index), slack["contact"], slack["inequality"], _compared(slack, units), number(slack["scaled"]))
        for index, branch in enumerate(answer["branches"], start=1)
        for slack in branch["slacks"]
    ]
    return table("By how much each inequality holds", ("branch", "contact", "inequality", "by", "relative"), rows)


def _sliding(answer: Answer, units: Names) -> RenderableType:
    columns = ("contact", "A_slide+", "A_slide-", "b", "critical friction")
    rows = []
    for name, terms in answer["contact"].items():
        shown = {term: number(value) for term, value in terms.items()}
        shown["b"] = _with(shown["b"], units["contact_accelerations"].get(name))
        rows.append((name, *shown.values()))
    return table("Sliding in closed form: a_N = A lambda_N + b", columns, rows)


def _certificate(certificate: Answer, units: Names) -> Iterator[RenderableType]:
    rows = [
        (_mode(item["mode"]), item["contact"], item["inequality"], _compared(item, units))
        for item in certificate["violations"]
    ]
    if rows:
        yield table("Certificate: what every mode violates", ("mode", "contact", "must hold", "is"), rows)
    if certificate["farkas"] is not None:
        weights = ", ".join(number(float(weight)) for weight in certificate["farkas"])
        yield f"Not even the inequalities have a solution; Farkas vector ({weights})."
    outcome = "confirmed" if certificate["verified"] else "NOT confirmed"
    refuted = f"{len(certificate['violations'])} modes"
    if not rows:
        whole = "modes" if certificate["refutation"]["kind"] == "no partial mode" else "motions"
        refuted = f"{len(certificate['refutation']['parts'])} parts of a cover of all {whole}"
    if certificate["lcp"] is not None:
        refuted = f"{2 ** len(certificate['lcp']['q'])} complementary bases"
    yield f"Refutation of all {refuted} {outcome} in exact rational arithmetic."


def _force_set(force_set: Answer, owner: str, units: Names) -> Iterator[RenderableType]:
    rows = [("vertex", *(number(value) for value in vertex)) for vertex in force_set["vertices"]]
    rows += [("direction", *(number(value) for value in ray)) for ray in force_set["rays"]]
    title = f"All contact forces{owner}: a set of dimension {force_set['dimension']}"
    yield table(title, ("", *(_force_heading(name, units) for name in force_set["names"])), rows)


def _force_heading(name: str, units: Names) -> str:
    """``lambda_N.tip`` with its unit."""
    kind, _, contact = name.partition(".")
    unit = units["forces" if kind == "lambda_N" else "tangential_forces"].get(contact.partition(".")[0])
    return f"{name} ({unit})" if unit else name


@mechanism_command("reporting on {}")
@pin_option
@parameter_option
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=LOW:HIGH:CELLS",
    help="Two axes of the map; by default the posture and its velocity, as fine as some ten seconds allow.",
)
@page_option("The page (.html), or .md, .json; by default MECH.html.")
def report(asked: Asked, *, axes: tuple[str, ...], output: Path | None) -> Answered:
    """A self-contained page on a state of MECH: verdict, evidence, map, automaton.

    A page on a motion comes from `simulate --animate FILE`, one on its derivatives, with table and tornado plot, from
    `sensitivity -o FILE`.
    """
    if len(axes) not in (0, 2):
        raise click.UsageError(f"the map of a report has two axes, got {len(axes)}")
    if output is None and not click.get_current_context().params["as_json"]:
        output = page_path(f"{asked.declared.name}.html")
    from hybrid.analysis import Axis
    from hybrid.reporting.render import render_html, render_markdown
    from hybrid.reporting.report import build_report, report_record

    built = build_report(
        asked.dynamics,
        asked.state,
        parameters=asked.parameters,
        axes=[Axis.parse(text, values=asked.resolved) for text in axes] or None,
        command=asked.command_line("report", *(("--axis", axis) for axis in axes), ("-o", output or "report.html")),
        progress=asked.bar.advance,
        on_interrupt="keep",
    )
    record = report_record(built)
    write_page(output, html=lambda: render_html(built), markdown=lambda: render_markdown(built), record=record)
    ending = None if built.is_complete else (ExitStatus.INTERRUPTED, "interrupted: the report says what is left out")
    where = ["", f"The report is in {output}."]
    return Answered(record, verdict_tables(record, asked.declared.units()), where, ending)
