"""A motion as an xarray Dataset: the same numbers, labelled."""

import json
import sys

import numpy as np
import pytest

import mechanisms
from hybrid import ComputationError, EnergyDynamics, Mechanism, Parameter, State, derive, simulate, solve_state
from hybrid.contact import NewtonImpact


@pytest.fixture(scope="module")
def bouncing():
    ball = derive(mechanisms.load("bouncing_ball"))
    return simulate(ball, State([1.0], [0.0]), t_end=0.6, law=NewtonImpact())


def test_a_jump_is_two_rows_at_one_time(bouncing):
    table = bouncing.to_xarray(points=50)
    impact = np.sqrt(2 / 9.81)
    rows = table.isel(time=np.flatnonzero(np.isclose(table.time, impact, atol=1e-12)))
    assert rows.arc.values.tolist() == [0, 1]
    # free fall from 1 m, then 0.8 of the velocity back
    assert rows.velocity.sel(coordinate="y").values == pytest.approx([-9.81 * impact, 0.8 * 9.81 * impact], abs=1e-10)
    assert rows.position.values.ravel() == pytest.approx([0, 0], abs=1e-12)


def test_samples_follow_free_fall(bouncing):
    fall = bouncing.to_xarray(points=300).where(lambda table: table.arc == 0, drop=True)
    assert fall.position.sel(coordinate="y").values == pytest.approx(1 - 9.81 * fall.time.values**2 / 2, abs=1e-12)
    assert len(fall.time) > 200


def test_units_modes_and_forces_are_labelled():
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})
    table = simulate(rod, start, t_end=2).to_xarray()
    assert dict(zip(table.coordinate.values, table.position_units.values, strict=True)) == {
        "x": "m",
        "y": "m",
        "phi": "rad",
    }
    assert table.velocity_units.sel(coordinate="phi").item() == "rad/s"
    assert table.lambda_N_units.sel(contact="tip").item() == "N"
    sliding = table.isel(time=np.flatnonzero(table["mode"].sel(element="tip") == "slide-"))
    assert sliding.time.values[[0, -1]] == pytest.approx([0.161270300, 1.842626058], abs=1e-8)
    # Coulomb: slipping to the left is opposed by mu times the normal force
    ratio = sliding.lambda_T.sel(tangent="tip") / sliding.lambda_N.sel(contact="tip")
    assert ratio.values == pytest.approx(0.5, abs=1e-12)
    assert [elements for _, _, elements in json.loads(table.attrs["events"])] == [["tip"], ["tip"]]
    assert json.loads(table.attrs["parameters"])["mu"] == 0.5


def test_spatial_contacts_have_two_tangents():
    rod = derive(mechanisms.load("oblique_rod"))
    table = simulate(rod, State([0, 0, 1, 0, 1], [0, 0, 0, 0, 0]), t_end=0.1).to_xarray(points=3)
    assert table.tangent.values.tolist() == ["tip.1", "tip.2"]
    assert table.lambda_T.shape == (3, 2)


def test_a_motion_without_arcs_is_an_empty_table():
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5})
    table = simulate(rod, start, t_end=1, parameters={"mu": 1.5}).to_xarray()
    assert dict(table.sizes) == {"time": 0, "coordinate": 3, "contact": 1, "tangent": 1, "element": 1}
    assert table.attrs["termination"] == "INCONSISTENT"


def test_the_table_can_be_stored(bouncing, tmp_path):
    import xarray

    table = bouncing.to_xarray(points=20)
    table.to_zarr(tmp_path / "motion.zarr", consolidated=False, zarr_format=2)
    with xarray.open_zarr(tmp_path / "motion.zarr", consolidated=False) as read:
        assert read.position.equals(table.position)
        assert read.attrs["method"] == "event-driven"


def test_absent_xarray_is_named_with_its_extra(bouncing, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ComputationError, match=r"painleve\[store\]"):
        bouncing.to_xarray()


def test_too_few_points_are_refused(bouncing):
    with pytest.raises(ValueError, match="at least 2"):
        bouncing.to_xarray(points=1)


@pytest.mark.parametrize(("mass", "stiffness", "known"), [("", "", ""), ("kg", "N/m", "s")])
def test_time_has_a_unit_only_where_the_declaration_has_units(mass, stiffness, known):
    oscillator = Mechanism(
        name="oscillator",
        coordinates=["x"],
        parameters={"m": Parameter(value=1, unit=mass), "k": Parameter(value=1, unit=stiffness)},
        dynamics=EnergyDynamics(kinetic="m*x_dot**2/2", potential="k*x**2/2"),
    )
    table = simulate(derive(oscillator), State([1.0], [0.0]), t_end=1).to_xarray(points=3)
    assert table.time.units == known
    assert (table.position_units.values.tolist() == ["m"]) is bool(known)
