"""Files from outside: what never ends, what claims all memory, and what is not what its name says."""

import io
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import mechanisms
from hybrid import State, StateError, derive, simulate
from hybrid.cli import main
from hybrid.errors import FileError
from hybrid.files import read_arrays, read_file, write_whole
from hybrid.motion import load, save
from tests.stored_motions import contents, put_unsealed


@pytest.mark.parametrize("suffix", ["json", "npz", "hdf5"])
def test_a_pipe_and_a_device_without_end_are_refused_at_once(suffix, tmp_path):
    pipe, zeros = tmp_path / f"pipe.{suffix}", tmp_path / f"zeros.{suffix}"
    os.mkfifo(pipe)
    zeros.symlink_to("/dev/zero")
    for file in (pipe, zeros):
        # in a process of its own, which a hang would not outlive
        done = subprocess.run(
            [sys.executable, "-m", "hybrid", "lcp", str(file)], capture_output=True, text=True, timeout=500
        )
        assert done.returncode == 2
        assert done.stderr == f"error: {file}: cannot be read: it is not an ordinary file\n"


def test_a_file_is_read_up_to_its_bound(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(1000))
    assert read_file(file, limit=1000) == bytes(1000)
    with pytest.raises(FileError, match="is larger than 0 kB; take fewer"):
        read_file(file, limit=999, advice="take fewer")


def packed(content, known=None):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("q.npy", content)
    data = stream.getvalue()
    return data if known is None else data.replace(len(content).to_bytes(4, "little"), known.to_bytes(4, "little"))


@pytest.mark.parametrize("known", [None, 100], ids=["honest", "lying about its size"])
def test_an_archive_that_inflates_beyond_its_bound_takes_no_memory(known):
    data = packed(bytes(10**8), known)
    assert len(data) < 10**5
    tracemalloc.start()
    with pytest.raises(FileError, match="not an NPZ file"):
        read_arrays(data, limit=10**6, source="bomb.npz")
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["f8", ">f8", "f4", "i2", "?", "U7", "c16", "M8[D]"])
def test_arrays_are_those_that_numpy_wrote(kind, order):
    whole = np.asarray(np.arange(12).reshape(3, 4) % 2, dtype="i8").astype(kind, order=order)
    stream = io.BytesIO()
    np.savez_compressed(stream, whole=whole, single=whole[0, 0], empty=whole[:0], turned=whole.T)
    read = read_arrays(stream.getvalue(), limit=10**6, source="")
    with np.load(io.BytesIO(stream.getvalue())) as expected:
        assert set(read) == set(expected.files)
        for name, array in read.items():
            assert array.dtype == expected[name].dtype
            assert np.array_equal(array, expected[name])
            assert not array.flags.writeable


def test_a_motion_that_claims_more_than_its_bound_is_refused_with_what_to_do(tmp_path):
    ball = derive(mechanisms.load("bouncing_ball"))
    save(simulate(ball, State([1.0], [0.0]), t_end=0.4), tmp_path / "ball.npz")
    assert load(tmp_path / "ball.npz", dynamics=ball).t == 0.4
    with pytest.raises(StateError, match=r"larger than .*; for a larger motion: load\(path, max_bytes=...\)"):
        load(tmp_path / "ball.npz", dynamics=ball, max_bytes=1000)
    with pytest.raises(StateError, match="there is no such file"):
        load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("q", np.zeros(2), r"q must be an array of finite numbers of shape \(1\)"),
        ("q", np.array([1]), "q must be"),
        ("v", np.array([np.nan]), "v must be"),
        ("arc_0_knots", np.array([0.4, 0.1]), "arc_0_knots must be times that increase"),
        ("arc_0_coefficients", np.zeros((1, 8, 3)), "arc_0_coefficients must be"),
    ],
)
def test_arrays_of_a_motion_that_do_not_fit_are_named(name, value, message, tmp_path):
    ball = derive(mechanisms.load("bouncing_ball"))
    save(simulate(ball, State([1.0], [0.0]), t_end=0.4), tmp_path / "ball.npz")
    arrays, record = contents(tmp_path / "ball.npz")
    put_unsealed(tmp_path / "changed.npz", arrays | {name: value}, record)
    with pytest.raises(StateError, match=message):
        load(tmp_path / "changed.npz", dynamics=ball)


def test_an_hdf5_file_that_claims_or_points_elsewhere_is_refused(tmp_path, capsys):
    for number, change in enumerate(
        [
            lambda out: out.create_dataset("q", shape=(10**9,), dtype="f8", chunks=(10**6,), compression="gzip"),
            lambda out: out.create_dataset(
                "q", shape=(2,), maxshape=(None,), dtype="f8", chunks=(10**8,), compression="gzip"
            ),
            lambda out: out.__setitem__("q", h5py.ExternalLink("/etc/passwd", "/")),
            lambda out: out.create_group("q"),
            lambda out: out.__setitem__("q", ["a", "b"]),
        ]
    ):
        file = tmp_path / f"{number}.hdf5"
        with h5py.File(file, "w") as out:
            local = out.create_group("fclib_local")
            for name, values in {"m": [2], "n": [2], "nz": [-1], "p": [0, 1, 2], "i": [0, 1], "x": [1.0, 1]}.items():
                local[f"W/{name}"] = np.asarray(values)
            local["spacedim"], local["vectors/mu"] = np.array([2]), np.array([0.5])
            change(local["vectors"])
        assert main(["lcp", str(file)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {file}: not an FCLIB file: ")
        assert len(said.splitlines()) == 1


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="files of the system under /proc")
def test_a_file_that_cannot_be_written_is_named_as_it_was_given(capsys, monkeypatch):
    with pytest.raises(OSError) as error:
        write_whole("/proc/page.html", "text")
    assert error.value.filename == "/proc/page.html"
    monkeypatch.setattr("hybrid.dynamics.derive", lambda *_: pytest.fail("computed"))
    assert main(["graph", "bouncing_ball", "-o", "/proc/graph.json"]) == 2
    assert "the folder '/proc' cannot be written" in " ".join(capsys.readouterr().err.split())
