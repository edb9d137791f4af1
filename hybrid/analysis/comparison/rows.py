"""One row of a comparison for every method: rigid problem, impact laws, velocity problem, penalty runs.

What the rows say in words.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.analysis.comparison.restitution import approaching_impulse
from hybrid.analysis.comparison.settling import settling_time
from hybrid.contact.activity import element_names
from hybrid.contact.compliance.kinematics import without_bilateral
from hybrid.contact.compliance.law import KelvinVoigt, KelvinVoigtLimit
from hybrid.contact.compliance.path import (
    CompliantMotion,
    ContactHistory,
    histories_of_motion,
    histories_of_path,
    times_to_stick,
)
from hybrid.contact.impacts.impact import (
    AbstractImpactLaw,
    Impact,
    ImpactProblem,
    impact_problem,
    resolve_impact,
)
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact, VelocityProblem
from hybrid.contact.modes import ContactMode, Mode
from hybrid.errors import ComputationError
from hybrid.tolerances import NOTHING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hybrid.contact.verdict import Selection
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State

__all__ = [
    "FROZEN",
    "SHOWN",
    "ComparisonRow",
    "Inquiry",
    "in_a_line",
    "mode_after",
    "note_of",
    "number_in_full",
    "run_name",
    "unfinished",
]


FROZEN = 0.5
"""Change of the Delassus operator from which a posture is not frozen even roughly."""
SHOWN = NOTHING
"""Velocities below this, relative to the largest, are shown as 0."""
_MANY = 3  # phases shown in one line


def in_a_line(kinds: Sequence[str]) -> str:
    """Phases in a line; only how many and the last where there are many.

    Parameters
    ----------
    kinds : sequence of str

    Returns
    -------
    str
        ``"slide+ -> stick"``.
    """
    return " -> ".join(kinds) if len(kinds) <= _MANY else f"{len(kinds)} phases, at last {kinds[-1]}"


def mode_after(dynamics: Dynamics, state: State, impact: Impact, *, zero: float) -> str:
    """Label of the mode read off the velocities after an impact, where contacts that it leaves out are open.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
        Before it.
    impact : Impact
    zero : float
        Velocity up to which a contact stays closed, or at rest.

    Returns
    -------
    str
    """
    modes = dict.fromkeys(element_names(dynamics), ContactMode.FREE)
    slips = dynamics.terms(state.q, impact.v_after, t=state.t).slip
    for name in modes:
        slip = slips[list(dynamics.columns_of(name))].tolist()
        if name not in dynamics.contacts or impact.gap_dot_after.get(name, np.inf) <= zero:
            moves = max(map(abs, slip), default=0.0) > zero
            modes[name] = ContactMode.of_slip(slip if moves else None, len(slip))
    return Mode(modes).label


def unfinished(motion: CompliantMotion) -> str:
    """What a run that has not released all contacts does at its end.

    Parameters
    ----------
    motion : CompliantMotion

    Returns
    -------
    str
        A predicate.
    """
    return "still in contact" if any(motion.force_N.values()) else "about to come back"


def note_of(method: str, motion: CompliantMotion) -> str:
    """What to make of a run so soft that the mechanism moves on meanwhile, or that could not be followed to its end.

    Parameters
    ----------
    method : str
        Name of the run.
    motion : CompliantMotion

    Returns
    -------
    str
    """
    ended = "lets go" if motion.has_separated else f"is {unfinished(motion)}"
    cut = ", where the run was ended for its effort" if motion.is_cut else ""
    said = f"{method} {ended} at t = {motion.state.t:.6g}{cut}: "
    if motion.posture_change <= FROZEN:
        return said + "something moves much faster than the contact, be it in the mechanism or its own damper"
    return (
        f"{said}until then the Delassus operator changed by {100 * motion.posture_change:.0f} percent, so the posture, "
        f"which the rigid problem and the limit hold frozen, was not, and neither says anything about this run; take a "
        f"larger stiffness"
    )


def run_name(K: float) -> str:
    """Name of a penalty run: its stiffness, short where that is exact.

    Parameters
    ----------
    K : float
        Force per length.

    Returns
    -------
    str

    Examples
    --------
    >>> run_name(1e8), run_name(1234567.8)
    ('penalty K=1e+08', 'penalty K=1234567.8')
    """
    return f"penalty K={number_in_full(K)}"


def number_in_full(value: float) -> str:
    """A number with all its digits, in short form where that is exact.

    Parameters
    ----------
    value : float

    Returns
    -------
    str
    """
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


# fast time of a penalty run where contact persists, of a contact of unit mass: damped motions have settled
_PERSISTING = 80.0
_LONGEST = 5.0  # times that long at most, where a mode needs longer to settle


@attrs.frozen(eq=False)
class ComparisonRow:
    """What one method says about the state.

    Attributes
    ----------
    method : str
        ``"rigid LCP"``, ``"newton"``, ``"poisson"``, ``"energetic"``, ``"velocity LCP"``, ``"kelvin-voigt"`` or
        ``"penalty K=..."``.
    outcome : str
        The verdict and its modes, the phases of an impact, or what a penalty run ends in.
    mode : str
        What the contacts do afterwards: ``"free"``, ``"stick"``, ``"slide+"``, ``"a=free,b=stick"``; all consistent
        modes of the rigid problem, joined by bars, or ``"none"``.
    v_after : mapping of str to float
        Generalised velocities by name; empty where the method gives none.
    gap_dot_after : mapping of str to float
    slip_after : mapping of str to tuple of float
    impulse_N : mapping of str to float
    impulse_T : mapping of str to tuple of float
    energy_change : float or None
        Of the kinetic energy.
    duration : float or None
        In fast time, units of sqrt(kg); infinite for the departure of an impact without collision in the limit.
    time_to_stick : mapping of str to float
        Fast time after which a contact sticks first; only contacts that do, and only of compliant methods.
    stiffness : float or None
        Of a penalty run, in N/m.
    approach : float or None
        Normal velocity with which a penalty run meets the contact, if not that of the state.
    error : float or None
        Of a penalty run: largest difference of its velocities to the Kelvin-Voigt limit, or, where it ends in the one
        rigid mode, difference of its normal force to the rigid one relative to that.
    """

    method: str
    outcome: str
    mode: str = ""
    v_after: Mapping[str, float] = attrs.field(factory=dict)
    gap_dot_after: Mapping[str, float] = attrs.field(factory=dict)
    slip_after: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    impulse_N: Mapping[str, float] = attrs.field(factory=dict)
    impulse_T: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    energy_change: float | None = None
    duration: float | None = None
    time_to_stick: Mapping[str, float] = attrs.field(factory=dict)
    stiffness: float | None = None
    approach: float | None = None
    error: float | None = None


@attrs.define(eq=False)
class Inquiry:
    """The state with everything that the methods need; notes and histories are what they leave besides their rows.

    Attributes
    ----------
    dynamics : Dynamics
        At its parameters.
    state : State
    damping : float or None
    tolerances : Tolerances
    samples : int
        Samples per phase of a compliant method.
    notes : list of str
        On the laws.
    notes_of_runs : list of str
        Notes on the penalty runs.
    histories : dict of str to dict of str to ContactHistory
        By method and contact.
    """

    dynamics: Dynamics
    state: State
    damping: float | None
    tolerances: Tolerances
    samples: int = 0
    notes: list[str] = attrs.field(factory=list)
    notes_of_runs: list[str] = attrs.field(factory=list)
    histories: dict[str, dict[str, ContactHistory]] = attrs.field(factory=dict)
    _modes: str = attrs.field(default="", init=False)  # of the rigid problem, once it has its row

    @property
    def speed(self) -> float:
        """The largest generalised velocity, next to which others are measured."""
        return float(np.max(np.abs(self.state.v), initial=0.0))

    @cached_property
    def _problem(self) -> ImpactProblem:
        """The impact of the closed contacts."""
        return impact_problem(self.dynamics, self.state, tolerances=self.tolerances)

    @property
    def _slowest(self) -> float:
        """Fast time per radian of the slowest of the closed contacts."""
        problem = self._problem
        terms = self.dynamics.terms(self.state.q, self.state.v, t=self.state.t)
        ratios = dict(zip(self.dynamics.contacts, terms.stiffness_ratio.tolist(), strict=True))
        reduced = without_bilateral(problem)
        G = problem.G if reduced is None else reduced.full
        factors = [ratios[c.name] * G[c.rows[0], c.rows[0]] for c in problem.elements if c.name in ratios]
        return float(min(factors) ** -0.5)

    def named(self, v: np.ndarray) -> dict[str, float]:
        """Generalised velocities by name."""
        return dict(zip(self.dynamics.mechanism.velocities, v.tolist(), strict=True))

    def rigid(self, selection: Selection) -> ComparisonRow:
        """Row of the acceleration problem."""
        self._modes = " | ".join(branch.mode.label for branch in selection.branches)
        labels = self._modes or "none"
        rates = dict(zip(self.dynamics.contacts, selection.problem.terms.gap_dot.tolist(), strict=True))
        return ComparisonRow(
            method="rigid LCP",
            outcome=f"{selection.verdict.name}: {labels}",
            mode=labels,
            v_after=self.named(self.state.v) if selection.branches else {},
            gap_dot_after=rates if selection.branches else {},
            energy_change=0.0 if selection.branches else None,
        )

    def laws(self) -> Iterator[ComparisonRow]:
        """Rows of the impact laws; one that does not apply leaves a note instead."""
        limit = KelvinVoigtLimit(self.damping)
        for law in (NewtonImpact(), PoissonImpact(), EnergeticImpact(), limit):
            yield from self._law(law)
        if self.samples:
            self._keep_history(limit)
        yield from self._law(VelocityProblem())

    def _keep_history(self, limit: KelvinVoigtLimit) -> None:
        problem = self._problem
        try:
            samples = limit.path(problem, samples=self.samples).samples
        except ComputationError:
            return  # its row is a note with the reason
        if samples is not None:
            self.histories[limit.name] = histories_of_path(samples, problem.elements)

    def _law(self, law: AbstractImpactLaw) -> Iterator[ComparisonRow]:
        try:
            impact = resolve_impact(self.dynamics, self.state, law=law, tolerances=self.tolerances)
        except ComputationError as error:
            self.notes.append(f"{law.name}: {error}")
            return
        self.notes += [f"{law.name}: {warning}" for warning in impact.warnings]
        yield self._impact(impact)

    def _impact(self, impact: Impact) -> ComparisonRow:
        phases = [(phase.kind, phase.duration) for phase in impact.phases]
        is_compliant = impact.law == "kelvin-voigt"
        least = SHOWN * self.speed or self.tolerances.velocity
        is_struck = bool(np.max(np.abs(impact.v_after - impact.v_before)) > least)
        rests = bool(self._modes) and not is_struck  # what happens next is the rigid problem's
        return ComparisonRow(
            method=impact.law,
            outcome=in_a_line([kind for kind, _ in phases] if is_struck else []) or "no impulse",
            mode=self._modes if rests else mode_after(self.dynamics, self.state, impact, zero=least),
            v_after=self.named(impact.v_after),
            gap_dot_after=impact.gap_dot_after,
            slip_after=impact.slip_after,
            impulse_N=impact.impulse_N,
            impulse_T=impact.impulse_T,
            energy_change=impact.energy_change,
            duration=impact.duration if is_compliant else None,
            time_to_stick=times_to_stick(phases, tuple(impact.gap_dot_after)) if is_compliant else {},
        )

    def penalty(
        self,
        K: float,
        selection: Selection | None,
        *,
        limit: ComparisonRow | None = None,
        persists: bool = False,
        met: tuple[str, float] | None = None,
    ) -> ComparisonRow:
        """Row of a penalty run: to release, or, where a mode persists, until it has settled.

        ``selection`` is the rigid answer if it is one motion, ``limit`` the row that the velocities approach, ``met``
        an approach with its name, in place of the one of the state.
        """
        name, approach = met or ("", None)
        horizon, settles = self._horizon(selection)
        motion = KelvinVoigt(K, self.damping).pass_through(
            self.dynamics,
            self.state if approach is None else self._approaching(approach),
            tolerances=self.tolerances,
            samples=self.samples,
            horizon=horizon if persists or selection is not None else None,
        )
        method = run_name(K) + (f", {name}" if name else "")
        if motion.samples is not None:
            self.histories[method] = histories_of_motion(motion.samples, self.dynamics)
        kinds = in_a_line([kind for kind, _ in motion.phases]) or "free"
        ended = "released"
        if not motion.has_separated:
            ended = f"{unfinished(motion)} at t = {motion.state.t:.6g}: {motion.label}"
        if motion.posture_change > FROZEN or motion.is_cut:
            self.notes_of_runs.append(note_of(method, motion))
        return ComparisonRow(
            method=method,
            outcome=motion.label if selection is not None else f"{kinds}; {ended}",
            mode=motion.label,
            v_after=self.named(motion.state.v),
            gap_dot_after=motion.gap_dot_after,
            slip_after=motion.slip_after,
            impulse_N=motion.impulse_N,
            impulse_T=motion.impulse_T,
            energy_change=motion.energy_change,
            duration=motion.duration,
            time_to_stick=times_to_stick(motion.phases, self.dynamics.contacts),
            stiffness=K,
            approach=approach,
            error=_error(motion, selection, limit) if settles else None,
        )

    def _horizon(self, selection: Selection | None) -> tuple[float, bool]:
        """Fast time in which a mode settles, and whether it does; the usual one where none persists."""
        usual = _PERSISTING * self._slowest
        needed = settling_time(selection.problem, selection.branches[0], self.damping) if selection else 0.0
        if needed <= _LONGEST * usual:
            return max(usual, needed), True
        said = (
            "the forces of the penalty runs are not compared: the fast motion of the contact mode "
            + (f"takes {needed:.4g} units of fast time to die out" if np.isfinite(needed) else "does not die out")
            + f", and the runs end after {usual:.4g}"
        )
        if said not in self.notes_of_runs:
            self.notes_of_runs.append(said)
        return usual, False

    def _approaching(self, rate: float) -> State:
        """The state with the one closed contact approaching, its slip kept: changed as by an impulse."""
        problem = self._problem
        row = problem.normals[0]
        reduced = without_bilateral(problem)
        change = np.array(rate - problem.gamma[row])
        if reduced is None:
            impulse = approaching_impulse(problem.G, row, change)
        else:
            impulse = reduced.impulses(approaching_impulse(reduced.G, reduced.place[row], change))
        return attrs.evolve(self.state, v=self.state.v + problem.response_W @ impulse)


def _error(motion: CompliantMotion, selection: Selection | None, limit: ComparisonRow | None) -> float | None:
    if motion.is_cut:
        return None
    if selection is not None:
        rigid = selection.branches[0]
        forces = rigid.lambda_N
        size = max(map(abs, forces.values()), default=0.0)
        if not size or motion.label not in {mode.label for mode in rigid.modes}:
            return None  # the forces of another mode say nothing about the stiffness
        return max(abs(motion.force_N[name] - force) for name, force in forces.items()) / size
    if limit is None or not motion.has_separated:
        return None
    return float(np.max(np.abs(motion.state.v - np.array(list(limit.v_after.values())))))
