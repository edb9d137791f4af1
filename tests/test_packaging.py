"""What is installed: every module and data file of the three packages, and nothing else."""

import configparser
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("hybrid", "lcp", "mechanisms")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        yield archive


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
