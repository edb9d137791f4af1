"""Critical friction over postures, and the postures at which sliding is paradoxical.

Intervals on which a function of one variable is negative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.criticality.joint import JointFriction, sliding_contacts
from hybrid.analysis.criticality.optimum import global_maximum, global_maximum_of, scan_points
from hybrid.analysis.criticality.response import (
    ContactResponse,
    contact_response,
    only_contact,
    postures,
    swept_branch,
)
from hybrid.analysis.maps.axes import Axis, axes_of, check_axes, names_of, placed
from hybrid.arguments import checks_arguments
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics.counting import counts
from hybrid.dynamics.derive import bound
from hybrid.errors import StateError
from hybrid.tolerances import NOTHING, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.posture_branch import PostureBranch


Array = NDArray[np.float64]

_SCAN_CELLS = 4096


def negative_intervals(f: Callable[[Array], Array], low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Find where a continuous function is negative between two ends, ends included.

    Parameters
    ----------
    f : callable
        Maps points (k,) to values (k,). Where it is undefined (NaN) it counts as not negative.
    low, high : float

    Returns
    -------
    tuple of (float, float)
        In order. Also intervals that fall between two points of the scan are found, when the function shows a dip.

    Examples
    --------
    >>> ((low, high),) = negative_intervals(lambda x: (x - 0.3) ** 2 - 1e-10, 0.0, 1.0)
    >>> round(low, 12), round(high, 12)
    (0.29999, 0.30001)
    >>> negative_intervals(lambda x: x - 2.0, 0.0, 1.0)
    ((0.0, 1.0),)
    """
    from scipy.optimize.elementwise import find_root

    def defined(x: Array) -> Array:
        value = f(x) if x.size else x
        return np.where(np.isfinite(value), value, 1.0)

    x = np.linspace(low, high, _SCAN_CELLS + 1)
    values = defined(x)
    for side in (1.0, -1.0):
        extra = _dips(partial(_signed, defined, side), x, side * values)
        x = np.concatenate([x, extra])
        values = np.concatenate([values, defined(extra)])
    order = np.argsort(x)
    x, values = x[order], values[order]
    negative = values < 0
    before = np.nonzero(negative[1:] != negative[:-1])[0]
    after = before + 1
    found = find_root(defined, (x[before], x[after]))
    # where a sign of the scan was rounding there is no bracket: that end is the root
    nearer = np.where(np.abs(values[before]) <= np.abs(values[after]), x[before], x[after])
    roots = np.where(found.success, found.x, nearer)
    ends = [*([low] if negative[0] else []), *roots.tolist(), *([high] if negative[-1] else [])]
    return tuple(zip(ends[::2], ends[1::2], strict=True))


def _signed(f: Callable[[Array], Array], sign: float, x: Array) -> Array:
    return sign * f(x)


def _dips(f: Callable[[Array], Array], x: Array, values: Array) -> Array:
    """Points between those of a scan at which a positive function is negative: its lowest points near a minimum."""
    from scipy.optimize.elementwise import find_minimum

    before, here, after = values[:-2], values[1:-1], values[2:]
    # a parabola through the three points dips below the middle one by at most an eighth of its second difference
    depth = (before - 2 * here + after) / 8
    lowest = np.nonzero((here > 0) & (here <= before) & (here <= after) & (here < 4 * depth))[0]
    found = find_minimum(f, (x[lowest], x[lowest + 1], x[lowest + 2]))
    return np.asarray(found.x[found.f_x < 0])


Intervals = tuple[tuple[float, float], ...]
Placed = Callable[[NDArray[np.float64]], tuple["Dynamics", Any, Any]]

_PROBES = 33  # postures of a sweep at which contacts must be closed to count as closed over all of it

_LARGEST = 1e150  # squares of it, and their sums, stay in double precision
_A_TURN = 16  # points of the scan in which the ups and downs of a turn are seen
_SOMEWHERE = 0.37  # a posture that is special in no mechanism


@attrs.frozen
class CriticalFriction(AbstractDisplayed):
    """Least critical friction of a contact alone, and of several jointly, over swept quantities, as far as a scan sees.

    The critical friction of a posture is ``mu_c = G_NN / abs(G_NT)`` (Genot and Brogliato 1999, eq. 12; Hogan and
    Kristiansen 2017): above it, sliding in one direction has no or two solutions.

    Attributes
    ----------
    minimum : float
        Of the contact alone: the others count as open, and jointly with them it may be lower. Friction elements count
        as slipping. Infinite where normal and tangential motion are not coupled at any posture.
    at : mapping of str to float
        Values of the swept quantities there; empty if the minimum is infinite.
    mode : str
        The sliding mode that is paradoxical first: ``slide+``, ``slide-`` or, in space, ``slide``.
    paradox_intervals : mapping of str to tuple of (low, high)
        When one quantity is swept: for each sliding mode, the intervals on which ``A_s < 0`` at the current friction,
        of those that a scan sees. In space: ``slide``, where this holds for some direction of slip.
    contact : str
    gap : float
        Gap of the contact at the minimum: 0 where it is closed. A sweep of all coordinates leaves the closed postures;
        the critical friction is then that of the same posture on a shifted guide.
    joint : JointFriction or None
        The limit of all contacts that are closed over the whole sweep, pressing and sliding at once, which may be lower
        than that of each alone; None if there are not several, one is spatial, or a rough rail pushes one.
    branch : PostureBranch or None
        The branch of postures over which it is least; None where the pins fix the posture by linear equations.
    """

    minimum: float
    at: Mapping[str, float]
    mode: str
    paradox_intervals: Mapping[str, Intervals]
    contact: str
    gap: float = 0.0
    joint: JointFriction | None = None
    branch: PostureBranch | None = None

    def __repr__(self) -> str:
        at = " and ".join(f"{name} = {value:.6g}" for name, value in self.at.items())
        return one_line(
            f"CriticalFriction of {self.contact}", f"{self.minimum:.6g} at {at}" if at else "none", self.mode
        )


