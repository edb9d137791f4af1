"""Maps of agreement as records, as plots, and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mechanisms
from hybrid import derive
from hybrid.analysis import Axis, compare_map
from hybrid.cli import main
from hybrid.reporting import comparison_map_record, plot_comparison_map

AXES = ["--axis=theta=0.05:1.52:4", "--axis=theta_dot=-3:3:4"]


@pytest.fixture(scope="module")
def found():
    rod = derive(mechanisms.load("painleve_rod"))
    axes = [Axis.parse(text.removeprefix("--axis=")) for text in AXES]
    return compare_map(rod, axes=axes, pins={"slip.tip": 1}, parameters={"mu": 1.5}, stiffness=(1e5, 1e6))


def test_record_counts_every_cell_once(found):
    record = comparison_map_record(found)
    assert sum(item["cells"] for item in record["penalty"].values()) == record["cells"] == 16
    for name, item in record["penalty"].items():
        assert sum(item["modes"].values()) == item["cells"]
        share = sum(value for key, value in record["shares"].items() if key.startswith(f"{name},"))
        assert item["cells"] == pytest.approx(16 * share)
        if item["order"] is not None:
            assert item["order"]["least"] <= item["order"]["median"] <= item["order"]["greatest"]
    listed = [item for item in record["exceptions"] if item["verdict"] == "UNIQUE"]
    assert record["penalty"]["UNIQUE"]["agree"] + len(listed) == record["penalty"]["UNIQUE"]["cells"]


def test_areas_of_the_plot_are_the_shares_of_the_map(found):
    figure = plot_comparison_map(found, units={"theta": "rad"}, title="rod")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum(float(label.split()[-2]) for label in labels) == pytest.approx(100.0, abs=0.1)
    drawn = figure.axes[1].images[0].get_array()
    assert np.ma.allclose(10**drawn, np.maximum(found.penalty.error[-1], 1e-12).T)
    assert "K = 1e+06" in figure.axes[1].get_title()


def test_command_draws_the_limit(capsys, tmp_path):
    plot = tmp_path / "map.svg"
    rod = ["painleve_rod", *AXES, "--pin=slip.tip=1", "--param=mu=1.5", "--damping=0.25"]
    assert main(["compare-map", *rod, "--plot", str(plot), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["penalty"] == {}
    assert plot.read_text(encoding="utf-8").count("<svg") == 1


@pytest.mark.long
def test_command_runs_penalties(capsys):
    rod = ["painleve_rod", *AXES, "--pin=slip.tip=1", "--param=mu=1.5"]
    assert main(["compare-map", *rod, "--stiffness=1e5,1e6"]) == 0
    shown = capsys.readouterr().out
    assert "UNIQUE, agrees" in shown
    assert "error at K=1e+06" in shown


@pytest.mark.parametrize("stiffness", [(), (1e5,)])
def test_where_no_cell_touches_there_is_no_scale_of_colours(stiffness):
    rod = derive(mechanisms.load("rod_on_incline"))
    axes = [Axis("phi", 0.1, 3, 3), Axis("phi_dot", -1, 1, 3)]
    found = compare_map(rod, axes=axes, pins={"slip.tip": 1, "gap.tip": 1}, stiffness=stiffness)
    assert not found.touches.any()
    figure = plot_comparison_map(found)
    figure.draw_without_rendering()
    assert len(figure.axes) == 2  # a bar of colours would be a third
    assert [text.get_text() for text in figure.axes[1].texts] == ["in no cell"]
