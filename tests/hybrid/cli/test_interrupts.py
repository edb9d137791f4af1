"""Ctrl-C as the system sends it: Python raises it, commands say that their answer is partial."""

import json
import re
import signal
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from hybrid.analysis import load_map
from hybrid.cli.schemas import answer_schema

# The child sends itself a true SIGINT after the first chunk of cells, or after so much of the motion.
AT_CHUNK = """
from hybrid.analysis.maps import chunks
whole = chunks._filled
def interrupted(draft, plane, *rest):
    for found in whole(draft, plane, *rest):
        yield found
        if plane.axes[0].cells > 8:  # a report begins with a coarse map
            os.kill(os.getpid(), signal.SIGINT)
chunks._filled = interrupted
"""
AT_ONCE = """
from hybrid.analysis.maps import chunks
whole = chunks._filled
def interrupted(draft, plane, *rest):
    if plane.axes[0].cells > 8:
        os.kill(os.getpid(), signal.SIGINT)
    yield from whole(draft, plane, *rest)
chunks._filled = interrupted
"""
AT_HALF = """
from hybrid.progress import ProgressBar
def half(self, done, total):
    if 2 * done > total:
        os.kill(os.getpid(), signal.SIGINT)
ProgressBar.advance = half
"""
# A shell starts what runs in the background with SIGINT ignored, and children inherit that.
AFTER_ALL = """
from {0} import {1} as module
whole = module.{2}
def interrupted(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    return whole(*arguments, **options)
module.{2} = interrupted
"""
HEARD = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
CHILD = HEARD + "{}\nfrom hybrid.cli import main\nsys.exit(main(sys.argv[1:]))"
ROD = ["rod_on_incline", "--param=mu=3/2", "--pin=phi=pi/3", "--pin=phi_dot=1/2", "--pin=slip.tip=-1"]
PLANE = ["--axis=phi=0:pi:2000", "--axis=phi_dot=-3:3:2000"]  # a tenth takes longer than an interrupt


def interrupted(where, *arguments, status=130):
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(where), *arguments], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == status, done.stderr
    assert ("interrupted" in done.stderr) is (status == 130)
    if "--json" in arguments:  # a part keeps to the schema of the whole
        Draft202012Validator(answer_schema(arguments[0])).validate(json.loads(done.stdout))
    return done.stdout


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_an_interrupted_report_says_what_is_missing(ending, tmp_path):
    page = tmp_path / f"page.{ending}"
    shown = interrupted(AT_CHUNK, "report", *ROD, *PLANE, "--json", "-o", str(page))
    found = json.loads(shown)
    missing, tenth = found["map"]["missing"], 2000 * 2000 // 10  # which is computed at once, perhaps in several threads
    assert found["complete"] is found["map"]["complete"] is False
    assert 0 < missing <= 9 * tenth
    assert missing % tenth == 0
    assert found["verdict"] == "INCONSISTENT"
    text = page.read_text(encoding="utf-8")
    if ending == "json":
        assert json.loads(text) == found
    else:
        assert "Incomplete:" in text
        assert f"{missing} of 4000000 cells of the map" in text
        assert f"of which {missing} are missing" in text


def test_an_interrupt_before_the_first_cells_of_a_fine_map_leaves_the_coarse_one():
    found = json.loads(interrupted(AT_ONCE, "report", *ROD, "--json"))["map"]
    assert (found["complete"], found["coarse"], found["cells"], found["missing"]) == (False, True, 64, 0)
    assert found["mode_fractions"]


def test_a_report_tells_its_progress():
    found = json.loads(interrupted(AT_HALF, "report", *ROD, "--json"))["map"]
    assert found["cells"] > found["missing"] > 0


def test_an_interrupted_map_and_motion_are_printed_as_incomplete():
    shown = interrupted(AT_CHUNK, "map", "rod_on_incline", *PLANE, "--pin=slip.tip=-1", "--json")
    found = json.loads(shown)
    assert (found["complete"], found["missing"] > 0) == (False, True)
    fall = ["bouncing_ball", "--pin=y=1", "--pin=y_dot=0", "--t-end=3", "--json"]
    found = json.loads(interrupted(AT_HALF, "simulate", *fall))
    assert (found["complete"], found["termination"]) == (False, "INTERRUPTED")
    assert 1.5 <= found["final"]["t"] < 3


AT_FIRST_TASK = """
from hybrid.analysis.maps import kept
def interrupted(*_):
    os.kill(os.getpid(), signal.SIGINT)
kept._task = interrupted
"""


