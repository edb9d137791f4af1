"""The class Q0: reasons that hold for random right-hand sides, witnesses that are feasible and unsolvable."""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lcp import LCP, exact, is_q0_matrix

matrices = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(matrices)
def test_members_solve_every_feasible_problem_and_witnesses_are_feasible_without_solution(M):
    found = is_q0_matrix(M)
    A = np.array(M)
    n = len(M)
    if found.holds is False:
        q = np.array(found.vector, dtype=float)  # small integers: exact
        problem = LCP(A, q)
        certificate = exact.refute(problem)
        assert certificate is not None
        assert exact.verify(problem, certificate)
        # feasible: q is a sum of columns of (I, -M), each taken at most once
        choices = itertools.product((0, 1), repeat=2 * n)
        assert any((np.hstack([np.eye(n), -A]) @ np.array(c) == q).all() for c in choices)
    elif found:
        rng = np.random.default_rng(1)
        for _ in range(10):
            w, z = rng.integers(0, 4, size=(2, n))
            assert exact.refute(LCP(A, w - A @ z)) is None


@pytest.mark.parametrize("entries", list(itertools.product((-1, 0, 1), repeat=4)))
def test_order_two_is_always_decided_as_many_feasible_directions_say(entries):
    M = np.array(entries).reshape(2, 2)
    found = is_q0_matrix(M)
    assert found.holds is not None
    # with entries -1, 0, 1 the columns lie on eight half-lines; directions strictly between and on them decide
    directions = [(a, b) for a in range(-3, 4) for b in range(-3, 4)]
    feasible = [q for q in directions if farkas_free(M, q)]
    assert bool(found) == all(exact.refute(LCP(M, q)) is None for q in feasible)


def farkas_free(M, q):
    """Whether M z + q >= 0, z >= 0 has a solution, by trying the vertices of two unknowns."""
    lines = np.vstack([M, np.eye(2)])
    offsets = np.array([*q, 0.0, 0.0])
    for i, j in itertools.combinations(range(4), 2):
        pair = lines[[i, j]]
        if round(np.linalg.det(pair)):
            z = np.linalg.solve(pair, -offsets[[i, j]])
            if (lines @ z + offsets >= -1e-9).all():  # entries up to 3: slacks are multiples of 1/2 or zero
                return True
    return False


def test_fractions_are_taken_exactly():
    third = F(1, 3)
    assert is_q0_matrix([[0, third], [0, 0]]).vector is not None
