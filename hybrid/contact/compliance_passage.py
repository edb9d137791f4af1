"""One passage of several compliant contacts: linear phases between events, in stretched time."""

from __future__ import annotations

import itertools
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance_path import Array, CompliantPath, CompliantPhase
from hybrid.errors import ComputationError

_ACCURACY = 1e-11
_VANISHING = 1e-12  # relative to the velocities
_MAX_PHASES = 400
_MAX_EXTENSIONS = 40


@attrs.frozen(eq=False)
class ContactRows:
    """One compliant contact among several: its rows, friction, damping and relative stiffness."""

    name: str
    normal: int
    tangential: int | None
    friction: float
    damping: float
    stiffness_ratio: float = 1.0


@attrs.define(eq=False)
class _Standing:
    """What each contact does: pressing or not; sign of slip, 0 for sticking."""

    presses: list[bool]
    slip: list[float]

    def label(self, contacts: tuple[ContactRows, ...]) -> str:
        """The mode in words."""
        words = []
        for contact, presses, sign in zip(contacts, self.presses, self.slip, strict=True):
            kind = "closed" if contact.tangential is None else {1.0: "slide+", -1.0: "slide-"}.get(sign, "stick")
            words.append(f"{contact.name}={kind if presses else 'free'}")
        return ", ".join(words)


