"""How long deriving, states, verdicts and motions take here and at another commit, in processes that take turns.

    python benchmarks/derivation.py [--against COMMIT] [--links 1 4 8 12] [--repeat 5] [--only WORDS]

Times are processor times of one derivation in a fresh process, code for floats included, without imports, the smallest
of several; of the whole command `painleve verdict` of a rod; and of one later call of `solve_state`, of `select` and of
`simulate` for the rod, and of `simulate` for a chain. COMMIT (by default the last one before the re-founding) is
checked out into a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from behaviour import BEFORE, ROOT, checkout

MECHANISM = """
import sys, time
import hybrid, mechanisms
from hybrid import Contact, EnergyDynamics, Mechanism, derive
n = int(sys.argv[1])
if n:
    kinetic, potential, x, y = [], [], "0", "0"
    for i in range(n):
        kinetic.append(f"m*(u{i}**2 + w{i}**2)/2 + J*a{i}_dot**2/2")
        potential.append(f"m*g*h{i}")
    places = {}
    for i in range(n):
        before = (f"x{i - 1}", f"y{i - 1}", f"p{i - 1}", f"s{i - 1}") if i else ("0", "0", "0", "0")
        places |= {f"x{i}": f"{before[0]} + l*cos(a{i})", f"y{i}": f"{before[1]} + l*sin(a{i})"}
        places |= {f"p{i}": f"{before[2]} - l*sin(a{i})*a{i}_dot", f"s{i}": f"{before[3]} + l*cos(a{i})*a{i}_dot"}
        places |= {f"u{i}": f"{before[2]} - l/2*sin(a{i})*a{i}_dot", f"w{i}": f"{before[3]} + l/2*cos(a{i})*a{i}_dot"}
        places |= {f"h{i}": f"{before[1]} + l/2*sin(a{i})"}
    mechanism = Mechanism(
        name="chain", coordinates=[f"a{i}" for i in range(n)], definitions=places,
        parameters={"m": 1, "l": 0.5, "J": 0.02, "g": 9.81, "mu": 0.9},
        dynamics=EnergyDynamics(kinetic=" + ".join(kinetic), potential=" + ".join(potential)),
        contact=[Contact(name="tip", gap=f"y{n - 1} + 1", tangent=f"x{n - 1}", friction="mu")],
    )
else:
    mechanism = mechanisms.load("rod_on_incline")
"""
DERIVE = f"""{MECHANISM}
start = time.process_time()
derive(mechanism).terms([0.1] * len(mechanism.coordinates), [0.2] * len(mechanism.coordinates))
print(time.process_time() - start)
"""
VERDICT = """
import sys, time
try:
    from mechanisms.launch import main
except ImportError:  # before the command had a door of its own
    from hybrid.cli import main
sys.argv = "painleve verdict rod_on_incline --pin phi=0.4 --pin phi_dot=0.5 --pin slip.tip=0 --json".split()
sys.stdout, told = open("/dev/null", "w"), sys.stdout
try:
    main()
except SystemExit:
    pass
print(time.process_time(), file=told)
"""
CALLS = """
import sys, time
import mechanisms
from hybrid import derive, select, solve_state
verdict, call, mu, *pins = sys.argv[1:]
rod, given = derive(mechanisms.load("rod_on_incline")), {"mu": float(mu)}
numbers = (pin.split("=") for pin in pins)
pins = {name: value if value in ("+0", "-0") else float(value) for name, value in numbers}
state = solve_state(rod, pins, parameters=given)
assert select(rod, state, parameters=given).verdict.name == verdict
work = {
    "select": lambda: select(rod, state, parameters=given),
    "solve_state": lambda: solve_state(rod, pins, parameters=given),
}[call]
times = []
for _ in range(40):
    start = time.process_time()
    for _ in range(25):
        work()
    times.append((time.process_time() - start) / 25)
print(min(times))
"""
MOTION = f"""{MECHANISM}
from hybrid import State, solve_state
from hybrid.motion import simulate
dynamics, t_end = derive(mechanism), float(sys.argv[2])
state = State([0.1]*n, [0.2]*n) if n else solve_state(dynamics, dict(phi=0.4, phi_dot=0.5)|{{"slip.tip": 0.0}})
times = []
for _ in range(20):
    start = time.process_time()
    simulate(dynamics, state, t_end=t_end)
    times.append(time.process_time() - start)
print(min(times))
"""
STATES = {
    "sliding": ("UNIQUE", "0.5", "phi=0.8", "phi_dot=0.5", "slip.tip=1"),
    "at rest": ("UNIQUE", "0.5", "phi=1.2", "phi_dot=0.3", "slip.tip=0"),
    "paradox": ("INCONSISTENT", "1.5", "phi=2.0", "phi_dot=0", "slip.tip=+0"),
}


def seconds(tree: Path, code: str, *arguments: str) -> float:
    """Processor time that a fresh process with one tree's packages measures."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, cwd=tree, capture_output=True, text=True, check=False
    )
    return float(run.stdout) if run.returncode == 0 else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", default=BEFORE, metavar="COMMIT")
    parser.add_argument("--links", type=int, nargs="+", default=[4, 8, 12], metavar="N")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORDS", help="only the rows whose label holds these words")
    asked = parser.parse_args()
    rows = [("verdict of the rod, cold", VERDICT, ()), ("derive, rod", DERIVE, ("0",))]
    rows += [(f"derive, chain of {n}", DERIVE, (str(n),)) for n in asked.links]
    for call in ("solve_state", "select"):
        rows += [(f"{call}, {name}", CALLS, (pins[0], call, *pins[1:])) for name, pins in STATES.items()]
    rows += [("simulate, rod", MOTION, ("0", "2")), ("simulate, chain of 8", MOTION, ("8", "0.3"))]
    rows = [row for row in rows if asked.only in row[0]]
    print(f"{'ms':26s}{'before':>10s}{'now':>10s}{'ratio':>9s}")
    with checkout(asked.against) as tree:
        for label, code, arguments in rows:
            pairs = [[seconds(side, code, *arguments) for side in (tree, ROOT)] for _ in range(asked.repeat)]
            before, now = (min(times) for times in zip(*pairs, strict=True))
            print(f"{label:26s}{1e3 * before:10.3f}{1e3 * now:10.3f}{now / before:9.3f}", flush=True)


if __name__ == "__main__":
    main()
