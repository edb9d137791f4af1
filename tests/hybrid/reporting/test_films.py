"""Films show the motion: every frame at its time, the picture where the mechanism is, in files that players read."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from hybrid import State, derive, simulate, solve_state
from hybrid.cli import main
from hybrid.contact import NewtonImpact
from hybrid.errors import ComputationError
from hybrid.reporting import save_film
from hybrid.reporting.figures import settings
from hybrid.reporting.films import watched_speed
from hybrid.reporting.scene import build_scene
from hybrid.reporting.stage import FilmStage
from tests.catalogue import dynamics_of


@pytest.fixture(scope="module")
def bounced():
    return simulate(dynamics_of("bouncing_ball"), State([1.0], [0.0]), t_end=1.6, law=NewtonImpact())


def staged(motion):
    with settings():
        return FilmStage(motion, build_scene(motion), speed=1.0, title="")


def dots(stage):
    (line,) = [line for line in stage.figure.axes[0].get_lines() if line.get_marker() == "o" and line.get_zorder() == 3]
    return line.get_xydata()


def test_the_ball_is_where_it_falls_to(bounced):
    stage = staged(bounced)
    fall = np.sqrt(2 / 9.81)
    for t in (0.0, 0.2, 0.4):
        stage.show(t)
        # frames lie 1.3 ms apart; between them the place is a chord of the parabola
        assert dots(stage)[:, 1].min() == pytest.approx(1 - 9.81 * t**2 / 2, abs=1e-5)
    stage.show(fall + 0.1)
    assert dots(stage)[:, 1].min() == pytest.approx(0.8 * np.sqrt(2 * 9.81) * 0.1 - 9.81 * 0.1**2 / 2, abs=1e-5)


def test_an_impact_is_ringed_for_a_fifth_of_a_second(bounced):
    stage = staged(bounced)
    ring = next(line for line in stage.figure.axes[0].get_lines() if line.get_markersize() > 20)
    seen = []
    for t in (0.4, 0.46, 0.6, 0.69):
        stage.show(t)
        seen.append(len(ring.get_xdata()) > 0)
    assert seen == [False, True, True, False]  # the impact is at 0.4515


def test_modes_and_time_are_written(bounced):
    stage = staged(bounced)
    stage.show(0.25)
    words = [text.get_text() for text in stage.figure.axes[0].texts]
    assert "t = 0.250 s   floor: free" in words


def test_an_arrow_is_the_contact_force_in_its_scale():
    # a block on a level floor: its weight, and mu times it against the motion
    block = dynamics_of("rod_on_incline")
    motion = simulate(block, solve_state(block, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}), t_end=1)
    scene = build_scene(motion)
    with settings():
        stage = FilmStage(motion, scene, speed=1.0, title="")
    stage.show(0.5)
    from matplotlib.patches import FancyArrowPatch

    (arrow,) = [item for item in stage.figure.axes[0].patches if isinstance(item, FancyArrowPatch)]
    tail, tip = (np.array(place) for place in arrow._posA_posB)
    # it slides to the left, so that friction pushes to the right with half the pressure
    run = tip - tail
    assert run[0] == pytest.approx(0.5 * run[1], rel=1e-6)
    assert run[1] > 0
    assert tip == pytest.approx(dots(stage)[0], abs=1e-9)


def test_a_motion_is_watched_in_some_seconds():
    for span in np.geomspace(1e-6, 1e6, 60):
        seconds = span / watched_speed(span)
        assert 1.6 <= seconds <= 24  # as many as real time may take


@pytest.mark.long
def test_a_gif_has_a_frame_for_every_twenty_fifth_of_a_second(bounced, tmp_path):
    save_film(bounced, tmp_path / "ball.gif")
    data = (tmp_path / "ball.gif").read_bytes()
    assert data[:6] == b"GIF89a"
    # graphic control extensions: hundredths of a second until the next frame
    delays = [int.from_bytes(part, "little") for part in re.findall(rb"\x21\xf9\x04.(..)", data, re.DOTALL)]
    # in real time; the last frame stays for a second
    assert sum(delays) == pytest.approx(100 * (1.6 + 1), abs=8)
    assert b"NETSCAPE2.0" in data  # it begins anew


def test_an_mp4_is_what_every_player_reads(bounced, tmp_path):
    if shutil.which("ffmpeg") is None:
        with pytest.raises(ComputationError, match="ffmpeg"):
            save_film(bounced, tmp_path / "ball.mp4")
        return
    save_film(bounced, tmp_path / "ball.mp4")
    data = (tmp_path / "ball.mp4").read_bytes()
    assert data[4:8] == b"ftyp"
    assert data.index(b"moov") < data.index(b"mdat")  # it plays while it loads
    assert b"avc1" in data  # H.264
    read = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(tmp_path / "ball.mp4"), "-f", "null", "-"], capture_output=True, check=True
    )
    assert read.stderr == b""


def test_without_ffmpeg_one_line_says_so_before_anything_is_computed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = ["simulate", "bouncing_ball", "--pin=y=1", "--pin=y_dot=0", "--t-end=1"]
    assert main([*arguments, f"--animate={tmp_path / 'ball.mp4'}"]) == 3
    _, err = capsys.readouterr()
    assert err == "error: an .mp4 is written by ffmpeg, which is not on the PATH; .gif and .html do without it\n"
    assert list(tmp_path.iterdir()) == []


def test_ffmpeg_that_fails_leaves_no_file(bounced, tmp_path, monkeypatch):
    broken = tmp_path / "bin" / "ffmpeg"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no codec >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:/bin")
    with pytest.raises(ComputationError, match="ffmpeg could not write the film: no codec"):
        save_film(bounced, tmp_path / "ball.mp4")
    assert not (tmp_path / "ball.mp4").exists()


def test_another_ending_is_refused(bounced, tmp_path):
    with pytest.raises(ValueError, match=r"\.gif or \.mp4"):
        save_film(bounced, tmp_path / "ball.avi")


def test_a_spatial_mechanism_and_one_without_contacts_are_filmed(tmp_path):
    rod = derive(dynamics_of("oblique_rod").mechanism)
    pins = {"x": 0, "y": 0, "psi": 0.3, "theta": 0.7, "psi_dot": 0, "theta_dot": 0, "slip.tip.1": 1, "slip.tip.2": 0}
    pendulum = dynamics_of("double_pendulum")
    names = (*pendulum.mechanism.coordinates, *pendulum.mechanism.velocities)
    for motion in (
        simulate(rod, solve_state(rod, pins), t_end=0.1),
        simulate(pendulum, solve_state(pendulum, dict.fromkeys(names, 0.5)), t_end=0.1),
    ):
        stage = staged(motion)
        stage.show(0.05)
        low, high = stage.figure.axes[0].get_xlim()
        assert np.all((dots(stage)[:, 0] > low) & (dots(stage)[:, 0] < high))
