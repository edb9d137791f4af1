"""Impacts in any unit of mass: velocities stay, impulses and energies go with the unit."""

import numpy as np
import pytest

from hybrid import (
    Contact,
    EnergeticImpact,
    EnergyDynamics,
    EquationDynamics,
    KelvinVoigt,
    KelvinVoigtLimit,
    Mechanism,
    NewtonImpact,
    PoissonImpact,
    State,
    derive,
    resolve_impact,
)

LAWS = (NewtonImpact(), PoissonImpact(), EnergeticImpact())


def flat_rod(mass):
    """A rod that falls flat on both ends; its foot and head have friction and restitution of their own."""
    ends = {"foot": -0.7, "head": 0.7}
    rough = {"foot": ("0.376", "0.611"), "head": ("0.113", "0.035")}
    return Mechanism(
        name="rod",
        coordinates=["x", "y", "phi"],
        parameters={"m": mass},
        dynamics=EnergyDynamics(kinetic="m*(0.8*(x_dot**2 + y_dot**2) + 0.12*phi_dot**2)/2"),
        contact=[
            Contact(name=name, gap=f"y + {at}*sin(phi)", tangent=f"x + {at}*cos(phi)", friction=mu, restitution=e)
            for (name, at), (mu, e) in zip(ends.items(), rough.values(), strict=True)
        ],
    )


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("mass", [1e-12, 1e-6, 1e6, 1e12, 1e15])
def test_no_unit_of_mass_decides_a_joint_impact(mass, law):
    before = State([0, 0, 0], [0.08850405, -0.93619255, 1.33741793])
    one, other = (resolve_impact(derive(flat_rod(unit)), before, law=law) for unit in (1.0, mass))
    assert other.warnings == one.warnings == ()
    # normal impulses do not change the slip here, and friction only brings it to rest
    for end in ("foot", "head"):
        assert abs(other.slip_after[end][0]) < 1e-14
    # a regular problem of four impulses: some roundings of the velocities
    np.testing.assert_allclose(other.v_after, one.v_after, rtol=0, atol=1e-13)
    np.testing.assert_allclose(other.energy_change / mass, one.energy_change, rtol=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_heavy_and_a_light_body_struck_at_once(law):
    """Two rods apart from each other, one of them ten billion times as heavy: each moves as alone."""
    heavy = 1e10
    state = State([0, 0, 0] * 2, [0.08850405, -0.93619255, 1.33741793] * 2)
    alone = resolve_impact(derive(flat_rod(1.0)), State(state.q[:3], state.v[:3]), law=law)
    contacts = []
    for body, (foot, head) in zip("ab", ((-0.7, 0.7),) * 2, strict=True):
        for name, at, mu, e in (("foot", foot, 0.376, 0.611), ("head", head, 0.113, 0.035)):
            gap, tangent = f"y{body} + {at}*sin(p{body})", f"x{body} + {at}*cos(p{body})"
            contacts.append(Contact(name=f"{name}_{body}", gap=gap, tangent=tangent, friction=mu, restitution=e))
    energies = (f"{m}*(0.8*(x{b}_dot**2 + y{b}_dot**2) + 0.12*p{b}_dot**2)/2" for b, m in (("a", "1"), ("b", "M")))
    both = Mechanism(
        name="rods",
        coordinates=["xa", "ya", "pa", "xb", "yb", "pb"],
        parameters={"M": heavy},
        dynamics=EnergyDynamics(kinetic=" + ".join(energies)),
        contact=contacts,
    )
    found = resolve_impact(derive(both), state, law=law)
    rounding = 10 * np.sqrt(heavy) * np.finfo(float).eps  # Lemke's method adds velocities times roots of masses
    np.testing.assert_allclose(found.v_after[3:], found.v_after[:3], rtol=0, atol=rounding)
    if law.name != "energetic":  # whose restitution depends on the energy of all contacts together
        np.testing.assert_allclose(found.v_after[:3], alone.v_after, rtol=0, atol=rounding)


def test_an_elastic_compliant_impact_is_not_said_to_create_what_its_integration_leaves():
    """A case of the campaign: the damper is off, and 4e-12 of the energy are left over."""
    M = [
        ["25/4", "1/4", "-1", "3/2"],
        ["1/4", "7/2", "3", "11/4"],
        ["-1", "3", "15/2", "3/4"],
        ["3/2", "11/4", "3/4", "15/2"],
    ]
    directions = [
        ("1.5*a + b - d/2", "-1.25*a + b - c/4 - 0.75*d"),
        ("-1.5*a + 1.25*b - 1.5*c - 1.5*d", "-1.25*a - 1.5*b - c/4 - 1.25*d"),
    ]
    contacts = [
        Contact(name="first", gap=directions[0][0], tangent=directions[0][1], friction=0),
        Contact(
            name="second",
            gap=directions[1][0],
            tangent=directions[1][1],
            friction="3/4",
            damping="1/8",
            stiffness_ratio="1/4",
        ),
    ]
    body = Mechanism(
        name="body",
        coordinates=list("abcd"),
        dynamics=EquationDynamics(mass_matrix=M, forces=["0"] * 4),
        contact=contacts,
    )
    impact = resolve_impact(derive(body), State([0] * 4, [-1.625, 1.5, -1.875, -0.875]), law=KelvinVoigtLimit())
    assert abs(impact.energy_change) < 1e-11 * 15.904296875  # of the energy before
    assert impact.warnings == ()


def compliant_block(mass, *, damping):
    """A block that falls flat on two damped corners; dampings go with the root of the mass."""
    corners = {"left": -0.5, "right": 0.5}
    return derive(
        Mechanism(
            name="block",
            coordinates=["x", "y", "p"],
            parameters={"m": mass, "w": 0.3},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2 + p_dot**2/32)/2"),
            contact=[
                Contact(
                    name=name,
                    gap=f"y + {at}*sin(p) - w*cos(p)",
                    tangent=f"x + {at}*cos(p) + w*sin(p)",
                    friction=0.2,
                    damping=f"{damping}*sqrt(m)",
                )
                for name, at in corners.items()
            ],
        )
    )