@pytest.mark.parametrize("store", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_map_of_which_no_cell_was_computed_is_neither_drawn_nor_kept(tmp_path, store):
    plot, folder = tmp_path / "map.png", tmp_path / "map.zarr"
    options = [f"--plot={plot}", *([f"--store={folder}"] if store else [])]
    shown = interrupted(AT_FIRST_TASK if store else AT_ONCE, *MAP, *options)
    assert "400 states, of which 400 are missing" in shown
    assert "Shares" not in shown
    assert not plot.exists() and not folder.exists()
    if store:  # and it can be begun again
        assert "Kept in" in interrupted("", *MAP, *options, status=0)
        assert load_map(folder).is_complete


MAP = ["map", "rod_on_incline", "--axis=phi=0:pi:20", "--axis=phi_dot=-3:3:20", "--pin=slip.tip=-1"]
FALL = ["simulate", "bouncing_ball", "--pin=y=1", "--pin=y_dot=0", "--t-end=1"]


@pytest.mark.parametrize(
    ("where", "arguments"),
    [
        (("hybrid.analysis.maps", "regions", "_finished"), MAP),
        pytest.param(("hybrid.cli", "output", "json_text"), MAP, marks=pytest.mark.long),
        (("hybrid.cli", "motion", "_record"), FALL),
        (("hybrid.cli", "output", "json_text"), FALL),
    ],
)
def test_an_interrupt_behind_the_last_cell_or_step_loses_nothing(where, arguments):
    found = json.loads(interrupted(AFTER_ALL.format(*where), *arguments, "--json", status=0))
    assert found["complete"] is True


@pytest.mark.parametrize(
    ("kept", "clause"),
    [(True, "the same command goes on"), (False, "with --store DIR, which keeps them, it could go on")],
)
def test_an_interrupted_map_says_how_it_goes_on(kept, clause, tmp_path):
    store = [f"--store={tmp_path / 'kept'}"] if kept else []
    command = ["map", "rod_on_incline", *PLANE, "--pin=slip.tip=-1", *store]
    ended = subprocess.run(
        [sys.executable, "-c", CHILD.format(AT_HALF), *command], capture_output=True, text=True, timeout=500
    )
    assert ended.returncode == 130
    assert re.search(rf"interrupted: \d+ of 4000000 cells are missing; {clause}\n", ended.stderr)


@pytest.mark.parametrize(
    ("files", "clause"),
    [
        ([], ""),
        pytest.param(["--plot=ends.svg"], ", and none is drawn", marks=pytest.mark.long),
        (["--plot=ends.svg", "-o", "ends.parquet"], ", and none is drawn or written"),
    ],
)
def test_an_ensemble_interrupted_before_its_first_motion_says_so(files, clause, tmp_path):
    """The signal comes as the first motions are handed out; of no motion there is a picture or a table."""
    command = ["ensemble", "bouncing_ball", "--vary=y=1:2", "--pin=y_dot=0", "--n=5", "--t-end=1", "--json", *files]
    early = AFTER_ALL.format("hybrid.analysis", "ensembles", "_worked_off")
    ended = subprocess.run(
        [sys.executable, "-c", CHILD.format(early), *command],
        capture_output=True,
        text=True,
        timeout=500,
        cwd=tmp_path,
    )
    assert ended.returncode == 130, ended.stderr
    found = json.loads(ended.stdout)
    assert (found["missing"], found["n"], found["complete"], found["terminations"]) == (5, 5, False, {})
    assert ended.stderr.endswith(
        f"interrupted: no motion was finished of 5{clause}; with --store DIR, which keeps them, it could go on\n"
    )
    assert not list(tmp_path.iterdir())


WHILE_KEPT = """
from hybrid.analysis.kept_tasks import KeptTasks
whole = KeptTasks.remove
def late(kept):
    os.kill(os.getpid(), signal.SIGINT)
    whole(kept)
KeptTasks.remove = late
"""


@pytest.mark.parametrize("where", [AFTER_ALL.format("hybrid.analysis.maps", "store", "_seal"), WHILE_KEPT])
def test_an_interrupt_while_a_result_is_stored_waits_for_it(where, tmp_path):
    """The signal comes as the group is written, or as the pieces are removed: all is there, and the status says so."""
    words = [*MAP, "--store", str(tmp_path / "map"), "--json"]
    assert json.loads(interrupted(where, *words, status=0))["complete"] is True
    assert [path.name for path in tmp_path.iterdir()] == ["map"]
    assert load_map(tmp_path / "map").is_complete


def test_what_was_asked_for_after_an_interrupt_is_not_begun(tmp_path):
    """The signal comes between the cells and the picture: the cells are printed, the picture is said to be missing."""
    plot = tmp_path / "map.svg"
    late = AFTER_ALL.format("hybrid.analysis.maps", "regions", "_finished")
    assert json.loads(interrupted(late, *MAP, "--plot", str(plot), "--json"))["complete"] is True
    assert not plot.exists()


LOOP = """
import mechanisms
from hybrid import State, derive, region_map, simulate
from hybrid.analysis import Axis
rod = derive(mechanisms.load("rod_on_incline"))
start = State([0.0, 1.0, 0.4], [0.0, 0.0, 0.5])
axes = [Axis.parse("phi=0:pi:300"), Axis.parse("phi_dot=-3:3:300")]
while True:
    {}
    print("done", flush=True)
"""
CALLS = {
    "map": 'region_map(rod, axes=axes, pins={"slip.tip": -1})',
    "motion": "simulate(rod, start, t_end=2)",
    "steps": 'simulate(rod, start, t_end=2, method="time-stepping", step=1e-2)',
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_a_loop_over_long_computations_can_be_stopped(call):
    with subprocess.Popen(
        [sys.executable, "-c", HEARD + LOOP.format(call)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout.readline() == "done\n"
            child.send_signal(signal.SIGINT)
            _, error = child.communicate(timeout=500)
        finally:
            child.kill()
    # Python ends by the signal itself, which a shell shows as 130
    assert child.returncode == -signal.SIGINT, error
    assert error.rstrip().endswith("KeyboardInterrupt")
