"""Entry-by-entry solution of modes against matrix-by-matrix solution of the same conditions."""

from types import SimpleNamespace

import numpy as np
import pytest

from hybrid.contact.candidates import mode_combinations
from hybrid.contact.componentwise import solve_mode
from hybrid.contact.conditions import ScaledProblem, conditions, problem_scale
from hybrid.contact.modes import ActiveElement, ElementKind

CONTACT, ELEMENT, BILATERAL = ElementKind.CONTACT, ElementKind.ELEMENT, ElementKind.BILATERAL


def frictionless(start, mu):
    return ActiveElement("plain", CONTACT, start, (), None, 0.0, 0.0), 1


def resting(start, mu):
    return ActiveElement("rest", CONTACT, start, (start + 1,), None, mu, 1.3 * mu), 2


def slipping(start, mu):
    return ActiveElement("slip", CONTACT, start, (start + 1,), (-1.0,), mu, mu), 2


def spatial(start, mu):
    direction = (np.cos(mu), np.sin(mu))
    return ActiveElement("spatial", CONTACT, start, (start + 1, start + 2), direction, mu, mu), 3


def seal(start, mu):
    return ActiveElement("seal", ELEMENT, None, (start,), None, mu, 1.5 * mu), 1


def moving_seal(start, mu):
    return ActiveElement("moving", ELEMENT, None, (start,), (1.0,), mu, mu), 1


def rail(start, mu):
    return ActiveElement("rail", BILATERAL, start, (start + 1,), None, mu, mu), 2


KINDS = [frictionless, resting, slipping, spatial, seal, moving_seal, rail]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", [None, *KINDS])
@pytest.mark.parametrize("batch", [(40,), (5, 8)])
def test_both_ways_give_the_same_forces_slacks_and_determinants(first, second, batch):
    rng = np.random.default_rng(len(batch) + 7 * KINDS.index(first))
    # In the second batch the operator and the friction depend on the first axis only, as over posture and rate.
    posture = batch if len(batch) == 1 else (batch[0], 1)
    elements, r = [], 0
    for kind in filter(None, (first, second)):
        element, rows = kind(r, rng.uniform(0.2, 2.0, posture))
        elements.append(element)
        r += rows
    factor = rng.normal(size=(*posture, r + 1, r))
    problem = SimpleNamespace(
        G=np.swapaxes(factor, -1, -2) @ factor * 10.0 ** rng.uniform(-4, 4),
        c=rng.normal(size=(*batch, r)) * 10.0 ** rng.uniform(-4, 4),
        rounding=np.abs(rng.normal(size=(*batch, r))) * 10.0 ** rng.uniform(-14, -6),
        elements=elements,
        n_rows=r,
        response_W=factor,
        terms=SimpleNamespace(M=np.eye(r + 1)),
    )
    problem.length = np.sqrt(np.diagonal(problem.G, axis1=-2, axis2=-1)) * 10.0 ** rng.uniform(0, 3)
    scale = problem_scale(problem)
    parts = ScaledProblem.of(problem, scale)
    for modes in mode_combinations(problem):
        one = conditions(problem, modes, scale)
        x = -np.linalg.solve(one.E, one.e[..., None])[..., 0]
        slacks = (one.A @ x[..., None])[..., 0] + one.b
        norms = np.linalg.norm(one.E, axis=-1, keepdims=True)
        two = solve_mode(parts, modes)
        # cond(E) is below 1e4 for these matrices, so that either way is good to 1e-11 or better
        size = 1 + np.max(np.abs(x))
        forces = np.stack([np.broadcast_to(force, batch) for force in two.forces(r)], axis=-1) if r else x
        np.testing.assert_allclose(forces, np.broadcast_to(x, (*batch, r)), rtol=0, atol=1e-10 * size)
        least = np.min(slacks, axis=-1, initial=np.inf)
        np.testing.assert_allclose(
            np.broadcast_to(two.least, batch), np.broadcast_to(least, batch), rtol=1e-9, atol=1e-10 * size
        )
        np.testing.assert_allclose(
            np.broadcast_to(two.regularity, batch),
            np.broadcast_to(np.abs(np.linalg.det(one.E / norms)), batch),
            rtol=1e-9,
            atol=1e-14,
        )
        signs = np.sign(np.linalg.det(one.E))
        np.testing.assert_array_equal(np.broadcast_to(np.sign(two.determinant), batch), np.broadcast_to(signs, batch))
