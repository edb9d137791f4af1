"""Pictures as the commands write them: kinds, styles, and a motion over a map."""

import xml.etree.ElementTree as ET

import pytest

from hybrid.cli import main

ROD = ["rod_on_incline", "--param=mu=1.5"]
MAP = ["map", *ROD, "--axis=phi=0:pi:12", "--axis=phi_dot=-3:3:12", "--pin=slip.tip=-1"]
MOTION = ["simulate", *ROD, "--pin=phi=2.9", "--pin=phi_dot=-2.4", "--pin=slip.tip=-1", "--t-end=0.2"]


def width_of(path):
    """In millimetres."""
    return float(ET.parse(path).getroot().get("width").removesuffix("pt")) / 72 * 25.4


@pytest.mark.parametrize(("style", "width"), [("single", 88), ("double", 174)])
@pytest.mark.parametrize("kind", ["time", "phase"])
def test_a_motion_is_drawn_in_the_columns_of_a_journal(kind, style, width, tmp_path):
    file = tmp_path / "motion.svg"
    assert main([*MOTION, f"--plot={file}", f"--plot-kind={kind}", f"--plot-style={style}"]) == 0
    assert width_of(file) == pytest.approx(width, abs=0.01)


def test_every_branch_is_in_the_phase_portrait(tmp_path):
    file = tmp_path / "tree.svg"
    start = ["--pin=phi=2", "--pin=phi_dot=1.5", "--pin=slip.tip=1", "--t-end=0.1", "--rule=branch"]
    assert main(["simulate", *ROD, *start, f"--plot={file}", "--plot-kind=phase"]) == 0
    assert file.stat().st_size > 10_000


def test_a_kept_motion_is_drawn_over_its_map(tmp_path, capsys):
    kept, file = tmp_path / "motion.npz", tmp_path / "map.svg"
    assert main([*MOTION, "-o", str(kept)]) == 0
    assert main([*MAP, f"--plot={file}"]) == 0
    without = file.read_text()
    assert main([*MAP, f"--plot={file}", f"--motion={kept}", "--plot-style=single"]) == 0
    assert width_of(file) == pytest.approx(88, abs=0.01)
    assert file.read_text() != without


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "rod_on_incline", *MAP[3:], "--plot=map.svg"], "with mu = 1.5: give the map the same by --param"),
        (
            ["map", "ladder_in_corner", "--axis=theta=0.1:1.5:4", "--axis=theta_dot=-1:1:4", "--plot=map.svg"],
            "holds a motion of another mechanism, rod_on_incline",
        ),
        (MAP, "it needs --plot FILE"),
        ([*MAP[:3], "--axis=phi=0:pi:4", "--axis=e=0:1:4", "--pin=phi_dot=0", "--pin=slip.tip=-1"], "needs --plot"),
    ],
)
def test_a_motion_that_belongs_to_no_map_is_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*MOTION, "-o", "motion.npz"]) == 0
    capsys.readouterr()
    assert main([*arguments, "--motion=motion.npz"]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_holds_no_motion_is_refused(tmp_path, capsys):
    file = tmp_path / "motion.npz"
    file.write_bytes(b"nothing")
    assert main([*MAP, f"--plot={tmp_path / 'map.svg'}", f"--motion={file}"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")
