"""Published and derived formulas of the catalogue's mechanisms, in plain numpy.

Nothing here calls the code under test. Delassus matrices are ordered normal directions first, then
tangential ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parameters = Mapping[str, float]


def _levers(m: float, inertia: float, directions: Sequence[Sequence[float]], levers: Sequence[float]) -> Array:
    """Free planar body: G_ij = d_i . d_j / m + a_i a_j / J, with a_i the moment of direction i."""
    d, a = np.array(directions, dtype=float), np.array(levers, dtype=float)
    return d @ d.T / m + np.outer(a, a) / inertia


def _rod_on_incline(q: Sequence[float], p: Parameters) -> Array:
    s, c = p["l"] * np.sin(q[2]), p["l"] * np.cos(q[2])
    return _levers(p["m"], p["m"] * p["l"] ** 2 / 3, [(0, 1), (1, 0)], [-c, s])


def _painleve_rod(q: Sequence[float], p: Parameters) -> Array:
    # Genot and Brogliato 1999, Hogan and Kristiansen 2017: m G = [[1 + a c^2, a s c], [a s c, 1 + a s^2]].
    s, c, a = np.sin(q[2]), np.cos(q[2]), p["alpha"]
    return np.array([[1 + a * c * c, a * s * c], [a * s * c, 1 + a * s * s]]) / p["m"]


def _oblique_rod(q: Sequence[float], p: Parameters) -> Array:
    # End of a slender rod along the unit vector r: m G = 4 I - 3 r r^T.
    psi, theta = q[3], q[4]
    r = np.array([np.sin(theta), -np.sin(psi) * np.cos(theta), np.cos(psi) * np.cos(theta)])
    return (4 * np.eye(3) - 3 * np.outer(r, r)) / p["m"]


def _ladder(q: Sequence[float], p: Parameters) -> Array:
    s, c = p["l"] * np.sin(q[2]), p["l"] * np.cos(q[2])
    inertia = p["kappa"] * p["m"] * p["l"] ** 2
    return _levers(p["m"], inertia, [(0, 1), (1, 0), (1, 0), (0, 1)], [-c, s, -s, c])


def _rod_two_ends(q: Sequence[float], p: Parameters) -> Array:
    s, c = p["l"] * np.sin(q[2]), p["l"] * np.cos(q[2])
    return _levers(p["m"], p["m"] * p["l"] ** 2 / 3, [(0, 1), (0, 1), (1, 0), (1, 0)], [-c, c, s, -s])


def slider_pendulum_alpha(p: Parameters) -> float:
    """Effective m l^2 / J of a rod with a mass M at its foot: m^2 l^2 / ((M + m) J + M m l^2)."""
    return p["m"] ** 2 * p["l"] ** 2 / ((p["M"] + p["m"]) * p["J"] + p["M"] * p["m"] * p["l"] ** 2)


def _slider_pendulum(q: Sequence[float], p: Parameters) -> Array:
    s, c, a = np.sin(q[2]), np.cos(q[2]), slider_pendulum_alpha(p)
    return np.array([[1 + a * c * c, a * s * c], [a * s * c, 1 + a * s * s]]) / (p["M"] + p["m"])


def _two_link_arm(q: Sequence[float], p: Parameters) -> Array:
    # Uniform links, angles from the vertical (Zhao, Liu, Ma and Chen 2008).
    coupling = p["m2"] * p["l1"] * p["l2"] * np.cos(q[0] - q[1]) / 2
    M = np.array(
        [[(p["m1"] / 3 + p["m2"]) * p["l1"] ** 2, coupling], [coupling, p["m2"] * p["l2"] ** 2 / 3]],
        dtype=float,
    )
    lengths = np.array([p["l1"], p["l2"]])
    W = np.stack([lengths * np.sin(q), lengths * np.cos(q)])
    return W @ np.linalg.inv(M) @ W.T


def _brake_shoe(q: Sequence[float], p: Parameters) -> Array:
    lever = np.array([p["h"] * np.sin(q[0]) - p["a"] * np.cos(q[0]), -p["a"] * np.sin(q[0]) - p["h"] * np.cos(q[0])])
    return np.outer(lever, lever) / p["J"]


DELASSUS: dict[str, Callable[[Sequence[float], Parameters], Array]] = {
    "rod_on_incline": _rod_on_incline,
    "painleve_rod": _painleve_rod,
    "oblique_rod": _oblique_rod,
    "two_carts": lambda q, p: np.array([[1 / p["m1"]]]),
    "ladder_in_corner": _ladder,
    "rod_two_ends": _rod_two_ends,
    "slider_pendulum": _slider_pendulum,
    "two_link_arm": _two_link_arm,
    "brake_shoe": _brake_shoe,
    "bouncing_ball": lambda q, p: np.array([[1 / p["m"]]]),
    "block_on_incline": lambda q, p: np.eye(2) / p["m"],
}
