"""Tutorials are followed to the letter: what a page tells its reader to save, to type and to run is done, in order.

A block with a caption is a file of that name. In a block of the language ``console`` a line that begins with ``$``
is a command, and what follows is what it prints, with ``...`` for what is left out; an error ends the command with a
status other than zero. A block of the language ``pycon`` is a session of Python. The build follows every page, so
that pictures on a page are those that its commands draw; the tests call the same functions.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?:\{code-block\} *)?(?P<language>\w+)\n"
    r"(?::caption: (?P<file>\S+)\n+)?"
    r"(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class NotAsWritten(Exception):
    """A page says what does not happen."""


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Return the blocks of a page that its reader follows: language, name of a file or "", text."""
    found = [(block["language"], block["file"] or "", block["text"]) for block in BLOCK.finditer(text)]
    return [block for block in found if block[1] or block[0] in ("console", "pycon")]


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console block with what each prints."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(line.replace("\\\n", ""), output) for line, output in map(split_command, parts)]


def split_command(part: str) -> tuple[str, str]:
    """Split a command, which goes on after a backslash, from what it prints."""
    lines = part.splitlines(keepends=True)
    last = next(place for place, line in enumerate(lines) if not line.endswith("\\\n"))
    return "".join(lines[: last + 1]).rstrip("\n"), "".join(lines[last + 1 :])


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, as the reader does."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


def painleve(arguments: list[str]) -> tuple[int, str, str]:
    """Run the command in this process, which spares a second of loading each time: status, output, errors."""
    from hybrid.cli import main

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(arguments)
    return status, out.getvalue(), errors.getvalue()


def shell(command: str) -> tuple[int, str, str]:
    """Run another command in a shell."""
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def run(command: str, expected: str, folder: Path) -> None:
    """Run a command of the page and compare what it prints."""
    program, *arguments = shlex.split(command)
    with inside(folder):
        status, out, errors = painleve(arguments) if program == "painleve" else shell(command)
    if bool(status) != expected.startswith("error:"):
        raise NotAsWritten(f"$ {command}\nended with status {status}:\n{out}{errors}")
    printed = (errors if status else "") + out
    if expected.strip() and not doctest.OutputChecker().check_output(expected, printed, LENIENT):
        raise NotAsWritten(f"$ {command}\nprinted\n{printed}\nwhere the page has\n{expected}")


def run_session(text: str, names: dict[str, object], folder: Path) -> None:
    """Run a session of Python in the folder of the page, with the names of the sessions before it."""
    test = doctest.DocTestParser().get_doctest(text, names, "session", None, 0)
    said: list[str] = []
    with inside(folder):
        failed = doctest.DocTestRunner(optionflags=LENIENT).run(test, out=said.append, clear_globs=False).failed
    names |= test.globs
    if failed:
        raise NotAsWritten("".join(said))


def follow(text: str, folder: Path) -> int:
    """Follow a page in a folder.

    Parameters
    ----------
    text : str
        The page.
    folder : Path
        Where its files are saved and its commands run.

    Returns
    -------
    int
        How many files were saved, commands and sessions run.

    Raises
    ------
    NotAsWritten
        Where something else happens than the page says.
    """
    names: dict[str, object] = {}
    steps = 0
    for language, file, block in blocks(text):
        if file:
            (folder / file).write_text(block, encoding="utf-8")
            steps += 1
        elif language == "console":
            for command, expected in commands(block):
                run(command, expected, folder)
                steps += 1
        else:
            run_session(block, names, folder)
            steps += 1
    return steps


def follow_all(app: "Sphinx") -> None:
    """Follow every tutorial before the sources are read, in a folder of its own, and take its time."""
    import page_time

    root = Path(app.srcdir) / "generated" / "tutorial"
    shutil.rmtree(root, ignore_errors=True)
    for page in sorted((Path(app.srcdir) / "tutorial").glob("*.md")):
        folder = root / page.stem
        folder.mkdir(parents=True)
        page_time.begin_page({}, page)
        follow(page.read_text(encoding="utf-8"), folder)
        page_time.begin_page({}, page, "after")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Follow the tutorials at the start of a build."""
    app.connect("builder-inited", follow_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
