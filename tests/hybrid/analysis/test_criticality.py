"""Critical friction against closed forms: Genot and Brogliato 1999 and its relatives."""

from math import acos, atan, cos, degrees, inf, pi, sqrt, tan

import pytest
from scipy.optimize import minimize_scalar

import hybrid
from hybrid.analysis import Axis, critical_friction
from tests.catalogue import dynamics_of
from tests.closed_forms import DELASSUS, slider_pendulum_alpha

QUARTER = [Axis("theta", 0, pi / 2)]


@pytest.mark.parametrize("alpha", [0.3, 1.0, 3.0, 12.0])
def test_painleve_rod_minimum_and_its_posture(alpha):
    # mu_P = 2 sqrt(1 + alpha) / alpha at tan theta = sqrt(1 + alpha)
    found = critical_friction(dynamics_of("painleve_rod"), over=QUARTER, parameters={"alpha": alpha})
    assert found.minimum == pytest.approx(2 * sqrt(1 + alpha) / alpha, rel=1e-13)
    assert found.at == {"theta": pytest.approx(atan(sqrt(1 + alpha)), abs=1e-10)}
    assert (found.mode, found.contact) == ("slide+", "tip")


def test_rod_on_incline_minimum_is_four_thirds():
    # Two postures, leaning to either side, have the same minimum; the first is reported.
    found = critical_friction(dynamics_of("rod_on_incline"), over=[Axis("phi", 0, pi)])
    assert found.minimum == pytest.approx(4 / 3, rel=1e-13)
    assert found.at["phi"] == pytest.approx(atan(2), abs=1e-10)


@pytest.mark.parametrize(
    ("mu", "low", "high"),
    [
        (1.4, 55.5858, 69.9519),
        (1.5, 50.6416, 73.0485),
        ("5/3", 45.0, 75.9638),
        (2, 37.3774, 79.1877),
        ("4/3 + 1e-9", None, None),
    ],
)
def test_painleve_rod_paradox_intervals(mu, low, high):
    found = critical_friction(dynamics_of("painleve_rod"), over=QUARTER, parameters={"mu": mu})
    value = {"5/3": 5 / 3, "4/3 + 1e-9": 4 / 3 + 1e-9}.get(mu, mu)
    # tan theta = (3 mu -+ sqrt(9 mu^2 - 16)) / 2; in mu itself the roots are as bad as 1/sqrt(mu - 4/3)
    roots = [atan((3 * value + s * sqrt((3 * value - 4) * (3 * value + 4))) / 2) for s in (-1, 1)]
    ((start, end),) = found.paradox_intervals["slide+"]
    assert [start, end] == pytest.approx(roots, abs=1e-12 if low else 1e-10)
    assert found.paradox_intervals["slide-"] == ()
    if low is not None:
        assert [degrees(start), degrees(end)] == pytest.approx([low, high], abs=5e-5)


def test_rod_on_incline_roots_of_the_inertia_factor():
    found = critical_friction(dynamics_of("rod_on_incline"), over=[Axis("phi", 0, pi)], parameters={"mu": 1.5})
    (plus,), (minus,) = (found.paradox_intervals[mode] for mode in ("slide+", "slide-"))
    # recomputed by Mamaev and Ivanova's formulas to the digits shown
    assert plus == pytest.approx((1.86665634962, 2.25773002722), abs=1e-9)
    assert minus == pytest.approx((0.883862626373, 1.27493630397), abs=1e-9)
    # the rod leaning to the other side is its mirror image
    assert plus == pytest.approx((pi - minus[1], pi - minus[0]), abs=1e-12)


def test_no_paradox_below_the_minimum():
    rod = dynamics_of("painleve_rod")
    found = critical_friction(rod, over=QUARTER, parameters={"mu": 4 / 3 - 1e-9})
    assert found.paradox_intervals == {"slide+": (), "slide-": ()}


def test_intervals_end_with_the_sweep():
    rod = dynamics_of("painleve_rod")
    found = critical_friction(rod, over=[Axis("theta", 1.0, 1.2)], parameters={"mu": 1.5})
    assert found.paradox_intervals["slide+"] == ((1.0, 1.2),)


