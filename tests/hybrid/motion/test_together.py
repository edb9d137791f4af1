"""Motions followed side by side against those of single calls, closed forms and functions with known zeros."""

import numpy as np
import pytest

from hybrid import (
    Contact,
    EnergyDynamics,
    FrictionElement,
    Mechanism,
    Mode,
    Settings,
    derive,
    ensemble,
    simulate,
    solve_state,
)
from hybrid.analysis.ensemble_chunks import FEW
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.activity import element_names
from hybrid.expressions import Builder, Term
from hybrid.motion.flow import make_flow
from hybrid.motion.steps import N_COEFFICIENTS
from hybrid.motion.together.descents import first_descent
from hybrid.motion.together.fleet import distinct_columns
from hybrid.motion.together.flows import flow_of
from hybrid.motion.together.lanes import lane_program, prepared
from tests.catalogue import dynamics_of

# ranges of pins, other pins, the time, and whether a law of impacts is given
CASES = {
    "rod_on_incline": ({"phi": (0.15, 3.0), "phi_dot": (-1.5, 1.5), "slip.tip": (-1, 1)}, {}, 8.0),
    "two_carts": ({"q1": (0.05, 2), "q2": (-1.5, 1.5), "q1_dot": (-1, 1), "q2_dot": (-1, 1)}, {}, 6.0),
    "ladder_in_corner": (
        {"theta": (0.3, 1.3), "theta_dot": (-1, 1)},
        {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0},
        1.5,
    ),
    "rod_two_ends": (
        {"phi": (-0.2, 0.8), "gap.left": (0.35, 0.6), "x_dot": (-1, 1), "y_dot": (-1, 1), "phi_dot": (-1, 1)},
        {"x": 0},
        4.0,
    ),
    "double_pendulum_over_floor": (
        {"theta1": (0.6, 1.2), "theta2": (-1.5, 1.5), "theta1_dot": (-1, 1), "theta2_dot": (-1, 1)},
        {},
        2.5,
    ),
    "woodpecker": (
        {"phi_M": (-0.1, 0.1), "phi_S": (-0.3, 0.05), "y_dot": (-0.3, 0), "phi_M_dot": (-5, 5), "phi_S_dot": (-5, 5)},
        {"y": 0},
        0.2,
    ),
}
WITHIN = {"rod_on_incline": 0.05, "two_carts": 0.05}  # share that may be handed over; 0.2 of the others
FINE = 1e-12
ENERGETIC = EnergeticImpact()


def followed(name, n, *, shift=0.0, law=ENERGETIC, rtol=FINE, seed=7):
    ranges, pins, t_end = CASES[name]
    drawn = np.random.default_rng(seed).random((n, len(ranges)))
    starts = {pin: a + drawn[:, k] * (b - a) + shift for k, (pin, (a, b)) in enumerate(ranges.items())}
    return ensemble(dynamics_of(name), starts=starts, pins=pins, t_end=t_end, law=law, rtol=rtol)


def single(name, found, k, *, law=ENERGETIC, rtol=FINE):
    _, pins, t_end = CASES[name]
    start = solve_state(dynamics_of(name), {**pins, **dict(zip(found.names, found.starts[k].tolist(), strict=True))})
    return simulate(dynamics_of(name), start, t_end=t_end, law=law, settings=Settings(rtol=rtol))


def events_of(found, k):
    log = found.log
    own = np.flatnonzero(log.motion == k)
    return log.t[own], [
        (log.kinds[log.kind[e]], None if log.mode[e] < 0 else log.modes[log.mode[e]]) for e in own.tolist()
    ]


def by_its_gap(name, event):
    """How much later an impact is if the contact is so much farther away: the inverse of its speed."""
    if event.impact is None:
        return 0.0
    rates = dynamics_of(name).terms(event.q, event.v_before, t=event.t).gap_dot
    return 1.0 / float(np.max(-rates))


