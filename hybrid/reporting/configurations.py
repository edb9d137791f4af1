"""Plots of configuration spaces with their singular points, and of motions over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.declaration.names import suggestion
from hybrid.errors import StateError
from hybrid.reporting.figures import new_figure, settings
from hybrid.reporting.symbols import heading, symbol_mathtext
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.analysis import ConfigurationCurves, RealisationStudy
    from hybrid.dynamics import SingularPoint
    from hybrid.motion import Trajectory

__all__ = ["SMOOTH", "plot_configuration_space", "plot_realisation"]

_POINTS = 4000
_COLOURS = ("#c1571a", "#2f8f5b", "#7a4fa3", "#1072b2", "#8c6d1f", "#b03060")
_TANGENT = 0.06  # length of a tangent on either side, as a share of the plot
_RIGID: dict[str, Any] = {"color": "black", "linestyle": (0, (5, 3))}
SMOOTH = "rigid, smooth continuation"
"""Label of the rigid motion, which is drawn dashed."""


@checks_arguments
def plot_configuration_space(
    curves: ConfigurationCurves,
    *,
    points: Sequence[SingularPoint] = (),
    plane: tuple[str, str] | None = None,
    paths: Mapping[str, Trajectory] | None = None,
    title: str = "",
) -> Figure:
    """A picture of a configuration space in the plane of two coordinates.

    Parameters
    ----------
    curves : ConfigurationCurves
    points : sequence of SingularPoint, optional
        Marked by kind, with the tangents of their branches.
    plane : tuple of str, optional
        Coordinates to the right and upwards; by default the first two.
    paths : mapping of str to Trajectory, optional
        Motions to draw over it, by the label in the legend.
    title : str, optional

    Returns
    -------
    matplotlib Figure
        For :func:`hybrid.save_figure`.

    Raises
    ------
    StateError
        The plane names no coordinate.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import configuration_curves, derive
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> found = configuration_curves(pendulum, box={"u": (-0.5, 0.5), "theta": (-0.5, 0.5)}, starts=8)
    >>> plot_configuration_space(found).axes[0].get_ylabel()
    '$\\\\theta$'
    """
    names = curves.coordinates
    across, up = plane or (names[0], names[min(1, len(names) - 1)])
    for name in (across, up):
        if name not in names:
            hint = suggestion(name, names) or f"the coordinates are {', '.join(names)}"
            raise StateError(f"the plane names {name!r}, which is no coordinate; {hint}")
    columns = [names.index(across), names.index(up)]
    with settings():
        figure = new_figure(height=4.6, width=7.4)
        axes = figure.add_subplot()
        for number, curve in enumerate(curves.curves):
            label = "configuration space" if number == 0 else None
            axes.plot(*curve[:, columns].T, color="0.78", linewidth=5.0, zorder=2, label=label)
        for number, (label, motion) in enumerate((paths or {}).items()):
            q, _ = motion.sample(np.linspace(motion.t_start, motion.t, _POINTS))
            style = _RIGID if label == SMOOTH else {"color": _COLOURS[number % len(_COLOURS)]}
            axes.plot(*q[:, columns].T, linewidth=1.0, zorder=3 + number, label=label, **style)
        low, high = curves.low[columns], curves.high[columns]
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        _mark(axes, points, columns, high - low)
        axes.set_xlabel(symbol_mathtext(across))
        axes.set_ylabel(symbol_mathtext(up))
        axes.set_title(heading(title, inches=6.0, size=12.0))
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def _mark(axes: Axes, points: Sequence[SingularPoint], columns: list[int], size: NDArray[np.float64]) -> None:
    shown: set[str] = set()
    for point in points:
        at = point.q[columns]
        for branch in point.branches:
            direction = branch.tangent[columns]
            reach = _TANGENT / max(float(np.linalg.norm(direction / size)), ROUNDING)
            ends = np.array([at - reach * direction, at + reach * direction])
            axes.plot(*ends.T, color="black", linewidth=0.9, linestyle=(0, (1, 2)), zorder=20)
        label = None if point.kind.value in shown else point.kind.value
        shown.add(point.kind.value)
        axes.plot(*at, "o", markersize=6.5, color="white", markeredgecolor="black", zorder=21, label=label)


@checks_arguments
def plot_realisation(
    study: RealisationStudy,
    curves: ConfigurationCurves,
    *,
    plane: tuple[str, str] | None = None,
    title: str = "",
) -> Figure:
    """The paths of a study, drawn over the configuration space, the rigid motion among them.

    Parameters
    ----------
    study : RealisationStudy
    curves : ConfigurationCurves
        Of the rigid mechanism with the same parameters.
    plane : tuple of str, optional
    title : str, optional

    Returns
    -------
    matplotlib Figure
    """
    paths = {f"spring, stiffness {row.stiffness:g}": row.motion for row in study.rows}
    return plot_configuration_space(
        curves,
        points=study.singular[:1],
        plane=plane,
        paths={**paths, SMOOTH: study.rigid},
        title=title or study.rigid.dynamics.mechanism.title,
    )
