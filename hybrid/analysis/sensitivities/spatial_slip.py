"""Where the slip of a spatial contact begins or ends: the direction that it has there in the limit, and what follows.

With the slip ``r u(theta)`` the motion obeys ``r' = A(x, theta)`` and ``r theta' = B(x, theta)``, the components of the
tangential acceleration along the slip and to its left. In the time ``sigma`` with ``dt = r d sigma`` the points
``r = 0, B = 0`` are equilibria, which attract where ``A < 0`` and ``B_theta < 0``. Their stable fibres are as smooth as
the equations, so that time and place at which the slip ends have derivatives (Fenichel 1979, Journal of Differential
Equations 31). The same holds where the direction does not turn at all, ``B = 0`` for every ``theta``, as for a ball.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.jumps import Jump
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.dynamics.crossing import crossing
from hybrid.tolerances import LAST_PLACE, NOTHING

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.mode_system import ModeSystem, Point
    from hybrid.contact.table import ElementMode

__all__ = ["is_spatial", "possible_ends", "settled_jump", "settling_aim", "with_limits"]

Array = NDArray[np.float64]

_SCAN = 128  # directions among which the sign of B is looked at; between four roots at most
_STILL = NOTHING  # of the accelerations: a direction that turns no faster does not turn


def is_spatial(part: ElementMode) -> bool:
    """True for a force element whose slip has two components.

    Parameters
    ----------
    part : ElementMode

    Returns
    -------
    bool
    """
    return len(part.columns) == 2


def with_limits(system: ModeSystem, t: float, y: Array, nearby: Mapping[str, Array], *, ends: bool) -> ModeSystem:
    """The mode where spatial slips vanish, with the directions that they have there in the limit.

    Parameters
    ----------
    system : ModeSystem
    t : float
    y : array, (2n,)
        Where the slips vanish.
    nearby : mapping of str to array, (2,)
        Slips a moment before their end, or after their start, by force element.
    ends : bool
        Whether they end there, or begin.

    Returns
    -------
    ModeSystem

    Raises
    ------
    NoDerivative
        Several slips vanish at once, or none of the directions is one that neighbouring motions share.
    """
    if not nearby:
        return system
    if len(nearby) > 1:
        raise NoDerivative(
            f"the slips of {' and '.join(nearby)} vanish at once, and with them their directions", t, is_proven=False
        )
    ((name, slip),) = nearby.items()
    part = next(part for part in system.parts if part.name == name)
    angle = _limit_angle(system, part, t, y, float(np.arctan2(slip[1], slip[0])))
    limited = attrs.evolve(system, limits={name: _unit(np.array([angle]))})
    along, _, turn, size = _rates(limited, part, t, y, np.array([angle]))
    if ends and not (along[0] < 0.0 and turn[0] <= _STILL * size):
        raise NoDerivative(f"the slip of {name!r} passes zero in a direction that neighbouring motions turn from", t)
    if not ends and not along[0] > _STILL * size:
        raise NoDerivative(
            f"the slip of {name!r} begins without acceleration (its static friction is the kinetic one), and its "
            f"direction is not resolved there",
            t,
            is_proven=False,
        )
    return limited


def possible_ends(system: ModeSystem, part: ElementMode, t: float, y: Array) -> list[Array]:
    """The directions in which a slip may end at a state, for an event alone, which does not tell the direction.

    Parameters
    ----------
    system : ModeSystem
        Of the mode in which it slips.
    part : ElementMode
        The spatial contact.
    t : float
    y : array, (2n,)

    Returns
    -------
    list of array, (2,)
        Unit vectors: those that attract their neighbours; two of all where the direction does not turn.
    """
    angles = np.linspace(1.0, 1.0 + 2 * np.pi, _SCAN + 1)  # 1 is no likely direction: a zero on the seam would be lost
    along, across, turn, size = _rates(system, part, t, y, angles)
    if np.max(np.abs(across)) <= _STILL * size:
        return [_unit(angles)[0], _unit(angles)[_SCAN // 4]]
    falls = np.flatnonzero((across[:-1] > 0.0) & (across[1:] <= 0.0) & (along[1:] < 0.0) & (turn[1:] < 0.0))
    return [_unit(angles)[place + 1] for place in falls]


def settling_aim(point: Point, part: ElementMode) -> Array:
    """The direction ``a`` for which a change of slip ``ds`` delays the end of the slip by ``-a . ds / A``.

    It is the direction of the slip but for the turn that ``ds`` takes on its way to zero.

    Parameters
    ----------
    point : Point
        At the end of the slip, with its limit direction.
    part : ElementMode
        The spatial contact.

    Returns
    -------
    array, (2,)
    """
    left, turned = _left(point, part), _turned(point, part)
    direction = np.ravel(point.system.limits[part.name])
    return np.asarray(direction - (turned @ direction) / (turned @ left) * left)


def settled_jump(point: Point, part: ElementMode) -> Jump:
    """Jump that takes away what a changed motion slips beside the limit direction.

    The last of that slip decays as the slip ends.

    Parameters
    ----------
    point : Point
        At the end of the slip, with its limit direction.
    part : ElementMode
        The spatial contact.

    Returns
    -------
    Jump
    """
    size, n = len(point.f), len(point.f) // 2
    left = _left(point, part)
    across = left @ point.slopes("slip")[list(part.columns)]
    effect = point.system.rotation_slopes(point.at, part)[0, :n]
    slopes = np.zeros((size, len(across)))
    slopes[:, :size] = np.eye(size)
    slopes[n:] -= np.outer(effect / (_turned(point, part) @ left), across)
    return Jump(np.array(point.at.y[0]), slopes)


def _left(point: Point, part: ElementMode) -> Array:
    direction = np.ravel(point.system.limits[part.name])
    return np.array([-direction[1], direction[0]])


def _turned(point: Point, part: ElementMode) -> Array:
    """What a turn of the slip adds to its tangential acceleration, (2,)."""
    W = point.at.terms.W_T.reshape(-1, point.at.terms.W_T.shape[-1])[: len(point.f) // 2, list(part.columns)]
    return np.asarray(W.T @ point.system.rotation_slopes(point.at, part)[0, : len(W)])


def _unit(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _rates(
    system: ModeSystem, part: ElementMode, t: float, y: Array, angles: Array
) -> tuple[Array, Array, Array, float]:
    """``A``, ``B`` and ``B_theta`` for N directions of a vanishing slip, and the size of what is added in them."""
    N, n = len(angles), system.dynamics.n
    u = _unit(angles)
    left = np.stack([-u[:, 1], u[:, 0]], axis=1)
    limited = attrs.evolve(system, limits={**system.limits, part.name: u})
    at = limited.respond(np.full(N, t), np.broadcast_to(y, (N, len(y))))
    columns = list(part.columns)
    W = np.broadcast_to(at.terms.W_T, (N, n, at.terms.W_T.shape[-1]))[..., columns]
    zeta = np.broadcast_to(at.terms.zeta_T, (N, at.terms.zeta_T.shape[-1]))[:, columns]
    a = np.einsum("znd,zn->zd", W, at.f[:, n:]) + zeta
    turned = np.einsum("znd,zn->zd", W, limited.rotation_slopes(at, part)[:, :n])
    along, across = np.sum(a * u, axis=1), np.sum(a * left, axis=1)
    size = float(np.max(np.linalg.norm(a, axis=1)) + np.max(np.linalg.norm(turned, axis=1)))
    return along, across, np.sum(turned * left, axis=1) - along, size


def _limit_angle(system: ModeSystem, part: ElementMode, t: float, y: Array, nearby: float) -> float:
    """The zero of ``B`` nearest to a direction that is close to it already; that direction where nothing turns."""
    angles = nearby + np.linspace(-np.pi, np.pi, _SCAN + 1)
    _, across, _, size = _rates(system, part, t, y, angles)
    if np.max(np.abs(across)) <= _STILL * size:
        return nearby
    changes = np.flatnonzero(across[1:] * across[:-1] <= 0.0)
    if not changes.size:
        raise NoDerivative(f"the slip of {part.name!r} vanishes without a direction", t, is_proven=False)
    middles = (angles[changes] + angles[changes + 1]) / 2
    nearest = changes[np.argmin(np.abs(middles - nearby))]
    low, high = angles[nearest : nearest + 2].tolist()
    return crossing(
        lambda angle: float(_rates(system, part, t, y, np.array([angle]))[1][0]), low, high, xtol=LAST_PLACE
    )
