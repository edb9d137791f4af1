"""Compiled kernels and programs: the shapes of what they return, and when they compute it."""

from functools import reduce

import numpy as np
import pytest

from hybrid.expressions import Builder, compile_kernel, compile_program


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3,)])
def test_a_quantity_keeps_the_axes_of_what_it_depends_on(shape):
    """Also where the only state is one of an array: what does not depend on its axes must not get them."""
    build = Builder()
    x, k = build.name("x"), build.name("k")
    product = build.multiply(x, k)
    kernel = compile_kernel(build.graph(), {"f": np.array([product]), "g": np.array([x])}, [x, k])
    found = kernel([2.0, np.full(shape, 3.0)])
    assert found["f"].shape == (*shape, 1) and found["g"].shape == (1,)
    assert (found["f"] == 6.0).all() and (found["g"] == 2.0).all()


class Counted(float):
    """A number of which every product is counted."""

    products = 0

    def __mul__(self, other):
        Counted.products += 1
        return Counted(float(self) * float(other))

    __rmul__ = __mul__


def test_factors_that_are_parameters_are_multiplied_once():
    """``-m k**2 x y/2`` costs two products a state, and ``x y - m x`` two, with the signs that they have."""
    build = Builder()
    m, k, x, y, t = (build.name(name) for name in "mkxyt")
    minus_half = build.divide(build.number(-1), build.number(2))
    long = build.collected(reduce(build.multiply, (minus_half, m, x, k, k, y)))
    difference = build.subtract(build.multiply(x, y), build.multiply(m, x))
    program = compile_program(build.graph(), [long, difference], state=[x, y], time=t, parameters=[m, k])
    f = program.scalar([Counted(3.0), Counted(5.0)])
    Counted.products = 0
    assert f(0.0, [Counted(7.0), Counted(11.0)]) == (-0.5 * 3 * 25 * 7 * 11, 7 * 11 - 3 * 7)
    assert Counted.products <= 4
    (values, differences) = program.vector([3.0, 5.0])(0.0, np.array([[7.0, 1.0], [11.0, 2.0]]))
    assert values.tolist() == [-0.5 * 3 * 25 * 77, -0.5 * 3 * 25 * 2] and differences.tolist() == [56.0, -1.0]
