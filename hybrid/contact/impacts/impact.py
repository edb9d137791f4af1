"""Impacts: velocities jump under contact impulses, decided by an impact law."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity, contact_velocities, element_names
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.contact.problem import ContactProblem, pose
from hybrid.dynamics.derive import bound
from hybrid.dynamics.kinks import check_surfaces
from hybrid.dynamics.pins import state_of
from hybrid.dynamics.positions import has_kinks
from hybrid.dynamics.scales import scales_of
from hybrid.errors import StateError
from hybrid.expressions import NotDifferentiable, changes, duals, plain
from hybrid.tolerances import INTEGRATED, ROUNDING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State
    from hybrid.dynamics.structure import AbstractStructure


@attrs.frozen
class Phase:
    """One phase of an impact: what the contact does while the normal impulse grows.

    Attributes
    ----------
    kind : str
        ``"slide+"``, ``"slide-"``, ``"stick"``, ``"slide"`` (spatial), ``"closed"`` (without friction) or ``"jump"``
        (several contacts at once, decided without a path).
    impulse_N : float
        Normal impulse of the phase.
    duration : float
        Its duration in fast time, units of sqrt(kg); 0 for rigid laws, which have none.
    """

    kind: str
    impulse_N: float
    duration: float = 0.0


@attrs.frozen(eq=False)
class ImpactProblem:
    """Contact velocities ``gamma + G P`` under impulses ``P`` at frozen position.

    Attributes
    ----------
    posed : ContactProblem
        The closed contacts (and bilateral contacts with friction), all with their full tangential rows.
    gamma : array, (r,)
        Contact velocities before the impact.
    restitution : array, (number of force elements,)
        Coefficients of restitution of the declaration.
    base : ImpactProblem or None
        Where numbers of this problem are duals: the same problem of plain numbers.
    """

    posed: ContactProblem
    gamma: NDArray[np.float64]
    restitution: NDArray[np.float64]
    base: ImpactProblem | None = None

    @property
    def plain(self) -> ImpactProblem:
        """The problem without derivatives of its numbers."""
        return self if self.base is None else self.base

    @property
    def elements(self) -> tuple[ActiveElement, ...]:
        """The force elements that take part."""
        return self.posed.elements

    @property
    def G(self) -> NDArray[np.float64]:
        """Delassus operator, (r, r)."""
        return self.posed.G

    @property
    def response_W(self) -> NDArray[np.float64]:
        """Generalised velocities per unit impulse, (n, r)."""
        return self.posed.response_W

    @property
    def normals(self) -> list[int]:
        """Normal row of every force element."""
        return [element.rows[0] for element in self.elements]

    @property
    def friction(self) -> NDArray[np.float64]:
        """Friction coefficients, (number of force elements,)."""
        return np.array([element.friction for element in self.elements])

    @property
    def units(self) -> NDArray[np.float64]:
        """Units of the impulses, (r,), one of every element, so that no unit of mass decides: powers of two."""
        units, sizes = np.ones(len(self.G)), np.abs(np.diagonal(self.G))
        for rows in (list(element.rows) for element in self.elements):
            size = float(sizes[rows].max())
            units[rows] = 2.0 ** -round(math.log2(size) / 2) if size > 0.0 else 1.0
        return units

    def velocities_after(self, impulses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Contact velocities (r,) after impulses (r,), those within rounding of zero exactly zero.

        With redundant contacts a rounding unit of approach is a velocity that no impulse can stop. A friction impulse
        is a distance from its bound ``mu P_N`` and has the rounding of that bound, however small it is itself.

        Parameters
        ----------
        impulses : array, (r,)
            In N s, in the order of the rows of ``G``.

        Returns
        -------
        array, (r,)
            In m/s.
        """
        gamma, known = self.gamma + self.G @ impulses, self.plain
        sizes = np.abs(plain(impulses))
        for element in known.elements:
            if element.normal is not None and element.tangential:
                sizes[list(element.tangential)] += float(element.friction) * sizes[element.normal]
        floor = ROUNDING * (np.abs(known.gamma) + np.abs(known.G) @ sizes)
        return np.asarray(np.where(np.abs(plain(gamma)) <= floor, gamma - plain(gamma), gamma))

    def changed(self, change: ImpactChange) -> ImpactProblem:
        """The problem with the derivatives of its numbers, for a law that is read with duals.

        Parameters
        ----------
        change : ImpactChange

        Returns
        -------
        ImpactProblem
        """
        friction = duals(self.friction, change.friction)
        elements = [attrs.evolve(element, friction=mu) for element, mu in zip(self.elements, friction, strict=True)]
        without: dict[str, Any] = dict.fromkeys(_WITHOUT_DERIVATIVES)
        posed = attrs.evolve(self.posed, G=duals(self.G, change.G), elements=tuple(elements), **without)
        gamma, restitution = duals(self.gamma, change.gamma), duals(self.restitution, change.restitution)
        return ImpactProblem(posed, gamma, restitution, base=self)


