"""Motions per second of an ensemble, next to a loop over ``simulate``; both on one processor, in its time.

The rod on an incline from random starts to t = 1 at ``rtol`` 1e-9. With a revision of the repository its ``simulate``
is timed as well, in its own tree and in processes that take turns with those of this one. What is compiled once for
all mechanisms is timed apart, in a process that finds nothing kept.

    python benchmarks/ensemble.py [MOTIONS] [ROUNDS] [REVISION]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SINGLE = 300  # motions of the loop: it needs milliseconds for each

TOGETHER = """
import sys, time, mechanisms
from hybrid import derive, ensemble
rod, n = derive(mechanisms.load("rod_on_incline")), int(sys.argv[1])
ranges = {"phi": (0.15, 3.0), "phi_dot": (-1.5, 1.5), "slip.tip": (-1, 1)}
ensemble(rod, vary=ranges, n=100, seed=2, t_end=1.0, rtol=1e-9)
start = time.process_time()
found = ensemble(rod, vary=ranges, n=n, seed=1, t_end=1.0, rtol=1e-9)
print(time.process_time() - start, sum(found.singled_out.values()))
"""
ALONE = """
import sys, time, mechanisms, numpy as np
from hybrid import derive, simulate, solve_state
from hybrid.motion import Settings
rod, n = derive(mechanisms.load("rod_on_incline")), int(sys.argv[1])
low, high = np.array([0.15, -1.5, -1.0]), np.array([3.0, 1.5, 1.0])
drawn = low + np.random.default_rng(1).random((n, 3)) * (high - low)
states = [solve_state(rod, dict(zip(("phi", "phi_dot", "slip.tip"), row.tolist()))) for row in drawn]
for state in states[:10]:
    simulate(rod, state, t_end=1.0, settings=Settings(rtol=1e-9))
start = time.process_time()
for state in states:
    simulate(rod, state, t_end=1.0, settings=Settings(rtol=1e-9))
print(time.process_time() - start, 0)
"""
COMPILED = """
import time
from hybrid.motion.together.stepping import ready
start = time.process_time()
ready()
print(time.process_time() - start, 0)
"""


def measured(code: str, n: int, tree: Path, **variables: str) -> tuple[float, int]:
    """Seconds a motion in a process of its own, and how many were handed over."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment |= variables
    done = subprocess.run(
        [sys.executable, "-c", code, str(n)], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    seconds, singled_out = done.stdout.split()[-2:]
    return float(seconds) / n, int(singled_out)


def main() -> None:
    """Print microseconds a motion and their ratios."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        trees = {"simulate, one by one": (ALONE, SINGLE, HERE)}
        if len(sys.argv) > 3:
            tree = Path(folder) / "tree"
            subprocess.run(["git", "worktree", "add", "--detach", tree, sys.argv[3]], cwd=HERE, check=True)
            trees[f"simulate of {sys.argv[3]}"] = (ALONE, SINGLE, tree)
        try:
            best: dict[str, float] = {}
            singled_out = 0
            for _ in range(rounds):
                seconds, singled_out = measured(TOGETHER, n, HERE)
                best["ensemble"] = min(best.get("ensemble", seconds), seconds)
                for name, (code, size, place) in trees.items():
                    seconds, _ = measured(code, size, place)
                    best[name] = min(best.get(name, seconds), seconds)
            compiled, _ = measured(COMPILED, 1, HERE, NUMBA_CACHE_DIR=folder)
        finally:
            if len(sys.argv) > 3:
                subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=HERE, check=True)
    in_all = f"{n * best['ensemble']:.2f} s of processor in all"
    print(f"{n} motions, {in_all}, {singled_out} handed over; best of {rounds} rounds")
    print(f"  compiled once and kept: {compiled:.1f} s")
    for name, seconds in best.items():
        print(f"  {name:<32} {1e6 * seconds:8.1f} us a motion   {seconds / best['ensemble']:6.1f}")


if __name__ == "__main__":
    main()
