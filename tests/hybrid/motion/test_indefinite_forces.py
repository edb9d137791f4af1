"""Motions that are unique while their contact forces are not, and motions that depend on how forces are shared."""

import numpy as np
import pytest

from hybrid import (
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    State,
    Termination,
    Verdict,
    derive,
    simulate,
)
from hybrid.contact import NewtonImpact
from hybrid.motion import numeric
from hybrid.motion.distributions import admissible, null_space

HEIGHT = 1.0


def block(places, *, friction, force="0"):
    """A block of unit mass, g = 10, on feet at given places below its centre, pushed at its centre."""
    feet = [
        Contact(
            name=f"foot{index}",
            gap=f"y - {HEIGHT}*cos(phi) + ({x})*sin(phi)",
            tangent=f"x + ({x})*cos(phi) + {HEIGHT}*sin(phi)",
            friction=str(mu),
        )
        for index, (x, mu) in enumerate(zip(places, friction, strict=True))
    ]
    return derive(
        Mechanism(
            name="block",
            coordinates=["x", "y", "phi"],
            parameters={"J": 0.5},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + J*phi_dot**2)/2", potential="10*y"),
            forces={"x": force},
            contact=feet,
        )
    )


THREE = (-0.5, 0, 0.5)


@pytest.mark.parametrize("places", [(-0.5, 0.5), THREE])
def test_pushed_block_tips_when_no_distribution_of_forces_holds_it(places):
    # F h = m g b at t = 5, whatever the distribution; the one of least norm would give up a foot of three at t = 10/3
    motion = simulate(block(places, friction=[2] * len(places), force="t"), State([0, HEIGHT, 0], [0, 0, 0]), t_end=5.5)
    assert motion.termination is Termination.END_TIME
    [tipping] = motion.events
    assert tipping.t == pytest.approx(5.0, abs=1e-12)
    assert tipping.kind.value == "detachment"
    assert tipping.elements == tuple(f"foot{index}" for index in range(len(places) - 1))
    assert tipping.mode_after.label.endswith(f"foot{len(places) - 1}=stick")
    assert np.array_equal(motion.sample(4.999)[0], [0, HEIGHT, 0])
    # until then the motion says that its forces are one choice of many, and shows forces that may act
    sentences = [text for text in motion.warnings if "contact forces are not" in text]
    assert len(sentences) == 1
    assert sentences[0].startswith("t = 0: the motion in mode foot0=stick")
    at = np.linspace(0, 4.99, 40)
    for arc in motion.arcs[:-1]:
        inside = at[(at >= arc.start) & (at <= arc.end)]
        if inside.size:
            forces = motion.forces(arc, inside)
            assert forces.lambda_N.min() > -1e-12
            assert (np.abs(forces.lambda_T) <= 2 * forces.lambda_N + 1e-12).all()
            np.testing.assert_allclose(forces.lambda_N.sum(axis=0), 10, atol=1e-12)
            np.testing.assert_allclose(forces.lambda_T.sum(axis=0), -inside, atol=1e-12)


def test_block_on_three_feet_brakes_like_a_particle():
    motion = simulate(block(THREE, friction=[0.3] * 3), State([0, HEIGHT, 0], [2, 0, 0]), t_end=1)
    assert [(event.t, event.mode_after.label) for event in motion.events] == [
        (pytest.approx(2 / 3, abs=1e-13), "foot0=stick,foot1=stick,foot2=stick")
    ]
    assert motion.q[0] == pytest.approx(2**2 / (2 * 3), abs=1e-13)
    assert abs(motion.energy().residual) < 1e-12
    assert "they form a set of dimension 1" in motion.warnings[0]


def test_motion_that_depends_on_how_unequal_feet_share_the_load_is_not_guessed():
    motion = simulate(block(THREE, friction=[0.1, 0.2, 0.4]), State([0, HEIGHT, 0], [2, 0, 0]), t_end=1)
    assert (motion.t, motion.termination) == (0.0, Termination.INDETERMINATE)
    assert motion.selection.verdict is Verdict.INDETERMINATE
    assert len(motion.selection.continua) == 1
    # on two feet the load is known: N0 + N1 = 10, and about the centre (N1 - N0)/2 = 0.1 N0 + 0.2 N1
    two = simulate(block((-0.5, 0.5), friction=[0.1, 0.2]), State([0, HEIGHT, 0], [2, 0, 0]), t_end=0.1)
    front = 10 * 0.6 / (0.6 + 0.3)
    assert two.v[0] == pytest.approx(2 - 0.1 * (0.1 * (10 - front) + 0.2 * front), abs=1e-12)
    assert not two.warnings


