"""One step of time-stepping: velocities and impulses by one complementarity problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, element_names
from hybrid.contact.complementarity import contact_lcp
from hybrid.contact.impacts.impact import ImpactProblem
from hybrid.contact.impacts.impulse_lcp import MAX_COUNTED, in_doubt, solutions
from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind
from hybrid.contact.problem import ContactProblem, pose
from hybrid.contact.solutions import least_determinant, mobility_units
from hybrid.contact.table import force_elements
from hybrid.dynamics.arithmetic import decided_definiteness, is_lost
from hybrid.tolerances import AGREEING, CLEAR, LEAST, NOTHING, RANK, SUMMED, Tolerances

if TYPE_CHECKING:
    from hybrid.contact.complementarity import ContactLCP
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms

__all__ = ["VelocityStep", "velocity_step"]

Array = NDArray[np.float64]

_ROUNDING = SUMMED  # of the largest datum of a complementarity problem: zero
_SOFT = RANK  # of the largest mobility
_OBEYED = AGREEING  # of the contact velocities: what contacts of a jam may yield
_CRITICAL = "friction is beyond the critical one"
_UNJUDGED = "force elements have too many modes together to be judged"
_JAM = "velocities may hang on loads that a jam leaves open"
_FEW = 6  # unknowns, those of two planar contacts: of as many, a jam is looked at in every step
_IDLE = CLEAR  # of impulses that together move nothing: this one takes part
_DEPENDENT = NOTHING  # minors of dependent rows vanish up to rounding
_TURNS = 20  # of the pyramids in one step
_ALIGNED = NOTHING  # an angle; the friction force is off by its square, its direction by itself


@attrs.frozen(eq=False)
class VelocityStep:
    """What one step does to the velocities.

    Attributes
    ----------
    change : array, (n,)
        Of the velocities.
    impulse_N, impulse_T : array, (k,) and (p,)
        By contact and by tangential column.
    labels : dict of str to ContactMode
        What every force element does at the end of the step.
    touched : frozenset of str
        Contacts with a normal impulse.
    is_solved : bool
        False where no impulses were found that obey the laws: the other entries then lack them.
    elements : tuple of str
        Contacts and elements that took part.
    support : tuple of int
        Positive unknowns of the complementarity problem.
    doubt : str
        Why the problem of the step may have other solutions, with other velocities; empty where nothing says so.
        It is judged where a step does not go on as the one before; a jam of two force elements in every step.
    """

    change: Array
    impulse_N: Array
    impulse_T: Array
    labels: dict[str, ContactMode]
    touched: frozenset[str]
    is_solved: bool = True
    elements: tuple[str, ...] = ()
    support: tuple[int, ...] = ()
    doubt: str = ""


def velocity_step(
    dynamics: Dynamics,
    terms: Terms,
    v: Array,
    h: float,
    *,
    persisting: frozenset[str],
    tolerances: Tolerances,
    before: VelocityStep | None = None,
) -> VelocityStep:
    """Find the velocities after a step.

    Contacts that are closed at the terms' position take part at the velocity level, with Newton's restitution:
    ``0 <= P_N, gamma_N+ + e gamma_N- >= 0``, complementary, and Coulomb friction on impulses (Moreau 1988). One that
    was closed before still takes part, with ``gamma_N+ + max(g_N, 0)/h >= 0``: a curved path that carries it off the
    surface by a fraction of ``h**2`` is no detachment. Friction cones of spatial contacts are pyramids, turned until
    the friction lies on an edge, which is on the cone. Rough constraints hold at the end of the step.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At the middle of the step.
    v : array, (n,)
        Velocities before it.
    h : float
        Length of the step.
    persisting : frozenset of str
        Contacts that were closed at the end of the step before.
    tolerances : Tolerances
    before : VelocityStep, optional
        The step before: where the complementarity problem of this one has a solution with the same positive unknowns,
        that is taken; Lemke's method decides otherwise.

    Returns
    -------
    VelocityStep
    """
    activities = tuple(
        Activity.OPEN
        if name in dynamics.contacts and name not in persisting and terms.gap[dynamics.contacts.index(name)] > 0.0
        else (Activity.RESTING if dynamics.dimension(name) else Activity.FRICTIONLESS)
        for name in element_names(dynamics)
    )
    problem = pose(dynamics, terms, activities, sides={})
    smooth = h * problem.a_free
    labels = dict.fromkeys(dynamics.contacts, ContactMode.FREE)
    impulse_N, impulse_T = np.zeros(len(dynamics.contacts)), np.zeros(terms.slip.shape[-1])
    if not problem.elements:
        return VelocityStep(smooth, impulse_N, impulse_T, labels, frozenset())
    gamma, offset = _contact_velocities(dynamics, problem, terms, h, persisting)
    elements = tuple(element.name for element in problem.elements)
    likely = before.support if before is not None and before.elements == elements else None
    free = gamma + problem.W.T @ smooth
    sizes = np.abs(problem.W).T @ (np.abs(v) + np.abs(smooth)) + np.abs(gamma)
    found = _on_cones(problem, free, offset, h, likely, float(np.max(sizes + np.abs(offset))))
    P, support, doubt = (np.zeros(problem.n_rows), (), "") if found is None else found
    after = free + problem.G @ P
    touched = set()
    slow = tolerances.velocity * (sizes + np.abs(problem.G) @ np.abs(P))
    for element in problem.elements:
        # at rest all else may be rounding, but not what the friction at hand could stop
        rows = list(element.tangential)
        limit = element.friction * (h if element.normal is None else abs(P[element.normal]))
        slow[rows] += tolerances.velocity * limit * problem.G.diagonal()[rows]
        labels[element.name] = _label(element, P, after, slow, persists=element.name in persisting)
        if element.kind is ElementKind.CONTACT:
            impulse_N[dynamics.contacts.index(element.name)] = P[element.rows[0]]
            touched |= {element.name} if P[element.rows[0]] > 0.0 else set()
        if element.tangential:
            impulse_T[dynamics.columns[element.name]] = P[list(element.tangential)]
    change = smooth + problem.response_W @ P
    is_solved = found is not None
    return VelocityStep(change, impulse_N, impulse_T, labels, frozenset(touched), is_solved, elements, support, doubt)


def _contact_velocities(
    dynamics: Dynamics, problem: ContactProblem, terms: Terms, h: float, persisting: frozenset[str]
) -> tuple[Array, Array]:
    """Contact velocities before the step, and what is added to those after it before they must not be negative.

    A rough constraint holds at the end of the step: what its velocity changes by from the middle on is added, as its
    force causes that change, too, and friction acts on the whole of it.
    """
    names = {element.name for element in problem.elements}
    rows = [row for element in force_elements(dynamics) if element.name in names for row in element.rows]
    gamma, offset = np.array([row.velocity(terms) for row in rows]), np.zeros(len(rows))
    for element in problem.elements:
        if element.kind is ElementKind.BILATERAL:
            row = element.rows[0]
            offset[row] = h / 2 * (problem.c[row] - problem.W[:, row] @ problem.a_free)
        elif element.kind is ElementKind.CONTACT:
            index = dynamics.contacts.index(element.name)
            thrown_back = terms.restitution[index] * min(terms.gap_dot[index], 0.0)
            reach = max(terms.gap[index], 0.0) / h
            offset[element.rows[0]] = reach if element.name in persisting else thrown_back
    return gamma, offset


def _label(element: ActiveElement, P: Array, after: Array, slow: Array, *, persists: bool) -> ContactMode:
    """The mode of a force element from its impulse and its velocity after the step, zero up to what is ``slow``."""
    if element.kind is ElementKind.CONTACT:
        leaves = not persists and after[element.rows[0]] > slow[element.rows[0]]
        if leaves or not P[element.rows[0]] > 0.0:
            return ContactMode.FREE
    if not element.tangential:
        return ContactMode.CLOSED
    slip = after[list(element.tangential)]
    if np.max(np.abs(slip)) <= np.max(slow[list(element.tangential)]):
        return ContactMode.STICK
    if len(slip) == 2:
        return ContactMode.SLIDE
    return ContactMode.SLIDE_PLUS if slip[0] > 0.0 else ContactMode.SLIDE_MINUS


def _on_cones(
    problem: ContactProblem, free: Array, offset: Array, h: float, likely: tuple[int, ...] | None, size: float
) -> tuple[Array, tuple[int, ...], str] | None:
    """Impulses whose spatial friction lies on its circular cone, to the accuracy with which the axes are found.

    On the cone ``P_T`` is the nearest point of the disc ``mu P_N`` to ``P_T - r gamma_T`` for any ``r > 0`` (De Saxce
    and Feng 1998): the pyramid is turned until one edge has that direction. Once is enough where the contact answers
    alike in all directions.
    """
    spatial = [element for element in problem.elements if element.is_spatial_at_rest]
    likely_P = np.zeros(problem.n_rows)
    axes = {element.name: _axis(problem, element, likely_P, free) for element in spatial}
    found = _impulses(problem, free + offset, h, likely, axes, size)
    for _ in range(_TURNS):
        if found is None or not spatial:
            return found
        P, support, _ = found
        turned = {element.name: _axis(problem, element, P, free + problem.G @ P) for element in spatial}
        if all(abs(math.remainder(turned[name] - axes[name], 2 * math.pi)) <= _ALIGNED for name in turned):
            return found
        axes = turned
        found = _impulses(problem, free + offset, h, support, axes, size)
    return found


def _axis(problem: ContactProblem, element: ActiveElement, P: Array, gamma: Array) -> float:
    """Angle towards which the friction of a spatial contact tends."""
    rows = list(element.tangential)
    towards = P[rows] - gamma[rows] / np.linalg.norm(problem.G[np.ix_(rows, rows)], 2)
    return math.atan2(towards[1], towards[0])


def _impulses(
    problem: ContactProblem,
    free: Array,
    h: float,
    likely: tuple[int, ...] | None,
    axes: dict[str, float],
    size: float,
) -> tuple[Array, tuple[int, ...], str] | None:
    """Solve ``gamma+ = free + G P`` with unilateral contact and Coulomb's law; None where none are found.

    The conditions are those of the contact problem at the level of accelerations, a limit force acting for ``h``. The
    unit of impulses is that of the largest mobility: the pivots are next to friction coefficients, which have none.
    """
    unit = 1.0 / max(float(np.max(problem.G.diagonal())), LEAST)
    elements = tuple(
        attrs.evolve(element, friction=h * element.friction / unit) if element.kind is ElementKind.ELEMENT else element
        for element in problem.elements
    )
    asked = attrs.evolve(problem, elements=elements, G=unit * problem.G, c=free)
    posed = contact_lcp(asked, axes=axes)
    M, q = posed.question.M, posed.question.q
    z, doubt = None if likely is None else _with_support(M, q, list(likely)), ""
    if z is None or not _obeys(asked, posed.forces(z), size):
        doubt = _several(problem)
        z = _solution(asked, posed, size)
    P = posed.forces(z) if z is not None else _of_a_jam(asked, axes, size)
    if P is None:
        return None
    support = () if z is None else tuple(np.flatnonzero(z).tolist())
    is_looked_at = z is None or support != likely or posed.question.n <= _FEW
    return unit * P, support, _JAM if is_looked_at and _is_open(asked, posed, P) else doubt


def _solution(problem: ContactProblem, posed: ContactLCP, size: float) -> Array | None:
    """The first solution of a complementarity problem whose impulses obey the laws, and not by rounding alone."""
    return next((z for z in solutions(posed.question) if _obeys(problem, posed.forces(z), size)), None)


def _obeys(problem: ContactProblem, P: Array, size: float) -> bool:
    """Whether impulses obey the laws, up to what rounding leaves where velocities of a ``size`` cancel.

    A law says that an impulse is the nearest one allowed to ``P - gamma/G_ii``: what it is off by is a velocity, times
    ``G_ii``. The friction of a spatial contact obeys that of its pyramid, and is not looked at.
    """
    if is_lost(problem.G, P, size):
        return False
    off, sizes = (problem.c + problem.G @ P).tolist(), np.abs(P).tolist()
    mobility = problem.G.diagonal().tolist()
    moved = [unit * impulse for unit, impulse in zip(mobility, P.tolist(), strict=True)]
    for element in problem.elements:
        if element.kind is ElementKind.CONTACT:
            row = element.rows[0]
            off[row] = min(moved[row], off[row])
        if len(element.tangential) == 1:
            (row,) = element.tangential
            limit = float(element.friction) * (1.0 if element.normal is None else sizes[element.normal])
            most = limit * mobility[row]
            off[row] = moved[row] - min(max(moved[row] - off[row], -most), most)
            sizes[row] += limit  # forces count from their limits
        elif element.tangential:
            off[element.tangential[0]] = off[element.tangential[1]] = 0.0
    return bool((np.abs(off) <= _OBEYED * size + _ROUNDING * np.abs(problem.G) @ sizes).all())


def _is_open(problem: ContactProblem, posed: ContactLCP, P: Array) -> bool:
    """Whether a jam has other impulses ``P`` that obey the laws, with other velocities, or may but for rounding.

    Impulses that hold each other may grow together. Where one of them presses on what slides, its friction grows, too.
    Of many unknowns that is not looked at, and taken to be so where rough constraints or friction elements take part.
    """
    if decided_definiteness(problem.G, rank=_SOFT) > _SOFT:
        return False
    units = mobility_units(problem)
    sizes, ways = np.linalg.eigh(problem.G * np.outer(units, units))
    idle = np.abs(ways[:, sizes <= _SOFT * np.max(sizes, initial=0.0)]).max(axis=1, initial=0.0)
    if not any(element.normal is not None and idle[element.rows[0]] > _IDLE for element in problem.elements):
        return False
    if posed.question.n > MAX_COUNTED:
        return any(element.kind is not ElementKind.CONTACT for element in problem.elements)
    return bool(in_doubt(ImpactProblem(problem, problem.c, np.zeros(len(problem.elements))), posed, problem.c, P))


def _several(problem: ContactProblem) -> str:
    """Why a step may have several solutions for some load; empty where it has one for every load."""
    least = least_determinant(problem)
    return _UNJUDGED if least is None else _CRITICAL if least < -_DEPENDENT else ""


def _of_a_jam(problem: ContactProblem, axes: dict[str, float], size: float) -> Array | None:
    """Impulses of contacts that yield by a rounding unit; None if what they yield is more than rounding.

    Where a hinged body jams, its Delassus operator is singular, and rounding takes away all of the many solutions.
    """
    softness = _SOFT * float(np.max(np.abs(problem.G)))
    posed = contact_lcp(attrs.evolve(problem, G=problem.G + softness * np.eye(problem.n_rows)), axes=axes)
    z = _solution(problem, posed, size)
    return None if z is None else posed.forces(z)


def _with_support(M: Array, q: Array, support: list[int]) -> Array | None:
    """The solution of a complementarity problem with given positive unknowns; None if there is none."""
    z = np.zeros(len(q))
    try:
        z[support] = np.linalg.solve(M[support][:, support], -q[support])
    except np.linalg.LinAlgError:
        return None
    w = M @ z + q
    w[support] = 0.0
    slack = _ROUNDING * np.abs(q).max()
    return z if (z[support] > 0.0).all() and (w >= -slack).all() else None
