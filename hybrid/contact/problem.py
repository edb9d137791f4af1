"""The contact problem at the acceleration level: who takes part, G and c; masses that no mechanism can have."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import explains_arguments
from hybrid.contact.activity import Activity, activity_pattern, assemble, element_names
from hybrid.contact.reduction import contact_numbers, free_motion, unconstrained_numbers
from hybrid.contact.table import check_friction
from hybrid.dynamics.arithmetic import applied, is_finite
from hybrid.dynamics.consistency import check_accuracy, check_consistency, check_regularity
from hybrid.dynamics.derive import bound
from hybrid.dynamics.pins import state_of
from hybrid.dynamics.scales import scales_of, summands_of
from hybrid.errors import ArgumentError, ComputationError, StateError
from hybrid.tolerances import NEARLY, Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hybrid.contact.modes import ActiveElement
    from hybrid.dynamics.derive import Dynamics, Terms, Values
    from hybrid.dynamics.scales import Summands
    from hybrid.dynamics.state import AbstractStructure, State


def mass_definiteness(terms: Terms) -> NDArray[np.float64]:
    """Smallest eigenvalue of the mass matrix, scaled to unit diagonal.

    Parameters
    ----------
    terms : Terms
        At one state or many.

    Returns
    -------
    array, (...)
        Zero or less where no kinetic energy is possible; NaN where the matrix is not finite.
    """
    diagonal = np.abs(np.diagonal(terms.M, axis1=-2, axis2=-1))
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = terms.M / (scale[..., :, None] * scale[..., None, :])
    finite: Any = np.isfinite(scaled).all(axis=(-2, -1))
    smallest = np.linalg.eigvalsh(np.where(finite[..., None, None], scaled, 0.0))[..., 0]
    return np.where(finite, smallest, np.nan)


def lacks_mass(dynamics: Dynamics) -> bool:
    """Whether the mass matrix is not positive definite at any of some postures, at the parameters that are bound.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    bool
        True of a declaration at which no verdict can be given, as with a negative mass; False where no posture that was
        tried has a finite mass matrix.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> [lacks_mass(derive(mechanisms.load("bouncing_ball")).at({"m": m})) for m in (1, -1)]
    [False, True]
    """
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (8, dynamics.n))  # a few, within a unit of the origin
    with np.errstate(all="ignore"):  # an expression may be undefined at some of them
        smallest = mass_definiteness(dynamics.terms(q, np.zeros_like(q)))
    known = smallest[np.isfinite(smallest)]
    return bool(known.size) and bool((known <= Tolerances().rank).all())


def least_mass(terms: Terms, *, rank: float) -> float:
    """Smallest eigenvalue of the scaled mass matrix at one state, or a lower bound of it that decides.

    Parameters
    ----------
    terms : Terms
        At one state.
    rank : float
        Eigenvalue above which a bound will do.

    Returns
    -------
    float
        As :func:`mass_definiteness` where it is not above ``rank``.
    """
    bound = _least_by_rows(terms.M.tolist())
    return bound if bound > rank else float(mass_definiteness(terms))


def _least_by_rows(M: list[list[float]]) -> float:
    """Gershgorin's lower bound of :func:`mass_definiteness`, which costs little; 1 for a diagonal matrix."""
    sizes = [math.sqrt(line[i]) if line[i] > 0.0 else 0.0 for i, line in enumerate(M)]
    if not all(sizes):
        return -math.inf
    shares = [[abs(value) / size for value, size in zip(line, sizes, strict=True)] for line in M]
    beside = [sum(line[:i]) + sum(line[i + 1 :]) for i, line in enumerate(shares)]
    return 1.0 - max(map(operator.truediv, beside, sizes), default=0.0)


