"""URDF files by MuJoCo, without what it would guess of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from hybrid.errors import FileError
from hybrid.numeric.backends.mujoco_contacts import mujoco_engine
from hybrid.numeric.backends.urdf import bounded_joints

__all__ = ["urdf_model"]


def urdf_model(path: Path, written: Element) -> Any:
    """The model of a URDF file, in which a link without ``<inertial>`` has no mass, and a limit that is not given is 0.

    MuJoCo would give the link that of water in the shape of its ``<collision>``, unless the file asks for it in
    ``<mujoco><compiler inertiafromgeom="true"/></mujoco>``, and would ignore the other limit of such a joint.

    Parameters
    ----------
    path : Path
    written : Element
        The root of the file.

    Returns
    -------
    mujoco.MjModel

    Raises
    ------
    FileError
        A link moves without mass or inertia, or there is no room between the limits of a joint.
    ValueError, mujoco.FatalError
        MuJoCo cannot read it.
    """
    engine = mujoco_engine()
    kinds = engine.mjtInertiaFromGeom
    spec = engine.MjSpec.from_file(str(path))
    if spec.compiler.inertiafromgeom == kinds.mjINERTIAFROMGEOM_AUTO:
        spec.compiler.inertiafromgeom = kinds.mjINERTIAFROMGEOM_FALSE
    for name in bounded_joints(written, str(path)):
        spec.joint(name).limited = engine.mjtLimited.mjLIMITED_TRUE
    try:
        return spec.compile()
    except ValueError as error:
        massless = re.search(r"mass and inertia of moving bodies.*\s+Element name '(.*)', id", str(error))
        if massless is None:
            raise
        raise FileError(
            f"the link {massless[1]!r} moves without mass or inertia; give it an <inertial>", str(path)
        ) from None
