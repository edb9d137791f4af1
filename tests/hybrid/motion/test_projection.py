"""A state is brought back onto what its mode holds: nearest in the metric of the mass matrix, by that definition."""

from __future__ import annotations

import numpy as np
import pytest

import mechanisms
from hybrid import Mode, derive
from hybrid.contact.table import rows_of
from hybrid.motion.context import PointTerms
from hybrid.motion.projection import Constraints

EPSILON = float(np.finfo(float).eps)
SLIDING = {
    "rod_on_incline": ("tip", "slide+"),
    "painleve_rod": ("tip", "slide-"),
    "bouncing_ball": ("floor", "closed"),
    "oblique_rod": ("tip", "slide+"),
}


def holding(name: str, contact: str, label: str) -> Constraints:
    dynamics = derive(mechanisms.load(name))
    mode = Mode({contact: label})
    return Constraints(dynamics, rows_of(dynamics, mode, {}), PointTerms(dynamics))


@pytest.mark.parametrize("name", SLIDING)
def test_a_closed_contact_is_brought_to_its_gap_along_the_inertia(name: str) -> None:
    held = holding(name, *SLIDING[name])
    dynamics, random = held.dynamics, np.random.default_rng(4)
    index = dynamics.contacts.index(SLIDING[name][0])
    for _ in range(50):
        q, v = random.uniform(-1, 1, dynamics.n), random.uniform(-1, 1, dynamics.n)
        terms = dynamics.terms(q, v)
        lift = np.linalg.solve(terms.M, terms.W_N[:, index])
        near = q - lift * (terms.gap[index] - random.uniform(-1e-7, 1e-7)) / (terms.W_N[:, index] @ lift)
        for _ in range(3):  # Newton's method, onto a gap of about 1e-7
            there = dynamics.terms(near, v)
            lift = np.linalg.solve(there.M, there.W_N[:, index])
            near = near - lift * (there.gap[index] - 1e-7) / (there.W_N[:, index] @ lift)
        q_after, v_after = held.project(0.0, near, v)
        after = dynamics.terms(q_after, v_after)
        normal, size = after.W_N[:, index], 1 + np.abs(q_after).sum() + np.abs(v).sum()
        assert abs(after.gap[index]) <= 16 * EPSILON * size
        assert abs(after.gap_dot[index]) <= 16 * EPSILON * size * np.abs(normal).max()
        # moved by M^-1 w times a number, with w at most a move away
        for moved, shift in ((q_after - near, 1e-7), (v_after - v, np.abs(v_after - v).max())):
            covector = after.M @ moved
            share = covector @ normal / (normal @ normal)
            assert (
                np.abs(covector - share * normal).max() <= 16 * (shift * 1e-7 + EPSILON * size) * np.abs(after.M).max()
            )


@pytest.mark.parametrize("name", ["rod_on_incline", "painleve_rod", "oblique_rod"])
def test_a_sticking_contact_is_brought_back_to_where_it_stuck(name: str) -> None:
    """Onto a gap and a displacement at once: the move is ``M^-1`` times a combination of both directions."""
    held = holding(name, "tip", "stick")
    dynamics, random = held.dynamics, np.random.default_rng(5)
    for _ in range(50):
        q, v = random.uniform(-1, 1, dynamics.n), random.uniform(-1, 1, dynamics.n)
        held.anchors.clear()
        q, _ = held.project(0.0, q, v)  # without an anchor onto the gap alone
        held.anchor(0.0, q)
        near = q + random.uniform(-1e-7, 1e-7, dynamics.n)
        q_after, v_after = held.project(0.0, near, v)
        after = dynamics.terms(q_after, v_after)
        rows, size = np.hstack([after.W_N, after.W_T]).T, 1 + np.abs(q).sum() + np.abs(v).sum()
        held.anchor(0.0, q_after)
        anchors = dict(held.anchors)
        held.anchor(0.0, q)
        assert abs(anchors[0] - held.anchors[0]) <= 16 * EPSILON * size
        assert np.abs([after.gap[0], after.gap_dot[0], after.slip[0]]).max() <= 16 * EPSILON * size * np.abs(rows).max()
        for moved, shift in ((q_after - near, 1e-7), (v_after - v, np.abs(v_after - v).max())):
            covector = after.M @ moved
            shares = np.linalg.lstsq(rows.T, covector)[0]
            allowed = 64 * (shift * 1e-7 + EPSILON * size) * np.abs(after.M).max()
            assert np.abs(covector - rows.T @ shares).max() <= allowed


def test_a_gap_without_a_direction_is_left_as_it_is() -> None:
    """At w = 0 no position nearby closes the gap; nothing is divided by."""
    from hybrid import Contact, EnergyDynamics, Mechanism

    bowl = Mechanism(
        name="bowl",
        coordinates=["x"],
        dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="0"),
        contact=[Contact(name="rim", gap="1 + x**2")],
    )
    dynamics = derive(bowl)
    held = Constraints(dynamics, rows_of(dynamics, Mode({"rim": "closed"}), {}), PointTerms(dynamics))
    q, v = held.project(0.0, np.array([0.0]), np.array([0.5]))
    assert q.tolist() == [0.0] and v.tolist() == [0.5]
