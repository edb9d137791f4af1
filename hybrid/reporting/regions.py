"""The regions of a map by verdict and consistent modes, in the order of the legend.

Colours of regions and lines that stay apart in greyscale and for readers who confuse red and green.

Lightness alone tells them apart: it falls in equal steps from the first region on, and rises from the first line on.
Hue and hatching say what kind a region is; lines have strokes of their own, too.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeAlias

import attrs
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hybrid.analysis import RegionMap

Stroke: TypeAlias = str | tuple[float, tuple[float, ...]]

__all__ = ["Fill", "Region", "Stroke", "fills", "lightness", "line_styles", "own_fills", "regions"]

LIGHTEST, DARKEST = 96.0, 30.0
WIDEST_STEP = 22.0
# Cool hues where one motion exists, orange where several do, red where none does.
_HUES = {"unique": (110.0, 265.0), "several": (62.0, 45.0), "none": (28.0, 20.0)}
_HATCHES = {"unique": ("",), "several": ("////", "..", "\\\\\\\\", "++++"), "none": ("xxxx",)}
_CHROMA = {"unique": 42.0, "several": 62.0, "none": 60.0}

# CIE 1976 L*a*b* with the white of sRGB (D65), IEC 61966-2-1.
_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_LINEAR_RGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


# Lines: from dark to light in equal steps that end where white is still three times as bright (WCAG 2.2, 1.4.11).
_LINE_LIGHTS = (16.0, 27.0, 38.0, 49.0, 60.0)
_LINE_HUES = (255.0, 30.0, 315.0, 165.0, 75.0)  # blue, red, purple, green, amber: far apart with two kinds of cones
_LINE_CHROMA = 60.0
_DOTS, _DOTTED = (0, (1.2, 1.4)), (0, (6, 1.2, 1.2, 1.2, 1.2, 1.2))
_STROKES: tuple[Stroke, ...] = (
    "-",
    (0, (6, 2)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (1.2, 1.4)),
    (0, (3, 1.2)),
    (0, (6, 1.2, 1.2, 1.2, 1.2, 1.2)),
)


@attrs.frozen
class Fill:
    """How a region is drawn.

    Attributes
    ----------
    colour : tuple of float
        Red, green and blue from 0 to 1.
    hatch : str
        matplotlib's pattern; empty for a plain region.
    """

    colour: tuple[float, float, float]
    hatch: str

    @property
    def ink(self) -> tuple[float, float, float]:
        """A colour that is seen on this one: of the hatching."""
        return (1.0, 1.0, 1.0) if lightness(self.colour) < 62 else (0.15, 0.15, 0.15)

    @property
    def css(self) -> str:
        """The colour as ``#rrggbb``."""
        return "#" + "".join(f"{round(255 * part):02x}" for part in self.colour)


_LABELS = {
    "free": "unique",
    "closed": "unique",
    "slide+": "unique",
    "slide-": "unique",
    "stick": "unique",
    "free | slide+ (indeterminate)": "several",
    "free | slide- (indeterminate)": "several",
    "free | stick (indeterminate)": "several",
    "none (inconsistent)": "none",
}
"""What a map of one contact shows, in the order of falling lightness, and of which kind it is."""


@functools.cache
def own_fills() -> dict[str, Fill]:
    """The fills that the regions of one contact have in every map, by label.

    Returns
    -------
    dict of str to Fill
    """
    return dict(zip(_LABELS, fills(list(_LABELS.values())), strict=True))


def fills(kinds: Sequence[str]) -> tuple[Fill, ...]:
    """Fills for regions, in the order of falling lightness.

    Parameters
    ----------
    kinds : sequence of {"unique", "several", "none"}
        What each region is: one motion, several, or none.

    Returns
    -------
    tuple of Fill

    Examples
    --------
    >>> [round(lightness(fill.colour)) for fill in fills(["unique", "unique", "none"])]
    [96, 74, 30]
    """
    count = len(kinds)
    step = min(WIDEST_STEP, (LIGHTEST - DARKEST) / max(1, count - 1))
    steps = LIGHTEST - step * np.arange(count)
    if "none" in kinds[-1:]:
        steps[-1] = DARKEST
    used: dict[str, int] = {}
    found = []
    for kind, light in zip(kinds, steps, strict=True):
        index = used.get(kind, 0)
        used[kind] = index + 1
        first, last = _HUES[kind]
        hue = first + (last - first) * index / max(1, kinds.count(kind) - 1)
        patterns = _HATCHES[kind]
        found.append(Fill(_colour(float(light), _CHROMA[kind], hue), patterns[index % len(patterns)]))
    return tuple(found)


