"""What a motion on compliant contacts has come to, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid.contact.compliance.path import CompliantMotion
from hybrid.dynamics.state import State

if TYPE_CHECKING:
    from hybrid.contact.compliance.motion import CompliantCourse
    from hybrid.contact.compliance.moving import MovingFlow

__all__ = ["motion_result"]


def motion_result(flow: MovingFlow, start: State, course: CompliantCourse) -> CompliantMotion:
    """Name what the unknowns say at the end of a motion.

    Parameters
    ----------
    flow : MovingFlow
    start : State
    course : CompliantCourse

    Returns
    -------
    CompliantMotion
    """
    n, dynamics, y, at = flow.dynamics.n, flow.dynamics, course.end, course.at
    M = dynamics.terms(start.q, start.v, t=start.t).M
    M_end = dynamics.terms(y[:n], y[n : 2 * n], t=float(y[-2])).M
    energy = float(y[n : 2 * n] @ M_end @ y[n : 2 * n] - start.v @ M @ start.v) / 2
    impulses, k, rough = y[2 * n : -3], len(dynamics.contacts), flow.rough
    forces = [*at.forces, *at.rails.normal(at.forces)]
    rows = {name: tangential for name, (_, tangential) in zip(flow.names, flow.rows, strict=True)}
    normals = {name: i for i, name in enumerate(dynamics.contacts)}
    pressed = normals | {name: len(at.forces) + j for j, name in enumerate(rough)}
    return CompliantMotion(
        state=State(y[:n], y[n : 2 * n], float(y[-2])),
        has_separated=course.has_separated,
        is_cut=course.is_cut,
        posture_change=course.posture_change,
        label=course.label,
        phases=tuple((label, sum(phase.duration for phase in parts)) for label, parts in course.named_phases),
        force_N={name: float(forces[row]) for name, row in pressed.items()},
        impulse_N={name: float(impulses[row]) for name, row in pressed.items()},
        impulse_T={name: tuple(float(impulses[row]) for row in rows[name]) for name in pressed},
        gap_dot_after={name: float(at.gap_dot[row]) for name, row in normals.items()},
        slip_after={name: tuple(float(at.slip[row - k]) for row in rows[name]) for name in pressed},
        energy_change=energy,
        work_T=float(y[-3]),
        samples=course.samples,
    )
