"""The limit time of accumulating impacts under laws that do not use the declared restitution."""

import numpy as np
import pytest

from hybrid import Functional, State, derive, mechanism_from_toml, sensitivity, simulate
from hybrid.contact import KelvinVoigtLimit, NewtonImpact
from tests.catalogue import dynamics_of

g, h = 9.81, 1.0


def limit_of(law, parameters):
    motion = simulate(dynamics_of("bouncing_ball"), State([h], [0]), t_end=5, law=law, parameters=parameters)
    found = sensitivity(motion, Functional("y"), ["e", "g", "y", "delta"], method="forward")
    assert found.refusal is None
    assert found.events[-1].kind.name == "ACCUMULATION"
    return found.events[-1]


@pytest.mark.parametrize(
    ("law", "parameters", "e", "slope", "error"),
    [
        (NewtonImpact(restitution=0.4), {}, 0.4, 0.0, 1e-13),
        # a damped oscillator that is left where its force vanishes: e = exp(-2 d acos(d) / sqrt(1 - d^2)) for m = 1
        # (Schwager and Poeschel 2007), and its derivative, which is integrated in some ten steps of 1e-11 each
        (
            KelvinVoigtLimit(),
            {"delta": 0.2},
            np.exp(-0.4 * np.arccos(0.2) / np.sqrt(0.96)),
            -np.exp(-0.4 * np.arccos(0.2) / np.sqrt(0.96)) * (2 * np.arccos(0.2) / 0.96**1.5 - 0.4 / 0.96),
            2e-10,
        ),
    ],
)
def test_the_hops_shrink_as_the_law_says(law, parameters, e, slope, error):
    found = limit_of(law, parameters)
    t = np.sqrt(2 * h / g) * (1 + e) / (1 - e)
    by_ratio = np.sqrt(2 * h / g) * 2 / (1 - e) ** 2
    expected = {"e": 0.0, "g": -t / (2 * g), "y": t / (2 * h), "delta": by_ratio * slope}
    assert found.t == pytest.approx(t, rel=1e-12, abs=by_ratio * error)
    assert found.gradient == pytest.approx(expected, rel=1e-11, abs=by_ratio * error)


LIFT = """
name = "lift"
coordinates = ["y"]
parameters = {g = 9.81, V = 0.5, e = 0.5}
[dynamics]
kinetic = "y_dot**2/2"
potential = "g*y"
[[contact]]
name = "floor"
gap = "y - V*t"
restitution = "e"
"""


@pytest.mark.parametrize("V", [-0.5, 0.0, 0.5, 10.0])
def test_bounces_that_die_on_a_lift_are_those_of_the_ground(V):
    # the gap falls from h with -V, hits with w = sqrt(V^2 + 2 g h); a hop of speed u adds 2 u^3/(3 g^2) to its integral
    e = 0.5
    motion = simulate(
        derive(mechanism_from_toml(LIFT)), State([h], [0]), t_end=5, law=NewtonImpact(), parameters={"V": V}
    )
    found = sensitivity(motion, Functional("y - V*t"), ["e", "V"])
    assert found.refusal is None
    w = np.sqrt(V**2 + 2 * g * h)
    fall = (w - V) / g
    hops, shrink = 2 * w**3 / (3 * g**2), e**3 / (1 - e**3)
    assert found.value == pytest.approx(h * fall - V * fall**2 / 2 - g * fall**3 / 6 + hops * shrink, rel=1e-11)
    # the gap is zero where the fall ends, so that its integral changes by what the fall sweeps for every V alone
    by_V = -(fall**2) / 2 + 2 * w * V / g**2 * shrink
    by_e = hops * 3 * e**2 / (1 - e**3) ** 2
    assert found.gradient == pytest.approx({"e": by_e, "V": by_V}, rel=1e-9)
