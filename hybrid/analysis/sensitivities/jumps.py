"""The change of velocity at an event with its first derivatives: nothing, or an impact under any rigid law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_stage import (
    Condition,
    ImpactSite,
    Stage,
    before_impact,
    idle_conditions,
    run_stage,
)
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.impacts.impact import ImpactProblem, impact_problem
from hybrid.contact.impacts.impulse_lcp import after_compression, joint_impulse
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
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

NOTHING = 1e-9  # of the largest impulse or velocity: below it one side of a complementarity cannot be told


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
    if any(name in dynamics.columns for name in dynamics.rigid):
        raise NoDerivative("an impact of a mechanism with dry friction in its constraints", is_proven=False)
    problem = impact_problem(dynamics, State(site.q, site.v, site.t), parameters=site.parameters, closed=tuple(closed))
    if isinstance(law, KelvinVoigtLimit):
        from hybrid.analysis.sensitivities.compliant_jump import compliant_stages

        ends: Iterable[Stage] = compliant_stages(site, problem, law)
    elif not isinstance(law, NewtonImpact | PoissonImpact | EnergeticImpact):
        from hybrid.analysis.sensitivities.own_law import own_stages

        ends = own_stages(site, problem, law)
    elif any(len(carrier.tangential) == 2 for carrier in problem.carriers):
        from hybrid.analysis.sensitivities.spatial_impact import spatial_stages

        ends = spatial_stages(site, problem, law)
    elif isinstance(law, NewtonImpact):
        ends = _newton(site, problem, law)
    elif len(problem.carriers) == 1 and problem.carriers[0].tangential:
        from hybrid.analysis.sensitivities.routh_jump import path_stages

        ends = path_stages(site, problem, law)
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


def contact_places(site: ImpactSite, problem: ImpactProblem) -> list[tuple[int, int | None]]:
    """Contact and tangential column of every carrier of an impact problem."""
    dynamics = site.partials.dynamics
    places = []
    for carrier in problem.carriers:
        columns = dynamics.columns.get(carrier.name)
        places.append((dynamics.contacts.index(carrier.name), None if columns is None else columns.start))
    return places


def restitutions(site: ImpactSite, problem: ImpactProblem, law: Any, found: dict[str, Array]) -> tuple[Array, Array]:
    """Coefficients of restitution of the carriers and their derivatives, (c,) and (c, size)."""
    if law.restitution is not None:
        count = len(problem.carriers)
        return np.full(count, float(law.restitution)), np.zeros((count, site.size))
    rows = [contact for contact, _ in contact_places(site, problem)]
    return problem.restitution, found["restitution"][rows]


@attrs.frozen(eq=False)
class Complementarity:
    """One joint problem over all closed contacts, solved: what tells which of its conditions hold.

    Attributes
    ----------
    values : array, (r,)
        Impulses by row of the problem.
    gamma : array, (r,)
        Contact velocities at the end, shifted as in the law.
    preload : array, (c,)
        Given normal impulses.
    """

    values: Array
    gamma: Array
    preload: Array


def conditions_of(
    site: ImpactSite,
    problem: ImpactProblem,
    solved: Complementarity,
    targets: Sequence[tuple[float, Array | None]],
    preloads: Sequence[tuple[float, Array | None]],
) -> list[list[Condition]]:
    """The linear conditions that hold in a joint problem; several lists where a contact is on the edge of two.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    solved : Complementarity
    targets, preloads : sequence of (value, derivative)
        Normal velocity at the end, and least normal impulse, of every carrier.

    Returns
    -------
    list of list of Condition
    """
    force = NOTHING * max(float(np.max(np.abs(solved.values), initial=0.0)), 1e-300)
    speed = NOTHING * max(float(np.max(np.abs(problem.gamma), initial=0.0)), 1e-300)
    choices: list[list[list[Condition]]] = []
    taking_part: set[int] = set()
    tangential: set[int] = set()
    for place, (carrier, (contact, column)) in enumerate(
        zip(problem.carriers, contact_places(site, problem), strict=True)
    ):
        taking_part.add(contact)
        normal_impulse = solved.values[carrier.rows[0]]
        pressing, apart = normal_impulse - solved.preload[place] > force, solved.gamma[carrier.rows[0]] > speed
        held = Condition("gap_dot", contact, *targets[place])
        given = Condition("impulse_N", contact, *preloads[place])
        normals = [held] if pressing and not apart else [given] if apart and not pressing else [held, given]
        if column is None:
            choices.append([[normal] for normal in normals])
            continue
        tangential.add(column)
        friction = _friction_conditions(problem, solved, place, contact, column, (force, speed))
        choices.append([[normal, condition] for normal in normals for condition in friction])
    others = idle_conditions(site, taking_part, tangential)
    return [[*others, *(item for pair in combination for item in pair)] for combination in product(*choices)]


def _friction_conditions(
    problem: ImpactProblem, solved: Complementarity, place: int, contact: int, column: int, floors: tuple[float, float]
) -> list[Condition]:
    carrier = problem.carriers[place]
    force, speed = floors
    normal, along = solved.values[carrier.rows[0]], solved.values[carrier.tangential[0]]
    slip, mu = solved.gamma[carrier.tangential[0]], float(carrier.friction)
    if normal <= force:
        return [Condition("impulse_T", column)]
    if abs(slip) > speed:
        return [Condition("coulomb", column, float(np.sign(slip)), contact=contact)]
    if mu * normal <= force:
        return [Condition("impulse_T", column)]
    stick = Condition("slip", column)
    if abs(along) < mu * normal - force:
        return [stick]
    return [stick, Condition("coulomb", column, -float(np.sign(along)), contact=contact)]


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
    gamma = after_compression(problem, values)
    impulses = joint_impulse(problem, gamma, preload=preload).values
    solved = Complementarity(impulses, gamma + problem.G @ impulses, preload)
    nothing: list[tuple[float, Array | None]] = [(0.0, None)] * len(problem.carriers)
    preloads: list[tuple[float, Array | None]] = []
    for place, (contact, _) in enumerate(contact_places(site, problem)):
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
