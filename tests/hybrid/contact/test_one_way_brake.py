"""Friction with a limit of its own in either direction: a one-way brake, and kinds of brakes that the test adds."""

import pathlib
from fractions import Fraction
from math import cos, pi, sin

import attrs
import numpy as np
import pytest
import sympy

import hybrid
import mechanisms
from hybrid import (
    Axis,
    Contact,
    DeclarationError,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Functional,
    KelvinVoigtLimit,
    Mechanism,
    NewtonImpact,
    State,
    StateError,
    Verdict,
    build_automaton,
    certified_map,
    compare,
    contact_problem,
    critical_friction,
    derive,
    region_map,
    resolve_impact,
    select,
    sensitivity,
    simulate,
    solve_state,
    time_stepping,
)
from hybrid.contact import sliding_terms
from hybrid.declaration import AbstractFriction
from hybrid.dynamics.readable import readable_equations
from hybrid.reporting import build_report, render_html, report_record
from hybrid.reporting.records import decided_record

ENERGIES = EnergyDynamics(kinetic="m*x_dot**2/2", potential="-P*x")
EQUATIONS = EquationDynamics(mass_matrix=[["m"]], forces=["P"])
BRAKE = FrictionElement(name="brake", tangent="x", limit="F", reverse_limit="R")


def tug(*, friction=(BRAKE,), dynamics=ENERGIES, **parameters):
    """A mass that a force pulls, with brakes."""
    values = {"m": 2, "P": -4, "F": 6, "R": 0} | parameters
    return derive(Mechanism(name="tug", coordinates=["x"], parameters=values, dynamics=dynamics, friction=friction))


# m = 2, forward limit 6; with lambda = -6 forwards and R backwards, a = (P + lambda)/m
@pytest.mark.parametrize(
    ("R", "P", "speed", "label", "force", "acceleration"),
    [
        (0, 4, 0, "stick", -4, 0),
        (0, 10, 0, "slide+", -6, 2),
        (0, -4, 0, "slide-", 0, -2),
        (0, 4, 1, "slide+", -6, -1),
        (0, -4, 1, "slide+", -6, -5),
        (0, 4, -1, "slide-", 0, 2),
        (1, -1 / 2, 0, "stick", 1 / 2, 0),
        (1, -3, 0, "slide-", 1, -1),
        (1, 4, -1, "slide-", 1, 2.5),
        (10, -9, 0, "stick", 9, 0),
        (10, -9, 1, "slide+", -6, -7.5),
    ],
)
@pytest.mark.parametrize("dynamics", [ENERGIES, EQUATIONS])
def test_the_force_of_either_direction_is_its_own_limit(dynamics, R, P, speed, label, force, acceleration):
    found = select(tug(dynamics=dynamics, R=R, P=P), State([0.0], [speed]))
    (branch,) = found.branches
    assert found.verdict is Verdict.UNIQUE
    assert branch.mode.label == label
    assert branch.lambda_T["brake"] == pytest.approx((force,), abs=1e-14)  # sums of numbers of one digit
    assert branch.acceleration == pytest.approx([acceleration], abs=1e-14)


@pytest.mark.parametrize(("P", "labels"), [(0, {"stick", "slide-"}), (6, {"stick", "slide+"})])
def test_at_a_limit_both_modes_share_the_force(P, labels):
    found = select(tug(P=P), State([0.0], [0.0]))
    (branch,) = found.branches
    assert found.verdict is Verdict.UNIQUE
    assert {mode.label for mode in (branch.mode, *branch.equivalent_modes)} == labels
    assert branch.lambda_T["brake"] == (-P,)


def test_forces_that_two_brakes_share_are_listed_within_the_limits_of_each():
    seal = FrictionElement(name="seal", tangent="x", limit=2)
    found = select(tug(P=5, friction=[BRAKE, seal]), State([0.0], [0.0]))
    # lambda_brake in [-6, 0], lambda_seal in [-2, 2], together -5
    assert found.verdict is Verdict.HYPERSTATIC
    assert found.force_set.names == ("lambda_T.brake", "lambda_T.seal")
    assert np.array(sorted(found.force_set.vertices.tolist())) == pytest.approx(
        np.array([[-6, 1], [-3, -2]]), abs=1e-14
    )


