"""Rows that models of every engine have: limits and dry friction of joints, tangential directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError
from hybrid.numeric.frames import GeometricContact
from hybrid.numeric.state import NumericFriction
from hybrid.tolerances import CLEAR, NOTHING

__all__ = ["check_unit", "dry_friction", "limit_contacts", "surface_contact"]

Array = NDArray[np.float64]

_VANISHING = NOTHING  # of the largest tangential direction: below, a row is zero in a plane model
_UNIT = CLEAR  # by how much the length of a quaternion may differ from one


def check_unit(values: Array, what: str) -> None:
    """Refuse coordinates that must have length one and do not.

    Parameters
    ----------
    values : array, (k,)
        A quaternion, or a cosine and a sine.
    what : str
        Model, column and joint.

    Returns
    -------
    None

    Raises
    ------
    StateError
    """
    length = float(np.linalg.norm(values))
    if not abs(length - 1.0) <= _UNIT:
        raise StateError(f"{what} has length {length:.6g}, not 1")


def limit_contacts(
    name: str, q: float, limits: Sequence[float], v: Array, *, dof: int, near: float
) -> list[GeometricContact]:
    """The limits of a joint of one coordinate, as contacts without friction.

    Parameters
    ----------
    name : str
        Of the joint.
    q : float
        Its coordinate.
    limits : sequence of float, length 2
        Lower and upper.
    v : array, (n,)
        Velocities of the model.
    dof : int
        That of the joint among them.
    near : float
        Distance (m or rad) from a limit up to which it is listed.

    Returns
    -------
    list of GeometricContact
    """
    found, (low, high) = [], limits
    for side, gap, sign in (("low", q - low, 1.0), ("high", high - q, -1.0)):
        if gap <= near:
            W = np.zeros(len(v))
            W[dof] = sign
            found.append(GeometricContact(f"{name}.{side}", (name, side), float(gap), sign * float(v[dof]), 0.0, W))
    return found


def dry_friction(limits: Array, v: Array) -> tuple[NumericFriction, ...]:
    """Dry friction of joints.

    Parameters
    ----------
    limits : array, (n,)
        Largest friction (N or N m) along every velocity; 0 where there is none.
    v : array, (n,)

    Returns
    -------
    tuple of NumericFriction
    """
    unit = np.eye(len(v))
    return tuple(
        NumericFriction(f"friction {dof}", W_T=unit[dof], slip=v[dof], limit=limits[dof])
        for dof in np.flatnonzero(limits > 0.0)
    )


def surface_contact(
    name: str,
    pair: tuple[str, str],
    J: Array,
    remainder: Array,
    v: Array,
    axes: Array | None,
    *,
    friction: float,
    **more: Any,
) -> GeometricContact:
    """A contact of two surfaces from the velocities in its frame.

    Parameters
    ----------
    name : str
    pair : (str, str)
    J : array, (3, n)
        Velocities per generalised velocity: along the normal, then along the tangential axes.
    remainder : array, (3,)
        Accelerations that velocities alone cause.
    v : array, (n,)
    axes : array, (2, 3), or None
        Tangential axes in the world; None without friction.
    friction : float
    **more
        The other fields of :class:`GeometricContact`.

    Returns
    -------
    GeometricContact
        Without friction where its tangential velocities vanish.
    """
    rates, rough = J @ v, dict[str, Any]()
    turned = None if axes is None else _turned(J[1:], axes)
    if turned is not None:
        rough = {"W_T": (turned @ J[1:]).T, "slip": turned @ rates[1:], "zeta_T": turned @ remainder[1:]}
        more["friction"] = friction
    return GeometricContact(name, pair, gap_dot=float(rates[0]), zeta_N=float(remainder[0]), W_N=J[0], **rough, **more)


def _turned(J_T: Array, axes: Array) -> Array | None:
    """How two tangential rows (2, n) are turned so that none vanishes, (p, 2).

    Both are kept, or the one of a plane model, which points where its largest component in the world is positive; None
    if both vanish.
    """
    left, size, _ = np.linalg.svd(J_T, full_matrices=False)
    if not size[0] > 0.0:
        return None
    if len(size) > 1 and size[1] > _VANISHING * size[0]:  # one velocity has one direction
        return np.eye(2)
    direction = left[:, 0]
    world = direction @ axes
    return np.asarray((direction * np.sign(world[np.argmax(np.abs(world))]))[None])
