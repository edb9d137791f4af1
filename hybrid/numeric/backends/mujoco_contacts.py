"""Contacts of a MuJoCo model by geometry: their directions, and the remainders of their accelerations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, StateError
from hybrid.numeric.backends.mujoco_joints import mujoco_engine
from hybrid.numeric.backends.rows import tangents
from hybrid.numeric.frames import GeometricContact
from hybrid.tolerances import FINE_STEP

__all__ = [
    "DIFFERENCE",
    "contact_rows",
    "geometric_contacts",
    "is_unsupported",
    "remainder_by_differences",
    "remainder_of",
]

Array = NDArray[np.float64]

DIFFERENCE = FINE_STEP  # s: of positions along the motion; the error of central differences is its square


def geometric_contacts(
    m: Any, d: Any, *, near: float, surface: Callable[[int], str], probe: Any
) -> list[GeometricContact]:
    """The contacts of geoms that the engine's detection finds.

    Parameters
    ----------
    m : mujoco.MjModel
    d, probe : mujoco.MjData
        With positions and velocities computed, and one that may be overwritten.
    near : float
        Largest gap (m).
    surface : callable
        Gives the name of a geom.

    Returns
    -------
    list of GeometricContact

    Raises
    ------
    StateError
        Tangential coefficients of a contact differ.
    ComputationError
        A contact has no remainder.
    """
    found, names = [], dict[str, int]()
    for contact in d.contact[: d.ncon]:
        if contact.dist > near or is_unsupported(m, contact):
            continue
        pair = (surface(contact.geom1), surface(contact.geom2))
        name = "/".join(pair)
        names[name] = names.get(name, 0) + 1
        name = name if names[name] == 1 else f"{name}#{names[name]}"
        found.append(_contact(m, d, contact, pair, name, probe))
    return found


def is_unsupported(m: Any, contact: Any) -> bool:
    """Whether a surface of a contact is one whose contacts are left out: a height field, a distance field, a flex.

    Parameters
    ----------
    m : mujoco.MjModel
    contact : mujoco.MjContact

    Returns
    -------
    bool
    """
    kinds = mujoco_engine().mjtGeom
    return any(
        geom < 0 or m.geom_type[geom] in (int(kinds.mjGEOM_HFIELD), int(kinds.mjGEOM_SDF))
        for geom in (contact.geom1, contact.geom2)
    )


def _contact(m: Any, d: Any, contact: Any, pair: tuple[str, str], name: str, probe: Any) -> GeometricContact:
    if contact.dim > 1 and contact.friction[0] != contact.friction[1]:
        raise StateError(f"contact {name} has unequal tangential coefficients of friction")
    J = contact_rows(m, d, contact)
    remainder = remainder_of(m, d, contact)
    by_differences = remainder is None
    if remainder is None:
        remainder = remainder_by_differences(m, d, contact, probe)
    rates = J @ d.qvel
    friction = float(contact.friction[0]) if contact.dim > 1 else 0.0
    if friction <= mujoco_engine().mjMINMU:  # what MuJoCo makes of a declared zero
        friction = 0.0
    rough: dict[str, Any] = {}
    if contact.dim > 1 and (turned := tangents(J[1:], contact.frame.reshape(3, 3)[1:])) is not None:
        rough = {"W_T": (turned @ J[1:]).T, "slip": turned @ rates[1:], "zeta_T": turned @ remainder[1:]}
    return GeometricContact(
        name,
        pair,
        gap=float(contact.dist),
        gap_dot=float(rates[0]),
        zeta_N=float(remainder[0]),
        W_N=J[0],
        friction=friction if rough else 0.0,
        position=np.array(contact.pos),
        by_differences=by_differences,
        has_torsion=bool(contact.dim > 3),
        **rough,
    )


def contact_rows(m: Any, d: Any, contact: Any) -> Array:
    """Velocity of the second surface's material point relative to the first's, per generalised velocity.

    Each at its own surface: half way between, where the engine has it, the slip depends on how the gap changes.

    Parameters
    ----------
    m : mujoco.MjModel
    d : mujoco.MjData
    contact : mujoco.MjContact

    Returns
    -------
    array, (3, nv)
        Normal first.
    """
    engine = mujoco_engine()
    J, part = np.zeros((3, m.nv)), np.zeros((3, m.nv))
    for geom, sign in ((contact.geom1, -1.0), (contact.geom2, 1.0)):
        engine.mj_jac(m, d, part, None, _surface_point(contact, sign), m.geom_bodyid[geom])
        J += sign * part
    return np.asarray(contact.frame.reshape(3, 3) @ J)


def remainder_of(m: Any, d: Any, contact: Any) -> Array | None:
    """Remainder of the accelerations of a contact by a formula.

    The point of contact of a sphere or of a capsule's end stays below its centre and moves over the surface, while
    a corner or a mesh's vertex is a material point. For both the second derivative of the gap, and the rate of
    the slip, are those of a point at a constant distance from a material one.

    Parameters
    ----------
    m : mujoco.MjModel
    d : mujoco.MjData
    contact : mujoco.MjContact

    Returns
    -------
    array, (3,), or None
        None unless one surface is a plane that does not move.
    """
    engine = mujoco_engine()
    still = [m.body_weldid[m.geom_bodyid[geom]] == 0 for geom in (contact.geom1, contact.geom2)]
    plane = [m.geom_type[geom] == engine.mjtGeom.mjGEOM_PLANE for geom in (contact.geom1, contact.geom2)]
    if still[0] and plane[0]:
        moving, sign = contact.geom2, 1.0
    elif still[1] and plane[1]:
        moving, sign = contact.geom1, -1.0
    else:
        return None
    at = _surface_point(contact, sign)
    centre = _centre(m, d, moving, at)
    if centre is None:
        return None
    velocity, rotation = np.zeros((3, m.nv)), np.zeros((3, m.nv))
    engine.mj_jacDot(m, d, velocity, rotation, centre, m.geom_bodyid[moving])
    remainder = velocity @ d.qvel + np.cross(rotation @ d.qvel, at - centre)
    return np.asarray(sign * (contact.frame.reshape(3, 3) @ remainder))


def _centre(m: Any, d: Any, geom: int, point: Array) -> Array | None:
    """The material point from which the point of contact keeps its distance and direction."""
    engine = mujoco_engine()
    kind, at = m.geom_type[geom], d.geom_xpos[geom]
    if kind == engine.mjtGeom.mjGEOM_SPHERE:
        return np.array(at)
    if kind == engine.mjtGeom.mjGEOM_CAPSULE:
        axis, half = d.geom_xmat[geom].reshape(3, 3)[:, 2], m.geom_size[geom, 1]
        along = float((point - at) @ axis)
        return np.asarray(at + np.sign(along) * half * axis)
    if kind in (int(engine.mjtGeom.mjGEOM_BOX), int(engine.mjtGeom.mjGEOM_MESH)):
        return point
    return None


def remainder_by_differences(m: Any, d: Any, contact: Any, probe: Any) -> Array:
    """Remainder of the accelerations of a contact by differences along the motion, by the engine's own detection.

    Parameters
    ----------
    m : mujoco.MjModel
    d, probe : mujoco.MjData
        At the state, and one that may be overwritten.
    contact : mujoco.MjContact

    Returns
    -------
    array, (3,)

    Raises
    ------
    ComputationError
        The contact is not found a little before or after.
    """
    engine = mujoco_engine()
    found = []
    for sign in (1.0, -1.0):
        probe.qpos[:] = d.qpos
        engine.mj_integratePos(m, probe.qpos, d.qvel, sign * DIFFERENCE)
        probe.qvel[:] = d.qvel
        engine.mj_fwdPosition(m, probe)
        same = [c for c in probe.contact if {c.geom1, c.geom2} == {contact.geom1, contact.geom2}]
        if not same:
            raise ComputationError(f"a contact vanishes within {DIFFERENCE:g} s of motion")
        nearest = min(same, key=lambda c: float(np.linalg.norm(c.pos - contact.pos)))
        found.append(contact_rows(m, probe, nearest) @ d.qvel)
    return np.asarray((found[0] - found[1]) / (2 * DIFFERENCE))


def _surface_point(contact: Any, sign: float) -> Array:
    """The point (3,) of a contact on its first surface (-1) or its second (+1), to which the normal leads."""
    return np.asarray(contact.pos + sign * 0.5 * contact.dist * contact.frame[:3])
