"""A bar in a notebook is one line of the cell, written anew; in a terminal it is rich's (``cli/test_boundary.py``)."""

import sys
import time
from types import SimpleNamespace

import pytest

from hybrid import ProgressBar
from hybrid.motion.together import stepping
from hybrid.progress import say_meanwhile
from lcp.kernels import compiled


@pytest.fixture
def published(monkeypatch):
    """Messages to the browser from a notebook that stands in for Jupyter's."""
    messages = []

    def publish(data, *, transient, update):
        messages.append((data["text/plain"], transient["display_id"], update))

    shell = SimpleNamespace(kernel=object(), display_pub=SimpleNamespace(publish=publish))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return messages


def test_a_line_is_written_anew_and_says_how_long_it_took(published):
    with ProgressBar("counting", patience=0.0) as bar:
        for done in (1, 2, 3, 4):
            bar.advance(done, 4)
            time.sleep(0.3)
    texts, names, updates = zip(*published, strict=True)
    assert [text.partition(",")[0] for text in texts[:-1]] == [f"counting: {share} %" for share in (25, 50, 75, 100)]
    assert texts[2].endswith("0 s left")
    assert texts[-1].startswith("counting: done in 1.")
    assert len(set(names)) == 1
    assert updates == (False, True, True, True, True)


def test_what_is_soon_over_writes_nothing(published):
    with ProgressBar("counting") as bar:
        bar.advance(1, 2)
    assert published == []


def test_two_bars_are_two_lines(published):
    for label in ("first", "second"):
        with ProgressBar(label, patience=0.0) as bar:
            bar.advance(1, 2)
    assert len({name for _, name, _ in published}) == 2


def test_work_that_fails_is_not_done(published):
    with pytest.raises(KeyboardInterrupt), ProgressBar("counting", patience=0.0) as bar:
        bar.advance(1, 2)
        raise KeyboardInterrupt
    assert published[-1][0].startswith("counting: ended after")


def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch, capsys):
    shell = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with ProgressBar("counting", patience=60.0) as bar:
        bar.advance(1, 2)
    assert capsys.readouterr() == ("", "")


def test_compiling_is_said_before_it_begins(published, monkeypatch):
    """The code is not compiled anew here: what stands in for it looks at what the line says by then."""
    said = []
    monkeypatch.setattr(stepping, "readiness", lambda function: compiled.Readiness.UNKNOWN)
    for name in ("land_motions", "begin_arcs", "evaluate", "look_along"):
        monkeypatch.setattr(stepping, name, lambda *_: None)
    monkeypatch.setattr(stepping, "follow_motions", lambda *_: said.extend(text for text, _, _ in published))
    with ProgressBar("following"), ProgressBar("ensemble", patience=0.0) as bar:
        stepping.ready()
        time.sleep(0.3)
        bar.advance(1, 2)
    assert said == ["ensemble, compiling"]
    assert published[1][0].startswith("ensemble: 50 %")
    stepping.ready()  # without a bar there is nobody to tell
    assert len(published) == 3


def test_a_bar_in_a_terminal_begins_with_what_is_done_meanwhile(capsys):
    with ProgressBar("ensemble", patience=0.1):
        say_meanwhile("compiling")
        time.sleep(0.4)
    assert capsys.readouterr().err == "ensemble, compiling ...\n"
