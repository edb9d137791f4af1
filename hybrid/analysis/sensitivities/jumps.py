"""The change of velocity at an event with its first derivatives: nothing, or an impact under any rigid law."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_conditions import NOTHING, Complementarity, conditions_of, contact_places
from hybrid.analysis.sensitivities.impulse_stage import ImpactSite, Stage, before_impact, run_stage
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.carriers import CarrierKind
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.impacts.impact import ImpactProblem, impact_problem
from hybrid.contact.impacts.impulse_lcp import joint_impulse
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.impacts.velocities import velocities_after
from hybrid.dynamics.state import State

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw

__all__ = [
    "NOTHING",
    "Jump",
    "compression_stages",
    "contact_places",
    "impact_jumps",
    "newton_targets",
    "no_jump",
    "restitution_stages",
    "restitutions",
    "slopes_at_rest",
]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Jump:
    """The state after an event with its derivatives.

    Attributes
    ----------
    y : array, (2n,)
    slopes : array, (2n, size)
        With respect to ``(q, v, t, parameters)`` before the event.
    """

    y: Array
    slopes: Array


def no_jump(y: Array, size: int) -> Jump:
    """The jump of an event at which the state is continuous."""
    slopes = np.zeros((len(y), size))
    slopes[:, : len(y)] = np.eye(len(y))
    return Jump(np.array(y), slopes)


def impact_jumps(site: ImpactSite, law: AbstractImpactLaw, closed: tuple[str, ...]) -> tuple[Jump, ...]:
    """The jump of an impact; several where a contact neither presses nor separates and both must give the same.

    Parameters
    ----------
    site : ImpactSite
    law : AbstractImpactLaw
    closed : tuple of str
        The contacts that take part.

    Returns
    -------
    tuple of Jump

    Raises
    ------
    NoDerivative
        The law has a kink here, or its derivative is not known.
    """
    dynamics = site.partials.dynamics
    is_rough = any(name in dynamics.columns for name in dynamics.rigid)
    if is_rough and not isinstance(law, NewtonImpact | PoissonImpact):
        raise NoDerivative(
            "an impact of a mechanism with dry friction in its constraints, under this law", is_proven=False
        )
    problem = impact_problem(dynamics.at(site.parameters), State(site.q, site.v, site.t), closed=tuple(closed))
    if isinstance(law, KelvinVoigtLimit):
        from hybrid.analysis.sensitivities.compliant_jump import compliant_stages

        ends: Iterable[Stage] = compliant_stages(site, problem, law)
    elif (len(problem.carriers) == 1 and problem.carriers[0].tangential) or not isinstance(
        law, NewtonImpact | PoissonImpact | EnergeticImpact
    ):
        from hybrid.analysis.sensitivities.own_law import own_stages

        ends = own_stages(site, problem, law)
    elif any(len(carrier.tangential) == 2 for carrier in problem.carriers):
        raise NoDerivative("an impact of several contacts at once, one of them spatial with friction", is_proven=False)
    elif isinstance(law, NewtonImpact):
        ends = _newton(site, problem, law)
    elif isinstance(law, PoissonImpact):
        ends = _poisson(site, problem, law)
    else:
        from hybrid.analysis.sensitivities.energetic_jump import energetic_stages

        ends = energetic_stages(site, problem, law)
    return tuple(_jump(site, end) for end in ends)


def _jump(site: ImpactSite, end: Stage) -> Jump:
    n = site.n
    slopes = np.zeros((2 * n, site.size))
    slopes[:n, :n] = np.eye(n)
    slopes[n:] = end.v_slopes
    return Jump(np.concatenate([site.q, end.v]), slopes)


def restitutions(site: ImpactSite, problem: ImpactProblem, law: Any, found: dict[str, Array]) -> tuple[Array, Array]:
    """Coefficients of restitution of the carriers and their derivatives, (c,) and (c, size)."""
    if law.restitution is not None:
        count = len(problem.carriers)
        return np.full(count, float(law.restitution)), np.zeros((count, site.size))
    slopes = np.zeros((len(problem.carriers), site.size))
    for place, (contact, _) in enumerate(contact_places(site, problem)):
        if problem.carriers[place].kind is CarrierKind.CONTACT:
            slopes[place] = found["restitution"][contact]
    return problem.restitution, slopes


def _newton(site: ImpactSite, problem: ImpactProblem, law: NewtonImpact) -> list[Stage]:
    start = before_impact(site)
    e, e_slopes = restitutions(site, problem, law, slopes_at_rest(site))
    gamma = problem.gamma.copy()
    normals = problem.normals
    gamma[normals] += e * np.minimum(problem.gamma[normals], 0.0)
    values = joint_impulse(problem, gamma).values
    solved = Complementarity(values, gamma + problem.G @ values, np.zeros(len(e)))
    targets = newton_targets(site, problem, start, e, e_slopes)
    nothing: list[tuple[float, Array | None]] = [(0.0, None)] * len(e)
    return [run_stage(site, start, found) for found in conditions_of(site, problem, solved, targets, nothing)]


def newton_targets(
    site: ImpactSite, problem: ImpactProblem, start: Stage, e: Array, e_slopes: Array
) -> list[tuple[float, Array | None]]:
    """Normal velocities after an impact under Newton's law where the contacts press, with their derivatives."""
    targets: list[tuple[float, Array | None]] = []
    for place, (contact, _) in enumerate(contact_places(site, problem)):
        if problem.carriers[place].kind is not CarrierKind.CONTACT:
            targets.append((0.0, None))
            continue
        before = min(float(start.gap_dot[contact]), 0.0)
        if abs(before) <= NOTHING * float(np.max(np.abs(problem.gamma))):
            targets.append((0.0, None))
        else:
            targets.append((-e[place] * before, -e[place] * start.gap_dot_slopes[contact] - e_slopes[place] * before))
    return targets


