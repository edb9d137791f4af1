"""Who takes part in a contact problem: every force element open, resting, slipping, approaching, and its rows.

Contacts that touch: closed, and not separating already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.modes import ActiveElement
from hybrid.contact.table import ForceElement, force_elements
from hybrid.dynamics.arithmetic import FLOATS, arithmetic_of, unit_vectors
from hybrid.dynamics.scales import scales_of, without_rounding
from hybrid.errors import ComputationError, StateError
from hybrid.numbered import NumberedEnum
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.dynamics.arithmetic import Arithmetic
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.scales import Scales
    from hybrid.dynamics.state import State
    from hybrid.dynamics.structure import AbstractStructure


def closed_contacts(
    dynamics: Dynamics,
    state: State,
    *,
    wanted: str,
    tolerances: Tolerances = Tolerances(),
) -> NDArray[np.bool_]:
    """Which contacts are closed; at least one of them must not separate already.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    wanted : str
        What there is none of without such a contact, for the error: ``"impact"``.
    parameters, tolerances : optional

    Returns
    -------
    array of bool, (k,)

    Raises
    ------
    StateError
        Every contact is open or separates; with gap and rate of each.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> closed_contacts(ball, solve_state(ball, {"gap_dot.floor": -1}), wanted="impact").tolist()
    [True]
    """
    terms = dynamics.terms(state.q, state.v, t=state.t)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    closed = np.asarray(terms.gap <= tolerances.gap * scales.gap)
    if not (closed & (terms.gap_dot <= tolerances.velocity * scales.gap_dot)).any():
        gaps = ", ".join(
            f"gap.{name} = {gap:.6g}, gap_dot.{name} = {rate:.6g}"
            for name, gap, rate in zip(dynamics.contacts, terms.gap, terms.gap_dot, strict=True)
        )
        if not gaps:
            raise StateError(f"{dynamics.name} has no unilateral contact, so there is no {wanted}")
        first = dynamics.contacts[0]
        raise StateError(
            f"no contact is closed that does not separate already, so there is no {wanted}: {gaps}; pin gap.{first}=0 "
            f"and gap_dot.{first} not above 0"
        )
    return closed


class Activity(NumberedEnum):
    """How a force element takes part in the acceleration-level problem."""

    OPEN = 0
    FRICTIONLESS = 1
    RESTING = 2
    SLIPPING_PLUS = 3
    SLIPPING_MINUS = 4
    SLIPPING = 5
    APPROACHING = 6
    PENETRATING = 7
    TENDING = 8  # in space: a slip that vanishes from the direction that is given as its side


def element_names(dynamics: AbstractStructure) -> tuple[str, ...]:
    """Names of all possible force elements: contacts, friction elements, bilateral contacts with friction.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    tuple of str
        In the order of activities and mode labels.
    """
    return dynamics.once(_element_names)


def _element_names(dynamics: AbstractStructure) -> tuple[str, ...]:
    frictional = [name for name in dynamics.rigid if name in dynamics.columns]
    return (*dynamics.contacts, *dynamics.elements, *frictional)


def element_activities(
    dynamics: AbstractStructure,
    terms: Terms,
    scales: Scales,
    *,
    sides: Mapping[str, tuple[float, ...]],
    tolerances: Tolerances,
) -> NDArray[np.int8]:
    """Activity of every force element at every state: this alone decides what is closed and what is at rest.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.
    scales : Scales
        Sizes next to which gaps, their rates and slips count as zero.
    sides : mapping of str to tuple of float
        Directions of slips that vanish, by force element.
    tolerances : Tolerances
        ``gap`` and ``velocity``, relative to the scales.

    Returns
    -------
    array of int8, (..., number of force elements)
        Values of :class:`Activity`.
    """
    arrays = (terms.gap, terms.gap_dot, terms.slip, scales.gap, scales.gap_dot, scales.slip)
    kind = arithmetic_of(*arrays)
    found = _activities(dynamics, terms, scales, sides, tolerances, kind)
    if kind is FLOATS:
        return np.array(found, dtype=np.int8)
    activities = np.empty((*np.broadcast_shapes(*(array.shape[:-1] for array in arrays)), len(found)), dtype=np.int8)
    for index, activity in enumerate(found):
        activities[..., index] = activity
    return activities


def activity_pattern(
    dynamics: Dynamics, terms: Terms, scales: Scales, *, sides: Mapping[str, tuple[float, ...]], tolerances: Tolerances
) -> tuple[Activity, ...]:
    """Activity of every force element at one state, otherwise as :func:`element_activities`.

    Parameters
    ----------
    dynamics, terms, scales, sides, tolerances
        As of :func:`element_activities`, at one state.

    Returns
    -------
    tuple of Activity
    """
    return tuple(_activities(dynamics, terms, scales, sides, tolerances, FLOATS))


def _activities(
    dynamics: AbstractStructure,
    terms: Terms,
    scales: Scales,
    sides: Mapping[str, tuple[float, ...]],
    tolerances: Tolerances,
    kind: Arithmetic,
) -> list[Any]:
    arrays = (terms.gap, terms.gap_dot, terms.slip, scales.gap, scales.gap_dot, scales.slip)
    gaps, rates, slips, *sizes = map(kind.vector, arrays)
    found = []
    for index, name in enumerate(element_names(dynamics)):
        columns = dynamics.columns_of(name)
        activity = _tangential_activity(
            kind,
            [slips[column] for column in columns],
            [sizes[2][column] for column in columns],
            sides.get(name),
            tolerances,
        )
        if index < len(dynamics.contacts):
            moving = kind.chosen(rates[index] > 0, Activity.OPEN, Activity.APPROACHING)
            closed = kind.chosen(abs(rates[index]) <= tolerances.velocity * sizes[1][index], activity, moving)
            apart = kind.chosen(gaps[index] > 0, Activity.OPEN, Activity.PENETRATING)
            activity = kind.chosen(abs(gaps[index]) <= tolerances.gap * sizes[0][index], closed, apart)
        found.append(activity)
    return found


def with_limits(
    dynamics: Dynamics, terms: Terms, scales: Scales, *, sides: Mapping[str, tuple[float, ...]], tolerances: Tolerances
) -> Terms:
    """The terms with the sides in place of the spatial slips that vanish, where one array mixes them with others.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.
    scales : Scales
        Their ``slip`` says next to what a slip vanishes.
    sides : mapping of str to tuple of float
        Directions of slips that vanish, by force element; planar ones are left alone.
    tolerances : Tolerances

    Returns
    -------
    Terms
        With another ``slip``, (..., number of tangential columns); all else is shared.
    """
    slip = np.array(terms.slip)
    for name, side in sides.items():
        columns = dynamics.columns[name]
        if dynamics.dimension(name) == 2:
            moving = moves(slip[..., columns], scales.slip[..., columns], tolerances)
            slip[..., columns] = np.where(moving[..., None], slip[..., columns], side)
    return attrs.evolve(terms, slip=slip)


def moves(slip: NDArray[np.float64], scale: NDArray[np.float64], tolerances: Tolerances) -> NDArray[np.bool_]:
    """Where a slip is not zero next to its scale.

    Parameters
    ----------
    slip : array, (..., 1) or (..., 2)
        Slip velocity of one force element.
    scale : array, (..., 1) or (..., 2)
        Size of its components, in the same unit; the largest counts.
    tolerances : Tolerances
        Of which ``velocity`` is the share of the scale up to which a slip is zero.

    Returns
    -------
    array of bool, (...)
    """
    kind = arithmetic_of(slip, scale)
    return np.asanyarray(_moves(kind, kind.vector(slip), kind.vector(scale), tolerances))


def _moves(kind: Arithmetic, slip: Sequence[Any], scale: Sequence[Any], tolerances: Tolerances) -> Any:
    # the largest of its parts, as of the scale: the square of a small one is none
    return kind.largest([abs(value) for value in slip]) > tolerances.velocity * kind.largest(scale)


def tangential_activity(slip: NDArray[np.float64], scale: NDArray[np.float64], tolerances: Tolerances) -> Any:
    """What the slip tells of a force element that presses.

    Parameters
    ----------
    slip, scale : array, (..., d)
        Of one element with d tangential directions, none without friction.
    tolerances : Tolerances

    Returns
    -------
    Activity or array of int, (...)
    """
    kind = arithmetic_of(slip, scale)
    return _tangential_activity(kind, kind.vector(slip), kind.vector(scale), None, tolerances)


def _tangential_activity(
    kind: Arithmetic, slip: Sequence[Any], scale: Sequence[Any], side: tuple[float, ...] | None, tolerances: Tolerances
) -> Any:
    if not slip:
        return Activity.FRICTIONLESS
    slips = _moves(kind, slip, scale, tolerances)
    if len(slip) == 2:
        return kind.chosen(slips, Activity.SLIPPING, Activity.RESTING if side is None else Activity.TENDING)
    rest = Activity.RESTING
    if side is not None:
        rest = Activity.SLIPPING_PLUS if side[0] > 0 else Activity.SLIPPING_MINUS
    sliding = kind.chosen(slip[0] > 0, Activity.SLIPPING_PLUS, Activity.SLIPPING_MINUS)
    return kind.chosen(slips, sliding, rest)


_SLIP_SIGN = {Activity.SLIPPING_PLUS: 1.0, Activity.SLIPPING_MINUS: -1.0}


@attrs.frozen(eq=False)
class Rows:
    """Force elements that take part, with what their rows contribute to the contact accelerations ``W^T a + zeta``.

    Attributes
    ----------
    elements : tuple of ActiveElement
    W : array, (..., n, r)
        Force directions: normal row, then tangential rows, of each force element in turn.
    zeta : array, (..., r)
        Contact accelerations that velocities and moving guides cause.
    """

    elements: tuple[ActiveElement, ...]
    W: NDArray[np.float64]
    zeta: NDArray[np.float64]


def assemble(
    dynamics: AbstractStructure,
    terms: Terms,
    activities: tuple[Activity, ...],
    *,
    sides: Mapping[str, tuple[float, ...]],
) -> Rows:
    """Collect the rows of the force elements that are not open.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many, all with these activities.
    activities : tuple of Activity
        Of every force element, in order.
    sides : mapping of str to tuple of float
        Slip directions of contacts at vanishing slip.

    Returns
    -------
    Rows

    Raises
    ------
    ComputationError
        A slip in space that is said to be one is exactly zero, so that its friction has no direction.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": "pi/2", "phi_dot": 0, "slip.tip": 0})
    >>> rows = assemble(rod, rod.terms(state.q, state.v), (Activity.RESTING,), sides={})
    >>> [element.name for element in rows.elements], rows.W.shape
    (['tip'], (3, 2))
    """
    elements: list[ActiveElement] = []
    columns: list[NDArray[np.float64]] = []
    remainders: list[NDArray[np.float64]] = []
    for element, activity in zip(force_elements(dynamics), activities, strict=True):
        if activity is Activity.OPEN:
            continue
        first = len(columns) if element.has_normal else None
        columns += [row.direction(terms) for row in element.rows]
        remainders += [row.zeta(terms) for row in element.rows]
        direction = _direction(terms, element, activity, sides.get(element.name))
        friction, static = (
            _number(getattr(terms, element.friction_term(is_static=is_static))[..., element.index])
            for is_static in (False, True)
        )
        tangential = tuple(range(len(columns) - len(element.columns), len(columns)))
        elements.append(ActiveElement(element.name, element.kind, first, tangential, direction, friction, static))
    if not columns:
        return Rows((), np.zeros((dynamics.n, 0)), np.zeros(0))
    return Rows(tuple(elements), side_by_side(columns), side_by_side(remainders))


def contact_velocities(
    dynamics: AbstractStructure,
    terms: Terms,
    elements: Sequence[ActiveElement],
    W: NDArray[np.float64],
    v: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Normal and tangential velocity of every row, exactly zero where velocities cancel to within their rounding.

    Whether a contact approaches decides whether there is an impact at all, so its sign must not be left to a last bit.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state.
    elements : sequence of ActiveElement
        With all their rows, as of :func:`assemble`.
    W : array, (n, r)
        Their force directions.
    v : array, (n,)
        Generalised velocities of the state.

    Returns
    -------
    array, (r,)

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import contact_problem, derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1.1, "phi_dot": 0.7, "slip.tip": -2})
    >>> posed = contact_problem(rod, state)
    >>> contact_velocities(rod, posed.terms, posed.elements, posed.W, state.v).round(12).tolist()
    [0.0, -2.0]
    """
    names = {element.name for element in elements}
    rows = [row for element in force_elements(dynamics) if element.name in names for row in element.rows]
    return without_rounding(side_by_side([row.velocity(terms) for row in rows]), W, v)


