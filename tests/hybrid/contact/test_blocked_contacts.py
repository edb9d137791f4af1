"""Contacts that rigid constraints block: no force moves them, whatever rounding says."""

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, EquationDynamics, Mechanism, State, Verdict, derive, select
from hybrid.contact import CellVerdict, classify, contact_problem, verify_certificate
from hybrid.dynamics.state import States

BEAD = EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y")
REST = State([0, 0], [0, 0])


def bead(gap, *, kinetic="0", **rail):
    """A bead on the rail ``y = 0.3 x`` beside a contact with a gap of its own."""
    mechanism = Mechanism(
        name="bead",
        coordinates=["x", "y"],
        parameters={"m": 1, "g": 9.81},
        dynamics=BEAD,
        constraint=[Constraint(name="rail", equation="y - 0.3*x", **rail)],
        contact=[Contact(name="floor", gap=gap, friction=kinetic)],
    )
    return derive(mechanism)


ROUGH = {"friction": 0.2, "tangent": "x + 0.3*y"}


@pytest.mark.parametrize("gap", ["y - 0.3*x", "3*y - 0.9*x", "sin(y - 0.3*x)"])
def test_a_rail_and_a_floor_along_it_share_the_load(gap):
    dynamics = bead(gap)
    selection = select(dynamics, REST)
    assert selection.verdict is Verdict.HYPERSTATIC
    # along the rail, of slope 0.3: x'' = -g 0.3/1.09
    expected = -9.81 * 0.3 / 1.09 * np.array([1, 0.3])
    np.testing.assert_allclose(selection.branches[0].acceleration, expected, rtol=1e-12)
    np.testing.assert_array_equal(contact_problem(dynamics, REST).G, [[0.0]])
    # the floor may press with any force, the rail then pulls
    np.testing.assert_array_equal(selection.force_set.vertices, [[0.0]])
    np.testing.assert_array_equal(selection.force_set.rays, [[1.0]])


@pytest.mark.parametrize("rail", [{}, {"friction": 0.2, "tangent": "x + 0.3*y"}], ids=["smooth", "rough"])
@pytest.mark.parametrize(("sign", "verdict"), [("-", Verdict.INCONSISTENT), ("+", Verdict.UNIQUE)])
def test_a_rail_drives_a_bead_into_a_floor_that_rises_or_off_one_that_sinks(rail, sign, verdict):
    # gap = y - 0.3 x -+ 0.1 t^2: on the rail its second derivative is -+0.2, whatever the forces
    selection = select(bead(f"y - 0.3*x {sign} 0.1*t**2", **rail), REST)
    assert selection.verdict is verdict
    if verdict is Verdict.INCONSISTENT:
        assert verify_certificate(selection.certificate)
        assert not selection.certificate.problem.M[0].any()  # no force moves the contact along its normal
    else:
        assert selection.branches[0].contact_acceleration["floor"].normal == pytest.approx(0.2, rel=1e-12)


def stop(equation="a*x"):
    mechanism = Mechanism(
        name="stop",
        coordinates=["x"],
        parameters={"m": 1.0, "a": 0.3},
        dynamics=EquationDynamics(mass_matrix=[["m"]], forces=["1"]),
        constraint=[Constraint(name="pin", equation=equation)],
        contact=[Contact(name="k", gap="-x", slip="x_dot", friction="1.5")],
    )
    return derive(mechanism)


def test_a_pinned_coordinate_takes_any_contact_force():
    # x = 0 is held, so the contact neither moves nor slips: any force of the cone balances with the pin
    dynamics = stop()
    for m in (1.0, 2.0, 5.0, 0.7):
        for a in 0.3 * np.arange(1, 11):
            for side in (1, -1):
                state = State([0.0], [0.0], sides={"k": side})
                assert select(dynamics, state, parameters={"m": m, "a": a}).verdict is Verdict.HYPERSTATIC


def hinged_rod():
    mechanism = Mechanism(
        name="rod",
        coordinates=["x", "y", "phi"],
        parameters={"m": 1, "l": 1, "I": "m*l**2/3", "g": 9.81, "mu": 0.5},
        dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2", potential="m*g*y"),
        contact=[Contact(name="tip", gap="y - l*sin(phi)", tangent="x - l*cos(phi)", friction="mu")],
        constraint=[
            Constraint(name="right", equation="x - l*cos(phi)"),
            Constraint(name="up", equation="y - l*sin(phi)"),
        ],
    )
    return derive(mechanism)


@pytest.mark.parametrize("sides", [{}, {"tip": 1}, {"tip": -1}], ids=["rest", "+0", "-0"])
def test_a_rod_hinged_at_its_touching_tip_is_hyperstatic_everywhere(sides):
    # the hinge carries whatever the contact does not
    rod, rng = hinged_rod(), np.random.default_rng(800)
    phi, omega = rng.uniform(0.05, 3.1, 60), rng.normal(size=60)
    q = np.stack([np.cos(phi), np.sin(phi), phi], axis=-1)
    v = omega[:, None] * np.stack([-np.sin(phi), np.cos(phi), np.ones(60)], axis=-1)
    for position, velocity in zip(q[:20], v[:20], strict=True):
        selection = select(rod, State(position, velocity, sides=sides))
        assert selection.verdict is Verdict.HYPERSTATIC
        # one angle is free: I_tip phi'' = -m g l cos(phi), with I_tip = I + m l^2 = 4/3
        turn = selection.branches[0].acceleration[2]
        assert turn == pytest.approx(-0.75 * 9.81 * np.cos(position[2]), rel=1e-10)
    cells = classify(rod, States(q, v, np.zeros(60), sides))
    assert set(cells.verdict.tolist()) == {CellVerdict.HYPERSTATIC}


