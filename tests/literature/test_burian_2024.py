"""Burian, Trudy Instituta Matematiki i Mekhaniki UrO RAN (2024): a double pendulum whose tip runs along an ellipse.

The lengths 2 and 1, the ellipse with half axes 4 and b around a point 3 above the pivot, unit masses, g = 9.81, and a
start at rest at u = 1/2 are the paper's. Its motions are computed here once more in one coordinate.
"""

from __future__ import annotations

from functools import cache

import attrs
import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from scipy.integrate import solve_ivp

from hybrid import (
    State,
    Termination,
    realisation_study,
    simulate,
    singular_configurations,
    solve_state,
)
from hybrid.dynamics import SingularityKind
from hybrid.motion import ElasticRealisation, Settings, singular_points_of
from tests.catalogue import dynamics_of

G, START, RANGE = 9.81, 0.5, (-0.8, 0.8)


@attrs.frozen
class Guide:
    """The ellipse seen from the pivot, and the smooth branch of the rod of length 1 that starts at theta > 0."""

    r: Chebyshev
    theta: Chebyshev


@cache
def guide(b: float) -> Guide:
    """Distance r(u) of the ellipse and angle theta(u) of the branch, without cancellation at u = 0.

    With s = sin(u/2)^2 the ellipse is p r^2 - 2 w r = 7/16, p = cos(u)^2/16 + sin(u)^2/b^2, w = -3 cos(u)/16, so that
    r - 1 = s R(u); the rods make sin(theta/2)^2 = (r - 1)(3 - r)/(8 r). At b = 2 the first factor of r - 1 is s^2.
    """

    def excess(u):
        s, c = np.sin(u / 2) ** 2, np.cos(u)
        p, w = c**2 / 16 + np.sin(u) ** 2 / b**2, -3 * c / 16
        touching = b == 2
        factor = -0.75 if touching else -(c + 7) / 8 + 4 * (1 - s) / b**2
        power = s**2 if touching else s
        R = -factor / (p - w + np.sqrt((p - w) ** 2 - p * power * factor))
        return power, R

    def distance(u):
        power, R = excess(u)
        return 1 + power * R

    def branch(u):
        power, R = excess(u)
        r = 1 + power * R
        root = np.sin(u / 2) ** 2 if b == 2 else np.sin(u / 2)
        return 2 * np.arcsin(root * np.sqrt(R * (3 - r) / (8 * r)))

    # analytic on the interval: 60 terms leave rounding only
    return Guide(*(Chebyshev.interpolate(f, 60, domain=RANGE) for f in (distance, branch)))


def energy_terms(b: float, u: float) -> tuple[float, float, float, float]:
    """Inertia A(u), its slope, potential U(u) and its slope, on the branch."""
    r, theta = guide(b).r, guide(b).theta
    r0, r1, r2 = r(u), r.deriv()(u), r.deriv(2)(u)
    t0, t1, t2 = theta(u), theta.deriv()(u), theta.deriv(2)(u)
    inertia = 4 * (1 + t1) ** 2 + r1**2 + r0**2
    slope = 8 * (1 + t1) * t2 + 2 * r1 * r2 + 2 * r0 * r1
    potential = -G * (2 * np.cos(u + t0) + r0 * np.cos(u))
    force = G * (2 * np.sin(u + t0) * (1 + t1) - r1 * np.cos(u) + r0 * np.sin(u))
    return inertia, slope, potential, force


@cache
def one_coordinate(b: float, t_end: float = 2.0):
    """The smooth motion in u alone: A u'' + A' u'^2/2 + U' = 0."""

    def rate(t, y):
        inertia, slope, _, force = energy_terms(b, y[0])
        return [y[1], -(slope * y[1] ** 2 / 2 + force) / inertia]

    def passing(t, y):
        return y[0]

    def turning(t, y):
        return y[1] + 1e-9 * (t < 0.1)  # it starts at rest

    return solve_ivp(
        rate, (0, t_end), [START, 0.0], method="DOP853", rtol=1e-13, atol=1e-15, events=[passing, turning],
        dense_output=True,
    )  # fmt: skip


