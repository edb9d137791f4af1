"""Every catalogue mechanism against its Lagrangian written by hand and differentiated numerically."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import names
from tests.bodies import BODIES, Body
from tests.catalogue import dynamics_of
from tests.closed_forms import DELASSUS
from tests.linkages import LINKAGE_DELASSUS, LINKAGES
from tests.moving_bodies import MOVING_BODIES, MOVING_DELASSUS
from tests.oracles import differentiate, power

QUANTITIES = ("M", "h", "gap", "gap_dot", "W_N", "zeta_N", "slip", "W_T", "zeta_T")
N_STATES = 5

BY_HAND = BODIES | MOVING_BODIES | LINKAGES
DELASSUS_BY_HAND = DELASSUS | MOVING_DELASSUS | LINKAGE_DELASSUS

# The differences are good to 1e-18, the compiled equations to a few units of rounding times the size of the
# terms added, which these boxes keep below 1e3: far below 1e-9.
ACCURACY = 1e-9


def draw(body: Body, generator: np.random.Generator, resolve) -> tuple[np.ndarray, np.ndarray, float, dict, dict]:
    """A posture with no penetration, a velocity, a time and parameters."""
    while True:
        overrides = {key: generator.uniform(*interval) for key, interval in body.drawn.items()}
        resolved = {key: float(value) for key, value in resolve(overrides).items()}
        q, t = generator.uniform(body.low, body.high), generator.uniform(0, 3)
        if all(gap is None or gap >= 0 for gap, _ in body.contacts(list(q), t, resolved).values()):
            return q, generator.uniform(-3, 3, q.size), t, overrides, resolved


def states(name: str):
    generator = np.random.default_rng(sum(name.encode()))
    resolve = dynamics_of(name).mechanism.parameter_values
    return [draw(BY_HAND[name], generator, resolve) for _ in range(N_STATES)]


def test_every_mechanism_has_a_lagrangian_and_a_delassus_matrix_by_hand():
    assert set(names()) == set(BY_HAND) == set(DELASSUS_BY_HAND)


@pytest.mark.parametrize("name", names())
def test_equations_agree_with_differences_of_the_lagrangian(name):
    for q, v, t, overrides, resolved in states(name):
        found = dynamics_of(name).terms(q, v, t=t, parameters=overrides)
        expected = differentiate(BY_HAND[name], q, v, t=t, parameters=resolved)
        for quantity in QUANTITIES:
            np.testing.assert_allclose(
                getattr(found, quantity),
                getattr(expected, quantity),
                rtol=ACCURACY,
                atol=ACCURACY,
                err_msg=f"{name}: {quantity} at q = {q}, v = {v}",
            )


@pytest.mark.parametrize("name", names())
def test_many_states_at_once_are_the_states_one_by_one(name):
    drawn = states(name)
    q, v = np.array([d[0] for d in drawn]), np.array([d[1] for d in drawn])
    together = dynamics_of(name).terms(q, v, t=np.array([d[2] for d in drawn]))
    for i, (one_q, one_v, t, _, _) in enumerate(drawn):
        alone = dynamics_of(name).terms(one_q, one_v, t=t)
        for quantity in QUANTITIES:
            one = getattr(alone, quantity)
            many = np.broadcast_to(getattr(together, quantity), (N_STATES, *one.shape))
            # The same compiled expression; vector instructions may round differently by a few units.
            np.testing.assert_allclose(many[i], one, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", names())
def test_energy_changes_by_the_power_of_applied_and_contact_forces(name):
    generator = np.random.default_rng(2)
    for q, v, t, overrides, resolved in states(name):
        terms = dynamics_of(name).terms(q, v, t=t, parameters=overrides)
        W = np.hstack([terms.W_N, terms.W_T])
        forces = generator.normal(size=W.shape[1])
        acceleration = np.linalg.solve(terms.M, terms.h + W @ forces)
        rate, applied = power(BY_HAND[name], q, v, acceleration, t=t, parameters=resolved)
        # W^T v is the mechanism's velocity at the contact, without that of a moving guide: what the forces
        # work on here. The solve loses at most a condition number of 1e3.
        assert rate == pytest.approx(applied + forces @ (W.T @ v), rel=ACCURACY, abs=ACCURACY)


@pytest.mark.parametrize("name", names())
def test_delassus_matrix_is_the_closed_form(name):
    for q, v, t, overrides, resolved in states(name):
        terms = dynamics_of(name).terms(q, v, t=t, parameters=overrides)
        W = np.hstack([terms.W_N, terms.W_T])
        found = W.T @ np.linalg.solve(terms.M, W)
        np.testing.assert_allclose(found, DELASSUS_BY_HAND[name](q, resolved), rtol=ACCURACY, atol=ACCURACY)
