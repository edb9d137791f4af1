"""A motion survives a file, and a file that is no motion is refused."""

import numpy as np
import pytest

import mechanisms
from hybrid import State, StateError, derive, simulate
from hybrid.contact import EnergeticImpact
from hybrid.motion import load, save


@pytest.fixture(scope="module")
def motion():
    rod = derive(mechanisms.load("rod_two_ends"))
    return simulate(rod, State([0, 1.6, 0.5], [0.3, 0, 0.2]), t_end=4, law=EnergeticImpact(), parameters={"e": 0.4})


def test_a_motion_is_the_same_after_saving_and_loading(motion, tmp_path):
    save(motion, tmp_path / "motion.npz")
    read = load(tmp_path / "motion.npz")
    t = np.linspace(0, motion.t, 300)
    assert np.array_equal(read.sample(t)[0], motion.sample(t)[0])
    assert [str(event) for event in read.events] == [str(event) for event in motion.events]
    assert [event.impact.phases for event in read.events if event.impact] == [
        event.impact.phases for event in motion.events if event.impact
    ]
    assert (read.termination, read.cause, dict(read.parameters)) == (motion.termination, motion.cause, {"e": 0.4})
    assert read.energy() == motion.energy()
    arc = read.arcs[2]
    middle = (arc.start + arc.end) / 2
    assert np.array_equal(read.forces(arc, middle).lambda_N, motion.forces(motion.arcs[2], middle).lambda_N)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.npz"
    np.savez(path, q=np.zeros(3))
    with pytest.raises(StateError, match="is not a motion"):
        load(path)
    path.write_text("nothing")
    with pytest.raises(StateError, match="is not a motion"):
        load(path)
    np.savez(path, record=np.array('{"format": "painleve motion 99"}'))
    with pytest.raises(StateError, match="has the format 'painleve motion 99'"):
        load(path)


def test_no_pickle_is_read(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, record=np.array([{"format": "x"}], dtype=object))
    with pytest.raises(StateError, match="is not a motion"):
        load(path)


def test_a_file_with_parts_missing_is_refused(motion, tmp_path):
    save(motion, tmp_path / "motion.npz")
    with np.load(tmp_path / "motion.npz") as archive:
        arrays = {name: archive[name] for name in archive.files if name != "arc_1_knots"}
    np.savez(tmp_path / "torn.npz", **arrays)
    with pytest.raises(StateError, match=r"is not a whole motion: .*arc_1_knots"):
        load(tmp_path / "torn.npz")
