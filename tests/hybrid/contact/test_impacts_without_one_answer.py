"""Impacts and steps that have several outcomes say so: families of impulses, too many contacts to count, choices."""

from itertools import product

import attrs
import numpy as np
import pytest
from scipy.optimize import linprog

import mechanisms
from hybrid import (
    EnergeticImpact,
    NewtonImpact,
    PoissonImpact,
    State,
    derive,
    mechanism_from_toml,
    resolve_impact,
    simulate,
    solve_state,
)
from hybrid.cli import main
from hybrid.contact.impacts.impulse_lcp import joint_impulse, other_impulses
from hybrid.errors import ComputationError
from hybrid.motion import time_stepping
from hybrid.numeric import NumericContact, NumericState, resolve_impact as resolve_numbers
from tests.hybrid.contact.test_impact import impact as impact_of_numbers

CORNER = {
    "theta": 0.45,
    "gap.floor": 0,
    "gap.wall": 0,
    "theta_dot": -0.26,
    "gap_dot.floor": -0.88,
    "gap_dot.wall": -0.12,
}


@pytest.mark.parametrize("law", [PoissonImpact(), EnergeticImpact()], ids=lambda law: law.name)
def test_restitution_of_a_family_of_impulses_is_not_one_outcome(law):
    # four impulses and three degrees of freedom: compression ends at rest with a line of impulses inside both cones,
    # of which Poisson's restitution makes velocities from (0.149, 0.308, -0.342) to (0.240, 0.497, -0.552)
    ladder = derive(mechanisms.load("ladder_in_corner")).at({"mu": 1.12, "e": 0.8})
    state = solve_state(ladder, CORNER)
    assert any("not unique" in warning for warning in resolve_impact(ladder, state, law=law).warnings)
    # without restitution all of them stop the ladder
    stopped = resolve_impact(ladder, state, law=attrs.evolve(law, restitution=0.0))
    assert not any("not unique" in warning for warning in stopped.warnings)
    np.testing.assert_allclose(stopped.v_after, 0.0, atol=1e-12)


def test_two_more_contacts_do_not_silence_a_warning():
    def impact(bodies):
        # a rod whose two ends jam: G of one end is that of Painleve's rod beyond its critical friction
        n = 3 + 2 * bodies
        unit = np.eye(n)
        ends = [
            NumericContact(
                f"end {k}",
                W_N=unit[1] + sign * 0.4 * unit[2],
                gap_dot=-1.0,
                W_T=unit[0] + 2.0 * unit[2],
                slip=[1.0],
                friction=3.0,
            )
            for k, sign in enumerate((1.0, -1.0))
        ]
        masses = [
            NumericContact(
                f"mass {k}", W_N=unit[4 + 2 * k], gap_dot=-1.0, W_T=unit[3 + 2 * k], slip=[0.1], friction=0.1
            )
            for k in range(bodies)
        ]
        v = np.concatenate([[1.0, -1.0, 0.0], np.tile([0.1, -1.0], bodies)])
        return resolve_numbers(NumericState(unit, np.zeros(n), [*ends, *masses], v=v), law=NewtonImpact())

    assert not impact(0).warnings or impact(2).warnings
    assert any("not looked for" in warning for warning in impact(2).warnings)


def test_steps_beyond_the_critical_friction_say_so():
    # at phi = 2, phi_dot = 1.3, mu = 1.5 > 1.337 the rod may fly or slide, and a step stops it at once
    rod = derive(mechanisms.load("rod_on_incline")).at({"mu": 1.5})
    state = solve_state(rod, {"phi": 2, "phi_dot": 1.3, "slip.tip": 1})
    assert any(
        "beyond the critical" in warning for warning in time_stepping(rod, state, t_end=0.01, step=1e-4).warnings
    )
    assert simulate(rod, state, t_end=0.01).termination.name == "INDETERMINATE"
    smooth = rod.at({"mu": 0.5})
    assert not time_stepping(smooth, state, t_end=0.01, step=1e-4).warnings


JAM = "velocities may hang on loads that a jam leaves open"


