"""The catalogue's linkages written by hand, with their Delassus matrices and constraints.

Nothing here calls the code under test; see ``tests.bodies``, whose conventions hold here too. Positions are complex
numbers, velocities their differences along the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

from tests.bodies import STEP, Body, Contacts, Parameters, Values

UNIT = (0.5, 2.0)
Points = Callable[[Values, Parameters], tuple[Any, ...]]


def _velocities(points: Points, q: Values, v: Values, p: Parameters) -> list[Any]:
    ahead = points([a + STEP * b for a, b in zip(q, v, strict=True)], p)
    behind = points([a - STEP * b for a, b in zip(q, v, strict=True)], p)
    return [(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)]


def _square(z: Any) -> Any:
    return z.real**2 + z.imag**2


def _bar(m: Any, first: Any, second: Any) -> Any:
    """Kinetic energy of a uniform bar from the velocities of its ends: m (a a + a b + b b)/6."""
    return m * (_square(first) + _square(second) + _square(first + second)) / 12


def _arm(q: Values, p: Parameters) -> tuple[Any, Any]:
    # downwards is the negative imaginary axis
    elbow = -1j * p["l1"] * mp.expj(q[0])
    return elbow, elbow - 1j * p["l2"] * mp.expj(q[1])


def _arm_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    elbow, tip = _velocities(_arm, q, v, p)
    return (p["m1"] * _square(elbow) + p["m2"] * _square(tip)) / 2


def _guided(q: Values, p: Parameters) -> tuple[Any, Any]:
    """B and C of the singular pendulum, the real axis down: C where the ray at angle u meets the ellipse."""
    cosine, sine = mp.cos(q[0]), mp.sin(q[0])
    slope = p["c"] * cosine / p["a"] ** 2
    inside = 1 - (p["c"] / p["a"]) ** 2
    square = (cosine / p["a"]) ** 2 + (sine / p["b"]) ** 2
    distance = inside / (mp.sqrt(slope**2 + square * inside) - slope)  # the root of the quadratic, turned over
    return p["l1"] * mp.expj(q[0] + q[1]), distance * mp.expj(q[0])


def _guided_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    B, C = _velocities(_guided, q, v, p)
    return (p["m_B"] * _square(B) + p["m_C"] * _square(C)) / 2


def _guided_potential(q: Values, p: Parameters) -> Any:
    B, C = _guided(q, p)
    return -p["g"] * (p["m_B"] * B.real + p["m_C"] * C.real)


def rod_extension(q: Values, p: Parameters) -> Any:
    """By how much B and C of the singular pendulum are farther apart than l2."""
    B, C = _guided(q, p)
    return abs(B - C) - p["l2"]


def _four_bar(q: Values, p: Parameters) -> tuple[Any, Any, Any]:
    crank = p["l1"] * mp.expj(q[0])
    return crank, crank + p["l2"] * mp.expj(q[1]), p["d"] + p["l3"] * mp.expj(q[2])


def _four_bar_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    crank, coupler, rocker = _velocities(_four_bar, q, v, p)
    return _bar(p["m1"], mp.mpc(0), crank) + _bar(p["m2"], crank, coupler) + _bar(p["m3"], mp.mpc(0), rocker)


def _four_bar_potential(q: Values, p: Parameters) -> Any:
    crank, coupler, rocker = (z.imag for z in _four_bar(q, p))
    return p["g"] * (p["m1"] * crank + p["m2"] * (crank + coupler) + p["m3"] * rocker) / 2


def opening(q: Values, p: Parameters) -> tuple[Any, Any]:
    """How far the coupler's end is from the rocker's, along both axes."""
    _, coupler, rocker = _four_bar(q, p)
    return (coupler - rocker).real, (coupler - rocker).imag


def _slider(q: Values, p: Parameters) -> tuple[Any, ...]:
    crank, rod = p["l1"] * mp.expj(q[0]), p["l2"] * mp.expj(q[1])
    return crank / 2, crank + rod / 2, crank + rod


def _slider_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    moving = zip(_velocities(_slider, q, v, p), v, (1, 2, 3), strict=True)
    return sum(p[f"m{i}"] * _square(z) + p[f"J{i}"] * rate**2 for z, rate, i in moving) / 2


def _slider_potential(q: Values, p: Parameters) -> Any:
    return p["g"] * sum(p[f"m{i}"] * z.imag for i, z in zip((1, 2, 3), _slider(q, p), strict=True))


CORNERS = {"upper_rear": (-1, 1), "upper_front": (1, 1), "lower_rear": (-1, -1), "lower_front": (1, -1)}


def _slider_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    centre = _slider(q, p)[2]
    found = {}
    for name, (front, top) in CORNERS.items():
        corner = centre + (front * p["a"] + 1j * top * p["b"]) * mp.expj(q[2])
        found[name] = (p["b"] + p["clearance"] - top * corner.imag, (corner.real,))
    return found


def _slider_delassus(q: Sequence[float], p: Parameters) -> np.ndarray:
    # Flores, Leine and Glocker 2010: mass matrix and directions of the slider-crank with clearance.
    m1, m2, m3, l1, l2 = p["m1"], p["m2"], p["m3"], p["l1"], p["l2"]
    coupling = (m2 / 2 + m3) * l1 * l2 * np.cos(q[0] - q[1])
    M = np.array(
        [
            [p["J1"] + (m1 / 4 + m2 + m3) * l1**2, coupling, 0],
            [coupling, p["J2"] + (m2 / 4 + m3) * l2**2, 0],
            [0, 0, p["J3"]],
        ]
    )
    s, c = np.sin(q), np.cos(q)
    normal, tangential = [], []
    for front, top in CORNERS.values():
        x, y = front * p["a"] * c[2] - top * p["b"] * s[2], front * p["a"] * s[2] + top * p["b"] * c[2]
        normal.append([-top * l1 * c[0], -top * l2 * c[1], -top * x])
        tangential.append([-l1 * s[0], -l2 * s[1], -y])
    W = np.array(normal + tangential).T
    return W.T @ np.linalg.inv(M) @ W


_GUIDED: dict[str, Any] = {
    "kinetic": _guided_kinetic,
    "contacts": lambda q, t, p: {},
    "low": (-1, -1),
    "high": (1, 1),
}
_GUIDED_DRAWN = {"m_B": UNIT, "m_C": UNIT, "l1": (1.5, 2.5), "l2": UNIT, "a": (3.5, 5), "b": (1.5, 3), "c": (-3.2, -1)}

LINKAGES: dict[str, Body] = {
    "double_pendulum": Body(
        kinetic=_arm_kinetic,
        potential=lambda q, p: p["g"] * sum(m * z.imag for m, z in zip((p["m1"], p["m2"]), _arm(q, p), strict=True)),
        contacts=lambda q, t, p: {},
        low=(-3, -3),
        high=(3, 3),
        drawn=dict.fromkeys(("m1", "m2", "l1", "l2", "g"), UNIT),
    ),
    "singular_pendulum": Body(potential=_guided_potential, drawn=_GUIDED_DRAWN, **_GUIDED),
    "singular_pendulum_spring": Body(
        potential=lambda q, p: _guided_potential(q, p) + p["k"] * rod_extension(q, p) ** 2 / 2,
        drawn=_GUIDED_DRAWN | {"k": (1, 100)},
        **_GUIDED,
    ),
    "painleve_klein": Body(
        kinetic=lambda q, v, p: (p["m1"] * (v[0] ** 2 + v[1] ** 2) + p["m2"] * (v[2] ** 2 + v[3] ** 2)) / 2,
        potential=lambda q, p: mp.mpf(0),
        contacts=lambda q, t, p: {"rail1": (None, (q[0],)), "rail2": (None, (q[2],))},
        applied=lambda q, t, p: [p["P1"], 0, p["P2"], 0],
        low=(-1, -1, -1, -1),
        high=(1, 1, 1, 1),
        drawn={"m1": UNIT, "m2": UNIT, "phi": (0.2, 1.4), "h": UNIT, "P1": (-2, 2), "P2": (-2, 2)},
    ),
    "four_bar": Body(
        kinetic=_four_bar_kinetic,
        potential=_four_bar_potential,
        contacts=lambda q, t, p: {},
        low=(-3, -3, -3),
        high=(3, 3, 3),
        drawn=dict.fromkeys(("l1", "l2", "l3", "d", "m1", "m2", "m3", "g"), UNIT),
    ),
    "slider_crank": Body(
        kinetic=_slider_kinetic,
        potential=_slider_potential,
        contacts=_slider_contacts,
        low=(-3, -1, -0.5),
        high=(3, 1, 0.5),
        drawn=dict.fromkeys(("l1", "l2", "a", "b", "m1", "m2", "m3", "J1", "J2", "J3", "g"), UNIT)
        | {"clearance": (1, 4)},
    ),
}

LINKAGE_DELASSUS: dict[str, Callable[[Sequence[float], Parameters], np.ndarray]] = {
    "double_pendulum": lambda q, p: np.zeros((0, 0)),
    "singular_pendulum": lambda q, p: np.zeros((0, 0)),
    "singular_pendulum_spring": lambda q, p: np.zeros((0, 0)),
    "painleve_klein": lambda q, p: np.diag([1 / p["m1"], 1 / p["m2"]]),
    "four_bar": lambda q, p: np.zeros((0, 0)),
    "slider_crank": _slider_delassus,
}
