"""What is said about slips that vanish: of contacts that cannot slip, or whose slip neither grows nor decays."""

import math

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, State, Verdict, derive, select
from hybrid.contact import can_slip, contact_problem


def hinged_rod(height, *, mu, torque=0):
    """A uniform rod of mass and length 1 that swings down from a hinge at ``height`` over the floor it touches.

    phi is its slope under the horizontal: gap and slip are both proportional to phi_dot.
    """
    mechanism = Mechanism(
        name="hinged_rod",
        coordinates=["phi"],
        parameters={"T": torque},
        dynamics=EnergyDynamics(kinetic="phi_dot**2/6", potential="-9.81*sin(phi)/2"),
        forces={"phi": "T"},
        contact=[Contact(name="tip", gap=f"{height} - sin(phi)", tangent="cos(phi)", friction=mu)],
    )
    return derive(mechanism), State([math.asin(height)], [0.0])


def inclined_slip(angle):
    """A unit mass whose slip is measured along a direction at an angle to that of its gap."""
    mechanism = Mechanism(
        name="inclined_slip",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2"),
        contact=[Contact(name="floor", gap="y", tangent=f"cos({angle})*y + sin({angle})*x", friction=0.3)],
    )
    return derive(mechanism)


def block(mu, mass, force):
    """A block that a horizontal force drags over the floor."""
    mechanism = Mechanism(
        name="block",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic=f"{mass}*(x_dot**2 + y_dot**2)/2", potential=f"9.81*{mass}*y"),
        forces={"x": force},
        contact=[Contact(name="floor", gap="y", tangent="x", friction=mu)],
    )
    return derive(mechanism)


@pytest.mark.parametrize("height", [0.1, 0.3, 0.6, 0.7, 0.95])
@pytest.mark.parametrize("mu", [0.2, 0.5])
def test_of_a_contact_that_cannot_slip_no_slip_is_reported(height, mu):
    # the closed gap holds phi, and with it the tip: friction of any size is possible, slip is not
    rod, state = hinged_rod(height, mu=mu)
    assert not can_slip(contact_problem(rod, state), "tip")
    assert not select(rod, state).tangential


@pytest.mark.parametrize("side", [1, -1])
def test_a_side_from_which_nothing_slips_is_remarked(side):
    rod, state = hinged_rod(0.6, mu=0.5)
    notes = select(rod, State(state.q, state.v, sides={"tip": side})).notes
    assert notes == (
        "tip cannot slip while it is closed: the side that is given is only the direction of its friction",
    )


def test_a_side_from_which_a_block_slips_is_not_remarked():
    dynamics = block("0.3", "2", "0")
    assert can_slip(contact_problem(dynamics, State([0, 0], [0, 0])), "floor")
    assert select(dynamics, State([0, 0], [0, 0], sides={"floor": 1})).notes == ()


def test_a_friction_element_alone_can_slip():
    mechanism = Mechanism(
        name="seal",
        coordinates=["x"],
        dynamics=EnergyDynamics(kinetic="x_dot**2/2"),
        friction=[FrictionElement(name="seal", tangent="x", limit=1)],
    )
    assert select(derive(mechanism), State([0], [0], sides={"seal": 1})).notes == ()


@pytest.mark.parametrize("mass", ["0.3", "0.7", "3"])
@pytest.mark.parametrize("mu", ["0.1", "0.3", "1.1"])
def test_a_block_dragged_with_the_force_of_its_friction_keeps_an_infinitesimal_slip(mu, mass):
    # forward, P - mu m g = 0 leaves no acceleration; backward, P + mu m g brakes
    report = select(block(mu, mass, f"{mu}*{mass}*9.81"), State([0, 0], [0, 0])).tangential["floor"]
    assert (report.plus.flow, report.plus.slip_acceleration) == ("lasting", 0.0)
    assert report.minus.flow == "to sticking"
    assert report.dynamic == ""


@pytest.mark.parametrize("push", ["0.4", "-0.4"])
def test_a_weightless_block_slides_without_a_normal_force(push):
    mechanism = Mechanism(
        name="puck",
        coordinates=["x", "y"],
        dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2"),
        forces={"x": push},
        contact=[Contact(name="floor", gap="y", tangent="x", friction="0.5")],
    )
    report = select(derive(mechanism), State([0, 0], [0, 0])).tangential["floor"]
    with_push, against = (report.plus, report.minus) if float(push) > 0 else (report.minus, report.plus)
    assert (with_push.lambda_N, with_push.flow) == (0.0, "away")
    assert (against.lambda_N, against.flow) == (0.0, "to sticking")


def test_a_branch_of_several_has_all_its_forces():
    # phi'' = 0 needs 0.8 N + 0.6 T = 3.924 - 10 with abs(T) <= 1.5 N: from (60.76, -91.14) along (3, -4)
    rod, state = hinged_rod(0.6, mu=1.5, torque=-10)
    selection = select(rod, state)
    assert selection.verdict is Verdict.INDETERMINATE
    assert selection.force_set is None
    sticking, free = sorted(selection.branches, key=lambda branch: branch.mode.label, reverse=True)
    assert free.force_set is None
    assert sticking.force_set.dimension == 1
    np.testing.assert_allclose(sticking.force_set.vertices, [[60.76, -91.14]], rtol=1e-9)
    np.testing.assert_allclose(sticking.force_set.rays, [[0.75, -1]], rtol=1e-9)


@pytest.mark.parametrize("exponent", [0, 2, 3.5, 4.5, 6])
def test_a_slip_is_free_unless_the_normal_velocities_fix_it(exponent):
    # with unit masses gap and slip are directions in a plane, at the angle 10**-exponent: whatever the angle, the
    # slip is free (Schur's complement is the square of its sine), from where a cheap bound answers to where none does
    angle = 10.0**-exponent
    assert can_slip(contact_problem(inclined_slip(angle), State([0, 0], [0, 0])), "floor")
    assert not can_slip(contact_problem(inclined_slip(0.0), State([0, 0], [0, 0])), "floor")
