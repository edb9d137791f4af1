"""Every tolerance of the package decides: an answer that is known by hand changes when it alone is changed."""

import sys

import numpy as np
import pytest

from lcp import LCP, LCPError, Lemke, Polytope, enumerate_solutions, loaded, tolerances
from lcp.block_pivoting import BlockPrincipalPivoting
from lcp.convex import friction_cone_relaxation
from lcp.enumeration import clear_bases
from lcp.gauss import gauss_lcp
from lcp.kernels.relaxation import is_stale
from lcp.path import DOUBTFUL, follow
from lcp.relaxations import decide


def refused(function, *arguments):
    try:
        function(*arguments)
    except LCPError:
        return True
    return False


def plain_path(M, q):
    n = len(q)
    rows = [[0.0] * (n + 2) for _ in range(n + 1)]
    return follow(M, q, [0.0] * n, [0.0] * n, rows, [0] * (2 * n + 1)) != DOUBTFUL


def dominant(entry):
    M = 2.0 * np.eye(13) + 0.1
    M[12, 0] = entry
    return M


def lifting_off(*, slip):
    """A contact with friction 1: normal force, friction to either side, and the size of the slip."""
    return LCP([[1, 0, 0, 0], [0, 1, -1, 1], [0, -1, 1, 1], [1, -1, -1, 0]], [1, slip, -slip, 0])


# An answer, another value of the tolerance, and the answer with it; what each is by hand.
CASES = {
    # w = -2 z + 1: z = 0 and z = 1/2; nothing is clear where bounds of errors are as large as the numbers
    "BOUND": (lambda: clear_bases([[-2.0]], [1.0]), [0, 1], 1.0, None),
    # a dictionary wrong by 1e-10
    "STALE": (lambda: is_stale.py_func(np.array([[[1.0, 1.0]], [[1e-10, 1e-10]]]), 1), True, 1e-9, False),
    # M = 1, q = (1, -1e-9): z = (0, 1e-9)
    "ROUNDING": (
        lambda: np.count_nonzero(BlockPrincipalPivoting().solve(LCP(np.eye(2), [1, -1e-9])).z),
        1,
        1e-6,
        0,
    ),
    # a >= 0 and -a >= 1e-9 contradict each other, next to another contact with a >= 1
    "TIE": (
        lambda: refused(gauss_lcp, np.eye(2), [0.0, 0.0], [[1, -1, 0], [0, 0, 1]], [0, -1e-9, -1]),
        True,
        5e-8,
        False,
    ),
    # a contact that lifts off with a slip of 1e-12: no force, and the last z is that slip
    "LAST_PLACES": (
        lambda: Lemke().solve(lifting_off(slip=1e-12)).status.name,
        "SOLVED",
        1.0,
        "RAY",
    ),
    # a triangle as high as 1e-8 of its base
    "PIVOT": (lambda: Polytope([[0, 0], [1, 0], [0.5, 1e-8]], np.zeros((0, 2))).dimension, 2, 1e-6, 1),
    # a mass matrix with 1e-6 on one side of its diagonal only
    "ZERO": (lambda: refused(gauss_lcp, [[1, 1e-6], [0, 1]], [0, -1], [[0], [1]], [0]), True, 1e-3, False),
    # w = -z - 1 < 0: no solution, proved by y = 1, whose inequalities y >= 0, y M <= 0, y q < 0 hold by 1 at most
    "RESIDUAL": (lambda: decide(LCP([[-1.0]], [-1.0])) is None, False, 1.0, True),
    # w = 2 z + (1, 1e-5): z = 0 alone, if 1e-5 is no zero
    "ACCURACY": (lambda: clear_bases([[2.0, 0.0], [0.0, 2.0]], [1.0, 1e-5]), [0], 1e-3, None),
    # w_2 = -2 z_2 - 7e-15 < 0: a ray, but z = 0 misses by rounding only
    "NEARLY_SOLVED": (
        lambda: Lemke().solve(LCP([[1, -2 + 2**-46], [0, -2]], [1 - 2**-47, -(2**-47)])).status.name,
        "SOLVED",
        1e-300,
        "RAY",
    ),
    # the artificial variable falls from 6 to 0
    "NEAR_THE_END": (lambda: plain_path([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]), True, 1.0, False),
    # an interior point is not good to 1e-30
    "ROUGH": (lambda: refused(friction_cone_relaxation, np.eye(3), [-1.0, 0.1, 0.0], [0.5]), False, 1e-30, True),
    # det M = 1e-12: z = (1, 0) alone solves z_1 + z_2 = 1; with 1e-12 as a zero all points of the edge do
    "CLEARLY_ZERO": (
        lambda: len(enumerate_solutions(LCP([[1, 1], [1, 1 + 1e-12]], [-1, -1])).continua),
        0,
        1e-1,
        1,
    ),
    # one solution of a P-matrix of order 13, too large for rational arithmetic; an entry 1e-25 is not seen
    "HIDDEN": (lambda: enumerate_solutions(LCP(dominant(1e-25), -np.ones(13))).complete, False, 1e-30, True),
}


@pytest.mark.parametrize("name", tolerances.__all__)
def test_every_tolerance_changes_an_answer(name, monkeypatch):
    decide_it, usual, changed, otherwise = CASES[name]  # a new tolerance wants a case, or it decides nothing
    monkeypatch.setattr(loaded, "kernels", [])  # compiled code keeps the tolerances that it was compiled with
    assert decide_it() == usual
    value = getattr(tolerances, name)
    for module in [module for key, module in sys.modules.items() if key.partition(".")[0] == "lcp"]:
        if getattr(module, name, None) == value:  # kernels have a unit of rounding of the same name
            monkeypatch.setattr(module, name, changed)
    assert decide_it() == otherwise
