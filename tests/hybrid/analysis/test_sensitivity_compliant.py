"""Derivatives of impacts under the Kelvin-Voigt limit: several contacts, spatial ones, and slips of zero."""

import mpmath
import numpy as np
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, Functional, Mechanism, State, derive, sensitivity, simulate
from hybrid.analysis.sensitivities.jumps import ImpactSite, impact_jumps
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact import KelvinVoigtLimit
from hybrid.contact.impacts.impact import resolve_impact
from hybrid.dynamics.partials import partial_derivatives
from tests.catalogue import dynamics_of

LAW = KelvinVoigtLimit()


def slopes_of(dynamics, q, v, names, values=None):
    """Velocities after an impact of all contacts, with derivatives by (q, v, t, names)."""
    site = ImpactSite(
        partial_derivatives(dynamics, names), dynamics.at(values), 0.0, np.array(q, float), np.array(v, float)
    )
    (jump,) = impact_jumps(site, LAW, dynamics.contacts)
    return jump.y[dynamics.n :], jump.slopes[dynamics.n :]


def by_richardson(dynamics, q, v, names, values, directions, width=2e-4):
    """The same along directions, by differences of the law itself of orders 4 and 6, which estimate their error."""
    n = dynamics.n
    parameters = {key: float(value) for key, value in dynamics.mechanism.parameter_values(values or {}).items()}
    z = np.concatenate([q, v, [0.0], [parameters[name] for name in names]])

    def after(z):
        changed = parameters | dict(zip(names, z[2 * n + 1 :].tolist(), strict=True))
        return resolve_impact(
            dynamics, State(z[:n], z[n : 2 * n], z[2 * n]), law=LAW, parameters=changed, closed=dynamics.contacts
        ).v_after

    columns, errors = [], []
    for way in directions:
        one, two, four = ((after(z + h * way) - after(z - h * way)) / (2 * h) for h in (width, 2 * width, 4 * width))
        first, second = (4 * one - two) / 3, (4 * two - four) / 3
        columns.append((16 * first - second) / 15)
        errors.append(float(np.max(np.abs(columns[-1] - first))))
    return np.stack(columns, axis=1), np.array(errors)


def agree(dynamics, q, v, names, values=None):
    """Compare along two random directions, parameters in proportion to themselves.

    The law is as exact as 1e-11 of the velocities, differences as that over their width.
    """
    _, slopes = slopes_of(dynamics, q, v, names, values)
    parameters = dynamics.mechanism.parameter_values(values or {})
    scale = np.array([1.0] * (2 * dynamics.n) + [0.0] + [float(parameters[name]) for name in names])
    directions = scale * np.random.default_rng(0).normal(size=(2, len(scale)))
    expected, errors = by_richardson(dynamics, q, v, names, values, directions)
    size = max(1.0, float(np.max(np.abs(expected))))
    assert np.max(errors) < 1e-5 * size
    assert (np.max(np.abs(slopes @ directions.T - expected), axis=0) < 2e-7 * size + 5 * errors).all()


@pytest.mark.parametrize("method", ["forward", "adjoint"])
def test_a_drop_without_slip_that_friction_holds_takes_the_slip_of_a_neighbour(method):
    # it lands after sqrt(2 h / g) = 1; a small slip ends there, and x = x_dot t1 for ever after
    particle = derive(
        Mechanism(
            name="particle",
            coordinates=["x", "y"],
            parameters={"g": 1, "mu": 0.5, "d": 0.2},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="g*y"),
            contact=[Contact(name="floor", gap="y", tangent="x", friction="mu", damping="d")],
        )
    )
    motion = simulate(particle, State([0, 0.5], [0, 0]), t_end=1.2, law=LAW)
    found = sensitivity(motion, Functional(terminal="x"), ["x_dot", "x"], method=method)
    assert found.gradient == pytest.approx({"x_dot": 1.0, "x": 1.0}, abs=1e-12)


def three_balls(ratio):
    return derive(
        Mechanism(
            name="balls",
            coordinates=["x1", "x2", "x3"],
            parameters={"m": 1, "ratio": ratio},
            dynamics=EnergyDynamics(kinetic="m*x1_dot**2/2 + x2_dot**2/2 + x3_dot**2/2", potential="0"),
            contact=[
                Contact(name="left", gap="x2 - x1"),
                Contact(name="right", gap="x3 - x2", stiffness_ratio="ratio"),
            ],
        )
    )


