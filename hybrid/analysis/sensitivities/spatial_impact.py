"""Derivatives of the impact of one spatial contact with friction: Newton's law on the cone, and Keller's path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.contact_response import contact_response, impulse_stage
from hybrid.analysis.sensitivities.impulse_stage import (
    Condition,
    ImpactSite,
    Stage,
    before_impact,
    idle_conditions,
    run_stage,
)
from hybrid.analysis.sensitivities.jumps import NOTHING, contact_places, newton_targets, restitutions, slopes_at_rest
from hybrid.analysis.sensitivities.keller_tangents import INPUTS, path_slopes
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.impacts.routh_spatial import spatial_path

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem

__all__ = ["spatial_stages"]

Array = NDArray[np.float64]


def spatial_stages(site: ImpactSite, problem: ImpactProblem, law: AbstractImpactLaw) -> list[Stage]:
    """The end of an impact of one spatial contact with friction.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    law : AbstractImpactLaw

    Returns
    -------
    list of Stage
        One.

    Raises
    ------
    NoDerivative
        Several contacts, another law, or a place where the law has a kink.
    """
    if len(problem.carriers) > 1:
        raise NoDerivative("an impact of several contacts at once, one of them spatial with friction", is_proven=False)
    ((contact, first),) = contact_places(site, problem)
    columns = [] if first is None else [first, first + 1]
    if problem.gamma[0] > NOTHING * float(np.max(np.abs(problem.gamma))):
        return [before_impact(site)]
    if isinstance(law, NewtonImpact):
        return [_on_the_cone(site, problem, law, contact, columns)]
    if isinstance(law, PoissonImpact | EnergeticImpact):
        return [_along_the_path(site, problem, law, contact, columns)]
    raise NoDerivative(
        f"the derivative of the impact law {law.name!r} is not known for a spatial contact", is_proven=False
    )


def _on_the_cone(
    site: ImpactSite, problem: ImpactProblem, law: NewtonImpact, contact: int, columns: list[int]
) -> Stage:
    """Newton's law: the slip after the impact is zero, or has the direction against its own friction."""
    start = before_impact(site)
    e, e_slopes = restitutions(site, problem, law, slopes_at_rest(site))
    ((target, slope),) = newton_targets(site, problem, start, e, e_slopes)
    P = law.impulses(problem).values
    if not P.any():
        raise NoDerivative("an impact of a contact that does not approach")
    slip, mu = (problem.gamma + problem.G @ P)[1:], float(problem.carriers[0].friction)
    speed = float(np.linalg.norm(slip))
    conditions = [Condition("gap_dot", contact, target, slope)]
    if speed > NOTHING * float(np.max(np.abs(problem.gamma))):
        u = slip / speed
        turning = np.zeros((2, len(start.slip)))
        turning[:, columns] = (np.eye(2) - np.outer(u, u)) / speed
        conditions += [
            Condition("coulomb", column, float(u[axis]), contact=contact, turning=turning[axis])
            for axis, column in enumerate(columns)
        ]
    elif np.hypot(P[1], P[2]) < (1 - NOTHING) * mu * P[0]:
        conditions += [Condition("slip", column) for column in columns]
    else:
        raise NoDerivative("the slip of a spatial contact just stops in the impact, on the edge of its cone")
    return run_stage(site, start, [*idle_conditions(site, [contact], columns), *conditions])


def _along_the_path(
    site: ImpactSite, problem: ImpactProblem, law: PoissonImpact | EnergeticImpact, contact: int, columns: list[int]
) -> Stage:
    """Poisson's and the energetic law: tangents along the path of the slip (Keller 1986)."""
    start, found = before_impact(site), slopes_at_rest(site)
    (e,), (e_slope,) = restitutions(site, problem, law, found)
    mu, mu_slope = float(problem.carriers[0].friction), found["friction"][contact]
    name = "energetic" if isinstance(law, EnergeticImpact) else "poisson"
    path = spatial_path(problem.G, problem.gamma, mu, float(e), law="energetic" if name == "energetic" else "poisson")
    if not path.legs:
        raise NoDerivative("an impact of a contact that does not approach")
    here = contact_response(site, start, contact, columns)
    inputs = np.concatenate(
        [
            here.gamma_slopes / path.speed,
            np.stack([here.G_slopes[a, b] for a, b in INPUTS]) / path.inertia,
            [mu_slope, e_slope],
        ]
    )
    unit = path.speed / path.inertia
    slopes = unit * path_slopes(path, problem.G / path.inertia, mu, float(e), is_energetic=name == "energetic")
    return impulse_stage(site, start, contact, columns, path.impulses, slopes @ inputs)
