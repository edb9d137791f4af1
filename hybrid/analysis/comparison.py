"""Rigid laws and compliant contacts side by side at one state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.analysis.velocity_problem import velocity_impact
from hybrid.contact.compliance import KelvinVoigtLimit
from hybrid.contact.compliance_motion import CompliantMotion
from hybrid.contact.compliance_penalty import KelvinVoigt
from hybrid.contact.compliance_resolution import Outcome, resolve
from hybrid.contact.impact import AbstractImpactLaw, Impact, resolve_impact
from hybrid.contact.impact_laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.selection import Selection, Verdict
from hybrid.errors import ComputationError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State

_PERSISTING = 40.0  # stretched time of a penalty run where contact persists: damped motions have settled
_SHOWN = 1e-9  # velocities below this, relative to the largest, are shown as 0
_MANY = 3  # phases shown in one line
_SAME = 1e-6  # normal velocities that differ by less, relative to the largest velocity, agree


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
    v_after : mapping of str to float
        Generalised velocities by name; empty where the method gives none.
    gap_dot_after : mapping of str to float
    slip_after : mapping of str to tuple of float
    impulse_N : mapping of str to float
    impulse_T : mapping of str to tuple of float
    energy_change : float or None
        Of the kinetic energy.
    duration : float or None
        In stretched time; infinite for the departure of an impact without collision in the limit.
    stiffness : float or None
        Of a penalty run.
    error : float or None
        Of a penalty run: largest difference of its velocities to the Kelvin-Voigt limit, or, where one mode persists,
        difference of its normal force to the rigid one relative to that.
    """

    method: str
    outcome: str
    v_after: Mapping[str, float] = attrs.field(factory=dict)
    gap_dot_after: Mapping[str, float] = attrs.field(factory=dict)
    slip_after: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    impulse_N: Mapping[str, float] = attrs.field(factory=dict)
    impulse_T: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    energy_change: float | None = None
    duration: float | None = None
    stiffness: float | None = None
    error: float | None = None


@attrs.frozen(eq=False)
class Comparison:
    """One state as the rigid laws and the compliant contact see it.

    Attributes
    ----------
    verdict : str
        Name of the rigid verdict; ``"IMPACT"`` where a contact approaches and accelerations do not decide.
    rows : tuple of ComparisonRow
    observed_order : float or None
        Exponent of ``K`` with which the errors of the penalty runs fall, by least squares in logarithms; theory gives
        -1/2. None with fewer than two errors.
    notes : tuple of str
        Where the methods disagree, and why.
    """

    verdict: str
    rows: tuple[ComparisonRow, ...]
    observed_order: float | None
    notes: tuple[str, ...]

    def row(self, method: str) -> ComparisonRow:
        """The row of a method; KeyError if there is none."""
        return {row.method: row for row in self.rows}[method]


def compare(
    dynamics: Dynamics,
    state: State,
    *,
    stiffness: Sequence[float] = (1e6, 1e8),
    damping: float | None = None,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> Comparison:
    """Compare the rigid laws with the compliant contact at a state.

    The rigid acceleration problem, the impact laws of Newton, Poisson and Stronge with the declared restitution, the
    velocity problem of Stewart and Trinkle (1996), the Kelvin-Voigt limit, and penalty runs at given stiffnesses.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
        With a closed contact.
    stiffness : sequence of float
        Of the penalty runs.
    damping : float, optional
        Replaces the declared damping.
    parameters, tolerances : optional

    Returns
    -------
    Comparison

    Raises
    ------
    StateError
        No contact is closed, or the only ones separate already.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> state = solve_state(rod, {"theta": 1, "theta_dot": 0.5, "slip.tip": 1}, parameters={"mu": 1.4})
    >>> found = compare(rod, state, stiffness=(), parameters={"mu": 1.4})
    >>> found.verdict, round(found.row("kelvin-voigt").gap_dot_after["tip"], 8)
    ('INCONSISTENT', 0.04577472)
    """
    task = _Task(dynamics, state, damping, parameters, tolerances)
    resolution = resolve(
        dynamics, state, method=KelvinVoigtLimit(damping), parameters=parameters, tolerances=tolerances
    )
    selection = resolution.selection
    rows = [*([_rigid_row(task, selection)] if selection is not None else []), *task.laws()]
    verdict = "IMPACT" if selection is None else selection.verdict.name
    has_mode = selection is not None and selection.verdict in (Verdict.UNIQUE, Verdict.HYPERSTATIC)
    limit = next((row for row in rows if row.method == "kelvin-voigt"), None)
    for K in stiffness:
        rows.append(task.penalty(K, selection if has_mode else None, limit, resolution.outcome))
    speed = float(np.max(np.abs(state.v), initial=0.0))
    differ = [] if has_mode else [*task.notes, *_disagreements(rows, task.named(state.v), speed)]
    notes = (f"{resolution.outcome.value}: {resolution.reason}", *differ)
    return Comparison(verdict, tuple(rows), _observed_order(rows, 1.0 if has_mode else speed), notes)


def _observed_order(rows: Sequence[ComparisonRow], size: float) -> float | None:
    """Slope of the logarithm of the error over that of the stiffness; errors of the integration itself do not count."""
    errors = [(row.stiffness, row.error) for row in rows if row.stiffness and (row.error or 0.0) > _SHOWN * size]
    if len({K for K, _ in errors}) < 2:
        return None
    x, y = np.log(np.array(errors)).T
    return float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))


