"""How long the tutorials take: words to read, and the seconds that their commands run, each in a process of its own.

    python benchmarks/tutorials.py [PAGE ...]

Follows the pages of ``docs/tutorial`` in the order of the site as a reader would, in an empty folder. Reading is not
measured: it is estimated from all words of a page, files, answers and exercises included, at 200 a minute.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs/_extensions"))

from tutorials import blocks, commands  # noqa: E402 - it is no package

PAGES = ("first-verdict", "own-mechanism", "first-map", "first-motion", "robot", "lecture")
WORDS_A_MINUTE = 200


def processor() -> float:
    """Seconds of the processor that all commands so far have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def follow(text: str, folder: Path) -> list[float]:
    """The seconds that each command and session of a page takes."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    session, seconds = "", []
    for language, file, block in blocks(text):
        asked = []
        if file:
            (folder / file).write_text(block, encoding="utf-8")
        elif language == "console":
            asked = [["/bin/sh", "-c", command] for command, _ in commands(block)]
        else:
            lines = block.splitlines()
            session += "".join(f"{line[4:]}\n" for line in lines if line.startswith((">>> ", "... ", "...")))
            asked = [[sys.executable, "-c", session]]  # what was said before is said again
        for arguments in asked:
            start = time.perf_counter()
            subprocess.run(arguments, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, check=False)
            seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Follow the pages and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", default=PAGES)
    print("| page | words | minutes to read | commands | seconds | of the processor | the longest |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for page in parser.parse_args().pages:
            text = (ROOT / "docs/tutorial" / f"{page}.md").read_text(encoding="utf-8")
            busy = processor()
            words, seconds = len(text.split()), follow(text, Path(folder))
            busy = processor() - busy
            reading = f"{words} | {words / WORDS_A_MINUTE:.1f}"
            print(
                f"| {page} | {reading} | {len(seconds)} | {sum(seconds):.1f} | {busy:.1f} | {max(seconds):.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
