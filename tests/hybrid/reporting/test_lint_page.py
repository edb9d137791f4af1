"""Pages on a linted log: what stands on them, links that lead somewhere, and that nothing else is needed."""

import re

import attrs
import numpy as np
import pytest

from hybrid.cli import main
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.lint import lint
from hybrid.numeric.logs import Log
from hybrid.reporting.lint_page import plot_timeline, render_lint_html, render_lint_markdown
from tests.hybrid.numeric.test_lint import rod_log
from tests.hybrid.numeric.test_mujoco import WALKER, swung


@pytest.fixture(scope="module")
def walked():
    """A backend, its log and what that shows."""
    backend = load(WALKER)
    rows = list(swung(backend, frames=400, seed=3))
    log = Log({name: np.array([row[name] for row in rows]) for name in rows[0]}, None)
    return backend, log, lint(backend, log, frictions=(0.4, 2.0))


def test_every_link_of_the_timeline_leads_to_a_frame(walked):
    backend, log, report = walked
    postures = {item.frame: backend.skeleton(log.row(item.frame), near=1e-3) for item in report.worst}
    page = render_lint_html(report, postures=postures)
    links = set(re.findall(r'href="#(frame-\d+)"', page))
    assert links == {f"frame-{item.frame}" for item in report.worst}
    assert links <= set(re.findall(r'id="([^"]+)"', page))
    assert page.count("<svg") == 1 + len(report.worst)
    assert not re.findall(r'(?:src|href)="(?!#)', page)


def test_a_notebook_shows_a_report_whose_links_stay_within(walked):
    _, _, report = walked
    shown = report._repr_html_()
    own = re.search(r'<div class="painleve" id="(\w+)"', shown)[1]
    links = set(re.findall(r'href="#([^"]*frame-\d+)"', shown))
    assert links == {f"{own}-frame-{item.frame}" for item in report.worst}
    assert links <= set(re.findall(r'id="([^"]+)"', shown))
    assert repr(report).startswith(f"<LintReport {report.model}: 400 frames, {report.counted} counted")
    assert len(repr(report)) <= 120


def test_the_shares_are_repeated_at_other_thresholds(walked):
    backend, log, report = walked
    others = report.thresholds.others()
    again = lint(backend, log, frictions=(), others=others)
    rows = re.findall(r"^\| ([\d.\\]+) \| ([\d.\\]+) \| (\d+) \| ", render_lint_markdown(again), flags=re.MULTILINE)
    found = [(float(slip.replace("\\", "")), float(rate.replace("\\", "")), int(count)) for slip, rate, count in rows]
    assert [row[:2] for row in found] == [(0.02, 0.1), (0.05, 0.1), (0.1, 0.1), (0.05, 0.05), (0.05, 0.1), (0.05, 0.5)]
    for row, other, shares in zip(found, others, again.at_thresholds, strict=True):
        alone = lint(backend, log, thresholds=attrs.evolve(other, worst=0), frictions=())
        assert (shares.counted, shares.verdicts) == (alone.counted, alone.verdicts)
        assert row[2] == alone.counted
    assert len({shares.counted for shares in again.at_thresholds}) > 2


def test_postures_are_pictures_where_the_renderer_works_and_else_lines(walked, monkeypatch):
    backend, log, report = walked
    rows = [log.row(item.frame) for item in report.worst[:2]]
    monkeypatch.setenv("MUJOCO_GL", "disable")
    assert backend.pictures(rows) is None
    monkeypatch.delenv("MUJOCO_GL")
    pictures = backend.pictures(rows)
    if pictures is not None:
        assert [picture.shape for picture in pictures] == [(240, 360, 3)] * 2
        assert all(np.ptp(picture) > 50 for picture in pictures)  # the robot is not the background
    gradient = np.tile(np.arange(36, dtype=np.uint8)[:, None, None], (1, 24, 3))
    page = render_lint_html(report, postures={report.worst[0].frame: gradient})
    assert page.count("data:image/png;base64,") == 1
    assert not re.findall(r'(?:src|href)="(?!#|data:image/png)', page)


def test_markdown_has_the_numbers_of_the_worst_frame(walked):
    _, _, report = walked
    page = render_lint_markdown(report, command="painleve lint walker.xml")
    worst = report.worst[0]
    assert f"## Frame {worst.frame}" in page
    assert f"**{worst.verdict}**" in page
    assert f"critical factor {worst.critical_factor:.6g}" in page.replace("\\", "")
    assert "painleve lint walker.xml" in page


def test_the_timeline_shows_every_counted_frame(walked):
    _, _, report = walked
    (axes,) = plot_timeline(report).axes
    drawn = sum(len(line.get_xdata()) for line in axes.get_lines() if line.get_marker() not in ("None", None, ""))
    assert drawn == report.counted


def test_a_hostile_model_is_shown_as_text(tmp_path):
    backend = load(WALKER)
    hostile = type(backend)(backend.model, "<script>alert(1)</script>[x](javascript:1)")
    rows = list(swung(hostile, frames=30, seed=5))
    log = Log({name: np.array([row[name] for row in rows]) for name in rows[0]}, None)
    page = render_lint_html(lint(hostile, log, frictions=()))
    assert "<script" not in page
    assert not re.findall(r'href="javascript', page)


def test_the_command_writes_a_page_that_quotes_itself(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    out = tmp_path / "page.md"
    assert main(["lint", str(model), "--log", str(log), "--slip-min", "0.02", "-o", str(out)]) == 0
    assert f"The page is in {out}." in " ".join(capsys.readouterr().out.split())
    assert f"--slip-min 0.02 --output {out}" in out.read_text(encoding="utf-8")
