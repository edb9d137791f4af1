"""Errors and tolerances are values that say what they mean."""

import pickle

import pytest

from hybrid.errors import ComputationError, DeclarationError, HybridError, Problem, StateError
from hybrid.tolerances import Tolerances


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("wrong"), "wrong"),
        (Problem("wrong", hint="do right"), "wrong; do right"),
        (Problem("wrong", "m", source="a.toml"), "a.toml: m: wrong"),
        (Problem("wrong", "m", 3, source="a.toml"), "a.toml:3: m: wrong"),
        (Problem("wrong", "m", 3, 5, "a.toml"), "a.toml:3:5: m: wrong"),
        (Problem("wrong", "m", 3, 5), "line 3, column 5: m: wrong"),
        (Problem("wrong", "m", column=5), "m (column 5): wrong"),
        (Problem("wrong", column=5), "column 5: wrong"),
    ],
)
def test_problem_is_one_line_with_all_that_is_known(problem, text):
    assert str(problem) == text


def test_declaration_error_holds_its_problems_and_survives_another_process():
    error = DeclarationError([Problem("one"), Problem("two", "m")])
    assert str(error) == "one\nm: two"
    again = pickle.loads(pickle.dumps(error))
    assert again.problems == error.problems
    assert DeclarationError(Problem("one")).problems == (Problem("one"),)


@pytest.mark.parametrize(
    ("kind", "builtin"), [(DeclarationError, ValueError), (StateError, ValueError), (ComputationError, RuntimeError)]
)
def test_errors_are_ours_and_the_fitting_builtin_ones(kind, builtin):
    assert issubclass(kind, HybridError)
    assert issubclass(kind, builtin)


@pytest.mark.parametrize("value", [0.0, -1e-9, 1.0, float("inf")])
@pytest.mark.parametrize("name", ["gap", "velocity", "sign", "rank", "merge"])
def test_tolerance_that_decides_nothing_or_everything_is_refused(name, value):
    with pytest.raises(ValueError, match=f"tolerance {name} must lie between 0 and 1"):
        Tolerances(**{name: value})