@checks_arguments
def critical_friction(
    dynamics: Dynamics,
    *,
    over: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    contact: str | None = None,
    parameters: Values | None = None,
    branch: Mapping[str, Any] | None = None,
) -> CriticalFriction:
    """Minimise the critical friction over one or several quantities, with friction elements that slip.

    The sweep is scanned (at 4097 values of one quantity, 181 times 181 of two), and from the lowest points of the scan
    the minimum is descended to. A dip so narrow that no point of the scan lies in it is missed.

    Parameters
    ----------
    dynamics : Dynamics
    over : sequence of Axis or str
        Position pins or parameters that are swept, ends included; numbers of cells are not used.
    pins : mapping of str to float or str, optional
        The other position pins. Velocities do not matter: velocity pins are ignored.
    contact : str, optional
        Needed when several contacts have friction. The others count as open.
    parameters : mapping of str to float or str, optional
    branch : mapping of str to float or str, optional
        Where several postures satisfy the pins: a posture on the branch that is meant, by values of the swept
        quantities and of the unknown coordinates, as for :func:`hybrid.region_map`.

    Returns
    -------
    CriticalFriction
        Of the dips that the scan sees, the lowest to about 1e-14 (relative), its place to about 1e-12 of the interval,
        ends of intervals to rounding.

    Raises
    ------
    StateError
        Bad axes or pins, no contact with friction, or no posture in the sweep can be reached.
    BilateralContactError
        At a posture of the sweep the dry friction of a bilateral constraint pushes the contact along its normal: the
        force of such a rail answers to the contact's, and there is no critical friction of the contact alone.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.analysis import Axis, critical_friction
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> found = critical_friction(rod, over=[Axis.parse("theta=0:pi/2")])
    >>> round(found.minimum, 12), round(found.at["theta"], 10), found.mode
    (1.333333333333, 1.1071487178, 'slide+')
    >>> [(round(low, 9), round(high, 9)) for low, high in found.paradox_intervals["slide+"]]
    [(0.883862626, 1.274936304)]
    """
    dynamics = bound(dynamics, parameters, swept=names_of(over))
    pins = dict(pins or {})
    contact = only_contact(dynamics, contact)
    over = axes_of(dynamics, over)
    if not over:
        raise StateError("give at least one quantity to sweep, as phi=0:pi")
    check_axes(dynamics, over, fixed=(*pins, *(parameters or ())))
    followed = swept_branch(dynamics, over, pins=pins, start=branch)

    def placed_at(x: NDArray[np.float64]) -> tuple[Dynamics, Any, Any]:
        own_pins, own = placed(dynamics, over, list(x.T), pins=pins)
        return own, *postures(own, own_pins, branch=followed)

    def response(x: NDArray[np.float64]) -> ContactResponse:
        own, q, t = placed_at(x)
        return contact_response(own, q, np.zeros(dynamics.n), contact=contact, t=t)

    def coupling(x: NDArray[np.float64]) -> NDArray[np.float64]:
        # sin^2 of the angle whose cotangent is mu_c: smooth also where G_NN or G_NT pass through zero
        at = response(x)
        tangential = np.sum(at.G_NT**2, axis=-1)
        with np.errstate(invalid="ignore"):
            return np.broadcast_to(tangential / (tangential + at.G_NN**2), len(x))

    _check_spans(over, coupling)
    place, value = global_maximum(coupling, [axis.low for axis in over], [axis.high for axis in over])
    if value == -np.inf:
        swept = ", ".join(f"{axis.name} from {axis.low:g} to {axis.high:g}" for axis in over)
        raise StateError(f"no posture of {dynamics.name} can be reached over {swept}")
    intervals = _intervals(over[0], response) if len(over) == 1 else {}
    joint = _joint(over, placed_at)
    if value == 0:
        return CriticalFriction(np.inf, {}, "", intervals, contact, joint=joint, branch=followed)
    at = response(place[None])
    own, q, t = placed_at(place[None])
    gaps = own.kinematics(q, np.zeros(dynamics.n), t=t)["gap"]
    return CriticalFriction(
        gap=float(np.ravel(gaps[..., dynamics.contacts.index(contact)])[0]),
        minimum=float(np.ravel(at.G_NN / np.linalg.norm(at.G_NT, axis=-1))[0]),
        at={axis.name: float(x) for axis, x in zip(over, place, strict=True)},
        mode=_paradoxical_mode(at.G_NT),
        paradox_intervals=intervals,
        contact=contact,
        joint=joint,
        branch=followed,
    )


