"""The page on simulating says what is true: its commands run, and what they write is there."""

import json
import re
import shlex
from pathlib import Path

import pytest

from hybrid.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "simulate.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.fixture
def with_broom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("broom.toml").write_text(re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL).group(1), encoding="utf-8")


@pytest.mark.usefixtures("with_broom")
@pytest.mark.parametrize("line", COMMANDS, ids=range(len(COMMANDS)))
def test_command_of_the_page_runs(line, capsys):
    command, *arguments = shlex.split(line)
    assert command == "painleve"
    assert main(arguments) == 0
    assert re.search("^(No e|E)vents", capsys.readouterr().out, re.MULTILINE)
    written = [word for word in arguments if Path(word).suffix in (".svg", ".html", ".npz")]
    assert all(Path(name).stat().st_size > 1000 for name in written)
    assert len(written) == (3 if "--plot" in arguments else 0)


@pytest.mark.usefixtures("with_broom")
def test_the_broom_does_what_the_page_tells(capsys):
    assert main([*shlex.split(COMMANDS[0])[1:], "--json"]) == 0
    out = capsys.readouterr().out
    events = json.loads(out)["events"]
    kinds = [event["kind"] for event in events]
    assert kinds[:4] == ["slip start", "slip end", "slip start", "impact"]
    assert kinds[-1] == "accumulation of impacts"
    times = [event["t"] for event in events]
    # a rod with one end at rest starts to slip where friction and inertia balance: the page's figures to two digits
    assert times[0] == pytest.approx(0.34, abs=5e-3)
    assert times[3] == pytest.approx(0.70, abs=5e-3)
