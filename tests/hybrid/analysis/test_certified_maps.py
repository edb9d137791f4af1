"""Certified maps: bounds against areas by hand, boxes against states in ball arithmetic, proofs and witnesses."""

import math
import pickle
from fractions import Fraction
from math import pi

import flint
import numpy as np
import pytest
from scipy.integrate import quad

from hybrid import (
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    derive,
    mechanism_from_toml,
    read_mechanism,
    select,
    solve_state,
)
from hybrid.analysis import Axis, certified_friction, certified_map, region_map, sliced
from hybrid.cli import main
from hybrid.contact import CellVerdict
from hybrid.errors import ArgumentError, ComputationError, DeclarationError, StateError
from hybrid.reporting.certified_plot import plot_certified_map, rastered
from mechanisms import path
from tests.catalogue import dynamics_of
from tests.incline import fractions_at_rest, fractions_slipping

flint.ctx.prec = 200
WANTED = {"INCONSISTENT", "INDETERMINATE", "HYPERSTATIC"}
ROLLING = dict.fromkeys(["x", "y", "alpha", "beta", "gamma", "gap.floor", "gap_dot.floor"], 0)
ROLLING |= dict.fromkeys(["alpha_dot", "beta_dot", "slip.floor.1", "slip.floor.2"], 0)
POSED = {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}


def certified(name, axes, pins, *, gap=1e-4, parameters=None, **options):
    return certified_map(
        dynamics_of(name),
        axes=[Axis.parse(axis) for axis in axes],
        pins=pins,
        parameters=parameters,
        gap=gap,
        **options,
    )


def rod(axes, pins=None, **options):
    return certified("rod_on_incline", axes, {"slip.tip": -1, **(pins or {})}, **options)


def encloses(bounds, share, slack=0.0):
    return bounds[0] - slack <= share <= bounds[1] + slack


@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_shares_enclose_areas_by_hand(gap):
    found = rod(["phi=0:pi", "mu=0:2"], {"phi_dot": 0}, gap=gap)
    # A = (1 + 3 cos^2 phi - 3 mu sin phi cos phi)/m, negative beyond the critical friction
    critical = lambda phi: (1 + 3 * np.cos(phi) ** 2) / (3 * np.sin(phi) * np.cos(phi))  # noqa: E731
    area, error = quad(lambda phi: max(0.0, 2.0 - critical(phi)), 0.6, 1.4, points=[0.7, 1.3], epsabs=1e-12, limit=400)
    assert found.complete and found.gap <= gap
    assert encloses(found.regions["none"], area / (2 * pi), error + 1e-10)
    assert encloses(found.regions["slide-"], 1 - area / (2 * pi), error + 1e-10)
    assert set(found.regions) == {"none", "slide-"}
    assert sum(low for low, _ in found.regions.values()) <= 1.0 <= sum(high for _, high in found.regions.values())


@pytest.mark.parametrize("side", [1, -1])
def test_shares_enclose_those_of_the_closed_form_where_several_modes_hold(side):
    found = certified("rod_on_incline", ["phi=0:pi", "phi_dot=-3:3"], {"slip.tip": side}, parameters={"mu": 1.5})
    named = {"slide": "slide+" if side > 0 else "slide-", "free|slide": "free|slide+" if side > 0 else "free|slide-"}
    exact = {named.get(name, name): share for name, share in fractions_slipping(mu=1.5, side=side).items()}
    assert set(found.regions) == set(exact)
    for name, share in exact.items():
        assert encloses(found.regions[name], share, 2e-5)  # of a sum over 40 000 lines
    assert dict(found.absent) == {
        "INCONSISTENT": False,
        "INDETERMINATE": False,
        "HYPERSTATIC": True,
    }


# At mu = 0.745, a little below 3/4, the domain of sticking has two thin holes.
@pytest.mark.parametrize(("mu", "epsilon"), [(0.5, 0.0), (0.5, 0.25), (1.5, 1.0), (0.745, 0.0)])
def test_shares_of_a_contact_at_rest(mu, epsilon):
    parameters = {"mu": mu, "epsilon": epsilon}
    found = certified("rod_on_incline", ["phi=0:pi", "phi_dot=-3:3"], {"slip.tip": 0}, parameters=parameters, gap=1e-4)
    for name, share in fractions_at_rest(mu=mu, epsilon=epsilon).items():
        assert encloses(found.regions.get(name, (0.0, 0.0)), share, 1e-7)  # of a sum over 40 000 lines


