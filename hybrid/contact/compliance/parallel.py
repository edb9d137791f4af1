"""Directions of a slip that an acceleration is parallel to, when it depends on the slip through its friction."""

from __future__ import annotations

import numpy as np

from hybrid.contact.compliance.path import Array
from hybrid.tolerances import NEARLY, ROUNDING

__all__ = ["parallel_directions"]

_CIRCLE = NEARLY  # distance from the unit circle of roots that may lie on it: those of a double root differ by 1e-8
_EXACT = ROUNDING  # of its coefficients: a root
_STEPS = 50


def parallel_directions(c: Array, B: Array) -> list[tuple[float, float]]:
    """Unit vectors ``u``, at most four, for which ``c + B u`` is a multiple of ``u``, of either sign.

    Parameters
    ----------
    c, B : array, (2,) and (2, 2)

    Returns
    -------
    list of (float, float)
        None where every direction is one.

    Examples
    --------
    >>> found = parallel_directions(np.array([0.0, 3.0]), -np.eye(2))
    >>> sorted((round(x, 9) + 0.0, round(y, 9)) for x, y in found)
    [(0.0, -1.0), (0.0, 1.0)]
    """
    # u x (c + B u) = c2 cos - c1 sin + m + p cos 2 + q sin 2 of its angle, a polynomial of degree 4 in exp(i angle)
    m, p, q = (B[1, 0] - B[0, 1]) / 2, (B[1, 0] + B[0, 1]) / 2, (B[1, 1] - B[0, 0]) / 2
    first, second = (c[1] + 1j * c[0]) / 2, (p - 1j * q) / 2
    size = abs(m) + abs(p) + abs(q) + abs(c[0]) + abs(c[1])
    coefficients = np.array([second, first, m, np.conj(first), np.conj(second)])
    coefficients[np.abs(coefficients) <= _EXACT * size] = 0.0
    if not coefficients.any():
        return []

    def value(angle: float) -> float:
        single = c[1] * np.cos(angle) - c[0] * np.sin(angle)
        return float(single + m + p * np.cos(2 * angle) + q * np.sin(2 * angle))

    def slope(angle: float) -> float:
        single = -c[1] * np.sin(angle) - c[0] * np.cos(angle)
        return float(single - 2 * p * np.sin(2 * angle) + 2 * q * np.cos(2 * angle))

    found: list[tuple[float, float]] = []
    for root in np.roots(coefficients):
        if not abs(abs(root) - 1.0) <= _CIRCLE:
            continue
        angle = float(np.angle(root))
        for _ in range(_STEPS):
            if abs(value(angle)) <= _EXACT * size or slope(angle) == 0.0:
                break
            angle -= value(angle) / slope(angle)
        if abs(value(angle)) <= _EXACT * size:
            found.append((float(np.cos(angle)), float(np.sin(angle))))
    return found
