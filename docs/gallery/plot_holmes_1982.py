"""
Holmes 1982: a ball on a vibrating table
========================================

The simplest driven impact oscillator: a ball bounces on a table that moves with :math:`a\\sin\\Omega t`. P. J. Holmes,
The dynamics of repeated impacts with a sinusoidally vibrating table, *Journal of Sound and Vibration* 84 (1982)
173-189, finds bounces as long as the table's period. He says between which accelerations of the table they are stable,
and finds chaos beyond. The only parameters are the coefficient of restitution :math:`e` and
:math:`\\Gamma = a\\Omega^2/g`. The catalogue has it as ``ball_on_vibrating_table``.
"""

# %%
# The bounce of one period and its multipliers
# --------------------------------------------
# A ball that comes and goes with :math:`\pm\pi g/\Omega` meets the table where it moves with :math:`(1-e)/(1+e)` of
# that; so :math:`\Gamma\cos\phi = \pi(1-e)/(1+e)`. The two multipliers have the product :math:`e^2` and the sum
# :math:`1 + e^2 - (1+e)^2\,\Gamma\sin\phi`. ``periodic_motion`` uses neither formula: it finds the periodic motion by
# Newton's method, and multiplies the derivatives of the flights and the saltation matrices.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, beside, look, reference

import mechanisms
from hybrid import NewtonImpact, State, continue_periodic, derive, periodic_motion, simulate

table = derive(mechanisms.load("ball_on_vibrating_table"))
law, unit = NewtonImpact(), {"g": 1, "Omega": 1, "e": 0.5}
begin = 1.3  # of the period, away from the impact


def bounce(gamma, e):
    """The ball in flight, near the bounce of period one."""
    phase = np.arccos(np.pi * (1 - e) / (1 + e) / gamma)
    flight = begin - phase
    return State([gamma * np.sin(phase) + np.pi * flight - flight**2 / 2], [np.pi - flight], begin)


found = periodic_motion(
    table, bounce(1.45, 0.5), period="2*pi/Omega", law=law, parameters=unit | {"Gamma": 1.45}
).multipliers
inside = periodic_motion(table, bounce(1.2, 0.5), period="2*pi/Omega", law=law, parameters=unit | {"Gamma": 1.2})
ours = {
    "product": float(np.prod(found).real),
    "sum": float(np.sum(found).real),
    "modulus": float(np.abs(inside.multipliers[0])),
}

# %%
# The window of stability
# -----------------------
# Followed in :math:`\Gamma`, the bounce begins at a fold and loses its stability where a multiplier passes -1. Lines
# are the formula, dashed for the unstable bounce beyond the fold; points are motions that were found.

options = {"parameter": "Gamma", "period": "2*pi/Omega", "law": law, "parameters": unit | {"Gamma": 1.2}}
up = continue_periodic(table, bounce(1.2, 0.5), to=1.6, **options)
down = continue_periodic(table, bounce(1.2, 0.5), to=1.0, **options)
ours |= {
    "fold": down.changes[0].value,
    "flip": up.changes[0].value,
    "kinds": f"{down.changes[0].kind}, {up.changes[0].kind}",
}

with look():
    figure, (values, plane) = plt.subplots(1, 2, figsize=(7.6, 3.4), layout="constrained")
    grid = np.linspace(np.pi / 3, 1.6, 400)
    for sign in (1, -1):  # the stable bounce, and the other one beyond the fold
        total = 1.25 - sign * 2.25 * np.sqrt(grid**2 - (np.pi / 3) ** 2)
        root = np.sqrt(total**2 - 1 + 0j)
        for column, value in enumerate(((total + root) / 2, (total - root) / 2)):
            values.plot(grid, np.abs(value), "-" if sign > 0 else "--", color=COLOURS[column], linewidth=1)
    for branch in (down, up):
        points = np.concatenate([item.multipliers for item in branch.motions])
        values.plot(np.repeat(branch.values, 2), np.abs(points), ".", color="0.1", markersize=5)
        plane.plot(points.real, points.imag, ".", color=COLOURS[0], markersize=4)
    values.axhline(1, color="0.6", linewidth=0.8)
    for edge in (ours["fold"], ours["flip"]):
        values.axvline(edge, color="0.6", linewidth=0.8, linestyle=":")
    values.set(xlabel=r"$\Gamma$", ylabel="modulus of the multipliers", ylim=(0, 2))
    angle = np.linspace(0, 2 * np.pi, 300)
    plane.plot(np.cos(angle), np.sin(angle), color="0.6", linewidth=0.8)
    plane.plot(0.5 * np.cos(angle), 0.5 * np.sin(angle), ":", color="0.6", linewidth=0.8)
    plane.set(xlabel="real part", ylabel="imaginary part", aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.1, 1.1))

# %%
# In the plane of restitution and acceleration the window is a strip; its ends are ``data/holmes_window.csv``. At points
# of the upper end (dots) the motion is found and has the multiplier -1.

head, window = reference("holmes_window")
dots = slice(0, 15, 3)


def from_flip(e, gamma):
    """Distance of the nearest multiplier from -1."""
    values = unit | {"e": e, "Gamma": gamma}
    near = periodic_motion(table, bounce(gamma, e), period="2*pi/Omega", law=law, parameters=values)
    return float(np.min(np.abs(near.multipliers + 1)))


ours["window"] = max(from_flip(*point) for point in zip(window["e"][dots], window["flip"][dots], strict=True))

with look():
    figure, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    axes.fill_between(window["e"], window["fold"], window["flip"], color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.plot(window["e"], window["fold"], color=COLOURS[0], label="fold")
    axes.plot(window["e"], window["flip"], "--", color=COLOURS[1], label="flip")
    axes.plot(window["e"][dots], window["flip"][dots], ".", color="0.1")
    axes.set(xlabel="restitution $e$", ylabel=r"$\Gamma$", xlim=(0.1, 0.9))
    axes.legend(frameon=False)

# %%
# Beyond the window
# -----------------
# At :math:`\Gamma = 1.58` a bounce that is disturbed a little goes over to one of two
# periods: longer and shorter flights alternate.

near = bounce(1.58, 0.5)
disturbed = State(near.q, near.v + 0.01, near.t)
motion = simulate(table, disturbed, t_end=begin + 160 * 2 * np.pi, law=law, parameters=unit | {"Gamma": 1.58})
times = np.array([event.t for event in motion.events if event.impact is not None])
late = np.diff(times)[-20:]
ours |= {
    "two": float(np.max(np.abs(late[::2] + late[1::2] - 4 * np.pi))),
    "apart": "they differ" if np.min(np.abs(late[::2] - late[1::2])) > 0.1 else "they are equal",
}

with look():
    figure, axes = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
    shown = np.linspace(times[-7], times[-1], 1200)
    q, _ = motion.sample(shown)
    axes.plot(shown - shown[0], q[:, 0], color=COLOURS[0], linewidth=1.2, label="ball")
    axes.plot(shown - shown[0], 1.58 * np.sin(shown), color=COLOURS[1], linewidth=1.2, linestyle="--", label="table")
    axes.set(xlabel=r"$\Omega t$", ylabel=r"height $\cdot\,\Omega^2/g$", xlim=(0, shown[-1] - shown[0]))
    axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))

# %%
# Verdict
# -------
# Everything agrees. Holmes replaces the table's height at the impact by a constant, and obtains an explicit map. The
# bounce of one period and its stability do not depend on that, because all its impacts happen at one height. Beyond the
# window his map and the ball differ, and this page follows the ball.

beside("holmes_1982", ours)
