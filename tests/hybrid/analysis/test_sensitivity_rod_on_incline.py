"""Event times of the rod that sticks, slips and slips back: their derivatives against differences in 40 digits."""

import mpmath
import pytest

from hybrid import Functional, sensitivity, simulate, solve_state
from tests.catalogue import dynamics_of

PINS = {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}
NAMES = ["mu", "phi", "phi_dot"]
# Start of slip and its reversal, and their derivatives with respect to mu, phi(0) and phi_dot(0); by in_40_digits().
TIMES = (0.16127030015596156590, 1.84262605789365840227)
SLOPES = {
    "mu": (0.74072225927476886181, -1.0267577749286116987),
    "phi": (-0.54806350191447929427, 1.6875732963190933353),
    "phi_dot": (1.0509159238018010756, 2.6690764385342776952),
}


def event_times(mu, phi, rate):
    """Times at which the rod (m = g = l = 1, I = 1/3) starts to slip and at which the slip ends, by Taylor series.

    Equations by hand from Newton's law: forces N and T at the lower end, y = sin(phi), and T = mu N while it slips to
    the negative side.
    """
    mp = mpmath

    def cone(y):
        turning = -3 * mp.cos(y[0]) / 4
        tangential = -mp.sin(y[0]) * turning - mp.cos(y[0]) * y[1] ** 2
        normal = 1 + mp.cos(y[0]) * turning - mp.sin(y[0]) * y[1] ** 2
        return mu * normal - abs(tangential)

    def slide(t, y):
        c, s = mp.cos(y[0]), mp.sin(y[0])
        arm = c - mu * s
        turning = -(1 - s * y[1] ** 2) * arm / (mp.mpf(1) / 3 + c * arm)
        normal = 1 + c * turning - s * y[1] ** 2
        return [y[1], turning, mu * normal + s * turning + c * y[1] ** 2]

    sticking = mp.odefun(lambda t, y: [y[1], -3 * mp.cos(y[0]) / 4], 0, [phi, rate])
    first = mp.findroot(lambda t: cone(sticking(t)), (mp.mpf("0.15"), mp.mpf("0.17")))
    slipping = mp.odefun(slide, first, [*sticking(first), mp.mpf(0)])
    return first, mp.findroot(lambda t: slipping(t)[2], (mp.mpf("1.84"), mp.mpf("1.845")))


@pytest.mark.long
def test_figures_in_40_digits():
    with mpmath.workdps(40):
        base = [mpmath.mpf(text) for text in ("0.5", "0.4", "0.5")]
        h = mpmath.mpf(10) ** -10
        assert [float(t) for t in event_times(*base)] == pytest.approx(TIMES, abs=1e-15)
        for index, name in enumerate(NAMES):
            high, low = list(base), list(base)
            high[index] += h
            low[index] -= h
            slopes = [(u - v) / (2 * h) for u, v in zip(event_times(*high), event_times(*low), strict=True)]
            assert [float(slope) for slope in slopes] == pytest.approx(SLOPES[name], abs=1e-15)


def test_derivatives_of_the_event_times():
    rod = dynamics_of("rod_on_incline")
    motion = simulate(rod, solve_state(rod, PINS), t_end=2)
    found = sensitivity(motion, Functional("x_dot**2", "phi"), NAMES, method="forward", pins=PINS)
    assert [event.kind.value for event in found.events] == ["slip start", "slip end"]
    for event, t, place in zip(found.events, TIMES, (0, 1), strict=True):
        assert event.t == pytest.approx(t, abs=1e-13)
        for name in NAMES:
            assert event.gradient[name] == pytest.approx(SLOPES[name][place], abs=1e-9)


def test_adjoint_and_forward_agree_through_stick_slip_and_reversal():
    rod = dynamics_of("rod_on_incline")
    motion = simulate(rod, solve_state(rod, PINS), t_end=2)
    functional = Functional("x_dot**2 + y", "phi*x_dot")
    names = [*NAMES, "l", "epsilon", "g"]
    adjoint, forward = (
        sensitivity(motion, functional, names, method=method, pins=PINS).gradient for method in ("adjoint", "forward")
    )
    size = max(abs(value) for value in forward.values())
    assert list(adjoint.values()) == pytest.approx(list(forward.values()), abs=1e-11 * size)


def test_a_pinned_slip_of_zero_has_no_two_sided_derivative():
    rod = dynamics_of("rod_on_incline")
    motion = simulate(rod, solve_state(rod, PINS), t_end=1)
    refusal = sensitivity(motion, Functional("phi"), ["slip.tip"], pins=PINS).refusal
    assert refusal.t == 0.0
    assert "slip.tip" in refusal.reason
