"""The thin entries as CPython calls them: what they read themselves, and what they hand to numba's dispatcher."""

import pickle
import subprocess
import sys
import sysconfig
import types

import numpy as np
import pytest

from lcp import LCP, LCPError, exact
from lcp.kernels import solutions_into, solve_into
from lcp.kernels.direct import direct

CALLS = [(solve_into, 1), (solutions_into, 2)]
HAS_KNOWN_LAYOUT = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


def answer_for(call, n):
    return np.full(n, np.nan) if call is solve_into else np.full((2**n, n), np.nan)


def answered(call, M, q, answer):
    """The number that a call returns, and what it has written."""
    number = call(M, q, answer)
    return number, answer[: max(number, 0)].tolist() if answer.ndim == 2 else answer.tolist() if number > 0 else []


def strided(array):
    """The same numbers where only the dispatcher reads them."""
    wide = np.zeros([2 * size for size in array.shape])
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(None, None, 2) for _ in array.shape)]


@pytest.mark.parametrize(("call", "axes"), CALLS)
def test_python_calls_the_compiled_code_itself(call, axes):
    assert isinstance(call, types.BuiltinFunctionType) is HAS_KNOWN_LAYOUT
    assert call.__doc__.lstrip().startswith("The thin entry")


@pytest.mark.parametrize(("call", "axes"), CALLS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_both_ways_to_the_code_give_the_same(call, axes, n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        M, q = rng.normal(size=(n, n)), rng.normal(size=n)
        number, points = answered(call, M, q, answer_for(call, n))
        again, others = answered(call, strided(M), strided(q), answer_for(call, n))
        assert number == again
        np.testing.assert_allclose(points, others, rtol=1e-6)  # sums may be formed in another order


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_solution_that_is_read_in_place_is_one_of_exact_arithmetic(n):
    rng, Z = np.random.default_rng(10 + n), np.empty((2**n, n))
    for _ in range(50):
        M, q = rng.integers(-3, 4, size=(n, n)) + 0.5, rng.integers(-3, 4, size=n) + 0.5
        number = solutions_into(M, q, Z)
        if number >= 0:
            expected = sorted(tuple(map(float, z)) for z in exact.enumerate_solutions(LCP(M, q)).isolated)
            found = sorted(map(tuple, Z[:number].tolist()))
            np.testing.assert_allclose(np.reshape(found, (-1, n)), np.reshape(expected, (-1, n)), rtol=1e-12)


@pytest.mark.parametrize(("call", "axes"), CALLS)
def test_arrays_that_are_not_plain_are_read_all_the_same(call, axes):
    M, q = np.array([[2.0, 1.0], [0.0, 4.0]]), -np.ones(2)
    expected = answered(call, M, q, answer_for(call, 2))
    unaligned = np.zeros(33, np.uint8)[1:].view(np.float64).reshape(2, 2)
    unaligned[:] = M
    read_only = M.copy()
    read_only.flags.writeable = False
    for same in (pickle.loads(pickle.dumps(M)), np.asfortranarray(M), read_only, M.view(np.recarray), unaligned):
        assert answered(call, same, q, answer_for(call, 2)) == expected
    named = {"q": q, "z" if axes == 1 else "Z": answer_for(call, 2)}
    assert call(M, **named) == expected[0]


@pytest.mark.parametrize(("call", "axes"), CALLS)
def test_other_arguments_are_refused_with_a_word(call, axes):
    M, q = np.eye(2), -np.ones(2)
    for arguments in ((), (M,), (M, q), (M, q, answer_for(call, 2), 1)):
        with pytest.raises(TypeError, match="argument"):
            call(*arguments)
    for arguments in ((None, None, None), (1, 2, 3), (q, M, M), (M, q, np.array(0.0)), (M, q, "z"), (call, call, call)):
        with pytest.raises(LCPError, match="array of float64"):
            call(*arguments)
    with pytest.raises(TypeError):
        call(M, q, unknown=q)
    with pytest.raises(LCPError, match="62"):
        solutions_into(np.eye(63), np.ones(63), np.empty((1, 63)))


@pytest.mark.parametrize(("call", "axes"), CALLS)
def test_calls_hold_on_to_nothing(call, axes):
    # numbers beyond the small integers, which live for ever
    M, q = np.eye(2), -np.ones(2)
    answer = answer_for(call, 2)
    counts = [sys.getrefcount(item) for item in (M, q, answer, call)]
    for _ in range(1000):
        call(M, q, answer)
        with pytest.raises(LCPError):
            call(M, q, None)
    assert [sys.getrefcount(item) for item in (M, q, answer, call)] == counts


def test_where_objects_are_laid_out_otherwise_the_dispatcher_stays(monkeypatch):
    monkeypatch.setattr("lcp.kernels.direct._REFERENCE", None)

    def dispatcher(M, q, z):
        raise AssertionError("nothing is called")

    assert direct(lambda *_: 0)(dispatcher) is dispatcher


def test_an_error_of_the_first_call_is_raised_and_the_next_call_works():
    program = (
        "import numpy as np\nfrom lcp.kernels import solve_into\n"
        "try:\n    solve_into(None, None, None)\nexcept Exception as error:\n    print(type(error).__name__)\n"
        "z = np.empty(1)\nprint(solve_into(np.array([[2.0]]), np.array([-1.0]), z), z)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert ended.stdout.split("\n")[:2] == ["LCPError", "1 [0.5]"]


@pytest.mark.parametrize(("call", "axes"), CALLS)
def test_entries_are_pickled_by_name(call, axes):
    assert pickle.loads(pickle.dumps(call)) is call


@pytest.mark.parametrize(("call", "axes"), CALLS)
def test_an_answer_is_not_written_over_the_problem(call, axes):
    room = np.zeros(12)
    M, q = room[:4].reshape(2, 2), room[4:6]
    M[:], q[:] = np.eye(2), -1.0
    answer = room[6:8] if axes == 1 else room[6:12].reshape(3, 2)
    assert call(M, q, answer) == 1  # next to each other
    over_q, over_M = (room[5:7], room[3:5]) if axes == 1 else (room[5:9].reshape(2, 2), M)
    for answer in (over_q, over_M):
        with pytest.raises(LCPError, match="share memory"):
            call(M, q, answer)
    assert room[:6].tolist() == [1.0, 0.0, 0.0, 1.0, -1.0, -1.0]
