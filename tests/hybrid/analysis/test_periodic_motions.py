"""Periodic motions through impacts and stick-slip: multipliers, windows of stability, and what stops a continuation."""

import re

import attrs
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid import (
    ArgumentError,
    ComputationError,
    Contact,
    DeclarationError,
    EnergyDynamics,
    Mechanism,
    State,
    StateError,
    continue_periodic,
    derive,
    periodic_motion,
    simulate,
)
from hybrid.contact import NewtonImpact
from hybrid.motion import Termination
from tests.catalogue import dynamics_of

UNIT = {"g": 1, "Omega": 1, "e": 0.5}
SHIFT = 1.3  # start of the period, away from the impact
# Near the cycle of the woodpecker, in free flight after the beak has struck.
PECKING = State([0.0, 0.103, 0.073], [-0.107, -2.32, 16.93])
NEWTON = NewtonImpact()


def bounce(gamma, e, *, phase_sign=1.0, t=SHIFT):
    """State of the bounce of period one at the time t, and its phase; g = Omega = 1 (Holmes 1982).

    The ball leaves at the phase with the velocity pi and comes back with -pi; the table moves with (1-e)/(1+e) pi.
    """
    phase = phase_sign * np.arccos(np.pi * (1 - e) / (1 + e) / gamma)
    flight = t - phase
    return State([gamma * np.sin(phase) + np.pi * flight - flight**2 / 2], [np.pi - flight], t)


def multipliers_of_the_bounce(gamma, e):
    """By hand: their product is e^2, their sum (1 + e^2) - (1 + e)^2 gamma sin(phase)."""
    lowest = np.pi * (1 - e) / (1 + e)
    total = 1 + e**2 - (1 + e) ** 2 * np.sqrt(gamma**2 - lowest**2)
    return np.roots([1, -total, e**2])


@pytest.mark.parametrize("gamma", [1.06, 1.2, 1.5, 1.54])
def test_multipliers_of_the_bounce_on_a_vibrating_table(gamma):
    start = bounce(gamma, 0.5)
    nearby = State(start.q + 1e-4, start.v - 1e-4, start.t)
    found = periodic_motion(
        dynamics_of("ball_on_vibrating_table"),
        nearby,
        period="2*pi/Omega",
        law=NEWTON,
        parameters=UNIT | {"Gamma": gamma},
    )
    assert found.state.q == pytest.approx(start.q, abs=1e-10)
    assert found.period == pytest.approx(2 * np.pi, abs=1e-15)
    expected = sorted(multipliers_of_the_bounce(gamma, 0.5), key=lambda value: (-abs(value), value.imag))
    assert sorted(found.multipliers, key=lambda value: (-abs(value), value.imag)) == pytest.approx(expected, abs=1e-8)
    assert found.is_stable == (gamma < 1.5268237)
    if gamma == 1.2:  # between the limits they are a complex pair of modulus e
        assert np.abs(found.multipliers) == pytest.approx([0.5, 0.5], abs=1e-10)


def test_window_of_stability_of_the_bounce():
    # from a fold at pi (1 - e)/(1 + e) to a flip at sqrt(that^2 + 4 ((1 + e^2)/(1 + e)^2)^2) (Holmes 1982)
    lowest = np.pi / 3
    highest = np.sqrt(lowest**2 + 4 * (1.25 / 2.25) ** 2)
    assert (lowest, highest) == pytest.approx((1.0471976, 1.5268237), abs=5e-8)
    table, parameters = dynamics_of("ball_on_vibrating_table"), UNIT | {"Gamma": 1.2}
    options = {"parameter": "Gamma", "period": "2*pi/Omega", "law": NEWTON, "parameters": parameters}
    up = continue_periodic(table, bounce(1.2, 0.5), to=1.6, **options)
    assert [change.kind for change in up.changes] == ["flip"]
    assert up.changes[0].value == pytest.approx(highest, abs=1e-8)
    assert up.values[-1] == 1.6
    assert not up.motions[-1].is_stable
    down = continue_periodic(table, bounce(1.2, 0.5), to=1.0, **options)
    assert [change.kind for change in down.changes] == ["fold"]
    assert down.changes[0].value == pytest.approx(lowest, abs=1e-8)
    assert "folds back" in down.ending
    # beyond the fold the branch is the other bounce, with the phase negative
    value, other = down.values[-1], down.motions[-1]
    assert other.state.q == pytest.approx(bounce(value, 0.5, phase_sign=-1.0).q, abs=1e-8)
    assert not other.is_stable


