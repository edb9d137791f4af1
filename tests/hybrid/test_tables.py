"""Results as tables of pandas and xarray: the same numbers, labelled."""

import sys

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import (
    ComputationError,
    Functional,
    State,
    certified_map,
    compare,
    derive,
    ensemble,
    region_map,
    sensitivity,
    simulate,
)
from hybrid.contact import CellVerdict, NewtonImpact


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


@pytest.fixture(scope="module")
def mapped(rod):
    return region_map(rod, axes=["phi=0:pi:12", "phi_dot=-3:3:10"], pins={"slip.tip": "+0"}, parameters={"mu": "3/2"})


@pytest.fixture(scope="module")
def falling():
    ball = derive(mechanisms.load("bouncing_ball"))
    return simulate(ball, {"y": 1, "y_dot": 0}, t_end=0.6, law=NewtonImpact())


def test_rows_of_a_motion_follow_free_fall(falling):
    table = falling.to_dataframe(points=40)
    fall = table[table.arc == 0]
    assert fall.y.to_numpy() == pytest.approx(1 - 9.81 * fall.t.to_numpy() ** 2 / 2, abs=1e-12)
    assert fall.y_dot.to_numpy() == pytest.approx(-9.81 * fall.t.to_numpy(), abs=1e-12)
    assert set(table["mode.floor"]) == {"free"}
    assert len(table) == falling.to_xarray(points=40).sizes["time"]


def test_cells_of_a_map_stand_at_their_places(mapped):
    cells = mapped.to_dataframe()
    assert len(cells) == 120
    # without the paradox the tip lifts off where l phi_dot^2 sin(phi) > g (both 1 here), and slides elsewhere
    alone = cells[cells.verdict == "UNIQUE"]
    lifts = alone.phi_dot**2 * np.sin(alone.phi) > 1
    assert (alone.region[lifts] == "free").all()
    assert (alone.region[~lifts] == "slide+").all()
    assert cells.verdict.value_counts(normalize=True).to_dict() == pytest.approx(dict(mapped.verdict_fractions))


def test_a_map_is_an_array_over_its_axes(mapped):
    table = mapped.to_xarray()
    assert table.region.dims == ("phi", "phi_dot")
    assert table.phi.units == "rad"
    assert table.phi_dot.units == "rad/s"
    assert table.to_dataframe().reset_index().region.tolist() == mapped.to_dataframe().region.tolist()


def test_missing_cells_are_empty(mapped):
    verdict = mapped.verdict.copy()
    verdict[0, 0] = CellVerdict.MISSING
    cells = attrs.evolve(mapped, verdict=verdict, is_complete=False).to_dataframe()
    assert (cells.verdict[0], cells.region[0]) == ("", "")
    assert (cells.verdict[1:] != "").all()


def test_methods_of_a_comparison_are_rows():
    ball = derive(mechanisms.load("bouncing_ball"))
    table = compare(ball, {"gap_dot.floor": -2}, stiffness=(1e6,)).to_dataframe().set_index("method")
    # restitution 0.8 of Newton's law, and the work that this takes: m v^2 (1 - e^2)/2 with m = 1
    assert table.loc["newton", "gap_dot_after.floor"] == pytest.approx(1.6)
    assert table.loc["newton", "energy_change"] == pytest.approx(-2 * (1 - 0.64))
    assert table.loc["newton", "impulse_N.floor"] == pytest.approx(3.6)
    assert "penalty K=1e+06" in table.index


def test_components_in_space_are_numbered():
    rod = derive(mechanisms.load("oblique_rod"))
    state = {
        "psi": "pi/4",
        "theta": "1",
        "psi_dot": 0,
        "theta_dot": 0,
        "gap_dot.tip": -1,
        "slip.tip.1": 1,
        "slip.tip.2": 0,
    }
    table = compare(rod, state, stiffness=()).to_dataframe()
    assert {"slip_after.tip.1", "slip_after.tip.2", "impulse_N.tip"} <= set(table)


def test_a_gradient_has_a_row_for_every_name():
    carts = derive(mechanisms.load("two_carts"))
    motion = simulate(carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact())
    found = sensitivity(motion, Functional("q1_dot**2 + q2_dot**2"), ["k1", "k2"], check=True)
    table = found.to_dataframe().set_index("name")
    assert table["at"].to_dict() == {"k1": 2.5, "k2": 2.5}
    assert table.derivative.to_numpy() == pytest.approx(table.difference.to_numpy(), rel=1e-6)
    assert table.adjoint.to_numpy() == pytest.approx(table.forward.to_numpy(), rel=1e-9)


def test_motions_of_an_ensemble_are_rows():
    ball = derive(mechanisms.load("bouncing_ball"))
    table = ensemble(ball, starts={"y": [1.0, 2.0]}, pins={"y_dot": 0}, t_end=0.1).to_dataframe()
    assert table["end.y"].to_numpy() == pytest.approx(table["start.y"].to_numpy() - 9.81 * 0.01 / 2)
    assert table.termination.tolist() == ["END_TIME", "END_TIME"]


@pytest.mark.long
def test_boxes_of_a_certified_map_fill_it(rod):
    found = certified_map(rod, axes=["phi=0:pi", "mu=0:2"], pins={"phi_dot": 0, "slip.tip": -1}, gap=0.05)
    table = found.to_dataframe()
    area = ((table["phi.high"] - table["phi.low"]) * (table["mu.high"] - table["mu.low"])).groupby(table.region).sum()
    assert area.sum() == pytest.approx(2 * np.pi, rel=1e-12)
    for name, (low, high) in found.regions.items():
        decided = area.get(name, 0.0) / area.sum()
        assert decided <= high <= 1.0
        assert decided + area.get("", 0.0) / area.sum() >= low > 0.0


@pytest.mark.parametrize(("library", "method"), [("pandas", "to_dataframe"), ("xarray", "to_xarray")])
def test_a_library_that_is_missing_is_named(mapped, falling, monkeypatch, library, method):
    monkeypatch.setitem(sys.modules, library, None)
    for value in (mapped, falling):
        with pytest.raises(ComputationError, match=rf"{method} needs {library}; install it with: pip install"):
            getattr(value, method)()
