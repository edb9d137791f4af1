"""Slip in a plane: where it begins, turns and ends."""

import math
from functools import partial

import attrs
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, Verdict, derive, select, simulate
from hybrid.contact import select_problem
from hybrid.motion import EventKind, selecting, simulate_branches

G = 9.81


def puck(
    *, kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential=f"{G}*z", friction="0.5", tangent=("x", "y"), **forces
):
    return derive(
        Mechanism(
            name="puck",
            coordinates=["x", "y", "z"],
            dynamics=EnergyDynamics(kinetic=kinetic, potential=potential),
            forces=forces,
            contact=[Contact(name="plane", gap="z", tangent=list(tangent), friction=friction)],
        )
    )


@pytest.mark.parametrize("heading", [0.3, math.pi / 2, 3.0])
@pytest.mark.parametrize("mu", [0.45, 0.6, 3.0])
def test_a_slip_that_turns_ends_where_the_closed_form_says(heading, mu):
    # On a plane inclined by b, with f = mu g cos b, a = g sin b and the angle h of the velocity from the line of fall,
    # d/dt [s (f + a cos h)] = a^2 - f^2: the slip s, turning as 1/s, ends at s0 (f + a cos h0)/(f^2 - a^2).
    f, a = mu * G * math.cos(0.4), G * math.sin(0.4)
    stop = (f + a * math.cos(heading)) / (f**2 - a**2)
    body = puck(potential=f"{G}*(z*cos(0.4) - x*sin(0.4))", friction=str(mu))
    start = State([0.0, 0.0, 0.0], [math.cos(heading), math.sin(heading), 0.0])
    motion = simulate(body, start, t_end=stop + 1.0)
    assert [event.kind for event in motion.events] == [EventKind.SLIP_END]
    assert motion.events[0].t == pytest.approx(stop, rel=1e-11)
    assert not motion.v.any()
    assert abs(motion.energy().residual) < 1e-9


@pytest.mark.parametrize("angle", [0.0, math.pi / 4, 2.0])
def test_a_push_that_grows_breaks_the_contact_away_in_its_own_direction(angle):
    # |push| = t exceeds the limit L = mu g at t = L; then v = (t - L)^2/2 along the push
    body = puck(x=f"t*{math.cos(angle)!r}", y=f"t*{math.sin(angle)!r}")
    limit = 0.5 * G
    motion = simulate(body, State([0.0] * 3, [0.0] * 3, 4.0), t_end=6.0)
    assert [(event.kind, event.t) for event in motion.events] == [
        (EventKind.SLIP_START, pytest.approx(limit, rel=1e-12))
    ]
    exact = (6.0 - limit) ** 2 / 2 * np.array([math.cos(angle), math.sin(angle)])
    # Radau's method with a relative error of 1e-9 follows the beginning
    assert motion.v[:2] == pytest.approx(exact, abs=1e-8)
    assert motion.termination is Termination.END_TIME


@pytest.mark.parametrize("push", [4.906, 5.0, 8.0])
def test_a_constant_push_above_the_limit_starts_the_slip_at_once(push):
    body = puck(x=str(0.6 * push), y=str(0.8 * push))
    motion = simulate(body, State([0.0] * 3, [0.0] * 3), t_end=2.0)
    assert not motion.events
    assert motion.v[:2] == pytest.approx((push - 0.5 * G) * 2.0 * np.array([0.6, 0.8]), abs=1e-8)
    friction = motion.forces(motion.arcs[0], np.array([0.0, 1.0])).lambda_T.T
    assert friction == pytest.approx(-0.5 * G * np.array([[0.6, 0.8], [0.6, 0.8]]), abs=1e-6)


def test_a_slip_that_begins_and_turns_follows_the_limit_of_small_slips():
    # Unequal inertias along x and y turn the slip after it has begun. Second road: scipy's Radau from a slip of 1e-7
    # in the direction of the push, which forgets the difference as slip/1e-7.
    body = puck(kinetic="(x_dot**2 + 5*y_dot**2 + z_dot**2)/2", x="2*t", y="3*t")
    limit = 0.5 * G
    begins = limit / math.hypot(2, 3)
    motion = simulate(body, State([0.0] * 3, [0.0] * 3), t_end=3.0)
    assert [(event.kind, event.t) for event in motion.events] == [
        (EventKind.SLIP_START, pytest.approx(begins, rel=1e-12))
    ]

    def rates(t, v):
        size = math.hypot(*v)
        return [2 * t - limit * v[0] / size, (3 * t - limit * v[1] / size) / 5]

    first = 1e-7 * np.array([2, 3]) / math.hypot(2, 3)
    found = solve_ivp(rates, (begins, 3.0), first, method="Radau", rtol=1e-10, atol=1e-14).y[:, -1]
    assert motion.v[:2] == pytest.approx(found, abs=1e-6)