def test_three_redundant_normals_on_two_dimensions_of_motion_have_one_internal_force():
    system = np.array([[1.0, 1, 1], [1, 1, 1], [1, 1, 1]]) + np.outer(THREE, THREE)
    null = null_space(system, np.vstack([np.ones(3), THREE]))
    np.testing.assert_allclose(np.abs(null[:, 0]) * np.sqrt(6), [1, 2, 1], atol=1e-12)


def test_the_best_distribution_of_a_plane_of_internal_forces_is_found():
    # four feet in a row: second differences are internal; the best smallest normal force of a load of 12 is 3 each
    null = np.linalg.qr(np.array([[1.0, -2, 1, 0], [0, 1, -2, 1]]).T)[0]
    start = np.array([3.0, 3, 3, 3]) + null @ [5.0, -7.0]
    nearest, slack = admissible(start, null, np.eye(4), np.zeros(4))
    assert slack == pytest.approx(3.0, abs=1e-9)
    assert nearest.min() == pytest.approx(0.0, abs=1e-9)
    assert nearest.sum() == pytest.approx(12.0, abs=1e-9)
    # a load outside the feet has none
    assert admissible(np.array([-1.0, 0, 0, 13.0]), null, np.eye(4), np.zeros(4))[1] < 0


def test_a_distribution_within_cones_is_found_to_the_last_digits():
    # two feet push each other sideways, T against -T; each holds 1 along y and presses with 2, at friction 0.8
    forces, null = np.array([2.0, 3.0, 1.0, 2.0, -3.0, 1.0]), np.array([[0.0, 1, 0, 0, -1, 0]]).T / np.sqrt(2)
    slopes = np.diag([0.8, 1.0, 1.0, 0.8, 1.0, 1.0])
    nearest, slack = admissible(forces, null, slopes, np.zeros(6), cones=[0, 3])
    assert slack == pytest.approx(0.8 * 2 - 1, abs=1e-10)  # without sideways force
    assert nearest[1] == pytest.approx(np.sqrt(1.6**2 - 1), abs=1e-10)  # as far as the cones need, and no further


@pytest.mark.parametrize("toward", [0.1, 2.0])
@pytest.mark.parametrize("feet", [[(1.0, 0), (-0.5, 0.9), (-0.5, -0.9)], [(1.0, 1), (-1, 1), (-1, -1), (1, -1)]])
def test_spatial_feet_hold_a_push_until_it_is_what_friction_gives(feet, toward):
    # together they hold mu m g, in whatever direction, and shared as the load is it does not turn the plate
    plate = derive(
        Mechanism(
            name="plate",
            coordinates=["x", "y", "z", "a", "b", "p"],
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2 + (a_dot**2 + b_dot**2)/10 + p_dot**2/20", potential="10*z"
            ),
            forces={"x": f"8*t*cos({toward})", "y": f"8*t*sin({toward})"},
            contact=[
                Contact(
                    name=f"foot{i}",
                    gap=f"z + ({y})*a - ({x})*b",
                    tangent=(f"x + ({x})*cos(p) - ({y})*sin(p)", f"y + ({x})*sin(p) + ({y})*cos(p)"),
                    friction="0.3",
                )
                for i, (x, y) in enumerate(feet)
            ],
        )
    )
    motion = simulate(plate, State([0.0] * 6, [0.0] * 6), t_end=0.5)
    assert motion.arcs[0].end == pytest.approx(0.3 * 10 / 8, abs=1e-9)
    assert not motion.v.any()


@pytest.mark.parametrize("unit", [1e-250, 1e-12, 1e12, 1e250])
@pytest.mark.parametrize("factor", [1e-40, 1.0, 1e40])
def test_the_best_distribution_is_found_in_any_unit_of_force(unit, factor, capfd):
    # the four feet above; slacks scale with the unit and with the factor of the inequalities, their order does not
    null = np.linalg.qr(np.array([[1.0, -2, 1, 0], [0, 1, -2, 1]]).T)[0]
    start = np.array([3.0, 3, 3, 3]) + null @ [5.0, -7.0]
    nearest, slack = admissible(start * unit, null, factor * np.eye(4), np.zeros(4))
    assert slack / factor / unit == pytest.approx(3.0, abs=1e-9)
    assert nearest.sum() / unit == pytest.approx(12.0, abs=1e-9)
    assert capfd.readouterr().out == ""  # of the solver


