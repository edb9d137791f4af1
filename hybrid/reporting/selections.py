"""A verdict as the page's part on it shows it: with the state and units where these are known."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from hybrid.declaration.units import Units
from hybrid.reporting.records import decided_record, verdict_record

if TYPE_CHECKING:
    from hybrid.contact import Selection

__all__ = ["selection_record"]


def selection_record(selection: Selection) -> dict[str, Any]:
    """Everything that is known about the state that was decided.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict
        The keys of :func:`hybrid.reporting.verdict_record`, and ``units`` by kind and name, empty where they are not
        known. Accelerations of a model that is numbers are those of ``q0`` and so on.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select
    >>> record = selection_record(select(derive(mechanisms.load("bouncing_ball")), {}))
    >>> record["branches"][0]["acceleration"], record["units"]["accelerations"]["y"]
    ({'y': 0.0}, 'm/s²')
    """
    dynamics, state = selection.dynamics, selection.state
    if dynamics is None or state is None:
        names = [f"q{k}" for k in range(selection.problem.a_free.shape[-1])]
        known: dict[str, Any] = {
            "mechanism": selection.problem.mechanism,
            "state": {"q": {}, "v": {}, "t": 0.0, "sides": {}},
            **decided_record(selection, names),
        }
        units = Units.none()
    else:
        given = {name: dynamics.values[name] for name in dynamics.given}
        known = verdict_record(dynamics, state, selection, parameters=given)
        units = dynamics.mechanism.units()
    return known | {"units": {name: defaultdict(str, table) for name, table in units.tables().items()}}
