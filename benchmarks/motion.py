"""How long a motion takes: the rod that sticks, slips and reverses, next to two other roads to the same motion.

    python benchmarks/motion.py -o TABLE.md

The same rod is written by hand for scipy's solve_ivp, and declared in Siconos, which is looked for in the system's
python3 (Debian: python3-siconos) and left out with a word where it is absent or no C compiler is. All end at t = 2; the
error is the largest of angle, angular velocity and slip then, against an integration with 30 digits. Times are those of
the processor, so that other work on the machine matters less.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import derive, simulate, solve_state
from hybrid.motion import Settings

WORKER = Path(__file__).with_name("motion_worker.py")
ROUNDS = 40
FEW = 5  # rounds of the roads that take longer
STEPS = (1e-2, 1e-3, 1e-4)
LEAST = 0.05  # seconds of every round and road: short ones find the quiet moments of a busy machine
PHI, PHI_DOT, MU, T_END = 0.4, 0.5, 0.5, 2.0
AT_END = (0.03367096593327753364, -0.86144981951016336741, 0.072638263100869074752)
"""Angle, angular velocity and slip at t = 2."""

Array = NDArray[np.float64]
Answer = Callable[[], tuple[float, float, float]]


def error(found: Sequence[float]) -> float:
    return max(abs(value - right) for value, right in zip(found, AT_END, strict=True))


def least_time(work: Callable[[], object]) -> float:
    """Seconds of processor time of the quickest run in a round of them."""
    times: list[float] = []
    while sum(times) < LEAST or len(times) < 2:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def stick(_: float, y: Array) -> list[float]:
    return [y[1], -0.75 * np.cos(y[0]), 0.0]


def slide(side: float) -> Callable[[float, Array], list[float]]:
    def rate(_: float, y: Array) -> list[float]:
        s, c = np.sin(y[0]), np.cos(y[0])
        force = (1 - s * y[1] ** 2) / (1 + 3 * c * c + 3 * side * MU * s * c)
        friction = -side * MU * force
        turn = 3 * (s * friction - c * force)
        return [y[1], turn, friction + s * turn + c * y[1] ** 2]

    return rate


def cone(_: float, y: Array) -> float:
    s, c = np.sin(y[0]), np.cos(y[0])
    turn = -0.75 * c
    normal, tangential = 1 + c * turn - s * y[1] ** 2, -s * turn - c * y[1] ** 2
    return float(MU * normal - abs(tangential))


def slip(t: float, y: Array) -> float:
    """Zero where the slip ends; kept from firing at once where it starts from zero."""
    return float(y[2]) if t > 0.2 else -1.0


def by_hand(rtol: float, atol: float) -> tuple[float, float, float]:
    """Angle, angular velocity and slip at the end, from three arcs with solve_ivp."""
    for event in (cone, slip):
        event.terminal = True  # type: ignore[attr-defined]
    y, t = np.array([PHI, PHI_DOT, 0.0]), 0.0
    for rate, event in ((stick, cone), (slide(-1.0), slip), (slide(1.0), None)):
        arc = solve_ivp(rate, (t, T_END), y, method="DOP853", rtol=rtol, atol=atol, events=event)
        t, y = float(arc.t[-1]), arc.y[:, -1]
    return float(y[0]), float(y[1]), float(y[2])


def ours() -> dict[str, Answer]:
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": PHI, "phi_dot": PHI_DOT, "slip.tip": 0})

    def road(**how: Any) -> Answer:
        def follow() -> tuple[float, float, float]:
            motion = simulate(rod, start, t_end=T_END, **how)
            (phi, x_dot, phi_dot) = float(motion.q[2]), float(motion.v[0]), float(motion.v[2])
            return phi, phi_dot, x_dot + np.sin(phi) * phi_dot

        return follow

    roads = {"`simulate`": road(), "`simulate`, rtol 1e-6": road(settings=Settings(rtol=1e-6, atol=1e-8))}
    return roads | {
        f"`simulate`, time-stepping, step {h:g}": road(method="time-stepping", step=h) for h in (1e-2, 1e-3)
    }


class Siconos:
    """Siconos' Moreau-Jean time-stepping in a process of the system's Python."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        python = shutil.which("python3", path=os.defpath) or "python3"
        self.process = subprocess.Popen(
            [python, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.is_present = self.ask() is not None

    def ask(self, **task: float) -> dict[str, Any] | None:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def measure(self, step: float) -> tuple[float, float] | None:
        """Seconds of the steps alone, and the error at the end."""
        task = {"phi": PHI, "phi_dot": PHI_DOT, "mu": MU, "t_end": T_END, "step": step}
        answers = [self.ask(**task) for _ in range(2)]
        found = [answer for answer in answers if answer is not None]
        if not found:
            return None
        phi, (x_dot, _, phi_dot) = found[0]["q"][2], found[0]["v"]
        return min(answer["seconds"] for answer in found), error((phi, phi_dot, x_dot + np.sin(phi) * phi_dot))


def measured() -> dict[str, tuple[float, float]]:
    """Seconds and error of every road: the least of several rounds, all roads once in every round."""
    roads = ours()
    for rtol, atol in ((1e-12, 1e-14), (1e-6, 1e-8)):
        roads[f"`solve_ivp` by hand, rtol {rtol:g}"] = lambda rtol=rtol, atol=atol: by_hand(rtol, atol)  # type: ignore[misc]
    errors = {name: error(work()) for name, work in roads.items()}
    peer = Siconos()
    if not peer.is_present:
        print("Siconos is absent in the system's python3, or no C compiler is: left out", file=sys.stderr)
    best: dict[str, tuple[float, float]] = {}
    for number in range(ROUNDS):
        for name, work in roads.items():
            if number >= FEW and best[name][0] > LEAST:
                continue
            seconds = least_time(work)
            best[name] = (min(seconds, best[name][0] if name in best else seconds), errors[name])
        for step in STEPS if peer.is_present else ():
            name = f"Siconos, time-stepping, step {step:g}"
            found = None if number >= FEW and best[name][0] > LEAST else peer.measure(step)
            if found is not None and (name not in best or found[0] < best[name][0]):
                best[name] = found
    return best


def table(best: dict[str, tuple[float, float]]) -> list[str]:
    base = best["`simulate`"][0]
    lines = ["| road | ms | trajectories a second | error | time over that of `simulate` |", "|---|---|---|---|---|"]
    for name, (seconds, wrong) in best.items():
        lines.append(f"| {name} | {1e3 * seconds:.2f} | {1 / seconds:.0f} | {wrong:.1e} | {seconds / base:.2f} |")
    return lines


def at_equal_accuracy(best: dict[str, tuple[float, float]]) -> list[str]:
    """For every road of Siconos, our quickest that is at least as accurate."""
    lines = []
    for name, (seconds, wrong) in best.items():
        if not name.startswith("Siconos"):
            continue
        able = {other: t for other, (t, e) in best.items() if other.startswith("`simulate`") and e <= wrong}
        quickest = min(able, key=lambda other: able[other])
        lines.append(f"- {name}: {seconds / able[quickest]:.2f} times the time of {quickest}, which is more accurate.")
    return lines


def machine() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii") as info:
            model = next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or "unknown processor"
    return (
        f"{model}, {os.cpu_count()} processors, {platform.system()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="file for the table; standard output by default")
    arguments = parser.parse_args()
    best = measured()
    text = "\n".join(
        [
            f"Measured {datetime.date.today().isoformat()} on {machine()}.",
            "",
            *table(best),
            "",
            *at_equal_accuracy(best),
        ]
    )
    if arguments.output:
        arguments.output.write_text(text.rstrip() + "\n", encoding="utf-8")
    else:
        print(text.rstrip())


if __name__ == "__main__":
    main()
