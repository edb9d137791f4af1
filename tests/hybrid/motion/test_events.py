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
    assert [set(event.carriers) for event in together.events] == [{"first", "second"}]
    apart = simulate(pair, State([1.0, 1.0 + 1e-8], [0.0, 0.0]), t_end=1, law=NewtonImpact())
    assert [event.carriers for event in apart.events] == [("first",), ("second",)]


def test_the_earliest_of_all_guards_comes_first(pair):
    motion = simulate(pair, State([1.0, 0.5], [0.0, 0.0]), t_end=1, law=NewtonImpact())
    assert [event.carriers for event in motion.events] == [("second",), ("first",)]
    assert [event.t for event in motion.events] == pytest.approx([np.sqrt(1 / G), np.sqrt(2 / G)], abs=1e-13)
