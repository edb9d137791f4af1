"""Data that no mechanism can have, and friction that vanishes."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import (
    Contact,
    EnergyDynamics,
    Mechanism,
    StateError,
    Verdict,
    build_automaton,
    critical_friction,
    derive,
    region_map,
    select,
    simulate,
    sliding_terms,
    solve_state,
)
from hybrid.analysis import Axis
from hybrid.contact import EnergeticImpact, resolve_impact
from hybrid.dynamics import State


def block(friction):
    return derive(
        Mechanism(
            name="block",
            coordinates=["x", "y"],
            parameters={"a": 0.3},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="9.81*y"),
            contact=[
                Contact(name="floor", gap="y*cos(a) - x*sin(a)", tangent="x*cos(a) + y*sin(a)", friction=friction)
            ],
        )
    )


def test_friction_that_is_negative_at_a_state_is_refused():
    with pytest.raises(StateError, match=r"friction is negative \(-1\)"):
        select(block("x"), State([-1.0, -np.tan(0.3)], [0.0, 0.0]))


@pytest.mark.parametrize("low", [-1.0, -2.0])
def test_negative_mass_is_refused_by_maps_and_critical_friction(low):
    rod = derive(mechanisms.load("painleve_rod"))
    axes = [Axis("theta", 0.1, 1.5, 4), Axis("m", low, 1.0, 8)]
    with pytest.raises(StateError, match="mass matrix is not positive definite"):
        region_map(rod, axes=axes, pins={"theta_dot": 0, "slip.tip": 1})
    with pytest.raises(StateError, match="mass matrix is not positive definite"):
        critical_friction(rod, over=[Axis("theta", 0.1, 1.5)], parameters={"m": low})


def test_singular_mass_in_a_map_is_unreachable():
    rod = derive(mechanisms.load("painleve_rod"))
    axes = [Axis("theta", 0.1, 1.5, 2), Axis("m", -0.5, 0.5, 1)]  # the only midpoint is m = 0
    found = region_map(rod, axes=axes, pins={"theta_dot": 0, "slip.tip": 1})
    assert found.verdict_fractions == {"UNREACHABLE": 1.0}


def test_uncoupled_contact_has_no_critical_friction_in_spite_of_rounding():
    from hybrid import contact_problem

    inclined = block("0.5")
    state = solve_state(inclined, {"x": 0, "slip.floor": 1})
    assert sliding_terms(contact_problem(inclined, state), "floor").critical_friction == np.inf


def test_vanishing_friction_keeps_verdict_automaton_and_motion():
    smooth = block("0")
    state = solve_state(smooth, {"x": 0, "slip.floor": 0})
    selection = select(smooth, state)
    assert selection.verdict is Verdict.UNIQUE
    assert selection.branches[0].mode.label == "slide-"  # downhill
    assert build_automaton(smooth).graph.number_of_nodes() > 2
    motion = simulate(smooth, state, t_end=1.0)
    # a block on a smooth incline: s = g sin(a) t^2 / 2 downhill
    assert motion.q[0] == pytest.approx(-9.81 * np.sin(0.3) * np.cos(0.3) / 2, rel=1e-10)


def test_smooth_ladder_leaves_the_wall_and_does_not_return():
    ladder = derive(mechanisms.load("ladder_in_corner"))
    pins = {"theta": "pi/3", "gap.floor": 0, "gap.wall": 0, "theta_dot": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}
    parameters = {"mu": 0.0}
    start = solve_state(ladder, pins, parameters=parameters)
    motion = simulate(ladder, start, t_end=0.6, parameters=parameters, law=EnergeticImpact())
    assert [event.kind.value for event in motion.events] == ["detachment"]
    # leaves at sin(theta) = 2/3 sin(theta0); 0.4596628 s from 60 degrees with l = 1 and g = 9.81
    assert motion.events[0].t == pytest.approx(0.4596628, abs=5e-8)


def test_energetic_impact_without_restitution_ends_at_the_end_of_compression():
    rod = derive(mechanisms.load("rod_two_ends"))
    state = State([-0.72886, 0.26915526, -0.27251582], [-0.38518938, -1.34802841, -0.36622168])
    parameters = {"mu": 0.23344395964997283, "e": 0.0}
    terms = rod.terms(state.q, state.v, parameters=parameters)
    closed = tuple(name for name, gap in zip(rod.contacts, terms.gap, strict=True) if abs(gap) < 1e-6)
    impact = resolve_impact(rod, state, law=EnergeticImpact(0.0), parameters=parameters, closed=closed)
    assert all(abs(rate) < 1e-14 for rate in impact.gap_dot_after.values())
