"""The catalogue as a package: what it lists, what it says about itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from math import pi

import pytest

from hybrid.errors import DeclarationError
from mechanisms import load, names, path

PROMISED = {
    "ball_on_vibrating_table",
    "block_on_belt",
    "block_on_incline",
    "bouncing_ball",
    "brake_shoe",
    "coulomb_oscillator",
    "double_pendulum",
    "double_pendulum_over_floor",
    "four_bar",
    "ladder_in_corner",
    "oblique_rod",
    "painleve_klein",
    "painleve_rod",
    "rocking_block",
    "rod_on_incline",
    "rod_two_ends",
    "singular_pendulum",
    "singular_pendulum_spring",
    "slider_crank",
    "slider_pendulum",
    "spatial_ball",
    "three_ball_chain",
    "two_carts",
    "two_link_arm",
    "valve_spool",
    "woodpecker",
}


def test_catalogue_has_what_the_documentation_promises():
    assert set(names()) >= PROMISED
    assert list(names()) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_file_name_is_the_mechanism_name_and_every_parameter_is_explained(name):
    mechanism = load(name)
    assert mechanism.name == name
    assert mechanism.title
    assert mechanism.references
    raw = tomllib.loads(path(name).read_text(encoding="utf-8"))["parameters"]
    assert all(set(entry) == {"value", "unit", "doc"} for entry in raw.values())
    assert all(parameter.unit and parameter.doc for parameter in mechanism.parameters.values())


@pytest.mark.parametrize("name", names())
def test_single_contact_has_a_customary_name(name):
    contacts = load(name).contact
    assert len(contacts) != 1 or contacts[0].name in {"tip", "stop", "floor"}


@pytest.mark.parametrize("name", names())
def test_drawing_links_name_its_points(name):
    drawing = load(name).drawing
    assert {end for link in drawing.links for end in link} <= set(drawing.points)


@pytest.mark.parametrize(
    ("name", "derived"),
    [
        ("rod_on_incline", {"I": 1 / 3}),
        ("painleve_rod", {"J": 1 / 3}),
        ("oblique_rod", {"J": 1 / 3}),
        ("ladder_in_corner", {"kappa": 1 / 3, "J": 1 / 3, "mu_wall": 0.4}),
        ("rod_two_ends", {"I": 1 / 3}),
        ("slider_pendulum", {"M": 1 / 4, "J": 1 / 3}),
        ("block_on_incline", {"alpha": pi / 6, "mu_s": 0.6}),
        ("rocking_block", {"J": 0.4 / 3}),
        ("spatial_ball", {"J": 0.004}),
        ("coulomb_oscillator", {"mu_s": 0.3}),
        ("valve_spool", {"p_mean": 124110, "p_swing": 27580}),
        ("ball_on_vibrating_table", {"Omega": 20 * pi, "a": 1.2 * 9.81 / (20 * pi) ** 2}),
        ("double_pendulum_over_floor", {"s1": 0.5, "s2": 0.5, "J1": 1 / 12, "J2": 1 / 12}),
    ],
)
def test_parameters_that_follow_from_others_have_their_values(name, derived):
    values = load(name).parameter_values()
    assert {key: float(values[key]) for key in derived} == pytest.approx(derived, rel=1e-15)


def test_changing_a_parameter_changes_those_that_follow_from_it():
    assert float(load("rod_on_incline").parameter_values({"m": 2, "l": 3})["I"]) == 6


def test_unknown_name_is_an_error_that_names_the_nearest():
    with pytest.raises(DeclarationError, match=r"rod_on_inclin'.*did you mean 'rod_on_incline'"):
        load("rod_on_inclin")


def test_listing_the_catalogue_imports_no_part_of_the_framework():
    probe = "import sys, mechanisms; mechanisms.names(); sys.exit('hybrid' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], env=os.environ, check=False).returncode == 0
