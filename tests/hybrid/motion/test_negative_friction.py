"""Friction that depends on the state and falls below zero ends a motion: it would drive what it is to slow down."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from hybrid import (
    Contact,
    EnergyDynamics,
    FrictionElement,
    Functional,
    Mechanism,
    Mode,
    State,
    Termination,
    build_automaton,
    derive,
    ensemble,
    mechanism_from_toml,
    sensitivity,
    simulate,
    solve_state,
)
from hybrid.analysis import ensemble_columns
from hybrid.analysis.ensemble_chunks import FEW
from hybrid.contact import NewtonImpact
from hybrid.contact.guards import GuardKind, guards_of
from hybrid.contact.table import rows_of
from hybrid.errors import StateError


def block(**parts):
    return derive(
        Mechanism(name="block", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2"), **parts),
    )


def test_a_limit_that_falls_below_zero_ends_the_motion():
    brake = block(friction=[FrictionElement(name="brake", tangent="x", limit="1 - x")])
    motion = simulate(brake, State([0.0], [3.0]), t_end=3)
    # 2 x'' = -(1 - x): x = 1 - cosh(t/sqrt 2) + 3 sqrt 2 sinh(t/sqrt 2), and 1 where tanh = 1/sqrt 18
    assert motion.termination is Termination.NOT_COMPUTED
    assert "the friction of 'brake' becomes negative" in motion.cause
    assert motion.t == pytest.approx(2**0.5 * math.atanh(18**-0.5), rel=1e-11)  # steps of 1e-12
    assert motion.q[0] == pytest.approx(1.0, abs=1e-12)


def test_a_limit_below_zero_at_the_start_is_refused():
    brake = block(friction=[FrictionElement(name="brake", tangent="x", limit="1 - x")])
    with pytest.raises(StateError, match="the limit force is negative"):
        simulate(brake, State([2.0], [1.0]), t_end=3)


def dipping(friction, **parts):
    """A block with a mass of 1 and a weight of 10 that slides over a floor."""
    return derive(
        Mechanism(
            name="block", coordinates=["x", "y"], parameters={"mu": 0.1},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"),
            contact=[Contact(name="floor", gap="y", tangent="x", friction=friction, **parts)],
        )
    )  # fmt: skip


def arrival(x, v):
    """When a block with friction 0.1 (cos x + 0.9) is at a place: v^2/2 falls by sin x + 0.9 x."""
    return quad(lambda s: (v * v - 2 * (math.sin(s) + 0.9 * s)) ** -0.5, 0, x, epsabs=1e-13, epsrel=1e-13)[0]


@pytest.mark.parametrize("v", [4.0, 8.0, 40.0])  # the dip from x = 2.69 to 3.59 lasts for 0.4 to 0.02 s
def test_a_dip_below_zero_between_the_ends_of_an_arc_is_met_where_it_begins(v):
    motion = simulate(dipping("mu*(cos(x) + 0.9)"), State([0, 0], [v, 0]), t_end=1.6)
    begins = math.acos(-0.9)
    assert motion.termination is Termination.NOT_COMPUTED
    assert "the friction of 'floor' becomes negative" in motion.cause
    assert motion.q[0] == pytest.approx(begins, rel=1e-10)  # errors of some ten steps of 1e-12
    assert motion.t == pytest.approx(arrival(begins, v), rel=1e-10)


def test_a_share_of_an_ensemble_ends_at_the_dip_as_its_motions_do():
    speeds = np.linspace(1.0, 8.0, FEW + 8)
    found = ensemble(
        dipping("mu*(cos(x) + 0.9)"), starts={"x_dot": speeds.tolist()}, pins={"x": 0, "y": 0, "y_dot": 0}, t_end=4.5
    )
    spent = math.sin(math.acos(-0.9)) + 0.9 * math.acos(-0.9)  # of v^2/2, up to the dip
    expected = ["NOT_COMPUTED" if v * v / 2 > spent else "END_TIME" for v in speeds]
    assert expected.count("END_TIME") == 8
    assert list(ensemble_columns(found)["termination"]) == expected
    assert found.singled_out == {"guards of the kinds friction": FEW}


def test_no_derivative_is_given_of_a_motion_that_ends_at_the_dip():
    motion = simulate(dipping("mu*(cos(x) + 0.9)"), State([0, 0], [4.0, 0]), t_end=1.6)
    found = sensitivity(motion, Functional(terminal="x"), ["mu"])
    assert found.refusal is not None
    assert "becomes negative" in str(found.refusal)


@pytest.mark.parametrize(
    "friction", ["mu", "0.2 + 0.1*cos(x)", "0.3*exp(-abs(x - t))", "0.1*x**2", "0.2 + 0.1/(1 + t**2)"]
)
def test_friction_that_is_positive_by_its_expression_is_not_watched(friction):
    dynamics = dipping(friction)
    assert not [g for g in guards_of(rows_of(dynamics, Mode({"floor": "slide+"}))) if g.kind is GuardKind.FRICTION]


def test_each_of_the_limits_and_the_static_friction_are_watched():
    parts = {"friction": [FrictionElement(name="brake", tangent="x", limit="2 - x", reverse_limit="1 + x")]}
    for v, end in ((4.0, 2.0), (-4.0, -1.0)):
        motion = simulate(block(**parts), State([0.0], [v]), t_end=3)
        assert (motion.termination, motion.q[0]) == (Termination.NOT_COMPUTED, pytest.approx(end, abs=1e-9))
    motion = simulate(dipping("0", static_friction="1 - x"), State([0, 0], [2.0, 0]), t_end=2)
    assert (motion.termination, motion.t) == (Termination.NOT_COMPUTED, pytest.approx(0.5, abs=1e-12))


def test_nothing_follows_the_guard_of_friction_in_the_graph():
    graph = build_automaton(dipping("mu*(cos(x) + 0.9)")).graph
    kinds = [guard.kind for _, guards in graph.nodes(data="guards") for guard in guards or ()]
    assert kinds.count(GuardKind.FRICTION) == 4  # in each of the modes
    followed = [edge.guard.kind for *_, edge in graph.edges(data="transition") if edge.guard is not None]
    assert followed
    assert GuardKind.FRICTION not in followed


def test_what_was_followed_before_is_kept():
    wall = Contact(name="wall", gap="x + 1", restitution=1)
    brake = FrictionElement(name="brake", tangent="x", limit="1 - x")
    motion = simulate(block(contact=[wall], friction=[brake]), State([-0.5], [-6.0]), t_end=3, law=NewtonImpact())
    assert motion.termination is Termination.NOT_COMPUTED
    assert "negative" in motion.cause
    assert (motion.q[0], len(motion.events)) == (pytest.approx(1.0), 1)  # past the rebound, as far as the limit lasts


def test_friction_that_stays_positive_is_followed():
    motion = simulate(
        block(friction=[FrictionElement(name="brake", tangent="x", limit="2 - x")]), State([0.0], [1.0]), t_end=3
    )
    # m x'' = -(2 - x) with m = 2: x = 2 - 2 cosh(t/sqrt 2) + sqrt 2 sinh(t/sqrt 2), at rest where tanh = 1/sqrt 2
    assert motion.termination is Termination.END_TIME
    assert motion.q[0] == pytest.approx(2 - 2**0.5, abs=1e-8)


LANDED = """
name = "m"
coordinates = ["x", "y", "phi"]
[parameters]
F=1.026
ta=0.468
tb=1.06
kx=2.905
m=0.603
g=9.81
e=0
mu=0.089
mub=0.428
A=0.018
w=5.21
l=0.633
[dynamics]
kinetic = "m*(x_dot**2+y_dot**2)/2+m*l**2*phi_dot**2/6"
potential = "m*g*y + kx*x**2/2"
[forces]
x = "F*(1+sign(t-ta))/2"
phi = "F/5*(sign(t-ta)-sign(t-tb))/2"
[[contact]]
name = "left"
gap = "y-l*sin(phi)-A*sin(w*t)"
tangent = "x-l*cos(phi)"
friction = "(mu)*max(0,1-t)"
restitution = "e"
[[contact]]
name = "right"
gap = "y+l*sin(phi)-A*sin(w*t)"
tangent = "x+l*cos(phi)"
friction = "(mub)*(1+0.5*sin(5*x))"
restitution = "e"
"""


def test_a_friction_that_reaches_zero_as_a_cone_is_left_is_not_negative():
    rod = derive(mechanism_from_toml(LANDED))
    pins = {"x": 0, "phi": 0.049, "y": 0.177, "x_dot": 0.284, "y_dot": 0.201, "phi_dot": 0.284}
    motion = simulate(rod, solve_state(rod, pins), t_end=1.37, law=NewtonImpact())
    landed = motion.events[1]
    assert motion.termination is Termination.END_TIME and landed.t < 0.3
    # it stands on the moving floor: the right foot alone holds the load of at most 1 N by a friction of at most 1.2 N
    expected = [landed.q[0], 0.018 * math.sin(5.21 * 1.37), 0.0]
    np.testing.assert_allclose(motion.q, expected, atol=1e-10)  # a second of steps with errors of 1e-12


def test_a_friction_that_an_impact_keeps_from_falling_below_zero_ends_nothing():
    # u = 1 - x falls from 1 by u'' = u to cosh t - 2 sinh t = 0, is thrown back and rises by u'' = -u
    wall = block(
        friction=[FrictionElement(name="brake", tangent="x", limit="2*(1 - x)")],
        contact=[Contact(name="wall", gap="1 - x", restitution=0.5)],
    )
    motion = simulate(wall, State([0.0], [2.0]), t_end=1.5, law=NewtonImpact())
    hit = math.atanh(0.5)
    assert motion.termination is Termination.END_TIME
    assert [event.kind.value for event in motion.events] == ["impact"]
    assert motion.events[0].t == pytest.approx(hit, rel=1e-10)
    assert motion.q[0] == pytest.approx(1 - math.sqrt(3) / 2 * math.sin(1.5 - hit), rel=1e-9)
