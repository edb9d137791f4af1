"""Words that the glossary replaces are not used in documentation, docstrings, messages, and what pages show."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
PACKAGES = ("hybrid", "lcp", "mechanisms")

# Files in which a word of the column is ordinary English or means another thing than its row: robots stand and walk on
# legs, a mechanism passes through a singular configuration, work is handed over to an executor, a body turns.
ORDINARY = {
    "standing": {"lint.md", "lint_report.py", "verdict.py"},
    "leg": {"paradox.md", "plot_garcia_1998.py", "robot.md", "simplest_walker.toml", "two_legs.toml", "window.py"},
    "walk": {"plot_garcia_1998.py", "simplest_walker.toml"},
    "passage": {"plot_burian_2024.py", "published.toml", "singular_configurations.md", "singular_passage.py"},
    "hand over": {"transitions.py"},
    "turning": {"lecture.md", "pinocchio.py", "plot_garcia_1998.py", "plot_housner_1963.py", "published.toml"},
}

CODE = re.compile(r"^(```|~~~)[\s\S]*?^\1|`[^`\n]*(\n[^`\n]+){0,5}`|\]\([^)]*\)|^ {4}.*$", re.MULTILINE)


def words_not_used() -> dict[str, str]:
    """By word of the glossary's last column the term to be used; a word followed by `as a name in code` is left out."""
    found = {}
    for row in GLOSSARY.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if row.startswith("|") and len(cells) == 6 and cells[5] not in ("", "not", "---") and "as a name" not in row:
            found |= dict.fromkeys(cells[5].split(", "), cells[0])
    return found


def markdown(text: str) -> str:
    """What is not code in a page; lines stay where they are."""
    return CODE.sub(lambda found: "\n" * found[0].count("\n"), text)


def python(path: Path) -> Iterator[str]:
    """Docstrings, and texts with several words, of a module; of a page of the gallery its comments too."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield re.sub(r"``?[^`]*``?|^\s*(>>>|\.\.\.).*$", "", node.value, flags=re.MULTILINE)
    if "gallery" in path.parts:
        yield "\n".join(line for line in text.splitlines() if line.startswith("#"))


@functools.cache
def prose() -> tuple[tuple[str, str], ...]:
    """Names of files with what is written in them for people."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "hybrid").rglob("*.md")]
    found = []
    for page in pages:
        if page not in (GLOSSARY, ROOT / "CHANGELOG.md") and "_build" not in page.parts:
            found.append((str(page.relative_to(ROOT)), markdown(page.read_text(encoding="utf-8"))))
    shown = [*(ROOT / "mechanisms").glob("*.toml"), *(ROOT / "docs" / "gallery").glob("*.toml")]
    for file in [*shown, *(ROOT / "hybrid").rglob("*.html")]:
        found.append((str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")))
    for schema in (ROOT / "hybrid").rglob("*.json"):
        texts = re.findall(r'"description": "(.*)"', schema.read_text(encoding="utf-8"))
        found.append((str(schema.relative_to(ROOT)), "\n".join(texts)))
    modules = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    for module in [*modules, *(ROOT / "docs").rglob("*.py"), *(ROOT / "examples").glob("*.py")]:
        found += [(str(module.relative_to(ROOT)), text) for text in python(module)]
    return tuple(found)


def uses(word: str, text: str) -> list[str]:
    """Places in a text that have a word, also in the plural and over the end of a line."""
    found = re.finditer(r"\b" + r"\s+".join(word.split()) + r"(s|es)?\b", text, re.IGNORECASE)
    return [" ".join(text[max(0, one.start() - 40) : one.end() + 40].split()) for one in found]


@pytest.mark.parametrize(("word", "term"), words_not_used().items())
def test_a_word_that_the_glossary_replaces_is_not_used(word, term):
    allowed = ORDINARY.get(word, set())
    found = {name: places for name, text in prose() if Path(name).name not in allowed and (places := uses(word, text))}
    assert not found, f"the glossary says {term!r}"


def test_every_exception_is_needed():
    texts = list(prose())
    for word, files in ORDINARY.items():
        assert {Path(name).name for name, text in texts if Path(name).name in files and uses(word, text)} == files


def test_code_is_not_read_as_prose():
    text = "A leg:\n\n    leg = 1\n\nand `leg`, [here](leg.md)\n\n```text\nleg\n```\nend"
    assert uses("leg", markdown(text)) == ["A leg: and , [here end"]
    assert uses("thin call", "a thin\n    call") == ["a thin call"]
