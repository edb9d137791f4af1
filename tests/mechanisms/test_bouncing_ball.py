"""The bouncing ball: figures of its accumulation of impacts."""

import numpy as np
import pytest

from hybrid import State, simulate
from hybrid.contact import NewtonImpact
from tests.catalogue import dynamics_of

G = 9.81


def bounce(e):
    motion = simulate(dynamics_of("bouncing_ball"), State([1.0], [0.0]), t_end=60, law=NewtonImpact(restitution=e))
    assert motion.events[-1].kind.value == "accumulation of impacts"
    return motion


def test_published_figures_at_restitution_four_fifths():
    motion = bounce(0.8)
    assert motion.events[-1].t == pytest.approx(4.0637128, abs=5e-8)
    # every rebound of speed v rises by v^2/(2 g) and falls again; bounces that were not made add 1e-14
    hops = [event.v_after[0] ** 2 / G for event in motion.events if event.impact is not None]
    assert 1 + sum(hops) == pytest.approx(4.5555556, abs=5e-8)


@pytest.mark.parametrize("e", [0.3, 0.6, 0.9])
def test_path_is_the_sum_of_the_geometric_series(e):
    motion = bounce(e)
    path = 0.0
    for arc in motion.arcs:
        if arc.mode.label == "free":
            (start, _), (end, _) = arc.sample(arc.start), arc.sample(arc.end)
            peak = max(start[0], end[0], start[0] + arc.sample(arc.start)[1][0] ** 2 / (2 * G))
            path += (peak - start[0]) + (peak - end[0])
    assert path == pytest.approx((1 + e**2) / (1 - e**2), abs=1e-9)


@pytest.mark.parametrize("e", [0.5, 0.8])
def test_derivative_of_the_accumulation_time_by_the_restitution(e):
    # d/de sqrt(2h/g) (1 + e)/(1 - e) = 2 sqrt(2h/g)/(1 - e)^2, 22.576182 at e = 0.8; Richardson's extrapolation of
    # central differences is good to step^4 times a fifth derivative of 2e6, below 1e-8
    def slope(step):
        return (bounce(e + step).events[-1].t - bounce(e - step).events[-1].t) / (2 * step)

    extrapolated = (4 * slope(5e-4) - slope(1e-3)) / 3
    assert extrapolated == pytest.approx(2 * np.sqrt(2 / G) / (1 - e) ** 2, rel=1e-8)
    if e == 0.8:
        assert extrapolated == pytest.approx(22.576182, abs=1e-6)