def _rigid_row(task: _Task, selection: Selection) -> ComparisonRow:
    labels = " | ".join(branch.mode.label for branch in selection.branches) or "none"
    names = task.dynamics.contacts
    terms = selection.problem.terms
    return ComparisonRow(
        method="rigid LCP",
        outcome=f"{selection.verdict.name}: {labels}",
        v_after=task.named(task.state.v) if selection.branches else {},
        gap_dot_after=dict(zip(names, terms.gap_dot.tolist(), strict=True)) if selection.branches else {},
        energy_change=0.0 if selection.branches else None,
    )


@attrs.define(eq=False)
class _Task:
    """The state with everything that the methods need, and the notes they leave."""

    dynamics: Dynamics
    state: State
    damping: float | None
    parameters: Values | None
    tolerances: Tolerances
    notes: list[str] = attrs.field(factory=list)

    def named(self, v: np.ndarray) -> dict[str, float]:
        """Generalised velocities by name."""
        return dict(zip(self.dynamics.mechanism.velocities, v.tolist(), strict=True))

    def laws(self) -> Iterator[ComparisonRow]:
        """Rows of the impact laws; one that does not apply leaves a note instead."""
        for law in (NewtonImpact(), PoissonImpact(), EnergeticImpact(), KelvinVoigtLimit(self.damping)):
            yield from self._law(law)
        answer = velocity_impact(self.dynamics, self.state, parameters=self.parameters, tolerances=self.tolerances)
        if isinstance(answer, str):
            self.notes.append(answer)
        else:
            yield self._impact_row(answer)

    def _law(self, law: AbstractImpactLaw) -> Iterator[ComparisonRow]:
        try:
            impact = resolve_impact(
                self.dynamics, self.state, law=law, parameters=self.parameters, tolerances=self.tolerances
            )
        except ComputationError as error:
            self.notes.append(f"{law.name}: {error}")
            return
        self.notes += [f"{law.name}: {warning}" for warning in impact.warnings]
        yield self._impact_row(impact)

    def _impact_row(self, impact: Impact) -> ComparisonRow:
        kinds = _course([phase.kind for phase in impact.phases])
        return ComparisonRow(
            method=impact.law,
            outcome=kinds or "no impulse",
            v_after=self.named(impact.v_after),
            gap_dot_after=impact.gap_dot_after,
            slip_after=impact.slip_after,
            impulse_N=impact.impulse_N,
            impulse_T=impact.impulse_T,
            energy_change=impact.energy_change,
            duration=impact.duration if impact.law == "kelvin-voigt" else None,
        )

    def penalty(
        self, K: float, selection: Selection | None, limit: ComparisonRow | None, outcome: Outcome
    ) -> ComparisonRow:
        """Row of a penalty run: to release, or, where one mode persists, until it has settled."""
        method = KelvinVoigt(K, self.damping)
        keeps = selection is not None or outcome is Outcome.UNRESOLVED
        horizon = {"horizon": _PERSISTING} if keeps else {}
        motion = method.pass_through(
            self.dynamics, self.state, parameters=self.parameters, tolerances=self.tolerances, **horizon
        )
        kinds = _course([kind for kind, _ in motion.phases]) or "free"
        ended = "released" if motion.has_separated else f"in contact at the horizon: {motion.label}"
        return ComparisonRow(
            method=f"penalty K={K:g}",
            outcome=motion.label if selection is not None else f"{kinds}; {ended}",
            v_after=self.named(motion.state.v),
            gap_dot_after=motion.gap_dot_after,
            slip_after=motion.slip_after,
            impulse_N=motion.impulse_N,
            impulse_T=motion.impulse_T,
            energy_change=motion.energy_change,
            duration=motion.duration,
            stiffness=K,
            error=_error(motion, selection, limit, outcome),
        )


def _course(kinds: Sequence[str]) -> str:
    """Phases in a line; only how many and the last where there are many."""
    return " -> ".join(kinds) if len(kinds) <= _MANY else f"{len(kinds)} phases, at last {kinds[-1]}"


def _error(
    motion: CompliantMotion, selection: Selection | None, limit: ComparisonRow | None, outcome: Outcome
) -> float | None:
    if selection is not None:
        forces = selection.branches[0].lambda_N
        size = max(map(abs, forces.values()), default=0.0)
        if not size:
            return None
        return max(abs(motion.force_N[name] - force) for name, force in forces.items()) / size
    if outcome not in (Outcome.IMPACT, Outcome.IMPACT_WITHOUT_COLLISION) or limit is None:
        return None
    return float(np.max(np.abs(motion.state.v - np.array(list(limit.v_after.values())))))


def _disagreements(rows: Sequence[ComparisonRow], before: Mapping[str, float], speed: float) -> Iterator[str]:
    """Sentences on what tells the impact laws apart."""
    laws = [row for row in rows if row.impulse_N and row.stiffness is None]
    for name in laws[0].gap_dot_after if laws else ():
        rates = {row.method: row.gap_dot_after[name] for row in laws}
        if max(rates.values()) - min(rates.values()) > _SAME * speed:
            shown = ", ".join(f"{m} {r if abs(r) > _SHOWN * speed else 0.0:.6g}" for m, r in rates.items())
            yield f"the laws disagree on gap_dot.{name} after: {shown}"
    idle = [
        row.method for row in laws if max(abs(row.v_after[name] - v) for name, v in before.items()) <= _SAME * speed
    ]
    if idle and len(idle) < len(laws):
        yield f"{', '.join(idle)}: answered without an impulse, where the others strike"
