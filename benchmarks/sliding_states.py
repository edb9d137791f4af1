"""A million states of four slipping contacts from arrays: verdicts, modes, margins and critical factors.

    python benchmarks/sliding_states.py [--states N]

Prints seconds, and beside them the time that QuantEcon's call for one solution of one problem would take for as many,
where quantecon is installed (it tells neither how many solutions there are nor how far friction is from critical).
"""

from __future__ import annotations

import argparse
import importlib.util
import time

import numpy as np

from hybrid.contact import CellVerdict
from hybrid.numeric import SlidingProblem, classify_sliding

CONTACTS = 4


def random_problem(n: int) -> SlidingProblem:
    """Contacts of a mechanism of six freedoms, of which one state in fifty is paradoxical."""
    rng = np.random.default_rng(0)
    W, T = rng.normal(size=(2, n, 6, CONTACTS))
    normal = np.swapaxes(W, -1, -2)
    return SlidingProblem(normal @ W, 0.5 * normal @ T, rng.normal(size=(n, CONTACTS)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=1_000_000)
    n = parser.parse_args().states
    problem = random_problem(n)
    classify_sliding(random_problem(100))
    start, busy = time.perf_counter(), time.process_time()
    found = classify_sliding(problem)
    took = time.perf_counter() - start
    print(f"{n} states of {CONTACTS} contacts: {took:.1f} s ({time.process_time() - busy:.1f} s of processors)")
    for value, count in zip(*np.unique(found.verdict, return_counts=True), strict=True):
        print(f"  {CellVerdict(int(value)).name}: {count / n:.2%}")
    print("  critical factor, 1 % and 50 %:", *np.quantile(found.critical.factor, [0.01, 0.5]).round(4))
    if importlib.util.find_spec("quantecon"):
        from quantecon.optimize import lcp_lemke

        sample = [(problem.A[k], problem.b[k]) for k in range(min(n, 2000))]
        lcp_lemke(*sample[0])
        start = time.perf_counter()
        for matrix, vector in sample:
            lcp_lemke(matrix, vector)
        peer = (time.perf_counter() - start) / len(sample) * n
        print(f"quantecon.optimize.lcp_lemke, one solution each: {peer:.1f} s, {peer / took:.2f} times as long")


if __name__ == "__main__":
    main()
