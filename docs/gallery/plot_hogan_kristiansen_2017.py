"""
Hogan and Kristiansen 2017: impact without collision
====================================================

Where a rigid rod has no consistent motion, a rod on a compliant floor has one: it penetrates the floor, the slip
stops, and the rod is thrown off although nothing had approached. S. J. Hogan and K. Uldall Kristiansen, *Proceedings
of the Royal Society A* 473 (2017) 20160773, prove it for :math:`F_N = \\max(0, -K y - \\delta\\sqrt K\\,\\dot y)` as
:math:`K \\to \\infty` and give the velocity of take-off, :math:`e(\\delta)` times the slip before.

Their :math:`\\delta` is twice the ``damping`` of this package. The rod is ``painleve_rod`` with
:math:`m = l = g = 1` and :math:`\\alpha = 3`, at :math:`\\theta = 1`.
"""

# %%
# Restitution of the slip
# -----------------------
# With :math:`p = W_{NN} - \mu W_{NT}` and :math:`q = W_{NT} - \mu W_{TT}` for slip to the right and :math:`p_-, q_-`
# for the opposite sign, the paradox is :math:`p < 0`. Without damping
#
# .. math:: e(0) = \sqrt{\frac{p\,(p_- - p)}{q\,(q_- - q)}},
#
# and with much damping :math:`e \to \delta^{-2}\,(p_- - p)/(q_-p - q p_-)`.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, beside, look

import mechanisms
from hybrid import (
    EnergeticImpact,
    KelvinVoigt,
    KelvinVoigtLimit,
    contact_problem,
    derive,
    resolve,
    resolve_impact,
    sliding_terms,
    solve_state,
)

rod = derive(mechanisms.load("painleve_rod"))
inconsistent = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1})
DELTAS = {1.4: (0.0, 0.5, 1.0, 2.0, 20.0), 2.0: (0.0, 0.2, 0.5, 1.0, 2.0)}


def take_off(mu, delta):
    """Velocity with which the contact opens, for a slip of 1."""
    law = KelvinVoigtLimit(delta / 2)
    return resolve_impact(rod, inconsistent, law=law, parameters={"mu": mu}).gap_dot_after["tip"]


def factors(mu, theta=1.0):
    """p, q, p_-, q_- of the rod."""
    c, s = np.cos(theta), np.sin(theta)
    W_NN, W_NT, W_TT = 1 + 3 * c * c, 3 * s * c, 1 + 3 * s * s
    return W_NN - mu * W_NT, W_NT - mu * W_TT, W_NN + mu * W_NT, W_NT + mu * W_TT


ours = {f"e_{mu}": [take_off(mu, delta) for delta in deltas] for mu, deltas in DELTAS.items()}

# %%
# The closed forms, as thin lines, against the limit of the compliant contact.

with look():
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    deltas = np.geomspace(0.02, 50, 40)
    for mu, colour in ((1.4, COLOURS[0]), (2.0, COLOURS[1])):
        p, q, p_, q_ = factors(mu)
        axes.loglog(
            deltas, [take_off(mu, delta) for delta in deltas], "o", color=colour, markersize=3, label=rf"$\mu = {mu}$"
        )
        axes.axhline(np.sqrt(p * (p_ - p) / (q * (q_ - q))), color=colour, linewidth=0.8)
        axes.plot(
            deltas[20:], deltas[20:] ** -2 * (p_ - p) / (q_ * p - q * p_), color=colour, linewidth=0.8, linestyle="--"
        )
    axes.set(xlabel=r"damping $\delta$", ylabel=r"$e(\delta)$", ylim=(1e-4, 0.6))
    axes.legend(frameon=False, loc="lower left")
    axes.text(0.022, 0.31, "no damping, closed form", fontsize=8)
    axes.text(5.2, 0.02, "much damping, asymptote", fontsize=8)

# %%
# Without damping, the compliant limit is the energetic law of Stronge with the coefficient 1.

mu = {"mu": 1.4}
energetic = resolve_impact(rod, inconsistent, law=EnergeticImpact(1.0), parameters=mu).gap_dot_after["tip"]
ours["energetic"] = energetic / take_off(1.4, 0.0)

# %%
# Finite stiffness
# ----------------
# The whole rod on a spring. It approaches the limit slowly, because :math:`|p| = 0.034` is small.

stiffness = (1e4, 1e6, 1e8)
ours["p"] = sliding_terms(contact_problem(rod, inconsistent, parameters=mu), "tip").A_plus
ours["stiff"] = [KelvinVoigt(K, 0.25).pass_through(rod.at(mu), inconsistent).gap_dot_after["tip"] for K in stiffness]

# %%
# Impact without collision or lift-off
# ------------------------------------
# At :math:`\mu = 1.5`, :math:`\dot\theta = 1.3` the rigid rod may slide or lift off. On the compliant floor the
# velocity of approach decides: slip is stopped if
#
# .. math:: \dot y(0) < w_{crit} = \frac{\lambda_- b}{|p|\sqrt K},\qquad
#    \lambda_- = \frac{|p|\delta - \sqrt{p^2\delta^2 + 4|p|}}{2} .

K, delta, theta_dot = 1e10, 0.5, 1.3
p = factors(1.5)[0]
b = theta_dot**2 * np.sin(1) - 1
w_crit = (abs(p) * delta - np.sqrt(p**2 * delta**2 + 4 * abs(p))) / 2 * b / (abs(p) * np.sqrt(K))
two = {"theta": 1, "theta_dot": theta_dot, "slip.tip": 1}
limit = resolve(rod, solve_state(rod, two), law=KelvinVoigtLimit(delta / 2), parameters={"mu": 1.5})
ours["w_crit"] = limit.critical_approach / (w_crit * np.sqrt(K))


def stops(share):
    """Whether a run on the spring that approaches with a share of the critical velocity loses its slip."""
    start = solve_state(rod, {**two, "gap_dot.tip": share * w_crit})
    run = KelvinVoigt(K, delta / 2).pass_through(rod.at({"mu": 1.5}), start)
    return abs(run.slip_after["tip"][0]) < 1e-3


shares = [0.5, 0.9, 0.95, 1.05, 1.1, 2.0]
ours["sides"] = [int(stops(share)) for share in shares]

# %%
# Verdict
# -------
# Everything agrees. The restitutions beside ours follow from the piecewise linear equations of the paper.

beside("hogan_kristiansen_2017", ours)
