"""Guards fire where the verdict changes, and the edges hold what the verdict then says."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid.automaton import IMPACT, GuardKind
from hybrid.contact import Verdict, classify, select
from hybrid.dynamics import State, solve_states
from tests.hybrid.automaton.machines import automaton_of, dynamics_of, random_states

STEPS = 4000


def consistent(found, label):
    if label not in found.labels:
        return np.zeros(found.modes.shape, dtype=bool)
    return (found.modes >> np.uint64(found.labels.index(label))) & np.uint64(1) == 1


def path(random, slip, mu):
    """A straight path of states of the rod in contact, in posture and rate of turning."""
    phi = np.linspace(*random.uniform(0.05, 3.1, 2), STEPS)
    omega = np.linspace(*random.uniform(-3, 3, 2), STEPS)
    return solve_states(dynamics_of("rod_on_incline"), {"phi": phi, "phi_dot": omega, "slip.tip": slip}, parameters=mu)


@pytest.mark.parametrize(("slip", "labels"), [("0", ["stick"]), ("1", ["slide+"]), ("-1", ["slide-"])])
@pytest.mark.parametrize("mu", [0.6, 1.5, 2.5])
def test_a_mode_starts_or_ends_on_a_path_exactly_where_a_guard_passes_zero(slip, labels, mu):
    rod, automaton = dynamics_of("rod_on_incline"), automaton_of("rod_on_incline")
    random = np.random.default_rng(5)
    changes = 0
    for _ in range(12):
        parameters = {"mu": mu, "epsilon": 0.3}
        states = path(random, slip, parameters)
        found = classify(rod, states, parameters=parameters)
        for label in labels:
            fits = consistent(found, label)
            signs = []
            for guard in automaton.location(label).guards:
                if guard.kind is not GuardKind.SLIP:
                    signs.append(np.sign(guard(states.q, states.v, parameters=parameters)) >= 0)
            expected = np.any([sign[1:] != sign[:-1] for sign in signs], axis=0)
            flips = fits[1:] != fits[:-1]
            # whatever starts or ends the mode is a guard
            assert not (flips & ~expected).any()
            # while a mode lasts no guard passes zero (a step may hide two crossings)
            assert np.sum(fits[1:] & fits[:-1] & expected) <= 1
            changes += int(flips.sum())
    assert changes > 3


@pytest.mark.parametrize("mu", [0.5, 1.2, 1.6, 3.0])
def test_edges_hold_every_verdict_after_slip_has_stopped(mu):
    # Arrivals at rest: the sliding rod decelerates, and at zero slip the verdict picks the next mode.
    rod, automaton = dynamics_of("rod_on_incline"), automaton_of("rod_on_incline")
    random, parameters = np.random.default_rng(9), {"mu": mu, "epsilon": 0.4}
    pins = {"phi": random.uniform(0.05, 3.1, 4000), "phi_dot": random.uniform(-4, 4, 4000), "slip.tip": 0}
    states = solve_states(rod, pins, parameters=parameters)
    found = classify(rod, states, parameters=parameters)
    for label, sign in (("slide+", 1), ("slide-", -1)):
        location = automaton.location(label)
        acceleration = location.vector_field(states.q, states.v, parameters=parameters)
        terms = rod.terms(states.q, states.v, parameters=parameters)
        a_T = np.sum(acceleration * terms.W_T[..., 0], axis=-1) + terms.zeta_T[..., 0]
        release = next(guard for guard in location.guards if guard.kind is GuardKind.RELEASE)
        arrives = (release(states.q, states.v, parameters=parameters) > 1e-6) & (sign * a_T < -1e-6)
        taken = {key for key in automaton.mode_keys() if consistent(found, key)[arrives].any()}
        if (arrives & (found.verdict == 3)).any():
            taken.add(IMPACT)  # no mode is consistent
        edges = [edge for edge in automaton.successors(label) if str(edge.guard.kind) == "slip"]
        assert taken <= {edge.target for edge in edges}
        if mu < 4 / 3:  # below the least critical friction of the uniform rod every verdict is unique
            assert taken == {edge.target for edge in edges if edge.is_regular}
        if mu == 3.0:
            # at rest some mode is always consistent (Pang and Trinkle 1996)
            assert taken == {edge.target for edge in edges} - {IMPACT}


def test_release_of_the_sliding_rod_frees_it_or_ends_in_a_paradox_by_the_sign_of_A():
    rod, automaton = dynamics_of("rod_on_incline"), automaton_of("rod_on_incline")
    parameters = {"mu": 2.0}
    release, _, singular = automaton.location("slide-").guards
    # b = -g + l omega^2 sin(phi) passes zero at omega = 1/sqrt(sin(phi))
    for phi in (0.6, 0.9, 1.4, 2.0):
        omega = 1 / np.sqrt(np.sin(phi)) + np.array([-1e-3, 1e-3])
        states = solve_states(rod, {"phi": phi, "phi_dot": omega, "slip.tip": -1}, parameters=parameters)
        force = release(states.q, states.v, parameters=parameters)
        A = float(np.ravel(singular(states.q, states.v, parameters=parameters))[0])
        found = classify(rod, states, parameters=parameters)
        names = [{key for key in ("free", "slide-") if consistent(found, key)[i]} for i in (0, 1)]
        if A > 0:
            assert force[0] > 0 > force[1]
            assert names == [{"slide-"}, {"free"}]
        else:
            assert force[0] < 0 < force[1]
            assert names == [set(), {"free", "slide-"}]  # the force falls to zero backwards in this list: impact
    targets = {edge.target for edge in automaton.successors("slide-") if edge.guard is release}
    assert targets == {"free", IMPACT}


@pytest.mark.parametrize("name", ["ladder_in_corner", "rod_two_ends"])
def test_edges_hold_every_verdict_of_two_contacts_after_one_has_stopped(name):
    automaton, dynamics = automaton_of(name), dynamics_of(name)
    checked = 0
    for state in random_states(name, seed=21, count=60):
        selection = select(dynamics, state, parameters={"mu": 0.9})
        if selection.verdict not in (Verdict.UNIQUE, Verdict.INDETERMINATE):
            continue
        resting = [element for element in selection.problem.elements if element.is_resting]
        slipping = {c.name: c.direction[0] for c in selection.problem.elements if not c.is_resting}
        if len(resting) != 1:
            continue
        contact = resting[0].name
        for sign, slide in ((1, "slide+"), (-1, "slide-")):
            before = dict.fromkeys(dynamics.contacts, "free")
            before |= {other: "slide+" if s > 0 else "slide-" for other, s in slipping.items()}
            before[contact] = slide
            key = ",".join(f"{other}={label}" for other, label in before.items())
            arriving = select(dynamics, State(state.q, state.v, state.t, {contact: sign}), parameters={"mu": 0.9})
            slides_in = [branch for branch in arriving.branches if branch.mode.label == key]
            if not slides_in or sign * slides_in[0].contact_acceleration[contact].tangential[0] >= 0:
                continue  # this slip does not come to rest here
            edges = automaton.successors(key)
            targets = {e.target for e in edges if e.guard.kind is GuardKind.SLIP and e.guard.contact == contact}
            assert {branch.mode.label for branch in selection.branches} <= targets
            checked += 1
    assert checked > 3


def test_static_friction_holds_until_its_own_cone():
    automaton = automaton_of("block_on_incline")
    mu_s = 0.6
    alpha = np.arctan(mu_s) + np.array([-1e-6, 1e-6])
    cone = automaton.location("stick").guards[1]
    assert str(cone.kind) == "cone+"
    values = [float(cone(np.zeros(2), np.zeros(2), parameters={"alpha": a, "mu_s": mu_s})) for a in alpha]
    assert values[0] > 0 > values[1]
