"""The regions of a map by verdict and consistent modes, in the order of the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.reporting.palette import Fill, fills, own_fills

if TYPE_CHECKING:
    from hybrid.analysis import RegionMap

__all__ = ["Region", "regions"]

MAX_REGIONS = 9
"""More lightness steps than these cannot be told apart; the smallest regions of a kind are then drawn as one."""

# What a verdict means for the drawing; the names are those of hybrid.contact.CellVerdict.
_KINDS = {"UNIQUE": "unique", "HYPERSTATIC": "unique", "INDETERMINATE": "several", "INCONSISTENT": "none"}
_ORDER = ("unique", "several", "none")
_OUTSIDE = {
    "UNDECIDED": ("undecided", Fill((0.0, 0.0, 0.0), "")),
    "IMPACT": ("impact: a contact approaches", Fill((1.0, 1.0, 1.0), "--")),
    "PENETRATING": ("penetrating", Fill((1.0, 1.0, 1.0), "..")),
    "UNREACHABLE": ("not reachable", Fill((1.0, 1.0, 1.0), "")),
    "MISSING": ("not computed", Fill((1.0, 1.0, 1.0), "oo")),
}


@attrs.frozen(eq=False)
class Region:
    """Cells of a map with the same verdict and the same consistent modes.

    Attributes
    ----------
    label : str
        Modes and verdict in words.
    verdict : str
        Name of the verdict.
    fraction : float
        Share of the map's area.
    cells : array of bool, (n0, n1)
    fill : Fill
    """

    label: str
    verdict: str
    fraction: float
    cells: NDArray[np.bool_]
    fill: Fill


def regions(region_map: RegionMap) -> tuple[Region, ...]:
    """The regions of a map.

    Parameters
    ----------
    region_map : RegionMap

    Returns
    -------
    tuple of Region
        Unique verdicts first, then indeterminate and inconsistent ones; last the states at which no acceleration-level
        question arises. Those of one contact have the same order and fill in every map, others go from large to small.
    """
    from hybrid.contact import CellVerdict

    verdict, modes = region_map.verdict, region_map.modes
    found: list[tuple[str, str, NDArray[np.bool_]]] = []
    outside: list[Region] = []
    for code in np.unique(verdict):
        name = CellVerdict(int(code)).name
        cells = verdict == code
        if name in _OUTSIDE:
            label, fill = _OUTSIDE[name]
            outside.append(Region(label, name, float(cells.mean()), cells, fill))
            continue
        for bits in np.unique(modes[cells]):
            found.append((name, _label(name, int(bits), region_map.labels), cells & (modes == bits)))
    found.sort(key=lambda item: (_ORDER.index(_KINDS[item[0]]), -int(item[2].sum())))
    own = own_fills()
    if all(label in own for _, label, _ in found):
        kept = sorted(found, key=lambda item: list(own).index(item[1]))
        chosen = tuple(own[label] for _, label, _ in kept)
    else:
        kept = _merged(found)
        chosen = fills([_KINDS[name] for name, _, _ in kept])
    inside = [
        Region(label, name, float(cells.mean()), cells, fill)
        for (name, label, cells), fill in zip(kept, chosen, strict=True)
    ]
    return (*inside, *outside)


def _label(verdict: str, bits: int, labels: tuple[str, ...]) -> str:
    names = sorted(label for index, label in enumerate(labels) if bits >> index & 1)
    words = {
        "UNIQUE": "",
        "HYPERSTATIC": " (hyperstatic)",
        "INDETERMINATE": " (indeterminate)",
        "INCONSISTENT": " (inconsistent)",
    }
    return (" | ".join(names) if names else "none") + words[verdict]


def _merged(
    found: list[tuple[str, str, NDArray[np.bool_]]],
) -> list[tuple[str, str, NDArray[np.bool_]]]:
    """Join the smallest regions of the most numerous kind until few enough remain."""
    kept = list(found)
    while len(kept) > MAX_REGIONS:
        kinds = [_KINDS[name] for name, _, _ in kept]
        crowded = max(_ORDER, key=kinds.count)
        last = len(kinds) - 1 - kinds[::-1].index(crowded)
        (name, first_label, first), (_, second_label, second) = kept[last - 1], kept[last]
        number = sum(int(_number(label)) for label in (first_label, second_label))
        kept[last - 1 : last + 1] = [(name, f"{number} other sets of modes", first | second)]
    return kept


def _number(label: str) -> str:
    head, _, rest = label.partition(" ")
    return head if rest == "other sets of modes" else "1"
