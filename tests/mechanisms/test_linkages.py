"""The catalogue's linkages: their constraints by hand, and numbers derived or published."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from hybrid import Termination, build_automaton, simulate, solve_state
from hybrid.contact import NewtonImpact
from tests.bodies import DIGITS, STEP
from tests.catalogue import dynamics_of
from tests.linkages import CORNERS, LINKAGES, opening, rod_extension

# the constraints of the catalogue as functions of the position
CONSTRAINTS = {
    "singular_pendulum": lambda q, p: (rod_extension(q, p),),
    "four_bar": opening,
    "painleve_klein": lambda q, p: (
        # the length between the masses along the rod, less that between the rails
        ((q[0] - q[2] + 1j * (q[1] - q[3])) * mp.expj(-p["phi"])).real - p["h"] * mp.cot(p["phi"]) * mp.cos(p["phi"]),
        q[1],
        q[3],
    ),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_agree_with_differences_of_those_written_by_hand(name):
    body, dynamics = LINKAGES[name], dynamics_of(name)
    generator = np.random.default_rng(5)
    for _ in range(4):
        overrides = {key: float(generator.uniform(*interval)) for key, interval in body.drawn.items()}
        q, v = generator.uniform(body.low, body.high), generator.uniform(-2, 2, len(body.low))
        found = dynamics.terms(q, v, parameters=overrides)
        with mp.workdps(DIGITS):
            p = {key: mp.mpf(float(value)) for key, value in dynamics.mechanism.parameter_values(overrides).items()}

            def at(s, direction, q=q, p=p):
                moved = [mp.mpf(a) + s * mp.mpf(b) for a, b in zip(q, direction, strict=True)]
                return np.array(CONSTRAINTS[name](moved, p), dtype=object)

            def slope(direction, at=at):
                return (at(STEP, direction) - at(-STEP, direction)) / (2 * STEP)

            zero = at(0, v)
            bend = (at(STEP, v) - 2 * zero + at(-STEP, v)) / STEP**2
            expected = {
                "constraint": zero,
                "constraint_dot": slope(v),
                "J": np.array([slope(unit) for unit in np.eye(len(q))]).T,
                "zeta_B": bend,
            }
        for quantity, value in expected.items():
            np.testing.assert_allclose(
                getattr(found, quantity), np.array(value, dtype=float), rtol=1e-9, atol=1e-9, err_msg=quantity
            )


@pytest.mark.parametrize(("l", "g"), [(1.0, 9.81), (0.3, 1.6)])
def test_double_pendulum_has_its_frequencies(l, g):  # noqa: E741
    # equal masses and lengths: w^2 = (2 +- sqrt 2) g/l (Arnold 1989, section 23)
    dynamics = dynamics_of("double_pendulum")
    parameters = {"l1": l, "l2": l, "g": g}
    M = dynamics.terms([0, 0], [0, 0], parameters=parameters).M
    h = 1e-6
    K = [
        (dynamics.terms(-d, [0, 0], parameters=parameters).h - dynamics.terms(d, [0, 0], parameters=parameters).h)
        / (2 * h)
        for d in np.eye(2) * h
    ]
    np.testing.assert_allclose(eigh(K, M, eigvals_only=True), (2 + np.sqrt(2) * np.array([-1, 1])) * g / l, rtol=1e-9)


def test_closed_loop_has_an_automaton_of_one_mode_whose_closed_form_nobody_reads():
    # eliminating two closures symbolically would take hours; the equations are stated instead
    automaton = build_automaton(dynamics_of("four_bar"))
    assert len(automaton.graph) == 1


FLORES = {"l1": 0.153, "l2": 0.306, "m1": 0.038, "m2": 0.038, "m3": 0.076, "J1": 7.4e-5, "J2": 5.9e-4, "g": 9.81}


def free_slider_crank(t_end):
    """Flores, Leine and Glocker 2010: crank and rod without contact, from their equations of motion."""
    p = FLORES
    A = p["J1"] + (p["m1"] / 4 + p["m2"] + p["m3"]) * p["l1"] ** 2
    B = (p["m2"] / 2 + p["m3"]) * p["l1"] * p["l2"]
    C = p["J2"] + (p["m2"] / 4 + p["m3"]) * p["l2"] ** 2

    def rate(t, y):
        s, c = np.sin(y[0] - y[1]), np.cos(y[0] - y[1])
        weight = [(p["m1"] / 2 + p["m2"] + p["m3"]) * p["l1"], (p["m2"] / 2 + p["m3"]) * p["l2"]]
        right = [
            -p["g"] * weight[0] * np.cos(y[0]) - B * s * y[3] ** 2,
            -p["g"] * weight[1] * np.cos(y[1]) + B * s * y[2] ** 2,
        ]
        return [y[2], y[3], *np.linalg.solve([[A, B * c], [B * c, C]], right)]

    def touching(t, y):
        # the slider does not tilt: its upper or lower side touches when it has moved across by the clearance
        return 0.001 - abs(p["l1"] * np.sin(y[0]) + p["l2"] * np.sin(y[1]))

    touching.terminal = True
    return solve_ivp(rate, (0, t_end), [0, 0, 150, -75], method="DOP853", rtol=1e-12, atol=1e-14, events=touching)


def test_slider_crosses_its_clearance_as_in_the_published_equations():
    # the published start: crank at 150 rad/s, connecting rod at -75 rad/s, so that the slider moves along the guide
    dynamics = dynamics_of("slider_crank")
    pins = {"theta1": 0, "theta2": 0, "theta3": 0, "theta1_dot": 150, "theta2_dot": -75, "theta3_dot": 0}
    start = solve_state(dynamics, pins)
    motion = simulate(dynamics, start, t_end=0.05)
    assert motion.termination is Termination.NO_IMPACT_LAW
    by_hand = free_slider_crank(0.05)
    assert motion.t == pytest.approx(by_hand.t_events[0][0], abs=1e-10)
    np.testing.assert_allclose(motion.q[:2], by_hand.y_events[0][0][:2], atol=1e-9)
    # a slider that does not tilt lands on a whole side
    touched = set(motion.events[-1].elements)
    assert touched in ({"upper_rear", "upper_front"}, {"lower_rear", "lower_front"})
    with_law = simulate(dynamics, start, t_end=0.006, law=NewtonImpact())
    assert with_law.termination is Termination.END_TIME
    assert with_law.events
    gaps = dynamics.kinematics(with_law.sample(np.linspace(0, 0.006, 400))[0], np.zeros(3))["gap"]
    assert gaps.min() > -1e-9
    assert gaps.shape[-1] == len(CORNERS)


def test_without_clearance_the_slider_stands_where_the_law_of_cosines_puts_it():
    dynamics = dynamics_of("slider_crank")
    state = solve_state(
        dynamics,
        {"theta1": 0.7, "theta3": 0, "gap.lower_rear": 0, "theta1_dot": 0, "theta2_dot": 0, "theta3_dot": 0},
        parameters={"clearance": 0},
    )
    x = 0.153 * np.cos(0.7) + 0.306 * np.cos(state.q[1])
    assert x == pytest.approx(0.153 * np.cos(0.7) + np.sqrt(0.306**2 - (0.153 * np.sin(0.7)) ** 2), rel=1e-12)
