"""Dual numbers against complex steps; what they refuse; and code for numbers read with them."""

import numpy as np
import pytest

from hybrid.expressions import Dual, NotDifferentiable, changes, duals, implicit, must_not_change, plain, tie_means

X, Y = 0.7, 2.3
STEP = 1e-30  # of a complex step, which has no rounding


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y: x + y,
        lambda x, y: 3 - x + 2 * y - y,
        lambda x, y: x * y * 1.5,
        lambda x, y: x / y,
        lambda x, y: 2 / x - y / 4,
        lambda x, y: -x * np.float64(1.5) + np.float64(2.0) / y,
        lambda x, y: x**3 / y**0.5,
        lambda x, y: np.sqrt(x * y),
        lambda x, y: np.exp(x) * np.log(y),
        lambda x, y: np.sin(x * y) + np.cos(y),
        lambda x, y: np.array([1.0, 2.0]) @ (np.array([[3.0, 1.0], [0.5, 2.0]]) @ np.array([x, y])),
    ],
)
def test_derivatives_are_those_of_complex_steps(operation):
    found = operation(Dual(X, np.array([1.0, 0.0])), Dual(Y, np.array([0.0, 1.0])))
    assert found.v == pytest.approx(operation(X, Y), rel=1e-15)
    expected = [operation(X + 1j * STEP, Y).imag / STEP, operation(X, Y + 1j * STEP).imag / STEP]
    assert found.d == pytest.approx(expected, rel=1e-14)


def test_a_comparison_looks_at_values():
    x, y = duals([X, Y], np.eye(2))
    assert x < y
    assert y >= x
    assert x != y
    assert (x == y) is False
    assert (np.minimum(x, y).d == [1, 0]).all()
    assert (max(x, y, 0.0).d == [0, 1]).all()
    assert abs(-x).d.tolist() == [1, 0]
    assert (np.abs(duals([-X, Y], np.eye(2))) > [0.5, 3.0]).tolist() == [True, False]
    assert x < float("inf")
    assert bool(x)


def test_a_tie_is_refused_with_its_margin():
    x, y = duals([1.0, 1.0 + 3e-10], np.eye(2))
    with pytest.raises(NotDifferentiable, match="agree to 3e-10 of their size") as caught:
        max(x, y)
    assert caught.value.margin == pytest.approx(3e-10, rel=1e-6)
    assert not caught.value.is_proven
    for asked in (abs, bool, np.sqrt):
        with pytest.raises(NotDifferentiable):
            asked(Dual(0.0, np.ones(1)))
    assert x <= x + 1e-12  # which is as true of a changed x
    assert Dual(0.0, np.zeros(1)) <= 0.0  # what does not change has no kink


def test_what_a_tie_means_is_said():
    with (
        pytest.raises(NotDifferentiable, match=r"the slip ends with compression \(within 0\)") as caught,
        tie_means("the slip ends with compression", is_proven=True),
    ):
        bool(Dual(0.0, np.ones(1)))
    assert caught.value.margin == 0.0
    assert caught.value.is_proven
    with pytest.raises(NotDifferentiable, match="inner"), tie_means("outer"), tie_means("inner"):
        bool(Dual(0.0, np.ones(1)))
    with pytest.raises(NotDifferentiable, match="no slip"):
        must_not_change(Dual(0.0, np.ones(1)), "no slip")
    must_not_change(Dual(0.0, np.zeros(1)), "no slip")
    must_not_change(0.0, "no slip")


def test_a_kink_carries_its_switching_function():
    # max(x*y, 2*x) at (1, 2) switches with x*y - 2*x, whose gradient is (y - 2, x) = (0, 1)
    x, y = duals([1.0, 2.0], np.eye(2))
    with pytest.raises(NotDifferentiable) as caught, tie_means("two products are equal"):
        _ = x * y > 2 * x
    assert caught.value.switch.v == 0.0
    assert caught.value.switch.d.tolist() == [0.0, 1.0]
    for kink, at in ((abs, x - 1), (np.sqrt, y - 2)):
        with pytest.raises(NotDifferentiable) as caught:
            kink(at)
        assert (caught.value.switch.v, caught.value.switch.d.tolist()) == (0.0, at.d.tolist())
    with pytest.raises(NotDifferentiable) as caught:
        must_not_change(y, "no slip")
    assert caught.value.switch is y


def test_a_dual_is_no_float():
    x = Dual(X, np.ones(1))
    with pytest.raises(TypeError):
        float(x)
    with pytest.raises(TypeError):
        np.zeros(2)[0] = x
    with pytest.raises(TypeError):
        np.array([x], dtype=np.float64)
    with pytest.raises(TypeError):
        np.linalg.inv(np.array([[x]]))


def test_arrays_with_derivatives():
    array = duals([[1.0, 2.0], [3.0, 4.0]], np.arange(8.0).reshape(2, 2, 2))
    assert plain(array).tolist() == [[1, 2], [3, 4]]
    assert changes(array[1]).tolist() == [[4, 5], [6, 7]]
    assert changes(np.array([1.0, Dual(2.0, np.ones(2))])).tolist() == [[0, 0], [1, 1]]
    # several linear pieces along the first axis
    assert changes(np.array([Dual(1.0, np.ones((3, 2))), Dual(2.0, np.ones(2))])).shape == (3, 2, 2)


def test_the_root_of_equations_has_their_derivatives():
    # x + y = a, x y = b at (1, 2): dx = (x da - db)/(x - y), dy = (db - y da)/(x - y)
    a, b = duals([3.0, 2.0], np.eye(2))
    root = implicit(lambda z, a, b: np.array([z[0] + z[1] - a, z[0] * z[1] - b]), np.array([1.0, 2.0]), a, b)
    assert plain(root) == pytest.approx([1, 2], abs=1e-15)
    assert changes(root) == pytest.approx(np.array([[-1.0, 1.0], [2.0, -1.0]]), abs=1e-14)
