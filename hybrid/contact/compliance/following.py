"""Integration until the first event, also one that an integrator steps over: a guard that falls and is back at once.

Events that end a phase of a compliant motion: what presses lets go, what slides stops, what holds gives way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rest import is_redundant
from hybrid.contact.compliance.status import STOPPED, VANISHING, ContactStatus, beyond_leaving
from hybrid.dynamics.crossing import crossing
from hybrid.tolerances import LAST_PLACE, NOTHING

if TYPE_CHECKING:
    from hybrid.contact.compliance.flow import AbstractCompliantFlow
    from hybrid.contact.compliance.status import CompliantForces

__all__ = ["Event", "Stretch", "first_missed", "follow_until", "phase_events"]


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


_PARTS = 8  # of a step: a step is about a radian of the fastest oscillation, of which guards have at most two
_CAUTION = 4.0  # times what a parabola falls below the least sample
_DEPTH = NOTHING  # of the largest value of a guard: a dip that is not rounding


@attrs.frozen(eq=False)
class Stretch:
    """What an integration came to.

    Attributes
    ----------
    t : float
        Its end.
    y : array
        The unknowns there.
    event : int or None
        Which event ended it.
    solution : callable
        The unknowns at a time.
    failure : str
        Why it stopped short of all of these, if it did.
    evaluations : int
    """

    t: float
    y: Array
    event: int | None
    solution: Any
    failure: str
    evaluations: int


def follow_until(
    rates: Callable[[float, Array], Array],
    span: tuple[float, float],
    y: Array,
    events: Sequence[Event],
    *ends: Event,
    method: str = "DOP853",
    rtol: float,
    atol: Any,
) -> Stretch:
    """Integrate up to the first event.

    Parameters
    ----------
    rates : callable
    span : tuple of float
    y : array
    events : sequence of callable
        As for ``solve_ivp``; looked for within the steps too, in which a slip may stop, or a force fall to its bound,
        and be back.
    *ends : callable
        Events of the ends of steps alone.
    method, rtol, atol
        As for ``solve_ivp``.

    Returns
    -------
    Stretch
    """
    from scipy.integrate import solve_ivp

    def integrated(rtol: float) -> Any:
        return solve_ivp(
            rates, span, y, method=method, events=[*events, *ends], rtol=rtol, atol=atol, dense_output=True
        )

    try:
        answer = integrated(rtol)
    except ValueError as error:  # SciPy 1.15 has no solution for an event within a rounding of a step's beginning
        if "`ts` must be strictly" not in str(error):
            raise
        answer = integrated(rtol / 2)
    if answer.status < 0:
        return Stretch(float(answer.t[-1]), np.array(answer.y[:, -1]), None, answer.sol, answer.message, answer.nfev)
    missed = first_missed(events, answer.sol, answer.t)
    if missed is not None:
        t, index = missed
        return Stretch(t, np.array(answer.sol(t)), index, answer.sol, "", answer.nfev)
    which = next((index for index, times in enumerate(answer.t_events) if len(times)), None)
    return Stretch(float(answer.t[-1]), np.array(answer.y[:, -1]), which, answer.sol, "", answer.nfev)


def first_missed(
    events: Sequence[Callable[[float, Array], float]], solution: Callable[[float], Any], times: Array
) -> tuple[float, int] | None:
    """The first event of a solution that has none at the ends of its steps, and when.

    Guards are sampled within the steps, and followed to their least value where they have one between samples.

    Parameters
    ----------
    events : sequence of callable
        As for ``solve_ivp``, with a ``direction``.
    solution : callable
        The unknowns at a time.
    times : array
        Ends of the steps.

    Returns
    -------
    (float, int) or None
        Time, and which event.

    Examples
    --------
    >>> def guard(t, y):
    ...     return float(y[0])
    >>> guard.direction = -1.0
    >>> found = first_missed([guard], lambda t: np.array([(t - 0.5) ** 2 - 1e-4]), np.array([0.0, 1.0]))
    >>> round(found[0], 9), found[1]
    (0.49, 0)
    """
    if len(times) < 2 or not events:
        return None
    parts = np.linspace(0.0, 1.0, _PARTS + 1)
    fine = np.concatenate([times[:1], *(a + (b - a) * parts[1:] for a, b in pairwise(times))])
    # state by state: what the events share is remembered from one to the next
    values = np.array([[_guard(event, x) for event in events] for x in (solution(t) for t in fine)])
    found = [
        (t, index)
        for index, event in enumerate(events)
        if (t := _first_fall(event, solution, fine, values[:, index])) is not None
    ]
    return min(found, default=None)


def _guard(event: Any, x: Array) -> float:
    """Positive before the event, whatever its direction."""
    return -float(event.direction) * float(event(0.0, x))


def _first_fall(event: Any, solution: Callable[[float], Any], fine: Array, values: Array) -> float | None:
    from scipy.optimize import minimize_scalar

    def guard(t: float) -> float:
        return _guard(event, solution(t))

    depth = -_DEPTH * float(np.max(np.abs(values)))
    for i in range(1, len(fine)):
        high, low = float(fine[i - 1]), float(fine[i])
        if values[i - 1] >= 0.0 and values[i] < depth:
            return crossing(guard, high, low, xtol=LAST_PLACE)
        if i + 1 < len(fine) and _may_dip(*values[i - 1 : i + 2]):
            end = float(fine[i + 1])
            least = minimize_scalar(
                guard, bounds=(high, end), method="bounded", options={"xatol": NOTHING * (end - high)}
            )
            if least.fun < depth:
                return crossing(guard, high, float(least.x), xtol=LAST_PLACE)
    return None


def _may_dip(before: float, value: float, after: float) -> bool:
    """True if a parabola through three values, the middle one the least, comes close to zero between them."""
    if not (before > value < after and value >= 0.0):
        return False
    return value <= _CAUTION * (after - before) ** 2 / (8 * (before - 2 * value + after))
