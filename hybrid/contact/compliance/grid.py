"""Motions of one planar contact of finite stiffness from many states at once.

The same contact as :class:`hybrid.KelvinVoigt`: events are located for every state by itself, steps are of the fourth
order and short against the fastest oscillation, states that are done drop out.

Where guards of many steps fall through zero.

Lengths of steps along motions on one compliant contact, by what it does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.limit import ContactRates
from hybrid.contact.compliance.rest import first_forces
from hybrid.contact.compliance.status import VANISHING
from hybrid.dynamics.scales import without_rounding
from hybrid.tolerances import RESOLVED, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.contact.compliance.path import Array
    from hybrid.dynamics.derive import Dynamics

__all__ = ["LABELS", "MAX_EVENTS", "CompliantMotions", "StepLengths", "compliant_motions", "first_fall"]


_CUTS = 30  # five to eight do
_CLOSE = RESOLVED  # of a step, between cuts: far below the error of a step
_BEGUN = 10.0 ** np.arange(-12, 0)  # shares of a step after which a guard that begins at zero has risen


def first_fall(guards: Callable[[Array], Array], before: Array, after: Array) -> tuple[Array, NDArray[np.intp]]:
    """Share of each step at which its first guard falls through zero, and which guard that is.

    Illinois' regula falsi. A guard that begins at zero, such as a slip from rest, falls where it comes back, not where
    it begins; at once if it does not rise.

    Parameters
    ----------
    guards : callable
        Guards, (N, m), after shares, (N,), of the steps.
    before, after : array, (N, m)
        At the beginning and the end of the steps; at least one of each step falls.

    Returns
    -------
    share : array, (N,)
    which : array of int, (N,)

    Examples
    --------
    >>> share, _ = first_fall(lambda s: (s * (0.25 - s))[:, None], np.zeros((1, 1)), np.array([[-0.75]]))
    >>> share.round(9)
    array([0.25])
    """
    fell = (before >= 0) & (after < 0)
    scale = np.where(fell, before - after, 1.0)

    def least(guard: Array) -> Array:
        return np.asarray(np.min(np.where(fell, guard / scale, np.inf), axis=-1))

    count = len(before)
    low, high, at_low, at_high = np.zeros(count), np.ones(count), least(before), least(after)
    if (begins := at_low <= _CLOSE).any():
        for early in _BEGUN:
            found = least(guards(np.full(count, early)))
            open_end = begins & (high == 1.0)
            rises, falls = open_end & (found > 0), open_end & (found < 0) & (low > 0)
            low, at_low = np.where(rises, early, low), np.where(rises, found, at_low)
            high, at_high = np.where(falls, early, high), np.where(falls, found, at_high)
    share, value, moved = high, after, np.zeros(count)
    for _ in range(_CUTS):
        new = low + (high - low) * at_low / (at_low - at_high)
        value = guards(new)
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


_STEP = 0.15  # of the radian of the fastest oscillation: a step of the fourth order then loses 6e-7 of its amplitude
_STABLE = 1.5  # decay times of a damper that has done its work: up to 2.8 the method of Runge and Kutta is stable
_GROWTH = 0.05  # of the time since the last event: while a damper decays, errors stay of the size of 1e-5 of it


@attrs.frozen(eq=False)
class StepLengths:
    """Lengths in fast time, by state and mode: free, sliding to either side, sticking.

    Attributes
    ----------
    first, longest : array, (N, 4)
        After a change of mode, and once what it has set going has decayed.
    """

    first: Array
    longest: Array

    @classmethod
    def of(cls, at: ContactRates, damping: Array | float) -> StepLengths:
        """For contacts at states, by their oscillation and their damper.

        In a mode of inertia factor ``A`` the contact oscillates with ``sqrt(A)`` and its damper decays with ``2 d A``,
        which for a strong damper is much faster, soon over, and afterwards only to be kept stable. Where ``A < 0`` the
        damper feeds what grows, which is followed closely all the time.
        """
        G_NN, G_NT, G_TT = at.G[:, 0, 0], at.G[:, 0, 1], at.G[:, 1, 1]
        stick = G_NN - G_NT**2 / G_TT
        A = np.stack([G_NN, G_NN - at.friction * G_NT, G_NN + at.friction * G_NT, stick], axis=-1)
        sliding = np.abs(G_NN - np.sign(at.slip) * at.friction * G_NT)
        reverse = np.where(np.abs(G_NT) > at.friction * G_TT, G_NN + at.friction * np.abs(G_NT), 0.0)
        turn = np.sqrt(at.stiffness_ratio * np.maximum(np.maximum(sliding, reverse), stick))[:, None]
        decay = (2 * damping * np.sqrt(at.stiffness_ratio))[:, None] * np.abs(A)
        first = _STEP / np.maximum(turn, decay)
        longest = np.minimum(_STEP / turn, _STABLE / np.maximum(decay, turn))
        return cls(first, np.where(A > 0, np.maximum(longest, first), first))

    def take(self, index: NDArray[np.intp]) -> StepLengths:
        """Those of some of the states."""
        return StepLengths(self.first[index], self.longest[index])

    def at(self, mode: NDArray[np.int8], since: Array) -> Array:
        """Length of the next step, (N,), in a mode for a time already."""
        rows = np.arange(len(mode))
        return np.asarray(np.minimum(self.longest[rows, mode], self.first[rows, mode] + _GROWTH * since))


LABELS = ("free", "slide+", "slide-", "stick")
_FREE, _PLUS, _MINUS, _STICK = range(4)
_RELEASE, _BREAK, _STOP = range(3)
_SIGN = np.array([0.0, 1.0, -1.0, 0.0])
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
        Fast time.
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
    lengths: StepLengths
    start: Array
    q: Array
    v: Array
    s: Array
    changed: Array
    events: NDArray[np.int_]
    mode: Modes
    stuck: NDArray[np.bool_]
    rate: Array
    guard: Array

    def take(self, index: NDArray[Any]) -> _Batch:
        """Some of the states."""
        values = {name: value[index] for name, value in self.parameters.items()}
        arrays = {name: getattr(self, name)[index] for name in _ARRAYS}
        return attrs.evolve(self, parameters=values, lengths=self.lengths.take(index), **arrays)

    def put(self, index: NDArray[Any], part: _Batch) -> None:
        """Write states back to where they were taken from."""
        for name in _ARRAYS:
            getattr(self, name)[index] = getattr(part, name)

    def contact(self, q: Array, v: Array, s: Array) -> tuple[ContactRates, Array]:
        """Contact terms, and the normal force where the contact presses."""
        at = ContactRates.at(self.dynamics.at(self.parameters), q, v, self.start + s / math.sqrt(self.stiffness))
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
        reserve = at.static_friction * potential - np.abs(at.held(potential))
        second = np.where(self.mode == _STICK, reserve, _SIGN[self.mode] * at.slip)
        guard = np.where((self.mode == _FREE)[:, None], 1.0, np.stack([potential, second], axis=-1))
        return rate, guard

    def guards_after(self, length: Array) -> Callable[[Array], Array]:
        """Guards after shares of a step."""

        def guards(share: Array) -> Array:
            q, v = self.stepped(length * share)
            return self.evaluate(q, v, self.s + length * share)[1]

        return guards

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


_ARRAYS = ("start", "q", "v", "s", "changed", "events", "mode", "stuck", "rate", "guard")


def compliant_motions(
    dynamics: Dynamics,
    q: Array,
    v: Array,
    t: Array,
    *,
    stiffness: float,
    damping: float | None = None,
    horizon: float,
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
        Fast time ``sqrt(K) t``.

    Returns
    -------
    CompliantMotions

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> q, v = np.array([[0.0, np.sin(1.0), 1.0]]), np.array([[1 + 0.5 * np.sin(1.0), 0.5 * np.cos(1.0), 0.5]])
    >>> found = compliant_motions(rod.at({"mu": 1.4}), q, v, np.zeros(1), stiffness=1e6, horizon=80.0)
    >>> LABELS[found.mode[0]], bool(found.sticks[0])
    ('free', True)
    """
    count = len(q)
    values = {name: np.broadcast_to(dynamics.values[name], (count,)) for name in dynamics.given}
    own = dynamics.at(values)
    at = ContactRates.at(own, q, v, t)
    gap_dot, slip = _velocities(own, q, v, t)
    presses = (gap_dot < 0) | ((gap_dot == 0) & (at.c[:, 0] < 0))
    slides = np.where(slip > 0, _PLUS, np.where(slip < 0, _MINUS, _STICK))
    lengths = StepLengths.of(at, at.damping if damping is None else np.full(count, damping))
    batch = _Batch(
        dynamics, values, stiffness, damping, lengths, np.broadcast_to(t, (count,)).copy(), q.copy(), v.copy(),
        np.zeros(count), np.zeros(count), np.zeros(count, dtype=int),
        np.where(presses, slides, _FREE).astype(np.int8), np.zeros(count, dtype=bool),
        np.zeros(q.shape), np.zeros((count, 2)),
    )  # fmt: skip
    _settle(batch)
    batch.stuck |= batch.mode == _STICK
    batch.refresh()
    running = np.flatnonzero(presses)
    part = batch.take(running)
    while running.size:
        _advance(part, np.minimum(part.lengths.at(part.mode, part.s - part.changed), horizon - part.s))
        goes_on = (part.mode != _FREE) & (part.s < horizon * (1 - ROUNDING)) & (part.events < MAX_EVENTS)
        if not goes_on.all():
            batch.put(running, part)
            running, part = running[goes_on], part.take(goes_on)
    batch.put(running, part)
    at, potential = batch.contact(batch.q, batch.v, batch.s)
    force = batch.forces(at, potential)[:, 0]
    return CompliantMotions(batch.q, batch.v, batch.mode, batch.stuck, presses, batch.s, force)


