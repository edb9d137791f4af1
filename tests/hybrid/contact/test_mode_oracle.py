"""Every road to the system of a mode against exact rational arithmetic, and the proof that the comparison can fail.

The packages hold the linear system of a mode in several places: where verdicts are reached, in the flow of a motion,
eliminated or by pivoting, in that of many motions together, in a node of the automaton and in the derivatives of a
motion. Each gets the same declared mechanism and must give the
accelerations, forces, inequalities and guards of ``mode_oracle``.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    Mode,
    State,
    build_automaton,
    contact_problem,
    derive,
    select,
)
from hybrid.analysis.sensitivities.mode_system import ModeSystem
from hybrid.automaton.numeric import NodeSystem
from hybrid.automaton.structure import NodeMode, rows_of_node
from hybrid.contact.candidates import candidate, mode_combinations
from hybrid.contact.conditions import problem_scale
from hybrid.contact.guards import guards_of
from hybrid.contact.spatial import resting_spatial_candidates
from hybrid.contact.table import force_elements, rows_of
from hybrid.dynamics.partials import partial_derivatives
from hybrid.motion.flow import make_flow
from hybrid.motion.numeric import NumericFlow, Reference
from hybrid.motion.together.flows import flow_of
from hybrid.tolerances import Tolerances
from tests.hybrid.contact import mode_oracle as oracle

# Rational data of a few digits: what is lost is rounding, of systems of up to ten rows that are not near singular.
ROUNDING = 1e-9

STRUCTURES = {
    "one contact": ("contact",),
    "two contacts and a joint": ("contact", "contact", "rigid"),
    "two contacts, one smooth, and a seal": ("contact", "smooth", "element", "rigid"),
    "contact, seal and rail": ("contact", "element", "rail"),
    "rail and joint": ("smooth", "rail", "rigid"),
    "one rail": ("rail",),
    "one seal": ("element",),
    "smooth contact and seal": ("smooth", "element"),
    "one spatial contact": ("spatial",),
    "contact and spatial contact": ("contact", "spatial"),
    "two seals": ("element", "element"),
}
CASES = [(name, moving) for name in STRUCTURES for moving in (False, True)]


@cache
def system_of(name, moving):
    return oracle.random_system(STRUCTURES[name], seed=17 + 2 * list(STRUCTURES).index(name), moving=moving)


def declared(system):
    """The mechanism of a system: constant inertia, forces and gradients; ``zeta`` by gaps that move with ``t**2/2``."""
    n = len(system.h)
    q, v = [f"q{i}" for i in range(n)], [f"q{i}_dot" for i in range(n)]
    kinetic = " + ".join(f"({system.M[i][j]})*{v[i]}*{v[j]}/2" for i in range(n) for j in range(n))

    def along(direction, zeta):
        return " + ".join(f"({w})*{x}" for w, x in zip(direction, q, strict=True)) + f" + ({zeta})*t**2/2"

    parts = {"contact": [], "spatial": [], "element": [], "rail": [], "rigid": []}
    for c in system.elements:
        gap = None if c.normal is None else along(c.normal, c.zeta_N)
        tangent = {} if c.tangent is None else {"tangent": along(c.tangent, c.zeta_T)}
        if c.second is not None:
            tangent = {"tangent": [along(c.tangent, c.zeta_T), along(c.second, c.zeta_U)]}
        rough = tangent and {"friction": str(c.friction)}
        if c.kind in ("contact", "spatial"):
            static = tangent and {"static_friction": str(c.static)}
            parts[c.kind].append(Contact(name=c.name, gap=gap, **tangent, **rough, **static))
        elif c.kind == "element":
            limits = {"limit": str(c.friction), "static_limit": str(c.static)}
            parts[c.kind].append(FrictionElement(name=c.name, **tangent, **limits))
        else:
            parts[c.kind].append(Constraint(name=c.name, equation=gap, **tangent, **rough))
    return Mechanism(
        name="random",
        coordinates=q,
        dynamics=EnergyDynamics(kinetic=kinetic),
        forces={x: str(h) for x, h in zip(q, system.h, strict=True)},
        contact=[*parts["contact"], *parts["spatial"]],
        friction=parts["element"],
        constraint=[*parts["rail"], *parts["rigid"]],
    )


@cache
def dynamics_of(name):
    """One mechanism for rest and motion, which differ in the velocities."""
    return derive(declared(system_of(name, moving=False)))


def state_of(system):
    n = len(system.h)
    return State([0.0] * n, [float(value) for value in system.v])


def accelerations(a):
    return {("a", i): value for i, value in enumerate(a)}


def by_contact(dynamics, system, mode):
    """The enumeration that decides verdicts."""
    problem = contact_problem(dynamics, state_of(system))
    scale, tolerances = problem_scale(problem), Tolerances()
    spatial = any(element.is_spatial_at_rest for element in problem.elements)
    candidates = resting_spatial_candidates(problem, scale, tolerances) if spatial else ()
    for modes in [found.modes for found in candidates] or mode_combinations(problem):
        pressing = ["<=" if "lambda_N <= 0" in [row.label for row in item.inequalities] else ">=" for item in modes]
        asked = ["<=" if mode[item.element.name].side < 0 else ">=" for item in modes]
        if [item.label for item in modes] == [mode[item.element.name].label for item in modes] and pressing == asked:
            break
    alone = [found for found in candidates if found.modes == modes]  # a cone in space is no linear inequality
    found = alone[0] if alone else candidate(problem, modes, scale, tolerances)
    values = accelerations(problem.acceleration(found.forces))
    for element in problem.elements:
        letters = ("" if element.normal is None else "N") + "TU"[: len(element.tangential)]
        values |= {(element.name, x): found.forces[row] for x, row in zip(letters, element.rows, strict=True)}
    solved = oracle.solve(system, mode)
    return values | dict(zip(solved.inequalities, found.slacks, strict=True))


def named_mode(dynamics, mode):
    names = [*dynamics.contacts, *dynamics.elements, *(name for name in dynamics.rigid if name in mode)]
    return Mode({name: mode[name].label for name in names})


def sides_of(mode):
    return {name: float(law.side) for name, law in mode.items() if name.startswith("rail")}


def by_motion(dynamics, system, mode):
    """The flow that motions integrate, and the guards that end its arcs."""
    return observed(dynamics, system, mode, make_flow(dynamics, named_mode(dynamics, mode), force_signs=sides_of(mode)))


def by_pivoting(dynamics, system, mode):
    """The flow that solves its equations at every state, whether or not they can be eliminated beforehand."""
    named = named_mode(dynamics, mode)
    parts = rows_of(dynamics, named, sides_of(mode))
    return observed(dynamics, system, mode, NumericFlow(named, parts, guards_of(parts), dynamics))


def observed(dynamics, system, mode, flow):
    state = state_of(system)
    along = np.array([float(x / oracle.length(oracle.SLIP)) for x in oracle.SLIP])
    flow.set_references({part.name: Reference(along, 0.0) for part in flow.parts if part.name.startswith("spatial")})
    y = np.concatenate([state.q, state.v])
    values = accelerations(flow.derivative(0.0, y)[len(system.h) :])
    seen = flow.observe(np.zeros(1), y[:, None])
    values |= {(name, "N"): seen.lambda_N[i, 0] for i, name in enumerate(dynamics.contacts)}
    values |= tangential(dynamics, seen.lambda_T[:, 0])
    return values | guards(mode, [(g.kind.name, g.element) for g in flow.guards], seen.guards[:, 0])


def by_motions_together(dynamics, system, mode):
    """The flow of many motions at once; it has no forces of its own."""
    flow = flow_of(dynamics, named_mode(dynamics, mode))
    state, count = state_of(system), 3
    t, y = np.zeros(count), np.repeat(np.concatenate([state.q, state.v])[:, None], count, axis=1)
    rates = flow.rates.values(dynamics.arguments, t, y)
    watched = flow.watched.values(dynamics.arguments, t, y)
    named = [(guard.kind.name, guard.element) for guard in flow.guards]
    return accelerations(rates[len(system.h) :, -1]) | guards(mode, named, watched[:, -1])


def tangential(dynamics, forces):
    """The components of all friction forces."""
    return {
        (name, letter): forces[column]
        for name, at in dynamics.columns.items()
        for letter, column in zip("TU", range(at.start, at.stop), strict=False)
    }


WORDS = {"RELEASE": "presses", "REVERSAL": "presses", "CONE_PLUS": "+", "CONE_MINUS": "-", "SLIP": "slips"}
WORDS |= {"CONE": "cone"}


def by_automaton(dynamics, system, mode):
    """The equations behind a node of the automaton, and its guards, without their formulas."""
    state, parts = state_of(system), force_elements(dynamics)
    node = NodeMode(named_mode(dynamics, mode), tuple((name, int(side)) for name, side in sides_of(mode).items()))
    solved = NodeSystem(dynamics, parts, node).solve(state.q, state.v)
    asked = guards_of(rows_of_node(parts, node), singular=())
    found = [float(guard.distance(solved.view)) for guard in asked]
    named = [(guard.kind.name, guard.element) for guard in asked]
    return accelerations(solved.acceleration) | guards(mode, named, found)


def by_formulas(dynamics, system, mode):
    """A node of the automaton by its formulas, which are rational numbers here."""
    sides = ", ".join(f"{name}: N {'>' if side > 0 else '<'} 0" for name, side in sides_of(mode).items())
    label = named_mode(dynamics, mode).label + (f" ({sides})" if sides else "")
    node = automaton_of(dynamics).location(label)
    state, model = state_of(system), dynamics.model
    at = dict.fromkeys(model.coordinates, 0) | {model.time: 0}
    at |= dict(zip(model.velocities, state.v.tolist(), strict=True))
    values = accelerations(float(formula.subs(at)) for formula in node.vector_field.expressions)
    found = [-guard.direction * float(guard.expression.subs(at)) for guard in node.guards]
    # a guard says by its direction on which side of zero the mode is
    return values | guards(mode, [(g.kind.name, g.contact) for g in node.guards], found)


@cache
def automaton_of(dynamics):
    return build_automaton(dynamics)


def guards(mode, named, found):
    """Guards under the oracle's names; a gap, and the determinant of the equations, it does not have."""
    values = {}
    for (kind, name), value in zip(named, found, strict=True):
        if kind not in WORDS:
            assert kind in ("TOUCHDOWN", "SINGULAR")
            continue
        word = WORDS[kind]
        if word in "+-":
            word = ("limit" if name.startswith("element") else "cone") + word
        values[name, word + mode[name].label.removeprefix("slide") if word == "slips" else word] = value
    return values


