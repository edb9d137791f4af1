"""Words that the glossary replaces are not used in documentation, docstrings, messages, pages, and names in code."""

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
    "standing": {"lint.md", "verdict.py"},
    "leg": {"paradox.md", "plot_garcia_1998.py", "robot.md", "simplest_walker.toml", "two_legs.toml", "window.py"},
    "walk": {"plot_garcia_1998.py", "simplest_walker.toml"},
    "passage": {"plot_burian_2024.py", "published.toml", "singular_configurations.md", "singular_passage.py"},
    "hand over": {"transitions.py"},
    "turning": {"lecture.md", "pinocchio.py", "plot_garcia_1998.py", "plot_housner_1963.py", "published.toml"},
}

# Names with such a word: the compliant and the singular passage are two kinds of exit (see their row), nothing else is.
NAMES = {"PASSAGE": "passage", "compliant_passage": "passage", "passage": "passage", "singular_passage": "passage"}

CODE = re.compile(r"^(```|~~~)[\s\S]*?^\1|`[^`\n]*(\n[^`\n]+){0,5}`|\]\([^)]*\)|^ {4}.*$", re.MULTILINE)


def words_not_used(*, in_code: bool) -> dict[str, str]:
    """By word of the glossary's last column the term to be used; those after `in code:` are for names alone."""
    found = {}
    for row in GLOSSARY.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if row.startswith("|") and len(cells) == 6 and cells[5] not in ("", "not", "---"):
            prose, _, names = cells[5].partition("in code: ")
            words = prose.rstrip("; ").split(", ") + (names.split(", ") if in_code else [])
            found |= dict.fromkeys(filter(None, words), cells[0])
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


@pytest.mark.parametrize(("word", "term"), words_not_used(in_code=False).items())
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


def names_of(path: Path) -> set[str]:
    """What a module defines, and its own name: functions, classes, arguments, variables and attributes."""
    found = {path.stem}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


def parts_of(name: str) -> str:
    """The words of a name in small letters: `LowHops` and `low_hops` are `low hops`."""
    return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)).lower()


@functools.cache
def names_with_words_not_used() -> dict[str, tuple[str, str]]:
    """By name with such a word the word, and the module that defines the name."""
    words, found = words_not_used(in_code=True), dict[str, tuple[str, str]]()
    modules = sorted(path for package in ("hybrid", "lcp") for path in (ROOT / package).rglob("*.py"))
    homes = {name: module.name for module in modules for name in names_of(module)}
    for name, home in homes.items():
        if hits := [word for word in words if uses(word, parts_of(name))]:
            found[name] = hits[0], home
    return found


def test_a_word_that_the_glossary_replaces_is_in_no_name():
    found = {name: where for name, where in names_with_words_not_used().items() if NAMES.get(name) != where[0]}
    assert not found, "the glossary has the words to be used"


def test_every_exception_of_a_name_is_needed():
    assert {name: word for name, (word, _) in names_with_words_not_used().items()} == NAMES


def test_words_are_found_in_every_way_to_write_a_name(tmp_path):
    module = tmp_path / "low_hops.py"
    text = "class RailGuard:\n    def tell(self, legs): self.told = STANDING = legs.walk\n"
    module.write_text(text, encoding="utf-8")
    assert names_of(module) == {"low_hops", "RailGuard", "tell", "self", "legs", "told", "STANDING"}
    assert [parts_of(name) for name in ("_LOW_HOPS", "RailGuard", "legs2")] == ["low hops", "rail guard", "legs"]
    assert {"hop", "rail", "refer", "tell", "told", "sight", "pace"} & words_not_used(in_code=False).keys() == set()
    assert {"hop", "rail", "refer", "tell", "told", "sight", "pace"} <= words_not_used(in_code=True).keys()