def check_is_that_of_single_calls(name, n, compared):
    found, shifted = followed(name, n), followed(name, n, shift=1e-7)
    started = [k for k in range(n) if found.termination[k] != "NOT_STARTED"]
    assert sum(found.singled_out.values()) <= WITHIN.get(name, 0.2) * n
    assert set(found.singled_out).isdisjoint({f"fewer than {FEW} motions"})
    n_events = []
    for k in started[:compared]:
        motion = single(name, found, k)
        times, named = events_of(found, k)
        own = [(e.kind.name, None if e.mode_after is None else e.mode_after.label) for e in motion.events]
        assert named == own, k
        assert found.termination[k] == motion.termination.name
        n_events.append(len(own))
        late, same = events_of(shifted, k)
        slope = np.abs(late - times) / 1e-7 if same == named else np.full(len(times), np.inf)
        slope = np.maximum(slope, [by_its_gap(name, event) for event in motion.events])
        expected = np.array([event.t for event in motion.events])
        assert (np.abs(times - expected) <= 1e-9 * np.maximum(1.0, slope)).all(), k
        state = np.concatenate([[motion.t], motion.q, motion.v])
        if not len(times) or slope.max() < 10.0:
            np.testing.assert_allclose(found.end[k], state, atol=1e-7)
    return n_events


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        ("rod_on_incline", 25),
        ("two_carts", 8),
        pytest.param("ladder_in_corner", 6, marks=pytest.mark.long),
        pytest.param("rod_two_ends", 4, marks=pytest.mark.long),
        pytest.param("double_pendulum_over_floor", 4, marks=pytest.mark.long),
        ("woodpecker", 4),
    ],
)
def test_events_are_those_of_single_calls(name, compared):
    assert max(check_is_that_of_single_calls(name, 60, compared)) >= 3


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_events_of_a_thousand_starts_are_those_of_single_calls(name):
    n_events = check_is_that_of_single_calls(name, 1500, 1000)
    assert len(n_events) == 1000
    assert np.median(n_events) >= 3


@pytest.mark.parametrize("law", [NewtonImpact(), PoissonImpact(), EnergeticImpact()])
def test_every_law_decides_impacts(law):
    found = followed("rod_on_incline", 60, law=law)
    hits = [k for k in range(60) if any(kind == "IMPACT" for kind, _ in events_of(found, k)[1])][:4]
    assert len(hits) == 4
    for k in hits:
        motion = single("rod_on_incline", found, k, law=law)
        np.testing.assert_allclose(found.end[k], [motion.t, *motion.q, *motion.v], atol=1e-8)


def test_parameters_that_differ_are_those_of_every_motion():
    mu = np.linspace(0.1, 0.6, 40)
    rod = dynamics_of("rod_on_incline")
    starts = {"mu": mu, "phi": np.linspace(0.5, 1.0, 40)}
    pins = {"phi_dot": 0.3, "slip.tip": 0.5}
    found = ensemble(rod, starts=starts, pins=pins, t_end=0.8, law=EnergeticImpact(), rtol=FINE)
    for k in (0, 13, 39):
        start = solve_state(rod, {**pins, "phi": starts["phi"][k]}, parameters={"mu": mu[k]})
        motion = simulate(rod, start, t_end=0.8, parameters={"mu": mu[k]}, law=EnergeticImpact())
        np.testing.assert_allclose(found.end[k], [motion.t, *motion.q, *motion.v], atol=1e-10)
    assert not found.singled_out


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("kinetic", "a2*(x_dot**2 + y_dot**2)/2"),
        ("potential", "9.81*y + a2*x**2/2"),
        ("force", "a2"),
        ("gap", "y - a2/2"),
        ("friction", "a2/9"),
    ],
)
def test_expressions_of_parameters_that_differ_are_those_of_every_motion(part, text):
    texts = {"kinetic": "(x_dot**2 + y_dot**2)/2", "potential": "9.81*y", "force": "1", "gap": "y", "friction": "0.1"}
    texts[part] = text
    body = derive(
        Mechanism(
            name="body",
            coordinates=["x", "y"],
            parameters={"a": 1.0, "a2": "a**2"},
            dynamics=EnergyDynamics(kinetic=texts["kinetic"], potential=texts["potential"]),
            forces={"x": texts["force"]},
            contact=[Contact(name="floor", gap=texts["gap"], tangent="x", friction=texts["friction"], restitution="0")],
        )
    )
    a, pins = np.linspace(0.5, 1.3, 40), {"x": 0.1, "x_dot": 1.0, "gap.floor": 0.5, "y_dot": 0.0}
    found = ensemble(body, starts={"a": a}, pins=pins, t_end=0.7, law=NewtonImpact(), rtol=FINE)
    for k in (0, 13, 39):
        values = {"a": a[k]}
        motion = simulate(
            body, solve_state(body, pins, parameters=values), t_end=0.7, parameters=values, law=NewtonImpact()
        )
        np.testing.assert_allclose(found.end[k], [motion.t, *motion.q, *motion.v], atol=1e-10)
    assert np.ptp(found.end[:, 1:3], axis=0).max() > 1e-2  # they differ


def test_a_rod_moves_alike_whatever_its_mass():
    # weight, friction and the moment of inertia m l^2/3 all have its factor
    masses = np.linspace(0.2, 5.0, 40)
    pins = {"phi": 0.5, "phi_dot": 0.3, "slip.tip": 0.5}
    found = ensemble(dynamics_of("rod_on_incline"), starts={"m": masses}, pins=pins, t_end=0.8, rtol=FINE)
    np.testing.assert_allclose(found.end, np.broadcast_to(found.end[0], found.end.shape), rtol=0, atol=1e-10)
    turned = ensemble(dynamics_of("rod_on_incline"), starts={"I": masses}, pins=pins, t_end=0.8, rtol=FINE)
    assert np.ptp(turned.end[:, 3]) > 1e-2


