"""Runs that are killed and gone on with, locks, other specifications, poison, and the cluster of one machine."""

import errno
import hashlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from hybrid import ensemble, region_map
from hybrid.analysis import Axis, kept_tasks as keeping, load_ensemble, load_map
from hybrid.analysis.engines import worked_off
from hybrid.analysis.maps import plane as planes
from hybrid.cli import engines, main
from hybrid.errors import ComputationError, FileError, StateError
from hybrid.tolerances import Tolerances
from tests.catalogue import dynamics_of

MAP = ["map", "rod_on_incline", "--pin=slip.tip=-1", "--param=mu=3/2", "--axis=phi=0:pi:400", "--axis=phi_dot=-3:3:400"]
MANY = ["ensemble", "rod_on_incline", "--vary=phi=0.2:2.9", "--vary=slip.tip=-1:1", "--pin=phi_dot=0", "--n=4000"]
MANY += ["--t-end=0.3", "--seed=3"]
# The child kills itself, as the system would, in the middle of keeping so many tasks.
KILLED = """
import os, signal, sys
from hybrid.analysis import kept_tasks
from pathlib import Path
whole, left = Path.replace, [{0}]
def killed(self, target):
    left[0] -= ".part/task-" in str(target)
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, target)
Path.replace = killed
from hybrid.cli import main
sys.exit(main(sys.argv[1:]))
"""
PINS = {"slip.tip": -1}
HERE = ".".join(("127", "0", "0", "1"))


def axes(n=200):  # so few that compiled operations do not pay: their margins agree to rounding
    return [Axis("phi", 0, np.pi, n), Axis("phi_dot", -3, 3, n)]


