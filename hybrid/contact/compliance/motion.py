"""The course of a motion on compliant contacts: phases between events, from touch to release."""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.ending import motion_result
from hybrid.contact.compliance.events import phase_events
from hybrid.contact.compliance.flow import CompliantFlow
from hybrid.contact.compliance.forces import CompliantForces
from hybrid.contact.compliance.lookout import follow_until
from hybrid.contact.compliance.path import Array, CompliantMotion, CompliantSamples, joined_samples
from hybrid.contact.compliance.standing import VANISHING, CompliantStanding, has_stopped, pace
from hybrid.dynamics.state import State
from hybrid.errors import ComputationError
from hybrid.tolerances import Tolerances

_ACCURACY = 1e-11
_MAX_PHASES = 200
_TRANSIENT = 100.0  # decay times of a damper: an impact is over by then, and steps could be longer than it allows
_STIFF = 600.0  # decay times from which an implicit integrator, of lower order and with a linear system, takes less


@attrs.define(eq=False)
class CompliantPassage:
    """One motion; the unknowns are ``q``, ``v``, the impulses, the work of friction, time and stretched time.

    It ends once all contacts have let go and none of them comes back, at a stretched time (the horizon), or once
    ``effort`` evaluations of the equations of motion are spent.
    """

    flow: CompliantFlow
    start: State
    stiffness: float
    horizon: float
    effort: int
    tolerances: Tolerances
    samples: int = 0
    kept: list[CompliantSamples] = attrs.field(factory=list)
    spent: int = 0
    posture_change: float = 0.0
    first_delassus: Array = attrs.field(factory=lambda: np.zeros((0, 0)))
    struck: NDArray[np.bool_] = attrs.field(factory=lambda: np.zeros(0, dtype=bool))

    @property
    def _n(self) -> int:
        return self.flow.dynamics.n

    def run(self, closed: NDArray[np.bool_]) -> CompliantMotion:
        """From the start until no contact presses or comes back, to the horizon, or as far as the effort goes."""
        rows = sum((normal is not None) + len(tangential) for normal, tangential in self.flow.rows)
        rows += len(self.flow.rough)
        y = np.concatenate([self.start.q, self.start.v, np.zeros(rows + 1), [self.start.t, 0.0]])
        self.struck = closed.copy()
        y, standing = self._first(y, closed)
        phases: list[tuple[str, float]] = []
        for _ in range(_MAX_PHASES):
            if self.spent > self.effort or not (self._touches(standing) or self._will_press(y, standing)):
                break
            before, label = float(y[-1]), self._label(standing)
            y, event = self._advance(y, standing)
            earlier = phases.pop()[1] if phases and phases[-1][0] == label else 0.0
            phases.append((label, earlier + float(y[-1]) - before))
            if event is None:
                break
            y = self._after(y, standing, event)
        else:
            raise ComputationError(
                f"a compliant motion does not end: {_MAX_PHASES} phases until t = {float(y[-2]):.6g}, at last {label}"
            )
        return motion_result(
            self.flow, self.start, y, self._at(y, standing), label=self._label(standing), phases=tuple(phases),
            has_separated=not (self._touches(standing) or self._coming_back(y, standing).any()),
            is_cut=self.spent > self.effort, posture_change=self.posture_change, samples=joined_samples(self.kept),
        )  # fmt: skip

    def _at(self, y: Array, standing: CompliantStanding) -> CompliantForces:
        n = self._n
        return self.flow.evaluate(y[:n], y[n : 2 * n], float(y[-2]), standing)

    def _remembering(self, standing: CompliantStanding) -> Callable[[Array], CompliantForces]:
        """Evaluation of one phase that is not repeated for every event of the same state."""
        last: list[tuple[bytes, CompliantForces]] = []

        def evaluate(x: Array) -> CompliantForces:
            key = x.tobytes()
            if not last or last[0][0] != key:
                self.spent += 1
                last[:] = [(key, self._at(x, standing))]
            return last[0][1]

        return evaluate

    def _first(self, y: Array, closed: NDArray[np.bool_]) -> tuple[Array, CompliantStanding]:
        k, names = len(self.flow.dynamics.contacts), self.flow.names
        nothing = CompliantStanding.open(len(names))
        at = self._at(y, nothing)
        self.first_delassus = self._delassus(at)
        for i, name in enumerate(names):
            nothing.slip[i], nothing.presses[i] = self._direction(at, i) or self.start.sides.get(name), i >= k
        lift = self._lift(y, nothing)
        for i in range(k):
            rate, b = at.gap_dot[i], lift[i]
            rests = abs(rate) <= self.tolerances.velocity
            nothing.presses[i] = bool(closed[i] and (b < 0 if rests else rate < 0))
        y = self._stopped(y, nothing)
        self.flow.settle(self._at(y, nothing), nothing)
        return y, nothing

    def _lift(self, y: Array, standing: CompliantStanding) -> Array:
        """Accelerations of the contacts before they press, under the friction of all other carriers."""
        at, trial = self._at(y, standing), standing.copy()
        self.flow.settle(at, trial)
        return np.asarray((at.free + at.G @ self.flow.forces(at, trial))[: len(at.gap)])

    def _touches(self, standing: CompliantStanding) -> bool:
        """True if a contact presses."""
        return any(standing.presses[: len(self.flow.dynamics.contacts)])

    def _direction(self, at: CompliantForces, i: int) -> tuple[float, ...] | None:
        slip = at.slip[self.flow.columns(i)]
        size, least = float(np.linalg.norm(slip)), self.tolerances.velocity * min(self.flow.speed, 1.0)
        if size <= least or has_stopped(slip, self.flow.speed):
            return None
        return tuple(float(x) for x in slip / size)

    def _coming_back(self, y: Array, standing: CompliantStanding) -> NDArray[np.bool_]:
        """Contacts of the impact, at its start or since, that have let go and approach."""
        pressing = np.array(standing.presses[: len(self.struck)])
        return np.asarray(self.struck & ~pressing & (self._at(y, standing).gap_dot < -self.tolerances.velocity))

    def _will_press(self, y: Array, standing: CompliantStanding) -> bool:
        """True if a contact of the impact comes back to the surface before the horizon."""
        at, back = self._at(y, standing), self._coming_back(y, standing)
        reach = (self.horizon - float(y[-1])) / math.sqrt(self.stiffness)
        return bool(np.any(at.gap[back] <= -at.gap_dot[back] * reach))

    def _label(self, standing: CompliantStanding) -> str:
        return standing.label(self.flow.names, self.flow.sizes)

    def _advance(self, y: Array, standing: CompliantStanding) -> tuple[Array, tuple[str, int] | None]:
        turning, at_state = bool(standing.turning(self.flow.sizes)), self._remembering(standing)
        rates = self._rates(standing, at_state)
        events, names = phase_events(self.flow, standing, at_state, y)
        names.append(("end", -1))

        last, changes = self.horizon, list[tuple[float, float, float]]()

        def note(x: Array) -> None:
            changes.append((float(x[-1]), self._change(at_state(x)), self.flow.factor(at_state(x), standing)))

        def end(_: float, x: Array) -> float:
            # asked once after every step; a run that has spent its effort ends where it is
            nonlocal last
            note(x)
            if self.spent > self.effort:
                last = min(last, float(x[-1]))
            return float(x[-1] - last)

        end.terminal = True  # type: ignore[attr-defined]
        looks_out = len(self.flow.rows) > 1  # forces of one push another to its bound and back within a step
        x, span = y, 1.01 * max((self.horizon - float(y[-1])) * (1e9 if turning else 1.0), 1.0)
        for method, length in [("DOP853", span)] if turning else self._methods(at_state(y), standing, span):
            before = self.spent
            with np.errstate(over="ignore", invalid="ignore"):  # steps that went too far are refused by what they give
                found = follow_until(
                    rates, (0.0, length), x, [*events, end], method=method, rtol=_ACCURACY,
                    atol=_ACCURACY * self._sizes(len(y)), dense=self.samples > 0,
                    watched=len(events) if looks_out else 0,
                )  # fmt: skip
            if looks_out:
                self.spent = before + found.evaluations  # without those of looking out between steps
            if self.samples and not found.failure:
                self.kept.append(self._sampled(found.solution(np.linspace(0.0, found.t, self.samples)).T, standing))
            x = found.y
            if found.failure or found.event is not None:
                break
        if found.event is None:
            raise ComputationError(f"a compliant motion could not be integrated: {found.failure}")
        note(x)
        passed = [(change, factor) for s, change, factor in changes if s <= x[-1]]
        self.posture_change = max(self.posture_change, *(change for change, _ in passed))
        at_state(x).rails.check(min(factor for _, factor in passed), standing)
        self.flow.verify(at_state(x), standing)
        return x, None if names[found.event][0] == "end" else names[found.event]

    def _rates(
        self, standing: CompliantStanding, at_state: Callable[[Array], CompliantForces]
    ) -> Callable[[float, Array], Array]:
        """Rates of the unknowns over stretched time, slowed down where spatial slips turn."""
        n, root = self._n, math.sqrt(self.stiffness)
        turning = [self.flow.columns(i) for i in standing.turning(self.flow.sizes)]

        def rates(_: float, x: Array) -> Array:
            at = at_state(x)
            forces = [at.forces, at.rails.normal(at.forces)]
            rate = np.concatenate([x[n : 2 * n], at.acceleration, *forces, [at.slip_power(), 1.0, root]])
            return np.asarray(rate * (pace([at.slip[columns] for columns in turning], self.flow.speed) / root))

        return rates

    def _methods(self, at: CompliantForces, standing: CompliantStanding, span: float) -> list[tuple[str, float]]:
        """Integrators of a phase and how long each goes: an implicit one where a damper has long done its work."""
        k = len(at.gap)
        decay = float(np.max((at.damper * np.diag(at.G)[:k])[standing.presses[:k]], initial=0.0)) / self.stiffness**0.5
        if decay * span <= _STIFF:
            return [("DOP853", span)]
        return [("DOP853", _TRANSIENT / decay), ("Radau", span)]

    def _sizes(self, count: int) -> Array:
        """What the unknowns are measured by."""
        n, root = self._n, math.sqrt(self.stiffness)
        velocity = max(self.flow.speed, self.flow.rounding / _ACCURACY)
        return np.concatenate(
            [np.full(n, velocity / root), np.full(n, velocity), np.full(count - 2 * n - 3, velocity),
             [velocity**2, 1.0 / root, 1.0]]
        )  # fmt: skip

    def _change(self, at: CompliantForces) -> float:
        """How far the posture has gone, as the contacts feel it."""
        change = np.linalg.norm(self._delassus(at) - self.first_delassus) / np.linalg.norm(self.first_delassus)
        return float(change)

    def _delassus(self, at: CompliantForces) -> Array:
        """Delassus operator of the contacts alone, without friction elements."""
        k = len(self.flow.dynamics.contacts)
        rows = [*range(k), *(row for _, tangential in self.flow.rows[:k] for row in tangential)]
        return np.asarray(at.G[np.ix_(rows, rows)])

    def _sampled(self, states: Array, standing: CompliantStanding) -> CompliantSamples:
        root, n = math.sqrt(self.stiffness), self._n
        met = [self._at(x, standing) for x in states]
        return CompliantSamples(
            s=states[:, -1],
            Y=np.array([root * at.gap for at in met]),
            gamma=np.array([np.concatenate([at.gap_dot, at.slip[: len(at.forces) - len(at.gap)]]) for at in met]),
            force=np.array([at.forces / root for at in met]),
            impulse=states[:, 2 * n : -3],
        )

    def _after(self, y: Array, standing: CompliantStanding, event: tuple[str, int]) -> Array:
        """Change what the contacts do after an event; a slip that stopped is made zero exactly."""
        kind, i = event
        at = self._at(y, standing)
        match kind:
            case "release":
                standing.presses[i] = False
                self._let_go(self._at(y, standing), standing)
                self.flow.settle(at, standing)
            case "press":
                standing.presses[i], standing.leaves[i], self.struck[i] = True, False, True
                standing.slip[i] = self._direction(at, i)
                y = self._stopped(y, standing)
                self.flow.settle(self._at(y, standing), standing)
            case "yield":
                self.flow.settle(at, standing)
            case "slip":
                self.flow.settle(at, standing, breaking=i)
            case "left":
                standing.leaves[i] = False
            case "flip":
                self.flow.flip(at, standing, i)
            case _:
                standing.begin_slip(i, None)
                y = self._stopped(y, standing)
                self.flow.settle(self._at(y, standing), standing)
        return y

    def _let_go(self, at: CompliantForces, standing: CompliantStanding) -> None:
        """Release the contacts whose force vanishes and falls with that of another, or they would soon pull."""
        k, K = len(at.gap), self.flow.stiffness
        falls = K * at.gap_dot + at.damper * (at.free + at.G @ at.forces)[:k] > 0
        size = (VANISHING * self.flow.speed + self.flow.rounding) * np.sqrt(K / np.diag(at.G)[:k])
        for i in np.flatnonzero(np.array(standing.presses[:k]) & falls & (at.potential <= size)):
            standing.presses[i] = False

    def _stopped(self, y: Array, standing: CompliantStanding) -> Array:
        """The unknowns with the slip of all carriers at rest removed by an impulse; others that stop with them rest."""
        y = y.copy()
        while True:
            rest, at = standing.resting(self.flow.sizes), self._at(y, standing)
            rows = self.flow.tangents(rest)[0]
            slip = at.slip[[column for i in rest for column in self.flow.columns(i)]]
            change = np.linalg.lstsq(at.G[np.ix_(rows, rows)], slip, rcond=1e-12)[0]
            y[self._n : 2 * self._n] -= at.response[:, rows] @ change
            at = self._at(y, standing)
            together = [
                i for i, size in enumerate(self.flow.sizes)
                if size and standing.presses[i] and standing.slip[i] is not None
                and self._direction(at, i) is None
            ]  # fmt: skip
            if not together:
                return y
            for i in together:
                standing.begin_slip(i, None)
