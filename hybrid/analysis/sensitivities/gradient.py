"""The derivative of a functional of a motion through impacts, release and stick-slip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.accumulation_limit import limit_slopes
from hybrid.analysis.sensitivities.differences import SensitivityCheck, richardson_differences
from hybrid.analysis.sensitivities.passes import (
    ForwardPass,
    Functional,
    Integrand,
    adjoint_pass,
    compiled_integrand,
    forward_pass,
    not_finite,
    tangents_along,
)
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.replay import replay
from hybrid.analysis.sensitivities.smoothness import switch_refusal
from hybrid.analysis.sensitivities.start_slopes import Directions, base_values, directions, start_refusal
from hybrid.arguments import checks_arguments
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import ComputationError
from hybrid.motion.recorded import EventKind
from hybrid.tables import dataframe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.analysis.sensitivities.event_map import Replay
    from hybrid.motion.trajectory import Trajectory

__all__ = ["EventSensitivity", "Sensitivity", "sensitivity"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class EventSensitivity:
    """An event of the motion with the derivative of its time.

    Attributes
    ----------
    t : float
        Its time, in s.
    kind : EventKind
    elements : tuple of str
    gradient : mapping of str to float
        Derivative of ``t``, by the forward method; empty for the adjoint method, which does not need it, and where
        several surfaces are met at once of which a change separates the times.
    """

    t: float
    kind: EventKind
    elements: tuple[str, ...]
    gradient: Mapping[str, float]


@attrs.frozen(eq=False)
class Sensitivity(AbstractDisplayed):
    """A functional of a motion and its gradient; made by :func:`sensitivity`.

    Attributes
    ----------
    functional : Functional
    names : tuple of str, length m
        What the derivatives are with respect to; without those that are refused on their own.
    value : float
        The functional; NaN where the motion was not followed to its end.
    gradient : mapping of str to float
        Empty where no derivative exists.
    refusal : Refusal or None
        Why no derivative exists or is computed, with respect to anything, and when.
    refusals : mapping of str to Refusal
        Names that have no derivative though others do, as a coefficient of restitution at 0.
    trajectory : Trajectory or None
        The motion.
    base : mapping of str to float
        The value of everything that derivatives are with respect to.
    method : str
        ``adjoint`` or ``forward``.
    t_end : float
        Its end, in s.
    end : array, (2n,)
        State at the end.
    end_slopes : array, (2n, m) or None
        Its derivatives, by the forward method or with a check.
    events : tuple of EventSensitivity
    notes : tuple of str
        For example that a parameter occurs nowhere.
    check : SensitivityCheck or None
    """

    functional: Functional
    names: tuple[str, ...]
    value: float
    gradient: Mapping[str, float]
    refusal: Refusal | None
    method: str
    t_end: float
    end: Array
    end_slopes: Array | None
    events: tuple[EventSensitivity, ...]
    notes: tuple[str, ...] = ()
    check: SensitivityCheck | None = None
    refusals: Mapping[str, Refusal] = attrs.field(factory=dict)
    trajectory: Trajectory | None = attrs.field(default=None, repr=False)
    base: Mapping[str, float] = attrs.field(factory=dict)

    def __repr__(self) -> str:
        slopes = [f"d/d{name} = {slope:.6g}" for name, slope in self.gradient.items()]
        return one_line("Sensitivity", str(self.refusal) if self.refusal else f"value {self.value:.6g}", *slopes)

    def to_dataframe(self) -> Any:
        """The gradient as a ``pandas.DataFrame``, a row for every name.

        Returns
        -------
        pandas.DataFrame
            Columns ``name``, ``at``, its value, ``derivative``, and with a check ``adjoint``, ``forward`` and
            ``difference``.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).
        """
        names = list(self.gradient)
        columns: dict[str, Any] = {"name": names, "at": [self.base.get(name, np.nan) for name in names]}
        columns["derivative"] = list(self.gradient.values())
        if self.check is not None:
            columns |= {"adjoint": [self.check.adjoint[name] for name in names]}
            columns |= {"forward": [self.check.forward[name] for name in names]}
            columns |= {"difference": [self.check.differences[name].value for name in names]}
        return dataframe(columns)


@checks_arguments
def sensitivity(
    trajectory: Trajectory,
    functional: Functional,
    wrt: Sequence[str],
    *,
    method: Literal["adjoint", "forward"] = "adjoint",
    pins: Mapping[str, str | float] | None = None,
    check: bool = False,
) -> Sensitivity:
    """Differentiate a functional of a motion, exactly through its events.

    The motion is followed once more by Gauss collocation with event times refined to rounding. The forward method
    carries tangents along it and through the saltation matrix of every event; the adjoint method carries one vector
    backwards, at a cost that does not depend on the number of parameters (Klepfish 2003, with the sign of the jump
    condition corrected).

    Parameters
    ----------
    trajectory : Trajectory
        Computed as finely as by default, ``rtol`` and ``atol`` of 1e-12 at most (with Radau's method 1e-9).
    functional : Functional
    wrt : sequence of str
        Parameters (those computed from them follow, unless they are named, too), and coordinates and velocities of the
        start.
    method : {"adjoint", "forward"}
        The forward method also gives the derivatives of event times and of the end state.
    pins : mapping, optional
        The pins from which the start was solved. Then ``wrt`` names pins instead of coordinates, and the start follows
        parameters as well. Without them the start is fixed but for what ``wrt`` names.
    check : bool
        Compute adjoint, forward and Richardson differences side by side.

    Returns
    -------
    Sensitivity
        With a ``refusal`` and no numbers where no derivative exists, with ``refusals`` where none exists with respect
        to some of the names.

    Raises
    ------
    hybrid.errors.DeclarationError
        The functional uses unknown names.
    hybrid.errors.StateError
        ``wrt`` names something unknown; a functional or method that is none.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> from hybrid.contact.impacts.laws import NewtonImpact
    >>> carts = derive(mechanisms.load("two_carts"))
    >>> motion = simulate(carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact())
    >>> found = sensitivity(motion, Functional("q1_dot**2 + q2_dot**2"), ["k1", "k2"])
    >>> {name: round(value, 9) for name, value in found.gradient.items()}
    {'k1': 1.427910693, 'k2': 1.198153357}
    """
    names = tuple(wrt)

    def asked(names: tuple[str, ...], *, check: bool) -> Sensitivity:
        return _differentiated(trajectory, functional, names, method, pins, check)

    found = asked(names, check=check)
    if found.refusal is not None and len(names) > 1:
        # what stands in the way may do so for some names alone: each is asked for itself
        alone = {name: asked((name,), check=False).refusal for name in names}
        refusals = {name: refusal for name, refusal in alone.items() if refusal is not None}
        if len(refusals) < len(names):
            others = tuple(name for name in names if name not in refusals)
            found = attrs.evolve(asked(others, check=check), refusals=refusals)
    return attrs.evolve(found, trajectory=trajectory, base=base_values(trajectory, names, pins=pins))


def _differentiated(
    trajectory: Trajectory,
    functional: Functional,
    names: tuple[str, ...],
    method: Literal["adjoint", "forward"],
    pins: Mapping[str, str | float] | None,
    check: bool,
) -> Sensitivity:
    chosen = directions(trajectory, names, pins=pins)
    integrand = compiled_integrand(trajectory, functional, chosen.partials)
    nothing = Sensitivity(
        functional=functional,
        names=chosen.names,
        value=float("nan"),
        gradient={},
        refusal=None,
        method="none",
        t_end=trajectory.t,
        end=np.concatenate([trajectory.q, trajectory.v]),
        end_slopes=None,
        events=tuple(EventSensitivity(event.t, event.kind, event.elements, {}) for event in trajectory.events),
        notes=_notes(trajectory, integrand, chosen),
    )
    try:
        motion = replay(trajectory, chosen.partials, measure=integrand)
    except ComputationError as error:
        motion = Refusal(trajectory.t, str(error), is_proven=False)
    if isinstance(motion, Refusal):
        return attrs.evolve(nothing, refusal=motion)
    along = tangents_along(motion, chosen.changes)
    refusal = (
        start_refusal(motion, chosen)
        or integrand.refusal(motion)
        or switch_refusal(motion, along, along=integrand.along, terminal=integrand.terminal)
    )
    if refusal is not None:
        return attrs.evolve(nothing, refusal=refusal)
    found = _computed(nothing, motion, integrand, chosen, method)
    if not np.isfinite([found.value, *found.gradient.values()]).all():
        return attrs.evolve(nothing, refusal=not_finite(motion, chosen.changes))
    if not check:
        return found
    other = _computed(nothing, motion, integrand, chosen, "adjoint" if method == "forward" else "forward")
    adjoint, forward = (found, other) if method == "adjoint" else (other, found)
    differences = richardson_differences(trajectory, functional, chosen.names, pins=pins)
    compared = SensitivityCheck(adjoint.gradient, forward.gradient, differences)
    return attrs.evolve(found, check=compared, events=forward.events, end_slopes=forward.end_slopes)


def _computed(
    nothing: Sensitivity, motion: Replay, integrand: Integrand, chosen: Directions, method: str
) -> Sensitivity:
    if method == "adjoint":
        value, gradient = adjoint_pass(motion, integrand, chosen)
        forward = None
    else:
        forward = forward_pass(motion, integrand, chosen)
        value, gradient = forward.value, forward.gradient
    return attrs.evolve(
        nothing,
        value=value,
        gradient=dict(zip(chosen.names, gradient.tolist(), strict=True)),
        method=method,
        t_end=motion.t_end,
        end=motion.end,
        end_slopes=None if forward is None else forward.end_slopes,
        events=_events(motion, forward, chosen),
    )


def _events(motion: Replay, forward: ForwardPass | None, chosen: Directions) -> tuple[EventSensitivity, ...]:
    opening = () if motion.opening is None else motion.opening.events
    found = [EventSensitivity(event.t, event.kind, event.elements, {}) for event in opening]
    for number, event_group in enumerate(motion.event_groups):
        for event in event_group.events:
            is_limit = event.kind is EventKind.ACCUMULATION
            t, slopes = event.t if is_limit else event_group.t, None
            if forward is not None and is_limit:
                t, slopes = limit_slopes(motion, number, event, forward)
            elif forward is not None and event_group.has_one_time:
                slopes = forward.times[number]
            gradient = {} if slopes is None else dict(zip(chosen.names, slopes.tolist(), strict=True))
            found.append(EventSensitivity(t, event.kind, event.elements, gradient))
    return tuple(found)


def _held(trajectory: Trajectory, names: Sequence[str]) -> dict[str, list[str]]:
    """Named parameters that are expressions of others that are named, too, with these."""
    dynamics, found = trajectory.dynamics, dict[str, list[str]]()
    values = dynamics.values
    for name in [name for name in names if name in values]:
        varied = dynamics.at({name: np.array([values[name]])}).values
        for other in names:
            if other != name and np.ndim(varied.get(other, 0.0)):
                found.setdefault(other, []).append(name)
    return found


def _notes(trajectory: Trajectory, integrand: Integrand, chosen: Directions) -> tuple[str, ...]:
    mechanism, used = trajectory.dynamics.mechanism, set(integrand.names)
    for event in trajectory.events:
        if event.kind is EventKind.UNTIL:
            used |= mechanism.expanded(event.elements[-1], field="until").names
    held = _held(trajectory, chosen.names)
    notes = [
        f"{name} is held where {', '.join(others)} differs, though it is an expression of it: it is named, too"
        for name, others in held.items()
    ]
    acting = {name for others in held.values() for name in others}  # through what is held
    for name in [name for name in chosen.absent if name not in acting]:
        slopes = chosen.changes[2 * trajectory.dynamics.n + 1 :, chosen.names.index(name)]
        following = {other for other, slope in zip(chosen.partials.parameters, slopes, strict=True) if slope}
        if not following & used:
            notes.append(
                f"the parameter {name} occurs neither in the equations nor in the functional: its derivative is 0"
            )
    restitution = getattr(trajectory.law, "restitution", None)
    if restitution is not None:
        notes.append(f"the impact law replaces the declared restitution by {restitution:g}")
    return (*notes, *trajectory.warnings)
