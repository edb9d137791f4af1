"""Modes of many motions at ties, against the full verdict at every state and against single motions."""

import numpy as np

from hybrid import State, Verdict, ensemble, simulate, solve_state, solve_states
from hybrid.contact.selection import select_in_floats
from hybrid.declaration import mechanism_from_toml
from hybrid.dynamics import derive
from hybrid.motion import Settings
from hybrid.motion.recorded import Termination
from hybrid.motion.together.fleet import ENDINGS, NOWHERE, Stage
from hybrid.motion.together.following import Starts, follow_together
from tests.catalogue import dynamics_of

T_END = 0.2

# A rod that is pushed onto a board by a force on its upper end: at rest it may stick on the edge of its cone while the
# free rod would leave the board, which a rod that its own weight holds cannot.
CHALK = """
name = "chalk"
title = "Chalk pressed on a board"
coordinates = ["x", "y", "phi"]

[parameters]
F = 1
m = 1
l = 1
mu = 1

[dynamics]
kinetic = "m*(x_dot**2 + y_dot**2)/2 + m*l**2*phi_dot**2/6"
potential = "F*(y + l*sin(phi))"

[[contact]]
name = "tip"
gap = "y - l*sin(phi)"
tangent = "x - l*cos(phi)"
friction = "mu"
"""


def at_the_edge_of_the_cone(chalk, n):
    """Angles and rates of chalk that rests on its tip, and the friction that just holds it there."""
    phi, phi_dot = np.random.default_rng(1).uniform((0.1, -3.0), (3.0, 3.0), (n, 2)).T
    states = solve_states(chalk, {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0})
    terms = chalk.terms(states.q, states.v)
    W = np.concatenate([np.broadcast_to(item, (n, 3, 1)) for item in (terms.W_N, terms.W_T)], axis=-1)
    zeta = np.concatenate([np.broadcast_to(item, (n, 1)) for item in (terms.zeta_N, terms.zeta_T)], axis=-1)
    along, h = np.swapaxes(W, -1, -2), np.broadcast_to(terms.h, (n, 3))
    c = (along @ np.linalg.solve(terms.M, h[..., None]))[..., 0] + zeta
    normal, tangential = np.linalg.solve(along @ np.linalg.solve(terms.M, W), -c[..., None])[..., 0].T
    mu = np.abs(tangential / normal)
    kept = (normal > 0.01) & (mu > 0.05) & (mu < 5.0)
    return phi[kept], phi_dot[kept], mu[kept]


def test_ties_are_decided_as_the_full_verdict_says():
    chalk = derive(mechanism_from_toml(CHALK))
    phi, phi_dot, mu = at_the_edge_of_the_cone(chalk, 14_000)
    states = solve_states(chalk, {"phi": phi, "phi_dot": phi_dot, "slip.tip": 0}, parameters={"mu": mu})
    fleet = follow_together(chalk, Starts(states, {"mu": mu}), t_end=T_END, law=None, settings=Settings())
    lanes, _, _, before, _ = fleet.log.table()
    first = fleet.mode.copy()
    first[lanes[::-1]] = before[::-1]
    followed = {Verdict.UNIQUE: 0, Verdict.UNDECIDED: 0}
    for k in np.flatnonzero(fleet.stage == Stage.ENDED).tolist():
        own = chalk.at({"mu": float(mu[k])})
        state = State(states.q[k], states.v[k])
        found = select_in_floats(own, state)
        if first[k] == NOWHERE:
            assert ENDINGS[fleet.termination[k]] is Termination[found.verdict.name], k
            continue
        mode = fleet.modes[first[k]]
        assert found.verdict in followed, k
        assert any(mode in (branch.mode, *branch.equivalent_modes) for branch in found.branches), k
        followed[found.verdict] += len(found.branches) > 1 or found.verdict is Verdict.UNIQUE
        if k % 25 == 0:
            assert simulate(own, state, t_end=T_END).arcs[0].mode == mode, k
    # those that are UNDECIDED have another branch: the free rod leaves the board, whatever becomes of the tie
    assert min(followed.values()) > 100, followed
    singled_out = fleet.stage == Stage.SINGLED_OUT
    assert np.count_nonzero(singled_out & (fleet.t > 0.0)) < 0.02 * len(phi)
    for k in np.flatnonzero(singled_out & (fleet.t == 0.0))[::25].tolist():  # several modes last along their own flows
        own = chalk.at({"mu": float(mu[k])})
        state = State(states.q[k], states.v[k])
        assert simulate(own, state, t_end=T_END).termination is Termination.UNDECIDED, k


def check_events(found, k, dynamics, t_end):
    state = solve_state(dynamics, dict(zip(found.names, found.starts[k].tolist(), strict=True)))
    motion = simulate(dynamics, state, t_end=t_end, settings=Settings(rtol=1e-9))
    expected = [(e.kind.name, None if e.mode_after is None else e.mode_after.label) for e in motion.events]
    log, own = found.log, np.flatnonzero(found.log.motion == k)
    named = [(log.kinds[log.kind[e]], None if log.mode[e] < 0 else log.modes[log.mode[e]]) for e in own.tolist()]
    assert named == expected, k
    np.testing.assert_allclose(log.t[own], [event.t for event in motion.events], rtol=0.0, atol=1e-7 * t_end)


def test_flows_are_tried_by_accurate_steps():
    # small chalk under a large force: what the rates at a start tell of the first step is a hundred times too long
    values = {"m": 0.01, "l": 0.04, "F": 2.0, "mu": 1.2}
    chalk = derive(mechanism_from_toml(CHALK)).at(values)
    ranges = {"phi": (1.0, 1.6), "phi_dot": (-3.0, 3.0), "slip.tip": (-1.0, 1.0)}
    found = ensemble(chalk, vary=ranges, n=300, seed=1, t_end=0.02, rtol=1e-9)
    assert not found.singled_out
    for k in range(0, 300, 5):
        check_events(found, k, chalk, 0.02)


def test_rods_leave_where_rounding_lets_them_slide_on():
    # of these three the normal force, where it vanishes, is more than the tolerance of a sign away from zero
    rod = dynamics_of("rod_on_incline")
    ranges = {"phi": (0.15, 3.0), "phi_dot": (-1.5, 1.5), "slip.tip": (-1.0, 1.0)}
    found = ensemble(rod, vary=ranges, n=15_000, seed=1, t_end=1.0, rtol=1e-9)
    assert "a verdict that needs more than the signs of one step" not in found.singled_out
    for k in (1228, 6549, 12165):
        check_events(found, k, rod, 1.0)
