"""Which way a contact slips after an impact: read off velocities that satisfy what is held, and never contradicted."""

import itertools

import attrs
import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.activity import Activity
from hybrid.motion.arguments import Settings, Stop
from hybrid.motion.context import Context
from hybrid.motion.selecting import decide
from hybrid.motion.transitions import moment_at_start

HIP, LEG, B, G, SLOPE, MU = 10.0, 5.0, 0.5, 9.81, 0.05, 0.6  # masses, length of a leg 1, its centre at B from the hip


@pytest.fixture(scope="module")
def biped():
    """Compass biped: two legs without inertia of their own, on feet that are points."""
    legs = ("th1", "th2")
    speed = "((x_dot + {0}*cos({1})*{1}_dot)**2 + (y_dot + {0}*sin({1})*{1}_dot)**2)/2"
    height = "(cos({3})*(y - {0}*cos({1})) - sin({3})*(x + {0}*sin({1})))*{2}"
    return derive(
        Mechanism(
            name="compass",
            coordinates=["x", "y", *legs],
            dynamics=EnergyDynamics(
                kinetic=f"{HIP}*{speed.format(0, 'th1')}" + "".join(f"+ {LEG}*{speed.format(B, q)}" for q in legs),
                potential=height.format(0, "th1", HIP * G, SLOPE)
                + "".join("+" + height.format(B, q, LEG * G, SLOPE) for q in legs),
            ),
            contact=[
                Contact(name=f"foot{i + 1}", gap=f"y - cos({q})", tangent=f"x + sin({q})", friction=str(MU))
                for i, q in enumerate(legs)
            ],
        )
    )


def stepped(q, v, *, h, t_end):
    """Moreau's time-stepping of the biped, with equations written by hand and every mode of the impulses tried."""
    for _ in range(round(t_end / h)):
        middle = q + h / 2 * v
        s, c, w = np.sin(middle[2:]), np.cos(middle[2:]), v[2:]
        M = np.diag([HIP + 2 * LEG] * 2 + [LEG * B * B] * 2)
        M[0, 2:] = M[2:, 0] = LEG * B * c
        M[1, 2:] = M[2:, 1] = LEG * B * s
        down = np.array([G * np.sin(SLOPE), -G * np.cos(SLOPE)])
        turning = LEG * B * np.array([s @ w**2, -(c @ w**2)])
        force = np.concatenate([(HIP + 2 * LEG) * down + turning, LEG * B * (c * down[0] + s * down[1])])
        v = v + h * np.linalg.solve(M, force)
        closed = [i for i in range(2) if middle[1] - c[i] <= 0]
        if closed:
            rows = [[[0, 1, *(s[i] * np.eye(2)[i])], [1, 0, *(c[i] * np.eye(2)[i])]] for i in closed]
            W = np.reshape(rows, (-1, 4)).T
            lift = np.linalg.solve(M, W)
            v = v + lift @ impulses(W.T @ lift, W.T @ v)
        q = middle + h / 2 * v
    return q, v


def impulses(D, u):
    """The impulses of the mode that violates its conditions least (where both feet are one, their share is free)."""
    found = []
    for mode in itertools.product(("free", "stick", "+", "-"), repeat=len(u) // 2):
        A, r = np.eye(len(u)), np.zeros(len(u))
        for n, label in zip(range(0, len(u), 2), mode, strict=True):
            if label != "free":
                A[n], r[n] = D[n], -u[n]
            if label == "stick":
                A[n + 1], r[n + 1] = D[n + 1], -u[n + 1]
            elif label != "free":
                A[n + 1, n] = MU if label == "+" else -MU
        P = np.linalg.lstsq(A, r, rcond=1e-9)[0] if len(u) > 2 else np.linalg.solve(A, r)
        N, T, rise, slip = P[::2], P[1::2], (u + D @ P)[::2], (u + D @ P)[1::2]
        stuck = np.array([label == "stick" for label in mode])
        against = np.array([{"+": -1.0, "-": 1.0}.get(label, 0.0) for label in mode])
        pressing = np.array([label != "free" for label in mode])
        wrong = [-N, np.abs(T) - MU * N, -rise, np.abs(rise) * pressing, np.abs(slip) * stuck, slip * against]
        found.append((max(np.max(part) for part in wrong), P))
        if found[-1][0] < 1e-9:
            break
    return min(found, key=lambda item: item[0])[1]


def test_a_biped_goes_on_after_its_feet_have_landed_one_on_the_other(biped):
    w = (-1.2, 0.3)
    c, s = np.cos(0.25), np.sin(0.25)
    q, v = np.array([0, c, -0.25, 0.25]), np.array([-c * w[0], s * w[0], *w])
    motion = simulate(biped, State(q, v), t_end=1.0, law=NewtonImpact(restitution=0))
    assert motion.termination is Termination.END_TIME
    # first order in the step; an impact falls anywhere within a step, so that the ratio scatters about 8
    far, near = (np.max(np.abs(stepped(q, v, h=h, t_end=1.0)[0] - motion.q)) for h in (8e-3, 1e-3))
    assert far / near > 8**0.75
    # after the landing at 0.598 the legs turn by 0.87
    assert near < 0.05 * 0.87


def test_a_slip_that_contradicts_the_velocities_is_a_defect_that_raises(biped):
    c, s = np.cos(0.25), np.sin(0.25)
    context = Context(biped, Settings(), NewtonImpact(), Stop())
    # the hip turns about a foot that slides forward with 0.1
    moment = moment_at_start(context, 0.0, np.array([0, c, -0.25, 0.3]), np.array([c + 0.1, -s, -1, 0]), {})
    assert moment.activities["foot1"] is Activity.SLIPPING_PLUS
    assert decide(context, moment, 1.0).choice is not None
    wrong = attrs.evolve(moment, activities={**moment.activities, "foot1": Activity.SLIPPING_MINUS})
    with pytest.raises(AssertionError, match=r"'foot1' is said to slip with the sign -1, and its slip is 0\.1"):
        decide(context, wrong, 1.0)


@pytest.mark.parametrize("law", [NewtonImpact(), PoissonImpact(), EnergeticImpact()])
@pytest.mark.parametrize("values", [{"a": 0.4, "mu": 0.3}, {"a": 0.7, "mu": 0.9}, {"a": -0.3, "mu": 0.5}])
def test_a_bead_on_a_rough_rail_slides_on_after_it_met_an_oblique_stop(law, values):
    """Compression by the impulse P: ``m dv = -P (cos a + mu sin a)``, restitution: ``m dv = -P (cos a - mu sin a)``."""
    bead = derive(
        Mechanism(
            name="bead",
            coordinates=["x", "y"],
            parameters={"m": 1.0, "mu": 0.3, "a": 0.4, "e": 0.5},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2"),
            contact=[Contact(name="stop", gap="-x*cos(a) + y*sin(a)", restitution="e")],
            constraint=[Constraint(name="rail", equation="y", tangent="x", friction="mu")],
        )
    )
    motion = simulate(bead, State([-1.0, 0.0], [2.0, 0.0]), t_end=1.0, parameters=values, law=law)
    lost = values["mu"] * abs(np.tan(values["a"]))
    ratio = (1 - lost) / (1 + lost)
    share = {NewtonImpact: 1.0, PoissonImpact: ratio, EnergeticImpact: np.sqrt(ratio)}[type(law)]
    assert motion.termination is Termination.END_TIME
    assert [event.t for event in motion.events] == pytest.approx([0.5])
    assert motion.sample(1.0)[1] == pytest.approx([-0.5 * 2.0 * share, 0.0], abs=1e-12)
