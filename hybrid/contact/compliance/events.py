"""Events that end a phase of a compliant motion: what presses lets go, what slides stops, what holds gives way."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from hybrid.contact.compliance.flow import AbstractCompliantFlow
from hybrid.contact.compliance.forces import CompliantForces
from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rest import is_redundant
from hybrid.contact.compliance.status import STOPPED, VANISHING, ContactStatus, beyond_leaving

__all__ = ["Event", "phase_events"]

Event = Callable[[float, Array], float]


def phase_events(
    flow: AbstractCompliantFlow, status: ContactStatus, at_state: Callable[[Array], CompliantForces], y: Array
) -> tuple[list[Event], list[tuple[str, int]]]:
    """Events of a phase for ``solve_ivp``, and what each is: its kind and its force element.

    Parameters
    ----------
    flow : AbstractCompliantFlow
    status : ContactStatus
        What the force elements do in the phase.
    at_state : callable
        Forces at a vector of unknowns.
    y : array
        The unknowns at the start of the phase.

    Returns
    -------
    list of callable, list of (str, int)
    """
    events: list[Event] = []
    names: list[tuple[str, int]] = []

    def add(kind: str, i: int, direction: float, value: Callable[[CompliantForces], float]) -> None:
        def event(_: float, x: Array) -> float:
            return float(value(at_state(x)))

        event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
        events.append(event)
        names.append((kind, i))

    rest, speed = status.resting(flow.sizes), flow.speed
    held = flow.tangents(rest)[0]
    begin = at_state(y)
    first, margins = len(flow.names) - len(flow.rough), flow.margins(begin).tolist()
    redundant = is_redundant(begin.G[np.ix_(held, held)])
    if redundant:
        add("yield", rest[0], 1.0, partial(flow.yielding, status=status, rest=rest))
    for i, (normal, rows) in enumerate(flow.rows):
        if not status.presses[i]:
            stiffness = float(flow.stiffness[i])
            force = speed * math.sqrt(stiffness / float(begin.G[i, i])) if begin.G[i, i] > 0.0 else 0.0
            add("press", i, 1.0, partial(_overlap, i=i, stiffness=stiffness, margin=VANISHING * force))
            continue
        if normal is not None:
            add("release", i, -1.0, partial(_pressure, i=i))
        direction, columns, margin = status.slip[i], flow.columns(i), 0.0
        if i >= first:
            margin = margins[i - first]
            if direction is not None:
                add("flip", i, -1.0, partial(_load, j=i - first, side=status.side[i], margin=margin))
        if rows and direction is None and not redundant:
            add("slip", i, -1.0, partial(flow.reserve, i=i, margin=margin))
        elif direction is not None and len(rows) == 2 and not status.leaves[i]:
            add("stop", i, -1.0, partial(_speed, columns=columns, stopped=STOPPED * speed))
        elif direction is not None:
            add("stop", i, -1.0, partial(_along, columns=columns, u=np.array(direction), margin=VANISHING * speed))
            if status.leaves[i]:
                add("left", i, 1.0, partial(_beyond_leaving, columns=columns, speed=speed))
    return events, names


def _pressure(at: CompliantForces, *, i: int) -> float:
    return float(at.potential[i])


def _overlap(at: CompliantForces, *, i: int, stiffness: float, margin: float) -> float:
    """Positive where a contact that has let go presses again; one that nothing moves stays at zero, and lets go."""
    return float(min(at.potential[i], -stiffness * at.gap[i])) - margin


def _load(at: CompliantForces, *, j: int, side: float, margin: float) -> float:
    """The force of a sliding constraint, positive until its sign changes."""
    return side * float(at.bilateral.normal(at.forces)[j]) + margin


def _speed(at: CompliantForces, *, columns: list[int], stopped: float) -> float:
    return float(np.linalg.norm(at.slip[columns]) - stopped)


def _beyond_leaving(at: CompliantForces, *, columns: list[int], speed: float) -> float:
    return beyond_leaving(at.slip[columns], speed)


def _along(at: CompliantForces, *, columns: list[int], u: Array, margin: float) -> float:
    return float(at.slip[columns] @ u) + margin  # a slip that begins at zero stops only where it falls back below
