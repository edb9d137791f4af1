"""Does the working tree answer as another commit does? The same cases in both, compared to 1e-9.

    python benchmarks/behaviour.py [--against COMMIT] [--only AREA ...] [--jobs N] [--limit SECONDS] [--list]

COMMIT (by default the last one before the re-founding) is checked out into a temporary folder, which is removed at the
end, also after Ctrl-C. Each side answers in a process of its own, with this interpreter and the libraries of this
environment: what a library changes is not seen here. No answer is kept.

Cases stand in behaviour_cases/AREA.txt, one a line, ``name | command`` or ``name | call {arguments}``, with their files
in behaviour_cases/files. Differences that are meant stand in behaviour_cases/corrections.txt, ``AREA/name | reason``.
The exit status is 1 if a case differs that is not listed, or one that is listed no longer differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from behaviour_comparison import first_difference

ROOT = Path(__file__).resolve().parents[1]
CASES = Path(__file__).with_name("behaviour_cases")
WORKER = Path(__file__).with_name("behaviour_worker.py")
CORRECTIONS = CASES / "corrections.txt"
BEFORE = "39b7bea34ce8b7d2a403bd93b30455e924e99414"
"""The last commit before the re-founding, which is in the history of every whole clone; in full, as no tag names it."""

LIMIT = 90.0


class Case(NamedTuple):
    area: str
    name: str
    line: str

    @property
    def key(self) -> str:
        return f"{self.area}/{self.name}"


def entries(file: Path) -> Iterator[tuple[str, str]]:
    """The lines ``name | text`` of a file, without comments."""
    for line in file.read_text(encoding="utf-8").splitlines():
        name, bar, text = line.partition(" | ")
        if bar and not line.startswith("#"):
            yield name.strip(), text.strip()
        elif line.strip() and not line.startswith("#"):
            sys.exit(f"{file.name}: expected 'name | text', got {line!r}")


def read_cases(only: Sequence[str] = ()) -> list[Case]:
    files = sorted(set(CASES.glob("*.txt")) - {CORRECTIONS})
    unknown = set(only) - {file.stem for file in files}
    if unknown:
        sys.exit(f"no area {', '.join(sorted(unknown))}; there are {', '.join(file.stem for file in files)}")
    return [Case(file.stem, *entry) for file in files if not only or file.stem in only for entry in entries(file)]


class Side:
    """One tree and the processes that answer for it."""

    def __init__(self, name: str, tree: Path, scratch: Path, limit: float) -> None:
        self.name, self.tree, self.limit = name, tree, limit
        self.scratch = scratch / name
        self.process: subprocess.Popen[str] | None = None
        self.stopped = False
        self.seconds: dict[str, float] = {}

    def answers(self, cases: list[Case]) -> dict[str, object]:
        """The answers by case; a process that ends is named in its case, and another goes on with the next."""
        shutil.copytree(CASES / "files", self.scratch / "files")
        listed = self.scratch / "cases.json"
        listed.write_text(json.dumps([[case.key, case.line] for case in cases]), encoding="utf-8")
        found: dict[str, object] = {}
        start = time.perf_counter()
        while len(found) < len(cases) and not self.stopped:
            started = None
            for answer in self._run(listed, len(found)):
                started = answer.get("starts")
                if started is None:
                    found[answer["name"]] = answer["answer"]
                    self.seconds[answer["name"]] = answer["seconds"]
            if len(found) < len(cases) and not self.stopped:
                if started is None:
                    sys.exit(f"{self.name}: no case could be started")
                found[started] = {"process_ended": True}
        print(f"{self.name}: {len(found)} answers in {time.perf_counter() - start:.0f} s", file=sys.stderr)
        return found

    def _run(self, listed: Path, first: int) -> Iterator[dict]:
        """Lines of a process; its standard error goes to ours."""
        environment = {**os.environ, "PYTHONPATH": str(self.tree), "PYTHONHASHSEED": "0", "COLUMNS": "100"}
        arguments = [sys.executable, str(WORKER), str(self.tree), str(listed), str(first), str(self.limit)]
        with subprocess.Popen(
            arguments,
            cwd=self.scratch / "files",
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as self.process:
            for line in self.process.stdout or ():
                yield json.loads(line)

    def stop(self) -> None:
        self.stopped = True
        if self.process is not None and self.process.poll() is None:
            self.process.kill()


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A folder with the files of a commit, for as long as it is needed."""

    def git(*arguments: str) -> str:
        run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(f"git {arguments[0]}: {run.stderr.strip()}")
        return run.stdout.strip()

    revision = git("rev-parse", "--verify", f"{commit}^{{commit}}")
    with tempfile.TemporaryDirectory(prefix="behaviour-") as folder:
        tree = Path(folder).resolve() / "tree"
        try:
            git("worktree", "add", "--detach", str(tree), revision)
            print(f"{commit} is {revision[:10]}", file=sys.stderr)
            yield tree
        finally:
            subprocess.run(
                ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], capture_output=True, check=False
            )


