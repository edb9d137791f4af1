"""``painleve map``: the rod's phase plane against areas by quadrature; plots, stored maps, interrupts."""

import json
import os
from math import atan, pi, sin, sqrt

import pytest
from scipy.integrate import quad

from hybrid.analysis.maps import chunks
from hybrid.cli import main
from hybrid.progress import ProgressBar

ARGUMENTS = ["map", "rod_on_incline", "--pin=slip.tip=-1", "--param=mu=3/2", "--axis=phi=0:pi:400"]
ARGUMENTS = [*ARGUMENTS, "--axis=phi_dot=-3:3:400"]
SMALL = ["map", "rod_on_incline", "--pin=slip.tip=-1", "--param=mu=3/2", "--axis=phi=0:pi:20", "--axis=phi_dot=-3:3:30"]
FAST = 3.0


def answer(capsys, *arguments, status=0):
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def areas():
    """Shares of the plane: A_slide- < 0 between two angles (Genot and Brogliato 1999), b > 0 above 1/sqrt(sin)."""
    root = sqrt(9 * 1.5**2 - 16)
    low, high = atan((4.5 - root) / 2), atan((4.5 + root) / 2)

    def slow(first, last):
        return quad(lambda phi: 2 * min(FAST, 1 / sqrt(sin(phi))), first, last)[0]

    plane = 2 * FAST * pi
    # where 1/sqrt(sin) leaves the window; quad needs no kink inside
    edge = atan(1 / sqrt(FAST**4 - 1))
    all_slow = 2 * 2 * FAST * edge + slow(edge, pi - edge)
    inconsistent = slow(low, high)
    indeterminate = 2 * FAST * (high - low) - inconsistent
    sliding = all_slow - inconsistent
    free = plane - all_slow - indeterminate
    shares = {"none": inconsistent, "free|slide-": indeterminate, "slide-": sliding, "free": free}
    return {name: area / plane for name, area in shares.items()}


def test_shares_of_the_rods_phase_plane(capsys):
    found = answer(capsys, *ARGUMENTS)
    assert {"axes", "cells", "verdict_fractions", "mode_fractions"} <= set(found)
    assert found["cells"] == 160_000
    assert [(axis["name"], axis["n"]) for axis in found["axes"]] == [("phi", 400), ("phi_dot", 400)]
    # cells count by their midpoint: either straight side of the paradox can be off by half a cell of 400
    assert found["mode_fractions"] == pytest.approx(areas(), abs=2.5e-3)
    expected = areas()
    assert found["verdict_fractions"] == pytest.approx(
        {
            "UNIQUE": expected["slide-"] + expected["free"],
            "INDETERMINATE": expected["free|slide-"],
            "INCONSISTENT": expected["none"],
        },
        abs=2.5e-3,
    )


