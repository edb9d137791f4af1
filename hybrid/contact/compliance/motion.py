"""The phase machine of compliant contacts: from touch to release, one phase after the other."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.compliance.following import follow_until, phase_events
from hybrid.contact.compliance.path import Array, CompliantSamples, joined_samples
from hybrid.contact.compliance.status import VANISHING, ContactStatus, fast_time_rate, has_stopped
from hybrid.errors import ComputationError
from hybrid.tolerances import INTEGRATED, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from hybrid.contact.compliance.flow import AbstractCompliantFlow
    from hybrid.contact.compliance.status import CompliantForces

__all__ = ["HORIZON", "CompliantRun", "PhaseMachine", "PhaseRecord"]

HORIZON = 400.0
"""Fast time of a contact of unit mass by which a motion ends: more than a hundred times as long as a rebound takes."""

_ACCURACY = INTEGRATED
_MAX_PHASES = 400
_TRANSIENT = 100.0  # decay times of a damper: an impact is over by then, and steps could be longer than it allows
_PATIENCE = 0.1  # share of the effort after which a slow spatial slip, whose direction follows at once, is a stiff one
_STIFF = 600.0  # decay times from which an implicit integrator, of lower order and with a linear system, takes less


@attrs.frozen(eq=False)
class PhaseRecord:
    """One phase: what the force elements do, the unknowns at both ends, and the event that ends it.

    The event is its kind and its force element, ``("end", -1)`` for none.
    """

    status: ContactStatus
    label: str
    start: Array
    end: Array
    event: tuple[str, int]

    @property
    def duration(self) -> float:
        """In fast time."""
        return float(self.end[-1] - self.start[-1])


@attrs.frozen(eq=False)
class CompliantRun:
    """What the contacts did from touch to release.

    Attributes
    ----------
    start, end : array
        The unknowns of the flow; the start is that after force elements at rest have lost the rounding of their slip.
    status : ContactStatus
        At the end.
    at : CompliantForces
        Forces at the end.
    label : str
        Of the mode at the end.
    phases : tuple of PhaseRecord
    has_separated : bool
        True if every contact let go and none comes back.
    is_cut : bool
        True if the effort was spent.
    posture_change : float
        Largest relative change of the Delassus operator of the contacts on the way.
    samples : CompliantSamples or None
    """

    end: Array
    at: CompliantForces
    label: str
    phases: tuple[PhaseRecord, ...]
    has_separated: bool
    is_cut: bool
    posture_change: float
    samples: CompliantSamples | None

    @property
    def named_phases(self) -> list[tuple[str, list[PhaseRecord]]]:
        """Successive phases of one label together."""
        return [(label, list(group)) for label, group in groupby(self.phases, lambda phase: phase.label)]


@attrs.define(eq=False)
class PhaseMachine:
    """One motion of compliant contacts.

    It ends once all contacts have let go and none of them comes back, at a fast time (the horizon), or once
    ``effort`` evaluations of the flow are spent.

    Attributes
    ----------
    flow : AbstractCompliantFlow
    stiffness : float
        ``K``: fast time is ``sqrt(K) t``.
    horizon : float
    effort : int
    still : float
        Contact velocities up to this one are none.
    sides : mapping of str to tuple of float
        Directions of slips that vanish.
    samples : int
        Samples per phase to keep.
    """

    flow: AbstractCompliantFlow
    stiffness: float
    horizon: float
    effort: int
    still: float
    sides: Mapping[str, tuple[float, ...]]
    samples: int = 0
    kept: list[CompliantSamples] = attrs.field(factory=list)
    spent: int = 0
    is_cut: bool = False
    posture_change: float = 0.0
    first_delassus: Array = attrs.field(factory=lambda: np.zeros((0, 0)))
    frequency: float = 1.0  # of the fastest contact, which an integrator goes by: it knows of no unit of time or mass
    struck: NDArray[np.bool_] = attrs.field(factory=lambda: np.zeros(0, dtype=bool))

    def run(self, y: Array, closed: NDArray[np.bool_]) -> CompliantRun:
        """From the start until no contact presses or comes back, to the horizon, or as far as the effort goes."""
        self.struck = closed.copy()
        y, status = self._first(y, closed)
        phases: list[PhaseRecord] = []
        for _ in range(_MAX_PHASES):
            if self.is_cut or not (self._touches(status) or self._will_press(y, status)):
                break
            before, during = y, status.copy()
            y, event = self._advance(y, status)
            phases.append(PhaseRecord(during, self._label(during), before, y, event))
            if event[0] == "end":
                break
            y = self._after(y, status, event)
        else:
            raise ComputationError(
                f"a compliant motion does not end: {_MAX_PHASES} phases until t = {float(y[-2]):.6g}, at last "
                f"{phases[-1].label}"
            )
        return CompliantRun(
            y, self._at(y, status), self._label(status), tuple(phases),
            has_separated=not (self._touches(status) or self._coming_back(y, status).any()),
            is_cut=self.is_cut, posture_change=self.posture_change, samples=joined_samples(self.kept),
        )  # fmt: skip

    def _at(self, y: Array, status: ContactStatus) -> CompliantForces:
        return self.flow.evaluate(y, status)

    def _remembering(self, status: ContactStatus) -> Callable[[Array], CompliantForces]:
        """Evaluation of one phase that is not repeated for every event of the same state."""
        last: list[tuple[bytes, CompliantForces]] = []

        def evaluate(x: Array) -> CompliantForces:
            key = x.tobytes()
            if not last or last[0][0] != key:
                self.spent += 1
                last[:] = [(key, self._at(x, status))]
            return last[0][1]

        return evaluate

    def _first(self, y: Array, closed: NDArray[np.bool_]) -> tuple[Array, ContactStatus]:
        k, names = len(closed), self.flow.names
        status = ContactStatus.open(len(names))
        at = self._at(y, status)
        self.first_delassus = self._delassus(at)
        self.frequency = float(np.max(self.flow.frequencies(self.first_delassus))) or 1.0
        touching = self.flow.touching(at, closed)
        pressed = self.flow.begins_pressed(at, closed) | (touching & (at.gap_dot < -self.still))
        for i, name in enumerate(names):
            status.slip[i] = self._direction(at, i) or self.sides.get(name)
            status.presses[i] = i >= k or bool(pressed[i])
        # contacts at rest that the others, or what is applied, press
        trial = status.copy()
        begun = self._stopped(y, trial)
        driven = self.flow.lift(self._at(begun, trial), trial) < 0.0
        for i in np.flatnonzero(touching & (np.abs(at.gap_dot) <= self.still) & driven).tolist():
            status.presses[i] = True
        y = self._stopped(y, status)
        self.flow.settle(self._at(y, status), status)
        return y, status

    def _touches(self, status: ContactStatus) -> bool:
        """True if a contact presses."""
        return any(status.presses[: len(self.struck)])

    def _direction(self, at: CompliantForces, i: int) -> tuple[float, ...] | None:
        slip = at.slip[self.flow.columns(i)]
        size, least = float(np.linalg.norm(slip)), self.still * min(self.flow.speed, 1.0)
        if size <= least or has_stopped(slip, self.flow.speed):
            return None
        return tuple(float(x) for x in slip / size)

    def _coming_back(self, y: Array, status: ContactStatus) -> NDArray[np.bool_]:
        """Contacts of the impact, at its start or since, that have let go and approach."""
        pressing = np.array(status.presses[: len(self.struck)])
        return np.asarray(self.struck & ~pressing & (self._at(y, status).gap_dot < -self.still))

    def _will_press(self, y: Array, status: ContactStatus) -> bool:
        """True if a contact of the impact comes back to the surface before the horizon."""
        at, back = self._at(y, status), self._coming_back(y, status)
        reach = (self.horizon - float(y[-1])) / math.sqrt(self.stiffness)
        return bool(np.any(at.gap[back] <= -at.gap_dot[back] * reach))

    def _label(self, status: ContactStatus) -> str:
        return status.label(self.flow.names, self.flow.sizes)

    def _advance(self, y: Array, status: ContactStatus) -> tuple[Array, tuple[str, int]]:
        rotating, at_state = bool(status.rotating(self.flow.sizes)), self._remembering(status)
        rates = self._rates(status, at_state)
        events, names = phase_events(self.flow, status, at_state, y)
        names.append(("end", -1))

        last, is_stiff, changes = self.horizon, False, list[tuple[float, float, float]]()

        def note(x: Array) -> None:
            changes.append((float(x[-1]), self._change(at_state(x)), self.flow.factor(at_state(x), status)))

        def end(_: float, x: Array) -> float:
            # asked once after every step; a run that has spent its effort, or moves no more, ends where it is
            nonlocal last, is_stiff
            note(x)
            self.is_cut = self.is_cut or self.spent > self.effort
            is_stiff = self.spent > patience
            # only once: where SciPy looks for the root it asks at the beginning of the step again
            if last == self.horizon and (self.is_cut or is_stiff or self.flow.is_over(at_state(x))):
                last = min(last, float(x[-1]))
            return float(x[-1] - last)

        end.terminal = True  # type: ignore[attr-defined]
        left = (self.horizon - float(y[-1])) * self.frequency / math.sqrt(self.stiffness)
        x, span = y, 1.01 * max(left * (1e9 if rotating else 1.0), 1.0)
        methods = [("DOP853", span), ("Radau", span)] if rotating else self._methods(at_state(y), status, span)
        for method, length in methods:
            before, last, is_stiff = self.spent, self.horizon, False
            patience = before + _PATIENCE * self.effort if rotating and method == "DOP853" else math.inf
            with np.errstate(over="ignore", invalid="ignore"):  # steps that went too far are refused by what they give
                found = follow_until(
                    rates, (0.0, length), x, events, end, method=method, rtol=_ACCURACY,
                    atol=_ACCURACY * self._sizes(len(y)),
                )  # fmt: skip
            self.spent = before + found.evaluations  # without those of looking out between steps
            if self.samples and not found.failure:
                self.kept.append(self._sampled(found.solution(np.linspace(0.0, found.t, self.samples)).T, status))
            x = found.y
            if found.failure or (found.event is not None and not is_stiff) or self.is_cut:
                break
        if found.event is None:
            raise ComputationError(f"a compliant motion could not be integrated: {found.failure}")
        note(x)
        passed = [(change, factor) for s, change, factor in changes if s <= x[-1]]
        self.posture_change = max(self.posture_change, *(change for change, _ in passed))
        at_state(x).bilateral.check(min(factor for _, factor in passed), status)
        self.flow.verify(at_state(x), status)
        return x, names[found.event]

    def _rates(
        self, status: ContactStatus, at_state: Callable[[Array], CompliantForces]
    ) -> Callable[[float, Array], Array]:
        """Rates of the unknowns over the phase of the fastest contact, slowed down where spatial slips turn."""
        root, frequency = math.sqrt(self.stiffness), self.frequency
        rotating = [self.flow.columns(i) for i in status.rotating(self.flow.sizes)]

        def rates(_: float, x: Array) -> Array:
            at = at_state(x)
            rate = self.flow.rates(x, at)
            rate[-1] = root
            slips = [at.slip[columns] for columns in rotating]
            return np.asarray(rate * (fast_time_rate(slips, self.flow.speed) / frequency))

        return rates

    def _methods(self, at: CompliantForces, status: ContactStatus, span: float) -> list[tuple[str, float]]:
        """Integrators of a phase and how long each goes: an implicit one where a damper has long done its work."""
        k = len(at.gap)
        decay = float(np.max((at.damper * np.diag(at.G)[:k])[status.presses[:k]], initial=0.0)) / self.frequency
        if decay * span <= _STIFF:
            return [("DOP853", span)]
        return [("DOP853", _TRANSIENT / decay), ("Radau", span)]

    def _sizes(self, count: int) -> Array:
        """What the unknowns are measured by: impulses by what changes the velocities of the lightest row so much."""
        frequency, mass = self.frequency, 1.0 / (float(np.max(np.diag(self.first_delassus))) or 1.0)
        velocity = max(self.flow.speed, self.flow.rounding / _ACCURACY)
        leading = velocity * self.flow.leading_sizes(frequency)
        impulses = np.full(count - 3 - len(leading), mass * velocity)
        rest = [mass * velocity**2, 1.0 / frequency, math.sqrt(self.stiffness) / frequency]
        return np.concatenate([leading, impulses, rest])

    def _change(self, at: CompliantForces) -> float:
        """How far the posture has gone, as the contacts feel it."""
        change = np.linalg.norm(self._delassus(at) - self.first_delassus) / np.linalg.norm(self.first_delassus)
        return float(change)

    def _delassus(self, at: CompliantForces) -> Array:
        """Delassus operator of the contacts alone, without friction elements."""
        k = len(self.struck)
        rows = [*range(k), *(row for _, tangential in self.flow.rows[:k] for row in tangential)]
        return np.asarray(at.G[np.ix_(rows, rows)])

    def _sampled(self, states: Array, status: ContactStatus) -> CompliantSamples:
        root = math.sqrt(self.stiffness)
        met = [self._at(x, status) for x in states]
        return CompliantSamples(
            s=states[:, -1],
            Y=np.array([root * at.gap for at in met]),
            gamma=np.array([np.concatenate([at.gap_dot, at.slip[: len(at.forces) - len(at.gap)]]) for at in met]),
            force=np.array([at.forces / root for at in met]),
            impulse=states[:, len(self.flow.leading_sizes(root)) : -3],
        )

    def _after(self, y: Array, status: ContactStatus, event: tuple[str, int]) -> Array:
        """Change what the contacts do after an event; a slip that stopped is made zero exactly."""
        kind, i = event
        at = self._at(y, status)
        match kind:
            case "release":
                status.presses[i] = False
                self._let_go(self._at(y, status), status)
                self.flow.settle(at, status)
            case "press":
                status.presses[i], status.leaves[i], self.struck[i] = True, False, True
                status.slip[i] = self._direction(at, i)
                y = self._stopped(y, status)
                self.flow.settle(self._at(y, status), status)
            case "yield":
                self.flow.settle(at, status)
            case "slip":
                self.flow.settle(at, status, breaking=i)
            case "left":
                status.leaves[i] = False
            case "flip":
                self.flow.flip(at, status, i)
            case _:
                status.begin_slip(i, None)
                y = self._stopped(y, status)
                self.flow.settle(self._at(y, status), status)
        return y

    def _let_go(self, at: CompliantForces, status: ContactStatus) -> None:
        """Release the contacts whose force vanishes and falls with that of another, or they would soon pull."""
        k, K = len(at.gap), self.flow.stiffness
        falls = K * at.gap_dot + at.damper * (at.free + at.G @ at.forces)[:k] > 0
        size = (VANISHING * self.flow.speed + self.flow.rounding) * np.sqrt(K / np.diag(at.G)[:k])
        for i in np.flatnonzero(np.array(status.presses[:k]) & falls & (at.potential <= size)):
            status.presses[i] = False

    def _stopped(self, y: Array, status: ContactStatus) -> Array:
        """The unknowns with the slip of all elements at rest removed by an impulse; others that stop with them rest."""
        while True:
            rest, at = status.resting(self.flow.sizes), self._at(y, status)
            rows = self.flow.tangents(rest)[0]
            slip = at.slip[[column for i in rest for column in self.flow.columns(i)]]
            change = np.linalg.lstsq(at.G[np.ix_(rows, rows)], slip, rcond=ROUNDING)[0]
            y = self.flow.pushed(y, at, rows, np.asarray(-change))
            at = self._at(y, status)
            together = [
                i for i, size in enumerate(self.flow.sizes)
                if size and status.presses[i] and status.slip[i] is not None
                and self._direction(at, i) is None
            ]  # fmt: skip
            if not together:
                return y
            for i in together:
                status.begin_slip(i, None)
