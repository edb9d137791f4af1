"""``painleve new`` and ``schema``: what the author of a mechanism file begins with."""

from __future__ import annotations

import difflib
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from hybrid.cli.arguments import OutputPath, json_option
from hybrid.cli.output import json_text, print_json, say
from hybrid.cli.schemas import answer_schema, answers_with_schema
from hybrid.reporting.files import write_whole

__all__ = ["new", "schema"]


@click.command()
@click.argument("name", metavar="NAME")
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path, endings=(".toml",)),
    metavar="FILE",
    help="Write there instead of to NAME.toml.",
)
@json_option
def new(*, name: str, output: Path | None, as_json: bool) -> None:
    """A commented mechanism file, valid as it stands, to be filled in.

    A file that is there already is left alone.
    """
    from hybrid.declaration.skeleton import skeleton

    text = skeleton(name)
    path = output or OutputPath(dir_okay=False, path_type=Path).convert(f"{name}.toml", None, None)
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
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path, endings=(".json",)),
    metavar="FILE",
    help="Write there instead of to standard output (.json).",
)
@json_option
def schema(*, command: str | None, output: Path | None, as_json: bool) -> None:
    """The JSON schema of mechanism files, with which editors complete and check them, or of what COMMAND answers.

    What a command answers with --json keeps to its schema in later versions, which may add keys and take none away.
    """
    from hybrid.declaration.schema import mechanism_schema

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
