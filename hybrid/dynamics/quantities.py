"""Quantities of a mechanism that may be swept, with their units."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["quantities_with_units"]


def quantities_with_units(dynamics: Dynamics) -> dict[str, str]:
    """Units of everything that may be swept: parameters, coordinates, velocities, gaps, slips and the time.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict of str to str
        Empty where the declaration does not say enough.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> found = quantities_with_units(derive(mechanisms.load("rod_on_incline")))
    >>> found["phi"], found["gap.tip"], found["gap_dot.tip"], found["slip.tip"]
    ('rad', 'm', 'm/s', 'm/s')
    """
    units = dynamics.mechanism.units()
    found = {"t": units.time} | {name: item.unit for name, item in dynamics.mechanism.parameters.items()}
    for name, rate in units.contact_accelerations.items():
        length = rate.removesuffix("/s²")
        found |= {f"gap.{name}": length, f"gap_dot.{name}": f"{length}/s" if length else ""}
    for name, rate in units.tangential_accelerations.items():
        pins = [f"slip.{name}", *(f"slip.{name}.{axis + 1}" for axis in range(dynamics.dimension(name)))]
        found |= dict.fromkeys(pins, rate.replace("/s²", "/s"))
    return found | dict(units.coordinates)
