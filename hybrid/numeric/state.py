"""A state of any engine's model, in numbers: mass matrix, forces, contacts with their directions and remainders."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid.arguments import explains_arguments
from hybrid.dynamics.equations import Terms
from hybrid.dynamics.structure import ModelStructure
from hybrid.errors import StateError
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["NumericContact", "NumericFriction", "NumericState"]

Array = NDArray[np.float64]

_ASYMMETRY = NOTHING  # of the largest entry: what engines leave between the two halves of a mass matrix


def _array(values: ArrayLike) -> Array:
    if np.iscomplexobj(values):
        raise StateError("real numbers are wanted, not complex ones")
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _optional(values: ArrayLike | None) -> Array | None:
    return None if values is None else _array(values)


def _directions(values: ArrayLike | None) -> Array | None:
    """Directions (..., n, p); one planar direction (n,) becomes (n, 1)."""
    if values is None:
        return None
    array = _array(values)
    return array[:, None] if array.ndim == 1 else array


@explains_arguments
@attrs.frozen(eq=False)
class NumericContact:
    """A unilateral contact at one state, or at many along leading axes.

    Only a gap, gap velocity or slip that is exactly zero counts as zero: what is taken for closed, persistent or at
    rest is set to zero by whoever knows how accurate the numbers are.

    Attributes
    ----------
    name : str
    W_N : array, (..., n)
        Direction of the normal force: ``gap_dot = W_N . v`` but for a surface that moves.
    gap, gap_dot : array, (...), default 0
        Distance (m) and its rate (m/s). A positive one keeps the contact out of the problem.
    zeta_N : array, (...), default 0
        Remainder of the normal acceleration ``a_N = W_N . v' + zeta_N`` (m/s^2), of the point of contact (Pfeiffer and
        Glocker 1996, ch. 5).
    W_T : array, (..., n, p), or (n,) for p = 1, or None
        Tangential directions, one (planar) or two (spatial); none for a contact without friction.
    slip, zeta_T : array, (..., p)
        Tangential velocity (m/s) and remainder of the tangential acceleration (m/s^2); with ``W_T`` the slip is needed.
    friction : array, (...), default 0
        Coulomb's coefficient.
    static_friction : array, (...), optional
        Up to which sticking persists; ``friction`` by default.
    restitution, damping, stiffness_ratio : array, (...)
        Of impacts and of the compliant contact, as in the mechanism file; damping in sqrt(kg).
    body : str, optional
        The rigid body on which it acts, if the other surface does not move: forces between several points of one body
        cancel, however their directions are rounded.

    Examples
    --------
    >>> NumericContact("foot", W_N=[0.0, 1.0], W_T=[1.0, 0.0], slip=[0.3], friction=0.8).dimension
    1
    """

    name: str
    W_N: Array = attrs.field(converter=_array)
    gap: Array = attrs.field(default=0.0, converter=_array)
    gap_dot: Array = attrs.field(default=0.0, converter=_array)
    zeta_N: Array = attrs.field(default=0.0, converter=_array)
    W_T: Array | None = attrs.field(default=None, converter=_directions)
    slip: Array | None = attrs.field(default=None, converter=_optional)
    zeta_T: Array | None = attrs.field(default=None, converter=_optional)
    friction: Array = attrs.field(default=0.0, converter=_array)
    static_friction: Array | None = attrs.field(default=None, converter=_optional)
    restitution: Array = attrs.field(default=0.0, converter=_array)
    damping: Array = attrs.field(default=0.0, converter=_array)
    stiffness_ratio: Array = attrs.field(default=1.0, converter=_array)
    body: str = ""

    @property
    def dimension(self) -> int:
        """Number of tangential directions: 0, 1 or 2."""
        return 0 if self.W_T is None else self.W_T.shape[-1]


@explains_arguments
@attrs.frozen(eq=False)
class NumericFriction:
    """Dry friction of a given limit force, as of a joint, at one state or at many along leading axes.

    Attributes
    ----------
    name : str
    W_T : array, (..., n)
        Direction of the friction force.
    slip : array, (...)
        Its velocity.
    limit : array, (...)
        Largest force while it slips.
    zeta_T : array, (...), default 0
        Remainder of its acceleration.
    static_limit : array, (...), optional
        Largest force at rest; ``limit`` by default.
    """

    name: str
    W_T: Array = attrs.field(converter=_array)
    slip: Array = attrs.field(converter=_array)
    limit: Array = attrs.field(converter=_array)
    zeta_T: Array = attrs.field(default=0.0, converter=_array)
    static_limit: Array | None = attrs.field(default=None, converter=_optional)


def _parts(parts: Sequence[NumericContact | NumericFriction]) -> tuple[Any, ...]:
    return tuple(parts)


@explains_arguments
@attrs.frozen(eq=False)
class NumericState:
    """A state of a model that is given by its numbers, or an array of states along leading axes.

    ``M v' = h + sum of W lambda + J^T lambda_B`` with ``J v' + zeta_B = 0`` (Pfeiffer and Glocker 1996, ch. 5).

    Attributes
    ----------
    M : array, (..., n, n)
        Mass matrix, with the inertia of rotors and the like.
    h : array, (..., n)
        All forces but those of contacts, friction elements and constraints.
    contacts : tuple of NumericContact
        All contacts of the model; open ones have a positive ``gap``.
    friction : tuple of NumericFriction
    J : array, (..., m, n), default none
        Gradients of rigid bilateral constraints.
    zeta_B : array, (..., m)
        Remainders of their accelerations.
    v : array, (..., n), optional
        Generalised velocities, which impacts need.
    sides : mapping of str to tuple of float
        Directions from which slips vanish, as in :class:`hybrid.State`.
    name : str
        What messages call the model.

    Raises
    ------
    StateError
        A shape, a number or a name does not fit; the message names the field.

    Examples
    --------
    A block of 2 kg that slips on a floor.

    >>> foot = NumericContact("foot", W_N=[0.0, 1.0], W_T=[1.0, 0.0], slip=[0.3], friction=0.5)
    >>> block = NumericState(M=[[2.0, 0.0], [0.0, 2.0]], h=[0.0, -19.62], contacts=[foot])
    >>> block.n, block.structure.contacts
    (2, ('foot',))
    """

    M: Array = attrs.field(converter=_array)
    h: Array = attrs.field(converter=_array)
    contacts: tuple[NumericContact, ...] = attrs.field(default=(), converter=_parts)
    friction: tuple[NumericFriction, ...] = attrs.field(default=(), converter=_parts, kw_only=True)
    J: Array | None = attrs.field(default=None, converter=_optional, kw_only=True)
    zeta_B: Array | None = attrs.field(default=None, converter=_optional, kw_only=True)
    v: Array | None = attrs.field(default=None, converter=_optional, kw_only=True)
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict, kw_only=True)
    name: str = attrs.field(default="model", kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Check every field against the number of velocities."""
        if self.M.ndim < 2 or self.M.shape[-1] != self.M.shape[-2] or not self.M.shape[-1]:
            raise self._refused("M", f"must have shape (..., n, n), got {self.M.shape}")
        for field, array, tail in self._given():
            if array.shape[array.ndim - len(tail) :] != tail or array.ndim < len(tail):
                raise self._refused(field, f"must have shape (..., {', '.join(map(str, tail))}), got {array.shape}")
            if not np.isfinite(array).all() and not (field.endswith(".gap") and not np.isnan(array).any()):
                raise self._refused(field, f"is not finite{_frame(~np.isfinite(array), len(tail))}")
        try:
            np.broadcast_shapes(*(array.shape[: array.ndim - len(tail)] for _, array, tail in self._given()))
        except ValueError as error:
            raise self._refused("contacts", "have leading axes of other lengths than M and h") from error
        self._check_values()

    def _check_values(self) -> None:
        names = [contact.name for contact in self.contacts] + [element.name for element in self.friction]
        for name in names:
            if names.count(name) > 1:
                raise self._refused(name, "is the name of two contacts or friction elements; names must differ")
        size = np.max(np.abs(self.M), axis=(-2, -1), keepdims=True)
        skew = np.abs(self.M - np.swapaxes(self.M, -1, -2)) > _ASYMMETRY * size
        if skew.any():
            raise self._refused("M", f"is not symmetric{_frame(skew, 2)}")
        for contact in self.contacts:
            if not isinstance(contact.body, str):
                raise self._refused(f"{contact.name}.body", f"must be the name of a body, got {contact.body!r}")
            if contact.W_T is not None and contact.slip is None:
                raise self._refused(f"{contact.name}.slip", "is needed where W_T is given")
            if contact.W_T is None and (contact.friction != 0.0).any():
                raise self._refused(f"{contact.name}.W_T", "is needed where friction is not 0")
            if contact.dimension > 2:
                raise self._refused(
                    f"{contact.name}.W_T", f"has {contact.dimension} directions; at most 2 are tangential"
                )
            static = contact.friction if contact.static_friction is None else contact.static_friction
            for field, values in (("friction", contact.friction), ("static_friction", static)):
                if (values < 0.0).any():
                    raise self._refused(f"{contact.name}.{field}", f"is negative ({values.min():.6g})")
            if (static < contact.friction).any():
                raise self._refused(f"{contact.name}.static_friction", "is below friction")
        for element in self.friction:
            if (element.limit < 0.0).any():
                raise self._refused(f"{element.name}.limit", f"is negative ({element.limit.min():.6g})")
        if (self.J is None) != (self.zeta_B is None):
            raise self._refused("zeta_B", "and J go together")
        unknown = set(self.sides) - set(names)
        if unknown:
            raise self._refused(
                "sides", f"names {sorted(unknown)[0]!r}, which is no contact; there are {', '.join(names)}"
            )

    def _given(self) -> Iterator[tuple[str, Array, tuple[int, ...]]]:
        """Every array with its name and the shape behind its leading axes."""
        n = self.n
        yield from (("M", self.M, (n, n)), ("h", self.h, (n,)))
        if self.v is not None:
            yield "v", self.v, (n,)
        if self.J is not None and self.zeta_B is not None:
            m = self.J.shape[-2] if self.J.ndim > 1 else 0
            yield from (("J", self.J, (m, n)), ("zeta_B", self.zeta_B, (m,)))
        for contact in self.contacts:
            p = contact.dimension
            for field in ("gap", "gap_dot", "zeta_N", "friction", "static_friction", "restitution", "damping"):
                if getattr(contact, field) is not None:
                    yield f"{contact.name}.{field}", getattr(contact, field), ()
            yield f"{contact.name}.W_N", contact.W_N, (n,)
            if contact.W_T is not None:
                is_turned = contact.W_T.shape[-2:-1] != (n,)
                yield f"{contact.name}.W_T", contact.W_T, (n, min(p, 2) if is_turned else p)
            for field in ("slip", "zeta_T"):
                if getattr(contact, field) is not None:
                    yield f"{contact.name}.{field}", getattr(contact, field), (p,)
        for element in self.friction:
            yield f"{element.name}.W_T", element.W_T, (n,)
            for field in ("slip", "limit", "zeta_T", "static_limit"):
                if getattr(element, field) is not None:
                    yield f"{element.name}.{field}", getattr(element, field), ()

    def _refused(self, field: str, why: str) -> StateError:
        return StateError(f"{self.name}: {field} {why}")

    @property
    def n(self) -> int:
        """Number of generalised velocities."""
        return int(self.M.shape[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes; empty for one state."""
        return np.broadcast_shapes(*(array.shape[: array.ndim - len(tail)] for _, array, tail in self._given()))

    def at(self, place: Any) -> NumericState:
        """Some of an array of states.

        Parameters
        ----------
        place : int, tuple of int, slice or tuple of array of int
            Index along the leading axes.

        Returns
        -------
        NumericState
            A single state where the index is one.
        """
        shape = self.shape

        def taken(array: Array | None, tail: int) -> Array | None:
            if array is None or array.ndim == tail:
                return array
            return np.asarray(np.broadcast_to(array, (*shape, *array.shape[array.ndim - tail :]))[place])

        def parts(part: Any) -> Any:
            names = [field.name for field in attrs.fields(type(part)) if field.name not in ("name", "body")]
            tails = {"W_N": 1, "slip": 1, "zeta_T": 1, "W_T": 2}
            if isinstance(part, NumericFriction):
                tails = {"W_T": 1}
            return attrs.evolve(part, **{name: taken(getattr(part, name), tails.get(name, 0)) for name in names})

        return NumericState(
            np.asarray(taken(self.M, 2)),
            np.asarray(taken(self.h, 1)),
            [parts(contact) for contact in self.contacts],
            friction=[parts(element) for element in self.friction],
            J=taken(self.J, 2),
            zeta_B=taken(self.zeta_B, 1),
            v=taken(self.v, 1),
            sides=self.sides,
            name=self.name,
        )

    @property
    def bodies(self) -> dict[str, str]:
        """The rigid bodies of the contacts with what does not move, where they are given."""
        return {contact.name: contact.body for contact in self.contacts if contact.body}

    @cached_property
    def structure(self) -> ModelStructure:
        """Names of contacts, friction elements and constraints, and who has which tangential columns."""
        columns, first = {}, 0
        for name, size in (
            *((contact.name, contact.dimension) for contact in self.contacts),
            *((element.name, 1) for element in self.friction),
        ):
            if size:
                columns[name] = slice(first, first + size)
                first += size
        return ModelStructure(
            name=self.name,
            n=self.n,
            contacts=tuple(contact.name for contact in self.contacts),
            elements=tuple(element.name for element in self.friction),
            rigid=tuple(f"constraint {k + 1}" for k in range(0 if self.J is None else self.J.shape[-2])),
            columns=columns,
        )

    @cached_property
    def terms(self) -> Terms:
        """The same numbers as those of a declared mechanism at a state."""
        n, m = self.n, len(self.structure.rigid)
        J = np.zeros((0, n)) if self.J is None else self.J
        zeta_B = np.zeros(0) if self.zeta_B is None else self.zeta_B
        constraint_dot = np.zeros(m) if self.v is None else (J @ self.v[..., None])[..., 0]
        rough = [contact for contact in self.contacts if contact.W_T is not None]
        slips = [(contact.slip, contact.zeta_T, contact.W_T) for contact in rough]
        slips += [(e.slip[..., None], e.zeta_T[..., None], e.W_T[..., None]) for e in self.friction]
        return Terms(
            M=self.M,
            h=self.h,
            gap=_row([contact.gap for contact in self.contacts]),
            gap_dot=_row([contact.gap_dot for contact in self.contacts]),
            zeta_N=_row([contact.zeta_N for contact in self.contacts]),
            W_N=_beside([contact.W_N[..., None] for contact in self.contacts], (n,)),
            slip=_beside([slip for slip, _, _ in slips if slip is not None], ()),
            zeta_T=_beside(
                [np.zeros(W.shape[-1]) if zeta is None else zeta for _, zeta, W in slips if W is not None], ()
            ),
            W_T=_beside([W for _, _, W in slips if W is not None], (n,)),
            constraint=np.zeros(m),
            constraint_dot=constraint_dot,
            zeta_B=zeta_B,
            J=J,
            friction=_row([contact.friction for contact in self.contacts]),
            static_friction=_row(
                [c.friction if c.static_friction is None else c.static_friction for c in self.contacts]
            ),
            restitution=_row([contact.restitution for contact in self.contacts]),
            damping=_row([contact.damping for contact in self.contacts]),
            stiffness_ratio=_row([contact.stiffness_ratio for contact in self.contacts]),
            limit=_row([element.limit for element in self.friction]),
            static_limit=_row([e.limit if e.static_limit is None else e.static_limit for e in self.friction]),
            constraint_friction=np.zeros(m),
            mean_T=np.zeros(sum(W.shape[-1] for _, _, W in slips if W is not None)),
        )


def _row(values: list[Array]) -> Array:
    """Numbers (..., k) of k parts."""
    return _beside([np.asarray(value)[..., None] for value in values], ())


def _beside(arrays: list[Array], rows: tuple[int, ...]) -> Array:
    """Arrays (..., *rows, p) next to each other along their last axis."""
    if not arrays:
        return np.zeros((*rows, 0))
    tail = 1 + len(rows)
    lead = np.broadcast_shapes(*(array.shape[: array.ndim - tail] for array in arrays))
    return np.concatenate([np.broadcast_to(array, (*lead, *array.shape[array.ndim - tail :])) for array in arrays], -1)


def _frame(wrong: NDArray[np.bool_], tail: int) -> str:
    """Where along one leading axis something is wrong."""
    if wrong.ndim != tail + 1:
        return ""
    frames = np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1))
    return f" in frame {frames[0]}" + (f" and {len(frames) - 1} more" if len(frames) > 1 else "")
