"""
Mamaev and Ivanova 2013: a rod on a rough incline
=================================================

A rod stands with one end on a rough plane and is let go. It may rotate about its end like a pendulum, slip either way,
or leave the plane. I. S. Mamaev and T. B. Ivanova, *Russian Journal of Nonlinear Dynamics* 9 (2013) 567-593, draw the
domains of these motions in the phase plane. They find where two of them overlap, where there is none, and how both
depend on friction and slope.

``rod_on_incline`` has the mass, the half length and the weight across the plane 1; :math:`\\varphi` is the angle from
the plane and :math:`\\varepsilon` the tangent of the slope.
"""

# %%
# Least friction with a paradox
# -----------------------------
# The least over all postures and, at friction 3/2, the angles between which a rod that slips to one side or the other
# is paradoxical.

import numpy as np
from published import Table, beside, reference, show
from scipy.optimize import brentq, minimize_scalar

import mechanisms
from hybrid import (
    Axis,
    certified_map,
    contact_problem,
    critical_friction,
    derive,
    plot_map,
    plot_motion,
    region_map,
    select,
    simulate,
    sliding_terms,
    solve_state,
)

rod = derive(mechanisms.load("rod_on_incline"))
PLANE = [Axis.parse("phi=0:pi:200"), Axis.parse("phi_dot=-3:3:200")]


def at_rest(phi, phi_dot=0.0, slip=0, **parameters):
    """The contact at a posture."""
    state = solve_state(rod, {"phi": phi, "phi_dot": phi_dot, "slip.tip": slip}, parameters=parameters)
    return contact_problem(rod, state, parameters=parameters)


least = critical_friction(rod, over=[Axis.parse("phi=0:pi")], parameters={"mu": 1.5})
ours = {
    "mu_star": least.minimum,
    "roots_plus": list(least.paradox_intervals["slide+"][0]),
    "roots_minus": list(least.paradox_intervals["slide-"][0]),
}

# %%
# Where the rod rests at every angle
# ----------------------------------
# If friction holds its end, a rod at rest begins to move like a pendulum,
# :math:`\ddot\varphi = -\tfrac34(\cos\varphi + \varepsilon\sin\varphi)`. The acceleration of the centre gives the
# forces. With :math:`u = \tan\varphi`
#
# .. math:: \frac{F_T}{F_N} = \frac{3u - \varepsilon u^2 - 4\varepsilon}{4u^2 - 3\varepsilon u + 1} .
#
# For less friction than the greatest magnitude of this ratio, the domain of pendulum motion has a hole. On level ground
# this magnitude is 3/4, at :math:`u = \pm\tfrac12`. For :math:`\varepsilon = \tfrac14` the ratio is stationary where
# :math:`63u^2 - 40u - 12 = 0`, at :math:`u = \tfrac67` and :math:`u = -\tfrac29`, with the values 8/19 and
# -16/13. The paper prints 0.41 and 1.25.


def held(phi, epsilon):
    """Friction over normal force of the end that rests, with enough friction."""
    problem = at_rest(phi, epsilon=epsilon, mu=50)
    normal, tangential = np.linalg.solve(problem.G, -problem.c)
    return tangential / normal


def needed(epsilon, half):
    """The friction from which the rod rests at every angle of one half: leaning up (+1) or down (-1)."""
    bounds = (0.1, 1.4) if half > 0 else (1.7, 3.1)
    found = minimize_scalar(
        lambda phi: -half * held(phi, epsilon), bounds=bounds, method="bounded", options={"xatol": 1e-8}
    )
    return -found.fun


ours["level"] = [needed(0.0, 1), needed(0.0, -1)]
ours["slope"] = [needed(0.25, 1), needed(0.25, -1)]

# %%
# The domains
# -----------
# The map shows sticking, slipping either way, and leaving the plane, at friction 1/2 on a slope of 1/4. The lines
# follow from the formulas of the paper (``data/mamaev_ivanova_domains.csv``).

pins = {"slip.tip": 0}
gentle = {"mu": 0.5, "epsilon": 0.25}
head, curves = reference("mamaev_ivanova_domains")
figure = plot_map(region_map(rod, axes=PLANE, pins=pins, parameters=gentle), title="Friction 1/2, slope 1/4")
for name in ("slides_down", "slides_up", "leaves"):
    for sign in (1, -1):
        inside = np.where(curves[name] < 3, curves[name], np.nan)
        figure.axes[0].plot(curves["phi"], sign * inside, color="0.05", linewidth=0.8)
show(figure)


def slack(phi, phi_dot):
    """How far friction is from its limit at a posture of the published border."""
    problem = at_rest(phi, phi_dot, **gentle)
    normal, tangential = np.linalg.solve(problem.G, -problem.c)
    return abs(0.5 * normal - abs(tangential))


border = [
    (phi, rate)
    for name in ("slides_down", "slides_up")
    for phi, rate in zip(curves["phi"][::8], curves[name][::8], strict=True)
    if np.isfinite(rate)
]
ours["border"] = max(slack(*posture) for posture in border)

