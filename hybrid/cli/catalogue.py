"""``painleve list``, ``show`` and ``check``: what there is, and what is wrong with a declaration.

``painleve new`` and ``schema``: what the author of a mechanism file begins with.

``painleve import``: a planar chain of an MJCF or URDF file as a mechanism file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from click.shell_completion import CompletionItem

from hybrid.cli.arguments import (
    OutputPath,
    catalogues,
    json_option,
    load_mechanism,
    output_option,
    parameter_option,
)
from hybrid.cli.output import Answered, json_text, mechanism_command, number, print_json, say, table
from hybrid.cli.program import ExitStatus, notify
from hybrid.cli.schemas import answer_schema, answers_with_schema
from hybrid.files import write_whole
from hybrid.progress import ProgressBar
from hybrid.reporting.declared import element_records

if TYPE_CHECKING:
    from rich.console import RenderableType

    from hybrid.cli.output import Asked
    from hybrid.errors import Problem

__all__ = ["check", "import_", "list_", "new", "schema", "show"]


@click.command()
@click.argument("name", metavar="NAME")
@output_option(".toml", shown="Write there instead of to NAME.toml.")
@json_option
def new(*, name: str, output: Path | None, as_json: bool) -> None:
    """A commented mechanism file, valid as it stands, to be filled in.

    NAME is that of the mechanism, or of its file with .toml. A file that is there already is left alone.
    """
    from hybrid.declaration.writing import skeleton

    name = name.removesuffix(".toml")
    text = skeleton(name)
    path = output or OutputPath().convert(f"{name}.toml", None, None)
    if path.exists():
        raise click.ClickException(f"{path} is there already: give another name, or -o FILE")
    write_whole(path, text)
    if as_json:
        print_json({"name": name, "file": str(path), "text": text})
    else:
        say(f"{name} is in {path}. Next: painleve check {path}")


def _offered_answers(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in answers_with_schema() if name.startswith(incomplete)]


@click.command()
@click.argument("command", metavar="[COMMAND]", required=False, shell_complete=_offered_answers)
@output_option(".json", shown="Write there instead of to standard output (.json).")
@json_option
def schema(*, command: str | None, output: Path | None, as_json: bool) -> None:
    """The JSON schema of mechanism files, with which editors complete and check them, or of what COMMAND answers.

    What a command answers with --json keeps to its schema in later versions, which may add keys and take none away.
    """
    from hybrid.declaration.writing import mechanism_schema

    built = mechanism_schema() if command is None else answer_schema(_known(command))
    if output is not None:
        write_whole(output, json_text(built) + "\n")
    if output is None or as_json:
        print_json(built)
    elif command is None:
        say(f"The schema is in {output}; the first line of a mechanism file beside it: #:schema ./{output.name}")
    else:
        say(f"The schema of what painleve {command} --json prints is in {output}.")


def _known(command: str) -> str:
    """A command whose answers have a schema, or a refusal that names the nearest one."""
    known = answers_with_schema()
    if command not in known:
        near = difflib.get_close_matches(command, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise click.BadParameter(f"no command is called {command!r}; {hint}", param_hint="COMMAND")
    return command


@click.command(name="import")
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@output_option(".toml", shown="Write there instead of to standard output (.toml).")
@json_option
def import_(*, model: str, output: Path | None, as_json: bool) -> None:
    """A planar open chain of MODEL, an MJCF or URDF file, as a mechanism file.

    Its hinges are parallel and its slides across them; contacts are those of spheres and ends of capsules with planes,
    and limits of joints. Needs the extra mujoco.
    """
    with ProgressBar(f"importing {model}"):
        from hybrid.declaration import mechanism_to_toml
        from hybrid.numeric.backends.mujoco import load
        from hybrid.numeric.backends.mujoco_planar import planar_mechanism

        mechanism, notes = planar_mechanism(load(model))
        text = mechanism_to_toml(mechanism)
    if output is not None:
        write_whole(output, text)
    answer = {
        "name": mechanism.name,
        "file": None if output is None else str(output),
        "coordinates": list(mechanism.coordinates),
        "contacts": [contact.name for contact in mechanism.contact],
        "text": text,
        "notes": list(notes),
    }
    if as_json:
        print_json(answer)
        return
    if output is None:
        click.echo(text, nl=False)
    else:
        counts = f"{len(mechanism.coordinates)} coordinates, {len(mechanism.contact)} contacts"
        say(f"{mechanism.name}: {counts}, in {output}.")
    for note in notes:
        notify(f"note: {note}")


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

    A text that is no TOML stops it at the first fault; units are compared once all else is right. A mass matrix that is
    not positive definite at any posture tried is a warning.
    """
    from hybrid.dynamics import derive
    from hybrid.dynamics.consistency import lacks_mass
    from hybrid.errors import DeclarationError

    name: str | None = None
    problems: tuple[Problem, ...] = ()
    warnings: list[str] = []
    try:
        declared = load_mechanism(file)
        name = declared.name
        if lacks_mass(derive(declared)):
            warnings.append(
                "the mass matrix is not positive definite at any posture tried: check the signs of masses and inertias"
            )
    except DeclarationError as error:
        problems = error.problems
        for problem in problems:
            notify(f"error: {problem}")
    if as_json:
        errors = [attrs.asdict(problem) for problem in problems]
        print_json({"file": file, "name": name, "ok": not problems, "errors": errors, "warnings": warnings})
    elif not problems:
        say(f"{file}: {name} is a valid declaration.")
    for warning in warnings:
        notify(f"warning: {warning}")
    if problems:
        raise click.exceptions.Exit(ExitStatus.BAD_INPUT)


@mechanism_command("deriving the equations")
@parameter_option
def show(asked: Asked) -> Answered:
    """Equations, contact terms, parameters and modes of MECH."""
    from hybrid.dynamics.readable import readable_equations

    declared, values = asked.declared, asked.resolved
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
        "equations": readable_equations(asked.dynamics),
    }
    return Answered(answer, _description(answer))


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
    if "mean_T" in answer["equations"]:
        yield "h and b include the force mean_T in the middle between the two limits of a friction element."


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