@pytest.mark.parametrize(
    ("force", "speed", "hangs"),
    [("0.4", 0.0, False), ("0.6", 0.0, True), ("0.4", 1.0, True), ("t", 0.0, True)],
)
def test_steps_of_a_block_between_walls_say_that_its_friction_hangs_on_what_clamps_it(force, speed, hangs):
    # pressed on the floor by 1 N, mu = 0.5: friction is 0.5 (1 + 2 P) for any clamping load P >= 0. At rest below 0.5 N
    # it stays there whatever P is; beyond, or where it slides, it is as fast as P lets it be
    text = f"""name="clamped"\ncoordinates=["x", "y"]
[dynamics]\nkinetic="(x_dot**2 + y_dot**2)/2"\n[forces]\nx="{force}"\ny="-1"
[[contact]]\nname="floor"\ngap="y"\ntangent="x"\nfriction=0.5
[[contact]]\nname="ceiling"\ngap="-y"\ntangent="x"\nfriction=0.5
"""
    block, start = derive(mechanism_from_toml(text)), State([0.0, 0.0], [speed, 0.0])
    warnings = [warning for warning in time_stepping(block, start, t_end=0.7, step=0.01).warnings if JAM in warning]
    assert bool(warnings) is hangs
    if force != "t":
        assert (simulate(block, start, t_end=0.7).termination.name == "INDETERMINATE") is hangs
    else:  # first where the force, at the middle of a step, exceeds 0.5 N
        assert " at t = 0.5:" in warnings[0]


def test_steps_say_that_a_jam_leaves_the_load_of_a_rail_open():
    # all of z's friction is that of the rail, 0.3 times a load P that contact and rail share in many ways:
    # 2.15 P <= (0.25 - 1.7 P)/4 where P > 0, and 1.85 |P| <= (0.25 + 2.3 |P|)/4 where P < 0
    text = """name="jam"\ncoordinates=["x", "y", "z"]
[dynamics]\nkinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2"\n[forces]\nx="-0.25"\ny="0.25"\nz="-2"
[[contact]]\nname="stop"\ngap="2*x - 2*y"\ntangent="-2*x"\nfriction=0.5
[[constraint]]\nname="rail"\nequation="-2*x - 2*y"\ntangent="2*x - y - 2*z"\nfriction=0.3
"""
    motion = time_stepping(derive(mechanism_from_toml(text)), State([0.0] * 3, [0.0] * 3), t_end=0.01, step=0.001)
    assert any(warning.startswith(f"{JAM} at t = 0:") for warning in motion.warnings)
    load = (2.0 + motion.v[2] / 0.01) / 0.6
    assert 0.0 <= load <= 0.0625 / 1.275 + 1e-12


def test_three_feet_that_slide_on_a_floor_are_slowed_alike_by_all_their_loads():
    feet = "".join(
        f"""[[contact]]\nname="foot_{k + 1}"\ngap="y + {k}*sin(a)"\ntangent="x"\nfriction=0.5\n""" for k in (-1, 0, 1)
    )
    text = f"""name="stool"\ncoordinates=["x", "y", "a"]
[dynamics]\nkinetic="(x_dot**2 + y_dot**2 + a_dot**2)/2"\npotential="9.81*y"\n{feet}"""
    motion = time_stepping(derive(mechanism_from_toml(text)), State([0.0] * 3, [1.0, 0, 0]), t_end=0.1, step=0.01)
    assert motion.v[0] == pytest.approx(1 - 0.5 * 9.81 * 0.1, abs=1e-13)
    assert not motion.warnings


def test_a_tiny_spatial_slip_has_a_direction():
    ball = derive(mechanisms.load("spatial_ball"))
    pins = {"alpha_dot": 0, "beta_dot": 0, "gamma_dot": 0, "slip.floor.1": 1e-300, "slip.floor.2": 1e-300}
    assert solve_state(ball, pins).sides["floor"] == pytest.approx((0.5**0.5, 0.5**0.5))


def test_a_motion_through_such_an_impact_says_it_once_and_its_derivatives_say_it_too(capsys):
    pins = {"theta": 0.45, "gap.floor": 0, "gap.wall": 0, "theta_dot": -0.26, "gap_dot.floor": -0.88}
    words = [f"--pin={name}={value}" for name, value in {**pins, "gap_dot.wall": -0.12}.items()]
    words += ["--param=mu=1.12", "--param=e=0.8", "--law=poisson", "--t-end=0.02"]
    assert main(["simulate", "ladder_in_corner", *words]) == 0
    assert " ".join(capsys.readouterr().out.split()).count("impulses of compression are not unique") == 1
    assert main(["sensitivity", "ladder_in_corner", *words, "--terminal=theta", "--wrt=e"]) == 0
    assert "impulses of compression are not unique" in " ".join(capsys.readouterr().out.split())


