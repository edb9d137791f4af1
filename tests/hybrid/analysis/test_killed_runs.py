"""Maps and ensembles that are kept: killed before any change to a file, and the same to the byte in the end."""

import hashlib
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest

from hybrid import ensemble
from hybrid.analysis import Axis, region_map
from hybrid.analysis.kept_tasks import kept_tasks
from hybrid.analysis.maps import kept
from hybrid.errors import StateError
from tests.catalogue import dynamics_of

# Names of audit events by which Python tells of a change to files.
CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"}


def small_map(folder):
    """Seven tasks of at most 100 cells: chunks are made small so that a small map has several."""
    usual, kept._CELLS = kept._CELLS, 100
    try:
        return region_map(
            dynamics_of("rod_on_incline"),
            axes=[Axis("phi", 0, 3, 20), Axis("phi_dot", -3, 3, 30)],
            pins={"slip.tip": -1},
            parameters={"mu": 1.5},
            store=folder,
        )
    finally:
        kept._CELLS = usual


def small_ensemble(folder):
    return ensemble(
        dynamics_of("bouncing_ball"), vary={"y": (0.1, 2)}, pins={"y_dot": 0}, n=70, seed=1, t_end=0.1, store=folder
    )


RUNS = {"map": small_map, "ensemble": small_ensemble}


def digests(folder):
    """Of every file, by its place."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def killed_at_step(name, folder, step):
    """Run, and be killed as by ``kill -9`` just before the given change to files beside the result."""
    seen = 0

    def hook(event, arguments):
        nonlocal seen
        if event not in CHANGES or not isinstance(arguments[0], str | Path):
            return
        if event == "open" and "r" in str(arguments[1] or "r") and "+" not in str(arguments[1]):
            return
        within = len(arguments) > 1 and isinstance(arguments[-1], int) and arguments[-1] > 0 and event != "open"
        if within or folder.name in str(arguments[0]):  # removed by its name within an opened folder, or by its path
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    RUNS[name](folder)


def run_until(name, folder, step):
    """Exit status of a process that is killed at a step: 0 where it has fewer."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xarray", "zarr", "hybrid.analysis.maps.regions", "hybrid.motion.simulate"])
    process = context.Process(target=killed_at_step, args=(name, folder, step))
    process.start()
    process.join(120)
    return process.exitcode


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "map.part").mkdir()
    (tmp_path / "map.part" / "thesis.txt").touch()
    with pytest.raises(StateError, match="no run that can be gone on with"):
        small_map(tmp_path / "map")
    assert [path.name for path in (tmp_path / "map.part").iterdir()] == ["thesis.txt"]
    with kept_tasks(tmp_path / "other", {}):
        pass
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").touch()
    with pytest.raises(StateError, match="exists already"):
        small_map(tmp_path / "other")
    assert (tmp_path / "other" / "thesis.txt").exists()


def test_a_store_without_its_attributes_is_called_damaged(tmp_path):
    small_map(tmp_path / "map")
    (tmp_path / "map" / "zarr.json").unlink()
    with pytest.raises(StateError, match="is a damaged store, without its zarr"):
        small_map(tmp_path / "map")


def test_the_working_directory_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StateError, match="name a new one"):
        small_map(".")


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_a_run_killed_before_any_change_ends_with_the_same_bytes(name, tmp_path):
    RUNS[name](tmp_path / "whole" / "result")
    whole, n_killed = digests(tmp_path / "whole"), 0
    while (status := run_until(name, tmp_path / str(n_killed) / "result", n_killed + 1)) != 0:
        assert status == -signal.SIGKILL
        RUNS[name](tmp_path / str(n_killed) / "result")
        assert digests(tmp_path / str(n_killed)) == whole, f"killed before change {n_killed + 1}"
        n_killed += 1
    assert digests(tmp_path / str(n_killed)) == whole
    assert n_killed > 20