def two_feet(second):
    """A block on a smooth rail along ``y = 0`` with two feet, which the rail blocks only jointly."""
    mechanism = Mechanism(
        name="block",
        coordinates=["x", "y", "phi"],
        parameters={"m": 1.0, "I": 0.3},
        dynamics=EquationDynamics(mass_matrix=[["m", 0, 0], [0, "m", 0], [0, 0, "I"]], forces=[0, "-m", 0]),
        constraint=[Constraint(name="rail", equation="0.7*y")],
        contact=[Contact(name="left", gap="y - 0.3*phi"), Contact(name="right", gap=f"y + 0.7*phi{second}")],
    )
    return derive(mechanism)


def test_feet_that_a_rail_blocks_jointly_are_weighed_together():
    # on the rail only phi moves: the feet press against each other and against the rail, or one of them gives way
    state = State([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    selection = select(two_feet(""), state)
    assert selection.verdict is Verdict.HYPERSTATIC
    assert selection.force_set.dimension == 1
    (ray,) = selection.force_set.rays
    np.testing.assert_allclose(ray, [1.0, 3 / 7], rtol=1e-12)  # no moment: 0.3 left = 0.7 right
    rising = select(two_feet(" - t**2/2"), state)
    # gaps: -0.3 phi'' >= 0 and 0.7 phi'' - 1 >= 0 contradict each other, though the forces may be as large as they like
    assert rising.verdict is Verdict.INCONSISTENT
    assert verify_certificate(rising.certificate, rising.problem)
    sinking = select(two_feet(" + t**2/2"), state)
    # -0.3 phi'' >= 0 and 0.7 phi'' + 1 >= 0; a force on one foot alone would turn the block, but nothing else does
    assert sinking.verdict is Verdict.UNIQUE
    np.testing.assert_allclose(sinking.branches[0].acceleration, 0.0, atol=1e-12)


def test_a_hinge_blocks_a_spatial_contact():
    mechanism = Mechanism(
        name="ball-joint",
        coordinates=["x", "y", "z", "psi"],
        parameters={"m": 1.0, "J": 0.4, "c": 0.6, "s": 0.8},
        dynamics=EquationDynamics(
            mass_matrix=[["m", 0, 0, 0], [0, "m", 0, 0], [0, 0, "m", 0], [0, 0, 0, "J"]], forces=[1, 2, "-9.81*m", 0.5]
        ),
        constraint=[
            Constraint(name="first", equation="c*x + s*y"),
            Constraint(name="second", equation="-s*x + c*y + z/3"),
            Constraint(name="third", equation="z - x/7"),
        ],
        contact=[Contact(name="foot", gap="z", tangent=["x", "y"], friction=0.5)],
    )
    dynamics = derive(mechanism)
    for sides in ({}, {"foot": (0.6, -0.8)}):
        selection = select(dynamics, State([0.0] * 4, [0.0] * 4, sides=sides))
        assert selection.verdict is Verdict.HYPERSTATIC, selection.notes
        np.testing.assert_allclose(selection.branches[0].acceleration, [0, 0, 0, 1.25], atol=1e-12)


def test_the_square_of_a_rate_that_cancels_is_no_acceleration():
    """The rail moves the bead along the contact: ``(p x_dot - s)**2`` is 0 by ``p w = s``, and any force is held."""
    dynamics = derive(
        Mechanism(
            name="moved-bead",
            coordinates=["x"],
            parameters={"p": 1.0, "w": 1.0, "s": 1.0},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2"),
            contact=[Contact(name="floor", gap="exp(p*x - s*t) - 1")],
            constraint=[Constraint(name="rail", equation="x - w*t")],
        )
    )
    tenths = [(p, w) for p in range(1, 14) for w in (2, 7, 11)]
    values = [{"p": p / 10, "w": w / 10, "s": p * w / 100} for p, w in tenths]
    found = [select(dynamics, State([0.0], [item["w"]]), parameters=item).verdict for item in values]
    assert set(found) == {Verdict.HYPERSTATIC}
    arrays = {name: np.array([item[name] for item in values]) for name in ("p", "w", "s")}
    together = classify(dynamics, States(np.zeros((1, 1)), arrays["w"][:, None], np.zeros(1)), parameters=arrays)
    assert set(together.verdict.tolist()) == {CellVerdict.HYPERSTATIC}


def test_a_spring_that_carries_a_weight_leaves_no_acceleration():
    """``k x = m g`` at the floor, in decimals: nothing presses, so that the contact may be called free or closed."""
    dynamics = derive(
        Mechanism(
            name="hung-over-a-floor",
            coordinates=["x"],
            parameters={"k": 1.0, "m": 1.0, "g": 1.0, "x_0": 1.0},
            dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="k*x**2/2 - m*g*x"),
            contact=[Contact(name="floor", gap="x - x_0")],
        )
    )
    for m, g in [(3, 0.1), (0.7, 9.81), (1.1, 0.3), (0.3, 0.7)]:
        values = {"m": m, "g": g, "k": m * g / 0.3, "x_0": 0.3}
        assert select(dynamics, State([0.3], [0.0]), parameters=values).verdict is Verdict.UNIQUE
