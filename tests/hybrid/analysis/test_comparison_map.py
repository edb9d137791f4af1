"""Maps of agreement between the rigid problem and the compliant limit."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import ComputationError, StateError, derive
from hybrid.analysis import Axis, region_map
from hybrid.analysis.comparison_map import compare_map
from hybrid.contact import CellVerdict

AXES = [Axis.parse("theta=0.05:1.52:100"), Axis.parse("theta_dot=-3:3:100")]


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


def test_limit_strikes_where_and_only_where_the_rigid_verdict_is_not_unique(rod):
    found = compare_map(rod, axes=AXES, pins={"slip.tip": 1}, parameters={"mu": 1.5})
    unique = found.verdict == CellVerdict.UNIQUE
    assert unique.any()
    assert np.array_equal(found.strikes, ~unique)
    # A = 1 + 3 c (c - mu s) < 0 is the paradox, for every rate
    theta = AXES[0].values
    A = 1 + 3 * np.cos(theta) * (np.cos(theta) - 1.5 * np.sin(theta))
    assert np.array_equal(found.strikes, np.broadcast_to((A < 0)[:, None], (100, 100)))
    rigid = region_map(rod, axes=AXES, pins={"slip.tip": 1}, parameters={"mu": 1.5})
    for name, share in rigid.verdict_fractions.items():
        kept = [value for key, value in found.shares.items() if key.startswith(f"{name},")]
        assert sum(kept) == pytest.approx(share, abs=1e-12)
    assert np.all(found.gap_dot_after[found.strikes] > 0)
    assert np.all(found.energy_change[found.strikes] < 0)


def test_undamped_restitution_over_postures_is_the_closed_form(rod):
    found = compare_map(rod, axes=AXES, pins={"slip.tip": 1}, damping=0.0, parameters={"mu": 1.5})
    c, s = np.cos(AXES[0].values), np.sin(AXES[0].values)
    p, p_ = 1 + 3 * c * (c - 1.5 * s), 1 + 3 * c * (c + 1.5 * s)
    q, q_ = 3 * s * c - 1.5 * (1 + 3 * s * s), 3 * s * c + 1.5 * (1 + 3 * s * s)
    dives = p < 0
    # Hogan and Kristiansen 2017, without damping; v0 = 1
    e = np.sqrt(p[dives] * (p_ - p)[dives] / (q * (q_ - q))[dives])
    assert found.gap_dot_after[dives][:, 7] == pytest.approx(e, rel=1e-10)


def test_approaching_states_strike_everywhere(rod):
    found = compare_map(rod, axes=AXES, pins={"slip.tip": 1, "gap_dot.tip": -1})
    assert found.strikes.all()
    assert set(found.shares) == {"IMPACT, strikes"}


def test_bad_input_is_refused(rod):
    with pytest.raises(StateError, match="damping"):
        compare_map(rod, axes=AXES, pins={"slip.tip": 1}, damping=-1.0)
    spatial = derive(mechanisms.load("oblique_rod"))
    with pytest.raises(ComputationError, match="one planar contact"):
        compare_map(spatial, axes=AXES)
