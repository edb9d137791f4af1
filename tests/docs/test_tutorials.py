"""The tutorials, followed to the letter: files saved, commands typed, sessions run, and their answers compared."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/tutorial").glob("*.md"))

SLOW = {"first-map", "lecture", "robot"}  # maps of many states


@pytest.fixture(scope="module")
def tutorials():
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / "docs/_extensions/tutorials.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.stem in SLOW)) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_a_reader_who_follows_the_page_sees_what_it_says(tutorials, page, tmp_path):
    assert tutorials.follow(page.read_text(encoding="utf-8"), tmp_path) >= 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_exercises_with_folded_answers(page):
    text = page.read_text(encoding="utf-8")
    assert "\n## Exercises\n" in text
    exercises = text.partition("\n## Exercises\n")[2]
    assert exercises.count("<summary>Answer</summary>") == exercises.count("</details>") >= 2


@pytest.mark.parametrize(
    "page",
    [
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ true\nerror: it must not end well\n```\n",
        "```console\n$ painleve list\nno name at all\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```pycon\n>>> 1 / 0\n```\n",
    ],
)
def test_a_page_that_says_something_else_is_found(tutorials, page, tmp_path):
    with pytest.raises(tutorials.NotAsWritten):
        tutorials.follow(page, tmp_path)


def test_files_commands_and_sessions_see_each_other(tutorials, tmp_path):
    page = """
```{code-block} toml
:caption: one.toml

name = "one"
```

```console
$ cat one.toml
name = "one"
$ cat \\
    one.toml > two.toml
```

```pycon
>>> from pathlib import Path
>>> text = Path("two.toml").read_text()
```

```pycon
>>> len(text)
13
```
"""
    assert tutorials.follow(page, tmp_path) == 5
