"""Rules where the rigid problem has no or several answers: the compliant limit, every branch, a preference."""

import itertools

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, Verdict, derive, simulate, solve_state
from hybrid.contact import (
    AbstractImpactLaw,
    EnergeticImpact,
    KelvinVoigt,
    KelvinVoigtLimit,
    Outcome,
    PoissonImpact,
    resolve,
    resolve_impact,
    select_problem,
)
from hybrid.declaration import mechanism_from_toml
from hybrid.errors import ComputationError
from hybrid.motion import EventKind, Penalty, Prefer, selecting, simulate_branches
from hybrid.reporting import motion_record

JAMMING = {"g": 10, "mu": 5 / 3}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def continued(rod, motion, index, *, t_end, **options):
    """A separate simulation from the state after an event."""
    event = motion.events[index]
    start = State(event.q, event.v_after, event.t)
    return simulate(rod, start, t_end=t_end, parameters=motion.parameters, **options)


def test_penalty_rule_passes_an_inconsistent_state_by_an_impact_without_collision(rod):
    parameters = {"mu": 1.5, "delta": 0.25}
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters=parameters)
    motion = simulate(rod, start, t_end=0.1, parameters=parameters, rule=Penalty())
    passage = motion.events[0]
    assert (passage.t, passage.kind.value, passage.elements) == (0.0, "impact without collision", ("tip",))
    assert passage.impact.slip_after["tip"][0] == pytest.approx(0, abs=1e-12)
    assert passage.impact.energy_change < 0
    assert (motion.termination, passage.mode_after.label) == (Termination.END_TIME, "free")
    # second road: the limit law applied by hand, then a simulation that knows of no rule
    by_hand = resolve_impact(rod, start, law=KelvinVoigtLimit(), parameters=parameters)
    np.testing.assert_allclose(passage.v_after, by_hand.v_after, atol=1e-14)
    after = continued(rod, motion, 0, t_end=0.1)
    assert after.events == ()
    np.testing.assert_allclose([motion.q, motion.v], [after.q, after.v], atol=1e-12)
    # a rod in flight: closed form, with unit gravity and mass
    assert motion.q[1] == pytest.approx(start.q[1] + by_hand.v_after[1] * 0.1 - 0.005, abs=1e-12)
    # the limit of closed form for undamped contacts (Genot and Brogliato 1999 notation), G of a uniform rod
    undamped = simulate(rod, start, t_end=0.01, parameters=parameters | {"delta": 0}, rule=Penalty())
    c, s = np.cos(2.0), np.sin(2.0)
    G_NN, G_NT, G_TT = 1 + 3 * c * c, -3 * s * c, 1 + 3 * s * s
    p, q, p_minus, q_minus = G_NN - 1.5 * G_NT, G_NT - 1.5 * G_TT, G_NN + 1.5 * G_NT, G_NT + 1.5 * G_TT
    rebound = np.sqrt(p * (p_minus - p) / (q * (q_minus - q)))
    assert undamped.events[0].impact.gap_dot_after["tip"] == pytest.approx(rebound, rel=1e-12)


def test_penalty_rule_takes_the_branch_that_lifts_off_where_several_are_consistent(rod):
    parameters = {"mu": 1.5, "delta": 0.25}
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters=parameters)
    motion = simulate(rod, start, t_end=0.02, parameters=parameters, rule=Penalty())
    assert [event.mode_after.label for event in motion.events] == ["free"]
    assert motion.v[1] == pytest.approx(start.v[1] - 0.02, abs=1e-13)


def jamming_start(rod):
    # Glocker 1995, section 5.3.4: m = l = 1, g = 10, mu = 5/3, from 31 degrees with 30 m/s
    return solve_state(rod, {"phi": np.radians(31), "phi_dot": 0, "x_dot": -30}, parameters=JAMMING)


