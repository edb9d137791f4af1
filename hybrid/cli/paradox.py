"""``painleve critical-friction``: from which friction on, and where, sliding is paradoxical."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import (
    branch_option,
    declared_with,
    json_option,
    mechanism_argument,
    parameter_option,
    pin_option,
)
from hybrid.cli.output import number, print_answer, table
from hybrid.progress import ProgressBar
from hybrid.reporting.branches import branch_sentences, certified_friction_record, critical_friction_record
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["critical_friction"]


_OPEN = NOTHING  # a gap of which Newton's method leaves 1e-13


@click.command("critical-friction")
@mechanism_argument
@click.option(
    "--over",
    "axes",
    multiple=True,
    required=True,
    metavar="NAME=LOW:HIGH",
    help="A position pin or a parameter to sweep; repeatable.",
)
@pin_option
@click.option("--contact", help="Which contact, where several have friction.")
@parameter_option
@branch_option
@click.option("--certified", is_flag=True, help="Prove bounds of the minimum, in interval arithmetic.")
@json_option
def critical_friction(
    *,
    mechanism: str,
    axes: tuple[str, ...],
    pins: dict[str, str],
    contact: str | None,
    parameters: dict[str, str],
    branch: dict[str, str],
    certified: bool,
    as_json: bool,
) -> None:
    """The least friction that brings a paradox, and where."""
    if certified and branch:
        raise click.UsageError("--certified needs pins that fix the posture by linear equations: there is no --branch")
    declared, values = declared_with(mechanism, parameters)
    with ProgressBar(f"minimising the critical friction of {declared.name}"):
        from hybrid.analysis import Axis, certified_friction, critical_friction as least
        from hybrid.dynamics import derive

        resolved = declared.parameter_values(values)
        over = [Axis.parse(text, values=resolved) for text in axes]
        with_cells = next((axis.name for axis in over if axis.n is not None), None)
        if with_cells is not None:
            raise click.UsageError(f"--over {with_cells}: a sweep has no cells; write {with_cells}=LOW:HIGH")
        dynamics = derive(declared)
        if certified:
            proved = certified_friction(dynamics, over=over, pins=pins, contact=contact, parameters=values)
            answer = {"mechanism": declared.name, **certified_friction_record(proved)}
            print_answer(answer, _proved(answer), as_json=as_json)
            return
        found = least(dynamics, over=over, pins=pins, contact=contact, parameters=values, branch=branch)
    answer = {"mechanism": declared.name, **critical_friction_record(found)}
    print_answer(answer, _description(answer), as_json=as_json)


def _proved(answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _proved_alone(answer)
    if answer["joint"] is None:
        return
    low, high = answer["joint"]["factor"]
    yield "All closed contacts sliding jointly: not paradoxical"
    yield f"up to {low!r} times their friction (proved)" + ("." if high is None else ",")
    if high is not None:
        yield f"but from {high!r} times on (met)."


def _proved_alone(answer: Mapping[str, Any]) -> Iterator[str]:
    low, high = answer["minimum"]
    if high is None:
        yield f"{answer['mechanism']}: the critical friction of {answer['contact']} is at least {low!r}"
        yield "at every posture (proved)."
        return
    place = ", ".join(f"{name} = {number(value)}" for name, value in answer["at"].items())
    yield f"{answer['mechanism']}: the least critical friction of {answer['contact']} lies between {low!r}"
    yield f"and {high!r} (proved), the latter met at {place}."
    yield f"Sampled: {answer['minimum_sampled']:.17g}."


def _joint(joint: Mapping[str, Any] | None) -> Iterator[str]:
    """The limit of several contacts that slide at once."""
    if joint is None:
        return
    if joint["factor"] is None:
        yield "All closed contacts sliding jointly are never paradoxical, whatever multiplies their friction."
        return
    place = ", ".join(f"{name} = {number(value)}" for name, value in joint["at"].items())
    modes = ", ".join(f"{name} {mode}" for name, mode in joint["modes"].items())
    limits = ", ".join(f"{name} {number(value)}" for name, value in joint["friction"].items())
    yield f"All closed contacts sliding jointly: paradoxical from {joint['factor']:.12g} times their friction on"
    yield f"({limits}), at {place}, where {modes}."


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    if not answer["at"]:
        yield f"{answer['mechanism']}: sliding of {answer['contact']} is never paradoxical, whatever the friction."
    else:
        place = ", ".join(f"{name} = {number(value)}" for name, value in answer["at"].items())
        alone = "" if answer["joint"] is None else " alone"
        whose = f"{answer['contact']}{alone}"
        yield f"{answer['mechanism']}: the least critical friction of {whose} is {answer['minimum']:.12g},"
        yield f"at {place}, where {answer['mode']} becomes paradoxical first."
        if abs(answer["gap"]) > _OPEN:
            state = "is open" if answer["gap"] > 0 else "penetrates"
            gap = number(answer["gap"])
            yield f"Note: the contact {state} there (gap = {gap}): the sweep leaves the closed postures."
    yield from _joint(answer["joint"])
    intervals = answer["paradox_intervals"]
    rows = [(mode, number(low), number(high)) for mode, found in intervals.items() for low, high in found]
    if rows:
        yield ""
        yield table("Paradoxical at the current friction", ("mode", "from", "to"), rows)
    elif intervals:
        yield "There is no paradox at the current friction that the scan of the sweep sees."
    yield "Minima and intervals are those that the scan of the sweep sees; a narrower dip may be missed."
    yield from branch_sentences(answer["branch"])
