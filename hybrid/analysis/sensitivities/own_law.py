"""Derivatives of an impact under a law of the user's own, which gives the change of its impulses itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.contact_response import joint_response, joint_stage, problem_rows
from hybrid.analysis.sensitivities.impulse_stage import ImpactSite, Stage, before_impact
from hybrid.analysis.sensitivities.jumps import slopes_at_rest
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.errors import StateError

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem

__all__ = ["ImpactChange", "own_stages"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class ImpactChange:
    """A small change of an impact problem: what ``impulse_change`` of a law of one's own is asked about.

    Attributes
    ----------
    gamma : array, (r,)
        Of the contact velocities before the impact.
    G : array, (r, r)
        Of the Delassus operator.
    friction, restitution, damping : array, (number of carriers,)
        Of the declared coefficients.
    """

    gamma: Array
    G: Array
    friction: Array
    restitution: Array
    damping: Array


def own_stages(site: ImpactSite, problem: ImpactProblem, law: AbstractImpactLaw) -> list[Stage]:
    """The end of an impact under a law that has a method ``impulse_change(problem, change)``.

    The method returns the change of ``impulses(problem).values``, (r,), that belongs to an :class:`ImpactChange`, and
    is linear in it. It is taken at its word; differences of whole simulations (``check=True``) test it.

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
        The law has no such method.
    StateError
        What it returns is no array of r finite numbers.
    """
    change_of = getattr(law, "impulse_change", None)
    if change_of is None:
        raise NoDerivative(
            f"the derivative of the impact law {law.name!r} is not known: give it a method impulse_change",
            is_proven=False,
        )
    start, rows = before_impact(site), problem_rows(site, problem)
    here, found = joint_response(site, start, rows), slopes_at_rest(site)
    places = [site.partials.dynamics.contacts.index(carrier.name) for carrier in problem.carriers]
    slopes = np.zeros((len(rows), site.size))
    for column in range(site.size):
        asked = ImpactChange(
            here.gamma_slopes[:, column],
            here.G_slopes[:, :, column],
            *(found[name][places, column] for name in ("friction", "restitution", "damping")),
        )
        given = np.asarray(change_of(problem, asked), dtype=np.float64)
        if given.shape != (len(rows),) or not np.isfinite(given).all():
            raise StateError(
                f"impulse_change of the law {law.name!r} must return {len(rows)} finite numbers, not {given}"
            )
        slopes[:, column] = given
    return [joint_stage(site, start, rows, law.impulses(problem).values, slopes)]
