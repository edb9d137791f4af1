"""Periodic motions followed in one parameter: around folds, with changes of stability, up to where they graze."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.gauss import sizes_of
from hybrid.analysis.sensitivities.periodic import ON_CIRCLE, PeriodicMotion, StabilityChange, periodic_of
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.shooting import Shooting, Shot, solve_closed
from hybrid.analysis.sensitivities.smoothness import nearest_dip
from hybrid.arguments import checks_arguments
from hybrid.dynamics.crossing import crossing
from hybrid.dynamics.derive import bound
from hybrid.errors import ArgumentError, ComputationError, DeclarationError, StateError
from hybrid.tolerances import CANCELLED, CLEAR, INTEGRATED, RESOLVED, ROOT, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State
    from hybrid.motion.recorded import EventKind

__all__ = ["Continuation", "StabilityChange", "continue_periodic"]

Array = NDArray[np.float64]

_CORRECTIONS = 8
_CLOSED = INTEGRATED  # of the size of the states
_FIRST, _LONGEST, _SHORTEST = 0.05, 0.2, 1e-7  # steps along the branch, in units of the start's size
_GRAZED = 1e-4  # of a guard's largest value: where a branch ends this close to a surface, it grazes it
_SIDE = CLEAR  # the imaginary part beside which a multiplier counts as real


@attrs.frozen(eq=False)
class Continuation:
    """A branch of periodic motions; made by :func:`continue_periodic`.

    Attributes
    ----------
    parameter : str
    values : array, (N,)
        Of the parameter along the branch.
    motions : tuple of PeriodicMotion
    changes : tuple of StabilityChange
        In the order of the branch: where a multiplier is on another side of the unit circle than at the point before.
        What leaves it and comes back between two points is not seen.
    ending : str
        Why it ends: the value asked for was reached, the declaration allows no value beyond, or where and why the
        motion ceases to have a derivative.
    """

    parameter: str
    values: Array
    motions: tuple[PeriodicMotion, ...]
    changes: tuple[StabilityChange, ...]
    ending: str


@attrs.frozen
class _OutOfRange(Refusal):
    """That a value of the parameter is none that the declaration allows."""


@attrs.frozen(eq=False)
class _Branch:
    """What stays the same along a branch; places are ``(x, T, parameter)`` divided by ``scale``."""

    shooting: Shooting
    name: str
    t: float
    scale: Array

    def value(self, shot: Shot) -> float:
        """The parameter of a closed motion."""
        return float(shot.motion.trajectory.parameters[self.name])

    def place(self, shot: Shot) -> Array:
        return np.concatenate([shot.x, [shot.T, self.value(shot)]]) / self.scale

    def shoot(self, place: Array) -> Shot | Refusal:
        full = place * self.scale
        try:
            dynamics = self.shooting.dynamics.at({self.name: float(full[-1])})
            return self.shooting.shoot(full[:-2], float(full[-2]), self.t, dynamics)
        except DeclarationError as error:
            return _OutOfRange(self.t, str(error), is_proven=False)

    def _frame(self, shot: Shot) -> tuple[Array, Array]:
        """Admissible directions of places, and the scaled slopes of the residual along them."""
        size = len(shot.x)
        basis = np.zeros((size + 2, shot.free.shape[1] + 2))
        basis[:size, :-2] = shot.free
        basis[size, -2] = basis[size + 1, -1] = 1.0
        return basis / self.scale[:, None], self.shooting.slopes(shot) @ basis

    def tangent(self, point: Shot, along: Array) -> Array:
        """Unit tangent of the branch, on the side of a direction."""
        basis, slopes = self._frame(point)
        _, _, right = np.linalg.svd(slopes / np.linalg.norm(basis, axis=0))
        direction = basis @ (right[-1] / np.linalg.norm(basis, axis=0))
        direction = direction / np.linalg.norm(direction)
        return np.asarray(direction if direction @ along >= 0 else -direction)

    def correct(self, place: Array, direction: Array) -> Shot | Refusal | None:
        """Newton's method in the plane across a direction; None where it does not converge."""
        previous = np.inf
        for _ in range(_CORRECTIONS):
            point = self.shoot(place)
            if isinstance(point, Refusal):
                return point
            if point.size <= _CLOSED:
                return point
            if point.size > 2 * previous:
                return None
            previous = point.size
            basis, slopes = self._frame(point)
            matrix = np.vstack([slopes, direction @ basis])
            right = np.append(point.residual, 0.0)
            place = place - basis @ np.linalg.lstsq(matrix, right, rcond=CANCELLED)[0]
        return None

    def accepted(self, place: Array, direction: Array) -> Shot | Refusal | None:
        """The same for a point of the branch, which must be a motion that repeats."""
        point = self.correct(place, direction)
        reason = self.shooting.why_not_periodic(point) if isinstance(point, Shot) else ""
        return Refusal(self.t, reason, is_proven=False) if reason else point


