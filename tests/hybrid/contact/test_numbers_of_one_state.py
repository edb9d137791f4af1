"""The numbers of a contact problem by straight-line code, against rational arithmetic and against arrays."""

import numpy as np
import pytest
import sympy

from hybrid.contact.problem import contact_numbers, unconstrained_numbers
from hybrid.contact.reduction import free_motion

SIZES = [(1, 1), (2, 1), (3, 2), (4, 4), (2, 3)]


def drawn(n, r, rng):
    root = rng.integers(-1, 2, (n, n)) + 5 * np.eye(n, dtype=int)  # its diagonal dominates
    W = 2 * rng.integers(-4, 5, (n, r)) + 1  # odd: no direction vanishes
    return root @ root.T, rng.integers(-9, 10, n), W, rng.integers(-9, 10, r)


@pytest.mark.parametrize(("n", "r"), SIZES)
def test_numbers_of_one_state_are_those_of_rational_arithmetic(n, r):
    rng = np.random.default_rng(n * 10 + r)
    for _ in range(5):
        M, h, W, zeta = drawn(n, r, rng)
        exact_W = sympy.Matrix(W.tolist())
        response = sympy.Matrix(M.tolist()).LUsolve(exact_W)
        G = np.array((exact_W.T * response).tolist(), dtype=float)
        a_free = np.array(sympy.Matrix(M.tolist()).LUsolve(sympy.Matrix(h.tolist())).tolist(), dtype=float)[:, 0]
        found = unconstrained_numbers(*(np.array(item, dtype=float) for item in (M, h, abs(h), W, zeta, abs(zeta))))
        # the condition of M is below 100: some hundred roundings of the largest number
        allowed = 1e3 * np.finfo(float).eps
        G_found = found.G
        assert G_found == pytest.approx(G, abs=allowed * (1 + abs(G).max()))
        assert found.response == pytest.approx(
            np.array(response.tolist(), dtype=float), abs=allowed * (1 + abs(G).max())
        )
        assert found.a_free == pytest.approx(a_free, abs=allowed * (1 + abs(a_free).max()))
        assert found.c == pytest.approx(W.T @ a_free + zeta, abs=allowed * (1 + abs(W.T @ a_free).max() + 9))
        assert (np.abs(found.c - (W.T @ a_free + zeta)) <= found.rounding).all()


@pytest.mark.parametrize(("n", "r"), SIZES)
def test_numbers_of_one_state_are_those_of_arrays(n, r):
    rng = np.random.default_rng(n * 10 + r + 1)
    M, h, W, zeta = (np.array(item, dtype=float) for item in drawn(n, r, rng))
    many = [np.broadcast_to(item, (2, *item.shape)) for item in (M, h, np.abs(h), W, zeta, np.abs(zeta))]
    assert unconstrained_numbers(*many) is None
    one = unconstrained_numbers(M, h, np.abs(h), W, zeta, np.abs(zeta))

    class Terms:
        pass

    terms = Terms()
    terms.M, terms.h = M, h
    arrays = contact_numbers(free_motion(terms), W, zeta, np.abs(zeta))
    for name in ("a_free", "response", "G", "length", "c", "rounding"):
        size = 1 + np.abs(getattr(arrays, name)).max()
        assert getattr(one, name) == pytest.approx(getattr(arrays, name), abs=1e3 * np.finfo(float).eps * size)


def test_masses_that_are_too_unlike_are_left_to_elimination_with_pivots():
    M = np.array([[1e-6, 1e-3], [1e-3, 2.0]])  # positive definite, in units that hide it
    rest = np.ones(2), np.ones(2), np.ones((2, 1)), np.ones(1), np.ones(1)
    assert unconstrained_numbers(M, *rest) is None
    assert unconstrained_numbers(np.zeros((2, 2)), *rest) is None
