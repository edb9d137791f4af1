"""A state that no verdict decides ends a motion, by whatever way the motion comes to it."""

import numpy as np
import pytest

import lcp
from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, Verdict, derive, simulate
from hybrid.contact import NewtonImpact, selection
from hybrid.contact.selection import select_in_floats
from hybrid.contact.verdict import Crosscheck
from hybrid.motion import SelectionRule

UNDECIDABLE = (Termination.UNDECIDED, Termination.INDETERMINATE)


class First(SelectionRule):
    """Takes the first branch."""

    def choose(self, selection):
        return selection.branches[0]


def boxes(*, static=None):
    """Two boxes of mass 1 and weight 10 on floors with friction 0.6 and 0.1, and 0.5 between their sides."""
    return derive(
        Mechanism(
            name="two_boxes",
            coordinates=["x1", "y1", "x2", "y2"],
            dynamics=EnergyDynamics(kinetic="(x1_dot**2+y1_dot**2+x2_dot**2+y2_dot**2)/2", potential="10*(y1+y2)"),
            contact=[
                Contact(name="c0", gap="y1", tangent="x1", friction="0.6"),
                Contact(name="c1", gap="y2", tangent="x2", friction="0.1"),
                Contact(
                    name="pair", gap="x2-x1", tangent="y2-y1", friction="0.5", static_friction=static, restitution="0"
                ),
            ],
        )
    )


@pytest.mark.parametrize("static", [None, "0.6"])
def test_boxes_that_press_each_other_end_a_motion_by_an_impact_as_they_do_at_its_start(static):
    # Moving left, box 2 runs into box 1, whose floor brakes more. Friction T between their sides loads one floor and
    # relieves the other, -mu_s N <= T <= mu_s N: the common deceleration ((0.6 (10 + T) + 0.1 (10 - T))/2 = 3.5 + T/4
    # goes with N = 2.5 + 0.35 T, and so is anything within these bounds.
    mu = float(static or "0.5")
    least, most = (3.5 + 0.25 * side * mu * 2.5 / (1 - 0.35 * side * mu) for side in (-1, 1))
    assert most - least > 0.6
    dynamics = boxes(static=static)
    at_once = simulate(dynamics, State([0, 0, 0, 0], [-1, 0, -1, 0]), t_end=1, law=NewtonImpact())
    by_impact = simulate(dynamics, State([0, 0, 0.01, 0], [-1, 0, -2, 0]), t_end=1, law=NewtonImpact())
    assert [event.elements for event in by_impact.events] == [("pair",)]
    # decelerations of 6 and 1 close the gap 0.01 - t - 5/2 t^2; plastic, the boxes share their momentum
    hit = (np.sqrt(1 + 4 * 2.5 * 0.01) - 1) / 5
    assert by_impact.t == pytest.approx(hit, rel=1e-9)
    np.testing.assert_allclose(by_impact.v, [-1.5 + 3.5 * hit, 0, -1.5 + 3.5 * hit, 0], atol=1e-12)
    assert by_impact.termination is at_once.termination
    assert by_impact.termination in UNDECIDABLE
    # a rule may choose, and then the motion says so
    chosen = simulate(dynamics, State([0, 0, 0.01, 0], [-1, 0, -2, 0]), t_end=0.02, law=NewtonImpact(), rule=First())
    assert "the rule took" in chosen.events[1].note


def test_a_solution_that_no_mode_has_leaves_a_motion_open(monkeypatch):
    # what a defect of the enumeration would make the cross-check say; the box is at the limit of sticking, a tie, which
    # alone does not end a motion
    box = derive(
        Mechanism(
            name="box",
            coordinates=["x", "y"],
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2", potential="10*y"),
            forces={"x": "5"},
            contact=[Contact(name="floor", gap="y", tangent="x", friction="0.5")],
        )
    )
    rest = State([0, 0], [0, 0])
    assert simulate(box, rest, t_end=1).termination is Termination.END_TIME
    other = Crosscheck(lcp.Status.SOLVED, False, "Lemke's method finds accelerations that no mode has")
    monkeypatch.setattr(selection, "crosscheck", lambda *_: other)
    found = select_in_floats(box, rest)
    assert (found.verdict, found.is_exhaustive) == (Verdict.UNDECIDED, False)
    assert simulate(box, rest, t_end=1).termination is Termination.UNDECIDED
