"""One step of time-stepping, against every solution of its laws, found mode by mode."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hybrid import State, Termination, derive, simulate
from hybrid.declaration import mechanism_from_toml

H = 0.01
CLOSE = 1e-9  # of numbers of about 1: a linear solution of four unknowns, whose condition is far below 1e6

WEDGE = """
name = "wedge"
coordinates = ["x", "y", "phi"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2 + phi_dot**2/4"
potential = "7*y"
[[contact]]
name = "foot"
gap = "y - 0.4*phi"
tangent = "x - 0.4*phi - 0.8*t"
friction = "0.9"
[[constraint]]
name = "rail"
equation = "y - 0.6*phi"
tangent = "x + 0.3*t"
friction = "1.0"
"""

GUIDES = """
name = "guides"
coordinates = ["x", "y", "phi"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2 + phi_dot**2)/2"
potential = "-3.4*x + 1.8*y + 2.7*phi"
[[constraint]]
name = "guide_0"
equation = "y - 0.6*phi"
tangent = "x - 0.3*phi + 0.1*t"
friction = 0.6
[[constraint]]
name = "guide_1"
equation = "y - 0.5*phi"
tangent = "x + 0.6*phi + 0.5*t"
friction = 0.3
"""

BRAKE = """
name = "brake"
coordinates = ["y", "x", "z"]
[dynamics]
mass_matrix = {masses}
forces = {forces}
[[contact]]
name = "tip"
gap = "y"
tangent = "x"
friction = "{mu}"
[[friction]]
name = "pad"
tangent = "z"
limit = "3"
"""


def one_step(mechanism, v, **options):
    start = State([0.0] * len(v), v)
    return simulate(mechanism, start, t_end=H, method="time-stepping", step=H, **options)


def velocities_after(G, c, mu, limit):
    """All velocities of a contact (rows 0 and 1) next to a friction element (row 2), each once."""
    unit, found = np.eye(3), []
    for tip, pad in itertools.product(["free", "stick", 1, -1], ["stick", 1, -1]):
        first = {"free": unit[:2], "stick": G[:2]}.get(tip)
        rows = np.vstack([first if first is not None else [G[0], unit[1] + tip * mu * unit[0]], [G[2]]])
        if pad != "stick":
            rows[2] = unit[2]
        held = np.array([tip != "free", tip == "stick", pad == "stick"])
        P = np.linalg.solve(rows, np.where(held, -c, [0.0, 0.0, 0.0 if pad == "stick" else -pad * limit]))
        after = c + G @ P
        allowed = [P[0], after[0], mu * P[0] - abs(P[1]), limit - abs(P[2])]
        allowed += [s * after[row] for row, s in ((1, tip), (2, pad)) if isinstance(s, int)]
        if min(allowed) > -CLOSE and not any(np.allclose(after, other, atol=CLOSE) for other in found):
            found.append(after)
    return found


def test_a_step_without_solution_is_not_answered_with_rounding():
    """By hand, with impulses N and R of the foot and the rail: none obeys the laws.

    Off the foot R = 0.07/1.72 closes it. On it y and phi rest: N = 0.07 - R, and the friction of the foot is
    T = -(0.07 + R/2), within 0.9 N for R <= -0.005 alone. If it slips, R = -0.005 and x_dot <= 0.5 - 0.0675 + 0.005 is
    slower than the belt of 0.8, which pulls the other way. If it sticks, the rail slips forwards, and its friction R
    leaves x_dot = 0.43 - R/2 + R < 0.8.
    """
    wedge = derive(mechanism_from_toml(WEDGE))
    motion = one_step(wedge, [0.5, 0.0, 0.0])
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == 0.0 and motion.v.tolist() == [0.5, 0.0, 0.0]
    assert "more than rounding decides (that there are none is not shown) in the step to t = 0.01" in motion.cause


def test_a_solution_with_digits_is_taken_where_another_is_rounding():
    """By hand: the guides keep y = phi = 0, and what they do to phi leaves two speeds of x, with impulses below 3.

    With N1 = 0.018 - N0, both guides slipping and N0 < 0: -0.03924 - 0.1 N0 = 0, and x_dot = 1.534 + 0.6 N0 - 0.3 N1.
    Else guide 0 sticks to its belt, at x_dot = -0.1. Lemke's method ends at impulses that together move nothing.
    """
    guides = derive(mechanism_from_toml(GUIDES))
    motion = one_step(guides, [1.5, 0.0, 0.0])
    assert motion.termination is Termination.END_TIME
    assert min(abs(motion.v[0] - speed) for speed in (1.17544, -0.1)) < CLOSE
    assert np.abs(motion.v[1:]).max() < CLOSE and np.abs(motion.arcs[0].means.lambda_T).max() < 3 / H


def brake(masses, forces, mu):
    text = BRAKE.format(masses=[[str(m) for m in row] for row in masses], forces=[str(f) for f in forces], mu=mu)
    return derive(mechanism_from_toml(text.replace("'", '"')))


def test_a_step_with_three_solutions_says_so():
    masses, forces = [[6.0, 4.0, 3.0], [4.0, 5.0, 2.0], [3.0, 2.0, 4.0]], [1.0, -1.0, 3.0]
    G = np.linalg.inv(masses)
    known = velocities_after(G, np.array([0, -0.1, 0]) + H * G @ forces, 1.5, 3 * H)
    by_hand = [(0.00643, -0.10714, 0), (0, -0.075, 0), (0, -0.05, -0.01)]
    assert np.allclose(sorted(map(tuple, known)), sorted(by_hand), atol=5e-6)
    motion = one_step(brake(masses, forces, 1.5), [0.0, -0.1, 0.0])
    assert min(np.abs(motion.v - other).max() for other in known) < CLOSE
    assert [warning.partition(" at t")[0] for warning in motion.warnings] == ["friction is beyond the critical one"]


@pytest.mark.parametrize("seed", range(8))
def test_steps_of_a_contact_next_to_friction_are_among_their_solutions(seed):
    random = np.random.default_rng(seed)
    half, forces, mu = random.normal(size=(3, 3)).round(2), random.normal(size=3).round(2), 0.3 + 0.2 * seed
    masses = half @ half.T + 0.5 * np.eye(3)
    v = np.array([0.0, *random.normal(size=2)]) * 0.03
    G = np.linalg.inv(masses)
    known = velocities_after(G, v + H * G @ forces, mu, 3 * H)
    motion = one_step(brake(masses.tolist(), forces.tolist(), mu), v.tolist())
    assert min(np.abs(motion.v - other).max() for other in known) < CLOSE
    assert motion.warnings or len(known) == 1


def test_many_modes_together_are_not_judged():
    # each block is a contact of four modes: free, held or slipping either way; 4**4 are judged, 4**5 are not
    for count, said in ((4, []), (5, ["force elements have too many modes together to be judged"])):
        names = [f"{axis}{k}" for k in range(count) for axis in "xy"]
        contacts = "".join(
            f'[[contact]]\nname = "c{k}"\ngap = "y{k}"\ntangent = "x{k}"\nfriction = 0.5\n' for k in range(count)
        )
        kinetic, potential = "+".join(f"{name}_dot**2" for name in names), "+".join(f"9*y{k}" for k in range(count))
        head = f'name = "blocks"\ncoordinates = {names}\n[dynamics]\nkinetic = "{kinetic}"\npotential = "{potential}"\n'
        blocks = derive(mechanism_from_toml(head.replace("'", '"') + contacts))
        motion = one_step(blocks, [0.1, 0.0] * count)
        assert [warning.partition(" at t")[0] for warning in motion.warnings] == said


JAM_WITH_BRAKES = """
name = "jam"
coordinates = ["x", "y"]
[dynamics]
mass_matrix = [["19", "0"], ["0", "3"]]
forces = ["1", "4"]
[[contact]]
name = "e0"
gap = "x - 2*y"
tangent = "x + 2*y"
friction = "0.25"
[[contact]]
name = "e1"
gap = "2*x - 2*y"
tangent = "x - y"
friction = "0"
[[friction]]
name = "b2"
tangent = "x - 2*y"
limit = "1"
[[friction]]
name = "b3"
tangent = "2*y"
limit = "1"
"""


def test_a_jam_with_friction_elements_is_named():
    # -1 and -1 at the brakes, P and -P/4 at e0: 19 v_x = 1 + P - P/4 - 1 and 3 v_y = 4 - 2 P - P/2 + 2 - 2, with
    # v_x = 2 v_y on e0's gap; e1 opens, e0 and b3 slip forwards, b2 not at all
    P, v_x, v_y = Fraction(608, 389), Fraction(24, 389), Fraction(12, 389)
    assert (19 * v_x, 3 * v_y, v_x) == (P * 3 / 4, 4 - P * 5 / 2, 2 * v_y)
    motion = simulate(
        derive(mechanism_from_toml(JAM_WITH_BRAKES)), State([0, 0], [0, 0]), t_end=1.0, method="time-stepping", step=1.0
    )
    assert abs(motion.v - [float(v_x), float(v_y)]).max() > 1e-3  # another one
    assert [warning.partition(" at t")[0] for warning in motion.warnings] == [
        "velocities may hang on loads that a jam leaves open"
    ]


WEDGED = """
name = "wedged"
coordinates = ["x0", "x1"]
[parameters]
k = {k}
[dynamics]
mass_matrix = [["2*k", "2*k"], ["2*k", "5*k"]]
forces = ["2*k", "0"]
[[contact]]
name = "e0"
gap = "x0 - 2*x1"
tangent = "x1"
friction = "0.25"
[[contact]]
name = "e1"
gap = "-x0 - x1"
tangent = "-2*x0 - 2*x1"
friction = "2"
[[contact]]
name = "e2"
gap = "x1 - 2*x0"
tangent = "x0"
friction = "2"
[[friction]]
name = "b"
tangent = "x1"
limit = "0"
"""


@pytest.mark.parametrize("k", [1e-8, 1.0, 1e8, 2.0**26, 1e9])
def test_a_step_is_the_same_in_any_unit_of_mass(k):
    # e1 bears 2 (its gap presses x0 and x1), e2 the rest: at rest for every k, masses and forces being as k
    wedged = derive(mechanism_from_toml(WEDGED.format(k=k)))
    h = 2.0**-7
    motion = simulate(wedged, State([0, 0], [0, 0]), t_end=h, method="time-stepping", step=h)
    assert motion.termination is Termination.END_TIME
    assert np.abs(motion.v).max() < CLOSE * h


TABLE = """
name = "table"
coordinates = ["x", "y", "phi"]
[parameters]
push = {push}
[dynamics]
kinetic = "10*(x_dot**2 + y_dot**2) + 1.5*phi_dot**2"
potential = "196.2*y - push*(x - 0.2*sin(phi))"
[[contact]]
name = "left"
gap = "y - 0.5*sin(phi) - 0.6*cos(phi)"
tangent = "x - 0.5*cos(phi) + 0.6*sin(phi)"
friction = "0.5"
[[contact]]
name = "right"
gap = "y + 0.5*sin(phi) - 0.6*cos(phi)"
tangent = "x + 0.5*cos(phi) + 0.6*sin(phi)"
friction = "0.5"
"""


@pytest.mark.parametrize("step", [0.02, 0.01, 0.007, 1e-3])
def test_legs_that_have_come_to_rest_stick_whatever_rounding_leaves_of_their_slip(step):
    # 20 kg on two legs, friction 1/2: from 1 m/s at rest after 1/(9.81/2) s
    table = derive(mechanism_from_toml(TABLE.format(push=0)))
    motion = simulate(table, State([0, 0.6, 0], [1, 0, 0]), t_end=0.5, method="time-stepping", step=step)
    assert [arc.mode.label for arc in motion.arcs] == ["left=slide+,right=slide+", "left=stick,right=stick"]
    assert motion.arcs[1].knots[0] == pytest.approx(1 / 4.905, abs=1.01 * step)


@pytest.mark.parametrize(("excess", "label"), [(1e-6, "left=slide+,right=slide+"), (-1e-6, "left=stick,right=stick")])
def test_legs_slip_where_a_push_is_hardly_more_than_their_friction(excess, label):
    table = derive(mechanism_from_toml(TABLE.format(push=98.1 * (1 + excess))))
    motion = simulate(table, State([0, 0.6, 0], [0, 0, 0]), t_end=0.1, method="time-stepping", step=H)
    assert [arc.mode.label for arc in motion.arcs] == [label]


BLOCK = """
name = "block"
coordinates = ["x", "y"]
[parameters]
m = 1
mu = 0.2
push = 0
l = 1  # of the unit of length
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2"
potential = "m*l*y - push*x"
[[contact]]
name = "A"
gap = "y"
tangent = "x"
friction = "mu"
"""
HELD_BLOCK = """
name = "block"
coordinates = ["x"]
[parameters]
m = 1
mu = 0.2
push = 0
l = 1
[dynamics]
kinetic = "m*x_dot**2/2"
potential = "-push*x"
[[friction]]
name = "A"
tangent = "x"
limit = "mu*m*l"
"""


@pytest.mark.parametrize("text", [BLOCK, HELD_BLOCK])
@pytest.mark.parametrize("mass", [1, 2.7e-6, 3.1e7])
@pytest.mark.parametrize("length", [1, 1.3e-6, 1.7e5])
@pytest.mark.parametrize(("mu", "v"), [(0.2, 0.1), (0.31, -0.23), (0.13, 0.17)])
def test_a_block_that_has_come_to_rest_on_a_flat_floor_sticks_from_then_on(text, mass, length, mu, v):
    # from v at rest after v/(mu g), g = 1
    block = derive(mechanism_from_toml(text))
    start = State([0] * block.n, [v * length] + [0] * (block.n - 1))
    values = {"m": mass, "mu": mu, "l": length}
    motion = simulate(block, start, parameters=values, t_end=2, method="time-stepping", step=H)
    assert [arc.mode.label for arc in motion.arcs] == [f"slide{'+' if v > 0 else '-'}", "stick"]
    assert motion.arcs[1].start == pytest.approx(abs(v) / mu, abs=1.01 * H)


@pytest.mark.parametrize("text", [BLOCK, HELD_BLOCK])
@pytest.mark.parametrize(("mu", "v", "push"), [(0, 1e-6, 0), (1e-7, 1e-6, 0), (0.2, 0, 0.2 * (1 + 1e-6))])
def test_a_block_slides_however_slowly_where_its_friction_does_not_hold_it(text, mu, v, push):
    block = derive(mechanism_from_toml(text))
    start = State([0] * block.n, [v] + [0] * (block.n - 1))
    motion = simulate(block, start, parameters={"mu": mu, "push": push}, t_end=1, method="time-stepping", step=H)
    assert [arc.mode.label for arc in motion.arcs] == ["slide+"]
