"""What of a MuJoCo model is no contact of surfaces: limits, equality constraints, lines to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError
from hybrid.numeric.backends.rows import limit_contacts
from hybrid.numeric.frames import GeometricContact

__all__ = ["body_lines", "equality_rows", "joint_ranges", "limits", "mujoco_engine"]

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