def test_impulses_that_are_rounding_do_not_hide_those_of_the_law():
    # two bodies' coordinates and four directions: the Delassus operator is singular, but for rounding
    M = np.array([[2.437, 2.206], [2.206, 4.74]])
    N, T = np.array([[0.96, 1.94], [-0.94, 1.69]]), np.array([[0.45, 1.64], [-1.27, 0.11]])
    v, e = np.array([0.46312988343369577, -2.049401790990728]), (0.3, 0.9)
    contacts = [
        NumericContact(name, W_N=N[k], gap_dot=N[k] @ v, W_T=T[k], slip=[T[k] @ v], friction=3, restitution=e[k])
        for k, name in enumerate(("c0", "c1"))
    ]
    found = resolve_numbers(NumericState(M, np.zeros(2), contacts, v=v), law=NewtonImpact())
    # c0 separates and c1 sticks: its normal velocity turns to e times, its slip ends
    after = np.linalg.solve([N[1], T[1]], [-e[1] * N[1] @ v, 0.0])
    P = np.linalg.solve(np.column_stack([N[1], T[1]]), M @ (after - v))
    assert abs(P[1]) < 3 * P[0] and N[0] @ after + e[0] * N[0] @ v > 0.0
    np.testing.assert_allclose(found.v_after, after, rtol=1e-12)


def in_the_plane_and_in_space(W, v, mu):
    """The impact of two planar contacts with given columns, N and T in turn; it again with idle second tangents."""
    W, v = np.array(W, dtype=float), np.array(v, dtype=float)
    rows, G, gamma = [0, 1, 3, 4], np.eye(6), np.zeros(6)
    G[np.ix_(rows, rows)], gamma[rows] = W.T @ W, W.T @ v
    return impact_of_numbers(W.T @ W, W.T @ v, mu, n=2), impact_of_numbers(G, gamma, mu, size=3, n=2)


def velocities_by_all_states(G, g, mu):
    """The velocities after of all solutions of two planar contacts: each open, stuck, or slipping to either side."""
    found = []
    for states in product((None, 0, 1, -1), repeat=2):
        A, b = np.eye(4), np.zeros(4)
        for k, state in enumerate(states):
            if state is not None:
                A[2 * k], b[2 * k] = G[2 * k], -g[2 * k]
            if state == 0:
                A[2 * k + 1], b[2 * k + 1] = G[2 * k + 1], -g[2 * k + 1]
            elif state:
                A[2 * k + 1, 2 * k] = state * mu[k]
        P = np.linalg.lstsq(A, b, rcond=1e-10)[0]
        (N, T), (up, slip) = P.reshape(2, 2).T, (g + G @ P).reshape(2, 2).T
        sides = np.array([state or 0 for state in states])
        obeys = np.allclose(A @ P, b, atol=1e-9) and min(*N, *up, *(sides * slip)) > -1e-9
        if obeys and np.all(np.abs(T) <= mu * N + 1e-9):
            found.append(np.round(g + G @ P, 6) + 0.0)
    return np.unique(found, axis=0)


@pytest.mark.parametrize(
    ("heavy", "light", "told"),
    [
        (3.0, 0.1, "the law has 2 further solutions with other velocities"),  # vertices of the line are counted once
        (1e3, 1e-3, "the law may have a further solution with other velocities: rounding decides whether it exists"),
        (1e4, 1e-4, "whether the law has further solutions is not known: rounding decides"),
    ],
)
def test_a_line_of_impulses_that_stops_two_contacts_is_not_passed_over(heavy, light, told):
    # four directions, three coordinates: the Delassus operator is singular, and ill-conditioned on its range
    W, masses = np.array([[1, -1, 0], [2, -1, 2], [-2, -2, 0], [2, 0, 0]]), np.array([heavy, light, heavy])
    v, mu = np.array([3.0, 3.0, 3.0]), (2.0, 0.25)
    # masses * v + W^T P = 0: with N0 given, three equations for the others
    N0 = 0.8 * heavy
    P = np.append(N0, np.linalg.solve(W[1:].T, -masses * v - W[0] * N0))
    assert P[2] > 0.0 and abs(P[1]) < mu[0] * N0 and abs(P[3]) < mu[1] * P[2]
    contacts = [
        NumericContact(name, W_N=N, gap_dot=N @ v, W_T=T, slip=[T @ v], friction=mu[k], restitution=0.0)
        for k, (name, N, T) in enumerate((("c0", W[0], W[1]), ("c1", W[2], W[3])))
    ]
    found = resolve_numbers(NumericState(np.diag(masses), np.zeros(3), contacts, v=v), law=NewtonImpact())
    assert told in found.warnings and np.max(np.abs(found.v_after)) > 1.0
    if heavy < 10.0:
        assert len(velocities_by_all_states(W / masses @ W.T, W @ v, mu)) == 3


