"""Stores of which a file is missing, cut, changed or added: nothing is read from them in silence."""

import hashlib
import json
import shutil

import numpy as np
import pytest
import xarray

from hybrid import ensemble
from hybrid.analysis import kept_tasks, load_ensemble, load_map
from hybrid.contact import CellVerdict
from hybrid.errors import FileError, StateError
from tests.catalogue import dynamics_of
from tests.hybrid.analysis.test_killed_runs import RUNS, digests

LOADS = {"map": load_map, "ensemble": load_ensemble}


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def equal(one, other):
    """By every array and name that a result has."""
    fields = [name for name in dir(one) if not name.startswith("_")]
    for name in ("verdict", "modes", "margin", "region", "starts", "end", "termination", "mode_fractions", "reasons"):
        if name in fields:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGES = {
    "deleted": lambda path, _: path.unlink(),
    "emptied": lambda path, _: path.write_bytes(b""),
    "cut": lambda path, data: path.write_bytes(data[: len(data) // 2]),
    "first byte": lambda path, data: path.write_bytes(flipped(data, 0)),
    "middle byte": lambda path, data: path.write_bytes(flipped(data, len(data) // 2)),
    "last byte": lambda path, data: path.write_bytes(flipped(data, len(data) - 1)),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_file_of_a_finished_store_is_missing_or_damaged_in_silence(name, tmp_path):
    folder = tmp_path / "result"
    RUNS[name](folder)
    whole = digests(folder)
    for path in files_of(folder):
        data = path.read_bytes()
        for how, damage in DAMAGES.items():
            damage(path, data)
            for read in (LOADS[name], RUNS[name])[: 2 if how == "deleted" else 1]:
                with pytest.raises((FileError, StateError)) as told:
                    read(folder)
                assert str(path) in str(told.value) or not (folder / "zarr.json").exists()
                assert str(folder) in str(told.value)
            path.write_bytes(data)
    assert digests(folder) == whole
    equal(LOADS[name](folder), RUNS[name](folder))


@pytest.mark.parametrize(("name", "value"), [("map", CellVerdict.MISSING), ("ensemble", -1)])
def test_xarray_reads_no_verdict_where_its_file_is_missing(name, value, tmp_path):
    """Zarr puts in a number where nothing is: it must be none that an array has."""
    RUNS[name](tmp_path / "result")
    with xarray.open_zarr(tmp_path / "result", consolidated=False) as stored:
        assert (stored["verdict"].values != value).all()
    shutil.rmtree(tmp_path / "result" / "verdict" / "c")
    with xarray.open_zarr(tmp_path / "result", consolidated=False) as stored:
        assert (stored["verdict"].values == value).all()


@pytest.mark.parametrize("name", RUNS)
def test_no_byte_of_what_a_store_says_of_itself_is_changed_in_silence(name, tmp_path):
    """Numbers, names and shares are there; a change of one byte is refused, or means nothing, as of a space."""
    folder = tmp_path / "result"
    RUNS[name](folder)
    told, load = folder / "zarr.json", LOADS[name]
    data, first = told.read_bytes(), load(folder)
    known = json.loads(data)
    for place in range(0, len(data), 23):
        told.write_bytes(flipped(data, place))
        try:
            found = load(folder)
        except FileError:
            continue
        assert json.loads(told.read_bytes()) == known
        equal(found, first)


@pytest.mark.parametrize("gone", [{"schema"}, {"digest"}, {"files"}, {"schema", "digest"}, {"schema", "files"}])
@pytest.mark.parametrize("name", RUNS)
def test_a_store_without_the_number_of_its_layout_is_none_of_before_layouts_had_numbers(name, gone, tmp_path):
    """Digests are still looked at where one of the entries is left that came with them."""
    folder = tmp_path / "result"
    RUNS[name](folder)
    told = json.loads((folder / "zarr.json").read_bytes())
    told["attributes"] = {key: value for key, value in told["attributes"].items() if key not in gone}
    (folder / "zarr.json").write_text(json.dumps(told))
    with pytest.raises(FileError, match=r"zarr.json: is damaged: remove .*result, and compute it again"):
        LOADS[name](folder)


def test_a_file_that_does_not_belong_to_a_store_is_refused(tmp_path):
    """A chunk that was not written, as all its cells are zero, would be read."""
    folder = tmp_path / "result"
    RUNS["map"](folder)
    (folder / "modes" / ".DS_Store").touch()
    load_map(folder)
    (folder / "modes" / "c" / "9").write_bytes(b"0")
    with pytest.raises(FileError, match=r"c/9: is none of its files: remove .*result, and compute it again"):
        load_map(folder)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_goes_on_computes_damaged_pieces_again_and_no_other(name, tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    with monkeypatch.context() as context:
        context.setattr(kept_tasks.KeptTasks, "remove", lambda _: None)
        RUNS[name](kept / "result")
    whole, parts = digests(kept / "result"), kept / "result.part"
    monkeypatch.setattr(np, "savez", counting := Counting(np.savez))
    tasks = [path for path in files_of(parts) if path.suffix == ".npz"]
    assert len(tasks) == {"map": 7, "ensemble": 1}[name]
    for k, path in enumerate(tasks):
        for how in DAMAGES if k == 0 else ("deleted",):
            place = tmp_path / f"{k}-{how}"
            shutil.copytree(kept, place)
            DAMAGES[how](place / "result.part" / path.name, path.read_bytes())
            counting.calls = 0
            if how == "deleted":
                RUNS[name](place / "result")
            else:
                with pytest.warns(
                    UserWarning, match=rf"{path.name} is damaged or of another run: its task is computed again"
                ):
                    RUNS[name](place / "result")
            assert counting.calls == 1
            assert digests(place) == {f"result/{file}": digest for file, digest in whole.items()}


def rod_ensemble(folder, mu):
    dynamics, pins = dynamics_of("rod_on_incline"), {"phi": 1, "phi_dot": 0, "slip.tip": 1}
    options = {"starts": {"m": np.linspace(1, 2, 1100)}, "t_end": 0.01}  # two tasks
    return ensemble(dynamics, pins=pins, parameters={"mu": mu}, store=folder, **options)


@pytest.mark.parametrize("source", ["another run", "another task"])
def test_a_piece_of_something_else_is_computed_again(source, tmp_path, monkeypatch):
    """It is whole, and would be read as that of this run."""
    with monkeypatch.context() as context:
        context.setattr(kept_tasks.KeptTasks, "remove", lambda _: None)
        for name, mu in (("own", 0.3), ("other", 0.9)):
            rod_ensemble(tmp_path / name, mu)
    whole, parts = digests(tmp_path / "own"), tmp_path / "own.part"
    first, second = sorted(parts.glob("task-*"))
    second.unlink()
    foreign = sorted((tmp_path / "other.part").glob("task-*"))[1] if source == "another run" else first
    name = foreign.name.replace("task-00000000", "task-00000001")
    assert digests(tmp_path / "other") != whole
    shutil.copy(foreign, parts / name)
    with pytest.warns(UserWarning, match=rf"{name} is damaged or of another run: its task is computed again"):
        rod_ensemble(tmp_path / "own", 0.3)
    assert digests(tmp_path / "own") == whole


@pytest.mark.parametrize("name", RUNS)
def test_no_byte_of_a_piece_is_changed_in_silence(name, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_tasks.KeptTasks, "remove", lambda _: None)
    RUNS[name](tmp_path / "result")
    path = next((tmp_path / "result.part").glob("task-00000000-*"))
    told = json.loads((path.parent / "specification.json").read_bytes())
    seal = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()
    kept, data = kept_tasks.KeptTasks(path.parent, seal, {0: path.name}), path.read_bytes()
    assert kept.get(0)
    for place in range(0, len(data), 37):
        path.write_bytes(flipped(data, place))
        with pytest.raises(FileError, match="is damaged"):
            kept.get(0)


def interrupted(*_, **__):
    raise KeyboardInterrupt


class Counting:
    def __init__(self, whole):
        self.whole, self.calls = whole, 0

    def __call__(self, *given, **arrays):
        self.calls += 1
        self.whole(*given, **arrays)


@pytest.mark.parametrize("name", RUNS)
def test_a_store_of_an_older_layout_is_named(name, tmp_path):
    folder = tmp_path / "result"
    RUNS[name](folder)
    told = folder / "zarr.json"
    told.write_text(told.read_text().replace('"schema": 2', '"schema": 1'))
    for read in (LOADS[name], RUNS[name]):
        with pytest.raises(FileError, match="stored with layout 1; this version reads 2: remove it"):
            read(folder)


def test_a_part_whose_pieces_have_gone_is_refused(tmp_path, monkeypatch):
    """What is there is read, but nothing goes on from it."""
    options = {"starts": {"y": np.linspace(1, 2, 5)}, "pins": {"y_dot": 0}, "t_end": 0.1, "store": tmp_path / "part"}
    ball = dynamics_of("bouncing_ball")
    with monkeypatch.context() as context:
        context.setattr("hybrid.analysis.ensembles.worked_off", interrupted)
        assert ensemble(ball, on_interrupt="keep", **options).n_missing == 5
    assert load_ensemble(tmp_path / "part").n_missing == 5
    shutil.rmtree(tmp_path / "part.part")
    with pytest.raises(
        StateError, match=r"part holds a part of what is asked for, and .*part.part has gone: remove it"
    ):
        ensemble(ball, **options)