def test_penalty_rule_passes_the_singular_point_of_genot_and_brogliato(rod):
    start = jamming_start(rod)
    stopped = simulate(rod, start, t_end=1, parameters=JAMMING)
    assert stopped.termination is Termination.SINGULAR
    motion = simulate(rod, start, t_end=1, parameters=JAMMING, rule=Penalty())
    assert motion.termination is Termination.END_TIME
    [passage] = motion.events
    assert passage.kind.value == "impact without collision"
    assert passage.t == pytest.approx(0.8145497, abs=1e-7)
    assert (passage.mode_before.label, passage.mode_after.label) == ("slide-", "free")
    # By hand at 45 degrees, G = [[5/2, 3/2], [3/2, 5/2]]: A = 5/2 - (5/3)(3/2) = 0, and the slip of 9.333111 is
    # stopped at the rate (5/3)(5/2) - 3/2 = 8/3 per impulse. It is taken over 2e-8 before the singular point, where
    # the force of 3.8e3 has yet to give an impulse of 1e-4, so the slip is that much larger.
    impulse = 9.333111 / (8 / 3)
    assert passage.impact.impulse_N["tip"] == pytest.approx(impulse, abs=5e-4)
    assert passage.impact.impulse_T["tip"][0] == pytest.approx(5 / 3 * impulse, abs=1e-3)
    assert passage.impact.slip_after["tip"][0] == pytest.approx(0, abs=1e-12)
    assert passage.impact.gap_dot_after["tip"] == 0.0
    # the velocity before, from the closed form of the point, plus M^-1 W P
    before = np.array([-11.992259, 3.7606031 * np.cos(np.pi / 4), 3.7606031])
    lever = 3 * impulse * np.array([5 / 3, -1]) @ [np.sin(np.pi / 4), np.cos(np.pi / 4)]
    expected = before + np.array([5 / 3 * impulse, impulse, lever])
    np.testing.assert_allclose(passage.v_after, expected, atol=2e-3)
    after = continued(rod, motion, 0, t_end=1)
    np.testing.assert_allclose([motion.q, motion.v], [after.q, after.v], atol=1e-11)


FORCED = {"l": 0.745, "g": 0.821, "alpha": 2.232, "mu": 1.9576, "om": 1.584, "cT": -0.2236, "cx": 0.1268, "kt": -0.205}


@pytest.mark.parametrize("rule", ["stop", Penalty()], ids=["stop", "penalty"])
def test_a_force_that_stays_bounded_where_the_mobility_vanishes_ends_the_motion(rule):
    rod = derive(
        Mechanism(
            name="forced_rod",
            coordinates=["x", "y", "theta"],
            parameters=FORCED,
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + theta_dot**2*l**2/alpha)/2", potential="g*y + kt*theta**2/2"
            ),
            forces={"theta": "cT*sin(om*t) - cx*theta_dot", "x": "-cx*x_dot"},
            contact=[Contact(name="tip", gap="y - l*sin(theta)", tangent="x + l*cos(theta)", friction="mu")],
        )
    )
    start = solve_state(rod, {"x": 0, "theta": 0.2051, "theta_dot": -0.8743, "slip.tip": -3.212})
    motion = simulate(rod, start, t_end=1.1, **({} if rule == "stop" else {"rule": rule}))
    assert motion.termination is Termination.SINGULAR
    assert "beyond bounds" not in motion.cause and "no unique continuation" in motion.cause
    # By hand, with J = L^2/alpha and the turning moment T: A falls at the rate k, b = w_N T/J + L s w^2 - g changes by
    # r per unit of force and by p without it, so that b = p A/(r - k) once A^(r/k) has died out.
    (L, _, alpha, mu, om, cT, cx, kt), (theta, w) = FORCED.values(), (motion.q[2], motion.v[2])
    c, s, J = np.cos(theta), np.sin(theta), L * L / alpha
    assert 1 + alpha * c * c + mu * alpha * s * c == pytest.approx(0, abs=1e-6)
    k = (2 * alpha * c * s - mu * alpha * np.cos(2 * theta)) * w
    by_w = 2 * L * s * w + cx * L * c / J
    T = cT * np.sin(om * motion.t) - cx * w - kt * theta
    r = by_w * (-L * c - mu * L * s) / J
    p = (
        (L * s * T / J + L * c * kt / J + L * c * w * w) * w
        - L * c * cT * om * np.cos(om * motion.t) / J
        + by_w * T / J
    )
    assert r / k > 1.05
    shown = float(motion.cause.split("tends to ")[1].split(";")[0])
    assert shown == pytest.approx(-p / (r - k), rel=1e-3)  # four digits are shown


