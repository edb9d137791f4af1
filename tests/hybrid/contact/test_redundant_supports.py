"""Beams and ladders on more supports than statics needs: unique accelerations, a set of forces with its vertices."""

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, State, Verdict, derive, select, simulate
from tests.catalogue import decide

BEAM = EnergyDynamics(kinetic="m*y_dot**2/2 + J*phi_dot**2/2", potential="m*g*y")
PARAMETERS = {"m": 2.0, "J": 1.5, "g": 9.81}


def beam(places, *, bilateral=False):
    """A beam whose centre is at height y and that is tilted by phi, on supports at given places along it."""
    if bilateral:
        held = {"constraint": [Constraint(name=f"s{i}", equation=f"y + ({x})*sin(phi)") for i, x in enumerate(places)]}
    else:
        held = {"contact": [Contact(name=f"s{i}", gap=f"y + ({x})*sin(phi)") for i, x in enumerate(places)]}
    return derive(Mechanism(name="beam", coordinates=["y", "phi"], parameters=PARAMETERS, dynamics=BEAM, **held))


REST = State([0, 0], [0, 0])


def test_beam_on_three_supports_has_a_segment_of_forces():
    selection = select(beam([-1, 0.5, 1]), REST)
    assert selection.verdict is Verdict.HYPERSTATIC
    np.testing.assert_allclose(selection.branches[0].acceleration, 0, atol=1e-13)
    # N0 + N1 + N2 = W and -N0 + N1/2 + N2 = 0: from the middle support alone with the left to the right one with it
    W = 2 * 9.81
    expected = [[W / 3, 2 * W / 3, 0], [W / 2, 0, W / 2]]
    order = [selection.force_set.names.index(f"lambda_N.s{i}") for i in range(3)]
    found = selection.force_set.vertices[:, order]
    assert selection.force_set.dimension == 1
    np.testing.assert_allclose(sorted(found.tolist()), expected, rtol=1e-9, atol=1e-9)


def test_beam_on_four_supports_has_a_polygon_of_forces():
    selection = select(beam([-1, -0.5, 0.5, 1]), REST)
    assert selection.verdict is Verdict.HYPERSTATIC
    W = 2 * 9.81
    # two supports carry it when the centre lies between them, every other pair of supports
    pairs = {(0, 2): (1 / 3, 2 / 3), (0, 3): (1 / 2, 1 / 2), (1, 2): (1 / 2, 1 / 2), (1, 3): (2 / 3, 1 / 3)}
    expected = []
    for (left, right), (a, b) in pairs.items():
        row = [0.0] * 4
        row[left], row[right] = a * W, b * W
        expected.append(row)
    order = [selection.force_set.names.index(f"lambda_N.s{i}") for i in range(4)]
    assert selection.force_set.dimension == 2
    np.testing.assert_allclose(
        sorted(selection.force_set.vertices[:, order].tolist()), sorted(expected), rtol=1e-9, atol=1e-9
    )


def test_beam_beyond_its_supports_tips_with_one_acceleration():
    # both supports left of the centre: it turns about the nearer one, J + m/4 against m g/2
    selection = select(beam([-1, -0.5]), REST)
    assert selection.verdict is Verdict.UNIQUE
    turn = -2 * 9.81 * 0.5 / (1.5 + 2 * 0.25)
    np.testing.assert_allclose(selection.branches[0].acceleration, [0.5 * turn, turn], rtol=1e-12)


def test_bilateral_supports_are_redundant_without_moving_the_beam():
    # y = 0 and phi = 0 twice over: the multipliers are not unique, the accelerations are
    held = beam([-1, 0.5, 1], bilateral=True)
    selection = select(held, REST)
    assert selection.verdict is Verdict.HYPERSTATIC
    np.testing.assert_allclose(selection.branches[0].acceleration, 0, atol=1e-12)
    assert any("redundant" in note for note in selection.notes)
    motion = simulate(held, REST, t_end=1.0)
    np.testing.assert_allclose(motion.q, 0, atol=1e-14)


def statics_of_the_ladder(theta, mu, weight):
    """Ends of the segment of forces (N, F) at the foot and (R, T) at the wall.

    With N = W - T, F = -R and moments about the foot, R = (W/2 - T)/tan(theta), one force is free. The segment ends
    where a cone is reached: T = mu R, T = -mu R or R = mu N.
    """
    slope = np.tan(theta)
    candidates = [
        mu * weight / 2 / (slope + mu),
        -mu * weight / 2 / (slope - mu),
        weight * (mu * slope - 1 / 2) / (mu * slope - 1),
    ]
    ends = []
    for T in candidates:
        R, N = (weight / 2 - T) / slope, weight - T
        if R >= 0 and abs(T) <= mu * R * (1 + 1e-9) and mu * N * (1 + 1e-9) >= R:
            ends.append([N, -R, R, T])
    return ends


@pytest.mark.parametrize(("degrees", "mu"), [(60, 0.4), (50, 0.4), (70, 0.9)])
def test_ladder_at_rest_has_the_segment_of_forces_of_its_cones(degrees, mu):
    theta = np.radians(degrees)
    pins = {"theta": theta, "gap.floor": 0, "gap.wall": 0, "theta_dot": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}
    found = decide("ladder_in_corner", pins, mu=mu)
    assert found.verdict is Verdict.HYPERSTATIC
    np.testing.assert_allclose(found.branches[0].acceleration, 0, atol=1e-12)
    names = ["lambda_N.floor", "lambda_T.floor", "lambda_N.wall", "lambda_T.wall"]
    order = [found.force_set.names.index(name) for name in names]
    expected = sorted(statics_of_the_ladder(theta, mu, 9.81))
    np.testing.assert_allclose(sorted(found.force_set.vertices[:, order].tolist()), expected, rtol=1e-8, atol=1e-8)