# %%
# The areas of the domains, as shares of the rectangle that the maps show: the middles of bounds that are proved and at
# most 2e-6 apart. On the steep slope :math:`\varepsilon = 1` with friction 3/2, three motions are possible on 0.035
# percent of the rectangle.

CASES = ((0.5, 0.0), (0.5, 0.25), (1.5, 0.0), (1.5, 1.0))
MODES = ("stick", "slide+", "slide-", "free", "free|slide+|stick")


def middles(pins, **parameters):
    """The share of every region that is proved to have one."""
    axes = ["phi=0:pi", "phi_dot=-3:3"]
    found = certified_map(rod, axes=axes, pins=pins, parameters=parameters, gap=2e-6)
    return {mode: (low + high) / 2 for mode, (low, high) in found.regions.items() if low > 0}


shares = {(mu, epsilon): middles(pins, mu=mu, epsilon=epsilon) for mu, epsilon in CASES}
for (mu, epsilon), found in shares.items():
    ours[f"shares_{mu}_{epsilon}"] = [found[mode] for mode in MODES if mode in found]
Table(
    ("friction", "slope", *MODES),
    [(mu, epsilon, *(found.get(mode, 0.0) for mode in MODES)) for (mu, epsilon), found in shares.items()],
)

# %%
# While the end slips to one side, there may be no motion, or two:

slipping = {"slip.tip": "-0"}
show(plot_map(region_map(rod, axes=PLANE, pins=slipping, parameters={"mu": 1.5}), title="Friction 3/2, slip to -x"))
found = middles(slipping, mu=1.5)
ours["slipping"] = [found[mode] for mode in ("slide-", "free", "free|slide-", "none")]

# %%
# No solution at rest?
# --------------------
# The paper finds no solution where :math:`A < 0` and the end has no slip. That is true of a slip that has a direction,
# however small it is. A rod at rest may also stick, and here it does: a single contact at rest always has a motion.


def modes(slip):
    """The consistent modes of a rod at tan(phi) = 2, friction 3/2, on level ground."""
    parameters = {"mu": 1.5}
    state = solve_state(rod, {"phi": float(np.arctan(2)), "phi_dot": 0, "slip.tip": slip}, parameters=parameters)
    return (
        ", ".join(sorted(branch.mode.label for branch in select(rod, state, parameters=parameters).branches)) or "none"
    )


ours |= {"vanishing": modes("-0"), "rest": modes(0)}

# %%
# Where sticking and leaving overlap
# ----------------------------------
# For friction above 4/3 and slopes from :math:`\varepsilon_- = (\mu - \sqrt{\mu^2 - 16/9})\,/\,(8/3)` on, sticking and
# leaving are both consistent at some states. The least slope is found here at :math:`A_+ = b = 0`, where the sticking
# force changes its sign.


def overlap(mu):
    """The least slope with an overlap."""
    phi = brentq(lambda p: sliding_terms(at_rest(p, mu=mu), "tip").A_plus, np.pi / 2, np.pi - np.arctan(2), xtol=1e-15)
    problem = [at_rest(phi, np.sin(phi) ** -0.5, mu=mu, epsilon=epsilon) for epsilon in (0.0, 1.0)]
    force = [np.linalg.solve(item.G, -item.c)[0] for item in problem]  # linear in the slope
    return force[0] / (force[0] - force[1])


ours["overlap"] = [overlap(mu) for mu in (1.4, 1.5, 2.0, 5.0)]

# %%
# A motion through three modes
# ----------------------------
# With friction 1/2 on level ground, from :math:`\varphi = 0.4`, :math:`\dot\varphi = 0.5`, the end sticks, slips back,
# slips forth, and the rod falls flat.

start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}, parameters={"mu": 0.5})
motion = simulate(rod, start, t_end=3, until="phi", parameters={"mu": 0.5})
ours |= {
    "events": [event.t for event in motion.events],
    "first": [motion.events[0].q[2], motion.events[0].v_after[2]],
    "second": [motion.events[1].q[2], motion.events[1].v_after[2]],
    "flat": motion.v[2],
}
show(plot_motion(motion, title="Friction 1/2, level ground"))

# %%
# At :math:`\varphi = \arctan(1/\mu)` the contact force of a sliding rod passes through the centre. This angle is a
# saddle of the sliding motion. Its separatrix divides rods that fall from rods that rise.


def turning(phi, mu):
    """Angular acceleration of a rod that slips to -x."""
    state = solve_state(rod, {"phi": phi, "phi_dot": 0, "slip.tip": -1}, parameters={"mu": mu})
    return select(rod, state, parameters={"mu": mu}).branches[0].acceleration[2]


ours["saddle"] = [
    brentq(turning, angle - 0.005, angle + 0.005, args=(mu,), xtol=1e-12)
    for mu, angle in ((0.01, 1.5608), (0.5, 1.107), (0.75, 0.927), (3.0, 0.322))
]

# %%
# Verdict
# -------
# The domains, their areas, the thresholds 4/3 and 3/4 and the motion agree. The thresholds on a slope of 1/4 agree
# after correcting. So does the claim that a rod may have no motion: it holds while the end slips, not at rest.

beside("mamaev_ivanova_2013", ours)
