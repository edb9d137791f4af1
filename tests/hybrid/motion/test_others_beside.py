"""A mode goes on until one of its guards fires, and what has become consistent meanwhile is said."""

import math

import numpy as np
import pytest

from hybrid import Prefer, State, Termination, derive, select, simulate, simulate_branches
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


STRONGER_AT_REST = """
name = "stronger_at_rest"
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
[forces]
x = "-1 + 1.5*t"
y = "2.25*t/sqrt(0.75)"
[[contact]]
name = "a"
gap = "x"
tangent = "0.5*x + sqrt(0.75)*y"
friction = 1
static_friction = 4
"""


def test_static_friction_beyond_the_critical_one_leaves_lift_off_beside_rest():
    # G_NN = 1, G_NT = 0.5: the critical friction is 2; rest with lambda_N = 1 and lambda_T = -3 t lasts to 4/3, and the
    # free normal acceleration 1.5 t - 1 is positive from 2/3: the first eighth of 1.2 after it is 0.75
    held = derive(mechanism_from_toml(STRONGER_AT_REST))
    motion = simulate(held, State([0, 0], [0, 0]), t_end=1.2)
    assert [arc.mode.label for arc in motion.arcs] == ["stick"]
    assert motion.warnings == ("t = 0.75: stick goes on, although a motion could go on in free as well",)


BESIDE_A_SMOOTH_CONTACT = """
name = "beside_a_smooth_contact"
coordinates = ["p", "q", "r"]
[dynamics]
kinetic = "(p_dot**2 + q_dot**2 + r_dot**2)/2"
[forces]
p = "{forces[0]}"
q = "{forces[1]}"
r = "{forces[2]}"
[[contact]]
name = "a"
gap = "p"
tangent = "{rows[1]}"
friction = 2
[[contact]]
name = "b"
gap = "{rows[2]}"
"""


def test_one_slip_beside_a_smooth_contact_may_have_others_beside_it():
    # G of gap and slip of a and gap of b; with both loads the forces l1 = 0.5 + 2 t and l2 = 1 at slip+ hold both gaps;
    # b alone opens if l1 > 1.125 l2, from t = 0.3125 on, as a's factor 1 - 2*0.9 is negative
    G = np.array([[1, 0.9, 0.9], [0.9, 1, 0.95], [0.9, 0.95, 1]])
    rows = np.linalg.cholesky(G)
    A = np.array([[1 - 2 * 0.9, 0.9], [0.9 - 2 * 0.95, 1.0]])  # normal accelerations by l1 and l2
    fixed, growing = (
        np.array([-(A @ load)[0], c_T, -(A @ load)[1]]) for load, c_T in (([0.5, 1.0], 20.0), ([2.0, 0.0], 0.0))
    )
    assert np.linalg.det(A) > 0 > A[0, 0]
    forces = [
        f"{a!r} + ({b!r})*t" for a, b in np.column_stack([np.linalg.solve(rows, c) for c in (fixed, growing)]).tolist()
    ]
    texts = [" + ".join(f"({x!r})*{name}" for x, name in zip(row, "pqr", strict=True)) for row in rows.tolist()]
    dynamics = derive(mechanism_from_toml(BESIDE_A_SMOOTH_CONTACT.format(forces=forces, rows=texts)))
    start = State([0, 0, 0], np.linalg.solve(rows, [0.0, 1.0, 0.0]))
    motion = simulate(dynamics, start, t_end=1.0)
    assert [arc.mode.label for arc in motion.arcs] == ["a=slide+,b=closed"]
    assert [text.partition(":")[0] for text in motion.warnings if "goes on, although" in text] == ["t = 0.375"]
    assert simulate(dynamics, start, t_end=0.3).warnings == ()


ON_A_RAIL = """
name = "on_a_rail"
coordinates = ["x", "y"]
[dynamics]
mass_matrix = [[4, 1], [1, 7]]
forces = [-9, -4]
[[constraint]]
name = "rail"
equation = "x - y"
friction = "1"
tangent = "-2*x"
"""


def test_a_rail_that_could_press_to_its_other_side_is_another_motion():
    # 5 a = -9 + N + 2 |N| and 8 a = -4 - N for x' < 0: N = 52/29 with a = -21/29, or N = -52/3 with a = 5/3, which from
    # rest would lead to x' > 0
    rail = derive(mechanism_from_toml(ON_A_RAIL))
    motion = simulate(rail, State([0, 0], [0, 0]), t_end=1)
    assert motion.v == pytest.approx([-21 / 29, -21 / 29], rel=1e-9)
    assert motion.warnings == (
        "t = 0.125: slide+ goes on, although a motion could go on in slide+ (rail: N < 0) as well",
    )
    assert not simulate_branches(rail, State([0, 0], [0, 0]), t_end=1).is_complete
    tree = simulate_branches(rail, State([0, 0], [-0.01, -0.01]), t_end=0.001)
    ends = {branch.choice: branch.motion.v[0] for branch in tree.leaves}
    assert ends == {
        "slide+ (rail: N > 0)": pytest.approx(-0.01 - 0.001 * 21 / 29, rel=1e-9),
        "slide+ (rail: N < 0)": pytest.approx(-0.01 + 0.001 * 5 / 3, rel=1e-9),
    }


HELD_BY_THREE = """
name = "held"
coordinates = ["a", "b", "c"]
[dynamics]
mass_matrix = [[5, 0, 4], [0, 2, 0], [4, 0, 11]]
forces = ["5 + 3*sin(5*t)", "-6 + 7*sin(5*t)", "1"]
[[friction]]
name = "one"
limit = 5
tangent = "-2*a + 2*b + 2*c"
[[friction]]
name = "belt"
limit = 5
tangent = "-2*a + 2*b - 2*c - t"
[[constraint]]
name = "rail"
equation = "-2*b + c"
friction = "1"
tangent = "2*a + 2*b"
"""


def test_what_rests_is_looked_at_at_instants_although_its_arc_is_one_step():
    held = derive(mechanism_from_toml(HELD_BY_THREE))
    at_rest = State([0, 0, 0], [0, 0, 0], 1.0)
    found = select(held, at_rest)  # an enumeration of its own found these three accelerations, too
    assert sorted(branch.mode["rail"].value for branch in found.branches) == ["slide-", "slide-", "stick"]
    motion = simulate(held, State([0, 0, 0], [0, 0, 0]), t_end=2)
    assert motion.termination is Termination.END_TIME and not motion.v.any()
    (said,) = motion.warnings
    assert said.startswith("t = 1: one=stick,belt=slide-,rail=stick goes on, although a motion could go on in ")
    assert said.count("rail: N > 0") == said.count("rail: N < 0") == 1
