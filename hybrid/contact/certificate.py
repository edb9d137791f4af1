"""Evidence that no mode is consistent, checkable by anyone in exact arithmetic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

import lcp
import lcp.exact
from hybrid.arguments import checks_arguments
from hybrid.contact.candidates import mode_combinations
from hybrid.contact.complementarity import is_complementarity_problem, to_lcp
from hybrid.contact.modes import AGREEMENT, ALL_TOGETHER, ContactMode, ElementKind, Mode, Violation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from hybrid.contact.candidates import Candidate
    from hybrid.contact.cover.certificate import CoverCertificate
    from hybrid.contact.mode_certificate import ModeCertificate
    from hybrid.contact.modes import ActiveElement, ModeConditions
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.pruning import TreeCertificate
    from lcp.exact import NoSolutionCertificate

_NUMBERS = ("G", "c", "rounding", "W", "response_W", "length")
"""What the numbers of a certified problem are taken from, beside the masses."""

_AT_REST = (ContactMode.STICK, ContactMode.SLIDE_PLUS, ContactMode.SLIDE_MINUS)


@attrs.frozen(eq=False)
class Certificate:
    """Proof of inconsistency.

    Attributes
    ----------
    violations : tuple of Violation
        Every mode with the inequality it violates and by how much.
    problem : lcp.LCP
        The complementarity problem of the state.
    refutation : NoSolutionCertificate
        A refutation of every complementary basis in rational numbers.
    posed : ContactProblem
        The contact problem of the state, from which the complementarity problem and the list of modes follow.
    """

    violations: tuple[Violation, ...]
    problem: lcp.LCP
    refutation: NoSolutionCertificate
    posed: ContactProblem = attrs.field(repr=False)

    @property
    def farkas(self) -> tuple[Fraction, ...] | None:
        """``y >= 0`` with ``M^T y <= 0`` and ``q . y < 0``, if not even the linear inequalities have a solution."""
        return self.refutation.refutations[0].multipliers if self.refutation.is_farkas else None


def certify(problem: ContactProblem, posed: lcp.LCP, refuted: Sequence[tuple[Mode, Candidate]]) -> Certificate | None:
    """Prove that a contact problem has no solution.

    Parameters
    ----------
    problem : ContactProblem
    posed : lcp.LCP
        The same as a complementarity problem.
    refuted : sequence of (Mode, Candidate)
        Every mode with its refuted candidate, in the order of :func:`mode_combinations`.

    Returns
    -------
    Certificate or None
        None if exact arithmetic finds a solution, so that no certificate exists.
    """
    refutation = lcp.exact.refute(posed)
    if refutation is None:
        return None
    violations = tuple(
        _violation(problem, mode, item, _basis(problem.elements, modes), refutation)
        for (mode, item), modes in zip(refuted, mode_combinations(problem), strict=True)
    )
    return Certificate(violations, posed, refutation, problem)


@checks_arguments
def verify_certificate(
    certificate: Certificate | CoverCertificate | ModeCertificate | TreeCertificate,
    problem: ContactProblem | None = None,
) -> bool:
    """Check a certificate in exact rational arithmetic, from the contact problem alone.

    The complementarity problem must be the one that the contact problem states, and its numbers are taken as the
    rationals they are. Every complementary basis must be refuted and every refutation must hold exactly. The violations
    must list every mode of the contact problem once, in order, each with an inequality of its own, which the exact
    basic solution violates by the stated value. A tampered certificate is rejected.

    Parameters
    ----------
    certificate : Certificate, CoverCertificate, ModeCertificate or TreeCertificate
    problem : ContactProblem, optional
        Check as well that the certificate is about this problem, as posed by :func:`contact_problem` at a state.

    Returns
    -------
    bool

    Raises
    ------
    ArgumentError
        There is no certificate.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select, solve_state, verify_certificate
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": "+0"}, parameters={"mu": 1.5})
    >>> verify_certificate(select(rod, state, parameters={"mu": 1.5}).certificate)
    True
    """
    posed = certificate.posed if isinstance(certificate, Certificate) else certificate.problem
    if problem is not None and not _is_same(posed, problem):
        return False
    if not isinstance(certificate, Certificate):
        return _verify_other(certificate)
    if not is_complementarity_problem(posed):
        return False
    stated = to_lcp(posed)
    exact = lcp.exact.rational(stated)
    if stated != certificate.problem or not lcp.exact.verify(exact, certificate.refutation):
        return False
    combinations = list(mode_combinations(posed))
    return len(combinations) == len(certificate.violations) and all(
        _holds(certificate, exact, modes, violation)
        for modes, violation in zip(combinations, certificate.violations, strict=True)
    )


def _verify_other(certificate: CoverCertificate | ModeCertificate | TreeCertificate) -> bool:
    """The check of what no complementarity problem refutes, loaded where there is any."""
    from hybrid.contact.mode_certificate import ModeCertificate, verify_modes
    from hybrid.contact.pruning import TreeCertificate, verify_tree

    if isinstance(certificate, ModeCertificate):
        return verify_modes(certificate)
    if isinstance(certificate, TreeCertificate):
        return verify_tree(certificate)
    from hybrid.contact.cover.certificate import verify_cover  # SciPy, for several spatial contacts at rest

    return certificate.is_inconsistent and verify_cover(certificate)


def _is_same(first: ContactProblem, second: ContactProblem) -> bool:
    """Whether two problems at one state have the same force elements and numbers."""
    return (
        first.names == second.names
        and [attrs.astuple(element) for element in first.elements]
        == [attrs.astuple(element) for element in second.elements]
        and all(np.array_equal(getattr(first, name), getattr(second, name)) for name in _NUMBERS)
        and np.array_equal(first.terms.M, second.terms.M)
    )


def _is_called(mode: Mode, modes: Sequence[ModeConditions], names: Sequence[str]) -> bool:
    """True if the labels are those of the conditions; those without friction are named by accelerations."""
    labels = {part.element.name: _AT_REST if part.is_unnamed else (part.label,) for part in modes}
    return tuple(mode) == tuple(names) and all(mode[name] in labels.get(name, (ContactMode.FREE,)) for name in names)


def _holds(
    certificate: Certificate, exact: lcp.exact.RationalLCP, modes: Sequence[ModeConditions], violation: Violation
) -> bool:
    """Whether a violation is one of this mode, and true of the problem in rational numbers."""
    elements = certificate.posed.elements
    if not _is_called(violation.mode, modes, certificate.posed.names):
        return False
    if violation.basis != _basis(elements, modes) or not violation.value < 0:
        return False
    if not violation.variable:
        if (violation.contact, violation.inequality, violation.index) != ("", ALL_TOGETHER, 0):
            return False
        return violation.value == _contradiction(certificate.refutation, violation.basis)
    parts = [part for part in modes if part.element.name == violation.contact]
    if not any(row.label == violation.inequality for part in parts for row in part.inequalities):
        return False
    if (violation.variable, violation.index) != _place(elements, parts[0].element, violation.inequality):
        return False
    solution = lcp.exact.basic_solution(exact, violation.basis)
    if solution is None:
        return False
    value = solution[0 if violation.variable == "z" else 1][violation.index]
    return value < 0 and math.isclose(float(value), violation.value, rel_tol=AGREEMENT)


def _contradiction(refutation: NoSolutionCertificate, basis: Sequence[int]) -> float:
    found = refutation.refutation_of(basis)
    return float(found.constant / sum(map(abs, found.multipliers)))


def _violation(
    problem: ContactProblem, mode: Mode, item: Candidate, basis: tuple[int, ...], refutation: NoSolutionCertificate
) -> Violation:
    """The worst condition of a mode and where it stands in the LCP of :func:`to_lcp`."""
    worst = int(min(range(len(item.scaled_slacks)), key=item.scaled_slacks.__getitem__))
    contact, inequality = item.labels[worst]
    if not contact or item.determinant == 0.0:
        return Violation(mode, "", ALL_TOGETHER, _contradiction(refutation, basis), basis, "", 0)
    variable, index = _place(problem.elements, problem.element(contact), inequality)
    return Violation(mode, contact, inequality, item.slacks[worst], basis, variable, index)


def _order(elements: Sequence[ActiveElement]) -> tuple[list[str], list[str]]:
    """Names of the force elements with a normal direction and of those at rest: the unknowns of the LCP, in order."""
    normals = [element.name for element in elements if element.normal is not None]
    return normals, [element.name for element in elements if element.is_resting]


def _place(elements: Sequence[ActiveElement], element: ActiveElement, inequality: str) -> tuple[Literal["z", "w"], int]:
    """The variable of the LCP that an inequality of a force element is."""
    normals, resting = _order(elements)
    name, places = element.name, dict[str, tuple[Literal["z", "w"], int]]()
    if name in resting:
        right = len(normals) + resting.index(name)
        places = {
            "a_T >= 0": ("w", right),
            "a_T <= 0": ("z", right + len(resting)),
            "lambda_T >= -mu lambda_N": ("z", right),
            "lambda_T <= mu lambda_N": ("w", right + len(resting)),
            "lambda_T >= -F": ("z", right),
            "lambda_T <= F": ("w", right + len(resting)),
        }
    if name in normals:
        normal = normals.index(name)
        places |= {
            "a_N >= 0": ("w", normal),
            "lambda_N >= 0": ("w" if element.kind is ElementKind.BILATERAL else "z", normal),
            "lambda_N <= 0": ("z", normal),
        }
    return places[inequality]


def _basis(elements: Sequence[ActiveElement], modes: Sequence[ModeConditions]) -> tuple[int, ...]:
    """Indices of the LCP's basic ``z`` in one mode."""
    normals, resting = _order(elements)
    basis: list[int] = []
    for part in modes:
        name = part.element.name
        if name in normals:
            if part.element.kind is ElementKind.BILATERAL:
                pulls = any(row.label == "lambda_N <= 0" for row in part.inequalities)
                basis += [normals.index(name)] if pulls else []
            elif part.label is not ContactMode.FREE:
                basis.append(normals.index(name))
        if name in resting:
            right = len(normals) + resting.index(name)
            if part.label in (ContactMode.STICK, ContactMode.SLIDE_MINUS):
                basis.append(right)
            if part.label is ContactMode.SLIDE_MINUS:
                basis.append(right + len(resting))
    return tuple(sorted(basis))
