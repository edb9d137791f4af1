"""How figures look, for a screen, a page or a column of a journal, and how they are written to files.

Empty figures, to be filled by plot functions.

Figures that a notebook shows as they are.
"""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator

from hybrid.arguments import checks_arguments
from hybrid.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

__all__ = [
    "STYLES",
    "DisplayedFigure",
    "Style",
    "StyleName",
    "figure_svg",
    "legend_width",
    "new_figure",
    "place_legend",
    "save_figure",
    "settings",
    "style_of",
]


StyleName: TypeAlias = Literal["screen", "page", "single", "double"]

_MM = 1 / 25.4
_POINTS = 72.0  # in an inch
_BESIDE = 0.6  # inches: of labels and ticks
_LETTER, _HANDLE = 0.55, 4.0  # ems: of a letter, and of a legend's entry without its words
_TICK = 5.0  # ems: of a number of seven letters and the room beside it; matplotlib reckons with three
_DPI, _DPI_PRINT = 200, 600
_PATH = re.compile(r'\sd="[^"]*"')
_DECIMALS = re.compile(r"(\.\d\d)\d+")  # of a point of the picture: more are not seen, and are half of its size
_WITHOUT_DATE = {"Date": None, "Creator": None, "Format": None, "Type": None}

# In SVG shapes instead of fonts, so that a file looks alike everywhere; in PDF whole TrueType fonts, since journals
# refuse those of type 3; a fixed salt, so that a file is the same every time.
_COMMON: dict[Any, Any] = {
    "svg.hashsalt": "painleve",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "hatch.linewidth": 0.5,
    "axes.linewidth": 0.7,
    "text.usetex": False,
}


@attrs.frozen(kw_only=True)
class Style:
    """The size and letters of a figure.

    Attributes
    ----------
    width : float
        In inches.
    size : float
        Of the letters, in points.
    font, math : str
        Family of fonts and set of mathematical letters; both come with matplotlib, so that files are alike everywhere.
    is_narrow : bool
        Legends stand above or below what they explain, not beside it.
    has_title : bool
        A figure without a title of its own is given the mechanism's; in a journal the caption says what is seen.
    dpi : float
        Of pixels in PNG, and of what is drawn in pixels elsewhere.
    """

    width: float
    size: float
    font: str = "DejaVu Sans"
    math: str = "dejavusans"
    is_narrow: bool = False
    has_title: bool = True
    dpi: float = _DPI

    @property
    def heading(self) -> float:
        """Size of a title, in points."""
        return 1.1 * self.size

    @property
    def note(self) -> float:
        """Size of what stands within a plot, in points."""
        return 0.85 * self.size


# A page is also read on a telephone, 360 CSS pixels wide: there these letters have 10. Columns are those of Elsevier
# (90 and 190 mm) and Springer (84 and 174 mm) at once, letters not below the 7 points that both ask for.
_SERIF: Mapping[str, Any] = {"font": "STIXGeneral", "math": "stix", "has_title": False, "dpi": _DPI_PRINT}
STYLES: Mapping[StyleName, Style] = {
    "screen": Style(width=7.6, size=9.0),
    "page": Style(width=4.8, size=10.0, is_narrow=True),
    "single": Style(width=88 * _MM, size=8.5, is_narrow=True, **_SERIF),
    "double": Style(width=174 * _MM, size=8.5, **_SERIF),
}


def place_legend(
    axes: Axes, handles: Sequence[Any], style: Style, *, labels: Sequence[str] | None = None, **words: Any
) -> None:
    """A legend beside a plot, or above it in rows where the figure is narrow.

    Parameters
    ----------
    axes : matplotlib Axes
    handles : sequence of matplotlib artists
    style : Style
    labels : sequence of str, optional
        By default those of the handles.
    **words
        Of matplotlib's ``legend``, as ``fontsize``.

    Returns
    -------
    None
        It is drawn.
    """
    shown = [handle.get_label() for handle in handles] if labels is None else list(labels)
    words = {"handles": handles, "labels": shown, "frameon": False, **words}
    if not style.is_narrow:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **words)
        return
    columns = int((style.width - _BESIDE) / legend_width(shown, style))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=min(max(1, columns), len(shown)),
        borderaxespad=0.1,
        columnspacing=1.2,
        handlelength=2.2,
        **words,
    )