@checks_arguments
def continue_periodic(
    dynamics: Dynamics,
    guess: State,
    *,
    parameter: str,
    to: float,
    period: float | str,
    section: str | None = None,
    drift: Sequence[str] = (),
    law: AbstractImpactLaw | None = None,
    parameters: Values | None = None,
    max_points: int = 200,
) -> Continuation | Refusal:
    """Follow a periodic motion as a parameter changes, by pseudo-arclength (Keller 1977).

    Parameters
    ----------
    dynamics : Dynamics
    guess : State
        Near the motion at the present value of the parameter; the other arguments are those of
        :func:`hybrid.analysis.sensitivities.periodic.periodic_motion`.
    parameter : str
    to : float
        Value to go to. A branch that folds back before is followed until it passes the start again.
    period, section, drift, law, parameters
    max_points : int

    Returns
    -------
    Continuation, or Refusal
        The latter where the first motion has no derivative.

    Raises
    ------
    StateError
        There is no such parameter, or the guess is no state of the mechanism.
    ArgumentError
        The period is not positive, `to` is not finite, or `max_points` is less than 1.
    ComputationError
        No periodic motion is found near the guess.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> from hybrid.contact.impacts.laws import NewtonImpact
    >>> table = derive(mechanisms.load("ball_on_vibrating_table"))
    >>> branch = continue_periodic(
    ...     table, State([0.015], [0.25], 0.02), parameter="Gamma", to=1.6, period="2*pi/Omega", law=NewtonImpact()
    ... )
    >>> [(change.kind, round(change.value, 7)) for change in branch.changes]
    [('flip', 1.5268237)]
    """
    dynamics = bound(dynamics, parameters)
    if parameter not in dynamics.mechanism.parameters:
        raise StateError(f"there is no parameter {parameter!r}; known are {', '.join(dynamics.mechanism.parameters)}")
    if not np.isfinite(to):
        raise ArgumentError(f"continue_periodic: to must be a finite number, not {to}")
    if max_points < 1:
        raise ArgumentError(f"continue_periodic: max_points must be at least 1, not {max_points}")
    start = float(dynamics.values[parameter])
    shooting = Shooting.of(dynamics, section=section, drift=drift, law=law, period=period, parameter=parameter)
    first = solve_closed(shooting, guess, dynamics.at({parameter: start}))
    if isinstance(first, Refusal):
        return first
    scale = np.append(sizes_of(np.abs(first.x), first.T), [first.T, max(abs(start), abs(to - start))])
    branch = _Branch(shooting, parameter, guess.t, scale)
    return _followed(branch, first, start, to, max_points)


def _followed(branch: _Branch, point: Shot, start: float, to: float, max_points: int) -> Continuation:
    along = np.zeros(len(branch.scale))
    along[-1] = np.sign(to - start)
    direction = branch.tangent(point, along)
    points, changes, sided = [point], list[StabilityChange](), dict.fromkeys(_excesses(branch, point), point)
    step, ending = _FIRST, f"the branch has {max_points} points"
    sense = np.sign(to - start)
    while len(points) < max_points:
        place = branch.place(point) + step * direction
        found = branch.accepted(place, direction)
        is_at_end = (
            isinstance(found, _OutOfRange) and step < 2 * _SHORTEST and sense * (place * branch.scale)[-1] >= sense * to
        )
        if is_at_end:  # of a range, which may be the value asked for
            found = _at(branch, point, place, to) or found
        if not isinstance(found, Shot) or _pattern(found) != _pattern(point):
            step /= 2
            if step < _SHORTEST:
                ending = _why(branch, point, found)
                break
            continue
        last = is_at_end or sense * (branch.value(found) - to) >= 0
        if last and not is_at_end:
            found = _at(branch, point, branch.place(found), to) or found
        points.append(found)
        changes += _changes(branch, sided, found, direction)
        sided |= dict.fromkeys(_excesses(branch, found), found)
        if last:
            ending = f"{branch.name} = {to:g} was reached"
            break
        if sense * (branch.value(found) - start) < 0:
            ending = f"the branch folds back and passes {branch.name} = {start:g}"
            break
        direction, point, step = branch.tangent(found, direction), found, min(1.5 * step, _LONGEST)
    return Continuation(
        branch.name,
        np.array([branch.value(item) for item in points]),
        tuple(periodic_of(branch.shooting, item) for item in points),
        tuple(changes),
        ending,
    )


