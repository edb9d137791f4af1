"""How long linting a log of Walker2d takes, and how much memory a log takes that does not fit.

python benchmarks/lint.py --frames 100000
python benchmarks/lint.py --gigabytes 10
"""

import argparse
import resource
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


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


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


def memory(backend, gigabytes: float, folder: Path) -> None:
    """Read a log whose frames repeat, block by block; deflated, it takes little of the disk."""
    path, model = folder / "large.npz", backend.model
    frames = int(gigabytes * 1e9 / 8 / (model.nq + model.nv + model.nu))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, width in (("qpos", model.nq), ("qvel", model.nv), ("ctrl", model.nu)):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                header = {"descr": "<f8", "fortran_order": False, "shape": (frames, width)}
                np.lib.format.write_array_header_1_0(stream, header)
                block = np.zeros((65536, width)).tobytes()
                for first in range(0, frames, 65536):
                    stream.write(block[: (min(frames - first, 65536)) * width * 8])
    before, start = peak_megabytes(), time.perf_counter()
    log = read_log(path, backend)
    count = sum(1 for _ in log.rows())
    print(
        f"{gigabytes:g} GB, {count} frames read in {time.perf_counter() - start:.0f} s; memory grew by "
        f"{peak_megabytes() - before:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, help="lint so many frames without the sweep of friction")
    parser.add_argument("--gigabytes", type=float, help="read a log of this size")
    chosen = parser.parse_args()
    backend = load(WALKER)
    with tempfile.TemporaryDirectory() as folder:
        if chosen.frames:
            speed(backend, chosen.frames, Path(folder))
        if chosen.gigabytes:
            memory(backend, chosen.gigabytes, Path(folder))


if __name__ == "__main__":
    main()
