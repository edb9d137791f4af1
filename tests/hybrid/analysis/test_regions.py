"""Region maps: cell by cell against the rod by hand and against single verdicts; chunks, executors, interrupts."""

import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from math import pi

import numpy as np
import pytest

from hybrid.analysis import Axis, region_map
from hybrid.analysis.maps.chunks import cells_at_once
from hybrid.analysis.maps.plane import plane_of
from hybrid.contact import CellVerdict, Verdict, select
from hybrid.dynamics import solve_state
from hybrid.errors import StateError
from tests.catalogue import dynamics_of
from tests.constrained import particle
from tests.incline import fractions_at_rest, fractions_slipping, regions

AXES = [Axis("phi", 0, pi, 400), Axis("phi_dot", -3, 3, 400)]


GIVEN = ("chunk_cells", "progress", "executor", "on_interrupt")


def rod_map(slip, axes=AXES, **parameters):
    given = {name: parameters.pop(name) for name in GIVEN if name in parameters}
    return region_map(dynamics_of("rod_on_incline"), axes=axes, pins={"slip.tip": slip}, parameters=parameters, **given)


def names(found):
    return np.array(found.regions, dtype=object)[found.region]


def by_hand(mu, epsilon, side):
    """Regions of the rod from its closed form, cell by cell."""
    return regions(AXES[0].values[:, None], AXES[1].values[None, :], mu=mu, epsilon=epsilon, side=side)


@pytest.mark.parametrize("mu", [0.5, 1.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.25, 1.0])
@pytest.mark.parametrize(("slip", "side"), [(0, 0), ("+0", 1), ("-0", -1)])
def test_every_cell_is_that_of_the_closed_form(mu, epsilon, slip, side):
    found = rod_map(slip, mu=mu, epsilon=epsilon)
    assert np.array_equal(names(found), by_hand(mu, epsilon, side))
    # a verdict is the number of consistent modes: here each has its own acceleration
    count = np.array([0 if name == "none" else 1 + name.count("|") for name in found.regions])[found.region]
    code = {0: CellVerdict.INCONSISTENT, 1: CellVerdict.UNIQUE}
    expected = [code.get(number, CellVerdict.INDETERMINATE) for number in range(4)]
    assert np.array_equal(found.verdict, np.array(expected)[count])


@pytest.mark.parametrize(
    ("mu", "epsilon", "expected"),
    [
        (0.5, 0.0, {"stick": 0.20041616, "slide+": 0.1426185, "slide-": 0.1426185, "free": 0.51434684}),
        (0.5, 0.25, {"stick": 0.18006475, "slide+": 0.20981354, "slide-": 0.09577487, "free": 0.51434684}),
        (1.5, 0.0, {"stick": 0.27960948, "slide+": 0.10302184, "slide-": 0.10302184, "free": 0.51434684}),
    ],
)
def test_shares_are_areas_and_add_up(mu, epsilon, expected):
    found = rod_map(0, mu=mu, epsilon=epsilon)
    # A cell on a boundary goes to one side: an error below half a cell along its length, here 0.002.
    assert found.mode_fractions == pytest.approx(expected, abs=2e-3)
    assert found.mode_fractions == pytest.approx(
        {k: v for k, v in fractions_at_rest(mu=mu, epsilon=epsilon).items() if v > 1e-12}, abs=2e-3
    )
    assert sum(found.mode_fractions.values()) == pytest.approx(1, abs=1e-12)
    assert sum(found.verdict_fractions.values()) == pytest.approx(1, abs=1e-12)
    assert list(found.mode_fractions) == sorted(found.mode_fractions, key=lambda k: -found.mode_fractions[k])
    assert (found.cells, found.n_missing, found.is_complete) == (160_000, 0, True)


def test_shares_of_a_slipping_rod_and_their_verdicts():
    found = rod_map("-0", mu=1.5)
    assert found.mode_fractions == pytest.approx(
        {"slide-": 0.44125842, "free": 0.43425908, "free|slide-": 0.08008776, "none": 0.04439474}, abs=2e-3
    )
    exact = fractions_slipping(mu=1.5, side=-1)
    assert found.verdict_fractions == pytest.approx(
        {
            "UNIQUE": exact["free"] + exact["slide"],
            "INDETERMINATE": exact["free|slide"],
            "INCONSISTENT": exact["none"],
        },
        abs=2e-3,
    )