def test_solutions_that_the_search_may_miss_are_said_to_be_unknown():
    # six directions, four coordinates, masses of 1e-3 and 1: the search misses impulses that stop everything
    W = [[1, 2, 2, -2], [-1, 1, 0, -2], [-2, 0, 2, 2], [1, 2, -2, 1], [0, 1, -1, 1], [-2, 2, 1, 2]]
    q, v, masses = ("q0", "q1", "q2", "q3"), np.array([9.0, -7.0, 1.0, 8.0]) / 3, np.array([1e-3, 1e-3, 1e-3, 1.0])
    gaps = [" + ".join(f"({x})*{name}" for x, name in zip(row, q, strict=True)) for row in W]
    slip = " + ".join(f"({x})*{name}_dot" for x, name in zip(W[5], q, strict=True))
    text = f"""name="m"\ncoordinates={list(q)}
[dynamics]\nmass_matrix={np.diag(masses).astype(str).tolist()}\nforces={["0"] * 4}
[[contact]]\nname="c0"\ngap="{gaps[0]}"\ntangent="{gaps[1]}"\nfriction=1.0\nrestitution=1.0
[[contact]]\nname="c1"\ngap="{gaps[2]}"\ntangent="{gaps[3]}"\nfriction=1.0\nrestitution=1.0
[[constraint]]\nname="rail"\nequation="{gaps[4]}"\nslip="{slip}"\nfriction=2.0
"""
    limits = np.kron(np.diag([1.0, 1.0, 2.0]), [[-1.0, 0.0], [-1.0, 0.0]]) + np.kron(np.eye(3), [[0, 1], [0, -1]])
    assert linprog(np.zeros(6), limits, np.zeros(6), np.transpose(W), -masses * v, bounds=(None, None)).success
    found = resolve_impact(derive(mechanism_from_toml(text)), State([0.0] * 4, v), law=PoissonImpact())
    assert any("further solutions is not known" in warning for warning in found.warnings)
    assert np.max(np.abs(found.v_after)) > 1.0


def test_further_solutions_are_spoken_of_in_space_as_well():
    flat, spatial = in_the_plane_and_in_space([[-1, 2, 2, 3], [-2, 3, -1, 0], [-2, -3, 2, -1]], [1, 0, 0], 2.0)
    # Newton's law with e = 1 is met by a stick of the first contact, and by that beside a slip of the second
    G, g = flat.G, flat.gamma + np.array([flat.gamma[0], 0, 0, 0])
    stick = np.append(np.linalg.solve(G[:2, :2], -g[:2]), [0.0, 0.0])
    sliding = G[:3, :3] - 2.0 * np.outer(G[:3, 3], [0, 0, 1])  # with P_T = -mu P_N of the second
    both = np.linalg.solve(sliding, -g[:3])
    both = np.append(both, -2.0 * both[2])
    for P, closed in ((stick, 2), (both, 3)):
        after = g + G @ P
        np.testing.assert_allclose(after[:closed], 0.0, atol=1e-14)
        assert abs(P[1]) < 2.0 * P[0] and P[2] >= 0.0
    assert (g + G @ stick)[2] > 0.0 and both[2] > 0.0 and (g + G @ both)[3] > 0.0
    assert NewtonImpact(1.0).impulses(flat).warnings == ("the law has 1 further solution with other velocities",)
    # pyramids have facets along the plane, so that both are solutions there
    pyramids, further = NewtonImpact(1.0).impulses(spatial).warnings
    assert "pyramids of 8 facets" in pyramids and "further solutions was not looked for" in further


def test_that_there_are_no_impulses_is_said_only_where_all_were_tried():
    flat, spatial = in_the_plane_and_in_space([[-3, 1, 3, 0], [0, 1, 2, -2], [3, 0, 1, -3]], [2, -1, -2], 2.0)
    # the first contact, which approaches with 12, turns and sticks: G P = (12 + 12, -1) with G = (18, -3; -3, 2) there
    P, e = np.array([5 / 3, 2.0, 0.0, 0.0]), 1.0
    after = flat.gamma + flat.G @ P
    np.testing.assert_allclose(after[:2], [12.0, 0.0], atol=1e-14)
    assert after[2] > 0.0 and flat.gamma[2] > 0.0 and abs(P[1]) < 2.0 * P[0]
    np.testing.assert_allclose(NewtonImpact(e).impulses(flat).values, P, atol=1e-14)
    with pytest.raises(ComputationError, match=r"were found .* pyramids of 8 facets; that there are none is not shown"):
        NewtonImpact(e).impulses(spatial)
    # two contacts that approach from opposite sides are turned by none
    facing, _ = in_the_plane_and_in_space([[1, 0, -1, 0], [0, 1, 0, 1]], [-1, 0], 0.5)
    jam = attrs.evolve(facing, gamma=np.array([-1.0, 0.0, -1.0, 0.0]))
    with pytest.raises(ComputationError, match=r"^no impulses satisfy the impact law and Coulomb's law together$"):
        NewtonImpact(e).impulses(jam)