def check_mass(dynamics: Dynamics, terms: Terms, *, rank: float) -> None:
    """Refuse arrays of states at which the mass matrix is indefinite; singular ones are left to the caller.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At many states.
    rank : float
        Scaled eigenvalue down to whose negative a matrix counts as singular.

    Returns
    -------
    None
        The mass matrix is nowhere indefinite.

    Raises
    ------
    StateError
        With the share of the states.
    """
    indefinite = mass_definiteness(terms) < -rank
    if np.any(indefinite):
        share = 100 * float(np.mean(indefinite))
        raise StateError(
            f"{dynamics.name}: the mass matrix is not positive definite at {share:.3g} % of the states: "
            f"check the ranges of masses and inertias"
        )


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
    smallest = least_mass(terms, rank=rank)
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

    @property
    def open(self) -> tuple[str, ...]:
        """Names of the force elements that take no part."""
        active = {element.name for element in self.elements}
        return tuple(name for name in self.names if name not in active)

    def acceleration(self, forces: NDArray[np.float64]) -> NDArray[np.float64]:
        """Generalised accelerations (..., n) under contact forces (..., r)."""
        return np.asanyarray(self.a_free + applied(self.response_W, forces) + 0.0)

    def element(self, name: str) -> ActiveElement:
        """The force element of a name; ArgumentError if it does not take part."""
        active = {element.name: element for element in self.elements}
        if name not in active:
            raise ArgumentError(f"{name!r} takes no part at this state, where these do: {', '.join(active) or 'none'}")
        return active[name]


@explains_arguments
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
    state = state_of(dynamics, state, tolerances=tolerances)
    terms = dynamics.terms(state.q, state.v, t=state.t)
    _check_finite(dynamics, state, terms)
    if dynamics.rigid:
        check_consistency(dynamics, state, tolerances=tolerances)
    check_friction(dynamics, terms)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    pattern = activity_pattern(dynamics, terms, scales, sides=state.sides, tolerances=tolerances)
    for name, activity in zip(element_names(dynamics), pattern, strict=True):
        _check_takes_part(dynamics, name, activity, terms)
    summands = summands_of(dynamics, terms, state.q, state.v, t=state.t)
    problem = pose(dynamics, terms, pattern, sides=state.sides, summands=summands)
    if problem.redundancy:
        check_regularity(dynamics, state)
    elif dynamics.rigid:
        check_accuracy(dynamics, state, terms)
    check_inertia(dynamics, state, terms, rank=tolerances.rank, is_invertible=is_finite(problem.G))
    _check_consistent(dynamics, state, terms, problem, tolerances)
    return problem


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


def posture(dynamics: Dynamics, q: NDArray[np.float64]) -> str:
    """Coordinates in words.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (n,)

    Returns
    -------
    str
        ``"x = 1, phi = 0.5"``.
    """
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(dynamics.mechanism.coordinates, q, strict=True))


def _check_finite(dynamics: Dynamics, state: State, terms: Terms) -> None:
    if (name := terms.undefined) is not None:
        raise ComputationError(
            f"{dynamics.name}: {name} has no finite value at {posture(dynamics, state.q)}: an expression of "
            f"the declaration is undefined there (division by zero, root or logarithm of a negative number), or "
            f"its value is beyond the range of floats"
        )


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


def _check_consistent(
    dynamics: Dynamics,
    state: State,
    terms: Terms,
    problem: ContactProblem,
    tolerances: Tolerances,
) -> None:
    if problem.inconsistency == 0.0:
        return
    size = 1.0 + float(np.max(np.abs(terms.zeta_B), initial=0.0)) + float(np.max(np.abs(problem.a_free), initial=0.0))
    if problem.inconsistency > tolerances.sign * 1e3 * size:
        check_regularity(dynamics, state, lost=NEARLY)
        raise ComputationError(
            f"{dynamics.name}: the constraints {', '.join(dynamics.rigid)} contradict each other at "
            f"{posture(dynamics, state.q)}: no acceleration satisfies them (residual {problem.inconsistency:.3g})"
        )