def balls_in_closed_form(v, m, ratio):
    """The first ball with velocity v strikes two that touch, on springs 1 and ratio without damping, in 40 digits.

    While both press the springs oscillate in two modes; then the right one oscillates alone to its end.
    """
    G = mpmath.matrix([[1 / m + 1, -1], [-1, 2]])
    K = mpmath.diag([mpmath.mpf(1), ratio])
    # Y'' = -G K Y, Y(0) = 0, Y'(0) = (-v, 0): 2x2 modes by trace and determinant
    A = G * K
    half, det = (A[0, 0] + A[1, 1]) / 2, A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    root = mpmath.sqrt(half**2 - det)
    squares = (half - root, half + root)
    # Y' (0) in the basis (A[0,1], square - A[0,0]) of eigenvectors
    vectors = mpmath.matrix([[A[0, 1], A[0, 1]], [squares[0] - A[0, 0], squares[1] - A[0, 0]]])
    share = mpmath.lu_solve(vectors, mpmath.matrix([-v, 0]))
    omega = [mpmath.sqrt(square) for square in squares]

    def Y(i, s):
        return sum(vectors[i, j] * share[j] * mpmath.sin(omega[j] * s) / omega[j] for j in range(2))

    def w(i, s):
        return sum(vectors[i, j] * share[j] * mpmath.cos(omega[j] * s) for j in range(2))

    def impulse(i, s):  # integral of -K Y
        total = (vectors[i, j] * share[j] * (1 - mpmath.cos(omega[j] * s)) / squares[j] for j in range(2))
        return -K[i, i] * sum(total)

    s = mpmath.findroot(lambda s: Y(0, s), 2.2)
    w2, Y2 = w(1, s), Y(1, s)
    # alone: Y'' = -2 ratio Y until zero; energy gives the velocity there
    P = [impulse(0, s), impulse(1, s) + (mpmath.sqrt(w2**2 + 2 * ratio * Y2**2) - w2) / 2]
    return [v - P[0] / m, P[0] - P[1], P[1]]


@pytest.mark.parametrize("ratio", [1.0, 1.7])
def test_two_compliant_contacts_in_a_row_in_closed_form(ratio):
    values, slopes = slopes_of(three_balls(ratio), [0, 0, 0], [1.3, 0, 0], ["m", "ratio"])
    with mpmath.workdps(40):
        point = (mpmath.mpf(1.3), mpmath.mpf(1), mpmath.mpf(ratio))
        assert values == pytest.approx([float(x) for x in balls_in_closed_form(*point)], abs=1e-10)
        for column, place in ((3, 0), (7, 1), (8, 2)):  # the velocity, the mass of the first ball, the stiffness ratio
            orders = tuple(int(i == place) for i in range(3))
            for row in range(3):
                exact = mpmath.diff(lambda *z, row=row: balls_in_closed_form(*z)[row], point, orders)
                assert slopes[row, column] == pytest.approx(float(exact), abs=1e-9)


def damped_restitution(d, m):
    """Without friction ``Y'' = -(Y + 2 d Y')/m`` until the force ends (Schwager and Poeschel 2007), in 40 digits."""
    alpha = d / m
    omega = mpmath.sqrt(1 / m - alpha**2)
    s = mpmath.atan2(2 * alpha * omega, alpha**2 - omega**2) / omega  # where Y + 2 d Y' = 0
    decay = mpmath.exp(-alpha * s)
    return -decay * (mpmath.cos(omega * s) - alpha / omega * mpmath.sin(omega * s))


@pytest.mark.parametrize("m", [1.0, 1.6])
def test_friction_that_is_zero_leaves_an_impact_its_other_derivatives(m):
    block = derive(
        Mechanism(
            name="block",
            coordinates=["x", "y"],
            parameters={"m": 1, "d": 0.25, "mu": 0},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="0"),
            contact=[Contact(name="floor", gap="y", tangent="x", friction="mu", damping="d")],
        )
    )
    values, slopes = slopes_of(block, [0, 0], [2.0, -1.3], ["m", "d"], {"m": m})
    with mpmath.workdps(40):
        point = (mpmath.mpf("0.25"), mpmath.mpf(m))
        e = float(damped_restitution(*point))
        by_d, by_m = (float(mpmath.diff(damped_restitution, point, order)) for order in ((1, 0), (0, 1)))
    # errors of the impact's own integration, 1e-11 a step, and of its end
    assert values == pytest.approx([2.0, 1.3 * e], abs=1e-10)
    assert slopes[0] == pytest.approx([0, 0, 1, 0, 0, 0, 0], abs=1e-9)
    assert slopes[1] == pytest.approx([0, 0, 0, -e, 0, 1.3 * by_m, 1.3 * by_d], abs=1e-9)


