"""Published values beside ours: how a page of the gallery reads its rows of ``published.toml`` and shows them."""

from __future__ import annotations

import csv
import html
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import matplotlib.pyplot as plt
import numpy as np
from matplotlib._pylab_helpers import Gcf

from hybrid.reporting.figures import settings
from hybrid.reporting.regions import line_styles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
VERDICTS = ("agrees", "agrees after correcting", "not reproducible")
ORIGINS = {
    "printed": "the number is printed in the source",
    "formula": "the source prints a formula; the number is that formula, evaluated",
    "recomputed": "the example is the source's; the number was computed by hand, without this package",
}
COLOURS = [colour for colour, _ in line_styles(5)]


@attrs.frozen(kw_only=True)
class Row:
    """One published value.

    Attributes
    ----------
    name, what : str
        The key under which a page computes it, and the quantity in words.
    value : float, str or list of float
        As published.
    unit, origin, verdict, reason : str
        ``origin`` is a key of ``ORIGINS``, ``verdict`` one of ``VERDICTS``, ``reason`` argues the tolerance.
    tolerance : float
        Absolute; 0 for words.
    corrected : float, str, list of float or None
        What the source should have, where the verdict is "agrees after correcting".
    correction : str
        Why, in a sentence; the page derives it.
    """

    name: str
    what: str
    value: Any
    unit: str = "1"
    tolerance: float = 0.0
    reason: str
    origin: str = attrs.field(validator=attrs.validators.in_(ORIGINS))
    verdict: str = attrs.field(default="agrees", validator=attrs.validators.in_(VERDICTS))
    corrected: Any = None
    correction: str = ""


@attrs.frozen(kw_only=True)
class Source:
    """A publication with its rows; ``missing`` says in a sentence what the page does not reproduce."""

    title: str
    source: str
    missing: str = ""
    rows: tuple[Row, ...] = attrs.field(converter=tuple)

    @property
    def verdict(self) -> str:
        """The least favourable of the rows."""
        return max((row.verdict for row in self.rows), key=VERDICTS.index)


def sources() -> dict[str, Source]:
    """All publications, by the name of their page."""
    table = tomllib.loads((FOLDER / "published.toml").read_text(encoding="utf-8"))
    return {
        page: Source(
            **{key: item for key, item in found.items() if key != "row"},
            rows=[Row(**row) for row in found["row"]],
        )
        for page, found in table.items()
    }


def verdict_of(row: Row, ours: Any) -> str:
    """What a value of ours says about a published one."""
    if _agrees(row.value, ours, row.tolerance):
        return "agrees"
    if row.corrected is not None and _agrees(row.corrected, ours, row.tolerance):
        return "agrees after correcting"
    return "not reproducible"


def _agrees(published: Any, ours: Any, tolerance: float) -> bool:
    if isinstance(published, str):
        return published == ours
    return np.shape(published) == np.shape(ours) and bool(np.all(np.abs(np.subtract(published, ours)) <= tolerance))


@attrs.frozen(eq=False)
class Table:
    """Words and numbers in rows, which a page shows.

    Attributes
    ----------
    heads : tuple of str
    rows : sequence of sequences
        Numbers are written with ten digits.
    note : str
        Below the table, HTML.
    """

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def _lines(self) -> list[tuple[str, ...]]:
        return [self.heads, *(tuple(_text(cell) for cell in row) for row in self.rows)]

    def __repr__(self) -> str:
        return "\n".join(" | ".join(line) for line in self._lines())

    def _repr_html_(self) -> str:
        head, *body = (
            "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) + "</tr>"
            for tag, line in zip(("th", *["td"] * len(self.rows)), self._lines(), strict=True)
        )
        table = f'<table class="docutils published"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table>'
        return f'<div class="table-wrapper">{table}</div>{self.note}'


HEADINGS = ("quantity", "published", "here", "unit", "origin", "verdict")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    # what is left of rounding has no digits to show
    return ", ".join(
        f"{item:.0e}" if 0 < abs(item) < 1e-9 else f"{item:.10g}" for item in np.atleast_1d(value).tolist()
    )


def beside(page: str, ours: Mapping[str, Any]) -> Table:
    """The rows of a page with our values.

    Raises
    ------
    ValueError
        A row has no value, a value no row, or a verdict is not the one that the table gives.
    """
    found = sources()[page]
    if names := {row.name for row in found.rows} ^ set(ours):
        raise ValueError(f"published.toml and the page {page} do not name the same quantities: {sorted(names)}")
    for row in found.rows:
        if (reached := verdict_of(row, ours[row.name])) != row.verdict:
            raise ValueError(
                f"{page}, {row.name}: published {row.value}, here {ours[row.name]}: {reached!r}, not {row.verdict!r}"
            )
    rows = [(row.what, row.value, ours[row.name], row.unit, row.origin, row.verdict) for row in found.rows]
    origins = {row.origin for row in found.rows}
    notes = [f"<em>{name}</em>: {text}." for name, text in ORIGINS.items() if name in origins]
    notes += [
        f"<strong>{row.verdict}</strong>, {html.escape(row.what)}: {html.escape(row.correction)}."
        for row in found.rows
        if row.correction
    ]
    return Table(HEADINGS, rows, "<ul>" + "".join(f"<li>{note}</li>" for note in notes) + "</ul>")


def count(kind: str) -> Counter[tuple[str, str]]:
    """How often each verdict falls, with each ``origin`` or on each ``page``."""
    return Counter(
        (row.origin if kind == "origin" else page, row.verdict)
        for page, found in sources().items()
        for row in found.rows
    )


def reference(name: str) -> tuple[str, dict[str, np.ndarray]]:
    """A published curve or region of ``data/NAME.csv``: its head line (source and formula) and its columns."""
    with (FOLDER / "data" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        head = file.readline().lstrip("# ").strip()
        names, *lines = csv.reader(file)
    return head, dict(zip(names, np.array(lines, dtype=float).T, strict=True))


def look() -> AbstractContextManager[Any]:
    """The letters and lines that figures of this package have."""
    return settings("screen")


def show(figure: Figure) -> None:
    """Give a figure that was made without pyplot to it, so that the page collects it."""
    number = max(plt.get_fignums(), default=0) + 1
    Gcf._set_new_active_manager(plt._get_backend_mod().FigureCanvas.new_manager(figure, number))
