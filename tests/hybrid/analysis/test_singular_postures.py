"""Certified work up to postures at which a coordinate loses its meaning, as the azimuth of an upright rod does."""

from fractions import Fraction

import numpy as np
import pytest

from hybrid.analysis import Axis, certified_friction, certified_map
from hybrid.analysis.certified.motion_equations import motion_equations
from hybrid.analysis.certified.tape import tape_of
from hybrid.analysis.maps.node_states import node_states
from tests.catalogue import dynamics_of

PINS = {"x": 0, "y": 0, "psi": 0, "psi_dot": 0, "theta_dot": 0, "slip.tip.1": 0, "slip.tip.2": -1}


@pytest.mark.parametrize("over", [["theta=0:pi/2", "psi=0:2*pi"], ["theta=-pi:pi", "psi=0:1"]])
def test_the_least_critical_friction_of_a_rod_in_space_is_enclosed_up_to_the_pole(over):
    """It is that of the rod in the plane, ``4/3``: the azimuth turns no force."""
    found = certified_friction(dynamics_of("oblique_rod"), over=over)
    assert Fraction(found.low) <= Fraction(4, 3) <= Fraction(found.high)
    assert found.high - found.low <= 1e-12


def test_paradoxes_of_a_rod_in_space_are_proved_absent_up_to_the_pole():
    found = certified_map(dynamics_of("oblique_rod"), axes=["theta=0:pi/2", "mu=0:1.3"], pins=PINS)
    assert set(found.absent.values()) == {True}
    assert found.regions == {"slide": (pytest.approx(1.0), 1.0)} and found.evaluations < 1000


def test_contacts_respond_to_scaled_coordinates_as_to_the_declared_ones():
    """``W^T M^-1 [h, W]`` at random postures, against matrices that NumPy solves."""
    dynamics = dynamics_of("oblique_rod")
    axes = [Axis("theta", -1.5, 1.5), Axis("psi", 0, 6)]
    fixed = {name: value for name, value in PINS.items() if name != "psi"}
    states = node_states(dynamics, axes, pins=fixed)
    motion, given = motion_equations(states), dynamics.equations
    rows = [
        *(motion.M, motion.h[None], motion.W_N, motion.W_T),
        *(np.vectorize(states.at)(block) for block in (given.M, given.h[None], given.W_N.T, given.W_T.T)),
    ]
    tape = tape_of(states.build.graph(), np.concatenate(rows).ravel().tolist(), states.names)
    points = np.random.default_rng(3).uniform([-1.5, 0], [1.5, 6], (50, 2))
    values = tape(np.stack([points, points], axis=-1))[0].mean(axis=-1).reshape(len(points), 2, -1, dynamics.n)
    (M, Q), (M0, Q0) = ((block[:, : dynamics.n], block[:, dynamics.n :]) for block in np.moveaxis(values, 1, 0))
    G, G0 = Q @ np.linalg.solve(M, np.moveaxis(Q, 1, 2)), Q0 @ np.linalg.solve(M0, np.moveaxis(Q0, 1, 2))
    np.testing.assert_allclose(np.linalg.det(M), np.linalg.det(M0) / np.cos(points[:, 0]) ** 2, rtol=1e-10)
    # of the forces alone G holds h^T M^-1 h, in which both azimuths count alike, too
    np.testing.assert_allclose(G, G0, rtol=1e-9, atol=1e-9)
