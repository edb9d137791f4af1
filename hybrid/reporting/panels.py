"""Which quantities of a motion share an axis: those of one unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from hybrid.reporting.labelling import with_unit
from hybrid.reporting.symbols import symbol_mathtext

if TYPE_CHECKING:
    from hybrid.motion import Trajectory

__all__ = ["Panel", "panels_of"]


@attrs.frozen
class Panel:
    """Quantities of one unit that share an axis: a field of the curves, its columns, and what they are called."""

    field: str
    label: str
    names: tuple[str, ...]
    columns: tuple[tuple[str, int], ...]


def panels_of(motion: Trajectory, *, one_each: bool) -> list[Panel]:
    """A panel for each unit of positions, velocities and forces; for several motions one for each quantity.

    Parameters
    ----------
    motion : Trajectory
    one_each : bool
        For several motions: one quantity a panel, with its symbol as the label.

    Returns
    -------
    list of Panel
        Positions, then velocities, normal and tangential forces; with labels in matplotlib's mathtext.
    """
    dynamics = motion.dynamics
    units = dynamics.mechanism.units()
    found: list[tuple[str, str, str, tuple[str, int]]] = []
    for field, names in (("q", dynamics.mechanism.coordinates), ("v", dynamics.mechanism.velocities)):
        for index, name in enumerate(names):
            kind = {"q": "position", "v": "velocity"}[field]
            kind = {"rad": "angle", "rad/s": "angular\nvelocity"}.get(units.coordinates[name], kind)
            found.append((kind, units.coordinates[name], symbol_mathtext(name), (field, index)))
    for index, name in enumerate(dynamics.contacts):
        found.append(("contact force", units.forces.get(name, ""), rf"$\lambda_N$ {name}", ("lambda_N", index)))
    for index, name in enumerate(dynamics.rigid):
        if name in dynamics.columns:
            found.append(("contact force", units.forces.get(name, ""), rf"$\lambda_N$ {name}", ("lambda_B", index)))
    for name, columns in dynamics.columns.items():
        for axis, column in enumerate(range(columns.start, columns.stop)):
            label = rf"$\lambda_T$ {name}" if dynamics.dimension(name) == 1 else rf"$\lambda_{{T{axis + 1}}}$ {name}"
            found.append(("contact force", units.tangential_forces.get(name, ""), label, ("lambda_T", column)))
    groups: dict[tuple[str, ...], list[tuple[str, str, str, tuple[str, int]]]] = {}
    for item in found:
        key = (item[2],) if one_each else (item[3][0] if item[3][0] in "qv" else "force", item[1])
        groups.setdefault(key, []).append(item)
    return [
        Panel(
            field=items[0][3][0],
            label=with_unit(items[0][2] if one_each else items[0][0], items[0][1]),
            names=tuple(with_unit(name, unit) for _, unit, name, _ in items),
            columns=tuple(place for *_, place in items),
        )
        for items in groups.values()
    ]
