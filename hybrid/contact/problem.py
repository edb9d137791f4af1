"""The contact problem at the acceleration level: who takes part, G and c."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity, activity_pattern, assemble, element_names
from hybrid.contact.reduction import (
    CANCELLED_ROUNDINGS,
    SUM_ROUNDING,
    FreeMotion,
    answer,
    are_contradictory,
    free_motion,
    unconstrained,
)
from hybrid.contact.table import check_friction
from hybrid.dynamics.arithmetic import applied, decided_definiteness, is_finite
from hybrid.dynamics.consistency import check_accuracy, check_consistency, check_regularity
from hybrid.dynamics.derive import bound
from hybrid.dynamics.kinks import check_surfaces
from hybrid.dynamics.pins import state_of
from hybrid.dynamics.positions import has_kinks
from hybrid.dynamics.scales import scales_of, summands_of
from hybrid.dynamics.state import posture
from hybrid.errors import ArgumentError, ComputationError, StateError
from hybrid.expressions import straight_line
from hybrid.tolerances import NEARLY, Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hybrid.contact.modes import ActiveElement
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.scales import Summands
    from hybrid.dynamics.state import State
    from hybrid.dynamics.structure import AbstractStructure
    from hybrid.expressions import StraightLine


def check_inertia(dynamics: Dynamics, state: State, terms: Terms, *, rank: float, is_invertible: bool = True) -> None:
    """Refuse a state at which the mass matrix is singular or indefinite: no acceleration or no energy there.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    terms : Terms
        At the state.
    rank : float
        Scaled eigenvalue down to which the matrix counts as singular.
    is_invertible : bool
        False if its inverse is known to be beyond the range of floats.

    Returns
    -------
    None
        The mass matrix is positive definite.

    Raises
    ------
    StateError
        With the posture and the scaled eigenvalue.
    """
    smallest = decided_definiteness(terms.M, rank=rank)
    if smallest <= rank or not is_invertible:
        is_indefinite = smallest < -rank
        kind = "not positive definite" if is_indefinite else "singular"
        advice = "check the signs of masses and inertias" if is_indefinite else "give every coordinate inertia"
        raise StateError(
            f"{dynamics.name}: the mass matrix is {kind} at {posture(dynamics, state.q)} (smallest scaled eigenvalue "
            f"{smallest:.3g}): {advice}"
        )


@attrs.frozen(eq=False)
class ContactProblem:
    """Contact accelerations ``a = G lambda + c`` with the laws of contact and friction, at one state or many.

    Attributes
    ----------
    mechanism : str
        Name of the mechanism.
    elements : tuple of ActiveElement
        Force elements that take part; the others are open.
    names : tuple of str
        All force elements of the mechanism, in order.
    G : array, (..., r, r)
        Delassus operator ``W^T M^-1 W``, bilateral constraints eliminated; a row that they block is exactly zero.
    c : array, (..., r)
        Contact accelerations without contact forces.
    rounding : array, (..., r)
        What rounding may have added to them, from the magnitudes of the terms that they are sums of.
    W : array, (..., n, r)
        Force directions of the ``r`` rows (normal row, then tangential rows, of each force element in turn).
    a_free : array, (..., n)
        Generalised accelerations without contact forces.
    response_W : array, (..., n, r)
        Generalised accelerations per unit contact force.
    columns : mapping of str to slice
        Tangential columns of ``terms`` of every force element with friction.
    redundancy : int, or array of int, (...)
        Dependent rows among the eliminated bilateral constraints (their multipliers are not unique).
    inconsistency : float
        Largest acceleration by which the eliminated constraints contradict each other.
    terms : Terms
        All terms of the equations of motion at the state.
    length : array, (..., r)
        Magnitude of what cancelled when the constraints left ``sqrt(G_ii)`` of a force direction; without constraints
        that root itself.
    """

    mechanism: str
    elements: tuple[ActiveElement, ...]
    names: tuple[str, ...]
    G: NDArray[np.float64]
    c: NDArray[np.float64]
    rounding: NDArray[np.float64]
    W: NDArray[np.float64]
    a_free: NDArray[np.float64]
    response_W: NDArray[np.float64]
    columns: Mapping[str, slice]
    redundancy: Any
    inconsistency: float
    terms: Terms = attrs.field(repr=False)
    length: NDArray[np.float64] = attrs.field()

    @length.default
    def _nothing_cancelled(self) -> NDArray[np.float64]:
        return np.asanyarray(np.sqrt(np.abs(np.diagonal(self.G, axis1=-2, axis2=-1))))

    @property
    def n_rows(self) -> int:
        """Number of force unknowns."""
        return int(self.G.shape[-1])

    @property
    def mean(self) -> NDArray[np.float64]:
        """What is to be added to forces (..., r) to report them: the middle of the range of friction elements."""
        mean = np.zeros((*self.terms.mean_T.shape[:-1], self.n_rows))
        for element in self.elements:
            if element.normal is None:
                mean[..., list(element.tangential)] = self.terms.mean_T[..., self.columns[element.name]]
        return mean

    def acceleration(self, forces: NDArray[np.float64]) -> NDArray[np.float64]:
        """Generalised accelerations under contact forces.

        Parameters
        ----------
        forces : array, (..., r)

        Returns
        -------
        array, (..., n)
        """
        return np.asanyarray(self.a_free + applied(self.response_W, forces) + 0.0)

    def element(self, name: str) -> ActiveElement:
        """The force element of a name; ArgumentError if it does not take part.

        Parameters
        ----------
        name : str

        Returns
        -------
        ActiveElement
        """
        active = {element.name: element for element in self.elements}
        if name not in active:
            raise ArgumentError(f"{name!r} takes no part at this state, where these do: {', '.join(active) or 'none'}")
        return active[name]


@checks_arguments
def contact_problem(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> ContactProblem:
    """Pose the contact problem at a state.

    A contact takes part when it is closed and persistent (``gap = 0`` and ``gap_dot = 0`` to the tolerances). Contact
    accelerations are then ``a = G lambda + c`` (Pfeiffer and Glocker 1996, ch. 5).

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    parameters : mapping, optional
    tolerances : Tolerances, optional

    Returns
    -------
    ContactProblem

    Raises
    ------
    StateError
        A contact penetrates, or approaches (then an impact law decides, not the acceleration level); a rigid
        constraint is violated; or the mass matrix is singular at this posture.
    ComputationError
        An expression has no value here, constraints contradict, or they are dependent here but not nearby.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import contact_problem, derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> problem = contact_problem(rod, solve_state(rod, {"phi": "pi/2", "phi_dot": 0, "slip.tip": 0}))
    >>> abs(problem.G).round(12).tolist(), problem.c.round(12).tolist()
    ([[1.0, 0.0], [0.0, 4.0]], [-1.0, 0.0])
    """
    dynamics = bound(dynamics, parameters)
    return posed(dynamics, state_of(dynamics, state, tolerances=tolerances), tolerances)


def posed(dynamics: Dynamics, state: State, tolerances: Tolerances) -> ContactProblem:
    """As :func:`contact_problem`, of a state that is checked.

    Parameters
    ----------
    dynamics, state, tolerances
        As there.

    Returns
    -------
    ContactProblem
    """
    terms = dynamics.terms(state.q, state.v, t=state.t)
    if (undefined := terms.undefined) is not None:
        raise ComputationError(
            f"{dynamics.name}: {undefined} has no finite value at {posture(dynamics, state.q)}: an expression of "
            f"the declaration is undefined there (division by zero, root or logarithm of a negative number), or "
            f"its value is beyond the range of floats"
        )
    if dynamics.rigid:
        check_consistency(dynamics, state, tolerances=tolerances)
    check_friction(dynamics, terms)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    pattern = activity_pattern(dynamics, terms, scales, sides=state.sides, tolerances=tolerances)
    for name, activity in zip(element_names(dynamics), pattern, strict=True):
        _check_takes_part(dynamics, name, activity, terms)
    if has_kinks(dynamics):
        check_surfaces(dynamics, state, terms.gap <= tolerances.gap * scales.gap)
    summands = summands_of(dynamics, terms, state.q, state.v, t=state.t)
    problem = pose(dynamics, terms, pattern, sides=state.sides, summands=summands)
    if problem.redundancy:
        check_regularity(dynamics, state)
    elif dynamics.rigid:
        check_accuracy(dynamics, state, terms)
    check_inertia(dynamics, state, terms, rank=tolerances.rank, is_invertible=is_finite(problem.G))
    _check_consistent(dynamics, state, problem, tolerances)
    return problem


_FEW = 4  # coordinates and directions: two planar contacts; of more, arrays are as quick


@attrs.frozen(eq=False)
class ContactNumbers:
    """The numbers of a contact problem along given directions, at one state or many.

    Attributes
    ----------
    a_free : array, (..., n)
    response : array, (..., n, r)
    G : array, (..., r, r)
    length, c, rounding : array, (..., r)
        As of :class:`ContactProblem`.
    """

    a_free: NDArray[Any]
    response: NDArray[Any]
    G: NDArray[Any]
    length: NDArray[Any]
    c: NDArray[Any]
    rounding: NDArray[Any]


def contact_numbers(
    motion: FreeMotion, W: NDArray[Any], zeta: NDArray[Any], remainders: NDArray[Any]
) -> ContactNumbers:
    """Contact accelerations ``W^T a + zeta`` as the forces along the columns of ``W`` make them.

    Parameters
    ----------
    motion : FreeMotion
    W : array, (..., n, r)
    zeta, remainders : array, (..., r)
        What velocities add to the accelerations, and the magnitudes of the terms that it is a sum of.

    Returns
    -------
    ContactNumbers
    """
    answered, along = answer(motion, W), W.swapaxes(-1, -2)
    c = applied(along, motion.a_free) + zeta
    rounding = SUM_ROUNDING * (applied(np.abs(along), motion.summands) + remainders)
    mobility = answered.G.diagonal(0, -2, -1)
    if not mobility.all():
        c = np.where((mobility == 0.0) & (np.abs(c) <= CANCELLED_ROUNDINGS * rounding), 0.0, c)
    return ContactNumbers(motion.a_free, answered.response, answered.G, answered.length, c, rounding)


def unconstrained_numbers(
    M: NDArray[Any],
    h: NDArray[Any],
    sizes: NDArray[Any],
    W: NDArray[Any],
    zeta: NDArray[Any],
    remainders: NDArray[Any],
) -> ContactNumbers | None:
    """The same without constraints at one state, by straight-line code.

    Parameters
    ----------
    M : array, (n, n)
    h, sizes : array, (n,)
        Forces, and magnitudes of their summands.
    W : array, (n, r)
    zeta, remainders : array, (r,)
        As of :func:`contact_numbers`.

    Returns
    -------
    ContactNumbers or None
        None at many states, of many numbers, and where elimination wants pivots: where masses are too unlike.
    """
    if W.ndim != 2 or not 0 < W.shape[1] <= _FEW or W.shape[0] > _FEW:
        return None
    found = _straight(*W.shape)(M, h, sizes, W, zeta, remainders)
    return None if found is None else ContactNumbers(*found)


@cache
def _straight(n: int, r: int) -> StraightLine:
    rng = np.random.default_rng(0)
    M = np.eye(n) + 1.0 / n**2  # symmetric, and its diagonal dominates: elimination takes the pivots in order
    return straight_line(
        lambda M, h, sizes, W, zeta, remainders: attrs.astuple(
            contact_numbers(unconstrained(M, h, sizes), W, zeta, remainders), recurse=False
        ),
        [M, *(rng.uniform(1.0, 2.0, shape) for shape in (n, n, (n, r), r, r))],
    )


def pose(
    dynamics: AbstractStructure,
    terms: Terms,
    activities: tuple[Activity, ...],
    *,
    sides: Mapping[str, tuple[float, ...]],
    summands: Summands | None = None,
) -> ContactProblem:
    """The contact problem of states that share one pattern of activities, at one state or many.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At the states.
    activities : tuple of Activity
        Of every force element, in order.
    sides : mapping of str to tuple of float
        Directions of slips that vanish, by force element.
    summands : Summands, optional
        Of the terms, for the rounding; without them nothing is taken to cancel within a term.

    Returns
    -------
    ContactProblem
    """
    rows = assemble(dynamics, terms, activities, sides=sides)
    W, zeta = rows.W, rows.zeta
    remainders = np.abs(zeta)
    if summands is not None:
        sized = attrs.evolve(terms, zeta_N=summands.zeta_N, zeta_T=summands.zeta_T, zeta_B=summands.zeta_B)
        remainders = assemble(dynamics, sized, activities, sides=sides).zeta
    given = (terms.M, terms.h, np.zeros(dynamics.n) if summands is None else summands.h, W, zeta, remainders)
    eliminated = dynamics.once(_frictionless)
    redundancy: Any = 0
    inconsistency = 0.0
    numbers = None if eliminated else unconstrained_numbers(*given)
    if numbers is None:
        motion = free_motion(terms, eliminated=eliminated, summands=summands)
        numbers = contact_numbers(motion, W, zeta, remainders)
        redundancy = motion.redundancy if np.ndim(motion.redundancy) else int(motion.redundancy)
        inconsistency = float(motion.inconsistency.max()) if eliminated else 0.0
    return ContactProblem(
        mechanism=dynamics.name,
        elements=rows.elements,
        names=element_names(dynamics),
        G=numbers.G,
        c=numbers.c,
        rounding=numbers.rounding,
        W=W,
        a_free=numbers.a_free,
        response_W=numbers.response,
        columns=dynamics.columns,
        redundancy=redundancy,
        inconsistency=inconsistency,
        terms=terms,
        length=numbers.length,
    )


def _frictionless(dynamics: AbstractStructure) -> tuple[int, ...]:
    """Rows of the rigid constraints without friction: they are eliminated, not carried."""
    frictional = {dynamics.rigid.index(name) for name in element_names(dynamics) if name in dynamics.rigid}
    return tuple(row for row in range(len(dynamics.rigid)) if row not in frictional)


def _check_takes_part(dynamics: Dynamics, name: str, activity: Activity, terms: Terms) -> None:
    if activity is Activity.PENETRATING:
        gap = float(terms.gap[dynamics.contacts.index(name)])
        raise StateError(f"contact {name!r} penetrates: gap = {gap:.6g}; pin gap.{name}=0 or a position with gap >= 0")
    if activity is Activity.APPROACHING:
        rate = float(terms.gap_dot[dynamics.contacts.index(name)])
        raise StateError(
            f"contact {name!r} is closed and approaches (gap_dot = {rate:.6g}): this is an impact, decided by an "
            f"impact law and not by accelerations; pin gap_dot.{name}=0 for a persistent contact"
        )


def _check_consistent(dynamics: Dynamics, state: State, problem: ContactProblem, tolerances: Tolerances) -> None:
    if problem.inconsistency == 0.0:
        return
    if are_contradictory(problem.inconsistency, problem.terms.zeta_B, problem.a_free, tolerances.sign):
        check_regularity(dynamics, state, lost=NEARLY)
        raise ComputationError(
            f"{dynamics.name}: the constraints {', '.join(dynamics.rigid)} contradict each other at "
            f"{posture(dynamics, state.q)}: no acceleration satisfies them (residual {problem.inconsistency:.3g})"
        )
