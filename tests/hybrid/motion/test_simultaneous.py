"""Contacts that land at the same instant: one event, and a warning where the order of impacts would matter."""

import numpy as np
import pytest

import mechanisms
from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.contact import AbstractImpactLaw, NewtonImpact


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_two_ends"))


def test_flat_rod_lands_on_both_ends_in_one_event_and_says_that_the_order_matters(rod):
    # m = l = g = 1, I = 1/3, without friction: G = [[4, -2], [-2, 4]]
    parameters = {"mu": 0, "e": 0.5}
    motion = simulate(rod, State([0, 0.5, 0], [0, 0, 0]), t_end=1.5, law=NewtonImpact(), parameters=parameters)
    first = motion.events[0]
    assert (first.t, first.elements) == (pytest.approx(1.0, abs=1e-12), ("left", "right"))
    # both at once: all ends come back with half the speed of 1, and the rod stays flat
    np.testing.assert_allclose(first.v_after, [0, 0.5, 0], atol=1e-12)
    # left before right: the impulse 3/8 lifts left to 1/2 and drives right down to -7/4, which then bounces with 7/8
    # and takes left down to 1/2 - 2 (21/32) = -13/16, and so on until both rise
    velocities = np.array([-1.0, -1.0])
    G = np.array([[4.0, -2.0], [-2.0, 4.0]])
    while velocities.min() < -1e-9:
        for end in (0, 1):
            if velocities[end] < 0:
                velocities += G[:, end] * (-1.5 * velocities[end] / 4)
    rise, turn = velocities.mean(), (velocities[1] - velocities[0]) / 2
    assert (rise, turn) == (43 / 128, -9 / 128)
    warning = motion.warnings[0]
    assert warning.startswith("t = 1: left, right land at the same instant, and the outcome depends on the order")
    assert "(followed here): x_dot = 0, y_dot = 0.5, phi_dot = 0" in warning
    known = {text.split(":")[0].strip(): text for text in warning.split(";")[1:]}
    assert set(known) == {"left before right", "right before left"}
    for order, sign in (("left before right", 1), ("right before left", -1)):
        values = [float(part.split("=")[1]) for part in known[order].split(": ")[1].split(",")]
        assert values == pytest.approx([0, rise, sign * turn], abs=1e-6)
    assert warning.removeprefix("t = 1: ") in first.note


def test_contacts_that_do_not_feel_each_other_land_together_without_a_word():
    pair = derive(
        Mechanism(
            name="pair",
            coordinates=["a", "b"],
            dynamics=EnergyDynamics(kinetic="(a_dot**2 + 3*b_dot**2)/2", potential="a + 3*b"),
            contact=[Contact(name="first", gap="a", restitution="0.5"), Contact(name="second", gap="b")],
        )
    )
    motion = simulate(pair, State([0.5, 0.5], [0, 0]), t_end=1.5, law=NewtonImpact())
    assert (motion.events[0].t, motion.events[0].elements) == (pytest.approx(1.0, abs=1e-12), ("first", "second"))
    np.testing.assert_allclose(motion.events[0].v_after, [0.5, 0], atol=1e-12)
    assert not motion.warnings


def test_middle_ball_hit_from_both_sides_keeps_still_in_every_order_only_if_the_hits_are_plastic(rod):
    def chain(e):
        return derive(
            Mechanism(
                name="chain",
                coordinates=["a", "b", "c"],
                dynamics=EnergyDynamics(kinetic="(a_dot**2 + b_dot**2 + c_dot**2)/2", potential="0"),
                contact=[
                    Contact(name="ab", gap="b - a", restitution=str(e)),
                    Contact(name="bc", gap="c - b", restitution=str(e)),
                ],
            )
        )

    def hit(e):
        return simulate(chain(e), State([-1, 0, 1], [1, 0, -1]), t_end=2, law=NewtonImpact())

    # elastic: together the outer balls are thrown back, and pairwise the speeds are passed on, which gives the same
    elastic = hit(1)
    assert elastic.events[0].elements == ("ab", "bc")
    np.testing.assert_allclose(elastic.v, [-1, 0, 1], atol=1e-12)
    assert not elastic.warnings
    # half elastic: together by symmetry; one after the other the second hit meets a moving ball
    half = hit(0.5)
    np.testing.assert_allclose(half.events[0].v_after, [-0.5, 0, 0.5], atol=1e-12)
    assert "depends on the order" in half.warnings[0]