@pytest.mark.parametrize(
    ("angle", "turning", "belt", "gain"),
    [
        (0.7, 0.0, (0.6, 0.1), 0.0),  # by steps that do not converge, undecided
        (5.1, -3.0, (0.6, 0.1), 0.0),  # crowded
        (0.595, 2.0, (1.804, -0.827), 0.3),  # ended and begun anew seven times
        (2.368, 0.5, (0.508, -0.003), 0.3),
    ],
)
def test_a_slip_begins_on_a_moving_belt_as_it_does_on_a_floor(angle, turning, belt, gain):
    # The push t u + c (t - L) n, n normal to u, exceeds L = mu g at t = L with the excess t - L, and turns from then
    # on; a belt that gains speed needs as much more along x. Second road: scipy's Radau for the slip alone, from 1e-9
    # along u, which is forgotten as slip/1e-9.
    limit, u = 0.5 * G, np.array([math.cos(angle), math.sin(angle)])
    normal = np.array([-u[1], u[0]])
    push = [f"t*({a!r}) + ({turning})*(t - {limit})*({b!r})" for a, b in zip(u.tolist(), normal.tolist(), strict=True)]
    tangent = [f"x - ({belt[0]})*t - {gain}*t**2/2", f"y - ({belt[1]})*t"]
    body = puck(x=f"{push[0]} + {gain}", y=push[1], tangent=tangent)
    motion = simulate(body, State([0.0] * 3, [belt[0] + 4.0 * gain, belt[1], 0.0], 4.0), t_end=6.0)
    assert motion.termination is Termination.END_TIME
    assert [event.kind for event in motion.events] == [EventKind.SLIP_START]
    assert motion.events[0].t == pytest.approx(limit, rel=1e-12)
    assert [arc.mode.label for arc in motion.arcs] == ["stick", "slide"]  # it does not end and begin anew

    def rates(t, slip):
        return t * u + turning * (t - limit) * normal - limit * slip / math.hypot(*slip)

    slip = solve_ivp(rates, (limit, 6.0), 1e-9 * u, method="Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    # a relative error of 1e-9 of both
    assert motion.v[:2] == pytest.approx([belt[0] + 6.0 * gain + slip[0], belt[1] + slip[1]], abs=1e-8)


def test_a_slip_that_turns_by_more_than_a_right_angle_in_a_step_goes_on():
    # so little friction that the integrator sees constant accelerations and takes long steps
    body = puck(friction="1e-14", y="1")
    motion = simulate(body, State([0.0] * 3, [0.01, -1.0, 0.0]), t_end=50.0)
    assert not motion.events
    assert motion.v[:2] == pytest.approx([0.01, 49.0], rel=1e-12)
    assert motion.q[:2] == pytest.approx([0.5, 1200.0], rel=1e-12)


def test_sticking_slipping_and_sticking_again_under_a_push_that_goes_round():
    # |push| = 6 exp(-(t-2)^2) turns once in 5 s; second road: time-stepping, of first order in the step
    size, turn = "6*exp(-(t - 2)**2)", "2*pi*t/5"
    body = puck(x=f"{size}*cos({turn})", y=f"{size}*sin({turn})")
    state = State([0.0] * 3, [0.0] * 3)
    motion = simulate(body, state, t_end=4.0)
    assert [event.kind for event in motion.events] == [EventKind.SLIP_START, EventKind.SLIP_END]
    begins = 2 - math.sqrt(math.log(6 / (0.5 * G)))
    assert motion.events[0].t == pytest.approx(begins, abs=1e-11)
    errors = []
    for step in (4e-3, 1e-3):
        stepped = simulate(body, state, t_end=4.0, method="time-stepping", step=step)
        errors.append(np.abs(stepped.q - motion.q).max())
        assert [arc.mode.label for arc in stepped.arcs] == ["stick", "slide", "stick"]
    assert errors[1] < 1e-3 * np.abs(motion.q).max() + 5e-6
    assert errors[1] < errors[0] / 2


def test_of_two_directions_in_which_a_slip_may_begin_the_unstable_one_is_not_followed():
    # Coupled inertias at rest, mu = 3.21: free, and sliding in two directions. Second road: friction against the angle
    # h gives the slip acceleration A(h) = W_T^T M^-1 (F + (W_N - mu W_T d) lambda_N) by hand; both directions are
    # zeros of its lateral part, and where that grows with h the slip turns away.
    M = np.array([[0.85, -1.01, 0.52], [-1.01, 1.76, -0.51], [0.52, -0.51, 2.27]])
    F, mu = np.array([-0.68, -2.59, -0.61]), 3.21

    def slip_acceleration(angle):
        column = np.array([-mu * math.cos(angle), -mu * math.sin(angle), 1.0])
        free, response = np.linalg.solve(M, F), np.linalg.solve(M, column)
        return free - response * free[2] / response[2]

    def lateral(angle):
        x, y, _ = slip_acceleration(angle)
        return math.cos(angle) * y - math.sin(angle) * x

    kinetic = " + ".join(f"({M[i, j]})*{a}_dot*{b}_dot/2" for i, a in enumerate("xyz") for j, b in enumerate("xyz"))
    body = puck(kinetic=kinetic, potential=f"-({F[0]})*x - ({F[1]})*y - ({F[2]})*z", friction=str(mu))
    tree = simulate_branches(body, State([0.0] * 3, [0.0] * 3), t_end=0.1)
    assert tree.is_complete
    slides = [branch for branch in tree.leaves if branch.choice.startswith("slide")]
    assert len(tree.leaves) == 3
    assert len(slides) == 2
    for branch in slides:
        angle = math.radians(float(branch.choice.split()[-2]))
        assert abs(lateral(angle)) < 1e-4  # the angle is printed with six digits
        if lateral(angle + 0.01) > lateral(angle - 0.01):
            assert branch.motion.termination is Termination.NOT_COMPUTED
            assert "unstable" in branch.motion.cause
        else:
            assert branch.motion.v == pytest.approx(0.1 * slip_acceleration(angle), abs=1e-5)
    assert {branch.motion.termination for branch in slides} == {Termination.NOT_COMPUTED, Termination.END_TIME}


def two_pucks(first, second):
    """Two pucks of unit mass side by side, mu = 0.2 and 0.1, each pushed by a force in the plane."""
    names = [f"{axis}{puck}" for puck in "ab" for axis in "xyz"]
    forces = dict(zip(["xa", "ya", "xb", "yb"], [*first, *second], strict=True))
    kinetic = " + ".join(f"{name}_dot**2/2" for name in names)
    contacts = [
        Contact(name=puck, gap=f"z{puck}", tangent=[f"x{puck}", f"y{puck}"], friction=friction)
        for puck, friction in (("a", "0.2"), ("b", "0.1"))
    ]
    dynamics = EnergyDynamics(kinetic=kinetic, potential=f"{G}*(za + zb)")
    return derive(Mechanism(name="pucks", coordinates=names, dynamics=dynamics, forces=forces, contact=contacts))


def test_of_two_contacts_at_rest_each_breaks_away_when_its_own_push_does_it():
    # at the limit no proof tells sticking from sliding, and their accelerations are the same
    pucks = two_pucks(("0.6*t", "0.8*t"), ("0", "0.3*t"))
    motion = simulate(pucks, State(np.zeros(6), np.zeros(6)), t_end=4.0)
    assert motion.termination is Termination.END_TIME
    times = [0.2 * G, 0.1 * G / 0.3]
    assert [event.elements for event in motion.events] == [("a",), ("b",)]
    assert [event.t for event in motion.events] == pytest.approx(times, abs=1e-12)
    ways = [rate * (4.0 - t) ** 3 / 6 for rate, t in zip((1.0, 0.3), times, strict=True)]
    expected = [0.6 * ways[0], 0.8 * ways[0], 0, 0, ways[1], 0]
    assert motion.q == pytest.approx(expected, abs=1e-9)  # what integration is asked for


def test_a_state_that_is_not_decided_is_not_said_to_have_no_mode(monkeypatch):
    at_once = partial(select_problem, cover_budget=0.0)
    monkeypatch.setattr(selecting, "select_problem", at_once)
    motion = simulate(two_pucks(("3", "0"), ("0", "0")), State(np.zeros(6), np.zeros(6)), t_end=1.0)
    assert motion.termination is Termination.UNDECIDED
    assert "of the cover are left open" in motion.cause


@pytest.mark.parametrize(
    ("verdict", "is_exhaustive", "ending"),
    [
        (Verdict.UNDECIDED, True, Termination.END_TIME),
        (Verdict.UNDECIDED, False, Termination.UNDECIDED),
        # of two motions history may leave one, which is not the only one if others were not excluded
        (Verdict.INDETERMINATE, True, Termination.END_TIME),
        (Verdict.INDETERMINATE, False, Termination.INDETERMINATE),
    ],
)
def test_one_motion_of_a_state_that_may_have_others_is_not_followed(monkeypatch, verdict, is_exhaustive, ending):
    def open_(problem, **how):
        found = select_problem(problem, **how)
        return attrs.evolve(found, verdict=verdict, is_exhaustive=is_exhaustive)

    monkeypatch.setattr(selecting, "select_problem", open_)
    assert simulate(two_pucks(("0", "0"), ("0", "0")), State(np.zeros(6), np.zeros(6)), t_end=1.0).termination is ending


def test_a_search_that_leaves_parts_open_says_that_there_may_be_other_motions():
    # that with a spent budget finds no branch, and a tie, of which everything else is refuted, one
    ramp = two_pucks(("0.2*9.81", "0"), ("0", "0"))
    tie, spent = (select(ramp, State(np.zeros(6), np.zeros(6)), cover_budget=budget) for budget in (2, 0))
    assert (tie.verdict, spent.verdict) == (Verdict.UNDECIDED, Verdict.UNDECIDED)
    assert (len(tie.branches), tie.is_exhaustive) == (1, True)
    assert (len(spent.branches), spent.is_exhaustive) == (0, False)


@pytest.mark.parametrize(("slip", "is_exhaustive"), [(-1.0, False), (1.0, True)])
def test_a_tie_beside_a_slide_that_any_force_solves_leaves_other_motions(slip, is_exhaustive):
    # a puck at its limit, and a planar contact without load whose A_s is (4 +- 4)/3: at 0 every force holds z''
    names = ["xa", "ya", "za", "xb", "yb", "zb", "x", "z"]
    kinetic = " + ".join(f"{name}_dot**2/2" for name in names) + " + x_dot*z_dot/2"
    contacts = [
        *(Contact(name=puck, gap=f"z{puck}", tangent=[f"x{puck}", f"y{puck}"], friction="0.2") for puck in "ab"),
        Contact(name="c", gap="z", tangent="x", friction="2"),
    ]
    dynamics = EnergyDynamics(kinetic=kinetic, potential=f"{G}*(za + zb)")
    forces = {"xa": "0.2*9.81"}
    pucks = derive(Mechanism(name="pucks", coordinates=names, dynamics=dynamics, forces=forces, contact=contacts))
    found = select(pucks, State(np.zeros(8), np.array([0, 0, 0, 0, 0, 0, slip, 0])))
    assert (found.verdict, found.is_exhaustive) == (Verdict.UNDECIDED, is_exhaustive)


@pytest.mark.parametrize("y_dot", [-1.9995, -2.0, -2.0005])
@pytest.mark.parametrize("mass", [1 - 1e-5, 1.0, 1 + 1e-5])
def test_a_slip_that_ends_on_a_bumpy_slope_is_not_said_to_jam(y_dot, mass):
    # A_s is within 2 % of 1 in every direction; where the slip vanishes its direction is what integration leaves of it
    ball = derive(
        Mechanism(
            name="ball", coordinates=["x", "y", "z", "a", "b"], parameters={"m": mass},
            dynamics=EnergyDynamics(
                kinetic="m*(x_dot**2 + y_dot**2 + z_dot**2)/2 + 0.002*m*(a_dot**2 + b_dot**2)",
                potential="m*9.81*(z*cos(0.2) - x*sin(0.2))",
            ),
            contact=[
                Contact(
                    name="floor", gap="z - 0.1 - 0.05*sin(x)", tangent=["x - 0.1*b", "y + 0.1*a"],
                    friction="0.15*(1 + 0.5*sin(3*x))",
                )
            ],
        )
    )  # fmt: skip
    start = State([0.0, 0.0, 0.1, 0.0, 0.0], [1.0, y_dot, 0.05, 5.0, 30.0])
    motion = simulate(ball, start, t_end=0.5)
    assert motion.termination is Termination.END_TIME
    assert [event.kind for event in motion.events] == [EventKind.SLIP_END]
