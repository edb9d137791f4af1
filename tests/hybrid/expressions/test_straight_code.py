import numpy as np
import pytest

from hybrid.expressions import NotRecordable, straight_line


def solved(A, b, x):
    inverse = np.linalg.inv(A)
    return inverse @ b, np.fmax(np.sqrt(np.abs(x)), b), (x * x).sum()


SAMPLES = [np.eye(3) + 0.1, np.ones(3), np.array([4.0, 9.0, 16.0])]


def test_it_does_what_the_function_does_to_arrays():
    rng = np.random.default_rng(5)
    written = straight_line(solved, SAMPLES)
    for _ in range(20):
        A = np.eye(3) + rng.uniform(-0.2, 0.2, (3, 3))
        b, x = rng.normal(size=3), rng.normal(size=3)
        first, second, third = written(A, b, x)
        # rounding of a system of three whose condition is below 10
        assert first == pytest.approx(np.linalg.solve(A, b), abs=1e-14)
        assert second.tolist() == np.fmax(np.sqrt(np.abs(x)), b).tolist()
        assert third.shape == () and third == pytest.approx(float(x @ x), rel=1e-15)


def test_without_a_pivot_of_the_sample_it_has_no_answer():
    written = straight_line(solved, SAMPLES)
    turned = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert written(turned, np.ones(3), np.ones(3)) is None


def test_where_an_operation_has_no_value_it_has_no_answer():
    written = straight_line(lambda x, y: [x / y, np.sqrt(x)], [[1.0], [2.0]])
    assert written(np.array([1.0]), np.array([0.0])) is None
    assert written(np.array([-1.0]), np.array([1.0])) is None
    assert written(np.array([4.0]), np.array([8.0]))[1].tolist() == [2.0]


@pytest.mark.parametrize(
    "other",
    [np.ones(3), np.ones((1, 2)), np.array([1.0 + 1.0j, 2.0]), np.array([1, 2]), np.ma.array([1.0, 2.0])],
    ids=["length", "axes", "complex", "integers", "masked"],
)
def test_other_arrays_than_it_was_written_for_are_not_taken(other):
    written = straight_line(lambda x: [x + x], [[1.0, 2.0]])
    assert written(np.array([1.0, 2.0]))[0].tolist() == [2.0, 4.0]
    assert written(other) is None


def test_a_negative_zero_is_zero():
    (found,) = straight_line(lambda x: [-x], [[1.0]])(np.array([0.0]))
    assert not np.signbit(found).any()


def test_the_larger_of_two_numbers_is_the_one_that_is_a_number():
    written = straight_line(lambda x, y: [np.fmax(x, y)], [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    (found,) = written(np.array([np.nan, 1.0, -3.0]), np.array([1.0, np.nan, -4.0]))
    assert found.tolist() == [1.0, 1.0, -3.0]


def test_what_is_no_arithmetic_is_refused():
    with pytest.raises(NotRecordable):
        straight_line(lambda x: [np.sin(x)], [[1.0]])