def _velocities(dynamics: Dynamics, q: Array, v: Array, t: Array) -> Array:
    """Rates of the gap and slips, (2, N), whose signs say what the contact does first: rounding has none."""
    terms = dynamics.terms(q, v, t=t)
    gamma, W = (
        np.concatenate(np.broadcast_arrays(*pair), axis=-1)
        for pair in ((terms.gap_dot, terms.slip), (terms.W_N, terms.W_T))
    )
    return np.broadcast_to(without_rounding(gamma, W, v), (len(q), 2)).T


def _settle(batch: _Batch) -> None:
    """Let contacts at rest that friction cannot hold slip where their acceleration drives them."""
    rest = np.flatnonzero(batch.mode == _STICK)
    if not rest.size:
        return
    part = batch.take(rest)
    at, potential = part.contact(part.q, part.v, part.s)
    batch.mode[rest] = _from_rest(at, potential, part.stiffness)


def _from_rest(at: ContactRates, potential: Array, stiffness: float, *, breaks: bool = False) -> Modes:
    """Stick where friction can hold, and it does not break, else the slip to which the acceleration drives."""
    approach = -stiffness * at.stiffness_ratio * at.gap_dot
    normal = first_forces(*(force[:, None] for force in (potential, approach, -at.c[:, 0])))[:, 0]
    # where no force acts yet and nothing else moves the contact, the force that comes next decides
    none = (potential <= 0) & (np.abs(at.c[:, 1]) <= VANISHING * np.abs(at.c[:, 0]))
    acting = np.maximum(potential, 0.0)
    force = np.where(none, at.held(normal) - at.held(np.zeros(len(normal))), at.held(acting))
    holds = np.abs(force) <= at.static_friction * np.where(none, normal, acting)
    return np.where(holds & (not breaks), _STICK, np.where(force < 0, _PLUS, _MINUS)).astype(np.int8)


