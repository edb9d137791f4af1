"""The example of the singular pendulum runs and prints what its page says."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "singular_pendulum.py"


def test_example_prints_branches_and_draws_its_picture(tmp_path, capsys):
    runpy.run_path(str(EXAMPLE))["main"](str(tmp_path), {2: (1e3,)})
    printed = capsys.readouterr().out
    assert "b = 2: tangency; the smooth continuation leaves by u-, theta+" in printed
    assert "stiffness 1e+03: leaves by u-, theta-" in printed
    assert (tmp_path / "singular_pendulum_b2.png").read_bytes().startswith(b"\x89PNG")
