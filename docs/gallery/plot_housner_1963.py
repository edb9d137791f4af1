"""
Housner 1963: the rocking block
===============================

Tall structures on the ground rock in an earthquake before they fall. G. W. Housner, The behavior of inverted pendulum
structures during earthquakes, *Bulletin of the Seismological Society of America* 53 (1963) 403-417, asks how a rigid
block of half width :math:`b` and half height :math:`h` rocks from corner to corner. With :math:`R^2 = b^2 + h^2`,
:math:`\\tan\\alpha = b/h` and :math:`p^2 = 3g/(4R)`, the block that stands on one corner, turned by :math:`\\varphi`,
obeys

.. math:: \\ddot\\psi = p^2 \\sin\\psi, \\qquad \\psi = \\alpha - |\\varphi| .

Here it is a planar body on two contacts with friction, ``rocking_block`` of the catalogue. Which corner holds, slides
or lifts off is decided at every instant, and the impacts are those of all contacts at once.
"""

# %%
# The quarter of a period
# -----------------------
# A block that is let go at :math:`\varphi_0` reaches the upright position after
# :math:`T/4 = \operatorname{arcosh}\bigl(1/(1 - \varphi_0/\alpha)\bigr)/p`. The formula is for slender blocks, for
# which :math:`\sin\psi = \psi`; this one is 1 m high and 3 mm wide.

from math import atan2, cos, hypot, sin, sqrt

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, beside, look

import mechanisms
from hybrid import EnergeticImpact, NewtonImpact, PoissonImpact, State, derive, resolve_impact, simulate

G = 9.81
block = derive(mechanisms.load("rocking_block"))


def tilted(b, h, phi):
    """The block at rest on one corner."""
    corner = complex(-b if phi > 0 else b, -h) * complex(cos(phi), sin(phi))
    return State([-corner.real, -corner.imag, phi], [0, 0, 0])


b, h = 0.0015, 0.5
alpha, p = atan2(b, h), sqrt(3 * G / (4 * hypot(b, h)))
shares = np.array([0.1, 0.5, 0.9, 0.99])
quarters = np.array(
    [
        simulate(block, tilted(b, h, share * alpha), t_end=9, until="phi", parameters={"b": b, "h": h}).t
        for share in shares
    ]
)
ours = {"quarter": list(p * quarters)}

# %%
# The impact
# ----------
# When the block comes upright, the other corner strikes. Housner keeps the moment of momentum about that corner: a
# share :math:`1 - \tfrac32\sin^2\alpha` of the angular velocity is left, and its square :math:`r` of the energy. The
# laws of Newton, Poisson and Stronge, all with :math:`e = 0` and with enough friction, agree on it. None of them
# prescribes the corner about which the block rotates.

sides = [(0.5, 1.0), (0.2, 0.6), (1.0, 1.0)]
laws = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]


def rate_left(b, h, law):
    """Share of the angular velocity that is left when the block, turning about its left corner, comes upright."""
    upright = State([b, h, 0], [h, -b, -1])
    return -resolve_impact(block, upright, law=law, parameters={"b": b, "h": h, "mu": 5}).v_after[2]


shares_left = [[rate_left(b, h, law) for law in laws] for b, h in sides]
ours["ratio"] = [row[0] for row in shares_left]
ours["laws"] = float(np.max(np.ptp(shares_left, axis=1)))

# %%
# For :math:`b/h > \sqrt2` the share would be negative, and the formula does not hold. The old corner cannot release
# then; both corners take part in the impact, and the block stops at once.

ours["flat"] = rate_left(1.5, 1.0, NewtonImpact())
widths = np.linspace(0.2, 1.9, 35)
left = [rate_left(b, 1.0, NewtonImpact()) for b in widths]

with look():
    figure, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    slope = np.linspace(0.2, 1.9, 400)
    axes.plot(slope, 1 - 1.5 * slope**2 / (1 + slope**2), color=COLOURS[0], linewidth=1.4, label="Housner's formula")
    axes.plot(widths, left, "o", color=COLOURS[1], markersize=3.5, label="impact of both corners")
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.axvline(sqrt(2), color="0.6", linewidth=0.8, linestyle=":")
    axes.annotate(r"$\sqrt{2}$", (sqrt(2), 0.7), xytext=(4, 0), textcoords="offset points")
    axes.set(xlabel="half width over half height", ylabel="angular velocity left", xlim=(0.2, 1.9))
    axes.legend(frameon=False)

# %%
# Rocking to rest
# ---------------
# Each impact takes :math:`1 - r` of the energy, so that the half periods shorten and accumulate: infinitely many
# impacts in a finite time. From energy, :math:`\cos(\alpha-\varphi_{j+1}) - \cos\alpha =
# r\,(\cos(\alpha-\varphi_j) - \cos\alpha)`, and a half period takes twice the time of the fall. Summed by quadrature,
# without this package, the block of 0.4 m by 1.2 m that is let go at half of :math:`\alpha` rests after 3.56676 s.

motion = simulate(block, tilted(0.2, 0.6, 0.5 * atan2(0.2, 0.6)), t_end=5, law=NewtonImpact())
ours["rest"] = motion.events[-1].t

with look():
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 4.2), layout="constrained", sharex=True)
    times = np.linspace(0, 3.6, 3000)
    q, v = motion.sample(times)
    above.plot(times, q[:, 2], color=COLOURS[0], linewidth=1.1)
    above.set_ylabel(r"$\varphi$  (rad)")
    below.plot(times, v[:, 2], color=COLOURS[0], linewidth=1.1)
    below.set(xlabel="time (s)", ylabel=r"$\dot\varphi$  (rad/s)", xlim=(0, 3.6))
    for axes in (above, below):
        axes.axvline(ours["rest"], color=COLOURS[1], linewidth=1, linestyle="--")

# %%
# Verdict
# -------
# Housner's formulas come out of the impact laws with both corners closed, up to the width at which his formula ends.

beside("housner_1963", ours)
