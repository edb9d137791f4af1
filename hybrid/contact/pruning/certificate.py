"""The proof that no mode of many force elements is consistent: a tree of partial modes with refuted leaves."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.arguments import checks_arguments, explains_arguments
from hybrid.contact.mode_certificate import ExactConditions, constant_left, contradiction_of
from hybrid.contact.modes import Row, solvable_modes
from hybrid.contact.pruning.dictionary import Contradiction, Functions
from hybrid.contact.pruning.partial_modes import key_of, partial_mode
from lcp.exact.certificate import rational_vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.contact.candidates import Candidate
    from hybrid.contact.modes import Violation
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.pruning.search import Branching, Places, SearchedModes

__all__ = ["TreeCertificate", "TreeNode", "certify_tree", "verify_tree"]

_FEW_INEQUALITIES = 24  # of which all multipliers are enumerated where the search's own are not exact

Vector = tuple[Fraction, ...]
Lines = tuple[list[tuple[list[Fraction], Fraction]], list[tuple[list[Fraction], Fraction]]]


@attrs.frozen(eq=False)
class TreeNode:
    """A partial mode that is divided into others, or refuted.

    With equations ``E lambda + e = 0`` and inequalities ``A lambda + b >= 0`` of the elements, in order, multipliers
    ``y`` and ``u >= 0`` with ``y E + u A = 0`` and ``y e + u b < 0`` leave no force (Farkas' lemma; Schrijver 1986,
    corollary 7.1d).

    Attributes
    ----------
    places : tuple of tuple of int
        Of every element, the modes that it may have, among its own.
    children : tuple of TreeNode
        Without any, the multipliers refute it.
    equations, inequalities : tuple of Fraction
        ``y`` and ``u``.
    """

    places: Places
    children: tuple[TreeNode, ...] = ()
    equations: Vector = attrs.field(default=(), converter=rational_vector)
    inequalities: Vector = attrs.field(default=(), converter=rational_vector)

    def leaves(self) -> Iterator[TreeNode]:
        """All partial modes that are not divided.

        Returns
        -------
        iterator of TreeNode
        """
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


@attrs.frozen(eq=False)
class TreeCertificate:
    """Proof of inconsistency by a division of all modes into partial ones, each of them refuted.

    Attributes
    ----------
    problem : ContactProblem
        Its ``G``, ``c`` and force elements, whose numbers are taken as the rationals they are (:func:`exact_numbers`).
    root : TreeNode
        All modes.
    """

    problem: ContactProblem
    root: TreeNode

    @property
    def n_parts(self) -> int:
        """Number of partial modes that are refuted."""
        return sum(1 for _ in self.root.leaves())

    @property
    def kind(self) -> str:
        """What is not consistent, for files."""
        return "no partial mode"

    def as_rows(self) -> list[dict[str, object]]:
        """Every refuted partial mode with the multipliers that prove it, for files.

        Returns
        -------
        list of dict
            With the keys ``modes``, ``equations`` and ``inequalities``; multipliers are texts of rational numbers.
        """
        modes = [solvable_modes(element) for element in self.problem.elements]
        return [
            {
                "modes": {
                    element.name: [own[place].label.value for place in places]
                    for element, own, places in zip(self.problem.elements, modes, leaf.places, strict=True)
                },
                "equations": [str(value) for value in leaf.equations],
                "inequalities": [str(value) for value in leaf.inequalities],
            }
            for leaf in self.root.leaves()
        ]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """None: many modes are refuted at once, and not each by an inequality of its own."""
        return ()

    @property
    def farkas(self) -> Vector | None:
        """The multipliers, if one vector refutes all modes."""
        return None if self.root.children else (*self.root.equations, *self.root.inequalities)


@explains_arguments
def certify_tree(problem: ContactProblem, found: SearchedModes, refuted: Sequence[Candidate]) -> TreeCertificate | None:
    """Make the contradictions of a search, and of the modes that it has left, exact.

    Parameters
    ----------
    problem : ContactProblem
    found : SearchedModes
    refuted : sequence of Candidate
        The modes left, in order, none of them consistent.

    Returns
    -------
    TreeCertificate or None
        None where exact arithmetic does not confirm a contradiction.
    """
    exact, functions = _Exact(problem), found.functions
    lines = list(exact.conditions.conditions(functions.rows))
    single = {places: _of_mode(functions, item) for places, item in zip(found.places, refuted, strict=True)}

    def exact_node(node: Branching) -> TreeNode | None:
        if node.children:
            children = tuple(found for child in node.children if (found := exact_node(child)) is not None)
            return TreeNode(node.places, children) if len(children) == len(node.children) else None
        places = tuple(group[0] for group in node.places)
        given = node.contradiction or single.get(places)
        return None if given is None else _exact_leaf(exact, functions, lines, node.places, given)

    root = exact_node(found.root)
    return None if root is None else TreeCertificate(problem, root)


def _of_mode(functions: Functions, item: Candidate) -> Contradiction:
    """The worst inequality of a mode, as a row through the functions that its equations fix."""
    columns = [functions.places[key_of(row)[0]] for part in item.modes for row in part.equations]
    inequalities = [row for part in item.modes for row in part.inequalities]
    worst = int(np.argmin(item.scaled_slacks[: len(inequalities)]))
    key, sign = key_of(inequalities[worst])
    return Contradiction(functions.places[key], sign, np.array(columns), float(item.scaled_slacks[worst]))


@checks_arguments
def verify_tree(certificate: TreeCertificate) -> bool:
    """Check a certificate in exact rational arithmetic, from the contact problem alone.

    The root must hold all modes of every element, and the children of each partial mode all of its own. The conditions
    of every leaf are put together anew; its multipliers must contradict them exactly.

    Parameters
    ----------
    certificate : TreeCertificate

    Returns
    -------
    bool
    """
    problem = certificate.problem
    if any(element.is_spatial_at_rest for element in problem.elements):
        return False  # its slides are no mode of linear conditions
    whole = tuple(tuple(range(len(solvable_modes(element)))) for element in problem.elements)
    if certificate.root.places != whole:
        return False
    exact, stack = _Exact(problem), [certificate.root]
    while stack:
        node = stack.pop()
        if not (_is_division(node) if node.children else exact.is_contradicted(node)):
            return False
        stack += node.children
    return True


@attrs.frozen(eq=False)
class _Exact:
    """Conditions of partial modes in fractions, put together once for every element."""

    problem: ContactProblem
    conditions: ExactConditions = attrs.field()
    found: dict[tuple[int, tuple[int, ...]], Lines] = attrs.field(factory=dict)

    @conditions.default
    def _of_the_problem(self) -> ExactConditions:
        return ExactConditions(self.problem)

    def lines(self, places: Places) -> Lines:
        """Equations and inequalities of a partial mode."""
        given = [self._of(index, group) for index, group in enumerate(places)]
        return [line for part, _ in given for line in part], [line for _, part in given for line in part]

    def _of(self, index: int, places: tuple[int, ...]) -> Lines:
        if (index, places) not in self.found:
            part = partial_mode(self.problem.elements[index], places)
            self.found[index, places] = (
                list(self.conditions.conditions(part.equations)),
                list(self.conditions.conditions(part.inequalities)),
            )
        return self.found[index, places]

    def is_contradicted(self, node: TreeNode) -> bool:
        """Whether the multipliers leave no forces."""
        return constant_left(*self.lines(node.places), node.equations, node.inequalities) is not None


def _is_division(node: TreeNode) -> bool:
    """Whether the children hold all modes of a part: they differ from it in one element, whose modes they share out."""
    own, children = node.places, [child.places for child in node.children]
    if any(len(places) != len(own) for places in children):
        return False
    changed = {k for places in children for k, (a, b) in enumerate(zip(own, places, strict=True)) if a != b}
    if len(changed) != 1:
        return False
    (place,) = changed
    shared = [set(places[place]) for places in children]
    return all(shared) and set().union(*shared) == set(own[place])


def _exact_leaf(
    exact: _Exact,
    functions: Functions,
    lines: Sequence[tuple[list[Fraction], Fraction]],
    places: Places,
    given: Contradiction,
) -> TreeNode | None:
    """A refuted partial mode with multipliers that are exact; rounding may have hidden a dependence of the columns."""
    columns = given.columns.tolist()
    parts = [partial_mode(element, group) for element, group in zip(exact.problem.elements, places, strict=True)]
    shares = _shares([lines[place][0] for place in columns], lines[given.place][0])
    if shares is not None:
        sign = int(given.sign)
        left = {place: -share * sign for place, share in zip(columns, shares, strict=True)}
        left[given.place] = Fraction(sign)
        equations = [_taken(functions, left, row, is_equation=True) for part in parts for row in part.equations]
        inequalities = [_taken(functions, left, row, is_equation=False) for part in parts for row in part.inequalities]
        node = TreeNode(places, (), equations, inequalities)
        if exact.is_contradicted(node):
            return node
    if sum(len(part.inequalities) for part in parts) > _FEW_INEQUALITIES:
        return None
    found = contradiction_of(exact.conditions, parts)
    return None if found is None else TreeNode(places, (), found[0], found[1])


def _taken(functions: Functions, left: dict[int, Fraction], row: Row, *, is_equation: bool) -> Fraction:
    """The multiplier of a condition, which is used up: that of its function, if it has the sign."""
    key, sign = key_of(row)
    share = left.get(functions.places[key], Fraction(0)) * int(sign)
    if share < 0 and not is_equation:
        return Fraction(0)
    left.pop(functions.places[key], None)
    return share


def _shares(lines: Sequence[Sequence[Fraction]], wanted: Sequence[Fraction]) -> list[Fraction] | None:
    """Multiples of some lines that add up to another; None if there are none. Lines of few entries are used first."""
    n = len(wanted)
    # one equation for every entry, in the multiples; eliminated where fewest of them occur
    left = [({k: line[j] for k, line in enumerate(lines) if line[j]}, wanted[j]) for j in range(n)]
    solved: list[tuple[int, dict[int, Fraction], Fraction]] = []
    while left:
        place = min(range(len(left)), key=lambda i: len(left[i][0]) or n + 1)
        terms, value = left.pop(place)
        if not terms:
            if value:
                return None
            continue
        pivot = min(terms, key=lambda k: sum(k in other for other, _ in left))
        factor = terms.pop(pivot)
        terms, value = {k: share / factor for k, share in terms.items()}, value / factor
        for i, (other, right) in enumerate(left):
            if pivot in other:
                share = other.pop(pivot)
                for k, entry in terms.items():
                    other[k] = other.get(k, Fraction(0)) - share * entry
                    if not other[k]:
                        del other[k]
                left[i] = other, right - share * value
        solved.append((pivot, terms, value))
    shares = [Fraction(0)] * len(lines)
    for pivot, terms, value in reversed(solved):
        shares[pivot] = value - sum((share * shares[k] for k, share in terms.items()), Fraction(0))
    return shares
