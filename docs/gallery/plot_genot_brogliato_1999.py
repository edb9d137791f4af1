"""
Génot and Brogliato 1999: the rod at its singular point
=======================================================

A rigid rod slides with one end on a rough floor. Beyond a critical friction the equations of sliding have no solution
at some states, and two at others. F. Génot and B. Brogliato, *European Journal of Mechanics A/Solids* 18 (1999)
653-677, ask whether a sliding motion can reach such a state. They find that it can do so only through one point of the
phase plane.

The rod has mass :math:`m`, its contact point lies at the distance :math:`l` from the centre of mass, and
:math:`\\alpha = m l^2/J`, which is 3 for a uniform rod. While it slides to the right,

.. math:: \\ddot g_N = A\\,\\lambda_N + b,\\qquad
   A = \\frac{1 + \\alpha\\cos\\theta\\,(\\cos\\theta - \\mu\\sin\\theta)}{m},\\qquad
   b = -g + l\\,\\dot\\theta^2\\sin\\theta .

The catalogue has the rod as ``painleve_rod``. Here :math:`m = l = g = 1`.
"""

# %%
# Critical friction
# -----------------
# :math:`A` becomes negative first where :math:`\tan\theta = \sqrt{1+\alpha}`, at
# :math:`\mu_P = 2\sqrt{1+\alpha}/\alpha`: 4/3 for a uniform rod.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, beside, look, reference, show
from scipy.optimize import brentq

import mechanisms
from hybrid import (
    Axis,
    ForceAtPoint,
    State,
    contact_problem,
    critical_friction,
    derive,
    genot_brogliato_points,
    plot_map,
    region_map,
    select,
    simulate,
    sliding_terms,
    solve_state,
)

rod = derive(mechanisms.load("painleve_rod"))
least = critical_friction(rod, over=[Axis.parse("theta=0:pi/2")], parameters={"mu": 1.5})
ours = {
    "mu_P": least.minimum,
    "theta_P": np.degrees(least.at["theta"]),
    "interval": np.degrees(least.paradox_intervals["slide+"][0]),
}

# %%
# The boundary of the paradox is :math:`\tan\theta_{1,2} = (\mu\alpha \mp \sqrt{\mu^2\alpha^2 - 4(1+\alpha)})/2`. The
# file ``data/genot_brogliato_boundary.csv`` holds this curve. The map below was computed without it.

plane = [Axis.parse("theta=0:pi/2:160"), Axis.parse("mu=1:3:160")]
paradox = region_map(rod, axes=plane, pins={"slip.tip": 1, "theta_dot": 0})
head, curve = reference("genot_brogliato_boundary")


def inertia_factor(theta, mu):
    """A of the derived equations, sliding to the right."""
    state = solve_state(rod, {"theta": theta, "theta_dot": 0, "slip.tip": 1})
    return sliding_terms(contact_problem(rod, state, parameters={"mu": mu}), "tip").A_plus


ours["boundary"] = max(
    abs(inertia_factor(theta, mu))
    for name in ("theta_1", "theta_2")
    for theta, mu in zip(curve[name], curve["mu"], strict=True)
)
figure = plot_map(paradox, title="Uniform rod, sliding to the right")
(axes, *_) = figure.axes
for name in ("theta_1", "theta_2"):
    axes.plot(curve[name], curve["mu"], color="0.05", linewidth=1.2)
show(figure)

# %%
# How many solutions
# ------------------
# Every consistent mode at five states, with friction 1.5.

states = [(0.5, 0.0), (1.0, 0.5), (1.0, 1.3), (1.4, 0.5), (0.5, 2.0)]
friction = {"mu": 1.5}
found = [
    select(rod, solve_state(rod, {"theta": theta, "theta_dot": rate, "slip.tip": 1}), parameters=friction)
    for theta, rate in states
]
ours["counts"] = [item.count for item in found]
ours["forces"] = [branch.lambda_N["tip"] for item in found for branch in item.branches if branch.mode.label == "slide+"]

# %%
# The singular point
# ------------------
# Where :math:`A = b = 0`, four regions meet: sliding, lift-off, both, and none. In the time :math:`\tau` with
# :math:`dt = A\,d\tau` the motion is smooth there, and the point is a node with the eigenvalues
# :math:`A'\dot\theta` and :math:`-2\dot\theta\tan\theta`. They are equal at
# :math:`\mu_{GB} = 4\sqrt{1+\alpha}/(\sqrt3\,\alpha)`. For less friction the contact force stays bounded on the way to
# the node. For more friction it grows without bound, but its impulse stays finite.


def node(mu):
    """The singular point that sliding motions run into."""
    box = [Axis("theta", 0, np.pi / 2), Axis("theta_dot", 0, 5)]
    points = genot_brogliato_points(rod, over=box, pins={"slip.tip": 1}, parameters={"mu": mu})
    (point,) = (item for item in points if item.force is not ForceAtPoint.NOT_APPROACHED)
    return point


ours["rate"] = [node(mu).at["theta_dot"] for mu in (1.5, 1.6)]
ours["mu_GB"] = brentq(lambda mu: node(mu).exponent, 1.45, 1.65, xtol=1e-10)

# %%
# The phase plane at two frictions, with sliding motions that start on the left, lower edge of the region of sliding.
# Below :math:`\mu_{GB}` (left) they arrive along the direction in which :math:`A` and :math:`b` vanish together; above
# (right) they arrive along :math:`A = 0`, where the force has no bound.

with look():
    figure, panels = plt.subplots(1, 2, figsize=(7.6, 3.6), layout="constrained", sharey=True)
    for panel, mu in zip(panels, (1.4, 1.65), strict=True):
        point = node(mu).at
        theta, rate = np.meshgrid(np.linspace(0.3, 1.3, 201), np.linspace(0.8, 1.5, 201), indexing="ij")
        A = 1 + 3 * np.cos(theta) * (np.cos(theta) - mu * np.sin(theta))
        b = -1 + rate**2 * np.sin(theta)
        panel.contour(theta, rate, A, levels=[0], colors="0.2", linewidths=1.2)
        panel.contour(theta, rate, b, levels=[0], colors="0.2", linewidths=1.2, linestyles="--")
        for begin in np.linspace(0.82, 1.3, 9):
            start = State([0, np.sin(0.35), 0.35], [40 + np.sin(0.35) * begin, np.cos(0.35) * begin, begin])
            motion = simulate(rod, start, t_end=3, until="theta - 1.3", parameters={"mu": mu})
            sliding = motion.arcs[0]
            q, v = sliding.sample(np.linspace(sliding.start, sliding.end, 200))
            panel.plot(q[:, 2], v[:, 2], color=COLOURS[0], linewidth=0.9)
        panel.plot(point["theta"], point["theta_dot"], "o", color=COLOURS[1], zorder=5)
        panel.set(xlim=(0.35, 1.2), ylim=(0.8, 1.5), xlabel=r"$\theta$  (rad)", title=rf"$\mu = {mu}$")
        for x, y, text in (
            (0.42, 0.84, "slides"),
            (0.42, 1.43, "lifts off"),
            (1.0, 0.84, "no solution"),
            (1.0, 1.43, "two"),
        ):
            panel.text(x, y, text, fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8})
    panels[0].set_ylabel(r"$\dot\theta$")

# %%
# Verdict
# -------
# Everything agrees. The eigenvalues are those of ``hybrid.GenotBrogliatoPoint``, found by differences of the
# derived equations. The frictions 4/3 and :math:`8/(3\sqrt3)` are results; neither is put in.

beside("genot_brogliato_1999", ours)
