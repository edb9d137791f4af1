"""Comparisons of several contacts, and of states in which contacts rest, stick or are open."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import (
    ComputationError,
    KelvinVoigtLimit,
    compare,
    derive,
    mechanism_from_toml,
    resolve,
    resolve_impact,
    solve_state,
)
from hybrid.analysis import Axis
from hybrid.analysis.comparison.agreement import compare_map
from hybrid.analysis.comparison.restitution import approaching_impulse
from hybrid.analysis.comparison.settling import decay_rate
from hybrid.contact import select
from hybrid.contact.compliance.kinematics import ContactRows
from hybrid.contact.compliance.limit import planar_limit, several_limit
from hybrid.contact.compliance.path import times_to_stick
from hybrid.contact.compliance.spatial import spatial_limit


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


@pytest.fixture(scope="module")
def supported():
    return derive(mechanisms.load("rod_two_ends"))


@pytest.mark.parametrize(
    ("pins", "label"),
    [
        ({"phi": 0.5, "slip.left": 1}, "left=slide+,right=free"),
        ({"phi": 0, "slip.left": 0}, "left=stick,right=stick"),
    ],
)
def test_a_settled_state_of_two_contacts_has_no_disagreement(supported, pins, label):
    state = solve_state(supported, {"gap.left": 0, "gap_dot.left": 0, "phi_dot": 0, **pins})
    found = compare(supported, state, stiffness=(1e6, 1e8))
    assert found.has_mode
    assert {row.mode for row in found.rows} == {label}
    # the reason of the resolution, and nothing besides
    assert len(found.notes) == 1
    sticks = {part.split("=")[0] for part in label.split(",") if part.endswith("stick")}
    for row in found.rows:
        if row.stiffness:
            assert set(row.time_to_stick) == sticks


def test_times_to_stick_read_the_labels_of_penalty_runs(supported):
    # thrown on both ends at once: the slip stops on both at the same moment, as both feel the same deceleration
    state = solve_state(supported, {"gap.left": 0, "gap_dot.left": 0, "phi": 0, "phi_dot": 0, "slip.left": 1e-4})
    row = compare(supported, state, stiffness=(1e6,)).row("penalty K=1e+06")
    assert row.time_to_stick["left"] == pytest.approx(row.time_to_stick["right"], rel=1e-9)
    assert times_to_stick([("left=slide+,right=free", 2.0), ("left=stick,right=free", 1.0)], ()) == {"left": 2.0}


def test_laws_without_an_impulse_keep_the_mode_of_the_rigid_problem(rod):
    # b = -1 + theta_dot^2 sin(theta) > 0 and A > 0: the tip leaves though its velocity is that of sliding
    parameters = {"mu": 0.3}
    state = solve_state(rod, {"theta": 1, "theta_dot": 3, "slip.tip": 1}, parameters=parameters)
    found = compare(rod, state, stiffness=(), parameters=parameters)
    assert -1 + 9 * np.sin(1.0) > 0
    assert found.verdict == "UNIQUE"
    assert {row.mode for row in found.rows} == {"free"}
    assert {row.outcome for row in found.rows[1:]} == {"no impulse"}


RATIO = 0.01  # exact enough a square root, so that fast times differ by rounding alone


@pytest.fixture(scope="module")
def softer():
    """The rod, its contact a hundred times softer than the stiffness of a run says."""
    declared = mechanisms.load("painleve_rod")
    (contact,) = declared.contact
    return derive(attrs.evolve(declared, contact=[attrs.evolve(contact, stiffness_ratio=str(RATIO))]))


@pytest.mark.parametrize(("mu", "rate"), [(0.3, 0.5), (1.4, 0.5), (1.5, 3)])
def test_relative_stiffness_multiplies_the_stiffness_in_every_row(rod, softer, mu, rate):
    # verdicts UNIQUE, INCONSISTENT and INDETERMINATE: settling, striking, and approaches next to the separatrix
    pins, parameters = {"theta": 1, "theta_dot": rate, "slip.tip": 1}, {"mu": mu}
    stiff = compare(softer, solve_state(softer, pins, parameters=parameters), stiffness=(1e8,), parameters=parameters)
    plain = compare(rod, solve_state(rod, pins, parameters=parameters), stiffness=(1e6,), parameters=parameters)
    assert stiff.verdict == plain.verdict
    assert [row.mode for row in stiff.rows] == [row.mode for row in plain.rows]
    for one, other in zip(stiff.rows, plain.rows, strict=True):
        shown, same = ([row.approach or 0.0, row.error or 0.0] for row in (one, other))
        assert shown == pytest.approx(same, rel=1e-5)
        assert list(one.v_after.values()) == pytest.approx(list(other.v_after.values()), abs=1e-7)


def test_separatrix_is_that_of_the_contact_with_its_relative_stiffness(rod, softer):
    parameters = {"mu": 1.5}
    state = solve_state(rod, {"theta": 1, "theta_dot": 3, "slip.tip": 1}, parameters=parameters)
    # Hogan and Kristiansen 2017, the stable direction of the saddle
    c, s, d, K = np.cos(1.0), np.sin(1.0), 0.3, 1e6
    p, b = 3 * c * (1.5 * s - c) - 1, -1 + 9 * s
    w_crit = (p * d - np.sqrt((p * d) ** 2 + p)) * b / (p * np.sqrt(K))
    for dynamics, stiffness in ((rod, K), (softer, K / RATIO)):
        for share, outcome in ((0.99, "LIFT_OFF"), (1.01, "IMPACT_WITHOUT_COLLISION")):
            found = resolve(
                dynamics, state, law=KelvinVoigtLimit(d), approach=share * w_crit, stiffness=stiffness,
                parameters=parameters,
            )  # fmt: skip
            assert found.outcome.name == outcome


def test_relative_stiffness_multiplies_the_stiffness_of_maps(rod, softer):
    axes = [Axis.parse("theta=0.7:1.1:2"), Axis.parse("theta_dot=0.5:2.5:2")]
    common = {"axes": axes, "pins": {"slip.tip": 1}, "parameters": {"mu": 1.5}}
    plain = compare_map(rod, stiffness=[1e6], **common).penalty
    stiff = compare_map(softer, stiffness=[1e8], **common).penalty
    assert stiff.duration == pytest.approx(plain.duration, rel=1e-12)
    assert np.array_equal(stiff.mode, plain.mode)
    assert stiff.error == pytest.approx(plain.error, rel=1e-4, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("freedoms", [1, 2, 3])
def test_impulse_of_an_approach_meets_its_normal_velocity_and_keeps_the_slip_it_can(freedoms):
    rng = np.random.default_rng(freedoms)
    W = rng.normal(size=(20, 3, freedoms))
    change = -rng.random(20)
    moved = np.einsum("nij,nj->ni", W @ np.swapaxes(W, 1, 2), approaching_impulse(W @ np.swapaxes(W, 1, 2), 0, change))
    assert moved[:, 0] == pytest.approx(change, abs=1e-12)
    if freedoms == 3:
        assert moved[:, 1:] == pytest.approx(0.0, abs=1e-9)
    if freedoms == 1:
        assert moved[:, 1:] == pytest.approx(W[:, 1:, 0] / W[:, :1, 0] * change[:, None], rel=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3])
def test_spatial_contact_of_a_mechanism_with_one_freedom_slides_in_and_out(mu):
    # one freedom: the inertia factor is 1 + mu |a_T| going in and 1 - mu |a_T| coming out, each half a quarter period
    a = np.array([1.0, 2.0, 1.0])
    inward, outward = 1 + mu * np.sqrt(5), 1 - mu * np.sqrt(5)
    found = spatial_limit(np.outer(a, a), -a, friction=mu, damping=0.0)
    assert found.gamma_after == pytest.approx(np.sqrt(outward / inward) * a, rel=1e-8)
    assert found.phases[0].duration == pytest.approx(np.pi / 2 / np.sqrt(inward), rel=1e-8)


@pytest.mark.parametrize("mu", [0.5, 0.9, 3.0])
def test_spatial_contact_that_friction_locks_is_refused_at_once(mu):
    # it sticks above 1 / |a_T| = 0.447, and then nothing is left that could open the contact
    a = np.array([1.0, 2.0, 1.0])
    with pytest.raises(ComputationError, match="cannot end"):
        spatial_limit(np.outer(a, a), -a, friction=mu, damping=0.25)


def test_spatial_contact_with_two_freedoms_is_the_planar_one_turned():
    # W_T has rank one, so that the slip lies on a line, and friction along it is planar Coulomb friction
    rng = np.random.default_rng(8)
    for _ in range(20):
        W = rng.normal(size=(2, 2))
        angle, mu, d = rng.uniform(0, 2 * np.pi), rng.uniform(0, 1.5), rng.uniform(0, 1)
        line = np.array([[1, 0, 0], [0, np.cos(angle), np.sin(angle)]])
        G, gamma = W.T @ W, np.array([-1.0, rng.normal()])
        planar = planar_limit(G, gamma, friction=mu, damping=d)
        found = spatial_limit(line.T @ G @ line, line.T @ gamma, friction=mu, damping=d)
        assert found.gamma_after == pytest.approx(line.T @ planar.gamma, abs=1e-7)
        assert found.impulse == pytest.approx(line.T @ planar.impulse, abs=1e-7)


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("slip", [1e-300, 1e-260, 1e-240])
def test_vanishing_slip_is_none(mu, slip):
    G = np.array([[1, 0.2, 0.1], [0.2, 1, 0], [0.1, 0, 1.0]])
    rest = spatial_limit(G, np.array([-1.0, 0.0, 0.0]), friction=mu, damping=0.25).gamma_after
    found = spatial_limit(G, np.array([-1.0, slip, slip / 2]), friction=mu, damping=0.25).gamma_after
    assert found == pytest.approx(rest, abs=1e-9)


def test_ratio_of_stiffness_at_which_friction_locks_is_a_warning_and_keeps_the_answer():
    # two contacts of a mechanism with two freedoms, on which everything can stick
    W = np.array([[-0.1876, 1.7695, 1.7205, 0.8555], [0.3319, 1.1383, -0.1407, -0.0951]])
    G, gamma = W.T @ W, W.T @ np.array([-0.8604, 0.0056])
    first, second = (ContactRows(name, row, (row + 1,), 1.521, 0.0) for name, row in (("a", 0), ("b", 2)))
    with pytest.raises(ComputationError, match="locks the mechanism"):
        several_limit(G, gamma, (first, attrs.evolve(second, stiffness_ratio=0.1)))
    found = several_limit(G, gamma, (first, second))
    assert np.min(found.gamma_after[[0, 2]]) > 0
    assert found.impulse @ (gamma + found.gamma_after) <= 0
    assert found.gamma_after == pytest.approx(gamma + G @ found.impulse, abs=1e-9)
    (warning,) = found.warnings
    assert "10 times softer: a compliant impact of several contacts does not end" in warning
    assert "declare stiffness_ratio" in warning


def test_forces_of_an_oscillation_that_does_not_die_out_are_not_compared(rod):
    parameters = {"mu": 0.3}
    state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters=parameters)
    found = compare(rod, state, damping=0.0, stiffness=(1e4, 1e5), parameters=parameters)
    assert found.fit is None
    assert all(row.error is None for row in found.rows)
    assert [note for note in found.notes if "does not die out" in note]


@pytest.mark.parametrize(("damping", "label"), [(0.1, "slide"), (0.25, "slide"), (2.0, "slide"), (0.3, "stick")])
def test_rate_at_which_a_mode_settles_is_that_of_the_damped_oscillator(rod, damping, label):
    # Y'' + 2 d A Y' + A Y = 0 with A = G_NN - mu G_NT in sliding, the Schur complement in sticking
    parameters = {"mu": 0.3 if label == "slide" else 0.9}
    state = solve_state(rod, {"theta": 1, "theta_dot": 0, "slip.tip": float(label == "slide")}, parameters=parameters)
    selection = select(rod, state, parameters=parameters)
    assert selection.branches[0].mode.label.startswith(label)
    c, s = np.cos(1.0), np.sin(1.0)
    A = 1 + 3 * c * (c - 0.3 * s) if label == "slide" else 4 / (1 + 3 * s * s)
    rate = decay_rate(selection.problem, selection.branches[0], damping)
    assert rate == pytest.approx(-np.roots([1, 2 * damping * A, A]).real.max(), rel=1e-9)


def test_slow_mode_is_followed_until_it_has_settled():
    # the sliding shoe has A = 1 - 2 mu, so that 80 units of fast time leave exp(-8) of its oscillation
    shoe = derive(mechanisms.load("brake_shoe"))
    state = solve_state(shoe, {"phi": 0, "phi_dot": 0}, parameters={"mu": 0.3})
    found = compare(shoe, state, stiffness=(1e5, 1e6), parameters={"mu": 0.3})
    # F = Q / (a - mu h) = 2.5 presses it in by F / K, which changes its levers by (h + mu a) / (a - mu h) of that
    settled = np.log(1e9) / (0.25 * 0.4)
    for row in found.rows:
        if row.stiffness:
            assert row.duration == pytest.approx(settled, rel=1e-6)
            error = 2.3 / 0.4 * 2.5 / row.stiffness
            assert row.error == pytest.approx(error, abs=5e-9 + 5 * error**2)


BLOCK_BESIDE_A_GUIDE = """
name = "block"
coordinates = ["x", "y", "phi"]
parameters = {m = 1, a = 0.3, h = 0.5, g = 9.81, I = "m*(a**2 + h**2)/3"}
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2"
potential = "m*g*y"
[[contact]]
name = "L"
gap = "y - a*sin(phi) - h*cos(phi)"
tangent = "x - a*cos(phi) + h*sin(phi)"
friction = 0.4
damping = 0.15
[[contact]]
name = "R"
gap = "y + a*sin(phi) - h*cos(phi)"
tangent = "x + a*cos(phi) + h*sin(phi)"
friction = 0.4
damping = 0.15
[[friction]]
name = "guide"
limit = 3
tangent = "x"
"""


def slid(speed, stiffness):
    block = derive(mechanism_from_toml(BLOCK_BESIDE_A_GUIDE))
    pins = {"phi": 0, "gap.L": 0, "x": 0, "x_dot": speed, "y_dot": 0, "phi_dot": 0}
    return compare(block, solve_state(block, pins), stiffness=stiffness)


def test_feet_whose_slips_differ_by_a_rotation_stop_beside_a_guide():
    # soft feet sag by 1e-4, so that their slips are nearly the same; friction takes all of v^2/2
    run = slid(0.7, [1e5]).rows[-1]
    assert run.mode == "L=stick,R=stick,guide=stick"
    assert run.energy_change == pytest.approx(-(0.7**2) / 2, abs=1e-6)


def test_forces_of_runs_that_have_left_the_mode_are_not_compared():
    # the block stops at 0.1/(0.4 g + 3) = 0.0144 s; the runs take 87/sqrt(K), which is less for the last one only
    found = slid(0.1, [1e6, 1e7, 1e8])
    modes = {row.stiffness: row.mode for row in found.rows if row.stiffness}
    assert [modes[K].count("stick") for K in (1e6, 1e7, 1e8)] == [3, 3, 0]
    errors = {row.stiffness: row.error for row in found.rows if row.stiffness}
    assert errors[1e6] is errors[1e7] is None
    assert errors[1e8] < 1e-6
    assert found.fit is None


STRIKES_EVER_LATER = """
name = "strikes"
coordinates = ["a", "b"]
[dynamics]
mass_matrix = [[5.664, -4.137], [-4.137, 3.663]]
forces = [0, 0]
[[contact]]
name = "one"
gap = "-0.687*a + 0.661*b"
tangent = "-0.877*a + 1.244*b"
friction = 0.471
stiffness_ratio = 9.393
[[contact]]
name = "other"
gap = "1.564*a - 0.708*b"
tangent = "0.085*a + 1.001*b"
friction = 0.205
stiffness_ratio = 0.4
"""


def test_contacts_that_strike_ever_later_are_not_said_to_be_locked_by_friction():
    # each flight takes twice as long as the one before: found by a regularised integration in fast time
    strikes = derive(mechanism_from_toml(STRIKES_EVER_LATER))
    state = solve_state(strikes, {"a": 0, "b": 0, "a_dot": -1.005, "b_dot": -1.551})
    with pytest.raises(ComputationError, match=r"does not end: contacts have let go, and one of them takes longer"):
        resolve_impact(strikes, state, law=KelvinVoigtLimit())
