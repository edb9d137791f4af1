"""Pictures of a model of MuJoCo, drawn in a process of their own, as a renderer may end the one it works in."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid.numeric.backends.mujoco_contacts import mujoco_engine

__all__ = ["rendered"]


_SECONDS = 60.0  # for all pictures of a page; a software renderer takes some 0.1 s each

_SOURCE = """
import sys

import mujoco
import numpy as np

model, postures = mujoco.MjModel.from_binary_path(sys.argv[1]), np.load(sys.argv[2])
data = mujoco.MjData(model)
camera = mujoco.MjvCamera()
mujoco.mjv_defaultFreeCamera(model, camera)
camera.azimuth, camera.elevation = 90.0, -10.0
seen = mujoco.MjvOption()
# a contact is a rod along its normal, seen through the bodies
for flag in (mujoco.mjtVisFlag.mjVIS_CONTACTPOINT, mujoco.mjtVisFlag.mjVIS_TRANSPARENT):
    seen.flags[flag] = 1
model.vis.rgba.contactpoint[:] = model.vis.rgba.contactgap[:] = 0.70, 0.09, 0.17, 1.0
# as wide as in stick figures: 5 pt at 96 pixels an inch; in distances from the camera, of which 240 show 2 tan(fovy/2)
width = 2.0 * np.tan(np.radians(model.vis.global_.fovy / 2)) * 5 / 72 * 96 / 240
model.vis.headlight.active = 1
model.vis.headlight.ambient[:], model.vis.headlight.diffuse[:] = 0.35, 0.5
moving = model.geom_bodyid > 0
if not moving.any():
    moving[:] = True
pictures = []
with mujoco.Renderer(model, 240, 360) as renderer:
    for qpos in postures:
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        places, radii = data.geom_xpos[moving], model.geom_rbound[moving]
        camera.lookat[:] = (places.min(axis=0) + places.max(axis=0)) / 2
        size = np.max(np.linalg.norm(places - camera.lookat, axis=1) + radii)
        camera.distance = 2.6 * size  # a ball of that radius fills the height at 45 degrees
        # half of either, in MuJoCo's unit: to either side a sixth of the height, more than a foot is high
        unit = camera.distance * width / model.stat.meansize
        model.vis.scale.contactwidth, model.vis.scale.contactheight = unit / 2, 6 * unit
        renderer.update_scene(data, camera, seen)
        pictures.append(renderer.render().copy())
np.save(sys.argv[3], np.array(pictures))
"""


def rendered(model: Any, postures: Sequence[NDArray[np.float64]]) -> list[NDArray[np.uint8]] | None:
    """Pictures of postures from the side, with their contacts.

    Parameters
    ----------
    model : mujoco.MjModel
    postures : sequence of array, (nq,)

    Returns
    -------
    list of array of uint8, (height, width, 3), or None
        None where the renderer does not work.
    """
    if not postures:
        return []
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("model.mjb", "postures.npy", "pictures.npy")]
        mujoco_engine().mj_saveModel(model, files[0], None)
        np.save(files[1], np.array(postures))
        # without a screen only EGL or a software renderer can work; what the user chose comes first
        environment = {"MUJOCO_GL": "egl", **os.environ}
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", _SOURCE, *files],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode or not Path(files[2]).is_file():
            return None
        return list(np.load(files[2], allow_pickle=False))
