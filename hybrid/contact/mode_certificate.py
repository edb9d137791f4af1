"""Evidence, mode by mode, that none is consistent: for laws of friction that are no complementarity problem.

Static friction above the kinetic one holds a force element by one coefficient and brakes it by another, which no linear
complementarity problem states. Every mode is then a system of linear equations and inequalities of its own, and Farkas'
lemma refutes each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import attrs

from hybrid.contact.candidates import mode_combinations
from hybrid.contact.conditions import HasRows, problem_scale
from hybrid.contact.exact_numbers import exact_numbers
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.smooth import is_unnamed
from hybrid.contact.violations import AGREEMENT, ALL_TOGETHER, Violation
from lcp.double_description import cone_generators
from lcp.exact.rational import fraction, integer_row, rational_vector

if TYPE_CHECKING:
    from hybrid.contact.active_elements import ModeConditions, Row
    from hybrid.contact.candidates import Candidate
    from hybrid.contact.problem import ContactProblem

__all__ = ["ExactConditions", "ModeCertificate", "ModeRefutation", "certify_modes", "contradiction_of", "verify_modes"]

Vector = tuple[Fraction, ...]


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
        for row in rows:
            line, constant = [Fraction(0)] * len(self.c), Fraction(float(row.constant))
            for index, value in row.alpha.items():
                factor = Fraction(float(value))
                line = [entry + factor * g for entry, g in zip(line, self.G[index], strict=True)]
                constant += factor * self.c[index]
            for index, value in row.beta.items():
                line[index] += Fraction(float(value))
            yield line, constant

    def forces(self, modes: Sequence[ModeConditions]) -> Vector | None:
        """The solution of a mode's equations; None where they have none or more than one."""
        return _solution(list(self.conditions(_rows(modes)[0])))

    def acceleration(self, row: int, forces: Vector) -> Fraction:
        """One row's acceleration by given forces."""
        return _sum(zip(self.G[row], forces, strict=True)) + self.c[row]


def _rows(modes: Sequence[HasRows]) -> tuple[list[Row], list[Row]]:
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
    equations, inequalities = _rows(parts)
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
        constant = _sum(zip(multipliers, (value for _, value in given), strict=True))
        if constant < 0:
            return multipliers[:free], multipliers[free:], constant
    return None


def _contradicts(exact: ExactConditions, modes: Sequence[ModeConditions], refutation: ModeRefutation) -> bool:
    equations, inequalities = _rows(modes)
    if len(refutation.equations) != len(equations) or len(refutation.inequalities) != len(inequalities):
        return False
    given = list(exact.conditions([*equations, *inequalities]))
    multipliers = (*refutation.equations, *refutation.inequalities)
    constant = _sum(zip(multipliers, (value for _, value in given), strict=True))
    forces_left = (_sum(zip(multipliers, column, strict=True)) for column in zip(*(r for r, _ in given), strict=True))
    return (
        all(value >= 0 for value in refutation.inequalities)
        and not any(forces_left)
        and constant == refutation.constant
        and constant < 0
    )


def _called(
    exact: ExactConditions, modes: Sequence[ModeConditions], forces: Vector | None, given: Mapping[str, object]
) -> Mode:
    """The labels of a mode: those given of elements at rest without friction, if their accelerations allow them."""
    labels = {part.element.name: part.label for part in modes}
    for part in filter(is_unnamed, modes):
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
            yield part.element.name, row.label, _sum(zip(line, forces, strict=True)) + constant


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
    value, given = float(values.get(stated, 0)), cast(object, violation.value)  # the type is not enforced
    return value < 0 and isinstance(given, float) and math.isclose(value, given, rel_tol=AGREEMENT)


def _contradiction(refutation: ModeRefutation) -> float:
    """What the multipliers leave, whose magnitudes add up to one."""
    return float(refutation.constant / sum(map(abs, (*refutation.equations, *refutation.inequalities))))


def _solution(equations: Sequence[tuple[Sequence[Fraction], Fraction]]) -> Vector | None:
    """The forces of square equations ``line . x + constant = 0``; None where they are singular."""
    left = [[*line, constant] for line, constant in equations]
    for column in range(len(left)):
        place = next((k for k in range(column, len(left)) if left[k][column]), None)
        if place is None:
            return None
        left[column], left[place] = left[place], left[column]
        pivot = left[column]
        for k, line in enumerate(left):
            if k != column and line[column]:
                factor = line[column] / pivot[column]
                left[k] = [a - factor * b for a, b in zip(line, pivot, strict=True)]
    return tuple(-line[-1] / line[k] for k, line in enumerate(left))


def _sum(pairs: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    return sum((first * second for first, second in pairs), Fraction(0))
