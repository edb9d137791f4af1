"""``--cite``: what is to be cited, from the data of CITATION.cff, the methods and the mechanism."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

import mechanisms
from hybrid.cli import main
from hybrid.cli.citing import AUTHOR, RELEASED, TITLE, method_sources
from hybrid.cli.program import program

CITATION = (Path(__file__).parents[3] / "CITATION.cff").read_text(encoding="utf-8")


def cited(capsys, *words):
    assert main([*words, "--cite"]) == 0
    return capsys.readouterr().out


def entries(text):
    """Keys of BibTeX entries, which must be closed and separate."""
    found = re.findall(r"^@\w+\{([\w]+),\n(?:  \w+ = \{.*\},\n)+\}$", text, re.MULTILINE)
    assert len(found) == text.count("\n@") + text.startswith("@")
    assert len(set(found)) == len(found)
    return found


@pytest.mark.parametrize("command", program.commands)
def test_every_command_says_what_to_cite_without_its_other_arguments(command, capsys):
    text = cited(capsys, command)
    assert entries(text)[0] == "painleve"
    assert f"{AUTHOR} ({RELEASED[:4]}). {TITLE}. Version {version('painleve')}." in text


def test_the_program_alone_is_cited_without_a_command(capsys):
    assert entries(cited(capsys)) == ["painleve"]


def test_the_data_are_those_of_the_citation_file():
    for line in (
        f'title: "{TITLE}"',
        f"  - name: {AUTHOR}",
        f"date-released: {RELEASED}",
        f"version: {version('painleve')}",
    ):
        assert f"{line}\n" in CITATION


@pytest.mark.parametrize("name", mechanisms.names())
def test_the_references_of_a_mechanism_are_cited_word_for_word(name, capsys):
    text = cited(capsys, "map", name)
    references = mechanisms.load(name).references
    assert all(reference in text for reference in references)
    assert {f"{name}_{k}" for k in range(1, len(references) + 1)} <= set(entries(text))


def test_letters_that_mean_something_to_tex_are_escaped(capsys, tmp_path):
    file = tmp_path / "odd.toml"
    head, _, rest = mechanisms.path("bouncing_ball").read_text(encoding="utf-8").partition("references = ")
    rest = rest.partition("\n")[2]
    file.write_text(f"{head}references = ['A & B, 100 % {{sic}} C:\\d_1']\n{rest}", encoding="utf-8")
    shown = cited(capsys, "check", str(file))
    assert r"note = {A \& B, 100 \% \{sic\} C:\textbackslash{}d\_1}" in shown
    assert "A & B, 100 % {sic} C:\\d_1." in shown.splitlines()


def test_sources_of_a_method_are_read_whole():
    texts = [source.text for source in method_sources("impact")]
    assert texts == [
        "Keller, Joseph B. (1986). Impact with Friction. Journal of Applied Mechanics 53 1-4.",
        "Stronge, William J. (1990). Rigid Body Collisions with Friction. Proceedings of the Royal Society A 431 "
        "169-181.",
        "Hogan, S. John; Kristiansen, K. Uldall (2017). On the Regularization of Impact without Collision: the "
        "Painlevé Paradox and Compliance. Proceedings of the Royal Society A 473 20160773.",
    ]


def test_commands_of_the_sources_exist():
    file = Path(__file__).parents[3] / "hybrid" / "cli" / "sources.bib"
    named = re.findall(r"keywords = \{(.*)\}", file.read_text(encoding="utf-8"))
    assert {name for line in named for name in line.split(", ")} <= set(program.commands)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verdict", "rod_on_inclin"], "did you mean 'rod_on_incline'?"),
        (["verdict", "--json"], "leave out --json"),
        (["verdict", "--pun", "phi=1"], "--pun"),
    ],
)
def test_a_wrong_question_is_bad_input_all_the_same(words, message, capsys):
    assert main([*words, "--cite"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