def test_velocity_pins_are_neither_needed_nor_used():
    rod = dynamics_of("painleve_rod")
    pinned = critical_friction(rod, over=QUARTER, pins={"theta_dot": 3, "slip.tip": "+0", "gap_dot.tip": 0})
    assert pinned == critical_friction(rod, over=QUARTER)


def test_two_quantities_swept_at_once():
    # mu_P falls with alpha, so that the minimum is on a face of the rectangle.
    found = critical_friction(dynamics_of("painleve_rod"), over=[*QUARTER, Axis("alpha", 1, 5)])
    assert found.minimum == pytest.approx(2 * sqrt(6) / 5, rel=1e-13)
    assert found.at == {"theta": pytest.approx(atan(sqrt(6)), abs=1e-9), "alpha": 5.0}
    assert found.paradox_intervals == {}


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.05, 1.496663), (0.1, 1.654623), (0.25, 2.108185), (0.5, 2.828427), (1, 4.216370)],
)
def test_slider_pendulum_mass_at_the_foot(ratio, expected):
    # Or and Rimon's class: 4 sqrt((M + m) (4 M + m)) / (3 m) for a uniform rod, M/m = ratio
    arm = dynamics_of("slider_pendulum")
    found = critical_friction(arm, over=QUARTER, parameters={"M": ratio})
    assert found.minimum == pytest.approx(expected, abs=5e-7)
    assert found.minimum == pytest.approx(4 / 3 * sqrt((ratio + 1) * (4 * ratio + 1)), rel=1e-13)
    alpha = slider_pendulum_alpha(arm.mechanism.parameter_values({"M": ratio}))
    assert found.minimum == pytest.approx(2 * sqrt(1 + alpha) / alpha, rel=1e-13)


@pytest.mark.parametrize(
    ("height", "expected", "postures"),
    [
        (1.0, 0.975305, (76.943, 39.278)),
        (1.2, 0.830293, None),
        (1.4, 0.685357, None),
        (1.6, 0.534403, (45.254, 26.358)),
        (1.8, 0.361629, None),
        (1.9, 0.250350, None),
    ],
)
def test_two_link_arm_over_postures_at_a_height(height, expected, postures):
    # The arm of Zhao, Liu, Ma and Chen; theta1 follows from the height of the base.
    arm = dynamics_of("two_link_arm")
    found = critical_friction(arm, over=[Axis("theta2", 0, 1.4)], parameters={"H": height})
    assert found.minimum == pytest.approx(expected, abs=5e-7)

    def critical(theta2):
        G = DELASSUS["two_link_arm"]([acos(height - cos(theta2)), theta2], arm.mechanism.parameter_values())
        return G[0, 0] / abs(G[0, 1])

    by_hand = minimize_scalar(
        critical, bounds=(found.at["theta2"] - 0.1, found.at["theta2"] + 0.1), options={"xatol": 1e-9}
    )
    assert found.minimum == pytest.approx(by_hand.fun, rel=1e-12)
    if postures:
        theta2 = found.at["theta2"]
        reached = degrees(acos(height - cos(theta2))), degrees(theta2)
        assert reached == pytest.approx(postures, abs=1e-3)


@pytest.mark.parametrize("width", [1e-3, 1e-4, 5e-5])
@pytest.mark.parametrize("centre", [0.5137, 0.3])
def test_a_narrow_dip_that_the_scan_sees_is_descended_to_its_bottom(width, centre):
    # a point mass over a guide whose tangent leans: G_NN = 1 and G_NT = c(s), so that mu_c = 1/c; c is 0.65 apart from
    # a peak of 0.9, of which the nearest of 4097 points sees the flank
    mass = hybrid.derive(
        hybrid.Mechanism(
            name="leaning",
            coordinates=["x", "y"],
            parameters={"s": 0.0, "mu": 0.5},
            dynamics=hybrid.EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="y"),
            contact=[
                hybrid.Contact(
                    name="tip",
                    gap="y",
                    tangent=f"x + (0.65 + 0.25*exp(-((s - {centre})/{width})**2))*y",
                    friction="mu",
                )
            ],
        )
    )
    found = critical_friction(mass, over=[Axis("s", 0, 1)], pins={"x": 0})
    assert found.minimum == pytest.approx(10 / 9, rel=1e-13)
    assert found.at["s"] == pytest.approx(centre, abs=1e-3 * width)


