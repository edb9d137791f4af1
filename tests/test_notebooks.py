"""The notebooks of ``examples/``: they run, they show what they are kept with, and what they find is right."""

import re

import pytest

from tests.notebooks import NOTEBOOKS, execute, read, shown


@pytest.fixture(scope="module", params=NOTEBOOKS)
def executed(request, tmp_path_factory):
    return request.param, execute(request.param, tmp_path_factory.mktemp("ipython"))


def words(notebook):
    """What is said in letters; numbers to six digits, of which no rounding of another processor is seen."""

    def short(number):
        return f"{float(number[0]):.6g}"

    found = {cell: "\n".join(texts) for cell, texts in shown(notebook, "text/plain").items()}
    return {cell: re.sub(r"-?\d+\.\d{6,}(e-?\d+)?", short, text) for cell, text in found.items()}


def test_a_notebook_runs_and_says_what_it_is_kept_with(executed):
    name, notebook = executed
    assert words(notebook) == words(read(name))
    kinds = {kind: len(shown(notebook, kind)) for kind in ("text/html", "image/svg+xml")}
    assert kinds == {kind: len(shown(read(name), kind)) for kind in kinds}
    assert sum(kinds.values()) >= 3
