"""Backends of other distributions: found by entry points, by name or by the file's ending."""

import json

import numpy as np
import pytest

from hybrid.cli import main
from hybrid.errors import ComputationError, FileError, StateError
from hybrid.numeric.backends.mujoco import MujocoModel
from hybrid.numeric.frames import load_model
from tests.hybrid.numeric.test_mujoco import ROD

# A block of the mass that its file says, which slides on a floor: positions x, z.
MODULE = """
from pathlib import Path

import numpy as np

from hybrid.numeric.frames import Frame, GeometricContact, Skeleton


class Block:
    name, columns, required, actuation, velocity = "block", {"pos": 2, "vel": 2}, ("pos", "vel"), (), "vel"
    joint_names, velocities, bodies, notes = ("x", "z"), ("x", "z"), ("block",), ("the floor is level",)
    extent, timestep = 1.0, None
    reference, ranges = {"pos": np.zeros(2)}, np.full((2, 2), (-np.inf, np.inf))

    def __init__(self, mass, friction):
        self.mass, self.friction = mass, friction

    def moved(self, row, along):
        return {**row, "pos": row["pos"] + along}

    def frame(self, row, *, near, mass=None):
        m = self.mass * (mass or {}).get("block", 1.0)
        v, gap = row.get("vel", np.zeros(2)), row["pos"][1]
        foot = GeometricContact(
            "foot", ("floor", "block"), gap, v[1], 0.0, np.array([0.0, 1.0]), self.friction,
            np.array([[1.0], [0.0]]), v[:1], np.zeros(1), np.array([row["pos"][0], 0.0, 0.0]),
        )
        return Frame(m * np.eye(2), np.array([0.0, -9.81 * m]), v, (foot,) if gap <= near else ())

    def skeleton(self, row, *, near):
        return Skeleton((np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),), ())

    def pictures(self, rows):
        return None

    def friction_in_force(self, pair):
        return self.friction, self.friction, self.friction, "that of the file of contacts"


def load(path, *, contacts):
    return Block(float(Path(path).read_text()), 0.5 if contacts is None else float(Path(contacts).read_text()))
"""


@pytest.fixture
def block(tmp_path, monkeypatch):
    """A model of the engine of another distribution, which is installed in a folder of the import path."""
    installed = tmp_path / "site"
    about = installed / "blocks-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: blocks\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        "[painleve.backends]\nblock = blocks_of_a_test:load\nbroken = blocks_of_a_test:none\n", encoding="utf-8"
    )
    (installed / "blocks_of_a_test.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(installed))
    model = tmp_path / "crate.block"
    model.write_text("2.0", encoding="utf-8")
    return model


@pytest.mark.parametrize("words", [[], ["--backend", "block"]])
def test_the_linter_reads_models_of_another_distribution(block, tmp_path, capsys, words):
    log, contacts = tmp_path / "log.npz", tmp_path / "friction.txt"
    np.savez(log, pos=np.zeros((3, 2)), vel=np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 0.0]]))
    contacts.write_text("0.7", encoding="utf-8")
    model = block if not words else block.rename(tmp_path / "crate.xml")
    command = ["lint", str(model), "--log", str(log), "--contacts", str(contacts), "--json", *words]
    assert main([*command, "-o", str(tmp_path / "page.html")]) == 0
    answer = json.loads(capsys.readouterr().out)
    # a block has A = 1/m whatever its friction: it slides with the one force m g, and never is critical
    assert (answer["counted"], answer["verdict_fractions"]) == (2, {"UNIQUE": 1.0})
    assert answer["worst"][0]["A"] == [[0.5]]
    assert answer["worst"][0]["b"] == [-9.81]
    assert answer["critical_factor"]["minimum"] is None
    assert (answer["friction_in_force"][0]["value"], answer["notes"][0]) == (0.7, "the floor is level")
    assert main(["lint", str(model), "--sample", "5", "--json", *words]) == 0
    assert json.loads(capsys.readouterr().out)["verdict_fractions"] == {"UNIQUE": 1.0}


def test_without_a_backend_of_the_ending_mujoco_reads_the_model(tmp_path):
    model = tmp_path / "rod.xml"
    model.write_text(ROD.format(mu=1), encoding="utf-8")
    assert isinstance(load_model(model), MujocoModel)
    assert isinstance(load_model(model, backend="mujoco"), MujocoModel)
    with pytest.raises(FileError, match="MuJoCo finds those of the model's geoms"):
        load_model(model, backend="mujoco", contacts="contacts.toml")


def test_backends_that_are_not_there_are_named(block):
    with pytest.raises(StateError, match="no backend is called 'drake'; there are block, broken, mujoco, pinocchio"):
        load_model(block, backend="drake")
    with pytest.raises(ComputationError, match=r"the backend 'broken' \(blocks_of_a_test:none\) cannot be loaded"):
        load_model(block, backend="broken")
