"""Tangents along the course of a compliant impact: through its phases, and through what ends them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.fast_slopes import Duals, FastSlopes
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.fast import FastSystem
from hybrid.contact.compliance.passage import Passage
from hybrid.contact.compliance.path import CompliantPhase
from hybrid.contact.compliance.standing import STOPPED, CompliantStanding, pace
from hybrid.expressions import changes, duals, plain

__all__ = ["FastLeg", "follow", "recorded_legs"]

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
class FastLeg:
    """One phase of a passage: what the contacts do, its duration, and the event that ends it."""

    standing: CompliantStanding
    duration: float
    event: tuple[str, int]


@attrs.define(eq=False)
class _Recorder(Passage):
    """A passage that keeps its phases, and with them what ends each."""

    legs: list[FastLeg] = attrs.field(factory=list)

    def _advance(self, y: Array, standing: CompliantStanding) -> tuple[Array, CompliantPhase, tuple[str, int]]:
        during = standing.copy()
        end, phase, event = super()._advance(y, standing)
        self.legs.append(FastLeg(during, float(end[-1] - y[-1]), event))
        return end, phase, event

    def _flight(self, y: Array) -> tuple[int, float] | None:
        following = super()._flight(y)
        if following is not None:
            index, duration = following
            self.legs.append(FastLeg(CompliantStanding.open(len(self.system.contacts)), duration, ("press", index)))
        return following


def recorded_legs(system: FastSystem) -> list[FastLeg]:
    """The phases of the passage of a fast system."""
    recorder = _Recorder(system)
    recorder.run()
    return recorder.legs


def follow(slopes: FastSlopes, legs: list[FastLeg]) -> Duals:
    """Carry tangents from touch to release.

    Normal forces and friction vanish continuously where a contact lets go or begins to press: the flow has no jump
    there, and a change of that time does nothing at first order. Where a slip ends, or friction no longer holds,
    friction jumps, and tangents pass by the saltation of that event.

    Parameters
    ----------
    slopes : FastSlopes
    legs : list of FastLeg

    Returns
    -------
    array of Dual, (k + r + 2,)
        The unknowns of the fast system after the impact.

    Raises
    ------
    NoDerivative
        A place where the course has a kink, or one that is not resolved.
    """
    y = duals(np.zeros(slopes.size), np.zeros((slopes.size, changes(slopes.changed.gamma).shape[-1])))
    _check_legs(legs)
    before: CompliantStanding | None = None
    for number, leg in enumerate(legs):
        _check_start(slopes.system, plain(y), before, leg)
        y = slopes.stopped(y, leg.standing)
        _check_holds(slopes.system, plain(y), leg.standing)
        turns = bool(leg.standing.turning(slopes.system.sizes))
        y = _punctual(slopes, _turned(slopes, y, leg) if turns else _carried(slopes, y, leg), leg)
        _check_friction(slopes, y, leg.standing)
        if leg.event[0] in _JUMPS:
            if number + 1 == len(legs):
                raise NoDerivative("a compliant impact whose last phase ends by its slip", is_proven=False)
            y = _through(slopes, y, leg, legs[number + 1].standing)
        before = leg.standing
    _check_end(slopes.system, plain(y))
    return y


def _check_legs(legs: list[FastLeg]) -> None:
    """Refuse what is not resolved: directions of spatial slips from rest, and which of contacts yields first."""
    if any(any(leg.standing.leaves) for leg in legs):
        raise NoDerivative("a spatial slip that begins from rest within a compliant impact", is_proven=False)
    if any(leg.event[0] == "yield" for leg in legs):
        raise NoDerivative("contacts that hold each other no longer hold in a compliant impact", is_proven=False)
    least = _EDGE * sum(leg.duration for leg in legs)
    if any(a.event[0] in _JUMPS and b.event[0] in _JUMPS and b.duration <= least for a, b in pairwise(legs)):
        raise NoDerivative(_AT_ONCE, is_proven=False)


def _check_start(system: FastSystem, y: Array, before: CompliantStanding | None, leg: FastLeg) -> None:
    """Refuse contacts that begin to press and to slip at once: changed impacts slip to either side."""
    gamma = system.velocities(y)
    for index, contact in enumerate(system.contacts):
        begins = leg.standing.presses[index] and not (before is not None and before.presses[index])
        slip = float(np.linalg.norm(gamma[list(contact.tangential)]))
        slides = contact.tangential and leg.standing.slip[index] is not None
        if begins and slides and slip <= _EDGE * system.speed:
            raise NoDerivative(
                f"{contact.name!r} begins to press and to slip at once in the impact: a changed one may slip otherwise",
                is_proven=False,
            )


def _check_holds(system: FastSystem, y: Array, standing: CompliantStanding) -> None:
    """Refuse contacts that just stick."""
    rest = standing.resting(system.sizes)
    if not rest:
        return
    F = system.forces(y, standing, normal=system.growing(y, standing))
    rounding = 1e-13 * float(np.max(np.abs(F)))
    for index in rest:
        contact = system.contacts[index]
        if np.linalg.norm(F[list(contact.tangential)]) > (1 - _EDGE) * contact.holds * F[contact.normal] + rounding:
            raise NoDerivative(
                f"the slip of {contact.name!r} ends in the impact on the edge of its cone", is_proven=False
            )


def _check_friction(slopes: FastSlopes, y: Duals, standing: CompliantStanding) -> None:
    """Refuse a course whose friction exceeds its bound at the end of a phase: an event was stepped over."""
    F = plain(slopes.changed.forces(y, standing))
    size = slopes.system.speed / float(np.max(np.diag(slopes.system.G))) ** 0.5
    for index in standing.resting(slopes.system.sizes):
        contact = slopes.system.contacts[index]
        excess = float(np.linalg.norm(F[list(contact.tangential)])) - contact.holds * float(F[contact.normal])
        if excess > _EXCESS * size:
            raise NoDerivative(f"friction of {contact.name!r} exceeds its bound in the impact", is_proven=False)


def _check_end(system: FastSystem, y: Array) -> None:
    gamma = system.velocities(y)
    for contact in system.contacts:
        if abs(gamma[contact.normal]) <= _EDGE * system.speed:
            raise NoDerivative(
                f"{contact.name!r} neither separates nor presses after the compliant impact", is_proven=False
            )


def _carried(slopes: FastSlopes, y: Duals, leg: FastLeg) -> Duals:
    """Unknowns at the end of a phase without turning slips, which is linear: derivatives of a matrix exponential."""
    from scipy.linalg import expm, expm_frechet

    none, n = np.zeros(slopes.size), slopes.size
    start = slopes.rates(none, leg.standing)
    columns = [slopes.rates(unit, leg.standing) - start for unit in np.eye(n)]
    A = leg.duration * np.column_stack([*columns, start])
    A = np.concatenate([A, np.zeros((1, n + 1))])
    known, x = plain(A), np.append(plain(y), 1.0)
    flow, slopes_of_A = expm(known), changes(A.ravel()).reshape(n + 1, n + 1, -1)
    tangents = flow[:n, :n] @ changes(y)
    for column in np.flatnonzero(slopes_of_A.any(axis=(0, 1))).tolist():
        tangents[:, column] += (expm_frechet(known, slopes_of_A[:, :, column], compute_expm=False) @ x)[:n]
    return duals((flow @ x)[:n], tangents)


def _punctual(slopes: FastSlopes, y: Duals, leg: FastLeg) -> Duals:
    """The end of a phase moved to the zero of what ends it: it was recorded to the accuracy of the passage alone."""
    kind, index = leg.event
    if kind == "stop" and len(slopes.system.contacts[index].tangential) == 2:
        return y
    moved = slopes.rates(y, leg.standing)
    rate = _rate(slopes, y, plain(moved), leg)
    late = -plain(_guard(slopes.changed, y, leg)) / rate if rate != 0.0 else np.inf
    return y if abs(late) > _LATE * leg.duration else np.asarray(y + late * moved)


def _turned(slopes: FastSlopes, y: Duals, leg: FastLeg) -> Duals:
    """Unknowns at the end of a phase with turning slips, in the variable in which these die out exponentially."""
    from scipy.integrate import solve_ivp

    system, standing, shape, n = slopes.system, leg.standing, changes(y).shape, slopes.size
    turning = standing.turning(system.sizes)
    ends = leg.event[0] == "stop" and leg.event[1] in turning

    def unpacked(z: Array) -> Duals:
        return duals(z[:n], z[n:-1].reshape(shape))

    def slips(z: Array) -> list[Array]:
        return [system.slip(z[:n], index) for index in turning]

    def rates(_: float, z: Array) -> Array:
        found = slopes.rates(unpacked(z), standing)
        rate = np.concatenate([plain(found), changes(found).ravel(), [1.0]])
        return np.asarray(rate * pace(slips(z), system.speed))

    def end(_: float, z: Array) -> float:
        if not ends:
            return float(leg.duration - z[-1])
        return float(np.linalg.norm(slips(z)[turning.index(leg.event[1])])) - STOPPED * system.speed

    end.terminal, end.direction = True, -1.0  # type: ignore[attr-defined]
    z = np.concatenate([plain(y), changes(y).ravel(), [0.0]])
    sizes = np.maximum(np.abs(z), system.speed)
    answer = solve_ivp(rates, (0.0, _LONGEST), z, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY * sizes, events=end)
    if answer.status != 1:
        raise NoDerivative("a phase of the compliant impact could not be followed", is_proven=False)
    return unpacked(answer.y[:, -1])


def _through(slopes: FastSlopes, y: Duals, leg: FastLeg, following: CompliantStanding) -> Duals:
    """Unknowns after an event at which friction jumps."""
    flow, guard = plain(slopes.rates(y, leg.standing)), _guard(slopes.changed, y, leg)
    rate = _rate(slopes, y, flow, leg)
    jump = flow - plain(slopes.rates(slopes.stopped(y, following), following))
    if np.max(np.abs(jump)) <= _EDGE * np.max(np.abs(flow)):
        return y
    if not abs(rate) > 0.0:
        name = slopes.system.contacts[leg.event[1]].name
        raise NoDerivative(f"friction of {name!r} only grazes its bound in the impact", is_proven=False)
    time = (plain(guard) - guard) / rate
    _check_together(slopes, y, leg, following, time.d)
    return np.asarray(y + jump * time)


def _check_together(slopes: FastSlopes, y: Duals, leg: FastLeg, following: CompliantStanding, time: Array) -> None:
    """Refuse slips that end together, unless they do so in every changed impact."""
    flow = plain(slopes.rates(y, leg.standing))
    for index, before in enumerate(leg.standing.slip):
        stops = leg.standing.presses[index] and before is not None and following.slip[index] != before
        if index == leg.event[1] or not stops or not slopes.system.contacts[index].tangential:
            continue
        other = attrs.evolve(leg, event=("stop", index))
        changed, rate = _guard(slopes.changed, y, other).d, _rate(slopes, y, flow, other)
        if not np.max(np.abs(changed + rate * time)) <= _ALIKE * np.max(np.abs(changed)):
            raise NoDerivative(_AT_ONCE, is_proven=False)


def _rate(slopes: FastSlopes, y: Duals, flow: Array, leg: FastLeg) -> float:
    """Rate in time of what vanishes at an event."""
    return float(_guard(slopes.system, duals(plain(y), flow[:, None]), leg).d[0])


def _guard(system: FastSystem, y: Duals, leg: FastLeg) -> Any:
    """What vanishes at an event."""
    kind, index = leg.event
    contact = system.contacts[index]
    rows = list(contact.tangential)
    if kind in ("release", "press"):
        return system.potential_forces(y)[index]
    if kind == "stop":
        slip = system.slip(y, index)
        return plain(leg.standing.direction(index, slip)) @ slip
    F = system.forces(y, leg.standing)
    return (contact.holds * F[contact.normal]) ** 2 - F[rows] @ F[rows]
