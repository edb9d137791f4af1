"""Roots between signs that were seen before: no sign of rounding raises."""

import numpy as np
import pytest

from hybrid.contact.compliance.following import first_missed
from hybrid.dynamics.crossing import crossing


@pytest.mark.parametrize("residue", [-1e-17, 0.0, 1e-17])
def test_a_function_that_vanishes_at_an_end_up_to_rounding_has_its_root_there(residue):
    assert crossing(lambda x: x + residue, 0.0, 1.0, xtol=1e-12) == pytest.approx(0, abs=1e-12)
    assert crossing(lambda x: x - 1 + residue, 0.0, 1.0, xtol=1e-12) == pytest.approx(1, abs=1e-12)


def test_a_guard_that_starts_at_zero_and_looks_negative_at_the_second_sight_falls_at_once():
    seen = []

    def guard(t, y):
        seen.append(y[0])
        return -y[0] if y[0] else 1.5e-17 - 1e-17 * seen.count(0.0)

    guard.direction = -1.0
    assert first_missed([guard], lambda t: np.array([t]), np.array([0.0, 1.0])) == (0.0, 0)
