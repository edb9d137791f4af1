"""Motions as plain JSON objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybrid.motion.recorded import Termination
from hybrid.reporting.records import plain

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import Impact
    from hybrid.contact.modes import Mode
    from hybrid.motion import Event, HandedOver, MotionTree, Trajectory

__all__ = ["motion_record", "tree_record"]


def motion_record(motion: Trajectory) -> dict[str, Any]:
    """A motion as a plain JSON object.

    Parameters
    ----------
    motion : Trajectory

    Returns
    -------
    dict
        Keys ``mechanism, method, events, termination, cause, final, energy, warnings, handed_over, complete``; the
        last one is False for a motion that was interrupted.
    """
    energy = motion.energy()
    return {
        "mechanism": motion.dynamics.name,
        "method": motion.method,
        "events": [_event_record(motion, event) for event in motion.events],
        "termination": motion.termination.name,
        "cause": motion.cause,
        "final": {"t": float(motion.t), "q": _named(motion, motion.q), "v": _named(motion, motion.v, rates=True)},
        "energy": {
            "initial": plain(energy.initial),
            "final": plain(energy.final),
            "dissipated": plain(energy.dissipated),
            "friction": plain(energy.friction),
            "impacts": plain(energy.impacts),
            "applied": plain(energy.applied),
            "residual": plain(energy.residual),
        },
        "warnings": list(motion.warnings),
        "handed_over": None if motion.handed_over is None else _springs_record(motion.handed_over),
        "complete": motion.termination is not Termination.INTERRUPTED,
    }


def _springs_record(springs: HandedOver) -> dict[str, Any]:
    return {"t": float(springs.t), "stiffness": dict(springs.stiffness)}


def tree_record(tree: MotionTree) -> dict[str, Any]:
    """All motions from one state as a plain JSON object: the first, and ``limbs`` all branches with their parents.

    Parameters
    ----------
    tree : MotionTree

    Returns
    -------
    dict
        The keys of `motion_record` for the first motion, ``limbs`` and ``complete``. A branch has the number of its
        ``parent`` and the ``choice`` that began it.
    """
    branches = [
        {"parent": branch.parent, "choice": branch.choice, **motion_record(branch.motion)} for branch in tree.branches
    ]
    return {**motion_record(tree.branches[0].motion), "limbs": branches, "complete": tree.is_complete}


def _named(motion: Trajectory, values: Any, *, rates: bool = False) -> dict[str, float]:
    mechanism = motion.dynamics.mechanism
    names = mechanism.velocities if rates else mechanism.coordinates
    return {name: float(value) + 0.0 for name, value in zip(names, values, strict=True)}


def _modes(mode: Mode | None) -> dict[str, str]:
    return {} if mode is None else {name: label.value for name, label in mode.items()}


def _event_record(motion: Trajectory, event: Event) -> dict[str, Any]:
    return {
        "t": float(event.t),
        "kind": event.kind.value,
        "contact": ", ".join(event.elements),
        "guards": [{"kind": guard.kind.value, "contact": guard.element} for guard in event.guards],
        "mode_before": _modes(event.mode_before),
        "mode_after": _modes(event.mode_after),
        "q": _named(motion, event.q),
        "v": _named(motion, event.v_after, rates=True),
        "verdict": None if event.verdict is None else event.verdict.name,
        "note": event.note,
        "impact": None if event.impact is None else _impact_record(event.impact),
    }


def _impact_record(impact: Impact) -> dict[str, Any]:
    """The law, the energy it took, and its phases; durations in fast time, None where endless."""
    phases = [{"kind": phase.kind, "duration": plain(phase.duration)} for phase in impact.phases]
    change = plain(impact.energy_change)
    return {"law": impact.law, "energy_change": change, "duration": plain(impact.duration), "phases": phases}
