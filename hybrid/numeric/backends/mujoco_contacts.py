"""Contacts of a MuJoCo model by geometry, with the remainders of their accelerations; its joints and constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, StateError
from hybrid.numeric.backends.rows import limit_contacts, surface_contact
from hybrid.numeric.frames import GeometricContact
from hybrid.tolerances import FINE_STEP

__all__ = [
    "body_lines",
    "change_along_motion",
    "contact_rows",
    "equality_rows",
    "geometric_contacts",
    "is_unsupported",
    "joint_ranges",
    "limits",
    "mujoco_engine",
    "remainder_by_differences",
    "remainder_of",
]

Array = NDArray[np.float64]


def mujoco_engine() -> Any:
    """The module of MuJoCo.

    Returns
    -------
    module

    Raises
    ------
    StateError
        It is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise StateError("MuJoCo is not installed: pip install 'painleve[mujoco]'") from None
    return mujoco


def joint_ranges(m: Any) -> Array:
    """Displacements from the reference posture that joints allow along each velocity.

    Parameters
    ----------
    m : mujoco.MjModel

    Returns
    -------
    array, (nv, 2)
        Infinite for translations without a range; a whole turn for rotations without one. The rotation vector of a
        ball joint with a range stays in a cube within the ball of its largest angle.
    """
    kinds, found = mujoco_engine().mjtJoint, []
    for k in range(m.njnt):
        kind, (low, high) = int(m.jnt_type[k]), m.jnt_range[k]
        if kind == int(kinds.mjJNT_FREE):
            found += 3 * [(-np.inf, np.inf)] + 3 * [(-np.pi, np.pi)]
        elif kind == int(kinds.mjJNT_BALL):
            angle = high / np.sqrt(3.0) if m.jnt_limited[k] else np.pi
            found += 3 * [(-angle, angle)]
        elif m.jnt_limited[k]:
            own = m.qpos0[m.jnt_qposadr[k]]
            found.append((low - own, high - own))
        else:
            found.append((-np.pi, np.pi) if kind == int(kinds.mjJNT_HINGE) else (-np.inf, np.inf))
    return np.array(found, dtype=float).reshape(-1, 2)


def limits(m: Any, d: Any, near: float) -> list[GeometricContact]:
    """Limits of hinges and slides, which have no friction.

    Parameters
    ----------
    m : mujoco.MjModel
    d : mujoco.MjData
    near : float
        Distance (m or rad) from the limit up to which it is listed.

    Returns
    -------
    list of GeometricContact
    """
    engine, found = mujoco_engine(), []
    kinds = (int(engine.mjtJoint.mjJNT_HINGE), int(engine.mjtJoint.mjJNT_SLIDE))
    for k in range(m.njnt):
        if m.jnt_limited[k] and m.jnt_type[k] in kinds:
            name, q = str(m.joint(k).name or f"joint{k}"), float(d.qpos[m.jnt_qposadr[k]])
            found += limit_contacts(name, q, m.jnt_range[k], d.qvel, dof=m.jnt_dofadr[k], near=near)
    return found


def equality_rows(m: Any, d: Any) -> Array:
    """Gradients of the equality constraints that are active.

    Parameters
    ----------
    m : mujoco.MjModel
    d : mujoco.MjData
        With its positions computed.

    Returns
    -------
    array, (number of rows, nv)
    """
    engine = mujoco_engine()
    rows = [k for k in range(d.nefc) if d.efc_type[k] == engine.mjtConstraint.mjCNSTR_EQUALITY]
    if not rows:
        return np.zeros((0, m.nv))
    if not engine.mj_isSparse(m):
        return np.array(d.efc_J.reshape(d.nefc, m.nv)[rows])
    full = np.zeros((d.nefc, m.nv))
    for k in range(d.nefc):
        at = slice(d.efc_J_rowadr[k], d.efc_J_rowadr[k] + d.efc_J_rownnz[k])
        full[k, d.efc_J_colind[at]] = d.efc_J[at]
    return full[rows]


def body_lines(m: Any, d: Any) -> list[Array]:
    """Lines (2, 3) of a posture: axes of capsules and cylinders, and from body to body where there are none.

    Parameters
    ----------
    m : mujoco.MjModel
    d : mujoco.MjData
        With its positions computed.

    Returns
    -------
    list of array, (2, 3)
    """
    engine, lines = mujoco_engine(), []
    long = (int(engine.mjtGeom.mjGEOM_CAPSULE), int(engine.mjtGeom.mjGEOM_CYLINDER))
    for geom in range(m.ngeom):
        if m.geom_type[geom] in long:
            half = m.geom_size[geom, 1] * d.geom_xmat[geom].reshape(3, 3)[:, 2]
            lines.append(np.array([d.geom_xpos[geom] - half, d.geom_xpos[geom] + half]))
    for body in range(1, m.nbody):
        parent = m.body_parentid[body]
        if parent and not any(m.geom_type[geom] in long for geom in np.flatnonzero(m.geom_bodyid == body)):
            lines.append(np.array([d.xpos[parent], d.xpos[body]]))
    return lines


_DIFFERENCE = FINE_STEP  # s: of positions along the motion; the error of central differences is its square


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
    friction = float(contact.friction[0]) if contact.dim > 1 else 0.0
    return surface_contact(
        name,
        pair,
        J,
        remainder,
        d.qvel,
        contact.frame.reshape(3, 3)[1:] if contact.dim > 1 else None,
        friction=friction if friction > mujoco_engine().mjMINMU else 0.0,  # what MuJoCo makes of a declared zero
        gap=float(contact.dist),
        position=np.array(contact.pos),
        by_differences=by_differences,
        has_torsion=bool(contact.dim > 3),
        body=_body(m, contact),
    )


def _body(m: Any, contact: Any) -> str:
    """The rigid body of a contact with the world; none if both surfaces may move."""
    first, second = (int(m.body_weldid[m.geom_bodyid[geom]]) for geom in (contact.geom1, contact.geom2))
    return "" if first and second else str(m.body(first or second).name or f"body{first or second}")


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

    def rates() -> Array:
        same = [c for c in probe.contact if {c.geom1, c.geom2} == {contact.geom1, contact.geom2}]
        if not same:
            raise ComputationError(f"a contact vanishes within {_DIFFERENCE:g} s of motion")
        nearest = min(same, key=lambda c: float(np.linalg.norm(c.pos - contact.pos)))
        return np.asarray(contact_rows(m, probe, nearest) @ d.qvel)

    return change_along_motion(m, d, probe, rates)


def change_along_motion(m: Any, d: Any, probe: Any, rates: Callable[[], Array]) -> Array:
    """Rate of change of velocities at fixed generalised ones, by a central difference along the motion.

    Parameters
    ----------
    m : mujoco.MjModel
    d, probe : mujoco.MjData
        At the state, and one that may be overwritten.
    rates : callable
        Velocities (k,) by the positions of the probe.

    Returns
    -------
    array, (k,)
    """
    engine, found = mujoco_engine(), []
    for sign in (1.0, -1.0):
        probe.qpos[:] = d.qpos
        engine.mj_integratePos(m, probe.qpos, d.qvel, sign * _DIFFERENCE)
        probe.qvel[:] = d.qvel
        engine.mj_fwdPosition(m, probe)
        found.append(rates())
    return np.asarray((found[0] - found[1]) / (2 * _DIFFERENCE))


def _surface_point(contact: Any, sign: float) -> Array:
    """The point (3,) of a contact on its first surface (-1) or its second (+1), to which the normal leads."""
    return np.asarray(contact.pos + sign * 0.5 * contact.dist * contact.frame[:3])
