"""A spatial contact whose slip turns so that it approaches again within its restitution."""

import numpy as np
import pytest

from hybrid import (
    Contact,
    EnergeticImpact,
    EquationDynamics,
    Mechanism,
    PoissonImpact,
    State,
    derive,
    ensemble,
    resolve_impact,
    simulate,
)
from hybrid.errors import ComputationError
from hybrid.motion import Termination
from tests.campaigns.impact_paths import spatial_path

# coordinates are the gap and the ways along the tangents: the mass matrix is the inverse of the Delassus operator,
# whose eigenvalues are 0.11, 2.1 and 14
G = np.array([[0.5906, -2.1199, -0.6504], [-2.1199, 13.4269, 0.8268], [-0.6504, 0.8268, 2.0597]])
MU = 1.6345
STRIKE = np.array([-0.226, 1.713, -0.488])
BODY = derive(
    Mechanism(
        name="body",
        coordinates=["z", "x", "y"],
        parameters={"e": 0.5},
        dynamics=EquationDynamics(
            mass_matrix=[[repr(float(m)) for m in row] for row in np.linalg.inv(G)], forces=["0", "0", "0"]
        ),
        contact=[Contact(name="floor", gap="z", tangent=["x", "y"], friction=str(MU), restitution="e")],
    )
)


def struck(law, e):
    return resolve_impact(BODY, State(np.zeros(3), STRIKE), law=law, parameters={"e": e}).v_after


def test_poissons_law_is_refused_where_it_ends_in_approach():
    # after compression the contact separates with at most 4.7e-3, and approaches from an impulse of restitution on that
    # lies between 0.3 and 0.5 times that of compression
    for e in (0.1, 0.3):
        expected = spatial_path(G, STRIKE, MU, e, law="poisson")
        assert expected[0] > 3e-3
        # the own integration takes away slip once it is below 1e-7 of the speed, ours is followed to 1e-12
        np.testing.assert_allclose(struck(PoissonImpact(), e), expected, atol=1e-6)
    for e in (0.5, 0.7, 1.0):
        assert spatial_path(G, STRIKE, MU, e, law="poisson")[0] < -2e-3
        with pytest.raises(ComputationError, match="ends in approach, for a second compression follows"):
            struck(PoissonImpact(), e)


@pytest.mark.parametrize("e", [0.1, 0.5, 1.0])
def test_the_energetic_law_passes_a_second_compression(e):
    # the own integration books the work along the whole path, and ends where it is e^2 times that of compression
    expected = spatial_path(G, STRIKE, MU, e, law="energetic")
    assert expected[0] > 0.0
    np.testing.assert_allclose(struck(EnergeticImpact(), e), expected, atol=1e-5)


def test_a_motion_and_an_ensemble_end_at_such_an_impact():
    # without forces the contact closes at t = 0.1
    start = State(-0.1 * STRIKE, STRIKE)
    motion = simulate(BODY, start, t_end=1.0, law=PoissonImpact(), parameters={"e": 0.7})
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == pytest.approx(0.1, abs=1e-12)
    assert "ends in approach" in motion.cause and "at t = 0.1" in motion.cause
    pins = {name: float(x) for name, x in zip(BODY.mechanism.coordinates, start.q, strict=True)}
    pins |= {f"{name}_dot": float(x) for name, x in zip(BODY.mechanism.coordinates, start.v, strict=True)}
    found = ensemble(BODY, starts={"e": [0.3, 0.7]}, pins=pins, t_end=0.11, law=PoissonImpact())
    assert list(found.termination) == ["END_TIME", "NOT_COMPUTED"]