# (P - F)/m = -5 until v = 0 at 0.6 and x = 0.9, then P/m = -2 for 1 s: m v^2/2 is 9, then 4, and P does 0.4 J
@pytest.mark.parametrize(("dynamics", "final", "applied"), [(ENERGIES, 4 - 0.4, 0.0), (EQUATIONS, 4.0, 0.4)])
def test_a_mass_is_stopped_by_the_brake_and_pulled_back_freely(dynamics, final, applied):
    motion = simulate(tug(dynamics=dynamics), State([0.0], [3.0]), t_end=1.6)
    (event,) = motion.events
    assert (event.t, event.mode_before.label, event.mode_after.label) == (pytest.approx(0.6), "slide+", "slide-")
    assert (motion.q[0], motion.v[0]) == (pytest.approx(-0.1), pytest.approx(-2.0))
    assert [motion.forces(arc, arc.start).lambda_T[0, 0] for arc in motion.arcs] == [-6.0, 0.0]
    energy = motion.energy()
    assert (energy.initial, energy.final) == (pytest.approx(9.0), pytest.approx(final))
    # the whole force of the brake is friction, on the way forwards alone
    assert (energy.friction, energy.applied) == (pytest.approx(-6 * 0.9), pytest.approx(applied, abs=1e-12))
    assert abs(energy.residual) < 1e-12


def test_a_pull_below_the_limit_is_held_after_the_stop():
    motion = simulate(tug(P=4), State([0.0], [3.0]), t_end=5)
    (event,) = motion.events
    # (P - F)/m = -1: at rest at t = 3 and x = 4.5
    assert (event.t, event.mode_after.label, motion.q[0]) == (pytest.approx(3.0), "stick", pytest.approx(4.5))
    assert motion.forces(motion.arcs[-1], 4.0).lambda_T[0, 0] == -4.0
    assert motion.energy().friction == pytest.approx(-6 * 4.5)


