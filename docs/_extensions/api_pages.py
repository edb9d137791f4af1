"""Pages of the API: every public name once, under the shortest name by which it is imported.

A name is public if a package lists it in ``__all__``, or if one of the `MODULES` defines it.
"""

import importlib
import inspect
import pkgutil
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


def unlink_shapes(app: "Sphinx", doctree: "nodes.document") -> None:
    """Take the links off the words of a type that are no classes: in "array, shape (n,)" n is a number."""
    from sphinx import addnodes  # the tests read this module where Sphinx is not installed

    for reference in list(doctree.findall(addnodes.pending_xref)):
        word = str(reference.get("reftarget"))
        if reference.get("refdomain") == "py" and reference.get("reftype") == "class" and word.islower():
            reference.replace_self(reference.children)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages at the start of a build."""
    app.connect("builder-inited", write)
    app.connect("doctree-read", unlink_shapes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