def test_a_gain_that_is_nothing_beside_what_is_missing_overflows_in_silence(recwarn):
    forces, null = np.array([-1e200, 0.0, 0.0]), np.array([[1e-150], [0.0], [0.0]])
    assert admissible(forces, null, np.eye(3), np.zeros(3))[1] == pytest.approx(-1e200)
    assert not recwarn.list


def test_block_dropped_on_one_foot_comes_to_rest_on_both():
    dropped = State([0, HEIGHT + 0.1, 0.05], [0.3, 0, 0])
    motion = simulate(block((-0.5, 0.5), friction=[0.5, 0.5]), dropped, t_end=3, law=NewtonImpact())
    assert motion.termination is Termination.END_TIME
    assert motion.arcs[-1].mode.label == "foot0=stick,foot1=stick"
    assert not motion.v.any()


def test_between_the_steps_of_a_load_forces_are_shared_once(monkeypatch):
    # at the jump of a push steps are halved down to rounding, and grow again: some 100, which meet two loads at most
    asked, share = [], numeric.admissible
    monkeypatch.setattr(numeric, "admissible", lambda *given: asked.append(given) or share(*given))
    pushed = block(THREE, friction=[2, 2, 2], force="(1 + sign(t - 1.2))/2")
    motion = simulate(pushed, State([0, HEIGHT, 0], [0, 0, 0]), t_end=2.0)
    assert motion.termination is Termination.END_TIME
    assert not motion.events
    assert 0 < len(asked) < 1000  # and not one at each of the 33 instants of a step, some 10 000


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-12, 0.0])
def test_feet_that_parameters_move_into_one_carry_the_block_as_one(spread):
    # declared a unit apart, where each foot has a force of its own; as one foot they share what carries the block
    feet = derive(
        Mechanism(
            name="feet",
            coordinates=["x", "y", "phi"],
            parameters={"d": 1},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + phi_dot**2)/2", potential="10*y"),
            contact=[Contact(name="left", gap="y + d*phi"), Contact(name="right", gap="y - d*phi")],
        )
    )
    start, parameters = State([0, 1.25, 0], [1, 0, 0]), {"d": spread}
    motion = simulate(feet, start, t_end=2, law=NewtonImpact(0), parameters=parameters)
    assert motion.termination is Termination.END_TIME
    assert [event.t for event in motion.events] == [pytest.approx(0.5, abs=1e-14)]  # falls 1.25 with g = 10
    assert motion.events[0].elements == ("left", "right")
    # one foot may take all of the impulse 5 where rounding alone tells them apart: that turns it by 5 d a second
    assert motion.q == pytest.approx([2, 0, 0], abs=1e-11)
    assert motion.v == pytest.approx([1, 0, 0], abs=1e-11)
    # apart again, the same derived mechanism has unique forces of 5 each
    apart = simulate(feet, start, t_end=2, law=NewtonImpact(0), parameters={"d": 1})
    assert apart.forces(apart.arcs[-1], 1.5).lambda_N[:, 0] == pytest.approx([5, 5], abs=1e-12)
    assert sum(motion.forces(motion.arcs[-1], 1.5).lambda_N[:, 0]) == pytest.approx(10, abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-93, -7e-93])
@pytest.mark.parametrize("seed", range(8))
def test_a_block_at_rest_stays_there_although_rounding_couples_its_forces(seed, angle):
    # level feet hold nothing sideways: neither they nor the seal have a force along the floor that is not rounding
    rng = np.random.default_rng(seed)
    height, mass, inertia = rng.uniform([0.0, 0.1, 0.01], [0.6, 9.0, 3.0]) * [seed % 2, 1.0, 1.0]
    places = [-1.0, 1.0, *rng.uniform(-1, 1, int(rng.integers(3)))]
    feet = [
        Contact(
            name=f"foot{i}",
            gap=f"y - {height}*cos(phi) + ({x})*sin(phi)",
            tangent=f"x + ({x})*cos(phi) + {height}*sin(phi)",
            friction="0.3",
        )
        for i, x in enumerate(places)
    ]
    resting = Mechanism(
        name="resting",
        coordinates=["x", "y", "phi"],
        dynamics=EnergyDynamics(
            kinetic=f"{mass}*(x_dot**2 + y_dot**2)/2 + {inertia}*phi_dot**2/2", potential=f"{9.81 * mass}*y"
        ),
        contact=feet,
        friction=[FrictionElement(name="seal", tangent="x", limit="1")],
    )
    motion = simulate(derive(resting), State([0.0, height, angle], [0.0, 0.0, 0.0]), t_end=1.0)
    assert motion.termination is Termination.END_TIME
    assert not motion.events