def table(legs, places):
    """A plate of unit mass and inertias on frictionless legs at given places, with e = 0.5, pulled down by 1."""
    return derive(
        Mechanism(
            name="table",
            coordinates=["z", "a", "b"],
            dynamics=EnergyDynamics(kinetic="(z_dot**2 + a_dot**2 + b_dot**2)/2", potential="z"),
            contact=[
                Contact(name=f"leg{index}", gap=f"z + ({x})*a + ({y})*b", friction="0", restitution="0.5")
                for index, (x, y) in enumerate(places[:legs])
            ],
        )
    )


SQUARE = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def one_by_one(places, order, v):
    """Newton's law at one leg after another, until none approaches: W (W . M^-1 W)^-1 with the unit matrix for M."""
    W, v = np.array([(1, x, y) for x, y in places], dtype=float), np.array(v, dtype=float)
    while (W @ v).min() < -1e-9:
        for leg in order:
            if W[leg] @ v < 0:
                v = v - 1.5 * W[leg] * (W[leg] @ v) / (W[leg] @ W[leg])
    return v


def test_the_order_of_four_legs_is_looked_at_once_and_only_until_one_differs(monkeypatch):
    asked = []
    original = NewtonImpact.impulses
    monkeypatch.setattr(NewtonImpact, "impulses", lambda law, problem: asked.append(1) or original(law, problem))
    motion = simulate(table(4, SQUARE), State([0.5, 0, 0], [0, 0, 0]), t_end=2.8, law=NewtonImpact())
    landings = [event for event in motion.events if len(event.elements) == 4]
    assert [event.t for event in landings] == pytest.approx([1, 2, 2.5, 2.75], abs=1e-9)
    (warning,) = [text for text in motion.warnings if "depends on the order" in text]
    assert warning.startswith("t = 1: leg0, leg1, leg2, leg3 land at the same instant")
    known = [part.split(": ")[1] for part in warning.split(";")[1:]]
    for order, text in zip(((0, 1, 2, 3), (3, 2, 1, 0)), known, strict=True):
        values = [float(part.split("=")[1]) for part in text.split(",")]
        assert values == pytest.approx(one_by_one(SQUARE, order, [-1, 0, 0]), abs=1e-5)
    # two orders of a few rounds, and one joint impulse a landing: not 24 orders at each
    assert len(asked) < 24 + len(landings)


def test_orders_that_were_not_tried_are_said():
    # five bodies that do not feel each other: 120 orders with one outcome, of which 24 are looked at
    five = derive(
        Mechanism(
            name="five",
            coordinates=list("abcde"),
            dynamics=EnergyDynamics(
                kinetic="(a_dot**2 + b_dot**2 + c_dot**2 + d_dot**2 + e_dot**2)/2", potential="a + b + c + d + e"
            ),
            contact=[Contact(name=f"floor_{name}", gap=name, restitution="0.5") for name in "abcde"],
        )
    )
    motion = simulate(five, State([0.5] * 5, [0] * 5), t_end=1.5, law=NewtonImpact())
    np.testing.assert_allclose(motion.events[0].v_after, [0.5] * 5, atol=1e-12)
    (warning,) = motion.warnings
    assert "24 of the 120 orders" in warning
    assert "same outcome" in warning


def test_a_law_that_fails_for_single_contacts_does_not_end_the_motion():
    class Together(AbstractImpactLaw):
        """Newton's law for all contacts at once, and for nothing less."""

        @property
        def name(self):
            return "together"

        def impulses(self, problem):
            if len(problem.elements) < 4:
                raise ZeroDivisionError("one leg alone")
            return NewtonImpact().impulses(problem)

    motion = simulate(table(4, SQUARE), State([0.5, 0, 0], [0, 0, 0]), t_end=1.5, law=Together())
    assert motion.termination is Termination.END_TIME
    assert motion.v == pytest.approx([0, 0, 0], abs=1e-12)
    assert "leg0 before leg1 before leg2 before leg3: ZeroDivisionError: one leg alone" in motion.warnings[0]
