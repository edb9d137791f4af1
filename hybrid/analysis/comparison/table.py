"""Rigid laws and compliant contacts side by side at one state.

The order with which penalty runs approach their limit, and how well it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.comparison.rows import SHOWN, ComparisonRow, Inquiry, run_name
from hybrid.arguments import checks_arguments
from hybrid.contact.compliance.law import KelvinVoigtLimit, check_stiffness
from hybrid.contact.compliance.path import check_samples
from hybrid.contact.compliance.resolution import Outcome, Resolution, resolve
from hybrid.contact.selection import select
from hybrid.contact.verdict import Selection, Verdict
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics import state_of
from hybrid.dynamics.derive import bound
from hybrid.dynamics.scales import scales_of
from hybrid.errors import ArgumentError, ComputationError
from hybrid.tables import dataframe
from hybrid.tolerances import CLEAR, Tolerances

if TYPE_CHECKING:
    from hybrid.contact.compliance.path import ContactHistory
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State

__all__ = ["STIFFNESSES", "Comparison", "ComparisonRow", "ObservedOrder", "compare", "observed_order"]


@attrs.frozen
class ObservedOrder:
    """The fit ``error = factor K^order`` by least squares in logarithms.

    Attributes
    ----------
    order : float
        Theory gives -1/2 in the end, as penetrations are of the size ``K^-1/2``.
    standard_error : float or None
        Of the order, from the scatter about the fit; None with two runs, through which every fit passes.
    factor : float
    stiffness : tuple of float
        Least and largest of the stiffnesses used, N/m.
    runs : int
        How many errors were used.
    """

    order: float
    standard_error: float | None
    factor: float
    stiffness: tuple[float, float]
    runs: int

    def __str__(self) -> str:
        spread = "" if self.standard_error is None else f" +- {self.standard_error:.2g}"
        low, high = self.stiffness
        return f"K^({self.order:.3f}{spread}) from {self.runs} runs with K = {low:g} to {high:g}"


def observed_order(errors: Sequence[tuple[float, float]]) -> ObservedOrder | None:
    """Fit a power of the stiffness to errors.

    Parameters
    ----------
    errors : sequence of (float, float)
        Stiffness and error of every run, both above 0.

    Returns
    -------
    ObservedOrder or None
        None with fewer than two stiffnesses.

    Examples
    --------
    >>> fit = observed_order([(1e4, 0.2), (1e6, 0.02), (1e8, 0.002)])
    >>> round(fit.order, 12), round(fit.factor, 9), fit.standard_error < 1e-12
    (-0.5, 20.0, True)
    """
    stiffness = [K for K, _ in errors]
    if len(set(stiffness)) < 2:
        return None
    x, y = np.log(np.array(errors, dtype=np.float64)).T
    spread = float((x - x.mean()) @ (x - x.mean()))
    order = float((x - x.mean()) @ (y - y.mean())) / spread
    rest = y - y.mean() - order * (x - x.mean())
    scatter = math.sqrt(float(rest @ rest) / (len(x) - 2) / spread) if len(x) > 2 else None
    factor = math.exp(float(y.mean()) - order * float(x.mean()))
    return ObservedOrder(order, scatter, factor, (min(stiffness), max(stiffness)), len(x))


STIFFNESSES = (1e6, 1e7, 1e8)
"""Of penalty runs, if nothing else is asked for; three, so that a fit has a scatter."""
_SHARES = (0.5, 2.0)  # approaches of an indeterminate state, in units of the one that separates lift-off from impact
_SAME = CLEAR  # normal velocities that differ by less, relative to the largest velocity, agree


@attrs.frozen(eq=False)
class Comparison(AbstractDisplayed):
    """One state as the rigid laws and the compliant contact see it.

    Attributes
    ----------
    verdict : str
        Name of the rigid verdict; ``"IMPACT"`` where a contact approaches and accelerations do not decide.
    rows : tuple of ComparisonRow
    fit : ObservedOrder or None
        How the errors of the penalty runs fall with the stiffness. None with fewer than two errors.
    notes : tuple of str
        Where the methods disagree, and why.
    selection : Selection or None
        The rigid problem's answer; None where a contact approaches.
    histories : mapping of str to mapping of str to ContactHistory
        By method and contact, if samples were asked for.
    dynamics : Dynamics or None
    state : State or None
        What was compared.
    """

    verdict: str
    rows: tuple[ComparisonRow, ...]
    fit: ObservedOrder | None
    notes: tuple[str, ...]
    selection: Selection | None = None
    histories: Mapping[str, Mapping[str, ContactHistory]] = attrs.field(factory=dict)
    dynamics: Dynamics | None = attrs.field(default=None, repr=False)
    state: State | None = attrs.field(default=None, repr=False)

    def __repr__(self) -> str:
        order = "" if self.fit is None else f"error as K^{self.fit.order:.3g}"
        return one_line("Comparison", self.verdict, f"{len(self.rows)} methods", order, *self.notes[:1])

    @property
    def observed_order(self) -> float | None:
        """Exponent of ``K`` with which the errors of the penalty runs fall; theory gives -1/2."""
        return None if self.fit is None else self.fit.order

    @property
    def has_mode(self) -> bool:
        """True where the rigid problem has one motion, with which penalty runs are compared."""
        return self.verdict in (Verdict.UNIQUE.name, Verdict.HYPERSTATIC.name)

    @checks_arguments
    def row(self, method: str) -> ComparisonRow:
        """The row of a method.

        Parameters
        ----------
        method : str
            As in the table, ``"rigid LCP"`` or ``"kelvin-voigt"``.

        Returns
        -------
        ComparisonRow

        Raises
        ------
        KeyError
            There is no such row.
        """
        return {row.method: row for row in self.rows}[method]

    def to_dataframe(self) -> Any:
        """The methods as a ``pandas.DataFrame``, a row for each.

        Returns
        -------
        pandas.DataFrame
            The fields of :class:`ComparisonRow`; those by name as columns ``v_after.NAME`` and so on, components of
            spatial ones numbered from 1.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> table = compare(ball, {"gap_dot.floor": -1}, stiffness=()).to_dataframe()
        >>> table.set_index("method").loc["newton", "gap_dot_after.floor"].round(9)
        np.float64(0.8)
        """
        rows = [dict(_flat(row)) for row in self.rows]
        names = dict.fromkeys(name for row in rows for name in row)
        return dataframe({name: [row.get(name) for row in rows] for name in names})


def _flat(row: ComparisonRow) -> Iterator[tuple[str, Any]]:
    """The fields of a row, those by name one by one."""
    for field in attrs.fields(ComparisonRow):
        value = getattr(row, field.name)
        if not isinstance(value, Mapping):
            yield field.name, value
            continue
        for name, item in value.items():
            parts = item if isinstance(item, tuple) else (item,)
            for number, part in enumerate(parts, start=1):
                yield f"{field.name}.{name}" + (f".{number}" if len(parts) > 1 else ""), part


@checks_arguments
def compare(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    stiffness: Sequence[float] = STIFFNESSES,
    damping: float | None = None,
    samples: int = 0,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare the rigid laws with the compliant contact at a state.

    The rigid acceleration problem, the impact laws of Newton, Poisson and Stronge with the declared restitution, the
    velocity problem of Stewart and Trinkle (1996), the Kelvin-Voigt limit, and penalty runs at given stiffnesses.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        With a closed contact. Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    stiffness : sequence of float
        Of the penalty runs, in N/m.
    damping : float, optional
        Replaces the declared damping, in sqrt(kg).
    samples : int, default 0
        Samples per phase of the compliant methods to keep, for plots.
    parameters, tolerances : optional
    progress : callable, optional
        Called with how many of the penalty runs are done, and their number.

    Returns
    -------
    Comparison

    Raises
    ------
    StateError
        No contact is closed, or the only ones separate already.
    ArgumentError
        A stiffness, the damping or the number of samples is out of its range; a stiffness is given twice.

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
    check_samples(samples)
    asked = _stiffnesses(stiffness)
    dynamics = bound(dynamics, parameters)
    state = state_of(dynamics, state, tolerances=tolerances)
    inquiry = Inquiry(dynamics, state, damping, tolerances, samples)
    resolution = _resolution(inquiry)
    selection = resolution.selection
    rows = [*([inquiry.rigid(selection)] if selection is not None else []), *inquiry.laws()]
    verdict = "IMPACT" if selection is None else selection.verdict.name
    one = selection if selection is not None and verdict in (Verdict.UNIQUE.name, Verdict.HYPERSTATIC.name) else None
    limit = next((row for row in rows if row.method == "kelvin-voigt"), None)
    rows += _penalty_runs(inquiry, asked, resolution, one, limit, progress or _unseen)
    speed = inquiry.speed
    known = _strays(rows, one) if one else [*inquiry.notes, *_disagreements(rows, inquiry.named(state.v), speed)]
    known = [*inquiry.notes_of_runs, *known]
    # errors of the integration itself do not count
    least = SHOWN * (speed if one is None else 1.0)
    errors = [(row.stiffness, row.error) for row in rows if row.stiffness and row.error and row.error > least]
    return Comparison(
        verdict=verdict,
        rows=tuple(rows),
        fit=observed_order(errors),
        notes=(f"{resolution.outcome.value}: {resolution.reason}", *known),
        selection=selection,
        histories=inquiry.histories,
        dynamics=dynamics,
        state=state,
    )


def _stiffnesses(values: Sequence[float]) -> tuple[float, ...]:
    """The stiffnesses asked for, as different numbers above 0."""
    found = tuple(values)
    for K in found:
        check_stiffness(None, None, K)
        if found.count(K) > 1:
            raise ArgumentError(f"the stiffness {K:g} is given twice")
    return found


def _resolution(inquiry: Inquiry) -> Resolution:
    """The resolution of the state; unresolved with the reason where the compliant limit has none."""
    dynamics, state, tolerances = inquiry.dynamics, inquiry.state, inquiry.tolerances
    try:
        return resolve(dynamics, state, law=KelvinVoigtLimit(inquiry.damping), tolerances=tolerances)
    except ComputationError as error:
        terms = dynamics.terms(state.q, state.v, t=state.t)
        scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
        closed = terms.gap <= tolerances.gap * scales.gap
        approaches = bool((closed & (terms.gap_dot < -tolerances.velocity * scales.gap_dot)).any())
        selection = None if approaches else select(dynamics, state, tolerances=tolerances)
        return Resolution(Outcome.UNRESOLVED, str(error), selection)


def _penalty_runs(
    inquiry: Inquiry,
    stiffness: Sequence[float],
    resolution: Resolution,
    one: Selection | None,
    limit: ComparisonRow | None,
    progress: Callable[[int, int], None],
) -> Iterator[ComparisonRow]:
    """Runs from the state; from an indeterminate one also from approaches on both sides of the separatrix."""
    outcome = resolution.outcome
    strikes = outcome in (Outcome.IMPACT, Outcome.IMPACT_WITHOUT_COLLISION)
    runs: list[tuple[float, ComparisonRow | None, tuple[str, float] | None]]
    runs = [(K, limit if strikes else None, None) for K in stiffness]
    if outcome is Outcome.LIFT_OFF and resolution.critical_approach is not None:
        critical = resolution.critical_approach
        runs += [
            (K, limit if share > 1 else None, (f"{share:g} w_crit", share * critical / math.sqrt(K)))
            for K in stiffness
            for share in _SHARES
        ]
    for done, (K, approached, met) in enumerate(runs):
        progress(done, len(runs))
        try:
            yield inquiry.penalty(K, one, limit=approached, persists=outcome is Outcome.UNRESOLVED, met=met)
        except ComputationError as error:
            inquiry.notes_of_runs.append(f"{run_name(K)}: {error}")


def _unseen(done: int, total: int) -> None:
    """Progress that nobody watches."""


def _strays(rows: Sequence[ComparisonRow], selection: Selection) -> Iterator[str]:
    """Sentences on penalty runs that end in another mode than the one that is consistent."""
    same = {mode.label for item in selection.branches for mode in item.modes}
    for row in rows:
        if row.stiffness is not None and row.mode not in same:
            yield (
                f"{row.method} ends in {row.mode}, the rigid problem in {rows[0].mode}: the contact has not "
                f"settled, or the mode changes soon (margin {selection.margin or 0.0:.3g}); a larger stiffness tells"
            )


def _disagreements(rows: Sequence[ComparisonRow], before: Mapping[str, float], speed: float) -> Iterator[str]:
    """Sentences on what tells the impact laws apart."""
    laws = [row for row in rows if row.impulse_N and row.stiffness is None]
    for name in laws[0].gap_dot_after if laws else ():
        rates = {row.method: row.gap_dot_after[name] for row in laws}
        if max(rates.values()) - min(rates.values()) > _SAME * speed:
            shown = ", ".join(f"{m} {r if abs(r) > SHOWN * speed else 0.0:.6g}" for m, r in rates.items())
            yield f"the laws disagree on gap_dot.{name} after: {shown}"
    idle = [
        row.method for row in laws if max(abs(row.v_after[name] - v) for name, v in before.items()) <= _SAME * speed
    ]
    if idle and len(idle) < len(laws):
        yield f"{', '.join(idle)}: answered without an impulse, where the others strike"