def test_period_that_depends_on_the_parameter():
    # in units of the table's own time the bounce only knows Gamma: the multipliers do not change with Omega
    table = dynamics_of("ball_on_vibrating_table")
    found = continue_periodic(
        table,
        bounce(1.2, 0.5),
        parameter="Omega",
        to=1.05,
        period="2*pi/Omega",
        law=NEWTON,
        parameters=UNIT | {"Gamma": 1.2},
    )
    assert found.motions[-1].period == pytest.approx(2 * np.pi / 1.05, abs=1e-12)
    expected = np.sort_complex(multipliers_of_the_bounce(1.2, 0.5))
    assert np.sort_complex(found.motions[-1].multipliers) == pytest.approx(expected, abs=1e-8)


def test_woodpecker_pecks_periodically():
    # published 0.1452 s (Leine, Glocker and Van Campen 2001), by small time steps of two laws 0.1460 s; drop 0.01945 m
    toy = dynamics_of("woodpecker")
    found = periodic_motion(toy, PECKING, period=0.146, section="phi_M - 0.103", drift=["y"], law=NEWTON)
    assert found.residual < 1e-11
    assert found.period == pytest.approx(0.1460, rel=5e-3)
    assert found.period == pytest.approx(0.1452, rel=1e-2)
    assert found.drift["y"] == pytest.approx(-0.01945, rel=5e-3)
    assert found.is_stable
    # the sleeve sticks, so that all but one direction is forgotten
    assert np.abs(found.multipliers[1:]) == pytest.approx(np.zeros(3), abs=1e-10)
    # a simulation tends to it: the deviations of the periods shrink by the largest multiplier each time
    start = State([0, -0.1034482758, -0.2788], [-0.3411, 0, -7.4583])
    motion = simulate(toy, start, t_end=1.2, law=NEWTON)
    pecks = np.array([event.t for event in motion.events if event.elements == ("beak",)])
    deviations = np.diff(pecks) - found.period
    ratios = deviations[1:] / deviations[:-1]
    # the deviations alternate and the second order of one cancels most of that of the next
    assert np.sqrt(ratios[-1] * ratios[-2]) == pytest.approx(-found.multipliers[0].real, abs=2e-3)


@pytest.mark.long
def test_multipliers_do_not_depend_on_where_the_period_is_cut():
    toy = dynamics_of("woodpecker")
    cycle = periodic_motion(toy, PECKING, period=0.146, section="phi_M - 0.103", drift=["y"], law=NEWTON)
    ring = simulate(toy, cycle.state, t_end=cycle.period, law=NEWTON)
    for share in (0.25, 0.5, 0.75):  # in flight, sliding and sticking
        q, v = ring.sample(share * cycle.period)
        found = periodic_motion(
            toy, State(q, v), period=cycle.period, section=f"phi_S - ({q[2]})", drift=["y"], law=NEWTON
        )
        assert found.period == pytest.approx(cycle.period, abs=1e-10)
        assert found.multipliers[0] == pytest.approx(cycle.multipliers[0], abs=1e-8)


def test_stick_slip_cycle_on_a_belt():
    # slip and stick phases by hand, with m = 1, k = 4, belt speed 0.15, mu P = 0.8 and mu_s P = 1.2
    block = dynamics_of("block_on_belt")
    speed = 0.15
    slip = 2 * (np.pi - np.arctan((1.2 - 0.8) * 2 / (4 * speed))) / 2
    period = slip + 2 * (1.2 - 0.8) / 4 / speed
    assert period == pytest.approx(3.5476308, abs=1e-7)
    start = State([0.15, 0.0], [speed, 0.0])  # it sticks from x = 0.1 to 0.3
    found = periodic_motion(block, start, period=3.5, section="x - 0.15")
    assert found.period == pytest.approx(period, abs=1e-10)
    # it sticks: every change of the slip phase is forgotten, and what is left is the phase itself
    assert found.multipliers == pytest.approx(np.zeros(len(found.multipliers)), abs=1e-10)


