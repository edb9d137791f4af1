"""Empty figures, to be filled by plot functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid.reporting.figures import STYLES, StyleName

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["new_figure"]


def new_figure(style: StyleName, *, height: float, width: float | None = None) -> Figure:
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

    from hybrid.reporting.displayed import DisplayedFigure  # loads matplotlib

    figure = DisplayedFigure(figsize=(STYLES[style].width if width is None else width, height), layout="constrained")
    figure.set_label(style)  # the one text of a figure that is not drawn
    FigureCanvasAgg(figure)
    return figure
