"""Compliant contacts beside rigid constraints with friction: closed forms, brute force, laws of friction, refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import mechanisms
from hybrid import KelvinVoigt, KelvinVoigtLimit, compare, derive, resolve, simulate, solve_state
from hybrid.contact import resolve_impact
from hybrid.contact.compliance.loading import parallel_directions
from hybrid.contact.impacts.impact import ImpactProblem
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.declaration import mechanism_from_toml
from hybrid.errors import ComputationError
from hybrid.motion.arguments import Penalty
from tests.random_problems import problem_from

SLIDER = """
name = "slider_that_strikes"
coordinates = ["x", "y"]
parameters = { m = 1, mu = 0.3, alpha = 0.4, delta = 0, along = 0, down = 0 }
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2"
potential = "down*y - along*x"
[[contact]]
name = "stop"
gap = "-x*cos(alpha) + y*sin(alpha)"
damping = "delta"
[[constraint]]
name = "rail"
equation = "y"
slip = "x_dot"
friction = "mu"
"""
# two sleds, the first struck by the second through an inclined face: it is pressed on its rail and pushed along it
SLEDS = """
name = "two_sleds"
coordinates = ["x1", "y1", "x2", "y2"]
parameters = { M = 3, m = 1, mu1 = 0.5, mu2 = 0.2, beta = 0.3 }
[dynamics]
kinetic = "M*(x1_dot**2 + y1_dot**2)/2 + m*(x2_dot**2 + y2_dot**2)/2"
[[contact]]
name = "face"
gap = "(y2 - y1)*cos(beta) - (x2 - x1)*sin(beta)"
[[constraint]]
name = "floor"
equation = "y1"
slip = "x1_dot"
friction = "mu1"
[[constraint]]
name = "guide"
equation = "x2"
slip = "y2_dot"
friction = "mu2"
"""
KLEIN = (
    Path(mechanisms.__file__)
    .with_name("painleve_klein.toml")
    .read_text()
    .replace("[drawing]", '[[contact]]\nname = "stop"\ngap = "1 - x1"\n\n[drawing]')
)


@pytest.fixture(scope="module")
def slider():
    return derive(mechanism_from_toml(SLIDER))


@pytest.fixture(scope="module")
def klein():
    return derive(mechanism_from_toml(KLEIN))


@pytest.fixture(scope="module")
def sleds():
    return derive(mechanism_from_toml(SLEDS))


def answers(dynamics, state, parameters, *, damping=None, K=1e6):
    """Velocities after, in the limit and at a stiffness."""
    limit = resolve_impact(dynamics, state, law=KelvinVoigtLimit(damping), parameters=parameters)
    motion = KelvinVoigt(K, damping).pass_through(dynamics.at(parameters), state)
    return limit, motion


@pytest.mark.parametrize("alpha", [0.4, -0.4, 1.0])
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.6])
def test_bead_on_a_rough_rail_with_an_oblique_stop_by_energy(slider, alpha, mu):
    # by hand: P along (-cos, sin) loads the rail with P sin, and its friction mu P abs(sin) opposes the slip, so that
    # m x'' = -F (cos + mu abs(sin)) on the way in and -F (cos - mu abs(sin)) on the way out; F = K x cos is that of a
    # spring of the same energy, hence x_dot after^2 (cos + mu sin) = (cos - mu sin). Nothing else acts and the gap is
    # linear, so that this holds at every stiffness.
    parameters = {"alpha": alpha, "mu": mu}
    state = solve_state(slider, {"x": 0, "x_dot": 1}, parameters=parameters)
    c, s = np.cos(alpha), abs(np.sin(alpha))
    expected = -np.sqrt((c - mu * s) / (c + mu * s))
    limit, motion = answers(slider, state, parameters)
    assert limit.v_after == pytest.approx([expected, 0.0], abs=1e-9)
    assert motion.has_separated
    assert motion.state.v == pytest.approx([expected, 0.0], abs=1e-9)
    # momentum: m (x_dot after - before) = -P cos + friction, 0 = P sin + P_rail
    P = limit.impulse_N["stop"]
    assert limit.impulse_N["rail"] == pytest.approx(-P * np.sin(alpha), abs=1e-9)
    assert expected - 1.0 == pytest.approx(-P * c + limit.impulse_T["rail"][0], abs=1e-9)
    assert limit.energy_change == pytest.approx((expected**2 - 1.0) / 2, abs=1e-9)
    # the friction impulse: mu sin against the slip, P_in on the way in and P_out on the way out
    assert limit.impulse_T["rail"][0] == pytest.approx(
        mu * s * (-1.0 / (c + mu * s) - expected / (c - mu * s)), abs=1e-9
    )
    assert motion.impulse_N["rail"] == pytest.approx(limit.impulse_N["rail"], abs=1e-9)
    assert motion.work_T == pytest.approx(limit.energy_change, abs=1e-9)


@pytest.mark.parametrize("m", [1.0, 2.5])
@pytest.mark.parametrize("damping", [0.1, 0.4, 0.9])
def test_damped_stop_by_two_linear_oscillators(slider, damping, m):
    # gap Y' = w = -c x', w' = A F with F = -Y - 2 d w and A = c (c +- mu s) / m: first until w = 0, then until F = 0
    mu, alpha = 0.5, 0.6
    c, s = np.cos(alpha), np.sin(alpha)
    z = np.array([0.0, -c])

    def carried(A, z, t):
        return expm(np.array([[0.0, 1.0], [-A, -2 * damping * A]]) * t) @ z

    A_in, A_out = c * (c + mu * s) / m, c * (c - mu * s) / m
    ends = np.linspace(0.05, 60.0, 1200)
    first = next(t for t in ends if carried(A_in, z, t)[1] > 0)
    t1 = brentq(lambda t: carried(A_in, z, t)[1], 0.0, first, xtol=1e-15)
    z = carried(A_in, z, t1) * [1.0, 0.0]

    def force(t):
        Y, w = carried(A_out, z, t)
        return -Y - 2 * damping * w

    later = next(t for t in ends if force(t) < 0)
    t2 = brentq(force, 0.0, later, xtol=1e-15)
    expected = -carried(A_out, z, t2)[1] / c
    parameters = {"alpha": alpha, "mu": mu, "m": m, "delta": damping}
    state = solve_state(slider, {"x": 0, "x_dot": 1}, parameters=parameters)
    limit, motion = answers(slider, state, parameters)
    assert limit.v_after[0] == pytest.approx(expected, abs=1e-9)
    assert limit.duration == pytest.approx(t1 + t2, abs=1e-8)
    assert motion.state.v[0] == pytest.approx(expected, abs=1e-9)
    assert [phase.kind for phase in limit.phases] == ["stop=closed,rail=slide+", "stop=closed,rail=slide-"]


@pytest.mark.parametrize(("share", "sticks"), [(0.99, False), (1.01, True)])
def test_rail_holds_the_compressed_contact_above_the_friction_angle(slider, share, sticks):
    # at rest the contact pushes with F cos along the rail and F sin on it: it slides back only below mu = cot(alpha)
    alpha = 1.0
    parameters = {"alpha": alpha, "mu": share / np.tan(alpha)}
    state = solve_state(slider, {"x": 0, "x_dot": 1}, parameters=parameters)
    motion = KelvinVoigt(1e6).pass_through(slider.at(parameters), state, horizon=300.0)
    assert motion.has_separated is not sticks
    if sticks:
        assert motion.label == "stop=closed,rail=stick"
        assert motion.state.v == pytest.approx([0.0, 0.0], abs=1e-9)
        with pytest.raises(ComputationError, match=r"does not end.*friction locks"):
            resolve_impact(slider, state, law=KelvinVoigtLimit(), parameters=parameters)
    else:
        limit = resolve_impact(slider, state, law=KelvinVoigtLimit(), parameters=parameters)
        expected = -np.sqrt((1 - share) / (1 + share))
        assert limit.v_after[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_loaded_motions_approach_the_limit_with_order_one_half(slider, klein, damping):
    for dynamics, pins, parameters in (
        (slider, {"x": 0, "x_dot": 1}, {"along": 3, "down": 7}),
        (klein, {"x1": 1, "x1_dot": 1}, {"mu2": 0.2}),
    ):
        state = solve_state(dynamics, pins, parameters=parameters)
        limit = resolve_impact(dynamics, state, law=KelvinVoigtLimit(damping), parameters=parameters)
        motions = [KelvinVoigt(K, damping).pass_through(dynamics.at(parameters), state) for K in (1e6, 1e8, 1e10)]
        errors = [np.max(np.abs(motion.state.v - limit.v_after)) for motion in motions]
        if damping == 0.0 and dynamics is klein:
            # no force but along the rails: to and fro it takes what it gives, and the error is of first order
            assert errors[-1] < 1e-9
        else:
            assert np.diff(np.log(errors)) / np.log(100) == pytest.approx(-0.5, abs=0.03)


def test_loaded_slider_against_a_regularised_law(slider):
    # brute force: Coulomb's law smoothed over slips of 1e-6, the rail's force from the balance across it
    mu, alpha, K, d, along, down = 0.4, 0.7, 1e4, 0.15, -30.0, 90.0
    parameters = {"mu": mu, "alpha": alpha, "delta": d, "along": along, "down": down}
    state = solve_state(slider, {"x": 0, "x_dot": 1}, parameters=parameters)
    motion = KelvinVoigt(K).pass_through(slider.at(parameters), state)
    c, s = np.cos(alpha), np.sin(alpha)

    def force(y):
        return max(0.0, K * c * y[0] + 2 * d * np.sqrt(K) * c * y[1])

    def rates(_, y):
        F = force(y)
        rail = down - F * s  # flips its sign while the contact presses
        return [y[1], along - F * c - mu * abs(rail) * np.tanh(y[1] / 1e-6)]

    def released(_, y):
        return K * c * y[0] + 2 * d * np.sqrt(K) * c * y[1] - 1e-9

    released.terminal, released.direction = True, -1
    brute = solve_ivp(rates, (0, 1), [0.0, 1.0], "Radau", rtol=1e-10, atol=1e-14, events=released, max_step=1e-4)
    assert motion.has_separated
    assert motion.state.v[0] == pytest.approx(brute.y[1, -1], abs=2e-6)
    assert motion.state.t == pytest.approx(brute.t[-1], abs=2e-6)


@pytest.mark.parametrize(
    ("mu1", "mu2", "P1", "P2"), [(0.3, 0.0, 1.0, 0.0), (0.3, 0.25, 40.0, -20.0), (1.0, 0.1, -60.0, 20.0)]
)
def test_two_rails_and_a_rod_against_a_regularised_law(klein, mu1, mu2, P1, P2):
    # by hand: both masses have one acceleration a; across, the rod presses the rails with lambda, -lambda where
    # lambda = -tan(phi) (m2 a - P2 - T2), T_i = -mu_i abs(lambda) sign(slip) and 2 a = P1 + P2 - F + T1 + T2, m = 1
    K, d, phi = 1e4, 0.1, 1.0
    parameters = {"mu1": mu1, "mu2": mu2, "P1": P1, "P2": P2}
    state = solve_state(klein, {"x1": 1, "x1_dot": 1}, parameters=parameters)
    motion = KelvinVoigt(K, d).pass_through(klein.at(parameters), state)

    def rates(_, y):
        F = max(0.0, K * y[0] + 2 * d * np.sqrt(K) * y[1])
        sign = np.tanh(y[1] / 1e-6)
        load = 0.0
        for _ in range(400):
            T1, T2 = -mu1 * load * sign, -mu2 * load * sign
            a = (P1 + P2 - F + T1 + T2) / 2
            before, load = load, abs(np.tan(phi) * (a - P2 - T2))
            if abs(load - before) <= 1e-12 * (1 + load):
                break
        return [y[1], a]

    def released(_, y):
        return K * y[0] + 2 * d * np.sqrt(K) * y[1] - 1e-9

    released.terminal, released.direction = True, -1
    brute = solve_ivp(rates, (0, 1), [0.0, 1.0], "Radau", rtol=1e-9, atol=1e-13, events=released, max_step=2e-4)
    assert motion.has_separated
    assert motion.state.v[0] == pytest.approx(brute.y[1, -1], abs=1e-5)
    assert motion.state.v[2] == pytest.approx(brute.y[1, -1], abs=1e-5)


def test_two_rails_one_of_which_sticks(sleds):
    # below the friction angle the first sled stays: F (sin, -cos) keeps in its cone, and the second one rebounds as
    # from a fixed slope, y'' = F (cos -+ mu2 sin) with the gap y cos
    state = solve_state(sleds, {"x1": 0, "y2": 0, "x1_dot": 0, "y2_dot": -1})
    limit, motion = answers(sleds, state, {})
    c, s, mu2 = np.cos(0.3), np.sin(0.3), 0.2
    expected = np.sqrt((c - mu2 * s) / (c + mu2 * s))
    for v in (limit.v_after, motion.state.v):
        assert v == pytest.approx([0.0, 0.0, 0.0, expected], abs=1e-9)
    assert limit.slip_after["floor"] == (0.0,)
    assert {"floor=stick" in phase.kind for phase in limit.phases} == {True}
    P = limit.impulse_N["face"]
    assert [limit.impulse_N["floor"], limit.impulse_T["floor"][0]] == pytest.approx([P * c, -P * s], abs=1e-9)


def test_two_rails_one_of_which_begins_to_slide(sleds):
    # above it slides: M x1'' = F (sin - mu1 cos), so that the gap has A = c (c +- mu2 s) / m + s (s - mu1 c) / M; no
    # damping: w after = -w before sqrt(A_out / A_in), as w^2 / A is what the spring keeps while A is constant
    beta, mu1, mu2, M = 1.0, 0.5, 0.2, 3.0
    state = solve_state(
        sleds, {"x1": 0, "y2": 0, "x1_dot": 0, "y2_dot": -1}, parameters={"beta": beta, "mu1": mu1, "mu2": mu2}
    )
    limit, motion = answers(sleds, state, {"beta": beta})
    c, s = np.cos(beta), np.sin(beta)
    push = s - mu1 * c
    # per unit of impulse: x1_dot by push / M, y2_dot by c + mu2 s until it stops, then by c - mu2 s
    P1 = 1.0 / (c + mu2 * s)
    A_in, A_out = c * (c + mu2 * s) + s * push / M, c * (c - mu2 * s) + s * push / M
    w0, w1 = -c, -c + A_in * P1
    energy = w0**2 / A_in - w1**2 / A_in  # Y^2 where y2 stops
    w2 = np.sqrt(w1**2 + A_out * energy)
    P2 = (w2 - w1) / A_out
    expected = [(P1 + P2) * push / M, 0.0, 0.0, (c - mu2 * s) * P2]
    assert limit.v_after == pytest.approx(expected, abs=1e-9)
    assert motion.state.v == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mu1", [0.98, 1.02])
def test_paradox_of_the_rail_itself_is_refused_by_name(klein, mu1):
    # Painleve 1895: one rough rail has no or two forces above mu1 = (m1 + m2) / (m2 tan phi); P1 lets it slide on
    parameters = {"mu1": mu1 * 2 / np.tan(1.0)}
    state = solve_state(klein, {"x1": 1, "x1_dot": 1}, parameters=parameters)
    attempts = (
        lambda: resolve_impact(klein, state, law=KelvinVoigtLimit(), parameters=parameters).energy_change,
        lambda: KelvinVoigt(1e6).pass_through(klein.at(parameters), state).energy_change,
        lambda: resolve(klein, state, parameters=parameters).impact.energy_change,
    )
    for attempt in attempts:
        if mu1 < 1:
            assert attempt() < 0
            continue
        with pytest.raises(ComputationError, match=r"rail1: .*Painleve's paradox.*less friction.*\[\[friction\]\]"):
            attempt()


def test_load_shared_by_redundant_rails_is_refused_by_name():
    second = SLIDER.split("[[constraint]]")[1].replace('"rail"', '"lower"').replace('"mu"', "0.1")
    doubled = derive(mechanism_from_toml(SLIDER + "[[constraint]]" + second))
    state = solve_state(doubled, {"x": 0, "x_dot": 1})
    for attempt in (
        lambda: KelvinVoigt(1e4).pass_through(doubled, state),
        lambda: resolve_impact(doubled, state, law=KelvinVoigtLimit()),
    ):
        with pytest.raises(ComputationError, match=r"rail, lower: .*redundant"):
            attempt()


def random_impact(rng, *, contacts, rails, spatial=False, mu=1.0):
    """An impact of contacts beside rails: a random symmetric operator, the rails without normal velocity."""
    elements, row = [], 0
    for i in range(contacts):
        tangential = tuple(range(row + 1, row + 2 + spatial))
        friction = float(rng.uniform(0, mu))
        static = friction * float(rng.choice([1.0, 1.2]))
        elements.append(ActiveElement(f"c{i}", ElementKind.CONTACT, row, tangential, None, friction, static))
        row += 2 + spatial
    for i in range(rails):
        friction = float(rng.uniform(0, mu))
        elements.append(ActiveElement(f"r{i}", ElementKind.BILATERAL, row, (row + 1,), None, friction, friction))
        row += 2
    root = rng.normal(size=(row, row))
    gamma = rng.normal(size=row)
    for element in elements:
        if element.kind is ElementKind.CONTACT:
            gamma[element.normal] = -abs(gamma[element.normal])
        else:
            gamma[element.normal] = 0.0
            gamma[element.tangential[0]] *= rng.choice([0.0, 1.0])
    posed = problem_from(root @ root.T / row, np.zeros(row), elements)
    return ImpactProblem(posed, gamma, np.zeros(len(elements)))


@pytest.mark.parametrize(("contacts", "rails", "spatial"), [(1, 1, False), (1, 2, False), (2, 1, False), (1, 1, True)])
def test_random_impacts_obey_every_law_along_the_way(contacts, rails, spatial):
    # forces sampled in every phase, checked one by one: rails stay closed, slip is opposed by mu abs(normal), what
    # sticks is held within its cone, no energy is made; what is not answered is refused with the name of a rail
    rng = np.random.default_rng(20 + 10 * contacts + rails + 5 * spatial)
    answered = 0
    for _ in range(24):
        problem = random_impact(rng, contacts=contacts, rails=rails, spatial=spatial)
        d = float(rng.choice([0.0, 0.3]))
        try:
            path = KelvinVoigtLimit(d).path(problem, samples=25)
        except ComputationError as error:
            assert "r0" in str(error) or "does not end" in str(error)
            continue
        answered += 1
        G, gamma = problem.G, problem.gamma + path.impulse @ problem.G
        before = problem.gamma
        assert gamma == pytest.approx(path.gamma_after, abs=1e-7)
        assert path.impulse @ (before + gamma) / 2 <= 1e-9 * (before @ before)
        assert path.work_T <= 1e-9
        size = np.max(np.abs(path.samples.force))
        for F, v in zip(path.samples.force, path.samples.gamma, strict=True):
            a = G @ F
            for element in problem.elements:
                rows, N = list(element.tangential), F[element.normal]
                if element.kind is ElementKind.BILATERAL:
                    assert abs(a[element.normal]) <= 1e-8 * size
                    assert abs(v[element.normal]) <= 1e-8
                else:
                    assert -1e-8 * size <= N
                T, u = F[rows], np.linalg.norm(v[rows])
                assert np.linalg.norm(T) <= element.static_friction * abs(N) + 1e-7 * size
                if u > 1e-5:
                    assert pytest.approx(-element.friction * abs(N) * v[rows] / u, abs=2e-6 * size) == T
    assert answered >= 12


def vector(rng, names):
    return " + ".join(f"{a:.6f}*{name}" for a, name in zip(rng.normal(size=len(names)), names, strict=True))


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 79])
def test_finite_stiffness_and_limit_are_one_for_linear_mechanisms_without_loads(seed):
    # two codes: with linear gaps and constant masses nothing but the stretch of time depends on the stiffness (where no
    # contact comes back after all have let go, which only the limit counts as one impact)
    rng = np.random.default_rng(seed)
    q = ["a", "b", "c", "e"]
    text = 'name = "random"\ncoordinates = ["a", "b", "c", "e"]\n[dynamics]\nkinetic = "'
    text += " + ".join(f"{m:.4f}*{x}_dot**2" for m, x in zip(rng.uniform(0.3, 2.0, 4), q, strict=True)) + '"\n'
    for name in ("one", "two"):
        friction = rng.uniform(0.05, 0.8)
        text += f'[[contact]]\nname = "{name}"\ngap = "{vector(rng, q)}"\ntangent = "{vector(rng, q)}"\n'
        text += f"friction = {friction:.4f}\ndamping = {rng.choice([0.0, 0.2])}\n"
    text += f'[[constraint]]\nname = "rail"\nequation = "{vector(rng, q)}"\ntangent = "{vector(rng, q)}"\n'
    text += f"friction = {rng.uniform(0.1, 0.7):.4f}\n"
    dynamics = derive(mechanism_from_toml(text))
    pins = {"gap.one": 0, "gap.two": 0, "a": 0, "gap_dot.one": -1, "gap_dot.two": float(rng.choice([0.0, -0.5]))}
    state = solve_state(dynamics, {**pins, "slip.rail": float(rng.choice([0.0, 1.0]))})
    try:
        limit = resolve_impact(dynamics, state, law=KelvinVoigtLimit())
    except ComputationError as error:
        if "does not end" in str(error):
            assert not KelvinVoigt(1e4).pass_through(dynamics, state, horizon=100.0).has_separated
            return
        with pytest.raises(ComputationError, match="rail: a rigid"):
            KelvinVoigt(1e4).pass_through(dynamics, state)
        assert "rail: a rigid" in str(error)
        return
    motion = KelvinVoigt(1e4).pass_through(dynamics, state)
    assert limit.energy_change <= 0.0
    assert motion.state.v == pytest.approx(limit.v_after, abs=1e-7)
    assert motion.impulse_N["rail"] == pytest.approx(limit.impulse_N["rail"], abs=1e-7)
    # the work of friction is never positive, that of the dampers is the rest; steps are exact to 1e-11 of it
    assert motion.energy_change * (1 + 1e-10) - 1e-9 <= motion.work_T <= 1e-9


def test_a_rail_without_friction_is_a_smooth_one(slider):
    # closed form of the planar contact beside an eliminated constraint, and the phases beside a force element
    smooth = derive(mechanism_from_toml(SLIDER.replace('slip = "x_dot"\nfriction = "mu"', "")))
    for damping in (0.0, 0.3):
        parameters = {"alpha": 0.6, "along": 2.0, "down": 5.0}
        pins = {"x": 0, "x_dot": 1}
        rough = answers(slider, solve_state(slider, pins), parameters | {"mu": 0.0}, damping=damping, K=1e5)
        other = answers(smooth, solve_state(smooth, pins), parameters, damping=damping, K=1e5)
        assert rough[0].v_after == pytest.approx(other[0].v_after, abs=1e-9)
        assert rough[1].state.v == pytest.approx(other[1].state.v, abs=1e-9)


def test_motion_settles_at_rest_in_the_force_of_the_rail(slider):
    # pushed against the stop and down on the rail, the bead comes to rest: F cos + T = along, rail + F sin = down
    parameters = {"mu": 0.3, "alpha": 0.4, "delta": 0.3, "along": 3.0, "down": 4.0}
    state = solve_state(slider, {"x": 0, "x_dot": 0.001}, parameters=parameters)
    motion = KelvinVoigt(1e6).pass_through(slider.at(parameters), state, horizon=200.0)
    assert motion.label == "stop=closed,rail=stick"
    F, rail = motion.force_N["stop"], motion.force_N["rail"]
    assert rail + F * np.sin(0.4) == pytest.approx(4.0, abs=1e-6)
    assert abs(3.0 - F * np.cos(0.4)) <= 0.3 * abs(rail) + 1e-9


def test_comparison_and_simulation_take_rough_rails(slider, klein, capsys, tmp_path):
    from hybrid.cli import main

    parameters = {"delta": 0.2}
    state = solve_state(slider, {"x": 0, "x_dot": 1}, parameters=parameters)
    found = compare(slider, state, parameters=parameters)
    limit = found.row("kelvin-voigt").v_after["x_dot"]
    assert found.row("penalty K=1e+08").v_after["x_dot"] == pytest.approx(limit, abs=1e-9)
    motion = simulate(slider, solve_state(slider, {"x": -1, "x_dot": 1}, parameters={"mu": 0.3}), t_end=2.0,
                      rule=Penalty(), law=KelvinVoigtLimit(0.0), parameters={"mu": 0.3})  # fmt: skip
    c, s = np.cos(0.4), np.sin(0.4)
    assert motion.v[0] == pytest.approx(-np.sqrt((c - 0.3 * s) / (c + 0.3 * s)), abs=1e-8)
    path = tmp_path / "slider.toml"
    path.write_text(SLIDER)
    assert main(["compare", str(path), "--pin=x=0", "--pin=x_dot=1", "--param", "delta=0.2"]) == 0
    assert "kelvin-voigt" in capsys.readouterr().out
    assert main(["impact", str(path), "--pin=x=0", "--pin=x_dot=1", "--law", "kelvin-voigt"]) == 0


def test_directions_parallel_to_an_acceleration_by_a_fine_grid():
    rng = np.random.default_rng(5)
    angles = np.linspace(0, 2 * np.pi, 40_001)
    u = np.array([np.cos(angles), np.sin(angles)])
    for _ in range(50):
        c, B = rng.normal(size=2), rng.normal(size=(2, 2))
        a = c[:, None] + B @ u
        cross = u[0] * a[1] - u[1] * a[0]
        crossings = angles[:-1][np.sign(cross[:-1]) != np.sign(cross[1:])]
        found = sorted(np.arctan2(y, x) % (2 * np.pi) for x, y in parallel_directions(c, B))
        assert found == pytest.approx(sorted(crossings), abs=2e-4)