def test_less_friction_than_critical_is_proved_free_of_paradoxes():
    least = 4.0 / 3.0 - 1e-9
    found = rod(["phi=0:pi", f"mu=0:{least!r}"], {"phi_dot": 0})
    assert found.absent == dict.fromkeys(WANTED, True) and found.witness == {}
    assert found.regions == {"slide-": (pytest.approx(1.0, abs=1e-13), 1.0)}
    assert found.evaluations <= 5000


def test_critical_friction_itself_is_never_called_free_of_paradoxes():
    found = rod(["phi=0:pi", "mu=0:4/3"], {"phi_dot": 0})
    assert found.absent["INCONSISTENT"] is not True


def test_a_witness_has_the_verdict():
    found = rod(["phi=0:pi", "phi_dot=-3:3", "mu=0:2"], gap=0.1)
    dynamics = dynamics_of("rod_on_incline")
    assert set(found.witness) == {"INCONSISTENT", "INDETERMINATE"}
    for verdict, item in found.witness.items():
        at = dict(item.at)
        bound = dynamics.at({"mu": at.pop("mu")})
        assert select(bound, solve_state(bound, {**at, "slip.tip": -1})).verdict.name == verdict
        assert all(low <= item.at[name] <= high for name, (low, high) in item.box.items())


def island(width, tmp_path):
    text = path("rod_on_incline").read_text(encoding="utf-8")
    text = text.replace('friction = "mu"', f'friction = "mu + 3*exp(-((x - 0.5137)/{width})**2)"')
    file = tmp_path / "island.toml"
    file.write_text(text, encoding="utf-8")
    return derive(read_mechanism(file))


@pytest.mark.parametrize("width", [1e-3, 1e-4])
@pytest.mark.parametrize("gap", [1e-2, 1e-4])
def test_an_island_thinner_than_cells_is_enclosed(width, gap, tmp_path):
    found = certified_map(
        island(width, tmp_path),
        axes=[Axis.parse("x=0:1"), Axis.parse("phi=0:pi")],
        pins={"phi_dot": 0, "slip.tip": -1},
        parameters={"mu": 0.5},
        gap=gap,
    )

    def length(phi):
        """Of x with mu(x) beyond the critical friction: 3 exp(-u^2) > mu_c - 1/2."""
        excess = (1 + 3 * np.cos(phi) ** 2) / (3 * np.sin(phi) * np.cos(phi)) - 0.5
        return 2 * width * np.sqrt(np.log(3 / excess)) if 0 < excess < 3 else 0.0

    area, error = quad(length, 0.2, 1.5, limit=2000, epsabs=1e-13, points=[0.4, 1.1, 1.45])
    assert found.absent["INCONSISTENT"] is False
    assert encloses(found.regions["none"], area / pi, error + 1e-9)
    if width == 1e-3:
        assert area / pi == pytest.approx(6.157e-4, rel=1e-3)


def rod_signs(phi, phi_dot, mu):
    """Signs of A and b of the rod that slips to the left, in 200 bits; None where they are not certain."""
    sine, cosine = phi.sin(), phi.cos()
    A = 1 + 3 * cosine * cosine - 3 * mu * sine * cosine
    b = phi_dot * phi_dot * sine - 1
    if A.contains(0) or b.contains(0):
        return None
    return bool(A > 0), bool(b > 0)