def by_sensitivity(dynamics, system, mode):
    """The bordered system that derivatives of a motion solve."""
    parts = rows_of(dynamics, named_mode(dynamics, mode), sides_of(mode))
    state = state_of(system)
    found = ModeSystem(dynamics.once(partial_derivatives), parts, dynamics).respond(
        np.zeros(1), np.concatenate([state.q, state.v])[None]
    )
    values = accelerations(found.f[0, len(system.h) :])
    values |= {(name, "N"): found.forces.lambda_N[0, i] for i, name in enumerate(dynamics.contacts)}
    values |= {(name, "N"): found.forces.lambda_B[0, i] for i, name in enumerate(dynamics.rigid)}
    return values | tangential(dynamics, found.forces.lambda_T[0])


ROADS = {
    "contact": by_contact,
    "motion": by_motion,
    "pivoting": by_pivoting,
    "motions together": by_motions_together,
    "automaton": by_automaton,
    "sensitivity": by_sensitivity,
    "formulas": by_formulas,
}


def cases_of(road):
    """All cases; formulas take time to build, and are asked for single force elements alone.

    Motions together are those of contacts in the plane and friction elements.
    """
    if road == "motions together":
        return [(name, moving) for name, moving in CASES if {"rigid", "rail", "spatial"}.isdisjoint(STRUCTURES[name])]
    return [(name, moving) for name, moving in CASES if road != "formulas" or len(STRUCTURES[name]) == 1]


