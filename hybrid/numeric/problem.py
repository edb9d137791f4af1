"""Contact problems, verdicts, impacts and their resolution at a state that is given by numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity, contact_velocities, element_activities
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.compliance.resolution import Outcome, Resolution, resolve_selection
from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact, ImpactProblem, activities_in_impact, impact_of
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.contact.problem import ContactProblem, pose
from hybrid.contact.reduction import are_contradictory
from hybrid.contact.selection import COVER_BUDGET, select_problem
from hybrid.dynamics.arithmetic import definiteness
from hybrid.dynamics.equations import Terms
from hybrid.dynamics.scales import Scales
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.verdict import Selection
    from hybrid.numeric.state import NumericState

__all__ = ["activities_of", "contact_problem", "normal_problem", "resolve", "resolve_impact", "select"]


def activities_of(state: NumericState) -> NDArray[np.int8]:
    """What every contact and friction element does: open, at rest, slipping, approaching, penetrating.

    Parameters
    ----------
    state : NumericState

    Returns
    -------
    array of int8, (..., number of contacts and friction elements)
        Values of :class:`Activity`, of the contacts and then of the friction elements; only exact zeros are zero.
    """
    terms = state.terms
    names = [field.name for field in attrs.fields(Scales)]
    nothing = Scales(**{name: np.zeros(getattr(terms, name).shape[-1:]) for name in names})
    return element_activities(state.structure, terms, nothing, sides=state.sides, tolerances=Tolerances())


@checks_arguments
def contact_problem(state: NumericState, *, tolerances: Tolerances = Tolerances()) -> ContactProblem:
    """Pose the contact problem at one state, as :func:`hybrid.contact_problem` does for a declared mechanism.

    Parameters
    ----------
    state : NumericState
        Without leading axes.
    tolerances : Tolerances, optional

    Returns
    -------
    ContactProblem

    Raises
    ------
    StateError
        A contact penetrates or approaches; the mass matrix is singular or indefinite.
    ComputationError
        Constraints contradict each other.

    Examples
    --------
    >>> from hybrid.numeric import NumericContact, NumericState
    >>> foot = NumericContact("foot", W_N=[0.0, 1.0], W_T=[1.0, 0.0], slip=[0.3], friction=0.5)
    >>> problem = contact_problem(NumericState(M=[[2.0, 0.0], [0.0, 2.0]], h=[0.0, -19.62], contacts=[foot]))
    >>> problem.G.tolist(), problem.c.tolist()
    ([[0.5, 0.0], [0.0, 0.5]], [-9.81, 0.0])
    """
    _check_one(state)
    _check_mass(state, tolerances)
    activities = tuple(map(Activity, activities_of(state).tolist()))
    for contact, activity in zip(state.contacts, activities, strict=False):
        if activity is Activity.PENETRATING:
            raise StateError(
                f"{state.name}: contact {contact.name!r} penetrates (gap = {float(contact.gap):.6g}); "
                "set the gap of a contact that counts as closed to 0"
            )
        if activity is Activity.APPROACHING:
            raise StateError(
                f"{state.name}: contact {contact.name!r} is closed and approaches (gap_dot = "
                f"{float(contact.gap_dot):.6g}): this is an impact; set gap_dot of a persistent contact to 0"
            )
    problem = pose(state.structure, state.terms, activities, sides=state.sides)
    if not all(np.isfinite(part).all() for part in (problem.G, problem.c)):
        raise StateError(
            f"{state.name}: accelerations leave the range of double precision; choose units in which M, h and the "
            "directions of contacts are moderate"
        )
    if are_contradictory(problem.inconsistency, state.terms.zeta_B, problem.a_free, tolerances.sign):
        raise ComputationError(
            f"{state.name}: the constraints contradict each other: no acceleration satisfies them (residual "
            f"{problem.inconsistency:.3g})"
        )
    return problem


def normal_problem(A: NDArray[np.float64], b: NDArray[np.float64], W: NDArray[np.float64]) -> ContactProblem:
    """The contact problem ``a_N = A lambda_N + b`` of contacts that press or separate, at one state or many.

    Parameters
    ----------
    A : array, (..., k, k)
        With what the friction of slipping contacts adds; not symmetric.
    b : array, (..., k)
    W : array, (..., n, k)
        Normal directions, with unit masses.

    Returns
    -------
    ContactProblem
        With contacts ``0``, ``1`` and so on, without tangents.
    """
    k, n = b.shape[-1], W.shape[-2]
    names, none, no_force = tuple(map(str, range(k))), np.zeros((*b.shape[:-1], 0)), np.zeros(b.shape)
    terms = Terms(
        M=np.eye(n),
        h=np.zeros(n),
        gap=no_force,
        gap_dot=no_force,
        zeta_N=b,
        W_N=W,
        slip=none,
        zeta_T=none,
        W_T=np.zeros((*b.shape[:-1], n, 0)),
        constraint=none,
        constraint_dot=none,
        zeta_B=none,
        J=np.zeros((0, n)),
        friction=no_force,
        static_friction=no_force,
        restitution=no_force,
        damping=no_force,
        stiffness_ratio=np.ones(b.shape),
        limit=none,
        static_limit=none,
        constraint_friction=none,
        mean_T=none,
    )
    return ContactProblem(
        mechanism="contacts",
        elements=tuple(ActiveElement(name, ElementKind.CONTACT, i, (), None, 0.0, 0.0) for i, name in enumerate(names)),
        names=names,
        G=A,
        c=b,
        rounding=no_force,
        W=W,
        a_free=np.zeros((*b.shape[:-1], n)),
        response_W=W,
        columns={},
        redundancy=0,
        inconsistency=0.0,
        terms=terms,
    )


def _check_one(state: NumericState) -> None:
    if state.shape:
        raise StateError(f"{state.name}: one state is wanted here, got an array of {state.shape}; see classify")


def _check_mass(state: NumericState, tolerances: Tolerances) -> None:
    smallest = float(definiteness(state.terms.M))
    if smallest <= tolerances.rank:
        kind = "not positive definite" if smallest < -tolerances.rank else "singular"
        raise StateError(f"{state.name}: the mass matrix M is {kind} (smallest scaled eigenvalue {smallest:.3g})")


@checks_arguments
def select(
    state: NumericState,
    *,
    tolerances: Tolerances = Tolerances(),
    solver: Literal["enumeration", "lemke", "gauss"] = "enumeration",
    cover_budget: float = COVER_BUDGET,
) -> Selection:
    """Decide which contact modes are consistent at a state, as :func:`hybrid.select` does for a declared mechanism.

    Parameters
    ----------
    state : NumericState
        Without leading axes.
    tolerances : Tolerances, optional
    solver : {"enumeration", "lemke", "gauss"}
    cover_budget : float, default 2
        Seconds for several spatial contacts at rest.

    Returns
    -------
    Selection

    Examples
    --------
    Painlevé's rod, upright enough to jam (mu = 1.5).

    >>> import numpy as np
    >>> from hybrid.numeric import NumericContact, NumericState
    >>> phi, rate = 2.0, 1.0
    >>> tip = NumericContact(
    ...     "tip",
    ...     W_N=[0.0, 1.0, -np.cos(phi)],
    ...     zeta_N=np.sin(phi) * rate**2,
    ...     W_T=[1.0, 0.0, np.sin(phi)],
    ...     zeta_T=[np.cos(phi) * rate**2],
    ...     slip=[1.0],
    ...     friction=1.5,
    ... )
    >>> rod = NumericState(M=np.diag([1.0, 1.0, 1 / 3]), h=[0.0, -1.0, 0.0], contacts=[tip])
    >>> select(rod).verdict.name
    'INCONSISTENT'
    """
    problem = contact_problem(state, tolerances=tolerances)
    return select_problem(problem, tolerances=tolerances, solver=solver, cover_budget=cover_budget, bodies=state.bodies)


@checks_arguments
def resolve_impact(state: NumericState, *, law: AbstractImpactLaw, tolerances: Tolerances = Tolerances()) -> Impact:
    """Velocities after an impact of the closed contacts of a state.

    Parameters
    ----------
    state : NumericState
        Without leading axes, with ``v``. Contacts whose ``gap`` is not above 0 take part.
    law : AbstractImpactLaw
    tolerances : Tolerances, optional

    Returns
    -------
    Impact

    Raises
    ------
    StateError
        No contact is closed, or the velocities are not given.

    Examples
    --------
    >>> from hybrid import NewtonImpact
    >>> from hybrid.numeric import NumericContact, NumericState
    >>> floor = NumericContact("floor", W_N=[1.0], gap_dot=-2.0)
    >>> ball = NumericState(M=[[3.0]], h=[-29.43], contacts=[floor], v=[-2.0])
    >>> resolve_impact(ball, law=NewtonImpact(restitution=0.5)).v_after.tolist()
    [1.0]
    """
    _check_one(state)
    _check_mass(state, tolerances)
    if state.v is None:
        raise StateError(f"{state.name}: an impact needs the generalised velocities v of the state")
    closed = [contact.name for contact in state.contacts if contact.gap <= 0.0]
    if not closed:
        raise StateError(f"{state.name}: no contact is closed, so there is no impact")
    posed = pose(state.structure, state.terms, activities_in_impact(state.structure, closed), sides={})
    restitution = [float(state.contacts[posed.names.index(part.name)].restitution) for part in posed.elements]
    gamma = contact_velocities(state.structure, posed.terms, posed.elements, posed.W, state.v)
    problem = ImpactProblem(posed, gamma, np.array(restitution))
    return impact_of(problem, state.v, law.impulses(problem), law=law.name)


@checks_arguments
def resolve(
    state: NumericState,
    *,
    law: AbstractImpactLaw | None = None,
    approach: float = 0.0,
    stiffness: float | None = None,
    tolerances: Tolerances = Tolerances(),
) -> Resolution:
    """What a compliant contact does where the rigid problem has no answer or several; as :func:`hybrid.resolve`.

    Parameters
    ----------
    state : NumericState
        Without leading axes, with ``v``.
    law : AbstractImpactLaw, optional
        The compliant limit by default.
    approach : float
        Normal velocity, not above 0, with which a contact that slips alone approaches where several modes are
        consistent.
    stiffness : float, optional
        Finite stiffness, in N/m, with which the approach is compared.
    tolerances : Tolerances, optional

    Returns
    -------
    Resolution
    """
    law = KelvinVoigtLimit() if law is None else law
    approaching = [float(c.gap_dot) for c in state.contacts if c.gap == 0.0 and c.gap_dot < 0.0]
    if approaching:
        impact = resolve_impact(state, law=law, tolerances=tolerances)
        return Resolution(Outcome.IMPACT, f"a contact approaches with gap_dot = {min(approaching):.6g}", impact=impact)
    return resolve_selection(
        select(state, tolerances=tolerances),
        lambda: resolve_impact(state, law=law, tolerances=tolerances),
        law=law,
        approach=approach,
        stiffness=stiffness,
    )