@pytest.mark.parametrize("n", [20_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_no_state_contradicts_a_box(n):
    found = rod(["phi=0:pi", "phi_dot=-3:3", "mu=0:3"], gap=0.05)
    labels = {(True, True): "free", (True, False): "slide-", (False, True): "free|slide-", (False, False): "none"}
    rng = np.random.default_rng(4)
    decided = np.flatnonzero(found.region >= 0)
    names = list(found.regions)
    counted = 0
    for index in rng.choice(decided, n):
        box = found.parts[index]
        share = rng.random(3)
        share[rng.integers(3)] = rng.integers(2)  # on a face
        point = np.clip(box[:, 0] + share * (box[:, 1] - box[:, 0]), box[:, 0], box[:, 1])
        signs = rod_signs(*map(flint.arb, point.tolist()))
        if signs is not None:
            counted += 1
            assert labels[signs] == names[found.region[index]]
    assert counted > 0.99 * n
    volumes = np.prod(found.parts[..., 1] - found.parts[..., 0], axis=-1)
    assert volumes.sum() == pytest.approx(pi * 6 * 3, rel=1e-12)


def test_states_of_two_contacts_have_the_modes_of_their_boxes():
    found = certified("ladder_in_corner", ["theta=0:pi/2", "theta_dot=0:6"], POSED, parameters={"mu": 1.5}, gap=1e-3)
    dynamics = dynamics_of("ladder_in_corner").at({"mu": 1.5})
    rng, names = np.random.default_rng(6), list(found.regions)
    for index in rng.choice(np.flatnonzero(found.region >= 0), 150):
        box = found.parts[index]
        theta, rate = (box[:, 0] + rng.uniform(0.01, 0.99, 2) * (box[:, 1] - box[:, 0])).tolist()
        selection = select(dynamics, solve_state(dynamics, {"theta": theta, "theta_dot": rate, **POSED}))
        region = "|".join(sorted(branch.mode.label for branch in selection.branches)) or "none"
        assert region == names[found.region[index]]
    assert found.absent["INCONSISTENT"] is False and found.absent["INDETERMINATE"] is False


def test_an_open_contact_that_penetrates_somewhere():
    axes = ["phi=-1:1", "phi_dot=-1:1"]
    pins = {"gap.left": 0, "gap_dot.left": 0, "slip.left": 1}
    found = certified("rod_two_ends", axes, pins, gap=1e-3)
    assert encloses(found.regions["penetrating"], 0.5)  # the right end is below the floor for phi < 0
    assert sum(high for name, (_, high) in found.regions.items() if name != "penetrating") <= 0.5 + 1e-3 * len(
        found.regions
    )


def test_a_kink_of_friction_is_no_smooth_boundary(tmp_path):
    text = path("rod_on_incline").read_text(encoding="utf-8")
    text = text.replace('friction = "mu"', 'friction = "mu + 2*(1 + sign(x - l/3))*abs(phi - 0.6)"')
    (tmp_path / "kink.toml").write_text(text, encoding="utf-8")
    found = certified_map(
        derive(read_mechanism(tmp_path / "kink.toml")),
        axes=[Axis.parse("x=0:1"), Axis.parse("phi=0:pi")],
        pins={"phi_dot": 0, "slip.tip": -1},
        parameters={"mu": 0.5},
        gap=2e-3,
    )

    def is_paradoxical(phi):
        return 1 + 3 * np.cos(phi) ** 2 < 3 * (0.5 + 4 * abs(phi - 0.6)) * np.sin(phi) * np.cos(phi)

    grid = (np.arange(400_000) + 0.5) / 400_000 * pi
    assert encloses(found.regions["none"], 2 / 3 * float(np.mean(is_paradoxical(grid))), 1e-5)


def test_the_work_ends_with_bounds_that_hold():
    whole = rod(["phi=0:pi", "phi_dot=-3:3"], parameters={"mu": 1.5}, gap=1e-5)
    for options in ({"max_boxes": 50}, {"max_boxes": 500}, {"budget": 1e-9}):
        found = rod(["phi=0:pi", "phi_dot=-3:3"], parameters={"mu": 1.5}, gap=1e-5, **options)
        assert not found.complete and found.gap > 1e-5
        assert found.evaluations <= options.get("max_boxes", 10) + 1
        for name, (low, high) in whole.regions.items():
            assert found.regions[name][0] <= low and high <= found.regions[name][1]
        if found.regions["none"][0] > 0.0:  # what is proved to be somewhere is met
            assert found.absent["INCONSISTENT"] is False


@pytest.mark.long
def test_the_work_ends_where_divisions_do_not_help():
    """No interval arithmetic has the sine of 1e300, the text of which is no float: however small the boxes are."""
    most = 10_000_000  # by default; without a rule that ends the work, these are spent
    found = rod(["mu=0:1", "phi_dot=-3:3"], {"phi": 1e300}, gap=1e-2)
    assert not found.complete and found.gap > 0.5 and found.evaluations < most / 10
    low, high = found.regions["slide-"]
    assert low < 0.2 and high == 1.0 and None in found.absent.values()
    least = certified_friction(dynamics_of("rod_on_incline"), over=[Axis.parse("m=0:1")], pins={"phi": 1})
    assert least.low <= smallest_at(1.0) <= least.high


def smallest_at(phi):
    return (1 + 3 * np.cos(phi) ** 2) / (3 * np.sin(phi) * np.cos(phi))


def interrupted(reached, evaluations):
    if evaluations > 1000:
        raise KeyboardInterrupt


def test_an_interrupt_keeps_what_is_proved():
    found = rod(
        ["phi=0:pi", "phi_dot=-3:3"], parameters={"mu": 1.5}, gap=1e-6, progress=interrupted, on_interrupt="keep"
    )
    assert found.is_interrupted and not found.complete
    assert encloses(found.regions["none"], fractions_slipping(mu=1.5, side=-1)["none"], 2e-5)
    with pytest.raises(KeyboardInterrupt):
        rod(["phi=0:pi", "phi_dot=-3:3"], parameters={"mu": 1.5}, gap=1e-6, progress=interrupted)


@pytest.mark.parametrize(
    ("axes", "options", "message"),
    [
        (["phi=0:pi"], {}, "two to four axes"),
        (["phi=0:pi:40", "mu=0:1"], {}, "no cells"),
        (["phi=0:pi", "mu=0:1"], {"gap": 1e-13}, "gap 1e-13"),
        (["phi=0:pi", "mu=0:1"], {"gap": float("nan")}, "gap must be a number, not nan"),
        (["phi=0:pi", "mu=0:1"], {"max_boxes": 0}, "max-boxes 0"),
        (["phi=0:pi", "mu=0:1"], {"budget": 0.0}, "budget 0"),
        (["phi=0:pi", "slip.tip=0:1"], {}, "slip.tip"),
        (["phi=0:pi", "gap.tip=0:1"], {"pins": {"gap_dot.tip": 0}}, "gap.tip is an axis"),
    ],
)
def test_bad_input_is_named(axes, options, message):
    pins = {"phi_dot": 0, **options.pop("pins", {})}
    with pytest.raises((ArgumentError, StateError), match=message.replace(".", r"\.")):
        rod(axes, pins, **options)


def test_friction_that_becomes_negative_is_refused():
    with pytest.raises(DeclarationError, match="must not be negative"):
        rod(["phi=0:pi", "mu=-1:1"], {"phi_dot": 0})


@pytest.mark.parametrize("y", ["sin(0.5)", repr(math.sin(0.5))])  # to the digit, and to rounding
def test_a_contact_that_coordinates_close_is_not_called_open(y):
    axes, pins = ["mu=0:1", "m=1:2"], {"x": 0, "phi": 0.5, "gap_dot.tip": 0, "slip.tip": 1, "phi_dot": 0}
    sampled = region_map(dynamics_of("rod_on_incline"), axes=[f"{axis}:3" for axis in axes], pins={"y": y, **pins})
    assert sampled.regions == ("slide+",)
    with pytest.raises(StateError, match=r"the gap of tip vanishes everywhere: pin gap\.tip at 0"):
        certified("rod_on_incline", axes, {"y": y, **pins})
    for pin, label in (({"gap.tip": 0}, "slide+"), ({"y": 1}, "free")):
        found = certified("rod_on_incline", axes, {**pin, **pins})
        assert set(found.regions) == {label} and found.regions[label][0] > 1 - 1e-12


@pytest.mark.parametrize(
    ("name", "axes", "pins", "message"),
    [
        ("spatial_ball", ["gamma_dot=0:1", "mu=0:1"], ROLLING, "spatial contact at rest"),
    ],
)
def test_what_is_not_decided_is_refused_by_name(name, axes, pins, message):
    with pytest.raises((ComputationError, StateError), match=message):
        certified(name, axes, pins)


def arm(axes, **options):
    return certified("two_link_arm", axes, {"theta2_dot": 1.0}, **options)


def test_postures_that_equations_close_are_enclosed():
    """The elbow and the shoulder of an arm with its tip on a rail, against verdicts at single states."""
    found = arm(["theta2=0.1:0.8", "mu=0.1:2"], gap=1e-3)
    dynamics, names = dynamics_of("two_link_arm"), list(found.regions)
    assert found.complete and found.branch is not None
    rng = np.random.default_rng(8)
    for index in rng.choice(np.flatnonzero(found.region >= 0), 16):
        box = found.parts[index]
        theta, mu = (box[:, 0] + rng.uniform(0.01, 0.99, 2) * (box[:, 1] - box[:, 0])).tolist()
        bound = dynamics.at({"mu": mu})
        state = solve_state(bound, {"theta2": theta, "theta2_dot": 1.0}, branch=dict(found.branch.start))
        region = "|".join(sorted(branch.mode.label for branch in select(bound, state).branches)) or "none"
        assert region == names[found.region[index]]


def test_the_other_elbow_has_other_regions():
    up = arm(["theta2=0.1:0.8", "mu=0.1:2"], gap=1e-2)
    down = arm(["theta2=0.1:0.8", "mu=0.1:2"], gap=1e-2, branch={"theta1": -1.1})
    assert up.branch.start["theta1"] > 0.0 > down.branch.start["theta1"]
    assert max(abs(up.regions[name][0] - down.regions.get(name, (0.0, 0.0))[0]) for name in up.regions) > 0.05


def test_beyond_a_fold_no_posture_is_proved():
    """The shoulder is at the height 1.6 = cos(theta1) + cos(theta2): the elbow of an arm cannot be lower than 0.6."""
    sampled = region_map(
        dynamics_of("two_link_arm"),
        axes=[Axis.parse("theta2=0.1:1.1:200"), Axis.parse("mu=0.1:2:200")],
        pins={"theta2_dot": 1.0},
    )
    found = arm(["theta2=0.1:1.1", "mu=0.1:2"], gap=1e-3)
    assert found.complete and True not in found.absent.values()
    assert encloses(found.regions["unreachable"], 1.1 - np.arccos(0.6))
    for name, share in sampled.mode_fractions.items():
        assert encloses(found.regions[name], share, 0.01)  # a row of cells is half of this
    assert found.evaluations < 10_000  # neither divided for verdicts at the fold, nor along mu, which moves no posture


def test_a_fold_across_the_box_ends_in_bounds():
    """Rods of 2 m and 1 m end on an ellipse about a point -c above the pivot, in the direction u at 1 m or further."""
    found = certified("singular_pendulum", ["b=2:4", "c=-3.5:-2.5"], {"u": 0.5, "u_dot": 1}, gap=1e-2)

    def fold(c):
        inside = 1 - ((np.cos(0.5) - c) / 4) ** 2
        return np.sin(0.5) / np.sqrt(inside) if inside > 0 else np.inf

    share = quad(lambda c: np.clip((fold(c) - 2) / 2, 0, 1), -3.5, -2.5, points=[np.cos(0.5) - 4])[0]
    assert found.complete and set(found.regions) == {"no contacts", "unreachable", "undecided"}
    assert encloses(found.regions["unreachable"], share)
    (b, c), is_decided = found.parts.mean(axis=-1).T, found.region >= 0
    is_too_near = b < np.array([fold(value) for value in c])
    is_named = found.region == list(found.regions).index("unreachable")
    assert np.array_equal(is_too_near[is_decided], is_named[is_decided])
    assert is_decided.mean() > 0.3


def test_of_postures_that_the_branch_does_not_reach_nothing_is_claimed():
    """The ellipse is 4 + c below the pivot: rods reach it for c from -3 to -1, on another branch from -7 to -5."""
    axes, pins = ["c=-6.5:-0.5", "m_B=1:2"], {"u": 0, "u_dot": 1}
    found = certified("singular_pendulum", axes, pins, gap=1e-2, max_boxes=3000, branch={"c": -2, "theta": 0.4})
    assert not found.complete
    low, high = found.regions["no contacts"]
    assert low <= 2 / 6 <= low + 0.01 and high >= 3.5 / 6
    assert found.regions["unreachable"][0] <= 2.5 / 6 <= found.regions["unreachable"][0] + 0.01
    assert 1.5 / 6 <= found.undecided <= 1.5 / 6 + 0.02
    assert any("branch of postures is not proved" in reason.because for reason in found.reasons)


def test_infinite_gap_of_an_undefined_region_is_never_certain(tmp_path):
    """Beyond x = 1 the friction is not real: nothing is claimed about that half of the box."""
    text = (
        path("rod_on_incline").read_text(encoding="utf-8").replace('friction = "mu"', 'friction = "mu*sqrt(1 - x/l)"')
    )
    (tmp_path / "half.toml").write_text(text, encoding="utf-8")
    found = certified_map(
        derive(read_mechanism(tmp_path / "half.toml")),
        axes=[Axis.parse("x=0:2"), Axis.parse("phi=0:pi")],
        pins={"phi_dot": 0, "slip.tip": -1},
        parameters={"mu": 0.5},
        gap=1e-2,
        max_boxes=2000,
    )
    low, high = found.regions["slide-"]
    assert low <= 0.5 and high >= 1.0 - 1e-12 and not found.complete
    assert set(found.absent.values()) == {None}


def smallest(inertia):
    """Of ``mu_c = (J + cos^2 phi)/(sin phi cos phi)`` over postures, at ``tan^2 phi = (1 + J)/J``: by hand."""
    return 2 * flint.arb(inertia * (1 + inertia)).sqrt()


@pytest.mark.parametrize("name", ["rod_on_incline", "painleve_rod", "rod_two_ends"])
def test_least_critical_friction_is_enclosed(name):
    axis = "theta=0:pi/2" if name == "painleve_rod" else "phi=0:pi/2"
    pins, contact = ({"gap.left": 0}, "left") if name == "rod_two_ends" else ({}, None)
    found = certified_friction(dynamics_of(name), over=[Axis.parse(axis)], pins=pins, contact=contact)
    assert Fraction(found.low) <= Fraction(4, 3) <= Fraction(found.high)
    assert found.high - found.low <= 1e-12


@pytest.mark.parametrize("inertia", [Fraction(1, 10), Fraction(2, 7), Fraction(3)])
def test_least_critical_friction_of_other_rods(inertia):
    found = certified_friction(
        dynamics_of("rod_on_incline"), over=[Axis.parse("phi=0:pi")], parameters={"I": str(inertia)}
    )
    exact = smallest(flint.fmpq(inertia.numerator, inertia.denominator))
    assert bool(flint.arb(found.low) < exact) and bool(exact < flint.arb(found.high))
    assert found.high - found.low <= 1e-12 * found.high


def test_least_critical_friction_over_two_quantities_is_at_the_least_inertia():
    axes = [Axis.parse("phi=0:pi"), Axis.parse("I=1/8:1")]
    found = certified_friction(dynamics_of("rod_on_incline"), over=axes)
    exact = smallest(flint.fmpq(1, 8))
    assert bool(flint.arb(found.low) <= exact) and bool(exact <= flint.arb(found.high))
    assert found.high - found.low <= 1e-12


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("oblique_rod", ["theta=0.1:1.5", "psi=0:2*pi"]),  # from every side alike: no division along psi helps
        ("rod_on_incline", ["phi=0:pi", "epsilon=0:1"]),  # the slope of the plane turns no force
    ],
)
def test_what_has_no_influence_costs_nothing(name, over):
    found = certified_friction(dynamics_of(name), over=over)
    assert Fraction(found.low) <= Fraction(4, 3) <= Fraction(found.high)
    assert found.high - found.low <= 1e-12


