"""Several spatial compliant contacts at once, static friction in the limit, and separated contacts refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import KelvinVoigt, KelvinVoigtLimit, derive, solve_state
from hybrid.cli import main
from hybrid.contact import resolve_impact
from hybrid.contact.compliance.kinematics import ContactRows
from hybrid.contact.compliance.limit import planar_limit, several_limit
from hybrid.contact.compliance.rest import directions_from_rest, friction_at_rest
from hybrid.contact.compliance.spatial import spatial_limit
from hybrid.declaration import mechanism_from_toml

# a bar falling on two feet at its ends; phi turns it about the vertical, th tilts it; the feet lie h below the bar, so
# that the slips along the bar are the same for both, and normal forces that differ drive them
BAR = """
name = "bar_on_two_feet"
coordinates = ["x", "y", "z", "phi", "th"]
parameters = { m = 1, J = 0.2, a = 1, g = 9.81, h = 0, mu = 0.5, mu_s = "mu", delta = 0.25 }
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2 + z_dot**2)/2 + J*(phi_dot**2 + th_dot**2)/2"
potential = "m*g*z"
[[contact]]
name = "left"
gap = "z - a*sin(th)"
slip = ["x_dot - h*th_dot", "y_dot - a*cos(phi)*phi_dot"]
friction = "mu"
static_friction = "mu_s"
damping = "delta"
[[contact]]
name = "right"
gap = "z + a*sin(th)"
slip = ["x_dot - h*th_dot", "y_dot + a*cos(phi)*phi_dot"]
friction = "mu"
static_friction = "mu_s"
damping = "delta"
"""
FLAT = dict.fromkeys(("x", "y", "z", "phi", "th", "x_dot", "y_dot", "phi_dot", "th_dot"), 0) | {"z_dot": -1}


@pytest.fixture(scope="module")
def bar():
    return derive(mechanism_from_toml(BAR))


def test_bar_falling_flat_is_one_contact_twice_as_stiff(bar):
    # by symmetry nothing turns: both feet together press with 2 K y + 4 d sqrt(K) y', which is one contact of stiffness
    # 2 K and damping sqrt(2) d on the mass 1, and friction stops or brakes the slip along its own direction
    for mu in (0.1, 0.5):
        state = solve_state(bar, {**FLAT, "x_dot": 0.3, "y_dot": 0.4}, parameters={"mu": mu})
        after = resolve_impact(bar, state, law=KelvinVoigtLimit(), parameters={"mu": mu})
        one = planar_limit(np.eye(2), [-1.0, 0.5], friction=mu, damping=np.sqrt(2) * 0.25)
        slip = one.gamma[1]
        # integrated to 1e-11
        assert after.v_after == pytest.approx([0.6 * slip, 0.8 * slip, one.gamma[0], 0, 0], abs=1e-9)
        # fast time of one contact is measured by its own stiffness
        assert after.duration == pytest.approx(one.duration.sum() / np.sqrt(2), abs=1e-6)


@pytest.mark.parametrize("n", [6, pytest.param(100, marks=pytest.mark.long)])
def test_one_spatial_contact_through_the_general_road_is_that_of_the_turning_slip(n):
    rng = np.random.default_rng(n)
    for i in range(n):
        W = rng.normal(size=(4, 3))
        G, gamma = W.T @ W, rng.normal(size=3) * [1, i % 4 > 0, i % 4 > 0]
        gamma[0] = -abs(gamma[0])
        mu, d = rng.uniform(0, 3), rng.uniform(0, 1)
        static = mu * rng.uniform(1, 2)
        turning = spatial_limit(G, gamma, friction=mu, damping=d, static_friction=static)
        general = several_limit(G, gamma, (ContactRows("tip", 0, (1, 2), mu, d, 1.0, static),))
        assert general.gamma_after == pytest.approx(turning.gamma_after, abs=1e-8)
        assert general.work_T == pytest.approx(turning.work_T, abs=1e-8)


def test_independent_spatial_contacts_do_not_see_each_other():
    rng = np.random.default_rng(5)
    W = rng.normal(size=(4, 6))
    G = np.zeros((6, 6))
    G[:3, :3], G[3:, 3:] = W[:, :3].T @ W[:, :3], W[:, 3:].T @ W[:, 3:]
    gamma = np.array([-1.0, 0.3, -0.2, -0.5, -0.4, 0.9])
    contacts = (ContactRows("a", 0, (1, 2), 0.4, 0.2), ContactRows("b", 3, (4, 5), 0.7, 0.1, 3.0))
    got = several_limit(G, gamma, contacts)
    first = spatial_limit(G[:3, :3], gamma[:3], friction=0.4, damping=0.2)
    second = spatial_limit(G[3:, 3:], gamma[3:], friction=0.7, damping=0.1)
    assert got.gamma_after == pytest.approx([*first.gamma_after, *second.gamma_after], abs=1e-8)


def smoothed(G, gamma, contacts, width):
    """Contact velocities after the impact with friction that is smooth below slips of ``width``."""
    k = len(contacts)

    def forces(x):
        gaps, found = x[:k], np.zeros(len(G))
        for i, contact in enumerate(contacts):
            rate, slip = x[k + contact.normal], x[[k + row for row in contact.tangential]]
            normal = -contact.stiffness_ratio * gaps[i] - 2 * contact.damping * np.sqrt(contact.stiffness_ratio) * rate
            found[contact.normal] = max(normal, 0.0) if gaps[i] < 0.0 else 0.0
            along = slip / np.hypot(np.linalg.norm(slip), width)
            found[list(contact.tangential)] = -contact.friction * found[contact.normal] * along
        return found

    def rates(_, x):
        return np.concatenate([x[[k + contact.normal for contact in contacts]], G @ forces(x)])

    start = np.concatenate([np.full(k, -1e-12), gamma])
    return solve_ivp(rates, (0.0, 2.0), start, method="Radau", rtol=1e-8, atol=1e-10, max_step=0.02).y[k:, -1]


@pytest.mark.long
def test_a_slip_that_stays_small_while_its_direction_follows_at_once():
    # the second contact stops, slips again at 1e-5 and faster only slowly: explicit steps are those of the direction
    M = np.array(
        [
            [0.9772, 0.2059, 0.1297, -0.1894, 0.0525, -0.4485],
            [0.2059, 0.7661, 0.3188, 0.5297, 0.0573, -0.3307],
            [0.1297, 0.3188, 1.4858, -0.3376, -0.1028, -0.3623],
            [-0.1894, 0.5297, -0.3376, 1.0678, 0.1212, 0.0441],
            [0.0525, 0.0573, -0.1028, 0.1212, 0.1167, 0.3088],
            [-0.4485, -0.3307, -0.3623, 0.0441, 0.3088, 1.5863],
        ]
    )
    G, gamma = np.linalg.inv(M), np.array([-0.911, 0.586, 0.088, -0.663, -0.438, 0.192])
    contacts = (ContactRows("a", 0, (1, 2), 0.622, 0.809, 1.386), ContactRows("b", 3, (4, 5), 1.153, 0.56, 2.984))
    found = several_limit(G, gamma, contacts)
    assert [phase.kind for phase in found.phases] == [
        "a=slide,b=slide",
        "a=slide,b=stick",
        "a=slide,b=slide",
        "a=slide,b=free",
    ]
    # what creeps below the width while a contact sticks falls with it
    assert found.gamma_after == pytest.approx(smoothed(G, gamma, contacts, 1e-5), abs=1e-3)


CASES = [
    # slide, one sticks, both stick, both slip again
    ({"h": 0.4, "mu": 0.6}, {"x_dot": 0.1, "y_dot": 0.1, "phi_dot": 0.3, "th_dot": 0.4}),
    # static friction above the kinetic one
    ({"h": 0.9, "mu": 0.2, "mu_s": 0.4}, {"y_dot": 0.1, "th_dot": 0.4}),
    # slips of both turn to the end
    ({"h": 0.4, "mu": 0.3}, {"x_dot": 0.3, "y_dot": 0.2, "phi_dot": 0.7, "th_dot": 0.4}),
]


@pytest.mark.parametrize(
    ("parameters", "pins"), [CASES[2], *(pytest.param(*case, marks=pytest.mark.long) for case in CASES[:2])]
)
def test_finite_stiffness_approaches_the_limit_of_two_spatial_contacts(bar, parameters, pins):
    state = solve_state(bar, {**FLAT, **pins}, parameters=parameters)
    limit = resolve_impact(bar, state, law=KelvinVoigtLimit(), parameters=parameters)
    runs = [KelvinVoigt(K).pass_through(bar.at(parameters), state) for K in (1e6, 1e8, 1e10)]
    errors = [np.max(np.abs(run.state.v - limit.v_after)) for run in runs]
    assert np.diff(np.log(errors)) / np.log(100) == pytest.approx(-0.5, abs=0.03)
    assert [kind for kind, _ in runs[-1].phases] == [phase.kind for phase in limit.phases]


def test_friction_at_rest_obeys_coulombs_law_for_several_contacts():
    rng = np.random.default_rng(9)
    for _ in range(20):
        W = rng.normal(size=(6, 5))
        G, b, bounds, groups = W.T @ W, rng.normal(size=5), rng.uniform(0, 0.5, size=3), [(0, 1), (2,), (3, 4)]
        F = friction_at_rest(G, b, bounds, groups)
        a = G @ F + b
        for rows, bound in zip(groups, bounds, strict=True):
            force, rate = F[list(rows)], a[list(rows)]
            assert np.linalg.norm(force) <= bound + 1e-12
            # opposite to the acceleration, and full if there is any
            assert force * np.linalg.norm(rate) == pytest.approx(-bound * rate, abs=1e-8)


@pytest.mark.parametrize("apart", [0.0, 1e-12, 1e-8, 1e-4, 1.0])
def test_friction_at_rest_of_nearly_the_same_slips_obeys_coulombs_law(apart):
    rng = np.random.default_rng(5)
    for _ in range(20):
        W = rng.normal(size=(4, 3))
        W[:, 2] = W[:, 0] + apart * W[:, 2]
        G, b, bounds = W.T @ W, W.T @ rng.normal(size=4), rng.uniform(0, 0.5, size=3)
        F = friction_at_rest(G, b, bounds, [(0,), (1,), (2,)])
        # opposite to the acceleration, which is none where the force is less than full
        none = 1e-13 * (np.abs(G) @ bounds + np.abs(b))
        assert (np.abs(F) <= bounds * (1 + 1e-15)).all()
        assert ((G @ F + b) * np.sign(F) <= none).all()
        assert (np.abs(G @ F + b)[np.abs(F) < bounds * (1 - 1e-12)] <= none[np.abs(F) < bounds * (1 - 1e-12)]).all()


def test_two_feet_that_slip_together_share_what_they_hold():
    G, b = np.ones((2, 2)), np.array([1.0, 1.0])
    groups = [(0,), (1,)]
    # 0.2 + 0.9 hold 1 together, although half each would be too much for the first
    assert directions_from_rest(G, b, np.array([0.2, 0.9]), np.array([0.2, 0.9]), groups) == [None, None]
    assert directions_from_rest(G, b, np.array([0.2, 0.7]), np.array([0.2, 0.7]), groups) == [(1.0,), (1.0,)]


def test_static_friction_decides_whether_a_stopped_slip_sticks():
    # coupling 0.5: held by a ratio of forces of 0.5; above the kinetic coefficient, below the static one
    G, gamma = np.array([[1.0, 0.5], [0.5, 1.0]]), [-1.0, -0.1]
    kinetic, static = (planar_limit(G, gamma, friction=0.3, damping=0.2, static_friction=s) for s in (0.3, 0.6))
    assert static.gamma[1] == 0.0
    assert kinetic.gamma[1] > 0.05
    spatial = spatial_limit(np.array([[1.0, 0.5, 0], [0.5, 1.0, 0], [0, 0, 1.0]]), np.array([-1.0, -0.1, 0]),
                            friction=0.3, damping=0.2, static_friction=0.6)  # fmt: skip
    assert spatial.gamma_after == pytest.approx([*static.gamma, 0.0], abs=1e-11)
    several = several_limit(G, np.array(gamma), (ContactRows("tip", 0, (1,), 0.3, 0.2, 1.0, 0.6),))
    assert several.gamma_after == pytest.approx(static.gamma, abs=1e-9)


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic", "kelvin-voigt"])
@pytest.mark.parametrize("pin", ["gap_dot.floor=1", "gap.floor=0.5"])
def test_impact_of_a_separated_contact_is_refused_at_the_command_line(capsys, law, pin):
    assert main(["impact", "bouncing_ball", "--pin", pin, "--law", law]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "gap.floor" in said.err
    assert "gap_dot.floor" in said.err


def test_impact_of_a_closed_contact_is_answered_at_the_command_line(capsys):
    assert main(["impact", "bouncing_ball", "--pin", "gap_dot.floor=-1", "--law", "kelvin-voigt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gap_dot_after"]["floor"] > 0


def test_curves_of_the_limit_are_those_of_every_contact():
    from hybrid import compare

    rod = derive(mechanisms.load("rod_two_ends"))
    pins = {f"gap.{name}": 0 for name in rod.contacts} | {f"gap_dot.{name}": -1 for name in rod.contacts}
    state = solve_state(rod, {**pins, "x": 0, "x_dot": 0.2})
    found = compare(rod, state, stiffness=(), samples=40)
    histories, row = found.histories["kelvin-voigt"], found.row("kelvin-voigt")
    assert set(histories) == set(rod.contacts)
    for name, history in histories.items():
        # the impulse of the row is the integral of the curve of the force: trapezium rule of 39 parts a phase
        integral = np.trapezoid(history.force_N, history.s)
        assert integral == pytest.approx(row.impulse_N[name], rel=5e-3)
        assert history.impulse_N[-1] == pytest.approx(row.impulse_N[name], abs=1e-9)
