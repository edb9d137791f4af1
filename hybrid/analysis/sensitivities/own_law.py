"""Derivatives of an impact by the changes of its impulses, which its law gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.contact_response import joint_response, joint_stage, problem_rows
from hybrid.analysis.sensitivities.impulse_stage import ImpactSite, Stage, before_impact
from hybrid.analysis.sensitivities.jumps import slopes_at_rest
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.impacts.impact import ImpactChange
from hybrid.errors import StateError
from hybrid.expressions import NotDifferentiable

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem

__all__ = ["own_stages"]

Array = NDArray[np.float64]


def own_stages(site: ImpactSite, problem: ImpactProblem, law: AbstractImpactLaw) -> list[Stage]:
    """The ends of an impact, by the changes of its impulses that the law gives.

    They are taken at their word; differences of whole simulations (``check=True``) test them.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    law : AbstractImpactLaw

    Returns
    -------
    list of Stage
        Several where as many linear pieces of the law meet.

    Raises
    ------
    NoDerivative
        The law has a kink here, or gives no changes.
    StateError
        What it returns is no array of finite numbers for r rows.
    """
    start, rows = before_impact(site), problem_rows(site, problem)
    here, found = joint_response(site, start, rows), slopes_at_rest(site)
    places = [site.partials.dynamics.contacts.index(carrier.name) for carrier in problem.carriers]
    coefficients = (found[name][places] for name in ("friction", "restitution", "damping"))
    try:
        given = law.impulse_change(problem, ImpactChange(here.gamma_slopes, here.G_slopes, *coefficients))
    except NotDifferentiable as error:
        raise NoDerivative(str(error), is_proven=error.is_proven) from error
    slopes = np.asarray(given, dtype=np.float64)
    if slopes.shape[-2:] not in ((len(rows), site.size), (len(rows), 1)) or not np.isfinite(slopes).all():
        raise StateError(
            f"impulse_change of the law {law.name!r} must return {len(rows)} finite numbers for each of {site.size} "
            f"changes, not {given}"
        )
    values = law.impulses(problem).values
    if not values.any() and not slopes.any():
        return [start]
    pieces = np.broadcast_to(slopes, (*slopes.shape[:-1], site.size)).reshape(-1, len(rows), site.size)
    return [joint_stage(site, start, rows, values, piece) for piece in pieces]