def test_what_is_never_coupled_has_no_upper_bound():
    found = certified_friction(dynamics_of("rod_on_incline"), over=[Axis.parse("phi=pi/2:pi/2 + 1e-3")])
    assert found.low > 100.0
    slider = certified_friction(dynamics_of("block_on_incline"), over=[Axis.parse("mu=0.1:1")])
    assert slider.high == np.inf and slider.at == {} and slider.low >= 1e11


def test_a_picture_shows_the_regions_where_they_are(tmp_path, capsys):
    found = rod(["phi=0:pi", "phi_dot=-3:3"], parameters={"mu": 1.5}, gap=1e-3)
    drawn = rastered(found, cells=200)
    sampled = region_map(
        dynamics_of("rod_on_incline"),
        axes=[Axis.parse("phi=0:pi:200"), Axis.parse("phi_dot=-3:3:200")],
        pins={"slip.tip": -1},
        parameters={"mu": 1.5},
    )
    assert np.array_equal(drawn.verdict, sampled.verdict)  # also in boxes that a boundary divides
    words = ["certify", "rod_on_incline", "--axis=phi=0:pi", "--axis=mu=0:2", "--pin=phi_dot=0", "--pin=slip.tip=-1"]
    assert main([*words, "--gap=0.01", "--plot", str(tmp_path / "map.svg")]) == 0
    assert (tmp_path / "map.svg").stat().st_size > 5000 and "Drawn" in capsys.readouterr().out
    assert main([*words, "--axis=phi_dot=0:1", "--plot", str(tmp_path / "other.svg")]) == 2


