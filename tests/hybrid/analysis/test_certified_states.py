"""Boxes that end within 1e-12 of boundaries of regions, against states in ball arithmetic; a mutant is caught."""

import attrs
import flint
import numpy as np
import pytest

from hybrid.analysis import Axis
from hybrid.analysis.certified.boxes import box_reader
from hybrid.analysis.certified.conditions import sign_conditions
from hybrid.analysis.maps.node_states import node_states
from tests.catalogue import dynamics_of

AXES = [Axis("phi", 0, np.pi), Axis("phi_dot", -3, 3), Axis("mu", 0, 3)]
BATCH = 5_000
REGIONS = {(True, True): {"free"}, (True, False): {"slide-"}, (False, True): {"free", "slide-"}, (False, False): set()}


@pytest.fixture(scope="module")
def reader():
    states = node_states(dynamics_of("rod_on_incline"), AXES, pins={"slip.tip": -1})
    return box_reader(states, sign_conditions(states), lambda x: np.empty((len(x), 0)))


@attrs.frozen
class Inwards:
    """A tape whose intervals are too narrow, by the rounding of a few operations on numbers of size 1."""

    tape: object

    def __call__(self, boxes):
        values, broken = self.tape(boxes)
        return values + np.array([1e-15, -1e-15]), broken


def states_beside_boundaries(rng, n):
    """States (n, 3) within 1e-12 of ``A = 0`` or ``b = 0``, and boxes of all sizes that hold them, on a face or not."""
    phi, mu = rng.uniform(0.65, 1.35, n), rng.uniform(0.1, 2.9, n)
    rate = rng.uniform(-2.9, 2.9, n)
    sine, cosine = np.sin(phi), np.cos(phi)
    is_first = rng.random(n) < 0.5
    close = 10.0 ** rng.uniform(-17, -12, n) * rng.choice([-1, 1], n)
    mu = np.where(is_first, (1 + 3 * cosine**2) / (3 * sine * cosine), mu) * (1 + close * is_first)
    rate = np.where(is_first, rate, np.sign(rate) / np.sqrt(sine)) * (1 + close * ~is_first)
    states = np.stack([phi, rate, mu], axis=-1)
    reach = 10.0 ** rng.uniform(-17, -2, (n, 1, 1)) * rng.random((n, 3, 2))
    reach *= rng.random((n, 3, 2)) < 0.5  # half of them end at the state
    boxes = np.stack([states - reach[..., 0], states + reach[..., 1]], axis=-1)
    low, high = (np.array([getattr(axis, end) for axis in AXES]) for end in ("low", "high"))
    return states, np.clip(boxes, low[:, None], high[:, None])


def contradicted(reader, states, boxes):
    """States whose region is not among those of their box, states that were compared, and boxes that are decided."""
    found = reader(boxes, reader.postures.start(boxes))
    wrong, compared = 0, 0
    for state, codes, bounds, count in zip(
        states.tolist(), found.codes.tolist(), found.bounds[..., 1].tolist(), found.counts.tolist(), strict=True
    ):
        phi, rate, mu = map(flint.arb, state)
        sine, cosine = phi.sin_cos()
        A, b = 1 + 3 * cosine * cosine - 3 * mu * sine * cosine, rate * rate * sine - 1
        if A.contains(0) or b.contains(0):
            continue
        compared += 1
        region = sum(1 << reader.labels.index(label) for label in REGIONS[bool(A > 0), bool(b > 0)])
        wrong += count > 0 and not any(codes[k] == region and bounds[k] > 0.0 for k in range(count))
    return wrong, compared, int((found.counts == 1).sum())


def swept(reader, n):
    rng = np.random.default_rng(12)
    totals = np.zeros(3, dtype=int)
    with flint.ctx.workprec(200):
        for first in range(0, n, BATCH):
            totals += contradicted(reader, *states_beside_boundaries(rng, min(BATCH, n - first)))
    return totals.tolist()


@pytest.mark.parametrize("n", [5_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_no_state_beside_a_boundary_contradicts_its_box(reader, n):
    wrong, compared, decided = swept(reader, n)
    assert wrong == 0
    assert compared > 0.99 * n
    assert decided > 0.01 * n  # not for want of claims


def test_boxes_that_are_rounded_inwards_are_caught(reader):
    wrong, _, _ = swept(attrs.evolve(reader, values=Inwards(reader.values)), 5_000)
    assert wrong > 10
