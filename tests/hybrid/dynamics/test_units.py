"""Units that scaling finds against those that a reader would write."""

import attrs
import pytest

from hybrid import Contact, EnergyDynamics, Mechanism, Parameter, derive
from hybrid.dynamics import State
from hybrid.dynamics.units import quantity_units, unit_powers
from mechanisms import load, names
from tests.catalogue import dynamics_of

ANGLES = {"phi", "theta", "psi", "theta1", "theta2", "theta3", "u", "phi_M", "phi_S", "alpha", "beta", "gamma"}


def generic(dynamics):
    return State([0.3 * (i + 1) for i in range(dynamics.n)], [0.0] * dynamics.n)


@pytest.mark.parametrize("name", names())
def test_catalogue_has_angles_in_radians_and_lengths_in_metres(name):
    dynamics = dynamics_of(name)
    units = quantity_units(dynamics, generic(dynamics))
    for coordinate, rate in zip(dynamics.mechanism.coordinates, dynamics.mechanism.velocities, strict=True):
        unit = "rad" if coordinate in ANGLES else "m"
        assert (units.coordinates[coordinate], units.coordinates[rate]) == (unit, f"{unit}/s")
    forces = {**units.forces, **units.tangential_forces}
    assert forces == dict.fromkeys((*dynamics.contacts, *dynamics.columns), "N")  # none for a pendulum in the air


def test_without_units_of_the_parameters_only_angles_are_known():
    rod = load("rod_on_incline")
    bare = attrs.evolve(rod, parameters={name: Parameter(p.value) for name, p in rod.parameters.items()})
    dynamics = derive(bare)
    units = quantity_units(dynamics, generic(dynamics))
    assert units.coordinates == {"x": "", "y": "", "phi": "rad", "x_dot": "", "y_dot": "", "phi_dot": "rad/s"}
    assert units.forces == {"tip": ""}


def point(*, restitution, friction_unit=""):
    """A point above a floor; only its mass, and perhaps its friction, say their units."""
    return derive(
        Mechanism(
            name="point",
            coordinates=["x", "y"],
            parameters={
                "m": Parameter(1.0, unit="kg"),
                "mu": Parameter(0.4, unit=friction_unit),
                "mu_s": 0.5,
                "e": restitution,
            },
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2"),
            contact=[
                Contact(name="floor", gap="y", tangent="x", friction="mu", static_friction="mu_s", restitution="e")
            ],
        )
    )


@pytest.mark.parametrize("restitution", [0, 0.7, 1])
def test_restitution_without_a_unit_hides_no_unit_of_others(restitution):
    units = quantity_units(point(restitution=restitution), State([0, 1], [0, 0]))
    assert (units.coordinates["x"], units.forces["floor"]) == ("m", "N")


def test_range_that_rescaling_leaves_makes_units_unknown_and_no_error():
    # Friction with a unit stays 0.4 where the static one, without, is made smaller than it.
    units = quantity_units(point(restitution=1, friction_unit="1"), State([0, 1], [0, 0]))
    assert (units.coordinates["x"], units.forces["floor"]) == ("", "")


@pytest.mark.parametrize(
    ("unit", "powers"),
    [
        ("N m", (2, 1, -2)),
        ("kg m^2", (2, 1, 0)),
        ("m/s^2", (1, 0, -2)),
        ("kg^(1/2)", (0, 0.5, 0)),
        ("1", (0, 0, 0)),
        ("rad/s", (0, 0, -1)),
    ],
)
def test_powers_of_a_unit(unit, powers):
    assert unit_powers(unit) == powers


@pytest.mark.parametrize("unit", ["", "mm", "m^(1/0)", "<b>", "m^x"])
def test_unit_that_cannot_be_read_is_unknown(unit):
    assert unit_powers(unit) is None
