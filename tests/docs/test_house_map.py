"""The map of the house in CONTRIBUTING.md: its picture, the life of a state, and what to touch to add something."""

import importlib
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import State, build_automaton, derive, mechanism_from_toml, simulate
from hybrid.cli import main
from hybrid.contact import AbstractImpactLaw
from hybrid.contact.impacts.impact import Impulses
from hybrid.contact.solutions import physical_solutions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LIFE = re.findall(r"^\| `([\w.]+)` \|", TEXT.partition("### The life of a state")[2].partition("###")[0], re.MULTILINE)
WHERE_SOME_HOLD = re.findall(r"^\| where some hold, `([\w.]+)` \|", TEXT, re.MULTILINE)  # which that of chalk has not
TOUCH = TEXT.partition("### To add something")[2]


@pytest.fixture(scope="module")
def house_map():
    spec = importlib.util.spec_from_file_location("house_map", ROOT / "docs/_extensions/house_map.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_that_of_the_imports(house_map):
    assert house_map.PICTURE.read_text(encoding="utf-8") == house_map.draw(), "run python docs/_extensions/house_map.py"


def test_every_part_is_on_the_map_above_what_it_imports(house_map):
    parts, _ = house_map.house()
    folders = {f"hybrid.{path.parent.name}" for path in (ROOT / "hybrid").glob("*/__init__.py")}
    assert set(parts) == folders | {"hybrid.*", "lcp", "mechanisms"}
    rows = house_map.order()
    assert all(rows.index(part) < rows.index(other) for part, below in parts.items() for other in below)


def test_imports_that_are_known_are_on_the_map(house_map):
    parts, libraries = house_map.house()
    assert "hybrid.dynamics" in parts["hybrid.contact"]
    assert "hybrid.contact" not in parts["hybrid.dynamics"]
    assert "CVXPY" in libraries["lcp"]
    assert "matplotlib" not in libraries["hybrid.contact"]


@pytest.mark.long  # a report under a profiler
def test_the_life_of_a_state_is_as_written(tmp_path):
    chalk = re.search(r"^```toml\n(name = .*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    file = tmp_path / "chalk.toml"
    file.write_text(chalk[1], encoding="utf-8")
    codes = {}
    for name in LIFE:
        module, _, function = name.rpartition(".")
        codes[inspect.unwrap(getattr(importlib.import_module(module), function)).__code__] = name
    called = []

    def note(frame, event, argument):
        name = codes.get(frame.f_code) if event == "call" else None
        if name is not None and name not in called:
            called.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        pins = ["--pin", "phi=65*pi/180", "--pin", "phi_dot=0", "--pin", "slip.tip=-0.1"]
        status = main(
            [
                "report",
                str(file),
                *pins,
                "--axis",
                "phi=0.1:3:12",
                "--axis",
                "phi_dot=-9:9:12",
                "-o",
                str(tmp_path / "report.html"),
            ]
        )
    finally:
        sys.setprofile(before)
    assert status == 0
    assert len(LIFE) > 12
    assert called == LIFE
    assert [f"{physical_solutions.__module__}.{physical_solutions.__name__}"] == WHERE_SOME_HOLD


def test_files_that_are_to_be_touched_are_there():
    named = re.findall(r"`((?:hybrid|lcp|mechanisms|tests|docs)/[\w./-]*|pyproject\.toml)`", TOUCH)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name.replace("NAME", "rod_on_incline")).exists()] == []


def test_a_mechanism_is_one_file_in_a_catalogue(tmp_path, monkeypatch, capsys):
    about = tmp_path / "canes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: canes\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[hybrid.mechanisms]\ncanes = canes_of_a_test\n", encoding="utf-8")
    source = (ROOT / "mechanisms/__init__.py").read_text(encoding="utf-8")
    (tmp_path / "canes_of_a_test").mkdir()
    (tmp_path / "canes_of_a_test/__init__.py").write_text(source, encoding="utf-8")
    rod = mechanisms.path("rod_on_incline").read_text(encoding="utf-8")
    (tmp_path / "canes_of_a_test/cane.toml").write_text(rod.replace('"rod_on_incline"', '"cane"'), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    pins = ["--pin", "phi=pi/3", "--pin", "phi_dot=0.5", "--pin", "slip.tip=-1", "--param", "mu=1.5"]
    assert main(["verdict", "cane", *pins]) == 0
    assert capsys.readouterr().out.startswith("cane: INCONSISTENT")


def test_a_force_element_is_a_table_in_a_file():
    text = mechanisms.path("bouncing_ball").read_text(encoding="utf-8")
    ball = derive(mechanism_from_toml(text))
    guided = derive(mechanism_from_toml(f'{text}\n[[friction]]\nname = "guide"\ntangent = "y"\nlimit = "2*m*g"\n'))
    modes = len(list(build_automaton(ball).mode_keys()))
    assert len(list(build_automaton(guided).mode_keys())) == 3 * modes  # stick, slide+, slide-
    start = State([1.0], [-1.0])
    motion = simulate(guided, start, t_end=1.0)
    # m g downwards, 2 m g upwards: it is braked with g, stops after 1/g = 0.102 s and 1/(2 g) = 0.051 m, and stays
    g = float(guided.mechanism.parameter_values()["g"])
    assert abs(motion.q[0] - (1.0 - 1.0 / (2.0 * g))) < 1e-9  # the error of an integration is 1e-12 a step
    assert motion.arcs[-1].mode.label.endswith("guide=stick")


@attrs.frozen
class HalfOfTheSpeed(AbstractImpactLaw):
    """Gives half of the approach back, whatever the file says."""

    @property
    def name(self):
        return "half of the speed"

    def impulses(self, problem):
        return Impulses(np.array([-1.5 * problem.gamma[0] / problem.G[0, 0]]), ())


def test_an_impact_law_is_a_class():
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=0.5, law=HalfOfTheSpeed())
    g = float(ball.mechanism.parameter_values()["g"])
    fall = np.sqrt(2.0 / g)
    t = motion.t - fall
    if t < 0:
        pytest.fail("the ball has not landed")
    assert abs(motion.q[0] - (g * fall / 2 * t - g * t**2 / 2)) < 1e-9
