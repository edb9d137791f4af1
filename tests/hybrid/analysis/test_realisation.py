"""Studies of stiff realisations on systems that are solved by hand."""

import numpy as np
import pytest

from hybrid import DeclarationError, State, StateError, realisation_study
from tests.catalogue import dynamics_of
from tests.constrained import particle


def test_particle_on_a_stiff_line_swings_about_its_sag():
    # x = 0 against gravity: the spring sags by (1 - cos(w t))/k, w = sqrt(k)
    line = particle("x", potential="x")
    ladder = [1e2, 1e4, 1e6]
    study = realisation_study(line, State([0, 0], [0, 1]), constraints="c0", stiffness=ladder, t_end=2.0)
    assert study.singular == ()
    assert study.smooth_branch == ""
    for row in study.rows:
        assert row.violation == pytest.approx(2 / row.stiffness, rel=1e-4)
        assert row.distance_to_space == pytest.approx(2 / row.stiffness, rel=1e-4)
        assert row.distance_at_end == pytest.approx((1 - np.cos(np.sqrt(row.stiffness) * 2)) / row.stiffness, rel=1e-4)
        assert row.is_smooth is None
        assert row.energy_drift < 1e-9
    assert study.orders_before == pytest.approx([1, 1], abs=1e-3)
    assert [row["n_steps"] for row in study.table()] == sorted(row["n_steps"] for row in study.table())
    assert study.rows[-1].n_steps > 10 * study.rows[0].n_steps


def test_crossing_lines_are_passed_straight_on_from_any_side():
    cross = particle("x*y")
    study = realisation_study(cross, State([0, 0.5], [0, -1]), constraints="c0", stiffness=[1e4], t_end=1.0)
    assert study.smooth_branch == "y-"
    assert study.rows[0].branch == "y-"
    assert study.rows[0].distance_at_end < 1e-9


def test_bad_studies_are_refused():
    pendulum, off = dynamics_of("singular_pendulum"), State([0.5, 0.3], [0, 0])
    with pytest.raises(StateError, match="violates the constraint BC"):
        realisation_study(pendulum, off, constraints="BC", stiffness=[1.0], t_end=1)
    with pytest.raises(StateError, match="ladder of stiffnesses is empty"):
        realisation_study(pendulum, off, constraints="BC", stiffness=[], t_end=1)
    with pytest.raises(DeclarationError, match="no constraint 'BD' to realise; the constraints are BC"):
        realisation_study(pendulum, off, constraints="BD", stiffness=[1.0], t_end=1)
    with pytest.raises(DeclarationError, match="positive"):
        realisation_study(pendulum, off, constraints="BC", stiffness=[0.0, 1.0], t_end=1)


@pytest.mark.parametrize("wrong", ["k", float("nan"), float("inf"), -1.0, True, None, {"c0": 1e4}])
@pytest.mark.parametrize("ladder", ["alone", "last"])
def test_whole_ladder_is_checked_before_anything_is_computed(wrong, ladder):
    # simulate would refuse the time that has passed
    stiffness = wrong if ladder == "alone" else [1e2, wrong]
    with pytest.raises(DeclarationError, match="stiffness: must be a positive number, not"):
        realisation_study(particle("x"), State([0, 0], [0, 1]), constraints="c0", stiffness=stiffness, t_end=-1)


@pytest.mark.parametrize("length", [0, -1.0, float("nan")])
def test_study_refuses_a_length_that_is_none(length):
    with pytest.raises(DeclarationError, match="length: must be a positive number"):
        realisation_study(
            particle("x**2 + y**2 - 1"),
            State([1, 0], [0, 1]),
            constraints="c0",
            stiffness=[1e2],
            t_end=1,
            length=length,
        )