def _advance(part: _Batch, length: Array) -> None:
    """One step for every state, cut at its first event; changes states and modes."""
    q, v = part.stepped(length)
    rate, guard = part.evaluate(q, v, part.s + length)
    hit = np.flatnonzero(((part.guard >= 0) & (guard < 0)).any(axis=-1))
    if hit.size:
        some = part.take(hit)
        share, which = first_fall(some.guards_after(length[hit]), some.guard, guard[hit])
        cut = length[hit] * share
        some.q, some.v = some.stepped(cut)
        some.s = some.s + cut
        some.changed, some.events = some.s.copy(), some.events + 1
        _switch(some, which)
        some.refresh()
    part.q, part.v, part.s, part.rate, part.guard = q, v, part.s + length, rate, guard
    if hit.size:
        part.put(hit, some)


def _switch(part: _Batch, which: NDArray[np.intp]) -> None:
    """Change the modes of states at their event; slip that stopped is made zero exactly."""
    at, potential = part.contact(part.q, part.v, part.s)
    breaks = part.mode == _STICK
    # a bound that falls to nothing together with what it holds is a release
    releases = (which == 0) | (breaks & (potential <= 0))
    event = np.where(releases, _RELEASE, np.where(breaks, _BREAK, _STOP))
    part.mode = np.where(event == _RELEASE, _FREE, part.mode).astype(np.int8)
    slips = _from_rest(at, potential, part.stiffness, breaks=True)
    part.mode = np.where(event == _BREAK, slips, part.mode).astype(np.int8)
    stopped = np.flatnonzero(event == _STOP)
    if stopped.size:
        change = at.response[:, :, 1] * (at.slip / at.G[:, 1, 1])[:, None]
        part.v[stopped] -= change[stopped]
        part.mode[stopped] = _STICK
        rest = part.take(stopped)
        _settle(rest)
        part.mode[stopped] = rest.mode
    part.stuck |= part.mode == _STICK
