"""The rod on a level plane in Siconos' time-stepping, in a process of its own: reads steps as lines of JSON."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MEMORY = 4 << 30  # bytes: some versions keep every step
MOST_STEPS = 200_000
RELATION = """
#include <math.h>
void gap(unsigned int n, const double* q, unsigned int rows, double* y, unsigned int k, double* z)
{ y[0] = q[1] - sin(q[2]); y[1] = q[0] - cos(q[2]); }
void jacobian(unsigned int n, const double* q, unsigned int rows, double* J, unsigned int k, double* z)
{ J[0] = 0; J[1] = 1; J[2] = 1; J[3] = 0; J[4] = -cos(q[2]); J[5] = sin(q[2]); }
"""


def compiled(folder):
    """The contact's kinematics in C, so that no step waits for Python; the library's path without its suffix."""
    source = Path(folder, "rod.c")
    source.write_text(RELATION, encoding="ascii")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(Path(folder, "rod.so")), str(source)], check=True)
    return Path(folder, "rod")


def follow(kernel, library, task):
    import numpy as np

    phi, rate, mu, t_end, h = (task[name] for name in ("phi", "phi_dot", "mu", "t_end", "step"))
    if t_end / h > MOST_STEPS:
        raise ValueError(f"at most {MOST_STEPS} steps")
    start = [np.cos(phi), np.sin(phi), phi], [-np.sin(phi) * rate, np.cos(phi) * rate, rate]
    rod = kernel.LagrangianLinearTIDS(*start, np.diag([1.0, 1.0, 1 / 3]))
    rod.setFExtPtr(np.array([0.0, -1.0, 0.0]))
    relation = kernel.LagrangianScleronomousR(f"{library}:gap", f"{library}:jacobian")
    contact = kernel.Interaction(kernel.NewtonImpactFrictionNSL(0.0, 0.0, mu, 2), relation)
    model = kernel.NonSmoothDynamicalSystem(0.0, t_end)
    model.insertDynamicalSystem(rod)
    model.link(contact, rod)
    times = kernel.TimeDiscretisation(0.0, h)
    scheme = kernel.TimeStepping(model, times, kernel.MoreauJeanOSI(0.5), kernel.FrictionContact(2))
    began, steps = time.process_time(), 0
    while scheme.hasNextEvent():
        scheme.computeOneStep()
        scheme.nextStep()
        steps += 1
    seconds = time.process_time() - began
    return {"seconds": seconds, "steps": steps, "q": rod.q().tolist(), "v": rod.velocity().tolist()}


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # Siconos writes to the standard output, too
    import siconos.kernel as kernel

    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder)
        for line in sys.stdin:
            task = json.loads(line)
            answer = {"ready": True} if "step" not in task else follow(kernel, library, task)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