@cache
def start(b: float) -> State:
    state = solve_state(dynamics_of("singular_pendulum"), {"u": START, "u_dot": 0}, parameters={"b": b})
    return State(state.q * np.array([1, np.sign(state.q[1])]), state.v)


@cache
def rigid(b: float, singular: str = "smooth"):
    return simulate(
        dynamics_of("singular_pendulum"), start(b), t_end=2, parameters={"b": b}, singular=singular,
        watch={"turn": "u_dot"},
    )  # fmt: skip


# b: theta at the start; time and speed at the singular point; turning point; u and theta at t = 2 (ten digits)
TABLE = {
    3.0: (0.2553006778, 0.737896267, -1.0703262864, -0.5, -0.2206674446, -0.1156090688),
    2.3: (0.1765827386, 0.7075279698, -1.1251464141, -0.5, -0.1360873931, -0.0475696478),
    2.0: (0.0718149098, 0.6789025739, -1.3080263923, -0.6215752262, 0.027515389, 0.000231765),
}


@pytest.mark.parametrize("b", TABLE)
def test_smooth_motion_passes_the_singular_point_to_the_recomputed_state(b):
    theta, passed, speed, turn, u, angle = TABLE[b]
    motion = rigid(b)
    assert start(b).q[1] == pytest.approx(theta, abs=1e-10)
    assert motion.termination is Termination.END_TIME
    kinds = ("singular configuration", "watch")
    singular, turning = (next(event for event in motion.events if event.kind.value == kind) for kind in kinds)
    # the table has ten digits; where branches touch, the time is that of a double zero
    assert singular.t == pytest.approx(passed, abs=1e-8)
    assert singular.v_after[0] == pytest.approx(speed, abs=1e-8)
    np.testing.assert_allclose(singular.q, 0, atol=1e-8)
    assert turning.q[0] == pytest.approx(turn, abs=1e-9)
    np.testing.assert_allclose(motion.q, [u, angle], atol=1e-8)


@pytest.mark.parametrize("b", TABLE)
def test_smooth_motion_is_that_of_one_coordinate(b):
    by_hand, motion = one_coordinate(b), rigid(b)
    t = np.linspace(0, 2, 401)
    u, u_dot = by_hand.sol(t)
    q, v = motion.sample(t)
    # errors of 1e-13 per step on either side, tenfold by the passage
    np.testing.assert_allclose(q[:, 0], u, atol=1e-9)
    np.testing.assert_allclose(v[:, 0], u_dot, atol=1e-8)
    np.testing.assert_allclose(q[:, 1], guide(b).theta(u), atol=1e-9)
    met = [event.t for event in motion.events if event.kind.value == "singular configuration"]
    np.testing.assert_allclose(met, by_hand.t_events[0], atol=1e-8)
    violation = dynamics_of("singular_pendulum").kinematics(q, v, parameters={"b": b})["constraint"]
    assert np.abs(violation).max() < 1e-10
    assert abs(motion.energy().residual) < 1e-9


def test_recomputed_turning_point_where_branches_touch():
    b = 2.0
    motion = rigid(b)
    turning = next(event for event in motion.events if event.kind.value == "watch")
    assert turning.q[1] == pytest.approx(0.107476294, abs=1e-8)


# the radius of curvature b^2/a of the ellipse against l1 - l2 = 1
@pytest.mark.parametrize(
    ("b", "kind"),
    [
        (3.0, SingularityKind.TRANSVERSAL),
        (2.3, SingularityKind.TRANSVERSAL),
        (2.0, SingularityKind.TANGENCY),
        (1.8, SingularityKind.ISOLATED),
    ],
)
def test_type_of_the_singular_point_follows_from_the_curvature_of_the_ellipse(b, kind):
    box = {"u": (-0.6, 0.6), "theta": (-0.5, 0.5)}
    (point,) = singular_configurations(dynamics_of("singular_pendulum"), box=box, parameters={"b": b}, starts=6)
    assert point.kind is kind
    np.testing.assert_allclose(point.q, 0, atol=1e-7)
    if kind is SingularityKind.ISOLATED:
        assert point.branches == ()
        return
    # tangent and curvature of the smooth branch, and of its mirror image
    slope, bend = guide(b).theta.deriv()(0), guide(b).theta.deriv(2)(0)
    slopes = sorted(branch.tangent[1] / branch.tangent[0] for branch in point.branches)
    np.testing.assert_allclose(slopes, sorted([slope, -slope]), atol=1e-9)
    if kind is SingularityKind.TANGENCY:
        assert point.order == 2
        # traced over 1 percent of the unit of length: relative error of its square
        np.testing.assert_allclose(sorted(branch.curvature[1] for branch in point.branches), [-bend, bend], rtol=1e-3)


