"""``painleve critical-friction``: from which friction on, and where, sliding is paradoxical."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import branch_option, parameter_option, pin_option
from hybrid.cli.output import Answered, mechanism_command, number, table
from hybrid.cli.ranges import whole_ranges
from hybrid.reporting.branches import branch_sentences, certified_friction_record, critical_friction_record
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.cli.output import Asked

__all__ = ["critical_friction"]


_OPEN = NOTHING  # a gap of which Newton's method leaves 1e-13


@mechanism_command("minimising the critical friction of {}", "critical-friction")
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
def critical_friction(asked: Asked, *, axes: tuple[str, ...], contact: str | None, certified: bool) -> Answered:
    """The least friction that brings a paradox, and where."""
    if certified and asked.branch:
        raise click.UsageError("--certified needs pins that fix the posture by linear equations: there is no --branch")
    from hybrid.analysis import certified_friction, critical_friction as least
    from hybrid.analysis.criticality.friction import is_friction_alone

    over = whole_ranges("--over", axes, asked.resolved, what="a sweep")
    answer: dict[str, Any] = {"mechanism": asked.declared.name}
    how: dict[str, Any] = {"over": over, "pins": asked.pins, "contact": contact, "parameters": asked.values}
    if certified:
        answer |= certified_friction_record(certified_friction(asked.dynamics, **how))
        return Answered(answer, _proved(answer))
    answer |= critical_friction_record(least(asked.dynamics, **how, branch=asked.branch))
    texts = {**asked.pins, **asked.branch}
    alone = {
        axis.name: f"{axis.name} = {number(axis.low)} to {number(axis.high)}"
        for axis in over
        if is_friction_alone(asked.dynamics, axis.name, contact=answer["contact"], pins=texts)
    }
    return Answered(answer, _description(answer, alone))


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


def _description(answer: Mapping[str, Any], alone: Mapping[str, str]) -> Iterator[RenderableType]:
    """The answer in words; ``alone`` has the range of each parameter that changes nothing but the friction."""
    if not answer["at"]:
        yield f"{answer['mechanism']}: sliding of {answer['contact']} is never paradoxical, whatever the friction."
    else:
        place = ", ".join(f"{name} = {number(value)}" for name, value in answer["at"].items() if name not in alone)
        whose = answer["contact"] + ("" if answer["joint"] is None else " alone")
        yield f"{answer['mechanism']}: the least critical friction of {whose} is {answer['minimum']:.12g},"
        yield f"{f'at {place}, ' if place else ''}where {answer['mode']} becomes paradoxical first."
        if alone:
            yield f"It does not depend on {' and '.join(alone)}, which changes the friction only."
        if abs(answer["gap"]) > _OPEN:
            state = "is open" if answer["gap"] > 0 else "penetrates"
            gap = number(answer["gap"])
            yield f"Note: the contact {state} there (gap = {gap}): the sweep leaves the closed postures."
    yield from _joint(answer["joint"])
    intervals = answer["paradox_intervals"]
    rows = [(mode, number(low), number(high)) for mode, found in intervals.items() for low, high in found]
    # intervals are those of a single sweep
    friction = f"the friction along the sweep ({', '.join(alone.values())})" if alone else "the current friction"
    if rows:
        yield ""
        yield table(f"Paradoxical at {friction}", ("mode", "from", "to"), rows)
    elif intervals:
        yield f"There is no paradox at {friction} that the scan of the sweep sees."
    yield "Minima and intervals are those that the scan of the sweep sees; a narrower dip may be missed."
    yield from branch_sentences(answer["branch"])
