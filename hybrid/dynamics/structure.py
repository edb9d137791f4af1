"""What a contact problem needs to know of a model besides its numbers: names, and who has which rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

__all__ = ["AbstractStructure", "ModelStructure"]

Made = TypeVar("Made")


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

    @property
    def unsigned_friction(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        """Friction that may fall below zero along a motion; see ``ForceElement.unsigned_friction``."""

    def dimension(self, name: str) -> int:
        """Tangential dimension of a force element: 0 frictionless, 1 planar, 2 spatial."""

    def columns_of(self, name: str) -> tuple[int, ...]:
        """Tangential columns of a force element; none if it is frictionless."""

    def once(self, make: Callable[..., Made], *key: Hashable) -> Made:
        """``make(self, *key)``, which may be kept."""


@attrs.frozen
class ModelStructure:
    """The structure of a model that is given by numbers; see :class:`AbstractStructure`.

    Attributes
    ----------
    name : str
    n : int
        Number of coordinates.
    contacts, elements, rigid : tuple of str
        Names of the contacts, of the friction elements and of the rigid constraints.
    columns : mapping of str to slice
        Tangential columns of the force elements with friction.
    unsigned_friction : mapping
        Empty: numbers do not change.
    """

    name: str
    n: int
    contacts: tuple[str, ...]
    elements: tuple[str, ...]
    rigid: tuple[str, ...]
    columns: Mapping[str, slice]
    unsigned_friction: Mapping[str, tuple[tuple[str, int], ...]] = attrs.field(factory=dict, init=False, repr=False)

    def once(self, make: Callable[..., Made], *key: Hashable) -> Made:
        """``make(self, *key)``, computed anew: a structure serves one state.

        Parameters
        ----------
        make : callable
        key : hashable

        Returns
        -------
        object
        """
        return make(self, *key)

    def dimension(self, name: str) -> int:
        """Tangential dimension of a force element.

        Parameters
        ----------
        name : str

        Returns
        -------
        int
            0 frictionless, 1 planar, 2 spatial.
        """
        return len(self.columns_of(name))

    def columns_of(self, name: str) -> tuple[int, ...]:
        """Tangential columns of a force element.

        Parameters
        ----------
        name : str

        Returns
        -------
        tuple of int
            Empty if it is frictionless.
        """
        columns = self.columns.get(name)
        return () if columns is None else tuple(range(columns.start, columns.stop))
