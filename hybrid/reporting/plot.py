"""Plots of region maps.

A motion drawn over a map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.errors import StateError
from hybrid.reporting.figures import Style, StyleName, new_figure, settings
from hybrid.reporting.regions import Fill, Region, regions
from hybrid.reporting.samples import quantity, sampled
from hybrid.reporting.symbols import axis_label, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from hybrid.analysis import Axis, RegionMap
    from hybrid.motion import Trajectory

__all__ = ["draw_over", "fill_cells", "finish", "plot_map"]


_DOTS = (0, (1.2, 1.4))


def draw_over(axes: Axes, motion: Trajectory, swept: tuple[Axis, Axis]) -> list[Line2D]:
    """Draw a motion over a map, white on black so that it is seen on every region.

    Parameters
    ----------
    axes : matplotlib Axes
        Changed; its limits stay.
    motion : Trajectory
    swept : pair of Axis
        Of the map.

    Returns
    -------
    list of matplotlib lines
        With labels, for the legend.

    Raises
    ------
    StateError
        The motion has no such quantity as an axis.
    """
    from matplotlib.patheffects import Normal, Stroke

    samples = sampled(motion)
    at = partial(quantity, q=samples.q, v=samples.v, t=samples.t, parameters=motion.parameters)
    x, y = (at(motion.dynamics, axis.name) for axis in swept)
    if x is None or y is None:
        name = swept[0].name if x is None else swept[1].name
        raise StateError(f"{motion.dynamics.name}: a motion has no {name} that could be drawn over the map")
    is_apart = _apart(motion, samples.t)
    found: list[Line2D] = []
    limits = axes.get_xlim(), axes.get_ylim()
    for label, stroke, seen in (("the motion", "-", ~is_apart), ("the motion, a contact apart", _DOTS, is_apart)):
        if np.any(seen & np.isfinite(samples.t)):
            line = np.where(seen, x, np.nan), np.where(seen, y, np.nan)
            edged = [Stroke(linewidth=3.4, foreground="black"), Normal()]
            pen: dict[str, Any] = {"linestyle": stroke, "color": "white", "linewidth": 1.6, "path_effects": edged}
            found += axes.plot(*line, label=label, zorder=4.5, **pen)
    first, last = np.flatnonzero(np.isfinite(samples.t))[[0, -1]]
    dot: dict[str, Any] = {"linestyle": "", "markeredgecolor": "black", "zorder": 5}
    for place, marker, colour, label in ((first, "o", "white", "its start"), (last, "s", "black", "its end")):
        if all(axis.low <= values[place] <= axis.high for axis, values in zip(swept, (x, y), strict=True)):
            found += axes.plot(x[place], y[place], marker=marker, color=colour, label=label, **dot)
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])
    return found


def _apart(motion: Trajectory, t: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a contact of the mechanism is apart, by the mode of the arc in which an instant is."""
    number = np.cumsum(np.isnan(t)) - np.isnan(t)  # arcs are divided by rows of NaN
    free = [any(arc.mode[name].value == "free" for name in motion.dynamics.contacts) for arc in motion.arcs] or [False]
    return np.asarray(np.array(free)[np.minimum(number, len(free) - 1)])


# Beyond so many regions each is also numbered: the lightness steps become small.
_CROWDED = 5
# Half the height of a number, as a share of the map.
_LEAST_ROOM = 0.02
# Inches: of labels and ticks, of a legend without its words, and of the map's height at most; ems of a letter.
_LABELS, _HANDLE, _HEIGHT, _LETTER = 0.8, 0.6, 4.3, 0.62
_LONGEST = 40  # letters of a label beside the map


