"""``painleve explore``: a page in the browser on which a mechanism is looked at and moved."""

from __future__ import annotations

from pathlib import Path

import click

from hybrid.cli.arguments import (
    OutputPath,
    catalogues,
    json_option,
    mechanism_file,
    offered_mechanisms,
    parameter_option,
    pin_option,
)
from hybrid.cli.output import print_json
from hybrid.progress import ProgressBar

__all__ = ["explore"]


@click.command()
@click.argument("mechanism", metavar="[MECH]", default="rod_on_incline", shell_complete=offered_mechanisms)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8640,
    show_default=True,
    metavar="PORT",
    help="The port; if it is taken, one of the next.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="An address of this machine.")
@click.option("--allow-remote", is_flag=True, help="Let --host be an address that other machines reach.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@click.option(
    "--offline",
    type=OutputPath(".html", ".htm"),
    metavar="FILE",
    help="Write one page with maps computed before, which needs no server; .html.",
)
@pin_option
@parameter_option
@json_option
def explore(
    *,
    mechanism: str,
    port: int,
    host: str,
    allow_remote: bool,
    no_browser: bool,
    offline: Path | None,
    pins: dict[str, str],
    parameters: dict[str, str],
    as_json: bool,
) -> None:
    """Look at MECH in the browser: its map, verdicts, forces and motions while sliders move.

    Serves one page on this machine until Ctrl-C. The address that is printed has the token of the session.
    """
    from hybrid.declaration.document import read_text
    from hybrid.explorer import Served

    path = mechanism_file(mechanism)
    first = Served(path.stem, read_text(path))
    if offline is not None:
        from hybrid.explorer import offline_page
        from hybrid.files import write_whole

        with ProgressBar(f"maps of {first.name}") as bar:
            page = offline_page(first, pins=pins, parameters=parameters, progress=bar.advance)
            write_whole(offline, page)
        if as_json:
            print_json({"page": str(offline)})
        else:
            click.echo(f"The page is in {offline}.")
        return
    if pins or parameters:
        raise click.UsageError("--pin and --param are for --offline: the page has sliders")

    from hybrid.explorer import serve

    def ready(address: str, own: int) -> None:
        if port not in (0, own):
            click.echo(f"port {port} is taken; this is {own}", err=True)
        if as_json:
            print_json({"address": address, "port": own})
        else:
            click.echo(f"{address}\nCtrl-C ends it.")
        if not no_browser:
            _open(address)

    serve(_texts(), first, host=host, port=port, allow_remote=allow_remote, ready=ready)
    click.echo("ended", err=True)


def _open(address: str) -> None:
    """Show the address in a browser, if there is one; the command goes on at once."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _texts() -> dict[str, str]:
    """The declarations of all catalogues, by name."""
    found: dict[str, str] = {}
    for catalogue in catalogues().values():
        for name in catalogue.names():
            found.setdefault(name, catalogue.path(name).read_text(encoding="utf-8"))
    return found
