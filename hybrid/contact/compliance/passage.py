"""One passage of several compliant contacts: phases between events, in stretched time."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.fast import FastSystem
from hybrid.contact.compliance.lookout import follow_until
from hybrid.contact.compliance.path import Array, CompliantPath, CompliantPhase, CompliantSamples, joined_samples
from hybrid.contact.compliance.rest import directions_from_rest, is_redundant
from hybrid.contact.compliance.standing import (
    STOPPED,
    VANISHING,
    CompliantStanding,
    beyond_leaving,
    has_stopped,
    pace,
)
from hybrid.errors import ComputationError

_ACCURACY = 1e-11
_AT_REST = 1e-9  # of the velocities, and of what accelerations are sums of: nothing moves and forces are in balance
_MAX_PHASES = 400
_FOREVER = 1e15  # stretched time
_MAX_EVALUATIONS = 100_000  # of one phase; an impact takes a few hundred


@attrs.define(eq=False)
class Passage:
    """One passage from touch to release.

    The unknowns are ``Y`` (k), the impulses (r), the work of friction and stretched time.
    """

    system: FastSystem
    samples: int = 0
    kept: list[CompliantSamples] = attrs.field(factory=list)

    def run(self) -> CompliantPath:
        """Follow the phases until no contact presses or approaches."""
        k, r = len(self.system.contacts), len(self.system.gamma)
        y, standing = self._first(np.zeros(k + r + 2))
        phases = list[CompliantPhase]()
        for _ in range(_MAX_PHASES):
            if not any(standing.presses[:k]):
                following = self._flight(y)
                if following is None:
                    impulse, kept = y[k:-2] + 0.0, joined_samples(self.kept)
                    return CompliantPath(
                        self.system.gamma, self.system.velocities(y), impulse, tuple(phases), samples=kept
                    )
                index, duration = following
                before = y.copy()
                y[:k] += self.system.velocities(y)[self.system.normals] * duration
                y[-1] += duration
                self._keep(np.array([before, y]), standing)
                phases.append(CompliantPhase(self.system.label(standing), 0.0, duration, 0.0, 0.0))
                standing.presses[index] = True
                y = self._settle(y, standing, index)
                continue
            y, phase, event = self._advance(y, standing)
            if event[0] == "left":
                standing.leaves[event[1]] = False
            if phases and phases[-1].kind == phase.kind:
                phase = _joined(phases.pop(), phase)
            phases.append(phase)
            y = self._after(y, standing, event)
        raise ComputationError("a compliant impact of several contacts does not end: its phases keep alternating")

    def _first(self, y: Array) -> tuple[Array, CompliantStanding]:
        w = self.system.gamma[self.system.normals]
        standing = CompliantStanding.open(len(self.system.sizes))
        for index in range(len(self.system.sizes)):
            standing.presses[index] = bool(index >= len(w) or w[index] < 0)
            standing.slip[index] = self._direction(y, index)
        y = self._stopped(y, standing)
        self._hold_or_slide(y, standing)
        # contacts at rest that the impact of the others presses
        driven = self.system.G @ self.system.forces(y, standing, normal=self.system.growing(y, standing))
        size = VANISHING * float(np.max(np.abs(driven), initial=0.0))
        added = [i for i, w_i in enumerate(w) if w_i == 0 and driven[self.system.normals[i]] < -size]
        for index in added:
            standing.presses[index] = True
        y = self._stopped(y, standing)
        self._hold_or_slide(y, standing)
        return y, standing

    def _direction(self, y: Array, index: int) -> tuple[float, ...] | None:
        slip = self.system.slip(y, index)
        if has_stopped(slip, self.system.speed):
            return None
        return tuple(float(x) for x in slip / np.linalg.norm(slip))

    def _settle(self, y: Array, standing: CompliantStanding, index: int) -> Array:
        """Give a contact that begins to press its direction of slip; one too small to have any is removed."""
        standing.slip[index], standing.leaves[index] = self._direction(y, index), False
        y = self._stopped(y, standing)
        self._hold_or_slide(y, standing)
        return y

    def _hold_or_slide(self, y: Array, standing: CompliantStanding, *, breaking: int | None = None) -> None:
        """Decide for every pressing contact without slip whether it sticks, and else where it slips."""
        rest, forces = standing.resting(self.system.sizes), self.system.growing(y, standing)
        if self.system.rails.names:
            self.system.settle_loaded(y, standing, forces, breaking)
            return
        if not rest:
            return
        rows, groups = self.system.tangents(rest)
        given = self.system.forces(y, standing, normal=forces)
        given[rows] = 0.0
        kinetic = np.array([self.system.contacts[i].friction * forces[i] for i in rest])
        static = np.array([self.system.contacts[i].holds * forces[i] for i in rest])
        found = directions_from_rest(
            self.system.G[np.ix_(rows, rows)], self.system.G[rows] @ given, kinetic, static, groups,
            breaking=None if breaking is None else rest.index(breaking),
        )  # fmt: skip
        for index, direction in zip(rest, found, strict=True):
            standing.begin_slip(index, direction)

    def _advance(self, y: Array, standing: CompliantStanding) -> tuple[Array, CompliantPhase, tuple[str, int]]:
        """One phase, until its first event."""
        speed = self.system.speed
        tangents = [row for rows in self.system.tangential for row in rows]
        turning = standing.turning(self.system.sizes)

        def rates(_: float, x: NDArray[np.float64]) -> Array:
            gamma, forces = self.system.velocities(x), self.system.forces(x, standing)
            rate = np.concatenate([gamma[self.system.normals], forces, [forces[tangents] @ gamma[tangents], 1.0]])
            return np.asarray(rate * pace([self.system.slip(x, i) for i in turning], speed))

        events, names = self._events(standing)
        start, span = 0.0, 20.0 / float(np.sqrt(np.max(np.linalg.eigvalsh(self.system.G))))
        x, spent = y, 0
        while spent < _MAX_EVALUATIONS and span < _FOREVER and not self._is_in_balance(x, standing):
            found = follow_until(
                rates, (start, start + span), x, events, rtol=_ACCURACY, atol=_ACCURACY * 1e-2 * speed,
                dense=self.samples > 0, watched=len(events),
            )  # fmt: skip
            if self.samples:
                self._keep(found.solution(np.linspace(start, found.t, self.samples)).T, standing)
            start, x = found.t, found.y
            if found.event is not None:
                self.system.verify(x, standing)
                return x, self._phase(y, x, standing), names[found.event]
            span, spent = 2 * span, spent + found.evaluations
        raise ComputationError(
            f"a compliant impact of several contacts does not end: in {self.system.label(standing)} no force "
            f"vanishes and no slip changes; friction locks the mechanism"
        )

    def _let_go(self, y: Array, standing: CompliantStanding) -> None:
        """Release the contacts whose force vanishes and falls with that of another, or they would soon pull."""
        kappa = np.array([contact.stiffness_ratio for contact in self.system.contacts])
        damper = 2 * np.sqrt(kappa) * np.array([contact.damping for contact in self.system.contacts])
        normals, f = self.system.normals, self.system.potential_forces(y)
        lift = (self.system.G @ self.system.forces(y, standing))[normals]
        falls = kappa * self.system.velocities(y)[normals] + damper * lift > 0
        size = VANISHING * self.system.speed * np.sqrt(kappa / np.diag(self.system.G)[normals])
        for i in np.flatnonzero(np.array(standing.presses)[: len(f)] & falls & (f <= size)):
            standing.presses[i] = False

    def _is_in_balance(self, y: Array, standing: CompliantStanding) -> bool:
        """True where nothing moves and the forces, which are not zero, leave it so: there the system stays for ever."""
        forces, system = self.system.forces(y, standing), self.system
        sizes = np.abs(system.G) @ np.abs(forces)
        is_still = np.max(np.abs(system.velocities(y))) <= _AT_REST * system.speed
        return bool(is_still and np.max(np.abs(system.G @ forces)) <= _AT_REST * np.max(sizes) and np.any(forces))

    def _phase(self, before: Array, after: Array, standing: CompliantStanding) -> CompliantPhase:
        impulse = (after - before)[len(self.system.contacts) : -2]
        work_T, duration = (float(x) for x in (after - before)[-2:])
        total = float(impulse @ (self.system.velocities(before) + self.system.velocities(after)) / 2)
        pressed = float(np.sum(impulse[self.system.normals]))
        return CompliantPhase(self.system.label(standing), pressed, duration, total - work_T, work_T)

    def _keep(self, states: Array, standing: CompliantStanding) -> None:
        if not self.samples:
            return
        k = len(self.system.contacts)
        gamma = np.array([self.system.velocities(x) for x in states])
        forces = np.array([self.system.forces(x, standing) for x in states])
        self.kept.append(CompliantSamples(states[:, -1], states[:, :k], gamma, forces, states[:, k:-2]))

    def _events(self, standing: CompliantStanding) -> tuple[list[Any], list[tuple[str, int]]]:
        events: list[Any] = []
        names: list[tuple[str, int]] = []
        # a slip that begins at zero stops only where it falls back below
        system, speed, forces = self.system, self.system.speed, self.system.remembering(standing)
        margin = VANISHING * speed

        def add(kind: str, index: int, value: Any, direction: float) -> None:
            def event(_: float, x: NDArray[np.float64]) -> float:
                return float(value(x))

            event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
            events.append(event)
            names.append((kind, index))

        rest = standing.resting(self.system.sizes)
        held = self.system.tangents(rest)[0]
        redundant = is_redundant(self.system.G[np.ix_(held, held)])
        if redundant:
            add("yield", rest[0], lambda x: self.system.yielding(x, standing, rest), 1.0)
        for index, rows in enumerate(system.tangential):
            if index < len(system.contacts):
                if standing.presses[index]:
                    add("release", index, lambda x, i=index: system.potential_forces(x)[i], -1.0)
                else:
                    add("press", index, lambda x, i=index: system.overlap(x, i), 1.0)
            elif standing.slip[index] is not None:
                add("flip", index, lambda x, i=index: system.load(forces(x), standing, i), -1.0)
            if not rows or not standing.presses[index]:
                continue
            if standing.slip[index] is None and not redundant:
                add("slip", index, lambda x, i=index: system.hold(forces(x), i), -1.0)
            elif standing.slip[index] is None:
                continue
            elif len(rows) == 2 and not standing.leaves[index]:
                add("stop", index, lambda x, i=index: np.linalg.norm(system.slip(x, i)) - STOPPED * speed, -1.0)
            else:
                u = np.array(standing.slip[index])
                add("stop", index, lambda x, i=index, u=u: system.slip(x, i) @ u + margin, -1.0)
                if standing.leaves[index]:
                    add("left", index, lambda x, i=index: beyond_leaving(system.slip(x, i), speed), 1.0)
        return events, names

    def _after(self, y: Array, standing: CompliantStanding, event: tuple[str, int]) -> Array:
        """Change what the contacts do after an event; a slip that stopped is made zero exactly."""
        kind, index = event
        match kind:
            case "release":
                standing.presses[index] = False
                self._let_go(y, standing)
                self._hold_or_slide(y, standing)
            case "press":
                standing.presses[index] = True
                y = self._settle(y, standing, index)
            case "yield":
                self._hold_or_slide(y, standing)
            case "slip":
                self._hold_or_slide(y, standing, breaking=index)
            case "flip":
                self.system.flip(y, standing, index)
            case "stop":
                standing.begin_slip(index, None)
                y = self._stopped(y, standing)
                self._hold_or_slide(y, standing)
        return y

    def _stopped(self, y: Array, standing: CompliantStanding) -> Array:
        """The unknowns with the slip of all contacts at rest removed by an impulse; others that stop with them rest."""
        y, k = y.copy(), len(self.system.contacts)
        while True:
            rows = self.system.tangents(standing.resting(self.system.sizes))[0]
            slip = self.system.velocities(y)[rows]
            y[[k + row for row in rows]] -= np.linalg.lstsq(self.system.G[np.ix_(rows, rows)], slip, rcond=1e-12)[0]
            together = [
                i for i, size in enumerate(self.system.sizes)
                if size and standing.presses[i] and standing.slip[i] is not None
                and has_stopped(self.system.slip(y, i), self.system.speed)
            ]  # fmt: skip
            if not together:
                return y
            for i in together:
                standing.begin_slip(i, None)

    def _flight(self, y: Array) -> tuple[int, float] | None:
        """The contact that presses again first while none does, and when; None if none approaches."""
        w = self.system.velocities(y)[self.system.normals]
        size = VANISHING * self.system.speed
        waits = [(max(float(y[i] / -w[i]), 0.0), i) for i in range(len(w)) if w[i] < -size]
        return None if not waits else (min(waits)[1], min(waits)[0])


def _joined(first: CompliantPhase, second: CompliantPhase) -> CompliantPhase:
    """Two phases of the same kind as one."""
    return CompliantPhase(
        first.kind,
        first.impulse_N + second.impulse_N,
        first.duration + second.duration,
        first.work_N + second.work_N,
        first.work_T + second.work_T,
    )