def test_a_picture_of_a_slice_reads_what_is_proved_in_it():
    whole = rod(["phi=0:pi", "phi_dot=-3:3", "mu=1:2"], gap=0.05)
    drawn = rastered(sliced(whole, {"mu": 1.45}), cells=50)
    sampled = region_map(
        dynamics_of("rod_on_incline"),
        axes=[Axis.parse("phi=0:pi:50"), Axis.parse("phi_dot=-3:3:50")],
        pins={"slip.tip": -1},
        parameters={"mu": 1.45},
    )
    assert np.array_equal(drawn.verdict, sampled.verdict)
    at_rest = sliced(
        certified("rod_on_incline", ["phi=0:pi", "phi_dot=-3:3", "slip.tip=-1:1"], {}, gap=0.05), {"slip.tip": 0}
    )
    assert (rastered(at_rest, cells=20).verdict == CellVerdict.UNDECIDED).all()  # other modes hold without slip


def test_the_legend_of_a_picture_has_the_proved_bounds():
    found = rod(["phi=0:pi", "mu=0:2"], {"phi_dot": 0}, gap=1e-3)
    texts = plot_certified_map(found).legends[0].get_texts()
    legend = {text.get_text().strip("\u200b").split()[0]: text.get_text().split() for text in texts}
    assert legend.keys() == found.regions.keys()
    for name, (low, high) in found.regions.items():
        least, _, most, _ = legend[name][-4:]
        assert 100 * low - 1e-3 <= float(least) <= 100 * low and 100 * high <= float(most) <= 100 * high + 1e-3


