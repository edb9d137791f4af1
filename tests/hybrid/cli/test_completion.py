"""Words that a shell completes, asked as bash, zsh and fish ask."""

import os
import shutil
import subprocess
import sys

import pytest


def asked(instruction, **variables):
    environment = {**os.environ, "_PAINLEVE_COMPLETE": instruction, **variables}
    done = subprocess.run(
        [sys.executable, "-m", "hybrid"], capture_output=True, text=True, timeout=500, env=environment, check=False
    )
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_its_script(shell):
    assert f"_PAINLEVE_COMPLETE={shell}_complete" in asked(f"{shell}_source")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("painleve ver", {"plain,verdict"}),
        ("painleve verdict rod_o", {"plain,rod_on_incline"}),
        ("painleve verdict rod_on_incline --js", {"plain,--json"}),
        ("painleve graph rod_on_incline --format s", {"plain,svg", "plain,spaceex"}),
        ("painleve verdict ./ro", {"file,./ro"}),
        ("painleve lcp prob", {"file,prob"}),
        ("painleve check prob", {"file,prob"}),
        # an option that still lacks its value
        ("painleve simulate rod_on_incline --pin phi=1 --law new", {"plain,newton"}),
    ],
)
def test_bash_is_offered_commands_names_and_options(words, expected):
    found = asked("bash_complete", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert set(found.split()) == expected


def test_bash_itself_knows_the_completion(tmp_path):
    if shutil.which("bash") is None:
        return  # there is nothing to complete
    file = tmp_path / "completion.sh"
    file.write_text(asked("bash_source"))
    shown = subprocess.run(["bash", "-c", f"source {file}; complete -p painleve"], capture_output=True, text=True)
    assert shown.stdout.strip() == "complete -o nosort -F _painleve_completion painleve"
