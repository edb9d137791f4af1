"""What the impact of contacts depends on, and the stage that its impulses make, with derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_stage import Condition, ImpactSite, Stage, run_stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = ["ContactResponse", "contact_response", "impulse_stage", "joint_response", "joint_stage", "problem_rows"]

Array = NDArray[np.float64]
Row = tuple[str, int]  # "impulse_N" and a contact, or "impulse_T" and a tangential column


@attrs.frozen(eq=False)
class ContactResponse:
    """Velocity and Delassus operator of contacts before an impact, with derivatives.

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


def problem_rows(site: ImpactSite, problem: ImpactProblem) -> list[Row]:
    """What every row of an impact problem of contacts is: a contact's normal, or a tangential column."""
    dynamics = site.partials.dynamics
    found: dict[int, Row] = {}
    for carrier in problem.carriers:
        found[carrier.rows[0]] = ("impulse_N", dynamics.contacts.index(carrier.name))
        columns = dynamics.columns.get(carrier.name, slice(0, 0))
        for place, row in enumerate(carrier.tangential):
            found[row] = ("impulse_T", columns.start + place)
    return [found[row] for row in range(len(found))]


def joint_response(site: ImpactSite, start: Stage, rows: Sequence[Row]) -> ContactResponse:
    """Find them from the stages of unit impulses.

    Parameters
    ----------
    site : ImpactSite
    start : Stage
        Before the impact.
    rows : sequence of (str, int)
        As :func:`problem_rows` gives them.

    Returns
    -------
    ContactResponse
    """
    gamma, slopes = _velocities(start, rows)
    none = np.zeros((len(rows), site.size))
    moved = [_velocities(joint_stage(site, start, rows, unit, none), rows) for unit in np.eye(len(rows))]
    G = np.stack([own - gamma for own, _ in moved], axis=1)
    return ContactResponse(gamma, slopes, G, np.stack([own - slopes for _, own in moved], axis=1))


def contact_response(site: ImpactSite, start: Stage, contact: int, columns: Sequence[int]) -> ContactResponse:
    """The response of one contact with its tangential columns, normal row first."""
    return joint_response(site, start, _rows(contact, columns))


def joint_stage(site: ImpactSite, start: Stage, rows: Sequence[Row], P: Array, P_slopes: Array) -> Stage:
    """The stage of given impulses (r,), with their derivatives (r, size); all other rows have none."""
    dynamics = site.partials.dynamics
    p = max((columns.stop for columns in dynamics.columns.values()), default=0)
    given = {row: index for index, row in enumerate(rows)}
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


def impulse_stage(
    site: ImpactSite, start: Stage, contact: int, columns: Sequence[int], P: Array, P_slopes: Array
) -> Stage:
    """The stage of given impulses (r,) of one contact, with their derivatives (r, size); all others have none."""
    return joint_stage(site, start, _rows(contact, columns), P, P_slopes)


def _rows(contact: int, columns: Sequence[int]) -> list[Row]:
    return [("impulse_N", contact), *(("impulse_T", column) for column in columns)]


def _velocities(stage: Stage, rows: Sequence[Row]) -> tuple[Array, Array]:
    values = [stage.gap_dot[index] if kind == "impulse_N" else stage.slip[index] for kind, index in rows]
    slopes = [stage.gap_dot_slopes[index] if kind == "impulse_N" else stage.slip_slopes[index] for kind, index in rows]
    return np.array(values), np.array(slopes)
