"""Terms at one state are those of the arrays, and are evaluated once where the state is the same."""

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import derive
from hybrid.dynamics.derive import Dynamics
from hybrid.motion.context import PointTerms


def test_terms_of_repeated_states_are_those_of_arrays_and_evaluated_once(monkeypatch):
    rod = derive(mechanisms.load("rod_two_ends"))
    terms, counted, evaluated = PointTerms(rod.at({"mu": 0.7})), [], Dynamics.terms
    rng = np.random.default_rng(11)
    distinct = 0
    for _ in range(20):
        t, q, v = float(rng.normal()), rng.normal(size=3), rng.normal(size=3)
        for state in ((t, q, v), (t, q.copy(), v.copy()), (t, q, -v), (t + 1, q, -v), (t + 1, q, -v)):
            distinct += 1
            with monkeypatch.context() as patch:
                patch.setattr(Dynamics, "terms", lambda *args, **named: counted.append(1) or evaluated(*args, **named))
                found = terms(*state)
            wanted = rod.terms(state[1][None], state[2][None], t=state[0], parameters={"mu": 0.7})
            for field in attrs.fields(type(wanted)):
                expected = getattr(wanted, field.name).reshape(getattr(found, field.name).shape)
                np.testing.assert_allclose(getattr(found, field.name), expected, rtol=1e-13, atol=1e-15)
    assert len(counted) == distinct * 3 // 5


def test_terms_kept_for_the_next_question_cannot_be_overwritten():
    ball = derive(mechanisms.load("bouncing_ball"))
    gap = PointTerms(ball)(0.0, np.array([2.0]), np.array([0.0])).gap
    with pytest.raises(ValueError, match="read-only"):
        gap[0] = 1.0
