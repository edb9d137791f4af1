"""
Shaw and Holmes 1983: a driven oscillator that strikes a stop
=============================================================

A mass on a spring is driven by a harmonic force and strikes a stop. Between impacts its equation is linear. Even so,
its motion may repeat itself after one period of the force, after two, or never. S. W. Shaw and P. J. Holmes, *Journal
of Sound and Vibration* 90 (1983) 129-155, find the periodic motions and where they lose their stability. They were
among the first to do so for an oscillator with impacts.

.. math:: \\ddot x + x = \\cos\\omega t,\\quad x > 0;\\qquad \\dot x^+ = -e\\,\\dot x^-,\\quad x = 0 .

The mechanism is declared in ``impact_oscillator.toml`` beside this page. The coefficient of restitution is 0.8.
"""

# %%
# One impact a period
# -------------------
# Let the impacts follow each other after :math:`T = 2\pi/\omega`, each with the velocity :math:`-U` before it. Between
# them :math:`x = a\cos t + b\sin t + P\cos(\omega t + \varphi)` with :math:`P = 1/(1-\omega^2)`. The motion begins and
# ends at the stop, which gives :math:`a = b\cot(T/2)`. The velocities there give :math:`b = (1+e)U/2` and
# :math:`P\omega\sin\varphi = (1-e)U/2`, so that
#
# .. math:: U = \frac{|P|}{\sqrt{\left(\frac{1+e}{2}\cot\frac T2\right)^2 + \left(\frac{1-e}{2\omega}\right)^2}} .

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, FOLDER, beside, look

from hybrid import NewtonImpact, State, continue_periodic, derive, periodic_motion, read_mechanism, simulate

oscillator, law, e = derive(read_mechanism(FOLDER / "impact_oscillator.toml")), NewtonImpact(), 0.8
once = {"period": "2*pi/Omega", "law": law}


def by_hand(omega):
    """Velocity of the impact, and a state half a period after it."""
    T, P = 2 * np.pi / omega, 1 / (1 - omega**2)
    U = abs(P) / np.hypot((1 + e) / 2 / np.tan(T / 2), (1 - e) / 2 / omega)
    b = (1 + e) * U / 2
    a = b / np.tan(T / 2)
    phase = np.arctan2((1 - e) * U / 2 / omega / P, -a / P)
    t = T / 2
    x = a * np.cos(t) + b * np.sin(t) + P * np.cos(omega * t + phase)
    v = b * np.cos(t) - a * np.sin(t) - P * omega * np.sin(omega * t + phase)
    return U, State([x], [v], t + phase / omega)


def found(omega):
    """The periodic motion, from a start that is off by one percent."""
    state = by_hand(omega)[1]
    start = State(1.01 * state.q, 0.99 * state.v, state.t)
    return periodic_motion(oscillator, start, parameters={"Omega": omega, "e": e}, **once)


FREQUENCIES = (1.6, 2.0, 2.4)
motions = {omega: found(omega) for omega in FREQUENCIES}
ours = {
    "U": [
        -next(event for event in motions[omega].trajectory.events if event.impact is not None).v_before[0]
        for omega in FREQUENCIES
    ]
}

# %%
# Its multipliers
# ---------------
# Between impacts a small change rotates by the angle :math:`T` in the plane of :math:`x, \dot x`. The impact multiplies
# it by the saltation matrix
#
# .. math:: S = \begin{pmatrix} -e & 0 \\ -(1+e)\,\ddot x/U & -e \end{pmatrix},\qquad
#    \frac{\ddot x}{U} = \frac{\cos\varphi}{U} = -(1-\omega^2)\,\frac{1+e}{2}\cot\frac T2 .
#
# So the product of the multipliers is :math:`e^2`, and their sum
# :math:`-2e\cos T + \tfrac12(1+e)^2(1-\omega^2)(1+\cos T)`. They are complex where the sum is less than :math:`2e` in
# magnitude. One of them passes -1 where the sum is :math:`-(1+e^2)`.

ours["sum"] = [float(np.sum(motions[omega].multipliers).real) for omega in FREQUENCIES]
ours["product"] = [float(np.prod(motions[omega].multipliers).real) for omega in FREQUENCIES]

# %%
# Followed over the frequency, the motion loses its stability at both ends of a window. Lines are the formulas, points
# are the motions that were found.

begin = by_hand(2.0)[1]
up = continue_periodic(oscillator, begin, parameter="Omega", to=2.8, parameters={"Omega": 2.0, "e": e}, **once)
down = continue_periodic(oscillator, begin, parameter="Omega", to=1.15, parameters={"Omega": 2.0, "e": e}, **once)
ours["flips"] = [down.changes[0].value, up.changes[0].value]
ours["kinds"] = f"{down.changes[0].kind}, {up.changes[0].kind}"

with look():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.4), layout="constrained")
    grid = np.linspace(1.15, 2.8, 400)
    left.plot(grid, [by_hand(omega)[0] for omega in grid], color=COLOURS[0], linewidth=1)
    T = 2 * np.pi / grid
    total = -2 * e * np.cos(T) + (1 + e) ** 2 * (1 - grid**2) * (1 + np.cos(T)) / 2
    root = np.sqrt(total**2 - 4 * e**2 + 0j)
    for sign in (1, -1):
        right.plot(grid, np.abs(total + sign * root) / 2, color=COLOURS[0], linewidth=1)
    for branch in (down, up):
        speeds = [
            -next(event for event in item.trajectory.events if event.impact is not None).v_before[0]
            for item in branch.motions
        ]
        left.plot(branch.values, speeds, ".", color=COLOURS[1])
        values = np.array([item.multipliers for item in branch.motions])
        right.plot(np.repeat(branch.values, 2), np.abs(values).ravel(), ".", color=COLOURS[1])
    for panel in (left, right):
        for edge in ours["flips"]:
            panel.axvline(edge, color="0.6", linewidth=0.8, linestyle=":")
        panel.set(xlabel=r"$\omega$", xlim=(1.15, 2.8))
    right.axhline(1, color="0.6", linewidth=0.8)
    right.set(ylabel="modulus of the multipliers", ylim=(0, 2.5))
    left.set(ylabel="velocity of the impact $U$")

# %%
# Beyond the flip
# ---------------
# A little above the upper end the motion repeats itself after two periods: longer and shorter intervals between impacts
# alternate.

omega = ours["flips"][1] + 0.02
state = by_hand(omega)[1]
motion = simulate(
    oscillator,
    State(state.q, state.v + 0.01, state.t),
    t_end=state.t + 240 * 2 * np.pi / omega,
    law=law,
    parameters={"Omega": omega, "e": e},
)
struck = [event for event in motion.events if event.impact is not None]
times = np.array([event.t for event in struck])
late = np.diff(times)[-20:] * omega / (2 * np.pi)
ours["two"] = float(np.abs(late[::2] + late[1::2] - 2).max())
ours["alternate"] = "they differ" if np.abs(late[::2] - late[1::2]).min() > 0.01 else "they are equal"

with look():
    figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    t = np.linspace(times[-7], times[-1], 800)
    axes.plot((t - t[0]) * omega / (2 * np.pi), motion.sample(t)[0][:, 0], color=COLOURS[0])
    axes.axhline(0, color="0.4", linewidth=1.5)
    axes.set(xlabel="periods of the force", ylabel="$x$")

# %%
# Verdict
# -------
# Everything agrees. The paper has damping, and a stop at any place. Without damping, and with the stop where the spring
# is unstretched, its formulas are those above.

beside("shaw_holmes_1983", ours)
