"""Evidence that no mode is consistent, checkable by anyone in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import attrs

import lcp
import lcp.exact
from hybrid.contact.carriers import CarrierKind
from hybrid.contact.modes import ContactMode, Mode
from lcp.exact import NoSolutionCertificate

if TYPE_CHECKING:
    from hybrid.contact.candidates import Candidate
    from hybrid.contact.carriers import CarrierMode
    from hybrid.contact.problem import ContactProblem

_AGREEMENT = 1e-6  # a stated value and the exact one differ by rounding times the condition of one small basis


@attrs.frozen
class Violation:
    """The inequality that one mode violates most.

    Attributes
    ----------
    mode : Mode
    contact : str
        The carrier whose condition fails; empty if the mode's equations have no solution.
    inequality : str
        For example ``"lambda_N >= 0"``.
    value : float
        Its value in physical units, negative.
    basis : tuple of int
        The complementary basis of the LCP that is this mode (indices with ``z`` basic).
    variable : {"z", "w", ""}
        Which variable of the LCP the inequality is; empty if the mode's equations are singular, so that no basic
        solution belongs to it: the refutation of its basis is then the proof.
    index : int
        Its index.
    """

    mode: Mode
    contact: str
    inequality: str
    value: float
    basis: tuple[int, ...]
    variable: Literal["z", "w", ""]
    index: int


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
    """

    violations: tuple[Violation, ...]
    problem: lcp.LCP
    refutation: NoSolutionCertificate

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
        Every mode with its refuted candidate.

    Returns
    -------
    Certificate or None
        None if exact arithmetic finds a solution, so that no certificate exists.
    """
    refutation = lcp.exact.refute(posed)
    if refutation is None:
        return None
    return Certificate(tuple(_violation(problem, mode, item) for mode, item in refuted), posed, refutation)


def verify_certificate(certificate: Certificate) -> bool:
    """Check a certificate in exact rational arithmetic, from the complementarity problem alone.

    The numbers of the problem are taken as the rationals they are. Every complementary basis must be refuted and every
    refutation must hold exactly; every stated violation must be negative and agree with the exact basic solution. A
    tampered certificate is rejected.

    Parameters
    ----------
    certificate : Certificate

    Returns
    -------
    bool

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select, solve_state, verify_certificate
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": "+0"}, parameters={"mu": 1.5})
    >>> verify_certificate(select(rod, state, parameters={"mu": 1.5}).certificate)
    True
    """
    if not lcp.exact.verify(certificate.problem, certificate.refutation):
        return False
    return all(_holds(certificate.problem, violation) for violation in certificate.violations)


def _holds(posed: lcp.LCP, violation: Violation) -> bool:
    if not violation.variable:
        return violation.value < 0
    solution = lcp.exact.basic_solution(posed, violation.basis)
    if solution is None:
        return False
    value = solution[0 if violation.variable == "z" else 1][violation.index]
    return value < 0 and math.isclose(float(value), violation.value, rel_tol=_AGREEMENT)


def _violation(problem: ContactProblem, mode: Mode, item: Candidate) -> Violation:
    """The worst condition of a mode and where it stands in the LCP of :func:`to_lcp`."""
    normals = [carrier.name for carrier in problem.carriers if carrier.normal is not None]
    resting = [carrier.name for carrier in problem.carriers if carrier.is_resting]
    basis: list[int] = []
    for part in item.modes:
        basis += _basis(part, normals, resting)
    worst = int(min(range(len(item.scaled_slacks)), key=item.scaled_slacks.__getitem__))
    contact, inequality = item.labels[worst]
    value = float(item.slacks[worst])
    if not contact or item.orientation == 0:
        return Violation(mode, contact, inequality, value, tuple(sorted(basis)), "", 0)
    part = next(part for part in item.modes if part.carrier.name == contact)
    right = len(normals) + resting.index(contact) if contact in resting else 0
    places: dict[str, tuple[Literal["z", "w"], int]] = {
        "a_T >= 0": ("w", right),
        "a_T <= 0": ("z", right + len(resting)),
        "lambda_T >= -mu lambda_N": ("z", right),
        "lambda_T <= mu lambda_N": ("w", right + len(resting)),
        "lambda_T >= -F": ("z", right),
        "lambda_T <= F": ("w", right + len(resting)),
    }
    if contact in normals:
        normal = normals.index(contact)
        is_bilateral = part.carrier.kind is CarrierKind.BILATERAL
        places |= {
            "a_N >= 0": ("w", normal),
            "lambda_N >= 0": ("w" if is_bilateral else "z", normal),
            "lambda_N <= 0": ("z", normal),
        }
    variable, index = places[inequality]
    return Violation(mode, contact, inequality, value, tuple(sorted(basis)), variable, index)


def _basis(part: CarrierMode, normals: Sequence[str], resting: Sequence[str]) -> list[int]:
    """Indices of the LCP's basic ``z`` in one mode of one carrier."""
    name, basis = part.carrier.name, []
    if name in normals:
        if part.carrier.kind is CarrierKind.BILATERAL:
            basis += [normals.index(name)] if any(row.label == "lambda_N <= 0" for row in part.inequalities) else []
        elif part.label is not ContactMode.FREE:
            basis.append(normals.index(name))
    if name in resting:
        right = len(normals) + resting.index(name)
        if part.label in (ContactMode.STICK, ContactMode.SLIDE_MINUS):
            basis.append(right)
        if part.label is ContactMode.SLIDE_MINUS:
            basis.append(right + len(resting))
    return basis
