"""Motions that go on from a singular configuration with springs in place of rigid constraints."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hybrid import (
    DeclarationError,
    State,
    StateError,
    Termination,
    plot_motion,
    render_animation,
    simulate,
    solve_state,
)
from hybrid.motion import ElasticRealisation, load, save, singular_points_of
from hybrid.motion.recorded import EventKind
from tests.catalogue import dynamics_of
from tests.constrained import particle

CROSS = State([1.0, 0.0], [-1.0, 0.0])


@pytest.fixture(scope="module")
def cross():
    """A unit mass in a unit field along x, on the two axes."""
    return particle("x*y", potential="x")


@pytest.fixture(scope="module")
def pendulum():
    dynamics = dynamics_of("singular_pendulum")
    start = solve_state(dynamics, {"u": 0.5, "u_dot": 0})
    return simulate(dynamics, start, t_end=1, singular=ElasticRealisation("BC", stiffness=1e4))


def test_particle_on_two_axes_falls_on_along_the_first(cross):
    motion = simulate(cross, CROSS, t_end=2, singular=ElasticRealisation(stiffness=1e4))
    # 1 - t - t^2/2, which the spring (x y)^2 does not disturb
    assert motion.termination is Termination.END_TIME
    assert motion.springs.t == pytest.approx(np.sqrt(3) - 1, abs=1e-12)
    assert motion.springs.constraints == ("c0",)
    t = np.linspace(0, 2, 41)
    np.testing.assert_allclose(motion.sample(t)[0], np.column_stack([1 - t - t**2 / 2, 0 * t]), atol=1e-11)
    (event,) = motion.events
    assert (event.kind, event.t) == (EventKind.SINGULAR_CONFIGURATION, motion.springs.t)
    for said in (event.note, motion.cause):
        assert "a spring in place of c0 (stiffness 10000)" in said
    assert "transversal crossing" in event.note


def test_only_the_named_constraint_becomes_a_spring():
    both = particle("x*y", "z - x", coordinates="xyz", potential="x")
    motion = simulate(
        both, State([1.0, 0, 1], [-1.0, 0, -1]), t_end=2, singular=ElasticRealisation("c0", stiffness=1e4)
    )
    # two unit masses' inertia in the same field: 1 - t - t^2/4
    np.testing.assert_allclose(motion.q, [-2, 0, -2], atol=1e-11)
    q, _ = motion.sample(np.linspace(0, 2, 50))
    np.testing.assert_allclose(q[:, 2], q[:, 0], atol=1e-13)
    assert abs(motion.energy().residual) < 1e-12


def test_further_singular_configuration_of_what_stayed_rigid_ends_the_motion():
    pair = particle("x*y", "z*w", coordinates="xyzw")
    motion = simulate(
        pair, State([1.0, 0, 2, 0], [-1.0, 0, -1, 0]), t_end=3, singular=ElasticRealisation("c0", stiffness=1e4)
    )  # fmt: skip
    assert motion.termination is Termination.SINGULAR_CONFIGURATION
    assert motion.t == pytest.approx(2, abs=1e-12)
    assert [point.t for point in singular_points_of(motion)] == pytest.approx([1, 2], abs=1e-12)


def test_start_at_a_singular_configuration_is_handed_over_at_once(cross):
    motion = simulate(cross, State([0.0, 0.0], [1.0, 1.0]), t_end=0.5, singular=ElasticRealisation(stiffness=100))
    assert motion.termination is Termination.END_TIME
    assert motion.springs.t == 0
    # off both axes: no rigid motion goes there, the spring lets it and stores energy
    assert motion.q.min() > 0.1
    assert abs(motion.energy().residual) < 1e-12
    assert singular_points_of(motion)[0].kind.value == "transversal crossing"


def test_condition_to_stop_at_counts_on_both_sides_of_the_hand_over(cross):
    for until, x in (("x - 1/100", 0.01), ("x", 0.0), ("x + 1/100", -0.01)):
        motion = simulate(cross, CROSS, t_end=2, singular=ElasticRealisation(stiffness=1e4), until=until)
        assert motion.termination is Termination.UNTIL
        assert motion.q[0] == pytest.approx(x, abs=1e-12)


def test_motion_without_a_singular_configuration_is_not_touched(cross):
    motion = simulate(cross, CROSS, t_end=0.5, singular=ElasticRealisation(stiffness=1e4))
    assert motion.springs is None
    assert motion.events == ()


def test_a_handed_over_motion_is_the_same_after_saving_and_loading(pendulum, tmp_path):
    save(pendulum, tmp_path / "motion.npz")
    read = load(tmp_path / "motion.npz")
    assert (read.springs.t, read.springs.constraints) == (pendulum.springs.t, ("BC",))
    assert read.energy() == pendulum.energy()
    last = pendulum.arcs[-1]
    middle = (last.start + last.end) / 2
    seen, kept = pendulum.forces(last, middle), read.forces(read.arcs[-1], middle)
    np.testing.assert_array_equal(seen.acceleration, kept.acceleration)


def test_words_in_a_saved_motion_stay_what_they_are_though_names_in_code_change(pendulum, tmp_path):
    save(pendulum, tmp_path / "motion.npz")
    with np.load(tmp_path / "motion.npz") as file:
        record = json.loads(str(file["record"]))
    assert set(record["handed_over"]) >= {"t", "mechanism"}
    assert all(set(arc) == {"mode", "sides"} for arc in record["arcs"])


def test_accelerations_after_the_hand_over_are_those_of_the_spring(pendulum):
    last = pendulum.arcs[-1]
    t = np.linspace(last.start, last.end, 7)[1:-1]
    h = 1e-5
    # differences of velocities, with errors of h^2 times the third derivative, about the square of the frequency 100
    by_hand = (pendulum.sample(t + h)[1] - pendulum.sample(t - h)[1]) / (2 * h)
    np.testing.assert_allclose(pendulum.forces(last, t).acceleration.T, by_hand, atol=1e-4)


def test_a_handed_over_motion_is_drawn_and_played(pendulum):
    position, *_ = plot_motion(pendulum).axes
    assert any("springs" in text.get_text() for text in position.texts)
    page = render_animation(pendulum)
    assert "singular configuration at BC" in page
    assert len(page) < 1_000_000


def test_interrupt_keeps_both_parts():
    def impatient(passed, whole):
        assert 0 <= passed <= whole
        if passed > 0.85:
            raise KeyboardInterrupt

    dynamics = dynamics_of("singular_pendulum")
    start = solve_state(dynamics, {"u": 0.5, "u_dot": 0})
    springs = ElasticRealisation(stiffness=1e4)
    motion = simulate(dynamics, start, t_end=1, singular=springs, progress=impatient, on_interrupt="keep")
    assert motion.termination is Termination.INTERRUPTED
    assert motion.springs.t < 0.85 < motion.t < 1


BAD = {
    "did you mean 'BC'": ElasticRealisation("Bc", stiffness=1e4),
    "has no constraint 'rod'": ElasticRealisation(stiffness={"rod": 1e4}),
    "stiffness: must be a positive number, not -1": ElasticRealisation(stiffness=-1),
    "stiffness.BC: must be a positive number, not 0": ElasticRealisation(stiffness={"BC": 0}),
    "must be a positive number, not None": ElasticRealisation(stiffness=None),
    "name at least one constraint": ElasticRealisation((), stiffness=1),
    "length: must be a positive number, not -1.0": ElasticRealisation("BC", stiffness=1, length=-1.0),
    "length: must be positive, but '-l2' is -1": ElasticRealisation("BC", stiffness=1, length="-l2"),
}


@pytest.mark.parametrize("message", BAD)
def test_wrong_springs_are_refused_before_anything_is_computed(message):
    dynamics = dynamics_of("singular_pendulum")
    start = solve_state(dynamics, {"u": 0.5, "u_dot": 0})
    with pytest.raises(DeclarationError, match=message.replace("(", r"\(")):
        simulate(dynamics, start, t_end=0.1, singular=BAD[message])


def test_every_constraint_may_have_its_own_stiffness():
    pair = particle("x*y", "z*w", coordinates="xyzw")
    motion = simulate(
        pair, State([1.0, 0, 2, 0], [-1.0, 0, -1, 0]), t_end=3,
        singular=ElasticRealisation(stiffness={"c0": 1e3, "c1": 2e3}),
    )  # fmt: skip
    assert motion.termination is Termination.END_TIME
    values = motion.springs.dynamics.mechanism.parameters
    assert [values[f"stiffness_{name}"].value for name in ("c0", "c1")] == [1e3, 2e3]


def test_what_cannot_be_handed_over_is_said():
    rail = dynamics_of("painleve_klein")
    start = solve_state(rail, {"x1": 0, "x1_dot": 1})
    with pytest.raises(DeclarationError, match="dry friction"):
        simulate(rail, start, t_end=1, singular=ElasticRealisation("rail1", stiffness=1e4))
    with pytest.raises(StateError, match="leave out singular"):
        simulate(
            rail, start, t_end=1, singular=ElasticRealisation("rod", stiffness=1e4), method="time-stepping", step=0.1
        )
    with pytest.raises(DeclarationError, match="name at least one constraint"):
        simulate(
            dynamics_of("bouncing_ball"), State([1.0], [0.0]), t_end=0.1, singular=ElasticRealisation(stiffness=1e4)
        )
