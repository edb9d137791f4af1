"""Tangents carried forwards and adjoints carried backwards along a replayed motion."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import TO_SERIES, Segment, pull_back, push_forward, sizes_of
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.smoothness import jump_met
from hybrid.arguments import checks_arguments
from hybrid.dynamics.partials import CompiledExpression, compile_expression
from hybrid.tolerances import CLEAR, NOTHING, ROOT, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.analysis.sensitivities.event_map import Crossing, EventMap, Replay
    from hybrid.analysis.sensitivities.mode_system import Response
    from hybrid.analysis.sensitivities.start_slopes import Directions
    from hybrid.dynamics.partials import Partials, Switches
    from hybrid.motion.trajectory import Trajectory

__all__ = [
    "ForwardPass",
    "Functional",
    "Integrand",
    "adjoint_pass",
    "compiled_integrand",
    "forward_pass",
    "not_finite",
    "tangents_along",
]

Array = NDArray[np.float64]


@checks_arguments
@attrs.frozen
class Functional:
    """The quantity ``integral of integrand over time + terminal at the end`` of a motion.

    Attributes
    ----------
    integrand : str
        An expression of coordinates, velocities, parameters, definitions and ``t``; ``"0"`` for none.
    terminal : str
        An expression of the same names, evaluated where the motion ends.

    Examples
    --------
    >>> Functional("q1_dot**2 + q2_dot**2").terminal
    '0'
    """

    integrand: str = "0"
    terminal: str = "0"


@attrs.frozen(eq=False)
class ForwardPass:
    """Derivatives with respect to m names.

    Attributes
    ----------
    value : float
    gradient : array, (m,)
    end_slopes : array, (2n, m)
        Of the state where the motion ends.
    times : tuple of array, (m,)
        Of the times of the event_groups, each that of the first surface met.
    tangents : tuple of array, (2n + 1 + c, m)
        Of the states before the event_groups, at their nominal times, with the changes of time, 0, and parameters.
    """

    value: float
    gradient: Array
    end_slopes: Array
    times: tuple[Array, ...]
    tangents: tuple[Array, ...]


def forward_pass(motion: Replay, integrand: Integrand, chosen: Directions) -> ForwardPass:
    """Solve the variational equations with the saltation matrix of every event.

    Parameters
    ----------
    motion : Replay
    integrand : Integrand
    chosen : Directions

    Returns
    -------
    ForwardPass
    """
    value, gradient, is_ended = 0.0, np.zeros(len(chosen.names)), len(motion.event_groups) == len(motion.segments)
    times: list[Array] = []
    tangents: list[Array] = []
    for index, (segment, along) in enumerate(tangents_along(motion, chosen.changes)):
        part, slopes = integrand.over(segment)
        value += part
        tangent = along[-1]
        stages = along[1:-1].reshape(*slopes.shape, -1)
        gradient += np.einsum("zi,zia,ziac->c", segment.weights, slopes, stages)
        if index < len(motion.event_groups):
            found = motion.event_groups[index]
            times.append(found.orders[0][0].slope @ tangent)
            tangents.append(tangent)
            gradient += integrand.lost(found, is_last=index == len(motion.segments) - 1) @ tangent
    if is_ended:
        tangent = motion.event_groups[-1].carried(tangent)
    terminal, slope = integrand.terminal_at(motion.t_end, motion.end)
    gradient += slope @ tangent
    size = len(motion.end)
    if is_ended:
        gradient += slope[size] * times[-1]
    return ForwardPass(value + terminal, gradient, tangent[:size], tuple(times), tuple(tangents))


def tangents_along(motion: Replay, tangent: Array) -> Iterator[tuple[Segment, Array]]:
    """Tangents at the start of every segment, at its stages and at its end, parameters changing too.

    Parameters
    ----------
    motion : Replay
    tangent : array, (2n + 1 + c, m)
        Changes of ``(q, v, t, parameters)`` at the start; those of time are 0.

    Returns
    -------
    iterator of (Segment, array)
        Tangents (S s + 2, 2n + 1 + c, m) of a segment with S steps of s stages.
    """
    if motion.opening is not None:
        tangent = motion.opening.carried(tangent)
    size = len(motion.end)
    for segment, event_group in zip_longest(motion.segments, motion.event_groups):
        start, others = tangent[:size], tangent[size:]
        end, stages = push_forward(segment, start, parameter_slopes(segment) @ others[1:])
        states = np.concatenate([start[None], stages.reshape(-1, *start.shape), end[None]])
        along = np.concatenate([states, np.broadcast_to(others, (len(states), *others.shape))], axis=1)
        yield segment, along
        tangent = along[-1] if event_group is None else event_group.carried(along[-1])


def not_finite(motion: Replay, tangent: Array) -> Refusal:
    """Why a derivative is infinite or undefined, as far as its tangents tell.

    Parameters
    ----------
    motion : Replay
    tangent : array, (2n + 1 + c, m)
        Changes at the start, as in :func:`tangents_along`.

    Returns
    -------
    Refusal
    """
    t = motion.t_end
    for segment, tangents in tangents_along(motion, tangent):
        finite = np.isfinite(tangents).reshape(len(tangents), -1).all(axis=1)
        if not finite.all():
            t = float(segment.instants[0][np.argmin(finite)])
            break
    return Refusal(t, "a derivative of the equations or of an event has no finite value", is_proven=False)


def adjoint_pass(motion: Replay, integrand: Integrand, chosen: Directions) -> tuple[float, Array]:
    """Value and gradient of a functional by the adjoint equations, solved backwards.

    The cost does not depend on the number of names.

    Parameters
    ----------
    motion : Replay
    integrand : Integrand
    chosen : Directions
        The m names, and how start and parameters change with them.

    Returns
    -------
    value : float
    gradient : array, (m,)
    """
    value, slope = integrand.terminal_at(motion.t_end, motion.end)
    size, covector = len(motion.end), slope
    for index in reversed(range(len(motion.segments))):
        segment = motion.segments[index]
        if index < len(motion.event_groups):
            found, is_last = motion.event_groups[index], index == len(motion.segments) - 1
            covector = found.pulled(covector) + integrand.lost(found, is_last=is_last)
            if is_last:
                covector = covector + slope[size] * found.orders[0][0].slope
        part, slopes = integrand.over(segment)
        value += part
        adjoint, stages = pull_back(segment, covector[:size], slopes[:, :, :size])
        others = covector[size:] + np.einsum("zi,zia->a", segment.weights, slopes[:, :, size:])
        others[1:] += pulled_parameters(segment, stages)
        covector = np.concatenate([adjoint, others])
    if motion.opening is not None:
        covector = motion.opening.pulled(covector)
    return value, covector @ chosen.changes


def parameter_slopes(segment: Segment) -> Array:
    """Derivatives of the accelerations with respect to the parameters at all stages.

    Parameters
    ----------
    segment : Segment

    Returns
    -------
    array, (S, s, n, c)
    """
    system, at = segment.system, segment.at
    found = system.partials.parameter(at.t, at.y, at.forces, system.dynamics)
    S, s, n, _ = segment.jacobian.shape
    return system.unknown_slopes(at, found)[:, :n].reshape(S, s, n, len(system.partials.parameters))


def pulled_parameters(segment: Segment, stages: Array) -> Array:
    """The parameters' part of the gradient: one more transposed solve at each stage, whatever their number.

    Parameters
    ----------
    segment : Segment
    stages : array, (S, s, n)
        What multiplies the forcing of every stage in the gradient, as :func:`pull_back` finds it.

    Returns
    -------
    array, (c,)
    """
    system, at = segment.system, segment.at
    n = system.dynamics.n
    found = system.partials.parameter(at.t, at.y, at.forces, system.dynamics)
    residual = system.residual_slopes(at, found)
    loads = np.einsum("iab,ia->ib", at.inverse[:, :n], stages.reshape(len(at.t), n))
    return np.asarray(-np.einsum("ib,ibc->c", loads, residual))


_SAME = ROOT  # of the derivatives that must agree
_ROUGH = math.sqrt(CLEAR)  # of the greatest slope: a last Legendre coefficient that leaves an error of its square
_MATTERS = NOTHING  # of the integral of a slope: what a step that is not resolved may contribute


@attrs.frozen(eq=False)
class Integrand:
    """A functional compiled for one motion.

    Attributes
    ----------
    along, terminal : CompiledExpression
    names : frozenset of str
        Names that occur in it.
    size : float
        Greatest value of the integrand at the recorded steps.
    trajectory : Trajectory
    """

    along: CompiledExpression
    terminal: CompiledExpression
    names: frozenset[str]
    size: float
    trajectory: Trajectory

    def values(self, at: Response) -> Array:
        """The integrand at N instants."""
        return self.along.value(at.t, at.y, self.trajectory.dynamics)

    @property
    def switches(self) -> Switches:
        """Quantities at whose zeros the integrand jumps or has a kink."""
        return self.along.switches

    def at(self, t: float, y: Array) -> float:
        """The integrand at one state."""
        return float(self.along.value(np.array([t]), y[None, :], self.trajectory.dynamics)[0])

    def terminal_at(self, t: float, y: Array) -> tuple[float, Array]:
        """The terminal term and its derivatives with respect to ``(q, v, t, parameters)``."""
        point = np.array([t]), y[None, :], self.trajectory.dynamics
        return float(self.terminal.value(*point)[0]), np.asarray(self.terminal.slope(*point)[0])

    def over(self, segment: Segment) -> tuple[float, Array]:
        """The integral over a segment, and the slopes (S, s, 2n + 1 + c) at its stages."""
        S = len(segment.lengths)
        values = self.values(segment.at).reshape(S, -1)
        slopes = self.along.slope(segment.at.t, segment.at.y, self.trajectory.dynamics)
        return float(np.sum(segment.weights * values)), slopes.reshape(S, values.shape[1], -1)

    def lost(self, event_group: EventMap, *, is_last: bool) -> Array:
        """What the shift of an event does to the integral: derivatives with respect to ``(q, v, t, parameters)``.

        Each surface contributes the integrand before it less the one after it, times the shift of its time.
        """
        return self._lost_in(event_group.t, event_group.orders[0], is_last)

    def _lost_in(self, t: float, crossings: Sequence[Crossing], is_last: bool) -> Array:
        found = np.zeros_like(crossings[0].slope)
        for number, item in enumerate(crossings):
            ends = is_last and number == len(crossings) - 1
            found += (self.at(t, item.before) - (0.0 if ends else self.at(t, item.after))) * item.slope
        return found

    def _depends_on_order(self, event_group: EventMap) -> bool:
        """True if a change of the motion changes the integral differently for each order of events met at once."""
        found = [self._lost_in(event_group.t, order, False) for order in event_group.orders]
        size = _SAME * max(1.0, *(float(np.max(np.abs(item))) for item in found))
        return any(np.max(np.abs(item - found[0])) > size for item in found[1:])

    def _unresolved_at(self, segment: Segment, slopes: Array, sizes: Array) -> float | None:
        """Where slopes (S, s, z) are not resolved by steps however short, and it matters.

        Their last coefficients count where they are no rounding: next to the greatest slope, and next to what the
        rounding of the state may add to it, as to that of ``phi_dot**2`` for a body at rest.
        """
        tail = np.abs(np.einsum("i,sic->sc", TO_SERIES[-1], slopes))
        greatest = np.max(np.abs(slopes), axis=(0, 1))
        rough = tail > _ROUGH * greatest
        if rough.any():
            rough &= tail > self._greatest_rounded(segment, sizes) - greatest
        missed = np.where(rough, tail * segment.lengths[:, None], 0.0)
        whole = np.einsum("si,sic->c", segment.weights, np.abs(slopes))
        steps = np.flatnonzero((missed > _MATTERS * whole).any(axis=1))
        return float(segment.knots[steps[0]]) if steps.size else None

    def _greatest_rounded(self, segment: Segment, sizes: Array) -> Array:
        """Greatest slopes (z,) of the states of a segment moved by their rounding, one coordinate at a time."""
        t, y, dynamics = segment.at.t, segment.at.y, self.trajectory.dynamics
        with np.errstate(all="ignore"):  # the integrand may end beside a state
            slopes = np.abs([self.along.slope(t, y + step, dynamics) for step in np.diag(ROUNDING * sizes)])
        return np.asarray(np.max(np.where(np.isfinite(slopes), slopes, 0.0), axis=(0, 1)))

    def refusal(self, motion: Replay) -> Refusal | None:
        """Why the functional has no derivative along this motion, if it jumps or is undefined on it."""
        states = np.concatenate([segment.states for segment in motion.segments])
        sizes = sizes_of(np.max(np.abs(states), axis=0), motion.t_end - motion.trajectory.t_start)
        for segment in motion.segments:
            found = jump_met("the integrand", self.along.switches, segment, with_poles=False)
            if found is not None:
                return Refusal(*found, is_proven=False)
            _, slopes = self.over(segment)
            finite = np.isfinite(slopes).reshape(len(segment.at.t), -1).all(axis=1)
            if not finite.all():
                t = float(segment.at.t[np.argmin(finite)])
                return Refusal(t, "the integrand has no finite derivative", is_proven=False)  # it may only overflow
            if (unresolved := self._unresolved_at(segment, slopes, sizes)) is not None:
                reason = "the integrand or its derivative grows beyond bounds, or too fast for any step"
                return Refusal(unresolved, reason, is_proven=False)  # an improper integral may have a derivative
            found = jump_met("the integrand", self.along.switches, segment)
            if found is not None:
                return Refusal(*found, is_proven=False)
        for event_group in motion.event_groups:
            if self._depends_on_order(event_group):
                reason = "events happen at once, and the integral changes differently for each order of them"
                return Refusal(event_group.t, reason, is_proven=False)
        value, slope = self.terminal_at(motion.t_end, motion.end)
        if not (np.isfinite(slope).all() and np.isfinite(value)):
            return Refusal(motion.t_end, "the terminal term has no finite value or derivative", is_proven=False)
        return None


def compiled_integrand(trajectory: Trajectory, functional: Functional, partials: Partials) -> Integrand:
    """A functional compiled for a motion and the parameters that change.

    Parameters
    ----------
    trajectory : Trajectory
    functional : Functional
    partials : Partials
        With the parameters that change.

    Returns
    -------
    Integrand

    Raises
    ------
    hybrid.errors.DeclarationError
        Unknown names, with the nearest one.
    """
    mechanism = trajectory.dynamics.mechanism
    texts = {"functional": functional.integrand, "terminal term": functional.terminal}
    names = frozenset().union(*(mechanism.expanded(text, field=field).names for field, text in texts.items()))
    along, terminal = (
        compile_expression(trajectory.dynamics, text, parameters=partials.parameters, field=field)
        for field, text in texts.items()
    )
    return Integrand(along, terminal, names, _greatest(along, trajectory), trajectory)


def _greatest(along: CompiledExpression, trajectory: Trajectory) -> float:
    values = [
        along.value(arc.knots, np.concatenate(arc.sample(arc.knots), axis=-1), trajectory.dynamics)
        for arc in trajectory.arcs
    ]
    found = np.abs(np.concatenate([np.zeros(1), *values]))
    return float(np.max(found[np.isfinite(found)]))