def test_time_stepping_finds_the_same_motion_and_work():
    motion = time_stepping(tug(), State([0.0], [3.0]), t_end=1.6, step=1e-3)
    # the step in which the brake lets go is a step too long or too short: 1 ms at 3 m/s and 6 N
    assert (motion.q[0], motion.energy().friction) == (pytest.approx(-0.1, abs=3e-3), pytest.approx(-5.4, abs=0.018))
    assert motion.forces(motion.arcs[0], 0.3).lambda_T[0, 0] == pytest.approx(-6.0, abs=1e-9)
    assert motion.forces(motion.arcs[-1], 1.2).lambda_T[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_a_guide_that_moves_drags_the_mass_one_way_only():
    belt = FrictionElement(name="belt", slip="x_dot - 1", limit=6, reverse_limit=3)
    motion = simulate(tug(P=-2, friction=[belt]), State([0.0], [0.0]), t_end=3)
    # slip -1: (P + 3)/m = 1/2 until it sticks at t = 2, x = 1; then it moves with the belt
    (event,) = motion.events
    assert (event.t, event.mode_after.label) == (pytest.approx(2.0), "stick")
    assert (motion.q[0], motion.v[0]) == (pytest.approx(2.0), pytest.approx(1.0))
    # friction takes 3 N times the slip, 1/2 on average over 2 s; the belt brings 3 N * 1 m/s * 2 s, then 2 W for 1 s
    energy = motion.energy()
    assert (energy.friction, energy.applied) == (pytest.approx(-3.0), pytest.approx(6.0 + 2.0))
    assert abs(energy.residual) < 1e-12


def test_a_map_and_its_certified_bounds_have_the_shares_of_the_limits():
    axes = [Axis.parse("P=-10:10:41"), Axis.parse("R=0:4:5")]  # cells' middles are no limits but P = 0 with R = 0
    found = region_map(tug(), axes=axes, pins={"x": 0, "x_dot": 0})
    P, R = np.meshgrid(found.axes[0].values, found.axes[1].values, indexing="ij")
    slides = {"slide+": P > 6, "slide-": P < -R, "stick": (P < 6) & (P > -R)}
    for label, where in slides.items():
        assert found.mode_fractions.get(label, 0.0) == pytest.approx(where.mean())
    certified = certified_map(
        tug(), axes=[Axis.parse("P=-10:10"), Axis.parse("R=0:4")], pins={"x": 0, "x_dot": 0}, gap=0.05
    )
    # of the plane: P > 6 is a fifth, P < -R two fifths on average
    for label, share in {"slide+": 0.2, "slide-": 0.4, "stick": 0.4}.items():
        low, high = certified.regions[label]
        assert low <= share <= high
        assert high - low < 0.1


def test_the_automaton_has_the_forces_and_guards_of_either_limit():
    dynamics = tug()
    graph = build_automaton(dynamics)
    P, F, R = (dynamics.model.parameters[name] for name in "PFR")
    forces = {"stick": -P, "slide+": -F, "slide-": R}
    for label, force in forces.items():
        assert sympy.simplify(graph.location(label).forces["lambda_T"] - force) == 0
    reached = {guard.kind.value: guard.expression for guard in graph.location("stick").guards}
    assert sympy.simplify(reached["cone+"] - (F - P)) == 0
    assert sympy.simplify(reached["cone-"] - (R + P)) == 0


@pytest.mark.parametrize("method", ["adjoint", "forward"])
def test_derivatives_are_those_of_the_closed_form(method):
    motion = simulate(tug(), State([0.0], [3.0]), t_end=1.6)
    found = sensitivity(motion, Functional(terminal="x"), ["F", "P", "m", "R"], method=method)

    def end(F, P, m, R):
        stop = 3.0 * m / (F - P)
        return 1.5 * stop + (P + R) / m * (1.6 - stop) ** 2 / 2

    base = {"F": 6.0, "P": -4.0, "m": 2.0, "R": 0.0}
    assert found.value == pytest.approx(end(**base))
    for name, value in base.items():
        ahead, back = (end(**base | {name: value + d}) for d in (1e-5, -1e-5))
        # central differences of a smooth closed form of size 1: 1e-10 of truncation, 1e-11 of rounding
        assert found.gradient[name] == pytest.approx((ahead - back) / 2e-5, abs=1e-8)


def rod(**changes):
    """The rod on an incline with a brake on its centre, at paradoxical friction."""
    declared = mechanisms.load("rod_on_incline")
    values = {**declared.parameters, "mu": 1.6, "F": 0.3, "R": 0}
    return derive(attrs.evolve(declared, parameters=values, **changes))


PINS = {"phi": "pi/3", "phi_dot": 0.5}


@pytest.mark.parametrize(("slip", "force"), [(1, "-F"), (-1, "0")])  # forwards the brake is a force, backwards nothing
def test_beside_a_contact_a_brake_that_slides_is_the_force_of_its_direction(slip, force):
    pins = PINS | {"slip.tip": slip}
    braked, plain = rod(friction=[BRAKE]), rod(forces={"x": force})
    state = solve_state(braked, pins)
    assert np.sign(state.v[0]) == slip
    first, second = select(braked, state), select(plain, solve_state(plain, pins))
    assert first.verdict is second.verdict
    assert len(first.branches) == len(second.branches)
    for one, other in zip(first.branches, second.branches, strict=True):
        assert one.lambda_N["tip"] == pytest.approx(other.lambda_N["tip"], abs=1e-12)
        assert one.acceleration == pytest.approx(other.acceleration, abs=1e-12)
        assert one.lambda_T["brake"] == pytest.approx((0.3 * (-slip if slip > 0 else 0.0),), abs=1e-12)
    plane = [Axis.parse("phi=0.1:3:30"), Axis.parse("mu=0.1:3:30")]
    rates = {"phi_dot": 0.5, "slip.tip": slip}
    maps = [region_map(dynamics, axes=plane, pins=rates) for dynamics in (braked, plain)]
    assert maps[0].verdict_fractions == maps[1].verdict_fractions
    sweeps = [
        critical_friction(item, over=plane[:1], pins={"phi_dot": 0, "slip.tip": slip}) for item in (braked, plain)
    ]
    assert sweeps[0].minimum == pytest.approx(sweeps[1].minimum)


def test_beside_a_contact_it_is_compared_and_takes_no_part_in_an_impact():
    pins = PINS | {"slip.tip": 1}
    braked, plain = rod(friction=[BRAKE]), rod(forces={"x": "-F"})
    tables = [compare(item, solve_state(item, pins), stiffness=[1e6]) for item in (braked, plain)]
    assert [row.method for row in tables[0].rows] == [row.method for row in tables[1].rows]
    for one, other in zip(tables[0].rows, tables[1].rows, strict=True):
        if one.v_after is not None:
            # the penalty runs are integrated to 1e-9 or better, relative
            assert one.v_after == pytest.approx(other.v_after, abs=1e-7)
    falling = pins | {"gap_dot.tip": -1}
    for law in (NewtonImpact(), KelvinVoigtLimit()):
        hits = [resolve_impact(item, solve_state(item, falling), law=law) for item in (braked, plain)]
        assert hits[0].v_after == pytest.approx(hits[1].v_after, abs=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reverse_limit": -1}, "friction.brake.reverse_limit: must not be negative, not -1"),
        ({"reverse_limit": "x_dot"}, "reverse_limit .column 1.: a friction limit must not depend on"),
        ({"reverse_limit": 1, "static_limit": 7}, "friction.brake.static_limit: a force that sticking holds"),
        ({"reverse_limit": "F_back"}, "reverse_limit .column 1.: unknown name"),
    ],
)
def test_a_wrong_reverse_limit_is_refused_by_its_field(fields, message):
    with pytest.raises(DeclarationError, match=message):
        tug(friction=[FrictionElement(name="brake", tangent="x", limit=6, **fields)])