def test_contacts_of_growing_stiffness_stop_the_slip_at_the_singular_point_and_rebound_less_and_less(rod):
    stopped = simulate(rod, jamming_start(rod), t_end=1, parameters=JAMMING)
    t = stopped.arcs[-1].end - 0.01
    state = State(*stopped.arcs[-1].sample(t), t)
    rebounds, slips = [], []
    for stiffness in (1e4, 1e6, 1e8):
        course = KelvinVoigt(stiffness=stiffness).pass_through(rod.at(JAMMING), state, horizon=1e5)
        assert course.has_separated
        assert [kind for kind, _ in course.phases] == ["slide-", "stick", "slide+"]
        slips.append(course.slip_after["tip"][0])
        rebounds.append(course.gap_dot_after["tip"])
    # of the moment before release, in which friction no longer holds the load: it shrinks with 1/sqrt(K) at least
    assert slips[0] > 10 * slips[1] > 10**2 * slips[2] > 0
    # the limit is 0; slowly, because the mobility vanishes there
    assert rebounds[0] > 1.3 * rebounds[1] > 1.3**2 * rebounds[2] > 0


@pytest.mark.parametrize("rule", ["stop", Penalty()], ids=["stop", "penalty"])
def test_a_force_that_grows_too_fast_ends_the_slip_before_the_mobility_vanishes(rule):
    """Two links, the second one light: the force grows like ``A_s^-1.09``, and its impulse would have no bound."""
    l1, l2, m1, m2, mu = 0.716, 0.607, 1.832, 1.157, 2.863
    a, b, c = m1 * l1**2 / 3 + m2 * l1**2, m2 * l1 * l2 / 2, m2 * l2**2 / 3
    arm = mechanism_from_toml(
        f"""
name = "arm"
coordinates = ["q1", "q2"]
[dynamics]
kinetic = "{a}*q1_dot**2/2 + {b}*cos(q1 - q2)*q1_dot*q2_dot + {c}*q2_dot**2/2"
[forces]
q1 = "-14.56066908*cos(q1) - 4.777*(q1 - 0.257) - 0.626*q1_dot"
q2 = "-3.444776595*cos(q2) - 0.026*(q2_dot - q1_dot)"
[[contact]]
name = "tip"
gap = "0.8 + {l1}*sin(q1) + {l2}*sin(q2)"
tangent = "{l1}*cos(q1) + {l2}*cos(q2)"
friction = "{mu}"
"""
    )
    arm = derive(arm)
    start = solve_state(arm, {"q2": -0.18611715648724672, "slip.tip": 4.949})
    motion = simulate(arm, start, t_end=0.1, **({} if rule == "stop" else {"rule": rule}))
    said = motion.cause if rule == "stop" else "".join(event.note for event in motion.events)
    assert "the slip ends just before A_s reaches zero" in said
    assert "like A_s" not in said
    q1, q2 = motion.q
    M = np.array([[a, b * np.cos(q1 - q2)], [b * np.cos(q1 - q2), c]])
    W_N, W_T = np.array([l1 * np.cos(q1), l2 * np.cos(q2)]), np.array([-l1 * np.sin(q1), -l2 * np.sin(q2)])
    A = W_N @ np.linalg.solve(M, W_N - mu * W_T)
    assert 0 < A < 1e-4 * (W_N @ np.linalg.solve(M, W_N))
    if rule != "stop":
        assert motion.arcs[-1].mode.label == "stick"
        np.testing.assert_allclose(motion.v, 0, atol=1e-9)


def test_poissons_law_gives_back_its_share_at_the_singular_point(rod):
    start = jamming_start(rod)
    motion = simulate(rod, start, t_end=0.9, parameters=JAMMING | {"e": 0.5}, rule=Penalty(PoissonImpact()))
    impact = motion.events[0].impact
    # P_c = v0/(8/3), and e P_c in sticking with A_S = 5/2 - (3/2)^2/(5/2) = 8/5
    assert impact.impulse_N["tip"] == pytest.approx(1.5 * 9.333111 / (8 / 3), abs=1e-3)
    assert impact.gap_dot_after["tip"] == pytest.approx(0.5 * 9.333111 / (8 / 3) * 8 / 5, abs=1e-3)


def test_a_passage_shows_in_the_record_with_its_kind_and_phases(rod):
    motion = simulate(rod, jamming_start(rod), t_end=1, parameters=JAMMING, rule=Penalty(EnergeticImpact()))
    [event] = motion_record(motion)["events"]
    assert event["kind"] == "impact without collision"
    assert "grows like A_s^" in event["note"]
    assert event["impact"]["law"] == "energetic"
    assert [phase["kind"] for phase in event["impact"]["phases"]] == ["slide-", "stick"]
    compliant = simulate(
        rod,
        solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5}),
        t_end=0.1,
        parameters={"mu": 1.5, "delta": 0.25},
        rule=Penalty(),
    )
    impact = motion_record(compliant)["events"][0]["impact"]
    assert impact["law"] == "kelvin-voigt"
    # the impact without collision departs from rest, which takes the fast time for ever
    assert impact["phases"][0] == {"kind": "slide+", "duration": None}
    assert 0 < impact["phases"][1]["duration"] < 10


