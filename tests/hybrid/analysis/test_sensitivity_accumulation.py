"""The limit time of accumulating impacts under laws that do not use the declared restitution."""

import numpy as np
import pytest

from hybrid import Functional, State, sensitivity, simulate
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
    assert found.t == pytest.approx(t, rel=1e-12)
    assert found.gradient == pytest.approx(expected, rel=1e-11, abs=by_ratio * error)