def is_friction_alone(dynamics: Dynamics, name: str, *, contact: str, pins: Mapping[str, Any]) -> bool:
    """Whether a swept parameter changes the friction of a contact, but no posture and no Delassus operator.

    The critical friction does not depend on such a parameter.

    Parameters
    ----------
    dynamics : Dynamics
    name : str
        Of what is swept: a parameter or a pin.
    contact : str
    pins : mapping of str to float or str
        The other pins, whose texts may name parameters.

    Returns
    -------
    bool

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> [is_friction_alone(rod, name, contact="tip", pins={"phi": 1}) for name in ("mu", "m", "phi")]
    [True, False, False]
    >>> is_friction_alone(rod, "mu", contact="tip", pins={"phi": "2*mu"})
    False
    """
    if name not in dynamics.mechanism.parameters:
        return False
    equations = dynamics.equations
    postures_and_operator = (getattr(equations, block) for block in ("gap", "constraint", "M", "J", "W_N", "W_T"))
    named = {word for value in pins.values() for word in re.findall(r"[^\W\d]\w*", str(value))}
    value = np.full(2, dynamics.values[name])
    if counts(dynamics, name, value, equations.names(*postures_and_operator) | named):
        return False
    own = equations.coefficients["friction"][dynamics.contacts.index(contact)]
    return counts(dynamics, name, value, equations.names(own))


def _joint(over: Sequence[Axis], placed_at: Placed) -> JointFriction | None:
    """The limit of all contacts that are closed over the sweep."""
    share = np.linspace(0.0, 1.0, _PROBES)
    diagonal = np.stack([axis.at(share if k % 2 == 0 else share[::-1]) for k, axis in enumerate(over)], axis=-1)
    contacts = sliding_contacts(*placed_at(diagonal), tolerances=Tolerances())
    if contacts is None:
        return None

    def coupling(x: NDArray[np.float64]) -> NDArray[np.float64]:
        factors = contacts.multipliers(*placed_at(x))
        return np.broadcast_to(1.0 / (1.0 + factors**2), (len(x), factors.shape[-1]))

    place, value, member = global_maximum_of(coupling, [axis.low for axis in over], [axis.high for axis in over])
    if value <= 0:
        return JointFriction(np.inf, {}, {}, {})
    at = {axis.name: float(x) for axis, x in zip(over, place, strict=True)}
    return contacts.described(member, at, *placed_at(place[None]))


def _paradoxical_mode(G_NT: NDArray[np.float64]) -> str:
    if G_NT.shape[-1] > 1:
        return "slide"
    return "slide+" if np.ravel(G_NT)[0] > 0 else "slide-"


def _intervals(axis: Axis, response: Any) -> dict[str, Intervals]:
    def factor(sign: float) -> Any:
        def A(x: NDArray[np.float64]) -> NDArray[np.float64]:
            at = response(x[:, None])
            if at.G_NT.shape[-1] == 1:
                value = at.A(sign)
            else:
                value = at.G_NN - at.friction * np.linalg.norm(at.G_NT, axis=-1)
            return np.broadcast_to(value, x.shape)

        return A

    spatial = response(np.array([[axis.low]])).G_NT.shape[-1] > 1
    modes = {"slide": 1.0} if spatial else {"slide+": 1.0, "slide-": -1.0}
    return {mode: negative_intervals(factor(sign), axis.low, axis.high) for mode, sign in modes.items()}


def _check_spans(over: Sequence[Axis], coupling: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> None:
    """Refuse sweeps that the scan cannot resolve: an angle over many turns, numbers whose squares overflow.

    Raises
    ------
    StateError
    """
    middle = np.array([(axis.low + axis.high) / 2 for axis in over])
    for index, axis in enumerate(over):
        if max(abs(axis.low), abs(axis.high)) > _LARGEST:
            raise StateError(f"axis {axis.name}: the square of {axis.high:g} is beyond double precision")
        if axis.width <= 2 * math.pi * scan_points(len(over)) / _A_TURN:
            continue
        points = np.tile(middle, (3, 1))
        points[:, index] = _SOMEWHERE + np.array([0.0, 1.0, 2 * math.pi])
        here, beyond, full = coupling(points)
        if np.isclose(here, full, rtol=NOTHING, atol=0.0) and not np.isclose(here, beyond, rtol=NOTHING, atol=0.0):
            raise StateError(
                f"axis {axis.name}: an angle that repeats after a turn is swept over {axis.width / (2 * math.pi):.3g} "
                f"turns, more than the scan resolves; give one, as {axis.name}=0:2*pi"
            )
