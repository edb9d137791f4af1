"""Cells per second of a region map of the rod on an incline, next to two other ways to the same map.

``hybrid.region_map`` classifies any mechanism from its declaration. The others are a plain loop over ``hybrid.select``,
which is how one would write it first, and the rod's own formulas in numpy, which is what it costs when nothing is
general. Rounds are interleaved, so that a busy machine slows all of them; the best round of each counts. The three
maps are compared cell by cell before anything is printed.

With a revision of the repository, large maps of the rod and of a ladder are timed in its tree as well as in this one,
in processes that take turns.

    python benchmarks/region_map.py [CELLS] [ROUNDS] [REVISION]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import pi
from pathlib import Path

import numpy as np

import mechanisms
from hybrid import Axis, derive, region_map, select, solve_state

MU, EPSILON = 1.5, 0.25
# One in so many cells is given to the loop: it needs milliseconds for each.
SAMPLE = 400

Regions = list[str]


def by_library(dynamics, axes) -> np.ndarray:
    found = region_map(dynamics, axes=axes, pins={"slip.tip": 0}, parameters={"mu": MU, "epsilon": EPSILON})
    return np.array(found.regions, dtype=object)[found.region]


def by_loop(dynamics, cells) -> Regions:
    found = []
    parameters = {"mu": MU, "epsilon": EPSILON}
    for phi, phi_dot in cells:
        pins = {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0}
        branches = select(dynamics, solve_state(dynamics, pins, parameters=parameters), parameters=parameters).branches
        found.append("|".join(sorted(branch.mode.label for branch in branches)) or "none")
    return found


def by_hand(axes) -> np.ndarray:
    """Mamaev and Ivanova (2013): m = g = l = 1, I = 1/3, rest; bits free, slide+, slide-, stick."""
    phi, w = axes[0].values[:, None], axes[1].values[None, :] ** 2
    s, c = np.sin(phi), np.cos(phi)
    b = w * s - 1
    turn = -0.75 * (c + EPSILON * s)
    N = 1 + c * turn - s * w
    T = -s * turn - EPSILON - c * w
    code = (b >= 0) * 1 + (np.abs(T) <= MU * N) * 8
    for side, bit in ((1, 2), (-1, 4)):
        A = 1 + 3 * c * (c + side * MU * s)
        tangential = A * (EPSILON + c * w) + (3 * s * c + side * MU * (1 + 3 * s * s)) * b
        code += ((b / A <= 0) & (side * tangential / A >= 0)) * bit
    names = ("free", "slide+", "slide-", "stick")
    labels = ["|".join(name for i, name in enumerate(names) if k >> i & 1) or "none" for k in range(16)]
    return np.array(labels, dtype=object)[code]


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


LARGE = """
import sys, time
import mechanisms
from hybrid import Axis, derive, region_map
name, n, axes = sys.argv[1], int(sys.argv[2]), sys.argv[3:5]
closed = {f"{quantity}.{name}": 0 for quantity in ("gap", "gap_dot") for name in ("floor", "wall")}
pins = {"slip.tip": "+0"} if name == "rod_on_incline" else closed
dynamics = derive(mechanisms.load(name))
wall = busy = float("inf")
for cells in (n // 4, n, n, n):
    start = time.perf_counter(), time.process_time()
    region_map(dynamics, axes=[Axis.parse(f"{axis}:{cells}") for axis in axes], pins=pins, parameters={"mu": 1.5})
    if cells == n:
        wall, busy = min(wall, time.perf_counter() - start[0]), min(busy, time.process_time() - start[1])
print(wall, busy)
"""

LARGE_MAPS = (
    ("rod_on_incline", 4000, "phi=0:pi", "phi_dot=-3:3"),
    ("ladder_in_corner", 2000, "theta=0:pi/2", "theta_dot=0:6"),
    ("ladder_in_corner", 4000, "theta=0:pi/2", "theta_dot=0:6"),
)


def timed(tree: Path, name: str, n: int, axes: list[str]) -> tuple[float, float]:
    """Best times of a large map by the code of a tree: of the clock, and of all processors."""
    given = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", LARGE, name, str(n), *axes]
    said = subprocess.run(command, env=given, cwd=tree, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1])


def compare(revision: str, rounds: int) -> None:
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(root), "worktree"]
        subprocess.run([*git, "add", "--detach", str(tree), revision], check=True, capture_output=True)
        try:
            for name, n, *axes in LARGE_MAPS:
                times = np.array([[timed(place, name, n, axes) for place in (tree, root)] for _ in range(rounds)])
                for kind, (before, now) in zip(("clock", "processors"), times.min(axis=0).T, strict=True):
                    print(
                        f"{name}, {n} x {n}, {kind}: {before:.2f} s at {revision}, {now:.3f} s now, "
                        f"{before / now:.1f} times; {n * n / now / 1e6:.0f} million cells a second",
                        flush=True,
                    )
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=False, capture_output=True)


def main(n: int = 400, rounds: int = 7) -> None:
    start = time.perf_counter()
    dynamics = derive(mechanisms.load("rod_on_incline"))
    derivation = time.perf_counter() - start
    axes = [Axis("phi", 0, pi, n), Axis("phi_dot", -3, 3, n)]
    chosen = np.random.default_rng(1).choice(n * n, size=max(1, n * n // SAMPLE), replace=False)
    cells = [(axes[0].values[k // n], axes[1].values[k % n]) for k in chosen]
    maps = by_library(dynamics, axes), by_hand(axes)
    if not np.array_equal(*maps) or by_loop(dynamics, cells[:50]) != maps[0].ravel()[chosen[:50]].tolist():
        sys.exit("the maps differ")
    ways = {
        "loop over hybrid.select": (lambda: by_loop(dynamics, cells), len(cells)),
        "hybrid.region_map": (lambda: by_library(dynamics, axes), n * n),
        "the rod's formulas in numpy": (lambda: by_hand(axes), n * n),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, (call, count) in ways.items():
            best[name] = min(best[name], seconds(call) / count)
    print(f"{n} x {n} cells, best of {rounds} interleaved rounds; derivation took {derivation * 1e3:.0f} ms, once")
    for name, each in best.items():
        ratio = best["hybrid.region_map"] / each
        print(f"  {name:28s} {1 / each:12,.0f} cells/s  {each * n * n:8.3f} s a map  {ratio:9.3g} x region_map's speed")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
    if len(sys.argv) > 3:
        compare(sys.argv[3], 2)