def test_tree_follows_every_consistent_mode(rod):
    parameters = {"mu": 1.5}
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters=parameters)
    start = attrs.evolve(start, t=3.0)
    tree = simulate_branches(rod, start, t_end=3.02, parameters=parameters)
    assert tree.is_complete
    graph = tree.graph()
    edges = {data["choice"]: (number, data["t"]) for _, number, data in graph.edges(data=True)}
    assert {choice: t for choice, (_, t) in edges.items()} == {"free": 3.0, "slide+": 3.0}
    for choice, (number, _) in edges.items():
        # second road: a motion that prefers this mode
        chosen = simulate(rod, start, t_end=3.02, parameters=parameters, rule=Prefer((choice,)))
        motion = graph.nodes[number]["motion"]
        assert (graph.nodes[number]["termination"], motion.arcs[0].mode.label) == ("END_TIME", choice)
        np.testing.assert_allclose([motion.q, motion.v], [chosen.q, chosen.v], atol=1e-13)
    gaps = {branch.choice: rod.kinematics(branch.motion.q, branch.motion.v)["gap"][0] for branch in tree.leaves}
    assert gaps["free"] > 1e-5
    assert abs(gaps["slide+"]) < 1e-12
    bounded = simulate_branches(rod, start, t_end=3.02, parameters=parameters, max_branches=2)
    assert not bounded.is_complete
    assert len(bounded.branches) == 2


@pytest.mark.parametrize("more", [{"is_exhaustive": False}, {"continua": ("motions between the two",)}])
def test_a_tree_whose_choice_has_motions_that_are_not_listed_is_not_complete(rod, monkeypatch, more):
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters={"mu": 1.5})

    def open_(problem, **how):
        return attrs.evolve(select_problem(problem, **how), **more)

    monkeypatch.setattr(selecting, "select_problem", open_)
    tree = simulate_branches(rod, start, t_end=0.001, parameters={"mu": 1.5})
    assert len(tree.leaves) == 2 and not tree.is_complete


def test_preference_names_modes_in_order_and_declines_a_draw(rod):
    parameters = {"mu": 1.5}
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters=parameters)

    def followed(*modes):
        return simulate(rod, start, t_end=0.01, parameters=parameters, rule=Prefer(modes))

    assert followed("free").arcs[0].mode.label == "free"
    assert followed("stick", "slide+").arcs[0].mode.label == "slide+"
    assert followed("stick", "free", "slide+").arcs[0].mode.label == "free"
    assert followed("stick").termination is Termination.INDETERMINATE


def test_penalty_and_resolve_leave_a_contact_at_rest_with_several_modes_to_the_user():
    # free, sticking and sliding are consistent, but nothing slips yet: no separatrix tells which side it is on
    G = np.array([[2.0, 1.8], [1.8, 2.0]])
    M = np.linalg.inv(G)
    wedge = derive(
        Mechanism(
            name="wedge",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(
                kinetic=f"({M[0, 0]}*x_dot**2 + {M[1, 1]}*y_dot**2)/2 + ({M[0, 1]})*x_dot*y_dot", potential="y - 3*x"
            ),
            contact=[Contact(name="tip", gap="y", tangent="x", friction="5")],
        )
    )
    start = State([0, 0], [0, 0])
    resolution = resolve(wedge, start)
    assert (resolution.outcome, resolution.selection.verdict) == (Outcome.UNRESOLVED, Verdict.INDETERMINATE)
    motion = simulate(wedge, start, t_end=0.1, rule=Penalty())
    assert motion.termination is Termination.INDETERMINATE
    assert motion.t == 0.0