def test_vibrations_without_damping_change_no_stability():
    # x'' + x = cos(w t) has the motion cos(w t)/(1 - w^2), with the multipliers exp(+-2 pi i/w) for every w
    oscillator = Mechanism(
        name="undamped",
        coordinates=["x"],
        parameters={"w": 1.7},
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/2"),
        forces={"x": "cos(w*t)"},
    )
    start = State([1 / (1 - 1.7**2)], [0.0])
    found = continue_periodic(derive(oscillator), start, parameter="w", to=1.9, period="2*pi/w")
    assert found.values[-1] == pytest.approx(1.9)
    assert found.changes == ()
    for w, motion in zip(found.values, found.motions, strict=True):
        expected = np.exp(2j * np.pi / w * np.array([-1, 1]))
        assert sorted(motion.multipliers, key=np.imag) == pytest.approx(sorted(expected, key=np.imag), abs=1e-8)
        assert not motion.is_stable


def test_continuation_ends_where_the_motion_grazes():
    # a ceiling above the bounce is touched by its top when the bounce has grown to it
    from hybrid import Contact, EnergyDynamics, Mechanism, derive

    room = derive(
        Mechanism(
            name="room",
            coordinates=["y"],
            parameters={"g": 1, "Gamma": 1.2, "e": 0.5, "H": 6.0},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="g*y"),
            contact=[
                Contact(name="floor", gap="y - Gamma*sin(t)", restitution="e"),
                Contact(name="ceiling", gap="H - y", restitution="e"),
            ],
        )
    )
    found = continue_periodic(
        room, bounce(1.2, 0.5), parameter="H", to=5.0, period=2 * np.pi, law=NEWTON, parameters={}
    )
    # the top is gamma sin(phase) + pi^2 / 2
    top = 1.2 * np.sin(np.arccos(np.pi / 3 / 1.2)) + np.pi**2 / 2
    assert found.values[-1] == pytest.approx(top, abs=1e-4)
    assert "graz" in found.ending


def test_bad_input():
    table, start = dynamics_of("ball_on_vibrating_table"), bounce(1.2, 0.5)
    options = {"period": "2*pi/Omega", "law": NEWTON, "parameters": UNIT}
    with pytest.raises(StateError, match="cannot drift"):
        periodic_motion(table, start, drift=["y"], **options)
    with pytest.raises(StateError, match="no parameter 'Gama'"):
        continue_periodic(table, start, parameter="Gama", to=2, **options)
    with pytest.raises(ComputationError, match="closer guess"):  # it falls: no velocity returns
        periodic_motion(dynamics_of("bouncing_ball"), State([100.0], [0.0]), period=0.1)


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (State([0.0, 1.0], [0.0]), r"^guess: .* shape \(1,\), not \(2,\) and \(1,\)"),
        (State([0.0], [np.nan]), "^guess: a state must be finite"),
    ],
)
def test_a_guess_that_is_no_state_is_refused_before_anything_is_followed(guess, message):
    table = dynamics_of("ball_on_vibrating_table")
    with pytest.raises(StateError, match=message):
        periodic_motion(table, guess, period=1, law=NEWTON)
    with pytest.raises(StateError, match=message):
        continue_periodic(table, guess, parameter="Gamma", to=2, period=1, law=NEWTON)


@pytest.mark.parametrize(
    ("period", "error", "message"),
    [
        (0, ArgumentError, "^period must be positive and finite, not 0$"),
        (-1.0, ArgumentError, "^period must be positive and finite, not -1.0$"),
        ("-2*pi/Omega", ArgumentError, r"not '-2\*pi/Omega', which is -6.28319$"),
        ("y", DeclarationError, r"^period \(column 1\): unknown name 'y'"),
        ("2*t", DeclarationError, r"^period \(column 3\): unknown name 't'"),
    ],
)
def test_a_period_is_a_positive_number_made_of_parameters(period, error, message):
    with pytest.raises(error, match=message):
        periodic_motion(dynamics_of("ball_on_vibrating_table"), bounce(1.2, 0.5), period=period, parameters=UNIT)


