"""The page on pictures says what is true: its commands run in order, and what they write is there."""

import re
import shlex
from pathlib import Path

from hybrid.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "pictures.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


def test_the_commands_of_the_page_write_their_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 5
    for line in COMMANDS:
        command, *arguments = shlex.split(line)
        assert (command, main(arguments)) == ("painleve", 0), line
        written = [word for word in arguments if Path(word).suffix in (".pdf", ".gif", ".npz")]
        assert all(Path(name).stat().st_size > 1000 for name in written)
