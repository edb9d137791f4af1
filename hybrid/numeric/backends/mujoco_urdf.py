"""URDF files by MuJoCo, without what it would guess of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hybrid.errors import FileError
from hybrid.numeric.backends.mujoco_contacts import mujoco_engine

__all__ = ["urdf_model"]


def urdf_model(path: Path) -> Any:
    """The model of a URDF file, in which a link without ``<inertial>`` has no mass.

    MuJoCo would give it that of water in the shape of its ``<collision>``, unless the file asks for it in
    ``<mujoco><compiler inertiafromgeom="true"/></mujoco>``.

    Parameters
    ----------
    path : Path

    Returns
    -------
    mujoco.MjModel

    Raises
    ------
    FileError
        A link moves without mass or inertia.
    ValueError, mujoco.FatalError
        MuJoCo cannot read it.
    """
    engine = mujoco_engine()
    kinds = engine.mjtInertiaFromGeom
    spec = engine.MjSpec.from_file(str(path))
    if spec.compiler.inertiafromgeom == kinds.mjINERTIAFROMGEOM_AUTO:
        spec.compiler.inertiafromgeom = kinds.mjINERTIAFROMGEOM_FALSE
    try:
        return spec.compile()
    except ValueError as error:
        massless = re.search(r"mass and inertia of moving bodies.*\s+Element name '(.*)', id", str(error))
        if massless is None:
            raise
        raise FileError(
            f"the link {massless[1]!r} moves without mass or inertia; give it an <inertial>", str(path)
        ) from None
