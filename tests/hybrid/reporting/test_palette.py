"""Map colours against other formulas: lightness, and what a reader without green or red cones sees."""

import itertools

import numpy as np
import pytest

from hybrid.reporting.regions import fills, lightness

# Machado, Oliveira and Fernandes 2009, severity 1, on linear sRGB.
BLIND = {
    "none": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
SETS = [
    ["unique"] * unique + ["several"] * several + ["none"] * none
    for unique, several, none in itertools.product(range(1, 8), range(3), range(2))
    if unique + several + none <= 9
]


def linear(colour):
    rgb = np.asarray(colour)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear sRGB, with the matrix of IEC 61966-2-1."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ np.clip(rgb, 0, 1) / (to_xyz @ np.ones(3))
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(
    ("colour", "expected"), [((1, 0, 0), 53.24), ((0, 1, 0), 87.73), ((0, 0, 1), 32.30), ((0, 0, 0), 0)]
)
def test_lightness_of_the_primaries(colour, expected):
    # published L* of the sRGB primaries, two decimals
    assert lightness(colour) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("kinds", SETS, ids="-".join)
def test_regions_darken_in_steps_that_greyscale_shows(kinds):
    chosen = fills(kinds)
    lights = np.array([lab(linear(fill.colour))[0] for fill in chosen])
    # nine regions leave 66 / 8 = 8.25 each; colours are cut to the gamut at fixed lightness within 0.1
    assert np.all(np.diff(lights) <= -8)
    assert [fill.hatch != "" for fill in chosen] == [kind != "unique" for kind in kinds]


@pytest.mark.parametrize("vision", sorted(BLIND))
@pytest.mark.parametrize("kinds", SETS, ids="-".join)
def test_any_two_regions_differ_for_every_reader(kinds, vision):
    seen = [lab(BLIND[vision] @ linear(fill.colour)) for fill in fills(kinds)]
    closest = min((np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)), default=np.inf)
    # CIE 1976 colour difference; 2.3 is just noticeable side by side
    assert closest > 3 * 2.3


def test_hatching_is_seen_on_its_region():
    for fill in fills(["unique", "several", "several", "none"]):
        assert abs(lightness(fill.ink) - lightness(fill.colour)) > 35
