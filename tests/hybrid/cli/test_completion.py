"""Words that a shell completes, asked as bash, zsh and fish ask."""

import os
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ver"], ["verdict"]),
        (["verdict", "rod_o"], ["rod_on_incline"]),
        (["simulate", "rod_on_incline", "--law", "kel"], ["kelvin-voigt"]),
    ],
)
def test_zsh_and_fish_are_offered_the_same_words(words, expected):
    # zsh gives the number of the word and takes kind, word and help on a line each; fish gives the word itself
    line = " ".join(["painleve", *words])
    zsh = asked("zsh_complete", COMP_WORDS=line, COMP_CWORD=str(len(words))).rstrip().splitlines()
    fish = asked("fish_complete", COMP_WORDS=line, COMP_CWORD=words[-1]).splitlines()
    assert zsh[0::3] == ["plain"] * len(expected)
    assert zsh[1::3] == expected
    assert [item.partition("\t")[0] for item in fish] == [f"plain,{word}" for word in expected]


def test_bash_itself_completes_a_word(tmp_path):
    program = tmp_path / "painleve"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hybrid "$@"\n')
    program.chmod(0o755)
    (tmp_path / "completion.sh").write_text(asked("bash_source"))
    script = (
        'PATH="$PWD:$PATH"; source completion.sh; complete -p painleve; '
        "COMP_WORDS=(painleve verdict rod_); COMP_CWORD=2; _painleve_completion painleve rod_ verdict; "
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    registered, offered = done.stdout.splitlines()
    assert registered == "complete -o nosort -F _painleve_completion painleve"
    assert offered.split() == ["rod_on_incline", "rod_two_ends"]
