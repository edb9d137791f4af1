"""
Painlevé 1895 and Klein 1910: two masses on rough rails
=======================================================

Two masses slide on parallel rails and are joined by a massless rod at the angle :math:`\\varphi`. The force :math:`T`
of the rod presses the masses on the rails, and friction is proportional to its magnitude. P. Painlevé (*Leçons sur le
frottement*, 1895) saw that the equations may then have no solution or two; F. Klein (*Zeitschrift für Mathematik und
Physik* 58 (1910) 186-191) made it the simplest of all examples, because the constraint is bilateral: no contact opens
or closes.

With :math:`s` the sign of the velocity and forces :math:`P_1, P_2` along the rails,

.. math:: (m_1 + m_2)\\cos\\varphi\\;T - s\\,(m_2\\mu_1 - m_1\\mu_2)\\sin\\varphi\\;|T| = m_1 P_2 - m_2 P_1 .

The left side is a broken line through the origin. Both halves rise, and there is one :math:`T` for each right side,
unless :math:`|m_2\\mu_1 - m_1\\mu_2|\\tan\\varphi > m_1 + m_2`. Then one half falls. There are two solutions for right
sides of one sign, and none for those of the other. The catalogue has the mechanism as ``painleve_klein``.
"""

# %%
# Two, or none
# ------------
# Unit masses, :math:`\varphi = 1`, one rough rail with :math:`\mu_1 = 2`, a force of 1 on the first mass.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, Table, beside, look, reference, show
from scipy.optimize import bisect

import mechanisms
from hybrid import Axis, derive, plot_map, region_map, select, solve_state, verify_certificate

klein = derive(mechanisms.load("painleve_klein"))


def decided(direction, **parameters):
    """The verdict on a motion of both masses in one direction."""
    state = solve_state(klein, {"x1": 0, "x1_dot": direction}, parameters=parameters)
    return select(klein, state, parameters=parameters)


pushed, pulled = (decided(1, mu1=2, P1=force) for force in (1, -1))
ours = {
    "two": sorted(-branch.lambda_N["rail1"] / np.sin(1) for branch in pushed.branches),
    "counts": [pushed.count, pulled.count],
    "certificate": int(verify_certificate(pulled.certificate)),
}
Table(
    ("force on the first mass", "verdict", "T", "acceleration"),
    [
        ("1", pushed.verdict.name, -branch.lambda_N["rail1"] / np.sin(1), branch.acceleration[0])
        for branch in pushed.branches
    ]
    + [("-1", pulled.verdict.name, "–", "–")],
)

# %%

with look():
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.2), layout="constrained", sharey=True)
    T = np.linspace(-3, 3, 601)
    for panel, mu1 in zip(panels, (0.8, 2.0), strict=True):
        panel.plot(T, 2 * np.cos(1) * T - mu1 * np.sin(1) * np.abs(T), color=COLOURS[0])
        for level, name in ((-1, "$P_1 = 1$"), (1, "$P_1 = -1$")):
            panel.axhline(level, color="0.5", linewidth=0.8, linestyle=":")
            panel.text(-2.9, level + 0.12, name, fontsize=8)
        for branch in decided(1, mu1=mu1, P1=1).branches + decided(1, mu1=mu1, P1=-1).branches:
            force = -branch.lambda_N["rail1"] / np.sin(1)
            panel.plot(force, 2 * np.cos(1) * force - mu1 * np.sin(1) * abs(force), "o", color=COLOURS[1])
        panel.set(xlabel="force of the rod $T$", title=rf"$\mu_1 = {mu1}$", xlim=(-3, 3), ylim=(-4, 3))
    panels[0].set_ylabel("left side; dots: solutions found")

# %%
# Where the paradox begins
# ------------------------
# With one rough rail at :math:`\mu_1 = (m_1 + m_2)\cot\varphi/m_2`.


def begins(m1, m2, phi):
    """Least friction of the first rail at which the number of solutions is not one."""

    def side(mu):
        return 1 if decided(1, m1=m1, m2=m2, phi=phi, mu1=mu).count == 1 else -1

    return bisect(side, 0.1, 20, xtol=1e-10)


cases = [(1.0, 1.0, 1.0), (1.0, 2.0, 1.1), (3.0, 0.5, 0.7)]
ours["critical"] = [begins(*case) * case[1] * np.tan(case[2]) / (case[0] + case[1]) for case in cases]

# %%
# With both rails rough, two wedges in the plane of the frictions. The lines are ``data/painleve_klein_wedges.csv``.

plane = [Axis.parse("mu1=0:4:160"), Axis.parse("mu2=0:4:160")]
wedges = region_map(klein, axes=plane, pins={"x1": 0, "x1_dot": 1})
head, line = reference("painleve_klein_wedges")
figure = plot_map(wedges, title="Unit masses, one radian")
figure.axes[0].plot(line["mu1"], line["mu2"], color="0.05", linewidth=1.2)
figure.axes[0].plot(line["mu2"], line["mu1"], color="0.05", linewidth=1.2)
show(figure)
share = (4 - 2 / np.tan(1)) ** 2 / 2 / 16
ours["wedges"] = [wedges.verdict_fractions["INDETERMINATE"] - share, wedges.verdict_fractions["INCONSISTENT"] - share]

# %%
# Verdict
# -------
# Everything agrees. The state without a solution carries a certificate, which was checked in rational arithmetic.

beside("painleve_klein_1910", ours)
