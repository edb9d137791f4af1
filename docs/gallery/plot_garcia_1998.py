"""
Garcia, Chatterjee, Ruina and Coleman 1998: the simplest walking model
======================================================================

The simplest walker has two straight legs, a mass at the hip and feet of hardly any mass. M. Garcia, A. Chatterjee, A.
Ruina and M. Coleman, The simplest walking model: stability, complexity, and scaling, *Journal of Biomechanical
Engineering* 120 (1998) 281-288, find that it walks down a shallow slope without a motor, and that one of its gaits is
stable.

A step is a swing and an impact. The swing is ``simplest_walker.toml`` beside this page, with the equations of the paper
in the limit of feet without mass. As in the paper, the swinging foot may pass through the slope when the legs are
parallel. The heel strike is an impact of ``two_legs.toml``, two legs on two contacts with friction. Its trailing foot
may stick, slip or leave.
"""

# %%
# The heel strike
# ---------------
# In the paper the leading foot stops and the trailing one leaves without an impulse. Then, with the leg at the angle
# :math:`\theta`, :math:`\dot\theta^+ = \cos 2\theta\,\dot\theta^-` and
# :math:`\dot\varphi^+ = \cos 2\theta\,(1 - \cos 2\theta)\,\dot\theta^-`. Here both feet take part in the impact, each
# with a millionth of the hip's mass. The result is the same: the trailing foot leaves.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, FOLDER, beside, look
from scipy.optimize import fsolve

from hybrid import NewtonImpact, State, derive, read_mechanism, resolve_impact, simulate

legs = derive(read_mechanism(FOLDER / "two_legs.toml"))
walker = derive(read_mechanism(FOLDER / "simplest_walker.toml"))


def heel_strike(theta, rate):
    """Rates of theta and phi after the impact of the legs at -theta and theta, the hip turning with the rate."""
    trailing = State(
        [-np.sin(theta), np.cos(theta), theta, -theta], [-np.cos(theta) * rate, -np.sin(theta) * rate, rate, 2 * rate]
    )
    after = resolve_impact(legs, trailing, law=NewtonImpact())
    return after.v_after[3], after.v_after[3] - after.v_after[2], after


theta_after, phi_after, impact = heel_strike(0.2, 0.21)
ours = {
    "strike": [theta_after / 0.21, phi_after / 0.21],
    "trailing": impact.impulse_N["stance"],
}

# %%
# The gait
# --------
# The state after a heel strike is :math:`(\theta, \dot\theta)`, with :math:`\varphi = 2\theta` and
# :math:`\dot\varphi = (1 - \cos 2\theta)\,\dot\theta`. The swing ends where :math:`\varphi = 2\theta` again and the
# legs are apart. The paper prints the stable fixed point of this map at the slope 0.009 to fifteen digits. A second
# fixed point, the gait with the shorter step, is unstable.


def swing(theta, rate):
    """The motion from one heel strike to the next."""
    start = State([theta, 2 * theta], [rate, (1 - np.cos(2 * theta)) * rate])
    return simulate(walker, start, t_end=8, until=f"max(2*theta - phi, theta + {0.3 * theta})")


def step(state):
    """The state after the next heel strike."""
    end = swing(*state)
    return np.array([-end.q[0], np.cos(2 * end.q[0]) * end.v[0]])


def gait(guess):
    """A fixed point of the step, and the eigenvalues there, by central differences."""
    fixed = fsolve(lambda state: step(state) - state, guess, xtol=1e-13)
    slopes = np.array([(step(fixed + d) - step(fixed - d)) / 2e-5 for d in 1e-5 * np.eye(2)]).T
    return fixed, np.linalg.eigvals(slopes)


long, long_values = gait([0.2, -0.2])
short, short_values = gait([0.194, -0.204])
ours |= {
    "theta": long[0],
    "theta_dot": long[1],
    "stable": ", ".join("stable" if np.max(np.abs(item)) < 1 else "unstable" for item in (long_values, short_values)),
}

# %%
# One step of the long gait, and how far a walker that starts off it comes back to it.

with look():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.2), layout="constrained")
    motion = swing(*long)
    times = np.linspace(0, motion.t, 300)
    q, _ = motion.sample(times)
    left.plot(times, q[:, 0], color=COLOURS[0], label=r"stance leg $\theta$", linewidth=1.2)
    left.plot(times, q[:, 0] - q[:, 1], "--", color=COLOURS[1], label=r"swing leg $\theta - \varphi$", linewidth=1.2)
    left.set(xlabel=r"time $\cdot\sqrt{g/l}$", ylabel="angle (rad)", xlim=(0, motion.t))
    left.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
    state, off = long + np.array([1e-4, 1e-4]), []
    for _ in range(16):
        off.append(float(np.linalg.norm(state - long)))
        state = step(state)
    right.semilogy(off, "o", color=COLOURS[0], markersize=4, label="walker")
    decay = off[4] * np.abs(long_values[0]) ** (np.arange(16) - 4)
    right.semilogy(decay, "--", color=COLOURS[1], linewidth=1, label="modulus of the eigenvalues")
    right.set(xlabel="step", ylabel="distance from the gait")
    right.legend(frameon=False)

# %%
# Verdict
# -------
# The heel strike is that of the paper, up to the mass of the feet. The fixed point agrees to 1e-9, the accuracy of the
# integration. That the swinging foot may pass through the slope is an assumption of the paper, not a result.

beside("garcia_1998", ours)