def compression_stages(site: ImpactSite, problem: ImpactProblem) -> list[tuple[Stage, Array]]:
    """Compression of all closed contacts as one joint problem, with its impulses by row of the problem."""
    values = joint_impulse(problem, problem.gamma).values
    nothing: list[tuple[float, Array | None]] = [(0.0, None)] * len(problem.carriers)
    solved = Complementarity(values, problem.gamma + problem.G @ values, np.zeros(len(problem.carriers)))
    start = before_impact(site)
    return [(run_stage(site, start, c), values) for c in conditions_of(site, problem, solved, nothing, nothing)]


def restitution_stages(
    site: ImpactSite,
    problem: ImpactProblem,
    compressed: tuple[Stage, Array],
    factor: Array,
    factor_slopes: Array,
) -> list[Stage]:
    """Restitution with normal impulses of at least ``factor`` times those of compression."""
    stage, values = compressed
    preload = factor * values[problem.normals]
    gamma = velocities_after(problem, values)
    impulses = joint_impulse(problem, gamma, preload=preload).values
    solved = Complementarity(impulses, gamma + problem.G @ impulses, preload)
    nothing: list[tuple[float, Array | None]] = [(0.0, None)] * len(problem.carriers)
    preloads: list[tuple[float, Array | None]] = []
    for place, (contact, _) in enumerate(contact_places(site, problem)):
        if problem.carriers[place].kind is not CarrierKind.CONTACT:
            preloads.append((0.0, None))
            continue
        slope = factor_slopes[place] * stage.P_N[contact] + factor[place] * stage.P_N_slopes[contact]
        preloads.append((float(factor[place] * stage.P_N[contact]), slope))
    return [run_stage(site, stage, c) for c in conditions_of(site, problem, solved, nothing, preloads)]


def _poisson(site: ImpactSite, problem: ImpactProblem, law: PoissonImpact) -> list[Stage]:
    e, e_slopes = restitutions(site, problem, law, slopes_at_rest(site))
    return [
        end
        for compressed in compression_stages(site, problem)
        for end in restitution_stages(site, problem, compressed, e, e_slopes)
    ]


def slopes_at_rest(site: ImpactSite) -> dict[str, Array]:
    """Derivatives of every quantity at the velocity before the impact, without impulses."""
    n, k = site.n, len(site.partials.dynamics.contacts)
    p = max((columns.stop for columns in site.partials.dynamics.columns.values()), default=0)
    none = (np.zeros(k), np.zeros(p), np.zeros(len(site.partials.dynamics.rigid)))
    return site.slopes(site.v, np.zeros(n), none)