@pytest.mark.parametrize("b", TABLE)
def test_rigid_motion_stops_at_the_singular_point_and_lists_its_branches(b):
    motion = rigid(b, "stop")
    assert motion.termination is Termination.SINGULAR_CONFIGURATION
    assert motion.t == pytest.approx(one_coordinate(b).t_events[0][0], abs=1e-8)
    (point,) = singular_points_of(motion)
    assert len(point.branches) == 2
    assert point.kind.value in motion.cause
    assert "u' = " in motion.cause
    # it arrives along one of them
    along = motion.v / np.linalg.norm(motion.v)
    assert max(abs(along @ branch.tangent) for branch in point.branches) == pytest.approx(1, abs=1e-9)


def theta_strays(b: float, k: float) -> tuple[float, float]:
    """Largest distance of theta from the smooth branch at the same u, and the error of u at t = 2."""
    motion = simulate(
        dynamics_of("singular_pendulum_spring"), start(b), t_end=2, parameters={"b": b, "k": k},
        settings=Settings(rtol=1e-10, atol=1e-12),
    )  # fmt: skip
    assert abs(motion.energy().residual) < 1e-8 * abs(motion.energy().initial)
    q, _ = motion.sample(np.linspace(0, 2, 40_001))
    return float(np.abs(q[:, 1] - guide(b).theta(q[:, 0])).max()), abs(motion.q[0] - TABLE[b][4])


# two digits, as recomputed with an error of 1e-8 per step
@pytest.mark.parametrize(("k", "strays", "late"), [(1e2, 2.8e-2, None), (1e4, 1.1e-3, None), (1e6, 2.5e-5, 6.4e-6)])
def test_spring_strays_less_and_less_from_the_smooth_branch_where_branches_cross(k, strays, late):
    found, error = theta_strays(3.0, k)
    assert found == pytest.approx(strays, rel=0.03)
    if late is not None:
        assert error == pytest.approx(late, rel=0.03)


@pytest.mark.long
def test_spring_strays_by_a_millionth_at_a_stiffness_of_1e8():
    found, error = theta_strays(3.0, 1e8)
    # 20 000 oscillations: sampling misses a little of the largest
    assert found == pytest.approx(8.6e-7, rel=0.05)
    assert error == pytest.approx(1.4e-7, rel=0.05)


def spring_by_hand(b: float, k: float, y=None, times=(0, 1.2)):
    """u'' and theta'' of the spring pendulum from Lagrange's equations written by hand."""
    r = guide(b).r

    def rate(t, y):
        u, theta, du, dtheta = y
        r0, r1, r2 = r(u), r.deriv()(u), r.deriv(2)(u)
        length = np.sqrt(4 + r0**2 - 4 * r0 * np.cos(theta))
        tension = k * (length - 1) / length
        # T = 2 (u' + theta')^2 + (r^2 + r'^2) u'^2/2
        along = -2 * G * np.sin(u + theta)
        pull_theta = along - tension * 2 * r0 * np.sin(theta)
        pull_u = along + G * (r1 * np.cos(u) - r0 * np.sin(u)) - tension * (r0 - 2 * np.cos(theta)) * r1
        pull_u -= (r0 * r1 + r1 * r2) * du**2
        ddu = (pull_u - pull_theta) / (r0**2 + r1**2)
        return [du, dtheta, ddu, pull_theta / 4 - ddu]

    begin = [*start(b).q, 0, 0] if y is None else y
    return solve_ivp(rate, times, begin, method="DOP853", rtol=1e-12, atol=1e-14, dense_output=True)


