"""The catalogue's mechanisms of impact, rolling and stick-slip written by hand, with their Delassus matrices.

Nothing here calls the code under test; see ``tests.bodies``, whose conventions hold here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

from tests.bodies import Body, Contacts, Parameters, Values

UNIT = (0.5, 2.0)


def _bird(v: Values, p: Parameters) -> Any:
    """Height, or its rate, of the woodpecker's centre of mass: y + l_M phi_M + l_G phi_S."""
    return v[0] + p["l_M"] * v[1] + p["l_G"] * v[2]


def _woodpecker_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    turning = p["J_M"] * v[1] ** 2 + p["J_S"] * v[2] ** 2
    return (p["m_M"] * v[0] ** 2 + p["m_S"] * _bird(v, p) ** 2 + turning) / 2


def _woodpecker_potential(q: Values, p: Parameters) -> Any:
    return p["g"] * (p["m_M"] * q[0] + p["m_S"] * _bird(q, p)) + p["c_phi"] * (q[2] - q[1]) ** 2 / 2


def _woodpecker_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    # Small rotations about centres: a point (a, b) from its centre moves by (-b phi, a phi). The beak is at
    # (-l_S, h_S) from the bird's centre, the inner edges of the sleeve at (r_M, -+h_M) from the sleeve's.
    beak = p["l_M"] + p["l_G"] - p["l_S"] - p["h_S"] * q[2] - p["r_0"]
    lower = p["r_M"] + p["h_M"] * q[1] - p["r_0"]
    upper = p["r_M"] - p["h_M"] * q[1] - p["r_0"]
    height = q[0] + p["r_M"] * q[1]
    return {"beak": (beak, (_bird(q, p) - p["l_S"] * q[2],)), "lower": (lower, (height,)), "upper": (upper, (height,))}


def _woodpecker_delassus(q: Sequence[float], p: Parameters) -> np.ndarray:
    # Leine, Glocker and Van Campen 2001, equations of motion and contact directions.
    m, lM, lG = p["m_S"], p["l_M"], p["l_G"]
    M = np.array(
        [
            [m + p["m_M"], m * lM, m * lG],
            [m * lM, p["J_M"] + m * lM**2, m * lM * lG],
            [m * lG, m * lM * lG, p["J_S"] + m * lG**2],
        ]
    )
    normal = [(0, 0, -p["h_S"]), (0, p["h_M"], 0), (0, -p["h_M"], 0)]
    tangential = [(1, lM, lG - p["l_S"]), (1, p["r_M"], 0), (1, p["r_M"], 0)]
    W = np.array(normal + tangential).T
    return W.T @ np.linalg.inv(M) @ W


def _corner(q: Values, p: Parameters, side: int) -> tuple[Any, Any]:
    # A lower corner of the block as a complex number, turned about the centre.
    turned = (side * p["b"] - 1j * p["h"]) * mp.expj(q[2])
    return q[0] + turned.real, q[1] + turned.imag


def _block_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    left_x, left_y = _corner(q, p, -1)
    right_x, right_y = _corner(q, p, 1)
    return {"left": (left_y, (left_x,)), "right": (right_y, (right_x,))}


def _block_delassus(q: Sequence[float], p: Parameters) -> np.ndarray:
    left, right = (np.array([side * p["b"], -p["h"]]) for side in (-1, 1))
    turn = np.array([[np.cos(q[2]), -np.sin(q[2])], [np.sin(q[2]), np.cos(q[2])]])
    (lx, ly), (rx, ry) = turn @ left, turn @ right
    # unit forces at a corner (a, b) from the centre: normal moment a, tangential moment -b
    d = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    levers = np.array([lx, rx, -ly, -ry])
    return d @ d.T / p["m"] + np.outer(levers, levers) * 3 / (p["m"] * (p["b"] ** 2 + p["h"] ** 2))


def _ball_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    # The lowest point moves with v + omega x (0, 0, -R).
    return {"floor": (q[2] - p["R"], (q[0] - p["R"] * q[4], q[1] + p["R"] * q[3]))}


def _ball_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    return p["m"] * sum(x**2 for x in v[:3]) / 2 + p["m"] * p["R"] ** 2 * sum(w**2 for w in v[3:]) / 5