def line_styles(count: int) -> list[tuple[str, Stroke]]:
    """Colour and stroke for every line of a plot; lightness and stroke tell them apart without hue.

    Parameters
    ----------
    count : int

    Returns
    -------
    list of (str, str or tuple)
        A colour as ``#rrggbb``, darkest first, and a stroke of matplotlib's; beyond thirty lines they repeat.

    Examples
    --------
    >>> [stroke for _, stroke in line_styles(2)]
    ['-', (0, (6, 2))]
    """
    found = []
    for index in range(count):
        place = index % len(_LINE_LIGHTS)
        colour = Fill(_colour(_LINE_LIGHTS[place], _LINE_CHROMA, _LINE_HUES[place]), "").css
        found.append((colour, _STROKES[index % len(_STROKES)]))
    return found


def lightness(colour: Sequence[float]) -> float:
    """CIE lightness L* of an sRGB colour, from 0 (black) to 100 (white).

    Parameters
    ----------
    colour : sequence of float
        Red, green and blue from 0 to 1.

    Returns
    -------
    float
        By IEC 61966-2-1 and CIE 1976.

    Examples
    --------
    >>> round(lightness((1, 1, 1)), 6), round(lightness((0.5, 0.5, 0.5)), 1)
    (100.0, 53.4)
    """
    rgb = np.asarray(colour, dtype=float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    Y = float(_LUMINANCE @ linear)
    return 116 * Y ** (1 / 3) - 16 if Y > (6 / 29) ** 3 else Y * (29 / 3) ** 3


def _colour(light: float, chroma: float, hue: float) -> tuple[float, float, float]:
    """The most colourful sRGB colour of a lightness and hue with at most the given chroma."""
    for part in np.linspace(1.0, 0.0, 41):
        rgb = _linear_rgb(light, float(part) * chroma, hue)
        if (rgb >= 0).all() and (rgb <= 1).all():
            break
    rgb = np.clip(rgb, 0.0, 1.0)
    encoded = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)
    red, green, blue = encoded.tolist()
    return (red, green, blue)


def _linear_rgb(light: float, chroma: float, hue: float) -> NDArray[np.float64]:
    angle = np.radians(hue)
    middle = (light + 16) / 116
    f = np.array([middle + chroma * np.cos(angle) / 500, middle, middle - chroma * np.sin(angle) / 200])
    xyz = _WHITE * np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29))
    return np.asarray(_TO_LINEAR_RGB @ xyz)


MAX_REGIONS = 9
"""More lightness steps than these cannot be told apart; the smallest regions of a kind are then drawn as one."""

# What a verdict means for the drawing; the names are those of hybrid.contact.CellVerdict.
_KINDS = {"UNIQUE": "unique", "HYPERSTATIC": "unique", "INDETERMINATE": "several", "INCONSISTENT": "none"}
_ORDER = ("unique", "several", "none")
_OTHERS = " other sets of modes"
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
        question arises. Those of one contact have the same order and fill in every map. Others are in
        the order of their labels, so that maps of the same regions have the same fills whatever the areas.
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
        kept = sorted(_merged(found), key=_place)
        chosen = fills([_KINDS[name] for name, _, _ in kept])
    inside = [
        Region(label, name, float(cells.mean()), cells, fill)
        for (name, label, cells), fill in zip(kept, chosen, strict=True)
    ]
    return (*inside, *outside)


def _place(item: tuple[str, str, NDArray[np.bool_]]) -> tuple[int, bool, str]:
    """By kind, then label; what stands for several is the last of its kind."""
    name, label, _ = item
    return _ORDER.index(_KINDS[name]), label.endswith(_OTHERS), label


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
        kept[last - 1 : last + 1] = [(name, f"{number}{_OTHERS}", first | second)]
    return kept


def _number(label: str) -> str:
    return label.removesuffix(_OTHERS) if label.endswith(_OTHERS) else "1"
