"""Springs in place of rigid constraints."""

import numpy as np
import pytest

from hybrid import Constraint, DeclarationError, EnergyDynamics, Mechanism, derive, mechanism_from_toml, realise
from hybrid.declaration import mechanism_to_toml
from mechanisms import load
from tests.catalogue import dynamics_of


def rod(**changes):
    declared = {
        "name": "rod",
        "coordinates": ["x", "y"],
        "parameters": {"l": 2, "c": 3},
        "dynamics": EnergyDynamics(kinetic="x_dot**2/2 + y_dot**2/2"),
        "constraint": [Constraint(name="length", equation="x**2 + y**2 - l**2")],
    }
    return Mechanism(**{**declared, **changes})


def test_realised_pendulum_is_the_declared_spring_pendulum():
    realised = derive(realise(load("singular_pendulum"), "BC", stiffness=250.0))
    declared = dynamics_of("singular_pendulum_spring")
    q, v = np.array([[0.4, 0.3], [-0.2, 0.1]]), np.array([[0.1, -0.3], [1.0, 2.0]])
    ours, theirs = realised.terms(q, v), declared.terms(q, v, parameters={"k": 250})
    for name in ("M", "h"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-13)
    assert realised.rigid == ()


def test_potential_is_half_the_stiffness_times_the_square_of_the_constraint():
    realised = derive(realise(rod(), "length", stiffness="2*c"))
    q = np.array([0.7, 1.1])
    # N c f^2 with N = 1: the force is -2 c f grad f
    f = q @ q - 4
    np.testing.assert_allclose(realised.terms(q, np.zeros(2)).h, -2 * 3 * f * 2 * q, rtol=1e-14)
    np.testing.assert_allclose(realised.energy(q, np.zeros(2))[0], 3 * f**2, rtol=1e-14)


def test_rod_declared_by_the_square_of_its_length_becomes_a_spring():
    realised = derive(realise(rod(), "length", stiffness=50, length="l"))
    q = np.array([1.2, 2.9])
    r = np.hypot(*q)
    np.testing.assert_allclose(realised.terms(q, np.zeros(2)).h, -50 * (r - 2) * q / r, rtol=1e-13)


def test_stiffness_is_a_parameter_that_can_be_replaced():
    realised = realise(rod(), "length", stiffness=50)
    assert realised.parameters["stiffness_length"].value == 50
    dynamics, q = derive(realised), np.array([1.0, 2.0])
    soft, hard = (dynamics.terms(q, np.zeros(2), parameters={"stiffness_length": k}).h for k in (1.0, 100.0))
    np.testing.assert_allclose(hard, 100 * soft, rtol=1e-14)
    taken = rod(parameters={"l": 2, "stiffness_length": 1})
    assert realise(taken, "length", stiffness=50).parameters["stiffness_length_"].value == 50


def test_realised_mechanism_is_written_and_read_as_any_other():
    realised = realise(load("four_bar"), ("closure_x", "closure_y"), stiffness=1e5)
    assert mechanism_from_toml(mechanism_to_toml(realised)) == realised
    assert {item.stiffness for item in realised.constraint} == {"stiffness_closure_x", "stiffness_closure_y"}


def test_only_the_named_constraint_is_realised():
    realised = derive(realise(load("four_bar"), "closure_y", stiffness=1e5))
    assert realised.rigid == ("closure_x",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lengthx", 1.0), r"rod has no constraint 'lengthx' to realise; did you mean 'length'\?"),
        (("zzz", 1.0), "no constraint 'zzz' to realise; the constraints are length"),
        (((), 1.0), "name at least one constraint"),
        (("length", 0.0), "stiffness: must be a positive number, not 0.0"),
        (("length", -5), "stiffness: must be a positive number, not -5"),
        (("length", float("nan")), "must be a positive number, not nan"),
        (("length", True), "stiffness: must be a positive number, not True"),
        (("length", "-c"), r"constraint\.length\.stiffness: .*positive"),
        (("length", "kk"), r"constraint\.length\.stiffness .*unknown name 'kk'"),
    ],
)
def test_bad_realisations_are_refused(arguments, message):
    with pytest.raises(DeclarationError, match=message):
        realise(rod(), arguments[0], stiffness=arguments[1])


def test_constraint_with_friction_and_mechanism_without_constraints_are_refused():
    with pytest.raises(DeclarationError, match=r"constraint\.rail1: has dry friction"):
        realise(load("painleve_klein"), "rail1", stiffness=1.0)
    with pytest.raises(DeclarationError, match="it has no constraint"):
        realise(load("bouncing_ball"), "floor", stiffness=1.0)


def test_declared_stiffness_that_is_not_positive_is_refused():
    with pytest.raises(DeclarationError, match=r"constraint\.length\.stiffness.*positive"):
        rod(constraint=[Constraint(name="length", equation="x", stiffness="-c")])


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (-1.0, r"length: must be a positive number, not -1\.0"),
        (0, "length: must be a positive number, not 0"),
        (float("nan"), "length: must be a positive number, not nan"),
        (float("inf"), "length: must be a positive number, not inf"),
        (True, "length: must be a positive number, not True"),
        ([2], r"length: must be a positive number, not \[2\]"),
        ("-l", "length: must be positive, but '-l' is -2"),
        ("l - 2", "length: must be positive, but 'l - 2' is 0"),
        ("l/(l - 2)", r"length: must be positive, but 'l/\(l - 2\)' is inf"),
        ("ll", "length .*unknown name 'll'; did you mean 'l'"),
        ("l +", "length"),
        ("x", "length: may depend on parameters and time, not on x"),
    ],
)
def test_lengths_that_are_none_are_refused(length, message):
    with pytest.raises(DeclarationError, match=message):
        realise(rod(), "length", stiffness=50, length=length)


def test_everything_wrong_with_a_realisation_is_said_at_once():
    with pytest.raises(DeclarationError) as refused:
        realise(rod(), "lengthx", stiffness=-1, length=0)
    assert len(refused.value.problems) == 3


def test_length_may_grow_with_time():
    growing = rod(constraint=[Constraint(name="length", equation="x**2 + y**2 - (l + t)**2")])
    realised = derive(realise(growing, "length", stiffness=50, length="l + t"))
    q = np.array([3.0, 4.0])
    # at t = 1 the rod of length 3 is stretched to 5
    np.testing.assert_allclose(realised.energy(q, np.zeros(2), t=1.0)[0], 50 * (5 - 3) ** 2 / 2, rtol=1e-14)
