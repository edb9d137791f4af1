"""Derivatives of the velocities after impacts, under every law, against central differences of the law itself."""

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import (
    Constraint,
    Contact,
    EnergyDynamics,
    Functional,
    Mechanism,
    State,
    derive,
    sensitivity,
    simulate,
    solve_state,
)
from hybrid.analysis.sensitivities.jumps import ImpactSite, impact_jumps
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact
from hybrid.contact.impacts.impact import resolve_impact
from hybrid.dynamics.partials import partial_derivatives
from hybrid.errors import ComputationError
from tests.catalogue import dynamics_of

RIGID = [NewtonImpact(), PoissonImpact(), EnergeticImpact()]
WIDTH = 2e-4  # central differences of order 4: errors of about 1e-12 / 2e-4 of the laws, and of the width to the 4th


def by_differences(dynamics, law, q, v, parameters, names):
    n = dynamics.n
    z = np.concatenate([q, v, [0.0], [parameters[name] for name in names]])

    def after(z):
        changed = parameters | dict(zip(names, z[2 * n + 1 :].tolist(), strict=True))
        state = State(z[:n], z[n : 2 * n], z[2 * n])
        return resolve_impact(dynamics, state, law=law, parameters=changed, closed=dynamics.contacts).v_after

    def central(step):
        return (after(z + step) - after(z - step)) / (2 * WIDTH)

    columns = [(4 * central(step) - central(2 * step) / 2) / 3 for step in WIDTH * np.eye(len(z))]
    return np.stack(columns, axis=1)


def compared(name, law, count, seed, vary):
    """How many random impacts were compared; refusals and impacts with several answers do not count."""
    dynamics = dynamics_of(name)
    n, rng = dynamics.n, np.random.default_rng(seed)
    numbers = [key for key, item in dynamics.mechanism.parameters.items() if not isinstance(item.value, str)]
    names = [key for key in numbers if key not in ("g", "delta")]
    partials = partial_derivatives(dynamics, names)
    found = 0
    for _ in range(count):
        values = {key: float(value) for key, value in dynamics.mechanism.parameter_values().items()}
        values |= {key: rng.uniform(low, high) for key, (low, high) in vary.items()}
        values = {key: float(value) for key, value in dynamics.mechanism.parameter_values(values).items()}
        q, v = rng.normal(size=n) * 0.3, rng.normal(size=n)
        try:
            impact = resolve_impact(dynamics, State(q, v), law=law, parameters=values, closed=dynamics.contacts)
            jumps = impact_jumps(ImpactSite(partials, dynamics.at(values), 0.0, q, v), law, dynamics.contacts)
        except (NoDerivative, ComputationError):
            continue
        if len(jumps) > 1 or any("further" in text for text in impact.warnings):
            continue
        # tangents are carried along steps of relative accuracy 1e-11, about a hundred of them where a slip turns
        assert jumps[0].y[n:] == pytest.approx(impact.v_after, abs=1e-9)
        expected = by_differences(dynamics, law, q, v, values, names)
        size = max(1.0, float(np.max(np.abs(expected))))
        assert np.max(np.abs(jumps[0].slopes[n:] - expected)) < 1e-6 * size
        found += 1
    return found


VARY = {"mu": (0.05, 0.9), "e": (0.1, 0.9)}


@pytest.mark.parametrize("law", [*RIGID, KelvinVoigtLimit()], ids=lambda law: law.name)
def test_one_contact_with_friction(law):
    assert compared("painleve_rod", law, 5, 0, VARY | {"delta": (0.05, 0.8)}) >= 2


@pytest.mark.parametrize("law", RIGID, ids=lambda law: law.name)
@pytest.mark.parametrize("name", ["three_ball_chain", "rod_two_ends"])
def test_several_contacts(name, law):
    vary = VARY if name == "rod_two_ends" else {"e": (0.1, 0.9)}
    assert compared(name, law, 2, 1, vary) >= 1


