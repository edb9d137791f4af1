"""Roots between signs that were seen before: no sign of rounding raises."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid.contact.compliance.following import first_missed, follow_until
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


def test_an_event_a_rounding_after_the_beginning_of_a_step_ends_the_integration():
    def rates(t, y):
        return np.array([y[1], -y[0]])

    y, how = np.array([1.0, 0.0]), {"rtol": 1e-9, "atol": 1e-9}
    # the steps before are as short as they may grow, whatever the tolerance
    for instant in solve_ivp(rates, (0, 50), y, method="DOP853", **how).t[4:-1]:
        end = np.nextafter(instant, np.inf)

        def guard(t, y, end=end):
            return end - t

        guard.terminal, guard.direction = True, -1.0
        found = follow_until(rates, (0, 50), y, [guard], **how)
        assert found.t == pytest.approx(end, rel=1e-14)
        assert found.y[0] == pytest.approx(np.cos(end), abs=1e-6)  # 100 steps with errors of 1e-9


def test_an_error_of_a_rate_is_met_once():
    asked = []

    def rates(t, y):
        asked.append(t)
        raise ValueError("no rate")

    with pytest.raises(ValueError, match="no rate"):
        follow_until(rates, (0, 1), np.zeros(1), [], rtol=1e-9, atol=1e-9)
    assert asked == [0.0]
