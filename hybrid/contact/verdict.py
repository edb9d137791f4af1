"""The answer to a contact problem: a verdict, the branches, and evidence: doubts, margin, proof, cross-check."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.candidates import Candidate, CandidateStatus, mode_of
from hybrid.contact.certificate import Certificate, certify, verify_certificate
from hybrid.contact.complementarity import end_of_path, is_complementarity_problem, to_lcp
from hybrid.contact.families import contains, family_accelerates_alike
from hybrid.contact.modes import ContactMode
from hybrid.contact.sliding import TangentialReport, tangential_reports
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.errors import ComputationError
from lcp import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from hybrid.contact.branches import Branch, ForceSet
    from hybrid.contact.conditions import Scale
    from hybrid.contact.cover.certificate import CoverCertificate
    from hybrid.contact.mode_certificate import ModeCertificate
    from hybrid.contact.modes import Mode
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.pruning import SearchedModes, TreeCertificate
    from hybrid.contact.solutions import PhysicalSolution
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State
    from hybrid.tolerances import Tolerances

__all__ = [
    "ENUMERATION",
    "Crosscheck",
    "Selection",
    "Verdict",
    "about_tie",
    "certified",
    "crosscheck",
    "doubts_of",
    "margin_of",
    "with_history",
]


ENUMERATION = "enumeration of all modes"
COVER = "a cover of all motions of the contacts at rest"


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
        Smallest distance of a mode's decision to its flip, in units of the problem's data: of a slack or, of a
        consistent mode, of the determinant of its equations, each scaled to length 1. At a tie nearly 0; the verdict is
        UNDECIDED if it hangs on that. Where modes are many, a bound: by how much what refutes several at once does so.
        A small one warns; a large one is no proof for other data, for which a mode may hold whose forces, here huge and
        of the wrong sign, come from infinity.
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
    is_exhaustive : bool
        False where an UNDECIDED or INDETERMINATE state may have motions besides the branches that were found.
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
    is_exhaustive: bool = True

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


def doubts_of(
    problem: ContactProblem,
    candidates: Sequence[Candidate],
    solutions: Sequence[PhysicalSolution],
    scale: Scale,
    tolerances: Tolerances,
) -> list[str]:
    """Reasons why the number of solutions cannot be vouched for; none if it can.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    candidates : sequence of Candidate
        All modes that were solved.
    solutions : sequence of PhysicalSolution
        What the consistent ones among them amount to.
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    list of str
        One sentence each.
    """
    doubts = []
    for item in candidates:
        if item.status is CandidateStatus.ESCAPING:
            name = mode_of(problem, item).label
            unbounded = bool(np.isnan(item.forces).any())
            how, what = ("singular here", "unbounded") if unbounded else ("singular here, or nearly", "other")
            doubts.append(f"the equations of mode {name} are {how}: a small change admits {what} forces")
    for solution in solutions:
        if solution.is_robust:
            continue
        leading = solution.leading
        name = mode_of(problem, leading).label
        if not family_accelerates_alike(problem, leading, scale):
            doubts.append(f"mode {name} has a continuum of forces with different accelerations")
        else:
            tied = min(solution.members, key=lambda item: np.min(np.abs(item.scaled_slacks), initial=np.inf))
            worst = tied.labels[int(np.argmin(np.abs(tied.scaled_slacks)))] if tied.labels else ("", "")
            by = float(np.min(np.abs(tied.scaled_slacks), initial=np.inf))
            doubts.append(about_tie(mode_of(problem, tied), by, *worst))
    return doubts


def about_tie(mode: Mode, by: float, name: str, inequality: str) -> str:
    """The sentence about an inequality of which rounding decides whether it holds.

    Parameters
    ----------
    mode : Mode
    by : float
        Scaled magnitude of its slack.
    name, inequality : str
        Of the force element, and what it demands.

    Returns
    -------
    str
    """
    return (
        f"mode {mode.label} holds or fails by {by:.1e} of the data ({name}: {inequality}), and the number of solutions "
        "depends on it"
    )


def certified(
    problem: ContactProblem, candidates: Sequence[Candidate], searched: SearchedModes | None = None
) -> tuple[Certificate | ModeCertificate | TreeCertificate | None, list[str]]:
    """The proof of inconsistency; without it the state is undecided.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    candidates : sequence of Candidate
        All modes, or those that a search has left, each of them refuted.
    searched : SearchedModes, optional

    Returns
    -------
    certificate : Certificate, ModeCertificate, TreeCertificate or None
    doubts : list of str
        Why there is none; empty if there is one.
    """
    refuted = [(mode_of(problem, item), item) for item in candidates]
    if any(element.is_spatial_at_rest for element in problem.elements):
        return None, ["no mode is consistent, but no certificate exists: a spatial contact at rest has a circular cone"]
    certificate: Certificate | ModeCertificate | TreeCertificate | None = None
    if searched is not None:
        from hybrid.contact.pruning import certify_tree  # not needed where modes are few

        certificate = certify_tree(problem, searched, candidates)
    elif bool(is_complementarity_problem(problem)):
        certificate = certify(problem, to_lcp(problem), refuted)
    if searched is None and certificate is None:
        from hybrid.contact.mode_certificate import certify_modes  # what is no complementarity problem

        certificate = certify_modes(problem, refuted)
    if certificate is None:
        return None, ["no mode is consistent in floating point, but exact arithmetic does not confirm it"]
    if not verify_certificate(certificate):
        return None, ["no mode is consistent, but the certificate fails its check in exact arithmetic"]
    return certificate, []


def margin_of(candidates: Sequence[Candidate], solutions: Sequence[PhysicalSolution]) -> float:
    """Smallest margin of the modes: at a tie that of the tie, whatever the verdict is.

    A set of forces that nothing determines counts by its middle. Modes at its edge are no decisions: it always has one.

    Parameters
    ----------
    candidates : sequence of Candidate
    solutions : sequence of PhysicalSolution

    Returns
    -------
    float
        In units of the problem's data; infinite if there is nothing to decide.
    """
    harmless = {
        id(item)
        for solution in solutions
        if solution.is_robust and solution.leading.family is not None
        for item in solution.members[1:]
        if item.status is not CandidateStatus.CONSISTENT
    }
    return min((abs(item.margin) for item in candidates if id(item) not in harmless), default=float("inf"))


@attrs.frozen
class Crosscheck:
    """What Lemke's method found next to the enumeration of modes.

    Attributes
    ----------
    status : lcp.Status
    agrees : bool or None
        True if its solution accelerates the mechanism like one of the modes found; None if it found none, which
        contradicts nothing.
    sentence : str
    """

    status: Status
    agrees: bool | None
    sentence: str


def crosscheck(
    problem: ContactProblem, solutions: Sequence[PhysicalSolution], scale: Scale, tolerances: Tolerances
) -> Crosscheck | None:
    """The same problem by Lemke's method, compared with the solutions that the enumeration of modes found.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    solutions : sequence of PhysicalSolution
        All that were found.
    scale : Scale
    tolerances : Tolerances
        ``merge`` is the share up to which scaled accelerations agree, here times 100.

    Returns
    -------
    Crosscheck or None
        None where the problem is not one LCP, or has no unknowns.
    """
    if not problem.elements:
        return None
    try:
        found = end_of_path(problem)
    except ComputationError:
        return None
    if found is None:
        return None
    status, forces = found
    if status is not Status.SOLVED:
        known = "although a mode is consistent" if solutions else "as it may where no mode is consistent"
        return Crosscheck(status, None, f"Lemke's method {status.value}, {known}")
    a = ((problem.G @ forces + problem.c) / (scale.row * scale.size)).tolist()
    limit = 100 * tolerances.merge * (1.0 + max(map(abs, a)))
    agrees = any(
        max(abs(x - y) for x, y in zip(a, item.contact_acceleration.tolist(), strict=True)) <= limit
        or (item.is_continuum and contains(problem, item.leading, forces, scale, tolerances))
        for item in solutions
    )
    word = "finds the same accelerations" if agrees else "finds accelerations that no mode has"
    return Crosscheck(status, agrees, f"Lemke's method {word}")


def with_history(
    problem: ContactProblem, branches: tuple[Branch, ...], *, held: Set[str], broken: Mapping[str, ContactMode]
) -> tuple[Branch, ...]:
    """Leave out branches that static friction above kinetic rules out for a force element with a history.

    Of all others nothing is left out: their history tells no more than the state does.

    Parameters
    ----------
    problem : ContactProblem
    branches : tuple of Branch
    held : set of str
        Force elements that stuck until now or have just come to rest.
    broken : mapping of str to ContactMode
        Force elements whose static limit was reached, and the slide that follows.

    Returns
    -------
    tuple of Branch
    """
    remembering = {c.name for c in problem.elements if np.any(c.static_friction != c.friction)}
    sticking = (held & remembering) - set(broken)
    kept = []
    for branch in branches:
        modes = [m for m in branch.modes if _fits(m, branches, sticking, broken)]
        if modes:
            kept.append(attrs.evolve(branch, mode=modes[0], equivalent_modes=tuple(modes[1:])))
    return tuple(kept)


def _fits(mode: Mode, branches: tuple[Branch, ...], sticking: Set[str], broken: Mapping[str, ContactMode]) -> bool:
    """True if every force element with a history does in a mode what static friction has it do."""
    for name, slide in broken.items():
        if mode[name] not in (slide, ContactMode.FREE):
            return False
    others = [m for branch in branches for m in branch.modes]
    for name in sticking:
        if mode[name].slip_sign and any(
            other[name] is ContactMode.STICK and all(other[n] is mode[n] for n in mode if n != name) for other in others
        ):
            return False
    return True
