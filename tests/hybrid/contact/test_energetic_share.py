"""The energetic law of several contacts: shares of restitution far above 1, and contacts that jam."""

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, State, derive
from hybrid.contact import EnergeticImpact, PoissonImpact, resolve_impact
from hybrid.contact.impacts.impact import ImpactChange, impact_problem
from hybrid.errors import ComputationError


def linear(row, suffix=""):
    return " + ".join(f"({number})*{name}{suffix}" for name, number in zip("xyz", row, strict=True))


def beside_rail(masses, gap, tangent, equation, slip, *, mu, mu_rail, e):
    """A point with three masses that strikes a plane beside a rough rail."""
    kinetic = " + ".join(f"{mass}*{name}_dot**2/2" for name, mass in zip("xyz", masses, strict=True))
    wall = Contact(name="wall", gap=linear(gap), tangent=linear(tangent), friction=mu, restitution="e")
    rail = Constraint(name="rail", equation=linear(equation), friction=mu_rail, slip=linear(slip, "_dot"))
    return derive(
        Mechanism(
            name="beside_rail",
            coordinates=["x", "y", "z"],
            parameters={"e": e},
            dynamics=EnergyDynamics(kinetic=kinetic),
            contact=[wall],
            constraint=[rail],
        )
    )


def struck(e=0.8):
    return beside_rail((2, 2, 3), (-1, 0, 0), (1, 1, 2), (-2, 0, 2), (-1, 1, 1), mu="1", mu_rail="1", e=e)


STRIKE = State([0, 0, 0], [2.5, 2.0, 2.5])


def by_hand(e):
    """Normal impulse of restitution, and the velocities after it.

    Compression: the wall and the rail slide, with impulses (25/8, -25/8) and (-5/12, -5/12) along normal and tangent.
    It leaves v = (0, 11/48, 0) and stores 25/8 * 5/2 / 2. In restitution the wall sticks and the rail slides with
    F = R < 0: 2 x' = -N + T - 3 R, 2 (y' - 11/48) = T + R, 3 z' = 2 T + 3 R, where x' = z' and x' + y' + 2 z' = 0.
    Hence T = -3 N - 15 R, 34 R = 11/48 - 15/2 N and -x' = (8 N + 33) / 544. The work N (-x') / 2 is e^2 times
    the one stored.
    """
    N = (-33 + np.sqrt(33**2 + 136000 * e**2)) / 16
    R = (11 / 48 - 7.5 * N) / 34
    x = -(8 * N + 33) / 544
    return N, np.array([x, 11 / 48 - (3 * N + 14 * R) / 2, x])


@pytest.mark.parametrize("e", [0.5, 0.8, 1.0])
def test_the_share_is_as_large_as_the_law_asks(e):
    N, v = by_hand(e)
    assert N / (e * 25 / 8) > 6  # Poisson's share is 1
    impact = resolve_impact(struck(e), STRIKE, law=EnergeticImpact())
    assert not impact.warnings
    assert impact.impulse_N["wall"] == pytest.approx(25 / 8 + N, rel=1e-11)
    np.testing.assert_allclose(impact.v_after, v, rtol=1e-11)
    assert impact.energy_change < 0


def changing(problem, *, gamma=0.0, e=0.0):
    """Changes of velocities and of the coefficient of restitution of the first contact."""
    r, none = len(problem.gamma), np.zeros((2, 1))
    velocities, first = np.broadcast_to(gamma, (r,))[:, None], np.array([[e], [0.0]])
    return ImpactChange(velocities, np.zeros((r, r, 1)), none, first, none)


def test_a_large_share_has_its_derivative():
    # (16 N + 33) N' = 8500 e
    problem = impact_problem(struck(), STRIKE)
    slope = 8500 * 0.8 / (16 * by_hand(0.8)[0] + 33)
    found = EnergeticImpact().impulse_change(problem, changing(problem, e=1.0))
    assert found[0, 0] == pytest.approx(slope, rel=1e-9)
    assert (problem.G @ found)[0, 0] == pytest.approx(8 * slope / 544, rel=1e-9)


def test_a_point_wedged_in_a_groove_rests_and_says_so():
    # Two walls lean by 1 : 5 from the vertical, less than friction 0.5 holds: impulses N = 1, T = -1/5 of both move
    # nothing, and lie within the cones.
    rows = np.array([(1.0, 0.2), (-0.2, 1.0), (-1.0, 0.2), (0.2, 1.0)])
    assert not (np.array([1, -0.2, 1, -0.2]) @ rows).any()
    walls = [
        Contact(name=name, gap=f"{sign}*x + 0.2*y", tangent=f"y - {sign}*0.2*x", friction="0.5", restitution="1")
        for name, sign in (("left", 1), ("right", -1))
    ]
    energy = EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2")
    groove = derive(Mechanism(name="groove", coordinates=["x", "y"], dynamics=energy, contact=walls))
    state = State([0, 0], [0.05, -1.0])
    impact, stopped = (resolve_impact(groove, state, law=EnergeticImpact(e)) for e in (None, 0.0))
    assert any("contacts jam" in text and "the compression alone" in text for text in impact.warnings)
    assert not stopped.warnings
    np.testing.assert_allclose(impact.v_after, 0.0, atol=1e-13)
    assert impact.impulse_N == stopped.impulse_N
    # it rests after a strike of any speed
    problem, gamma = impact_problem(groove, state), rows @ [0.3, -0.7]
    found = EnergeticImpact().impulse_change(problem, changing(problem, gamma=gamma, e=1.0))
    np.testing.assert_allclose(problem.G @ found[:, 0], -gamma, atol=1e-13)


def test_a_jam_whose_friction_only_brakes_is_refused():
    # Impulses in the proportion N, T, R, F = 3, 1, -2, 0 move nothing. No share opens the gap, or
    # releases work of it, while friction of the rail brakes the more the larger the share is.
    rows = np.array([(0, 0, 2), (-2, 2, -2), (-1, 1, 2), (-2, 1, -2)])
    assert not (np.array([3, 1, -2, 0]) @ rows).any()
    dynamics = beside_rail((4, 4, 3), *rows.tolist(), mu="0.5", mu_rail="0.25", e=0.8)
    state = State([0, 0, 0], [1 / 6, 5 / 6, -1 / 3])
    with pytest.raises(ComputationError, match=r"contacts jam: .* Poisson's law states them"):
        resolve_impact(dynamics, state, law=EnergeticImpact())
    assert resolve_impact(dynamics, state, law=PoissonImpact()).gap_dot_after["wall"] == pytest.approx(0, abs=1e-13)