def stopping(problem):
    """Impulses of compression: those that are answered, and the others of the same velocities."""
    values = joint_impulse(problem, problem.gamma).values
    return [values, *other_impulses(problem, problem.gamma, values)]


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_impulses_that_stop_a_point_in_a_corner_are_a_polygon(angle, mu):
    # a mass of 1 kg, two faces at right angles, the corner turned: P_N0 + P_T1 = 1 and P_T0 + P_N1 = 1
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    W = turned @ [[1, 0, 0, 1], [0, 1, 1, 0]]
    problem = impact_of_numbers(W.T @ W, W.T @ turned @ [-1.0, -1.0], mu, n=2)
    # with the frictions (a, b) of P = (1 - a, b, 1 - b, a): both cones touch, or one contact bears nothing
    far = mu / (1 + mu), mu / (1 + mu)
    one = mu * (mu - 1) / (1 + mu**2), mu * (1 + mu) / (1 + mu**2)
    corners = [far, one, one[::-1], (-mu / (1 - mu),) * 2] if mu < 1 else [far, (0.0, 1.0), (1.0, 0.0)]
    found = stopping(problem)
    for a, b in corners:
        assert np.min(np.max(np.abs(np.array(found) - [1 - a, b, 1 - b, a]), axis=1)) < 1e-12
    for P in found:
        np.testing.assert_allclose(W @ P, turned @ [1.0, 1.0], atol=1e-12)
        assert np.all(np.abs(P[1::2]) <= mu * P[::2] + 1e-12)
    # where each cone reaches beyond the other face, the point is also wedged, without limit: corners bear 1 N s or less
    assert mu < 1 or max(np.sum(P[::2]) for P in found) > 2.0


def test_a_continuum_that_rounding_hides_is_still_spoken_of():
    # four impulses and three degrees of freedom; rounding makes the matrix of the complementarity problem regular
    M = np.array(
        [
            [4.265102479157975, -0.12038775835306743, -0.626157197111927],
            [-0.12038775835306743, 1.0019229437111559, -0.959733095871487],
            [-0.626157197111927, -0.959733095871487, 2.8147111301899135],
        ]
    )
    W = np.array(
        [
            [0.10990939668216534, -0.07927796282364431, -0.8272739496749794],
            [0.03863004742567439, -0.7334244271416119, -1.0334517593454304],
            [-0.32582635560685086, -1.3815251525044476, -0.8344517817178954],
            [-1.4453939360890478, 0.7099335178736917, 0.7413395308417055],
        ]
    )
    mu, e = np.array([2.9375010204912986, 0.11944069115315031]), (0.7, 1.0)
    v = np.array([0.12636921288462108, -1.3998386269093364, 1.5434206453423542])
    contacts = [
        NumericContact(
            f"c{k}", W_N=W[2 * k], gap_dot=W[2 * k] @ v, W_T=W[2 * k + 1], slip=[W[2 * k + 1] @ v], friction=mu[k],
            restitution=e[k],
        )
        for k in range(2)
    ]  # fmt: skip
    state = NumericState(M, np.zeros(3), contacts, v=v)
    for law in (PoissonImpact(), EnergeticImpact()):
        assert any("not unique" in warning for warning in resolve_numbers(state, law=law).warnings)
    # the body stops on a line of impulses, P + s n with W^T n = 0, until friction of the second contact is at a limit
    P = np.linalg.lstsq(W.T, -M @ v, rcond=None)[0]
    n = np.linalg.svd(W.T)[2][-1]
    ends = [P - (P[3] - sign * mu[1] * P[2]) / (n[3] - sign * mu[1] * n[2]) * n for sign in (-1.0, 1.0)]
    for end in ends:
        np.testing.assert_allclose(v + np.linalg.solve(M, W.T @ end), 0.0, atol=1e-12)
        assert np.all(np.abs(end[1::2]) <= mu * end[::2] * (1 + 1e-12))
    assert abs(ends[0][0] - ends[1][0]) > 20.0
