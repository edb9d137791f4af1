"""Random motions with impacts and stick-slip: adjoint, forward and differences agree, or the answer says why."""

from collections import Counter

import numpy as np
import pytest

from hybrid import Functional, State, sensitivity, simulate
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact
from hybrid.errors import HybridError
from tests.catalogue import dynamics_of

LAWS = [NewtonImpact(), PoissonImpact(), EnergeticImpact(), KelvinVoigtLimit()]
# Parameters to differentiate with respect to, duration, size of the start.
MECHANISMS = {
    "rod_on_incline": (["mu", "e", "l"], 1.5, 0.5),
    "block_on_belt": (["mu", "k", "belt_speed"], 4, 0.3),
    "painleve_rod": (["mu", "e", "alpha"], 1.5, 0.5),
    "bouncing_ball": (["e", "g"], 0.8, 0.5),
    "ball_on_vibrating_table": (["e", "Gamma"], 0.2, 0.02),
    "coulomb_oscillator": (["mu", "k"], 1.0, 0.5),
    "two_carts": (["k1", "k2", "e"], 3, 1.0),
    "double_pendulum_over_floor": (["mu", "e"], 1.0, 0.5),
    "rocking_block": (["mu", "e"], 0.8, 0.3),
    "woodpecker": (["mu", "e", "c_phi"], 0.08, 0.01),
    "rod_two_ends": (["mu", "e"], 1.0, 0.3),
}
# Every reason for which a motion may have no derivative, or for which differences cannot tell.
REASONS = (
    "impacts accumulate",
    "does not hold for a changed motion",  # two contacts that strike in turn, ever faster
    "the motion ended",
    "an impact without collision",
    "the energetic law of several contacts meets two of its limits",
    "the impact law has several answers",
    "neither presses nor separates",
    "happen at once",
    "grazes",
    "grazing",
)


def random_motion(number, seed):
    """A mechanism with all contacts open, its start drawn at random; None where there is no motion."""
    rng = np.random.default_rng([seed, number])
    name = list(MECHANISMS)[number % len(MECHANISMS)]
    names, duration, size = MECHANISMS[name]
    dynamics = dynamics_of(name)
    parameters = {}
    if "e" in dynamics.mechanism.parameters:
        parameters["e"] = 0.0 if name == "block_on_belt" else rng.uniform(0.2, 0.8)
        names = [item for item in names if item != "e" or parameters["e"] > 0]
    law = LAWS[rng.integers(len(LAWS))]
    n = dynamics.n
    for _ in range(100):
        q, v = rng.normal(size=n) * size, rng.normal(size=n) * size * 2
        if (dynamics.terms(q, v).gap > 1e-3 * size).all():
            break
    t_end = duration * rng.uniform(0.5, 1)
    motion = simulate(dynamics, State(q, v), t_end=t_end, law=law, parameters=parameters)
    first = dynamics.mechanism.coordinates[0]
    return motion, [*names, *([first] if first not in names else [])]


def outcome(number, seed):
    """``"agree"``, or why there is no derivative; fails where the roads disagree."""
    try:
        motion, names = random_motion(number, seed)
    except HybridError:
        return "no motion"
    mechanism = motion.dynamics.mechanism
    functional = Functional(f"{mechanism.velocities[0]}**2", mechanism.coordinates[-1])
    found = sensitivity(motion, functional, names, check=True)
    if found.refusal is not None:
        assert any(reason in found.refusal.reason for reason in REASONS), found.refusal
        assert motion.t_start <= found.refusal.t <= motion.t + 1e-9
        return next(reason for reason in REASONS if reason in found.refusal.reason)
    assert found.check.disagreement < 1e-11, (number, seed)
    size = max(1.0, *(abs(value) for value in found.gradient.values()))
    for name in names:
        difference = found.check.differences[name]
        if not difference.error < 1e-6 * size:
            return "differences cannot tell"
        bound = max(1e-7 * size, 3 * difference.error)
        assert difference.value == pytest.approx(found.gradient[name], abs=bound), (number, seed, name)
    return "agree"


def test_a_few_random_motions():
    outcomes = Counter(outcome(number, 1) for number in (0, 3, 5, 6, 9))
    assert outcomes["agree"] >= 4, outcomes


@pytest.mark.long
def test_two_hundred_random_motions():
    outcomes = Counter(outcome(number, 0) for number in range(200))
    assert outcomes["agree"] >= 150, outcomes
