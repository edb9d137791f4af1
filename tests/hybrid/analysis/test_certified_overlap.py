"""The slope from which sticking and separation of a rod at rest overlap, enclosed over (mu, epsilon).

Closed form: ``epsilon_-(mu) = (mu - sqrt(mu^2 - 16/9))/(8/3)`` (Mamaev and Ivanova 2013; see tests/literature). Boxes
over mu, epsilon, phi and phi_dot are divided until none is left in which both modes may hold, for slopes below, and
until one is found in which both are proved to hold, for a slope just above. Rates of turning go up to 4.
"""

from math import atan, pi, sin, sqrt

import numpy as np
import pytest

from hybrid.analysis import Axis
from hybrid.analysis.certified.boxes import box_reader
from hybrid.analysis.certified.conditions import sign_conditions
from hybrid.analysis.maps.node_states import node_states
from tests.catalogue import dynamics_of

AXES = [Axis("mu", 4 / 3, 3), Axis("epsilon", 0, 1), Axis("phi", 0, pi), Axis("phi_dot", 0, 4)]
WIDTHS = np.array([1.0, 1.0, pi, 4.0])
MOST = 50_000  # boxes of a search; it takes a fifth


@pytest.fixture(scope="module")
def reader():
    states = node_states(dynamics_of("rod_on_incline"), AXES, pins={"slip.tip": 0})
    return box_reader(states, sign_conditions(states), lambda x: np.empty((len(x), 0)))


def least_slope(mu):
    return (mu - sqrt(mu * mu - 16 / 9)) / (8 / 3)


def overlaps(reader, boxes):
    """Where free and stick may hold together, and where they do in the whole box."""
    found = reader(boxes, reader.postures.start(boxes))
    both = sum(1 << reader.labels.index(label) for label in ("free", "stick"))
    is_listed = np.arange(found.codes.shape[1]) < found.counts[:, None]
    has_both = is_listed & (found.codes & both == both) & (found.bounds[..., 1] > 0.0)
    is_only = (found.bounds[:, 0] == 1.0).all(axis=-1) & (found.counts == 1)
    return has_both.any(axis=1) | (found.counts == 0), has_both[:, 0] & is_only


def search(reader, boxes, *, along):
    """True where both modes hold in a box, False where they do in none, None after ``MOST`` boxes."""
    boxes, looked = np.array(boxes), 0
    while len(boxes):
        looked += len(boxes)
        if looked > MOST:
            return None
        is_possible, is_sure = overlaps(reader, boxes)
        if is_sure.any():
            return True
        boxes = boxes[is_possible]
        lengths = ((boxes[..., 1] - boxes[..., 0]) / WIDTHS)[:, along]
        rows, axis = np.arange(len(boxes)), np.array(along)[lengths.argmax(axis=1)]
        lower, upper = boxes.copy(), boxes.copy()
        lower[rows, axis, 1] = upper[rows, axis, 0] = boxes[rows, axis].mean(axis=-1)
        boxes = np.concatenate([lower, upper])
    return False


def paradoxical(low, high, margin):
    """Postures at which A_+ or A_- is not positive, and somewhat more, for frictions between two values.

    ``A = 1 + 3 cos^2 phi -+ 3 mu sin phi cos phi``: a quadratic in ``tan phi``. Elsewhere both are positive, and a
    contact at rest has exactly one solution.
    """
    tangents = (1.5 * low - sqrt(9 * high**2 - 16) / 2) * (1 - margin), 1.5 * high + sqrt(9 * high**2 - 16) / 2
    first, last = atan(tangents[0]), atan(tangents[1] * (1 + margin))
    return [(first, last), (pi - last, pi - first)]


def is_met_below(reader, low, high, distance):
    """Whether some slope up to ``distance`` below the closed form has both modes, for frictions between two values."""
    slopes = (0.0, least_slope(high) - distance)  # it falls with mu
    rates = (0.0, 4.0)
    postures = paradoxical(low, high, distance / 10)
    return search(reader, [[(low, high), slopes, angles, rates] for angles in postures], along=[0, 1, 2, 3])


def is_met_above(reader, mu, distance):
    """Whether the slope ``distance`` above has both modes, near the posture at which they meet."""
    slope = least_slope(mu) + distance
    phi = pi - (atan(1 / least_slope(mu)) + atan(1 / slope)) / 2
    rate, reach = 1 / sqrt(sin(phi)), distance**2
    box = [(mu, mu), (slope, slope), (phi - reach, phi + reach), (rate - reach, rate + reach)]
    return search(reader, [box], along=[2, 3])


@pytest.mark.parametrize("mu", [1.35, 1.5, 2.0])
@pytest.mark.parametrize("distance", [1e-3, 1e-5])
def test_the_least_slope_of_an_overlap_is_enclosed(reader, mu, distance):
    assert is_met_below(reader, mu, mu, distance) is False
    assert is_met_above(reader, mu, distance) is True


@pytest.mark.long
def test_no_slope_below_the_closed_form_has_an_overlap(reader):
    """Every friction from 1.34 to 2, not only some: cells in which the closed form varies by some 2e-3."""
    mu = 1.34
    while mu < 2.0:
        width = 1e-4
        while least_slope(mu) - least_slope(mu + 2 * width) < 2e-3:
            width *= 2
        assert is_met_below(reader, mu, mu + width, 1e-2) is False
        assert is_met_above(reader, mu, 1e-4) is True
        mu += width
