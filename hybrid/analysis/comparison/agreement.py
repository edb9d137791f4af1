"""Where the rigid problem and the compliant limit agree over two quantities, and what the limit does elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.comparison.penalty_map import Cells, PenaltyMap, penalty_map
from hybrid.analysis.maps.axes import names_of
from hybrid.analysis.maps.plane import plane_of
from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity
from hybrid.contact.classification import CellVerdict, Classification
from hybrid.contact.compliance.grid import LABELS
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.compliance.limit import planar_limit
from hybrid.contact.problem import pose
from hybrid.dynamics.derive import bound
from hybrid.dynamics.scales import scales_of
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.analysis.maps.axes import Axis
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import States


@attrs.frozen(eq=False)
class ComparisonMap:
    """Rigid verdict and compliant limit of every cell, for a mechanism with one planar contact.

    Attributes
    ----------
    axes : tuple of two Axis
    verdict : array of uint8, (n, m)
        Values of :class:`hybrid.contact.CellVerdict`.
    strikes : array of bool, (n, m)
        True where the compliant limit changes the velocities: from the approach of the state, or from its limit -0.
    touches : array of bool, (n, m)
        True where the contact is closed; elsewhere there is neither a limit nor a run.
    locks : array of bool, (n, m)
        True where the compliant impact does not end: friction locks the mechanism.
    gap_dot_after, energy_change : array, (n, m)
        Normal velocity after, and change of the kinetic energy; NaN where it does not strike.
    shares : mapping of str to float
        Share of the cells by verdict and by what the limit does, ``"INCONSISTENT, strikes"`` or ``"UNIQUE, agrees"``;
        ``"UNIQUE, open"`` where no contact is closed.
        From ``INDETERMINATE`` states the limit strikes after any approach and lifts off from rest.
    penalty : PenaltyMap or None
        Runs at finite stiffnesses, if any were asked for.
    """

    axes: tuple[Axis, Axis]
    verdict: NDArray[np.uint8]
    strikes: NDArray[np.bool_]
    touches: NDArray[np.bool_]
    locks: NDArray[np.bool_]
    gap_dot_after: NDArray[np.float64]
    energy_change: NDArray[np.float64]
    shares: Mapping[str, float]
    penalty: PenaltyMap | None = None


@checks_arguments
def compare_map(
    dynamics: Dynamics,
    *,
    axes: Sequence[Axis | str],
    pins: Mapping[str, Any] | None = None,
    damping: float | None = None,
    stiffness: Sequence[float] = (),
    duration: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
    progress: Callable[[int, int], None] | None = None,
) -> ComparisonMap:
    """Compare the rigid verdict with the compliant limit, and with penalty runs, over a map.

    Parameters
    ----------
    dynamics : Dynamics
        Of a mechanism with one contact, planar.
    axes : sequence of two Axis or str
        Pins or parameters, with numbers of cells.
    pins : mapping, optional
        All other pins.
    damping : float, optional
        Replaces the declared damping, in sqrt(kg).
    stiffness : sequence of float, optional
        Of penalty runs in every cell, in N/m; two or more give the order with which they converge.
    duration : float, optional
        In seconds, of the penalty runs where the rigid motion is unique.
    parameters, tolerances : optional
    progress : callable, optional
        Called with how many of the stiffnesses are done, and their number.

    Returns
    -------
    ComparisonMap

    Raises
    ------
    ComputationError
        The mechanism has several contacts, or one that is not planar.
    StateError, DeclarationError
        Bad axes, pins, parameters or stiffness; stiffnesses so low that no rigid motion lasts like the runs.
    ArgumentError
        A damping below 0 or too large to be squared.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Axis, derive
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> axes = [Axis.parse("theta=0.1:1.5:40"), Axis.parse("theta_dot=0:3:40")]
    >>> found = compare_map(rod, axes=axes, pins={"slip.tip": 1}, parameters={"mu": 1.5})
    >>> sorted(found.shares)
    ['INCONSISTENT, strikes', 'INDETERMINATE, strikes', 'UNIQUE, agrees']
    """
    dynamics = bound(dynamics, parameters, swept=names_of(axes))
    if len(dynamics.contacts) != 1 or dynamics.dimension(dynamics.contacts[0]) != 1 or len(dynamics.columns) != 1:
        raise ComputationError(f"{dynamics.name}: a comparison map needs one planar contact and no other friction")
    KelvinVoigtLimit(damping)  # refuses what is no damping
    _check(stiffness, duration)
    plane = plane_of(dynamics, axes, pins=pins, fixed=parameters, tolerances=tolerances)
    first, second = plane.axes
    x, y = first.values[:, None], second.values[None, :]
    classified = plane.classified(x, y)
    states, own = plane.states(x, y)
    limit = _limit(own, states, np.array(classified.verdict), damping, tolerances)
    penalty = None
    if len(stiffness):
        cells = _cells(own, states, classified, limit, damping)
        penalty = penalty_map(
            cells, places=(first.values, second.values), stiffness=stiffness, duration=duration, progress=progress
        )
    return ComparisonMap(
        axes=(first, second),
        verdict=np.array(classified.verdict),
        strikes=limit.strikes,
        touches=limit.touches,
        locks=limit.locks,
        gap_dot_after=np.where(limit.strikes, limit.gap_dot, np.nan),
        energy_change=np.where(limit.strikes, limit.energy, np.nan),
        shares=_shares(classified.verdict, limit),
        penalty=penalty,
    )


def _check(stiffness: Sequence[float], duration: float | None) -> None:
    for K in stiffness:
        if not 0.0 < K < np.inf:
            raise StateError(f"the stiffness of a compliant contact must be a number above 0, got {K:g}")
    if duration is not None and not 0.0 < duration < np.inf:
        raise StateError(f"the duration of penalty runs must be a number above 0, got {duration:g}")


@attrs.frozen(eq=False)
class _Limits:
    """The compliant limit of every cell: whether it strikes or never ends, what it leaves and does to velocities."""

    strikes: NDArray[np.bool_]
    touches: NDArray[np.bool_]
    locks: NDArray[np.bool_]
    gap_dot: NDArray[np.float64]
    energy: NDArray[np.float64]
    jump: NDArray[np.float64]


def _limit(
    dynamics: Dynamics,
    states: States,
    verdict: NDArray[np.uint8],
    damping: float | None,
    tolerances: Tolerances,
) -> _Limits:
    terms = dynamics.terms(states.q, states.v, t=states.t)
    posed = pose(dynamics, terms, (Activity.RESTING,), sides={})
    scales = scales_of(dynamics, terms, states.q, states.v, t=states.t)
    gap_dot = np.where(np.abs(terms.gap_dot) <= tolerances.velocity * scales.gap_dot, 0.0, terms.gap_dot)
    gamma = np.concatenate(np.broadcast_arrays(gap_dot, terms.slip), axis=-1)
    known = np.isin(verdict, [CellVerdict.UNREACHABLE, CellVerdict.PENETRATING], invert=True)
    touches = known & np.broadcast_to((terms.gap <= tolerances.gap * scales.gap)[..., 0], verdict.shape)
    # unreachable states hold no numbers, and open contacts feel no impact: any will do
    G = np.where(touches[..., None, None], np.broadcast_to(posed.G, (*verdict.shape, 2, 2)), np.eye(2))
    gamma = np.where(touches[..., None], np.broadcast_to(gamma, (*verdict.shape, 2)), 0.0)
    limit = planar_limit(
        G, gamma, friction=terms.friction[..., 0], static_friction=terms.static_friction[..., 0],
        damping=terms.damping[..., 0] if damping is None else np.asarray(damping),
    )  # fmt: skip
    locks = np.asarray(~np.isfinite(limit.impulse).all(axis=-1))
    impulse = np.where(locks[..., None], 0.0, limit.impulse)
    after = np.where(locks[..., None], 0.0, limit.gamma)
    jump = (posed.response_W @ impulse[..., None])[..., 0]
    return _Limits(
        strikes=impulse[..., 0] > 0,
        touches=touches,
        locks=locks,
        gap_dot=after[..., 0],
        energy=np.sum(impulse * (gamma + after), axis=-1) / 2,
        jump=np.where(locks[..., None], np.nan, jump),
    )


def _cells(
    dynamics: Dynamics,
    states: States,
    found: Classification,
    limit: _Limits,
    damping: float | None,
) -> Cells:
    """The states of a map in a row."""
    shape, n = found.verdict.shape, dynamics.n
    count = found.verdict.size
    v = np.broadcast_to(states.v, (*shape, n)).reshape(count, n)
    mode = np.full(shape, -1, dtype=np.int8)
    for bit, label in enumerate(found.labels):
        if label in LABELS:  # other cells have no mode: they penetrate, or are not reached
            mode[(found.modes >> np.uint64(bit)) & np.uint64(1) == 1] = LABELS.index(label)
    return Cells(
        dynamics=dynamics,
        q=np.broadcast_to(states.q, (*shape, n)).reshape(count, n),
        v=v,
        t=np.broadcast_to(states.t, shape).reshape(count),
        parameters={
            name: np.broadcast_to(np.asarray(dynamics.values[name], dtype=float), shape).reshape(count)
            for name in dynamics.given
        },
        verdict=found.verdict.reshape(count),
        mode=mode.reshape(count),
        touches=limit.touches.reshape(count),
        after=v + np.broadcast_to(limit.jump, (*shape, n)).reshape(count, n),
        damping=damping,
    )


def _shares(verdict: NDArray[np.uint8], limit: _Limits) -> dict[str, float]:
    found: dict[str, float] = {}
    idle = limit.touches & ~limit.strikes & ~limit.locks
    for value in np.unique(verdict):
        name = CellVerdict(int(value)).name
        outside = value in (CellVerdict.UNREACHABLE, CellVerdict.PENETRATING)
        agrees = "agrees" if name in ("UNIQUE", "HYPERSTATIC") else "is left alone"
        kinds = (("strikes", limit.strikes), ("locks", limit.locks), (agrees, idle))
        for word, cells in (*kinds, ("is left alone" if outside else "open", ~limit.touches)):
            count = int(np.count_nonzero((verdict == value) & cells))
            if count:
                found[f"{name}, {word}"] = count / verdict.size
    return found
