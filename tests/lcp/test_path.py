"""The path of Lemke's method in plain numbers."""

import numpy as np
import pytest

from lcp import LCP, Lemke, Status, plain_path


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_it_ends_at_a_solution_or_where_the_careful_method_finds_a_ray(n):
    rng, ends = np.random.default_rng(n), {Status.SOLVED: 0, Status.RAY: 0}
    for _ in range(100):
        M, q = rng.normal(size=(n, n)), rng.normal(size=n)
        found = plain_path(M.tolist(), q.tolist())
        if found is None:  # a close decision
            continue
        status, z = found
        ends[status] += 1
        if status is Status.SOLVED:
            # some ten roundings of numbers of order one, and of solutions that the pivots may magnify by 1e6
            assert LCP(M, q).residual(z) <= 1e-9
        else:
            assert Lemke(max_pivots=1000).solve(LCP(M, q)).status is Status.RAY  # by arrays
    assert ends[Status.SOLVED] > 20
    assert ends[Status.RAY] > 5


@pytest.mark.parametrize(
    ("M", "q", "expected"),
    [
        ([[2.0]], [1.0], (Status.SOLVED, [0.0])),
        ([[-1.0]], [-1.0], (Status.RAY, [0.0])),  # w = -z - 1 < 0 for all z >= 0
        # z = (1, 0) and w = 0: z_0 = 2 - 2 z_1 - z_2 and w_2 = 1 - z_1 vanish together, and the path ends
        ([[2.0, 1.0], [1.0, 1.0]], [-2.0, -1.0], (Status.SOLVED, [1.0, 0.0])),
        ([[1.0, 0.0], [0.0, 1.0]], [-1.0, -1.0], None),  # a tie of both ratios
        (np.eye(17).tolist(), [-1.0] * 17, None),  # more than lists are quicker for
    ],
)
def test_hand_cases(M, q, expected):
    assert plain_path(M, q) == expected