STRUCK = State([0, 0.3, 0], [0.4, -0.6, 0.7])


@pytest.mark.parametrize("damping", [pytest.param(0.0, marks=pytest.mark.long), 0.3])
def test_no_unit_of_mass_decides_the_limit_of_several_contacts(damping):
    one = resolve_impact(compliant_block(1.0, damping=damping), STRUCK, law=KelvinVoigtLimit())
    for mass in (1e-16, 1e-12, 1e-6, 1e6, 1e12, 1e16):
        other = resolve_impact(compliant_block(mass, damping=damping), STRUCK, law=KelvinVoigtLimit())
        # the same steps in other units; only what is rounded differs, and steps carry it on: far below their 1e-11
        np.testing.assert_allclose(other.v_after, one.v_after, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.energy_change / mass, one.energy_change, rtol=1e-11)
        np.testing.assert_allclose(other.impulse_N["left"] / mass, one.impulse_N["left"], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(other.duration / np.sqrt(mass), one.duration, rtol=1e-11)
        # the warning says by how much the velocities depend on the ratio of the stiffnesses
        assert other.warnings == one.warnings
        assert "stiffness ratio of contact 'right'" in one.warnings[0]


@pytest.mark.parametrize("mass", [1e-12, 1e12])
def test_no_unit_of_mass_decides_a_motion_on_springs(mass):
    """Stiffnesses go with the mass: times and lengths stay."""
    motions = [KelvinVoigt(1e6 * unit).pass_through(compliant_block(unit, damping=0.3), STRUCK) for unit in (1.0, mass)]
    one, other = motions
    assert [label for label, _ in other.phases] == [label for label, _ in one.phases]
    # steps of 1e-11 of the velocities, and the rounding of positions: 1e-16 of 0.3 m through a frequency of 3000 Hz
    np.testing.assert_allclose(other.state.v, one.state.v, rtol=0, atol=1e-11)
    np.testing.assert_allclose(other.energy_change / mass, one.energy_change, rtol=1e-10)
    np.testing.assert_allclose(other.work_T / mass, one.work_T, rtol=1e-10)
