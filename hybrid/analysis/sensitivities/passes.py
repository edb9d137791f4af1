"""Tangents carried forwards and adjoints carried backwards along a replayed motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import Segment, pull_back, push_forward

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.integrand import Integrand
    from hybrid.analysis.sensitivities.replayed import Replay
    from hybrid.analysis.sensitivities.start_slopes import Directions

__all__ = ["ForwardPass", "adjoint_pass", "forward_pass", "tangents_along", "transition"]

Array = NDArray[np.float64]


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
    tangents : tuple of array, (2n, m)
        Of the states before the event_groups, at their nominal times.
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
    chain, tangent = chosen.chain, chosen.start
    value, gradient = 0.0, np.zeros(len(chosen.names))
    times: list[Array] = []
    tangents: list[Array] = []
    if motion.opening is not None:
        tangent = motion.opening.map.matrix @ tangent + motion.opening.map.parameter @ chain
    for index, segment in enumerate(motion.segments):
        part, slopes = integrand.over(segment)
        value += part
        forcing = parameter_slopes(segment) @ chain
        tangent, stages = push_forward(segment, tangent, forcing)
        size = tangent.shape[0]
        gradient += np.einsum("zi,zia,ziac->c", segment.weights, slopes[:, :, :size], stages)
        gradient += np.einsum("zi,zia->a", segment.weights, slopes[:, :, size + 1 :]) @ chain
        if index < len(motion.event_groups):
            event_group = motion.event_groups[index]
            first = event_group.map.orders[0][0]
            times.append(first.state @ tangent + first.parameter @ chain)
            tangents.append(tangent)
            of_state, of_parameter = integrand.lost(event_group.map, is_last=index == len(motion.segments) - 1)
            gradient += of_state @ tangent + of_parameter @ chain
            tangent = event_group.map.matrix @ tangent + event_group.map.parameter @ chain
    terminal, slope = integrand.terminal_at(motion.t_end, motion.end)
    size = tangent.shape[0]
    gradient += slope[:size] @ tangent + slope[size + 1 :] @ chain
    if len(motion.event_groups) == len(motion.segments):
        gradient += slope[size] * times[-1]
    return ForwardPass(value + terminal, gradient, tangent, tuple(times), tuple(tangents))


def tangents_along(motion: Replay, tangent: Array, chain: Array) -> Iterator[tuple[Segment, Array]]:
    """Tangents at the start of every segment, at its stages and at its end, parameters changing too.

    Parameters
    ----------
    motion : Replay
    tangent : array, (2n, m)
        At the start.
    chain : array, (c, m)
        How the c parameters change.

    Returns
    -------
    iterator of (Segment, array)
        Tangents (S s + 2, 2n, m) of a segment with S steps of s stages.
    """
    maps = [event_group.map for event_group in motion.event_groups]
    if motion.opening is not None:
        tangent = motion.opening.map.matrix @ tangent + motion.opening.map.parameter @ chain
    for index, segment in enumerate(motion.segments):
        end, stages = push_forward(segment, tangent, parameter_slopes(segment) @ chain)
        yield segment, np.concatenate([tangent[None], stages.reshape(-1, *tangent.shape), end[None]])
        if index < len(maps):
            tangent = maps[index].matrix @ end + maps[index].parameter @ chain


def transition(motion: Replay, tangent: Array, chain: Array) -> Array:
    """Tangents carried from the start of a motion to its end.

    Parameters
    ----------
    motion : Replay
    tangent : array, (2n, m)
        At the start.
    chain : array, (c, m)
        How the c parameters change.

    Returns
    -------
    array, (2n, m)
    """
    maps = [event_group.map for event_group in motion.event_groups]
    if motion.opening is not None:
        tangent = motion.opening.map.matrix @ tangent + motion.opening.map.parameter @ chain
    for index, segment in enumerate(motion.segments):
        tangent, _ = push_forward(segment, tangent, parameter_slopes(segment) @ chain)
        if index < len(maps):
            tangent = maps[index].matrix @ tangent + maps[index].parameter @ chain
    return tangent


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
    terminal, slope = integrand.terminal_at(motion.t_end, motion.end)
    size = motion.segments[0].states.shape[1]
    value, adjoint, gradient = terminal, slope[:size].copy(), slope[size + 1 :].copy()
    for index in reversed(range(len(motion.segments))):
        segment = motion.segments[index]
        if index < len(motion.event_groups):
            event_group = motion.event_groups[index]
            is_last = index == len(motion.segments) - 1
            of_state, of_parameter = integrand.lost(event_group.map, is_last=is_last)
            if is_last:
                first = event_group.map.orders[0][0]
                of_state, of_parameter = (
                    of_state + slope[size] * first.state,
                    of_parameter + slope[size] * first.parameter,
                )
            gradient += event_group.map.parameter.T @ adjoint + of_parameter
            adjoint = event_group.map.matrix.T @ adjoint + of_state
        part, slopes = integrand.over(segment)
        value += part
        adjoint, stages = pull_back(segment, adjoint, slopes[:, :, :size])
        gradient += pulled_parameters(segment, stages)
        gradient += np.einsum("zi,zia->a", segment.weights, slopes[:, :, size + 1 :])
    if motion.opening is not None:
        gradient += motion.opening.map.parameter.T @ adjoint
        adjoint = motion.opening.map.matrix.T @ adjoint
    return value, adjoint @ chosen.start + gradient @ chosen.chain


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
    found = system.partials.parameter(at.t, at.y, at.forces, system.parameters)
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
    found = system.partials.parameter(at.t, at.y, at.forces, system.parameters)
    residual = system.residual_slopes(at, found)
    loads = np.einsum("iab,ia->ib", at.inverse[:, :n], stages.reshape(len(at.t), n))
    return np.asarray(-np.einsum("ib,ibc->c", loads, residual))
