"""The search through the cover: which parts hold no solution, which hold one, and what is left open."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.conditions import conditions
from hybrid.contact.cover.parts import PRESSING, halves, has_disc, options, sliding_along, sticking, unsettled
from hybrid.contact.cover.programs import UNCERTAIN, ForceBound, PosedPart, Programs
from hybrid.contact.cover.roots import SlipRoot, find_root, holds_at_most_one, is_proved
from hybrid.contact.modes import ContactMode, Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.contact.conditions import Scale
    from hybrid.contact.cover.parts import CoverPart
    from hybrid.contact.modes import ActiveElement
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = [
    "CoverNode",
    "ProvedSolution",
    "bounds_alike",
    "fails",
    "onward",
    "posed",
    "row_of",
    "search_cover",
    "sign_limit",
]

Array = NDArray[np.float64]
Parts = tuple["CoverPart", ...]

_FINER = (16, 64, 256)  # facets of the polygon in the disc, where a coarser one does not decide that a contact sticks
_NARROWEST = 1e-3  # rad: sectors are not halved further


@attrs.frozen(eq=False)
class ProvedSolution:
    """A solution of Coulomb's law that is proved to exist.

    Attributes
    ----------
    parts : tuple of CoverPart
        With conditions that suffice: sticking in a polygon inside of the disc, slip in one direction.
    forces : array, (r,)
        Scaled.
    slacks : array, (m,)
        Of the inequalities of the parts, scaled; the least is above the tolerance.
    """

    parts: Parts
    forces: Array
    slacks: Array


@attrs.frozen(eq=False)
class CoverNode:
    """A part of the cover and why it needs no further look, or its division.

    Attributes
    ----------
    parts : tuple of CoverPart
    reason : {"divided", "empty", "still", "stays", "single", "open"}
        Divided into the children; without forces; with no acceleration of the contacts that were to slip, so that its
        solutions are those of sticking; with one acceleration; with at most one solution, which is known; not decided.
    children : tuple of CoverNode
    bounds : tuple of ForceBound
        That prove it.
    solution : ProvedSolution or None
        The only one that it can have; None also where that does not meet the inequalities.
    root : SlipRoot or None
        Of a part with at most one solution of its equations.
    """

    parts: Parts
    reason: Literal["divided", "empty", "still", "stays", "single", "open"]
    children: tuple[CoverNode, ...] = ()
    bounds: tuple[ForceBound, ...] = ()
    solution: ProvedSolution | None = None
    root: SlipRoot | None = None

    def leaves(self) -> Iterator[CoverNode]:
        """All parts that are not divided.

        Returns
        -------
        iterator of CoverNode
        """
        if self.reason != "divided":
            yield self
        for child in self.children:
            yield from child.leaves()


def search_cover(
    problem: ContactProblem, scale: Scale, tolerances: Tolerances, *, budget: float, programs: Programs
) -> CoverNode:
    """Divide the cover until every part is refuted or solved, or the time is over.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    scale : Scale
    tolerances : Tolerances
    budget : float
        Seconds of processor time; what is not looked at then is left open.
    programs : Programs

    Returns
    -------
    CoverNode
        Of all solutions.
    """
    search = _Search(problem, scale, tolerances, programs, time.thread_time() + budget)
    return search.settled(search.explored(tuple(unsettled(element) for element in problem.elements)))


@attrs.frozen(eq=False)
class _Search:
    problem: ContactProblem
    scale: Scale
    tolerances: Tolerances
    programs: Programs
    end: float
    found: list[ProvedSolution] = attrs.field(factory=list)
    blocks: dict[CoverPart, PosedPart] = attrs.field(factory=dict)
    choices: dict[ActiveElement, tuple[CoverPart, ...]] = attrs.field(factory=dict)

    def explored(self, parts: Parts) -> CoverNode:
        if time.thread_time() > self.end:
            return CoverNode(parts, "open")
        given = self._posed(parts)
        least = self.programs.least_slack(given)
        if least.value < -self._limit_at(least):
            return CoverNode(parts, "empty", bounds=(least,))
        place = next((k for k, part in enumerate(parts) if part.label is None), None)
        if place is not None:
            return self._divided(parts, place, self._options(parts[place].element))
        if any(part.is_sector for part in parts):
            return self._slipping(parts, given)
        return self._resting(parts)

    def _limit_at(self, bound: ForceBound) -> float:
        return sign_limit(bound.forces, self.scale, self.tolerances)

    def _divided(self, parts: Parts, place: int, choices: Sequence[CoverPart]) -> CoverNode:
        divided = (self.explored((*parts[:place], choice, *parts[place + 1 :])) for choice in choices)
        return CoverNode(parts, "divided", tuple(divided))

    def _options(self, element: ActiveElement) -> tuple[CoverPart, ...]:
        """The parts of an element; no sector has its edge where the contact would begin to slip without forces."""
        if element not in self.choices:
            rows = list(element.tangential)
            ahead = float(np.arctan2(*self.problem.c[rows][::-1])) if len(rows) == 2 else 0.0
            self.choices[element] = options(element, ahead)
        return self.choices[element]

    def _posed(self, parts: Sequence[CoverPart]) -> PosedPart:
        for part in parts:
            if part not in self.blocks:
                self.blocks[part] = posed(self.problem, (part,), self.scale)
        return PosedPart.joined([self.blocks[part] for part in parts])

    def _resting(self, parts: Parts) -> CoverNode:
        """A part of linear modes: its solution, if its inequalities hold by more than the tolerance."""
        for n_facets in _FINER if any(_is_disc(part) for part in parts) else _FINER[:1]:
            inner = tuple(_inside(part, n_facets) for part in parts)
            given = self._posed(inner)
            least = self.programs.least_slack(given)
            if least.forces is not None and least.value > self._limit_at(least):
                forces = given.polished(least.forces)
                solution = ProvedSolution(inner, forces, given.slacks(forces))
                stays = self._alike(parts, solution)
                if stays is None:
                    return CoverNode(parts, "open")
                self.found.append(solution)
                return CoverNode(parts, "stays", bounds=stays, solution=solution)
        return CoverNode(parts, "open")

    def _slipping(self, parts: Parts, given: PosedPart) -> CoverNode:
        function, constant = _in_forces(self.problem, onward(parts, self.scale), self.scale)
        bound = self.programs.greatest(given, function)
        if bound.value + constant <= self._limit_at(bound):
            return CoverNode(parts, "still", bounds=(bound,))
        root = find_root(self.problem, parts, self.scale)
        if root is not None and holds_at_most_one(self.problem, parts, self.scale, root):
            single = self._single(parts, root)
            if single is not None:
                return single
        width, place = max((_width(part), place) for place, part in enumerate(parts))
        if width < _NARROWEST:
            return CoverNode(parts, "open")
        return self._divided(parts, place, halves(parts[place]))

    def _single(self, parts: Parts, root: SlipRoot) -> CoverNode | None:
        """A part whose equations have no solution but a known one: whether that meets the inequalities."""
        angles = iter(root.angles)
        exact = tuple(
            sliding_along(part.element, next(angles)) if part.is_sector else _inside(part, _FINER[-1]) for part in parts
        )
        given = conditions(self.problem, exact, self.scale)
        slacks = given.A @ root.forces + given.b
        limit = sign_limit(root.forces, self.scale, self.tolerances)
        if np.min(slacks) < -limit and fails(self.problem, parts, self.scale, root, limit):
            return CoverNode(parts, "single", root=root)
        if np.min(slacks) <= limit or not is_proved(self.problem, parts, self.scale, root):
            return None
        solution = ProvedSolution(exact, root.forces, slacks)
        if not any(self._is_same(solution, other) for other in self.found):
            self.found.append(solution)
        return CoverNode(parts, "single", solution=solution, root=root)

    def _alike(self, parts: Parts, solution: ProvedSolution) -> tuple[ForceBound, ...] | None:
        return bounds_alike(self.problem, self._posed(parts), solution, self.scale, self.tolerances, self.programs)

    def _is_same(self, first: ProvedSolution, second: ProvedSolution) -> bool:
        size = max(float(np.max(np.abs(item.forces), initial=0.0)) for item in (first, second))
        difference = np.max(np.abs(first.forces - second.forces), initial=0.0)
        return bool(difference <= self.tolerances.merge * (1.0 + size))

    def settled(self, node: CoverNode) -> CoverNode:
        """With the open parts decided whose accelerations are all those of a solution that was found elsewhere."""
        if node.reason == "divided":
            return attrs.evolve(node, children=tuple(self.settled(child) for child in node.children))
        if node.reason != "open" or any(part.label is None for part in node.parts):
            return node
        for solution in self.found:
            if time.thread_time() > self.end:
                return node
            bounds = self._alike(node.parts, solution)
            if bounds is not None:
                return attrs.evolve(node, reason="stays", bounds=bounds, solution=solution)
        return node


def _in_forces(problem: ContactProblem, row: Row, scale: Scale) -> tuple[Array, float]:
    """A function of the accelerations as one of scaled forces, and its constant."""
    function, constant = np.zeros(problem.n_rows), 0.0
    for index, factor in row.alpha.items():
        function = function + factor * problem.G[index] / scale.row
        constant += factor * float(problem.c[index]) / float(scale.size)
    return function, constant


def bounds_alike(
    problem: ContactProblem,
    given: PosedPart,
    solution: ProvedSolution,
    scale: Scale,
    tolerances: Tolerances,
    programs: Programs,
) -> tuple[ForceBound, ...] | None:
    """Bounds which prove that all forces of a part give the accelerations of a solution, in all rows.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    given : PosedPart
    solution : ProvedSolution
    scale : Scale
    tolerances : Tolerances
    programs : Programs

    Returns
    -------
    tuple of ForceBound, or None
        None where some forces of the part may give others.
    """
    bounds = []
    for index in range(problem.n_rows):
        function, _ = _in_forces(problem, row_of(index, scale), scale)
        for sign in (1.0, -1.0):
            bound = programs.greatest(given, sign * function)
            limit = sign_limit(bound.forces, scale, tolerances)
            if not bound.value <= sign * float(function @ solution.forces) + limit:
                return None
            bounds.append(bound)
    return tuple(bounds)


def sign_limit(forces: Array | None, scale: Scale, tolerances: Tolerances) -> float:
    """Scaled slack below which rounding, or what the coefficients may be off by, decides.

    Parameters
    ----------
    forces : array, (r,), or None
        Scaled forces at which it is taken.
    scale : Scale
    tolerances : Tolerances
        Of which ``sign`` is the least limit.

    Returns
    -------
    float
    """
    size = 0.0 if forces is None else float(np.sum(np.abs(forces)))
    return max(tolerances.sign, (float(scale.lost) + 4 * UNCERTAIN) * size)


def posed(problem: ContactProblem, parts: Sequence[CoverPart], scale: Scale) -> PosedPart:
    """The scaled conditions of parts, for linear programs.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    parts : sequence of CoverPart
    scale : Scale

    Returns
    -------
    PosedPart
    """
    equations = [row for part in parts for row in part.equations]
    inequalities = [row for part in parts for row in part.inequalities]
    pressing = [(k, *row.beta) for k, row in enumerate(inequalities) if row.label == PRESSING]
    return PosedPart(
        conditions(problem, parts, scale),
        np.array([bool(row.alpha) for row in equations], dtype=bool),
        np.array([bool(row.alpha) for row in inequalities], dtype=bool),
        np.array(pressing, dtype=int).reshape(-1, 2),
    )


def fails(problem: ContactProblem, parts: Sequence[CoverPart], scale: Scale, root: SlipRoot, limit: float) -> bool:
    """Whether a root breaks an inequality that is necessary, with sticking in a polygon around the disc.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    parts : sequence of CoverPart
        One for each force element.
    scale : Scale
    root : SlipRoot
        Of the equations of the parts.
    limit : float
        Scaled slack by which an inequality must be broken.

    Returns
    -------
    bool
    """
    angles = iter(root.angles)
    outer = [
        sliding_along(part.element, next(angles))
        if part.is_sector
        else sticking(part.element, n_facets=_FINER[-1])
        if _is_disc(part)
        else part
        for part in parts
    ]
    given = conditions(problem, outer, scale)
    return bool(np.min(given.A @ root.forces + given.b) < -limit)


def onward(parts: Sequence[CoverPart], scale: Scale) -> Row:
    """The sum of the scaled accelerations along the middles of the sectors; in them, none is negative.

    Parameters
    ----------
    parts : sequence of CoverPart
    scale : Scale

    Returns
    -------
    Row
        Of accelerations in physical units.
    """
    alpha: dict[int, float] = {}
    for part in parts:
        if part.angles is not None:
            rows = part.element.tangential
            middle, size = sum(part.angles) / 2, float(np.max(scale.row[list(rows)]))
            alpha |= {
                row: float(value) / size for row, value in zip(rows, (np.cos(middle), np.sin(middle)), strict=True)
            }
    return Row("onward", alpha=alpha)


def row_of(index: int, scale: Scale) -> Row:
    """One scaled acceleration.

    Parameters
    ----------
    index : int
        Row of the problem.
    scale : Scale

    Returns
    -------
    Row
        Of accelerations in physical units.
    """
    return Row("a", alpha={index: 1.0 / float(scale.row[index])})


def _is_disc(part: CoverPart) -> bool:
    return part.label is ContactMode.STICK and has_disc(part.element)


def _inside(part: CoverPart, n_facets: int) -> CoverPart:
    """A part with conditions that suffice: sticking with its force in a polygon inside of the disc."""
    if not _is_disc(part):
        return part
    return sticking(part.element, n_facets=n_facets, share=float(np.cos(np.pi / n_facets)))


def _width(part: CoverPart) -> float:
    return 0.0 if part.angles is None else part.angles[1] - part.angles[0]
