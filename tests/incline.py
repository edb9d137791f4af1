"""The rod on an incline by hand: m = g = l = 1, I = 1/3, lower end on the plane (Mamaev and Ivanova 2013).

The only unknowns at a posture phi and rate omega are the normal and friction force, and omega enters only as
w = omega^2, in which every quantity below is linear. So each mode's domain in the phase plane is a set of
intervals of w over every phi. Nothing here calls the code under test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Line = tuple[Array, Array]  # a + b w


def at(line: Line, w: Array) -> Array:
    return line[0] + line[1] * w


def stick_forces(phi: Array, epsilon: float) -> tuple[Line, Line]:
    """Normal and friction force of the rod as a pendulum about its resting tip.

    Moments about the tip: (4/3) phi'' = -(cos phi + epsilon sin phi); the centre's motion gives the forces.
    """
    s, c = np.sin(phi), np.cos(phi)
    turn = -0.75 * (c + epsilon * s)
    return (1 + c * turn, -s), (-s * turn - epsilon, -c)


def slide(phi: Array, epsilon: float, mu: float, side: int) -> tuple[Array, Line, Line]:
    """Inertia factor A, free normal acceleration b, A times the tangential acceleration, one sign."""
    s, c = np.sin(phi), np.cos(phi)
    A = 1 + 3 * c * c + 3 * side * mu * s * c
    q = -3 * s * c - side * mu * (1 + 3 * s * s)
    b = (-np.ones_like(phi), s)
    tangential = (A * epsilon + q, A * c - q * s)  # A (epsilon + c w) - q b
    return A, b, tangential


def labels(phi: Array, w: Array, *, mu: float, epsilon: float) -> dict[str, Array]:
    """For each mode at zero slip, where it is consistent."""
    N, T = (at(line, w) for line in stick_forces(phi, epsilon))
    found = {"stick": (N >= 0) & (np.abs(T) <= mu * N)}
    for side, name in ((1, "slide+"), (-1, "slide-")):
        A, b, tangential = slide(phi, epsilon, mu, side)
        found[name] = (-at(b, w) / A >= 0) & (side * at(tangential, w) / A >= 0)
    found["free"] = w * np.sin(phi) >= 1
    return found


def regions(phi: Array, omega: Array, *, mu: float, epsilon: float, side: int) -> Array:
    """Names of the regions at postures and rates that broadcast, at rest (side 0) or as the slip vanishes."""
    phi, w = np.broadcast_arrays(phi, omega**2)
    if side == 0:
        found = labels(phi, w, mu=mu, epsilon=epsilon)
    else:
        A, line, _ = slide(phi, epsilon, mu, side)
        b = at(line, w)
        found = {"free": b >= 0, f"slide{'+' if side > 0 else '-'}": b / A <= 0}
    return np.char.rstrip(_joined(found).astype(str), "|")


def _joined(found: dict[str, Array]) -> Array:
    joined = np.full(next(iter(found.values())).shape, "", dtype=object)
    for name in sorted(found):
        joined = np.where(found[name], joined + name + "|", joined)
    return np.where(joined == "", "none", joined)


def _fractions(phi: Array, lines: list[Line], sign: object, omega_max: float) -> dict[str, float]:
    """Area fractions in phi, omega: cut the omega axis at every root of a line and label the pieces."""
    roots = [np.sqrt(np.clip(-a / np.where(b == 0, np.inf, b), 0, omega_max**2)) for a, b in lines]
    cuts = np.sort(np.stack([np.zeros_like(phi), *roots, np.full_like(phi, omega_max)]), axis=0)
    middle, length = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts, axis=0)
    joined = sign(np.broadcast_to(phi, middle.shape), middle**2)
    weight = length / (omega_max * phi.size)
    return {str(name).rstrip("|"): float(weight[joined == name].sum()) for name in np.unique(joined[weight > 0])}


def fractions_at_rest(*, mu: float, epsilon: float, omega_max: float = 3.0, n: int = 40_000) -> dict[str, float]:
    """Area of every set of consistent modes at zero slip, as a fraction of phi < pi, |omega| < omega_max."""
    phi = (np.arange(n) + 0.5) * np.pi / n
    (N0, N1), (T0, T1) = stick_forces(phi, epsilon)
    lines = [
        (N0, N1),
        (mu * N0 - T0, mu * N1 - T1),
        (mu * N0 + T0, mu * N1 + T1),
        (-np.ones_like(phi), np.sin(phi)),
    ]
    lines += [slide(phi, epsilon, mu, side)[2] for side in (1, -1)]
    return _fractions(phi, lines, lambda p, w: _joined(labels(p, w, mu=mu, epsilon=epsilon)), omega_max)


def fractions_slipping(*, mu: float, side: int, omega_max: float = 3.0, n: int = 40_000) -> dict[str, float]:
    """The same at slip of sign ``side``; the slope of the plane does not enter."""
    phi = (np.arange(n) + 0.5) * np.pi / n

    def sign(p: Array, w: Array) -> Array:
        A, b, _ = slide(p, 0.0, mu, side)
        return _joined({"slide": -at(b, w) / A >= 0, "free": at(b, w) >= 0})

    return _fractions(phi, [(-np.ones_like(phi), np.sin(phi))], sign, omega_max)


def distance_to_boundaries(points: Array, *, mu: float, epsilon: float) -> Array:
    """Distance of points (k, 2) of the phase plane to the nearest curve on which some inequality is an equality."""

    def curves(x: Array) -> Array:
        phi, w = x[:, 0], x[:, 1] ** 2
        (N0, N1), (T0, T1) = stick_forces(phi, epsilon)
        N, T = N0 + N1 * w, T0 + T1 * w
        found = [N, mu * N - T, mu * N + T, w * np.sin(phi) - 1]
        for side in (1, -1):
            A, _, tangential = slide(phi, epsilon, mu, side)
            found += [A, at(tangential, w)]
        return np.stack(found)

    step = 1e-6  # central differences of smooth functions of order one: the gradient is good to 1e-9
    gradient = [(curves(points + d) - curves(points - d)) / (2 * step) for d in np.eye(2) * step]
    return np.asarray(np.min(np.abs(curves(points)) / np.hypot(*gradient), axis=0))
