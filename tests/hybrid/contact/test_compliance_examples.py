"""The examples on compliant impacts run, and what the documentation reads off them holds."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("name", ["oblique_rod_impact", "energy_absorption"])
def test_example_draws_its_picture(name, tmp_path):
    file = tmp_path / "picture.png"
    runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](str(file))
    assert file.read_bytes().startswith(b"\x89PNG")


def test_friction_impulse_of_the_oblique_rod_has_the_slope_of_sticking():
    _, path, _ = runpy.run_path(str(EXAMPLES / "oblique_rod_impact.py"))["course"](1.7)
    stick = path.samples.impulse[300:]
    slope = np.diff(stick[[5, 290], 2]) / np.diff(stick[[5, 290], 0]) / 1.7
    # 3 sin cos / (k (1 + 3 sin^2)) at theta = pi/3
    assert slope[0] == pytest.approx(0.23512001913, abs=1e-10)
