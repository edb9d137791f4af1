"""Restitution and absorbed energy over posture and incidence, as a library and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mechanisms
from hybrid import ArgumentError, ComputationError, KelvinVoigtLimit, StateError, derive, solve_state
from hybrid.analysis import Axis
from hybrid.analysis.comparison.restitution import restitution_map
from hybrid.cli import main
from hybrid.cli.program import ExitStatus
from hybrid.contact import resolve_impact

OVER = Axis("theta", 0.05, 1.52, 60)


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("painleve_rod"))


def test_frictionless_restitution_is_that_of_schwager_and_poeschel_at_every_incidence(rod):
    # e = exp(-zeta s), s = atan2(2 zeta w, 2 zeta^2 - 1) / w with zeta = d sqrt(G_NN) (Schwager and Poeschel 2007)
    found = restitution_map(rod, over=OVER, damping=0.2, parameters={"mu": 0})
    zeta = 0.2 * np.sqrt(1 + 3 * np.cos(OVER.values) ** 2)
    w = np.sqrt(1 - zeta**2)
    e = np.exp(-zeta * np.arctan2(2 * zeta * w, 2 * zeta**2 - 1) / w)
    assert found.restitution == pytest.approx(np.broadcast_to(e[:, None], found.restitution.shape), rel=1e-12)
    # along the normal without friction nothing else takes energy: the share of det G / (G_NN G_TT) gamma_N^2
    c, s = np.cos(OVER.values), np.sin(OVER.values)
    G_NN, G_TT, G_NT = 1 + 3 * c * c, 1 + 3 * s * s, 3 * s * c
    across = np.argmin(np.abs(found.axes[1].values))
    angle = found.axes[1].values[across]
    w0, u0 = -np.cos(angle), np.sin(angle)
    before = (G_TT * w0**2 - 2 * G_NT * w0 * u0 + G_NN * u0**2) / (G_NN * G_TT - G_NT**2)
    lost = (1 - e**2) * w0**2 / G_NN
    assert found.absorbed[:, across] == pytest.approx(lost / before, rel=1e-10)


def test_sweep_is_the_impact_law_state_by_state(rod):
    parameters = {"mu": 1.5, "delta": 0.1}
    over, incidence = Axis("theta", 0.2, 1.4, 3), Axis("incidence", -1.2, 1.2, 4)
    found = restitution_map(rod, over=over, incidence=incidence, parameters=parameters)
    for i, theta in enumerate(over.values):
        for j, angle in enumerate(incidence.values):
            pins = {"theta": theta, "theta_dot": 0, "gap_dot.tip": -np.cos(angle), "slip.tip": np.sin(angle)}
            state = solve_state(rod, pins, parameters=parameters)
            impact = resolve_impact(rod, state, law=KelvinVoigtLimit(), parameters=parameters)
            assert found.restitution[i, j] * np.cos(angle) == pytest.approx(impact.gap_dot_after["tip"], abs=1e-12)
            assert found.slip_ratio[i, j] == pytest.approx(impact.slip_after["tip"][0], abs=1e-12)


def test_restitution_exceeds_one_and_bands_absorb_nearly_all_energy(rod):
    found = restitution_map(rod, over=OVER, damping=0.1, parameters={"mu": 1.5})
    # friction turns slip into rebound at large positive incidence; in bands the slip stops as the rebound is used up
    assert found.restitution.max() > 1.5
    assert found.absorbed.max() > 0.95
    assert found.absorbed.min() >= 0.0
    assert found.restitution.min() >= 0.0


def test_a_parameter_can_be_swept(rod):
    found = restitution_map(rod, over=Axis("mu", 0, 2, 9), pins={"theta": 1}, damping=0.0)
    for i, mu in enumerate(found.axes[0].values):
        posture = Axis("theta", 1 - 1e-9, 1 + 1e-9, 1)
        alone = restitution_map(rod, over=posture, damping=0.0, parameters={"mu": mu})
        assert found.restitution[i] == pytest.approx(alone.restitution[0], abs=1e-7)


def test_bad_sweeps_are_refused(rod):
    with pytest.raises(ArgumentError, match="damping"):
        restitution_map(rod, over=OVER, damping=-1.0)
    with pytest.raises(StateError, match="pi/2"):
        restitution_map(rod, over=OVER, incidence=Axis("incidence", -2, 1, 5))
    with pytest.raises(ComputationError, match="one planar contact"):
        restitution_map(derive(mechanisms.load("oblique_rod")), over=OVER)


@pytest.mark.parametrize(
    ("over", "pins", "parameters", "message"),
    [
        (Axis("theta_dot", -1, 1, 5), {"theta": 1}, {}, "theta_dot is a velocity"),
        (Axis("slip.tip", -1, 1, 5), {"theta": 1}, {}, "slip.tip is a velocity"),
        (Axis("theta", 0.1, 1, 5), {"gap_dot.tip": -1}, {}, "gap_dot.tip is a velocity"),
        (Axis("theta", 0.1, 1, 5), {"theta": 1}, {}, "theta is swept, and given a value"),
        (Axis("mu", 0.1, 1, 5), {"theta": 1}, {"mu": 1}, "mu is swept, and given a value"),
        (Axis("gap.tip", 0, 1, 5), {"theta": 1}, {}, "closed contact, but gap.tip is 0.1 to 0.9"),
        (Axis("theta", 0.1, 1, 5), {"y": 2}, {}, "closed contact"),
    ],
)
def test_sweeps_that_say_nothing_of_an_impact_over_posture_are_refused(rod, over, pins, parameters, message):
    with pytest.raises(StateError, match=message):
        restitution_map(rod, over=over, pins=pins, parameters=parameters)


def test_command_draws_the_sweep_of_any_mechanism(capsys, tmp_path):
    plot = tmp_path / "sweep.png"
    arguments = ["restitution", "rod_on_incline", "--over=phi=0.1:1.5:20", "--param=mu=1.5", "--damping=0.1"]
    assert main([*arguments, "--plot", str(plot), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert answer["restitution"]["greatest"]["value"] > 1.0
    assert set(answer["absorbed"]["least"]["at"]) == {"phi", "incidence"}
    assert main(arguments) == 0
    assert "greatest restitution" in capsys.readouterr().out
    assert main([*arguments, "--incidence=-2:2:9"]) == 2
    assert "pi/2" in capsys.readouterr().err


def test_mechanism_with_one_freedom_has_no_incidence_to_choose(capsys):
    shoe = derive(mechanisms.load("brake_shoe"))
    with pytest.raises(StateError, match="moves in one direction only"):
        restitution_map(shoe, over=Axis("mu", 0.1, 2.0, 4), pins={"phi": 0})
    assert main(["restitution", "brake_shoe", "--over=mu=0.1:2:4", "--pin=phi=0"]) == ExitStatus.BAD_INPUT
    assert "moves in one direction only" in capsys.readouterr().err
