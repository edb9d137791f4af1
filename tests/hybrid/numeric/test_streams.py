"""Logs that stay on disk: the same frames and answers as in memory, bounded memory, and refusals by frame."""

import io
import json
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

from hybrid.cli import main
from hybrid.errors import FileError
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.lint import lint
from hybrid.numeric.logs import read_log
from hybrid.reporting.lint_page import lint_record
from tests.hybrid.numeric.test_lint import rod_log

FRAMES = 9000  # more than one block: 2**18 bytes are 5461 frames of six numbers


def long_log(tmp_path, *, save=np.savez, **changes):
    rng = np.random.default_rng(5)
    columns = {name: rng.standard_normal((FRAMES, 3)) for name in ("qpos", "qvel")} | changes
    model, _ = rod_log(tmp_path)
    path = tmp_path / "long.npz"
    save(path, **columns)
    return load(model), path, columns


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_rows_come_in_blocks_and_are_those_of_the_arrays(tmp_path, save):
    backend, path, columns = long_log(
        tmp_path, save=save, time=np.arange(FRAMES), qvel=np.ones((FRAMES, 3), np.float32)
    )
    log = read_log(path, backend, in_memory=0)
    assert len(log) == FRAMES
    np.testing.assert_array_equal(log.time, np.arange(FRAMES))
    rows = list(log.rows())
    for name in ("qpos", "qvel"):
        np.testing.assert_array_equal([row[name] for row in rows], columns[name])
        assert rows[0][name].dtype == np.float64
    chosen = log.chosen([8999, 3, 5461])
    assert list(chosen) == [3, 5461, 8999]
    for k, row in chosen.items():
        np.testing.assert_array_equal(row["qpos"], columns["qpos"][k])


def test_the_answer_is_that_of_a_log_in_memory(tmp_path):
    model, path = rod_log(tmp_path)
    backend = load(model)
    here, there = (
        lint_record(lint(backend, read_log(path, backend, in_memory=limit), frictions=(1.5,))) for limit in (2**28, 0)
    )
    assert here == there
    assert here["counted"] == 1


def test_memory_does_not_grow_with_the_log(tmp_path):
    frames = 200_000
    big = np.zeros((frames, 3))
    backend, path, _ = long_log(tmp_path, save=np.savez_compressed, qpos=big, qvel=big)
    log = read_log(path, backend, in_memory=0)
    tracemalloc.start()
    n = sum(1 for _ in log.rows())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n == frames
    assert peak < 0.2 * 2 * big.nbytes  # blocks of 0.3 MB, and what the archive buffers


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qpos": np.zeros((FRAMES, 2))}, r"a frame of qpos must have the shape \(3,\); got \(2,\)"),
        ({"xfrc_applied": np.zeros((FRAMES, 6, 2))}, r"the shape \(12,\) or \(2, 6\); got \(6, 2\)"),
        ({"qpos": np.zeros((FRAMES, 3), order="F")}, "qpos.npy is stored by columns"),
        ({"qvel": np.zeros((FRAMES - 1, 3))}, "qvel has 8999 frames"),
        ({"qpos": np.zeros(())}, "got no frames"),
        ({"qpos": np.zeros((FRAMES, 3), dtype="U3")}, "real numbers"),
        ({"joint_names": np.array(["a", "b"])}, "log of another model"),
    ],
)
def test_what_does_not_fit_is_refused_by_the_headers(tmp_path, changes, message):
    backend, path, _ = long_log(tmp_path, **changes)
    with pytest.raises(FileError, match=message):
        read_log(path, backend, in_memory=0)


def test_an_entry_that_is_not_finite_is_refused_by_its_frame(tmp_path):
    qpos = np.zeros((FRAMES, 3))
    qpos[6000, 1] = np.nan
    backend, path, _ = long_log(tmp_path, qpos=qpos)
    with pytest.raises(FileError, match="qpos is not finite in frame 6000"):
        list(read_log(path, backend, in_memory=0).rows())


def test_archives_that_lie_are_refused(tmp_path):
    backend, path, _ = long_log(tmp_path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data[:-8])
    with pytest.raises(FileError, match=r"qpos.npy has not the size"):
        read_log(path, backend, in_memory=0)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("qpos.npy", b"no array")
    with pytest.raises(FileError, match="no array of numbers"):
        read_log(path, backend, in_memory=0)


@pytest.mark.parametrize("in_memory", [2**28, 0])
@pytest.mark.parametrize("again", ["qpos", "qpos.npy"])
def test_two_arrays_of_one_name_are_refused(tmp_path, again, in_memory):
    """NumPy writes an array as ``qpos.npy``, but reads ``qpos`` as well: which of them is meant, nobody knows."""
    model, log = rod_log(tmp_path)
    content = io.BytesIO()
    np.save(content, np.ones((4, 3)))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(log, "a") as archive:
        archive.writestr(again, content.getvalue())
    with pytest.raises(FileError, match=r"rod\.npz: not an NPZ file: it holds two arrays of one name, qpos"):
        read_log(log, load(model), in_memory=in_memory)


@pytest.mark.parametrize("in_memory", [2**28, 0])
def test_times_that_do_not_increase_are_noted(tmp_path, in_memory):
    def notes(times):
        model, log = rod_log(tmp_path, time=np.array(times))
        return [note for note in read_log(log, load(model), in_memory=in_memory).notes if note.startswith("time ")]

    judged = "every frame is judged by itself"
    assert notes([0.0, 0.1, 0.2, 0.4]) == []
    assert notes([0.0, 0.1, 0.1, 0.2]) == [
        f"time does not increase at one frame, first from 0.1 s to 0.1 s at frame 2: {judged}"
    ]
    two = "time does not increase at 2 frames, first from 3 s to 2 s at frame 1"
    assert notes([3.0, 2.0, 5.0, 4.0]) == [f"{two}: {judged}"]


def test_times_that_do_not_increase_are_in_the_answer(tmp_path, capsys):
    model, log = rod_log(tmp_path, time=np.array([0.3, 0.2, 0.1, 0.0]))
    assert main(["lint", str(model), "--log", str(log), "--no-sweep", "--json"]) == 0
    printed = capsys.readouterr()
    (note,) = (note for note in json.loads(printed.out)["notes"] if note.startswith("time "))
    assert note.startswith("time does not increase at 3 frames, first from 0.3 s to 0.2 s at frame 1")
    assert f"note: {note}" in printed.err
