"""Partial derivatives of all terms of catalogue mechanisms against complex steps through the compiled terms."""

import numpy as np
import pytest

import mechanisms
from hybrid.dynamics.partials import Forces, partial_derivatives
from tests.catalogue import dynamics_of

STEP = 1e-30


def residuals(dynamics, t, y, parameters, forces):
    """The quantities of the partial derivatives, from the terms themselves."""
    n = dynamics.n
    at = dynamics.terms(y[:n], y[n:], t=t, parameters=parameters)
    a, lambda_N, lambda_T, lambda_B = (
        block[0] for block in (forces.a, forces.lambda_N, forces.lambda_T, forces.lambda_B)
    )
    own = {
        "balance": at.M @ a - at.h - at.W_N @ lambda_N - at.W_T @ lambda_T - at.J.T @ lambda_B,
        "normal": at.W_N.T @ a + at.zeta_N,
        "tangential": at.W_T.T @ a + at.zeta_T,
        "bilateral": at.J @ a + at.zeta_B,
    }
    names = ("gap", "gap_dot", "slip", "constraint", "constraint_dot", "friction", "static_friction", "restitution")
    return own | {name: getattr(at, name) for name in (*names, "damping", "limit", "static_limit")}


QUICK = ("block_on_belt", "ball_on_vibrating_table", "coulomb_oscillator", "rod_two_ends", "spatial_ball", "woodpecker")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in mechanisms.names()]
)
def test_partial_derivatives_are_those_of_complex_steps(name):
    dynamics = dynamics_of(name)
    rng = np.random.default_rng(3)
    n, k, m = dynamics.n, len(dynamics.contacts), len(dynamics.rigid)
    p = max((columns.stop for columns in dynamics.columns.values()), default=0)
    names = tuple(dynamics.model.parameters)
    partials = partial_derivatives(dynamics, names)
    t, y = 0.3, rng.normal(size=2 * n) * 0.4
    values = {key: float(value) for key, value in dynamics.mechanism.parameter_values().items()}
    forces = Forces(*(rng.normal(size=(1, size)) for size in (n, k, p, m)))
    state = partials.state(np.array([t]), y[None], forces, dynamics)
    parameter = partials.parameter(np.array([t]), y[None], forces, dynamics)
    for column in range(2 * n + 1):
        step = np.zeros(2 * n + 1, dtype=complex)
        step[column] = 1j * STEP
        changed = residuals(dynamics, t + step[-1], y + step[:-1], values, forces)
        for quantity, value in changed.items():
            assert state[quantity][0][:, column] == pytest.approx(np.imag(value) / STEP, rel=1e-10, abs=1e-10), quantity
    for column, own in enumerate(names):
        changed = residuals(dynamics, t, y, values | {own: values[own] + 1j * STEP}, forces)
        for quantity, value in changed.items():
            expected = np.imag(value) / STEP
            assert parameter[quantity][0][:, column] == pytest.approx(expected, rel=1e-10, abs=1e-10), (quantity, own)
