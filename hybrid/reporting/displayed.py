"""Figures that a notebook shows as they are."""

from matplotlib.figure import Figure

from hybrid.reporting.figures import figure_svg

__all__ = ["DisplayedFigure"]


class DisplayedFigure(Figure):
    """A figure that a notebook shows without ``%matplotlib inline``: a figure made without pyplot has no picture there.

    Examples
    --------
    >>> DisplayedFigure(figsize=(1, 1))._repr_svg_()[:5]
    '<?xml'
    """

    def _repr_svg_(self) -> str:
        return figure_svg(self)
