"""
Burian 2024: a pendulum whose configuration space branches
==========================================================

A double pendulum A-B-C has the lengths 2 and 1, and its tip C runs along an ellipse. Where both rods lie in one line,
two curves of postures meet, and the rigid equations do not determine on which one the motion continues. Burian
(*Trudy Instituta Matematiki i Mekhaniki UrO RAN*, 2024) replaces the rod BC by a spring, which always has a motion.
He conjectures that the motion with the spring follows the smooth curve on which it came, the more closely the stiffer
the spring.

``singular_pendulum`` of the catalogue has the half axes 4 and :math:`b` of the ellipse, whose centre lies 3 above A,
unit masses and :math:`g = 9.81`; :math:`u` is the angle of AC from the vertical, :math:`\\theta` the angle BAC. It
starts at rest at :math:`u = 1/2`.
"""

# %%
# Kinds of singular postures
# --------------------------
# At :math:`u = \theta = 0` the ellipse has the radius of curvature :math:`b^2/4` at the tip, and without it C would
# run on a circle of the radius :math:`l_1 - l_2 = 1` about A. If the ellipse is flatter than that circle, branches
# cross. If it has the same curvature, they touch. If it is more strongly curved, the posture is isolated.

import matplotlib.pyplot as plt
import numpy as np
from kept import kept
from published import COLOURS, Table, beside, look, show
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import (
    configuration_curves,
    derive,
    realisation_study,
    simulate,
    singular_configurations,
    solve_state,
)
from hybrid.reporting import plot_realisation

pendulum = derive(mechanisms.load("singular_pendulum"))
BOX = {"u": (-0.6, 0.6), "theta": (-0.5, 0.5)}


def kind(b):
    """Of the singular posture."""
    (point,) = singular_configurations(pendulum, box=BOX, parameters={"b": b}, starts=6)
    return point.kind.value


ours = {"kinds": ", ".join(kind(b) for b in (3.0, 2.3, 2.0, 1.8))}

# %%
# The rigid motion
# ----------------
# Along a smooth curve the motion is an analytic function of time, also through the singular posture. The numbers beside
# ours come from the same motion in one coordinate, :math:`A(u)\ddot u + A'\dot u^2/2 + U' = 0`.


def start(b):
    """At rest at u = 1/2, on the branch of positive theta."""
    return solve_state(pendulum, {"u": 0.5, "u_dot": 0}, parameters={"b": b})


for b in (3.0, 2.3, 2.0):
    motion = simulate(
        pendulum,
        start(b),
        t_end=2,
        parameters={"b": b},
        singular="smooth",
        watch={"turn": "u_dot"},
    )
    singular, turn = (
        next(event for event in motion.events if event.kind.value == name)
        for name in ("singular configuration", "watch")
    )
    ours[f"rigid_{b}"] = [
        start(b).q[1],
        singular.t,
        singular.v_after[0],
        turn.q[0],
        *motion.q,
    ]

# %%
# Springs where branches cross
# ----------------------------
# :math:`b = 3`. The stiffer the spring, the closer its path to the smooth branch.

crossing = realisation_study(
    pendulum,
    start(3.0),
    constraints="BC",
    stiffness=[1e2, 1e4, 1e6],
    t_end=1.35,
    parameters={"b": 3.0},
)
ours["crossing"] = ", ".join("smooth" if row.is_smooth else "other" for row in crossing.rows)
ours["order"] = crossing.orders_before[-1]
window = {"u": (-0.6, 0.6), "theta": (-0.36, 0.36)}
show(
    plot_realisation(
        crossing,
        configuration_curves(pendulum, box=window, parameters={"b": 3.0}),
        title="branches cross",
    )
)

# %%
# Springs where branches touch
# ----------------------------
# :math:`b = 2`. By the conjecture the motion leaves by the smooth branch. Springs up to a stiffness of
# :math:`5\cdot10^8` leave by the other one. The figure was computed once and stored; its two softest springs are
# computed again here.

springs = kept("burian_tangency")
again = realisation_study(
    pendulum,
    start(2.0),
    constraints="BC",
    stiffness=[1e3, 1e5],
    t_end=1.3,
    parameters={"b": 2.0},
)
smooth = again.smooth_branch
ours["tangency"] = ", ".join("smooth" if item["branch"] == smooth else "other" for item in springs)
ours["again"] = max(
    abs(row.distance_to_space - item["distance_to_space"]) for row, item in zip(again.rows, springs, strict=False)
)
Table(
    ("stiffness", "leaves by", "greatest distance from the configuration space"),
    [
        (
            f"{item['stiffness']:.0e}",
            "the smooth branch" if item["branch"] == smooth else "the other branch",
            item["distance_to_space"],
        )
        for item in springs
    ],
)