def test_a_start_that_newtons_method_tried_is_not_taken_for_the_guess():
    # The motion leaves the wall at x = -1 and is not back after 2 pi. Until it is, x_ddot = -x/10 + cos(t) is linear,
    # and Newton's step leads to its one motion of that period, -cos(t)/0.9, which begins within the wall, as do all
    # starts on the way there down to the shortest share that is tried.
    shortest = 0.5**7
    wall = derive(
        Mechanism(
            name="wall",
            coordinates=["x"],
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/20"),
            forces={"x": "cos(t)"},
            contact=[Contact(name="stop", gap="x + 1", restitution="1/2")],
        )
    )
    found = periodic_motion(wall, State([-1 + 1e-4], [3.0]), period="2*pi", law=NEWTON)
    gap = 1e-4 + shortest * (1 - 1 / 0.9 - 1e-4)
    assert found.reason.startswith("Newton's method tried the start q = [-1.000")
    assert f"'stop' penetrates at the start: gap = {gap:.4g}"[:-1] in found.reason


@pytest.mark.parametrize(
    ("to", "ending"),
    [(2.0, "just beyond, .*must lie between 0 and 1"), pytest.param(1.0, "e = 1 was reached", marks=pytest.mark.long)],
)
def test_a_branch_ends_where_the_declaration_allows_no_value_beyond(to, ending):
    # Up to e = 1, where the table does not move as the ball leaves it: the phase is pi/2.
    found = continue_periodic(
        dynamics_of("ball_on_vibrating_table"),
        bounce(1.2, 0.5, t=3.0),
        parameter="e",
        to=to,
        period="2*pi/Omega",
        law=NEWTON,
        parameters=UNIT | {"Gamma": 1.2},
    )
    assert re.search(ending, found.ending)
    assert found.values[-1] == pytest.approx(1.0, abs=1e-6 if to > 1 else 1e-15)  # the shortest step, or rounding
    assert found.motions[-1].state.q == pytest.approx(bounce(1.2, 1.0, t=3.0).q, abs=1e-6)
    assert np.prod(found.motions[-1].multipliers).real == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"to": np.inf}, "to must be a finite number, not inf"),
        ({"to": np.nan}, "to must be a number, not nan"),
        ({"max_points": 0}, "max_points must be at least 1, not 0"),
    ],
)
def test_how_far_a_branch_goes_is_finite(asked, message):
    with pytest.raises(ArgumentError, match=message):
        continue_periodic(
            dynamics_of("ball_on_vibrating_table"),
            bounce(1.2, 0.5),
            **{"parameter": "Gamma", "to": 1.3, "period": "2*pi/Omega", **asked},
        )


def oscillator(force, **parameters):
    return derive(
        Mechanism(
            name="oscillator",
            coordinates=["x"],
            parameters=parameters,
            dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="x**2/2"),
            forces={"x": force},
        )
    )


@pytest.mark.parametrize(
    ("asked", "reason"),
    [({"period": 3.3, "section": "x_dot - 0.2"}, "depend on time"), ({"period": 2.0}, "is not the same 2 later")],
)
def test_what_closes_once_under_another_period_of_the_load_is_not_periodic(asked, reason):
    driven = oscillator("-0.1*x_dot + cos(2*t)")
    with pytest.raises(ComputationError, match=reason):
        periodic_motion(driven, State([-0.3], [0.2]), **asked)


@pytest.mark.parametrize("multiple", [1, 3])
def test_multiples_of_the_period_of_a_load_are_periods(multiple):
    driven = oscillator("-0.1*x_dot + F*cos(W*t)", F=1, W=2)
    found = periodic_motion(driven, State([-0.3], [0.2]), period=f"{multiple}*2*pi/W")
    # x = a cos 2t + b sin 2t: -3 a + 0.2 b = 1, -3 b - 0.2 a = 0
    assert found.state.q[0] == pytest.approx(-3 / 9.04, abs=1e-9)
    assert np.abs(found.multipliers) == pytest.approx([np.exp(-0.05 * multiple * np.pi)] * 2, abs=1e-8)


