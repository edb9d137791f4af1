"""Tangents along the course of a compliant impact: through its phases, and through what ends them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.fast_slopes import FastSlopes, Tangent
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.passage import Passage
from hybrid.contact.compliance.path import CompliantPhase
from hybrid.contact.compliance.standing import STOPPED, CompliantStanding, pace

if TYPE_CHECKING:
    from hybrid.contact.compliance.fast import FastSystem

__all__ = ["Leg", "follow", "recorded_legs"]

Array = NDArray[np.float64]

_ACCURACY = 1e-11  # as of the passage itself
_EDGE = 1e-9  # of a bound, or of the velocities: to one side something else happens
_EXCESS = 1e-6  # of the forces: more friction than its bound is no rounding
_LATE = 1e-6  # of a phase: an end as late as that is not a matter of accuracy
_ALIKE = 1e-7  # of the derivatives of a time
_JUMPS = ("stop", "slip")  # events at which friction jumps
_AT_ONCE = "friction of two contacts changes at once in the compliant impact"
_LONGEST = 1e9  # of the variable of integration; the end of a slip is reached exponentially


@attrs.frozen(eq=False)
class Leg:
    """One phase of a passage: what the contacts do, its duration, and the event that ends it."""

    standing: CompliantStanding
    duration: float
    event: tuple[str, int]


@attrs.define(eq=False)
class _Recorder(Passage):
    """A passage that keeps its phases, and with them what ends each."""

    legs: list[Leg] = attrs.field(factory=list)

    def _advance(self, y: Array, standing: CompliantStanding) -> tuple[Array, CompliantPhase, tuple[str, int]]:
        during = standing.copy()
        end, phase, event = super()._advance(y, standing)
        self.legs.append(Leg(during, float(end[-1] - y[-1]), event))
        return end, phase, event

    def _flight(self, y: Array) -> tuple[int, float] | None:
        following = super()._flight(y)
        if following is not None:
            index, duration = following
            self.legs.append(Leg(CompliantStanding.open(len(self.system.contacts)), duration, ("press", index)))
        return following


def recorded_legs(system: FastSystem) -> list[Leg]:
    """The phases of the passage of a fast system."""
    recorder = _Recorder(system)
    recorder.run()
    return recorder.legs


def follow(slopes: FastSlopes, legs: list[Leg]) -> Tangent:
    """Carry tangents from touch to release.

    Normal forces and friction vanish continuously where a contact lets go or begins to press: the flow has no jump
    there, and a change of that time does nothing at first order. Where a slip ends, or friction no longer holds,
    friction jumps, and tangents pass by the saltation of that event.

    Parameters
    ----------
    slopes : FastSlopes
    legs : list of Leg

    Returns
    -------
    Tangent
        After the impact.

    Raises
    ------
    NoDerivative
        A place where the course has a kink, or one that is not resolved.
    """
    at = Tangent(
        np.zeros(slopes.k + len(slopes.gamma)), np.zeros((slopes.k + len(slopes.gamma), slopes.gamma.shape[1]))
    )
    _check_legs(legs)
    before: CompliantStanding | None = None
    for number, leg in enumerate(legs):
        _check_start(slopes, at, before, leg)
        at = slopes.stopped(at, leg.standing)
        _check_holds(slopes, at, leg.standing)
        turns = bool(leg.standing.turning(slopes.system.sizes))
        at = _punctual(slopes, _turned(slopes, at, leg) if turns else _carried(slopes, at, leg), leg)
        _check_friction(slopes, at, leg.standing)
        if leg.event[0] in _JUMPS:
            if number + 1 == len(legs):
                raise NoDerivative("a compliant impact whose last phase ends by its slip", is_proven=False)
            at = _through(slopes, at, leg, legs[number + 1].standing)
        before = leg.standing
    _check_end(slopes, at)
    return at


def _check_legs(legs: list[Leg]) -> None:
    """Refuse what is not resolved: directions of spatial slips from rest, and which of contacts yields first."""
    if any(any(leg.standing.leaves) for leg in legs):
        raise NoDerivative("a spatial slip that begins from rest within a compliant impact", is_proven=False)
    if any(leg.event[0] == "yield" for leg in legs):
        raise NoDerivative("contacts that hold each other no longer hold in a compliant impact", is_proven=False)
    least = _EDGE * sum(leg.duration for leg in legs)
    if any(a.event[0] in _JUMPS and b.event[0] in _JUMPS and b.duration <= least for a, b in pairwise(legs)):
        raise NoDerivative(_AT_ONCE, is_proven=False)


def _check_start(slopes: FastSlopes, at: Tangent, before: CompliantStanding | None, leg: Leg) -> None:
    """Refuse contacts that begin to press and to slip at once: changed impacts slip to either side."""
    gamma, _ = slopes.velocities(at)
    for index, contact in enumerate(slopes.system.contacts):
        begins = leg.standing.presses[index] and not (before is not None and before.presses[index])
        slip = float(np.linalg.norm(gamma[list(contact.tangential)]))
        slides = contact.tangential and leg.standing.slip[index] is not None
        if begins and slides and slip <= _EDGE * slopes.system.speed:
            raise NoDerivative(
                f"{contact.name!r} begins to press and to slip at once in the impact: a changed one may slip otherwise",
                is_proven=False,
            )


def _check_holds(slopes: FastSlopes, at: Tangent, standing: CompliantStanding) -> None:
    """Refuse contacts that just stick."""
    system = slopes.system
    rest = standing.resting(system.sizes)
    if not rest:
        return
    y = np.concatenate([at.x, [0.0, 0.0]])
    F = system.forces(y, standing, normal=system.growing(y, standing))
    rounding = 1e-13 * float(np.max(np.abs(F)))
    for index in rest:
        contact = system.contacts[index]
        if np.linalg.norm(F[list(contact.tangential)]) > (1 - _EDGE) * contact.holds * F[contact.normal] + rounding:
            raise NoDerivative(
                f"the slip of {contact.name!r} ends in the impact on the edge of its cone", is_proven=False
            )


def _check_friction(slopes: FastSlopes, at: Tangent, standing: CompliantStanding) -> None:
    """Refuse a course whose friction exceeds its bound at the end of a phase: an event was stepped over."""
    F, _ = slopes.forces(at, standing)
    size = slopes.system.speed / float(np.max(np.diag(slopes.system.G))) ** 0.5
    for index in standing.resting(slopes.system.sizes):
        contact = slopes.system.contacts[index]
        excess = float(np.linalg.norm(F[list(contact.tangential)])) - contact.holds * float(F[contact.normal])
        if excess > _EXCESS * size:
            raise NoDerivative(f"friction of {contact.name!r} exceeds its bound in the impact", is_proven=False)


def _check_end(slopes: FastSlopes, at: Tangent) -> None:
    gamma, _ = slopes.velocities(at)
    for contact in slopes.system.contacts:
        if abs(gamma[contact.normal]) <= _EDGE * slopes.system.speed:
            raise NoDerivative(
                f"{contact.name!r} neither separates nor presses after the compliant impact", is_proven=False
            )


def _carried(slopes: FastSlopes, at: Tangent, leg: Leg) -> Tangent:
    """Tangents at the end of a phase without turning slips, which is linear: derivatives of a matrix exponential."""
    from scipy.linalg import expm, expm_frechet

    n, size = at.slopes.shape
    none = Tangent(np.zeros(n), np.zeros((n, size)))
    A, changes = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1, size))
    start = slopes.rates(none, leg.standing)
    A[:n, n], changes[:n, n] = start.x, start.slopes
    for column, unit in enumerate(np.eye(n)):
        moved = slopes.rates(Tangent(unit, none.slopes), leg.standing)
        A[:n, column], changes[:n, column] = moved.x - start.x, moved.slopes - start.slopes
    A, changes = A * leg.duration, changes * leg.duration
    x, flow = np.concatenate([at.x, [1.0]]), expm(A)
    tangents = flow[:n, :n] @ at.slopes
    for column in np.flatnonzero(changes.any(axis=(0, 1))).tolist():
        tangents[:, column] += (expm_frechet(A, changes[:, :, column], compute_expm=False) @ x)[:n]
    return Tangent((flow @ x)[:n], tangents)


def _punctual(slopes: FastSlopes, at: Tangent, leg: Leg) -> Tangent:
    """The end of a phase moved to the zero of what ends it: it was recorded to the accuracy of the passage alone."""
    kind, index = leg.event
    if kind == "stop" and len(slopes.system.contacts[index].tangential) == 2:
        return at
    moved = slopes.rates(at, leg.standing)
    value = _guard(slopes, at, leg)[0]
    rate = _guard(slopes.frozen(), Tangent(at.x, moved.x[:, None]), leg)[1]
    late = -value / float(rate[0]) if rate[0] != 0.0 else np.inf
    if abs(late) > _LATE * leg.duration:
        return at
    return Tangent(at.x + late * moved.x, at.slopes + late * moved.slopes)


def _turned(slopes: FastSlopes, at: Tangent, leg: Leg) -> Tangent:
    """Tangents at the end of a phase with turning slips, in the variable in which these die out exponentially."""
    from scipy.integrate import solve_ivp

    system, standing = slopes.system, leg.standing
    turning, shape, n = standing.turning(system.sizes), at.slopes.shape, len(at.x)
    ends = leg.event[0] == "stop" and leg.event[1] in turning

    def unpacked(z: Array) -> Tangent:
        return Tangent(z[:n], z[n:-1].reshape(shape))

    def slips(z: Array) -> list[Array]:
        y = np.concatenate([z[:n], [0.0, 0.0]])
        return [system.slip(y, index) for index in turning]

    def rates(_: float, z: Array) -> Array:
        found = slopes.rates(unpacked(z), standing)
        rate = np.concatenate([found.x, found.slopes.ravel(), [1.0]])
        return np.asarray(rate * pace(slips(z), system.speed))

    def end(_: float, z: Array) -> float:
        if not ends:
            return float(leg.duration - z[-1])
        return float(np.linalg.norm(slips(z)[turning.index(leg.event[1])])) - STOPPED * system.speed

    end.terminal, end.direction = True, -1.0  # type: ignore[attr-defined]
    z = np.concatenate([at.x, at.slopes.ravel(), [0.0]])
    sizes = np.maximum(np.abs(z), system.speed)
    answer = solve_ivp(rates, (0.0, _LONGEST), z, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY * sizes, events=end)
    if answer.status != 1:
        raise NoDerivative("a phase of the compliant impact could not be followed", is_proven=False)
    return unpacked(answer.y[:, -1])


def _through(slopes: FastSlopes, at: Tangent, leg: Leg, following: CompliantStanding) -> Tangent:
    """Tangents after an event at which friction jumps."""
    index = leg.event[1]
    flow = slopes.rates(at, leg.standing).x
    changed = _guard(slopes, at, leg)[1]
    rate = _guard(slopes.frozen(), Tangent(at.x, flow[:, None]), leg)[1]
    jump = flow - slopes.rates(slopes.stopped(at, following), following).x
    if np.max(np.abs(jump)) <= _EDGE * np.max(np.abs(flow)):
        return at
    if not abs(rate[0]) > 0.0:
        name = slopes.system.contacts[index].name
        raise NoDerivative(f"friction of {name!r} only grazes its bound in the impact", is_proven=False)
    _check_together(slopes, at, leg, following, -changed / rate[0])
    return Tangent(at.x, at.slopes - np.outer(jump, changed / rate[0]))


def _check_together(slopes: FastSlopes, at: Tangent, leg: Leg, following: CompliantStanding, time: Array) -> None:
    """Refuse slips that end together, unless they do so in every changed impact."""
    flow = slopes.rates(at, leg.standing).x
    for index, before in enumerate(leg.standing.slip):
        stops = leg.standing.presses[index] and before is not None and following.slip[index] != before
        if index == leg.event[1] or not stops or not slopes.system.contacts[index].tangential:
            continue
        other = attrs.evolve(leg, event=("stop", index))
        changed = _guard(slopes, at, other)[1]
        rate = _guard(slopes.frozen(), Tangent(at.x, flow[:, None]), other)[1]
        if not np.max(np.abs(changed + rate * time)) <= _ALIKE * np.max(np.abs(changed)):
            raise NoDerivative(_AT_ONCE, is_proven=False)


def _guard(slopes: FastSlopes, at: Tangent, leg: Leg) -> tuple[float, Array]:
    """What vanishes at an event, and its derivatives."""
    kind, index = leg.event
    contact = slopes.system.contacts[index]
    rows = list(contact.tangential)
    if kind in ("release", "press"):
        f, f_slopes = slopes.potential_forces(at, slopes.velocities(at))
        return float(f[index]), np.asarray(f_slopes[index])
    if kind == "stop":
        gamma, changed = slopes.velocities(at)
        u = leg.standing.direction(index, gamma[rows])
        return float(u @ gamma[rows]), np.asarray(u @ changed[rows])
    F, changed = slopes.forces(at, leg.standing)
    N = float(F[contact.normal])
    bound = 2 * contact.holds * N * (contact.holds * changed[contact.normal] + N * slopes.static_friction[index])
    return float((contact.holds * N) ** 2 - F[rows] @ F[rows]), np.asarray(bound - 2 * F[rows] @ changed[rows])
