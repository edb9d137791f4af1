"""The pages on declaring say what is true: their files are read, their examples run."""

import doctest
import re
from pathlib import Path

import pytest

from hybrid.declaration import mechanism_from_toml, parse_expression
from hybrid.declaration.tree import FUNCTIONS
from hybrid.errors import DeclarationError
from hybrid.expressions.functions import MAX_ARGUMENTS

DOCS = Path(__file__).parents[3] / "docs"
DECLARE = (DOCS / "how-to" / "declare.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference" / "mechanism-file.md").read_text(encoding="utf-8")


def block(page: str, language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert match
    return match[1]


@pytest.mark.parametrize("page", [DECLARE, REFERENCE])
def test_file_on_the_page_is_a_valid_mechanism(page):
    assert mechanism_from_toml(block(page, "toml")).contact


def test_errors_on_the_page_are_those_of_the_changed_file():
    text = block(DECLARE, "toml").replace('gap = "foot_y"', 'gap = "foot_z"').replace("friction = ", "frction = ", 1)
    with pytest.raises(DeclarationError) as caught:
        mechanism_from_toml(text, source="leaning.toml")
    shown = block(DECLARE, "text").strip()  # as `check` prints them
    assert [f"error: {line}" for line in str(caught.value).splitlines()] == shown.splitlines()


def test_python_on_the_page_runs():
    failed, n_examples = doctest.testfile(str(DOCS / "how-to" / "declare.md"), module_relative=False, verbose=False)
    assert n_examples > 5
    assert not failed


def test_every_function_is_listed_and_none_else():
    listed = re.search(r"functions:\n\n    (.*)\n", REFERENCE)[1]
    assert re.findall(r"\w+(?=\(|\s|$)", re.sub(r"\(.*?\)", "", listed)) == list(FUNCTIONS)
    assert f"take 2 to {MAX_ARGUMENTS} arguments" in REFERENCE


@pytest.mark.parametrize(
    ("row", "number"),
    re.findall(r"\| (length of|numbers, names|nesting|constant exponent|digits)[^|]*\| ([\d ]+\d)", REFERENCE),
)
def test_bounds_are_the_stated_ones(row, number):
    n = int(number.replace(" ", ""))
    at_the_bound, beyond = {
        "length of": ("x" + " " * (n - 1), "x" + " " * n),
        "numbers, names": ("-".join(["x"] * (n // 2)), "-".join(["x"] * (n // 2 + 1))),
        "nesting": ("(" * n + "x" + ")" * n, "(" * (n + 1) + "x" + ")" * (n + 1)),
        "constant exponent": (f"x**{n}", f"x**{n}.5"),
        "digits": ("1" * n, "1" * (n + 1)),
    }[row]
    parse_expression(at_the_bound, known=["x"])
    with pytest.raises(DeclarationError):
        parse_expression(beyond, known=["x"])