@pytest.mark.parametrize("given", [{"limit": "1 + x", "reverse_limit": 5}, {"limit": 5, "reverse_limit": "1 + x"}])
def test_a_limit_that_is_negative_somewhere_is_refused_there(given):
    dynamics = tug(friction=[FrictionElement(name="brake", tangent="x", **given)])
    with pytest.raises(StateError, match="the limit force is negative"):
        select(dynamics, State([-2.0], [0.0]))
    with pytest.raises(StateError, match="the limit force is negative"):
        region_map(dynamics, axes=[Axis.parse("x=-2:2:5"), Axis.parse("x_dot=1:2:2")], pins={})


@attrs.frozen(kw_only=True)
class DrumBrake(AbstractFriction):
    """A shoe that its own friction presses on in one direction and lifts off in the other."""

    name: str
    tangent: str
    limit: str
    friction: str
    slip: str | None = None
    static_limit: str | None = None

    @property
    def limits(self):
        return f"({self.limit})/(1 - ({self.friction}))", f"({self.limit})/(1 + ({self.friction}))"


def test_the_equations_shown_say_which_force_of_the_brake_they_hold():
    shown = readable_equations(tug())
    # M v' = h + W_T (lambda_T - mean_T): P alone, with the mean of -F and R
    assert sympy.sympify(shown["h"][0]) - sympy.sympify(shown["mean_T"]["brake"]) == sympy.Symbol("P")
    assert sympy.sympify(shown["mean_T"]["brake"]) == sympy.sympify("(R - F)/2")
    assert "mean_T" not in readable_equations(tug(friction=[FrictionElement(name="seal", tangent="x", limit="F")]))


def test_each_limit_is_named_beside_the_slack_that_it_leaves():
    (branch,) = select(tug(R=1, P=0), State([0.0], [0.0])).branches
    assert [(item.inequality, item.value) for item in branch.slacks] == [
        ("lambda_T >= -F_+", pytest.approx(6)),
        ("lambda_T <= F_-", pytest.approx(1)),
    ]
    seal = FrictionElement(name="brake", tangent="x", limit="F")
    (branch,) = select(tug(friction=[seal], P=0), State([0.0], [0.0])).branches
    assert [item.inequality for item in branch.slacks] == ["lambda_T >= -F", "lambda_T <= F"]


@pytest.mark.parametrize(("F", "R"), [("0", "1/100"), ("1/100", "0")])
def test_each_limit_is_named_in_the_violations_of_a_certificate(F, R):
    brake = FrictionElement(name="brake", slip="phi_dot", limit=F, reverse_limit=R)
    rod = derive(attrs.evolve(mechanisms.load("rod_on_incline"), friction=[brake]))
    state = solve_state(rod, {"phi": "pi/3", "phi_dot": 0, "slip.tip": -1})
    selection = select(rod, state, parameters={"mu": 1.5})
    assert selection.verdict is Verdict.INCONSISTENT
    violations = decided_record(selection, rod.mechanism.coordinates)["certificate"]["violations"]
    broken = [item for item in violations if item["mode"] == {"tip": "slide-", "brake": "stick"}]
    # The tip that presses with N and is pulled along by 3 N/2 does not rotate if the brake balances both:
    # N = g = 1, and the torque of N and 3/2 N about the centre is sin(pi/3) 3/2 - cos(pi/3).
    torque = cos(pi / 3) - 1.5 * sin(pi / 3)
    assert [item["inequality"] for item in broken] == ["lambda_T >= -F_+"]
    assert broken[0]["value"] == pytest.approx(torque + float(Fraction(F)), rel=1e-9)


@pytest.mark.parametrize(("P", "speed", "force", "acceleration"), [(-3, 0, 1, -1), (10, 0, -6, 2), (4, -1, 1, 2.5)])
def test_the_problem_shown_fits_the_forces_shown(P, speed, force, acceleration):
    report = build_report(tug(R=1, P=P), State([0.0], [speed]))
    record, words = report_record(report), "in the middle between the two limits of brake"
    ((G,),), (c,) = record["problem"]["G"], record["problem"]["c"]
    assert (G, c) == (0.5, P / 2)  # of the mass and the load alone
    assert G * force + c == pytest.approx(acceleration)
    seal = FrictionElement(name="seal", tangent="x", limit="F")
    plain = render_html(build_report(tug(friction=[seal]), State([0.0], [speed])))
    assert words in render_html(report)
    assert words not in plain