def digests(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check_goes_on(words, folder, kept):
    """Kill a run in the middle, go on, and compare every byte with a run that was left alone."""
    killed = folder / "killed"
    done = subprocess.run([sys.executable, "-c", KILLED.format(kept), *words, "--store", str(killed)], timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert not killed.exists()
    assert len(list((folder / "killed.part").glob("task-*"))) == kept
    for target in (killed, folder / "left_alone"):
        assert main([*words, "--store", str(target)]) == 0
    assert digests(killed) == digests(folder / "left_alone")
    assert sorted(path.name for path in folder.iterdir()) == ["killed", "left_alone"]


@pytest.mark.parametrize("words", [MAP, pytest.param(MANY, marks=pytest.mark.long)], ids=["map", "ensemble"])
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(words, tmp_path):
    check_goes_on(words, tmp_path, kept=2)


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [[*MAP[:-2], "--axis=phi=0:pi:6000", "--axis=phi_dot=-3:3:6000"], [*MANY[:-3], "--n=500000", "--t-end=1"]],
    ids=["map", "ensemble"],
)
def test_ten_kills_at_random_moments_leave_no_trace(words, tmp_path):
    """Each at a random time before or behind the next piece."""
    shuffled, counts, parts = random.Random(5), [0], tmp_path / "killed.part"
    words = [sys.executable, "-m", "hybrid", *words, "--workers=2", "--store"]
    while len(counts) <= 10:
        child = subprocess.Popen([*words, str(tmp_path / "killed")])
        wanted = counts[-1] + shuffled.choice([0, 1, 1])
        while child.poll() is None and not ((parts / "lock").exists() and len(list(parts.glob("task-*"))) >= wanted):
            time.sleep(0.01)
        time.sleep(0.2 * shuffled.random())
        child.kill()
        assert child.wait() == -signal.SIGKILL, "it is finished before ten kills: take a larger one"
        counts.append(len(list(parts.glob("task-*"))))
    assert not (tmp_path / "killed").exists()
    assert len(set(counts)) > 3  # before, between and behind pieces
    for name in ("killed", "left_alone"):
        assert subprocess.run([*words, str(tmp_path / name)]).returncode == 0
    assert digests(tmp_path / "killed") == digests(tmp_path / "left_alone")


PEAK = """
import resource, sys
from hybrid.cli import main
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.long
def test_a_hundred_million_cells_are_kept_and_read_within_four_gibibytes(tmp_path):
    """Their 19 bytes each are 1.9 GB."""
    words = [*MAP[:-2], "--axis=phi=0:pi:10000", "--axis=phi_dot=-3:3:10000", "--store", str(tmp_path / "map")]
    for _ in ("computed", "read"):
        done = subprocess.run([sys.executable, "-c", PEAK, *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout.split()[-1]) < 4 << 20  # kibibytes


def test_a_stored_map_is_the_map(tmp_path):
    made = region_map(
        dynamics_of("rod_on_incline"), axes=axes(), pins=PINS, parameters={"mu": 1.5}, store=tmp_path / "m",
        with_boundaries=True,
    )  # fmt: skip
    alone = region_map(dynamics_of("rod_on_incline"), axes=axes(), pins=PINS, parameters={"mu": 1.5})
    loaded = load_map(tmp_path / "m")
    for name in ("verdict", "modes", "margin", "region"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(made, name))
        np.testing.assert_array_equal(getattr(alone, name), getattr(made, name))
    assert (loaded.labels, loaded.regions, loaded.axes) == (made.labels, made.regions, made.axes)
    assert loaded.mode_fractions == alone.mode_fractions
    assert [b.points.tolist() for b in loaded.boundaries] == [b.points.tolist() for b in made.boundaries]
    assert loaded.is_complete


def test_a_stored_ensemble_is_the_ensemble(tmp_path):
    starts = {"phi": np.linspace(0.3, 1.2, 50), "mu": np.linspace(0.2, 3.0, 50), "gap.tip": np.zeros(50)}
    starts["gap.tip"][7] = -0.1
    pins = {"x": 0, "phi_dot": 0, "gap_dot.tip": 0, "slip.tip": -1}
    made = ensemble(dynamics_of("rod_on_incline"), starts=starts, pins=pins, t_end=0.3, store=tmp_path / "e")
    loaded = load_ensemble(tmp_path / "e")
    assert (loaded.termination, loaded.verdict, loaded.reasons) == (made.termination, made.verdict, made.reasons)
    assert {"INCONSISTENT", "NOT_STARTED", "END_TIME"} <= set(loaded.termination)
    assert (loaded.singled_out, loaded.events, loaded.names) == (made.singled_out, made.events, made.names)
    np.testing.assert_array_equal(loaded.end, made.end)
    np.testing.assert_array_equal(loaded.log.t, made.log.t)
    about = json.loads((tmp_path / "e" / "zarr.json").read_text(encoding="utf-8"))["attributes"]
    assert about["mechanism"] == "rod_on_incline" and about["tolerances"]["gap"] == Tolerances().gap
    with pytest.raises(FileError, match="no stored map"):
        load_map(tmp_path / "e")
    with pytest.raises(FileError, match="no stored ensemble"):
        load_ensemble(tmp_path / "nothing")


def unfinished(folder, **other):
    with keeping.kept_tasks(folder, {"kind": "map", "parameters": {"mu": 1.5, "g": 1.0}, **other}):
        pass


PHI, RATE = ({"name": name, "low": 0.0, "high": 3.141592653589793, "n": 50} for name in ("phi", "phi_dot"))


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([{**PHI, "n": 4000}, RATE], "axis phi=0:3.14159:4000, not phi=0:3.14159:50"),
        ([PHI, {**RATE, "name": "mu"}], "axis mu=0:3.14159:50, not phi_dot=0:3.14159:50"),
        (
            [RATE, PHI],
            "axis phi_dot=0:3.14159:50 and phi=0:3.14159:50, not phi=0:3.14159:50 and phi_dot=0:3.14159:50",
        ),
        # ends that agree to six digits are written with all of theirs
        ([{**PHI, "high": 205887 / 65536}, RATE], "axis phi=0:3.1415863037109375:50, not phi=0:3.1415926535897931:50"),
        ([PHI], "axes = [{"),
        ("none", 'axes = "none", not '),
        ([{"name": "phi"}, RATE], "axes = [{"),
    ],
)
def test_axes_that_differ_are_named_as_the_command_line_takes_them(tmp_path, known, words):
    folder = tmp_path / "m"
    unfinished(folder, axes=known)
    with pytest.raises(StateError) as error:
        unfinished(folder, axes=[PHI, RATE])
    assert f"m.part is a run with {words}" in str(error.value)
    assert str(error.value).endswith(": remove it, or choose another folder")


def test_a_finished_ensemble_is_read_by_the_same_command(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "ends"
    words = [*MANY[:4], "--pin=phi_dot=0", "--n=40", "--t-end=0.3", "--seed=3", "--store", str(folder), "--json"]
    assert main(words) == 0
    first, kept = json.loads(capsys.readouterr().out), digests(folder)
    monkeypatch.setattr("hybrid.analysis.ensembles.follow_chunk", lambda *_: pytest.fail("followed again"))
    assert main(words) == 0
    second = json.loads(capsys.readouterr().out)
    timed = {"seconds": 0, "compile_seconds": 0}
    assert {**second, **timed} == {**first, **timed}
    assert main(words[:-1]) == 0
    assert f"Read from {folder}, where it was kept." in capsys.readouterr().out
    assert digests(folder) == kept
    for now, other, difference in (("--seed=3", "--seed=4", "seed = 3, not 4"), ("--n=40", "--n=41", "n = 40, not 41")):
        assert main([other if word == now else word for word in words]) == 2
        assert difference in capsys.readouterr().err
    assert digests(folder) == kept


def test_another_specification_is_refused_with_the_difference(tmp_path):
    unfinished(tmp_path / "m")
    with pytest.raises(StateError, match=r'parameters = \{"mu": 1.5\}, not \{"mu": 0.5\}'):
        unfinished(tmp_path / "m", parameters={"mu": 0.5, "g": 1.0})
    unfinished(tmp_path / "m")
    told = tmp_path / "m.part" / "specification.json"
    told.write_text(told.read_text().replace('"schema": 2', '"schema": 1'))
    with pytest.raises(StateError, match="schema = 1, not 2"):
        unfinished(tmp_path / "m")
    told.write_text("{")
    with pytest.raises(StateError, match="no run that can be gone on with"):
        unfinished(tmp_path / "m")


def test_long_texts_are_shown_where_they_differ(tmp_path):
    text = "".join(f"line {k}\n" for k in range(200))
    unfinished(tmp_path / "m", declaration=text)
    changed = text.replace("line 150", "line one hundred and fifty")
    with pytest.raises(
        StateError, match=r"declaration = \.\.\..*line 150.*\.\.\., not \.\.\..*line one hundred .*\.\.\.:"
    ):
        unfinished(tmp_path / "m", declaration=changed)
    with pytest.raises(StateError, match=r'line 199\\n", not \.\.\..*line 199\\nend"'):
        unfinished(tmp_path / "m", declaration=text + "end")


def test_two_runs_on_one_folder_are_refused(tmp_path):
    words = [sys.executable, "-m", "hybrid", *MAP, "--store", str(tmp_path / "m")]
    with keeping.kept_tasks(tmp_path / "m", {}):
        done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2
    assert f"in use by process {os.getpid()}" in done.stderr


def test_a_full_disk_is_told_and_what_is_kept_is_gone_on_with(tmp_path, monkeypatch, capsys):
    whole, calls = np.savez, []

    def full(file, **arrays):
        calls.append(file)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(file, **arrays)

    monkeypatch.setattr(np, "savez", full)
    assert main([*MAP, "--store", str(tmp_path / "m")]) == 3
    assert "No space left on device; what it holds already is kept" in capsys.readouterr().err
    assert len(list((tmp_path / "m.part").iterdir())) == 2 + 2  # tasks, specification and lock
    monkeypatch.undo()
    assert main([*MAP, "--store", str(tmp_path / "m"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"]


def doubled(number):
    if number == 3:
        raise ValueError("three is poison")
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def test_processes_end_at_once_where_ctrl_c_ends_the_work():
    """One that sleeps for ten minutes is not waited for."""
    begin = time.monotonic()
    with (
        pytest.raises(KeyboardInterrupt),
        engines.opened_engine(2, None, is_long=False) as engine,
        engine() as executor,
    ):
        asleep = executor.submit(time.sleep, 600.0)
        while not asleep.running():
            time.sleep(0.01)
        raise KeyboardInterrupt
    assert time.monotonic() - begin < 60.0


def sent_whole(connection, message, send=Connection._send_bytes):
    """What a pipe does not take whole ends somewhere in it where the sender is killed."""
    if len(message) > select.PIPE_BUF:
        os.kill(os.getpid(), signal.SIGKILL)
    send(connection, message)


def half_a_megabyte(number):
    Connection._send_bytes = sent_whole
    return np.full(1 << 16, number)


def test_a_process_that_is_killed_leaves_no_part_of_a_message():
    with engines.opened_engine(2, None, is_long=False) as engine:
        found = dict(worked_off(half_a_megabyte, range(6), engine=engine))
    assert sorted(found) == list(range(6))
    assert all((array == number).all() and len(array) == 1 << 16 for number, array in found.items())


LARGE = [word.replace(":400", ":2500") for word in MAP] + ["--workers=2", "--json"]


def children(pid):
    return [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]


@pytest.mark.long
@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("who", ["one of its processes", "the program"])
def test_whoever_gets_a_signal_at_random_the_map_ends(who):
    """A process that is killed is replaced, and Ctrl-C is answered, whatever was on its way between them."""
    drawn, n_sent = random.Random(4), 0
    for _ in range(12):
        child = subprocess.Popen(
            [sys.executable, "-m", "hybrid", *LARGE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while not (found := children(child.pid)):
            time.sleep(0.01)
        time.sleep(drawn.uniform(0.0, 1.5))
        if who == "the program":
            child.send_signal(signal.SIGINT)
        elif found := children(child.pid):
            os.kill(drawn.choice(found), signal.SIGKILL)
            n_sent += 1
        out, err = child.communicate(timeout=100)
        is_complete = json.loads(out)["complete"]
        assert child.returncode == (0 if is_complete else 130) and "Traceback" not in err
        assert is_complete or who == "the program"
        n_sent += not is_complete
    assert n_sent >= 6


def test_poison_stops_no_other_task():
    for engine in (None, partial(ProcessPoolExecutor, 2)):
        failures = {}
        tasks = [n for n in range(9) if engine is not None or n != 5]
        found = dict(worked_off(doubled, tasks, engine=engine, failed=failures.__setitem__))
        assert {tasks[k]: value for k, value in found.items()} == {n: 2 * n for n in tasks if n not in (3, 5)}
        assert failures == {3: "three is poison"} | ({5: "its process died"} if engine is not None else {})
    with ProcessPoolExecutor(1) as executor, pytest.raises(ComputationError, match="makes executors"):
        list(worked_off(doubled, [5, 1], engine=executor))
    with ProcessPoolExecutor(1) as executor:
        with pytest.raises(BrokenProcessPool):
            executor.submit(doubled, 5).result()
        with pytest.raises(ComputationError, match="makes executors"):  # dead before it is handed over
            list(worked_off(doubled, [1, 2], engine=executor))
    with pytest.raises(ValueError, match="poison"):
        list(worked_off(doubled, [1, 3], engine=None))


def test_a_chunk_that_fails_is_named_and_the_others_are_there(monkeypatch):
    whole = planes.classify

    def poisoned(dynamics, states, **options):
        if (np.abs(states.q[..., 2] - 1.0) < 0.02).any():
            raise ComputationError("a posture of which nothing is known")
        return whole(dynamics, states, **options)

    monkeypatch.setattr(planes, "classify", poisoned)
    found = region_map(
        dynamics_of("rod_on_incline"), axes=axes(40), pins=PINS, parameters={"mu": 1.5}, chunk_cells=80,
        executor=partial(ProcessPoolExecutor, 2, mp_context=get_context("fork")),  # inherits what is patched
    )  # fmt: skip
    assert not found.is_complete
    assert 80 <= found.n_missing <= 160
    assert all("phi = " in text and "nothing is known" in text for text in found.failures)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("is_drawn", [False, True])
def test_ctrl_c_behind_the_last_piece_waits_for_the_answer(monkeypatch, tmp_path, capsys, is_drawn):
    """Put together from its pieces, a map lacks no cell; it says that it lacks the curves of a picture."""
    get, came = keeping.KeptTasks.get, []

    def interrupted(kept, number):
        if not came:
            came.append(number)
            signal.raise_signal(signal.SIGINT)
        return get(kept, number)

    monkeypatch.setattr(keeping.KeptTasks, "get", interrupted)
    call = [*MAP, "--store", str(tmp_path / "map"), "--json"]
    call += ["--plot", str(tmp_path / "map.svg")] if is_drawn else []
    assert main(call) == (130 if is_drawn else 0)
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert came and answer["complete"] == (not is_drawn)
    assert ("the curves between regions are missing" in printed.err) == is_drawn
    assert sum(answer["verdict_fractions"].values()) == pytest.approx(1.0)
    assert main(call) == 0
    assert json.loads(capsys.readouterr().out)["complete"]


def greet(listening, greeting):
    with listening.accept()[0] as other:
        other.sendall(greeting)
        while other.recv(1 << 16):  # until the other side has enough
            pass


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch, capsys):
    nowhere = f"tcp://{'.'.join(['127', '0', '0', '1'])}:9"
    monkeypatch.setattr(engines, "_PATIENCE", 0.3)
    assert main([*MAP, f"--scheduler={nowhere}"]) == 2
    assert f"no scheduler answers at {nowhere}" in capsys.readouterr().err
    for greeting, reason in ((b"", "silent"), (b"SSH-2.0-OpenSSH_9.2p1\r\n", "not Dask")):
        with socket.create_server((HERE, 0)) as listening:
            elsewhere = f"tcp://{HERE}:{listening.getsockname()[1]}"
            threading.Thread(target=greet, args=(listening, greeting), daemon=True).start()
            assert main([*MAP, f"--scheduler={elsewhere}"]) == 2
        assert reason in capsys.readouterr().err
    assert main([*MAP, f"--scheduler={nowhere}", "--workers=2"]) == 2
    assert "leave out --workers" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_without_workers_is_not_waited_for_without_end(monkeypatch, capsys):
    from distributed import LocalCluster

    monkeypatch.setattr(engines, "_PATIENCE", 1.0)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=None, host=f"tcp://{HERE}") as cluster:
        assert main([*MAP, "--scheduler", cluster.scheduler_address]) == 2
        assert f"the scheduler at {cluster.scheduler_address} has no workers" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_a_cluster_that_is_killed_loses_nothing(tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        workers = [worker.process.process.pid for worker in cluster.workers.values()]
        words = [*MANY[:-3], "--n=6000", "--t-end=1", "--seed=3", "--scheduler", cluster.scheduler_address]
        child = subprocess.Popen([sys.executable, "-m", "hybrid", *words, "--store", str(tmp_path / "far")])
        while not any((tmp_path / "far.part").glob("task-*")):
            time.sleep(0.05)
        os.kill(workers[0], signal.SIGKILL)
        assert child.wait(timeout=300) == 0
    assert main([*words[:-2], "--store", str(tmp_path / "near")]) == 0
    assert digests(tmp_path / "far") == digests(tmp_path / "near")


@pytest.mark.long
def test_a_scheduler_that_dies_ends_the_run_in_one_line_and_another_engine_goes_on(tmp_path):
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port = str(probe.getsockname()[1])
    address, quiet = f"tcp://{HERE}:{port}", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask, words = [sys.executable, "-m"], [*MAP[:-2], "--axis=phi=0:pi:4000", "--axis=phi_dot=-3:3:4000"]
    scheduler = ["distributed.cli.dask_scheduler", "--host", HERE, "--port", port, "--no-dashboard"]
    worker = ["distributed.cli.dask_worker", address, "--nthreads=1", "--no-nanny", "--no-dashboard"]
    processes = [subprocess.Popen([*dask, *scheduler], **quiet)]
    processes.append(subprocess.Popen([*dask, *worker, "--local-directory", str(tmp_path)], **quiet))
    try:
        words += ["--store", str(tmp_path / "map")]
        run = subprocess.Popen(
            [sys.executable, "-m", "hybrid", *words, "--scheduler", address], stderr=subprocess.PIPE, text=True
        )
        processes.append(run)
        while not any((tmp_path / "map.part").glob("task-*")):
            assert run.poll() is None
            time.sleep(0.05)
        processes[0].kill()
        told = run.communicate(timeout=120)[1]
        assert run.returncode == 3
        assert [line for line in told.splitlines() if "its scheduler" in line and line.startswith("error: ")]
        assert "Traceback" not in told and "defect" not in told
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert main(words) == 0
    assert load_map(tmp_path / "map").is_complete