def legend_width(labels: Sequence[str], style: Style) -> float:
    """The width of a legend's column, in inches, about.

    Parameters
    ----------
    labels : sequence of str
        At least one.
    style : Style

    Returns
    -------
    float
    """
    # a command of mathtext is one letter or an accent
    letters = max(len(re.sub(r"[${}_^]", "", re.sub(r"\\[a-z]+", "x", text))) for text in labels)
    return (letters * _LETTER + _HANDLE) * style.size / _POINTS


def style_of(figure: Figure) -> StyleName:
    """The style in which a figure was made; that of the screen for others.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    {"screen", "page", "single", "double"}
    """
    return next((name for name in STYLES if name == figure.get_label()), "screen")


@checks_arguments
def save_figure(figure: Figure, path: str | Path) -> None:
    """A figure written as SVG, PNG or PDF, by the ending of the path; as a whole or not at all.

    Parameters
    ----------
    figure : matplotlib Figure
    path : str or Path

    Returns
    -------
    None
        The file is written; nothing in it depends on the day.

    Raises
    ------
    ValueError
        The ending is another one.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".svg", ".png", ".pdf"):
        raise ValueError(f"a plot is written as .svg, .png or .pdf, not as {ending or 'a name without ending'!r}")
    metadata: dict[str, Any] = {
        ".png": {"Software": None},
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    style = style_of(figure)
    with settings(style) as look, whole_file(path) as draft:
        if ending == ".svg":
            draft.write_text(_svg(figure, look.dpi), encoding="utf-8")
        else:
            figure.savefig(draft, format=ending[1:], dpi=look.dpi, metadata=metadata[ending])


@checks_arguments
def figure_svg(figure: Figure) -> str:
    """A figure as an SVG document.

    Parameters
    ----------
    figure : matplotlib Figure

    Returns
    -------
    str
        The same text for the same figure. Paths are exact to a hundredth of a point.
    """
    with settings(style_of(figure)):
        return _svg(figure, _DPI)


def _svg(figure: Figure, dpi: float) -> str:
    target = io.StringIO()
    figure.savefig(target, format="svg", dpi=dpi, metadata=_WITHOUT_DATE)
    return _PATH.sub(lambda path: _DECIMALS.sub(r"\1", path[0]), target.getvalue())


@contextmanager
def settings(style: StyleName = "screen") -> Iterator[Style]:
    """A context in which matplotlib has the settings of this package, whatever the user's are.

    Parameters
    ----------
    style : {"screen", "page", "single", "double"}, optional

    Returns
    -------
    context manager
        That gives the style.
    """
    import matplotlib

    found = STYLES[style]
    own: dict[Any, Any] = {"font.family": found.font, "font.size": found.size, "mathtext.fontset": found.math}
    with matplotlib.rc_context({**_COMMON, **own}):
        yield found


def new_figure(style: StyleName = "screen", *, height: float, width: float | None = None) -> Figure:
    """An empty figure that remembers its style; to be filled within :func:`settings`.

    Parameters
    ----------
    style : {"screen", "page", "single", "double"}
    height : float
        In inches.
    width : float, optional
        Instead of that of the style.

    Returns
    -------
    matplotlib Figure
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = DisplayedFigure(figsize=(STYLES[style].width if width is None else width, height), layout="constrained")
    figure.set_label(style)  # the one text of a figure that is not drawn
    FigureCanvasAgg(figure)
    return figure


class DisplayedFigure(Figure):
    """A figure that a notebook shows without ``%matplotlib inline``: a figure made without pyplot has no picture there.

    Examples
    --------
    >>> DisplayedFigure(figsize=(1, 1))._repr_svg_()[:5]
    '<?xml'
    """

    def add_subplot(self, *args: Any, **words: Any) -> Any:
        """An empty plot, as matplotlib's, whose numbers below do not touch.

        Parameters
        ----------
        *args, **words
            Of matplotlib's ``add_subplot``.

        Returns
        -------
        matplotlib Axes
        """
        axes = super().add_subplot(*args, **words)
        axes.xaxis.set_major_locator(_TicksApart())
        return axes

    def _repr_svg_(self) -> str:
        return figure_svg(self)


class _TicksApart(AutoLocator):
    """Places on a horizontal axis so far apart that their numbers do not touch."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        if self.axis is not None:
            ems = 3 * self.axis.get_tick_space()
            self.set_params(nbins=min(9, max(1, int(ems / _TICK))))
        return super().tick_values(vmin, vmax)
