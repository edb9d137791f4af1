"""
McGeer 1990: the rimless wheel
==============================

A wheel that has lost its rim rolls on its spokes down a slope, from foot to foot: the simplest walker without a motor.
T. McGeer, Passive dynamic walking, *International Journal of Robotics Research* 9 (1990) 62-82, uses it to explain how
gravity pays for the impacts of the feet and why the gait is stable; M. J. Coleman, A. Chatterjee and A. Ruina, Motions
of a rimless spoked wheel, *Dynamics and Stability of Systems* 12 (1997) 139-159, study it in space.

The mechanism stands in ``rimless_wheel.toml`` beside this page: a planar body with eight feet, each a contact with
friction. Nothing prescribes which foot is down, or that the old foot leaves the ground when the new one strikes.
"""

# %%
# The impact of a foot
# --------------------
# With :math:`2\alpha = \pi/4` between two spokes and :math:`I = J + m l^2`, the moment of momentum about the new foot
# is kept: :math:`\dot\varphi^+ = \eta\,\dot\varphi^-`, :math:`\eta = (J + m l^2\cos 2\alpha)/I`.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, FOLDER, beside, look

from hybrid import NewtonImpact, State, derive, read_mechanism, simulate

wheel, law = derive(read_mechanism(FOLDER / "rimless_wheel.toml")), NewtonImpact()
alpha, g, J = np.pi / 8, 9.81, 0.25
about_foot = J + 1
eta = (J + np.cos(2 * alpha)) / about_foot


def on_foot(rate):
    """The wheel just after its first foot has come down."""
    s, c = np.sin(-alpha), np.cos(-alpha)
    return State([s, c, -alpha], [c * rate, -s * rate, rate])


motion = simulate(wheel, on_foot(1.1), t_end=12, law=law)
struck = [event for event in motion.events if event.impact is not None]
before = np.array([event.v_before[2] for event in struck])
ours = {"eta": float(struck[0].v_after[2] / before[0])}

# %%
# The gait
# --------
# In a step the hub falls by :math:`2 l\sin\alpha\sin\gamma`, which is what the impact takes from a steady gait:
# :math:`(\dot\varphi^-)^2 = 4 m g l\sin\alpha\sin\gamma/\bigl(I(1-\eta^2)\bigr)`. Any other gait tends to it: the
# difference of the squares is multiplied by :math:`\eta^2` in every step, which is the multiplier of the gait.

square = 4 * g * np.sin(alpha) * np.sin(0.06) / (about_foot * (1 - eta**2))
off = before**2 - square
ours |= {
    "gait": float(simulate(wheel, on_foot(eta * np.sqrt(square)), t_end=3, law=law).events[0].v_before[2]),
    "multiplier": float(off[4] / off[3]),
    "feet": ", ".join(event.elements[0] for event in struck[:9]),
}

with look():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.2), layout="constrained")
    for arc in motion.arcs:
        _, v = arc.sample(np.linspace(arc.start, arc.end, 60))
        left.plot(np.linspace(arc.start, arc.end, 60), v[:, 2], color=COLOURS[0], linewidth=1.1)
    left.axhline(np.sqrt(square), color=COLOURS[1], linewidth=1, linestyle="--")
    left.set(xlabel="time (s)", ylabel=r"$\dot\varphi$  (rad/s)", xlim=(0, 12))
    steps = np.arange(1, len(off) + 1)
    right.semilogy(steps, np.abs(off), "o", color=COLOURS[0], markersize=4)
    right.semilogy(steps, abs(off[0]) * eta ** (2 * (steps - 1)), color=COLOURS[1], linewidth=1, linestyle="--")
    right.set(xlabel="step", ylabel=r"$(\dot\varphi^-)^2$ off the gait's")

# %%
# The least slope
# ---------------
# After the impact the wheel must still pass the upright of its new foot. The steady gait does so while
# :math:`\eta^2 (\dot\varphi^-)^2 > 2 m g l\bigl(1 - \cos(\alpha-\gamma)\bigr)/I`. On a slope two per cent below that
# bound a wheel started with the rate of the gait rocks back and comes to rest on two feet; two per cent above it rolls.


def excess(gamma):
    """By how much the energy after an impact exceeds what the upright needs, over m g l."""
    gained = 2 * eta**2 * np.sin(alpha) * np.sin(gamma) / (1 - eta**2)
    return gained - (1 - np.cos(alpha - gamma))


low, high = 0.0, alpha
while high - low > 1e-15:
    low, high = ((low + high) / 2, high) if excess((low + high) / 2) < 0 else (low, (low + high) / 2)


def ends(gamma):
    """What becomes of the wheel."""
    rate = eta * np.sqrt(4 * g * np.sin(alpha) * np.sin(gamma) / (about_foot * (1 - eta**2)))
    found = simulate(wheel, on_foot(rate), t_end=20, law=law, parameters={"gamma": gamma})
    return "rolls" if found.q[2] > np.pi else "rests" if np.max(np.abs(found.v)) < 1e-9 else "rocks"


ours["slope"] = ", ".join(ends(share * low) for share in (0.98, 1.02))

# %%
# Verdict
# -------
# Impact, gait, multiplier and bound agree.

beside("mcgeer_1990", ours)
