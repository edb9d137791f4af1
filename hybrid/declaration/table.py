"""An immutable mapping, so that declarations can be compared, hashed and sent to other processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")


class Table(Mapping[str, V]):
    """A mapping of names to values that keeps its order and cannot be changed.

    Examples
    --------
    >>> table = Table({"m": 1.0})
    >>> table["m"], table == {"m": 1.0}
    (1.0, True)
    """

    __slots__ = ("_items",)
    _items: dict[str, V]

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        object.__setattr__(self, "_items", dict(items or {}))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Table cannot be changed")

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[type[Table[V]], tuple[dict[str, V]]]:
        return Table, (self._items,)