@pytest.mark.parametrize("law", [PoissonImpact(), EnergeticImpact()], ids=lambda law: law.name)
def test_contacts_that_hold_each_other(law):
    # both ends of a rod stick: friction may be shifted between them, and the law's impulses are at the edge of a cone
    rod = dynamics_of("rod_two_ends")
    values = {key: float(value) for key, value in rod.mechanism.parameter_values({"mu": 0.6, "e": 0.4}).items()}
    q, v, names = np.array([0.1, 0.2, 0.1]), np.array([0.05, -1.0, 0.1]), ["mu", "e", "m"]
    (jump,) = impact_jumps(ImpactSite(partial_derivatives(rod, names), rod.at(values), 0.0, q, v), law, rod.contacts)
    impact = resolve_impact(rod, State(q, v), law=law, parameters=values, closed=rod.contacts)
    assert [slip for (slip,) in impact.slip_after.values()] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert jump.slopes[3:] == pytest.approx(by_differences(rod, law, q, v, values, names), abs=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("law", RIGID, ids=lambda law: law.name)
@pytest.mark.parametrize("name", ["ladder_in_corner", "rocking_block", "double_pendulum_over_floor", "rod_two_ends"])
def test_several_contacts_at_many_states(name, law):
    numbers = dynamics_of(name).mechanism.parameters
    assert compared(name, law, 25, 2, {key: span for key, span in VARY.items() if key in numbers}) >= 5


@pytest.mark.long
@pytest.mark.parametrize("law", [*RIGID, KelvinVoigtLimit()], ids=lambda law: law.name)
def test_one_contact_with_friction_at_many_states(law):
    assert compared("painleve_rod", law, 60, 3, VARY | {"delta": (0.05, 0.8)}) >= 25


@pytest.mark.parametrize("law", [*RIGID, KelvinVoigtLimit()], ids=lambda law: law.name)
def test_one_spatial_contact_with_friction(law):
    assert compared("oblique_rod", law, 4, 4, {"mu": (0.1, 1.5), "e": (0.1, 0.9)}) >= 2


@pytest.mark.long
@pytest.mark.parametrize("law", [*RIGID, KelvinVoigtLimit()], ids=lambda law: law.name)
@pytest.mark.parametrize("name", ["oblique_rod", "spatial_ball"])
def test_one_spatial_contact_with_friction_at_many_states(name, law):
    assert compared(name, law, 40, 5, {"mu": (0.1, 1.5), "e": (0.1, 0.9)}) >= 10  # half of them separate


@pytest.mark.parametrize("law", RIGID, ids=lambda law: law.name)
def test_a_spatial_contact_that_separates_has_no_impact(law):
    ball = dynamics_of("spatial_ball")
    values = {key: float(value) for key, value in ball.mechanism.parameter_values().items()}
    q, v = np.array([0, 0, 0.1, 0, 0, 0]), np.array([1.0, 0, 0.5, 0, 0, 2])
    (jump,) = impact_jumps(ImpactSite(partial_derivatives(ball), ball.at(values), 0.0, q, v), law, ball.contacts)
    assert (jump.slopes == np.eye(12, 13)).all()


@pytest.mark.parametrize("law", RIGID, ids=lambda law: law.name)
def test_what_is_not_computed_is_not_said_not_to_exist(law):
    ball = mechanisms.load("spatial_ball")
    corner = derive(attrs.evolve(ball, contact=(*ball.contact, Contact(name="wall", gap="x - R"))))
    values = {key: float(value) for key, value in corner.mechanism.parameter_values().items()}
    q, v = np.array([0.1, 0, 0.1, 0, 0, 0]), np.array([-1.0, 0.3, -0.5, 0, 0, 2])
    with pytest.raises(NoDerivative, match="one of them spatial") as caught:
        impact_jumps(ImpactSite(partial_derivatives(corner), corner.at(values), 0.0, q, v), law, corner.contacts)
    assert not caught.value.is_proven


def body_on_a_rough_rail():
    """A body whose centre slides on a rough rail, and whose arm strikes a rough wall."""
    return derive(
        Mechanism(
            name="rail",
            coordinates=["x", "y", "phi"],
            parameters={"m": 1, "J": 0.1, "a": 0.4, "mu": 0.5, "nu": 0.3, "e": 0.5},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + J*phi_dot**2/2", potential="m*y"),
            constraint=[Constraint(name="rail", equation="y", tangent="x", friction="nu")],
            contact=[
                Contact(name="tip", gap="1 - x - a*cos(phi)", tangent="y + a*sin(phi)", friction="mu", restitution="e")
            ],
        )
    )


@pytest.mark.parametrize(
    ("law", "x_dot", "phi_dot"),
    [
        (NewtonImpact(), 1.0, 0.5),
        (NewtonImpact(), 1.0, -3.0),
        (PoissonImpact(), 0.3, -3.0),
        (PoissonImpact(), 2.0, 2.0),
    ],
)
def test_an_impact_with_friction_in_a_rigid_constraint(law, x_dot, phi_dot):
    body = body_on_a_rough_rail()
    names = list(body.mechanism.parameters)
    values = {key: float(value) for key, value in body.mechanism.parameter_values().items()}
    z = np.array([1 - 0.4 * np.cos(0.7), 0, 0.7, x_dot, 0, phi_dot, 0, *(values[name] for name in names)])
    found = impact_jumps(ImpactSite(partial_derivatives(body, names), body, 0.0, z[:3], z[3:6]), law, body.contacts)

    def after(z):
        changed = dict(zip(names, z[7:].tolist(), strict=True))
        return resolve_impact(body, State(z[:3], z[3:6]), law=law, parameters=changed, closed=("tip",)).v_after

    for jump in found:
        assert jump.y[3:] == pytest.approx(after(z), abs=1e-12)
        for column in (0, 2, 3, 5, *range(7, 13)):  # what the rail allows
            step = WIDTH * np.eye(13)[column]
            one, two = ((after(z + k * step) - after(z - k * step)) / (2 * k * WIDTH) for k in (1, 2))
            assert jump.slopes[3:, column] == pytest.approx((4 * one - two) / 3, abs=1e-8)


def test_a_motion_with_friction_in_a_rigid_constraint_and_an_impact():
    body = body_on_a_rough_rail()
    pins = {"x": 0.2, "phi": 0.7, "x_dot": 1.0, "phi_dot": 0.5}
    motion = simulate(body, solve_state(body, pins), t_end=0.9, law=NewtonImpact())
    assert [event.kind.value for event in motion.events] == ["impact"]
    found = sensitivity(motion, Functional(terminal="x + phi"), ["mu", "nu", "e", "m", "x_dot"], pins=pins, check=True)
    assert found.refusal is None
    assert found.check.disagreement < 1e-11
    assert found.check.warnings == ()