def blocks(number):
    """Blocks side by side on a floor, each with its velocity: every slip may have either sign."""
    names = [f"x{k}" for k in range(number)]
    contacts = [Contact(name=f"c{k}", gap=f"y{k}", tangent=f"x{k}", friction="mu") for k in range(number)]
    coordinates = [*names, *(f"y{k}" for k in range(number))]
    kinetic = " + ".join(f"m*{name}_dot**2/2" for name in coordinates)
    return derive(
        Mechanism(
            name="blocks",
            coordinates=coordinates,
            parameters={"m": 1, "g": 10, "mu": 0.5},
            dynamics=EnergyDynamics(kinetic=kinetic, potential=" + ".join(f"m*g*y{k}" for k in range(number))),
            contact=contacts,
        )
    )


def test_pins_that_change_over_the_box_are_read_there():
    # at phi_dot = 0 and little friction the tip presses; its slip changes sign in the middle of the box
    axes = ["phi=0.5:0.6", "mu=0.1:0.2"]
    found = certified("rod_on_incline", axes, {"slip.tip": "mu - 0.15", "phi_dot": 0}, gap=1e-3)
    assert {"slide+", "slide-"} <= found.regions.keys() <= {"slide+", "slide-", "undecided"}
    for label in ("slide+", "slide-"):
        low, high = found.regions[label]
        assert low <= 0.5 <= high and low > 0.4
    with pytest.raises(StateError, match=r"^gap.tip is an axis, or follows one; pin it: 0"):
        certified("rod_on_incline", axes, {"gap.tip": "mu - 0.15", "slip.tip": 1, "phi_dot": 0})