def _pendulum_kinetic(q: Values, v: Values, p: Parameters) -> Any:
    # Velocities of the centres of mass as complex numbers; x + i y of a link at angle a from the downward vertical
    # is -i l e^(i a).
    elbow = p["l1"] * mp.expj(q[0]) * v[0]
    upper = p["s1"] * mp.expj(q[0]) * v[0]
    lower = elbow + p["s2"] * mp.expj(q[1]) * v[1]
    turning = p["J1"] * v[0] ** 2 + p["J2"] * v[1] ** 2
    return (p["m1"] * abs(upper) ** 2 + p["m2"] * abs(lower) ** 2 + turning) / 2


def _pendulum_potential(q: Values, p: Parameters) -> Any:
    upper = p["H"] - p["s1"] * mp.cos(q[0])
    lower = p["H"] - p["l1"] * mp.cos(q[0]) - p["s2"] * mp.cos(q[1])
    return p["g"] * (p["m1"] * upper + p["m2"] * lower)


def _pendulum_contacts(q: Values, t: Any, p: Parameters) -> Contacts:
    elbow = 1j * p["H"] - 1j * p["l1"] * mp.expj(q[0])
    tip = elbow - 1j * p["l2"] * mp.expj(q[1])
    return {"elbow": (elbow.imag, ()), "tip": (tip.imag, (tip.real,))}


def _pendulum_delassus(q: Sequence[float], p: Parameters) -> np.ndarray:
    coupling = p["m2"] * p["l1"] * p["s2"] * np.cos(q[0] - q[1])
    upper = p["J1"] + p["m1"] * p["s1"] ** 2 + p["m2"] * p["l1"] ** 2
    lower = p["J2"] + p["m2"] * p["s2"] ** 2
    M = np.array([[upper, coupling], [coupling, lower]])
    (s1, s2), (c1, c2) = np.sin(q), np.cos(q)
    normal = [(p["l1"] * s1, 0), (p["l1"] * s1, p["l2"] * s2)]
    tangential = (p["l1"] * c1, p["l2"] * c2)
    W = np.array([*normal, tangential]).T
    return W.T @ np.linalg.inv(M) @ W