def _pattern(shot: Shot) -> list[tuple[EventKind, tuple[str, ...]]]:
    return [(event.kind, event.elements) for event in shot.motion.trajectory.events]


def _why(branch: _Branch, point: Shot, found: Shot | Refusal | None) -> str:
    where = f"at {branch.name} = {branch.value(point):.9g} the motion can be followed no further"
    if isinstance(found, _OutOfRange):
        return f"{where}: just beyond, {found.reason}"
    dip = nearest_dip(point.motion.segments)
    if dip is not None and dip[0] <= _GRAZED:
        share, t, surface = dip
        kind = surface.words
        return (
            f"{where}: {surface.element!r} grazes at t = {t:.9g} (its guard, {kind}, dips to {share:.1g} of its size)"
        )
    if isinstance(found, Refusal):
        return f"{where}: {found.reason} (t = {found.t:.9g})"
    if isinstance(found, Shot):
        return f"{where}: the sequence of its events changes, which is grazing or two events at once"
    return f"{where}: Newton's method does not converge"


def _at(branch: _Branch, point: Shot, beyond: Array, to: float) -> Shot | None:
    """The motion exactly at a value of the parameter, from one before it and a place beyond."""
    start, end = branch.place(point), to / branch.scale[-1]
    place = start + (end - start[-1]) / (beyond[-1] - start[-1]) * (beyond - start)
    place[-1] = end
    fixed = np.zeros(len(place))
    fixed[-1] = 1.0
    found = branch.accepted(place, fixed)
    return found if isinstance(found, Shot) else None


def _excesses(branch: _Branch, point: Shot) -> dict[int, float]:
    """By how much moduli of multipliers exceed 1, by place in the order of falling modulus; none of those on it."""
    excesses = np.abs(branch.shooting.multipliers(point)) - 1.0
    return {place: excess for place, excess in enumerate(excesses.tolist()) if abs(excess) > ON_CIRCLE}


def _changes(branch: _Branch, sided: dict[int, Shot], after: Shot, direction: Array) -> list[StabilityChange]:
    """Where multipliers cross the circle after the points at which each was last on a side; a pair crosses once."""
    changes: list[StabilityChange] = []
    for place, excess in _excesses(branch, after).items():
        before = sided.get(place)
        if before is None or _excesses(branch, before)[place] * excess > 0:
            continue
        found = _change(branch, before, after, direction, place)
        same = ROOT * (1.0 + abs(found.value))
        if not any(item.kind == found.kind == "torus" and abs(item.value - found.value) <= same for item in changes):
            changes.append(found)
    return sorted(changes, key=lambda item: item.value * float(np.sign(direction[-1])))


def _change(branch: _Branch, before: Shot, after: Shot, direction: Array, place: int) -> StabilityChange:
    start, end = branch.place(before), branch.place(after)
    met: list[Shot] = []

    def multiplier(point: Shot) -> complex:
        return complex(branch.shooting.multipliers(point)[place])

    def excess(share: float) -> float:
        point = branch.correct(start + share * (end - start), direction)
        if not isinstance(point, Shot):
            raise ComputationError("the branch is lost between two of its points")
        met.append(point)
        return abs(multiplier(point)) - 1.0

    crossing(excess, 0.0, 1.0, xtol=RESOLVED, rtol=ROUNDING)
    nearest = min(met, key=lambda point: abs(abs(multiplier(point)) - 1.0))
    found = multiplier(nearest)
    kind = "torus" if abs(found.imag) > _SIDE else "fold" if found.real > 0 else "flip"
    return StabilityChange(branch.value(nearest), kind, found)