def compare(cases: list[Case], against: str, *, limit: float, jobs: int) -> tuple[dict[str, str], list[Side]]:
    """The first difference of every case that differs, and both sides."""
    with checkout(against) as tree, tempfile.TemporaryDirectory(prefix="behaviour-") as scratch:
        sides = [Side(name, folder, Path(scratch), limit) for name, folder in (("before", tree), ("now", ROOT))]
        executor = ThreadPoolExecutor(jobs)
        try:
            before, now = executor.map(lambda side: side.answers(cases), sides)
        finally:
            for side in sides:
                side.stop()
            executor.shutdown(wait=True, cancel_futures=True)
    differences = {case.key: first_difference(before[case.key], now[case.key]) for case in cases}
    return {key: str(found) for key, found in differences.items() if found is not None}, sides


def report(cases: list[Case], different: dict[str, str], corrections: dict[str, str]) -> bool:
    """Print the table; whether every difference is listed and every listed case differs."""
    print(f"{'area':16s}{'cases':>7s}{'equal':>7s}{'different':>11s}{'listed':>8s}")
    for area in [*sorted({case.area for case in cases}), ""]:
        keys = [case.key for case in cases if area in ("", case.area)]
        off = [key for key in keys if key in different]
        listed = sum(key in corrections for key in off)
        print(f"{area or 'all':16s}{len(keys):7d}{len(keys) - len(off):7d}{len(off):11d}{listed:8d}")
    for key, text in different.items():
        print(f"{'listed' if key in corrections else 'DIFFERS'}  {key}: {text}")
    asked = {case.key for case in cases}
    equal = [key for key in corrections if key in asked and key not in different]
    for key in equal:
        print(f"EQUAL  {key} is listed as corrected ({corrections[key]})")
    return not equal and set(different) <= set(corrections)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", default=BEFORE, metavar="COMMIT", help=f"a tag or commit (default: {BEFORE[:10]})")
    parser.add_argument("--only", nargs="+", default=(), metavar="AREA", help="areas to compare")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2, help="sides that answer at a time")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help="of a case")
    parser.add_argument("--list", action="store_true", help="print the cases and their lines")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="print the times of so many cases")
    asked = parser.parse_args(arguments)
    cases = read_cases(asked.only)
    if asked.list:
        print("\n".join(f"{case.key}: {case.line}" for case in cases))
        return 0
    corrections = dict(entries(CORRECTIONS))
    unknown = set(corrections) - {case.key for case in read_cases()}
    if unknown:
        sys.exit(f"{CORRECTIONS.name} names no case: {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.perf_counter()
    different, sides = compare(cases, asked.against, limit=asked.limit, jobs=asked.jobs)
    for key in sorted(cases, key=lambda case: -sides[1].seconds.get(case.key, 0.0))[: asked.slowest]:
        print(f"{sides[0].seconds.get(key.key, 0.0):7.2f} s {sides[1].seconds.get(key.key, 0.0):7.2f} s  {key.key}")
    as_expected = report(cases, different, corrections)
    print(f"{time.perf_counter() - start:.0f} s")
    return 0 if as_expected else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
