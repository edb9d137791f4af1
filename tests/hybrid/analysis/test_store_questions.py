"""Stores answer the question that was asked: what is given tells one from another, not its values alone."""

import json
from fractions import Fraction

import numpy as np
import pytest

from hybrid import ensemble, region_map
from hybrid.analysis import load_ensemble, load_map
from hybrid.analysis.maps.store import _digest
from hybrid.contact import CellVerdict
from hybrid.errors import StateError
from tests.catalogue import dynamics_of

AXES = ["l=0.2:2:18", "g=0.5:1.5:2"]
SLIDING = {"phi": 1, "phi_dot": 0, "slip.tip": -1}
TURNING = {"starts": {"m": [0.5, 1.0, 2.0]}, "pins": {"phi": 1, "phi_dot": 0, "gap.tip": 1, "slip.tip": 0}}


def rod_map(parameters, store=None, **other):
    return region_map(
        dynamics_of("rod_on_incline"), axes=AXES, parameters={"mu": 1.5, **parameters}, store=store,
        **{"pins": SLIDING, **other},
    )  # fmt: skip


def test_a_given_inertia_is_another_map_than_one_that_follows_the_length(tmp_path):
    """At rest on a paradox where 1/m + l^2 cos(phi) (cos(phi) - mu sin(phi)) / I < 0.

    That is independent of l where I = m l^2/3; at m = 1 and I = 1/3 it is so beyond l = 0.92.
    """
    c, s = np.cos(1.0), np.sin(1.0)
    length = 0.2 + 0.1 * (np.arange(18) + 0.5)
    follows, given = (np.full(18, 1 + 3 * c * (c - 1.5 * s) < 0), 1 + 3 * length**2 * c * (c - 1.5 * s) < 0)
    assert follows.all() and 0 < given.sum() < 18
    for folder, first, second, paradox in (("a", {"I": "1/3"}, {}, given), ("b", {}, {"I": 1 / 3}, follows)):
        found = rod_map(first, tmp_path / folder)
        assert ((found.verdict == CellVerdict.INCONSISTENT).all(axis=1) == paradox).all()
        with pytest.raises(StateError, match=r'overrides = (\{"I": 0.33|nothing more).*, not (\{"I": 0.33|nothing)'):
            rod_map(second, tmp_path / folder)
        assert (rod_map(first, tmp_path / folder).verdict == found.verdict).all()


@pytest.mark.parametrize("same", [{"I": "1/3", "mu": "3/2"}, {"I": Fraction(1, 3)}, {"I": np.float64(1 / 3)}])
def test_one_value_in_several_words_is_one_question(tmp_path, same):
    kept = rod_map({"I": 1 / 3}, tmp_path / "map")
    assert np.array_equal(rod_map(same, tmp_path / "map").verdict, kept.verdict)


def test_texts_that_follow_other_parameters_are_told_apart(tmp_path):
    """At m = l = 1 all of them are 1/3: the masses of the motions are not 1."""
    dynamics, options = dynamics_of("rod_on_incline"), {**TURNING, "t_end": 0.1, "store": tmp_path / "ends"}
    ensemble(dynamics, parameters={"I": "m/3"}, **options)
    for other in ({}, {"I": 1 / 3}, {"I": "m**2/3"}):
        with pytest.raises(StateError, match=r'holds overrides = \{"I": "m/3"\}, not'):
            ensemble(dynamics, parameters=other, **options)
    assert load_ensemble(tmp_path / "ends").n_missing == 0
    bound = ensemble(dynamics.at({"I": "m/3"}), **options)  # bound before
    assert bound.end.tolist() == load_ensemble(tmp_path / "ends").end.tolist()


def test_rest_is_another_question_than_a_limit_of_vanishing_slip(tmp_path):
    def pinned(slip):
        return rod_map({}, tmp_path / "map", pins={**SLIDING, "slip.tip": slip})

    rest = pinned(-0.0)
    for number in (0, 0.0, "0", np.float64(-0.0)):
        assert pinned(number).mode_fractions == rest.mode_fractions
    for limit in ("-0.0", "-0", "+0"):
        with pytest.raises(StateError, match=r'pins = \{"slip.tip": "0"\}, not \{"slip.tip": "[+-]0'):
            pinned(limit)


def test_a_store_that_cannot_tell_is_loaded_but_answers_no_question(tmp_path):
    """Those of earlier versions do not say what was given."""
    made = rod_map({}, tmp_path / "map")
    told = tmp_path / "map" / "zarr.json"
    text = json.loads(told.read_text())
    del text["attributes"]["overrides"]
    text["attributes"]["digest"] = _digest(text)
    told.write_text(json.dumps(text))
    assert (load_map(tmp_path / "map").verdict == made.verdict).all()
    with pytest.raises(StateError, match="holds no overrides, which earlier versions did not keep: choose another"):
        rod_map({}, tmp_path / "map")
