"""
Kapranidis and Koo 2008: the ladder in the corner
=================================================

A ladder slides down a wall. If the surfaces are smooth, its top leaves the wall at two thirds of the height at which
it started. The textbook problem of the sliding ladder forgets this, as S. Kapranidis and R. Koo, *The College
Mathematics Journal* 39 (2008) 374-379, point out. With friction at both ends the ladder has a paradox of its own (A. R.
Champneys and P. L. Várkonyi, *IMA Journal of Applied Mathematics* 81 (2016) 538-588).

The ladder of the catalogue, ``ladder_in_corner``, has the half length :math:`l`, :math:`\\kappa = J/(m l^2)`, which
is 1/3 for a uniform one, and the angle :math:`\\theta` from the floor. Here :math:`l = 1`, :math:`g = 9.81`.
"""

# %%
# Smooth surfaces: the top leaves the wall
# ----------------------------------------
# While both ends touch, the centre moves on a circle of radius :math:`l` about the corner. Conservation of energy gives
# :math:`(1+\kappa)\,l\,\dot\theta^2/2 = g(\sin\theta_0 - \sin\theta)`. The force of the wall, :math:`m\ddot x`,
# vanishes at :math:`\sin\theta = \tfrac23\sin\theta_0` for every :math:`\kappa`.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, beside, look, reference, show
from scipy.optimize import bisect

import mechanisms
from hybrid import (
    Axis,
    contact_problem,
    critical_friction,
    derive,
    plot_map,
    region_map,
    select,
    simulate,
    solve_state,
    to_lcp,
)

ladder = derive(mechanisms.load("ladder_in_corner"))
CORNER = {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}
smooth = {"mu": 0}


def fall(theta, **parameters):
    """From rest until it lies flat."""
    start = solve_state(ladder, {"theta": theta, "theta_dot": 0, **CORNER}, parameters={**smooth, **parameters})
    return simulate(ladder, start, t_end=5, until="theta", parameters={**smooth, **parameters})


motion = fall("pi/3")
leaves = motion.events[0]
ours = {
    "t": leaves.t,
    "angle": np.degrees(leaves.q[2]),
    "rate": abs(leaves.v_after[2]),
    "x_dot": leaves.v_after[0],
    "two_thirds": [
        np.sin(fall(theta, kappa=kappa).events[0].q[2]) / np.sin(theta)
        for theta, kappa in ((0.5, 0.2), (1.0, 1 / 3), (1.4, 0.9))
    ],
}

# %%

with look():
    figure, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    for t in np.linspace(0, motion.t, 16):
        q, _ = (part[0] for part in motion.sample(np.array([t])))
        end = np.array([np.cos(q[2]), -np.sin(q[2])])
        away = t > leaves.t
        axes.plot(*np.array([q[:2] - end, q[:2] + end]).T, color=COLOURS[1 if away else 0], linewidth=1)
    axes.plot([0, 0, 2.5], [1.9, 0, 0], color="0.2", linewidth=2)
    axes.text(0.95, 1.5, "blue: both ends touch", color=COLOURS[0], fontsize=8)
    axes.text(0.95, 1.35, "red: the top has left the wall", color=COLOURS[1], fontsize=8)
    axes.set_aspect("equal")
    axes.axis("off")

# %%
# Statics
# -------
# A ladder rests where :math:`\tan\theta \ge (1 - \mu\mu_w)/(2\mu)`. Its contact forces are then not unique. The map of
# the ladder at rest shows this curve for equal friction at both ends, from ``data/ladder_statics.csv``.

plane = [Axis.parse("theta=0.05:1.52:160"), Axis.parse("mu=0:2:160")]
resting = region_map(ladder, axes=plane, pins={"theta_dot": 0, **CORNER})
head, curve = reference("ladder_statics")
figure = plot_map(resting, title="A ladder at rest")
figure.axes[0].plot(curve["theta"], curve["mu"], color="0.05", linewidth=1.2)
show(figure)


def slides(theta, mu, mu_wall):
    """Whether a ladder at rest begins to slide: no resting branch."""
    parameters = {"mu": mu, "mu_wall": mu_wall}
    state = solve_state(ladder, {"theta": theta, "theta_dot": 0, **CORNER}, parameters=parameters)
    branches = select(ladder, state, parameters=parameters).branches
    return -1 if any(np.allclose(branch.acceleration, 0, atol=1e-7) for branch in branches) else 1


pairs = ((0.4, 0.4), (0.6, 0.2), (0.5, 0.0))
ours["rests"] = [np.degrees(bisect(slides, 0.2, 1.5, args=pair, xtol=1e-9)) for pair in pairs]

# %%
# Sliding with friction: the paradox of the corner
# ------------------------------------------------
# The sliding problem has the determinant
#
# .. math:: \kappa\det A = 1 - \mu\mu_w + \kappa(1 + \mu\mu_w) - (\mu - \mu_w)\sin 2\theta .
#
# With equal friction the angle drops out. Beyond :math:`\mu = \sqrt{(1+\kappa)/(1-\kappa)}`, which is :math:`\sqrt2`
# for a uniform ladder, a ladder that slides down with both ends touching has a paradox at every angle.


def determinant(mu, theta=0.7, **parameters):
    """Of the complementarity problem of a ladder whose foot slides out."""
    parameters = {"mu": mu, **parameters}
    state = solve_state(ladder, {"theta": theta, "theta_dot": -1, **CORNER}, parameters=parameters)
    return float(np.linalg.det(to_lcp(contact_problem(ladder, state, parameters=parameters)).M))


ours["singular"] = [bisect(determinant, 1.0, 2.5, args=(theta,), xtol=1e-12) for theta in (0.2, 0.7, 1.4)]
cases = [(0.9, 0.3, 0.9, 0.2), (1.3, 0.8, 1.6, 1 / 3), (0.4, 1.3, 0.4, 0.9)]
ours["determinant"] = [
    kappa * determinant(mu, theta, mu_wall=wall, kappa=kappa)
    - (1 - mu * wall + kappa * (1 + mu * wall) - (mu - wall) * np.sin(2 * theta))
    for mu, theta, wall, kappa in cases
]
foot = critical_friction(ladder, over=[Axis.parse("theta=0:pi/2")], pins={"gap.floor": 0, "x": 3}, contact="floor")
ours["foot"] = foot.minimum
sliding = region_map(ladder, axes=plane, pins={"theta_dot": -0.5, **CORNER})
show(plot_map(sliding, title="A ladder that slides down"))

# %%
# On the right of the map the top leaves the wall. There the foot alone has the paradox of the single rod, from
# :math:`\mu = 4/3` on.
#
# Verdict
# -------
# Everything agrees.

beside("kapranidis_koo_2008", ours)
