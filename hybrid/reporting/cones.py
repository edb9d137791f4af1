"""Friction cones with the contact forces of every consistent mode in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.reporting.figures import Style, StyleName, legend_width, new_figure, place_legend, settings
from hybrid.reporting.regions import line_styles
from hybrid.reporting.symbols import as_written, heading, with_unit
from hybrid.tolerances import LEAST, NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hybrid.contact import Selection
    from hybrid.contact.branches import Branch

__all__ = ["FrictionCone", "friction_cones", "plot_cones"]

_ROOM = 1.2  # times the largest force
_EACH = 2.2  # inches: of a panel at least
_BESIDE, _LABELS, _TALLEST = 0.7, 0.9, 2.8  # inches: beside a panel, above and below it, and its height at most
_SHARE = 0.06  # of the picture: room below the tip of the cone
_NARROWEST = 0.25  # friction for which a picture is made wide enough


@attrs.frozen
class FrictionCone:
    """The cone of one contact, and the forces in it.

    Attributes
    ----------
    contact : str
    friction, static_friction : float
        Coefficients while it slips, and up to which it sticks.
    direction : tuple of float or None
        Unit direction of slip: the force lies on the edge of the cone against it. None at rest.
    is_spatial, is_bilateral : bool
        In space the second component is the magnitude of the friction force; a bilateral contact has two cones.
    forces : mapping of str to (float, float)
        Tangential and normal force, by the mode that has them.
    sets : frozenset of str
        Modes that have other forces, too: one of a set is shown.
    """

    contact: str
    friction: float
    static_friction: float
    direction: tuple[float, ...] | None
    is_spatial: bool
    is_bilateral: bool
    forces: Mapping[str, tuple[float, float]]
    sets: frozenset[str] = frozenset()


@checks_arguments
def friction_cones(selection: Selection) -> tuple[FrictionCone, ...]:
    """The friction cones of a state: of every closed contact and rough rail with friction.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    tuple of FrictionCone
        In the order of the contacts; without force where no mode is consistent.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1.2, "phi_dot": 0, "slip.tip": 1})
    >>> (cone,) = friction_cones(select(rod, state))
    >>> cone.friction, list(cone.forces)
    (0.5, ['slide+'])
    """
    from hybrid.contact.modes import ElementKind

    found = []
    for element in selection.problem.elements:
        friction = float(np.max(element.friction))
        static = max(friction, float(np.max(element.static_friction)))
        if element.kind is ElementKind.ELEMENT or not element.tangential or static <= 0.0:
            continue
        forces: dict[str, tuple[float, float]] = {}
        sets: set[str] = set()
        for number, branch in enumerate(selection.branches, start=1):
            dragging = branch.lambda_T.get(element.name, (0.0,))
            tangential = float(np.linalg.norm(dragging)) if len(dragging) > 1 else float(dragging[0])
            label = dict(branch.mode.items()).get(element.name)
            word = label.value if label is not None else ""
            key = f"{number}: {word}" if len(selection.branches) > 1 else word
            forces[key] = (tangential, float(branch.lambda_N.get(element.name, 0.0)))
            sets |= {key} if _is_one_of_a_set(branch, element.name) else set()
        direction = None if element.direction is None else tuple(float(np.max(part)) for part in element.direction)
        is_spatial, is_bilateral = len(element.tangential) > 1, element.kind is ElementKind.BILATERAL
        kinds = is_spatial, is_bilateral
        found.append(FrictionCone(element.name, friction, static, direction, *kinds, forces, frozenset(sets)))
    return tuple(found)


def _is_one_of_a_set(branch: Branch, contact: str) -> bool:
    """Whether a contact has other forces in the same mode, with the same accelerations."""
    found = branch.force_set
    if found is None:
        return False
    own = [name.split(".")[1] == contact for name in found.names]
    size = np.max(np.abs(found.vertices), initial=LEAST)
    kernel = np.array(found.kernel, dtype=float).reshape(-1, len(own))
    ways = np.vstack([(found.vertices - found.vertices[:1]) / size, found.rays, kernel])
    return bool((np.abs(ways[:, own]) > NOTHING).any())


@checks_arguments
def plot_cones(
    cones: tuple[FrictionCone, ...],
    *,
    units: Mapping[str, str] | None = None,
    title: str = "",
    style: StyleName = "screen",
) -> Figure:
    """Friction cones as a figure: a panel for each contact, an arrow for the force of each consistent mode.

    Parameters
    ----------
    cones : tuple of FrictionCone
        At least one.
    units : mapping of str to str, optional
        Of the forces, by contact.
    title : str, optional
    style : {"screen", "page", "single", "double"}, optional
        For a window, a page, or a column of a journal.

    Returns
    -------
    matplotlib Figure
        Both axes have one scale, so that half the opening is the angle of friction. The heavy edge is the one on which
        the force of a slipping contact lies; dashed lines are static friction where it is the larger one.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1.2, "phi_dot": 0, "slip.tip": 1})
    >>> figure = plot_cones(friction_cones(select(rod, state)), units={"tip": "N"})
    >>> figure.axes[0].get_ylabel()
    '$\\\\lambda_N$ (N)'
    """
    with settings(style) as look:
        columns = min(len(cones), max(1, int(look.width / _EACH)))
        rows = -(-len(cones) // columns)
        width = look.width if columns > 1 or look.is_narrow else 0.7 * look.width
        each = max(_height(cone, width / columns - _BESIDE - _legend(cone, look)) for cone in cones)
        figure = new_figure(style, height=rows * (each + _LABELS) + (0.4 if title else 0.0), width=width)
        panels = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
        for axes, cone in zip(panels, cones, strict=False):
            _draw(axes, cone, (units or {}).get(cone.contact, ""), look)
            if len(cones) > 1:
                # below the cone there is room in every style
                axes.text(0.97, 0.08, as_written(cone.contact), transform=axes.transAxes, ha="right")
            if cone.sets:
                words = "one force\nof a set"
                if len(cone.forces) > 1:
                    words = f"{', '.join(sorted(key.partition(':')[0] for key in cone.sets))}: {words}"
                axes.text(0.03, 0.08, words, transform=axes.transAxes, fontsize=look.note)
        for spare in panels[len(cones) :]:
            spare.set_axis_off()
        if title:
            figure.suptitle(heading(title, inches=width - 0.4, size=look.heading), fontsize=look.heading)
    return figure


def _opening(cone: FrictionCone) -> float:
    return max(cone.static_friction, _NARROWEST)


def _legend(cone: FrictionCone, look: Style) -> float:
    """Width of the legend beside a panel, in inches."""
    return 0.0 if look.is_narrow or not cone.forces else legend_width(list(cone.forces), look)


def _height(cone: FrictionCone, width: float) -> float:
    """Of a panel of a given width, in inches, with one scale for both axes."""
    return min(_TALLEST, width * (2.1 if cone.is_bilateral else 1.05 + _SHARE) / (2.16 * _opening(cone)))


def _draw(axes: Axes, cone: FrictionCone, unit: str, look: Style) -> None:
    from matplotlib.patches import FancyArrowPatch, Polygon

    opening = _opening(cone)
    largest = max((max(abs(N), abs(T) / opening) for T, N in cone.forces.values()), default=0.0)
    reach = _ROOM * largest or 1.0
    for side in (1.0, -1.0) if cone.is_bilateral else (1.0,):
        top = side * reach
        corners = [(0, 0), (cone.friction * reach, top), (-cone.friction * reach, top)]
        axes.add_patch(Polygon(corners, facecolor="0.9", edgecolor="0.45", linewidth=0.8, label="_cone"))
        if cone.static_friction > cone.friction:
            for sign in (1, -1):
                line = [0, sign * cone.static_friction * reach], [0, top]
                axes.plot(*line, color="0.45", linewidth=0.8, linestyle=(0, (4, 2)), label="_static")
        if cone.direction is not None:
            edge = cone.friction * (1.0 if cone.is_spatial else -cone.direction[0])
            axes.plot([0, edge * reach], [0, top], color="0.25", linewidth=2.2, label="_edge")
    handles = []
    for (label, tip), (colour, stroke) in zip(cone.forces.items(), line_styles(len(cone.forces)), strict=True):
        if np.hypot(*tip) > NOTHING * reach:
            arrow = FancyArrowPatch((0, 0), tip, arrowstyle="-|>", mutation_scale=12, shrinkA=0, shrinkB=0, zorder=4)
            arrow.set(color=colour, linestyle=stroke, linewidth=1.8)
            axes.add_patch(arrow)
        dot: dict[str, Any] = {"color": colour, "markersize": 4, "zorder": 5}
        handles += axes.plot(*tip, marker="o", linestyle=stroke, label=label, **dot)
    if not cone.forces:
        words = "no mode is consistent:\nthere is no force"
        axes.text(0, 0.72 * reach, words, ha="center", va="center", fontsize=look.note)
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_xlim(-1.08 * opening * reach, 1.08 * opening * reach)
    axes.set_ylim((-1.05 if cone.is_bilateral else -_SHARE) * reach, 1.05 * reach)
    axes.set_aspect("equal", adjustable="box")
    axes.axhline(0.0, color="0.6", linewidth=0.6, zorder=0)
    axes.axvline(0.0, color="0.6", linewidth=0.6, zorder=0)
    axes.set_xlabel(with_unit(r"$\pm|\lambda_T|$" if cone.is_spatial else r"$\lambda_T$", unit))
    axes.set_ylabel(with_unit(r"$\lambda_N$", unit))
    if handles:
        place_legend(axes, handles, look)
