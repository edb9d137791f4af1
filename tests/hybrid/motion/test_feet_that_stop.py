"""Spatial feet of one body that come to rest: all at once where it does not turn, one by one where it does."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.contact.activity import Activity, assemble
from hybrid.errors import ComputationError
from hybrid.motion import EventKind

G, MU, INERTIA = 9.81, 0.4, 0.1
FEET = {3: [(0.4, 0.0), (-0.2, 0.3), (-0.2, -0.3)], 4: [(0.3, 0.2), (-0.3, 0.2), (0.3, -0.2), (-0.3, -0.2)]}


@cache
def body(feet, *, height=0.1, grip=MU):
    """A rigid body that tilts by small angles a, b and turns by c, with its centre at a height above its feet.

    The first foot has a friction of its own. The push acts at the centre.
    """
    contacts = [
        Contact(
            name=f"c{i}", gap=f"z + ({y})*a - ({x})*b", friction=str(MU if i else grip),
            slip=[f"x_dot - {height}*b_dot - ({y})*c_dot", f"y_dot + {height}*a_dot + ({x})*c_dot"],
        )
        for i, (x, y) in enumerate(FEET[feet])
    ]  # fmt: skip
    kinetic = f"m*(x_dot**2 + y_dot**2 + z_dot**2)/2 + {INERTIA}*m*(a_dot**2 + b_dot**2 + c_dot**2)/2"
    return derive(
        Mechanism(
            name="feet", coordinates=["x", "y", "z", "a", "b", "c"], parameters={"m": 1.0, "X": 0.0, "Y": 0.0},
            dynamics=EnergyDynamics(kinetic=kinetic, potential=f"m*{G}*z"), forces={"x": "m*X", "y": "m*Y"},
            contact=contacts,
        )
    )  # fmt: skip


def rest_of_particle(v, push):
    """Time and place at which a particle comes to rest, integrated over ``dtau = dt/s``, for which nothing is singular.

    The accelerations ``push - mu g v/s`` become ``push s - mu g v``: all decays at the rate ``mu g - |push|`` at least.
    """

    def rates(tau, y):
        s = math.hypot(y[2], y[3])
        return [y[2] * s, y[3] * s, *(push * s - MU * G * y[2:4]), s]

    push = np.array(push)
    end = 40.0 / (MU * G - math.hypot(*push))
    y = solve_ivp(rates, (0.0, end), [0.0, 0.0, *v, 0.0], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    return y[4], y[:2]


@pytest.mark.parametrize(
    ("feet", "mass", "v", "push"),
    [
        (3, 1.0, (1.0, 0.0), (0.0, 1.0)),  # the direction of no slip
        (3, 1.0, (1.0, -0.5), (0.0, 1.0)),  # one foot in a direction of rounding
        pytest.param(3, 1e6, (1.0, 0.0), (0.0, 3.5), marks=pytest.mark.long),
        pytest.param(3, 1.0, (0.3, 0.7), (1.5, -2.0), marks=pytest.mark.long),
        (3, 1e-6, (-0.2, 0.1), (0.5, 0.5)),
        (4, 1e6, (1.0, 0.5), (0.98, 0.49)),
    ],
)
def test_all_feet_of_a_body_that_does_not_turn_stop_as_a_particle_does(feet, mass, v, push):
    # friction at the feet tilts the body along the slip alone, so that its loads give no moment about the vertical
    stop, place = rest_of_particle(v, push)
    start = State(np.zeros(6), [*v, 0.0, 0.0, 0.0, 0.0])
    motion = simulate(body(feet), start, t_end=stop + 0.1, parameters={"m": mass, "X": push[0], "Y": push[1]})
    assert motion.termination is Termination.END_TIME
    names = tuple(f"c{i}" for i in range(feet))
    assert [(event.kind, event.elements) for event in motion.events] == [(EventKind.SLIP_END, names)]
    # d/dt [s (f + a cos h)] = a^2 - f^2, s the slip at the angle h to the push a, f = mu g
    f, a = MU * G, math.hypot(*push)
    assert motion.events[0].t == pytest.approx((f * math.hypot(*v) + np.dot(push, v)) / (f**2 - a**2), rel=1e-9)
    assert motion.events[0].t == pytest.approx(stop, rel=1e-9)  # over so brief a time the deceleration is constant
    assert motion.q == pytest.approx([*place, 0.0, 0.0, 0.0, 0.0], abs=1e-9)
    assert motion.v == pytest.approx(np.zeros(6), abs=1e-15)  # at rest but for the last places
    assert set(motion.arcs[-1].mode.values()) == {"stick"}


def test_feet_turn_on_about_one_that_has_stopped():
    # With the centre as high as the feet each bears a third of the weight, and about the first foot the body turns with
    # the moment of friction of the two others, 0.67 from it, alone. The first foot grips the floor by more.
    tripod = body(3, height=0.0, grip=3.0)
    lever, arm = math.hypot(0.6, 0.3), 0.4
    start = State(np.zeros(6), [0.05, 0.02 - arm * 3.0, 0.0, 0.0, 0.0, 3.0])
    motion = simulate(tripod, start, t_end=1.5)
    assert motion.termination is Termination.END_TIME
    first, second = motion.events
    assert [first.elements, second.elements] == [("c0",), ("c1", "c2")]
    turning = first.v_after[5]
    assert turning > 1.0
    lasts = turning * (INERTIA + arm**2) / (2 * MU * G / 3 * lever)
    assert second.t - first.t == pytest.approx(lasts, rel=1e-9)
    assert motion.v == pytest.approx(np.zeros(6), abs=1e-15)  # at rest but for the last places


def test_a_slip_left_over_that_decelerates_ends():
    # Beside a puck at rest another one, on a belt of speed 1, is slower by 1e-7, and is pushed forward: what is left of
    # its slip lies opposite to the push, a direction from which friction turns slips away, and ends on a straight line.
    names = ["xa", "ya", "za", "xb", "yb", "zb"]
    contacts = [
        Contact(name="a", gap="za", tangent=["xa", "ya"], friction="0.1"),
        Contact(name="b", gap="zb", tangent=["xb - t", "yb"], friction="0.1"),
    ]
    kinetic = " + ".join(f"{name}_dot**2/2" for name in names)
    dynamics = EnergyDynamics(kinetic=kinetic, potential=f"{G}*(za + zb)")
    pucks = derive(
        Mechanism(name="pucks", coordinates=names, dynamics=dynamics, forces={"xb": "0.5"}, contact=contacts)
    )
    left = 1e-7
    motion = simulate(pucks, State(np.zeros(6), [0.0, 0.0, 0.0, 1.0 - left, 0.0, 0.0]), t_end=1.0)
    assert motion.termination is Termination.END_TIME
    assert [(event.kind, event.elements) for event in motion.events] == [(EventKind.SLIP_END, ("b",))]
    assert motion.events[0].t == pytest.approx(left / (0.1 * G + 0.5), rel=1e-6)  # 1 - left is rounded by 1e-9 of left
    assert motion.v == pytest.approx([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], abs=1e-15)


def test_friction_of_a_slip_of_nothing_is_refused():
    tripod = body(3)
    activities = (Activity.SLIPPING,) * 3
    with pytest.raises(ComputationError, match="'c0' is said to slip, and its slip is exactly zero"):
        assemble(tripod, tripod.terms(np.zeros(6), np.zeros(6)), activities, sides={})
