"""Modes over time: one colour for each mode, and pieces no finer than can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.reporting.palette import lightness

if TYPE_CHECKING:
    from hybrid.motion import Trajectory

__all__ = ["APART", "MODE_FILLS", "ModeSpan", "ink_on", "mode_fill", "timeline"]

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
