"""The state of a mechanism, one or many.

What a contact problem needs to know of a model besides its numbers: names, and who has which rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from numpy.typing import NDArray

__all__ = ["AbstractStructure", "ModelStructure", "State", "States"]

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


def _frozen_array(values: Any) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _sides(sides: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(float(s) for s in np.atleast_1d(np.asarray(side))) for name, side in sides.items()}


def _pins(pins: Mapping[str, str | float]) -> dict[str, str | float]:
    return dict(pins)


@attrs.frozen
class State:
    """Position and velocity of a mechanism at a time.

    Attributes
    ----------
    q, v : array, (n,)
        Generalised coordinates and velocities, in the order of the declaration.
    t : float
        Time, in s.
    sides : mapping of str to tuple of float
        For contacts whose slip is a limit: the direction from which it vanishes, ``(1.0,)`` or ``(-1.0,)`` for a planar
        contact (pins ``slip.tip=+0`` and ``-0``), a plane vector for a spatial one; also where a slip was pinned lower
        than numbers tell it from rest. A contact at rest is not listed.

    alternatives : tuple of array, (n,)
        Further positions that satisfy the same pins, if it was solved from pins that have several. Not compared.
    pins : mapping of str to str or float
        What it was solved from, if it was; a text is known exactly where its float is rounded. Not compared.

    Examples
    --------
    >>> State([0.0, 1.0], [0.0, 0.0], sides={"tip": 1}).sides
    {'tip': (1.0,)}
    """

    q: NDArray[np.float64] = attrs.field(converter=_frozen_array, eq=attrs.cmp_using(eq=np.array_equal))
    v: NDArray[np.float64] = attrs.field(converter=_frozen_array, eq=attrs.cmp_using(eq=np.array_equal))
    t: float = attrs.field(default=0.0, converter=float)
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, converter=_sides)
    alternatives: tuple[NDArray[np.float64], ...] = attrs.field(default=(), eq=False, repr=False)
    pins: Mapping[str, str | float] = attrs.field(factory=dict, converter=_pins, eq=False, repr=False)


@attrs.frozen(eq=False)
class States:
    """Arrays of states for a map; the leading axes of ``q``, ``v`` and ``t`` broadcast against each other.

    Attributes
    ----------
    q, v : array, (..., n)
    t : array, (...)
        Times, in s.
    sides : mapping of str to tuple of float
        As in :class:`State`, common to all states.
    reached : array of bool, (...)
        False where the pins have no solution; ``q`` or ``v`` are NaN there.
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    t: NDArray[np.float64]
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, converter=_sides)
    reached: NDArray[np.bool_] = attrs.field(factory=lambda: np.array(True))

    @property
    def shape(self) -> tuple[int, ...]:
        """The broadcast shape of the states."""
        return np.broadcast_shapes(self.q.shape[:-1], self.v.shape[:-1], self.t.shape, self.reached.shape)
