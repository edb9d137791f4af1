"""Every formula of every node, read back as text and evaluated, against a numerical solve of the mode's equations."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest

from hybrid.automaton import GuardKind, build_automaton
from hybrid.contact import ContactMode
from hybrid.declaration import evaluate, parse_expression
from tests.hybrid.automaton.machines import automaton_of, dynamics_of

NAMES = [
    "rod_on_incline",
    "painleve_rod",
    "slider_pendulum",
    "brake_shoe",
    pytest.param("two_link_arm", marks=pytest.mark.long),
    "block_on_incline",
    "two_carts",
    "bouncing_ball",
    "ladder_in_corner",
    "rod_two_ends",
    "oblique_rod",
    "seal",
    "block with seal",
    "two feet",
    "conveyor",
    "collar on rail",
]
COUNT = 6


def states_and_values(name):
    """Arbitrary positions and velocities, parameters away from those declared, and all of them by name."""
    dynamics = dynamics_of(name)
    random = np.random.default_rng(3)
    q, v = random.normal(0, 1, (COUNT, dynamics.n)), random.normal(0, 1, (COUNT, dynamics.n))
    t = random.uniform(0, 1, COUNT)
    declared = dynamics.mechanism.parameter_values()
    # at most 15 % less, so that restitution stays below 1 and static friction above kinetic
    parameters = {key: value * random.uniform(0.85, 1.0, COUNT) for key, value in declared.items()}
    values = parameters | {"t": t} | dict(zip(dynamics.mechanism.coordinates, q.T, strict=True))
    return (q, v, t, parameters), values | dict(zip(dynamics.mechanism.velocities, v.T, strict=True))


def evaluated(text, values):
    return evaluate(parse_expression(text, known=values), values)


def with_unknowns(location, values):
    """Values of the named unknowns, from the definitions that have a closed form."""
    known = dict(values)
    for line in location.definitions:
        name, _, formula = line.partition(" = ")
        if re.fullmatch(r"\w+", name) and formula != "0" and "determinant" not in formula and "largest" not in formula:
            known[name] = evaluated(formula, values)
    return known


def bordered(dynamics, location, q, v, t, parameters):
    """Accelerations of one planar mode from the equations of motion bordered by its constraints, at one state."""
    terms = dynamics.terms(q, v, t=t, parameters=parameters)
    n = dynamics.n
    directions, forces, remainders, load = [], [], [], terms.h.copy()
    frictional = [name for name in dynamics.rigid if name in dynamics.columns]
    for i, name in enumerate(dynamics.rigid):
        if name not in frictional:
            directions.append(terms.J[i])
            forces.append(terms.J[i])
            remainders.append(terms.zeta_B[i])
    for name, label in location.mode.items():
        if label is ContactMode.FREE:
            continue
        at = dynamics.columns.get(name, slice(0, 0))
        if name in dynamics.contacts:
            i = dynamics.contacts.index(name)
            W, zeta, mu, side = terms.W_N[:, i], terms.zeta_N[i], terms.friction[i], 1
        elif name in dynamics.elements:
            W, zeta, mu, side = None, 0.0, terms.limit[dynamics.elements.index(name)], 1
        else:
            i = dynamics.rigid.index(name)
            W, zeta, mu, side = terms.J[i], terms.zeta_B[i], terms.constraint_friction[i], location.node.side(name)
        tangents = terms.W_T[:, at].T
        direction = {ContactMode.SLIDE_PLUS: [1.0], ContactMode.SLIDE_MINUS: [-1.0]}.get(label, [0.0] * len(tangents))
        if label is ContactMode.SLIDE:
            direction = terms.slip[at] / np.hypot(*terms.slip[at])
        friction = -mu * side * np.asarray(direction) @ tangents if len(tangents) else 0.0
        if W is None and label is not ContactMode.STICK:
            load = load + friction
        elif W is not None:
            directions.append(W)
            forces.append(W + friction)
            remainders.append(zeta)
        if label is ContactMode.STICK:
            directions += list(tangents)
            forces += list(tangents)
            remainders += list(terms.zeta_T[at])
    size = len(directions)
    left = np.zeros((n + size, n + size))
    left[:n, :n] = terms.M
    if size:
        left[:n, n:] = -np.array(forces).T
        left[n:, :n] = np.array(directions)
    return np.linalg.solve(left, np.concatenate([load, -np.array(remainders)]))[:n]


@pytest.mark.parametrize("name", NAMES)
def test_guards_and_conditions_read_back_as_text_equal_the_compiled_functions(name):
    automaton = automaton_of(name)
    (q, v, t, parameters), values = states_and_values(name)
    checked = 0
    for key in automaton.mode_keys():
        location = automaton.location(key)
        if location.is_hyperstatic:
            continue
        known = with_unknowns(location, values)
        pairs = [(guard.text, guard(q, v, t=t, parameters=parameters)) for guard in location.guards]
        for condition in location.invariant:
            found = condition(q, v, t=t, parameters=parameters)
            texts = re.split(r" >?=? 0(?:; where .*? = 0: |$)| > 0$", condition.text)
            texts = [text.removesuffix(" >").removesuffix(" =") for text in texts if text]
            assert len(texts) == found.shape[-1]
            pairs += list(zip(texts, np.moveaxis(found, -1, 0), strict=True))
        for text, found in pairs:
            expected = np.broadcast_to(evaluated(text, known), found.shape)
            # the mode's equations at random states have condition numbers up to about 1e5
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * (1 + np.max(np.abs(expected))))
            checked += 1
    assert checked


@pytest.mark.parametrize("name", NAMES)
def test_vector_field_solves_the_bordered_equations_of_motion(name):
    automaton, dynamics = automaton_of(name), dynamics_of(name)
    (q, v, t, parameters), values = states_and_values(name)
    for key in automaton.mode_keys():
        location = automaton.location(key)
        if location.is_hyperstatic:
            continue
        found = location.vector_field(q, v, t=t, parameters=parameters)
        known = with_unknowns(location, values)
        texts = [line.partition(" = ")[2] for line in location.vector_field.text]
        written = np.stack([np.broadcast_to(evaluated(text, known), COUNT) for text in texts], axis=-1)
        for i in range(COUNT):
            own = {key_: value[i] for key_, value in parameters.items()}
            expected = bordered(dynamics, location, q[i], v[i], t[i], own)
            size = 1 + np.max(np.abs(expected))
            np.testing.assert_allclose(found[i], expected, rtol=1e-8, atol=1e-8 * size)
            np.testing.assert_allclose(written[i], expected, rtol=1e-8, atol=1e-8 * size)


@pytest.mark.parametrize("sign", [1, -1])
def test_singular_guard_of_the_rod_is_the_inertia_factor(sign):
    # Mamaev and Ivanova 2013, m = l = 1, I = 1/3: A = 1 + 3 cos^2 phi + 3 s mu sin phi cos phi
    automaton = automaton_of("rod_on_incline")
    guard = next(
        guard
        for guard in automaton.location("slide+" if sign > 0 else "slide-").guards
        if guard.kind is GuardKind.SINGULAR
    )
    phi = np.linspace(0, np.pi, 50)
    q = np.stack([0 * phi, np.sin(phi), phi], axis=-1)
    s, c = np.sin(phi), np.cos(phi)
    found = guard(q, np.zeros(3), parameters={"mu": 1.7})
    # the terms that cancel are at most 1 + 3 + 3 * 1.7 / 2 = 6.6: 1e-14 is seven rounding units of that
    np.testing.assert_allclose(found, 1 + 3 * c**2 + 3 * sign * 1.7 * s * c, rtol=0, atol=1e-14)
    assert guard.label == f"A_slide{'+' if sign > 0 else '-'} reaches 0"


def test_equations_that_no_closed_form_holds_are_stated_and_linear_in_their_unknowns():
    automaton = automaton_of("chain")
    (q, v, t, parameters), values = states_and_values("chain")
    for key in automaton.mode_keys():
        location = automaton.location(key)
        unknown = sorted(set().union(*(e.free_symbols for e in location.equations)) - set(model_symbols()), key=str)
        assert len(location.equations) == len(unknown)
        own = {name: value[0] if np.ndim(value) else value for name, value in values.items()}

        def residuals(x, own=own, unknown=unknown, location=location):
            known = own | {str(symbol): float(entry) for symbol, entry in zip(unknown, x, strict=True)}
            lines = location.definitions[: len(location.equations)]
            return np.array([float(evaluated(line.removesuffix(" = 0"), known)) for line in lines])

        zero = np.zeros(len(unknown))
        offset = residuals(zero)
        matrix = np.stack([residuals(row) - offset for row in np.eye(len(unknown))], axis=-1)
        solved = dict(zip(map(str, unknown), np.linalg.solve(matrix, -offset), strict=True))
        found = location.vector_field(q[0], v[0], t=t[0], parameters={k: p[0] for k, p in parameters.items()})
        expected = [solved[f"{name}_ddot"] for name in automaton.dynamics.mechanism.coordinates]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def model_symbols():
    model = dynamics_of("chain").model
    return (*model.coordinates, *model.velocities, model.time, *model.parameters.values())


def test_normal_force_of_the_sliding_rod_is_one_readable_fraction():
    automaton = automaton_of("rod_on_incline")
    force = automaton.location("slide+").guards[0]
    numerator, _, denominator = force.text.partition("/")
    assert force.label == "lambda_N falls to 0"
    assert numerator == "I*m*(g - l*phi_dot**2*sin(phi))"
    assert denominator == "(I + l**2*m*mu*sin(phi)*cos(phi) + l**2*m*cos(phi)**2)"


def test_closed_form_has_no_division_by_zero_where_the_mode_is_regular():
    # Of the upright rod that sticks, elimination would divide by cos(phi).
    automaton = automaton_of("rod_on_incline")
    upright = {"phi": np.pi / 2, "phi_dot": 0.3, "x": 0.0, "y": 1.0, "x_dot": -0.3, "y_dot": 0.0, "t": 0.0}
    values = automaton.dynamics.mechanism.parameter_values() | upright
    force = automaton.location("stick").guards[0]
    # m g - m l omega^2: the weight less what turns the rod about its tip
    assert evaluated(force.text, values) == pytest.approx(1 - 0.09, rel=1e-14)


def test_hyperstatic_slack_is_positive_exactly_where_the_ladder_can_rest():
    # Kapranidis and Koo 2008, equal frictions: rests for tan(theta) >= (1 - mu^2)/(2 mu)
    automaton, mu = automaton_of("ladder_in_corner"), 0.4
    location = automaton.location("floor=stick,wall=stick")
    assert location.is_hyperstatic
    guard = next(guard for guard in location.guards if guard.kind is GuardKind.EXHAUSTED)
    limit = np.arctan((1 - mu**2) / (2 * mu))
    theta = limit + np.array([-0.3, -0.01, -1e-5, 1e-5, 0.01, 0.3])
    q = np.stack([np.cos(theta), np.sin(theta), theta], axis=-1)
    np.testing.assert_array_equal(guard(q, np.zeros(3)) > 0, theta > limit)


LIMITS = {"rod_on_incline": 1.0, "ladder_in_corner": 5.0, "rod_two_ends": 5.0, "chain": 5.0}


@pytest.mark.parametrize(("name", "limit"), LIMITS.items())
def test_whole_graph_is_built_in_time(name, limit):
    dynamics = dynamics_of(name)
    start = time.process_time()
    assert len(build_automaton(dynamics).graph) > 4
    assert time.process_time() - start < limit
