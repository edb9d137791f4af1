"""``painleve certify``: what is proved about every state of a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from hybrid.cli.arguments import Finite, branch_option, parameter_option, pin_option, plot_option, slice_option
from hybrid.cli.output import Answered, drawn, mechanism_command, number, table
from hybrid.cli.program import ExitStatus
from hybrid.reporting.branches import branch_sentences, certified_record, slice_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rich.console import RenderableType

    from hybrid.analysis import Boundary, CertifiedMap
    from hybrid.cli.output import Asked

__all__ = ["certify"]

_STEPS = 1000  # of the progress bar
_SCAN = 160  # cells of a side between which the curves of a picture are looked for


@mechanism_command("certifying {}")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    required=True,
    metavar="NAME=LOW:HIGH",
    help="A pin or a parameter of the box, two to four times.",
)
@pin_option
@parameter_option
@branch_option
@click.option("--gap", type=Finite(), default=1e-4, show_default=True, help="Largest uncertainty of a region's share.")
@click.option("--max-boxes", type=int, default=10_000_000, show_default=True, help="Boxes to look at, at most.")
@click.option("--budget", type=Finite(), metavar="SECONDS", help="Time to work, at most.")
@slice_option
@plot_option("Draw a map of the two axes that slices leave; where nothing is proved it is black")
def certify(
    asked: Asked,
    *,
    axes: tuple[str, ...],
    gap: float,
    max_boxes: int,
    budget: float | None,
    slice_at: dict[str, str],
    plot: Path | None,
) -> Answered:
    """Prove which modes of MECH are consistent over a box."""
    left = len(axes) - len(slice_at)
    if plot is not None and left != 2:
        raise click.UsageError(f"--plot draws two axes, got {left}: fix the others, as --slice mu=3/2")
    from hybrid.analysis import Axis, certified_map, sliced
    from hybrid.analysis.certified.certified_map import check_slice

    swept = [Axis.parse(text, values=asked.resolved) for text in axes]
    at = {name: _number(name, text, asked.resolved) for name, text in slice_at.items()}
    check_slice(swept, at)
    found = certified_map(
        asked.dynamics,
        axes=swept,
        pins=asked.pins,
        parameters=asked.values,
        branch=asked.branch,
        gap=gap,
        max_boxes=max_boxes,
        budget=budget,
        progress=lambda reached, boxes: asked.bar.advance(
            int(_STEPS * min(1.0, gap / max(reached, gap))), _STEPS, f"gap {number(reached)}, {boxes} boxes"
        ),
        on_interrupt="keep",
    )
    shown = sliced(found, at) if at else found

    def picture(**named: Any) -> Any:
        from hybrid.reporting.certified_plot import plot_certified_map

        return plot_certified_map(shown, boundaries=_boundaries(asked, shown, at), **named)

    written = drawn(plot, picture, asked.dynamics)
    answer = {"mechanism": asked.declared.name, **certified_record(found), "slice": slice_record(shown, at)}
    ending = (ExitStatus.INTERRUPTED, f"interrupted: the bounds are proved, {number(found.gap)} apart")
    return Answered(answer, _description(answer), written, ending if found.is_interrupted else None)


def _number(name: str, text: str, values: Mapping[str, float]) -> float:
    """The value of a slice, an expression of parameters."""
    from hybrid.declaration import evaluate, parse_expression

    return float(evaluate(parse_expression(text, known=values.keys(), field=f"slice {name}"), dict(values)))


def _boundaries(asked: Asked, shown: CertifiedMap, at: Mapping[str, float]) -> tuple[Boundary, ...]:
    """The curves between regions, by bisection."""
    from hybrid.analysis import region_map

    declared = asked.declared.parameters
    sampled = region_map(
        asked.dynamics,
        axes=[attrs.evolve(axis, n=_SCAN) for axis in shown.axes],
        pins={**asked.pins, **{name: value for name, value in at.items() if name not in declared}},
        parameters={**asked.values, **{name: value for name, value in at.items() if name in declared}},
        branch=None if shown.branch is None else dict(shown.branch.start),
        with_boundaries=True,
    )
    return sampled.boundaries


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    swept = ", ".join(f"{item['name']} from {number(item['low'])} to {number(item['high'])}" for item in answer["axes"])
    yield f"{answer['mechanism']}: every state, {swept}"
    yield ""
    rows = [(name, f"{low:.9f}", f"{high:.9f}") for name, (low, high) in answer["regions"].items()]
    yield table("Shares of the box, proved", ("consistent modes", "at least", "at most"), rows)
    if not answer["complete"]:
        wanted, reached = number(answer["gap_wanted"]), number(answer["gap"])
        yield f"The gap of {wanted} was not reached: it is {reached}."
    yield f"{answer['boxes']} boxes; {answer['undecided']:.3g} of the volume is in boxes with several possible regions."
    cut = answer["slice"]
    if cut is not None:
        yield ""
        where = ", ".join(f"{name} = {number(value)}" for name, value in cut["at"].items())
        rows = [(name, f"{low:.9f}", f"{high:.9f}") for name, (low, high) in cut["regions"].items()]
        yield table(f"Shares of the slice at {where}, proved", ("consistent modes", "at least", "at most"), rows)
    yield ""
    for key, is_absent in answer["absent"].items():
        if is_absent:
            yield f"{key}: proved absent, in the closed box."
        elif is_absent is None:
            yield f"{key}: neither met nor proved absent, in the closed box."
        else:
            at = ", ".join(f"{name} = {value!r}" for name, value in answer["witness"][key]["at"].items())
            yield f"{key}: met at {at}."
    if not answer["complete"] or None in answer["absent"].values():
        yield from map(_reason, answer["reasons"])
    yield from branch_sentences(answer["branch"])


def _reason(reason: Mapping[str, Any]) -> str:
    box = ", ".join(f"{name} from {number(low)} to {number(high)}" for name, (low, high) in reason["box"].items())
    return f"Open in boxes with {reason['share']:.3g} of the volume: {reason['because']}, as in the box {box}."
