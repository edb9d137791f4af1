"""A motion as samples to be drawn: broken where it jumps, close together where it is short.

Modes over time: one colour for each mode, and pieces no finer than can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.motion.recorded import EventKind
from hybrid.reporting.regions import lightness
from hybrid.reporting.scene import apart, at_the_end, observed
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from hybrid.dynamics import Dynamics
    from hybrid.dynamics.derive import Values
    from hybrid.motion import Arc, Trajectory

__all__ = [
    "APART",
    "MODE_FILLS",
    "ModeSpan",
    "MotionSamples",
    "draw_mode_row",
    "ink_on",
    "mode_fill",
    "quantity",
    "sampled",
    "timeline",
]


# Lightness tells them apart without colour; the label stands in every piece that has room for it.
MODE_FILLS = {
    "free": "#f4f8a8",
    "slide+": "#77d9af",
    "closed": "#c9b8e8",
    "slide": "#e3a45c",
    "stick": "#14a7bb",
    "slide-": "#1072b2",
}
_OTHER_FILL = "#dddddd"

APART = 0.004
"""Of the time: lines nearer to each other would merge into a grey field."""


@attrs.frozen
class ModeSpan:
    """A stretch of time in one mode of one force element."""

    start: float
    end: float
    label: str


def mode_fill(label: str) -> str:
    """Colour of a mode, as ``#rrggbb``.

    Parameters
    ----------
    label : str
        Of one contact.

    Returns
    -------
    str
        Grey for a label that is not known.
    """
    return MODE_FILLS.get(label, _OTHER_FILL)


def ink_on(fill: str) -> str:
    """Colour of text on a colour.

    Parameters
    ----------
    fill : str
        As ``#rrggbb``.

    Returns
    -------
    str
        White or nearly black, whichever is easier to read; not black itself, which pages turn with their theme.

    Examples
    --------
    >>> ink_on(mode_fill("free")), ink_on(mode_fill("slide-"))
    ('#0a0a0c', '#ffffff')
    """
    parts = [int(fill[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return "#ffffff" if lightness(parts) < 55 else "#0a0a0c"


def draw_mode_row(
    axes: Axes, row: int, pieces: Sequence[ModeSpan], *, span: float, inches: float, letter: float, size: float
) -> None:
    """Draw the modes of a force element as pieces of a bar, with labels where there is room for them.

    Parameters
    ----------
    axes : matplotlib Axes
        Changed.
    row : int
    pieces : sequence of ModeSpan
    span : float
        The time that is drawn.
    inches : float
        Its length.
    letter : float
        Width of a letter with what is left beside it, in inches.
    size : float
        Of the letters, in points.

    Returns
    -------
    None
        The bar is drawn.
    """
    axes.broken_barh(
        [(piece.start, piece.end - piece.start) for piece in pieces],
        (row - 0.4, 0.8),
        facecolors=[mode_fill(piece.label) for piece in pieces],
        edgecolors="0.2",
        linewidths=[0.5 if piece.end - piece.start > APART * span else 0.0 for piece in pieces],
    )
    for piece in pieces:
        width = piece.end - piece.start
        if width * inches > letter * len(piece.label) * span:
            at, ink = (piece.start + width / 2, row), ink_on(mode_fill(piece.label))
            axes.text(*at, piece.label, ha="center", va="center", fontsize=size, color=ink)


def timeline(motion: Trajectory, *, most: int = 1000) -> dict[str, tuple[ModeSpan, ...]]:
    """The modes of every contact and friction element over a motion.

    Parameters
    ----------
    motion : Trajectory
    most : int
        Largest number of pieces of one element; beyond it time is cut into so many cells of equal length, each with
        the mode at its middle.

    Returns
    -------
    dict of str to tuple of ModeSpan
        By force element, in the order of time.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, simulate, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})
    >>> [piece.label for piece in timeline(simulate(rod, start, t_end=2))["tip"]]
    ['stick', 'slide-', 'slide+']
    """
    if not motion.arcs:
        return dict.fromkeys((*motion.dynamics.contacts, *motion.dynamics.elements), ())
    return {
        name: _pieces([(arc.start, arc.end, arc.mode[name].value) for arc in motion.arcs], most)
        for name in motion.arcs[0].mode
    }


def _pieces(stretches: list[tuple[float, float, str]], most: int) -> tuple[ModeSpan, ...]:
    joined = _joined(stretches)
    if len(joined) > most:
        starts = np.array([piece.start for piece in joined])
        edges = np.linspace(joined[0].start, joined[-1].end, most + 1)
        inside = np.searchsorted(starts, (edges[:-1] + edges[1:]) / 2, side="right") - 1
        joined = _joined(
            [
                (start, end, joined[index].label)
                for start, end, index in zip(edges[:-1].tolist(), edges[1:].tolist(), inside.tolist(), strict=True)
            ]
        )
    return tuple(joined)


def _joined(stretches: list[tuple[float, float, str]]) -> list[ModeSpan]:
    """Pieces with neighbours of the same label made one."""
    found: list[ModeSpan] = []
    for start, end, label in stretches:
        if found and found[-1].label == label:
            found[-1] = ModeSpan(found[-1].start, end, label)
        else:
            found.append(ModeSpan(start, end, label))
    return found


Array = NDArray[np.float64]

_POINTS = 1500  # over the whole time: more than the pixels it gets
_LEAST = 12  # in one arc: a bounce is still round


@attrs.frozen(eq=False)
class MotionSamples:
    """Samples of a motion; a row of NaN between two arcs keeps the pen from drawing a jump as a slope.

    Attributes
    ----------
    t : array, (N,)
    q, v : array, (N, n)
    lambda_N, lambda_T, lambda_B : array, (N, k), (N, p) and (N, m)
        Forces of contacts, of friction and of rigid constraints.
    is_struck : array of bool, (N,)
        Whether time-stepping passes an impact in the step that this sample ends.
    """

    t: Array
    q: Array
    v: Array
    lambda_N: Array
    lambda_T: Array
    lambda_B: Array
    is_struck: NDArray[np.bool_]


def sampled(motion: Trajectory, *, whole: float | None = None) -> MotionSamples:
    """Samples of a motion.

    Parameters
    ----------
    motion : Trajectory
    whole : float, optional
        The time that is drawn, over which there are some 1500; by default that of the motion.

    Returns
    -------
    MotionSamples
        Of a motion without arcs its one state.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> samples = sampled(simulate(derive(mechanisms.load("bouncing_ball")), State([1.0], [0.0]), t_end=0.4))
    >>> int(np.isnan(samples.t).sum())  # behind its one flight
    1
    """
    span = max(motion.t - motion.t_start if whole is None else whole, LEAST)
    struck = np.array([event.t for event in motion.events if event.kind is EventKind.IMPACT])
    blocks: list[Array] = []
    in_impact: list[NDArray[np.bool_]] = []
    for arc in motion.arcs:
        t = _instants(arc, span)
        shown = observed(motion, arc, t)
        blocks += [shown, np.full((1, shown.shape[1]), np.nan)]
        steps = arc.knots[arc.step_of(t)]
        in_impact += [np.isin(steps, struck) & (arc.means is not None), np.array([False])]
    if not blocks:
        blocks, in_impact = [at_the_end(motion, np.nan)], [np.array([False])]
    return MotionSamples(*apart(motion, np.vstack(blocks)), np.concatenate(in_impact))


def quantity(dynamics: Dynamics, name: str, q: Array, v: Array, t: Array, *, parameters: Values | None) -> Array | None:
    """A quantity over states, by the name under which it is pinned or swept.

    Parameters
    ----------
    dynamics : Dynamics
    name : str
        A coordinate, a velocity, ``t``, a parameter, ``gap.tip``, ``gap_dot.tip`` or ``slip.tip``.
    q, v : array, (N, n)
    t : array, (N,)
        NaN where there is no state.
    parameters : mapping, or None
        Values that replace declared ones.

    Returns
    -------
    array, (N,) or None
        None if the mechanism has no such quantity.
    """
    mechanism = dynamics.mechanism
    known = {"t": t, **dict(zip(mechanism.coordinates, q.T, strict=True))}
    known |= dict(zip(mechanism.velocities, v.T, strict=True))
    if name in known:
        return np.asarray(known[name])
    values = dynamics.at(parameters).values
    if name in values:
        return np.full(len(t), float(values[name]))
    kind, _, contact = name.partition(".")
    terms = dynamics.terms(q, v, t=t, parameters=parameters)
    if kind in ("gap", "gap_dot") and contact in dynamics.contacts:
        found = getattr(terms, kind)[..., dynamics.contacts.index(contact)]
    elif kind == "slip" and contact in dynamics.columns and dynamics.dimension(contact) == 1:
        found = terms.slip[..., dynamics.columns[contact].start]
    else:
        return None
    # what is lost between two arcs stays so
    return np.where(np.isnan(t), np.nan, np.broadcast_to(found, len(t)))


def _instants(arc: Arc, span: float) -> Array:
    """Evenly in time; where time-stepping made the arc, its own instants as far as they can be seen."""
    if arc.means is not None and len(arc.knots) <= 4 * _POINTS:
        return arc.knots
    return np.linspace(arc.start, arc.end, max(_LEAST, int(np.ceil(_POINTS * (arc.end - arc.start) / span))))
