"""The verdict of declared mechanisms: constraints, bilateral friction, friction elements, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import (
    ComputationError,
    Constraint,
    Contact,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    State,
    StateError,
    Verdict,
    derive,
    select,
    solve_state,
    verify_certificate,
)


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def test_open_contact_is_free_and_unique(rod):
    state = solve_state(rod, {"phi": 1, "gap.tip": 0.5, "phi_dot": 0, "gap_dot.tip": 0, "slip.tip": 0})
    selection = select(rod, state)
    assert selection.verdict is Verdict.UNIQUE
    assert selection.branches[0].mode.label == "free"
    np.testing.assert_allclose(selection.branches[0].acceleration, [0, -1, 0], atol=1e-15)


def test_penetrating_and_approaching_contacts_are_refused_with_the_reason(rod):
    pins = {"phi": 1, "phi_dot": 0, "slip.tip": 0}
    with pytest.raises(StateError, match=r"contact 'tip' penetrates: gap = -0.1"):
        select(rod, solve_state(rod, {**pins, "gap.tip": -0.1, "gap_dot.tip": 0}))
    with pytest.raises(StateError, match=r"approaches \(gap_dot = -0.2\)"):
        select(rod, solve_state(rod, {**pins, "gap_dot.tip": -0.2}))


def test_dynamic_paradox_is_reported_at_zero_slip(rod):
    parameters = {"mu": 1.5}
    state = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 0}, parameters=parameters)
    report = select(rod, state, parameters=parameters).tangential["tip"]
    # A_plus = 1 + 3 c (c + mu s) < 0 at phi = 2 with b = -1: no motion with slip > 0; A_minus > 0
    assert report.plus.flow == "none"
    assert report.minus.flow == "to sticking"
    assert "positive direction has no consistent motion" in report.dynamic
    assert report.algebraic == ""


def test_algebraic_paradox_is_reported_where_modes_overlap(rod):
    parameters = {"mu": 1.5, "epsilon": 1}
    pins = {"phi": 2.0067, "phi_dot": 1.0575, "slip.tip": 0}
    selection = select(rod, solve_state(rod, pins, parameters=parameters), parameters=parameters)
    assert selection.verdict is Verdict.INDETERMINATE
    assert "overlap" in selection.tangential["tip"].algebraic


def test_singular_mass_matrix_names_the_posture():
    bar = derive(
        Mechanism(
            name="bar",
            coordinates=["x"],
            dynamics=EquationDynamics(mass_matrix=[["x"]], forces=["1"]),
            contact=[Contact(name="stop", gap="x")],
        )
    )
    with pytest.raises(StateError, match="mass matrix is singular at x = 0"):
        select(bar, State([0.0], [0.0]))


def test_undefined_expression_names_the_posture():
    spring = derive(
        Mechanism(
            name="spring",
            coordinates=["x"],
            dynamics=EquationDynamics(mass_matrix=[["1"]], forces=["1/x"]),
            contact=[Contact(name="stop", gap="x")],
        )
    )
    with pytest.raises(ComputationError, match="h has no finite value at x = 0"):
        select(spring, State([0.0], [0.0]))


def particle_on_circle(*, rows):
    """A particle in the plane held on the unit circle, resting on a frictionless stop x >= 0.6."""
    return derive(
        Mechanism(
            name="particle",
            coordinates=["x", "y"],
            parameters={"m": 2, "g": 9.81},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y"),
            contact=[Contact(name="stop", gap="x - 3/5")],
            constraint=[Constraint(name=f"circle{i}", equation=row) for i, row in enumerate(rows)],
        )
    )


def test_eliminated_constraint_gives_the_verdict_of_the_minimal_coordinate():
    particle = particle_on_circle(rows=["x**2 + y**2 - 1"])
    selection = select(particle, State([0.6, 0.8], [0.0, 0.0]))
    # minimal coordinate theta from the x axis, m theta'' = -m g cos(theta): it falls towards larger x, so it separates
    theta_ddot = -9.81 * 0.6
    assert selection.verdict is Verdict.UNIQUE
    assert selection.branches[0].mode.label == "free"
    np.testing.assert_allclose(selection.branches[0].acceleration, [-0.8 * theta_ddot, 0.6 * theta_ddot], rtol=1e-13)
    pressed = select(particle, State([0.6, -0.8], [0.0, 0.0]))
    # below, it would fall towards smaller x: the stop holds it; stop force from m g cos / sin of the wedge
    assert pressed.branches[0].mode.label == "closed"
    assert pressed.branches[0].lambda_N["stop"] == pytest.approx(2 * 9.81 * 0.6 / 0.8, rel=1e-13)


def test_redundant_constraint_leaves_accelerations_unique_and_is_called_hyperstatic():
    single = select(particle_on_circle(rows=["x**2 + y**2 - 1"]), State([0.6, -0.8], [0.0, 0.0]))
    double = select(particle_on_circle(rows=["x**2 + y**2 - 1", "(x**2 + y**2 - 1)*3"]), State([0.6, -0.8], [0.0, 0.0]))
    assert double.verdict is Verdict.HYPERSTATIC
    np.testing.assert_allclose(double.branches[0].acceleration, single.branches[0].acceleration, atol=1e-12)
    assert any("redundant" in note for note in double.notes)


def painleve_klein(mu1, mu2):
    """Two masses on parallel rails joined by a massless rod at angle phi (Painleve 1895, Klein 1910).

    In the coordinates x1 and x2 - x1 - const the rod is the constraint with multiplier T; the rails press with
    T sin(phi), so friction acts on abs(T): one bilateral contact with friction on the relative coordinate.
    """
    return derive(
        Mechanism(
            name="painleve_klein",
            coordinates=["x", "z"],  # x: along the rail; z: elongation of the rod, held at zero
            parameters={"m1": 1.0, "m2": 2.0, "phi": 1.2, "P1": 3.0, "P2": 1.0, "mu": mu1},
            dynamics=EnergyDynamics(kinetic="m1*x_dot**2/2 + m2*(x_dot + z_dot/cos(phi))**2/2"),
            forces={"x": "P1 + P2", "z": "P2/cos(phi)"},
            constraint=[Constraint(name="rod", equation="z", friction="mu*sin(phi)", tangent="x")],
        )
    )


@pytest.mark.parametrize(("P1", "expected"), [(3.0, 1), (0.2, 1)])
@pytest.mark.parametrize("mu", [0.2, 2.0])
def test_one_rough_rail_has_none_or_two_solutions_beyond_the_critical_friction(mu, P1, expected):
    # rail of mass 1 rough, slip > 0: cos(phi)(m1+m2) T - sin(phi) m2 mu abs(T) = m1 P2 - m2 P1 for compressive T
    m1, m2, phi, P2 = 1.0, 2.0, 1.2, 1.0
    klein = painleve_klein(mu, 0.0)
    state = State([0.0, 0.0], [1.0, 0.0])
    selection = select(klein, state, parameters={"P1": P1})
    right = m1 * P2 - m2 * P1
    solutions = [
        right / slope
        for side in (1, -1)
        if (slope := np.cos(phi) * (m1 + m2) - side * np.sin(phi) * m2 * mu) and side * right / slope > 0
    ]
    critical = (m1 + m2) / (np.tan(phi) * m2)
    assert (len(solutions) == 1) == (mu < critical)  # one solution below the critical friction, none or two above
    assert selection.count == len(solutions)
    accelerations = sorted(branch.acceleration[0] for branch in selection.branches)
    expected_accelerations = sorted((P1 - mu * np.sin(phi) * abs(T) + T * np.cos(phi)) / m1 for T in solutions)
    np.testing.assert_allclose(accelerations, expected_accelerations, rtol=1e-12)
    if not solutions:
        assert selection.verdict is Verdict.INCONSISTENT
        assert verify_certificate(selection.certificate)


def test_friction_element_of_a_mechanism_holds_up_to_its_static_limit():
    guide = derive(
        Mechanism(
            name="guide",
            coordinates=["x"],
            parameters={"F": 0.7},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2"),
            forces={"x": "F"},
            friction=[FrictionElement(name="seal", tangent="x", limit="1/2", static_limit="1")],
        )
    )
    rest, moving = State([0.0], [0.0]), State([0.0], [-1.0])
    assert {b.mode.label for b in select(guide, rest).branches} == {"stick", "slide+"}
    assert [b.mode.label for b in select(guide, rest, parameters={"F": 0.3}).branches] == ["stick"]
    assert select(guide, moving).branches[0].acceleration[0] == pytest.approx(1.2, abs=1e-15)


def test_block_on_two_feet_is_hyperstatic_with_the_segment_of_tangential_forces():
    feet = derive(mechanisms.load("rod_two_ends"))
    pins = {"phi": 0, "x": 0, "gap.left": 0, "phi_dot": 0, "x_dot": 0, "gap_dot.left": 0}
    selection = select(feet, solve_state(feet, pins))
    assert selection.verdict is Verdict.HYPERSTATIC
    assert selection.force_set.dimension == 1
    vertices = selection.force_set.vertices
    names = selection.force_set.names
    normal = [names.index(f"lambda_N.{foot}") for foot in ("left", "right")]
    tangential = [names.index(f"lambda_T.{foot}") for foot in ("left", "right")]
    terms = feet.terms(*(np.zeros(3), np.zeros(3)))
    weight, mu = -terms.h[1], terms.friction[0]
    np.testing.assert_allclose(vertices[:, normal], weight / 2, rtol=1e-12)
    # no net horizontal force, each foot inside its cone: opposite forces up to mu weight / 2
    np.testing.assert_allclose(vertices[:, tangential].sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(sorted(vertices[:, tangential[0]]), [-mu * weight / 2, mu * weight / 2], rtol=1e-7)


@pytest.mark.parametrize("offset", [-2e-14, 2e-14])
def test_where_gravity_and_the_table_cancel_to_rounding_the_margin_says_so(offset: float) -> None:
    """A ball leaves a table where the table falls with g: c = g - a omega^2 sin(omega t) is a difference of equals.

    Its slope there is g omega cot(omega t), so that 2e-14 s before or after c is about 1e-11 of 9.81: a sign, but one
    that double precision, good to some 1e-15 of 9.81, vouches for by four digits and not by all.
    """
    ball = derive(mechanisms.load("ball_on_vibrating_table"))
    omega = 20 * np.pi
    release = np.arcsin(1 / 1.2) / omega
    selection = select(ball, solve_state(ball, {"t": release + offset}))
    expected = abs(9.81 * omega / np.tan(np.arcsin(1 / 1.2)) * offset)
    assert abs(selection.problem.c[0]) == pytest.approx(expected, rel=0.1)  # rounding of t and sin: some 1e-13 of 8e-12
    assert selection.verdict is Verdict.UNIQUE
    assert selection.branches[0].mode["floor"].value == ("free" if offset > 0 else "closed")
    assert selection.margin < 1e-6  # not 1, as if the size of c were its own measure
