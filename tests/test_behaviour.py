"""The comparison of two commits (``benchmarks/behaviour.py``): what it sees and lets pass, and that cases are cases."""

import copy
import importlib
import json
import re
import shlex
from collections import Counter
from pathlib import Path

import click
import pytest

from hybrid.cli.program import program

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

ANSWER = {
    "status": 0,
    "printed": {
        "verdict": "UNIQUE",
        "version": "0.1.0",
        "branches": [{"mode": {"tip": "slide+"}, "lambda_N": {"tip": 1.25}, "margin": 0.3}],
        "grid": [[1.0, 0.0], [0.5, 2.0]],
        "parameters": {"m": 1e-3, "k": 1e6, "J": 5e-9},
        "energy_change": 0.0,
        "notes": ["at t = 0.345678901 the slip of 'tip' ends"],
        "refutation": ["-206344853323653/1125899906842624"],
    },
    "said": [],
}


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.fixture
def difference(module):
    return module("behaviour_comparison").first_difference


def changed(path, value):
    """The answer with another value at a path; ``None`` as value takes the entry away."""
    answer = copy.deepcopy(ANSWER)
    *inner, last = path
    holder = answer["printed"]
    for key in inner:
        holder = holder[key]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return answer


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["branches", 0, "lambda_N", "tip"], 1.25 * (1 + 1e-8)),  # a digit
        (["grid", 1, 0], 0.5 + 4e-9),
        (["grid", 0, 1], 1e-8),  # where there was nothing
        (["parameters", "m"], 1e-3 * (1 + 1e-8)),  # beside a number of another kind
        (["parameters", "J"], 5e-9 * (1 + 1e-8)),  # declared, however small
        (["energy_change"], 2e-12),
        (["branches", 0, "margin"], 0.3 + 1e-8),
        (["verdict"], "INDETERMINATE"),  # a word
        (["branches", 0, "mode", "tip"], "slide-"),
        (["notes", 0], "at t = 0.345678901 the slip of 'tip' begins"),
        (["notes", 0], "at t = 0.345678909 the slip of 'tip' ends"),
        (["refutation", 0], "-206344857323653/1125899906842624"),
        (["verdict"], None),  # a missing key
        (["branches", 0, "mode"], None),
        (["grid", 1], None),
        (["further"], 1),  # one more
        (["grid"], [[0.5, 2.0], [1.0, 0.0]]),  # another order
        (["parameters"], {"k": 1e6, "m": 1e-3, "J": 5e-9}),
        (["verdict"], 1),  # another type
        (["branches", 0, "margin"], "nan"),
    ],
    ids=str,
)
def test_a_change_is_seen_where_it_is(difference, path, value):
    found = difference(ANSWER, changed(path, value))
    # a length and an order are those of what holds the entry
    assert found.path.startswith("printed." + ".".join(key for key in path[:1]))
    assert found.before != found.after
    assert difference(changed(path, value), ANSWER) is not None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["branches", 0, "lambda_N", "tip"], 1.25 * (1 + 1e-10)),
        (["grid", 1, 0], 0.5 + 1e-9),  # the array's scale is 2
        (["grid", 0, 1], -1e-10),
        (["branches", 0, "margin"], 0.3 + 1e-10),
        (["notes", 0], "at t = 0.34567890101 the slip of 'tip' ends"),
        (["refutation", 0], "-206344853323655/1125899906842624"),
        (["refutation", 0], "-103172426661826/562949953421312"),
        (["energy_change"], -5e-13),  # the rounding of a zero
        (["notes", 0], "at  t = 0.345678901  the slip of 'tip' ends"),  # a wider column
        (["version"], "0.2.0"),
        (["grid", 0, 0], 1),  # a whole number for the same one
    ],
    ids=str,
)
def test_rounding_and_versions_pass(difference, path, value):
    assert difference(ANSWER, changed(path, value)) is None


def test_the_first_of_several_differences_is_told_with_both_values(difference):
    other = changed(["branches", 0, "lambda_N", "tip"], 1.5)
    other["printed"]["grid"] = []
    assert str(difference(ANSWER, other)) == "printed.branches[0].lambda_N.tip: 1.25 -> 1.5"


def test_cases_have_names_of_their_own_and_corrections_name_cases(module):
    behaviour = module("behaviour")
    counted = Counter(case.key for case in behaviour.read_cases())
    assert sum(counted.values()) > 400
    assert max(counted.values()) == 1
    assert set(dict(behaviour.entries(behaviour.CORRECTIONS))) <= set(counted)


def test_lines_of_cases_parse(module):
    behaviour, calls = module("behaviour"), module("behaviour_calls").CALLS
    for case in behaviour.read_cases():
        name, _, arguments = case.line.partition(" ")
        if arguments.startswith("{"):
            assert name in calls, case.key
            assert isinstance(json.loads(arguments), dict), case.key
        elif case.area != "refusals":
            words = shlex.split(case.line)
            command = program.commands[words[0]]
            _, rest, _ = command.make_parser(click.Context(command)).parse_args(words[1:])
            assert not rest, case.key


def test_the_default_names_a_commit_in_full(module):
    """Tags do not come along with every clone, and a short name may become that of two."""
    assert re.fullmatch("[0-9a-f]{40}", module("behaviour").BEFORE)