@pytest.mark.parametrize("law", [NewtonImpact(), PoissonImpact(), EnergeticImpact()], ids=lambda law: law.name)
def test_an_impact_makes_a_joint_slip_that_dry_friction_held(law):
    """Friction of limit ``F`` takes no impulse: ``v+ = v - (1 + e)(w.v)/(w.G w) G w`` with ``G`` the inverse mass."""
    M, w, start = np.array([[7 / 30, 0.1], [0.1, 0.3]]), np.array([0.0, -1.0]), np.array([0.0, 1.0])
    held = derive(
        Mechanism(
            name="held",
            coordinates=["a", "u"],
            dynamics=EnergyDynamics(kinetic="0.1*a_dot**2 + 0.15*(u_dot + a_dot/3)**2", potential="0"),
            contact=[Contact(name="stop", gap="0.4 - u", restitution="0.2")],
            friction=[FrictionElement(name="joint", tangent="a", limit="0.3")],
        )
    )
    given = np.linspace(0.19, 0.21, 40)
    found = ensemble(held, starts={"u": given}, pins={"a": 0, "a_dot": 0, "u_dot": 1}, t_end=0.25, law=law, rtol=FINE)
    assert not found.singled_out
    after = start - 1.2 * (w @ start) / (w @ np.linalg.solve(M, w)) * np.linalg.solve(M, w)
    # from then on the joint is slowed by its limit alone, and the stop is left
    expected = after + (0.25 - (0.4 - given))[:, None] * np.linalg.solve(M, [-0.3, 0.0])
    np.testing.assert_allclose(found.end[:, 3:], expected, rtol=0, atol=1e-10)


def test_a_block_that_slides_stops_by_coulombs_law():
    # a = -mu g, so it stops at v^2/(2 mu g) after v/(mu g), and stays
    block = dynamics_of("block_on_incline")
    speeds = np.linspace(0.2, 3.0, 50)
    parameters = {"alpha": 0.0, "mu": 0.5, "mu_s": 0.5}
    g = float(block.values["g"])
    pins = {"x": 0.0, "gap.floor": 0.0, "gap_dot.floor": 0.0}
    found = ensemble(block, starts={"slip.floor": speeds}, pins=pins, parameters=parameters, t_end=2.0, rtol=FINE)
    stops = [events_of(found, k)[0][0] for k in range(50)]
    np.testing.assert_allclose(stops, speeds / (0.5 * g), rtol=1e-12)
    np.testing.assert_allclose(found.end[:, 1], speeds**2 / g, rtol=1e-11)


def test_a_paradox_ends_a_motion_with_its_verdict():
    starts = {"phi": np.full(40, 1.2), "mu": np.linspace(0.3, 3.0, 40)}
    pins = {"phi_dot": 0.0, "slip.tip": -1.0}
    rod = dynamics_of("rod_on_incline")
    found = ensemble(rod, starts=starts, pins=pins, t_end=0.05)
    # without solution where A = 1 + 3 cos^2 - 3 mu sin cos < 0 at phi_dot = 0: the free contact would penetrate
    critical = (1 + 3 * np.cos(1.2) ** 2) / (3 * np.sin(1.2) * np.cos(1.2))
    paradox = starts["mu"] > critical
    assert paradox.any() and (~paradox).any()
    assert [found.verdict[k] == "INCONSISTENT" for k in range(40)] == paradox.tolist()
    assert [found.end[k, 0] == 0.0 for k in range(40)] == paradox.tolist()


# functions of the share of a step, written for numbers and for nodes, and where they first fall below zero
FUNCTIONS = (
    (lambda s, one, cos: s - one * 0.3, -1.0),  # negative from the start: the search gives up
    (lambda s, one, cos: one * 0.3 - s, 0.3),
    (lambda s, one, cos: (s - one * 0.5) * (s - one * 0.5) - one * 1e-6, 0.5 - 1e-3),  # crossings between the points
    (lambda s, one, cos: (s - one * 0.5) * (s - one * 0.5) + one * 1e-6, np.inf),
    (lambda s, one, cos: s * (one * 0.25 - s), 0.25),  # from a known zero
    (lambda s, one, cos: s * s * (one * 0.7 - s), 0.7),  # tangentially
    (lambda s, one, cos: s * s * s, np.inf),
    (lambda s, one, cos: cos(s * 9.0), np.pi / 18),
)