MOVING_BODIES: dict[str, Body] = {
    "woodpecker": Body(
        kinetic=_woodpecker_kinetic,
        potential=_woodpecker_potential,
        contacts=_woodpecker_contacts,
        low=(-1, -1, -1),
        high=(1, 1, 1),
        # the toy's own numbers, of 1e-9, would hide below the accuracy
        drawn=dict.fromkeys(("m_M", "J_M", "m_S", "J_S", "c_phi", "g", "h_M", "l_M", "l_G", "h_S", "l_S"), UNIT)
        | {"r_0": (0.1, 0.5), "r_M": (0.5, 1.5)},
    ),
    "rocking_block": Body(
        kinetic=lambda q, v, p: p["m"] * (v[0] ** 2 + v[1] ** 2 + (p["b"] ** 2 + p["h"] ** 2) * v[2] ** 2 / 3) / 2,
        potential=lambda q, p: p["m"] * p["g"] * q[1],
        contacts=_block_contacts,
        low=(-1, 0, -1.5),
        high=(1, 3, 1.5),
        drawn={"m": UNIT, "b": UNIT, "h": UNIT, "g": (0.5, 10)},
    ),
    "spatial_ball": Body(
        kinetic=_ball_kinetic,
        potential=lambda q, p: p["m"] * p["g"] * q[2],
        contacts=_ball_contacts,
        low=(-1, -1, 0, -3, -3, -3),
        high=(1, 1, 3, 3, 3, 3),
        drawn={"m": UNIT, "R": UNIT, "g": (0.5, 10)},
    ),
    "block_on_belt": Body(
        kinetic=lambda q, v, p: p["m"] * (v[0] ** 2 + v[1] ** 2) / 2,
        potential=lambda q, p: p["k"] * q[0] ** 2 / 2 + p["P"] * q[1],
        contacts=lambda q, t, p: {"floor": (q[1], (q[0] - p["belt_speed"] * t,))},
        low=(-1, 0),
        high=(1, 1),
        drawn={"m": UNIT, "k": UNIT, "P": UNIT, "belt_speed": (-2, 2)},
    ),
    "coulomb_oscillator": Body(
        kinetic=lambda q, v, p: p["m"] * v[0] ** 2 / 2,
        potential=lambda q, p: p["k"] * q[0] ** 2 / 2,
        contacts=lambda q, t, p: {"floor": (None, (q[0],))},
        low=(-1,),
        high=(1,),
        drawn={"m": UNIT, "k": UNIT, "g": UNIT},
    ),
    "valve_spool": Body(
        kinetic=lambda q, v, p: p["m"] * v[0] ** 2 / 2,
        potential=lambda q, p: p["k"] * q[0] ** 2 / 2 + p["preload"] * q[0],
        contacts=lambda q, t, p: {"closed": (q[0], ()), "open": (p["stroke"] - q[0], ()), "seal": (None, (q[0],))},
        applied=lambda q, t, p: [p["A"] * (p["p_mean"] + p["p_swing"] * mp.sin(2 * mp.pi * p["f"] * t))],
        low=(0,),
        high=(2,),
        drawn=dict.fromkeys(("m", "k", "preload", "A", "p_mean", "p_swing", "f", "stroke"), UNIT),
    ),
    "three_ball_chain": Body(
        kinetic=lambda q, v, p: (p["m1"] * v[0] ** 2 + p["m2"] * v[1] ** 2 + p["m3"] * v[2] ** 2) / 2,
        potential=lambda q, p: mp.mpf(0),
        contacts=lambda q, t, p: {
            "first_pair": (q[1] - q[0] - 2 * p["R"], ()),
            "second_pair": (q[2] - q[1] - 2 * p["R"], ()),
        },
        low=(-1, 0, 1),
        high=(0, 1, 2),
        drawn={"m1": UNIT, "m2": UNIT, "m3": UNIT, "R": (0.01, 0.2)},
    ),
    "ball_on_vibrating_table": Body(
        kinetic=lambda q, v, p: p["m"] * v[0] ** 2 / 2,
        potential=lambda q, p: p["m"] * p["g"] * q[0],
        contacts=lambda q, t, p: {"floor": (q[0] - p["Gamma"] * p["g"] / p["Omega"] ** 2 * mp.sin(p["Omega"] * t), ())},
        low=(0,),
        high=(3,),
        drawn={"m": UNIT, "g": (0.5, 10), "Omega": (0.5, 3), "Gamma": UNIT},
    ),
    "double_pendulum_over_floor": Body(
        kinetic=_pendulum_kinetic,
        potential=_pendulum_potential,
        contacts=_pendulum_contacts,
        low=(-1.5, -1.5),
        high=(1.5, 1.5),
        drawn={"m1": UNIT, "m2": UNIT, "l1": (0.5, 1), "l2": (0.5, 1), "s1": (0.1, 1), "s2": (0.1, 1)}
        | {"J1": (0.05, 1), "J2": (0.05, 1), "g": (0.5, 10), "H": (1, 2.5)},
    ),
}

MOVING_DELASSUS: dict[str, Callable[[Sequence[float], Parameters], np.ndarray]] = {
    "woodpecker": _woodpecker_delassus,
    "rocking_block": _block_delassus,
    # solid sphere: the tangential inertia factor is 1/m + R^2/J = 7/(2 m)
    "spatial_ball": lambda q, p: np.diag([1, 3.5, 3.5]) / p["m"],
    "block_on_belt": lambda q, p: np.eye(2) / p["m"],
    "coulomb_oscillator": lambda q, p: np.array([[1 / p["m"]]]),
    "valve_spool": lambda q, p: np.outer([1, -1, 1], [1, -1, 1]) / p["m"],
    "three_ball_chain": lambda q, p: np.array(
        [[1 / p["m1"] + 1 / p["m2"], -1 / p["m2"]], [-1 / p["m2"], 1 / p["m2"] + 1 / p["m3"]]]
    ),
    "ball_on_vibrating_table": lambda q, p: np.array([[1 / p["m"]]]),
    "double_pendulum_over_floor": _pendulum_delassus,
}