@pytest.mark.parametrize(("b", "k"), [(3.0, 1e4), (2.0, 1e4)])
def test_spring_moves_as_by_hand(b, k):
    settings = Settings(rtol=1e-11, atol=1e-13)
    motion = simulate(
        dynamics_of("singular_pendulum_spring"), start(b), t_end=1.2, parameters={"b": b, "k": k}, settings=settings
    )
    by_hand = spring_by_hand(b, k)
    np.testing.assert_allclose(np.concatenate([motion.q, motion.v]), by_hand.y[:, -1], atol=1e-7)


def ladder(b: float, stiffness: tuple[float, ...], t_end: float):
    return realisation_study(
        dynamics_of("singular_pendulum"), start(b), constraints="BC", stiffness=stiffness, t_end=t_end,
        parameters={"b": b},
    )  # fmt: skip


@cache
def study(b: float):
    return ladder(b, (1e3, 1e5, 1e7) if b == 2 else (1e2, 1e4, 1e6), 1.1)


@pytest.mark.parametrize("b", [3.0, 2.0])
def test_before_the_singular_point_the_spring_converges_at_order_one(b):
    found = study(b)
    # up to half the time of the passage; where branches touch, the ladder becomes asymptotic late
    assert found.orders_before[-1] == pytest.approx(1, abs=0.05 if b == 2 else 0.01)
    for row in found.rows:
        assert row.energy_drift < 1e-9


def test_spring_takes_the_smooth_branch_where_branches_cross():
    found = study(3.0)
    assert found.smooth_branch == "u-, theta-"
    assert [row.is_smooth for row in found.rows] == [True, True, True]
    # to the nearest posture: the deviation in theta alone, 2.5e-5 at 1e6, times cos(atan(theta')) or a little more
    distances = [row.distance_to_space for row in found.rows]
    assert distances == sorted(distances, reverse=True)
    assert 2.5e-5 * 0.8 < distances[-1] < 2.5e-5
    assert found.table()[0]["stiffness"] == 1e2


def test_spring_leaves_a_tangency_by_the_other_branch():
    found = study(2.0)
    assert found.smooth_branch == "u-, theta+"
    assert [row.branch for row in found.rows] == ["u-, theta-"] * 3
    assert [row.is_smooth for row in found.rows] == [False, False, False]


@pytest.mark.long
def test_spring_leaves_a_tangency_smoothly_only_from_a_stiffness_of_1e9_on():
    found = ladder(2.0, (2e2, 5e8, 1e9, 2e9), 1.35)
    assert [row.branch for row in found.rows] == ["u-, theta-", "u-, theta-", "u-, theta+", "u-, theta+"]


def limit_at_the_tangency(k: float) -> tuple[float, float]:
    """Sign of theta on the branch that a stiff spring leaves by, and how far it strays from both, to leading order.

    Near u = theta = 0 the spring is stretched by f = theta^2 - alpha u^4, alpha = 3/32; at the speed w of the rigid
    motion, Lagrange's equations become theta'' = g u/2 - (5/2) k theta f with u = -w t. In units tau of time and
    sqrt(alpha) w^2 tau^2 of theta, tau^-6 = (5/2) k alpha w^4, that is Theta'' = -Theta (Theta^2 - T^4) - gamma T with
    gamma = g tau/(2 sqrt(alpha) w), started on the branch Theta = T^2 that comes in.
    """
    alpha, w = 3 / 32, 1.3080263923
    tau = (2.5 * k * alpha * w**4) ** (-1 / 6)
    gamma = G * tau / (2 * np.sqrt(alpha) * w)

    def sag(T):
        d = 0.0
        for _ in range(60):
            d = -(2 + gamma * T - 20 / T**6 + 3 * T**2 * d**2 + d**3) / (2 * T**4)
        return d

    first, last = -10.0, 8.0
    y = [first**2 + sag(first), 2 * first + (sag(first + 1e-3) - sag(first - 1e-3)) / 2e-3]
    path = solve_ivp(
        lambda T, y: [y[1], -y[0] * (y[0] ** 2 - T**4) - gamma * T], (first, last), y, method="DOP853", rtol=1e-10,
        atol=1e-10, dense_output=True,
    )  # fmt: skip
    T = np.linspace(-4, last, 4001)
    theta = path.sol(T)[0]
    strays = np.max(np.minimum(np.abs(theta - T**2), np.abs(theta + T**2)))
    return float(np.sign(theta[-400:].mean())), float(strays * np.sqrt(alpha) * w**2 * tau**2)