# %%

with look():
    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    close = {"u": (-0.7, 0.6), "theta": (-0.14, 0.14)}
    for curve in configuration_curves(pendulum, box=close, parameters={"b": 2.0}).curves:
        axes.plot(curve[:, 0], curve[:, 1], color="0.75", linewidth=4, solid_capstyle="round")
    for item, colour in zip((springs[0], springs[1], springs[3], springs[5]), COLOURS, strict=False):
        axes.plot(
            item["u"],
            item["theta"],
            color=colour,
            linewidth=1,
            label=f"{item['stiffness']:.0e}",
        )
    axes.set(
        xlim=(-0.7, 0.55),
        ylim=(-0.12, 0.12),
        xlabel="$u$  (rad)",
        ylabel=r"$\theta$  (rad)",
    )
    axes.legend(frameon=False, title="stiffness", loc="upper center")

# %%
# Why, and from where on the conjecture holds
# -------------------------------------------
# Near :math:`u = \theta = 0` the spring is stretched by :math:`\theta^2 - \alpha u^4` with :math:`\alpha = 3/32`.
# Across the branches its extension grows like :math:`u^4`, so close to the posture it hardly holds the motion. With
# the speed :math:`w` of the rigid motion, :math:`u = -wt`, and the time :math:`\tau` of :math:`\tau^{-6} = \tfrac52
# k\alpha w^4`, Lagrange's equations become in units of :math:`\tau` and :math:`\sqrt\alpha w^2\tau^2`
#
# .. math:: \Theta'' = -\Theta\,(\Theta^2 - T^4) - \gamma T,\qquad \gamma = \frac{g\tau}{2\sqrt\alpha\,w},
#
# started on the branch :math:`\Theta = T^2`. The last term is gravity. It falls with the sixth root of the stiffness,
# and only when it has become small does the solution leave by the smooth branch.

ALPHA, W = 3 / 32, abs(ours["rigid_2.0"][2])


def gamma_of(k):
    """Gravity in the units of the passage."""
    return 9.81 * (2.5 * k * ALPHA * W**4) ** (-1 / 6) / (2 * np.sqrt(ALPHA) * W)


def passage(gamma, first=-10.0, last=8.0):
    """The solution of the limit equation."""

    def sag(T):
        d = 0.0
        for _ in range(60):
            d = -(2 + gamma * T - 20 / T**6 + 3 * T**2 * d**2 + d**3) / (2 * T**4)
        return d

    begin = [
        first**2 + sag(first),
        2 * first + (sag(first + 1e-3) - sag(first - 1e-3)) / 2e-3,
    ]
    return solve_ivp(
        lambda T, y: [y[1], -y[0] * (y[0] ** 2 - T**4) - gamma * T],
        (first, last), begin, method="DOP853", rtol=1e-9, atol=1e-9, dense_output=True,
    )  # fmt: skip


def leaves_smoothly(k):
    """Whether the limit equation leaves by the smooth branch."""
    return passage(gamma_of(k)).sol(np.linspace(6, 8, 400))[0].mean() > 0


ours["limit"] = ", ".join("smooth" if leaves_smoothly(k) else "other" for k in (1e7, 1e8, 3e8, 1e9, 1e12))

with look():
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    T = np.linspace(-3, 3, 600)
    axes.plot(T, T**2, color="0.75", linewidth=4)
    axes.plot(T, -(T**2), color="0.75", linewidth=4)
    for k, colour in ((1e7, COLOURS[0]), (1e9, COLOURS[1])):
        axes.plot(T, passage(gamma_of(k)).sol(T)[0], color=colour, label=f"stiffness {k:.0e}")
    axes.set(xlabel="$T$", ylabel=r"$\Theta$", ylim=(-9, 9))
    axes.legend(frameon=False, loc="lower left")

# %%
# Verdict
# -------
# Equations and motions agree. The conjecture agrees where branches cross. Where they touch it holds in the limit
# only, from a stiffness between :math:`5\cdot10^8` and :math:`10^9` on.

beside("burian_2024", ours)
