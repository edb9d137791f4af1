"""Where two answers first differ: numbers to a relative tolerance, everything else exactly.

A record is what JSON can hold. A number is compared with the greatest of the list it stands in, however nested, because
rounding changes the entries of an array by parts of the greatest; so is a number in a mapping of numbers alone (the
velocities by name), but for those whose entries have nothing to do with one another. What differs by less than the
floor is the rounding of a zero: sums in another order leave up to 1e-12 of forces of the size of one. Texts are equal
but for the numbers inside, which are compared each for itself, and for the width of columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

Json = Any

TOLERANCE = 1e-9
FLOOR = 1e-12

# Versions, and what a clock says.
LEFT_OUT = {"version", "seconds"}

# Keys that a record may have where it had none: the contract lets records grow.
GROWN = {
    "force_set",
    "guards",
    "sampled",
    "general_cells",
    "complete",
    "refusals",
    "joint",
    "continua",
    "branch",
    "by_name",
}

# Mappings of numbers of different kinds; what is declared has no rounding and may be small.
UNLIKE = {"parameters", "base", "gradient", "at"}
DECLARED = {"parameters", "base"}

# Relative already, or differences, and about as large as rounding where all is well: compared with 1.
RELATIVE = {"margin", "scaled", "disagreement", "deviation", "finite_difference_error", "error"}

_NUMBER = re.compile(r"(?<![\w.)\]])-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+|/\d+)?")
_WIDTHS = re.compile(r"\s+|─+|━+")
_SHOWN = 60


class Difference(NamedTuple):
    """The first place at which two records differ, and what stands there."""

    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path or 'answer'}: {self.before} -> {self.after}"


def first_difference(before: Json, after: Json, path: str = "", scale: float = 0.0) -> Difference | None:
    """The first difference of two records, in the order of the first one; None where they are equal."""
    return next(_differences(before, after, path, scale), None)


def _differences(before: Json, after: Json, path: str, scale: float) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _in_mappings(before, after, path, scale)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_lists(before, after, path, scale)
    elif _is_number(before) and _is_number(after):
        floor = 0.0 if DECLARED & set(re.split(r"[.\[]", path)) else FLOOR
        if not close(before, after, scale, floor):
            yield Difference(path, repr(before), repr(after))
    elif isinstance(before, str) and isinstance(after, str):
        if not same_text(before, after):
            yield Difference(path, *_excerpts(before, after))
    elif type(before) is not type(after) or before != after:
        yield Difference(path, _shown(before), _shown(after))


def _in_mappings(before: dict[str, Json], after: dict[str, Json], path: str, scale: float) -> Iterator[Difference]:
    old = [key for key in before if key not in LEFT_OUT]
    new = [key for key in after if key not in LEFT_OUT and (key in before or key not in GROWN)]
    name = path.rpartition(".")[2]
    alike = name not in UNLIKE and _is_numeric(before)
    scale = max(scale, _greatest(before), _greatest(after)) if alike else 0.0
    for key in old:
        inside = f"{path}.{key}" if path else key
        if key not in after:
            yield Difference(inside, _shown(before[key]), "missing")
        else:
            yield from _differences(before[key], after[key], inside, 1.0 if key in RELATIVE else scale)
    for key in new:
        if key not in before:
            yield Difference(f"{path}.{key}" if path else key, "missing", _shown(after[key]))
    if old != new:
        yield Difference(path, f"order {', '.join(old)}", f"order {', '.join(new)}")


def _in_lists(before: list[Json], after: list[Json], path: str, scale: float) -> Iterator[Difference]:
    if _is_numeric(before):
        scale = max(scale, _greatest(before), _greatest(after))
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        yield from _differences(old, new, f"{path}[{index}]", scale)
    if len(before) != len(after):
        yield Difference(path, f"{len(before)} items", f"{len(after)} items")


def close(before: float, after: float, scale: float = 0.0, floor: float = FLOOR) -> bool:
    """Whether two numbers agree to the tolerance, relative to the larger one or to their array, or to the floor."""
    return abs(before - after) <= max(floor, TOLERANCE * max(abs(before), abs(after), scale))


def same_text(before: str, after: str) -> bool:
    """Whether two texts agree but for numbers that are close."""
    if before == after:
        return True
    if _WIDTHS.sub(" ", _NUMBER.sub("#", before)) != _WIDTHS.sub(" ", _NUMBER.sub("#", after)):
        return False
    pairs = zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=True)
    return all(old == new or close(_value(old), _value(new)) for old, new in pairs)


def _value(text: str) -> float:
    """A number of a text; a quotient of whole numbers as what it amounts to."""
    try:
        return float(Fraction(text)) if "/" in text else float(text)
    except (OverflowError, ZeroDivisionError, ValueError):
        return math.nan


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_numeric(value: Json) -> bool:
    """A number or nothing, or a list or mapping of these."""
    if isinstance(value, list | dict):
        items = value if isinstance(value, list) else value.values()
        return all(map(_is_numeric, items))
    return value is None or _is_number(value)


def _greatest(value: Json) -> float:
    if isinstance(value, list | dict):
        items = value if isinstance(value, list) else value.values()
        return max(map(_greatest, items), default=0.0)
    return abs(value) if _is_number(value) else 0.0


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _excerpts(before: str, after: str) -> tuple[str, str]:
    """What stands around the first letter that differs."""
    first = next((i for i, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), 0)
    first = max(0, min(first, len(before), len(after)) - _SHOWN // 3)
    return _shown(before[first:]), _shown(after[first:])
