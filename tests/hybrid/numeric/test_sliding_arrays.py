"""Slipping contacts from the arrays of their normal problem alone, against an enumeration of who presses."""

from itertools import combinations, product

import numpy as np
import pytest

from hybrid.contact import CellVerdict
from hybrid.errors import StateError
from hybrid.numeric import NumericContact, NumericState, SlidingProblem, classify, classify_sliding, sliding_problem


def random_problem(rng, n, k):
    W, T = rng.normal(size=(2, n, k + 2, k))
    return SlidingProblem(np.swapaxes(W, -1, -2) @ W, 0.6 * np.swapaxes(W, -1, -2) @ T, rng.normal(size=(n, k)))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_verdicts_modes_and_factors_of_random_arrays(k):
    problem = random_problem(np.random.default_rng(k), 150, k)
    found = classify_sliding(problem)
    A, B = problem.G_NN, problem.pushed
    seen = set()
    for place in range(150):
        expected = set()
        for presses in product((False, True), repeat=k):
            chosen = np.flatnonzero(presses)
            force = np.zeros(k)
            force[chosen] = np.linalg.solve(problem.A[place][np.ix_(chosen, chosen)], -problem.b[place][chosen])
            a = problem.A[place] @ force + problem.b[place]
            if (force >= 0).all() and (a[~np.array(presses)] >= 0).all():
                labels = ["closed" if pressed else "free" for pressed in presses]
                expected.add(",".join(f"{i}={label}" for i, label in enumerate(labels)) if k > 1 else labels[0])
        verdict = {0: CellVerdict.INCONSISTENT, 1: CellVerdict.UNIQUE}.get(len(expected), CellVerdict.INDETERMINATE)
        assert (found.verdict[place], set(found.labels(place))) == (verdict, expected)
        seen.add(verdict)
        least = np.inf
        for order in range(1, k + 1):
            for minor in combinations(range(k), order):
                rows = np.ix_(minor, minor)
                at = np.arange(order + 1.0)
                values = [np.linalg.det(A[place][rows] - f * B[place][rows]) for f in at]
                roots = np.roots(np.polyfit(at, values, order))
                least = min([least, *(r.real for r in roots if r.real > 0 and abs(r.imag) < 1e-9 * abs(r))])
        assert found.critical.factor[place] == pytest.approx(least, rel=1e-6)
    assert len(seen) == 3


def test_arrays_and_states_have_one_answer():
    rng = np.random.default_rng(9)
    W, T = rng.normal(size=(2, 40, 5, 2))
    contacts = [
        NumericContact(
            f"c{i}", W_N=W[..., i], W_T=T[..., [i]], slip=[[0.4]] * 40, friction=1.3, zeta_N=rng.normal(size=40)
        )
        for i in (0, 1)
    ]
    state = NumericState(M=np.eye(5), h=rng.normal(size=(40, 5)), contacts=contacts)
    whole, normal = classify(state), classify_sliding(sliding_problem(state, contacts=(0, 1)))
    np.testing.assert_array_equal(whole.verdict, normal.verdict)
    np.testing.assert_allclose(whole.critical.factor, normal.critical.factor, rtol=1e-12)
    assert len(set(whole.verdict.tolist())) > 1


def test_blocks_of_a_long_array_are_those_of_its_parts():
    problem = random_problem(np.random.default_rng(2), 70_000, 2)
    whole = classify_sliding(problem)
    part = classify_sliding(SlidingProblem(problem.G_NN[65_000:], problem.pushed[65_000:], problem.b[65_000:]))
    np.testing.assert_array_equal(whole.verdict[65_000:], part.verdict)
    np.testing.assert_array_equal(whole.margin[65_000:], part.margin)
    np.testing.assert_array_equal(whole.critical.factor[65_000:], part.critical.factor)


def test_redundant_contacts_are_hyperstatic_and_named():
    # one rigid normal seen by two contacts: the sum of their forces is known, not each
    problem = SlidingProblem([[1.0, 1.0], [1.0, 1.0]], np.zeros((2, 2)), [[-1.0, -1.0]])
    found = classify_sliding(problem)
    assert found.verdict[0] == CellVerdict.HYPERSTATIC
    assert found.critical.dependent == (("0", "1"),)


def test_forces_that_friction_leaves_open_may_move_the_mechanism_along_its_tangents():
    # unit masses, independent normals: forces (1, 0) and (0, 1) leave a_N = 0, and accelerate along z or along w
    normals = np.sqrt(2) * np.eye(4)[:2]
    tangents = [[np.sqrt(0.5), -np.sqrt(0.5), 1, 0], [-np.sqrt(0.5), np.sqrt(0.5), 0, 1]]
    contacts = [NumericContact(f"c{i}", W_N=normals[i], W_T=tangents[i], slip=[1.0], friction=1.0) for i in (0, 1)]
    state = NumericState(M=np.eye(4), h=normals.T @ [-0.5, -0.5], contacts=contacts)
    problem = sliding_problem(state, contacts=(0, 1))
    np.testing.assert_allclose(problem.A @ [[1.0, 0.0], [0.0, 1.0]] + problem.b[:, None], 0.0, atol=1e-15)
    assert classify_sliding(problem).verdict == classify(state).verdict == CellVerdict.UNDECIDED


def test_wrong_arrays_are_refused_by_name():
    with pytest.raises(StateError, match="pushed of a sliding problem must have the shape"):
        SlidingProblem(np.eye(2), np.eye(3), np.zeros(2))
    with pytest.raises(StateError, match="b of a sliding problem has numbers that are not finite"):
        SlidingProblem(np.eye(2), np.eye(2), [0.0, np.nan])
