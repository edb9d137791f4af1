"""Pages that are notebooks: their cells run, in order, as the build runs them."""

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not {"_build", "generated"} & set(page.parts) and "\n```{code-cell}" in page.read_text(encoding="utf-8")
]
CELL = re.compile(r"^```\{code-cell\} python\n(?::tags: [^\n]*\n+)?(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")  # a page shows its figures, a test does not
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_cells_of_a_page_run(page):
    text = page.read_text(encoding="utf-8")
    assert text.startswith("---\nfile_format: mystnb\n")  # without it the build shows the cells and does not run them
    cells = CELL.findall(text)
    assert len(cells) == text.count("```{code-cell}") > 0
    names = {}
    with mpl.rc_context({"backend": "agg"}):
        for cell in cells:
            exec(compile(cell, str(page), "exec"), names)
        plt.close("all")


def test_there_are_notebooks():
    assert len(PAGES) >= 2
