"""Derivatives of motions in which the force of a rough rail passes zero: its friction has a kink there, and no jump."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from hybrid import (
    Constraint,
    EnergyDynamics,
    FrictionElement,
    Functional,
    Mechanism,
    State,
    derive,
    periodic_motion,
    sensitivity,
    simulate,
)

PARAMETERS = {"mu": 0.3, "F": 0.5, "Q": 2}
END = Functional(terminal="x")


def bead(across, along="F", **options):
    """A bead of mass 1 on a rough rail along x, which a force across presses to either side."""
    return derive(
        Mechanism(
            name="bead",
            coordinates=["x", "y"],
            parameters=PARAMETERS,
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential=options.pop("potential", "0")),
            forces={"x": along, "y": across},
            constraint=[Constraint(name="rail", equation="y", friction="mu", tangent="x")],
            **options,
        )
    )


DRY = FrictionElement(name="dry", tangent="x", limit="0.1", static_limit="0.2")


@pytest.mark.parametrize(
    ("across", "load", "t_end", "options"),
    [
        ("Q*cos(2*t)", lambda t: 2 * math.cos(2 * t), 1, {}),
        ("Q*cos(2*t)", lambda t: 2 * math.cos(2 * t), 3, {}),
        ("Q*cos(2*t)", lambda t: 2 * math.cos(2 * t), 3, {"friction": [DRY]}),
        ("Q*(t - 0.5)**3", lambda t: 2 * (t - 0.5) ** 3, 1, {}),
        ("Q*(1 - cos(2*t - 1))", lambda t: 2 * (1 - math.cos(2 * t - 1)), 1, {}),  # touches zero
        ("Q*sin(2*t)", lambda t: 2 * math.sin(2 * t), 1, {}),  # begins there
        ("Q*cos(2*t)", lambda t: 2 * math.cos(2 * t), math.pi / 4, {}),  # ends there
    ],
)
@pytest.mark.parametrize("method", ["adjoint", "forward"])
def test_sliding_on(across, load, t_end, options, method):
    motion = simulate(bead(across, **options), State([0, 0], [1, 0]), t_end=t_end)
    found = sensitivity(motion, END, ["mu", "F", "x_dot"], method=method)
    assert found.refusal is None
    zeros = [k * math.pi / 4 for k in (1, 3)]
    friction, _ = quad(lambda t: (t_end - t) * abs(load(t)), 0, t_end, points=[z for z in zeros if z < t_end])
    assert found.gradient["mu"] == pytest.approx(-friction, rel=1e-9)
    assert found.gradient["F"] == pytest.approx(t_end**2 / 2, rel=1e-9)
    assert found.gradient["x_dot"] == pytest.approx(t_end, rel=1e-9)


@pytest.mark.parametrize("across", ["Q*cos(2*t)*x_dot", "Q*(0.6 - x)"])
def test_a_force_that_depends_on_the_motion(across):
    # differences of whole motions, in which the rail's force passes zero at other times
    start, rail = State([0, 0], [1, 0]), bead(across)

    def end(**changed):
        return simulate(rail, start, t_end=1, parameters=changed).sample([1])[0][0][0]

    motion = simulate(rail, start, t_end=1)
    assert len(motion.arcs) == 2
    found = [sensitivity(motion, END, ["mu", "Q"], method=method) for method in ("adjoint", "forward")]
    assert found[0].gradient == pytest.approx(found[1].gradient, rel=1e-11)
    step = 1e-4
    for name, slope in found[0].gradient.items():
        ends = [end(**{name: PARAMETERS[name] + change}) for change in (-step, step)]
        assert slope == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("t_end", [1, pytest.param(2, marks=pytest.mark.long)])
def test_held_by_another_friction_element(t_end):
    dry = FrictionElement(name="dry", tangent="x", limit="0.8", static_limit="1")
    motion = simulate(bead("Q*cos(2*t)", "F*t", friction=[dry]), State([0, 0], [0, 0]), t_end=t_end)
    assert len(motion.arcs) == 2
    found = sensitivity(motion, END, ["mu", "F"])
    assert found.refusal is None
    assert list(found.gradient.values()) == pytest.approx([0, 0], abs=1e-12)


def test_shared_friction_that_gives_way_is_not_derived():
    # both hold the bead, so that neither force is unique where they let it go
    dry = FrictionElement(name="dry", tangent="x", limit="0.8", static_limit="1")
    motion = simulate(bead("Q*cos(2*t)", "F*t", friction=[dry]), State([0, 0], [0, 0]), t_end=3)
    found = sensitivity(motion, END, ["mu", "F"])
    assert not found.refusal.is_proven
    assert "is not unique" in found.refusal.reason


@pytest.mark.parametrize("across", ["0", "Q*max(0, t - 0.5)", "Q*max(0, 0.5 - t)"])
def test_a_rail_without_force_for_a_while_is_undecided(across):
    found = sensitivity(simulate(bead(across), State([0, 0], [1, 0]), t_end=1), END, ["mu", "Q"])
    assert not found.refusal.is_proven
    assert "is zero for a while" in found.refusal.reason


def test_a_force_that_jumps_through_zero_is_undecided():
    found = sensitivity(simulate(bead("Q*sign(t - 0.5)"), State([0, 0], [1, 0]), t_end=1), END, ["mu", "Q"])
    assert not found.refusal.is_proven
    assert "jump" in found.refusal.reason


def test_a_bead_that_its_rail_alone_holds_at_rest():
    # any F beside 0 moves it while the rail does not press
    motion = simulate(bead("Q*cos(2*t)", "0*F"), State([0, 0], [0, 0]), t_end=1)
    assert "that holds rail falls to zero" in sensitivity(motion, END, ["mu"]).refusal.reason


@pytest.mark.long
def test_a_driven_oscillator_on_a_rail():
    def rates(t, y):
        friction = 0.1 * abs(4 * math.cos(2 * t + 0.3)) * np.sign(y[1])
        return [y[1], math.sin(2 * t) - 0.2 * y[1] - 10 * y[0] - friction]

    def end(start):
        return solve_ivp(rates, (0, math.pi), start, rtol=1e-8, atol=1e-10, max_step=0.02).y[:, -1]

    rail = bead("4*cos(2*t + 0.3)", "sin(2*t) - 0.2*x_dot", potential="5*x**2")
    found = periodic_motion(rail, State([0.1, 0], [0.2, 0]), period="pi", parameters={"mu": 0.1})
    state = np.array([found.state.q[0], found.state.v[0]])
    assert end(state) == pytest.approx(state, abs=1e-6)
    step = 1e-3
    columns = [(end(state + step * e) - end(state - step * e)) / (2 * step) for e in np.eye(2)]
    assert found.monodromy[np.ix_([0, 2], [0, 2])] == pytest.approx(np.transpose(columns), abs=1e-3)
