"""Maps and sweeps stay on one branch of postures: chains with two elbows, a complex root with a seam, folds."""

import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    Mechanism,
    certified_map,
    critical_friction,
    derive,
    region_map,
    select,
    solve_state,
)
from hybrid.analysis import Axis
from hybrid.cli import main
from hybrid.contact import CellVerdict
from hybrid.declaration import mechanism_to_toml
from hybrid.errors import StateError
from tests.catalogue import dynamics_of
from tests.chains import Chain, slide_modes

SLIP = -0.1
MU = Axis("mu", 0, 3, 30)
BOTH = ("up", "down")


@cache
def chain(n):
    """Equal links and their equations."""
    uniform = Chain.uniform(n)
    return uniform, derive(uniform.mechanism())


def case(n):
    """Axis of the first angle, pins, and the values of the other known angles."""
    known = [0.1] * (n - 2)
    pins = {f"q{i + 1}": value for i, value in enumerate(known)}
    pins |= {f"q{i}_dot": 0.0 for i in range(n - 2)} | {"gap.tip": 0, "gap_dot.tip": 0, "slip.tip": SLIP}
    return Axis("q0", -0.2, 0.25, 40), pins, known


def closed_form(n, elbow, axis, known):
    """Modes of every cell on one elbow, from the chain's own equations."""
    own, _ = chain(n)
    regions = np.empty((axis.cells, MU.cells), dtype=object)
    for i, q0 in enumerate(axis.values):
        first = [q0, *known]
        q = [*first, own.last_angles(first)[BOTH.index(elbow)]]
        G, c = own.delassus(q, own.velocity(q, [0.0] * (n - 2), SLIP))
        for j, mu in enumerate(MU.values):
            modes, margin = slide_modes(G, c, mu, SLIP)
            assert margin > 1e-6  # no cell is so near to a boundary that rounding would decide
            regions[i, j] = "|".join(sorted(modes)) or "none"
    return regions


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("elbow", BOTH)
def test_a_map_of_a_chain_shows_one_elbow_cell_by_cell(n, elbow):
    own, dynamics = chain(n)
    axis, pins, known = case(n)
    middle = (axis.low + axis.high) / 2
    named = own.last_angles([middle, *known])[BOTH.index(elbow)]
    found = region_map(dynamics, axes=[axis, MU], pins=pins, branch={f"q{n - 1}": named})
    assert np.array_equal(np.array(found.regions, dtype=object)[found.region], closed_form(n, elbow, axis, known))
    assert found.branch.start == {"q0": pytest.approx(middle), f"q{n - 1}": pytest.approx(named, abs=1e-12)}
    (other,) = found.branch.others
    turned = other[f"q{n - 1}"] - own.last_angles([middle, *known])[1 - BOTH.index(elbow)]
    assert np.cos(turned) == pytest.approx(1, abs=1e-12)  # up to full turns
    assert (len(found.branch.folds), len(found.branch.seams), found.branch.leaves_out) == (0, 0, False)


def test_without_a_name_the_branch_is_that_of_the_state_in_the_middle():
    _, dynamics = chain(3)
    axis, pins, known = case(3)
    found = region_map(dynamics, axes=[axis, MU], pins=pins)
    middle = solve_state(dynamics, {**pins, "q0": 0.025})
    assert found.branch.start["q2"] == pytest.approx(middle.q[2], abs=1e-12)
    elbow = BOTH[int(np.argmin(np.abs(np.array(chain(3)[0].last_angles([0.025, *known])) - middle.q[2])))]
    assert np.array_equal(np.array(found.regions, dtype=object)[found.region], closed_form(3, elbow, axis, known))


