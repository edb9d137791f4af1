"""Compiled kernels: the shapes of what they return."""

import numpy as np
import pytest

from hybrid.expressions import Builder, compile_kernel


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