@pytest.mark.parametrize(("speed", "b"), [(2, -10 / 2 + 6 / 4), (-2, -10 / 2 - 1 / 4)])
def test_a_brake_that_slips_pushes_a_contact_by_the_limit_of_its_direction(speed, b):
    parts = {
        "contact": [Contact(name="slope", gap="y - x/2", tangent="x + y/2", friction="0.1")],
        "dynamics": EnergyDynamics(kinetic="x_dot**2 + y_dot**2", potential="10*y"),
    }
    block = Mechanism(name="block", coordinates=["x", "y"], parameters={"F": 6, "R": 1}, friction=[BRAKE], **parts)
    found = sliding_terms(contact_problem(derive(block), State([0, 0], [speed, speed / 2])), "slope")
    # the mass is 2: y'' = -10/2, and x'' = -6/2 or 1/2, of which the gap takes -1/2
    assert float(found.b) == pytest.approx(b)


def test_laws_of_impact_name_what_the_brake_does_afterwards():
    wall = Contact(name="wall", gap="x", restitution="0.5")
    values = {"m": 2, "P": -4, "F": 6, "R": 1}
    struck = Mechanism(
        name="tug", coordinates=["x"], parameters=values, dynamics=ENERGIES, friction=[BRAKE], contact=[wall]
    )
    found = compare(derive(struck), State([0.0], [-1.0]), stiffness=[1e6])
    # the compressive limit gives all of the velocity back, the laws half of it, the velocity problem nothing
    modes = {row.method: row.mode for row in found.rows}
    assert {modes[name] for name in ("newton", "poisson", "kelvin-voigt")} == {"wall=free,brake=slide+"}
    assert modes["velocity LCP"] == "wall=closed,brake=stick"


def test_a_kind_of_brake_that_is_added_here_is_read_by_every_command():
    # 3/(1 - 1/2) = 6 forwards, 3/(1 + 1/2) = 2 backwards
    dynamics = tug(friction=[DrumBrake(name="brake", tangent="x", limit="F/2", friction="k")], k=0.5)
    for P, speed, label, force in (
        (7, 0, "slide+", -6),
        (-3, 0, "slide-", 2),
        (5, 0, "stick", -5),
        (0, -1, "slide-", 2),
    ):
        (branch,) = select(dynamics, State([0.0], [speed]), parameters={"P": P}).branches
        assert (branch.mode.label, branch.lambda_T["brake"]) == (label, pytest.approx((force,)))
    found = region_map(dynamics, axes=[Axis.parse("P=-9.9:9.9:100"), Axis.parse("x=0:1:2")], pins={"x_dot": 0})
    assert found.mode_fractions == pytest.approx({"slide+": 0.2, "slide-": 0.4, "stick": 0.4}, abs=0.011)  # a cell
    location = build_automaton(dynamics).location("slide-")
    F, k = (dynamics.model.parameters[name] for name in "Fk")
    assert sympy.simplify(location.forces["lambda_T"] - F / 2 / (1 + k)) == 0
    motion = simulate(dynamics, State([0.0], [3.0]), t_end=1.6)  # (-4 - 6)/2 = -5 to t = 0.6, (-4 + 2)/2 = -1 for 1 s
    assert (motion.q[0], motion.energy().friction) == (pytest.approx(0.9 - 0.5), pytest.approx(-6 * 0.9 - 2 * 0.5))
    slopes = sensitivity(motion, Functional(terminal="x"), ["k"]).gradient
    # x = 9/(2 a) - b (1.6 - 3/a)^2/2 with a = 2 + 1.5/(1 - k), b = 2 - 1.5/(1 + k): a' = 6, b' = 2/3
    assert slopes["k"] == pytest.approx(-4.5 / 25 * 6 - (2 / 3) / 2 - 1 * (3 / 25) * 6)
    with pytest.raises(StateError, match="has no unilateral contact"):
        compare(dynamics, State([0.0], [3.0]))


def test_what_tells_the_two_limits_apart_is_written_once():
    package = pathlib.Path(hybrid.__file__).parent
    texts = {file.relative_to(package).as_posix(): file.read_text(encoding="utf-8") for file in package.rglob("*.py")}
    naming = {file for file, text in texts.items() if "reverse_limit" in text}
    assert naming == {"declaration/fields.py", "declaration/parts.py", "declaration/shapes.py"}
    reading = {file for file, text in texts.items() if "element.limits" in text}
    assert reading == {"declaration/mechanism.py", "declaration/shapes.py", "dynamics/equations.py"}
