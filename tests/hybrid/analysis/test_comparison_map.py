"""Maps of agreement between the rigid problem and the compliant limit."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import ArgumentError, ComputationError, KelvinVoigt, StateError, derive, solve_state
from hybrid.analysis import Axis, region_map
from hybrid.analysis.comparison.agreement import compare_map
from hybrid.contact import CellVerdict
from hybrid.contact.compliance.grid import compliant_motions, first_fall

AXES = [Axis.parse("theta=0.05:1.52:100"), Axis.parse("theta_dot=-3:3:100")]

LIFTED = {"y": 1.5, "theta_dot": 0, "gap_dot.tip": -1}


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


def test_open_contacts_have_neither_limit_nor_run(rod):
    # cells with gap = -1, 0 and 1
    y = Axis("y", np.sin(1.0) - 1.5, np.sin(1.0) + 1.5, 3)
    common = {"pins": {"theta": 1, "theta_dot": 0, "gap_dot.tip": -1}, "parameters": {"mu": 0.1}}
    found = compare_map(rod, axes=[y, Axis("slip.tip", -1.0, 1.0, 2)], stiffness=[1e6], **common)
    assert found.touches.tolist() == [[False, False], [True, True], [False, False]]
    assert np.array_equal(found.strikes, found.touches)
    assert np.array_equal(found.penalty.mode[0] >= 0, found.touches)
    assert not found.penalty.exceptions
    third = pytest.approx(1 / 3)
    assert found.shares == {"UNIQUE, open": third, "PENETRATING, is left alone": third, "IMPACT, strikes": third}
    theta = Axis("theta", 0.9, 1.1, 4)
    lifted = compare_map(rod, axes=[theta, Axis("slip.tip", -1.0, 1.0, 2)], **{**common, "pins": LIFTED})
    assert lifted.shares == {"UNIQUE, open": 1.0}


def test_slip_that_begins_at_rest_follows_the_rigid_mode_as_a_single_run_does(rod):
    # friction of 0.1 cannot hold the tip; where the rod turns, its slip first goes one way and, pressed, the other
    parameters, K = {"mu": 0.1}, 1e5
    axes = [Axis("theta", 0.9, 1.1, 1), Axis("theta_dot", -0.2, 0.4, 2)]
    found = compare_map(rod, axes=axes, pins={"slip.tip": 0}, parameters=parameters, stiffness=[1e4, K])
    runs = found.penalty
    # a slip of zero is no reason to say that the rigid motion leaves its mode
    assert not [item for item in runs.exceptions if "leaves" in item.reason]
    for j, rate in enumerate(axes[1].values):
        state = solve_state(rod, {"theta": 1.0, "theta_dot": rate, "slip.tip": 0}, parameters=parameters)
        horizon = runs.duration * np.sqrt(K)
        single = KelvinVoigt(K).pass_through(rod.at(parameters), state, horizon=horizon)
        assert runs.labels[runs.mode[-1, 0, j]] == single.label
        together = compliant_motions(
            rod.at(parameters), state.q[None], state.v[None], np.zeros(1), stiffness=K, horizon=horizon
        )
        assert together.v[0] == pytest.approx(single.state.v, abs=1e-7)
        assert together.elapsed[0] == pytest.approx(horizon)


def test_guards_that_begin_at_zero_fall_where_they_come_back():
    # s (a - s) and (b - s) (s + 1): whichever comes first; -s falls at once
    back = np.array([1e-7, 1e-3, 0.25, 0.9, 0.5, -1.0])
    other = np.array([0.5, 2.0, 0.3, 0.6, 0.2, 2.0])

    def guards(share):
        return np.stack([share * (back - share), (other - share) * (share + 1)], axis=-1)

    share, which = first_fall(guards, guards(np.zeros(6)), guards(np.ones(6)))
    assert share == pytest.approx(np.maximum(np.minimum(back, other), 0.0), abs=1e-9)
    assert which.tolist() == [0, 0, 0, 1, 1, 0]


def test_cells_that_friction_locks_have_a_share_of_their_own():
    # Spurr 1961: the shoe is self-locking above mu = a/h = 1/2, where its one freedom has no inertia factor left
    shoe = derive(mechanisms.load("brake_shoe"))
    axes = [Axis.parse("mu=0.1:1:10"), Axis.parse("Q=1:2:2")]
    found = compare_map(shoe, axes=axes, pins={"phi": 0, "phi_dot": 0})
    mu = np.broadcast_to(axes[0].values[:, None], (10, 2))
    assert np.array_equal(found.locks, mu > 0.5)
    assert not found.strikes.any()
    assert found.shares == {"UNIQUE, agrees": pytest.approx(0.4), "INCONSISTENT, locks": pytest.approx(0.6)}
    assert np.isnan(found.gap_dot_after).all()


def test_runs_longer_than_any_rigid_motion_lasts_are_refused_with_what_would_do(rod):
    axes = [Axis.parse("theta=0.05:1.52:4"), Axis.parse("theta_dot=-3:3:4")]
    common = {"axes": axes, "pins": {"slip.tip": 1}, "parameters": {"mu": 1.5}}
    with pytest.raises(StateError, match="take stiffnesses from about K = ") as refused:
        compare_map(rod, stiffness=[1e-3], **common)
    suggested = float(str(refused.value).rsplit(" ", 1)[1])
    assert compare_map(rod, stiffness=[suggested], **common).penalty.agrees.any()
    with pytest.raises(StateError, match="take a duration of about ") as refused:
        compare_map(rod, stiffness=[1e3], duration=100.0, **common)
    suggested = float(str(refused.value).rsplit(" ", 1)[1])
    assert compare_map(rod, stiffness=[1e3], duration=suggested, **common).penalty.agrees.any()
    with pytest.raises(StateError, match="duration"):
        compare_map(rod, stiffness=[1e3], duration=0.0, **common)


def test_bad_input_is_refused(rod):
    with pytest.raises(ArgumentError, match="damping"):
        compare_map(rod, axes=AXES, pins={"slip.tip": 1}, damping=-1.0)
    spatial = derive(mechanisms.load("oblique_rod"))
    with pytest.raises(ComputationError, match="one planar contact"):
        compare_map(spatial, axes=AXES)
    with pytest.raises(StateError, match="stiffness"):
        compare_map(rod, axes=AXES, pins={"slip.tip": 1}, stiffness=(1e6, 0.0))


def follows_the_rigid_mode(rod, n, stiffness, duration=None):
    """A map whose penalty runs follow the rigid mode; the cells where they do not, one by one."""
    axes = [Axis.parse(f"theta=0.05:1.52:{n}"), Axis.parse(f"theta_dot=-3:3:{n}")]
    found = compare_map(
        rod, axes=axes, pins={"slip.tip": 1}, parameters={"mu": 1.5}, stiffness=stiffness, duration=duration
    )
    runs = found.penalty
    unique = found.verdict == CellVerdict.UNIQUE
    listed = np.zeros_like(unique)
    for item in runs.exceptions:
        listed[item.cell] = True
    # every unique cell agrees or is listed with its reason, none both
    assert np.array_equal(listed & unique, unique & ~runs.agrees)
    assert not (runs.agrees & ~unique).any()
    orders = runs.order[runs.agrees & np.isfinite(runs.order)]
    # deviations of a damped fast motion are of the size K^-1/2 and fall faster while it dies out (Tikhonov)
    assert np.median(orders) <= -0.5
    stiff, soft = runs.error[-1][runs.agrees], runs.error[:-1].max(axis=0)[runs.agrees]
    assert np.all(stiff <= np.maximum(soft, 1e-8))
    # free contacts are not touched: the same flight to rounding
    free = unique & (runs.mode[-1] == 0) & runs.agrees
    assert np.nanmax(runs.error[:, free]) < 1e-9
    paradoxical = np.isin(found.verdict, [CellVerdict.INCONSISTENT, CellVerdict.INDETERMINATE])
    # what the penalty does there: the slip stops, the contact sticks, lets go, and its velocities approach the limit
    assert paradoxical.any()
    assert runs.sticks[-1][paradoxical].all()
    assert (runs.mode[-1][paradoxical] == 0).all()
    medians = [np.median(error[paradoxical]) for error in runs.error]
    assert medians == sorted(medians, reverse=True)
    return found


def distance_to_borders(theta, rate):
    """Of the rod's own closed forms: inertia factor A, and free acceleration b, whose zeros bound the modes."""
    c, s = np.cos(theta), np.sin(theta)
    return min(abs(1 + 3 * c * (c - 1.5 * s)), abs(-1 + rate**2 * s))


