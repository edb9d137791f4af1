"""Motions of one planar contact of finite stiffness from many states at once.

The same contact as :class:`hybrid.KelvinVoigt`: events are located for every state by itself, steps are of the fourth
order and short against the fastest oscillation, states that are done drop out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.path import Array
from hybrid.contact.compliance.rates import ContactRates

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["LABELS", "MAX_EVENTS", "CompliantMotions", "compliant_motions"]

LABELS = ("free", "slide+", "slide-", "stick")
_FREE, _PLUS, _MINUS, _STICK = range(4)
_RELEASE, _BREAK, _STOP = range(3)
_SIGN = np.array([0.0, 1.0, -1.0, 0.0])
_STEP = 0.15  # of the radian of the fastest oscillation: a step of the fourth order then loses 6e-7 of its amplitude
_CUTS = 30  # five to eight do
_CLOSE = 1e-10  # of a step, between cuts: far below the error of a step
MAX_EVENTS = 200
"""Changes of mode of one motion, after which it is ended wherever it is."""

Modes = NDArray[np.int8]


@attrs.frozen(eq=False)
class CompliantMotions:
    """Ends of many motions.

    Attributes
    ----------
    q, v : array, (N, n)
    mode : array of int8, (N,)
        Index into ``LABELS`` of what the contact does at the end.
    sticks : array of bool, (N,)
        True if the contact stuck at any time.
    presses : array of bool, (N,)
        True if the contact pressed at any time.
    elapsed : array, (N,)
        Stretched time.
    force_N : array, (N,)
        At the end.
    """

    q: Array
    v: Array
    mode: Modes
    sticks: NDArray[np.bool_]
    presses: NDArray[np.bool_]
    elapsed: Array
    force_N: Array


@attrs.define(eq=False)
class _Batch:
    """States on their way; accelerations and guards are those of the states, kept from the end of the last step."""

    dynamics: Dynamics
    parameters: Mapping[str, Array]
    stiffness: float
    damping: float | None
    start: Array
    step: Array
    q: Array
    v: Array
    s: Array
    mode: Modes
    stuck: NDArray[np.bool_]
    rate: Array
    guard: Array

    def take(self, index: NDArray[Any]) -> _Batch:
        """Some of the states."""
        values = {name: value[index] for name, value in self.parameters.items()}
        arrays = {name: getattr(self, name)[index] for name in _ARRAYS}
        return attrs.evolve(self, parameters=values, **arrays)

    def put(self, index: NDArray[Any], part: _Batch) -> None:
        """Write states back to where they were taken from."""
        for name in _ARRAYS:
            getattr(self, name)[index] = getattr(part, name)

    def contact(self, q: Array, v: Array, s: Array) -> tuple[ContactRates, Array]:
        """Contact terms, and the normal force where the contact presses."""
        at = ContactRates.at(self.dynamics, q, v, self.start + s / math.sqrt(self.stiffness), self.parameters)
        d, K = at.damping if self.damping is None else self.damping, self.stiffness * at.stiffness_ratio
        return at, -K * at.gap - 2 * d * np.sqrt(K) * at.gap_dot

    def forces(self, at: ContactRates, potential: Array) -> Array:
        """Forces of the modes, (N, 2)."""
        normal = np.where(self.mode == _FREE, 0.0, potential)
        sliding = -_SIGN[self.mode] * at.friction * normal
        return np.stack([normal, np.where(self.mode == _STICK, at.held(normal), sliding)], axis=-1)

    def evaluate(self, q: Array, v: Array, s: Array) -> tuple[Array, Array]:
        """Accelerations, and guards, (N, 2): an event is where the first (release) or second falls below zero."""
        at, potential = self.contact(q, v, s)
        rate = at.acceleration(self.forces(at, potential))
        reserve = (at.static_friction * potential) ** 2 - at.held(potential) ** 2
        second = np.where(self.mode == _STICK, reserve, _SIGN[self.mode] * at.slip)
        guard = np.where((self.mode == _FREE)[:, None], 1.0, np.stack([potential, second], axis=-1))
        return rate, guard

    def refresh(self) -> None:
        """Accelerations and guards anew, after modes or velocities have changed."""
        self.rate, self.guard = self.evaluate(self.q, self.v, self.s)

    def stepped(self, length: Array) -> tuple[Array, Array]:
        """Positions and velocities after a step of Runge and Kutta, of a stretched length for each state."""
        h = (length / math.sqrt(self.stiffness))[:, None]
        q, v, s, half = self.q, self.v, self.s, length / 2
        a1 = self.rate
        a2, _ = self.evaluate(q + h / 2 * v, v + h / 2 * a1, s + half)
        a3, _ = self.evaluate(q + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2, s + half)
        a4, _ = self.evaluate(q + h * v + h * h / 2 * a2, v + h * a3, s + length)
        return q + h * v + h * h / 6 * (a1 + a2 + a3), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


_ARRAYS = ("start", "step", "q", "v", "s", "mode", "stuck", "rate", "guard")


def compliant_motions(
    dynamics: Dynamics,
    q: Array,
    v: Array,
    t: Array,
    *,
    stiffness: float,
    damping: float | None = None,
    horizon: float,
    parameters: Mapping[str, Any],
) -> CompliantMotions:
    """Follow motions on a compliant contact until it lets go, or to a horizon, or for 200 changes of mode.

    Parameters
    ----------
    dynamics : Dynamics
        Of a mechanism with one contact, planar.
    q, v : array, (N, n)
        With closed contacts.
    t : array, (N,)
    stiffness : float
        Of a contact with ``stiffness_ratio = 1``.
    damping : float, optional
        Replaces the declared one.
    horizon : float
        Stretched time ``sqrt(K) t``.
    parameters : mapping of str to number or array (N,)

    Returns
    -------
    CompliantMotions

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> q, v = np.array([[0.0, np.sin(1.0), 1.0]]), np.array([[1 + 0.5 * np.sin(1.0), 0.5 * np.cos(1.0), 0.5]])
    >>> found = compliant_motions(rod, q, v, np.zeros(1), stiffness=1e6, horizon=80.0, parameters={"mu": 1.4})
    >>> LABELS[found.mode[0]], bool(found.sticks[0])
    ('free', True)
    """
    count = len(q)
    values = {name: np.broadcast_to(np.asarray(value, dtype=float), (count,)) for name, value in parameters.items()}
    at = ContactRates.at(dynamics, q, v, t, values)
    presses = (at.gap_dot < 0) | ((at.gap_dot == 0) & (at.c[:, 0] < 0))
    slides = np.where(at.slip > 0, _PLUS, np.where(at.slip < 0, _MINUS, _STICK))
    step = _STEP / np.sqrt(at.stiffness_ratio * _fastest(at))
    batch = _Batch(
        dynamics, values, stiffness, damping, np.broadcast_to(t, (count,)).copy(), step, q.copy(), v.copy(),
        np.zeros(count), np.where(presses, slides, _FREE).astype(np.int8), np.zeros(count, dtype=bool),
        np.zeros(q.shape), np.zeros((count, 2)),
    )  # fmt: skip
    _settle(batch)
    batch.stuck |= batch.mode == _STICK
    batch.refresh()
    running = np.flatnonzero(presses)
    part = batch.take(running)
    for _ in range(math.ceil(np.max(horizon / step, initial=0.0)) + MAX_EVENTS):
        if not running.size:
            break
        _advance(part, np.minimum(part.step, horizon - part.s))
        goes_on = (part.mode != _FREE) & (part.s < horizon * (1 - 1e-12))
        if not goes_on.all():
            batch.put(running, part)
            running, part = running[goes_on], part.take(goes_on)
    batch.put(running, part)
    at, potential = batch.contact(batch.q, batch.v, batch.s)
    force = batch.forces(at, potential)[:, 0]
    return CompliantMotions(batch.q, batch.v, batch.mode, batch.stuck, presses, batch.s, force)


def _fastest(at: ContactRates) -> Array:
    """The largest inertia factor of the modes a contact can pass through: slide, stick, and reverse slide if driven."""
    G_NN, G_NT, G_TT = at.G[:, 0, 0], at.G[:, 0, 1], at.G[:, 1, 1]
    sliding = np.abs(G_NN - np.sign(at.slip) * at.friction * G_NT)
    reverse = np.where(np.abs(G_NT) > at.friction * G_TT, G_NN + at.friction * np.abs(G_NT), 0.0)
    return np.asarray(np.maximum(np.maximum(sliding, reverse), G_NN - G_NT**2 / G_TT))


def _settle(batch: _Batch) -> None:
    """Let contacts at rest that friction cannot hold slip where their acceleration drives them."""
    rest = np.flatnonzero(batch.mode == _STICK)
    if not rest.size:
        return
    part = batch.take(rest)
    at, potential = part.contact(part.q, part.v, part.s)
    normal = np.maximum(potential, 0.0)
    force = at.held(normal)
    holds = np.abs(force) <= at.static_friction * normal
    batch.mode[rest] = np.where(holds, _STICK, np.where(force < 0, _PLUS, _MINUS))


def _advance(part: _Batch, length: Array) -> None:
    """One step for every state, cut at its first event; changes states and modes."""
    q, v = part.stepped(length)
    rate, guard = part.evaluate(q, v, part.s + length)
    hit = np.flatnonzero(((part.guard >= 0) & (guard < 0)).any(axis=-1))
    if hit.size:
        some = part.take(hit)
        share, which = _first(some, length[hit], guard[hit])
        cut = length[hit] * share
        some.q, some.v = some.stepped(cut)
        some.s = some.s + cut
        _switch(some, which)
        some.refresh()
    part.q, part.v, part.s, part.rate, part.guard = q, v, part.s + length, rate, guard
    if hit.size:
        part.put(hit, some)


def _first(part: _Batch, length: Array, after: Array) -> tuple[Array, NDArray[np.intp]]:
    """Share of the step at which the first guard falls through zero, and which guard it is: Illinois' regula falsi."""
    fell = (part.guard >= 0) & (after < 0)
    scale = np.where(fell, part.guard - after, 1.0)

    def least(guard: Array) -> Array:
        return np.asarray(np.min(np.where(fell, guard / scale, np.inf), axis=-1))

    low, high = np.zeros(len(length)), np.ones(len(length))
    at_low, at_high = least(part.guard), least(after)
    share, value, moved = high, after, np.zeros(len(length))
    for _ in range(_CUTS):
        new = low + (high - low) * at_low / (at_low - at_high)
        q, v = part.stepped(length * new)
        _, value = part.evaluate(q, v, part.s + length * new)
        found, settled = least(value), np.abs(new - share) < _CLOSE
        is_past = found < 0
        # an end that stays a second time counts half, or regula falsi would creep from one side
        at_low = np.where(is_past & (moved > 0), at_low / 2, at_low)
        at_high = np.where(~is_past & (moved < 0), at_high / 2, at_high)
        low, at_low = np.where(is_past, low, new), np.where(is_past, at_low, found)
        high, at_high = np.where(is_past, new, high), np.where(is_past, found, at_high)
        share, moved = new, np.where(is_past, 1.0, -1.0)
        if settled.all():
            break
    return share, np.argmin(np.where(fell, value / scale, np.inf), axis=-1)


def _switch(part: _Batch, which: NDArray[np.intp]) -> None:
    """Change the modes of states at their event; slip that stopped is made zero exactly."""
    event = np.where(which == 0, _RELEASE, np.where(part.mode == _STICK, _BREAK, _STOP))
    at, potential = part.contact(part.q, part.v, part.s)
    force = at.held(potential)
    part.mode = np.where(event == _RELEASE, _FREE, part.mode).astype(np.int8)
    part.mode = np.where(event == _BREAK, np.where(force < 0, _PLUS, _MINUS), part.mode).astype(np.int8)
    stopped = np.flatnonzero(event == _STOP)
    if stopped.size:
        change = at.response[:, :, 1] * (at.slip / at.G[:, 1, 1])[:, None]
        part.v[stopped] -= change[stopped]
        part.mode[stopped] = _STICK
        rest = part.take(stopped)
        _settle(rest)
        part.mode[stopped] = rest.mode
    part.stuck |= part.mode == _STICK