@checks_arguments
def plot_map(
    region_map: RegionMap,
    *,
    state: tuple[float, float] | None = None,
    units: Mapping[str, str] | None = None,
    title: str = "",
    motion: Trajectory | None = None,
    style: StyleName = "screen",
    share: Callable[[NDArray[np.bool_]], str] | None = None,
) -> Figure:
    """A region map as a figure.

    Parameters
    ----------
    region_map : RegionMap
        The first axis is drawn to the right, the second upwards.
    state : tuple of float, optional
        A state to mark with a star, in the units of the axes; left out where it lies outside the map.
    units : mapping of str to str, optional
        Units of the axes by name, instead of those that the map knows; a long axis in ``rad`` gets ticks at fractions
        of pi.
    title : str, optional
    motion : Trajectory, optional
        Drawn over the map: solid where all contacts touch, dotted where one is apart. The map holds for its own pins,
        which the motion need not keep.
    style : {"screen", "page", "single", "double"}, optional
        For a window, a page, or a column of a journal.
    share : callable, optional
        What the legend says of the cells of a region, an array of bool, (n0, n1), in place of their area.

    Returns
    -------
    matplotlib Figure
        Regions differ in lightness, paradoxical ones also in hatching; the legend gives every region's area.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, region_map
    >>> from hybrid.analysis import Axis
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis.parse("phi=0:pi:8"), Axis.parse("phi_dot=-1:1:8")]
    >>> figure = plot_map(region_map(rod, axes=axes, pins={"slip.tip": "+0"}), units={"phi": "rad"})
    >>> figure.axes[0].get_xlabel()
    '$\\\\varphi$  (rad)'
    """
    with settings(style) as look:
        found = regions(region_map)
        figure = new_figure(style, height=min(_HEIGHT, 0.85 * look.width))
        axes = figure.add_subplot()
        first, second = region_map.axes
        _fill(axes, found, first, second)
        for boundary in region_map.boundaries:
            axes.plot(boundary.points[:, 0], boundary.points[:, 1], color="0.1", linewidth=0.9, zorder=3)
        _singular(axes, region_map)
        marks = [] if motion is None else draw_over(axes, motion, (first, second))
        if state is not None and _holds(first, state[0]) and _holds(second, state[1]):
            star: dict[str, Any] = {"color": "white", "markeredgecolor": "black", "linestyle": "", "label": "the state"}
            marks += axes.plot(*state, marker="*", markersize=1.7 * look.size, zorder=6, clip_on=False, **star)
        finish(axes, first, second, region_map.units if units is None else units)
        if len(found) > _CROWDED:
            _number(axes, found, first, second, look.note)
        room = _legend(figure, found, share or _percent, marks, look)
        if title:
            axes.set_title(heading(title, inches=room, size=look.heading), fontsize=look.heading)
    return figure


def _singular(axes: Axes, region_map: RegionMap) -> None:
    """Where the branch of postures ends at a fold, as dots, and where two ways around disagree, as crosses."""
    branch = region_map.branch
    if branch is None:
        return
    for places, marker in ((branch.folds, "."), (branch.seams, "x")):
        for place in places:
            at = dict(zip(branch.names, place.tolist(), strict=True))
            x, y = (at.get(axis.name) for axis in region_map.axes)
            if x is not None and y is not None:
                axes.plot(x, y, marker, color="0.35", markersize=3, zorder=4)
            elif x is not None:
                axes.axvline(x, color="0.35", linewidth=0.9, linestyle=":", zorder=4)
            elif y is not None:
                axes.axhline(y, color="0.35", linewidth=0.9, linestyle=":", zorder=4)


def fill_cells(axes: Axes, pieces: Sequence[tuple[NDArray[np.bool_], Fill]], first: Axis, second: Axis) -> None:
    """Colour the cells of a map.

    Parameters
    ----------
    axes : matplotlib Axes
        Changed.
    pieces : sequence of (array of bool, (n0, n1), Fill)
        Cells and their colour; together all cells.
    first, second : Axis
        Along x and along y.

    Returns
    -------
    None
        The cells are drawn.
    """
    from matplotlib.colors import ListedColormap

    index = np.zeros(pieces[0][0].shape, dtype=np.uint16)
    for number, (cells, _) in enumerate(pieces):
        index[cells] = number
    axes.imshow(
        index.T,
        origin="lower",
        extent=(first.low, first.high, second.low, second.high),
        aspect="auto",
        interpolation="nearest",
        interpolation_stage="data",  # the colours of all cells, of which few are seen, would take seconds
        cmap=ListedColormap([fill.colour for _, fill in pieces]),
        vmin=-0.5,
        vmax=len(pieces) - 0.5,
    )


def _fill(axes: Axes, found: tuple[Region, ...], first: Axis, second: Axis) -> None:
    from matplotlib.patches import PathPatch

    fill_cells(axes, [(region.cells, region.fill) for region in found], first, second)
    x, y = _centres(first), _centres(second)
    for region in found:
        if not region.fill.hatch:
            continue
        contours = axes.contourf(x, y, np.pad(region.cells, 1, mode="edge").T, levels=[0.5, 1.5], colors="none")
        for path in contours.get_paths():
            patch = PathPatch(path, facecolor="none", edgecolor=region.fill.ink, linewidth=0, zorder=2)
            patch.set_hatch(region.fill.hatch)
            axes.add_patch(patch)
        contours.remove()
    axes.set_xlim(first.low, first.high)
    axes.set_ylim(second.low, second.high)


