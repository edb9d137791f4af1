"""Derivatives of the impact of compliant contacts in the limit of infinite stiffness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.compliant_course import follow, recorded_phases
from hybrid.analysis.sensitivities.fast_slopes import FastSlopes
from hybrid.analysis.sensitivities.impact_site import ImpactSite
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.frozen import ContactRows, FrozenFlow
from hybrid.errors import ComputationError
from hybrid.expressions import Dual, changes, duals, plain

if TYPE_CHECKING:
    from hybrid.contact.compliance.law import KelvinVoigtLimit
    from hybrid.contact.impacts.impact import ImpactChange, ImpactProblem

__all__ = ["compliant_slopes"]

Array = NDArray[np.float64]

_SAME = 1e-8  # of the velocities: the course that was followed is that of the law
_REST = 1e-9  # of the velocities: contacts that approach no faster are at rest


def compliant_slopes(
    site: ImpactSite, problem: ImpactProblem, law: KelvinVoigtLimit, change: ImpactChange
) -> tuple[Array, Array]:
    """Impulses under the Kelvin-Voigt limit, of any contacts, and their derivatives.

    The phases of the limit are smooth in fast time (Miller and Rubinovich 2017), so tangents pass through each by
    its variational equations, and from one to the next by the saltation of what ends it.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    law : KelvinVoigtLimit
    change : ImpactChange
        Of the problem.

    Returns
    -------
    array, (r,), and array, (r, size)

    Raises
    ------
    NoDerivative
        A departure from rest, or a kink of the course.
    """
    speed = float(np.max(np.abs(problem.gamma), initial=0.0))
    slowest = float(np.min(problem.gamma[problem.normals]))
    if slowest > _REST * speed:
        return np.zeros_like(problem.gamma), np.zeros_like(change.gamma)
    if slowest >= -_REST * speed:
        raise NoDerivative("an impact without collision departs from rest")
    contacts, found = _contacts(site, problem, law)
    system, order = FrozenFlow.of(problem.G, problem.gamma, contacts)
    slopes = FastSlopes(system, _changed(site, system, change, order, found, law))
    try:
        phases = recorded_phases(slopes.system)
    except ComputationError as error:
        raise NoDerivative(f"the compliant impact could not be followed again: {error}", is_proven=False) from error
    end, back = follow(slopes, phases)[len(contacts) : -3], np.argsort(order)
    P, P_slopes = plain(end)[back], changes(end)[back]
    if np.max(np.abs(problem.G @ (P - law.path(problem).impulse))) > _SAME * speed:
        raise NoDerivative("the course of the compliant impact could not be followed again", is_proven=False)
    return P, P_slopes


def _changed(
    site: ImpactSite,
    system: FrozenFlow,
    change: ImpactChange,
    order: list[int],
    found: dict[str, Array],
    law: KelvinVoigtLimit,
) -> FrozenFlow:
    """The fast system of duals."""
    contacts = []
    for place, contact in enumerate(system.contacts):
        index = site.partials.dynamics.contacts.index(contact.name)
        slopes = (
            change.friction[place],
            change.damping[place] * (law.damping is None),
            found["stiffness_ratio"][index],
            found["static_friction"][index],
        )
        plains = (contact.friction, contact.damping, contact.stiffness_ratio, contact.holds)
        numbers: tuple[Any, ...] = tuple(map(Dual, plains, slopes))
        contacts.append(ContactRows(contact.name, contact.normal, contact.tangential, *numbers))
    return attrs.evolve(
        system,
        stiffness=np.array([contact.stiffness_ratio for contact in contacts]),
        G=duals(system.G, change.G[np.ix_(order, order)]),
        gamma=duals(system.gamma, change.gamma[order]),
        contacts=tuple(contacts),
    )


def _contacts(
    site: ImpactSite, problem: ImpactProblem, law: KelvinVoigtLimit
) -> tuple[tuple[ContactRows, ...], dict[str, Array]]:
    """The contacts of the fast system; one without friction slips as one without tangential rows."""
    terms, found = site.terms(site.v), {name: rows[0] for name, rows in site.slopes(site.v).items()}
    contacts = []
    for element in problem.elements:
        index = site.partials.dynamics.contacts.index(element.name)
        mu, static = (float(np.ravel(values)[index]) for values in (terms.friction, terms.static_friction))
        d = float(np.ravel(terms.damping)[index]) if law.damping is None else law.damping
        contact = ContactRows(
            element.name,
            element.rows[0],
            element.tangential,
            mu,
            d,
            float(np.ravel(terms.stiffness_ratio)[index]),
            static,
        )
        if element.tangential and mu == static == 0.0:
            if found["friction"][index].any() or found["static_friction"][index].any():
                raise NoDerivative(f"friction of {element.name!r} is zero, and can only grow", is_proven=False)
            contact = attrs.evolve(contact, tangential=())
        contacts.append(contact)
    return tuple(contacts), found