def test_a_load_of_no_strength_leaves_a_section_to_fix_the_period():
    damped = oscillator("0.5*(1 - x**2)*x_dot + F*cos(3*t)", F=0)
    found = periodic_motion(damped, State([2.0], [0.0]), period=6.4, section="x_dot")
    again = simulate(damped, found.state, t_end=2 * found.period)
    assert again.q == pytest.approx(found.state.q, abs=1e-8)


@pytest.mark.parametrize("damping", [0.02, -0.3])
def test_an_equilibrium_is_no_periodic_motion(damping):
    with pytest.raises(ComputationError, match="an equilibrium has no period"):
        periodic_motion(oscillator(f"0.6 - {damping}*x_dot"), State([0.1], [0.0]), period=6.5, section="x_dot")


def test_a_section_that_the_motion_touches_is_refused():
    with pytest.raises(ComputationError, match="touches the section"):
        periodic_motion(oscillator("0"), State([1.0], [0.0]), period=2 * np.pi, section="x - 1")


@pytest.mark.parametrize(
    "load", ["sin(2*pi*t) + 1e6*max(0, cos(pi*(t - 0.5)) - 0.99999)", "sqrt(1.0000001 - (t - 0.5)**2)"]
)
def test_a_pulse_of_another_period_and_a_load_that_ends_are_seen(load):
    driven = oscillator(f"-x_dot + {load}")
    with pytest.raises(ComputationError, match="is not the same 1 later"):
        periodic_motion(driven, State([0.0], [0.0]), period=1)


def test_a_period_is_one_at_late_times_too():
    found = periodic_motion(oscillator("-0.1*x_dot + cos(3*t)"), State([0.0], [0.0], 1e5), period="2*pi/3")
    # modulus of the response: 1/|1 - 9 + 0.3i|
    assert np.hypot(found.state.q[0], found.state.v[0] / 3) == pytest.approx(1 / np.hypot(8, 0.3), abs=1e-8)


@pytest.mark.parametrize("last", [0, 1])
def test_an_interrupt_while_a_motion_is_followed_is_no_statement_about_it(monkeypatch, last):
    starts = []

    def interrupted(*arguments, **options):
        starts.append(arguments[1].t)
        found = simulate(*arguments, **options)
        late = starts[-1] > 0.0
        return attrs.evolve(found, termination=Termination.INTERRUPTED) if late >= last else found

    monkeypatch.setattr("hybrid.analysis.sensitivities.shooting.simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        periodic_motion(oscillator("-0.1*x_dot + cos(2*t)"), State([-0.3], [0.2]), period="pi")
    assert len(set(starts)) == 1 + last


def test_a_coordinate_far_away_hides_nothing_of_the_others():
    """Van der Pol's oscillator, whose period SciPy finds, beside a cart that rests at 1e7."""

    def turning(_, y):
        return y[1]

    turning.direction = -1
    alone = solve_ivp(
        lambda _, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]],
        (0, 80),
        [2, 0],
        "DOP853",
        events=turning,
        rtol=1e-13,
        atol=1e-13,
    )
    times = alone.t_events[0]
    pair = derive(
        Mechanism(
            name="pair",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="(x**2 + (y - 1e7)**2)/2"),
            forces={"x": "(1 - x**2)*x_dot", "y": "-y_dot"},
        )
    )
    found = periodic_motion(pair, State([2.0, 1e7], [0.0, 0.0]), period=6.6, section="x_dot")
    assert found.period == pytest.approx(times[-1] - times[-2], abs=1e-10)


def test_a_multiplier_that_crosses_the_circle_below_a_larger_one_is_reported():
    """Moduli exp(0.05 pi) and exp(-p pi/2): the second pair crosses at p = 0."""
    pair = derive(
        Mechanism(
            name="pair",
            coordinates=["x", "y"],
            parameters={"p": 0.05},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="(x**2 + 1.5*y**2)/2"),
            forces={"x": "0.1*x_dot + cos(2*t)", "y": "-p*y_dot + cos(2*t)"},
        )
    )
    branch = continue_periodic(pair, State([-0.3, -0.4], [0.0, 0.0]), parameter="p", to=-0.05, period="pi")
    assert [change.kind for change in branch.changes] == ["torus"]
    assert branch.changes[0].value == pytest.approx(0.0, abs=1e-6)
