"""Time the complementarity solvers side by side with their peers, interleaved, each in a process of its own.

    python benchmarks/lcp_peers.py --peers PYTHON -o TABLE.md

PYTHON is an interpreter that has quantecon and drake (both on the package index); Siconos is looked for in the
system's python3 (Debian: python3-siconos). What is absent is left out, with a word.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("lcp_worker.py")
ROOT = WORKER.parents[1]
SIZES = (1, 2, 3, 4, 6, 8, 12, 20, 50, 100)
REQUIRED = {1: 3, 2: 3, 3: 3, 4: 3, 6: 2, 8: 2, 12: 1.8, 20: 1.5, 50: 1.5, 100: 1.5}
REQUIRED_BATCH = {1: 25, 2: 20, 3: 15, 4: 10}
PEERS = ("quantecon", "Drake Moby", "Drake unrevised", "Siconos")


class Worker:
    """A process that answers tasks for one solver."""

    def __init__(self, name, python):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)} if name.startswith("painleve") else dict(os.environ)
        environment.pop("VIRTUAL_ENV", None)
        self.process = subprocess.Popen(
            [python, str(WORKER), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, **task):
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(peers):
    system = shutil.which("python3", path=os.defpath)
    pythons = dict.fromkeys(("painleve", "painleve, checked", "painleve, loaded"), sys.executable)
    pythons |= {"quantecon": peers, "Drake Moby": peers, "Drake unrevised": peers}
    pythons |= {"Siconos": system, "Siconos, prepared": system}
    workers, versions = {}, {}
    for name, python in pythons.items():
        worker = Worker(name, python) if python else None
        version = worker.ask(task="version") if worker else None
        if version is None:
            print(f"{name}: absent in {python}, left out", file=sys.stderr)
        else:
            workers[name], versions[name] = worker, version["version"]
    return workers, versions


def interleaved(workers, rounds, **task):
    """The best of several rounds for each worker, all workers once in every round."""
    best = {}
    for _ in range(rounds):
        for name, worker in workers.items():
            result = worker.ask(**task)
            if result and (name not in best or result["seconds"] < best[name]["seconds"]):
                best[name] = result
    return best


def ratio_table(rows, names, title):
    head = ["n", *names, "faster peer / painleve", "wanted"]
    lines = [f"### {title}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return [*lines, ""]


def one_solution(workers):
    names = [name for name in workers if name != "painleve"]
    rows, notes = [], []
    for n in SIZES:
        count = 100 if n <= 20 else 20
        best = interleaved(workers, 5, task="one", kind="positive definite", n=n, count=count, seed=1)
        ours = best["painleve"]["seconds"]
        fastest = min(best[name]["seconds"] for name in PEERS if name in best)
        wrong = [name for name, r in best.items() if r["correct"] != r["count"]]
        if wrong:
            notes.append(f"n = {n}: not all solved by {', '.join(wrong)}.")
        cells = [f"{best[name]['seconds'] / ours:.1f}" for name in names]
        rows.append([str(n), *cells, f"{fastest / ours:.2f}", str(REQUIRED[n])])
    title = "One solution: time of each over that of `lcp.kernels.solve_into`, random positive definite problems"
    return ratio_table(rows, names, title) + notes + [""]


def all_solutions(workers):
    able = {name: workers[name] for name in ("painleve, checked", "painleve, loaded", "Siconos") if name in workers}
    if "Siconos" not in able:
        return []
    lines = [
        "### All solutions: Siconos' enumeration, seed by seed, over each of ours; gaussian problems",
        "",
        "| n | found (all alike) | over `enumerate_solutions` | with kernels loaded | over `enumerate_batch` on one "
        "processor | on all processors | wanted |",
        "|---|---|---|---|---|---|---|",
    ]
    for n in (4, 6, 8, 10, 12):
        best = interleaved(able, 5, task="all", kind="gaussian", n=n, count=40, seed=2)
        batch = {}
        for _ in range(3):
            for threads in (1, 0):
                task = {"task": "batch of all", "n": n, "count": 4000 if n < 8 else 400, "threads": threads}
                result = workers["painleve"].ask(**task)
                if result["found"] != result["count"]:
                    raise SystemExit(f"n = {n}: {result['found']} of {result['count']} solutions are right")
                batch[threads] = min(batch.get(threads, float("inf")), result["seconds"])
        peer = best["Siconos"]["seconds"]
        ours = [best["painleve, checked"]["seconds"], best["painleve, loaded"]["seconds"], batch[1], batch[0]]
        found = "/".join(str(best[name]["found"]) for name in able)
        lines.append(f"| {n} | {found} | " + " | ".join(short(peer / seconds) for seconds in ours) + " | 20 |")
    return [*lines, ""]


def short(ratio):
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def batches(workers):
    rows = []
    able = {name: workers[name] for name in ("painleve", "quantecon") if name in workers}
    for n in (1, 2, 3, 4):
        best = interleaved(able, 4, task="batch", n=n, count=1_000_000)
        count = 24_000_000 // (n * n + n)  # 192 MB, more than the last caches of two processors of different clusters
        parts = []
        for threads in (1, 0):
            task = {"task": "streaming", "n": n, "count": count, "repetitions": 100, "threads": threads}
            last = workers["painleve"].ask(**task)
            parts.append(f"{100 * last['stream'] / last['seconds']:.0f} % of {last['bandwidth'] / 1e9:.0f} GB/s")
        ours = best["painleve"]["seconds"]
        peer = f"{best['quantecon']['seconds'] / ours:.1f}" if "quantecon" in best else "absent"
        rows.append([str(n), peer, str(REQUIRED_BATCH[n]), *parts, "60 %" if n < 4 else ""])
    lines = [
        "### Batches",
        "",
        "quantecon in a parallel numba loop over `solve_batch`, problems along the first axis; and `solve_batch`,",
        "problems along the last axis, against a loop that reads the same entries, adds them, and writes as much",
        "a problem, both on one and on all processors.",
        "",
        "| n | quantecon / painleve | wanted | of the bandwidth bound of one processor | of all | wanted |",
        "|---|---|---|---|---|---|",
    ]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def false_claims(workers):
    """Success claimed without a solution, on gaussian problems; Siconos' plain function makes no such claim."""
    workers = {name: worker for name, worker in workers.items() if not name.startswith("Siconos")}
    lines = ["### False success", "", "Answers called a success that are none, of 1 000 gaussian problems each.", ""]
    lines += ["| n | " + " | ".join(workers) + " |", "|" + "---|" * (len(workers) + 1)]
    for n in (1, 2, 4, 8):
        task = {"task": "one", "kind": "gaussian", "n": n, "count": 1000, "seed": 3}
        best = interleaved(workers, 1, **task)
        cells = [str(best[name]["claimed"] - best[name]["correct"]) for name in workers if name in best]
        lines.append("| " + " | ".join([str(n), *cells]) + " |")
    return [*lines, ""]


def machine():
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii") as info:
            model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or "unknown processor"
    return f"{model}, {os.cpu_count()} processors, {platform.system()}, Python {platform.python_version()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=sys.executable, help="interpreter with quantecon and drake")
    parser.add_argument("-o", "--output", type=Path, help="file for the table; standard output by default")
    arguments = parser.parse_args()
    workers, versions = start(arguments.peers)
    lines = [f"Measured {datetime.date.today().isoformat()} on {machine()}.", ""]
    lines += [f"- {name}: {version}" for name, version in versions.items()]
    lines += [""]
    for part in (one_solution, all_solutions, batches, false_claims):
        lines += part(workers)
    for worker in workers.values():
        worker.close()
    text = "\n".join(lines).rstrip() + "\n"
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