def test_cells_do_not_depend_on_chunks_executor_or_the_number_of_cells():
    _, dynamics = chain(2)
    axis, pins, _ = case(2)
    whole = region_map(dynamics, axes=[axis, MU], pins=pins)
    for cells in (31, 333):
        parts = region_map(dynamics, axes=[axis, MU], pins=pins, chunk_cells=cells)
        assert np.array_equal(parts.region, whole.region)
    for pool in (ThreadPoolExecutor, ProcessPoolExecutor):
        with pool(2) as executor:
            sent = region_map(dynamics, axes=[axis, MU], pins=pins, chunk_cells=600, executor=executor)
        assert np.array_equal(sent.region, whole.region)
    # every third cell of a map three times as fine lies on a cell of this one
    fine = region_map(dynamics, axes=[Axis("q0", -0.2, 0.25, 120), MU], pins=pins)
    names = [np.array(found.regions, dtype=object)[found.region] for found in (whole, fine)]
    assert np.array_equal(names[0], names[1][1::3])


def test_a_verdict_and_a_motion_start_on_the_branch_of_the_map():
    own, dynamics = chain(3)
    axis, pins, known = case(3)
    for named in own.last_angles([0.025, *known]):
        found = region_map(dynamics, axes=[axis, MU], pins=pins, branch={"q2": named})
        for i, j in [(0, 3), (39, 29), (20, 17)]:
            at, mu = {"q0": float(axis.values[i])}, {"mu": float(MU.values[j])}
            state = solve_state(dynamics, {**pins, **at}, parameters=mu, branch=found.branch.start)
            selection = select(dynamics, state, parameters=mu)
            assert CellVerdict(found.verdict[i, j]).name == selection.verdict.name
            nearest = min(own.last_angles([at["q0"], *known]), key=lambda angle: abs(angle - state.q[2]))
            assert state.q[2] == pytest.approx(nearest, abs=1e-12)
            assert (nearest > -0.2) == (named > -0.2)  # the elbows stay on either side of -0.2 over the sweep


def test_critical_friction_is_that_of_the_branch():
    own, dynamics = chain(3)
    axis, pins, known = case(3)

    def mu_c(elbow, q0):
        q = [q0, *known, own.last_angles([q0, *known])[elbow]]
        G, _ = own.delassus(q, np.zeros(3))
        return G[0, 0] / abs(G[0, 1])

    for elbow, named in enumerate(own.last_angles([0.025, *known])):
        found = critical_friction(dynamics, over=[axis], pins=pins, branch={"q2": named})
        values = [mu_c(elbow, q0) for q0 in np.linspace(axis.low, axis.high, 2001)]
        # the least is at the end of the sweep on one elbow and inside on the other; a scan of 2000 finds it to 1e-6
        assert found.minimum == pytest.approx(min(values), rel=1e-6)
        assert found.minimum == pytest.approx(mu_c(elbow, found.at["q0"]), rel=1e-9)


def test_areas_are_those_of_the_branch():
    own, dynamics = chain(2)
    axis, pins, _ = case(2)
    axes = [Axis("q0", axis.low, axis.high), Axis("mu", 0, 3)]
    found = certified_map(dynamics, axes=axes, pins=pins, branch={"q1": -0.6}, gap=1e-4)
    elbow = int(np.argmin(np.abs(np.array(own.last_angles([0.025])) + 0.6)))

    def share(q0):  # of mu for which slide- has no solution: A < 0 and b < 0
        q = [q0, own.last_angles([q0])[elbow]]
        G, c = own.delassus(q, own.velocity(q, [], SLIP))
        critical = G[0, 0] / max(-G[0, 1], 1e-300)
        return max(0.0, 3 - critical) / 3 if c[0] < 0 else 0.0

    midpoints = axis.low + (np.arange(4000) + 0.5) / 4000 * axis.width
    low, high = found.regions["none"]
    assert high - low <= 1e-4
    # the share is smooth over the whole axis: its sum over the midpoints is good to 1e-9
    assert low < np.mean([share(q0) for q0 in midpoints]) < high


