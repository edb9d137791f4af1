"""Impulses of several contacts at once, as one complementarity problem.

Derivatives of joint impulses: the linear conditions that hold in their complementarity problem, solved in duals.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

import lcp
from hybrid.contact.complementarity import contact_lcp
from hybrid.contact.impacts.impact import Impulses
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.dynamics.arithmetic import is_lost
from hybrid.errors import ComputationError
from hybrid.expressions import NotDifferentiable, changes, duals, plain
from hybrid.tolerances import AGREEING, LEAST, NOTHING, RANK, ROUNDING
from lcp.polytopes import polytope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.contact.complementarity import ContactLCP
    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = [
    "MAX_COUNTED",
    "further_solutions",
    "impulse_question",
    "in_doubt",
    "joint_duals",
    "joint_impulse",
    "other_impulses",
    "solutions",
    "solved_impulses",
]


Array = NDArray[np.float64]
Condition = tuple[Any, Any]  # a row (r,) and a number: row . P = number


def joint_duals(problem: ImpactProblem, gamma: NDArray[Any], preload: NDArray[Any], P: Array) -> NDArray[Any]:
    """Impulses that solve a joint complementarity problem, with the derivatives of its data.

    Parameters
    ----------
    problem : ImpactProblem
    gamma : array, (r,)
        Contact velocities, shifted as in the law.
    preload : array, (number of force elements,)
        Given normal impulses.
    P : array, (r,)
        The impulses without derivatives.

    Returns
    -------
    array of Dual, (r,)
        With one linear piece for each choice of conditions where a contact is on the edge of two.

    Raises
    ------
    NotDifferentiable
        Friction of a constraint is on its edge, or one of several contacts is spatial with friction.
    """
    at = _Solved.of(problem, gamma, preload, P)
    if any(element.is_spatial_at_rest for element in problem.elements):
        raise NotDifferentiable("an impact of several contacts at once, one of them spatial with friction")
    normals = [at.normals(place, element) for place, element in enumerate(problem.elements)]
    frictions = [at.frictions(place, element) for place, element in enumerate(problem.elements) if element.tangential]
    systems: list[_System] = []
    for pressing in product(*normals):
        found = [_System.of((*pressing, *friction)) for friction in product(*frictions)]
        # impulses of contacts that hold each other are at the edge of a cone: without it, conditions repeat each other
        systems += [system for system in found if system.is_regular] or found
    pieces = np.broadcast_arrays(*(system.inverse @ changes(system.b - system.A @ P) for system in systems))
    return duals(P, np.moveaxis(np.stack(pieces) if len(pieces) > 1 else pieces[0], -2, 0))


@attrs.frozen(eq=False)
class _System:
    """Conditions ``A P = b``, with the inverse of ``A``: the least impulses where conditions repeat each other."""

    A: NDArray[Any]
    b: NDArray[Any]
    inverse: Array
    is_regular: bool

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> _System:
        A, b = np.array([row for row, _ in conditions]), np.array([number for _, number in conditions])
        scale = np.max(np.abs(plain(A)), axis=1, keepdims=True)
        scale = np.where(scale > 0.0, scale, 1.0)
        scaled = plain(A) / scale
        is_regular = bool(np.linalg.matrix_rank(scaled, rtol=RANK) == len(scaled))
        return cls(A, b, np.linalg.pinv(scaled, rcond=RANK) / scale.T, is_regular)


@attrs.frozen(eq=False)
class _Solved:
    """A joint problem with its solution, and what counts as zero of impulses and of velocities."""

    problem: ImpactProblem
    gamma: NDArray[Any]
    preload: NDArray[Any]
    P: Array
    after: Array
    force: float
    speed: float

    @classmethod
    def of(cls, problem: ImpactProblem, gamma: NDArray[Any], preload: NDArray[Any], P: Array) -> _Solved:
        after = plain(gamma) + problem.plain.G @ P
        force = NOTHING * max(float(np.max(np.abs(P), initial=0.0)), LEAST)
        speed = NOTHING * max(float(np.max(np.abs(problem.plain.gamma), initial=0.0)), LEAST)
        return cls(problem, gamma, preload, P, after, force, speed)

    def normals(self, place: int, element: ActiveElement) -> list[Condition]:
        """What may hold of the normal impulse of a element: two conditions where it neither presses nor separates."""
        row = element.rows[0]
        if element.kind is not ElementKind.CONTACT:
            return [self.still(row)]
        pressing = self.P[row] - float(plain(self.preload[place])) > self.force
        apart = self.after[row] > self.speed
        held, given = self.still(row), self.impulse(row, self.preload[place])
        return [held] if pressing and not apart else [given] if apart and not pressing else [held, given]

    def still(self, row: int) -> Condition:
        """No velocity at the end."""
        return self.problem.G[row], -self.gamma[row]

    def impulse(self, row: int, number: Any = 0.0) -> Condition:
        """An impulse that is given."""
        return np.eye(len(self.P))[row], number

    def coulomb(self, place: int, element: ActiveElement, sign: float) -> Condition:
        """Friction at its limit, ``P_T + sign mu P_N = 0``."""
        unit = np.eye(len(self.P))
        return unit[element.tangential[0]] + sign * self.problem.friction[place] * unit[element.rows[0]], 0.0

    def frictions(self, place: int, element: ActiveElement) -> list[Condition]:
        """What may hold of the friction of a force element; two conditions where it just sticks."""
        if element.kind is not ElementKind.CONTACT:
            return [self.constraint_friction(place, element)]
        row, normal = element.tangential[0], self.P[element.rows[0]]
        limit = float(self.problem.plain.friction[place]) * normal
        if normal <= self.force:
            return [self.impulse(row)]
        if abs(self.after[row]) > self.speed:
            return [self.coulomb(place, element, float(np.sign(self.after[row])))]
        if limit <= self.force:
            return [self.impulse(row)]
        if abs(self.P[row]) < limit - self.force:
            return [self.still(row)]
        return [self.still(row), self.coulomb(place, element, -float(np.sign(self.P[row])))]

    def constraint_friction(self, place: int, element: ActiveElement) -> Condition:
        """That of a rigid constraint, in proportion to the size of its impulse, which may have either sign."""
        row, normal = element.tangential[0], self.P[element.rows[0]]
        limit = float(self.problem.plain.friction[place]) * abs(normal)
        if np.max(np.abs(self.problem.plain.G @ self.P)) <= self.speed:
            return self.impulse(row)  # nothing happens
        stops = abs(self.after[row]) <= self.speed
        if stops and abs(self.P[row]) < limit - self.force:
            return self.still(row)
        if stops or abs(normal) <= self.force:
            raise NotDifferentiable(f"friction of the constraint {element.name!r} is on its edge in the impact")
        return self.coulomb(place, element, float(np.sign(self.after[row]) * np.sign(normal)))

    def shares(self) -> tuple[list[Array], list[Array]]:
        """Rows that vanish, and rows that are not negative, at all impulses that leave the same velocities."""
        unit, vanishing, bounds = np.eye(len(self.P)), list(self.problem.plain.G), list[Array]()
        for element, friction in zip(self.problem.elements, self.problem.plain.friction.tolist(), strict=True):
            normal = element.rows[0]
            # the impulse of a constraint may have either sign, and keeps the one that it has
            pressing = unit[normal] if element.kind is ElementKind.CONTACT else np.sign(self.P[normal]) * unit[normal]
            bounds.append(pressing)
            vanishing += [pressing] if self.after[normal] > self.speed else []
            for row, sign in product(element.tangential, (1.0, -1.0)):
                within = friction * pressing + sign * unit[row]
                (vanishing if sign * self.after[row] > self.speed else bounds).append(within)
        return vanishing, bounds


MAX_COUNTED = 9
"""Unknowns of a complementarity problem of which all solutions are found."""
_SAME = AGREEING  # of the contact velocities
_EDGE = ROUNDING  # of the largest number of a kind: above rounding, far below what tells two solutions apart
_LOST = NOTHING  # of the contact velocities: more than rounding in a problem whose answer has digits
_EPSILON = float(np.finfo(float).eps)
_LAWS = "satisfy the impact law and Coulomb's law together"


def joint_impulse(
    problem: ImpactProblem, gamma: NDArray[np.float64], *, preload: NDArray[np.float64] | None = None
) -> Impulses:
    """Impulses that make every contact velocity complementary to its impulse.

    ``gamma_N + (G P)_N >= 0`` complementary to ``P_N - preload >= 0``, and the Coulomb law between the tangential
    impulse and the final tangential velocity (Moreau 1988; Pfeiffer and Glocker 1996, section 8.2).

    Where the data are duals, so are the impulses: by the conditions that hold.

    Parameters
    ----------
    problem : ImpactProblem
    gamma : array, (r,)
        Contact velocities; a law of restitution shifts their normal part.
    preload : array, (number of force elements,), optional
        Normal impulses that are given; friction acts on the total.

    Returns
    -------
    Impulses
        Without phases.

    Raises
    ------
    ComputationError
        No solution was found.
    """
    given = np.zeros(len(problem.elements)) if preload is None else preload
    if object in (problem.G.dtype, gamma.dtype, given.dtype):
        known = joint_impulse(problem.plain, plain(gamma), preload=plain(given))
        return attrs.evolve(known, values=joint_duals(problem, gamma, given, known.values))
    asked = impulse_question(problem, gamma, given)
    nothing_happens = not given.any() and _is_free(problem, gamma)
    values = np.zeros(len(gamma)) if nothing_happens else solved_impulses(problem, gamma, asked)
    said = (asked.note,) if asked.note else ()
    return Impulses(values, (), warnings=(*said, *in_doubt(problem, asked, gamma, values)))


def solved_impulses(problem: ImpactProblem, gamma: NDArray[np.float64], asked: ContactLCP) -> NDArray[np.float64]:
    """The first impulses of a question that more than rounding decides.

    Where the Delassus operator is singular but for rounding, as where a hinged body jams, huge impulses solve it, too.

    Parameters
    ----------
    problem : ImpactProblem
    gamma : array, (r,)
        Contact velocities before.
    asked : ContactLCP

    Returns
    -------
    array, (r,)

    Raises
    ------
    ComputationError
        There are none, or none were found.
    """
    size, lost = _size(problem, gamma), ""
    for z in solutions(asked.question):
        P = asked.forces(z)
        if not is_lost(problem.G, P, size):
            return P
        lost = ", but for impulses so large that rounding decides what they do"
    if asked.note or asked.question.n > MAX_COUNTED:  # only Lemke's method was tried, or less friction than there is
        how = f", {asked.note}" if asked.note else ""
        raise ComputationError(f"no impulses were found that {_LAWS}{lost}{how}; that there are none is not shown")
    raise ComputationError(f"no impulses {_LAWS}{lost}")


def _is_free(problem: ImpactProblem, gamma: NDArray[np.float64]) -> bool:
    """True if no impulses at all are a solution: no contact approaches, and no bilateral one moves."""
    normal = gamma[problem.normals]
    is_contact = np.array([element.kind is ElementKind.CONTACT for element in problem.elements])
    return bool(np.all((normal == 0.0) | (is_contact & (normal > 0.0))))


def impulse_question(problem: ImpactProblem, gamma: NDArray[np.float64], preload: NDArray[np.float64]) -> ContactLCP:
    """Write the complementarity problem of the impulses.

    Parameters
    ----------
    problem : ImpactProblem
    gamma : array, (r,)
        Contact velocities before.
    preload : array, (number of force elements,)
        Normal impulses that are given.

    Returns
    -------
    ContactLCP
        Spatial friction cones are replaced by pyramids, and its note says so.
    """
    given = np.zeros(len(gamma))
    given[problem.normals] = preload
    resting = [element for element in problem.elements if element.is_resting]
    shift, width = given.copy(), 1.0
    if not any(element.is_spatial_at_rest for element in resting):
        # P = preload + P', and P_R = P_T + mu (preload + P'): the origin of a planar cone is its right edge
        width = 2.0
        for element in resting:
            shift[element.tangential[0]] = -float(element.friction) * given[element.rows[0]]
    # velocities in place of accelerations: the same problem, with impulses in units in which the operator is about 1
    units = problem.units
    posed = attrs.evolve(problem.posed, G=problem.G * np.outer(units, units), c=units * (gamma + problem.G @ shift))
    reduced = contact_lcp(posed)
    q = np.array(reduced.question.q)
    # unknowns that are no forces: the width of each cone, behind those of bilateral contacts without friction
    no_forces = np.flatnonzero(~reduced.force.any(axis=0))
    for row, element in zip(no_forces[len(no_forces) - len(resting) :], resting, strict=True):
        q[row] += width * float(element.friction) * given[element.rows[0]] / units[element.rows[0]]
    force, force_0 = units[:, None] * reduced.force, units * reduced.force_0 + shift
    return attrs.evolve(reduced, question=lcp.LCP(reduced.question.M, q), force=force, force_0=force_0)


def solutions(question: lcp.LCP) -> Iterator[NDArray[np.float64]]:
    """What Lemke's method finds, then all solutions, where there are few unknowns.

    Parameters
    ----------
    question : lcp.LCP

    Yields
    ------
    array, (n,)
        ``z``.
    """
    solution = lcp.Lemke().solve(question)
    if solution.status is lcp.Status.SOLVED:
        yield solution.z
    if question.n <= MAX_COUNTED:
        yield from lcp.enumerate_solutions(question).points


def _size(problem: ImpactProblem, gamma: NDArray[np.float64]) -> float:
    """Of the contact velocities."""
    return float(np.max(np.abs([gamma, problem.gamma]), initial=0.0))


def in_doubt(problem: ImpactProblem, asked: ContactLCP, gamma: Array, values: Array) -> tuple[str, ...]:
    """A warning if other impulses of the same law give other velocities, or would but for rounding.

    Parameters
    ----------
    problem : ImpactProblem
    asked : ContactLCP
        Its complementarity problem.
    gamma, values : array, (r,)
        Contact velocities before, and impulses that solve it.

    Returns
    -------
    tuple of str
    """
    M, q, size = asked.question.M, asked.question.q, _size(problem, gamma)
    if np.min(np.linalg.eigvalsh(M + M.T)) > _EDGE * np.max(np.abs(M)):
        return ()  # positive definite: one solution, whatever q
    if asked.question.n > MAX_COUNTED:
        return ("whether the law has further solutions was not looked for: there are too many contacts",)
    hides = len(values) * (doubt := _doubt(problem)) > _EDGE  # sums of as many terms
    if count := _others(problem, asked, asked.question, values, size):
        return further_solutions(count, "at least " if hides else "")
    # solutions that meet at the edge of a cone, or need the impulses of a singular G, come and go with the last digits
    nudge = max(_EDGE, doubt) * float(np.max(np.abs(q), initial=0.0)) * np.sqrt(2.0 + np.arange(len(q)))
    near = (q + nudge, q - nudge) if doubt <= _LOST else ()
    if any(_others(problem, asked, lcp.LCP(M, moved), values, size) for moved in near):
        return ("the law may have a further solution with other velocities: rounding decides whether it exists",)
    return ("whether the law has further solutions is not known: rounding decides",) if hides else ()


def _doubt(problem: ImpactProblem) -> float:
    """What rounding moves velocities, relatively, out of the range of a singular G with friction; zero otherwise."""
    sizes = np.linalg.eigvalsh(problem.G * np.outer(problem.units, problem.units))
    first = int(np.sum(sizes <= RANK * sizes[-1]))
    return _EPSILON * float(sizes[-1] / sizes[first]) if 0 < first < len(sizes) and problem.friction.any() else 0.0


def other_impulses(problem: ImpactProblem, gamma: NDArray[np.float64], values: NDArray[np.float64]) -> list[Any]:
    """Further impulses of the same problem with other normal parts that leave the same velocities.

    As velocities tell which contacts separate or slip, all conditions are linear: the impulses make a polytope.

    Parameters
    ----------
    problem : ImpactProblem
        Of plain numbers.
    gamma : array, (r,)
        Contact velocities before.
    values : array, (r,)
        Impulses that solve it.

    Returns
    -------
    list of array, (r,)
        Vertices, and points on unbounded edges; none where impulses follow from velocities. Friction of spatial
        contacts, and of many, is not looked at.
    """
    if len(gamma) > MAX_COUNTED or any(element.is_spatial_at_rest for element in problem.elements):
        return []
    units = problem.units
    vanishing, bounds = _Solved.of(problem, gamma, np.zeros(len(problem.elements)), values).shares()
    at = np.maximum(np.array(bounds) @ values, 0.0)  # but for rounding
    found = polytope(bounds * units, at, equalities=(vanishing * units, np.zeros(len(vanishing))))
    if found is None:
        return []
    far = found.vertices[0] + found.rays * np.max(np.abs(values / units))
    ways = np.vstack([found.vertices, far]) * units
    return [values + way for way in ways if np.max(np.abs(way[problem.normals])) > _SAME * np.max(np.abs(values))]


def _others(
    problem: ImpactProblem, asked: ContactLCP, question: lcp.LCP, values: NDArray[np.float64], size: float
) -> int:
    """How many other velocities than ``values`` give the solutions of a question next to the one asked."""
    known = [np.zeros(len(values))]  # changes of velocities: several vertices of a continuum may share one
    for way in (asked.forces(z) - values for z in lcp.enumerate_solutions(question).points):
        change = problem.G @ way
        is_new = np.min(np.max(np.abs(np.array(known) - change), axis=1)) > _SAME * size
        known += [change] if is_new and not is_lost(problem.G, way, size) else []
    return len(known) - 1


def further_solutions(count: int, least: str = "") -> tuple[str, ...]:
    """Warning that a law has solutions besides the one it answers.

    Parameters
    ----------
    count : int
        Number of those with other velocities.
    least : str, optional

    Returns
    -------
    tuple of str
        One sentence, or none for 0.
    """
    plural = "" if count == 1 else "s"
    return (f"the law has {least}{count} further solution{plural} with other velocities",) if count else ()