@attrs.define(eq=False)
class Passage:
    """One passage from touch to release; the unknowns are ``Y`` (k), the impulses (r) and the work of friction."""

    G: Array
    gamma: Array
    contacts: tuple[ContactRows, ...]

    def run(self) -> CompliantPath:
        """Follow the phases until no contact presses or approaches."""
        k, r = len(self.contacts), len(self.gamma)
        y, standing = np.zeros(k + r + 1), self._first()
        phases: list[CompliantPhase] = []
        for _ in range(_MAX_PHASES):
            if not any(standing.presses):
                following = self._flight(y)
                if following is None:
                    return CompliantPath(self.gamma, self.gamma + self.G @ y[k:-1], y[k:-1] + 0.0, tuple(phases))
                index, duration = following
                y[:k] += self._velocities(y)[self._normals] * duration
                phases.append(CompliantPhase(standing.label(self.contacts), 0.0, duration, 0.0, 0.0))
                standing.presses[index] = True
                standing = self._settled(y, standing, index)
                continue
            y, phase, event = self._advance(y, standing)
            phases.append(phase)
            standing = self._after(y, standing, event)
        raise ComputationError("a compliant impact of several contacts does not end: its phases keep alternating")

    @property
    def _normals(self) -> list[int]:
        return [contact.normal for contact in self.contacts]

    def _velocities(self, y: Array) -> Array:
        return np.asarray(self.gamma + self.G @ y[len(self.contacts) : -1])

    def _potential_forces(self, y: Array) -> Array:
        """``f`` of every contact: its normal force where positive."""
        kappa = np.array([contact.stiffness_ratio for contact in self.contacts])
        d = np.array([contact.damping for contact in self.contacts])
        w = self._velocities(y)[self._normals]
        return np.asarray(-kappa * y[: len(self.contacts)] - 2 * d * np.sqrt(kappa) * w)

    def _first(self) -> _Standing:
        y = np.zeros(len(self.contacts) + len(self.gamma) + 1)
        f, w = self._potential_forces(y), self.gamma[self._normals]
        slips = [0.0 if c.tangential is None else float(np.sign(self.gamma[c.tangential])) for c in self.contacts]
        standing = _Standing([bool(w_i < 0) for w_i in w], slips)
        self._hold_or_slide(y, standing)
        # contacts at rest that the impact of the others presses
        driven = self._rates(y, standing, forces=np.where(w < 0, np.maximum(f, 0.0) if f.any() else -w, 0.0))[0]
        size = _VANISHING * float(np.max(np.abs(driven), initial=0.0))
        for index, w_i in enumerate(w):
            standing.presses[index] |= bool(w_i == 0 and driven[self._normals[index]] < -size)
        self._hold_or_slide(y, standing)
        return standing

    def _settled(self, y: Array, standing: _Standing, index: int) -> _Standing:
        """Give a contact that begins to press its direction of slip."""
        row = self.contacts[index].tangential
        if row is not None:
            slip, size = self._velocities(y)[row], float(np.max(np.abs(self.gamma)))
            standing.slip[index] = float(np.sign(slip)) if abs(slip) > _VANISHING * size else 0.0
            self._hold_or_slide(y, standing)
        return standing

    def _hold_or_slide(self, y: Array, standing: _Standing) -> None:
        """Decide for every pressing contact without slip whether it sticks: a convex problem, its modes enumerated."""
        members = [
            index
            for index, contact in enumerate(self.contacts)
            if standing.presses[index] and contact.tangential is not None and standing.slip[index] == 0.0
        ]
        if not members:
            return
        forces = np.maximum(self._potential_forces(y), 0.0) * np.array(standing.presses)
        if not forces.any():  # the very first moment of undamped contacts: forces grow with the approach
            forces = np.maximum(-self._velocities(y)[self._normals], 0.0) * np.array(standing.presses)
        best, choice = -float("inf"), (0.0,) * len(members)
        for signs in itertools.product((0.0, 1.0, -1.0), repeat=len(members)):
            trial = _Standing(list(standing.presses), list(standing.slip))
            for index, sign in zip(members, signs, strict=True):
                trial.slip[index] = sign
            a, held = self._rates(y, trial, forces=forces)
            slacks = []
            for index, sign in zip(members, signs, strict=True):
                row = self.contacts[index].tangential
                bound = self.contacts[index].friction * forces[index]
                slacks.append(float(bound - np.abs(held[row]) if sign == 0.0 else sign * a[row]))
            if min(slacks) > best + 1e-12:
                best, choice = min(slacks), signs
            if best >= 0:
                break
        for index, sign in zip(members, choice, strict=True):
            standing.slip[index] = sign

    def _rates(self, y: Array, standing: _Standing, *, forces: Array | None = None) -> tuple[Array, Array]:
        """Rates of the contact velocities and the forces by row."""
        if forces is None:
            forces = self._potential_forces(y) * np.array(standing.presses)
        rows = np.zeros(len(self.gamma))
        sticking: list[int] = []
        for contact, F, sign, presses in zip(self.contacts, forces, standing.slip, standing.presses, strict=True):
            rows[contact.normal] = F
            if contact.tangential is not None and presses:
                rows[contact.tangential] = -sign * contact.friction * F
                if sign == 0.0:
                    sticking.append(contact.tangential)
        if sticking:
            block = self.G[np.ix_(sticking, sticking)]
            rows[sticking] = -np.linalg.lstsq(block, self.G[sticking] @ rows, rcond=1e-12)[0]
        return self.G @ rows, rows

    def _advance(self, y: Array, standing: _Standing) -> tuple[Array, CompliantPhase, tuple[str, int]]:
        """One phase, until its first event."""
        from scipy.integrate import solve_ivp

        k = len(self.contacts)
        tangents = [contact.tangential for contact in self.contacts if contact.tangential is not None]

        def rates(_: float, x: NDArray[np.float64]) -> Array:
            gamma, forces = self._velocities(x), self._rates(x, standing)[1]
            return np.concatenate([gamma[self._normals], forces, [forces[tangents] @ gamma[tangents]]])

        events, names = self._events(standing)
        start, span = 0.0, 20.0 / float(np.sqrt(np.max(np.linalg.eigvalsh(self.G))))
        before, x = self._velocities(y), y
        scale = np.max(np.abs(self.gamma))
        for _ in range(_MAX_EXTENSIONS):
            answer = solve_ivp(
                rates, (start, start + span), x, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY * 1e-2 * scale,
                events=events,
            )  # fmt: skip
            start, x = float(answer.t[-1]), np.array(answer.y[:, -1])
            if answer.status == 1:
                which = next(i for i, times in enumerate(answer.t_events) if len(times))
                impulse = x[k:-1] - y[k:-1]
                work_T = float(x[-1] - y[-1])
                total = float(impulse @ (before + self._velocities(x)) / 2)
                pressed = float(np.sum(impulse[self._normals]))
                phase = CompliantPhase(standing.label(self.contacts), pressed, start, total - work_T, work_T)
                return x, phase, names[which]
            span *= 2
        raise ComputationError(
            f"a compliant impact of several contacts does not end: in {standing.label(self.contacts)} no force "
            f"vanishes and no slip changes; friction locks the mechanism"
        )

    def _events(self, standing: _Standing) -> tuple[list[Any], list[tuple[str, int]]]:
        events: list[Any] = []
        names: list[tuple[str, int]] = []

        def add(kind: str, index: int, value: Any, direction: float) -> None:
            def event(_: float, x: NDArray[np.float64]) -> float:
                return float(value(x))

            event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
            events.append(event)
            names.append((kind, index))

        for index, contact in enumerate(self.contacts):
            presses, row, sign = standing.presses[index], contact.tangential, standing.slip[index]
            kind, direction = ("release", -1.0) if presses else ("press", 1.0)
            add(kind, index, lambda x, i=index: self._potential_forces(x)[i], direction)
            if presses and row is not None and sign != 0.0:
                add("stop", index, lambda x, j=row, s=sign: s * self._velocities(x)[j], -1.0)
            elif presses and row is not None:
                add("slip", index, lambda x, i=index, j=row: self._hold(x, standing, i, j), -1.0)
        return events, names

    def _hold(self, x: Array, standing: _Standing, index: int, row: int) -> float:
        # squares: where the normal force vanishes this touches zero without crossing it
        forces = self._rates(x, standing)[1]
        return float((self.contacts[index].friction * forces[self.contacts[index].normal]) ** 2 - forces[row] ** 2)

    def _after(self, y: Array, standing: _Standing, event: tuple[str, int]) -> _Standing:
        kind, index = event
        following = _Standing(list(standing.presses), list(standing.slip))
        match kind:
            case "release":
                following.presses[index] = False
            case "press":
                following.presses[index] = True
                return self._settled(y, following, index)
            case "slip":
                row = self.contacts[index].tangential
                following.slip[index] = -float(np.sign(self._rates(y, standing)[1][row]))
                return following
            case _:
                following.slip[index] = 0.0
        self._hold_or_slide(y, following)
        return following

    def _flight(self, y: Array) -> tuple[int, float] | None:
        """The contact that presses again first while none does, and when; None if none approaches."""
        w = self._velocities(y)[self._normals]
        f = self._potential_forces(y)
        size = _VANISHING * float(np.max(np.abs(self.gamma)))
        waits = [
            (max(float(-f[i]) / (self.contacts[i].stiffness_ratio * -float(w[i])), 0.0), i)
            for i in range(len(w))
            if w[i] < -size
        ]
        return None if not waits else (min(waits)[1], min(waits)[0])
