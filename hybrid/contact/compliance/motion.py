"""The course of a motion on compliant contacts: phases between events, from touch to release."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.flow import CompliantFlow, CompliantForces
from hybrid.contact.compliance.path import Array, CompliantMotion, CompliantSamples, joined_samples
from hybrid.contact.compliance.rest import is_redundant
from hybrid.contact.compliance.standing import CompliantStanding, beyond_leaving, pace
from hybrid.dynamics.state import State
from hybrid.errors import ComputationError
from hybrid.tolerances import Tolerances

_ACCURACY = 1e-11
_STOPPED = 1e-7  # spatial slip below this share of the velocities has stopped; an impulse removes the rest
_VANISHING = 1e-12
_MAX_PHASES = 200


@attrs.define(eq=False)
class CompliantPassage:
    """One motion; the unknowns are ``q``, ``v``, the impulses, the work of friction, time and stretched time."""

    flow: CompliantFlow
    start: State
    stiffness: float
    horizon: float
    tolerances: Tolerances
    samples: int = 0
    kept: list[CompliantSamples] = attrs.field(factory=list)

    @property
    def _n(self) -> int:
        return self.flow.dynamics.n

    def run(self, closed: NDArray[np.bool_]) -> CompliantMotion:
        """From the start to the release of all contacts, or to the horizon."""
        rows = sum((normal is not None) + len(tangential) for normal, tangential in self.flow.rows)
        y = np.concatenate([self.start.q, self.start.v, np.zeros(rows + 1), [self.start.t, 0.0]])
        standing = self._first(y, closed)
        phases: list[tuple[str, float]] = []
        for _ in range(_MAX_PHASES):
            if not self._touches(standing) and not self._will_press(y, standing):
                break
            before, label = float(y[-1]), self._label(standing)
            y, event = self._advance(y, standing)
            earlier = phases.pop()[1] if phases and phases[-1][0] == label else 0.0
            phases.append((label, earlier + float(y[-1]) - before))
            if event is None:
                break
            y = self._after(y, standing, event)
        else:
            raise ComputationError("a compliant motion does not end: its phases keep alternating")
        return self._result(y, standing, tuple(phases))

    def _at(self, y: Array, standing: CompliantStanding) -> CompliantForces:
        n = self._n
        return self.flow.evaluate(y[:n], y[n : 2 * n], float(y[-2]), standing)

    def _remembering(self, standing: CompliantStanding) -> Callable[[Array], CompliantForces]:
        """Evaluation of one phase that is not repeated for every event of the same state."""
        last: list[tuple[bytes, CompliantForces]] = []

        def evaluate(x: Array) -> CompliantForces:
            key = x.tobytes()
            if not last or last[0][0] != key:
                last[:] = [(key, self._at(x, standing))]
            return last[0][1]

        return evaluate

    def _first(self, y: Array, closed: NDArray[np.bool_]) -> CompliantStanding:
        k, names = len(self.flow.dynamics.contacts), self.flow.names
        nothing = CompliantStanding.open(len(names))
        at = self._at(y, nothing)
        for i, name in enumerate(names):
            side = self.start.sides.get(name)
            nothing.slip[i] = self._direction(at, i) or side
            if i >= k:
                nothing.presses[i] = True
                continue
            rate, b = at.gap_dot[i], at.free[i]
            rests = abs(rate) <= self.tolerances.velocity
            nothing.presses[i] = bool(closed[i] and (b < 0 if rests else rate < 0))
        self.flow.settle(at, nothing)
        return nothing

    def _touches(self, standing: CompliantStanding) -> bool:
        """True if a contact presses."""
        return any(standing.presses[: len(self.flow.dynamics.contacts)])

    def _direction(self, at: CompliantForces, i: int) -> tuple[float, ...] | None:
        k = len(self.flow.dynamics.contacts)
        slip = at.slip[[row - k for row in self.flow.rows[i][1]]]
        size = float(np.linalg.norm(slip))
        if size <= max(self.tolerances.velocity * min(self.flow.speed, 1.0), _VANISHING * self.flow.speed):
            return None
        return tuple(float(x) for x in slip / size)

    def _will_press(self, y: Array, standing: CompliantStanding) -> bool:
        """True if a contact that has let go approaches."""
        at = self._at(y, standing)
        touched = at.gap <= self.tolerances.gap
        return bool(np.any(touched & (at.gap_dot < -self.tolerances.velocity)))

    def _label(self, standing: CompliantStanding) -> str:
        return standing.label(self.flow.dynamics.contacts, self.flow.sizes)

    def _advance(self, y: Array, standing: CompliantStanding) -> tuple[Array, tuple[str, int] | None]:
        from scipy.integrate import solve_ivp

        n, root = self._n, math.sqrt(self.stiffness)
        turning = [self._columns(i) for i in standing.turning(self.flow.sizes)]

        def rates(_: float, x: Array) -> Array:
            at = at_state(x)
            rate = np.concatenate([x[n : 2 * n], at.acceleration, at.forces, [at.slip_power(), 1.0, root]])
            return np.asarray(rate * (pace([at.slip[columns] for columns in turning], self.flow.speed) / root))

        at_state = self._remembering(standing)
        events, names = self._events(standing, at_state, y)
        names.append(("end", -1))

        def end(_: float, x: Array) -> float:
            return float(x[-1] - self.horizon)

        end.terminal = True  # type: ignore[attr-defined]
        velocity = self.flow.speed
        scale = np.concatenate(
            [np.full(n, velocity / root), np.full(n, velocity), np.full(len(y) - 2 * n - 3, velocity),
             [velocity**2, 1.0 / root, 1.0]]
        )  # fmt: skip
        span = (self.horizon - float(y[-1])) * (1e9 if turning else 1.0)
        answer = solve_ivp(
            rates, (0.0, 1.01 * max(span, 1.0)), y, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY * scale,
            events=[*events, end], dense_output=self.samples > 0,
        )  # fmt: skip
        if answer.status != 1:
            raise ComputationError(f"a compliant motion could not be integrated: {answer.message}")
        if self.samples:
            self.kept.append(self._sampled(answer.sol(np.linspace(0.0, answer.t[-1], self.samples)).T, standing))
        which = next(index for index, times in enumerate(answer.t_events) if len(times))
        return np.array(answer.y[:, -1]), None if names[which][0] == "end" else names[which]

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

    def _columns(self, i: int) -> list[int]:
        """Columns of the slip of a carrier."""
        k = len(self.flow.dynamics.contacts)
        return [row - k for row in self.flow.rows[i][1]]

    def _events(
        self, standing: CompliantStanding, at_state: Callable[[Array], CompliantForces], y: Array
    ) -> tuple[list[Callable[[float, Array], float]], list[tuple[str, int]]]:
        events: list[Callable[[float, Array], float]] = []
        names: list[tuple[str, int]] = []

        def add(kind: str, i: int, direction: float, value: Callable[[CompliantForces], float]) -> None:
            def event(_: float, x: Array) -> float:
                return float(value(at_state(x)))

            event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
            events.append(event)
            names.append((kind, i))

        rest = standing.resting(self.flow.sizes)
        held = self.flow.tangents(rest)[0]
        redundant = is_redundant(at_state(y).G[np.ix_(held, held)])
        if redundant:
            add("yield", rest[0], 1.0, partial(self.flow.yielding, rest=rest))
        for i, (normal, rows) in enumerate(self.flow.rows):
            if not standing.presses[i]:
                add("press", i, 1.0, partial(_overlap, i=i, stiffness=float(self.flow.stiffness[i])))
                continue
            if normal is not None:
                add("release", i, -1.0, partial(_pressure, i=i))
            direction, columns, speed = standing.slip[i], self._columns(i), self.flow.speed
            if rows and direction is None and not redundant:
                add("slip", i, -1.0, partial(_reserve, i=i, rows=rows))
            elif direction is not None and len(rows) == 2 and not standing.leaves[i]:
                add("stop", i, -1.0, partial(_speed, columns=columns, stopped=_STOPPED * speed))
            elif direction is not None:
                add("stop", i, -1.0, partial(_along, columns=columns, u=np.array(direction), margin=_VANISHING * speed))
                if standing.leaves[i]:
                    add("left", i, 1.0, partial(_beyond_leaving, columns=columns, speed=speed))
        return events, names

    def _after(self, y: Array, standing: CompliantStanding, event: tuple[str, int]) -> Array:
        """Change what the contacts do after an event; a slip that stopped is made zero exactly."""
        kind, i = event
        at, y = self._at(y, standing), y.copy()
        match kind:
            case "release":
                standing.presses[i] = False
                self.flow.settle(at, standing)
            case "press":
                standing.presses[i], standing.leaves[i] = True, False
                standing.slip[i] = self._direction(at, i)
                self.flow.settle(at, standing)
            case "yield":
                self.flow.settle(at, standing)
            case "slip":
                self.flow.settle(at, standing, breaking=i)
            case "left":
                standing.leaves[i] = False
            case _:
                standing.begin_slip(i, None)
                y = self._stopped(y, standing)
                self.flow.settle(self._at(y, standing), standing)
        return y

    def _stopped(self, y: Array, standing: CompliantStanding) -> Array:
        """The unknowns with the slip of all carriers at rest removed by an impulse; others that stop with them rest."""
        while True:
            rest, at = standing.resting(self.flow.sizes), self._at(y, standing)
            rows = self.flow.tangents(rest)[0]
            slip = at.slip[[column for i in rest for column in self._columns(i)]]
            change = np.linalg.lstsq(at.G[np.ix_(rows, rows)], slip, rcond=1e-12)[0]
            y[self._n : 2 * self._n] -= at.response[:, rows] @ change
            at = self._at(y, standing)
            least = {1: _VANISHING * self.flow.speed, 2: _STOPPED * self.flow.speed}
            together = [
                i for i, size in enumerate(self.flow.sizes)
                if size and standing.presses[i] and standing.slip[i] is not None
                and np.linalg.norm(at.slip[self._columns(i)]) <= least[size]
            ]  # fmt: skip
            if not together:
                return y
            for i in together:
                standing.begin_slip(i, None)

    def _result(self, y: Array, standing: CompliantStanding, phases: tuple[tuple[str, float], ...]) -> CompliantMotion:
        n, dynamics, at = self._n, self.flow.dynamics, self._at(y, standing)
        M = dynamics.terms(self.start.q, self.start.v, t=self.start.t, parameters=self.flow.parameters).M
        M_end = dynamics.terms(y[:n], y[n : 2 * n], t=float(y[-2]), parameters=self.flow.parameters).M
        energy = float(y[n : 2 * n] @ M_end @ y[n : 2 * n] - self.start.v @ M @ self.start.v) / 2
        impulses, k = y[2 * n : -3], len(dynamics.contacts)
        named = [
            (name, (i, rows)) for i, (name, (_, rows)) in enumerate(zip(self.flow.names, self.flow.rows, strict=True))
        ]
        named = named[:k]
        return CompliantMotion(
            state=State(y[:n], y[n : 2 * n], float(y[-2])),
            has_separated=not self._touches(standing),
            label=self._label(standing),
            phases=phases,
            force_N={name: float(at.forces[normal]) for name, (normal, _) in named},
            impulse_N={name: float(impulses[normal]) for name, (normal, _) in named},
            impulse_T={name: tuple(float(impulses[row]) for row in rows) for name, (_, rows) in named},
            gap_dot_after={name: float(at.gap_dot[normal]) for name, (normal, _) in named},
            slip_after={name: tuple(float(at.slip[row - k]) for row in rows) for name, (_, rows) in named},
            energy_change=energy,
            work_T=float(y[-3]),
            samples=joined_samples(self.kept),
        )


def _pressure(at: CompliantForces, *, i: int) -> float:
    return float(at.potential[i])


def _overlap(at: CompliantForces, *, i: int, stiffness: float) -> float:
    """Positive where a contact that has let go presses again."""
    return float(min(at.potential[i], -stiffness * at.gap[i]))


def _reserve(at: CompliantForces, *, i: int, rows: list[int]) -> float:
    """What friction could hold beyond what it does; in squares, so that release alone does not change its sign."""
    return float(at.holds[i] ** 2 - at.forces[rows] @ at.forces[rows])


def _speed(at: CompliantForces, *, columns: list[int], stopped: float) -> float:
    return float(np.linalg.norm(at.slip[columns]) - stopped)


def _beyond_leaving(at: CompliantForces, *, columns: list[int], speed: float) -> float:
    return beyond_leaving(at.slip[columns], speed)


def _along(at: CompliantForces, *, columns: list[int], u: Array, margin: float) -> float:
    return float(at.slip[columns] @ u) + margin  # a slip that begins at zero stops only where it falls back below
