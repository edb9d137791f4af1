"""Located events against closed forms."""

import numpy as np
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.contact import NewtonImpact

G = 9.81


@pytest.fixture(scope="module")
def ball():
    return derive(mechanisms.load("bouncing_ball"))


@pytest.mark.parametrize("number", [300, pytest.param(4000, marks=pytest.mark.long)])
def test_random_hops_from_the_floor_all_land(ball, number):
    random = np.random.default_rng(1)
    for v in 10.0 ** random.uniform(-8, 0, number):
        landing = simulate(ball, State([0.0], [v]), t_end=4 * v / G)
        assert landing.termination is Termination.NO_IMPACT_LAW
        # two roundings of the time of flight
        assert landing.t == pytest.approx(2 * v / G, rel=1e-13)
        assert landing.v[0] == pytest.approx(-v, rel=1e-13)


def test_a_short_hop_inside_a_long_simulation_lands(ball):
    for v in 10.0 ** np.arange(-8, 1.0):
        landing = simulate(ball, State([0.0], [v]), t_end=1e3)
        assert landing.t == pytest.approx(2 * v / G, rel=1e-12)


@pytest.fixture(scope="module")
def swinging():
    """A point on a spring above a floor that it reaches or just misses: y = h + cos t, floor at zero."""
    return derive(
        Mechanism(
            name="swinging",
            coordinates=["y"],
            parameters={"h": 1},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="(y - h)**2/2"),
            contact=[Contact(name="floor", gap="y")],
        )
    )


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_grazing_is_found_down_to_a_depth_of_1e_10(swinging, depth):
    touching = simulate(swinging, State([2 - depth], [0.0]), t_end=20, parameters={"h": 1 - depth})
    assert touching.termination is Termination.NO_IMPACT_LAW
    # the state is known to about 1e-13, the slope at the crossing is sqrt(2 depth)
    assert touching.t == pytest.approx(np.arccos(-1 + depth), abs=1e-12 + 1e-12 / np.sqrt(2 * depth))
    missing = simulate(swinging, State([2 + depth], [0.0]), t_end=20, parameters={"h": 1 + depth})
    assert missing.termination is Termination.END_TIME
    assert not missing.events


def test_a_tangential_start_leaves_the_floor_and_comes_back(swinging):
    # y = 1 - cos t starts with y = y' = 0 and touches the floor again at 2 pi, without velocity: below 1e-9 it rests
    lifted = simulate(swinging, State([0.0], [0.0]), t_end=6.2, parameters={"h": 1})
    assert lifted.termination is Termination.END_TIME
    assert lifted.q[0] == pytest.approx(1 - np.cos(6.2), abs=1e-11)


@pytest.mark.parametrize("number", [150, pytest.param(4000, marks=pytest.mark.long)])
def test_random_grazing_motions_touch_or_miss(swinging, number):
    # y = h + R cos(t + phase) reaches the floor where cos = -h/R, and stays above it where h > R
    random = np.random.default_rng(7)
    for _ in range(number):
        radius, depth = random.uniform(0.5, 2.0), 10.0 ** random.uniform(-10, -2)
        phase = random.uniform(-2.0, 2.0)
        for side in (-1.0, 1.0):
            h = radius + side * depth
            start = State([h + radius * np.cos(phase)], [-radius * np.sin(phase)])
            motion = simulate(swinging, start, t_end=9.0, parameters={"h": h})
            if side > 0:
                assert motion.termination is Termination.END_TIME
                assert not motion.events
                continue
            assert motion.termination is Termination.NO_IMPACT_LAW
            # the state is known to about 1e-12 after a period, and the floor is crossed with the speed sqrt(R^2 - h^2)
            speed = np.sqrt((radius - h) * (radius + h))
            assert motion.t == pytest.approx(np.arccos(-h / radius) - phase, abs=1e-12 + 2e-12 / speed)


@pytest.mark.parametrize("number", [150, pytest.param(4000, marks=pytest.mark.long)])
def test_random_tangential_starts_leave_the_floor_and_come_back(number):
    # y'' = 2 a b - 6 a t from rest on the floor: y = a t^2 (b - t), which starts without velocity and lands at b
    lifted = derive(
        Mechanism(
            name="lifted",
            coordinates=["y"],
            parameters={"a": 1, "b": 1},
            dynamics=EnergyDynamics(kinetic="y_dot**2/2", potential="0"),
            forces={"y": "2*a*b - 6*a*t"},
            contact=[Contact(name="floor", gap="y")],
        )
    )
    random = np.random.default_rng(8)
    for _ in range(number):
        a, b = 10.0 ** random.uniform(-2, 3), 10.0 ** random.uniform(-2, 1)
        motion = simulate(lifted, State([0.0], [0.0]), t_end=2 * b, parameters={"a": a, "b": b})
        assert motion.termination is Termination.NO_IMPACT_LAW
        # a polynomial that the integrator follows up to its error: 1e-14 next to the speed of landing, a b^2 > 1e-6
        assert motion.t == pytest.approx(b, abs=1e-13 + 1e-13 / (a * b**2))


