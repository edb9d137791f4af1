"""The joint limit of several sliding contacts over a box of postures, enclosed.

The friction of all contacts is multiplied by ``f = u/(1 - u)``, so that ``u`` from 0 to 1 stands for every multiplier.
A principal minor times a power of ``1 - u`` is a polynomial in ``u``, whose coefficients are functions of the posture.
The least ``u`` at which one is negative is searched by boxes of postures and ``u``, those of least ``u`` first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.motion_equations import motion_equations
from hybrid.analysis.certified.tape import Tape, enclosed, tape_of
from hybrid.analysis.criticality.joint import SlidingContacts
from hybrid.expressions import determinant, dot, jacobian, solve_definite
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.analysis.criticality.joint import JointFriction
    from hybrid.analysis.maps.node_states import NodeStates

__all__ = ["enclosed_joint", "halves"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_SHARE = "share of friction"  # no name that a file can declare
_CLOSE = 2.0**-40  # relative distance of the bounds at which the search ends
_BATCH = 2048
_MAX_BOXES = 200_000
_SLACK = 1.0 + 2.0**-40


@attrs.frozen(eq=False)
class _Tie:
    """Dependent slips, ``sum c_i slip_i = d``: of signs that are all those of ``c_i`` only if ``d > 0``, and so on.

    Attributes
    ----------
    places : tuple of int
        Of the weights ``c_i``, among all.
    signs : tuple of int
        Of the slips.
    given : int
        Place of ``d``, which moving surfaces prescribe.
    """

    places: tuple[int, ...]
    signs: tuple[int, ...]
    given: int

    def sign_patterns(self, weights: Array) -> tuple[Flags, Flags, Flags]:
        """Boxes in which all signs are those of the weights, all are the others, and no weight has two signs."""
        turned = np.array(self.signs) > 0
        low, high = weights[:, list(self.places), 0], weights[:, list(self.places), 1]
        is_up, is_down = np.where(turned, low > 0.0, high < 0.0), np.where(turned, high < 0.0, low > 0.0)
        return np.all(is_up, axis=1), np.all(is_down, axis=1), np.all(is_up | is_down, axis=1)

    def excludes(self, weights: Array) -> Flags:
        """Boxes in which no velocity gives such slips (Motzkin's theorem for smallest dependent sets)."""
        is_up, is_down, _ = self.sign_patterns(weights)
        low, high = weights[:, self.given, 0], weights[:, self.given, 1]
        return np.asarray((is_up & (high <= 0.0)) | (is_down & (low >= 0.0)))

    def permits(self, weights: Array) -> Flags:
        """Boxes in which it excludes them nowhere."""
        is_up, is_down, is_decided = self.sign_patterns(weights)
        low, high = weights[:, self.given, 0], weights[:, self.given, 1]
        return np.asarray(is_decided & (~is_up | (low > 0.0)) & (~is_down | (high < 0.0)))


@attrs.frozen(eq=False)
class _Minor:
    """A principal minor for certain signs of slip.

    Attributes
    ----------
    names : dict of str to int
        Its contacts with the signs, 0 without friction.
    ties : tuple of _Tie
    gram : int
        Place of a number that is positive where the slips are independent; -1 where they cannot be.
    """

    names: dict[str, int]
    ties: tuple[_Tie, ...]
    gram: int


@attrs.frozen(eq=False)
class _Minors:
    """Minors over boxes (N, axes + 1, 2) of the axes and ``u``."""

    minors: tuple[_Minor, ...]
    values: Tape
    slopes: Tape
    weights: Tape | None

    def possible(self, boxes: Array) -> tuple[Array, Array]:
        """How large every minor is at least, infinite where its slips are impossible (N, m); what its slopes add."""
        found, broken = self.values(boxes)
        middles = boxes.mean(axis=-1)
        centre, _ = self.values(np.stack([middles, middles], axis=-1))
        slopes, broken_slopes = self.slopes(boxes)
        half = np.maximum(boxes[..., 1] - middles, middles - boxes[..., 0]) * _SLACK
        size = np.abs(slopes).max(axis=-1).reshape(len(boxes), len(self.minors), -1)
        with np.errstate(invalid="ignore", over="ignore"):
            reach = size * half[:, None, :]
            linear = centre[..., 0] - np.sum(reach, axis=-1) * _SLACK
        usable = ~(broken | broken_slopes)[:, None] & np.isfinite(linear)
        least = np.where(broken[:, None], -inf, found[..., 0])
        least = np.where(usable, np.fmax(least, linear), least)
        if self.weights is not None:
            weights, is_broken = self.weights(boxes)
            for place, minor in enumerate(self.minors):
                for tie in minor.ties:
                    least[tie.excludes(weights) & ~is_broken, place] = inf
        return least, np.where(np.isfinite(reach), reach, 0.0).max(axis=1)

    def is_met(self, point: Array, names: dict[str, int]) -> bool:
        """Whether a minor is negative, and its slips possible, at one point (axes + 1,)."""
        place = next((k for k, minor in enumerate(self.minors) if minor.names == names), None)
        if place is None:
            return False
        box = np.stack([point, point], axis=-1)[None]
        minor, (found, broken) = self.minors[place], self.values(box)
        if broken[0] or not found[0, place, 1] < 0.0 or self.weights is None:
            return bool(not broken[0] and found[0, place, 1] < 0.0 and not minor.ties and minor.gram < 0)
        weights, broken = self.weights(box)
        if broken[0]:
            return False
        if not minor.ties:
            return minor.gram >= 0 and bool(weights[0, minor.gram, 0] > 0.0)
        return all(bool(tie.permits(weights)[0]) for tie in minor.ties)


def enclosed_joint(states: NodeStates, sampled: JointFriction | None) -> tuple[float, float] | None:
    """Bounds of the least common multiplier of friction from which on several sliding contacts are paradoxical.

    Parameters
    ----------
    states : NodeStates
        Postures over the axes, without further conditions.
    sampled : JointFriction or None
        What a scan sees; its place is that of the upper bound.

    Returns
    -------
    (float, float) or None
        The upper one is infinite where nothing is known to be paradoxical. None where no several contacts are closed
        throughout the box.
    """
    if sampled is None or (minors := _minors(states)) is None:
        return None
    known = {name for minor in minors.minors for name in minor.names}
    if not known.issuperset(sampled.modes):
        return None
    most = _met(states, minors, sampled)
    least = _searched(states, minors, most)
    low = enclosed(Fraction(least) / (1 - Fraction(least)))[0] if least < 1.0 else inf
    return low, enclosed(Fraction(most) / (1 - Fraction(most)))[1] if most < 1.0 else inf


def _met(states: NodeStates, minors: _Minors, sampled: JointFriction) -> float:
    """The share of friction, a little above the sampled one, at which a minor is negative for certain; else 1."""
    if not sampled.at:
        return 1.0
    signs = {"slide+": 1, "slide-": -1, "closed": 0}
    names = {name: signs[word] for name, word in sampled.modes.items()}
    place = [sampled.at[axis.name] for axis in states.axes]
    if not all(axis.low <= x <= axis.high for axis, x in zip(states.axes, place, strict=True)):
        return 1.0
    share = sampled.factor / (1.0 + sampled.factor)
    for digits in range(50, 20, -2):
        above = min(1.0, share * (1.0 + 2.0**-digits))
        if minors.is_met(np.array([*place, above]), names):
            return above
    return 1.0


def _searched(states: NodeStates, minors: _Minors, most: float) -> float:
    """The share of friction below which no minor that counts is negative, or zero, anywhere."""
    boxes = np.array([[*([axis.low, axis.high] for axis in states.axes), [0.0, most]]])
    widths = boxes[0, :, 1] - boxes[0, :, 0]
    looked = 0
    while len(boxes) and looked < _MAX_BOXES:
        order = np.argsort(boxes[:, -1, 0], kind="stable")
        if most - boxes[order[0], -1, 0] <= _CLOSE * most:
            break
        now, later = boxes[order[:_BATCH]], boxes[order[_BATCH:]]
        looked += len(now)
        least, reach = minors.possible(now)
        is_open = ~(least > 0.0).all(axis=1)
        boxes = np.concatenate([later, *halves(now[is_open], _across(now[is_open], reach[is_open], widths))])
    return float(boxes[:, -1, 0].min(initial=most))


def _across(boxes: Array, reach: Array, widths: Array) -> NDArray[np.intp]:
    """Of every box the axis along which minors vary most, or the longest one."""
    lengths = (boxes[..., 1] - boxes[..., 0]) / widths
    varies = (reach > 0.0).any(axis=1, keepdims=True)
    return np.asarray(np.where(varies, np.where(lengths > 0.0, reach, 0.0), lengths).argmax(axis=1))


def halves(boxes: Array, across: NDArray[np.intp]) -> tuple[Array, Array]:
    """Boxes divided in their middles.

    Parameters
    ----------
    boxes : array, (N, k, 2)
    across : array of int, (N,)
        The axis of each.

    Returns
    -------
    lower, upper : array, (N, k, 2)
    """
    rows = np.arange(len(boxes))
    lower, upper = boxes.copy(), boxes.copy()
    lower[rows, across, 1] = upper[rows, across, 0] = boxes[rows, across].mean(axis=-1)
    return lower, upper


def _minors(states: NodeStates) -> _Minors | None:
    contacts = _closed(states)
    if len(contacts) < 2:
        return None
    return _MinorWriter(states, SlidingContacts(states.dynamics, contacts)).written()


def _closed(states: NodeStates) -> tuple[int, ...]:
    """Contacts whose gap is none, in every posture of the box."""
    found, limit = [], Tolerances().gap
    box = np.array([[[axis.low, axis.high] for axis in states.axes]])
    for index, name in enumerate(states.dynamics.contacts):
        gap = states.measured(f"gap.{name}", states.dynamics.equations.gap[index])
        (bounds,), (broken,) = tape_of(states.build.graph(), [gap], states.names)(box)
        if not broken and np.abs(bounds).max() <= limit:
            found.append(index)
    return tuple(found)


@attrs.define(eq=False)
class _MinorWriter:
    """Minors as nodes: bordered by the rigid constraints, whose own determinant is positive."""

    states: NodeStates
    contacts: SlidingContacts
    held: list[list[int]] = attrs.field(factory=list)
    tangents: dict[int, list[int]] = attrs.field(factory=dict)
    drifts: dict[int, int] = attrs.field(factory=dict)
    moved: list[int] = attrs.field(factory=list)
    weights: list[int] = attrs.field(factory=list)

    def written(self) -> _Minors:
        states, build = self.states, self.states.build
        equations, dynamics, motion = states.dynamics.equations, states.dynamics, motion_equations(states)
        normals = motion.W_N[list(self.contacts.indices)].tolist()
        self.held = [*normals, *motion.J[list(states.pins.independent)].tolist()]
        gaps, constraints = list(self.contacts.indices), list(states.pins.independent)
        for place, index in enumerate(gaps):
            own = dynamics.columns.get(dynamics.contacts[index])
            if own is not None:
                self.tangents[place] = motion.W_T[own.start].tolist()
                self.drifts[place] = self._drift(equations.slip[own.start])
        self.moved = [self._drift(node) for node in (*equations.gap_dot[gaps], *equations.constraint_dot[constraints])]
        rows = [*self.held, *self.tangents.values()]
        answers = solve_definite(build, motion.M, rows)
        G = [[build.collected(dot(build, one, answer)) for answer in answers] for one in rows]
        share = build.name(_SHARE)
        pushed = {place: len(self.held) + number for number, place in enumerate(self.tangents)}
        borders = list(range(len(normals), len(self.held)))

        def entry(row: int, place: int, sign: int) -> int:
            """``(1 - u) G_NN - u s mu G_NT``."""
            change = G[row][place]
            if sign:
                friction = states.at(equations.coefficients["friction"][self.contacts.indices[place]])
                force = build.multiply(friction, G[row][pushed[place]])
                change = build.add(change, force) if sign > 0 else build.subtract(change, force)
            return build.subtract(G[row][place], build.multiply(share, change))

        found, nodes = [], []
        for chosen, signs in self.contacts.members:
            square = [
                [
                    *(entry(row, place, sign) for place, sign in zip(chosen, signs, strict=True)),
                    *(G[row][b] for b in borders),
                ]
                for row in (*chosen, *borders)
            ]
            node = determinant(build, square)
            if build.value(node) == 0:  # whatever the friction
                continue
            nodes.append(node)
            found.append(self._minor(chosen, signs, G))
        inputs = [*states.names, share]
        slopes = jacobian(build, nodes, inputs).ravel().tolist()
        graph = build.graph()
        weights = tape_of(graph, self.weights, inputs) if self.weights else None
        return _Minors(tuple(found), tape_of(graph, nodes, inputs), tape_of(graph, slopes, inputs), weights)

    def _minor(self, chosen: Sequence[int], signs: Sequence[int], G: list[list[int]]) -> _Minor:
        """With what tells whether some velocity keeps the contacts closed and gives them such slips."""
        names = self.states.dynamics.contacts
        signed = dict(zip(chosen, signs, strict=True))
        rough = [place for place in chosen if signed[place]]
        n_free = self.states.dynamics.n - len(self.held)
        ties = tuple(
            _Tie(tuple(self._dependence(tied)), tuple(signed[place] for place in tied), self._given(tied))
            for tied in (combinations(rough, n_free + 1) if n_free >= 0 else ())
        )
        gram = -1
        if not ties and n_free >= 0:
            kept = [*range(len(self.held)), *(len(self.held) + list(self.tangents).index(place) for place in rough)]
            gram = self._weight(determinant(self.states.build, [[G[i][j] for j in kept] for i in kept]))
        own = {names[self.contacts.indices[place]]: sign for place, sign in signed.items()}
        return _Minor(own, ties, gram)

    def _dependence(self, tied: Sequence[int]) -> Iterator[int]:
        """Places of the weights of a sum of slips that vanishes, one more than velocities are free."""
        build = self.states.build
        for number in range(len(tied)):
            others = [self.tangents[place] for place in (*tied[:number], *tied[number + 1 :])]
            node = determinant(build, [*self.held, *others])
            yield self._weight(build.negate(node) if number % 2 else node)

    def _given(self, tied: Sequence[int]) -> int:
        """Place of what that sum is: all rows bordered by the velocities that are prescribed, up to the sign."""
        build = self.states.build
        rows = [*self.held, *(self.tangents[place] for place in tied)]
        border = [*self.moved, *(self.drifts[place] for place in tied)]
        node = determinant(build, [[*row, velocity] for row, velocity in zip(rows, border, strict=True)])
        return self._weight(build.collected(build.negate(node) if len(tied) % 2 == 0 else node))

    def _drift(self, velocity: int) -> int:
        """A velocity of the equations without what the coordinates' velocities add to it."""
        build, equations = self.states.build, self.states.dynamics.equations
        resting = dict.fromkeys(equations.velocities, build.number(0))
        return self.states.at(build.replaced(int(velocity), resting))

    def _weight(self, node: int) -> int:
        if node not in self.weights:
            self.weights.append(node)
        return self.weights.index(node)
