"""Entries of the record of a stored motion: each is what it must be, or refused by its name."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.modes import Mode
from hybrid.errors import StateError

__all__ = ["Arrays", "Entries"]

Arrays = Mapping[str, NDArray[Any]]

_LARGEST = sys.float_info.max


@attrs.frozen
class Entries:
    """A table of the record, whose entries are given as what they must be or refused by name."""

    table: Mapping[str, Any]
    arrays: Arrays
    source: str
    place: str = ""

    def refuse(self, name: str, expected: str) -> NoReturn:
        """Say which entry is not what it must be."""
        where = f"{self.place}.{name}" if self.place else name
        raise StateError(f"{self.source} is not a whole motion: {where} must be {expected}")

    def part(self, name: str, item: Any) -> Entries:
        """A table that is an entry of this one."""
        where = f"{self.place}.{name}" if self.place else name
        return (
            Entries(item, self.arrays, self.source, where) if isinstance(item, dict) else self.refuse(name, "a table")
        )

    def entry(self, name: str) -> Any:
        """Whatever stands under a name."""
        return self.table[name] if name in self.table else self.refuse(name, "there")

    def number(self, name: str, *, finite: bool = True) -> float:
        """A number; infinity only where it is allowed."""
        value = self.entry(name)
        if type(value) not in (int, float) or math.isnan(value) or (finite and abs(value) > _LARGEST):
            self.refuse(name, "a number")
        return float(value)

    def text(self, name: str) -> str:
        """A text."""
        value = self.entry(name)
        return value if isinstance(value, str) else self.refuse(name, "a text")

    def items(self, name: str) -> list[Any]:
        """A list."""
        value = self.entry(name)
        return value if isinstance(value, list) else self.refuse(name, "a list")

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.items(name)
        return tuple(value) if all(isinstance(item, str) for item in value) else self.refuse(name, "a list of texts")

    def parts(self, name: str) -> list[Entries]:
        """A list of tables."""
        return [self.part(f"{name}[{number}]", item) for number, item in enumerate(self.items(name))]

    def numbers(self, name: str) -> dict[str, float]:
        """A table of numbers."""
        part = self.part(name, self.entry(name))
        return {key: part.number(key) for key in part.table}

    def pairs(self, name: str) -> dict[str, tuple[float, ...]]:
        """A table of lists of numbers."""
        part = self.part(name, self.entry(name))
        found = {}
        for key in part.table:
            listed = part.items(key)
            held = Entries(
                {str(index): item for index, item in enumerate(listed)}, self.arrays, self.source, part.place
            )
            found[key] = tuple(held.number(index) for index in held.table)
        return found

    def member(self, name: str, kind: Any) -> Any:
        """A member of an enumeration, by its name."""
        word = self.text(name)
        return kind[word] if word in kind.__members__ else self.refuse(name, f"one of {', '.join(kind.__members__)}")

    def mode(self, name: str, known: Sequence[str]) -> Mode | None:
        """The modes of some of the known contacts, or None."""
        labels = self.entry(name)
        if labels is None:
            return None
        if not isinstance(labels, dict) or not set(labels) <= set(known):
            self.refuse(name, "the modes of contacts that the mechanism has")
        return Mode(labels)

    def array(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """Finite numbers of a shape, None for any length of at least one."""
        found = self.arrays.get(name)
        expected = f"an array of finite numbers of shape ({', '.join('any' if k is None else str(k) for k in shape)})"
        if found is None or found.dtype.kind != "f" or found.ndim != len(shape):
            self.refuse(name, expected)
        if any(
            length == 0 if wanted is None else length != wanted
            for length, wanted in zip(found.shape, shape, strict=True)
        ):
            self.refuse(name, expected)
        values = np.asarray(found, dtype=np.float64)
        if not np.isfinite(values).all():
            self.refuse(name, expected)
        values.setflags(write=False)
        return values
