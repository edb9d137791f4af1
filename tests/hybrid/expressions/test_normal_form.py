"""Names that have an influence on the value of an expression, against values at other points."""

import numpy as np
import pytest

from hybrid.expressions import Builder, dependencies


def rotated(build):
    """The length of a vector (1, x) turned by y, over that of another: no influence of y."""
    x, y, two = build.name("x"), build.name("y"), build.number(2)
    sine, cosine = build.call("sin", y), build.call("cos", y)
    first = build.subtract(cosine, build.multiply(x, sine))
    second = build.add(sine, build.multiply(x, cosine))
    return build.divide(build.number(1), build.add(build.power(first, two), build.power(second, two)))


def offset(build):
    """The same and a multiple of the third power of a cosine of y: y counts."""
    cubed = build.power(build.call("cos", build.name("y")), build.number(3))
    return build.add(rotated(build), build.divide(cubed, build.number(7)))


@pytest.mark.parametrize(("written", "expected"), [(rotated, {"x"}), (offset, {"x", "y"})])
def test_names_with_influence(written, expected):
    build = Builder()
    root = written(build)
    graph = build.graph()
    assert dependencies(graph, root) == expected
    rng = np.random.default_rng(5)
    x, y, other = rng.uniform(0.1, 1.0, 3)

    def value(y):
        found = 1 / ((np.cos(y) - x * np.sin(y)) ** 2 + (np.sin(y) + x * np.cos(y)) ** 2)
        return found if written is rotated else found + np.cos(y) ** 3 / 7

    # rounding of a dozen operations on numbers about one; the cosines differ by more than a hundredth
    assert (abs(value(y) - value(other)) < 1e-14) == ("y" not in expected)


def test_a_product_that_takes_too_many_terms_is_not_multiplied_out():
    # 496 terms a side have 1891 terms in their product, and 246 016 products; nothing is said to have no influence
    build = Builder()
    x, y, one = build.name("x"), build.name("y"), build.number(1)
    power = build.power(build.add(build.add(one, x), y), build.number(30))
    root = build.multiply(power, power)
    assert dependencies(build.graph(), root) == {"x", "y"}
