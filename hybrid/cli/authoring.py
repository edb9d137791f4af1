"""``painleve new`` and ``schema``: what the author of a mechanism file begins with."""

from __future__ import annotations

from pathlib import Path

import click

from hybrid.cli.arguments import OutputPath, json_option
from hybrid.cli.output import json_text, print_json, say
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


@click.command()
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path, endings=(".json",)),
    metavar="FILE",
    help="Write there instead of to standard output (.json).",
)
@json_option
def schema(*, output: Path | None, as_json: bool) -> None:
    """The JSON schema of mechanism files, with which editors complete and check them."""
    from hybrid.declaration.schema import mechanism_schema

    built = mechanism_schema()
    if output is not None:
        write_whole(output, json_text(built) + "\n")
    if output is None or as_json:
        print_json(built)
    else:
        say(f"The schema is in {output}; the first line of a mechanism file beside it: #:schema ./{output.name}")
