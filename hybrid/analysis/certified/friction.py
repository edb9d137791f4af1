"""The least critical friction over a box of postures, enclosed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.joint import enclosed_joint, halves
from hybrid.analysis.certified.motion_equations import motion_equations
from hybrid.analysis.certified.tape import Tape, tape_of
from hybrid.analysis.criticality.friction import critical_friction
from hybrid.analysis.criticality.response import rest_pins
from hybrid.analysis.maps.axes import axes_of, names_of
from hybrid.analysis.maps.node_states import NodeStates, node_states
from hybrid.arguments import checks_arguments
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics.derive import bound
from hybrid.errors import ComputationError
from hybrid.expressions import dependencies, determinant, dot, jacobian, solve_definite
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.analysis.criticality.friction import CriticalFriction
    from hybrid.analysis.maps.axes import Axis
    from hybrid.dynamics.derive import Dynamics

__all__ = ["CertifiedFriction", "certified_friction"]

Array = NDArray[np.float64]

_CLOSE = 2.0**-44  # relative distance of the bounds at which the search ends; point values are known to some 2**-50
_NEGLIGIBLE = ROUNDING**2  # of the square of G_NT/G_NN: friction of 1e12 is none
_MAX_BOXES = 2_000_000
_STALLED = 16  # times the boxes at which the bounds last came closer by a tenth: then divisions do not help
_ENOUGH = 2048  # boxes before which that is not asked
_SLACK = 1.0 + 2.0**-40


@attrs.frozen
class CertifiedFriction(AbstractDisplayed):
    """Proved bounds of the least critical friction of a contact, and the sampled one.

    Attributes
    ----------
    low, high : float
        The least critical friction over the closed box lies between them; ``high`` is infinite where no state was found
        in which normal and tangential motion are coupled.
    at : mapping of str to float
        Values of the swept quantities in the middle of the box with the least bound; empty if there is none.
    sampled : CriticalFriction
        As a scan sees it.
    joint : (float, float) or None
        Bounds of the multiplier of all friction from which on the contacts that are closed throughout the box are
        paradoxical when they slide at once; None if there are not several. See
        :class:`hybrid.analysis.criticality.joint.JointFriction`.
    """

    low: float
    high: float
    at: Mapping[str, float]
    sampled: CriticalFriction
    joint: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return one_line(
            f"CertifiedFriction of {self.sampled.contact}", f"{self.low!r} to {self.high!r}", self.sampled.mode
        )


@checks_arguments
def certified_friction(
    dynamics: Dynamics,
    *,
    over: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    contact: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> CertifiedFriction:
    """Enclose the minimum of the critical friction over one to four quantities.

    ``mu_c = G_NN / abs(G_NT)`` (Mamaev and Ivanova 2013) is least where ``G_NT^2 / G_NN^2`` is greatest. Its values
    at points bound this from below, enclosures over boxes from above; boxes that cannot hold the greatest value are
    left out. What it does not depend on, as the azimuth of a rod on a level floor, is not divided.

    Parameters
    ----------
    dynamics, over, pins, contact, parameters
        As :func:`hybrid.critical_friction` takes them.

    Returns
    -------
    CertifiedFriction

    Raises
    ------
    StateError, DeclarationError, BilateralContactError
        As :func:`hybrid.critical_friction`.
    ComputationError
        The pins fix the posture by equations that are not linear.

    Examples
    --------
    >>> import mechanisms
    >>> from fractions import Fraction
    >>> from hybrid import Axis, certified_friction, derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> found = certified_friction(rod, over=[Axis.parse("phi=0:pi")])
    >>> Fraction(found.low) <= Fraction(4, 3) <= Fraction(found.high), found.high - found.low < 1e-12
    (True, True)
    """
    dynamics = bound(dynamics, parameters, swept=names_of(over))
    pins, over = dict(pins or {}), axes_of(dynamics, over)
    sampled = critical_friction(dynamics, over=over, pins=pins, contact=contact, parameters=parameters)
    fixed = rest_pins(dynamics, over, pins=pins)
    states = node_states(dynamics, over, pins=fixed)
    if states.conditions:
        raise ComputationError("the pins fix the posture by equations that are not linear: pin coordinates instead")
    found = _enclosed(states, _coupling(states, sampled.contact), tuple(over), sampled)
    return attrs.evolve(found, joint=enclosed_joint(states, sampled.joint))


def _coupling(states: NodeStates, contact: str) -> int:
    """The node of ``G_NT^2 / G_NN^2``, rigid constraints eliminated."""
    motion, dynamics, build = motion_equations(states), states.dynamics, states.build
    columns = [motion.W_N[dynamics.contacts.index(contact)], *motion.W_T[list(dynamics.columns_of(contact))]]
    W = [column.tolist() for column in [*columns, *motion.J[list(states.pins.independent)]]]
    G = [[build.collected(dot(build, one, answer)) for answer in solve_definite(build, motion.M, W)] for one in W]
    n_tangential = len(dynamics.columns_of(contact))
    held = list(range(1 + n_tangential, len(W)))

    def reduced(column: int) -> int:
        """A Schur complement times the determinant of the constraints, which quotients do not contain."""
        return determinant(build, [[G[row][other] for other in (column, *held)] for row in (0, *held)])

    tangential = [reduced(column) for column in range(1, 1 + n_tangential)]
    normal = reduced(0)
    return build.divide(dot(build, tangential, tangential), build.multiply(normal, normal))


def _enclosed(
    states: NodeStates, coupling: int, over: tuple[Axis, ...], sampled: CriticalFriction
) -> CertifiedFriction:
    build = states.build
    slopes = jacobian(build, [coupling], states.names)
    graph = build.graph()
    value, slope = tape_of(graph, [coupling], states.names), tape_of(graph, slopes.ravel().tolist(), states.names)
    used = dependencies(graph, coupling)
    ends = [(axis.low, axis.high) if axis.name in used else ((axis.low + axis.high) / 2,) * 2 for axis in over]
    boxes = np.array([ends])
    widths = np.array([axis.width for axis in over])
    least, place = 0.0, None
    if sampled.at:
        known = np.array([[[sampled.at[axis.name]] * 2 for axis in over]])
        least, place = max(0.0, float(value(known)[0][0, 0, 0])), known[0, :, 0]
    most, looked, closest, at_closest = np.inf, 0, np.inf, _ENOUGH
    while len(boxes) and looked < min(_MAX_BOXES, _STALLED * at_closest):
        looked += len(boxes)
        low, high, middles = _bounds(value, slope, boxes)
        best = int(np.argmax(low))
        if low[best] > least:
            least, place = float(low[best]), middles[best]
        enough = max(least * (1.0 + _CLOSE), _NEGLIGIBLE)
        is_open = ~(high <= enough)
        most = max(float(high[is_open].max(initial=0.0)), enough)
        if most - least < 0.9 * closest:
            closest, at_closest = most - least, max(looked, _ENOUGH)
        lengths = (boxes[..., 1] - boxes[..., 0]) / widths
        rows, longest = np.arange(len(boxes)), lengths.argmax(axis=1)
        ends, half_way = boxes[rows, longest], middles[rows, longest]
        is_open &= (lengths.max(axis=1) > _CLOSE) & (ends[:, 0] < half_way) & (half_way < ends[:, 1])
        if not is_open.any():
            break
        boxes = np.concatenate(halves(boxes[is_open], longest[is_open]))
    at = {} if place is None or least == 0.0 else {axis.name: float(x) for axis, x in zip(over, place, strict=True)}
    return CertifiedFriction(_inverse_root(most, up=False), _inverse_root(least, up=True), at, sampled)


def _bounds(value: Tape, slope: Tape, boxes: Array) -> tuple[Array, Array, Array]:
    """A bound from below of the greatest value over each box, one from above of all, and the middles."""
    found, broken = value(boxes)
    middles = boxes.mean(axis=-1)
    centre, _ = value(np.stack([middles, middles], axis=-1))
    slopes, broken_slopes = slope(boxes)
    half = np.maximum(boxes[..., 1] - middles, middles - boxes[..., 0]) * _SLACK
    with np.errstate(invalid="ignore", over="ignore"):
        reach = np.sum(np.abs(slopes).max(axis=-1) * half, axis=-1) * _SLACK
        linear = (centre[:, 0, 1] + reach) * _SLACK
    usable = ~(broken | broken_slopes) & np.isfinite(linear)
    return centre[:, 0, 0], np.where(usable, np.minimum(found[:, 0, 1], linear), found[:, 0, 1]), middles


def _inverse_root(value: float, *, up: bool) -> float:
    """``1/sqrt(value)``, rounded outwards."""
    if value == 0.0:
        return math.inf
    if not math.isfinite(value):
        return 0.0
    found = 1.0 / math.sqrt(value)
    for _ in range(2):  # a root and a quotient, each off by half a unit
        found = math.nextafter(found, math.inf if up else 0.0)
    return found