def test_a_branch_ends_at_its_fold_and_cells_beyond_are_not_reached():
    own, dynamics = chain(3)
    _, pins, known = case(3)
    axis = Axis("q0", -0.2, 0.9, 50)
    found = region_map(dynamics, axes=[axis, Axis("mu", 0, 3, 2)], pins=pins)
    reachable = np.array([bool(own.last_angles([q0, *known])) for q0 in axis.values])
    assert np.array_equal(found.verdict[:, 0] != CellVerdict.UNREACHABLE, reachable)
    # l cos(q0) + l cos(q0 + q1) + l = depth: the last link hangs straight down
    low, high = 0.0, 0.9
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if own.last_angles([middle, *known]) else (low, middle)
    # steps end at 2^-16 of a node's distance, 1.1/64
    assert found.branch.folds.tolist() == [[pytest.approx(low, abs=1e-6)]]
    assert not found.branch.leaves_out


@cache
def complex_root():
    return derive(
        Mechanism(
            name="complex_root",
            coordinates=["u", "v", "y"],
            parameters={"a": 0.5, "b": 0.0},
            dynamics=EnergyDynamics(kinetic="(u_dot**2 + v_dot**2 + y_dot**2)/2", potential="y"),
            constraint=[
                Constraint(name="real", equation="u**2 - v**2 - a"),
                Constraint(name="imaginary", equation="2*u*v - b"),
            ],
            contact=[Contact(name="floor", gap="y - u", tangent="v", friction="0.5")],
        )
    )


def test_two_ways_around_a_branch_point_disagree_along_a_seam_that_is_counted():
    # (u + i v)^2 = a + i b: once around the origin the root changes its sign, so that no continuous branch covers the
    # plane; from a = 1/2 along a, then along b, the cut falls on the negative half of the axis b = 0
    axes = [Axis("a", -1, 1, 10), Axis("b", -1, 1, 10)]
    pins = {"gap.floor": 0, "gap_dot.floor": 0}
    found = region_map(complex_root(), axes=axes, pins=pins, branch={"a": 0.5, "b": 0.0, "u": 0.7})
    branch = found.branch
    a, b = (column.ravel() for column in np.meshgrid(*branch.nodes, indexing="ij"))
    root = np.sqrt(a + 1j * b)
    on = np.isfinite(branch.q[:, 0])
    assert np.count_nonzero(~on) == 1  # the branch point itself
    # on the cut either root is right
    exact = np.where((b == 0) & (a < 0), branch.q[:, 0] + 1j * np.sign(branch.q[:, 1]) * np.abs(root), root)
    assert branch.q[on, 0] == pytest.approx(exact.real[on], abs=1e-10)
    assert branch.q[on, 1] == pytest.approx(exact.imag[on], abs=1e-10)
    negative = np.unique(a[a < 0])
    assert sorted(branch.seams[:, 0]) == pytest.approx(negative.tolist())
    step = branch.nodes[1][1] - branch.nodes[1][0]
    assert np.abs(branch.seams[:, 1]).max() <= step
    assert branch.leaves_out  # at the branch point both roots meet: there is a posture, but no branch
    assert branch.start == {"a": 0.5, "b": 0.0, "u": pytest.approx(0.5**0.5), "v": 0.0, "y": pytest.approx(0.5**0.5)}
    assert [other["u"] for other in branch.others] == [pytest.approx(-(0.5**0.5))]


def test_explicit_postures_have_no_branch():
    rod = dynamics_of("rod_on_incline")
    axes = [Axis("phi", 0, 3, 4), Axis("phi_dot", 0, 1, 3)]
    assert region_map(rod, axes=axes, pins={"slip.tip": 1}).branch is None
    assert critical_friction(rod, over=[Axis("phi", 0, 3)]).branch is None
    with pytest.raises(StateError, match="there is one branch"):
        region_map(rod, axes=axes, pins={"slip.tip": 1}, branch={"y": 0.3})


@pytest.mark.parametrize(
    ("branch", "message"),
    [
        ({"q3": 1.0}, "branch q3: a branch is named by coordinates that the pins leave open"),
        ({"q1": 1.0}, "these are q2, q0, mu"),
        ({"q2": "up"}, "up"),
        ({"q0": 3.0}, "no posture of chain satisfies the pins where the branch starts"),
    ],
)
def test_a_bad_start_is_refused(branch, message):
    _, dynamics = chain(3)
    axis, pins, _ = case(3)
    with pytest.raises((StateError, ValueError), match=message):
        region_map(dynamics, axes=[axis, MU], pins=pins, branch=branch)


