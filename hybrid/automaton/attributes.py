"""What the nodes of the graph hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid.automaton.location import Location


def node_attributes(location: Location | None) -> dict[str, object]:
    """Attributes of a node in the graph; without a location, those of the impact.

    Parameters
    ----------
    location : Location or None

    Returns
    -------
    dict of str to object
        The same keys for every node: ``kind``, which is ``mode`` or ``impact``, and the fields of the location.
    """
    if location is None:
        return {
            "kind": "impact",
            "mode": None,
            "invariant": (),
            "vector_field": None,
            "n_freedom": None,
            "is_hyperstatic": False,
            "guards": (),
            "forces": {},
            "definitions": (),
        }
    return {
        "kind": "mode",
        "mode": location.mode,
        "invariant": location.invariant,
        "vector_field": location.vector_field,
        "n_freedom": location.n_freedom,
        "is_hyperstatic": location.is_hyperstatic,
        "guards": location.guards,
        "forces": location.forces,
        "definitions": location.definitions,
    }
