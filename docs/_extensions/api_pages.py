"""Pages of the API: every public name once, under the shortest name by which it is imported.

A name is public if a package lists it in ``__all__``, if one of the `MODULES` defines it, or if it is a class that a
public name takes or gives: whoever holds an answer can look up what its parts are.
"""

import collections
import functools
import importlib
import inspect
import pkgutil
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

LINE = 80
WORD = re.compile(r"[A-Za-z_]\w*")
FIELD = re.compile(r"^:(ivar|vartype) (\w+(?:, \w+)+): ?(.*)$")
ARRAY = re.compile(r"[~\w.]*ndarray\[tuple\[[~\w.]*Any, \.\.\.\], [~\w.]*dtype\[[~\w.]*?(\w+)\]\]")
ARRAY_LIKE = re.compile(r"[~\w.]*_Buffer \| .*_NestedSequence\[complex \| bytes \| str\]")
TYPED = re.compile(r"^[\w, *]+ : (.*)$|^([A-Z]\w+)$|:class:`([^`]+)`", re.MULTILINE)  # types that a docstring names
PACKAGES = ("hybrid", "lcp", "mechanisms")

# What a class inherits most of its fields from, and sends its reader to.
FURTHER = ("hybrid.declaration.parts.AbstractMechanism", "hybrid.motion.recorded.AbstractMotion")

# Modules that pages send a reader to, which no package re-exports.
MODULES = (
    "hybrid.errors",
    "hybrid.automaton.outline",
    "hybrid.numeric.frames",
    "lcp.exact",
    "lcp.polytopes",
    "lcp.kernels",
    "lcp.relaxations",
    "lcp.convex",
)


def faces() -> Iterator[ModuleType]:
    """Yield every package that lists public names, the shortest names first."""
    found = []
    for root in PACKAGES:
        package = importlib.import_module(root)
        found.append(package)
        found += [
            importlib.import_module(item.name)
            for item in pkgutil.walk_packages(package.__path__, f"{root}.")
            if item.ispkg
        ]
    yield from sorted(
        (face for face in found if getattr(face, "__all__", ())), key=lambda face: face.__name__.count(".")
    )


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a package, or those that a module defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(name for name in listed if not inspect.ismodule(getattr(module, name)))
    own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    return sorted(name for name in own if not name.startswith("_"))


def annotated(value: object) -> Iterator[str]:
    """Yield the words of the types that a class or function takes, holds, gives and raises."""
    described: list[object] = [value]
    texts: list[object] = []
    if inspect.isclass(value) and value.__module__.partition(".")[0] in PACKAGES:
        texts += [text for name, text in vars(value).get("__annotations__", {}).items() if not name.startswith("_")]
        described += [
            getattr(member, "fget", None) or getattr(member, "__func__", None) or member
            for name, member in vars(value).items()
            if not name.startswith("_")
        ]
    for item in described:
        if inspect.isfunction(item):
            texts += item.__annotations__.values()
        if inspect.isfunction(item) or item is value:
            texts += [" ".join(found) for found in TYPED.findall(inspect.getdoc(item) or "")]
    for text in texts:
        yield from WORD.findall(getattr(text, "__name__", str(text)))


@functools.cache
def own_classes() -> dict[str, type]:
    """Return every class of the packages by its name, which no other has."""
    modules = [
        importlib.import_module(item.name)
        for root in PACKAGES
        for item in pkgutil.walk_packages(importlib.import_module(root).__path__, f"{root}.")
        if not item.name.endswith("__main__")
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }


def handed_out(values: list[object]) -> Iterator[type]:
    """Yield the classes that public values take or give, but for the values themselves."""
    classes, seen = own_classes(), {id(value) for value in values}
    for word in (word for value in values for word in annotated(value)):
        found = classes.get(word)
        if found is not None and id(found) not in seen:
            seen.add(id(found))
            yield found


def public_names() -> dict[str, list[str]]:
    """Return the full names that each page documents, by the name of its package or module."""
    shortest: dict[int, str] = {}
    home: dict[int, str] = {}
    for module in [*faces(), *map(importlib.import_module, MODULES)]:
        for name in names_of(module):
            value = getattr(module, name)
            shortest.setdefault(id(value), f"{module.__name__}.{name}")
            home[id(value)] = (
                module.__name__
            )  # the deepest package that lists it, so that the page is about one subject
    pages: dict[str, list[str]] = {name.rpartition(".")[0]: [name] for name in FURTHER}
    for key, name in shortest.items():
        pages.setdefault(home[key], []).append(name)
    for value in handed_out([value_of(name) for names in pages.values() for name in names]):
        page = value.__module__
        while page not in pages:
            page = page.rpartition(".")[0]
        pages[page].append(f"{value.__module__}.{value.__name__}")
    return {
        page: sorted(names, key=lambda name: name.rpartition(".")[2].lower()) for page, names in sorted(pages.items())
    }


