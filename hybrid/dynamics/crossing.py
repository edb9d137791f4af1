"""The root between two places at which a function of one variable was seen with opposite signs."""

from __future__ import annotations

from collections.abc import Callable

from hybrid.tolerances import SUMMED

__all__ = ["crossing"]

_MOST_STEPS = 10_000  # Brent's method may take the square of what halving takes, some 50: at a zero of order 7, say


def crossing(f: Callable[[float], float], low: float, high: float, *, xtol: float, rtol: float = SUMMED) -> float:
    """Where a function changes its sign, by Brent's method; an end whose sign was rounding is the root itself.

    Parameters
    ----------
    f : callable
    low, high : float
    xtol, rtol : float
        As for ``scipy.optimize.brentq``.

    Returns
    -------
    float
        The end with the smaller value where both have one sign: signs seen elsewhere need not be those seen here.

    Examples
    --------
    >>> round(crossing(lambda x: x**2 - 2, 0.0, 2.0, xtol=1e-12), 9)
    1.414213562
    >>> crossing(lambda x: x + 1e-17, 0.0, 1.0, xtol=1e-12)
    0.0
    """
    from scipy.optimize import brentq

    ends = {low: f(low), high: f(high)}
    if (ends[low] >= 0.0 and ends[high] >= 0.0) or (ends[low] <= 0.0 and ends[high] <= 0.0):
        return low if abs(ends[low]) <= abs(ends[high]) else high

    def known(x: float) -> float:
        return ends[x] if x in ends else f(x)

    return float(brentq(known, low, high, xtol=xtol, rtol=rtol, maxiter=_MOST_STEPS))
