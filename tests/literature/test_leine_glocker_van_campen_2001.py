"""Leine, Glocker and Van Campen, Nonlinear dynamics of the woodpecker toy, DETC 2001, VIB-21608.

Its data are those of Glocker and Pfeiffer, Multiple impacts with friction in rigid multibody systems, Nonlinear
Dynamics 7 (1995) 471.
"""

from math import pi, sqrt

import numpy as np
import pytest

from hybrid import State, Termination, simulate, solve_state
from hybrid.contact import NewtonImpact, PoissonImpact, resolve_impact
from hybrid.contact.impacts.impact import AbstractImpactLaw, Impulses
from tests.catalogue import decide, dynamics_of, labels

G = 9.81
m_M, m_S, l_M, l_G, h_M, r_M, r_0, c_phi = 3e-4, 4.5e-3, 0.01, 0.015, 0.0058, 0.0031, 0.0025, 0.0056

# A state near the cycle: the sleeve has just tilted onto the pole, the bird swings away from it.
START = State([0, -0.1034, -0.2788], [-0.3411, 0, -7.4583])
HANGING = -(r_M - r_0) / h_M, -(r_M - r_0) / h_M - m_S * G * l_G / c_phi


@pytest.fixture(scope="module")
def motion():
    return simulate(dynamics_of("woodpecker"), START, t_end=1.3, law=NewtonImpact())


def pecks(motion):
    return np.array([event.t for event in motion.events if event.impact is not None and "beak" in event.elements])


def test_period_and_extreme_angles(motion):
    assert motion.termination is Termination.END_TIME
    # time-stepping codes give 0.1460, which still jitters by 1e-4 from cycle to cycle; the printed value is 0.1452
    assert np.mean(np.diff(pecks(motion))) == pytest.approx(0.1460, rel=5e-3)
    _, sleeve, bird = motion.sample(np.linspace(0.2, motion.t, 20001))[0].T
    assert np.min(bird) == pytest.approx(-0.53, abs=2e-3)
    # the sleeve is stopped by both edges, the beak by the pole: 0.6 mm / 5.8 mm and 2.4 mm / 20 mm
    assert np.max(sleeve) == pytest.approx(0.103448, abs=1e-6)
    assert np.min(sleeve) == pytest.approx(-0.103448, abs=1e-6)
    # a peck is a kink: it is sampled to the velocity, 7.5 rad/s, times the distance of the samples
    assert np.max(bird) == pytest.approx(0.12, abs=7.5 * 1.1 / 20000)


def test_it_falls_by_two_centimetres_a_period(motion):
    later = motion.sample([0.146, 0.146 * 7])[0][:, 0]
    # 0.01945 m a period from time-stepping, jittering like the period
    assert (later[0] - later[1]) / 6 == pytest.approx(0.01945, rel=1e-2)
    assert abs(motion.energy().residual) < 1e-12
    # the toy is driven by its weight alone: over whole periods the potential energy is what friction and impacts take
    assert motion.energy().friction < 0
    assert motion.energy().impacts < 0


def test_order_of_events_of_a_cycle(motion):
    # both edges in turn, the beak between two impacts of the upper edge (Leine, Glocker and Van Campen 2001, figure 6)
    first, second = pecks(motion)[1:3]
    struck = [event.elements[0] for event in motion.events if event.impact is not None and first <= event.t < second]
    assert struck == ["beak", "upper", "lower", "lower", "upper"]


def test_bird_at_rest_hangs_at_the_published_angle():
    assert HANGING[1] == pytest.approx(-0.2216, abs=1e-4)
    (branch,) = decide("woodpecker", {"gap.lower": 0, "phi_S": HANGING[1], "y": 0, **REST}).branches
    assert branch.mode.label == "beak=free,lower=stick,upper=free"
    np.testing.assert_allclose(branch.acceleration, 0, atol=1e-9)


REST = {"gap_dot.lower": 0, "phi_S_dot": 0, "y_dot": 0}


def test_it_jams_from_the_published_friction_on():
    # moments about the sleeve's centre, with T = (m_M + m_S) g: T/N = 0.28519
    weight = m_M + m_S
    jam = weight * h_M / (m_S * (l_G + l_M) - r_M * weight)
    assert jam == pytest.approx(0.2851875, abs=5e-8)
    state = {"gap.lower": 0, "phi_S": HANGING[1], "y": 0, **REST}
    for mu, expected in ((jam * (1 + 1e-9), "stick"), (jam * (1 - 1e-9), "slide-")):
        found = decide("woodpecker", state, mu=mu)
        assert labels(found) == [f"beak=free,lower={expected},upper=free"]


