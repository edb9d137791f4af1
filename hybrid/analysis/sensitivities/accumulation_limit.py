"""Impacts that accumulate: their limit where it is a geometric sum in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.jumps import ImpactSite, Jump, impact_jumps, problem_change, velocity_slopes
from hybrid.analysis.sensitivities.mode_system import Point, evaluate_point
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.impacts.impact import impact_problem
from hybrid.dynamics.state import State
from hybrid.expressions import changes, duals, plain

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.event_map import Replay
    from hybrid.analysis.sensitivities.passes import ForwardPass
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.recorded import Event

__all__ = ["closing_jump", "limit_slopes", "open_sum"]

Array = NDArray[np.float64]


def closing_jump(site: ImpactSite, event: Event) -> Jump:
    """Jump of an accumulation of impacts to its limit: the contact's velocity is set to zero.

    This is what the remaining bounces add up to. The limit is a geometric sum, and its derivative exists in closed
    form, where every bounce is a parabola: the mass matrix, the forces and the normal direction of the contact do not
    depend on the state, nothing else touches, and there is no friction.

    Parameters
    ----------
    site : ImpactSite
        After the last impact that was followed.
    event : Event
        The accumulation.

    Returns
    -------
    Jump

    Raises
    ------
    NoDerivative
        The sum has no such form.
    """
    dynamics = site.dynamics
    reason = open_sum(dynamics, event)
    if reason:
        raise NoDerivative(
            f"impacts accumulate, and their limit is no sum in closed form: {reason}", event.t, is_proven=False
        )
    problem = impact_problem(dynamics, State(site.q, site.v, site.t), closed=event.elements)
    change = problem_change(site, problem)
    P = -duals(problem.gamma, change.gamma) / duals(problem.G[0], change.G[0])
    v, v_slopes = velocity_slopes(site, problem, plain(P), changes(P))
    slopes = np.concatenate([np.eye(site.n, site.size), v_slopes])
    # the gap is zero at the limit, whatever it was at the last impact that was followed
    gap = site.slopes(site.v)["gap"][0, dynamics.contacts.index(event.elements[0])]
    slopes[: site.n] -= np.outer(problem.response_W[:, 0] / problem.G[0, 0], gap)
    return Jump(np.concatenate([site.q, v]), slopes)


def open_sum(dynamics: Dynamics, event: Event) -> str:
    """Why the limit of an accumulation is no geometric sum.

    Parameters
    ----------
    dynamics : Dynamics
    event : Event
        The accumulation.

    Returns
    -------
    str
        A clause; empty if it is one.
    """
    equations = dynamics.equations
    if len(event.elements) != 1:
        return "several contacts bounce together"
    (name,) = event.elements
    if name in dynamics.columns:
        return "the contact has friction"
    if dynamics.rigid:
        return "the mechanism has constraints"
    mode = event.mode_after
    if mode is not None and any(label.value not in ("free",) for other, label in mode.items() if other != name):
        return "another contact is closed"
    index = dynamics.contacts.index(name)
    for text, block in (
        ("the mass matrix", equations.M),
        ("a force", equations.h),
        ("the normal direction", equations.W_N[:, index]),
        ("the guide's acceleration", equations.zeta_N[index]),
        ("the restitution", equations.coefficients["restitution"][index]),
    ):
        if found := equations.names(block) - equations.parameters.keys():
            return f"{text} depends on the {'time' if found == {'t'} else 'state'}"
    return ""


def limit_slopes(motion: Replay, number: int, event: Event, forward: ForwardPass) -> tuple[float, Array]:
    """Time of the limit, and its derivatives: ``t + 2 gamma / (b (1 - e))`` after an impact.

    Here ``gamma`` is the normal velocity after the impact and ``-b`` the normal acceleration when free; the bounces
    last ``2 gamma / b`` and shrink by the factor ``e`` (Brogliato 2016, section 7.1), which is what the last impact
    has left of the normal velocity, whatever its law.

    Parameters
    ----------
    motion : Replay
    number : int
        Of the event_group.
    event : Event
    forward : ForwardPass

    Returns
    -------
    float and array, (m,)
    """
    nominal = motion.event_groups[number]
    dynamics, n = motion.trajectory.dynamics, motion.trajectory.dynamics.n
    i = dynamics.contacts.index(event.elements[0])
    system = motion.segments[number].system
    point = evaluate_point(system, nominal.t, nominal.before)
    time, changes = forward.times[number], forward.tangents[number].copy()
    changes[: 2 * n + 1] += np.outer([*point.f, 1.0], time)
    gamma, d_gamma = _rate(point, i, changes)
    law = motion.trajectory.law
    if law is None:
        raise ValueError("a motion whose impacts follow no known law is not replayed")
    site = ImpactSite(motion.partials, motion.trajectory.dynamics, nominal.t, *np.split(nominal.before, 2))
    jump = impact_jumps(site, law, event.elements)[0]
    thrown = np.concatenate([jump.slopes @ changes, changes[2 * n :]])
    after, d_after = _rate(evaluate_point(system, nominal.t, jump.y), i, thrown)
    e, d_e = -after / gamma, -d_after / gamma + after / gamma**2 * d_gamma
    W = point.at.terms.W_N[..., :, i].reshape(-1)
    b = -float(W @ point.f[n:] + np.ravel(point.at.terms.zeta_N)[i])
    d_b = -(W @ point.unknown_slopes[:n] + point.slopes("normal")[i]) @ changes
    rest = 2 * after / (b * (1 - e))
    return nominal.t + rest, time + rest * (d_after / after + d_e / (1 - e) - d_b / b)


def _rate(point: Point, contact: int, changes: Array) -> tuple[float, Array]:
    """The normal velocity of a contact, and its derivatives (m,) as the state, the time and the parameters change."""
    return float(np.ravel(point.at.terms.gap_dot)[contact]), point.slopes("gap_dot")[contact] @ changes
