"""Common zeros of quadratic forms against Newton's method from many starts, and where there is no finite answer."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid.dynamics.lost_constraints import common_zeros


def by_newton(A, B, generator):
    """Zeros on the sphere from 40 random starts each, up to sign."""
    x = generator.normal(size=(40, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(40):
        left = np.stack([np.einsum("ni,ij,nj->n", x, F, x) for F in (A, B, np.eye(3))], axis=1) - [0, 0, 1]
        slope = np.stack([2 * x @ A, 2 * x @ B, 2 * x], axis=1)
        x = x - np.clip(np.linalg.solve(slope, left[..., None])[..., 0], -1, 1)
    left = np.stack([np.einsum("ni,ij,nj->n", x, F, x) for F in (A, B, np.eye(3))], axis=1) - [0, 0, 1]
    found = []
    for y in x[np.abs(left).max(axis=1) < 1e-12]:
        if all(min(np.linalg.norm(y - o), np.linalg.norm(y + o)) > 1e-6 for o in found):
            found.append(y)
    return np.array(found).reshape(-1, 3)


def test_common_zeros_of_random_conics_are_those_of_newtons_method():
    generator = np.random.default_rng(3)
    met = set()
    for _ in range(100):
        A, B = (F + F.T for F in generator.normal(size=(2, 3, 3)))
        lines, expected = common_zeros(np.array([A, B])), by_newton(A, B, generator)
        assert len(lines) == len(expected)
        met.add(len(lines))
        for line in lines:
            assert np.abs(np.abs(expected @ line) - 1).min() < 1e-8
    assert met == {0, 2, 4}


def test_forms_of_two_variables_share_a_line_or_none():
    xy, difference = np.array([[0, 0.5], [0.5, 0]]), np.diag([1.0, -1.0])
    assert common_zeros(np.array([xy, difference])).shape == (0, 2)
    (line,) = common_zeros(np.array([xy, np.array([[1, 0.5], [0.5, 0]])]))  # x y and x (x + y)
    assert np.abs(line) == pytest.approx([0, 1], abs=1e-12)


@pytest.mark.parametrize(
    "forms",
    [
        [np.diag([1.0, 1, -1]), np.diag([1.0, 0, -1])],  # they touch along two lines
        [[[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]]],  # x y and x z share the plane x = 0
        [np.eye(4), np.diag([1.0, 1, -1, -1])],  # surfaces
    ],
)
def test_where_lines_are_multiple_or_infinitely_many_there_is_no_answer(forms):
    assert common_zeros(np.array(forms)) is None