def test_a_spatial_ball_that_slides_all_through_its_impact():
    ball = dynamics_of("spatial_ball")
    mu, d, m, R = 0.1, 0.25, mpmath.mpf(1), 0.1
    v = [2.0, 1.0, -1.0, 0.0, 0.0, 0.0]
    values, slopes = slopes_of(ball, [0, 0, R, 0, 0, 0], v, ["mu", "delta"], {"mu": mu, "delta": d})
    with mpmath.workdps(40):
        e = float(damped_restitution(mpmath.mpf(d), m))
        e_slope = float(mpmath.diff(lambda d: damped_restitution(d, m), mpmath.mpf(d)))
    u = np.array([2.0, 1.0]) / np.sqrt(5.0)
    along = np.array([2.0, 1.0]) - mu * (1 + e) * u  # the slip keeps its direction
    assert values[:3] == pytest.approx([*along, e], abs=1e-10)
    assert slopes[2, 8] == pytest.approx(-e, abs=1e-9)
    assert slopes[:2, 8] == pytest.approx(mu * (1 + e) * u, abs=1e-9)  # a faster approach lowers z_dot
    across = np.eye(2) - mu * (1 + e) * (np.eye(2) - np.outer(u, u)) / np.sqrt(5.0)
    assert slopes[:2, 6:8] == pytest.approx(across, abs=1e-9)
    assert slopes[:3, 13] == pytest.approx([*(-(1 + e) * u), 0.0], abs=1e-9)
    assert slopes[:3, 14] == pytest.approx([*(-mu * e_slope * u), e_slope], abs=1e-9)


def test_a_spatial_ball_that_rolls_off():
    # a slip that ends within the impact: what is left is rolling, v - 2/7 of the slip, however it came about
    ball = dynamics_of("spatial_ball")
    R = 0.1
    for slip in ([0.0, 0.0], [0.3, -0.2]):
        v = [*slip, -1.0, 0.0, 0.0, 0.4]
        values, slopes = slopes_of(ball, [0, 0, R, 0, 0, 0], v, ["mu", "R"], {"mu": 0.9})
        assert values[:2] == pytest.approx(np.array(slip) * 5 / 7, abs=1e-10)
        # x_dot, y_dot, alpha_dot, beta_dot; slip = (x_dot - R beta_dot, y_dot + R alpha_dot)
        expected = np.array([[5 / 7, 0, 0, 2 * R / 7], [0, 5 / 7, -2 * R / 7, 0]])
        assert slopes[:2][:, [6, 7, 9, 10]] == pytest.approx(expected, abs=1e-9)
        assert slopes[:2, 13] == pytest.approx([0, 0], abs=1e-9)  # friction


@pytest.mark.parametrize(
    ("name", "q", "v", "values"),
    [
        ("rod_two_ends", [0.1, 0.2, -0.1], [0.4, -1.0, -0.5], {"mu": 0.8, "delta": 0.3}),  # slides, sticks, reverses
        ("rocking_block", [-0.1, 0.2, 0.2], [-0.3, -1.0, -0.1], {"mu": 0.9, "delta": 0.3}),
        ("ladder_in_corner", [0.3, 0.2, 0.9], [-0.5, -0.7, 0.4], {"mu": 0.3, "delta": 0.2}),
        ("rocking_block", [0.1, 0.2, 0.05], [0.3, -1.0, 0.2], {"mu": 0.7, "delta": 0.4}),
        ("double_pendulum_over_floor", [0.4, 0.9], [-0.6, -0.5], {"delta": 0.3}),
    ],
)
def test_several_planar_contacts_with_friction(name, q, v, values):
    dynamics = dynamics_of(name)
    numbers = [key for key, item in dynamics.mechanism.parameters.items() if not isinstance(item.value, str)]
    values = {key: value for key, value in values.items() if key in numbers}
    agree(dynamics, q, v, [key for key in numbers if key not in ("g", "e")], values)