def assert_same(first, second):
    assert first.regions == second.regions
    assert first.labels == second.labels
    for name in ("verdict", "modes", "region"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    # one matrix is solved another way than many: the margin rounds differently
    np.testing.assert_allclose(first.margin, second.margin, rtol=0, atol=1e-13)
    assert first.mode_fractions == second.mode_fractions
    assert first.verdict_fractions == second.verdict_fractions


SMALL = [Axis("phi", 0, pi, 37), Axis("phi_dot", -3, 3, 53)]


@pytest.mark.parametrize("cells", [1, 20, 53, 54, 500, 1961])
def test_chunks_make_no_difference(cells):
    axes = SMALL if cells > 1 else [Axis("phi", 0, pi, 5), Axis("phi_dot", -3, 3, 4)]
    whole = rod_map(0, axes=axes, mu=1.5, epsilon=1)
    assert_same(rod_map(0, axes=axes, mu=1.5, epsilon=1, chunk_cells=cells), whole)


def test_order_of_the_axes_makes_no_difference():
    there, back = (rod_map(0, axes=axes, mu=1.5, epsilon=1) for axes in (SMALL, SMALL[::-1]))
    assert np.array_equal(names(there), names(back).T)


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_the_same_map(pool):
    here = rod_map(0, axes=SMALL, mu=1.5, epsilon=1)
    with pool(2) as executor:
        assert_same(rod_map(0, axes=SMALL, mu=1.5, epsilon=1, chunk_cells=500, executor=executor), here)


def test_progress_counts_cells():
    steps = []
    rod_map(0, axes=SMALL, mu=1.5, chunk_cells=53 * 10, progress=lambda *step: steps.append(step))
    assert steps == [(530, 1961), (1060, 1961), (1590, 1961), (1961, 1961)]


@pytest.mark.parametrize("workers", [0, 1])
def test_an_interrupt_keeps_what_is_finished(workers):
    def stop(done, total):
        if done > 900:
            raise KeyboardInterrupt

    whole = rod_map(0, axes=SMALL, mu=1.5)
    executor = ThreadPoolExecutor(workers) if workers else None
    found = rod_map(0, axes=SMALL, mu=1.5, chunk_cells=53 * 10, progress=stop, executor=executor, on_interrupt="keep")
    assert not found.is_complete
    # two tasks of 530 cells, or one and the last, of 371: a worker's are told in the order in which they are seen
    assert found.n_missing in ((1961 - 1060,) if workers == 0 else (1961 - 1060, 1961 - 901))
    computed = found.verdict != CellVerdict.MISSING
    assert np.array_equal(computed.all(axis=1), computed.any(axis=1))
    assert np.array_equal(found.verdict[computed], whole.verdict[computed])
    assert np.array_equal(names(found)[computed], names(whole)[computed])
    assert sum(found.mode_fractions.values()) == pytest.approx(1)
    assert "MISSING" not in found.verdict_fractions


def test_an_interrupt_before_the_first_chunk_leaves_an_empty_map(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hybrid.analysis.maps.plane.classify", stop)
    with pytest.raises(KeyboardInterrupt):
        rod_map(0, axes=SMALL, mu=1.5)
    found = rod_map(0, axes=SMALL, mu=1.5, on_interrupt="keep")
    assert found.n_missing == found.cells
    assert (found.mode_fractions, found.verdict_fractions, found.regions, found.labels) == ({}, {}, (), ())


# Axes, pins and parameters of maps with slipping, resting, spatial and several contacts.
CASES = {
    "rod_on_incline": (["phi=0:pi:40", "phi_dot=-3:3:40"], {"slip.tip": 0}, {"mu": 1.5, "epsilon": 0.5}),
    "painleve_rod": (["theta=0.1:1.5:40", "mu=0.1:3:40"], {"theta_dot": 0.8, "slip.tip": "+0"}, {}),
    "ladder_in_corner": (
        ["theta=0.2:1.4:40", "theta_dot=-6:6:40"],
        {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0},
        {"mu": 0.8, "mu_wall": 1.9},
    ),
    "rod_two_ends": (
        ["x_dot=-1:1:40", "epsilon=-2:2:40"],
        {"phi": 0, "gap.left": 0, "phi_dot": 0, "gap_dot.left": 0},
        {"mu": 0.7},
    ),
    "ladder_in_corner at rest": (
        ["theta=0.2:1.4:40", "mu=0.05:1.5:40"],
        {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0, "theta_dot": 0},
        {},
    ),
    "rod_two_ends at rest": (
        ["epsilon=-2:2:40", "mu=0.05:1.5:40"],
        {"gap.left": 0, "phi": 0, "x_dot": 0, "gap_dot.left": 0, "phi_dot": 0},
        {},
    ),
    "two_link_arm": (["theta2=0.1:1.1:40", "theta2_dot=-6:6:40"], {}, {"mu": 0.9}),
    "oblique_rod": (
        ["theta=0.1:1.5:40", "theta_dot=-5:5:40"],
        {"psi": 0, "psi_dot": 1, "slip.tip.1": 0.1, "slip.tip.2": -1},
        {"mu": 2.0},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_random_cells_have_the_verdict_of_the_state_alone(case):
    dynamics = dynamics_of(case.split()[0])
    texts, pins, parameters = CASES[case]
    axes = [Axis.parse(text) for text in texts]
    found = region_map(dynamics, axes=axes, pins=pins, parameters=parameters)
    assert len(found.regions) > 1
    regions = names(found)
    rng = np.random.default_rng(20)
    for i, j in rng.integers(0, 40, (60, 2)):
        at = {axes[0].name: axes[0].values[i], axes[1].name: axes[1].values[j]}
        own_pins = {**pins, **{k: v for k, v in at.items() if k not in dynamics.mechanism.parameters}}
        own = {**parameters, **{k: v for k, v in at.items() if k in dynamics.mechanism.parameters}}
        try:
            selection = select(dynamics, solve_state(dynamics, own_pins, parameters=own), parameters=own)
        except StateError as error:
            word = {CellVerdict.IMPACT: "approaches", CellVerdict.PENETRATING: "penetrates"}
            assert word.get(CellVerdict(found.verdict[i, j]), "reached") in str(error)
            continue
        assert CellVerdict(found.verdict[i, j]).name == selection.verdict.name
        # forces that are only an end of an undetermined set are no mode of their own
        is_set = selection.verdict is Verdict.HYPERSTATIC
        modes = {branch.mode.label for branch in selection.branches}
        modes |= {mode.label for branch in selection.branches for mode in branch.equivalent_modes if not is_set}
        assert regions[i, j] == ("|".join(sorted(modes)) or "none")
        assert found.margin[i, j] == pytest.approx(selection.margin, rel=1e-9, abs=1e-12)


def test_jammed_ladder_is_hyperstatic_up_to_the_angle_of_equilibrium():
    # Statics of a uniform ladder with friction mu at both ends: it stands iff tan(theta) >= (1 - mu^2) / (2 mu).
    texts, pins, _ = CASES["ladder_in_corner at rest"]
    ladder = dynamics_of("ladder_in_corner")
    found = region_map(ladder, axes=[Axis.parse(text) for text in texts], pins=pins, with_boundaries=True)
    theta, mu = found.axes[0].values[:, None], found.axes[1].values[None, :]
    stands = np.tan(theta) >= (1 - mu**2) / (2 * mu)
    assert np.array_equal(found.verdict == CellVerdict.HYPERSTATIC, stands)
    assert np.array_equal(names(found) == "floor=stick,wall=stick", stands)
    (curve,) = found.boundaries
    angle, friction = curve.points.T
    # to 1e-10 of the axes, times the slope of the tangent
    assert np.tan(angle) == pytest.approx((1 - friction**2) / (2 * friction), abs=2e-8)


def test_parameters_may_be_expressions_of_an_axis():
    # M = m/4 as text follows the axis m: the critical friction does not change with it.
    axes = [Axis("m", 1, 5, 7), Axis("mu", 2.0, 2.2, 8)]
    pins = {"theta": 1.006853685434207, "theta_dot": 0, "slip.floor": "+0"}
    found = region_map(dynamics_of("slider_pendulum"), axes=axes, pins=pins, parameters={"M": "m/4", "l": 2.0})
    assert np.array_equal(found.verdict == CellVerdict.INCONSISTENT, np.tile(axes[1].values > 2.108185, (7, 1)))


def test_states_outside_the_acceleration_problem_have_regions_of_their_own():
    ball = dynamics_of("bouncing_ball")
    found = region_map(ball, axes=[Axis("y", -1, 1, 4), Axis("y_dot", -1, 1, 2)])
    assert found.mode_fractions == {"free": 0.5, "penetrating": 0.5}
    touching = region_map(ball, axes=[Axis("y_dot", -1, 1, 4), Axis("g", 1, 2, 2)], pins={"y": 0})
    assert touching.mode_fractions == {"free": 0.5, "impact": 0.5}
    arm = dynamics_of("two_link_arm")
    far = region_map(arm, axes=[Axis("theta2", 0, 1.4, 5), Axis("H", 1.2, 2.8, 8)], pins={"theta2_dot": 1})
    unreachable = far.verdict == CellVerdict.UNREACHABLE
    first, second = (axis.values for axis in far.axes)
    assert np.array_equal(unreachable, second[None, :] - np.cos(first[:, None]) > 1)


def test_the_result_is_plain_data():
    found = rod_map(0, axes=SMALL, mu=1.5)
    assert json.loads(json.dumps(dict(found.mode_fractions))) == found.mode_fractions
    for array in (found.verdict, found.modes, found.margin, found.region):
        assert array.shape == (37, 53)
        assert not array.flags.writeable
    for index, region in enumerate(found.regions):
        cell = tuple(np.argwhere(found.region == index)[0])
        bits = [label for i, label in enumerate(found.labels) if int(found.modes[cell]) >> i & 1]
        assert "|".join(bits) == region


OBLIQUE = {"psi": 0.3, "psi_dot": 0.5, "theta_dot": 0, "slip.tip.1": 0, "slip.tip.2": 0}


def test_chunks_are_small_where_cells_are_decided_one_by_one():
    axes = [Axis("theta", 0.1, 1.5, 100), Axis("mu", 0.5, 3, 50)]
    at_rest, slipping = (
        plane_of(dynamics_of("oblique_rod"), axes, pins={**OBLIQUE, "slip.tip.1": slip}) for slip in (0, 0.1)
    )
    assert cells_at_once(at_rest, 1 << 15) == 512
    assert cells_at_once(at_rest, 80) == 80
    assert cells_at_once(slipping, 1 << 15) == 1 << 15


@pytest.mark.long
def test_no_cell_of_a_spatial_contact_at_rest_is_left_out_however_many_there_are():
    """It sticks from the friction on that its force at rest needs, whatever the chunks."""
    rod, theta, mu = dynamics_of("oblique_rod"), Axis("theta", 0.1, 1.5, 100), Axis("mu", 0.5, 3, 50)
    steps = []
    found = region_map(rod, axes=[theta, mu], pins=OBLIQUE, progress=lambda *step: steps.append(step))
    needed = []
    for value in theta.values:
        state = solve_state(rod, {**OBLIQUE, "theta": value}, parameters={"mu": 3})
        (branch,) = select(rod, state, parameters={"mu": 3}).branches
        assert branch.mode.label == "stick"
        needed.append(np.hypot(*branch.lambda_T["tip"]) / branch.lambda_N["tip"])
    expected = np.where(mu.values[None, :] > np.array(needed)[:, None], "stick", "slide")
    assert np.array_equal(names(found), expected)
    assert (found.verdict == CellVerdict.UNIQUE).all()
    assert len(steps) == 10  # rows of 50 cells, ten at once
    whole = plane_of(rod, [mu, theta], pins=OBLIQUE).classified(mu.values[:, None], theta.values[None, :])
    sticks = whole.modes >> np.uint64(whole.labels.index("stick")) & np.uint64(1)
    assert np.array_equal(sticks == 1, expected.T == "stick")
    assert (whole.verdict == CellVerdict.UNIQUE).all()


def test_chunks_are_at_least_one_cell():
    with pytest.raises(StateError, match="chunk_cells"):
        rod_map(0, axes=SMALL, mu=1.5, chunk_cells=0)


def test_mechanism_without_contacts_has_one_mode_that_says_so():
    axes = [Axis.parse("theta1=0:1:3"), Axis.parse("theta2=0:1:3")]
    found = region_map(dynamics_of("double_pendulum"), axes=axes, pins={"theta1_dot": 0, "theta2_dot": 0})
    assert found.mode_fractions == {"no contacts": 1.0}
    assert found.verdict_fractions == {"UNIQUE": 1.0}


def test_redundant_constraints_are_hyperstatic_in_a_map_as_at_a_state():
    bead = particle("y - k*x", "2*y - 2*k*x", k=1)
    axes, pins = [Axis.parse("x=0:1:3"), Axis.parse("k=1:2:3")], {"x_dot": 1}
    assert region_map(bead, axes=axes, pins=pins).verdict_fractions == {"HYPERSTATIC": 1.0}
    assert select(bead, solve_state(bead, {"x": 0.5, **pins})).verdict is Verdict.HYPERSTATIC


@pytest.mark.parametrize(
    ("name", "pins", "parameters"),
    [
        # on the edge of the cone: tan(alpha) = mu = mu_s, to rounding
        ("block_on_incline", {"x": 0, "x_dot": 0}, {"alpha": "atan(1/2)", "mu": 0.5, "mu_s": 0.5}),
        # the vertical rod that turns with l phi_dot^2 = g: its tip is pressed by nothing, b = 0
        ("rod_on_incline", {"phi": "pi/2", "phi_dot": 1, "slip.tip": "+0"}, {"mu": 0.75, "epsilon": 0.5}),
        ("rod_on_incline", {"phi": "pi/2", "phi_dot": 1, "slip.tip": 0}, {"mu": 0.75, "epsilon": 0.5}),
    ],
)
def test_the_margin_of_a_tie_is_that_of_the_tie_whatever_the_verdict(name, pins, parameters):
    """The verdict is the same on both sides, so it is UNIQUE; which mode is consistent hangs on rounding."""
    dynamics = dynamics_of(name)
    found = select(dynamics, solve_state(dynamics, pins, parameters=parameters), parameters=parameters)
    assert found.verdict is Verdict.UNIQUE
    assert found.margin < 1e-15  # some roundings of data of size 1
    axis = "alpha" if name == "block_on_incline" else "phi"
    middle = np.arctan(0.5) if axis == "alpha" else np.pi / 2
    # a column of cells on the tie: five values, of which the middle one is the tie's
    axes = [Axis(axis, middle - 0.1, middle + 0.1, 5), Axis("delta", 0.1, 0.2, 2)]
    fixed = {key: value for key, value in pins.items() if key != axis}
    others = {key: value for key, value in parameters.items() if key != axis}
    cells = region_map(dynamics, axes=axes, pins=fixed, parameters=others)
    assert (cells.verdict == CellVerdict.UNIQUE).all()
    assert (cells.margin[2] < 1e-15).all()
    assert (cells.margin[[0, 4]] > 1e-3).all()


def test_a_tie_that_select_decides_exactly_stays_undecided_in_a_map():
    """A flat rod on two ends, mu = epsilon: one force at the tie, many above it, one below it."""
    rod, pins, _ = dynamics_of("rod_two_ends"), *CASES["rod_two_ends at rest"][1:]
    verdicts = []
    for mu in (0.4, 0.5, 0.6):
        own = {"mu": mu, "epsilon": 0.5}
        found = select(rod, solve_state(rod, pins, parameters=own), parameters=own)
        verdicts.append(found.verdict.name)
        assert (found.margin == 0.0) is (mu == 0.5)
    assert verdicts == ["UNIQUE", "UNIQUE", "HYPERSTATIC"]
    axes = [Axis("mu", 0.35, 0.65, 3), Axis("epsilon", 0.35, 0.65, 3)]
    cells = region_map(rod, axes=axes, pins=pins)
    assert [CellVerdict(value).name for value in cells.verdict[:, 1]] == ["UNIQUE", "UNDECIDED", "HYPERSTATIC"]
    assert cells.margin[1, 1] < 1e-15
