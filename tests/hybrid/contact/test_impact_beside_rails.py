"""Impacts beside rigid constraints: vanishing friction is none, and the velocity problem misses no solution."""

import numpy as np
import pytest

from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    Mechanism,
    State,
    derive,
    mechanism_from_toml,
    simulate,
    solve_state,
)
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact, resolve_impact
from hybrid.contact.impacts.laws import VelocityProblem
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


def test_the_velocity_problem_finds_impulses_where_the_method_of_lemke_ends_on_a_ray():
    M = np.array([[8.0, 0, -3, -1], [0, 4, -1, 0], [-3, -1, 5, 4], [-1, 0, 4, 11]])
    # columns: normal and tangent of the contact, then of the rail
    W = np.array([[-2.0, 2, -1, 0], [1, 0, 2, 2], [-1, 2, -1, 1], [2, 1, -2, -1]]).T
    v = np.array([6.0, 1, 3, 7]) / 13
    # these stop everything, inside of both cones; the contact approaches with 1
    N, T, rail_N, rail_T = P = np.linalg.solve(W, -M @ v)
    assert W[:, 0] @ v == pytest.approx(-1.0)
    assert abs(T) < 0.8 * N and abs(rail_T) < 0.5 * abs(rail_N)
    names = ("x", "y", "z", "p")
    lines = [" + ".join(f"({share})*{name}" for share, name in zip(row, names, strict=True)) for row in W.T]
    text = f"""name="four"\ncoordinates={list(names)}
[dynamics]\nmass_matrix={M.astype(str).tolist()}\nforces={["0"] * 4}
[[contact]]\nname="stop"\ngap="{lines[0]}"\ntangent="{lines[1]}"\nfriction=0.8
[[constraint]]\nname="rail"\nequation="{lines[2]}"\ntangent="{lines[3]}"\nfriction=0.5
"""
    found = resolve_impact(derive(mechanism_from_toml(text)), State([0.0] * 4, v), law=VelocityProblem())
    assert not found.warnings
    np.testing.assert_allclose(found.v_after, 0.0, atol=1e-14)
    np.testing.assert_allclose([found.impulse_N["stop"], found.impulse_N["rail"]], P[[0, 2]], rtol=1e-12)


def test_the_velocity_problem_says_that_a_jam_leaves_the_load_of_a_rail_open():
    # contact and rail hold x and y with three impulses; friction of the rail along z is 0.3 times its load P. Sticking
    # asks for 2.15 P <= (0.25 - 1.7 P)/4 where P > 0, and for 1.85 |P| <= (0.25 + 2.3 |P|)/4 where P < 0
    jam = derive(
        Mechanism(
            name="jam",
            coordinates=["x", "y", "z"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2"),
            contact=[Contact(name="stop", gap="2*x - 2*y", tangent="-2*x", friction="0.5")],
            constraint=[Constraint(name="rail", equation="-2*x - 2*y", tangent="2*x - y - 2*z", friction="0.3")],
        )
    )
    found = resolve_impact(jam, State([0, 0, 0], [-0.25, 0.25, -2]), law=VelocityProblem())
    assert any("further solution" in warning for warning in found.warnings)
    load = abs(found.impulse_N["rail"])
    np.testing.assert_allclose(found.v_after, [0, 0, -2 + 2 * 0.3 * load], atol=1e-14)
    assert load <= 0.0625 / 1.275 + 1e-14
