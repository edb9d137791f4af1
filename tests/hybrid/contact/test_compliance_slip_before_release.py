"""A load that friction no longer holds as the normal force vanishes: slip begins again before the contact lets go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from hybrid import KelvinVoigt, derive, solve_state
from hybrid.contact.compliance.grid import LABELS, compliant_motions
from hybrid.declaration import mechanism_from_toml

G, MU, T, M = 9.81, 0.3, 3.0, 2.0  # weight of the normal motion, friction, load, inertia of the slip
PINS = {"gap.c": 0, "gap_dot.c": -1.0, "x": 0}


def block(*, friction=MU, load=T):
    return derive(
        mechanism_from_toml(f"""name = "block"
coordinates = ["x", "y"]
[dynamics]
kinetic = "{M}*x_dot**2/2 + y_dot**2/2"
potential = "{G}*y - {load}*x"
[[contact]]
name = "c"
gap = "y"
tangent = "x"
friction = "{friction}"
damping = 0
""")
    )


class Rebound:
    """``y'' = N - g`` with ``N = -K y`` from ``y' = -1``: ``N = g + R sin(w t - a)``."""

    def __init__(self, K):
        self.w = math.sqrt(K)
        self.R, self.a = math.hypot(G, self.w), math.atan2(G, self.w)
        self.end = (2 * self.a + math.pi) / self.w

    def force(self, t):
        return G + self.R * math.sin(self.w * t - self.a)

    def impulse(self, start, end):
        swung = math.cos(self.w * end - self.a) - math.cos(self.w * start - self.a)
        return G * (end - start) - self.R / self.w * swung

    def slip_times(self, load):
        """When slip from rest stops, when it begins again, and how large it is at the end."""
        crest = (math.pi / 2 + self.a) / self.w
        grown = brentq(lambda t: MU * self.force(t) - load, 0.0, crest)
        stop = brentq(lambda t: load * t - MU * self.impulse(0.0, t), grown, crest)
        again = brentq(lambda t: MU * self.force(t) - load, crest, self.end)
        return stop, again, (load * (self.end - again) - MU * self.impulse(again, self.end)) / M


# the slip lasts from 0.3 of a radian of the rebound down to 1e-3 of it, and steps are about one
@pytest.mark.parametrize("K", [1e3, 1e4, 1e5, 1e6, 1e8])
def test_slip_is_renewed_where_friction_no_longer_holds_the_load(K):
    d, exact = block(), Rebound(K)
    motion = KelvinVoigt(K).pass_through(d, solve_state(d, {**PINS, "slip.c": 0}))
    stop, again, slip = exact.slip_times(T)
    (first, slides), (second, sticks), (third, renewed) = motion.phases
    assert (first, second, third) == ("slide+", "stick", "slide+")
    # integrated to 1e-11 of the velocities; where the first slip stops it falls flat, and 1e-11 of it are some 1e-9
    assert slides + sticks == pytest.approx(exact.w * again, rel=1e-9)
    assert slides == pytest.approx(exact.w * stop, abs=1e-7)
    assert renewed == pytest.approx(exact.w * (exact.end - again), abs=1e-9)
    assert motion.slip_after["c"][0] == pytest.approx(slip, rel=1e-6)


# what slides is stopped for a part of a radian, and slides on before the contact lets go
@pytest.mark.parametrize("K", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("held", [0.3, 0.1, 0.03, 0.01])
def test_slip_that_stops_and_begins_again_within_a_step(K, held):
    d, exact = block(), Rebound(K)
    crest = (math.pi / 2 + exact.a) / exact.w
    again = brentq(lambda t: MU * exact.force(t) - T, crest, exact.end)
    stop = again - held / exact.w
    slip = (MU * exact.impulse(0.0, stop) - T * stop) / M
    motion = KelvinVoigt(K).pass_through(d, solve_state(d, {**PINS, "slip.c": slip}))
    (first, slides), (second, sticks), (third, _) = motion.phases
    assert (first, second, third) == ("slide+", "stick", "slide+")
    # integrated to 1e-11 of the velocities in ten steps; the slip falls with mu held / M where it stops
    assert (slides, sticks) == pytest.approx((exact.w * stop, held), abs=1e-10 * M / (MU * held))
    after = (T * (exact.end - again) - MU * exact.impulse(again, exact.end)) / M
    assert motion.slip_after["c"][0] == pytest.approx(after, rel=1e-6)


@pytest.mark.parametrize("K", [1e3, 1e5])
@pytest.mark.parametrize("load", [0.0, 1.0, 3.0])
def test_motions_of_a_map_slip_before_release_as_one_does(K, load):
    exact = Rebound(K)
    start = np.zeros((1, 2)), np.array([[0.0, -1.0]]), np.zeros(1)
    found = compliant_motions(block(load=load), *start, stiffness=K, horizon=10.0)
    assert LABELS[found.mode[0]] == "free"
    # steps of 0.15 radian of the fourth order are late by 0.15**4 / 120 of the fast time, 4e-6
    assert found.elapsed[0] == pytest.approx(exact.w * exact.end, rel=6e-6)
    slip = exact.slip_times(load)[2] if load else 0.0
    assert found.v[0, 0] == pytest.approx(slip, rel=1e-4, abs=1e-15)


def test_friction_that_falls_and_is_back_within_a_step_lets_a_lone_contact_slip():
    exact, at, width, load = Rebound(1e5), 0.006, 2e-4, 30.0
    d = block(friction=f"0.3 - 0.28*exp(-((t - {at})/{width})**2)", load=load)
    motion = KelvinVoigt(1e5).pass_through(d, solve_state(d, {**PINS, "slip.c": 0}))

    def reserve(t):
        return (MU - 0.28 * math.exp(-(((t - at) / width) ** 2))) * exact.force(t) - load

    begins, least = brentq(reserve, at - 3 * width, at), brentq(reserve, at, at + 3 * width)
    stops = brentq(lambda t: quad(reserve, begins, t, epsabs=1e-14)[0], least, at + 3 * width)
    kinds, times = zip(*motion.phases, strict=True)
    assert kinds == ("slide+", "stick", "slide+", "stick", "slide+")
    assert np.cumsum(times)[1:3] == pytest.approx([exact.w * begins, exact.w * stops], rel=1e-8)


def test_without_a_load_nothing_slips_before_release():
    d = block(load=0.0)
    motion = KelvinVoigt(1e5).pass_through(d, solve_state(d, {**PINS, "slip.c": 0}))
    assert [kind for kind, _ in motion.phases] == ["stick"]


def test_slip_in_the_plane_is_renewed_along_the_load():
    d = derive(
        mechanism_from_toml(f"""name = "block"
coordinates = ["x", "y", "z"]
[dynamics]
kinetic = "{M}*(x_dot**2 + z_dot**2)/2 + y_dot**2/2"
potential = "{G}*y - 0.6*{T}*x - 0.8*{T}*z"
[[contact]]
name = "c"
gap = "y"
tangent = ["x", "z"]
friction = {MU}
damping = 0
""")
    )
    motion = KelvinVoigt(1e5).pass_through(d, solve_state(d, {**PINS, "z": 0, "slip.c.1": 0, "slip.c.2": 0}))
    slip = Rebound(1e5).slip_times(T)[2]
    assert motion.slip_after["c"] == pytest.approx((0.6 * slip, 0.8 * slip), rel=1e-6)
