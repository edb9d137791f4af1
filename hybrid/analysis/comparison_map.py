"""Where the rigid problem and the compliant limit agree over two quantities, and what the limit does elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.axes import Axis
from hybrid.analysis.plane import plane_of
from hybrid.contact.activity import Activity
from hybrid.contact.classify import CellVerdict
from hybrid.contact.compliance_planar import planar_limit
from hybrid.contact.problem import pose
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics


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
    gap_dot_after, energy_change : array, (n, m)
        Normal velocity after, and change of the kinetic energy; NaN where it does not strike.
    shares : mapping of str to float
        Share of the cells by verdict and by what the limit does, ``"INCONSISTENT, strikes"`` or ``"UNIQUE, agrees"``.
        From ``INDETERMINATE`` states the limit strikes after any approach and lifts off from rest.
    """

    axes: tuple[Axis, Axis]
    verdict: NDArray[np.uint8]
    strikes: NDArray[np.bool_]
    gap_dot_after: NDArray[np.float64]
    energy_change: NDArray[np.float64]
    shares: Mapping[str, float]


def compare_map(
    dynamics: Dynamics,
    *,
    axes: Sequence[Axis],
    pins: Mapping[str, Any] | None = None,
    damping: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
) -> ComparisonMap:
    """Compare the rigid verdict with the compliant limit over a map.

    Parameters
    ----------
    dynamics : Dynamics
        Of a mechanism with one contact, planar.
    axes : sequence of two Axis
        Pins or parameters, with numbers of cells.
    pins : mapping, optional
        All other pins.
    damping : float, optional
        Replaces the declared damping.
    parameters, tolerances : optional

    Returns
    -------
    ComparisonMap

    Raises
    ------
    ComputationError
        The mechanism has several contacts, or one that is not planar.
    StateError, DeclarationError
        Bad axes, pins, parameters or damping.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> axes = [Axis.parse("theta=0.1:1.5:40"), Axis.parse("theta_dot=0:3:40")]
    >>> found = compare_map(rod, axes=axes, pins={"slip.tip": 1}, parameters={"mu": 1.5})
    >>> sorted(found.shares)
    ['INCONSISTENT, strikes', 'INDETERMINATE, strikes', 'UNIQUE, agrees']
    """
    if len(dynamics.contacts) != 1 or dynamics.dimension(dynamics.contacts[0]) != 1 or len(dynamics.columns) != 1:
        raise ComputationError(f"{dynamics.name}: a comparison map needs one planar contact and no other friction")
    if damping is not None and not damping >= 0.0:
        raise StateError(f"the damping of a compliant contact must not be below 0, got {damping:g}")
    plane = plane_of(dynamics, axes, pins=pins, parameters=parameters, tolerances=tolerances)
    first, second = plane.axes
    x, y = first.values[:, None], second.values[None, :]
    verdict = np.array(plane.classified(x, y).verdict)
    states, values = plane.states(x, y)
    terms = dynamics.terms(states.q, states.v, t=states.t, parameters=values)
    posed = pose(dynamics, terms, (Activity.RESTING,), sides={})
    gap_dot = np.where(np.abs(terms.gap_dot) <= tolerances.velocity, 0.0, terms.gap_dot)
    gamma = np.concatenate(np.broadcast_arrays(gap_dot, terms.slip), axis=-1)
    known = np.isin(verdict, [CellVerdict.UNREACHABLE, CellVerdict.PENETRATING], invert=True)
    d = terms.damping[..., 0] if damping is None else np.asarray(damping)
    # unreachable states hold no numbers: any will do
    G = np.where(known[..., None, None], np.broadcast_to(posed.G, (*verdict.shape, 2, 2)), np.eye(2))
    gamma = np.where(known[..., None], np.broadcast_to(gamma, (*verdict.shape, 2)), 0.0)
    limit = planar_limit(G, gamma, friction=terms.friction[..., 0], damping=d)
    strikes = known & (limit.impulse[..., 0] > 0)
    energy = np.sum(limit.impulse * (gamma + limit.gamma), axis=-1) / 2
    return ComparisonMap(
        axes=plane.axes,
        verdict=verdict,
        strikes=strikes,
        gap_dot_after=np.where(strikes, limit.gamma[..., 0], np.nan),
        energy_change=np.where(strikes, energy, np.nan),
        shares=_shares(verdict, strikes),
    )


def _shares(verdict: NDArray[np.uint8], strikes: NDArray[np.bool_]) -> dict[str, float]:
    found: dict[str, float] = {}
    for value in np.unique(verdict):
        name = CellVerdict(int(value)).name
        for does, cells in (("strikes", strikes), ("agrees", ~strikes)):
            count = int(np.count_nonzero((verdict == value) & cells))
            if count:
                word = does if name in ("UNIQUE", "HYPERSTATIC") or does == "strikes" else "is left alone"
                found[f"{name}, {word}"] = count / verdict.size
    return found
