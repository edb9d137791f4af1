"""The proof that a verdict on contacts at rest rests on, checked apart from the search that found it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.contact.conditions import conditions, problem_scale, weight_of
from hybrid.contact.cover.parts import CoverPart, has_disc, options, rebuilt, unsettled
from hybrid.contact.cover.roots import holds_at_most_one, is_proved
from hybrid.contact.cover.search import fails, onward, row_of, sign_limit
from hybrid.contact.mode_certificate import ExactConditions, solution
from hybrid.contact.modes import ContactMode, Row
from hybrid.tolerances import NOTHING, ROUNDING, SUMMED, Tolerances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.conditions import Scale
    from hybrid.contact.cover.programs import ForceBound
    from hybrid.contact.cover.search import CoverNode
    from hybrid.contact.modes import Violation
    from hybrid.contact.problem import ContactProblem

__all__ = ["CoverCertificate", "verify_cover"]

Array = NDArray[np.float64]

_RAISED = ROUNDING  # of the largest multiplier: what is added to all of them, so that a correction leaves none negative
_INDEPENDENT = NOTHING  # of the largest: conditions that depend on others but for rounding
_LAST = 1e-4  # weight of small multipliers, which are corrected only where larger ones do not suffice
_EDGE = SUMMED  # rad: sectors that meet to rounding; what they decide, they decide by far more


@attrs.frozen(eq=False)
class CoverCertificate:
    """Proof of what the spatial contacts at rest can do: a division of all their motions, each part with a reason.

    Attributes
    ----------
    problem : ContactProblem
    root : CoverNode
        The part that holds all motions, and its divisions.
    """

    problem: ContactProblem
    root: CoverNode

    @property
    def is_inconsistent(self) -> bool:
        """Whether no part has a solution."""
        return all(leaf.solution is None for leaf in self.root.leaves())

    @property
    def n_parts(self) -> int:
        """Number of parts that are not divided further."""
        return sum(1 for _ in self.root.leaves())

    @property
    def kind(self) -> str:
        """What no part of is consistent, for files."""
        return "no part of a cover"

    def as_rows(self) -> list[dict[str, object]]:
        """Every part with its reason and the multipliers that prove it, for files.

        Returns
        -------
        list of dict
            With the keys ``modes``, ``angles`` (rad), ``reason`` and ``multipliers``.
        """
        return [
            {
                "modes": {part.element.name: part.label for part in leaf.parts},
                "angles": {part.element.name: part.angles for part in leaf.parts if part.angles is not None},
                "reason": leaf.reason,
                "multipliers": [[*bound.equations.tolist(), *bound.inequalities.tolist()] for bound in leaf.bounds],
            }
            for leaf in self.root.leaves()
        ]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """None: a part is refuted by multipliers, and not by one inequality."""
        return ()

    @property
    def farkas(self) -> None:
        """No single vector refutes all parts."""
        return None


@checks_arguments
def verify_cover(certificate: CoverCertificate, *, tolerances: Tolerances = Tolerances()) -> bool:
    """Check a proof from the contact problem alone.

    That the parts cover all motions is checked by their divisions, whose conditions are put together anew. Multipliers
    are corrected to rational numbers that cancel exactly and must then leave no forces, or give their bound; roots are
    proved again in floats with bounds for rounding.

    Parameters
    ----------
    certificate : CoverCertificate
    tolerances : Tolerances, optional
        ``sign`` is what an acceleration may have where it is proved to vanish.

    Returns
    -------
    bool
        False also if something is left open.
    """
    problem = certificate.problem
    check = _Check(problem, ExactConditions(problem), problem_scale(problem), tolerances)
    parts = tuple(unsettled(element) for element in problem.elements)
    return _specified(certificate.root) == _specifications(parts) and check.holds(certificate.root)


@attrs.frozen(eq=False)
class _Check:
    problem: ContactProblem
    exact: ExactConditions
    scale: Scale
    tolerances: Tolerances

    def holds(self, node: CoverNode) -> bool:
        if node.reason == "divided":
            return _is_division(node) and all(self.holds(child) for child in node.children)
        parts = tuple(rebuilt(part) for part in node.parts)
        limit = self._limit(node)
        if node.reason == "empty":
            return len(node.bounds) == 1 and self._is_bound(parts, node.bounds[0], Row("nothing"), 0.0, is_strict=True)
        if node.reason == "still":
            row = onward(parts, self.scale)
            return len(node.bounds) == 1 and self._is_bound(parts, node.bounds[0], row, limit)
        if node.reason == "stays":
            return self._stays(parts, node, limit)
        if node.reason != "single" or node.root is None:
            return False
        if not holds_at_most_one(self.problem, parts, self.scale, node.root):
            return False
        if node.solution is None:
            return fails(self.problem, parts, self.scale, node.root, limit)
        return is_proved(self.problem, parts, self.scale, node.root) and self._is_solution(node, limit)

    def _limit(self, node: CoverNode) -> float:
        forces = [None if node.root is None else node.root.forces, *(bound.forces for bound in node.bounds)]
        return max(sign_limit(part, self.scale, self.tolerances) for part in forces)

    def _stays(self, parts: Sequence[CoverPart], node: CoverNode, limit: float) -> bool:
        if node.solution is None or len(node.bounds) != 2 * self.problem.n_rows or not self._is_solution(node, limit):
            return False
        signed = [(index, sign) for index in range(self.problem.n_rows) for sign in (1.0, -1.0)]
        a = self.problem.G @ (node.solution.forces * self.scale.size / self.scale.row) + self.problem.c
        for (index, sign), bound in zip(signed, node.bounds, strict=True):
            ((place, factor),) = row_of(index, self.scale).alpha.items()
            value = sign * factor * float(a[place]) / float(self.scale.size)
            if not self._is_bound(parts, bound, Row("a", alpha={place: sign * factor}), value + limit):
                return False
        return True

    def _is_solution(self, node: CoverNode, limit: float) -> bool:
        """Whether the forces of a solution meet conditions that suffice, by more than the tolerance."""
        if node.solution is None:
            return False
        given = conditions(self.problem, node.solution.parts, self.scale)
        unmet = np.max(np.abs(given.E @ node.solution.forces + given.e), initial=0.0)
        return bool(unmet <= limit and np.min(given.A @ node.solution.forces + given.b, initial=np.inf) > 0.0)

    def _is_bound(
        self, parts: Sequence[CoverPart], bound: ForceBound, function: Row, most: float, *, is_strict: bool = False
    ) -> bool:
        """Whether multipliers prove, once exact, that a function of the forces has at most a value, or less."""
        rows = [row for part in parts for row in part.equations]
        n_equations = len(rows)
        rows += [row for part in parts for row in part.inequalities]
        if (len(bound.equations), len(bound.inequalities)) != (n_equations, len(rows) - n_equations):
            return False
        ((wanted, constant),) = self.exact.conditions([function])
        given = list(self.exact.conditions(rows))
        multipliers = _cancelling(self._in_units(rows, bound), n_equations, given, wanted)
        if multipliers is None:
            return False
        total = sum((m * value for m, (_, value) in zip(multipliers, given, strict=True)), constant)
        limit = Fraction(most) * Fraction(float(self.scale.size))
        return total < limit if is_strict else total <= limit

    def _in_units(self, rows: Sequence[Row], bound: ForceBound) -> Array:
        """Multipliers of the conditions as they stand, from those of scaled ones."""
        unit = self.scale.row.tolist()
        weights = np.array([weight_of(row, unit) for row in rows])
        return np.asarray(np.concatenate([bound.equations, bound.inequalities]) / weights)


def _cancelling(
    near: Array, n_equations: int, given: Sequence[tuple[Sequence[Fraction], Fraction]], wanted: Sequence[Fraction]
) -> list[Fraction] | None:
    """Multipliers near given ones with ``sum m_k line_k + wanted = 0`` exactly, none of an inequality negative.

    Those that are zero stay zero; where rounding of the data does not allow that, all are raised a little first.
    """
    lines = np.array([[float(entry) for entry in line] for line, _ in given])
    sizes = np.max(np.abs(lines), axis=1, initial=0.0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    largest = float(np.max(np.abs(near) * sizes, initial=0.0)) or 1.0
    is_equation = np.arange(len(near)) < n_equations
    for share in (0.0, _RAISED):
        raised = np.where(is_equation, near, near + share * largest / sizes)
        reach = np.where(is_equation, largest, raised * sizes)  # how far each may be corrected
        weights = np.where(reach > 0, np.maximum(reach, _LAST * largest), 0.0)
        found = _corrected(raised, weights[:, None] * lines / sizes[:, None], given, wanted)
        if found is not None and all(value >= 0 for value in found[n_equations:]):
            return found
    return None


def _corrected(
    near: Array, weighted: Array, given: Sequence[tuple[Sequence[Fraction], Fraction]], wanted: Sequence[Fraction]
) -> list[Fraction] | None:
    """Multipliers that cancel exactly, by a correction of as few as needed, those of the largest weights."""
    from scipy.linalg import qr  # with pivoting, which NumPy has not

    _, triangle, order = qr(weighted.T, pivoting=True, mode="economic")
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.sum(diagonal > _INDEPENDENT * diagonal[0])) if len(diagonal) and diagonal[0] > 0 else 0
    chosen = order[:rank]
    columns = qr(weighted[chosen], pivoting=True, mode="economic")[2][:rank] if rank else []
    multipliers = [Fraction(float(value)) for value in near]
    left = _left(multipliers, given, wanted)
    correction = solution([([given[k][0][j] for k in chosen], -left[j]) for j in columns])
    if correction is None:
        return None
    for k, value in zip(chosen, correction, strict=True):
        multipliers[k] += value
    return None if any(_left(multipliers, given, wanted)) else multipliers


def _left(
    multipliers: Sequence[Fraction], given: Sequence[tuple[Sequence[Fraction], Fraction]], wanted: Sequence[Fraction]
) -> list[Fraction]:
    """What the multipliers do not cancel, in every column."""
    used = [(m, line) for m, (line, _) in zip(multipliers, given, strict=True) if m]
    return [-value - sum((m * line[j] for m, line in used), Fraction(0)) for j, value in enumerate(wanted)]


def _specifications(parts: Sequence[CoverPart]) -> list[object]:
    return [part.specification for part in parts]


def _specified(node: CoverNode) -> list[object]:
    return _specifications(node.parts)


def _is_division(node: CoverNode) -> bool:
    """Whether the children of a part hold all of it: they differ in one element, whose choices are complete."""
    own = _specified(node)
    children = [_specified(child) for child in node.children]
    places = {k for child in children for k, (a, b) in enumerate(zip(own, child, strict=True)) if a != b}
    if len(places) != 1 or any(len(child) != len(own) for child in children):
        return False
    (place,) = places
    part = node.parts[place]
    choices = [child.parts[place] for child in node.children]
    sectors = sorted(choice.angles for choice in choices if choice.angles is not None)
    joined = all(abs(high - low) <= _EDGE * 10 for (_, high), (low, _) in pairwise(sectors))
    if part.angles is not None:
        ends = sectors[0][0], sectors[-1][1]
        return joined and len(sectors) == len(choices) and ends[0] <= part.angles[0] and ends[1] >= part.angles[1]
    if part.label is not None:
        return False
    if not has_disc(part.element):
        complete = {choice.specification for choice in options(part.element, 0.0)}
        return complete <= {choice.specification for choice in choices}
    around = bool(sectors) and sectors[-1][1] - sectors[0][0] >= 2 * np.pi - 10 * _EDGE
    return joined and around and {ContactMode.STICK, ContactMode.FREE} <= {choice.label for choice in choices}