def test_penalty_follows_the_unique_mode_on_a_coarse_map(rod):
    found = follows_the_rigid_mode(rod, 5, (1e6, 1e8))
    assert found.penalty.stiffness == (1e6, 1e8)
    assert found.penalty.duration == pytest.approx(12 / 1e3)


@pytest.mark.long
def test_penalty_follows_the_unique_mode_on_a_map_of_10000_states(rod):
    found = follows_the_rigid_mode(rod, 100, (1e6, 1e7, 1e8))
    unique = found.verdict == CellVerdict.UNIQUE
    assert np.count_nonzero(found.penalty.agrees) > 0.96 * np.count_nonzero(unique)
    for item in found.penalty.exceptions:
        # cells are 0.0147 by 0.06: A and b change by up to 0.3 within the 0.012 s that the runs last
        assert distance_to_borders(*item.place) < 0.3, item


@pytest.mark.long
def test_cells_that_do_not_settle_are_fewer_the_stiffer_the_contact(rod):
    # four decades stiffer runs are a hundredth as long in seconds and ten times longer in fast time
    soft = follows_the_rigid_mode(rod, 40, (1e6, 1e7, 1e8)).penalty.exceptions
    stiff = follows_the_rigid_mode(rod, 40, (1e8, 1e9, 1e10), duration=12 / 10**3.5).penalty.exceptions
    assert 0 < len(stiff) < len(soft) / 1.5
