"""What is built and installed: every module and data file of the three packages, and nothing else."""

import configparser
import email
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("hybrid", "lcp", "mechanisms")


def build(kind, folder, *, source=ROOT):
    """The file of a distribution, built from a source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, capture_output=True, check=True)
    (built,) = folder.glob("painleve-*")
    return built


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel(wheel_file):
    with zipfile.ZipFile(wheel_file) as archive:
        yield archive


@pytest.fixture(scope="module")
def sdist_file(tmp_path_factory):
    return build("sdist", tmp_path_factory.mktemp("sdist"))


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    def shipped(path):
        return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"

    present = {str(path.relative_to(ROOT)) for name in PACKAGES for path in filter(shipped, (ROOT / name).rglob("*"))}
    installed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert installed == present
    assert {f"{name}/py.typed" for name in PACKAGES} <= installed


def test_the_wheel_offers_the_command_the_catalogue_and_the_backends(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    entries = configparser.ConfigParser()
    entries.read_string(wheel.read(name).decode())
    assert entries["console_scripts"]["painleve"] == "mechanisms.launch:main"
    assert entries["hybrid.mechanisms"]["mechanisms"] == "mechanisms"
    assert set(entries["painleve.backends"]) == {"mujoco", "pinocchio"}


def test_the_sdist_holds_documentation_tests_and_what_to_cite(sdist_file):
    with tarfile.open(sdist_file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "constraints.txt"}
    wanted |= {"docs/reference/command-line.md", "tests/test_packaging.py", "hybrid/cli/schemas/verdict.json"}
    assert wanted <= names
    assert not {name for name in names if name.startswith((".venv", "out/", "docs/_build"))}


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_tree(sdist_file, wheel, tmp_path):
    with tarfile.open(sdist_file) as archive:
        # our own archive; 3.11.2, which Debian 12 has, knows no filter, and later versions warn without one
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = tmp_path.iterdir()
    (tmp_path / "built").mkdir()
    with zipfile.ZipFile(build("wheel", tmp_path / "built", source=source)) as again:
        for name in set(wheel.namelist()) | set(again.namelist()):
            assert again.read(name) == wheel.read(name), name


def test_the_page_of_a_package_index_has_no_link_that_leads_nowhere(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    page = email.message_from_bytes(wheel.read(name)).get_payload(decode=True).decode()
    assert page.startswith("# painleve\n")
    assert re.findall(r"\]\([^)]*\)", page) == []
    assert "Contributing (`CONTRIBUTING.md`)" in page


def test_the_links_of_a_package_index_lead_to_works_that_the_paper_cites(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    links = email.message_from_bytes(wheel.read(name)).get_all("Project-URL")
    cited = re.findall(r"doi = \{([^}]*)\}", (ROOT / "docs/paper/paper.bib").read_text(encoding="utf-8"))
    assert links
    for link in links:
        label, _, address = link.partition(", ")
        assert len(label) <= 32  # what package indexes take
        assert address.removeprefix("https://doi.org/") in cited


@pytest.mark.parametrize("kind", ["wheel_file", pytest.param("sdist_file", marks=pytest.mark.long)])
def test_what_was_built_is_installed_and_answers(kind, request, tmp_path):
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--no-compile", "--target", target, request.getfixturevalue(kind)], check=True)
    asked = (
        "import hybrid, sys; from mechanisms.launch import main; sys.stderr.write(hybrid.__file__); sys.exit(main())"
    )
    command = [sys.executable, "-c", asked, "verdict", "rod_on_incline", "--pin=phi=pi/3", "--pin=phi_dot=1/2"]
    command += ["--pin=slip.tip=-1", "--param=mu=3/2", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["verdict"] == "INCONSISTENT"
    assert done.stderr.startswith(str(target))
