"""How much velocity an impact gives back and how much energy it absorbs, over posture and incidence.

Impulses that let a contact approach.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.criticality.response import postures, swept_branch
from hybrid.analysis.maps.axes import Axis, axes_of, names_of, placed
from hybrid.arguments import checks_arguments
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.compliance.limit import ContactRates, planar_limit
from hybrid.dynamics.derive import bound
from hybrid.errors import ComputationError, StateError
from hybrid.tolerances import ROUNDING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hybrid.dynamics.derive import Dynamics

__all__ = ["INCIDENCE", "RestitutionMap", "approaching_impulse", "restitution_map"]


_DEPENDENT = ROUNDING  # eigenvalues of the Delassus operator below this share of the largest are rounding

Array = NDArray[np.float64]


def approaching_impulse(G: Array, row: int, change: Array) -> Array:
    """Impulses that change the normal velocity of a contact, and the others as little as the mechanism permits.

    Parameters
    ----------
    G : array, (..., r, r)
        Delassus operator.
    row : int
        Of the normal velocity.
    change : array, (...)

    Returns
    -------
    array, (..., r)

    Examples
    --------
    With one freedom the slip follows:

    >>> G = np.outer([1.0, 2.0], [1.0, 2.0])
    >>> (G @ approaching_impulse(G, 0, np.array(-0.5))).round(12)
    array([-0.5, -1. ])
    """
    impulse = np.linalg.pinv(G, rcond=_DEPENDENT, hermitian=True)[..., row]
    met = np.sum(G[..., row, :] * impulse, axis=-1)  # 1 where the velocities can be changed one by one
    return np.asarray(impulse * (change / met)[..., None])


INCIDENCE = Axis("incidence", -0.45 * math.pi, 0.45 * math.pi, 180)
"""From the normal, in radians: 81 degrees to both sides."""

MAX_CELLS = 1_000_000
"""Of a sweep: about a gigabyte while it is computed."""


@attrs.frozen(eq=False)
class RestitutionMap:
    """Impacts of the compliant limit over a quantity and the incidence of the contact's velocity.

    Attributes
    ----------
    axes : tuple of two Axis
        The quantity, and ``incidence``: the angle of the contact velocity to the normal, positive for positive slip.
        The size of the velocity does not matter.
    restitution : array, (n, m)
        Normal velocity after over that before, counted positive; NaN where no posture satisfies the pins, or
        the contact can move in one direction only.
    slip_ratio : array, (n, m)
        Slip after over the size of the contact velocity before.
    absorbed : array, (n, m)
        Share that is lost of the kinetic energy that a contact can take away, ``gamma^T G^-1 gamma / 2``.
    """

    axes: tuple[Axis, Axis]
    restitution: Array
    slip_ratio: Array
    absorbed: Array


@checks_arguments
def restitution_map(
    dynamics: Dynamics,
    *,
    over: Axis | str,
    incidence: Axis | str = INCIDENCE,
    pins: Mapping[str, Any] | None = None,
    damping: float | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> RestitutionMap:
    """Sweep the impact of a compliant contact over a posture or a parameter and the incidence.

    Parameters
    ----------
    dynamics : Dynamics
        Of a mechanism with one contact, planar.
    over : Axis or str
        A coordinate or a parameter, with a number of cells, such as ``"theta=0.1:1.5:100"``.
    incidence : Axis or str, optional
        In radians, between -pi/2 and pi/2.
    pins : mapping, optional
        The other coordinates; the contact is closed.
    damping : float, optional
        Replaces the declared damping, in sqrt(kg).
    parameters : mapping, optional

    Returns
    -------
    RestitutionMap

    Raises
    ------
    ComputationError
        The mechanism has several contacts, or one that is not planar.
    StateError
        An incidence beyond a right angle, a velocity among the pins, a quantity that is swept and pinned, an open
        contact, or no posture satisfies the pins; a contact that moves in one direction only.
    ArgumentError
        A damping below 0 or too large to be squared.

    Examples
    --------
    An undamped rod without friction gives back what it got, at every posture and incidence:

    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> found = restitution_map(rod, over=Axis("theta", 0.1, 1.5, 5), damping=0.0, parameters={"mu": 0})
    >>> bool(np.allclose(found.restitution, 1.0)), bool(np.allclose(found.absorbed, 0.0))
    (True, True)
    """
    dynamics = bound(dynamics, parameters, swept=names_of([over, incidence]))
    if len(dynamics.contacts) != 1 or dynamics.dimension(dynamics.contacts[0]) != 1 or len(dynamics.columns) != 1:
        raise ComputationError(
            f"{dynamics.name}: restitution over incidence needs one planar contact, no other friction"
        )
    over, incidence = axes_of(dynamics, [over, incidence])
    KelvinVoigtLimit(damping)  # refuses what is no damping
    if not -math.pi / 2 < incidence.low < incidence.high < math.pi / 2:
        raise StateError(f"the incidence lies between -pi/2 and pi/2, not {incidence.low:g} to {incidence.high:g}")
    if over.cells * incidence.cells > MAX_CELLS:
        raise StateError(
            f"a sweep of {over.cells * incidence.cells:.3g} cells is beyond the limit of {MAX_CELLS:.3g}: take fewer"
        )
    held = dict(pins or {})
    _check_names(dynamics, over.name, held, parameters or {})
    followed = swept_branch(dynamics, [over], pins=held, start=None)
    held, own = placed(dynamics, [over], [over.values], pins=held)
    q, t = postures(own, held, branch=followed)
    q = np.broadcast_to(q, (over.cells, dynamics.n))
    reached = np.asarray(np.isfinite(q).all(axis=-1))
    if not reached.any():
        raise StateError(f"{dynamics.name}: no posture satisfies the pins over {over.name}")
    angle = incidence.values
    at = ContactRates.at(own, np.where(reached[:, None], q, 1.0), np.zeros(q.shape), t)
    if (np.abs(at.gap[reached]) > Tolerances().gap).any():
        gaps = f"gap.{dynamics.contacts[0]} is {np.min(at.gap[reached]):.6g} to {np.max(at.gap[reached]):.6g}"
        raise StateError(f"an impact needs a closed contact, but {gaps}: pin a coordinate less")
    # a contact that can move in one direction only has that one incidence
    det = at.G[:, 0, 0] * at.G[:, 1, 1] - at.G[:, 0, 1] ** 2
    reached &= det > _DEPENDENT * at.G[:, 0, 0] * at.G[:, 1, 1]
    if not reached.any():
        raise StateError(
            f"{dynamics.name}: its contact moves in one direction only, so that no incidence is free; ask for "
            "one impact instead"
        )
    G = np.where(reached[:, None, None], at.G, np.eye(2))[:, None]
    gamma = np.stack([-np.cos(angle), np.sin(angle)], axis=-1)
    d = at.damping[:, None] if damping is None else damping
    mu, holds = at.friction[:, None], at.static_friction[:, None]
    limit = planar_limit(G, gamma, friction=mu, damping=d, static_friction=holds)
    before = np.sum(gamma * np.linalg.solve(G, gamma[..., None])[..., 0], axis=-1) / 2
    lost = -np.sum(limit.impulse * (gamma + limit.gamma), axis=-1) / 2
    known = reached[:, None]
    return RestitutionMap(
        axes=(over, incidence),
        restitution=np.where(known, limit.gamma[..., 0] / np.cos(angle), np.nan),
        slip_ratio=np.where(known, limit.gamma[..., 1], np.nan),
        absorbed=np.where(known, lost / before, np.nan),
    )


def _check_names(dynamics: Dynamics, over: str, pins: Mapping[str, Any], parameters: Collection[str]) -> None:
    """Refuse what says nothing about a posture, and what is fixed twice."""
    contact = dynamics.contacts[0]
    velocities = (*dynamics.mechanism.velocities, f"gap_dot.{contact}", f"slip.{contact}")
    for name in (over, *pins):
        if name in velocities and name not in dynamics.mechanism.coordinates:
            raise StateError(
                f"{name} is a velocity, and the incidence is the direction of the contact's velocity: sweep or pin "
                f"coordinates ({', '.join(dynamics.mechanism.coordinates)})"
            )
    if over in pins or over in parameters:
        raise StateError(f"{over} is swept, and given a value besides: leave one of them out")