@pytest.mark.parametrize(("ending", "first_bytes"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_map_is_drawn(ending, first_bytes, capsys, tmp_path):
    file = tmp_path / f"map.{ending}"
    assert main([*SMALL, "--plot", str(file)]) == 0
    assert file.read_bytes().startswith(first_bytes)
    assert f"Drawn in {file}" in capsys.readouterr().out


def test_a_stored_map_holds_every_cell(capsys, tmp_path):
    import xarray

    folder = tmp_path / "map"
    shares = answer(capsys, *SMALL, "--store", str(folder))["mode_fractions"]
    with xarray.open_zarr(folder, consolidated=False) as stored:
        assert dict(stored.sizes) == {"phi": 20, "phi_dot": 30}
        regions = stored.attrs["regions"]
        counted = {name: float((stored.region == index).mean()) for index, name in enumerate(regions)}
        assert stored.attrs["pins"] == {"slip.tip": "-1"}
    assert {name: share for name, share in counted.items() if share} == pytest.approx(shares)


def test_a_finished_store_is_read_and_another_map_is_refused_with_the_difference(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "map"
    before = answer(capsys, *SMALL, "--store", str(folder))
    monkeypatch.setattr("hybrid.analysis.maps.regions.decide_kept", lambda *_, **__: pytest.fail("computed"))
    assert answer(capsys, *SMALL, "--store", str(folder)) == before
    assert main([*SMALL, "--store", str(folder)]) == 0
    assert f"Read from {folder}, where it was kept." in capsys.readouterr().out
    with monkeypatch.context() as context:
        context.setattr("os.access", lambda path, mode: mode == os.R_OK)  # as on a disk that is only read
        assert answer(capsys, *SMALL, "--store", str(folder)) == before
        assert main([*SMALL, "--store", str(tmp_path / "other")]) == 2
        assert "cannot be written" in capsys.readouterr().err
    drawing = tmp_path / "map.svg"
    assert main([*SMALL, "--store", str(folder), "--plot", str(drawing)]) == 0  # curves are traced for it
    assert drawing.exists()
    capsys.readouterr()
    assert main([*SMALL, "--param=epsilon=0.1", "--store", str(folder)]) == 2
    assert f'{folder} exists already and holds parameters = {{"epsilon": ' in capsys.readouterr().err
    attributes = json.loads((folder / "zarr.json").read_text())
    attributes["attributes"]["schema"] = 0
    (folder / "zarr.json").write_text(json.dumps(attributes))
    assert main([*SMALL, "--store", str(folder)]) == 2
    assert "stored with layout 0; this version reads 2: remove it" in capsys.readouterr().err


def test_an_interrupted_map_keeps_what_it_has(capsys, tmp_path, monkeypatch):
    import xarray

    def interrupt(self, done, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "advance", interrupt)
    monkeypatch.setattr(chunks, "pays", lambda cells: False)  # compiled operations take this map in one piece
    folder = tmp_path / "map"
    assert main([*ARGUMENTS, "--store", str(folder), "--json"]) == 130
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert 0 < found["missing"] < found["cells"]
    assert found["general_cells"] == found["cells"] - found["missing"]
    assert "interrupted" in err
    with xarray.open_zarr(folder, consolidated=False) as stored:
        missing = stored.verdict == stored.attrs["verdicts"]["MISSING"]
        assert int(missing.sum()) == found["missing"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--axis=phi=0:pi:9"], "two axes, got 1"),
        (["--axis=phi=0:pi:9", "--axis=phi_dot=0:1:9", "--axis=mu=0:1:9"], "two axes, got 3"),
        (["--axis=phi=0:pi:9", "--axis=phi_dot=0:1"], "number of cells"),
        (["--axis=phi=0:pi:9", "--axis=phi=0:1:9"], "twice"),
        (["--axis=phi=0:pi:9", "--axis=phy=0:1:9"], "phy"),
        (["--axis=phi=0:pi:9", "--axis=phi_dot=0:1:9", "--pin=phi=1"], "phi"),
        (["--axis=phi=0:pi:9", "--axis=phi_dot=0:1:9", "--plot=map.gif"], ".svg, .png, .pdf"),
        (["--axis=phi=0:pi:9", "--axis=phi_dot=0:1:9", "--plot=no/such/folder/map.svg"], "no/such/folder"),
    ],
)
def test_a_bad_map_is_bad_input(arguments, message, capsys):
    assert main(["map", "rod_on_incline", "--pin=slip.tip=1", "--json", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_folder_that_cannot_keep_the_map_is_refused_before_anything_is_computed(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("hybrid.analysis.region_map", lambda *_, **__: pytest.fail("computed"))
    full, drawing = tmp_path / "full", tmp_path / "map.svg"
    full.mkdir()
    (full / "file").touch()
    assert main([*ARGUMENTS, "--store", str(full)]) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert main([*ARGUMENTS, "--store", str(tmp_path / "link")]) == 2
    assert f"is a link to {tmp_path / 'nowhere'}, which is not there" in capsys.readouterr().err
    assert main([*ARGUMENTS, "--store", str(drawing), "--plot", str(drawing)]) == 2
    assert "both name" in capsys.readouterr().err
    monkeypatch.setattr("hybrid.cli.engines.find_spec", lambda name: None)
    assert main([*ARGUMENTS, "--store", str(tmp_path / "new")]) == 2
    assert "pip install 'painleve[store]'" in capsys.readouterr().err


def test_a_map_is_kept_even_if_its_picture_fails(capsys, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hybrid.reporting.figures.save_figure", broken)
    assert main([*ARGUMENTS, "--store", str(tmp_path / "kept"), "--plot", str(tmp_path / "map.svg")]) == 3
    assert "No space left" in capsys.readouterr().err
    assert any((tmp_path / "kept").iterdir())


def test_an_interrupt_while_drawing_does_not_take_the_answer_away(capsys, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("hybrid.reporting.figures.save_figure", interrupt)
    assert main([*ARGUMENTS, "--json", "--plot", str(tmp_path / "map.svg")]) == 130
    out, err = capsys.readouterr()
    assert json.loads(out)["missing"] == 0
    assert "not drawn" in err