def test_a_state_beyond_the_fold_of_the_named_branch_is_refused():
    _, dynamics = chain(3)
    _, pins, known = case(3)
    own = chain(3)[0]
    # beyond a fold and back: with q1 = 2.6 the chain is folded and reaches the floor for other q0 only
    assert not own.last_angles([0.8, *known])
    with pytest.raises(StateError, match=r"ends before q0 = 0\.8|no posture|no position"):
        solve_state(dynamics, {**pins, "q0": 0.8}, branch={"q0": 0.1, "q2": 0.5})


@pytest.mark.long
def test_a_state_around_a_fold_is_that_of_the_map():
    """Along q0 first the arm is stretched on the way, along the depth first it is not: found by tests/campaigns."""
    own = Chain((1.772, 0.833), (0.348, 0.336), (0.015, 0.006), depth=0.584)
    dynamics = derive(own.mechanism())
    axes = [Axis("q0", -0.2456, 1.0969, 12), Axis("D", 0.5256, 0.6133, 12)]
    pins = {"gap.tip": 0.0, "gap_dot.tip": 0.0, "slip.tip": 0.675}
    found = region_map(dynamics, axes=axes, pins=pins, branch={"q1": -1.146})
    start, n_around = dict(found.branch.start), 0
    for i, q0 in enumerate(axes[0].values):
        for j, depth in enumerate(axes[1].values):
            angles = own.last_angles([q0], depth=depth)
            is_reached = found.regions[found.region[i, j]] != "unreachable"
            assert is_reached == bool(angles)
            is_around = is_reached and not own.last_angles([q0], depth=start["D"])
            if is_around or (is_reached and (i + j) % 3 == 0):
                state = solve_state(dynamics, pins | {"q0": q0}, parameters={"D": depth}, branch=start)
                assert state.q[1] == pytest.approx(min(angles), abs=1e-9)  # both elbows: -x and x about the line
                n_around += is_around
    assert n_around == 3


def test_the_command_line_names_a_branch_and_says_which(capsys, tmp_path):
    own, _ = chain(3)
    file = tmp_path / "chain.toml"
    file.write_text(mechanism_to_toml(own.mechanism()))
    pins = ["--pin=q1=0.1", "--pin=gap.tip=0", "--pin=q0_dot=0", "--pin=gap_dot.tip=0", "--pin=slip.tip=-0.1"]
    up, down = own.last_angles([0.025, 0.1])
    named, other = down, up  # not the one that is taken without a name
    arguments = ["map", str(file), "--axis=q0=-0.2:0.25:9", "--axis=mu=0:3:9", *pins, f"--branch=q2={named}"]
    assert main([*arguments, "--json"]) == 0
    branch = json.loads(capsys.readouterr().out)["branch"]
    assert branch["start"] == {"q0": pytest.approx(0.025), "q2": pytest.approx(named)}
    assert branch["others"] == 1
    assert branch["other_starts"] == [{"q2": pytest.approx(other)}]
    start = [f"--branch={name}={value}" for name, value in branch["start"].items()]
    assert main(["verdict", str(file), "--pin=q0=0.2", *pins, *start, "--json"]) == 0
    q = json.loads(capsys.readouterr().out)["state"]["q"]
    assert q["q2"] == pytest.approx(own.last_angles([0.2, 0.1])[1], abs=1e-9)
    assert main(["critical-friction", str(file), "--over=q0=-0.2:0.25", *pins[:2], *start, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["branch"]["start"]["q2"] == pytest.approx(named)
    assert main(["simulate", str(file), "--pin=q0=0.2", *pins, *start, "--t-end=1e-3", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["final"]["q"]["q2"]
    assert first == pytest.approx(q["q2"], abs=2e-3)  # a thousandth of a second later
    assert (
        main(["map", "rod_on_incline", "--axis=phi=0:1:3", "--axis=phi_dot=0:1:3", "--pin=slip.tip=1", "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["branch"] is None