def test_stiff_spring_leaves_the_tangency_as_the_limit_of_its_equations_does():
    # by the other branch at 1e7, by the smooth one from 1e9 on; the leading order moves the change to 1.5e8
    (row,) = ladder(2.0, (1e7,), 1.15).rows
    side, strays = limit_at_the_tangency(1e7)
    assert side == -1
    assert row.branch == "u-, theta-"
    assert 0.5 < row.distance_to_space / strays < 2
    assert [limit_at_the_tangency(k)[0] for k in (1e8, 3e8, 1e9, 1e12, 1e18)] == [-1, 1, 1, 1, 1]
    # and the distance from the configuration space vanishes like the cube root of the stiffness
    far, near = (limit_at_the_tangency(k)[1] for k in (1e18, 1e15))
    assert near / far == pytest.approx(10, rel=0.05)


@pytest.mark.long
def test_very_stiff_spring_strays_from_the_tangency_as_the_limit_of_its_equations_does():
    (row,) = ladder(2.0, (1e10,), 1.15).rows
    side, strays = limit_at_the_tangency(1e10)
    assert side == 1
    assert row.branch == "u-, theta+"
    # corrections are of the order tau/0.1, a quarter
    assert row.distance_to_space == pytest.approx(strays, rel=0.4)


def test_handed_over_at_the_crossing_the_spring_goes_on_along_the_smooth_branch():
    rule = ElasticRealisation(stiffness=1e6)
    elastic = simulate(dynamics_of("singular_pendulum"), start(3.0), t_end=2, parameters={"b": 3.0}, singular=rule)
    assert elastic.termination is Termination.END_TIME
    # the springs start unstretched at the crossing: closer to the rigid motion than springs that swing from the start
    np.testing.assert_allclose(elastic.q, TABLE[3.0][4:], atol=1e-5)


@cache
def handed_over(b: float, k: float):
    rule = ElasticRealisation("BC", stiffness=k)
    return simulate(dynamics_of("singular_pendulum"), start(b), t_end=1.2, parameters={"b": b}, singular=rule)


@pytest.mark.parametrize(("b", "k"), [(3.0, 1e4), (2.3, 1e6), (2.0, 1e4)])
def test_motion_handed_over_to_a_spring_is_the_rigid_one_and_then_that_of_the_spring_by_hand(b, k):
    motion, before = handed_over(b, k), one_coordinate(b)
    met = before.t_events[0][0]
    assert motion.termination is Termination.END_TIME
    assert motion.springs.t == pytest.approx(met, abs=1e-8)
    speed = before.sol(met)[1]
    after = spring_by_hand(b, k, [0, 0, speed, guide(b).theta.deriv()(0) * speed], (met, 1.2))
    t = np.linspace(0, 1.2, 241)
    q, v = motion.sample(t)
    early = t < met
    np.testing.assert_allclose(q[early, 0], before.sol(t[early])[0], atol=1e-9)
    # the state at which the spring takes over is known to 1e-8; its oscillations, of frequency up to 1e3, to 1e-6
    np.testing.assert_allclose(np.hstack([q, v])[~early].T, after.sol(t[~early]), atol=2e-6)
    energy = motion.energy()
    assert energy.initial == pytest.approx(energy_terms(b, START)[2], abs=1e-9)
    assert abs(energy.residual) < 1e-9


def test_spring_that_takes_over_leaves_a_crossing_smoothly_and_a_tangency_by_the_other_branch():
    # as the springs of the study, which stretch from the start on; theta has the sign of the branch
    for b, sign in ((2.3, np.sign(guide(2.3).theta(-0.3))), (2.0, -np.sign(guide(2.0).theta(-0.3)))):
        motion = handed_over(b, 1e6 if b == 2.3 else 1e4)
        assert motion.q[0] < -0.3
        assert np.sign(motion.q[1]) == sign
    strays = [np.abs(handed_over(2.3, k).q[1] - guide(2.3).theta(handed_over(2.3, k).q[0])) for k in (1e4, 1e6)]
    assert strays[1] < strays[0] / 10