@cache
def sampled(name, moving):
    """Every mode where there are few; else some, every label of every force element among them."""
    found = list(oracle.modes(system_of(name, moving)))
    return found if len(found) <= 6 else found[:: len(found) // 4]


@cache
def answers(road, name, moving):
    """What a road gives in the sampled modes."""
    return [ROADS[road](dynamics_of(name), system_of(name, moving), mode) for mode in sampled(name, moving)]


@cache
def exact(name, moving, index, wrong=""):
    """What the oracle gives in a sampled mode; None where its equations are singular."""
    solved = oracle.solve(system_of(name, moving), sampled(name, moving)[index], wrong=wrong)
    return None if solved is None else {key: float(value) for key, value in solved.values.items()}


def disagreements(values, wanted):
    """Keys at which a road's values are not the oracle's."""
    if wanted is None:
        return ["singular"]
    scale = max(map(abs, wanted.values()))
    return [key for key, value in values.items() if not abs(value - wanted[key]) <= ROUNDING * scale]


@pytest.mark.parametrize(
    ("road", "name", "moving"), [(road, *case) for road in ROADS for case in cases_of(road)], ids=str
)
def test_road_gives_the_exact_motion_of_every_mode(road, name, moving):
    n = len(system_of(name, moving).h)
    for index, values in enumerate(answers(road, name, moving)):
        assert set(values) >= {("a", i) for i in range(n)}
        assert not disagreements(values, exact(name, moving, index)), sampled(name, moving)[index]


# At rest a spatial contact may begin to slip in directions that are no rational numbers.
@pytest.mark.parametrize(
    ("name", "moving"), [case for case in CASES if case[1] or "spatial" not in STRUCTURES[case[0]]], ids=str
)
def test_select_finds_exactly_the_consistent_modes(name, moving):
    system = system_of(name, moving)
    solved = [found for mode in oracle.modes(system) if (found := oracle.solve(system, mode)) is not None]
    n = len(system.h)
    wanted = {tuple(found.values["a", i] for i in range(n)) for found in solved if found.is_consistent}
    branches = select(dynamics_of(name), state_of(system)).branches
    assert len(branches) == len(wanted)
    for a in wanted:
        exact = np.array(a, dtype=float)
        assert min(np.abs(branch.acceleration - exact).max() for branch in branches) <= ROUNDING * np.abs(exact).max()


# What follows from rows is seen on every road, an inequality on those that evaluate it.
ALONE = [kind for kind in oracle.ROW_KINDS if kind not in ("rigid", "frictionless")]
IN_THE_PLANE = [kind for kind in oracle.ROW_KINDS if not kind.startswith(("rigid", "rail", "spatial"))]
ROWS = dict.fromkeys(ROADS, oracle.ROW_KINDS) | {"formulas": ALONE, "motions together": IN_THE_PLANE}
KINDS = [(kind, road) for road in ROADS for kind in ROWS[road]]
KINDS += [(kind, "contact") for kind in oracle.INEQUALITY_KINDS]
WATCHED = ("presses", "cone+", "cone-", "limit+", "limit-", "slips+", "slips-")
KINDS += [(kind, road) for road in ROADS if road not in ("contact", "sensitivity") for kind in WATCHED]
KINDS += [(kind, road) for road in ("motion", "pivoting", "automaton", "formulas") for kind in ("cone", "slips")]


@pytest.mark.parametrize(("kind", "road"), KINDS)
def test_a_wrong_row_of_any_kind_is_noticed_on_every_road(kind, road):
    met = []
    for name, moving in cases_of(road):
        if kind in oracle.GUARD_KINDS and not moving:  # a slip at rest has no sign
            continue
        for index, values in enumerate(answers(road, name, moving)):
            rows = oracle.rows(system_of(name, moving), sampled(name, moving)[index])
            if kind in {row.kind for row in rows} | {key[1] for key in values}:
                met.append(disagreements(values, exact(name, moving, index, kind)))
    assert met
    assert all(met)
