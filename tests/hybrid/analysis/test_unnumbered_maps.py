"""Maps that were stored before layouts had numbers: what they hold is what a map of now holds."""

import attrs
import numpy as np
import pytest
import xarray

import mechanisms
from hybrid import derive, region_map
from hybrid.analysis import load_map
from hybrid.contact import CellVerdict
from hybrid.declaration import mechanism_to_toml
from hybrid.errors import FileError, StateError
from tests.catalogue import dynamics_of

AXES = ["phi=0:pi:8", "phi_dot=-3:3:8"]
PARADOX = {"pins": {"slip.tip": "+0"}, "parameters": {"mu": 1.5}}
ROD = mechanism_to_toml(mechanisms.load("rod_on_incline"))


def written(found, folder, **changes):
    """As versions before layouts had numbers wrote maps: arrays, axes, names and the points of curves."""
    dims = tuple(axis.name for axis in found.axes)
    arrays = {name: (dims, getattr(found, name)) for name in ("verdict", "region", "modes", "margin")}
    about = {
        "mechanism": "rod on incline",
        "declaration": ROD,
        "verdicts": {verdict.name: verdict.value for verdict in CellVerdict},
        "labels": list(found.labels),
        "regions": list(found.regions),
        "axes": [attrs.asdict(axis) for axis in found.axes],
        "boundaries": [np.asarray(item.points).tolist() for item in found.boundaries],
    }
    coordinates = {axis.name: axis.values for axis in found.axes}
    xarray.Dataset(arrays, coordinates, about | changes).to_zarr(folder, consolidated=False)
    return folder


@pytest.fixture(scope="module")
def paradox():
    """Four kinds of regions: free, slide+, both, none."""
    return region_map(dynamics_of("rod_on_incline"), axes=AXES, with_boundaries=True, **PARADOX)


def test_an_unnumbered_map_is_the_map_of_now(paradox, tmp_path):
    loaded = load_map(written(paradox, tmp_path / "map"))
    for name in ("verdict", "modes", "region", "margin"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(paradox, name))
    for name in ("axes", "labels", "regions", "is_complete", "n_general", "failures"):
        assert getattr(loaded, name) == getattr(paradox, name)
    for name in ("verdict_fractions", "mode_fractions"):
        assert list(getattr(loaded, name).items()) == list(getattr(paradox, name).items())
    assert len({item.between for item in paradox.boundaries}) == 4
    for mine, other in zip(loaded.boundaries, paradox.boundaries, strict=True):
        assert mine.between == other.between
        np.testing.assert_array_equal(mine.points, other.points)


def test_cells_that_an_interrupt_left_out_are_missing(paradox, tmp_path):
    verdict, region = paradox.verdict.copy(), paradox.region.copy()
    verdict[5:], region[5:] = CellVerdict.MISSING, 0
    loaded = load_map(written(attrs.evolve(paradox, verdict=verdict, region=region, boundaries=()), tmp_path / "map"))
    assert (loaded.n_missing, loaded.n_general, loaded.is_complete) == (24, 40, False)
    counted = {name: np.mean(paradox.region[:5] == index) for index, name in enumerate(paradox.regions)}
    assert loaded.mode_fractions == {name: share for name, share in counted.items() if share}
    assert [loaded.regions[k] for k in loaded.region[:5].flat] == [paradox.regions[k] for k in paradox.region[:5].flat]
    assert np.isnan(loaded.margin[5:]).all()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"verdicts": {"UNIQUE": 1}}, "its verdicts are numbered in another way"),
        ({"regions": ["free", "none", "slide+", "free|slide+"]}, "the regions of its cells are not those of their"),
        ({"boundaries": [[[0.0, 0.0], [0.1, 0.1]]]}, "it does not tell which regions its curves lie between"),
        ({"axes": [{"name": "phi"}]}, "no stored map: "),
    ],
)
def test_what_an_unnumbered_map_does_not_tell_is_refused(paradox, changes, reason, tmp_path):
    with pytest.raises(FileError, match=reason):
        load_map(written(paradox, tmp_path / "map", **changes))


def test_closed_is_read_of_a_contact_without_tangent_alone(tmp_path):
    """A smooth contact at rest with a tangent was closed too, and is now slide+, slide- or stick."""
    ball = region_map(dynamics_of("bouncing_ball"), axes=["m=1:2:2", "g=1:2:2"], pins={"y": 0, "y_dot": 0})
    assert ball.regions == ("closed",)
    own = mechanism_to_toml(mechanisms.load("bouncing_ball"))
    assert load_map(written(ball, tmp_path / "ball", declaration=own)).mode_fractions == {"closed": 1.0}
    with pytest.raises(FileError, match="where contact tip, which is closed, slides or sticks"):
        load_map(written(ball, tmp_path / "rod"))
    with pytest.raises(FileError, match="which of its closed contacts slide"):
        load_map(written(ball, tmp_path / "other", declaration="of no mechanism"))


def test_no_run_goes_on_from_an_unnumbered_map(paradox, tmp_path):
    """It does not say what the present version asks for, such as its tolerances."""
    folder = written(paradox, tmp_path / "map")
    with pytest.raises(StateError, match="which earlier versions did not keep: choose another folder, or remove it"):
        region_map(derive(mechanisms.load("rod_on_incline")), axes=AXES, store=folder, **PARADOX)
    assert load_map(folder).regions == paradox.regions
