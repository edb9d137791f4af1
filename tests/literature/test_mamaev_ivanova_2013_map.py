"""Map of the rod on an incline: Mamaev and Ivanova, Russian Journal of Nonlinear Dynamics 9 (2013) 567.

Areas of the modes' domains over phi in [0, pi], phi_dot in [-3, 3] as fractions of the rectangle,
recomputed by hand (``tests/incline.py``).
"""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from hybrid.analysis import Axis, region_map
from tests.catalogue import classified, dynamics_of, fractions
from tests.incline import distance_to_boundaries, fractions_at_rest, fractions_slipping

AT_REST = [
    (0.5, 0.0, {"stick": 0.20041616, "slide+": 0.1426185, "slide-": 0.1426185, "free": 0.51434684}),
    (0.5, 0.25, {"stick": 0.18006475, "slide+": 0.20981354, "slide-": 0.09577487, "free": 0.51434684}),
    (1.5, 0.0, {"stick": 0.27960948, "slide+": 0.10302184, "slide-": 0.10302184, "free": 0.51434684}),
    (
        1.5,
        1.0,
        {
            "stick": 0.19890088,
            "slide+": 0.23049558,
            "slide-": 0.0562567,
            "free": 0.5139954,
            "free|slide+|stick": 0.00035143,
        },
    ),
]
SLIPPING = [
    (0.5, {"slide": 0.48565316, "free": 0.51434684}),
    (1.5, {"slide": 0.44125842, "free": 0.43425908, "free|slide": 0.08008776, "none": 0.04439474}),
]


PLANE = [Axis("phi", 0, pi, 400), Axis("phi_dot", -3, 3, 400)]


def region_map_of(mu, epsilon, slip):
    return region_map(
        dynamics_of("rod_on_incline"),
        axes=PLANE,
        pins={"slip.tip": slip},
        parameters={"mu": mu, "epsilon": epsilon},
    )


def refined_fractions(found, mu, epsilon, slip, parts):
    """Fractions of a map whose cells are cut in parts where a neighbour belongs to another region."""
    region = np.pad(found.region, 1, mode="edge")
    around = [np.roll(region, (i - 1, j - 1), (0, 1))[1:-1, 1:-1] for i, j in np.ndindex(3, 3)]
    mixed = np.any([other != found.region for other in around], axis=0)
    inner = [((np.arange(n) + 0.5) / n - 0.5) * axis.width / 400 for n, axis in zip(parts, PLANE, strict=True)]
    names, counts = np.unique(found.region[~mixed], return_counts=True)
    total = {found.regions[name]: count / found.cells for name, count in zip(names, counts, strict=True)}
    for cells in np.array_split(np.argwhere(mixed), 20):  # a million states at once would take a gigabyte
        phi = PLANE[0].values[cells[:, 0], None, None] + inner[0][:, None]
        phi_dot = PLANE[1].values[cells[:, 1], None, None] + inner[1][None, :]
        pins = {"phi": phi, "phi_dot": phi_dot, "slip.tip": slip}
        cut = fractions(classified("rod_on_incline", pins, mu=mu, epsilon=epsilon))
        total |= {name: total.get(name, 0) + cut[name] * len(cells) / found.cells for name in cut}
    return total


@pytest.mark.parametrize(("mu", "epsilon", "expected"), AT_REST)
def test_map_fractions_at_rest(mu, epsilon, expected):
    exact = fractions_at_rest(mu=mu, epsilon=epsilon)
    assert {k: v for k, v in exact.items() if v > 1e-12} == pytest.approx(expected, abs=1e-7)
    # A cell on a boundary goes to one side, so that the shares of a 400 x 400 map are good to 0.002 at least.
    found = region_map_of(mu, epsilon, 0.0)
    assert found.mode_fractions == pytest.approx(expected, abs=2e-3)
    # Cells of 1/4000 at the boundaries: the midpoint rule errs by far less than a cell's width.
    assert refined_fractions(found, mu, epsilon, 0.0, (10, 10)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("mu", "expected", "parts"),
    # Where A changes sign, at mu > 4/3, a boundary runs along a column of cells: finer parts across it.
    [(*SLIPPING[0], (10, 10)), (*SLIPPING[1], (96, 10))],
)
@pytest.mark.parametrize(("slip", "side", "epsilon"), [("+0", "+", 0.4), ("-0", "-", 0.0)])
def test_map_fractions_slipping_whatever_the_slope(mu, expected, parts, slip, side, epsilon):
    exact = fractions_slipping(mu=mu, side={"+": 1, "-": -1}[side], n=200_000)
    assert exact == pytest.approx(expected, abs=5e-6)  # midpoint rule across the jumps at the roots of A

    def unsigned(shares):
        return {name.replace("slide" + side, "slide"): share for name, share in shares.items()}

    found = region_map_of(mu, epsilon, slip)
    assert unsigned(found.mode_fractions) == pytest.approx(expected, abs=2e-3)
    assert unsigned(refined_fractions(found, mu, epsilon, slip, parts)) == pytest.approx(expected, abs=1e-5)


def test_map_of_any_slip_is_that_of_vanishing_slip():
    limit, slipping = region_map_of(1.5, 0.4, "+0"), region_map_of(1.5, 0.4, 2.5)
    assert limit.regions == slipping.regions
    np.testing.assert_array_equal(limit.region, slipping.region)


@pytest.mark.parametrize(
    ("mu", "epsilon", "slip"), [(0.5, 0.0, 0.0), (0.5, 0.25, 0.0), (1.5, 1.0, 0.0), (1.5, 0.3, "+0"), (3.0, 0.3, "-0")]
)
def test_boundaries_of_the_map_lie_on_the_curves_of_the_closed_form(mu, epsilon, slip):
    found = region_map(
        dynamics_of("rod_on_incline"),
        axes=[Axis("phi", 0, pi, 60), Axis("phi_dot", -3, 3, 60)],
        pins={"slip.tip": slip},
        parameters={"mu": mu, "epsilon": epsilon},
        with_boundaries=True,
    )
    points = np.concatenate([boundary.points for boundary in found.boundaries])
    assert len(points) > 250
    # Points are promised to 1e-10 of the axes, of which the longer is 6.
    assert np.max(distance_to_boundaries(points, mu=mu, epsilon=epsilon)) < 6e-10
