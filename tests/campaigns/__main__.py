"""Run campaigns: ``python -m tests.campaigns verdicts maps -n 1000 --seed 7`` (`make campaign`)."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time

from tests.campaigns.tally import Tally

CAMPAIGNS = ("verdicts", "invariance", "motions", "ensembles", "impacts", "files", "maps", "certified")


def main() -> int:
    """Run what was asked for, print a line for each campaign; status 1 if any answer was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", default=CAMPAIGNS, metavar="NAME", help=", ".join(CAMPAIGNS))
    parser.add_argument("-n", type=int, default=1000, help="cases of each campaign (default 1000)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    total = Tally()
    for name in arguments.names or CAMPAIGNS:
        if name not in CAMPAIGNS:
            parser.error(f"there is no campaign {name!r}; there are {', '.join(CAMPAIGNS)}")
        run = importlib.import_module(f"tests.campaigns.{name}").run
        begun = time.perf_counter()
        tally = run(arguments.n, seed=arguments.seed)
        seconds = time.perf_counter() - begun
        for case in tally.wrong:
            print(f"  wrong: {case}")
        print(f"{name}: {tally}, seed {arguments.seed}, {seconds:.0f} s, {_commit()}", flush=True)
        total += tally
    return 1 if total.wrong else 0


def _commit() -> str:
    try:
        answer = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no commit"
    return answer.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