TWO_FEET = """
name = "two_feet"
coordinates = ["x", "y", "phi", "s"]
parameters = { mu = 0.5 }
[definitions]
u = "x_dot - s*sin(phi)*phi_dot + s_dot*cos(phi)"
w = "y_dot + s*cos(phi)*phi_dot + s_dot*sin(phi)"
[dynamics]
kinetic = "(x_dot**2 + y_dot**2 + phi_dot**2 + u**2 + w**2)/2"
potential = "2*y + s*sin(phi)"
[[contact]]
name = "a"
gap = "y - cos(phi)"
tangent = "x + sin(phi)"
friction = "mu"
[[contact]]
name = "b"
gap = "y + s*sin(phi)"
tangent = "x + s*cos(phi)"
friction = "mu"
"""


@pytest.mark.parametrize("slips", [{"slip.a": 0, "slip.b": 1}, {"slip.a": 2, "slip.b": 0}])
def test_a_contact_rests_as_it_is_pinned_while_another_slips(slips):
    # the slip at rest, put together from solved velocities, is zero only in value
    body = derive(mechanism_from_toml(TWO_FEET))
    pins = {"x": 0, "gap.a": 0, "gap.b": 0, "gap_dot.a": 0, "gap_dot.b": 0, **slips}
    found = certified_map(body, axes=[Axis("phi", 0.5, 0.6), Axis("mu", 0.1, 0.9)], pins=pins, gap=0.05)
    rng, names = np.random.default_rng(6), list(found.regions)
    for index in rng.choice(np.flatnonzero(found.region >= 0), 20):
        box = found.parts[index]
        phi, mu = (box[:, 0] + rng.uniform(0.01, 0.99, 2) * (box[:, 1] - box[:, 0])).tolist()
        selection = select(body, solve_state(body, {"phi": phi, **pins}, parameters={"mu": mu}), parameters={"mu": mu})
        assert "|".join(sorted(branch.mode.label for branch in selection.branches)) == names[found.region[index]]


