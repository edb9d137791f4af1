"""What the README says can be done by following the README alone."""

import re
import shlex
from pathlib import Path

import click
import pytest

from hybrid.cli import main
from hybrid.cli.program import program

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL).group(1)


@pytest.fixture
def with_chalk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("chalk.toml").write_text(block("toml"), encoding="utf-8")


@pytest.mark.usefixtures("with_chalk")
@pytest.mark.parametrize("line", block("sh").splitlines())
def test_command_of_the_readme_runs(line, capsys):
    command, *arguments = shlex.split(line)
    assert command == "painleve"
    assert main(arguments) == 0
    assert capsys.readouterr().out


@pytest.mark.usefixtures("with_chalk")
@pytest.mark.parametrize(("slip", "verdict"), [("-0.1", "INCONSISTENT"), ("0.1", "UNIQUE")])
def test_chalk_is_paradoxical_only_when_pushed(slip, verdict, capsys):
    # alpha = 3, phi = 65 deg: A_slide- = (1 + 3 c^2 - 1.5 * 3 s c) / m < 0 < A_slide+, and the press of the
    # hand at the upper end gives b = F (3 c^2 - 1) / m < 0
    pins = ["--pin=phi=65*pi/180", "--pin=phi_dot=0", f"--pin=slip.tip={slip}"]
    assert main(["verdict", "chalk.toml", *pins]) == 0
    assert f"chalk: {verdict}" in capsys.readouterr().out


def test_the_table_of_commands_is_complete():
    table = set(re.findall(r"^\| `painleve ([\w-]+)", PAGE, re.MULTILINE))
    assert table == set(program.commands)


def options(command):
    """Short or first name of every option of a command, with its default where it has one."""
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in ("as_json", "cite"):
            given = option.get_default(click.Context(command))
            is_address = option.name == "host"  # of this machine, which the page says in words
            has_value = isinstance(given, (str, int, float)) and not option.is_flag and not is_address
            yield "|".join(option.opts[:1] + option.secondary_opts), given if has_value else None


@pytest.mark.parametrize("name", program.commands)
def test_the_page_names_every_option_with_its_default(name):
    (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
    written = [part.replace("\\", "").partition(" ") for part in re.findall("`(.*?)`", row)]
    expected = dict(options(program.commands[name]))
    numbers = {option for option, given in expected.items() if isinstance(given, (int, float))}
    assert {option: (float(text) if option in numbers else text or None) for option, _, text in written} == expected


def test_the_page_names_no_other_option():
    known = {name for command in program.commands.values() for option in command.params for name in option.opts}
    known |= {
        name for command in program.commands.values() for option in command.params for name in option.secondary_opts
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", PAGE)) <= known | {"--help"}


def test_the_readme_is_short_and_its_links_lead_somewhere():
    assert len(README.splitlines()) < 150
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / target).is_file(), target