def test_jammed_toy_stays_where_it_is_and_a_smoother_one_starts_to_slide():
    toy = dynamics_of("woodpecker")
    state = State([0, *HANGING], [0, 0, 0])
    held = simulate(toy, state, t_end=1, law=NewtonImpact(), parameters={"mu": 0.2852})
    # the sleeve is held to rounding; the bird swings by what its angle is off, and by the integration's 1e-14 a step
    np.testing.assert_allclose(held.q[:2], state.q[:2], rtol=0, atol=1e-16)
    assert held.q[2] == pytest.approx(HANGING[1], abs=1e-12)
    assert not held.events
    slid = simulate(toy, state, t_end=0.01, law=NewtonImpact(), parameters={"mu": 0.27})
    assert slid.arcs[0].mode["lower"].value == "slide-"
    assert slid.q[0] < 0


def test_free_flight_swings_at_the_published_frequency():
    # w^2 = c e^T M^-1 e with e = (0, 1, -1): 72.91 Hz; a wide sleeve and a short beak keep it in the air
    M = np.array(
        [
            [m_M + m_S, m_S * l_M, m_S * l_G],
            [m_S * l_M, 5e-9 + m_S * l_M**2, m_S * l_M * l_G],
            [m_S * l_G, m_S * l_M * l_G, 7e-7 + m_S * l_G**2],
        ]
    )
    twist = np.array([0, 1, -1])
    frequency = sqrt(c_phi * twist @ np.linalg.solve(M, twist)) / (2 * pi)
    assert frequency == pytest.approx(72.91, abs=5e-3)
    toy = dynamics_of("woodpecker")
    parameters = {"r_M": 1, "h_S": 1e-9}
    motion = simulate(
        toy, State([0, 0.01, 0], [0, 0, 0]), t_end=0.2, parameters=parameters, watch={"twist": "phi_M - phi_S"}
    )
    assert np.diff([event.t for event in motion.events]) == pytest.approx(1 / (2 * frequency), abs=1e-11)
    assert len(motion.events) == 29


class CoulombAtTheEnd(AbstractImpactLaw):
    """Poisson's law of Glocker and Pfeiffer for one contact: friction by the slip at the end of each of two phases."""

    @property
    def name(self):
        return "poisson, two phases"

    def impulses(self, problem):
        (element,) = problem.elements
        mu, (e,) = float(element.friction), problem.restitution
        compression = self.phase(problem.G, problem.gamma, mu)
        gamma = problem.gamma + problem.G @ compression
        restitution = self.phase(problem.G, gamma, mu, normal=e * compression[0])
        return Impulses(compression + restitution, ())

    def phase(self, G, gamma, mu, normal=None):
        """The impulse that stops the approach, or has a given normal part, with Coulomb friction on the final slip."""
        if normal is None:
            stuck = -np.linalg.solve(G, gamma)
        else:
            stuck = np.array([normal, -(gamma[1] + G[1, 0] * normal) / G[1, 1]])
        if abs(stuck[1]) <= mu * stuck[0]:
            return stuck
        for sign in (1, -1):
            ratio = np.array([1, -sign * mu])
            impulse = ratio * (-gamma[0] / (G[0] @ ratio) if normal is None else normal)
            if impulse[0] >= 0 and sign * (gamma + G @ impulse)[1] > 0:
                return impulse
        raise AssertionError("no slip fits")


def test_poisson_by_the_final_slip_has_the_same_period(motion):
    found = simulate(dynamics_of("woodpecker"), START, t_end=0.6, law=CoulombAtTheEnd())
    assert np.diff(pecks(found)) == pytest.approx(np.diff(pecks(motion))[:3], abs=1e-9)


def test_poisson_along_the_path_of_slip_is_another_law_for_the_beak():
    # the slip of the beak reverses during the peck; laws of the final slip have one sign of friction throughout
    toy = dynamics_of("woodpecker")
    state = solve_state(
        toy, {"y": 0, "phi_M": 0, "gap.beak": 0, "y_dot": -0.135, "phi_M_dot": -2.183, "phi_S_dot": 16.931}
    )
    path = resolve_impact(toy, state, law=PoissonImpact())
    jump = resolve_impact(toy, state, law=CoulombAtTheEnd())
    assert [phase.kind for phase in path.phases] == ["slide-", "slide+"]
    assert jump.impulse_T["beak"][0] == pytest.approx(-0.3 * jump.impulse_N["beak"], rel=1e-12)
    assert abs(path.impulse_T["beak"][0]) < 0.3 * path.impulse_N["beak"] * 0.5
    # second road: Coulomb's law along the normal impulse as a differential equation, cut where the slip is zero
    terms = toy.terms(state.q, state.v)
    W = np.column_stack([terms.W_N[:, 0], terms.W_T[:, 0]])
    A, gamma = W.T @ np.linalg.solve(terms.M, W), np.array([terms.gap_dot[0], terms.slip[0]])
    first = -gamma[1] / (A[1] @ [1, 0.3])  # slip is negative: friction pushes up
    at_reversal = gamma + first * A @ [1, 0.3]
    assert at_reversal[0] < 0  # still in compression
    end = 1.5 * (first - at_reversal[0] / (A[0] @ [1, -0.3]))
    assert path.impulse_N["beak"] == pytest.approx(end, rel=1e-10)
    assert path.impulse_T["beak"][0] == pytest.approx(0.3 * first - 0.3 * (end - first), rel=1e-10)