def test_penalty_does_what_resolve_says_on_and_off_the_paradoxes(rod):
    # unit mass, length and gravity, inertia m l^2/3, at a slip of 1: A = 1 + 3 c (c + mu s), b = s w^2 - 1
    seen = set()
    for phi, turning in itertools.product((1.2, 1.9, 2.0, 2.1), (0.0, 1.5)):
        parameters = {"mu": 1.5}
        start = solve_state(rod, {"phi": phi, "phi_dot": turning, "slip.tip": 1}, parameters=parameters)
        s, c = np.sin(phi), np.cos(phi)
        A, b = 1 + 3 * c * (c + 1.5 * s), s * turning**2 - 1
        wanted = {
            (True, True): Outcome.PERSISTS,
            (True, False): Outcome.PERSISTS,
            (False, True): Outcome.LIFT_OFF,
            (False, False): Outcome.IMPACT_WITHOUT_COLLISION,
        }[bool(A > 0), bool(b > 0)]
        resolution = resolve(rod, start, parameters=parameters)
        motion = simulate(rod, start, t_end=1e-3, parameters=parameters, rule=Penalty())
        assert resolution.outcome is wanted
        first = motion.events[0] if motion.events else None
        if wanted is Outcome.PERSISTS:
            assert first is None or first.kind not in (EventKind.CHOICE, EventKind.PASSAGE)
        elif wanted is Outcome.LIFT_OFF:
            assert (first.t, first.kind, first.mode_after.label) == (0.0, EventKind.CHOICE, "free")
        else:
            assert (first.t, first.kind) == (0.0, EventKind.PASSAGE)
            assert first.v_after == pytest.approx(resolution.impact.v_after, abs=1e-12)
        seen.add(wanted)
    assert len(seen) == 3


def test_a_state_to_which_every_choice_leads_back_is_offered_once(rod):
    start = {"phi": 2, "phi_dot": 1.3, "slip.tip": 1}
    tree = simulate_branches(rod, start, t_end=0.3, parameters={"mu": 1.5})
    assert tree.is_complete
    # sliding ends where lifting off hangs on a sign; taking it, the contact closes again in the same instant
    held = tree.branches[-1]
    before = tree.branches[held.parent].motion
    assert before.termination is Termination.UNDECIDED
    # b falls through zero where A < 0, so that nothing is consistent behind; a last bit decides whether
    # that is found at once, or when the gap, of third order in time, has fallen by what is resolved: (6e-16)^(1/3) s
    assert held.motion.termination in (Termination.UNDECIDED, Termination.INCONSISTENT)
    assert held.motion.t == pytest.approx(before.t, abs=1e-5)
    assert [branch.choice for branch in tree.branches] == ["", "free", "slide+", "free"]


GUIDED = """
name = "guided"
coordinates = ["x", "y", "phi"]
[parameters]
m = 0.5
l = 0.25
I = "m*l**2/3"
g = 9.81
[definitions]
tip_x = "x - l*cos(phi)"
tip_y = "y - l*sin(phi)"
[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2"
potential = "m*g*y"
[[constraint]]
name = "drive"
equation = "x + l*cos(phi) - 0.05*sin(12*t)"
[[constraint]]
name = "guide"
equation = "y + l*sin(phi) - 0.4"
friction = 0.4
slip = "x_dot - l*sin(phi)*phi_dot"
[[contact]]
name = "tip"
gap = "tip_y"
tangent = "tip_x"
friction = 0.9
"""


def test_a_motion_says_why_the_penalty_rule_does_not_resolve_its_end():
    guided = derive(mechanism_from_toml(GUIDED))
    start = solve_state(guided, {"t": 0})
    stopped, asked = (simulate(guided, start, t_end=0.6, rule=rule) for rule in (None, Penalty()))
    assert stopped.termination is asked.termination is Termination.INCONSISTENT
    # the drive turns, and with it the slip of the tip vanishes, at a quarter of its period
    assert stopped.t == asked.t == pytest.approx(np.pi / 24, abs=1e-9)
    reason = resolve(guided, State(asked.q, asked.v * 0, asked.t)).reason
    assert "gives no impulse" in reason
    assert asked.cause == f"{stopped.cause}: the rule penalty finds no motion: {reason}"


def test_a_motion_says_that_the_law_of_the_penalty_rule_has_no_answer(rod):
    class Locked(AbstractImpactLaw):
        """Stands for a limit that does not end, which takes long to find out."""

        @property
        def name(self):
            return "locked"

        def impulses(self, problem):
            raise ComputationError("friction locks the mechanism")

    # the motion has not begun, and is there nevertheless
    parameters = {"mu": 1.5}
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters=parameters)
    stopped, asked = (simulate(rod, start, t_end=1, parameters=parameters, rule=r) for r in (None, Penalty(Locked())))
    assert (asked.termination, asked.t, asked.events) == (Termination.INCONSISTENT, 0.0, ())
    assert asked.cause == f"{stopped.cause}: the rule penalty finds no motion: friction locks the mechanism"
