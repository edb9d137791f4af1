"""The equations of a mechanism as nodes of one graph of expressions, read from the texts of its declaration."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.declaration.parts import EquationDynamics
from hybrid.declaration.tree import read_with_definitions
from hybrid.dynamics.arithmetic import is_finite
from hybrid.expressions import (
    Builder,
    Graph,
    Nodes,
    Program,
    compile_program,
    derivative,
    dot,
    gradient,
    jacobian,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.declaration.mechanism import Constraint, Contact, Mechanism
    from hybrid.declaration.parts import AbstractFriction

__all__ = ["TIME", "Equations", "Reader", "Terms", "equations_of"]


@attrs.frozen(eq=False)
class Equations:
    """Equations of motion and contact kinematics of a mechanism.

    ``M v' = h + W_N lambda_N + W_T lambda_T + J^T lambda_B`` (Pfeiffer and Glocker 1996, eq. 2.1), with the contact
    velocities ``gap_dot = W_N^T v + drift`` and ``slip = W_T^T v + drift``, and the contact accelerations
    ``W_N^T v' + zeta_N`` and ``W_T^T v' + zeta_T``. All arrays hold nodes of ``graph``.

    Attributes
    ----------
    graph : Graph
    coordinates, velocities : tuple of int, length n
    time : int
    parameters : mapping of str to int
        Their values are put in at evaluation.
    columns : mapping of str to slice
        Of ``slip``, ``zeta_T`` and ``W_T``: those of each force element that has tangential directions.
    M, h : array of int, (n, n) and (n,)
        Mass matrix; all generalised forces but those of contacts and constraints, and ``W_T mean_T``.
    gap, gap_dot, zeta_N : array of int, (k,)
        Signed distances, their rates, and the part of their accelerations that is not ``W_N^T v'``.
    W_N : array of int, (n, k)
        Normal force directions.
    slip, zeta_T : array of int, (p,)
        Tangential velocities and the part of their accelerations that is not ``W_T^T v'``.
    W_T : array of int, (n, p)
        Tangential force directions.
    constraint, constraint_dot, zeta_B : array of int, (m,)
        Rigid bilateral constraints, their rates, and acceleration remainders.
    J : array of int, (m, n)
        Constraint Jacobian.
    coefficients : mapping of str to array of int
        ``friction``, ``static_friction``, ``restitution``, ``damping``, ``stiffness_ratio`` (k,); ``limit``,
        ``static_limit`` (number of friction elements,); ``constraint_friction`` (m,); ``mean_T`` (p,).
    energy : array of int, (2,)
        Jacobi's energy and the power that enters it other than through contacts and constraints.
    """

    graph: Graph = attrs.field(repr=False)
    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]
    time: int
    parameters: Mapping[str, int]
    columns: Mapping[str, slice]
    M: Nodes
    h: Nodes
    gap: Nodes
    gap_dot: Nodes
    zeta_N: Nodes
    W_N: Nodes
    slip: Nodes
    zeta_T: Nodes
    W_T: Nodes
    constraint: Nodes
    constraint_dot: Nodes
    zeta_B: Nodes
    J: Nodes
    coefficients: Mapping[str, Nodes]
    energy: Nodes

    @property
    def state(self) -> list[int]:
        """Coordinates, velocities and time, in the order in which compiled functions take them."""
        return [*self.coordinates, *self.velocities, self.time]

    @property
    def arguments(self) -> list[int]:
        """Every name, in the order in which compiled functions take them."""
        return [*self.state, *self.parameters.values()]

    def terms(self) -> dict[str, Nodes]:
        """Nodes of every quantity of :class:`Terms`, in its order.

        Returns
        -------
        dict of str to array of int
            By name; shapes as in :class:`Terms`, at one state.
        """
        motion = ("M", "h", "gap", "gap_dot", "zeta_N", "W_N", "slip", "zeta_T", "W_T")
        names = (*motion, "constraint", "constraint_dot", "zeta_B", "J")
        return {name: getattr(self, name) for name in names} | dict(self.coefficients)

    def program(self, build: Builder, results: Sequence[int], *, extra: Sequence[int] = ()) -> Program:
        """Compile nodes into a function of time and state.

        Parameters
        ----------
        build : Builder
            Of this graph, with what was added to it.
        results : sequence of int
            Nodes of what the function gives.
        extra : sequence of int, optional
            Nodes of names whose values are given at every call besides time and state.

        Returns
        -------
        Program
            Bound to values of the parameters it takes the time, the state ``(q, v)``, (2n,), and values of ``extra``.
        """
        return compile_program(
            build.graph(),
            results,
            state=self.state[:-1],
            time=self.time,
            parameters=list(self.parameters.values()),
            extra=extra,
        )

    @property
    def roots(self) -> list[int]:
        """Nodes of the equations of motion, gaps, slips and constraints; what else there is are their derivatives."""
        blocks = (self.M, self.h, self.gap, self.slip, self.constraint, *self.coefficients.values())
        return [int(node) for block in blocks for node in block.ravel()]

    @cached_property
    def all_names(self) -> frozenset[str]:
        """The names on which any term of the equations depends."""
        return self.graph.names(self.roots)

    def names(self, *blocks: Nodes) -> frozenset[str]:
        """The names that occur in arrays of nodes.

        Parameters
        ----------
        *blocks : array of int, (...)
            Nodes of this graph, in any shape.

        Returns
        -------
        frozenset of str
            Coordinates, velocities, parameters and ``t``, as they are declared.

        Examples
        --------
        >>> import mechanisms
        >>> rod = equations_of(mechanisms.load("rod_on_incline"))
        >>> sorted(rod.names(rod.gap))
        ['l', 'phi', 'y']
        """
        return self.graph.names(int(node) for block in blocks for node in np.ravel(block))


@attrs.frozen(eq=False)
class Terms:
    """Every term of the equations of motion and of the contact kinematics at one or many states.

    ``...`` stands for the broadcast axes of the states; a quantity that does not vary along an axis has length 1 there.
    Generalised forces and accelerations have the units of the coordinates; gaps and slips those of the declaration.

    Attributes
    ----------
    M, h : array, (..., n, n) and (..., n)
        Mass matrix and all forces but those of contacts and constraints; ``W_T mean_T`` is one of them.
    gap, gap_dot, zeta_N : array, (..., k)
        Signed distances, their rates, acceleration remainders.
    W_N : array, (..., n, k)
    slip, zeta_T, mean_T : array, (..., p)
        Tangential velocities, acceleration remainders, and forces in the middle of two limits, from which the equations
        of motion count ``lambda_T`` and ``limit``; the columns of each force element are ``Dynamics.columns``.
    W_T : array, (..., n, p)
    constraint, constraint_dot, zeta_B : array, (..., m)
    J : array, (..., m, n)
    friction, static_friction, restitution, damping, stiffness_ratio : array, (..., k)
        Of every contact, as declared; damping in sqrt(kg).
    limit, static_limit : array, (..., number of friction elements)
    constraint_friction : array, (..., m)
    """

    M: NDArray[Any]
    h: NDArray[Any]
    gap: NDArray[Any]
    gap_dot: NDArray[Any]
    zeta_N: NDArray[Any]
    W_N: NDArray[Any]
    slip: NDArray[Any]
    zeta_T: NDArray[Any]
    W_T: NDArray[Any]
    constraint: NDArray[Any]
    constraint_dot: NDArray[Any]
    zeta_B: NDArray[Any]
    J: NDArray[Any]
    friction: NDArray[Any]
    static_friction: NDArray[Any]
    restitution: NDArray[Any]
    damping: NDArray[Any]
    stiffness_ratio: NDArray[Any]
    limit: NDArray[Any]
    static_limit: NDArray[Any]
    constraint_friction: NDArray[Any]
    mean_T: NDArray[Any]

    @property
    def undefined(self) -> str | None:
        """Name of the first quantity that has no finite value; None if all have one."""
        whole = self.M.base  # of which the quantities at one state are parts
        blocks = _BLOCKS(self)
        if whole is not None and is_finite(whole) and all(block.base is whole for block in blocks):
            return None
        return next((name for name, block in zip(_QUANTITIES, blocks, strict=True) if not is_finite(block)), None)


_QUANTITIES = tuple(field.name for field in attrs.fields(Terms))
_BLOCKS = operator.attrgetter(*_QUANTITIES)


@checks_arguments
def equations_of(mechanism: Mechanism) -> Equations:
    """The equations of a mechanism.

    Energies give Lagrange's equations of the second kind; an explicit mass matrix and force vector are taken as they
    are. Elastic constraints (those with a stiffness) enter as the potential ``k f^2 / 2``.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    Equations
    """
    reader = Reader(Builder(), mechanism)
    build, q, v = reader.build, reader.coordinates, reader.velocities
    rigid = [constraint for constraint in mechanism.constraint if constraint.stiffness is None]
    M, h, energy = _equations_of_motion(reader)
    gap = reader.column(contact.gap for contact in mechanism.contact)
    constraint = reader.column(item.equation for item in rigid)
    gap_dot, constraint_dot = _rate(reader, gap), _rate(reader, constraint)
    slip, columns = _slip_velocities(reader)
    W_T, coefficients = jacobian(build, slip, v).T, _coefficients(reader, rigid)
    mean_T, limits = _friction_ranges(reader, len(slip))
    blocks = {
        "M": M,
        "h": _with_forces(build, h, W_T, mean_T),
        "gap": gap,
        "gap_dot": gap_dot,
        "zeta_N": _collected(build, _rate(reader, gap_dot)),
        "W_N": jacobian(build, gap, q).T,
        "slip": slip,
        "zeta_T": _collected(build, _rate(reader, slip)),
        "W_T": W_T,
        "constraint": constraint,
        "constraint_dot": constraint_dot,
        "zeta_B": _collected(build, _rate(reader, constraint_dot)),
        "J": jacobian(build, constraint, q),
        "energy": np.array(energy, dtype=np.intp),
    }
    return Equations(
        coordinates=q,
        velocities=v,
        time=reader.time,
        parameters={name: build.name(name) for name in mechanism.parameters},
        columns=columns,
        coefficients=coefficients | limits | {"mean_T": mean_T},
        **blocks,
        graph=build.graph(),
    )


def _rate(reader: Reader, nodes: Nodes) -> Nodes:
    """Rate of change of functions of position and time, at fixed velocities."""
    directions = dict(zip(reader.coordinates, reader.velocities, strict=True))
    return derivative(reader.build, nodes, {**directions, reader.time: reader.build.number(1)})


def _collected(build: Builder, nodes: Nodes) -> Nodes:
    return np.array([build.collected(int(node)) for node in nodes.ravel()], dtype=np.intp).reshape(nodes.shape)


def _equations_of_motion(reader: Reader) -> tuple[Nodes, Nodes, list[int]]:
    mechanism, build = reader.mechanism, reader.build
    q, v = reader.coordinates, reader.velocities
    applied = reader.column(mechanism.forces.get(name, "0") for name in mechanism.coordinates)
    elastic = build.number(0)
    half = build.divide(build.number(1), build.number(2))
    for item in mechanism.constraint:
        if item.stiffness is not None:
            f = reader.expression(item.equation)
            stored = build.multiply(reader.expression(item.stiffness), build.multiply(f, f))
            elastic = build.add(elastic, build.multiply(half, stored))
    declared = mechanism.dynamics
    if isinstance(declared, EquationDynamics):
        M = np.array([[reader.expression(entry) for entry in row] for row in declared.mass_matrix], dtype=np.intp)
        forces = zip(reader.column(declared.forces), applied, gradient(build, elastic, q), strict=True)
        h = [build.subtract(build.add(force, more), spring) for force, more, spring in forces]
        kinetic = build.multiply(half, dot(build, v, [dot(build, row, v) for row in M]))
        power = dot(build, v, h, int(_rate(reader, np.array([kinetic]))[0]))
        return M.reshape(len(q), len(q)), _collected(build, np.array(h, dtype=np.intp)), [kinetic, power]
    kinetic = reader.expression(declared.kinetic)
    potential = build.add(reader.expression(declared.potential), elastic)
    lagrangian = build.subtract(kinetic, potential)
    momentum = gradient(build, kinetic, v)
    M = np.zeros((len(q), len(q)), dtype=np.intp)
    for j, x in enumerate(v):
        M[: j + 1, j] = M[j, : j + 1] = derivative(build, momentum[: j + 1], {x: build.number(1)})
    rates = zip(gradient(build, lagrangian, q), _rate(reader, momentum), applied, strict=True)
    h = [build.add(build.subtract(force, inertia), more) for force, inertia, more in rates]
    energy = build.add(build.subtract(dot(build, momentum, v), kinetic), potential)
    power = dot(build, applied, v)
    loss = derivative(build, [lagrangian], {reader.time: build.number(1)})[0]
    balance = [build.collected(energy), build.subtract(power, int(loss))]
    return M, _collected(build, np.array(h, dtype=np.intp)), balance


def _slip_velocities(reader: Reader) -> tuple[Nodes, dict[str, slice]]:
    """Slips (p,), and which of them belong to each force element."""
    entries: list[int] = []
    columns: dict[str, slice] = {}
    mechanism = reader.mechanism
    frictional = [item for item in mechanism.constraint if item.friction is not None]
    elements: list[Contact | AbstractFriction | Constraint] = [*mechanism.contact, *mechanism.friction, *frictional]
    for element in elements:
        first = len(entries)
        if element.slip:
            entries.extend(reader.column(_texts_of(element.slip)).tolist())
        elif element.tangent:
            entries.extend(_rate(reader, reader.column(_texts_of(element.tangent))).tolist())
        if len(entries) > first:
            columns[element.name] = slice(first, len(entries))
    return np.array(entries, dtype=np.intp), columns


def _coefficients(reader: Reader, rigid: list[Constraint]) -> dict[str, Nodes]:
    contacts = reader.mechanism.contact
    texts: dict[str, Iterable[str]] = {
        "friction": (c.friction for c in contacts),
        "static_friction": (c.static_friction or c.friction for c in contacts),
        "restitution": (c.restitution for c in contacts),
        "damping": (c.damping for c in contacts),
        "stiffness_ratio": (c.stiffness_ratio for c in contacts),
        "constraint_friction": (c.friction or "0" for c in rigid),
    }
    return {name: reader.column(entries) for name, entries in texts.items()}


def _friction_ranges(reader: Reader, p: int) -> tuple[Nodes, dict[str, Nodes]]:
    """Middle of the range of every tangential force (p,), and how far friction elements reach to either side of it."""
    build, elements = reader.build, reader.mechanism.friction
    two, means, reach, static = build.number(2), [], [], []
    for element in elements:
        ahead, back = (reader.expression(text) for text in element.limits)
        is_even = ahead == back
        means.append(build.number(0) if is_even else build.divide(build.subtract(back, ahead), two))
        reach.append(ahead if is_even else build.divide(build.add(ahead, back), two))
        static.append(reader.expression(element.static_limit) if element.static_limit else reach[-1])
    after = sum(item.friction is not None for item in reader.mechanism.constraint)
    before = p - after - len(elements)
    middle = [*[build.number(0)] * before, *means, *[build.number(0)] * after]
    columns = {"limit": reach, "static_limit": static}
    return np.array(middle, dtype=np.intp), {name: np.array(c, dtype=np.intp) for name, c in columns.items()}


def _with_forces(build: Builder, h: Nodes, W_T: Nodes, mean_T: Nodes) -> Nodes:
    """Generalised forces with those of friction in the middle of its range."""
    zero = build.number(0)
    acting = [column for column, node in enumerate(mean_T) if node != zero]
    if not acting:
        return h
    pushes = [dot(build, row[acting], mean_T[acting]) for row in W_T]
    return _collected(build, np.array([build.add(*pair) for pair in zip(h, pushes, strict=True)], dtype=np.intp))


TIME = "t"


@attrs.frozen(eq=False)
class Reader:
    """Reads the texts of one mechanism into one builder; definitions are nodes that all of them share."""

    build: Builder
    mechanism: Mechanism
    _known: dict[str, int] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        mechanism = self.mechanism
        for name in (*mechanism.coordinates, *mechanism.velocities, TIME, *mechanism.parameters):
            self._known[name] = self.build.name(name)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The nodes of the coordinates."""
        return tuple(self._known[name] for name in self.mechanism.coordinates)

    @property
    def velocities(self) -> tuple[int, ...]:
        """The nodes of the velocities."""
        return tuple(self._known[name] for name in self.mechanism.velocities)

    @property
    def time(self) -> int:
        """The node of time."""
        return self._known[TIME]

    def expression(self, text: str, *, field: str = "") -> int:
        """The node of a text in the mechanism's names.

        Raises
        ------
        DeclarationError
            It is no expression, or is infinite, undefined or not real whatever the state.
        """
        parsed = self.mechanism.expression(text, field=field)
        return read_with_definitions(self.build, parsed, self._known, self.mechanism.read_definitions)

    def column(self, texts: Iterable[str]) -> Nodes:
        """Nodes of several texts, (number of texts,)."""
        return np.array([self.expression(text) for text in texts], dtype=np.intp)


def _texts_of(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    """One text or several, as several."""
    return (texts,) if isinstance(texts, str) else texts
