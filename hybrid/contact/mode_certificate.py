"""Evidence, mode by mode, that none is consistent: for laws of friction that are no complementarity problem.

Static friction above the kinetic one holds a force element by one coefficient and brakes it by another, which no linear
complementarity problem states. Every mode is then a system of linear equations and inequalities of its own, and Farkas'
lemma refutes each of them.

The numbers of a contact problem as fractions, with the dependence of its directions exact.

Of more directions than there is freedom, or of some that are parallel, the Delassus operator is singular; rounding
makes it regular, and exact arithmetic would find forces of 1e16 that bear what nothing can. Here as many directions as
are independent keep their numbers, and the others are sums of multiples of these, to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import attrs
import numpy as np

from hybrid.contact.candidates import mode_combinations
from hybrid.contact.conditions import HasRows, problem_scale
from hybrid.contact.known_numbers import dot, solve
from hybrid.contact.modes import AGREEMENT, ALL_TOGETHER, ContactMode, Mode, Violation
from hybrid.tolerances import RANK
from lcp.exact.certificate import fraction, integer_row, rational_vector
from lcp.polytopes import cone_generators

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from hybrid.contact.candidates import Candidate
    from hybrid.contact.modes import ModeConditions, Row
    from hybrid.contact.problem import ContactProblem

__all__ = [
    "ExactConditions",
    "ModeCertificate",
    "ModeRefutation",
    "certify_modes",
    "constant_left",
    "contradiction_of",
    "exact_numbers",
    "solution",
    "verify_modes",
]


Vector = tuple[Fraction, ...]
Line = tuple[Sequence[Fraction], Fraction]

_DEPENDENT = RANK  # length left of a direction of length 1 that depends on others
_CANCELLED = 8  # roundings of the terms below which accelerations of dependent directions agree


def exact_numbers(problem: ContactProblem) -> tuple[tuple[Vector, ...], Vector]:
    """Delassus operator and free accelerations of a problem at one state as fractions.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    G : tuple of tuple of Fraction, (r, r)
        The problem's own to rounding, of the rank that its directions have.
    c : tuple of Fraction, (r,)
        Of a direction that depends on others the sum that belongs to it, where rounding alone makes a difference.
    """
    r = problem.n_rows
    shares = _shares(problem)
    basis = [index for index in range(r) if index not in shares]
    lines = {index: {index: Fraction(1)} for index in basis}
    lines |= {
        index: {b: Fraction(float(y)) for b, y in zip(basis, given, strict=True)} for index, given in shares.items()
    }
    own = {(a, b): Fraction(float(problem.G[a, b])) for a in basis for b in basis}
    half = {i: {b: dot(lines[i].values(), (own[a, b] for a in lines[i])) for b in basis} for i in range(r)}
    G = tuple(tuple(dot(lines[j].values(), (half[i][b] for b in lines[j])) for j in range(r)) for i in range(r))
    c = [Fraction(float(value)) for value in problem.c]
    for index, given in shares.items():
        terms, rounding = np.abs(given * problem.c[basis]), np.abs(given) @ problem.rounding[basis]
        limit = _CANCELLED * (problem.rounding[index] + rounding) + r * np.finfo(float).eps * float(np.sum(terms))
        if abs(float(problem.c[index]) - float(given @ problem.c[basis])) <= limit:
            c[index] = dot(lines[index].values(), (c[b] for b in lines[index]))
    return G, tuple(c)


def _shares(problem: ContactProblem) -> dict[int, NDArray[np.float64]]:
    """Of every direction that depends on others: its multiples of the independent ones."""
    scale = problem_scale(problem)
    row = scale.row
    directions = np.linalg.cholesky(problem.terms.M).T @ problem.response_W / row
    chosen = _independent(directions, max(_DEPENDENT, float(scale.lost)))
    others = [index for index in range(problem.n_rows) if index not in chosen]
    if not others:
        return {}
    shares = np.linalg.lstsq(directions[:, chosen], directions[:, others], rcond=None)[0]
    shares = shares * row[others] / row[chosen][:, None]
    return {index: shares[:, place] for place, index in enumerate(others)}


def _independent(directions: NDArray[np.float64], least: float) -> Sequence[int]:
    """Indices of independent columns, in order; the one of which most is left is taken next."""
    left, chosen = directions.copy(), list[int]()
    while len(chosen) < left.shape[1]:
        lengths = np.linalg.norm(left, axis=0)
        lengths[chosen] = 0.0
        best = int(np.argmax(lengths))
        if lengths[best] <= least:
            break
        unit = left[:, best] / lengths[best]
        for _ in range(2):  # the second time for the rounding of the first
            left = left - np.outer(unit, unit @ left)
        chosen.append(best)
    return sorted(chosen)


@attrs.frozen
class ModeRefutation:
    """A contradiction in the conditions of one mode.

    With equations ``E lambda + e = 0`` and inequalities ``A lambda + b >= 0``, multipliers ``y`` and ``u >= 0`` with
    ``y E + u A = 0`` and ``y e + u b < 0`` leave no force (Farkas' lemma; Schrijver 1986, corollary 7.1d).

    Attributes
    ----------
    mode : Mode
    equations : tuple of Fraction
        ``y``.
    inequalities : tuple of Fraction
        ``u``.
    constant : Fraction
        ``y e + u b``, negative.
    """

    mode: Mode
    equations: Vector = attrs.field(converter=rational_vector)
    inequalities: Vector = attrs.field(converter=rational_vector)
    constant: Fraction = attrs.field(converter=fraction)


@attrs.frozen(eq=False)
class ModeCertificate:
    """Proof of inconsistency by a refutation of every mode.

    Attributes
    ----------
    violations : tuple of Violation
        Every mode with the inequality that it violates most; where its equations have no solution, or several, the
        contradiction of its refutation.
    problem : ContactProblem
        Its ``G``, ``c`` and force elements, whose numbers are taken as the rationals they are (:func:`exact_numbers`).
    refutations : tuple of ModeRefutation
        In the order of the problem's modes.
    """

    violations: tuple[Violation, ...]
    problem: ContactProblem
    refutations: tuple[ModeRefutation, ...]

    @property
    def farkas(self) -> None:
        """No single vector refutes all modes."""
        return None


def certify_modes(problem: ContactProblem, refuted: Sequence[tuple[Mode, Candidate]]) -> ModeCertificate | None:
    """Prove that no mode of a contact problem is consistent.

    Parameters
    ----------
    problem : ContactProblem
        At one state, without spatial contacts at rest.
    refuted : sequence of (Mode, Candidate)
        Every mode with its refuted candidate, in the order of :func:`mode_combinations`.

    Returns
    -------
    ModeCertificate or None
        None if exact arithmetic finds that a mode is consistent.
    """
    exact = ExactConditions(problem)
    refutations, violations = [], []
    for (mode, item), modes in zip(refuted, mode_combinations(problem), strict=True):
        forces = exact.forces(modes)
        called = _called(exact, modes, forces, mode)
        multipliers = contradiction_of(exact, modes)
        if multipliers is None:
            return None
        found = ModeRefutation(called, *multipliers)
        refutations.append(found)
        violations.append(_violation(exact, modes, forces, item, found))
    return ModeCertificate(tuple(violations), problem, tuple(refutations))


def verify_modes(certificate: ModeCertificate) -> bool:
    """Check a certificate in exact rational arithmetic, from the contact problem alone.

    The conditions of every mode are put together anew from ``G``, ``c`` and the elements. Every mode must be refuted,
    in order, by multipliers that contradict its conditions exactly. Its violation must bear the labels of all contacts
    in that mode; where the mode's equations have one solution, it must be an inequality of the mode and have the value
    that this solution gives, otherwise the words and the constant of the refutation.

    Parameters
    ----------
    certificate : ModeCertificate

    Returns
    -------
    bool
    """
    problem = certificate.problem
    if any(element.is_spatial_at_rest for element in problem.elements):
        return False  # its slides are no mode of linear conditions, and would go unrefuted
    exact = ExactConditions(problem)
    combinations = list(mode_combinations(problem))
    if not len(combinations) == len(certificate.refutations) == len(certificate.violations):
        return False
    for modes, refutation, violation in zip(combinations, certificate.refutations, certificate.violations, strict=True):
        forces = exact.forces(modes)
        if violation.mode != refutation.mode or _called(exact, modes, forces, violation.mode) != violation.mode:
            return False
        if not _contradicts(exact, modes, refutation) or not _is_true(exact, modes, forces, violation, refutation):
            return False
    return True


class ExactConditions:
    """The conditions of a contact problem's modes in fractions."""

    def __init__(self, problem: ContactProblem) -> None:
        self.G, self.c = exact_numbers(problem)
        self.names = problem.names
        scale = problem_scale(problem)
        self.sizes = scale.row * scale.size

    def conditions(self, rows: Sequence[Row]) -> Iterator[tuple[list[Fraction], Fraction]]:
        """Coefficients of the forces, and constant, of every row."""
        return (exact_condition(self.G, self.c, row) for row in rows)

    def forces(self, modes: Sequence[ModeConditions]) -> Vector | None:
        """The solution of a mode's equations; None where they have none or more than one."""
        return solution(list(self.conditions(rows_of_modes(modes)[0])))

    def acceleration(self, row: int, forces: Vector) -> Fraction:
        """One row's acceleration by given forces."""
        return dot(self.G[row], forces) + self.c[row]


def exact_condition(
    G: Sequence[Sequence[Fraction]], c: Sequence[Fraction], row: Row
) -> tuple[list[Fraction], Fraction]:
    """A condition of a mode in terms of the forces.

    Parameters
    ----------
    G : sequence of sequence of Fraction, (r, r)
    c : sequence of Fraction, (r,)
    row : Row

    Returns
    -------
    list of Fraction, (r,), and Fraction
        The coefficients and the constant.
    """
    line, constant = [Fraction(0)] * len(c), Fraction(row.constant)
    for index, value in row.alpha.items():
        factor = Fraction(value)
        line = [entry + factor * g for entry, g in zip(line, G[index], strict=True)]
        constant += factor * c[index]
    for index, value in row.beta.items():
        line[index] += Fraction(value)
    return line, constant


def rows_of_modes(modes: Sequence[HasRows]) -> tuple[list[Row], list[Row]]:
    """Equations and inequalities of all force elements.

    Parameters
    ----------
    modes : sequence of ModeConditions, or of other parts

    Returns
    -------
    list of Row, list of Row
        In the order of the modes.
    """
    return (
        [row for mode in modes for row in mode.equations],
        [row for mode in modes for row in mode.inequalities],
    )


def contradiction_of(exact: ExactConditions, parts: Sequence[HasRows]) -> tuple[Vector, Vector, Fraction] | None:
    """A contradiction among the generators of the cone of multipliers that cancel the forces.

    Parameters
    ----------
    exact : ExactConditions
    parts : sequence of ModeConditions, or of other parts with equations and inequalities

    Returns
    -------
    equations, inequalities : tuple of Fraction
        Multipliers of the conditions of all parts, in order.
    constant : Fraction
        What they leave, negative. None instead of all three if some forces meet the conditions.
    """
    equations, inequalities = rows_of_modes(parts)
    given = list(exact.conditions([*equations, *inequalities]))
    columns = list(zip(*(line for line, _ in given), strict=True))
    free, n = len(equations), len(given)
    generators = cone_generators(
        [[int(place == index) for place in range(n)] for index in range(free, n)],
        dimension=n,
        tolerance=0,
        unit=1,
        equalities=[integer_row(column) for column in columns],
    )
    for vector in (*generators.rays, *generators.lines, *([-value for value in line] for line in generators.lines)):
        multipliers = rational_vector(vector)
        constant = dot(multipliers, (value for _, value in given))
        if constant < 0:
            return multipliers[:free], multipliers[free:], constant
    return None


def constant_left(
    equations: Sequence[Line], inequalities: Sequence[Line], y: Sequence[Fraction], u: Sequence[Fraction]
) -> Fraction | None:
    """What multipliers of conditions leave, if that contradicts them.

    Parameters
    ----------
    equations, inequalities : sequence of (sequence of Fraction, Fraction)
        Of ``line . lambda + constant``, which is zero or not negative, the line and the constant.
    y, u : sequence of Fraction
        Their multipliers.

    Returns
    -------
    Fraction or None
        The negative sum of the multiples of the constants; None unless every ``u >= 0``, no force is left, and it is
        negative.
    """
    if (len(y), len(u)) != (len(equations), len(inequalities)) or any(value < 0 for value in u):
        return None
    used = [(m, *given) for m, given in zip((*y, *u), (*equations, *inequalities), strict=True) if m]
    taken = [m for m, _, _ in used]
    if any(dot(taken, column) for column in zip(*(line for _, line, _ in used), strict=True)):
        return None
    constant = dot(taken, (value for _, _, value in used))
    return constant if constant < 0 else None


def _contradicts(exact: ExactConditions, modes: Sequence[ModeConditions], refutation: ModeRefutation) -> bool:
    equations, inequalities = (list(exact.conditions(rows)) for rows in rows_of_modes(modes))
    left = constant_left(equations, inequalities, refutation.equations, refutation.inequalities)
    return left is not None and left == refutation.constant


def _called(
    exact: ExactConditions, modes: Sequence[ModeConditions], forces: Vector | None, given: Mapping[str, object]
) -> Mode:
    """The labels of a mode: those given of elements at rest without friction, if their accelerations allow them."""
    labels = {part.element.name: part.label for part in modes}
    for part in (part for part in modes if part.is_unnamed):
        allowed = [ContactMode.STICK]
        if forces is not None:
            row = part.element.tangential[0]
            a = exact.acceleration(row, forces)
            slides = [ContactMode.SLIDE_PLUS if a > 0 else ContactMode.SLIDE_MINUS] if a else []
            # a small one may be rounding of the data, and zero
            allowed = (allowed if abs(a) <= AGREEMENT * exact.sizes[row] else []) + slides
        name = part.element.name
        labels[name] = next((label for label in allowed if label is given.get(name)), allowed[0])
    return Mode({name: labels.get(name, ContactMode.FREE) for name in exact.names})


def _violation(
    exact: ExactConditions,
    modes: Sequence[ModeConditions],
    forces: Vector | None,
    item: Candidate,
    refutation: ModeRefutation,
) -> Violation:
    """The worst condition of a mode, or the contradiction of its refutation where its equations fix no forces."""
    if forces is None:
        return Violation(refutation.mode, "", ALL_TOGETHER, _contradiction(refutation), (), "", 0)
    values = list(_values(exact, modes, forces))
    _, (contact, inequality, value) = min(
        (float(scaled), stated) for scaled, stated in zip(item.scaled_slacks, values, strict=False) if stated[2] < 0
    )
    return Violation(refutation.mode, contact, inequality, float(value), (), "", 0)


def _values(
    exact: ExactConditions, modes: Sequence[ModeConditions], forces: Vector
) -> Iterator[tuple[str, str, Fraction]]:
    """Contact, wording and value of every inequality of a mode."""
    for part in modes:
        for row, (line, constant) in zip(part.inequalities, exact.conditions(part.inequalities), strict=True):
            yield part.element.name, row.label, dot(line, forces) + constant


def _is_true(
    exact: ExactConditions,
    modes: Sequence[ModeConditions],
    forces: Vector | None,
    violation: Violation,
    refutation: ModeRefutation,
) -> bool:
    """Whether a violation is one of this mode, by the value that the exact solution of its equations gives."""
    if (violation.basis, violation.variable, violation.index) != ((), "", 0):
        return False
    stated = violation.contact, violation.inequality
    if forces is None:
        return stated == ("", ALL_TOGETHER) and violation.value == _contradiction(refutation)
    values = {(contact, inequality): value for contact, inequality, value in _values(exact, modes, forces)}
    value, given = float(values.get(stated, 0)), cast("object", violation.value)  # the type is not enforced
    return value < 0 and isinstance(given, float) and math.isclose(value, given, rel_tol=AGREEMENT)


def _contradiction(refutation: ModeRefutation) -> float:
    """What the multipliers leave, whose magnitudes add up to one."""
    return float(refutation.constant / sum(map(abs, (*refutation.equations, *refutation.inequalities))))


def solution(equations: Sequence[Line]) -> Vector | None:
    """The solution of square equations.

    Parameters
    ----------
    equations : sequence of (sequence of Fraction, Fraction)
        Of each ``line . x + constant = 0`` the line and the constant.

    Returns
    -------
    tuple of Fraction, or None
        None where they have no solution, or more than one.
    """
    found = solve([[*line, -constant] for line, constant in equations], len(equations), is_unique=True)
    return None if found is None else tuple(value for (value,) in found)
