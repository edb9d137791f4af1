"""``painleve graph``: the automaton of modes for people and for other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from hybrid.cli.arguments import output_option
from hybrid.cli.output import Answered, mechanism_command, table
from hybrid.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from hybrid.automaton import Automaton
    from hybrid.automaton.outline import NodeText, Outline
    from hybrid.cli.output import Asked

__all__ = ["graph"]

Format = Literal["dot", "mermaid", "svg", "json", "spaceex"]

ENDINGS: dict[str, Format] = {
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".svg": "svg",
    ".json": "json",
    ".xml": "spaceex",
}


@mechanism_command("building the automaton of {}")
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Format)),
    help="By default what the ending of FILE says.",
)
@output_option(shown="Write there instead of to standard output (.dot, .mmd, .svg, .json, .xml for SpaceEx).")
def graph(asked: Asked, *, form: Format | None, output: Path | None) -> Answered:
    """The hybrid automaton of MECH: modes, guards, resets."""
    if form is None and output is not None and output.suffix.lower() not in ENDINGS:
        raise click.UsageError(f"{output}: give a --format, or one of the endings {', '.join(ENDINGS)}")
    if form is not None and output is not None and ENDINGS.get(output.suffix.lower(), form) != form:
        raise click.UsageError(
            f"{output}: its ending stands for {ENDINGS[output.suffix.lower()]}, --format says {form}"
        )
    if form is None and output is not None:
        form = ENDINGS[output.suffix.lower()]
    from hybrid.automaton import build_automaton, check_size
    from hybrid.automaton.export import to_json
    from hybrid.automaton.outline import outline
    from hybrid.dynamics import derive

    dynamics = derive(asked.declared)
    check_size(dynamics)
    automaton = build_automaton(dynamics)
    whole = outline(automaton)
    record = json.loads(to_json(whole))
    text = None if form is None else exported(automaton, form)
    if output is None or text is None:
        return Answered(record, _description(whole), text=text)
    write_whole(output, text)
    return Answered(record, _description(whole), [f"Written to {output}."])


def exported(automaton: Automaton, form: Format) -> str:
    """An automaton as text of one of the formats.

    Parameters
    ----------
    automaton : Automaton
    form : {"dot", "mermaid", "svg", "json", "spaceex"}

    Returns
    -------
    str

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid.automaton import build_automaton
    >>> from hybrid.dynamics import derive
    >>> exported(build_automaton(derive(mechanisms.load("bouncing_ball"))), "mermaid").splitlines()[0]
    'stateDiagram-v2'
    """
    from hybrid.automaton import export

    if form == "svg":
        from hybrid.reporting import figure_svg, plot_automaton

        return figure_svg(plot_automaton(automaton))
    writers = {"dot": export.to_dot, "mermaid": export.to_mermaid, "json": export.to_json, "spaceex": export.to_spaceex}
    return writers[form](automaton)


def _description(whole: Outline) -> Iterator[RenderableType]:
    from hybrid.automaton.export.layout import reduced

    shown = reduced(whole)
    yield f"{whole.name}: {len(whole.nodes)} nodes, {len(whole.edges)} transitions"
    if shown is not whole:
        yield "Too many modes for a table: here they are in groups; every one is in --json and --format dot."
    yield ""
    rows = [(node.key, _extent(node), ", ".join(_targets(shown, node.key))) for node in shown.nodes]
    yield table("Nodes", ("mode", "freedom", "leads to"), rows)


def _extent(node: NodeText) -> str:
    from hybrid.automaton.export.layout import GroupText

    if isinstance(node, GroupText):
        return "1 mode" if len(node.members) == 1 else f"{len(node.members)} modes"
    return "" if node.n_freedom is None else str(node.n_freedom)


def _targets(shown: Outline, source: str) -> list[str]:
    return list(dict.fromkeys(edge.target for edge in shown.edges if edge.source == source))
