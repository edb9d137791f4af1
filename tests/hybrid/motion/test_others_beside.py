"""A mode goes on until one of its guards fires, and what has become consistent meanwhile is said."""

import math

import numpy as np
import pytest

from hybrid import Prefer, State, Termination, derive, simulate, simulate_branches
from hybrid.declaration import mechanism_from_toml

ROD = """
name = "rod"
coordinates = ["x", "y", "phi"]
[parameters]
mu = {mu}
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2 + phi_dot**2/6"
potential = "0*y"
[forces]
x = "-(1 + t)"
y = "-1"
phi = "0.6 - 0.8*(1 + t)"
[[contact]]
name = "tip"
gap = "y - sin(phi)"
tangent = "x - cos(phi)"
friction = "mu"
"""

WALLS = """
name = "walls"
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
potential = "10*y"
[forces]
x = "30 - 10*t"
[[contact]]
name = "right"
gap = "-x"
tangent = "y"
friction = "0.5"
[[contact]]
name = "left"
gap = "x"
tangent = "y"
friction = "0.5"
"""

AT_REST = State([0.6, 0.8, math.atan2(4, 3)], [0.0, 0.0, 0.0], 0.0)


def rod(mu):
    return derive(mechanism_from_toml(ROD.format(mu=mu)))


def modes_of_the_rod(t, mu):
    """By hand: G_NN = 2.08, G_NT = -1.44, G_TT = 2.92; lambda_N = 1 and lambda_T = 1 + t stick."""
    c_N, c_T = 1.44 * (1 + t) - 2.08, 1.44 - 2.92 * (1 + t)
    found = {"free"} if c_N > 0 else set()
    if 1 + t <= mu:
        found.add("stick")
    for sign, name in ((1, "slide+"), (-1, "slide-")):
        force = -c_N / (2.08 + sign * mu * 1.44)
        if force >= 0 and sign * ((-1.44 - sign * mu * 2.92) * force + c_T) > 0:
            found.add(name)
    return found


def test_motions_that_become_consistent_beside_a_mode_are_said():
    # c_N = 0 at t = 4/9: the first of eight instants after it is 1/2
    assert modes_of_the_rod(0.44, 3.0) == {"stick"}
    assert modes_of_the_rod(0.5, 3.0) == {"stick", "free", "slide-"}
    motion = simulate(rod(3.0), AT_REST, t_end=1)
    assert motion.termination is Termination.END_TIME
    assert motion.warnings == ("t = 0.5: stick goes on, although a motion could go on in free or slide- as well",)


@pytest.mark.parametrize("rule", [Prefer(("free",)), Prefer(("slide-", "stick"))])
def test_a_rule_decides_where_a_motion_stops_and_not_while_a_mode_goes_on(rule):
    motion = simulate(rod(3.0), AT_REST, t_end=1, rule=rule)
    assert [arc.mode.label for arc in motion.arcs] == ["stick"]
    assert "goes on, although" in motion.warnings[0]


def test_nothing_is_said_where_one_answer_is_left():
    # until t = 0.4 there is one; with friction below the critical 2.08/1.44 there is one for every load
    assert simulate(rod(3.0), AT_REST, t_end=0.4).warnings == ()
    assert all(len(modes_of_the_rod(t, 1.4)) == 1 for t in np.linspace(0, 0.39, 40))
    assert simulate(rod(1.4), AT_REST, t_end=0.39).warnings == ()


def test_to_record_an_instant_changes_no_motion():
    motion = simulate(rod(3.0), AT_REST, t_end=1, watch={"half": "t - 0.5"})
    assert motion.termination is Termination.END_TIME
    assert [(event.t, event.kind.name) for event in motion.events] == [(0.5, "WATCH")]
    assert {arc.mode.label for arc in motion.arcs} == {"stick"}
    assert "goes on, although" in motion.warnings[0]


def test_a_rule_changes_no_motion_at_a_recorded_instant():
    motion = simulate(rod(3.0), AT_REST, t_end=1, watch={"half": "t - 0.5"}, rule=Prefer(("free",)))
    assert {arc.mode.label for arc in motion.arcs} == {"stick"}


def test_a_tree_does_not_claim_to_be_complete_beside_a_mode_that_goes_on():
    tree = simulate_branches(rod(3.0), AT_REST, t_end=0.7)
    assert len(tree.branches) == 1
    assert not tree.is_complete
    assert simulate_branches(rod(3.0), AT_REST, t_end=0.4).is_complete


def test_a_block_between_walls_that_sticks_could_slip_once_the_clamp_is_weak():
    # without clamping by both walls the friction is 0.5*(30 - 10 t), less than the weight of 10 from t = 1 on
    walls = derive(mechanism_from_toml(WALLS))
    motion = simulate(walls, State([0, 0], [0, 0]), t_end=2.0)
    said = [text for text in motion.warnings if "goes on, although" in text]
    assert said == [
        "t = 1.25: right=stick,left=stick goes on, although a motion could go on in right=slide-,left=slide- as well"
    ]
    before = simulate(walls, State([0, 0], [0, 0]), t_end=0.9)
    assert not any("goes on, although" in text for text in before.warnings)


def test_a_choice_that_comes_back_to_itself_is_offered_once_more_and_not_for_ever():
    walls = derive(mechanism_from_toml(WALLS))
    tree = simulate_branches(walls, State([0, 0], [0, 0], 1.5), t_end=2.0)
    assert len(tree.branches) <= 4  # of 64
    assert not tree.is_complete  # a continuum of forces slides
