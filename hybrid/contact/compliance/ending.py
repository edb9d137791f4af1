"""What a motion on compliant contacts has come to, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hybrid.contact.compliance.path import Array, CompliantMotion, CompliantSamples
from hybrid.dynamics.state import State

if TYPE_CHECKING:
    from hybrid.contact.compliance.flow import CompliantFlow
    from hybrid.contact.compliance.forces import CompliantForces

__all__ = ["motion_result"]


def motion_result(
    flow: CompliantFlow,
    start: State,
    y: Array,
    at: CompliantForces,
    *,
    label: str,
    phases: tuple[tuple[str, float], ...],
    has_separated: bool,
    is_cut: bool,
    posture_change: float,
    samples: CompliantSamples | None,
) -> CompliantMotion:
    """Name what the unknowns say at the end of a motion.

    Parameters
    ----------
    flow : CompliantFlow
    start : State
    y : array
        The unknowns at the end: ``q``, ``v``, impulses by row, those of rigid constraints with friction, work of
        friction, time and stretched time.
    at : CompliantForces
        Forces there.
    label, phases, has_separated, is_cut, posture_change, samples
        As of the motion.

    Returns
    -------
    CompliantMotion
    """
    n, dynamics = flow.dynamics.n, flow.dynamics
    M = dynamics.terms(start.q, start.v, t=start.t).M
    M_end = dynamics.terms(y[:n], y[n : 2 * n], t=float(y[-2])).M
    energy = float(y[n : 2 * n] @ M_end @ y[n : 2 * n] - start.v @ M @ start.v) / 2
    impulses, k, rough = y[2 * n : -3], len(dynamics.contacts), flow.rough
    forces = np.concatenate([at.forces, at.rails.normal(at.forces)])
    rows = {name: tangential for name, (_, tangential) in zip(flow.names, flow.rows, strict=True)}
    normals = {name: i for i, name in enumerate(dynamics.contacts)}
    pressed = normals | {name: len(at.forces) + j for j, name in enumerate(rough)}
    return CompliantMotion(
        state=State(y[:n], y[n : 2 * n], float(y[-2])),
        has_separated=has_separated,
        is_cut=is_cut,
        posture_change=posture_change,
        label=label,
        phases=phases,
        force_N={name: float(forces[row]) for name, row in pressed.items()},
        impulse_N={name: float(impulses[row]) for name, row in pressed.items()},
        impulse_T={name: tuple(float(impulses[row]) for row in rows[name]) for name in pressed},
        gap_dot_after={name: float(at.gap_dot[row]) for name, row in normals.items()},
        slip_after={name: tuple(float(at.slip[row - k]) for row in rows[name]) for name in pressed},
        energy_change=energy,
        work_T=float(y[-3]),
        samples=samples,
    )
