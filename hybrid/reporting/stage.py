"""A figure that shows a motion at one instant after another: the mechanism, its forces, and modes over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.motion.recorded import EventKind
from hybrid.reporting.figures import STYLES, new_figure
from hybrid.reporting.samples import draw_mode_row, timeline
from hybrid.reporting.symbols import as_written, heading, with_unit
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hybrid.motion import Trajectory
    from hybrid.reporting.guides import GuideCurve
    from hybrid.reporting.scene import Scene, Surface

__all__ = ["FilmStage"]

Array = NDArray[np.float64]

_DPI = 120
_SIZE = (6.4, 4.2)  # inches: of the picture, to which the rows of modes are added
_ROW = 0.28
_LINK, _GROUND, _FORCE = "#3b424b", "#6a7078", "#b3261e"
_LONGEST = 0.18  # of the picture: an arrow of twice the reference force or more
_RING = 0.2  # seconds for which an impact, which takes no time, is seen
_FAR = 14  # times its own size that a mechanism travels before the picture follows it
_TURN, _TILT = -0.6, 0.35  # radians: from where a spatial mechanism is seen
_STROKES = 40


class FilmStage:
    """What is drawn of a motion, changed from instant to instant.

    Parameters
    ----------
    motion : Trajectory
    scene : Scene
        Of this motion.
    speed : float
        Time of the motion that passes in one second of watching.
    title : str
        Instead of that of the mechanism.

    Attributes
    ----------
    figure : matplotlib Figure
    """

    figure: Any  # with the canvas of Agg, which gives its pixels

    def __init__(self, motion: Trajectory, scene: Scene, *, speed: float, title: str) -> None:
        self._motion, self._scene, self._speed = motion, scene, speed
        self._flat = {name: _projected(place) for name, place in scene.points.items()}
        whole = np.concatenate(list(self._flat.values()))
        self._low, self._high = whole.min(axis=0), whole.max(axis=0)
        own = np.array([place[0] for place in self._flat.values()])
        self._body = float(np.linalg.norm(np.ptp(own, axis=0))) or scene.size / 6
        self._follows = len(own) > 1 and float(np.linalg.norm(self._high - self._low)) > _FAR * self._body
        self._rows = timeline(motion)
        modes = _ROW * len(self._rows) + 0.65 if self._rows else 0.0
        height = 2 * round(60 * (_SIZE[1] + modes)) / 120  # an even number of pixels, as films need
        self.figure = new_figure("screen", height=height, width=_SIZE[0])
        if self._rows:
            self._axes, below = self.figure.subplots(2, 1, height_ratios=[_SIZE[1], modes])
            self._cursor = _draw_modes(below, motion, self._rows)
        else:
            self._axes, self._cursor = self.figure.add_subplot(), None
        self._axes.set_axis_off()
        mechanism = motion.dynamics.mechanism
        shown = heading(title or mechanism.title or mechanism.name, inches=_SIZE[0] - 0.4, size=10)
        self.figure.suptitle(shown, fontsize=10)
        self._draw_parts()
        self.figure.set_dpi(_DPI)
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # a picture that moves keeps its places
        self._moving = self._artists()
        for artist in self._moving:
            artist.set_animated(True)
        self.figure.canvas.draw()
        self._ground = self.figure.canvas.copy_from_bbox(self.figure.bbox)

    def show(self, t: float) -> None:
        """Change the figure to an instant.

        Parameters
        ----------
        t : float
            Within the motion.
        """
        at = {name: self._between(place, t) for name, place in self._flat.items()}
        frame = self._frame(t)
        for line, (first, second) in zip(self._links, self._scene.links, strict=True):
            line.set_data(*np.array([at[first], at[second]]).T)
        self._dots.set_data(*np.array(list(at.values())).T)
        for arrow, force in zip(self._arrows, self._scene.forces, strict=True):
            vector = _projected(force.vector[frame][None, :])[0] * self._unit
            size = float(np.linalg.norm(vector))
            arrow.set_visible(size > 0.02 * self._longest)
            shown = vector * min(1.0, self._longest / max(size, LEAST))
            arrow.set_positions(at[force.point] - shown, at[force.point])
        for lines, surface in zip(self._surfaces, self._scene.surfaces, strict=True):
            _place_surface(lines, surface, 0 if surface.is_still else frame, self._reach)
        self._show_impacts(t, at)
        self._look(at)
        modes = [f"{name}: {self._mode(name, t)}" for name in self._rows]
        self._words.set_text("   ".join([f"t = {t:.{self._digits}f}{self._seconds}", *modes]))
        if self._cursor is not None:
            self._cursor.set_xdata([t, t])

    def pixels(self, t: float) -> NDArray[np.uint8]:
        """The picture at an instant.

        Parameters
        ----------
        t : float
            Within the motion.

        Returns
        -------
        array, (height, width, 4)
            Red, green, blue and opacity; only what moves is drawn anew.
        """
        self.show(t)
        self.figure.canvas.restore_region(self._ground)
        for artist in self._moving:
            artist.axes.draw_artist(artist)
        return np.array(self.figure.canvas.buffer_rgba())

    def _artists(self) -> list[Any]:
        """What moves, from the back to the front."""
        surfaces = [line for lines in (*self._curves, *self._surfaces) for line in lines]
        cursor = [] if self._cursor is None else [self._cursor]
        return [*surfaces, *self._links, self._dots, self._ring, *self._arrows, self._words, *cursor]

    def _draw_parts(self) -> None:
        from matplotlib.patches import FancyArrowPatch

        axes = self._axes
        room = float(np.max(self._high - self._low)) or self._body
        reach = 3 * self._body if self._follows else room
        self._reach = 2.0 * reach
        self._curves = [_draw_curve(axes, curve, 0.03 * reach) for curve in self._scene.curves]
        self._longest = _LONGEST * reach
        self._unit = self._longest / (2 * self._scene.reference)
        self._surfaces = [
            [axes.plot([], [], color=_GROUND, linewidth=1.2, linestyle=(0, (6, 3)) if item.is_guide else "-")[0]]
            + [axes.plot([], [], color=_GROUND, linewidth=0.7)[0]] * (not item.is_guide)
            for item in self._scene.surfaces
        ]
        self._links = [
            axes.plot([], [], color=_LINK, linewidth=4, solid_capstyle="round", zorder=2)[0] for _ in self._scene.links
        ]
        size = 6 if self._scene.links else 11
        self._dots = axes.plot([], [], "o", color="white", markeredgecolor=_LINK, markersize=size, zorder=3)[0]
        self._arrows = [
            axes.add_artist(
                FancyArrowPatch((0, 0), (1, 1), arrowstyle="-|>", mutation_scale=13, lw=2, color=_FORCE, zorder=4)
            )
            for _ in self._scene.forces
        ]
        self._ring = axes.plot([], [], "o", markersize=22, color="none", markeredgecolor=_FORCE, zorder=4)[0]
        top: dict[str, Any] = {"transform": axes.transAxes, "va": "top", "fontsize": STYLES["screen"].size}
        # as it is written: formulas would be read anew for every frame, and take half of its time
        self._words = axes.text(0.0, 1.0, "", parse_math=False, **top)
        span = max(self._motion.t - self._motion.t_start, LEAST)
        self._digits = int(np.clip(3 - np.floor(np.log10(span)), 0, 12))
        unit = self._motion.dynamics.mechanism.units().time
        self._seconds = f" {unit}" if unit else ""
        if any(np.any(force.vector) for force in self._scene.forces):
            units = self._motion.dynamics.mechanism.units()
            force = {*units.forces.values(), *units.tangential_forces.values()}
            words = f"{2 * self._scene.reference:g} {force.pop() if len(force) == 1 else ''}".rstrip()
            axes.text(1.0, 1.0, as_written(f"longest arrow: {words} or more"), ha="right", color=_GROUND, **top)

    def _look(self, at: dict[str, Array]) -> None:
        """Set the limits: of the whole motion, or around the mechanism where it travels far."""
        low, high = self._low, self._high
        if self._follows:
            places = np.array(list(at.values()))
            middle = (places.min(axis=0) + places.max(axis=0)) / 2
            low, high = middle - 1.5 * self._body, middle + 1.5 * self._body
        box = self._axes.get_window_extent()
        room = 0.08 * float(np.max(high - low)) + (self._longest if self._scene.forces else 0.0)
        across, up = (high - low + 2 * room).tolist()
        scale = max(across / box.width, up / box.height) or 1.0  # the same both ways
        middle = (low + high) / 2
        self._axes.set_xlim(middle[0] - scale * box.width / 2, middle[0] + scale * box.width / 2)
        self._axes.set_ylim(middle[1] - scale * box.height / 2, middle[1] + scale * box.height / 2)

    def _frame(self, t: float) -> int:
        """The frame at or before an instant: forces and surfaces jump where the mode changes."""
        return max(0, int(np.searchsorted(self._scene.t, t, side="right")) - 1)

    def _between(self, place: Array, t: float) -> Array:
        return np.array([np.interp(t, self._scene.t, column) for column in place.T])

    def _mode(self, name: str, t: float) -> str:
        spans = self._rows[name]
        return next((piece.label for piece in reversed(spans) if piece.start <= t), spans[0].label if spans else "")

    def _show_impacts(self, t: float, at: dict[str, Array]) -> None:
        struck = {
            name
            for event in self._motion.events
            if event.kind is EventKind.IMPACT and 0 <= t - event.t < _RING * self._speed
            for name in event.elements
        }
        places = [at[force.point] for force in self._scene.forces if force.name in struck]
        self._ring.set_data(*np.array(places).T if places else ([], []))


def _projected(places: Array) -> Array:
    """Places in the plane of the picture: spatial ones turned and tilted, without perspective."""
    if places.shape[1] == 2:
        return places
    x, y, z = places.T
    right = np.cos(_TURN) * x + np.sin(_TURN) * y
    deep = -np.sin(_TURN) * x + np.cos(_TURN) * y
    return np.column_stack([right, np.cos(_TILT) * z + np.sin(_TILT) * deep])


def _draw_curve(axes: Axes, curve: GuideCurve, depth: float) -> list[Any]:
    """A guide dashed, a surface with strokes on its solid side."""
    is_guide = not curve.normals.any()
    ground: dict[str, Any] = {"color": _GROUND, "linewidth": 1.2, "linestyle": (0, (6, 3)) if is_guide else "-"}
    lines = axes.plot(*_projected(curve.places).T, **ground)
    if not is_guide:
        tops, normals = curve.places[::3], curve.normals[::3]
        along = np.column_stack([normals[:, 1], -normals[:, 0]])
        strokes = np.stack([tops, tops - depth * (normals + along), np.full_like(tops, np.nan)], axis=1)
        lines += axes.plot(*strokes.reshape(-1, 2).T, color=_GROUND, linewidth=0.7)
    return lines


def _place_surface(lines: list[Any], surface: Surface, frame: int, reach: float) -> None:
    """A straight piece of a plane surface, and strokes on its solid side."""
    at, normal = surface.at[frame], surface.normal[frame]
    if len(at) == 3:
        _place_plane(lines, at, normal, reach)
        return
    along = np.array([normal[1], -normal[0]])
    length = reach if surface.is_still else 0.12 * reach
    ends = at + np.outer([-length, length], along)
    lines[0].set_data(*ends.T)
    if len(lines) > 1:
        tops = at + np.outer(np.linspace(-length, length, _STROKES if surface.is_still else 9), along)
        feet = tops - 0.015 * reach * (normal + along)
        strokes = np.stack([tops, feet, np.full_like(tops, np.nan)], axis=1).reshape(-1, 2)
        lines[1].set_data(*strokes.T)


def _place_plane(lines: list[Any], at: Array, normal: Array, reach: float) -> None:
    """A grid in a plane of space."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, helper)
    first = first / np.linalg.norm(first)
    second = np.cross(normal, first)
    rows = []
    for share in np.linspace(-0.5, 0.5, 9) * reach:
        for one, other in ((first, second), (second, first)):
            ends = at + share * one + np.outer([-0.5 * reach, 0.5 * reach], other)
            rows += [*_projected(ends), np.full(2, np.nan)]
    lines[-1].set_data(*np.array(rows).T)


def _draw_modes(axes: Axes, motion: Trajectory, rows: Any) -> Any:
    """The modes of every force element over time; the line that marks the instant."""
    span = max(motion.t - motion.t_start, LEAST)
    for row, spans in enumerate(rows.values()):
        draw_mode_row(axes, row, spans, span=span, inches=5.0, letter=0.09, size=7.5)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(motion.t_start, motion.t_start + span)
    unit = motion.dynamics.mechanism.units().time
    axes.set_xlabel(with_unit("time $t$", unit))
    return axes.axvline(motion.t_start, color=_FORCE, linewidth=1.6)