@pytest.fixture(scope="module")
def dome():
    """A point above a dome whose gap has no value outside it."""
    return derive(
        Mechanism(
            name="dome",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="9.81*y"),
            contact=[Contact(name="dome", gap="y - sqrt(1 - x**2)")],
        )
    )


@pytest.mark.parametrize("number", [200, pytest.param(4000, marks=pytest.mark.long)])
def test_throws_onto_a_dome_land_or_end_where_its_gap_loses_its_value(dome, number):
    # second road: the zeros of the polynomial (x + v t)^2 + (y - g t^2/2)^2 - 1 on the upper half of the circle
    random = np.random.default_rng(0)
    landed = 0
    for _ in range(number):
        x, v = random.uniform(0, 0.9), random.uniform(0.5, 4)
        y = np.sqrt(1 - x * x) + random.uniform(0.01, 1.0)
        edge = (1 - x) / v
        across, up = np.poly1d([v, x]), np.poly1d([-G / 2, 0, y])
        zeros = (across * across + up * up - 1).roots
        times = zeros.real[np.abs(zeros.imag) < 1e-9]
        times = times[(times > 0) & (times < edge) & (up(times) > 0)]
        motion = simulate(dome, State([x, y], [v, 0]), t_end=5)
        if times.size:
            landed += 1
            assert motion.termination is Termination.NO_IMPACT_LAW
            # companion matrices give a zero to about 1e-14 over the distance to the next one
            assert motion.t == pytest.approx(times.min(), abs=1e-8)
            assert abs(motion.q[1] - np.sqrt(1 - motion.q[0] ** 2)) < 1e-11
        else:
            assert motion.termination is Termination.UNDEFINED
            assert motion.t == pytest.approx(edge, abs=1e-11)
            assert "'dome' has no value beyond" in motion.cause
    assert landed > number / 20


def test_a_throw_from_the_dome_itself_ends_where_its_gap_loses_its_value(dome):
    motion = simulate(dome, State([0.3, np.sqrt(1 - 0.09)], [1.0, 3.0]), t_end=5)
    assert motion.termination is Termination.UNDEFINED
    assert motion.t == pytest.approx(0.7, abs=1e-12)


@pytest.fixture(scope="module")
def pair():
    """Two points that fall on two floors."""
    return derive(
        Mechanism(
            name="pair",
            coordinates=["a", "b"],
            parameters={"g": G},
            dynamics=EnergyDynamics(kinetic="(a_dot**2 + b_dot**2)/2", potential="g*(a + b)"),
            contact=[Contact(name="first", gap="a"), Contact(name="second", gap="b")],
        )
    )


def test_guards_that_fire_together_are_one_event(pair):
    together = simulate(pair, State([1.0, 1.0], [0.0, 0.0]), t_end=1, law=NewtonImpact())
    assert [set(event.elements) for event in together.events] == [{"first", "second"}]
    apart = simulate(pair, State([1.0, 1.0 + 1e-8], [0.0, 0.0]), t_end=1, law=NewtonImpact())
    assert [event.elements for event in apart.events] == [("first",), ("second",)]


def test_the_earliest_of_all_guards_comes_first(pair):
    motion = simulate(pair, State([1.0, 0.5], [0.0, 0.0]), t_end=1, law=NewtonImpact())
    assert [event.elements for event in motion.events] == [("second",), ("first",)]
    assert [event.t for event in motion.events] == pytest.approx([np.sqrt(1 / G), np.sqrt(2 / G)], abs=1e-13)


def test_a_detachment_at_the_instant_of_an_impact_elsewhere_is_recorded():
    # the first point falls onto its floor at sqrt(2/g), where the force that presses the second one has come to zero
    landing = float(np.sqrt(2 / G))
    apart = derive(
        Mechanism(
            name="apart",
            coordinates=["a", "b"],
            dynamics=EnergyDynamics(kinetic="(a_dot**2 + b_dot**2)/2", potential="9.81*a"),
            forces={"b": f"t - {landing!r}"},
            contact=[Contact(name="first", gap="a"), Contact(name="second", gap="b")],
        )
    )
    motion = simulate(apart, State([1.0, 0.0], [0.0, 0.0]), t_end=0.6, law=NewtonImpact(restitution=0.5))
    known = {(event.kind.value, event.elements) for event in motion.events}
    assert known == {("impact", ("first",)), ("detachment", ("second",))}
    assert [event.t for event in motion.events] == pytest.approx([landing, landing], abs=1e-12)
    assert motion.q[1] == pytest.approx((0.6 - landing) ** 3 / 6, abs=1e-13)
