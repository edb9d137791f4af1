"""
Moffatt 2000: Euler's disc
==========================

A coin that is spun on a table rolls on its rim, lower and faster, and stops abruptly. H. K. Moffatt, Euler's disk and
its finite-time singularity, *Nature* 404 (2000) 833-834, describes the last minute: the disc rolls without slip in
steady precession, and the film of air below it takes the energy.

The mechanism is ``euler_disc.toml`` beside this page: a thin rigid disc in space with six coordinates and one contact.
Its slip is declared as the velocity of the material point at the lowest point of the rim. That it rolls is not
assumed: the contact decides at every instant whether it sticks.
"""

# %%
# Steady precession
# -----------------
# The centre at rest, the disc inclined by :math:`\alpha`, its lowest point running round with :math:`\Omega`: this is a
# motion if :math:`\Omega^2\sin\alpha = 4g/a`. Below, :math:`\Omega` is found as the rate at which the derived equations
# give no acceleration of :math:`\alpha`.

import matplotlib.pyplot as plt
import numpy as np
from published import COLOURS, FOLDER, beside, look
from scipy.optimize import brentq

from hybrid import State, derive, read_mechanism, select, simulate

disc = derive(read_mechanism(FOLDER / "euler_disc.toml"))
m, a, g, eta = 0.4, 0.0375, 9.81, 1.78e-5


def rolling(alpha, rate):
    """The disc with its centre at rest and no slip."""
    return State([0, 0, a * np.sin(alpha), 0, alpha, 0], [0, 0, 0, rate, 0, -rate * np.cos(alpha)])


def branch(alpha, rate):
    """The one consistent mode, without air."""
    (found,) = select(disc, rolling(alpha, rate), parameters={"eta": 0}).branches
    return found


inclinations = np.array([0.1, 0.5, 1.0])
rates = [
    brentq(lambda rate, alpha=alpha: branch(alpha, rate).acceleration[4], 1.0, 500.0, xtol=1e-11)
    for alpha in inclinations
]
modes = {branch(alpha, rate).mode.label for alpha, rate in zip(inclinations, rates, strict=True)}
ours = {"rate": rates, "mode": ", ".join(modes)}

# %%
# Its energy, kinetic and potential, is :math:`\tfrac32 m g a\sin\alpha`.


def energy(alpha, rate):
    """Kinetic and potential energy over m g a."""
    state = rolling(alpha, rate)
    M = disc.terms(state.q, state.v).M
    return (state.v @ M @ state.v / 2 + m * g * state.q[2]) / (m * g * a)


ours["energy"] = [energy(alpha, rate) for alpha, rate in zip(inclinations, rates, strict=True)]

# %%
# The film of air
# ---------------
# For small :math:`\alpha` the film takes the power :math:`\pi\eta g a^2/\alpha^2`. With the energy above,
# :math:`\alpha^3 = 2\pi\eta a\,(t_0 - t)/m`: the inclination vanishes after a finite time, while the rate grows without
# bound. For the toy, 0.4 kg and 37.5 mm, and :math:`\alpha = 0.1`, the paper gives a time of about 100 s. The motion
# below is that of the whole disc, one second of it, some sixteen turns of the lowest point; the film's power is put
# into the mechanism as a moment on the precession.

start = rolling(0.1, np.sqrt(4 * g / (a * np.sin(0.1))))
motion = simulate(disc, start, t_end=1.0)
times = np.linspace(0, motion.t, 3000)
q, _ = motion.sample(times)
slope = np.polyfit(times, q[:, 4] ** 3, 1)[0]  # a line through the small nutation with which it begins
ours |= {"slope": -slope, "time": 0.1**3 / -slope}

with look():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.3), layout="constrained")
    left.plot(times, (q[:, 4] ** 3 - 1e-3) * 1e6, color=COLOURS[0], linewidth=1.2, label="the disc")
    line = -2 * np.pi * eta * a / m * times
    left.plot(times, line * 1e6, "--", color=COLOURS[1], linewidth=1.2, label=r"$-2\pi\eta a\,t/m$")
    left.set(xlabel="time (s)", ylabel=r"$(\alpha^3 - \alpha_0^3)\cdot 10^6$", xlim=(0, 1))
    left.legend(frameon=False)
    remaining = np.geomspace(1e-3, 100, 300)
    inclination = (2 * np.pi * eta * a * remaining / m) ** (1 / 3)
    right.loglog(remaining, np.sqrt(4 * g / (a * inclination)) / (2 * np.pi), color=COLOURS[0], linewidth=1.2)
    right.invert_xaxis()
    right.set(xlabel=r"time left, $t_0 - t$ (s)", ylabel="turns of the lowest point a second")

# %%
# Verdict
# -------
# Precession and energy agree, and so does the decay by the film, to the square of the inclination. The end of the
# motion is not in the model: the law ceases to hold when the disc would fall faster than gravity allows, as the paper
# says.

beside("moffatt_2000", ours)
