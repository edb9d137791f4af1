"""The map of the house: a picture of what imports what, drawn from the imports themselves.

``python docs/_extensions/house_map.py`` writes docs/images/house.svg; a test compares the file with a fresh drawing.
"""

import ast
import functools
import graphlib
import html
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "house.svg"

# What each part is for, in a line; a part that is missing here fails the drawing.
PARTS = {
    "mechanisms": "the catalogue, one file a mechanism",
    "hybrid.cli": "the command painleve",
    "hybrid.explorer": "the page with sliders",
    "hybrid.reporting": "plots, pages, records",
    "hybrid.numeric": "models of engines, logs",
    "hybrid.analysis": "maps, critical friction, gradients",
    "hybrid.motion": "arcs, events, rules",
    "hybrid.automaton": "modes, guards, exports",
    "hybrid.contact": "modes, verdicts, impacts",
    "hybrid.dynamics": "equations, states, pins",
    "hybrid.declaration": "mechanism files",
    "hybrid.expressions": "one graph of expressions",
    "hybrid.*": "errors, tolerances, files, progress",
    "lcp": "complementarity problems",
}
LIBRARIES = {
    "clarabel": "Clarabel",
    "click": "click",
    "cvxpy": "CVXPY",
    "highspy": "HiGHS",
    "llvmlite": "LLVM",
    "matplotlib": "matplotlib",
    "mujoco": "MuJoCo",
    "networkx": "networkx",
    "numba": "numba",
    "pinocchio": "pinocchio",
    "scipy": "SciPy",
    "starlette": "Starlette",
    "sympy": "SymPy",
}
LEFT, TOP, STEP, FLOOR, MARGIN = 520, 30, 28, 44, 12  # pixels


def part_of(module: str) -> str | None:
    """Return the part of the house that a module belongs to, or None for a module of another distribution."""
    first, *rest = module.split(".")
    if first in ("lcp", "mechanisms"):
        return first
    if first != "hybrid" or not rest:
        return None
    name = f"hybrid.{rest[0]}"
    return name if (ROOT / "hybrid" / rest[0]).is_dir() else "hybrid.*"


def imports_of(path: Path) -> Iterator[str]:
    """Yield the full names of what a file imports, at the top or late, itself or only for annotations."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package[: len(package) + 1 - node.level]) if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            yield from (f"{module}.{alias.name}" for alias in node.names)


@functools.cache
def house() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return, for every part, the other parts that it imports, and the large libraries that it opens."""
    parts: dict[str, set[str]] = {part: set() for part in PARTS}
    libraries: dict[str, set[str]] = {part: set() for part in PARTS}
    for package in ("hybrid", "lcp", "mechanisms"):
        for path in sorted((ROOT / package).rglob("*.py")):
            part = part_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
            if part is None or path.name == "__main__.py":
                continue  # the face of hybrid, and the command by another name
            for name in imports_of(path):
                other = part_of(name)
                if other is not None and other != part:
                    parts[part].add(other)
                elif name.partition(".")[0] in LIBRARIES:
                    libraries[part].add(LIBRARIES[name.partition(".")[0]])
    return parts, libraries


def order() -> list[str]:
    """Return the parts from the top of the house to its ground: each above all that it imports."""
    parts, _ = house()
    wanted = list(PARTS)
    sorter = graphlib.TopologicalSorter(parts)
    sorter.prepare()  # raises CycleError with the circle
    found: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=wanted.index, reverse=True)
        found += ready
        sorter.done(*ready)
    return found[::-1]


def line(text: str, x: float, y: float, size: float, colour: str) -> str:
    """Return a line of text, as SVG."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}">{html.escape(text)}</text>'


def draw() -> str:
    """Return the picture, as SVG: a floor for each part, with a dot under the number of every part that it imports."""
    parts, libraries = house()
    rows = order()
    wide, high = LEFT + STEP * len(rows) + MARGIN, TOP + FLOOR * len(rows) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" role="img">',
        "<title>The parts of the house, what each imports, and which libraries it opens</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        *(line(str(n + 1), LEFT + STEP * n + STEP / 2 - 7, TOP - 8, 12, "#555555") for n in range(len(rows))),
    ]
    for n, part in enumerate(rows):
        y = TOP + FLOOR * n
        doors = ", ".join(sorted(libraries[part], key=str.lower))
        lines += [
            f'<rect x="{MARGIN}" y="{y}" width="{wide - 2 * MARGIN}" height="{FLOOR - 4}" rx="4" fill="#eef3f8"/>',
            line(f"{n + 1}", MARGIN + 8, y + 25, 12, "#555555"),
            line(part, MARGIN + 32, y + 18, 14, "#12293d"),
            line(PARTS[part], MARGIN + 32, y + 34, 12, "#333333"),
            line(doors, MARGIN + 300, y + 25, 11.5, "#7a3b00"),
        ]
        for m, other in enumerate(rows):
            x = LEFT + STEP * m + STEP / 2
            if m == n:
                lines.append(f'<rect x="{x - 6:g}" y="{y + 14}" width="12" height="12" fill="#b9c9d8"/>')
            elif other in parts[part]:
                lines.append(f'<circle cx="{x:g}" cy="{y + 20}" r="6" fill="#33536e"/>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    sys.stdout.write(f"drawn in {PICTURE.relative_to(ROOT)}\n")
