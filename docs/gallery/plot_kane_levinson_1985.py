"""
Kane and Levinson 1985: an impact that creates energy
=====================================================

The tip of a double pendulum strikes a rough floor. By Newton's law of restitution the pendulum leaves with more kinetic
energy than it had. T. R. Kane and D. A. Levinson found this in *Dynamics: Theory and Applications* (1985). W. J.
Stronge, *Proceedings of the Royal Society A* 431 (1990) 169-181, replaced the law by one on energies, which cannot
create any.

Two uniform rods of unit mass and length stand at 20 and 30 degrees from the vertical and rotate with -0.1 and -0.2
rad/s. The catalogue has them as ``double_pendulum_over_floor``.
"""

# %%
# One impact by three laws
# ------------------------
# Friction is 0.5, restitution 0.7.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, Table, beside, look

import mechanisms
from hybrid import (
    EnergeticImpact,
    NewtonImpact,
    PoissonImpact,
    State,
    derive,
    resolve_impact,
)

pendulum = derive(mechanisms.load("double_pendulum_over_floor"))
angles, rates = np.radians([20.0, 30.0]), np.array([-0.1, -0.2])
strike = State(angles, rates)
values = {"H": float(np.cos(angles).sum()), "e": 0.7}
LAWS = {"Newton": NewtonImpact(), "Poisson": PoissonImpact(), "Stronge": EnergeticImpact()}


def after(law, mu):
    """The impact at a friction."""
    return resolve_impact(pendulum, strike, law=LAWS[law], parameters={**values, "mu": mu})


impacts = {law: after(law, 0.5) for law in LAWS}
Table(
    ("law", "normal velocity after", "slip after", "change of energy"),
    [
        (law, impact.gap_dot_after["tip"], impact.slip_after["tip"][0], impact.energy_change)
        for law, impact in impacts.items()
    ],
)

# %%
# The equations of this posture give the kinetic energy before the impact, 0.0232 J, and the critical friction, beyond
# which sliding has a paradox.

terms = pendulum.terms(angles, rates, parameters=values)
before = rates @ terms.M @ rates / 2
W = np.column_stack([terms.W_N[:, 1], terms.W_T[:, 0]])  # of the tip: the elbow is the first contact, and smooth
approach, slip = W.T @ rates
G = W.T @ np.linalg.solve(terms.M, W)
ours = {
    "energy": before,
    "approach": approach,
    "slip": slip,
    "mu_c": G[0, 0] / abs(G[0, 1]),
    "mu_stick": abs(G[0, 1]) / G[1, 1],
    "newton_energy": impacts["Newton"].energy_change,
    "newton_share": impacts["Newton"].energy_change / before,
    "poisson": impacts["Poisson"].gap_dot_after["tip"],
    "poisson_energy": impacts["Poisson"].energy_change,
    "stronge": impacts["Stronge"].gap_dot_after["tip"],
    "stronge_slip": impacts["Stronge"].slip_after["tip"][0],
    "stronge_energy": impacts["Stronge"].energy_change,
    "stronge_07": after("Stronge", 0.7).gap_dot_after["tip"],
    "stronge_07_slip": after("Stronge", 0.7).slip_after["tip"][0],
}

# %%
# Over friction
# -------------
# Newton's law creates energy unless friction is small. The other two laws never do.

with look():
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    frictions = np.linspace(0, 1, 61)
    for law, colour, stroke in zip(LAWS, COLOURS, ("-", "--", "-."), strict=False):
        change = [after(law, float(mu)).energy_change / before for mu in frictions]
        axes.plot(frictions, change, stroke, color=colour, label=law)
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set_ylim(*axes.get_ylim())  # the shade changes no limit
    axes.axhspan(0, axes.get_ylim()[1], color=COLOURS[1], alpha=0.08, linewidth=0)
    axes.text(0.02, 1.9, "energy created", fontsize=8, color=COLOURS[1])
    axes.set(xlabel=r"friction $\mu$", ylabel="change of the kinetic energy over that before", xlim=(0, 1))
    axes.legend(frameon=False, loc="center right")

# %%
# Verdict
# -------
# Everything agrees: at a friction of 0.5 Newton's law adds 176 percent to the energy. ``simulate`` follows such a
# motion, and its warnings say that the law created energy.

beside("kane_levinson_1985", ours)
