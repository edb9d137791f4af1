"""Answers the cases of ``behaviour.py`` in one process, with the packages that PYTHONPATH names.

    python benchmarks/behaviour_worker.py TREE CASES.json FIRST LIMIT

Runs in the folder of the cases' files. CASES.json is a list of [name, line]; the first FIRST are left out. A line is a
command (``verdict two_carts --json ...``) or a call (``select {...}``, its arguments as JSON). For every case one line
of JSON goes to standard output, before it one that names it, so that a process that ends says where.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from behaviour_calls import CALLS, plain

Json = Any

# Files whose text is an answer; of others (pictures, pages, stored maps) the name.
READ = {".json", ".md", ".dot", ".mmd", ".xml", ".txt"}


class TooLongError(BaseException):
    """The time limit of a case; no handler of the packages catches it."""


def command(line: str, tree: str) -> Json:
    """Exit status, standard output, standard error and written files of a command line."""
    from hybrid.cli import main

    here = Path.cwd()
    before = set(here.iterdir())
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(shlex.split(line))
    finally:
        written = sorted(set(here.iterdir()) - before)
        files = {path.name: _file(path) for path in written}
        for path in written:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def lines(text: str) -> list[str]:
        """Without names of folders, and without the word that somebody waits, which is said after a time."""
        text = text.replace(str(here), "HERE").replace(tree, "TREE")
        return [row.rstrip() for row in text.splitlines() if not row.endswith(" ...")]

    try:
        printed = json.loads(out.getvalue())
    except ValueError:
        printed = lines(out.getvalue())
    return {"status": int(status), "printed": printed, "said": lines(err.getvalue()), "files": files}


def _file(path: Path) -> Json:
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".npz":
        with np.load(path) as stored:
            # of a motion without the steps, which an integrator chooses by its last bits
            return {name: plain(stored[name]) for name in stored.files if not name.startswith("arc_")}
    return path.read_text(encoding="utf-8").splitlines() if path.suffix in READ else "written"


def answer(line: str, tree: str) -> Json:
    """The answer of a case: of a command what it prints, of a call its record or its refusal."""
    name, _, arguments = line.partition(" ")
    if not arguments.startswith("{"):
        return command(line, tree)
    try:
        return plain(CALLS[name](**json.loads(arguments)))
    except Exception as error:  # noqa: BLE001 - whatever a case raises is its answer
        return {"raised": type(error).__name__, "said": str(error).splitlines()}


def main() -> None:
    tree, cases, first, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    import hybrid

    if not Path(hybrid.__file__).resolve().is_relative_to(Path(tree).resolve()):
        sys.exit(f"hybrid comes from {hybrid.__file__}, not from {tree}")

    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGALRM, stop)
    for name, line in json.loads(cases.read_text(encoding="utf-8"))[first:]:
        print(json.dumps({"starts": name}), flush=True)
        start = time.perf_counter()
        # A loop in compiled code hears no signal: the process ends, and another goes on with the next case.
        faulthandler.dump_traceback_later(2 * limit, exit=True)
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            found = answer(line, tree)
        except TooLongError:
            found = {"too_long": True}
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        seconds = time.perf_counter() - start
        print(json.dumps({"name": name, "answer": found, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