@pytest.mark.parametrize(("function", "place"), FUNCTIONS)
def test_first_descents_are_the_first_zeros(function, place):
    equations = dynamics_of("bouncing_ball").equations  # of which the time alone is used
    build = Builder(equations.graph)
    s, one = Term(build, equations.time), Term(build, build.number(1))
    node = function(s, one, lambda x: Term(build, build.call("cos", x.node))).node
    operations, _ = lane_program(equations, build, [node]).at([0.0] * len(equations.parameters), 1)
    n_state, start = len(equations.state), function(0.0, 1.0, np.cos)
    registers, still = prepared(operations, n_state), np.zeros((N_COEFFICIENTS, n_state - 1))
    found = first_descent(
        operations, registers, 0, 1.0, 0.0, still, 0.0, 1.0, start, start == 0.0, False, False, False, 0.0
    )
    np.testing.assert_allclose(found, place, rtol=1e-12)


def test_programs_of_many_states_are_those_of_one():
    """Every mode's rates and guards, against the plain floats that a single motion runs."""
    rng, block = np.random.default_rng(3), 70  # more than a block of states
    for name in CASES:
        dynamics = dynamics_of(name)
        names = element_names(dynamics)
        for label in ("free", "slide+", "stick"):
            flow = flow_of(dynamics, Mode(dict.fromkeys(names, label if dynamics.dimension(names[0]) else "free")))
            if flow is None:
                continue
            y, t = rng.normal(size=(2 * dynamics.n, block)), rng.random(block)
            alone = make_flow(dynamics, flow.mode)
            rates = np.array([alone.derivative(time, state) for time, state in zip(t.tolist(), y.T, strict=True)])
            found = flow.rates.values(dynamics.arguments, t, y)
            np.testing.assert_allclose(found, rates.T, rtol=1e-10, atol=1e-10 * np.abs(rates).max())
            guards = alone.guard_values(t, y)
            found = flow.watched.values(dynamics.arguments, t, y)
            np.testing.assert_allclose(found, guards, rtol=1e-10, atol=1e-10 * np.abs(guards).max(initial=0.0))


def test_sines_of_many_states_are_those_of_the_library():
    # over many turns, at the corners of the reduction, where it loses its way, and where nothing is defined
    corners = np.pi / 4 * np.arange(-40.0, 41.0)
    angles = np.concatenate([np.linspace(-1e5, 1e5, 100_001), corners, corners * (1 + 1e-15), [0.0, 1e-300, 1e9]])
    equations = dynamics_of("bouncing_ball").equations
    build = Builder(equations.graph)
    program = lane_program(equations, build, [build.call(name, equations.time) for name in ("sin", "cos")])
    still = np.zeros((len(equations.state) - 1, len(angles)))
    found = program.values([0.0] * len(equations.parameters), angles, still)
    np.testing.assert_allclose(found, [np.sin(angles), np.cos(angles)], rtol=0.0, atol=2 * np.finfo(float).eps)
    np.testing.assert_allclose(found[0, -2:], np.sin(angles[-2:]), rtol=0.0)
    assert np.isnan(program.values([0.0] * len(equations.parameters), np.array([np.nan]), still[:, :1])).all()


@pytest.mark.parametrize(("rows", "base"), [(0, 9), (1, 2), (3, 9), (19, 9), (20, 9), (90, 2)])  # 9**20 is beyond int64
def test_equal_columns_are_found(rows, base):
    rng = np.random.default_rng(rows)
    kinds = rng.integers(0, base, (rows, 5))
    table = kinds[:, rng.integers(0, 5, 300)].astype(np.int8)
    found = {tuple(column.tolist()): here for column, here in distinct_columns(table, base)}
    assert set(found) == {tuple(column) for column in table.T.tolist()}
    for column, here in found.items():
        assert here.tolist() == [other == column for other in map(tuple, table.T.tolist())]
    assert not list(distinct_columns(table[:, :0], base))


def test_a_friction_element_that_holds_more_at_rest_sticks_where_its_slip_ends():
    # every half swing ends 2 mu m g/k nearer to x = 0, and the first end within mu_s m g/k of it is the last
    x = np.linspace(0.25, 1.2, FEW + 8)
    step, band = 2 * 0.3 * 2 * 9.81 / 50, 0.6 * 2 * 9.81 / 50
    swings = np.ceil((x - band) / step)
    found = ensemble(
        dynamics_of("coulomb_oscillator"), starts={"x": x}, pins={"x_dot": 0}, parameters={"mu_s": 0.6}, t_end=10
    )
    assert set(found.termination) == {"END_TIME"}
    assert found.end[:, 1] == pytest.approx((-1) ** swings * (x - swings * step), abs=1e-9)
    assert found.end[:, 2] == pytest.approx(0.0, abs=1e-9)
