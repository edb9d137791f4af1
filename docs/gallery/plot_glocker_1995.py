"""
Glocker 1995: a rod runs into its paradox
=========================================

A uniform rod of length 2 and mass 1 is thrown along a floor with friction 5/3, one end down. It slides on, gets
steeper, and after less than a second its contact force has no bound: an *impact without collision*, the example of
Ch. Glocker's thesis, *Dynamik von Starrkörpersystemen mit Reibung und Stößen*, VDI Verlag (1995), section 5.3.4.

With :math:`J = 1/3`, :math:`g = 10` and :math:`\\mu = 5/3` the inertia factor of sliding vanishes at exactly 45
degrees. The rod starts at 31 degrees with :math:`\\dot x = 30` and :math:`\\dot\\varphi = 0`. It is ``painleve_rod``
of the catalogue.
"""

# %%
# Sliding into the singular point
# -------------------------------

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, Table, beside, look

import mechanisms
from hybrid import (
    Axis,
    ForceAtPoint,
    Penalty,
    derive,
    genot_brogliato_points,
    simulate,
    solve_state,
    time_stepping,
)

rod = derive(mechanisms.load("painleve_rod"))
values = {"mu": "5/3", "g": 10}
start = solve_state(rod, {"x": 0, "theta": "31*pi/180", "x_dot": 30, "theta_dot": 0}, parameters=values)
motion = simulate(rod, start, t_end=2, parameters=values)
reached = motion.events[-1]

# %%
# The motion ends there, and says why:

Table(("why the motion ends",), [(motion.cause,)])

# %%
# The point itself is :math:`A = b = 0`: 45 degrees and :math:`\dot\varphi = \sqrt{g/\sin 45°}`. Because the force has
# no bound, the velocities shortly before the point differ from those at it. The latter follow from two facts. The
# contact stays closed, so :math:`\dot y = \dot\varphi\cos\varphi`. And while the rod slides, friction is :math:`\mu`
# times the normal force, so that :math:`\dot x + \mu(\dot y + g t)` does not change, however large the force.

plane = [Axis("theta", 0.1, np.pi / 2), Axis("theta_dot", 0, 8)]
points = genot_brogliato_points(rod, over=plane, pins={"slip.tip": 1}, parameters=values)
(point,) = (item for item in points if item.force is ForceAtPoint.UNBOUNDED)
angle, rate = point.at["theta"], point.at["theta_dot"]
x_dot = 30 - 5 / 3 * (rate * np.cos(angle) + 10 * reached.t)
ours = {
    "t": reached.t,
    "angle": np.degrees(angle),
    "rate": rate,
    "x_dot": x_dot,
    "x": reached.q[0],
    "slip": x_dot - np.sin(angle) * rate,
    "event": reached.t,
}

# %%
# What the plot of the thesis shows
# ---------------------------------
# The thesis follows the rod by time stepping, and its plot marks the event at 0.83. Time stepping locates no events.
# At this point its runs do not converge as the step is refined. A run that lands in the region without a solution
# sticks, and is thrown off in the next step. One that lands beside it slides past the point and lifts off later.


def slip(trajectory, t):
    """Velocity of the contact point along the floor."""
    q, v = trajectory.sample(t)
    return v[:, 0] - np.sin(q[:, 2]) * v[:, 2]


STEPS = (0.02, 0.015, 0.01, 0.005, 0.002)
runs = {step: time_stepping(rod, start, t_end=1.2, step=step, parameters=values) for step in STEPS}
thrown = {step: run.arcs[1].mode.label == "stick" for step, run in runs.items()}
leaves = {step: next(arc.start for arc in run.arcs if arc.mode.label == "free") for step, run in runs.items()}
Table(
    ("step", "at the point", "leaves the floor at"),
    [(step, "sticks" if thrown[step] else "slides past", leaves[step]) for step in STEPS],
)

# %%
# None leaves before the point is reached, and those that stick there leave within a step of it.

ours["after"] = int(min(leaves.values()) > reached.t)
ours["at_once"] = [int(leaves[step] - reached.t < step) for step in STEPS if thrown[step]]
through = simulate(rod, start, t_end=0.9, parameters=values, rule=Penalty())

with look():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.4), layout="constrained")
    before = reached.t - np.geomspace(0.1, 1e-6, 200)
    exact = np.concatenate([before, np.linspace(reached.t + 1e-6, 0.9, 100)])
    left.plot(exact, slip(through, exact), color=COLOURS[0], label="events located, compliant floor at the paradox")
    for step, colour, mark in ((0.01, COLOURS[1], "o"), (0.005, COLOURS[4], "s")):
        t = step * np.arange(round(0.7 / step), round(0.9 / step))
        left.plot(t, slip(runs[step], t), mark, color=colour, markersize=3, label=f"time stepping, step {step}")
    left.axvline(0.83, color="0.5", linestyle=":", linewidth=1, label="mark of the published plot")
    left.set(xlabel="t  (s)", ylabel="slip  (m/s)", xlim=(0.7, 0.9), ylim=(-11, 18))
    left.legend(frameon=False, fontsize=7, loc="lower left")
    q, v = motion.sample(before)
    A = 1 + 3 * np.cos(q[:, 2]) * (np.cos(q[:, 2]) - 5 / 3 * np.sin(q[:, 2]))
    b = -10 + v[:, 2] ** 2 * np.sin(q[:, 2])
    right.loglog(reached.t - before, -b / A, color=COLOURS[0], label="$-b/A$ along the motion")
    right.loglog(
        reached.t - before,
        24 * (A / A[0]) ** point.exponent,
        color=COLOURS[4],
        linestyle="--",
        label=f"$A^{{{point.exponent:.4f}}}$",
    )
    right.invert_xaxis()
    right.set(xlabel="time to the point  (s)", ylabel="normal force  (N)")
    right.legend(frameon=False)

# %%
# Verdict
# -------
# The state at the singular point agrees. The mark at 0.83 is not reproducible: when a time-stepping run leaves the
# floor depends on its step, from 0.816 to 0.85 here, and the step of the published run is not known.

beside("glocker_1995", ours)