def corner():
    """A spinning ball between a rough floor and a rough wall, which is stiffer."""
    return derive(
        Mechanism(
            name="corner",
            coordinates=["x", "y", "z", "alpha", "beta", "gamma"],
            parameters={"m": 1, "R": 0.1, "J": 0.004, "mu": 0.3, "nu": 0.4, "d": 0.2, "k": 1.5},
            dynamics=EnergyDynamics(
                kinetic="m*(x_dot**2 + y_dot**2 + z_dot**2)/2 + J*(alpha_dot**2 + beta_dot**2 + gamma_dot**2)/2",
                potential="0",
            ),
            contact=[
                Contact(
                    name="floor",
                    gap="z - R",
                    slip=["x_dot - R*beta_dot", "y_dot + R*alpha_dot"],
                    friction="mu",
                    damping="d",
                ),
                Contact(
                    name="wall",
                    gap="x - R + z/5",
                    slip=["y_dot - R*gamma_dot", "z_dot + R*beta_dot"],
                    friction="nu",
                    damping="d",
                    stiffness_ratio="k",
                ),
            ],
        )
    )


@pytest.mark.parametrize(
    ("v", "mu", "nu"),
    [
        ([-1.2, 1.7, -0.4, 0.1, -7.1, 4.7], 0.3, 0.37),  # the wall comes to stick
        ([-0.5, 1.8, -1.0, -7.8, 0.9, -15.5], 0.47, 0.06),  # the floor does
        ([-0.7, -1.7, -1.3, 4.5, -2.3, -8.6], 0.08, 0.1),  # neither
    ],
)
def test_several_contacts_that_are_spatial(v, mu, nu):
    values = {"mu": mu, "nu": nu}
    agree(corner(), [0.1, 0, 0.1, 0, 0, 0], v, ["m", "R", "J", "mu", "nu", "d", "k"], values)


def test_a_spatial_slip_from_rest_within_an_impact_is_not_computed():
    with pytest.raises(NoDerivative, match="begins from rest") as caught:
        slopes_of(corner(), [0.1, 0, 0.1, 0, 0, 0], [-1.0, 0.1, -1.1, 3.3, -6.5, 8.6], [], {"mu": 0.4, "nu": 0.5})
    assert not caught.value.is_proven


def test_motion_of_a_chain_by_three_roads():
    chain = derive(mechanisms.load("three_ball_chain"))
    motion = simulate(chain, State([-0.6, 0.0, 0.5], [1.0, 0.0, -0.1]), t_end=2.0, law=LAW)
    names = ["x1_dot", "x2", "m"]
    functional = Functional("x1*x3", terminal="x1_dot*x3 + x2_dot**2")
    known = {*chain.mechanism.coordinates, "x1_dot", *chain.mechanism.parameters}
    names = [name for name in names if name in known]
    found = sensitivity(motion, functional, names, check=True)
    assert found.refusal is None
    assert found.check.disagreement < 1e-11
    assert found.check.warnings == ()


def test_two_slips_that_end_at_once_by_chance_are_not_computed():
    # a level rod: its ends slip alike, and those of a tilted one do not
    rod = dynamics_of("rod_two_ends")
    with pytest.raises(NoDerivative, match="two contacts changes at once") as caught:
        slopes_of(rod, [0.2, 0.2, 0.0], [0.2, -1.0, -0.7], [], {"mu": 0.3, "delta": 0.3})
    assert not caught.value.is_proven


def apart():
    """Two masses, each with a stop of its own."""
    return derive(
        Mechanism(
            name="apart",
            coordinates=["x", "z"],
            parameters={"d": 0.3},
            dynamics=EnergyDynamics(kinetic="x_dot**2/2 + z_dot**2/2", potential="x + z"),
            contact=[Contact(name="one", gap="x", damping="d"), Contact(name="other", gap="z", damping="d")],
        )
    )


def test_departures_and_contacts_left_at_rest():
    values, slopes = slopes_of(apart(), [0, 0], [1.0, 0.5], [])  # nothing approaches: nothing happens
    assert (values == [1.0, 0.5]).all()
    assert (slopes[:, 2:4] == np.eye(2)).all()
    with pytest.raises(NoDerivative, match="departs from rest") as refused:
        slopes_of(apart(), [0, 0], [1.0, 0.0], [])
    assert not refused.value.is_proven  # of changes that keep the contact closed it is not
