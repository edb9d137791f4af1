"""The answer to a contact problem: a verdict, the branches, and evidence."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import attrs

from hybrid.contact.sliding import TangentialReport, tangential_reports
from hybrid.displays import AbstractDisplayed, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.branches import Branch, ForceSet
    from hybrid.contact.certificate import Certificate
    from hybrid.contact.doubts import Crosscheck
    from hybrid.contact.mode_certificate import ModeCertificate
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.pruning import TreeCertificate
    from hybrid.contact.standing.certificate import CoverCertificate
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State

ENUMERATION = "enumeration of all modes"


class Verdict(Enum):
    """What is true of a state; the value is the sentence shown to the user."""

    UNIQUE = "exactly one contact mode is consistent"
    INDETERMINATE = "several contact modes are consistent, or one in a continuum of ways, with different accelerations"
    HYPERSTATIC = "the accelerations are unique, the contact forces are not"
    INCONSISTENT = "no contact mode is consistent"
    UNDECIDED = "the verdict hangs on a sign that lies within the tolerance, or on what was not computed"


@attrs.frozen(eq=False)
class Selection(AbstractDisplayed):
    """The answer of :func:`select`.

    Attributes
    ----------
    problem : ContactProblem
    verdict : Verdict
    branches : tuple of Branch
        One per acceleration; of a continuum of them, one per extreme point.
    margin : float
        Smallest distance of a decision to its flip, in units of the problem's data; decisions within the tolerances
        make the verdict UNDECIDED.
    certificate : Certificate, ModeCertificate, TreeCertificate, CoverCertificate or None
        Proof, for INCONSISTENT.
    cover : CoverCertificate or None
        Of several spatial contacts at rest: proof that there are no solutions but the branches'.
    continua : tuple of ForceSet
        For INDETERMINATE, the forces of every mode that has a continuum of accelerations.
    decided_by : str
        The method that decided.
    crosscheck : Crosscheck or None
        What the cross-check found.
    notes : tuple of str
    dynamics : Dynamics or None
    state : State or None
        Of :func:`select`: what it was decided of. None where the problem was given by numbers.
    """

    problem: ContactProblem
    verdict: Verdict
    branches: tuple[Branch, ...]
    margin: float
    certificate: Certificate | CoverCertificate | ModeCertificate | TreeCertificate | None = None
    continua: tuple[ForceSet, ...] = ()
    decided_by: str = ENUMERATION
    crosscheck: Crosscheck | None = None
    notes: tuple[str, ...] = ()
    cover: CoverCertificate | None = None
    dynamics: Dynamics | None = attrs.field(default=None, repr=False)
    state: State | None = attrs.field(default=None, repr=False)

    def __repr__(self) -> str:
        modes = "; ".join(branch.mode.label for branch in self.branches)
        named = f"Selection {self.problem.mechanism}".strip()
        return one_line(named, self.verdict.name + (f" ({modes})" if modes else ""), f"margin {self.margin:.3g}")

    @property
    def count(self) -> int:
        """Number of branches: of solutions with different accelerations, or of the extreme points of a continuum."""
        return len(self.branches)

    @property
    def force_set(self) -> ForceSet | None:
        """All contact forces of the only acceleration; None if they are unique or there are several accelerations."""
        return self.branches[0].force_set if len(self.branches) == 1 and not self.continua else None

    @property
    def tangential(self) -> Mapping[str, TangentialReport]:
        """For a single planar contact at rest: the question of vanishing slip."""
        return tangential_reports(self.problem, self.branches)
