"""What a verdict reports satisfies the laws of contact and friction at the numbers that are reported."""

import attrs
import numpy as np
import pytest

from hybrid import Contact, EquationDynamics, Mechanism, State, Verdict, derive, select
from hybrid.contact.branches import broken_law
from hybrid.contact.conditions import problem_scale
from hybrid.tolerances import Tolerances


def wedge():
    """A point between a floor and a roof that leans over it by the 3-4-5 angle, in turned coordinates."""
    mechanism = Mechanism(
        name="wedge",
        coordinates=["x", "y"],
        parameters={"m": 1, "mu1": 0.2, "mu2": 0.5, "fu": 0.1, "fw": -1, "C": 1.0, "S": 0.0},
        definitions={"u": "C*x + S*y", "w": "-S*x + C*y"},
        dynamics=EquationDynamics(mass_matrix=[["m", 0], [0, "m"]], forces=["C*fu - S*fw", "S*fu + C*fw"]),
        contact=[
            Contact(name="floor", gap="w", tangent="u", friction="mu1"),
            Contact(name="roof", gap="0.6*u - 0.8*w", tangent="0.8*u + 0.6*w", friction="mu2"),
        ],
    )
    return derive(mechanism)


def test_forces_on_the_edges_of_two_cones_that_see_each_other_are_a_ray_and_no_vertex_far_away():
    # edges (-mu1, 1) of the floor and (0.6 - 0.8 mu2, -0.8 - 0.6 mu2) of the roof are opposite for this mu1:
    # the point is on the limit of being jammed, and only rounding could cut the ray of its self-stress
    dynamics, rng, seen = wedge(), np.random.default_rng(27), 0
    for mu2 in rng.uniform(0.05, 0.7, size=25):
        turn = rng.uniform(0, 6)
        load = rng.normal(size=2)
        values = {"mu2": mu2, "mu1": (0.6 - 0.8 * mu2) / (0.8 + 0.6 * mu2), "C": np.cos(turn), "S": np.sin(turn)}
        values |= {"fu": load[0], "fw": load[1]}
        selection = select(dynamics, State([0, 0], [0, 0]), parameters=values)
        for branch in selection.branches:
            assert max(branch.lambda_N.values()) < 1e3
        if selection.force_set is not None:
            assert np.max(np.abs(selection.force_set.vertices)) < 1e3
            seen += len(selection.force_set.rays)
    assert seen > 5


@pytest.mark.parametrize("P", [0.0, 1.0, 100.0])
def test_a_force_that_may_vanish_is_zero_and_so_is_its_slack(P):
    # between two parallel faces the forces are weight and a clamping that may vanish, and none is known to 1e-31
    mechanism = Mechanism(
        name="clamped_block",
        coordinates=["x", "y"],
        parameters={"m": 1, "g": 9.81, "P": P, "mu": 0.5},
        dynamics=EquationDynamics(mass_matrix=[["m", 0], [0, "m"]], forces=["P", "-m*g"]),
        contact=[
            Contact(name="floor", gap="y", tangent="x", friction="mu"),
            Contact(name="ceil", gap="-y", tangent="x", friction="mu"),
        ],
    )
    for velocity in ([0, 0], [1, 0]):
        for branch in select(derive(mechanism), State([0, 0], velocity)).branches:
            numbers = [*branch.lambda_N.values(), branch.margin]
            numbers += [number for slack in branch.slacks for number in (slack.value, slack.scaled)]
            assert all(number == 0 or abs(number) > 1e-9 for number in numbers)


@pytest.fixture(scope="module")
def pressed():
    # the floor alone could carry the weight of 1 with mu1 = 0.3 under a push of 0.1; the roof may press as well
    return select(wedge(), State([0, 0], [0, 0]), parameters={"mu1": 0.3, "mu2": 0.01})


def test_numbers_that_satisfy_the_laws_are_not_doubted(pressed):
    assert pressed.verdict is not Verdict.UNDECIDED
    scale = problem_scale(pressed.problem)
    assert all(broken_law(pressed.problem, branch, scale, Tolerances()) == "" for branch in pressed.branches)


@pytest.mark.parametrize(
    ("N", "T", "a_N", "a_T", "broken"),
    [
        (-1e-3, 0.0, 0.0, 0.0, "pulls"),
        (1.0, 0.31, 0.0, 0.0, "bears more friction than it can"),
        (1.0, 0.0, 1e-3, 0.0, "separates under a force"),
        (0.0, 0.0, -1e-3, 0.0, "approaches"),
        (1.0, 0.3, 0.0, 1e-3, "slips without its friction"),
        (1.0, -0.2, 0.0, 1e-3, "slips without its friction"),
        (1e15, 0.0, 0.125, 0.0, "separates under a force"),
        (float("nan"), 0.0, 0.0, 0.0, "not finite"),
        (1.0, -0.3, 0.0, 1e-3, ""),  # the roof is left
        (1.0, 0.3, 0.0, 0.0, ""),
        (0.0, 0.0, 1.0, 2.0, ""),
    ],
)
def test_numbers_that_break_a_law_are_found(pressed, N, T, a_N, a_T, broken):
    """Signorini and Coulomb with mu = 0.3, written case by case, the roof without force."""
    branch = pressed.branches[0]
    changed = attrs.evolve(
        branch,
        lambda_N={"floor": N, "roof": 0.0},
        lambda_T={"floor": (T,), "roof": (0.0,)},
        acceleration=np.array([a_T, a_N]),  # along the floor and from it
    )
    sentence = broken_law(pressed.problem, changed, problem_scale(pressed.problem), Tolerances())
    assert broken in sentence
    assert bool(broken) == bool(sentence)