def test_spatial_rod_has_the_planar_minimum_in_its_own_plane():
    # Tip Delassus 4 I - 3 r r^T: mu_c = (1 + 3 c^2) / (3 s c), whatever the azimuth.
    found = critical_friction(dynamics_of("oblique_rod"), over=QUARTER, pins={"psi": 0.7}, parameters={"mu": 1.5})
    assert found.minimum == pytest.approx(4 / 3, rel=1e-13)
    assert found.mode == "slide"
    roots = [atan((4.5 + s * sqrt(4.25)) / 2) for s in (-1, 1)]
    assert found.paradox_intervals == {"slide": (pytest.approx(tuple(roots), abs=1e-12),)}


def test_one_of_two_contacts():
    # Either end of a free rod is the tip of a Painleve rod.
    rod = dynamics_of("rod_two_ends")
    for contact in ("left", "right"):
        found = critical_friction(rod, over=[Axis("phi", 0, pi / 2)], contact=contact, pins={"y": 0})
        assert found.minimum == pytest.approx(4 / 3, rel=1e-13)


def test_brake_shoe_locks_above_the_ratio_of_its_levers():
    # mu_c = a/h as declared (Spurr 1961); turned by phi it is tan(atan(a/h) - phi), least at the end of this sweep.
    shoe = dynamics_of("brake_shoe")
    values = shoe.mechanism.parameter_values()
    found = critical_friction(shoe, over=[Axis("phi", -0.5, 0.0)])
    assert found.minimum == pytest.approx(values["a"] / values["h"], rel=1e-13)
    assert found.at["phi"] == pytest.approx(0.0, abs=1e-15)  # rounding of the half radian that is swept
    turned = critical_friction(shoe, over=[Axis("phi", -0.5, -0.2)])
    assert turned.minimum == pytest.approx(tan(atan(values["a"] / values["h"]) + 0.2), rel=1e-13)


def test_free_body_without_coupling_is_never_paradoxical():
    # A block (point mass) pushes back straight along the normal.
    found = critical_friction(dynamics_of("block_on_incline"), over=[Axis("x", 0, 1)])
    assert found.minimum == inf
    assert (found.at, found.mode) == ({}, "")
    assert found.paradox_intervals == {"slide+": (), "slide-": ()}


def test_a_sweep_that_leaves_the_closed_postures_says_so():
    shoe = dynamics_of("brake_shoe")
    found = critical_friction(shoe, over=[Axis("phi", -1.0, 1.0)])
    # the gap as declared at the posture found: the shoe is closed at phi = 0 alone
    terms = shoe.terms([found.at["phi"]], [0.0])
    assert found.gap == pytest.approx(float(terms.gap[0]), abs=1e-12)
    assert abs(found.gap) > 0.1
    rod = dynamics_of("painleve_rod")
    assert critical_friction(rod, over=[Axis("theta", 0.0, 1.5)]).gap == pytest.approx(0.0, abs=1e-12)


def test_redundant_constraints_leave_the_critical_friction_of_the_rod_alone():
    # three times the same guide of a further coordinate; the rod's closed form is mu_c >= 4/3 (Genot and Brogliato)
    guides = [hybrid.Constraint(name=f"guide{k}", equation=f"{k}*z") for k in (1, 2, 3)]
    rod = hybrid.derive(
        hybrid.Mechanism(
            name="guided_rod",
            coordinates=["x", "y", "phi", "z"],
            parameters={"mu": 1.5},
            dynamics=hybrid.EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2 + phi_dot**2/6"),
            contact=[hybrid.Contact(name="tip", gap="y - sin(phi)", tangent="x - cos(phi)", friction="mu")],
            constraint=guides,
        )
    )
    assert critical_friction(rod, over=[Axis.parse("phi=0:pi")]).minimum == pytest.approx(4 / 3, rel=1e-12)