def test_directions_of_slip_that_change_sign_are_told_apart():
    pins = {f"{what}.c{k}": 0 for k in range(3) for what in ("gap", "gap_dot")} | {"x0": 0, "x1": 0, "x2": 0}
    found = certified_map(
        blocks(3), axes=[Axis("x0_dot", -1, 3), Axis("x1_dot", -1, 1)], pins={**pins, "x2_dot": 1}, gap=1e-6
    )
    expected = {("+", "+"): 3 / 8, ("+", "-"): 3 / 8, ("-", "+"): 1 / 8, ("-", "-"): 1 / 8}
    for (first, second), share in expected.items():
        low, high = found.regions[f"c0=slide{first},c1=slide{second},c2=slide+"]
        assert low - 1e-12 <= share <= high + 1e-12
    assert len(found.regions) == 4


def test_more_modes_than_a_number_holds_are_refused():
    pins = {f"{what}.c{k}": 0 for k in range(4) for what in ("gap", "gap_dot")} | {f"x{k}": 0 for k in range(4)}
    axes = [Axis(f"x{k}_dot", -1, 1) for k in range(4)]
    with pytest.raises(ComputationError, match="81 different modes"):
        certified_map(blocks(4), axes=axes, pins=pins)


@pytest.mark.parametrize(
    ("force", "shares"),
    [
        ("P", {"stick": Fraction(3, 5), "slide+": Fraction(1, 5), "slide-": Fraction(1, 5)}),
        # slips forwards where P > 6 - R, over 4 + R of 20; backwards where P < -6 - R, over 4 - R: 24 and 8 of 80
        ("P + R", {"stick": Fraction(3, 5), "slide+": Fraction(3, 10), "slide-": Fraction(1, 10)}),
    ],
)
@pytest.mark.parametrize("gap", [1e-3, 1e-8, 1e-12])
def test_bounds_of_straight_boundaries_hold_to_the_last_digit(force, shares, gap):
    block = Mechanism(
        name="block",
        coordinates=["x"],
        parameters={"P": 0, "R": 0},
        dynamics=EnergyDynamics(kinetic="x_dot**2"),
        forces={"x": force},
        friction=[FrictionElement(name="guide", tangent="x", limit=6)],
    )
    axes = [Axis.parse("P=-10:10"), Axis.parse("R=0:4")]
    found = certified_map(derive(block), axes=axes, pins={"x": 0, "x_dot": 0}, gap=gap)
    assert found.complete
    assert found.regions.keys() == shares.keys()
    for label, share in shares.items():
        low, high = found.regions[label]
        assert Fraction(low) <= share <= Fraction(high)


@pytest.mark.parametrize("name", ["rod", "arm"])
def test_a_map_and_its_slice_read_the_same_after_pickling(name):
    if name == "rod":
        found = rod(["phi=0:pi", "mu=0:3"], {"phi_dot": 0}, gap=0.3)
    else:
        found = arm(["theta2=0.1:0.8", "mu=0.1:2"], gap=0.3)
    for item in (found, sliced(found, {"mu": 1.5})):
        arrived = pickle.loads(pickle.dumps(item))
        assert (arrived.axes, arrived.regions) == (item.axes, item.regions)
        np.testing.assert_array_equal(arrived.parts, item.parts)
        middles, places = item.parts.mean(axis=-1), np.arange(len(item.parts))
        for before, after in zip(item.at_points(middles, places), arrived.at_points(middles, places), strict=True):
            np.testing.assert_array_equal(before, after)