def _number(axes: Axes, found: tuple[Region, ...], first: Axis, second: Axis, size: float) -> None:
    """Write the number of every region where there is most room for it."""
    from scipy.ndimage import distance_transform_edt, label

    for number, region in enumerate(found, start=1):
        pieces, count = label(region.cells)
        for piece in range(1, count + 1):
            inside = np.pad(pieces == piece, 1)
            room = distance_transform_edt(inside)[1:-1, 1:-1]
            i, j = np.unravel_index(int(np.argmax(room)), room.shape)
            if room[i, j] / min(room.shape) < _LEAST_ROOM:
                continue
            ink = region.fill.ink
            box = {"boxstyle": "round,pad=0.15", "facecolor": region.fill.colour, "edgecolor": "none"}
            place = (float(first.values[i]), float(second.values[j]))
            axes.annotate(str(number), place, ha="center", va="center", fontsize=size, color=ink, zorder=4, bbox=box)


def _centres(axis: Axis) -> NDArray[np.float64]:
    """Centres of the cells, and of one more beyond each end."""
    return axis.at((np.arange(-1, axis.cells + 1) + 0.5) / axis.cells)


def finish(axes: Axes, first: Axis, second: Axis, units: Mapping[str, str]) -> None:
    """Labels of the two axes of a map, with ticks at fractions of pi on a long axis in radians.

    Parameters
    ----------
    axes : matplotlib Axes
        Changed.
    first, second : Axis
        Along x and along y.
    units : mapping of str to str
        Of what is swept, by name.

    Returns
    -------
    None
        The axes are labelled.
    """
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    for axis, target in ((first, axes.xaxis), (second, axes.yaxis)):
        unit = units.get(axis.name, "")
        target.set_label_text(axis_label(axis.name, unit))
        quarters = (axis.high - axis.low) / (math.pi / 4)
        if unit == "rad" and quarters >= 3:
            target.set_major_locator(MultipleLocator(math.pi / 4 * (1 if quarters <= 8 else 4)))
            target.set_major_formatter(FuncFormatter(lambda value, _: _in_pi(value)))


def _in_pi(value: float) -> str:
    """A multiple of pi/4 as text."""
    numerator = round(4 * value / math.pi)
    if numerator == 0:
        return "0"
    divisor = math.gcd(numerator, 4)
    numerator, denominator = numerator // divisor, 4 // divisor
    sign, size = ("−" if numerator < 0 else ""), abs(numerator)
    return f"{sign}{'' if size == 1 else size}π" + (f"/{denominator}" if denominator > 1 else "")


def _holds(axis: Axis, value: float) -> bool:
    return axis.low <= value <= axis.high


def _legend(
    figure: Figure,
    found: tuple[Region, ...],
    share: Callable[[NDArray[np.bool_]], str],
    marks: Sequence[Line2D],
    look: Style,
) -> float:
    """Draw the legend; the width that it leaves to the map, in inches."""
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for number, region in enumerate(found, start=1):
        # a frame, or a white region had no handle
        edge = region.fill.ink if region.fill.hatch else "0.5"
        handle = Patch(facecolor=region.fill.colour, edgecolor=edge, linewidth=0.4, hatch=region.fill.hatch)
        name = f"{number}  {region.label}" if len(found) > _CROWDED else f"\u200b{region.label}"
        handle.set_label(f"{name}  {share(region.cells)}")
        handles.append(handle)
    handles += marks
    longest = max(len(handle.get_label()) for handle in handles)
    letter = _LETTER * look.size / 72.0
    if longest <= _LONGEST and not look.is_narrow:
        figure.legend(handles=handles, loc="outside right upper", frameon=False, handleheight=1.4, labelspacing=0.7)
        return look.width - _LABELS - _HANDLE - letter * longest
    columns = max(1, min(2, int(look.width / (letter * longest + _HANDLE))))
    rows = -(-len(handles) // columns)
    figure.set_size_inches(look.width, figure.get_figheight() + 0.029 * look.size * rows)
    words: dict[str, Any] = {"frameon": False, "handleheight": 1.3, "labelspacing": 0.5, "ncols": columns}
    figure.legend(handles=handles, loc="outside lower left", **words)
    return look.width - _LABELS


def _percent(cells: NDArray[np.bool_]) -> str:
    """An area in percent to one digit, and never 0 where there is some."""
    percent = 100 * float(cells.mean())
    return f"{percent:.1f} %" if percent >= 0.05 else "< 0.1 %"
