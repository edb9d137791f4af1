"""Units that follow from a declaration against those that a reader would write."""

import attrs
import pytest

from hybrid import Contact, EnergyDynamics, FrictionElement, Mechanism, Parameter
from mechanisms import load, names
from tests.catalogue import dynamics_of

ANGLES = {"phi", "theta", "psi", "theta1", "theta2", "theta3", "u", "phi_M", "phi_S", "alpha", "beta", "gamma"}


@pytest.mark.parametrize("name", names())
def test_catalogue_has_angles_in_radians_and_lengths_in_metres(name):
    dynamics = dynamics_of(name)
    units = dynamics.mechanism.units()
    for coordinate, rate in zip(dynamics.mechanism.coordinates, dynamics.mechanism.velocities, strict=True):
        unit = "rad" if coordinate in ANGLES else "m"
        assert (units.coordinates[coordinate], units.coordinates[rate]) == (unit, f"{unit}/s")
    forces = {**units.forces, **units.tangential_forces}
    assert forces == dict.fromkeys((*dynamics.contacts, *dynamics.columns), "N")  # none for a pendulum in the air


def test_without_units_of_the_parameters_only_angles_are_known():
    rod = load("rod_on_incline")
    bare = attrs.evolve(rod, parameters={name: Parameter(p.value) for name, p in rod.parameters.items()})
    units = bare.units()
    assert units.coordinates == {"x": "", "y": "", "phi": "rad", "x_dot": "", "y_dot": "", "phi_dot": "rad/s"}
    assert units.forces == {"tip": ""}


def point(*, height="0", friction_unit="", **parameters):
    """A point above a floor; what it says of units are those of its mass and of its friction."""
    values = {"m": Parameter(1.0, unit="kg"), "mu": Parameter(0.4, unit=friction_unit), "mu_s": 0.5, "e": 1}
    floor = Contact(name="floor", gap=f"y - {height}", tangent="x", friction="mu", static_friction="mu_s")
    return Mechanism(
        name="point",
        coordinates=["x", "y"],
        parameters=values | parameters,
        dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2"),
        contact=[attrs.evolve(floor, restitution="e")],
    )


@pytest.mark.parametrize("friction_unit", ["", "1"])
def test_parameters_without_a_unit_hide_no_unit_of_others(friction_unit):
    units = point(friction_unit=friction_unit).units()
    assert (units.coordinates["x"], units.forces["floor"], units.tangential_forces["floor"]) == ("m", "N", "N")


@pytest.mark.parametrize(
    ("gap", "angle_unit", "force"),
    [
        ("y*cos(a) - x*sin(a)", "rad", "N"),
        ("y*cos(a)", "rad", "N"),
        ("y*cos(a)", "", ""),  # a number, for all that is declared: y of a rod of length 1
        ("y - sin(a)", "rad", "N"),  # the length 1 is not written
    ],
)
def test_an_angle_that_is_a_parameter_hides_no_unit(gap, angle_unit, force):
    slope = point(a=Parameter("pi/6", unit=angle_unit))
    contact = attrs.evolve(slope.contact[0], gap=gap, tangent="x*cos(a) + y*sin(a)" if angle_unit else "x")
    units = attrs.evolve(slope, contact=[contact]).units()
    assert (units.forces["floor"], units.tangential_forces["floor"]) == (force, "N")
    assert units.contact_accelerations["floor"] == ("m/s²" if force else "")


def test_millimetres_are_not_shown_as_metres():
    units = point(height="h", h=Parameter(2.0, unit="mm")).units()
    assert (units.coordinates["y"], units.forces["floor"]) == ("m", "N")  # from the mass
    bare = point(height="h", m=Parameter(1.0), h=Parameter(2.0, unit="mm")).units()
    assert (bare.coordinates["y"], bare.forces["floor"]) == ("", "")


def test_torque_of_an_angle_and_force_along_a_slip():
    shaft = Mechanism(
        name="shaft",
        coordinates=["u", "x"],
        parameters={"I": Parameter(1, unit="kg m^2"), "m": Parameter(1, unit="kg")},
        dynamics=EnergyDynamics(kinetic="I*u_dot**2/2 + m*x_dot**2/2"),
        friction=[
            FrictionElement(name="brake", limit="1", tangent="u"),
            FrictionElement(name="belt", limit="1", slip="x_dot"),
        ],
    )
    units = shaft.units()
    assert units.tangential_forces == {"brake": "N m", "belt": "N"}
    assert units.tangential_accelerations == {"brake": "rad/s²", "belt": "m/s²"}
    assert units.accelerations == {"u": "rad/s²", "x": "m/s²"}


@pytest.mark.parametrize(
    ("unit", "time"), [("kg m/s^2", "s"), ("N", "s"), ("kg m/ms^2", ""), ("kg m/min^2", ""), ("kN", "")]
)
def test_no_unit_with_seconds_is_shown_where_time_is_counted_otherwise(unit, time):
    # 3 kg m/ms^2 are 3e6 N, and a kilonewton on a kilogram is a metre per second and 31.6 ms
    pressed = Mechanism(
        name="pressed",
        coordinates=["x"],
        parameters={"m": Parameter(1, unit="kg"), "F": Parameter(3, unit=unit)},
        dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="F*x"),
        contact=[Contact(name="wall", gap="x")],
    )
    units = pressed.units()
    assert units.time == time
    assert (units.coordinates["x_dot"], units.accelerations["x"]) == (("m/s", "m/s²") if time else ("", ""))
    assert units.forces["wall"] == ("N" if time else "")
