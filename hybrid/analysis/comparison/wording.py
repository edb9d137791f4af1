"""What the rows of a comparison say in words."""

from __future__ import annotations

from collections.abc import Sequence

from hybrid.contact.compliance.path import CompliantMotion
from hybrid.contact.impacts.impact import Impact
from hybrid.contact.modes import ContactMode, Mode
from hybrid.tolerances import NOTHING

__all__ = ["FROZEN", "SHOWN", "in_a_line", "mode_after", "note_of", "number_in_full", "run_name", "unfinished"]

FROZEN = 0.5
"""Change of the Delassus operator from which a posture is not frozen even roughly."""
SHOWN = NOTHING
"""Velocities below this, relative to the largest, are shown as 0."""
_MANY = 3  # phases shown in one line


def in_a_line(kinds: Sequence[str]) -> str:
    """Phases in a line; only how many and the last where there are many.

    Parameters
    ----------
    kinds : sequence of str

    Returns
    -------
    str
        ``"slide+ -> stick"``.
    """
    return " -> ".join(kinds) if len(kinds) <= _MANY else f"{len(kinds)} phases, at last {kinds[-1]}"


def mode_after(names: Sequence[str], impact: Impact, *, zero: float) -> str:
    """Label of the mode read off the velocities after an impact, where contacts that it leaves out are open.

    Parameters
    ----------
    names : sequence of str
        All force elements of the mode.
    impact : Impact
    zero : float
        Velocity up to which a contact stays closed, or at rest.

    Returns
    -------
    str
    """
    modes = dict.fromkeys(names, ContactMode.FREE)
    for name, rate in impact.gap_dot_after.items():
        slip = impact.slip_after[name]
        if rate <= zero:
            moves = max(map(abs, slip), default=0.0) > zero
            modes[name] = ContactMode.of_slip(slip if moves else None, len(slip))
    return Mode(modes).label


def unfinished(motion: CompliantMotion) -> str:
    """What a run that has not released all contacts does at its end.

    Parameters
    ----------
    motion : CompliantMotion

    Returns
    -------
    str
        A predicate.
    """
    return "still in contact" if any(motion.force_N.values()) else "about to come back"


def note_of(method: str, motion: CompliantMotion) -> str:
    """What to make of a run so soft that the mechanism moves on meanwhile, or that could not be followed to its end.

    Parameters
    ----------
    method : str
        Name of the run.
    motion : CompliantMotion

    Returns
    -------
    str
    """
    ended = "lets go" if motion.has_separated else f"is {unfinished(motion)}"
    cut = ", where the run was ended for its effort" if motion.is_cut else ""
    said = f"{method} {ended} at t = {motion.state.t:.6g}{cut}: "
    if motion.posture_change <= FROZEN:
        return said + "something moves much faster than the contact, be it in the mechanism or its own damper"
    return (
        f"{said}until then the Delassus operator changed by {100 * motion.posture_change:.0f} percent, so the posture, "
        f"which the rigid problem and the limit hold frozen, was not, and neither says anything about this run; take a "
        f"larger stiffness"
    )


def run_name(K: float) -> str:
    """Name of a penalty run: its stiffness, short where that is exact.

    Parameters
    ----------
    K : float
        Force per length.

    Returns
    -------
    str

    Examples
    --------
    >>> run_name(1e8), run_name(1234567.8)
    ('penalty K=1e+08', 'penalty K=1234567.8')
    """
    return f"penalty K={number_in_full(K)}"


def number_in_full(value: float) -> str:
    """A number with all its digits, in short form where that is exact.

    Parameters
    ----------
    value : float

    Returns
    -------
    str
    """
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))
