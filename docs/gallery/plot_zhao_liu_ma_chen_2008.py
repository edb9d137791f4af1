"""
Zhao, Liu, Ma and Chen 2008: a two-link arm over a rail
=======================================================

A rod needs a friction of 4/3 for its paradox, which few materials have. Z. Zhao, C. Liu, W. Ma and B. Chen, *Journal
of Applied Mechanics* 75 (2008) 041006, built an arm of two links that scrapes over a moving rail, and saw the paradox
at an ordinary friction. The posture explains it: the more the arm is stretched, the less friction is needed.

The arm of the catalogue, ``two_link_arm``, has uniform links of unit mass and length whose base is :math:`H` above
the rail; :math:`\\theta_1, \\theta_2` are the angles from the downward vertical. The data of the experiment are not
used: the numbers below were computed by hand from the closed form of the mass matrix.
"""

# %%
# One posture
# -----------

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, Table, beside, look

import mechanisms
from hybrid import Axis, contact_problem, critical_friction, derive, select, solve_state

arm = derive(mechanisms.load("two_link_arm"))


def delassus(theta1, theta2):
    """Contact accelerations per contact force at a posture; the height follows."""
    H = float(np.cos(theta1) + np.cos(theta2))
    state = solve_state(arm, {"theta1": theta1, "theta1_dot": 0}, parameters={"H": H})
    return contact_problem(arm, state, parameters={"H": H}).G


G = delassus(*np.radians([20.0, 60.0]))
ours = {"G": [G[0, 0], G[0, 1], G[1, 1]], "mu_c": G[0, 0] / abs(G[0, 1])}

# %%
# The least critical friction over postures
# -----------------------------------------
# The lower link follows from the height of the rail, so a posture is an angle of the upper one.

HEIGHTS = (1.0, 1.2, 1.4, 1.6, 1.8, 1.9)


def least(H):
    """Least critical friction of a height with its posture, in degrees."""
    reach = float(np.arccos(H - 1))
    found = critical_friction(arm, over=[Axis("theta1", 0.001, reach - 0.001)], parameters={"H": H})
    theta1 = found.at["theta1"]
    return found.minimum, np.degrees(theta1), np.degrees(np.arccos(H - np.cos(theta1)))


postures = {H: least(H) for H in HEIGHTS}
Table(
    ("height", "least critical friction", "upper link, degrees", "lower link"),
    [(H, *row) for H, row in postures.items()],
)

# %%

ours["least"] = [postures[H][0] for H in HEIGHTS]
ours["postures"] = [*postures[1.0][1:], *postures[1.6][1:]]

with look():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.4), layout="constrained")
    left.plot(HEIGHTS, ours["least"], "o-", color=COLOURS[0])
    left.axhline(4 / 3, color="0.5", linewidth=0.8, linestyle=":")
    left.text(1.0, 1.29, "a single rod", fontsize=8, va="top")
    left.set(
        xlabel="height of the base over the length of a link", ylabel="least friction with a paradox", ylim=(0, 1.4)
    )
    for H, colour in ((1.0, COLOURS[0]), (1.6, COLOURS[1]), (1.9, COLOURS[4])):
        theta1, theta2 = np.radians(postures[H][1:])
        x = np.cumsum([0, np.sin(theta1), np.sin(theta2)])
        y = H - np.cumsum([0, np.cos(theta1), np.cos(theta2)])
        right.plot(x, y, "o-", color=colour, label=f"H = {H}")
    right.axhline(0, color="0.2", linewidth=2)
    right.set_aspect("equal")
    right.legend(frameon=False, loc="upper right")
    right.set(title="postures of the least friction", xlim=(-0.2, 2.2))
    right.axis("off")

# %%
# The rail decides the direction
# ------------------------------
# At the posture of :math:`H = 1.6` and a friction of 0.6, a rail that moves away from the base drags the arm along.
# One that moves towards the base pushes into it, and the arm has no unique motion.

scraping = {"theta1": np.radians(postures[1.6][1]), "theta1_dot": 0}
counts = []
for speed in (1.0, -1.0):
    parameters = {"H": 1.6, "mu": 0.6, "rail_speed": speed}
    state = solve_state(arm, scraping, parameters=parameters)
    counts.append(select(arm, state, parameters=parameters).count)
ours["rail"] = [int(count == 1) for count in counts]

# %%
# Verdict
# -------
# Everything agrees. The critical friction falls to zero as the arm is stretched to its whole length, :math:`H = 2`.
# In this limit any friction brings a paradox.

beside("zhao_liu_ma_chen_2008", ours)
