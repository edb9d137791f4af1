"""What a contact problem needs to know of a model besides its numbers: names, and who has which rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import attrs

__all__ = ["AbstractStructure", "ModelStructure"]


class AbstractStructure(Protocol):
    """A model whose terms are numbers: a mechanism with its equations, or a state of another engine's model."""

    @property
    def name(self) -> str:
        """What messages call the model."""

    @property
    def n(self) -> int:
        """Number of generalised velocities."""

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the unilateral contacts, in the order of ``Terms.gap``."""

    @property
    def elements(self) -> tuple[str, ...]:
        """Names of the friction elements, in the order of ``Terms.limit``."""

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the rigid bilateral constraints, in the order of ``Terms.J``."""

    @property
    def columns(self) -> Mapping[str, slice]:
        """Tangential columns of each contact, friction element and constraint that has friction."""

    def dimension(self, name: str) -> int:
        """Tangential dimension of a force element: 0 frictionless, 1 planar, 2 spatial."""

    def columns_of(self, name: str) -> tuple[int, ...]:
        """Tangential columns of a force element; none if it is frictionless."""


@attrs.frozen
class ModelStructure:
    """The structure of a model that is given by numbers; see :class:`AbstractStructure`."""

    name: str
    n: int
    contacts: tuple[str, ...]
    elements: tuple[str, ...]
    rigid: tuple[str, ...]
    columns: Mapping[str, slice]

    def dimension(self, name: str) -> int:
        """Tangential dimension of a force element: 0 frictionless, 1 planar, 2 spatial."""
        return len(self.columns_of(name))

    def columns_of(self, name: str) -> tuple[int, ...]:
        """Tangential columns of a force element; none if it is frictionless."""
        columns = self.columns.get(name)
        return () if columns is None else tuple(range(columns.start, columns.stop))
