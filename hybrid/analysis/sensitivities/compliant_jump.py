"""Derivatives of the impact of compliant contacts in the limit of infinite stiffness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.compliant_course import follow, recorded_legs
from hybrid.analysis.sensitivities.contact_response import joint_response, joint_stage, problem_rows
from hybrid.analysis.sensitivities.fast_slopes import FastSlopes
from hybrid.analysis.sensitivities.impulse_stage import ImpactSite, Stage, before_impact
from hybrid.analysis.sensitivities.jumps import slopes_at_rest
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.fast import FastSystem
from hybrid.contact.compliance.rows import ContactRows
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.contact.compliance.law import KelvinVoigtLimit
    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = ["compliant_stages"]

Array = NDArray[np.float64]

_SAME = 1e-8  # of the velocities: the course that was followed is that of the law
_REST = 1e-9  # of the velocities: contacts that approach no faster are at rest


def compliant_stages(site: ImpactSite, problem: ImpactProblem, law: KelvinVoigtLimit) -> list[Stage]:
    """The end of an impact under the Kelvin-Voigt limit, of any contacts.

    The phases of the limit are smooth in stretched time (Miller and Rubinovich 2017), so tangents pass through each by
    its variational equations, and from one to the next by the saltation of what ends it.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    law : KelvinVoigtLimit

    Returns
    -------
    list of Stage
        One.

    Raises
    ------
    NoDerivative
        A departure from rest, or a kink of the course.
    """
    speed, start = float(np.max(np.abs(problem.gamma), initial=0.0)), before_impact(site)
    slowest = float(np.min(problem.gamma[problem.normals]))
    if slowest > _REST * speed:
        return [start]
    if slowest >= -_REST * speed:
        raise NoDerivative("an impact without collision departs from rest")
    rows = problem_rows(site, problem)
    here = joint_response(site, start, rows)
    contacts, found = _contacts(site, problem, law)
    places = [site.partials.dynamics.contacts.index(contact.name) for contact in contacts]
    slopes = FastSlopes(
        system=FastSystem(here.G, here.gamma, contacts),
        gamma=here.gamma_slopes,
        G=here.G_slopes,
        friction=found["friction"][places],
        static_friction=found["static_friction"][places],
        damping=np.zeros((len(places), site.size)) if law.damping is not None else found["damping"][places],
        stiffness=found["stiffness_ratio"][places],
    )
    try:
        legs = recorded_legs(slopes.system)
    except ComputationError as error:
        raise NoDerivative(f"the compliant impact could not be followed again: {error}", is_proven=False) from error
    end = follow(slopes, legs)
    P, P_slopes = end.x[len(contacts) :], end.slopes[len(contacts) :]
    if np.max(np.abs(problem.G @ (P - law.path(problem).impulse))) > _SAME * speed:
        raise NoDerivative("the course of the compliant impact could not be followed again", is_proven=False)
    return [joint_stage(site, start, rows, P, P_slopes)]


def _contacts(
    site: ImpactSite, problem: ImpactProblem, law: KelvinVoigtLimit
) -> tuple[tuple[ContactRows, ...], dict[str, Array]]:
    """The contacts of the fast system; one without friction slips as one without tangential rows."""
    terms, found = site.terms(site.v), slopes_at_rest(site)
    contacts = []
    for carrier in problem.carriers:
        index = site.partials.dynamics.contacts.index(carrier.name)
        mu, static = (float(np.ravel(values)[index]) for values in (terms.friction, terms.static_friction))
        d = float(np.ravel(terms.damping)[index]) if law.damping is None else law.damping
        contact = ContactRows(
            carrier.name,
            carrier.rows[0],
            carrier.tangential,
            mu,
            d,
            float(np.ravel(terms.stiffness_ratio)[index]),
            static,
        )
        if carrier.tangential and mu == static == 0.0:
            if found["friction"][index].any() or found["static_friction"][index].any():
                raise NoDerivative(f"friction of {carrier.name!r} is zero, and can only grow", is_proven=False)
            contact = attrs.evolve(contact, tangential=())
        contacts.append(contact)
    return tuple(contacts), found
