"""The catalogue's mechanisms written by hand, as plain functions of mpmath numbers.

Nothing here calls the code under test: energies, applied forces, gaps and tangential displacements are
stated again, often by another road (kinetic energy from the turning axis, a rotation as a complex factor),
so that a mistake in a declaration shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import mpmath as mp
import numpy as np

DIGITS = 60
STEP = mp.mpf(10) ** -20  # truncation of a central difference about STEP**2, rounding 10**-DIGITS / STEP**2

Values = Sequence[Any]
Parameters = Mapping[str, Any]
Contact = tuple[Any, tuple[Any, ...]]  # gap (None: friction without a gap), tangential displacements
Contacts = dict[str, Contact]


@attrs.frozen(kw_only=True)
class Body:
    """A mechanism by hand; random tests draw postures from ``low`` to ``high``, parameters from ``drawn``."""

    kinetic: Callable[[Values, Values, Parameters], Any]
    potential: Callable[[Values, Parameters], Any]
    contacts: Callable[[Values, Any, Parameters], Contacts]
    low: tuple[float, ...]
    high: tuple[float, ...]
    drawn: dict[str, tuple[float, float]]
    applied: Callable[[Values, Any, Parameters], Sequence[Any]] | None = None

    def force(self, q: Values, t: Any, p: Parameters) -> Sequence[Any]:
        return [0] * len(q) if self.applied is None else self.applied(q, t, p)

    def energy(self, q: Values, v: Values, p: Parameters) -> Any:
        return self.kinetic(q, v, p) + self.potential(q, p)


def _planar(q: Values, v: Values, p: Parameters, inertia: str) -> Any:
    return p["m"] * (v[0] ** 2 + v[1] ** 2) / 2 + p[inertia] * v[2] ** 2 / 2


def _weight(q: Values, p: Parameters) -> Any:
    return p["m"] * p["g"] * q[1]


def _end(q: Values, p: Parameters, side_x: int, side_y: int) -> tuple[Any, Any]:
    return q[0] + side_x * p["l"] * mp.cos(q[2]), q[1] + side_y * p["l"] * mp.sin(q[2])


def _rod_on_incline_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    x, y = _end(q, p, -1, -1)
    return {"tip": (y, (x,))}


def _painleve_rod_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    x, y = _end(q, p, 1, -1)
    return {"tip": (y, (x,))}


def _ladder_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    foot_x, foot_y = _end(q, p, 1, -1)
    top_x, top_y = _end(q, p, -1, 1)
    return {"floor": (foot_y, (foot_x,)), "wall": (top_x, (top_y,))}


def _two_ends_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    left_x, left_y = _end(q, p, -1, -1)
    right_x, right_y = _end(q, p, 1, 1)
    return {"left": (left_y, (left_x,)), "right": (right_y, (right_x,))}


def _axis(q: Values) -> tuple[Any, Any, Any]:
    return -mp.sin(q[3]) * mp.cos(q[4]), mp.cos(q[3]) * mp.cos(q[4]), mp.sin(q[4])


def _oblique_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    # The axis turns with r' = d/ds r(q + s v); a slender rod has T = m |c'|^2 / 2 + J |r'|^2 / 2.
    ahead = _axis([a + STEP * b for a, b in zip(q, v, strict=True)])
    behind = _axis([a - STEP * b for a, b in zip(q, v, strict=True)])
    turn = [(a - b) / (2 * STEP) for a, b in zip(ahead, behind, strict=True)]
    centre = [v[i] + p["l"] * turn[i] for i in range(3)]
    return (p["m"] * sum(c**2 for c in centre) + p["J"] * sum(w**2 for w in turn)) / 2


def _pendulum_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    s, c = p["l"] * mp.sin(q[2]), p["l"] * mp.cos(q[2])
    com = (v[0] + s * v[2]) ** 2 + (v[1] + c * v[2]) ** 2
    return (p["M"] * (v[0] ** 2 + v[1] ** 2) + p["m"] * com + p["J"] * v[2] ** 2) / 2


def _arm_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    # Uniform links: centres at half length, central inertia m l^2 / 12.
    elbow = (p["l1"] * mp.cos(q[0]) * v[0], p["l1"] * mp.sin(q[0]) * v[0])
    half = (p["l2"] * mp.cos(q[1]) * v[1] / 2, p["l2"] * mp.sin(q[1]) * v[1] / 2)
    second = (elbow[0] + half[0]) ** 2 + (elbow[1] + half[1]) ** 2
    first = p["m1"] * p["l1"] ** 2 * v[0] ** 2 * (mp.mpf(1) / 4 + mp.mpf(1) / 12)
    return (first + p["m2"] * second + p["m2"] * p["l2"] ** 2 * v[1] ** 2 / 12) / 2


def _arm_potential(q: Values, p: Parameters) -> Any:
    first = p["H"] - p["l1"] * mp.cos(q[0]) / 2
    second = p["H"] - p["l1"] * mp.cos(q[0]) - p["l2"] * mp.cos(q[1]) / 2
    return p["g"] * (p["m1"] * first + p["m2"] * second)


def _arm_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    height = p["H"] - p["l1"] * mp.cos(q[0]) - p["l2"] * mp.cos(q[1]) - p["heave"] * mp.sin(p["Omega"] * t)
    along = p["l1"] * mp.sin(q[0]) + p["l2"] * mp.sin(q[1]) - p["rail_speed"] * t
    return {"tip": (height, (along,))}


def _shoe_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    # The contact point (a, -h) of the shoe turns clockwise by phi about the hinge; the belt is at height -h.
    turned = (p["a"] - 1j * p["h"]) * mp.expj(-q[0])
    return {"tip": (turned.imag + p["h"], (turned.real + p["belt_speed"] * t,))}


_ROD = {"m": (0.5, 2.0), "l": (0.5, 2.0), "g": (0.5, 10.0), "mu": (0.1, 2.0)}

BODIES: dict[str, Body] = {
    "rod_on_incline": Body(
        kinetic=lambda q, v, p: _planar(q, v, p, "I"),
        potential=_weight,
        contacts=_rod_on_incline_contacts,
        applied=lambda q, t, p: [p["m"] * p["g"] * p["epsilon"], 0, 0],
        low=(-1, 0, 0),
        high=(1, 3, np.pi),
        drawn={**_ROD, "epsilon": (0, 1)},
    ),
    "painleve_rod": Body(
        kinetic=lambda q, v, p: _planar(q, v, p, "J"),
        potential=_weight,
        contacts=_painleve_rod_contacts,
        low=(-1, 0, 0),
        high=(1, 3, np.pi),
        drawn={**_ROD, "alpha": (0.5, 5)},
    ),
    "oblique_rod": Body(
        kinetic=_oblique_kinetic,
        potential=lambda q, p: p["m"] * p["g"] * (q[2] + p["l"] * _axis(q)[2]),
        contacts=lambda q, t, p: {"tip": (q[2], (q[0], q[1]))},
        low=(-1, -1, 0, -np.pi, 0.1),
        high=(1, 1, 1, np.pi, 1.4),
        drawn=_ROD,
    ),
    "two_carts": Body(
        kinetic=lambda q, v, p: (p["m1"] * v[0] ** 2 + p["m2"] * v[1] ** 2) / 2,
        potential=lambda q, p: (p["k1"] * q[0] ** 2 + p["k2"] * (q[1] - q[0]) ** 2) / 2,
        contacts=lambda q, t, p: {"stop": (q[0], ())},
        low=(0, -1),
        high=(2, 3),
        drawn={"m1": (0.5, 2), "m2": (0.5, 2), "k1": (0.5, 4), "k2": (0.5, 4)},
    ),
    "ladder_in_corner": Body(
        kinetic=lambda q, v, p: _planar(q, v, p, "J"),
        potential=_weight,
        contacts=_ladder_contacts,
        low=(0, 0, 0.1),
        high=(3, 3, 1.5),
        drawn={**_ROD, "kappa": (0.1, 1)},
    ),
    "rod_two_ends": Body(
        kinetic=lambda q, v, p: _planar(q, v, p, "I"),
        potential=_weight,
        contacts=_two_ends_contacts,
        applied=lambda q, t, p: [p["m"] * p["g"] * p["epsilon"], 0, 0],
        low=(-1, 0, -1.5),
        high=(1, 3, 1.5),
        drawn={**_ROD, "epsilon": (0, 1)},
    ),
    "slider_pendulum": Body(
        kinetic=_pendulum_kinetic,
        potential=lambda q, p: p["g"] * ((p["M"] + p["m"]) * q[1] + p["m"] * p["l"] * mp.sin(q[2])),
        contacts=lambda q, t, p: {"floor": (q[1], (q[0],))},
        low=(-1, 0, 0),
        high=(1, 1, np.pi),
        drawn={**_ROD, "M": (0, 2), "J": (0.05, 1)},
    ),
    "two_link_arm": Body(
        kinetic=_arm_kinetic,
        potential=_arm_potential,
        contacts=_arm_contacts,
        low=(-1.5, -1.5),
        high=(1.5, 1.5),
        drawn={"m1": (0.5, 2), "m2": (0.5, 2), "l1": (0.5, 1), "l2": (0.5, 1), "g": (0.5, 10), "H": (1, 2.5)}
        | {"rail_speed": (-2, 2), "heave": (-0.3, 0.3), "Omega": (0.5, 3)},
    ),
    "brake_shoe": Body(
        kinetic=lambda q, v, p: p["J"] * v[0] ** 2 / 2,
        potential=lambda q, p: mp.mpf(0),
        contacts=_shoe_contacts,
        applied=lambda q, t, p: [p["Q"]],
        low=(-0.5,),
        high=(0,),
        drawn={"J": (0.5, 2), "a": (0.5, 2), "h": (0.5, 2), "Q": (0, 3), "belt_speed": (-2, 2)},
    ),
    "bouncing_ball": Body(
        kinetic=lambda q, v, p: p["m"] * v[0] ** 2 / 2,
        potential=lambda q, p: p["m"] * p["g"] * q[0],
        contacts=lambda q, t, p: {"floor": (q[0], ())},
        low=(0,),
        high=(3,),
        drawn={"m": (0.5, 2), "g": (0.5, 10), "e": (0, 1)},
    ),
    "block_on_incline": Body(
        kinetic=lambda q, v, p: p["m"] * (v[0] ** 2 + v[1] ** 2) / 2,
        potential=lambda q, p: p["m"] * p["g"] * (q[1] * mp.cos(p["alpha"]) - q[0] * mp.sin(p["alpha"])),
        contacts=lambda q, t, p: {"floor": (q[1], (q[0],))},
        low=(-1, 0),
        high=(1, 1),
        drawn={"m": (0.5, 2), "g": (0.5, 10), "alpha": (0, 1.5)},
    ),
}