def value_of(name: str) -> object:
    """Return what a full name stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def brief(value: object) -> str:
    """Return how a value is written, or how it begins."""
    text = " ".join(repr(value).split())
    return text if len(text) <= LINE else f"{text[:LINE]} ..."


def page(module: str, names: list[str]) -> str:
    """Return the page of a package or module, in reStructuredText."""
    lines = [module, "=" * len(module), "", (importlib.import_module(module).__doc__ or "").strip(), ""]
    for name in names:
        value = value_of(name)
        if inspect.isclass(value) and value.__module__.partition(".")[0] in PACKAGES:
            lines += [f".. autoclass:: {name}", "   :members:", ""]
        elif inspect.isfunction(value) or isinstance(value, click.Command):
            lines += [f".. autofunction:: {name}", ""]
        else:
            lines += [f".. py:data:: {name}", f"   :type: {type(value).__name__}", f"   :value: {brief(value)}", ""]
    return "\n".join(lines)


def index(pages: dict[str, list[str]]) -> str:
    """Return the page that lists the others, each with what it documents."""
    lines = ["API", "===", "", "Every public name, under the shortest name by which it is imported.", ""]
    for module, names in pages.items():
        summary = (importlib.import_module(module).__doc__ or "").strip().partition("\n\n")[0]
        links = ", ".join(f":py:obj:`~{name}`" for name in names)
        lines += [f":doc:`{module}`", f"    {' '.join(summary.split())}", "", f"    {links}", ""]
    lines += [".. toctree::", "   :hidden:", "", *[f"   {module}" for module in pages], ""]
    return "\n".join(lines)


def write(app: "Sphinx") -> None:
    """Write the pages before the sources are read."""
    folder = Path(app.srcdir) / "generated" / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = public_names()
    for module, names in pages.items():
        (folder / f"{module}.rst").write_text(page(module, names), encoding="utf-8")
    (folder / "index.rst").write_text(index(pages), encoding="utf-8")


def one_name_a_field(lines: list[str]) -> list[str]:
    """Give each of several attributes of one description its own: Sphinx takes all names but the last for a type."""
    blocks: list[list[str]] = []
    for line in lines:
        if blocks and (not line or line[0].isspace()):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    found = []
    for first, *rest in blocks:
        match = FIELD.match(first)
        begins = [first] if match is None else [f":{match[1]} {name}: {match[3]}" for name in match[2].split(", ")]
        for begin in begins:
            found += [begin, *rest]
    return found


def describe(app: "Sphinx", what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Mend what the extension for NumPy's docstrings has written."""
    lines[:] = one_name_a_field(lines)


def named_types(text: str | None) -> str | None:
    """Call the types of arrays in a signature by their names again: they are shown as what stands behind them."""
    return text and ARRAY_LIKE.sub("ArrayLike", ARRAY.sub(r"NDArray[\1]", text))


def sign(
    app: "Sphinx", what: str, name: str, value: object, options: object, taken: str | None, given: str | None
) -> tuple[str | None, str | None]:
    """Write the types of a signature."""
    return named_types(taken), named_types(given)


def skip(app: "Sphinx", what: str, name: str, member: object, leaves_out: bool, options: object) -> bool | None:
    """Leave out the fields of named tuples, which their class describes."""
    return True if type(member).__name__ == "_tuplegetter" else None


def link_types(app: "Sphinx", doctree: "nodes.document") -> None:
    """Let the names of types and calls lead to their pages; in "array, shape (n,)" n is a number and leads nowhere."""
    from sphinx import addnodes  # the tests read this module where Sphinx is not installed

    for reference in list(doctree.findall(addnodes.pending_xref)):
        word = str(reference.get("reftarget")).rpartition(".")[2]
        if reference.get("refdomain") != "py" or reference.get("reftype") not in ("class", "exc", "func", "obj"):
            continue
        if word in homes() and not (reference["reftype"] == "class" and word.islower()):
            reference["reftarget"] = homes()[word]
        elif reference["reftype"] == "class":
            reference.replace_self(reference.children)


@functools.cache
def homes() -> dict[str, str]:
    """Return the full name on the pages by the last part of it, where that is the last part of one name only."""
    names = [name for names in public_names().values() for name in names]
    last = collections.Counter(name.rpartition(".")[2] for name in names)
    return {word: name for name in names if last[word := name.rpartition(".")[2]] == 1}


def complain(app: "Sphinx", env: object, node: "nodes.Element", content: object) -> None:
    """Warn, and so fail the build, where a name of the packages leads nowhere."""
    from sphinx.util.logging import getLogger

    word = str(node.get("reftarget"))
    if node.get("refdomain") == "py" and word.partition(".")[0] in PACKAGES:
        getLogger(__name__).warning("%s leads nowhere", word, location=node)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages at the start of a build."""
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", describe, priority=600)  # behind napoleon
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", link_types)
    app.connect("missing-reference", complain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
