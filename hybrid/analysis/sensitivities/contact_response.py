"""What the impact of one contact depends on, and the stage that its impulses make, with derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_stage import Condition, ImpactSite, Stage, run_stage

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ContactResponse", "contact_response", "impulse_stage"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class ContactResponse:
    """Velocity and Delassus operator of one contact before an impact, normal row first.

    Attributes
    ----------
    gamma : array, (r,)
    gamma_slopes : array, (r, size)
    G : array, (r, r)
    G_slopes : array, (r, r, size)
    """

    gamma: Array
    gamma_slopes: Array
    G: Array
    G_slopes: Array


def contact_response(site: ImpactSite, start: Stage, contact: int, columns: Sequence[int]) -> ContactResponse:
    """Find them from the stages of unit impulses.

    Parameters
    ----------
    site : ImpactSite
    start : Stage
        Before the impact.
    contact : int
    columns : sequence of int
        Its tangential columns.

    Returns
    -------
    ContactResponse
    """
    gamma, slopes = _velocities(start, contact, columns)
    none = np.zeros((1 + len(columns), site.size))
    moved = [
        _velocities(impulse_stage(site, start, contact, columns, unit, none), contact, columns)
        for unit in np.eye(1 + len(columns))
    ]
    G = np.stack([own - gamma for own, _ in moved], axis=1)
    return ContactResponse(gamma, slopes, G, np.stack([own - slopes for _, own in moved], axis=1))


def impulse_stage(
    site: ImpactSite, start: Stage, contact: int, columns: Sequence[int], P: Array, P_slopes: Array
) -> Stage:
    """The stage of given impulses (r,) of one contact, with their derivatives (r, size); all others have none."""
    dynamics = site.partials.dynamics
    p = max((columns.stop for columns in dynamics.columns.values()), default=0)
    given = {("impulse_N", contact): 0} | {("impulse_T", column): row for row, column in enumerate(columns, start=1)}
    places = [("impulse_N", index) for index in range(len(dynamics.contacts))]
    places += [("impulse_T", column) for column in range(p)]
    return run_stage(
        site,
        start,
        [
            Condition(*place, float(P[given[place]]), P_slopes[given[place]]) if place in given else Condition(*place)
            for place in places
        ],
    )


def _velocities(stage: Stage, contact: int, columns: Sequence[int]) -> tuple[Array, Array]:
    along = list(columns)
    return (
        np.concatenate([stage.gap_dot[[contact]], stage.slip[along]]),
        np.concatenate([stage.gap_dot_slopes[[contact]], stage.slip_slopes[along]]),
    )