def _number(value: NDArray[np.float64]) -> Any:
    """A plain float where there is one state."""
    return value.item() if type(value) is np.ndarray and value.ndim == 0 else value


def side_by_side(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Arrays stacked along a new last axis, some of which may have been evaluated for fewer states.

    Parameters
    ----------
    arrays : list of array
        With shapes that broadcast to one, (...).

    Returns
    -------
    array, (..., number of arrays)
    """
    shape = arrays[0].shape
    if len(shape) < 2 and all(type(array) is np.ndarray and array.shape == shape for array in arrays):
        return np.array(arrays).T
    return np.stack(np.broadcast_arrays(*arrays), axis=-1)


def _direction(
    terms: Terms, element: ForceElement, activity: Activity, side: tuple[float, ...] | None
) -> tuple[Any, ...] | None:
    if activity in _SLIP_SIGN:
        return (_SLIP_SIGN[activity],)
    if activity is Activity.TENDING and side is not None:
        direction = np.asarray(side)
    elif activity is Activity.SLIPPING:
        direction = terms.slip[..., list(element.columns)]
        if direction.ndim == 1 and not direction.any():  # of many states it is NaN there
            raise ComputationError(f"{element.name!r} is said to slip, and its slip is exactly zero: without direction")
    else:
        return None
    unit = unit_vectors(direction)
    return (_number(unit[..., 0]), _number(unit[..., 1]))
