"""The compliant impact law: the limit of the Kelvin-Voigt contact as its stiffness tends to infinity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.active_elements import ElementKind
from hybrid.contact.compliance.coefficients import check_damping
from hybrid.contact.compliance.kinematics import ContactRows
from hybrid.contact.compliance.path import (
    Array,
    CompliantPath,
    CompliantPhase,
    CompliantSamples,
    joined_samples,
    linear_samples,
)
from hybrid.contact.compliance.planar import KINDS, planar_limit
from hybrid.contact.compliance.several import several_limit, without_bilateral
from hybrid.contact.compliance.spatial import spatial_limit
from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem, Impulses, Phase
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import CLEAR

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen
class KelvinVoigtLimit(AbstractImpactLaw):
    """Impact of a contact with ``F_N = max(0, -K y - 2 d sqrt(K) y')`` and Coulomb friction, in the limit ``K -> inf``.

    In fast time the contact velocities obey a fast system at frozen position, which always ends with exactly one
    answer, for any friction coefficient (Miller and Rubinovich 2017). One planar contact is solved in closed form, one
    spatial contact by integration of the rotating slip, several by phases. Contacts stick up to their static friction.
    Rigid constraints with friction are loaded by the contacts and slide or stick with them.

    Attributes
    ----------
    damping : float, optional
        ``d``, in units of the square root of a mass; replaces the declared damping of every contact.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> from hybrid.contact import resolve_impact
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -1})
    >>> float(resolve_impact(ball, state, law=KelvinVoigtLimit(damping=0.0)).v_after[0])
    1.0
    """

    damping: float | None = attrs.field(default=None, validator=check_damping)

    @property
    def name(self) -> str:
        """Name of the law."""
        return "kelvin-voigt"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses of the limit, with the durations of its phases in fast time."""
        path = self.path(problem)
        phases = tuple(Phase(phase.kind, phase.impulse_N, phase.duration) for phase in path.phases)
        return Impulses(path.impulse, phases, path.duration, path.warnings)

    def path(self, problem: ImpactProblem, *, samples: int = 0) -> CompliantPath:
        """The whole history of the impact: phases with durations and works, and samples of it.

        Parameters
        ----------
        problem : ImpactProblem
        samples : int, default 0
            Samples per phase to keep.

        Returns
        -------
        CompliantPath

        Raises
        ------
        StateError
            A declared damping is negative.
        ComputationError
            An impact that cannot end; friction of a rigid constraint that leaves its force without a value, or with
            several.
        """
        reduced = without_bilateral(problem)
        if reduced is not None:
            contacts = _contacts(problem, self.damping, reduced.place)
            path = several_limit(reduced.G, reduced.gamma, contacts, samples=samples, bilateral=reduced.bilateral)
            return reduced.restored(path)
        contacts = _contacts(problem, self.damping)
        rows = len(problem.elements[0].rows)
        if len(contacts) > 1:
            return several_limit(problem.G, problem.gamma, contacts, samples=samples)
        contact = contacts[0]
        if rows == 3:
            return spatial_limit(
                problem.G, problem.gamma, friction=contact.friction, damping=contact.damping, samples=samples,
                static_friction=contact.static_friction,
            )  # fmt: skip
        return _planar_path(problem, contact, samples)


def _contacts(
    problem: ImpactProblem, damping: float | None, place: Mapping[int, int] | None = None
) -> tuple[ContactRows, ...]:
    """The contacts, with their rows; ``place`` says where these are once others have been eliminated."""
    found, terms = [], problem.posed.terms
    for element in problem.elements:
        if element.kind is not ElementKind.CONTACT:
            continue
        index = problem.posed.names.index(element.name)
        d = float(terms.damping[index]) if damping is None else damping
        if not d >= 0.0:
            raise StateError(f"contact {element.name!r} has damping {d:g}; it must not be below 0")
        ratio = float(terms.stiffness_ratio[index])
        if not ratio > 0.0:
            raise StateError(f"contact {element.name!r} has stiffness_ratio {ratio:g}; it must be above 0")
        mu, static = (float(x) if element.tangential else 0.0 for x in (element.friction, element.static_friction))
        normal, *tangential = (row if place is None else place[row] for row in element.rows)
        found.append(ContactRows(element.name, normal, tuple(tangential), mu, d, ratio, static))
    return tuple(found)


def _planar_path(problem: ImpactProblem, contact: ContactRows, samples: int) -> CompliantPath:
    """One planar contact, or one without friction as a planar one whose tangential row cannot move."""
    size = len(problem.gamma)
    G, gamma = np.zeros((2, 2)), np.zeros(2)
    G[:size, :size], gamma[:size] = problem.G, problem.gamma
    answer = planar_limit(
        G, gamma, friction=contact.friction, damping=contact.damping, static_friction=contact.static_friction
    )
    if not np.isfinite(answer.impulse).all():
        raise ComputationError(
            f"the impact of contact {contact.name!r} on a compliant surface cannot end: once its slip has stopped, "
            f"friction locks the mechanism and the normal force does not vanish"
        )
    phases = tuple(
        CompliantPhase(
            kind=KINDS[kind] if size == 2 else "closed",
            impulse_N=float(answer.impulse_N[index]),
            duration=float(answer.duration[index]),
            work_N=float(answer.work_N[index]),
            work_T=float(answer.work_T[index]),
        )
        for index, kind in enumerate(answer.kind)
        if kind
    )
    path = CompliantPath(problem.gamma, answer.gamma[:size], answer.impulse[:size], phases)
    return attrs.evolve(path, samples=_samples(G, gamma, contact, phases, samples)) if samples else path


def _samples(
    G: Array, start: Array, contact: ContactRows, phases: tuple[CompliantPhase, ...], n: int
) -> CompliantSamples | None:
    """Samples of planar phases in closed form; a departure from rest begins at a millionth of its end."""
    from hybrid.contact.compliance.linear import exponents

    parts, Y, at = [], 0.0, 0.0
    gamma, impulse = start.copy(), np.zeros(2)
    held = -G[0, 1] / G[1, 1] if G[1, 1] > 0 else 0.0
    d = contact.damping
    for phase in phases:
        ratio = np.array([1.0, {"slide+": -contact.friction, "slide-": contact.friction}.get(phase.kind, held)])
        rates = G @ ratio
        A, end = float(rates[0]), gamma[0] + float(rates[0]) * phase.impulse_N
        duration, begin = phase.duration, (Y, float(gamma[0]))
        if not np.isfinite(duration):
            upper = exponents(A, d)[0]
            duration, begin = np.log(1 / CLEAR) / upper, (CLEAR * end / upper, CLEAR * end)
        part = linear_samples(A, d, begin, duration, rates, ratio, n)
        parts.append(CompliantSamples(at + part.s, part.Y, gamma + part.gamma, part.force, impulse + part.impulse))
        Y, at = float(part.Y[-1, 0]), at + duration
        gamma, impulse = gamma + rates * phase.impulse_N, impulse + ratio * phase.impulse_N
    return joined_samples(parts)
