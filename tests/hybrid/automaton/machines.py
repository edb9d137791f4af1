"""Small mechanisms with a feature each, and random states of any mechanism with given contacts closed and at rest."""

from __future__ import annotations

from functools import cache

import numpy as np

from hybrid.automaton import Automaton, build_automaton
from hybrid.declaration import (
    Constraint,
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
)
from hybrid.dynamics import Dynamics, State, derive
from mechanisms import load

BLOCK = EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y")
MASS = {"m": 2, "g": 9.81, "mu": 0.5}


def _block(name: str, contacts: list[Contact], **others: object) -> Mechanism:
    return Mechanism(name=name, coordinates=["x", "y"], parameters=MASS, dynamics=BLOCK, contact=contacts, **others)


def _floor(**others: str) -> Contact:
    return Contact(name="floor", **({"gap": "y", "tangent": "x", "friction": "mu"} | others))


def mechanism(name: str) -> Mechanism:
    if name == "seal":
        return Mechanism(
            name="seal",
            coordinates=["x"],
            parameters={"m": 1, "k": 4, "F": 0.7, "F_s": 1},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="k*x**2/2"),
            friction=[FrictionElement(name="seal", tangent="x", limit="F", static_limit="F_s")],
        )
    if name == "block with seal":
        seal = FrictionElement(name="seal", tangent="x", limit="3")
        return _block("block_with_seal", [_floor()], friction=[seal], forces={"x": "2*sin(t) + y - 1"})
    if name == "floor and ceiling":
        return _block("floor_and_ceiling", [_floor(), Contact(name="ceiling", gap="1 - y", tangent="x", friction="mu")])
    if name == "gap of any height":
        pair = [_floor(), Contact(name="ceiling", gap="m - y", tangent="x", friction="mu")]
        return _block("gap_of_any_height", pair)
    if name == "two feet":
        # a block that cannot tilt: both feet slip alike
        return _block("two_feet", [_floor(), Contact(name="other", gap="y", tangent="2*x + 3", friction="mu")])
    if name == "floor and belt":
        return _block("floor_and_belt", [_floor(), Contact(name="belt", gap="y", slip="x_dot - 1", friction="mu")])
    if name == "conveyor":
        return _block("conveyor", [_floor(tangent="x + y*t**2")])
    if name == "collar on rail":
        # a collar whose centre of mass hangs beside a rough rail: Painleve's and Klein's paradox of a bilateral contact
        return Mechanism(
            name="collar_on_rail",
            coordinates=["x", "y", "phi"],
            parameters={"m": 1, "J": 0.2, "mu": 0.6, "l": 0.5},
            dynamics=EnergyDynamics(
                kinetic="m*(x_dot**2 + y_dot**2)/2 + J*phi_dot**2/2", potential="m*y + phi**2 + x**2/3"
            ),
            constraint=[Constraint(name="rail", equation="y - l*sin(phi)", tangent="x - l*cos(phi)", friction="mu")],
        )
    if name == "chain":
        return _chain(4)
    return load(name)


def _chain(n: int) -> Mechanism:
    """Links that hang from a point, their end over a rough floor: closed forms too long for anybody to read."""
    names = [f"a{i}" for i in range(n)]
    ends = [names[: i + 1] for i in range(n)]
    along = ["(" + " + ".join(f"l*cos({a})*{a}_dot" for a in end) + ")" for end in ends]
    down = ["(" + " + ".join(f"l*sin({a})*{a}_dot" for a in end) + ")" for end in ends]
    depth = ["(" + " + ".join(f"l*cos({a})" for a in end) + ")" for end in ends]
    floor = Contact(
        name="floor", gap=f"H - {depth[-1]}", tangent=" + ".join(f"l*sin({a})" for a in names), friction="mu"
    )
    return Mechanism(
        name="chain",
        coordinates=names,
        parameters={"m": 1, "l": 1, "g": 9.81, "H": 2.5, "mu": 0.4},
        dynamics=EnergyDynamics(
            kinetic=" + ".join(f"m*({x}**2 + {y}**2)/2" for x, y in zip(along, down, strict=True)),
            potential=" - ".join(["0", *(f"m*g*{y}" for y in depth)]),
        ),
        contact=[floor],
    )


@cache
def dynamics_of(name: str) -> Dynamics:
    return derive(mechanism(name))


@cache
def automaton_of(name: str) -> Automaton:
    return build_automaton(dynamics_of(name))


def random_state(name: str, random: np.random.Generator, closed: list[str], resting: list[str]) -> State | None:
    """A state at which some contacts touch and some force elements are at rest; None if the iteration finds none."""
    dynamics = dynamics_of(name)
    q, v = random.normal(0.0, 1.0, dynamics.n), random.normal(0.0, 1.0, dynamics.n)
    t = float(random.uniform(0.0, 1.0))
    normals = [dynamics.contacts.index(contact) for contact in closed]
    columns = [i for element in resting for i in range(*dynamics.columns[element].indices(99))]
    for _ in range(60):
        found = dynamics.kinematics(q, v, t=t)
        A = np.vstack([found["W_N"].T[normals], found["J"]])
        values = np.concatenate([found["gap"][normals], found["constraint"]])
        q = q - np.linalg.pinv(A) @ values
        held = np.vstack([A, found["W_T"].T[columns]])
        rates = np.concatenate([found["gap_dot"][normals], found["constraint_dot"], found["slip"][columns]])
        v = v - np.linalg.pinv(held) @ rates
    found = dynamics.kinematics(q, v, t=t)
    met = [*found["gap"][normals], *found["gap_dot"][normals], *found["slip"][columns]]
    met += [*found["constraint"], *found["constraint_dot"]]
    others = [i for i in range(len(dynamics.contacts)) if i not in normals]
    if np.max(np.abs(met), initial=0.0) > 1e-12 or (found["gap"][others] < 1e-3).any():
        return None
    return State(q, v, t)


def random_states(name: str, seed: int, count: int) -> list[State]:
    """States over all patterns of closed and resting force elements, each pattern drawn equally often."""
    random = np.random.default_rng(seed)
    dynamics = dynamics_of(name)
    states: list[State] = []
    for _ in range(20 * count):
        if len(states) == count:
            break
        closed = [contact for contact in dynamics.contacts if random.random() < 0.75]
        able = [element for element in dynamics.columns if element in closed or element not in dynamics.contacts]
        resting = [element for element in able if random.random() < 0.5]
        state = random_state(name, random, closed, resting)
        if state is not None:
            states.append(state)
    assert len(states) == count
    return states