_WITHOUT_DERIVATIVES = ("c", "rounding", "W", "a_free", "response_W", "terms")  # a law that reads these has none either


@attrs.frozen(eq=False)
class ImpactChange:
    """Small changes of an impact problem, m at once: derivatives with respect to m variables.

    Attributes
    ----------
    gamma : array, (r, m)
        Of the contact velocities before the impact.
    G : array, (r, r, m)
        Of the Delassus operator.
    friction, restitution, damping : array, (number of force elements, m)
        Of the declared coefficients; damping in sqrt(kg).
    """

    gamma: NDArray[np.float64]
    G: NDArray[np.float64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]
    damping: NDArray[np.float64]


@attrs.frozen(eq=False)
class Impulses:
    """What an impact law answers.

    Attributes
    ----------
    values : array, (r,)
        Impulses by row of the problem, in N s along a length.
    phases : tuple of Phase
        Stretches in which the contact status lasts, in order; may be empty.
    duration : float
        In fast time, sqrt(kg); 0 for a law of rigid contacts.
    warnings : tuple of str
    """

    values: NDArray[np.float64]
    phases: tuple[Phase, ...]
    duration: float = 0.0
    warnings: tuple[str, ...] = ()


class AbstractImpactLaw(ABC):
    """An impact law: from contact velocities to impulses. Subclass it to add one; it must be final itself."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name shown in results and warnings."""

    @abstractmethod
    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses of an impact.

        Parameters
        ----------
        problem : ImpactProblem

        Returns
        -------
        Impulses
        """

    def impulse_change(self, problem: ImpactProblem, change: ImpactChange) -> NDArray[np.float64]:
        """Changes of the impulses under small changes of the problem: ``impulses`` read with dual numbers.

        A law whose ``impulses`` leave arithmetic (for a library's solver, say) overrides this.

        Parameters
        ----------
        problem : ImpactProblem
        change : ImpactChange

        Returns
        -------
        array, (r, m) or (w, r, m)
            Linear in the change; w of them where as many linear pieces of the law meet.

        Raises
        ------
        NotDifferentiable
            The law has a kink here, or cannot be read with dual numbers.
        """
        try:
            return changes(self.impulses(problem.changed(change)).values)
        except (AttributeError, TypeError) as error:
            raise NotDifferentiable(
                f"the derivative of the impact law {self.name!r} is not known, for dual numbers do not pass it "
                f"({error}): give it a method impulse_change"
            ) from error


@attrs.frozen(eq=False)
class Impact:
    """The result of an impact.

    Attributes
    ----------
    law : str
    v_before, v_after : array, (n,)
        Generalised velocities.
    impulse_N : mapping of str to float
    impulse_T : mapping of str to tuple of float
    gap_dot_after : mapping of str to float
    slip_after : mapping of str to tuple of float
    energy_change : float
        Kinetic energy after less before; negative for a loss.
    phases : tuple of Phase
    duration : float
        In fast time, units of sqrt(kg); 0 for rigid laws.
    warnings : tuple of str
        For example that the law created energy.
    """

    law: str
    v_before: NDArray[np.float64]
    v_after: NDArray[np.float64]
    impulse_N: Mapping[str, float]
    impulse_T: Mapping[str, tuple[float, ...]]
    gap_dot_after: Mapping[str, float]
    slip_after: Mapping[str, tuple[float, ...]]
    energy_change: float
    phases: tuple[Phase, ...]
    duration: float
    warnings: tuple[str, ...]


@checks_arguments
def resolve_impact(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    law: AbstractImpactLaw,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
    closed: tuple[str, ...] | None = None,
) -> Impact:
    """Velocities after an impact of the closed contacts.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        Before the impact. Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    law : AbstractImpactLaw
    parameters : mapping, optional
    tolerances : Tolerances, optional
    closed : tuple of str, optional
        Names of the closed contacts; by default those with ``gap = 0`` to the tolerance.

    Returns
    -------
    Impact
        Its warnings say where a law created energy, and by how much.

    Raises
    ------
    StateError
        No contact is closed, or a contact penetrates.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> from hybrid.contact import NewtonImpact, resolve_impact
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -2})
    >>> float(resolve_impact(ball, state, law=NewtonImpact(restitution=0.5)).v_after[0].round(12))
    1.0
    """
    dynamics = bound(dynamics, parameters)
    state = state_of(dynamics, state, tolerances=tolerances)
    problem = impact_problem(dynamics, state, tolerances=tolerances, closed=closed)
    return impact_of(problem, state.v, law.impulses(problem), law=law.name)


def impact_of(problem: ImpactProblem, v: NDArray[np.float64], answer: Impulses, *, law: str) -> Impact:
    """What impulses do to velocities, and the energy they take or, with a warning that names the law, create.

    Parameters
    ----------
    problem : ImpactProblem
    v : array, (n,)
        Generalised velocities before the impact.
    answer : Impulses
    law : str
        Its name.

    Returns
    -------
    Impact
    """
    M = problem.posed.terms.M
    v_after = v + problem.response_W @ answer.values
    gamma = problem.velocities_after(answer.values)
    before, after = (float(each @ M @ each) / 2 for each in (v, v_after))
    # of the contact alone: a surface that moves may do work besides
    created = float(answer.values @ (problem.gamma + gamma)) / 2
    warnings = list(answer.warnings)
    sums = float(np.abs(answer.values) @ (np.abs(problem.gamma) + np.abs(gamma)))  # of which it is what is left
    if created > INTEGRATED * max(before, after, sums):  # as well as compliant contacts are followed
        warnings.append(f"the {law} law created energy: {created:.6g} on top of {before:.6g}")
    elements = problem.elements
    return Impact(
        law=law,
        v_before=v,
        v_after=v_after + 0.0,
        impulse_N={c.name: float(answer.values[c.rows[0]]) + 0.0 for c in elements},
        impulse_T={c.name: tuple(float(answer.values[row]) + 0.0 for row in c.tangential) for c in elements},
        gap_dot_after={c.name: float(gamma[c.rows[0]]) + 0.0 for c in elements},
        slip_after={c.name: tuple(float(gamma[row]) + 0.0 for row in c.tangential) for c in elements},
        energy_change=after - before,
        phases=answer.phases,
        duration=answer.duration,
        warnings=tuple(warnings),
    )


def impact_problem(
    dynamics: Dynamics,
    state: State,
    *,
    tolerances: Tolerances = Tolerances(),
    closed: tuple[str, ...] | None = None,
) -> ImpactProblem:
    """The impact of the closed contacts of a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
        Before the impact.
    tolerances : Tolerances, optional
    closed : tuple of str, optional
        Names of the closed contacts; by default those with ``gap = 0`` to the tolerance.

    Returns
    -------
    ImpactProblem

    Raises
    ------
    StateError
        No contact is closed, or a contact penetrates.
    """
    terms = dynamics.terms(state.q, state.v, t=state.t)
    if closed is None:
        near = tolerances.gap * scales_of(dynamics, terms, state.q, state.v, t=state.t).gap
        gaps = list(zip(dynamics.contacts, terms.gap, near, strict=True))
        for name, gap, limit in gaps:
            if gap < -limit:
                raise StateError(f"contact {name!r} penetrates: gap = {gap:.6g}")
        closed = tuple(name for name, gap, limit in gaps if gap <= limit)
    if has_kinks(dynamics):
        check_surfaces(dynamics, state, np.isin(dynamics.contacts, closed))
    posed = pose(dynamics, terms, activities_in_impact(dynamics, closed), sides={})
    if not any(element.kind is ElementKind.CONTACT for element in posed.elements):
        open_ = ", ".join(f"gap.{name} = {gap:.6g}" for name, gap in zip(dynamics.contacts, terms.gap, strict=True))
        raise StateError(f"no contact is closed, so there is no impact: {open_ or 'the mechanism has none'}")
    restitution = [
        float(terms.restitution[dynamics.contacts.index(c.name)]) if c.name in dynamics.contacts else 0.0
        for c in posed.elements
    ]
    gamma = contact_velocities(dynamics, terms, posed.elements, posed.W, state.v)
    return ImpactProblem(posed, gamma, np.array(restitution))


def activities_in_impact(structure: AbstractStructure, closed: Collection[str]) -> tuple[Activity, ...]:
    """What force elements do in an impact of closed contacts; constraints take part in each.

    Parameters
    ----------
    structure : AbstractStructure
    closed : collection of str

    Returns
    -------
    tuple of Activity
        Elements with a given limit force are open: it has no impulse.
    """
    return tuple(
        Activity.OPEN
        if name in structure.elements or (name in structure.contacts and name not in closed)
        else Activity.RESTING
        if structure.dimension(name)
        else Activity.FRICTIONLESS
        for name in element_names(structure)
    )
