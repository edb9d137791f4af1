"""Impacts beside rigid constraints whose friction vanishes: they are those beside constraints without any."""

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, derive, simulate, solve_state
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact, resolve_impact
from hybrid.motion import Termination

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact(), KelvinVoigtLimit()]
PINS = {"x": 0.3, "gap.wall": 0, "x_dot": 2, "z_dot": -1}


def carriage(friction, *, second=None):
    """A mass on a rail in front of an inclined wall, which moves."""
    slip = {} if friction is None else {"friction": friction, "slip": "x_dot"}
    rails = [Constraint(name="rail", equation="y", **slip)]
    if second is not None:
        rails.append(Constraint(name="way", equation="s", friction=second, slip="z_dot"))
    return derive(
        Mechanism(
            name="carriage",
            coordinates=["x", "y", "z"] if second is None else ["x", "y", "z", "s"],
            parameters={"mu": 0.25},
            dynamics=EnergyDynamics(
                kinetic="0.4*(x_dot**2 + y_dot**2) + 1.2*z_dot**2" + ("" if second is None else " + s_dot**2"),
                potential="0.8*9.81*y",
            ),
            constraint=rails,
            contact=[
                Contact(
                    name="wall",
                    gap="(z - x)*cos(0.6) + y*sin(0.6)",
                    tangent="(x - z)*sin(0.6) + y*cos(0.6)",
                    friction="0.4",
                    restitution="0.5",
                    damping="0.2",
                )
            ],
        )
    )


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("friction", ["0*mu", "mu*max(0, x - 0.5)"])
def test_a_rail_whose_friction_vanishes_is_smooth(law, friction):
    rough, smooth = carriage(friction), carriage(None)
    found = resolve_impact(rough, solve_state(rough, PINS), law=law)
    expected = resolve_impact(smooth, solve_state(smooth, PINS), law=law)
    np.testing.assert_allclose(found.v_after, expected.v_after, atol=1e-9)
    assert abs(expected.v_after[0] - 2) > 0.1


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_of_two_rails_one_may_be_smooth(law):
    # the second one, along which z moves, carries no load: with any friction it does the same
    pins = {**PINS, "gap.wall": 0}
    ends = []
    for second in ("0", "0.3"):
        mechanism = carriage("mu", second=second)
        ends.append(resolve_impact(mechanism, solve_state(mechanism, pins), law=law).v_after)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


@pytest.mark.parametrize("law", LAWS[:3], ids=lambda law: law.name)
def test_a_motion_goes_on_beside_a_smooth_rail(law):
    rough = carriage("0*mu")
    start = solve_state(rough, {"x": 0.2, "z": 0.3, "x_dot": 2, "z_dot": -1})
    motion = simulate(rough, start, t_end=0.3, law=law)
    assert motion.termination is Termination.END_TIME
    assert motion.events[0].t == pytest.approx(0.1 / 3, abs=1e-9)


@pytest.mark.parametrize("law", [PoissonImpact, EnergeticImpact])
def test_a_coefficient_for_all_contacts_is_none_of_a_rail(law):
    dynamics = carriage("0.25")
    state = solve_state(dynamics, PINS)
    given, declared = (resolve_impact(dynamics, state, law=law(e)) for e in (0.5, None))
    np.testing.assert_allclose(given.v_after, declared.v_after, rtol=1e-14)
    assert given.impulse_N == declared.impulse_N
