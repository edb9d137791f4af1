"""The page for solver authors says what is true: its consoles, file by file and command by command."""

import re
import shlex
from pathlib import Path

import pytest

from hybrid.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "solver_failed.md").read_text(encoding="utf-8")
CONSOLES = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)


def lines(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("console", CONSOLES, ids=range(len(CONSOLES)))
def test_console_of_the_page_shows_what_its_commands_print(console, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for step in console.split("$ ")[1:]:
        line, _, shown = step.partition("\n")
        command, *arguments = shlex.split(line)
        if command == "cat":
            Path(arguments[0]).write_text(shown, encoding="utf-8")
            continue
        assert command == "painleve"
        assert main(arguments) == 0
        assert lines(capsys.readouterr().out) == lines(shown)
