"""Several compliant contacts at once: modal solutions, independent contacts, and what must always hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import mechanisms
from hybrid import KelvinVoigt, KelvinVoigtLimit, State, derive, resolve, solve_state
from hybrid.contact import resolve_impact
from hybrid.contact.compliance import Outcome
from hybrid.contact.compliance.kinematics import ContactRows
from hybrid.contact.compliance.limit import planar_limit, several_limit
from hybrid.declaration import Constraint, Contact, EquationDynamics, FrictionElement, Mechanism, mechanism_from_toml
from hybrid.errors import ComputationError


def frictionless(n, ratios=None):
    return tuple(ContactRows(f"c{i}", i, (), 0.0, 0.0, 1.0 if ratios is None else ratios[i]) for i in range(n))


def test_three_equal_balls_on_equal_springs_by_modes():
    # eigenmodes (1, 1) and (1, -1) with frequencies 1 and sqrt3, until the left contact lets go; then one spring
    G = np.array([[2.0, -1.0], [-1.0, 2.0]])
    got = several_limit(G, np.array([-1.0, 0.0]), frictionless(2))

    def flow(x, s):
        A = np.block([[np.zeros((2, 2)), np.eye(2)], [-G, np.zeros((2, 2))]])
        return expm(A * s) @ x

    release = got.phases[0].duration
    assert np.sin(release) + np.sin(np.sqrt(3) * release) / np.sqrt(3) == pytest.approx(0.0, abs=1e-9)
    x = flow(np.array([0.0, 0.0, -1.0, 0.0]), release)
    Y, w = x[1], x[3]
    # one spring of inertia factor 2: cosine until Y = 0
    speed = np.sqrt(w**2 + 2 * Y**2)
    left = x[2] - (speed - w) / 2  # the right impulse (speed - w)/2 moves the middle ball towards the left one
    assert got.gamma_after == pytest.approx([left, speed], abs=1e-9)
    # energy is kept: 1/2 gamma^T G^-1 gamma
    kept = got.gamma_after @ np.linalg.solve(G, got.gamma_after)
    assert kept == pytest.approx(np.array([-1, 0]) @ np.linalg.solve(G, np.array([-1, 0])), rel=1e-9)


def test_very_unequal_springs_give_the_sequential_answer_and_the_dependence_is_said():
    G = np.array([[2.0, -1.0], [-1.0, 2.0]])
    stiff_first = several_limit(G, np.array([-1.0, 0.0]), frictionless(2, (1.0, 1e-6)))
    # the stiff pair first, then the soft one: the last ball takes all, (0, 0, 1)
    assert stiff_first.gamma_after == pytest.approx([0.0, 1.0], abs=3e-3)
    warned = several_limit(G, np.array([-1.0, 0.0]), frictionless(2)).warnings
    assert len(warned) == 1
    assert "depends on the stiffness ratio of contact 'c1'" in warned[0]


def test_independent_contacts_do_not_see_each_other_nor_their_stiffnesses():
    G1, G2 = np.array([[1.0, 0.3], [0.3, 2.0]]), np.array([[1.0, -0.5], [-0.5, 1.0]])
    G = np.zeros((4, 4))
    G[:2, :2], G[2:, 2:] = G1, G2
    contacts = (ContactRows("a", 0, (1,), 0.4, 0.2), ContactRows("b", 2, (3,), 0.6, 0.1, 5.0))
    got = several_limit(G, np.array([-1.0, 0.5, -0.3, -1.0]), contacts)
    first = planar_limit(G1, [-1.0, 0.5], friction=0.4, damping=0.2)
    second = planar_limit(G2, [-0.3, -1.0], friction=0.6, damping=0.1)
    # integrated to 1e-11
    assert got.gamma_after == pytest.approx([*first.gamma, *second.gamma], abs=1e-8)
    assert got.warnings == ()
    assert got.duration == pytest.approx(max(first.duration.sum(), second.duration.sum() / np.sqrt(5.0)), abs=1e-7)


def test_one_contact_through_the_general_road_is_the_closed_form():
    rng = np.random.default_rng(3)
    for _ in range(15):
        directions = rng.normal(size=(3, 2))
        G, gamma = directions.T @ directions, rng.normal(size=2)
        gamma[0] = -abs(gamma[0])
        mu, d = rng.uniform(0, 10), rng.uniform(0, 1)
        closed = planar_limit(G, gamma, friction=mu, damping=d)
        general = several_limit(G, gamma, (ContactRows("tip", 0, (1,), mu, d),))
        assert general.gamma_after == pytest.approx(closed.gamma, abs=1e-8)
        assert general.duration == pytest.approx(closed.duration.sum(), abs=1e-6)


@pytest.mark.parametrize("n", [8, pytest.param(300, marks=pytest.mark.long)])
def test_two_random_contacts_end_separating_without_gain_of_energy(n):
    rng = np.random.default_rng(n)
    for _ in range(n):
        directions = rng.normal(size=(5, 4))
        G, gamma = directions.T @ directions, rng.normal(size=4)
        gamma[0] = -abs(gamma[0])
        contacts = tuple(
            ContactRows(f"c{i}", 2 * i, (2 * i + 1,), rng.uniform(0, 3), rng.uniform(0, 1)) for i in range(2)
        )
        got = several_limit(G, gamma, contacts)
        before = gamma @ np.linalg.solve(G, gamma)
        assert got.gamma_after[[0, 2]].min() >= -1e-9
        assert got.impulse @ (gamma + got.gamma_after) <= 1e-9 * before
        assert got.work_T <= 1e-9 * before


def test_contacts_at_rest_have_no_impact():
    got = several_limit(np.eye(4), np.array([0.0, 1.0, 0.0, 0.0]), (
        ContactRows("a", 0, (1,), 0.4, 0.2), ContactRows("b", 2, (3,), 0.6, 0.1)))  # fmt: skip
    assert not got.impulse.any()


def test_rod_that_falls_flat_on_both_ends_is_thrown_back():
    rod = derive(mechanisms.load("rod_two_ends"))
    names = rod.contacts
    terms = {f"gap.{name}": 0 for name in names}
    state = solve_state(rod, {**terms, **{f"gap_dot.{name}": -1 for name in names}, "x": 0, "x_dot": 0})
    after = resolve_impact(rod, state, law=KelvinVoigtLimit(0.0))
    # an undamped vertical fall on both ends, friction impulses balanced by symmetry: thrown back as it came
    assert sum(after.gap_dot_after.values()) == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("beta", [0.3, 0.7])
def test_wedge_within_its_friction_angle_locks_and_beyond_it_is_thrown_back(beta, damping):
    # a point of mass 1 driven down into a groove of half angle beta: at rest in it, springs compressed, the walls push
    # it out with 2 N sin(beta) and friction holds it with at most 2 mu N cos(beta)
    normals = np.array([[np.cos(beta), np.sin(beta)], [-np.cos(beta), np.sin(beta)]])
    tangents = np.array([[-np.sin(beta), np.cos(beta)], [np.sin(beta), np.cos(beta)]])
    W = np.array([normals[0], tangents[0], normals[1], tangents[1]])
    G, gamma = W @ W.T, W @ np.array([0.0, -1.0])

    def walls(mu):
        return ContactRows("left", 0, (1,), mu, damping), ContactRows("right", 2, (3,), mu, damping)

    with pytest.raises(ComputationError, match="friction locks the mechanism"):
        several_limit(G, gamma, walls(1.02 * np.tan(beta)))
    mu = 0.8 * np.tan(beta)
    got = several_limit(G, gamma, walls(mu))
    out = np.linalg.lstsq(W, got.gamma_after, rcond=None)[0]
    assert out[0] == pytest.approx(0.0, abs=1e-9)
    assert out[1] > 0
    if damping == 0.0:
        # y'' = -2 k (sin + mu cos) on the way in and -2 k (sin - mu cos) out of the same spring
        s, c = np.sin(beta), np.cos(beta)
        assert out[1] == pytest.approx(np.sqrt((s - mu * c) / (s + mu * c)), abs=1e-8)


GROOVE = """
name = "point_in_a_groove"
coordinates = ["x", "y"]
parameters = { beta = 0.7, mu = 0.6 }
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
[[contact]]
name = "left"
gap = "x*cos(beta) + y*sin(beta)"
slip = "-x_dot*sin(beta) + y_dot*cos(beta)"
friction = "mu"
[[contact]]
name = "right"
gap = "-x*cos(beta) + y*sin(beta)"
slip = "x_dot*sin(beta) + y_dot*cos(beta)"
friction = "mu"
"""


@pytest.mark.parametrize("damping", [0.1, 0.3])
def test_walls_that_let_go_together_do_not_pull(damping):
    # flat walls without weight: at any stiffness by symmetry straight up, one oscillator Y' = w, w' = A F of both walls
    # with A = 2 sin (sin + mu cos) on the way in, A = 2 sin (sin - mu cos) out, and F = -Y - 2 d w until F = 0
    groove = derive(mechanism_from_toml(GROOVE))
    state = solve_state(groove, {"x": 0, "y": 0, "x_dot": 0, "y_dot": -1})
    s, c = np.sin(0.7), np.cos(0.7)

    def rates(sign):
        return lambda _, y: [y[1], 2 * s * (s + sign * 0.6 * c) * (-y[0] - 2 * damping * y[1])]

    def stops(_, y):
        return y[1]

    def released(_, y):
        return -y[0] - 2 * damping * y[1]

    stops.terminal = released.terminal = True
    released.direction = -1
    down = solve_ivp(rates(1), (0, 100), [0.0, -s], "DOP853", rtol=1e-12, atol=1e-14, events=[stops])
    up = solve_ivp(rates(-1), (0, 100), [down.y[0, -1], 0.0], "DOP853", rtol=1e-12, atol=1e-14, events=[released])
    expected = np.array([0.0, up.y[1, -1] / s])
    motion = KelvinVoigt(1e6, damping).pass_through(groove, state)
    assert motion.has_separated
    assert motion.state.v == pytest.approx(expected, abs=1e-8)
    limit = resolve_impact(groove, state, law=KelvinVoigtLimit(damping))
    assert limit.v_after == pytest.approx(expected, abs=1e-8)


def random_pairs(count):
    """Two planar contacts with friction on a random body."""
    random = np.random.default_rng(3)
    for _ in range(count):
        n = int(random.integers(3, 6))
        W = random.standard_normal((n, 4))
        gamma = W.T @ random.standard_normal(n)
        gamma = gamma if gamma[0] < 0 or gamma[2] < 0 else -gamma
        mu, damping = random.uniform(0.1, 1.5, 2), random.uniform(0, 0.8, 2) * (random.random() < 0.7)
        ratios = [1.0, float(10 ** random.uniform(-1, 1))]
        yield W.T @ W, gamma, [ContactRows(f"c{i}", 2 * i, (2 * i + 1,), mu[i], damping[i], ratios[i]) for i in (0, 1)]


def test_friction_and_pressure_obey_their_laws_all_along_random_impacts():
    """Also where a contact loses its hold and lets go soon after, and where a damped one comes back."""
    followed = 0
    for G, gamma, contacts in random_pairs(70):
        try:
            path = several_limit(G, gamma, tuple(contacts), samples=41)
        except ComputationError as error:
            assert "locks" in str(error)
            continue
        followed += 1
        size, depth = np.abs(path.samples.force).max(), np.abs(path.samples.Y).max()
        for i, contact in enumerate(contacts):
            normal, tangential = path.samples.force[:, 2 * i], path.samples.force[:, 2 * i + 1]
            # events are located to 1e-15 of a path that is integrated to 1e-11
            assert normal.min() >= -1e-9 * size
            assert (np.abs(tangential) - contact.friction * normal).max() <= 1e-9 * size
            assert path.samples.Y[normal > 1e-9 * size, i].max(initial=0.0) <= 1e-9 * depth
    assert followed > 60


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_contact_at_rest_that_nothing_moves_stays_at_rest(damping):
    two = (ContactRows("a", 0, (), 0.0, damping), ContactRows("b", 1, (), 0.0, damping))
    gamma = np.array([-1.0, 0.0])
    # the damped oscillator, from its zero to that of its force
    rebound = np.exp(-2 * damping * np.arccos(damping) / np.sqrt(1 - damping**2))
    assert several_limit(np.eye(2), gamma, two).gamma_after == pytest.approx([rebound, 0.0], abs=1e-9)
    bodies = mechanism_from_toml(
        f"""
        name = "two_bodies"
        coordinates = ["x", "z"]
        [dynamics]
        kinetic = "x_dot**2/2 + z_dot**2/2"
        potential = "0"
        [[contact]]
        name = "a"
        gap = "x"
        damping = "{damping}"
        [[contact]]
        name = "b"
        gap = "z"
        damping = "{damping}"
        """
    )
    struck = KelvinVoigt(1e6).pass_through(derive(bodies), State([0.0, 0.0], [-1.0, 0.0]))
    assert struck.state.v == pytest.approx([rebound, 0.0], abs=1e-9)


JAMMING = np.array([[1.0, 0.6], [0.6, 0.5]])  # A = 1 - 2*0.6 < 0 where it slips forward with mu = 2
SLIPS = np.array([0.0, 1.0, 0.0, 1.3])


def jamming(coupling):
    """Two contacts that are driven deeper while they slip, and what an impulse of one does to the other."""
    beside = coupling * np.array([[0.3, 0.1], [0.1, 0.2]])
    pair = tuple(ContactRows(name, 2 * i, (2 * i + 1,), 2.0, 0.3) for i, name in enumerate("ab"))
    return np.block([[JAMMING, beside], [beside.T, JAMMING]]), pair


def test_a_contact_at_rest_that_is_lifted_takes_no_part_in_the_impact_of_another():
    G, pair = jamming(0.0)
    got = several_limit(G, SLIPS, pair, loads=np.array([-2.0, 0.5, 3.0, 0.0]))
    alone = planar_limit(JAMMING, SLIPS[:2], friction=2.0, damping=0.3)
    assert got.gamma_after == pytest.approx([*alone.gamma, 0.0, 1.3], abs=1e-8)
    assert got.warnings == ()
    assert not several_limit(G, SLIPS, pair, loads=np.array([2.0, 0.5, 3.0, 0.0])).impulse.any()
    assert not several_limit(G, SLIPS, pair, loads=np.zeros(4)).impulse.any()


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("coupling", [0.15, 0.6])
def test_of_two_contacts_at_rest_the_one_that_is_loaded_more_is_far_ahead(coupling, first):
    """A lead of ln(1e6)/lambda, of which an impact takes a part; then the other slips on, lifted off, or not at all."""
    G, pair = jamming(coupling)
    loads = np.array([-1.0, 0.0, -1.0, 0.0])
    loads[2 - 2 * first] = -1e-6
    got = several_limit(G, SLIPS, pair, loads=loads)
    rows = slice(2 * first, 2 * first + 2)
    alone = planar_limit(JAMMING, SLIPS[rows], friction=2.0, damping=0.3)
    impulse = np.zeros(4)
    impulse[rows] = alone.impulse
    after = SLIPS + G @ impulse
    assert after[2 - 2 * first] > 0.0
    # the spring of the other is moved by 1e-6 of what the first one's is
    assert got.gamma_after == pytest.approx(after, abs=1e-5)


@pytest.mark.parametrize("elements", [0, 1])
def test_a_mechanism_hands_its_loads_to_the_limit(elements):
    G, _ = jamming(0.15)
    M, c = np.linalg.inv(G), np.array([-1.0, 0.0, -1e-6, 0.0])
    names = ["z", "x", "w", "u"]
    pair = derive(
        Mechanism(
            name="pair",
            coordinates=names,
            dynamics=EquationDynamics(mass_matrix=M.tolist(), forces=(M @ c).tolist()),
            contact=[
                Contact(name="a", gap="z", tangent="x", friction="2", damping="0.3"),
                Contact(name="b", gap="w", tangent="u", friction="2", damping="0.3"),
            ],
            friction=[FrictionElement(name="dry", limit="1e-9", tangent="x")] * elements,
        )
    )
    found = resolve(pair, State([0.0] * 4, SLIPS))
    alone = planar_limit(JAMMING, SLIPS[:2], friction=2.0, damping=0.3)
    after = SLIPS + G[:, :2] @ alone.impulse
    assert found.outcome is Outcome.IMPACT_WITHOUT_COLLISION
    assert found.impact.v_after == pytest.approx(after, abs=1e-5)
    assert ["friction elements" in warning for warning in found.impact.warnings] == [True] * elements


@pytest.mark.parametrize("load", [0.0, 1.0])
def test_friction_of_a_rail_under_load_sets_a_contact_off(load):
    """Its friction 0.5 N on x is 0.3 m/s^2 less of the free acceleration 0.1 of the gap, and no impulse."""
    M = np.linalg.inv(JAMMING)
    f = M @ [0.1, 0.0]
    rod = derive(
        Mechanism(
            name="rod",
            coordinates=["z", "x", "y"],
            dynamics=EquationDynamics(
                mass_matrix=[[*M[0], 0.0], [*M[1], 0.0], [0.0, 0.0, 1.0]], forces=[*f.tolist(), load]
            ),
            contact=[Contact(name="tip", gap="z", tangent="x", friction="2", damping="0.3")],
            constraint=[Constraint(name="rail", equation="y", tangent="x", friction="0.5")],
        )
    )
    found = resolve_impact(rod, State([0.0] * 3, [0.0, 1.0, 0.0]), law=KelvinVoigtLimit())
    alone = planar_limit(JAMMING, [-0.0, 1.0], friction=2.0, damping=0.3)
    assert found.v_after == pytest.approx([*alone.gamma, 0.0] if load else [0.0, 1.0, 0.0], abs=1e-6)
