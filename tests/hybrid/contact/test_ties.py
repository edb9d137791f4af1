"""States on the boundary of modes: decided by structure or exactly, never left open where nothing is in doubt."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, Mechanism, State, derive, select


def body_on_feet(places, *, height="0.4"):
    """A rigid body with collinear feet at given places beside its centre, which is above the floor by a height."""
    return derive(
        Mechanism(
            name="body_on_feet",
            coordinates=["x", "y", "phi"],
            parameters={"m": 1, "J": 0.5, "g": 9.81, "mu": 0.5, "F": 0},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + J*phi_dot**2/2", potential="m*g*y"),
            forces={"x": "F"},
            contact=[
                Contact(
                    name=f"foot{i}",
                    gap=f"y + ({place})*sin(phi) + {height}*(1 - cos(phi))",
                    tangent=f"x + ({place})*cos(phi) + {height}*sin(phi)",
                    friction="mu",
                )
                for i, place in enumerate(places)
            ],
        )
    )


@pytest.mark.parametrize("pull", [0.0, 3.0])
def test_four_collinear_feet_at_rest_share_the_load(pull):
    places = np.array([-1.0, -0.3, 0.4, 1.0])
    body = body_on_feet(places)
    found = select(body, State(np.zeros(3), np.zeros(3)), parameters={"F": pull})
    assert found.verdict.name == "HYPERSTATIC"
    np.testing.assert_allclose(found.branches[0].acceleration, 0.0, atol=1e-13)
    # equilibrium by hand: three equations for eight forces, each foot inside its cone; floor 0.4 below the centre
    assert found.force_set.dimension == 8 - 3
    assert found.force_set.rays.size == 0
    N, T = found.force_set.vertices[:, ::2], found.force_set.vertices[:, 1::2]
    np.testing.assert_allclose(N.sum(axis=1), 9.81, rtol=1e-9)
    np.testing.assert_allclose(T.sum(axis=1), -pull, atol=1e-8)
    np.testing.assert_allclose(N @ places + 0.4 * T.sum(axis=1), 0.0, atol=1e-8)
    assert (0.5 * N - np.abs(T)).min() > -1e-8
