"""How long linting a log of Walker2d takes, and how much memory a log takes that does not fit.

python benchmarks/lint.py --frames 100000
python benchmarks/lint.py --gigabytes 10
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import gymnasium
import mujoco
import numpy as np

from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.lint import lint
from hybrid.numeric.logs import read_log

WALKER = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "walker2d_v5.xml"
EPISODE, HELD = 800, 4  # steps until the walker stands again, and for which an action is held
PERIOD = 4000  # frames of a log that then repeats


def walk(model, frames: int) -> dict[str, np.ndarray]:
    """Random actions in episodes, as the study of the benchmarks took them."""
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    columns = {
        name: np.empty((frames, width)) for name, width in (("qpos", model.nq), ("qvel", model.nv), ("ctrl", model.nu))
    }
    for k in range(frames):
        if k % EPISODE == 0:
            mujoco.mj_resetData(model, data)
            data.qpos[:] += rng.uniform(-5e-3, 5e-3, model.nq)
        if k % HELD == 0:
            data.ctrl[:] = rng.uniform(-1, 1, model.nu)
        mujoco.mj_step(model, data)
        for name, values in columns.items():
            values[k] = getattr(data, name)
    return columns


def speed(backend, frames: int, folder: Path) -> None:
    path = folder / "walk.npz"
    np.savez(path, **walk(backend.model, frames))
    log = read_log(path, backend)
    start, cpu = time.perf_counter(), time.process_time()
    report = lint(backend, log, frictions=())
    print(
        f"{frames} frames, {report.counted} counted: {time.perf_counter() - start:.1f} s, "
        f"{time.process_time() - cpu:.1f} s of processor time"
    )


def memory(gigabytes: float, folder: Path) -> None:
    """Lint a log whose frames repeat, of a walker beside 200 bodies that somebody moves: 11 kB a frame."""
    path, model, bodies = folder / "large.npz", folder / "walker.xml", 200
    moved = "".join(f"<body name='b{k}' mocap='true' pos='{k} 5 0'/>" for k in range(bodies))
    model.write_text(WALKER.read_text(encoding="utf-8").replace("</worldbody>", f"{moved}</worldbody>"))
    columns = walk(mujoco.MjModel.from_xml_path(str(WALKER)), PERIOD)
    columns["mocap_pos"] = np.zeros((PERIOD, 3 * bodies))
    columns["mocap_quat"] = np.tile([1.0, 0.0, 0.0, 0.0], (PERIOD, bodies))
    frames = int(gigabytes * 1e9 / 8 / sum(values.shape[1] for values in columns.values()))
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                header = {"descr": "<f8", "fortran_order": False, "shape": (frames, values.shape[1])}
                np.lib.format.write_array_header_1_0(stream, header)
                for first in range(0, frames, PERIOD):
                    stream.write(values[: frames - first].data)
    del columns, values  # a child counts what its parent once held, too
    start = time.perf_counter()
    words = ["lint", str(model), "--log", str(path), "--no-sweep", "--json"]
    subprocess.run([sys.executable, "-m", "hybrid", *words], check=True, stdout=subprocess.DEVNULL)
    wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{gigabytes:g} GB, {frames} frames: {wall:.0f} s, {used.ru_utime + used.ru_stime:.0f} s "
        f"of processor time; {used.ru_maxrss / 1024:.0f} MB of memory at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, help="lint so many frames without the sweep of friction")
    parser.add_argument("--gigabytes", type=float, help="lint a log of this size, in a temporary folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.frames:
            speed(load(WALKER), chosen.frames, Path(folder))
        if chosen.gigabytes:
            memory(chosen.gigabytes, Path(folder))


if __name__ == "__main__":
    main()
