"""``painleve import``: a planar chain of an MJCF or URDF file as a mechanism file."""

from __future__ import annotations

from pathlib import Path

import click

from hybrid.cli.arguments import OutputPath, json_option
from hybrid.cli.output import print_json, say
from hybrid.progress import ProgressBar
from hybrid.reporting.files import write_whole

__all__ = ["import_"]


@click.command(name="import")
@click.argument("model", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=OutputPath(dir_okay=False, path_type=Path, endings=(".toml",)),
    metavar="FILE",
    help="Write there instead of to standard output (.toml).",
)
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
        click.echo(f"note: {note}", err=True)
