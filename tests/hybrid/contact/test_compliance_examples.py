"""The example on compliant impacts runs."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "energy_absorption.py"


def test_example_draws_its_picture(tmp_path):
    file = tmp_path / "picture.png"
    runpy.run_path(str(EXAMPLE))["main"](str(file))
    assert file.read_bytes().startswith(b"\x89PNG")
