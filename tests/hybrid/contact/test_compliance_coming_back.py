"""A contact that lets go and comes back before the impact is over has not been released."""

import pytest

from hybrid import Contact, EnergyDynamics, KelvinVoigt, KelvinVoigtLimit, Mechanism, State, compare, derive
from hybrid.contact import resolve_impact

SOFTER = 1e-6


@pytest.fixture(scope="module")
def balls():
    """Ball a of mass 1/2 hits ball b of mass 1, which rests at a much softer wall."""
    return derive(
        Mechanism(
            name="balls",
            coordinates=["a", "b"],
            dynamics=EnergyDynamics(kinetic="a_dot**2/4 + b_dot**2/2", potential="0"),
            contact=[
                Contact(name="pair", gap="b - a", damping="0"),
                Contact(name="wall", gap="-b", damping="0", stiffness_ratio=str(SOFTER)),
            ],
        )
    )


def test_a_ball_that_rebounds_from_a_soft_wall_hits_the_one_before_it_again(balls):
    # One elastic impact after the other: (1, 0) becomes (-1/3, 2/3), the wall turns it into (-1/3, -2/3), and after a
    # flight, in which nothing touches, the second ball catches up with the first: (-7/9, -4/9). An impact of the pair
    # lasts sqrt(SOFTER) of the one with the wall, so that much of the velocities is exchanged meanwhile.
    start = State([0, 0], [1, 0])
    motion = KelvinVoigt(stiffness=1e10).pass_through(balls, start)
    assert motion.has_separated
    assert [kind for kind, _ in motion.phases].count("pair=free,wall=free") == 1
    assert motion.state.v == pytest.approx([-7 / 9, -4 / 9], abs=5 * SOFTER**0.5)
    assert motion.gap_dot_after == pytest.approx({"pair": 1 / 3, "wall": 4 / 9}, abs=5 * SOFTER**0.5)
    assert motion.energy_change == pytest.approx(0.0, abs=1e-9)
    limit = resolve_impact(balls, start, law=KelvinVoigtLimit())
    # forces and gaps are linear here, so the limit is the run itself
    assert motion.state.v == pytest.approx(limit.v_after, abs=1e-8)


def test_a_run_that_ends_while_a_contact_comes_back_does_not_call_itself_released(balls):
    # the wall is left at the fast time pi/sqrt(SOFTER), and the pair met again as long after
    motion = KelvinVoigt(stiffness=1e10).pass_through(balls, State([0, 0], [1, 0]), horizon=1.5 * 3.1416 / SOFTER**0.5)
    assert motion.label == "pair=free,wall=free"
    assert motion.gap_dot_after["pair"] == pytest.approx(-1 / 3, abs=5 * SOFTER**0.5)
    assert not motion.has_separated


def test_a_comparison_follows_penalty_runs_until_no_contact_approaches(balls):
    found = compare(balls, State([0, 0], [1, 0]), stiffness=(1e10,))
    (row,) = (row for row in found.rows if row.method.startswith("penalty"))
    assert row.outcome.endswith("released")
    assert row.gap_dot_after == pytest.approx({"pair": 1 / 3, "wall": 4 / 9}, abs=5 * SOFTER**0.5)
