"""``painleve list``, ``show`` and ``check``: what there is, and what is wrong with a declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import click

from hybrid.cli.arguments import json_option, mechanism_argument, parameter_option, read_parameters
from hybrid.cli.boundary import ExitStatus
from hybrid.cli.loading import catalogues, load_mechanism
from hybrid.cli.output import number, print_answer, print_json, say, table
from hybrid.progress import ProgressBar
from hybrid.reporting.declared import element_records

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.errors import Problem

__all__ = ["check", "list_", "show"]


@click.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """Names of the mechanisms of all installed catalogues."""
    titles: dict[str, str] = {}
    for catalogue in catalogues().values():
        titles |= {name: catalogue.load(name).title for name in catalogue.names() if name not in titles}
    if as_json:
        print_json({"names": list(titles), "titles": titles})
    else:
        say(table("Mechanisms", ("name", "title"), list(titles.items())))


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@json_option
def check(*, file: str, as_json: bool) -> None:
    """The errors of a mechanism's declaration, with line and column.

    A text that is no TOML stops it at the first fault; units are compared once all else is right.
    """
    from hybrid.errors import DeclarationError

    name: str | None = None
    problems: tuple[Problem, ...] = ()
    try:
        name = load_mechanism(file).name
    except DeclarationError as error:
        problems = error.problems
        click.echo("".join(f"error: {problem}\n" for problem in problems), err=True, nl=False)
    if as_json:
        errors = [attrs.asdict(problem) for problem in problems]
        print_json({"file": file, "name": name, "ok": not problems, "errors": errors})
    elif not problems:
        say(f"{file}: {name} is a valid declaration.")
    if problems:
        raise click.exceptions.Exit(ExitStatus.BAD_INPUT)


@click.command()
@mechanism_argument
@parameter_option
@json_option
def show(*, mechanism: str, parameters: dict[str, str], as_json: bool) -> None:
    """Equations, contact terms, parameters and modes of MECH."""
    declared = load_mechanism(mechanism)
    values = declared.parameter_values(read_parameters(declared, parameters))
    with ProgressBar("deriving the equations"):
        from hybrid.dynamics import derive
        from hybrid.dynamics.readable import readable_equations

        equations = readable_equations(derive(declared))
    answer = {
        "name": declared.name,
        "title": declared.title,
        "references": declared.references,
        "coordinates": declared.coordinates,
        "velocities": declared.velocities,
        "parameters": {
            name: {"value": float(values[name]), "unit": item.unit, "doc": item.doc}
            for name, item in declared.parameters.items()
        },
        "definitions": dict(declared.definitions),
        "contacts": element_records(declared),
        "equations": equations,
    }
    print_answer(answer, _description(answer), as_json=as_json)


def _description(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(answer["name"], style="bold")
    yield from (text for text in (answer["title"], *answer["references"]) if text)
    yield ""
    rows = [(name, number(item["value"]), item["unit"], item["doc"]) for name, item in answer["parameters"].items()]
    yield table("Parameters", ("name", "value", "unit", "meaning"), rows)
    if answer["definitions"]:
        yield table("Definitions", ("name", "expression"), list(answer["definitions"].items()))
    columns = ("name", "kind", "modes")
    yield table(
        "Contacts",
        columns,
        [(item["name"], item["kind"], ", ".join(item["modes"])) for item in answer["contacts"]],
    )
    yield table(
        "Equations",
        ("term", "expression"),
        list(_lines(_named(answer["equations"]), coordinates=answer["coordinates"])),
    )


def _named(equations: Mapping[str, Any]) -> dict[str, Any]:
    """For people, what follows from the Delassus terms by their names."""
    contacts = {
        name: {key: text for key, text in ({**terms, **terms.get("by_name", {})}).items() if key != "by_name"}
        for name, terms in equations["contact"].items()
    }
    return {**equations, "contact": contacts}


def _lines(equations: Any, prefix: str = "", coordinates: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Nested equations as lines ``W_N.tip.phi``; what is identically zero is left out, for people."""
    if isinstance(equations, str):
        if equations != "0":
            yield prefix, equations
        return
    if isinstance(equations, Mapping):
        items = list(equations.items())
    else:
        # Rows and columns of M, h and the force directions go by coordinate, components of a spatial contact by number.
        by_coordinate = prefix.startswith(("M", "h", "W")) and len(equations) == len(coordinates)
        items = list(zip(coordinates if by_coordinate else ("1", "2"), equations, strict=True))
    for name, item in items:
        yield from _lines(item, f"{prefix}.{name}" if prefix else name, coordinates)
