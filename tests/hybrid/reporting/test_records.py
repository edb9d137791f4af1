"""Records are plain JSON and say what the selection says."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hybrid import select
from hybrid.analysis import Axis, critical_friction, region_map
from hybrid.reporting import critical_friction_record, map_record, plain, verdict_record
from tests.hybrid.reporting.states import STATES, solved

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.fractions(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(VALUES)
def test_everything_plain_is_json_without_nan(value):
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == plain(value)


def test_arrays_and_fractions_become_floats():
    assert plain({"a": np.array([[1.0, math.inf]]), "b": Fraction(1, 8)}) == {"a": [[1.0, None]], "b": 0.125}
    assert type(plain(np.float64(1.5))) is float


@pytest.mark.parametrize("name", sorted(STATES))
def test_verdict_record_repeats_the_selection(name):
    dynamics, state, parameters = solved(name)
    selection = select(dynamics, state, parameters=parameters)
    record = verdict_record(dynamics, state, selection, parameters=parameters)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert {
        "mechanism",
        "parameters",
        "state",
        "verdict",
        "count",
        "branches",
        "certificate",
        "margin",
        "contact",
    } <= set(record)
    assert record["verdict"] == selection.verdict.name
    assert record["count"] == len(record["branches"])
    assert list(record["state"]["q"].values()) == state.q.tolist()
    for found, branch in zip(record["branches"], selection.branches, strict=True):
        assert list(found["mode"].values()) == [label.value for label in branch.mode.values()]
        assert found["lambda_N"] == branch.lambda_N
        assert list(found["acceleration"].values()) == branch.acceleration.tolist()


@pytest.mark.parametrize("name", ["rod_on_incline", "ladder_in_corner", "slider_pendulum"])
def test_sliding_terms_of_the_record_are_those_of_the_delassus_matrix(name):
    dynamics, state, parameters = solved(name)
    selection = select(dynamics, state, parameters=parameters)
    record = verdict_record(dynamics, state, selection, parameters=parameters)
    terms = dynamics.terms(state.q, state.v, parameters=parameters)
    W = np.hstack([terms.W_N, terms.W_T])
    G = W.T @ np.linalg.solve(terms.M, W)
    k = len(dynamics.contacts)
    for index, contact in enumerate(dynamics.contacts):
        found, G_NN, G_NT = record["contact"][contact], G[index, index], G[index, k + index]
        mu = terms.friction[index]
        # two linear solves of condition below 100
        assert found["A_slide+"] == pytest.approx(G_NN - mu * G_NT, rel=1e-12, abs=1e-12)
        assert found["A_slide-"] == pytest.approx(G_NN + mu * G_NT, rel=1e-12, abs=1e-12)
        assert found["critical_friction"] == pytest.approx(G_NN / abs(G_NT), rel=1e-12)


def test_block_without_coupling_has_no_critical_friction():
    dynamics, state, parameters = solved("block_on_incline")
    record = verdict_record(dynamics, state, select(dynamics, state), parameters=parameters)
    assert record["contact"]["floor"]["critical_friction"] is None


def test_map_record_has_the_shares_and_no_cells():
    dynamics, _, parameters = solved("rod_on_incline")
    axes = [Axis.parse("phi=0:pi:40"), Axis.parse("phi_dot=-3:3:40")]
    found = region_map(dynamics, axes=axes, pins={"slip.tip": "+0"}, parameters=parameters)
    record = map_record(found)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["cells"] == 1600
    assert record["axes"][0] == {"name": "phi", "low": 0.0, "high": math.pi, "n": 40}
    assert record["verdict_fractions"]["INCONSISTENT"] == np.mean(found.verdict == 3)
    assert sum(record["mode_fractions"].values()) == pytest.approx(1, abs=1e-12)


def test_critical_friction_record_of_the_rod():
    dynamics, _, _ = solved("painleve_rod")
    record = critical_friction_record(critical_friction(dynamics, over=[Axis.parse("theta=0:pi/2")]))
    assert record["minimum"] == pytest.approx(4 / 3, rel=1e-12)  # Genot and Brogliato 1999
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert set(record["paradox_intervals"]) == {"slide+", "slide-"}
