"""States that pins fix, as nodes: coordinates and velocities in terms of the axes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.analysis.maps.axes import Axis, placed
from hybrid.contact.known_numbers import known_number
from hybrid.declaration import parse_expression
from hybrid.declaration.tree import read, read_with_definitions
from hybrid.dynamics.state import Pins, read_one_number, sort_pins
from hybrid.expressions import Builder, determinant, jacobian

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.declaration.tree import Expression
    from hybrid.dynamics.derive import Dynamics

__all__ = ["NodeStates", "node_states", "number_node"]


@attrs.frozen(eq=False)
class NodeStates:
    """Every state over some axes.

    Attributes
    ----------
    dynamics : Dynamics
    build : Builder
        Of the mechanism's graph.
    axes : tuple of Axis
    pins : Pins
        With the axes at their middles.
    names : tuple of int
        Nodes of the axes, then of coordinates that are not known in closed form.
    values : mapping of int to int
        What coordinates, velocities, time and parameters are, in terms of these names.
    conditions : tuple of int
        Nodes that vanish, as many as coordinates that are not known in closed form.
    required : tuple of int
        Nodes that do not vanish where the pins fix one state.
    pinned : mapping of str to int
        Nodes of what is pinned, and of the axes.
    """

    dynamics: Dynamics
    build: Builder
    axes: tuple[Axis, ...]
    pins: Pins
    names: tuple[int, ...]
    values: Mapping[int, int]
    conditions: tuple[int, ...]
    required: tuple[int, ...]
    pinned: Mapping[str, int]

    def at(self, node: int) -> int:
        """A node of the equations in terms of the names."""
        return self.build.replaced(int(node), self.values)

    def measured(self, name: str, node: int) -> int:
        """A quantity as it is pinned, else by its node: solved velocities give what is pinned only in value."""
        return self.pinned[name] if name in self.pinned else self.at(node)


def number_node(build: Builder, value: float) -> int:
    """The number that a float was written as, or the float itself.

    Parameters
    ----------
    build : Builder
    value : float

    Returns
    -------
    int
        A node.
    """
    known = known_number(value)
    return build.number(Fraction(value) if known is None else known)


def node_states(dynamics: Dynamics, axes: Sequence[Axis], *, pins: Mapping[str, Any]) -> NodeStates:
    """Solve pins for the coordinates and velocities, as nodes.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis
    pins : mapping of str to float or str
        What is fixed besides.

    Returns
    -------
    NodeStates

    Raises
    ------
    StateError, DeclarationError
        Bad pins, or parameters out of their ranges in the middle of the axes.
    """
    for name, value in pins.items():
        if not isinstance(value, str):
            read_one_number(f"pin {name}", value, {})
    at, middle = placed(dynamics, axes, [(axis.low + axis.high) / 2 for axis in axes], pins=pins)
    sorted_pins = sort_pins(
        middle, {name: value if isinstance(value, str) else float(value) for name, value in at.items()}
    )
    build = Builder(dynamics.equations.graph)
    axis_nodes = {axis.name: build.name(axis.name) for axis in axes}
    known = _parameters(build, dynamics, axis_nodes)
    texts = {name: value for name, value in pins.items() if isinstance(value, str)}
    pinned = _pinned(build, dynamics, sorted_pins, texts, known) | axis_nodes
    return _Solver(dynamics, build, tuple(axes), sorted_pins, known, pinned).solved()


def _pinned(
    build: Builder, dynamics: Dynamics, pins: Pins, texts: Mapping[str, str], parameters: Mapping[int, int]
) -> dict[str, int]:
    """Nodes of the values of all pins; expressions of parameters follow these."""
    known = {name: parameters[node] for name, node in dynamics.equations.parameters.items()}
    found = {}
    for name, value in {**pins.positions, **pins.velocities, "t": pins.time}.items():
        contact = name.split(".")[1] if name.startswith("slip.") else ""
        if name in texts and contact not in pins.sides:
            expression = parse_expression(texts[name], known=known.keys(), field=f"pin {name}")
            own = {other: known[other] for other in expression.names if other in known}
            found[name] = read(build, expression, own)
        else:
            found[name] = number_node(build, float(value))
    return found


def _parameters(build: Builder, dynamics: Dynamics, axis_nodes: Mapping[str, int]) -> dict[int, int]:
    """Nodes of the values of all parameters; expressions of a replaced one follow it."""
    declared: Mapping[str, Any] = {name: item.value for name, item in dynamics.mechanism.parameters.items()}
    given = {**declared, **dynamics.given}
    found: dict[str, int] = {name: node for name, node in axis_nodes.items() if name in given}
    texts: dict[str, Expression] = {}
    for name, value in given.items():
        if name in found:
            continue
        if isinstance(value, str):
            texts[name] = parse_expression(value, known=given.keys(), field=name)
        else:
            found[name] = number_node(build, float(value))
    for name, expression in texts.items():
        found[name] = read_with_definitions(build, expression, found, texts)
    return {dynamics.equations.parameters[name]: node for name, node in found.items()}


@attrs.frozen(eq=False)
class _Solver:
    dynamics: Dynamics
    build: Builder
    axes: tuple[Axis, ...]
    pins: Pins
    parameters: Mapping[int, int]
    pinned: Mapping[str, int]

    def solved(self) -> NodeStates:
        equations, build = self.dynamics.equations, self.build
        values = dict(self.parameters) | {equations.time: self.pinned["t"]}
        names = [build.name(axis.name) for axis in self.axes]
        required: list[int] = []
        places = dict(zip(self.dynamics.mechanism.coordinates, equations.coordinates, strict=True))
        values |= {node: self.pinned[name] for name, node in places.items() if name in self.pins.positions}
        free = [node for name, node in places.items() if name not in self.pins.positions]
        conditions = self._conditions(values)
        if free and self._is_affine(conditions, free):
            solution, divisor = self._linear(conditions, free)
            values |= solution
            required.append(divisor)
            conditions = []
        else:
            names += free
        speeds = dict(zip(self.dynamics.mechanism.velocities, equations.velocities, strict=True))
        values |= {node: self.pinned[name] for name, node in speeds.items() if name in self.pins.velocities}
        moving = [node for name, node in speeds.items() if name not in self.pins.velocities]
        rates = self._rates(values)
        solution, divisor = self._linear(rates, moving)
        values |= solution
        required.append(divisor)
        return NodeStates(
            self.dynamics, build, self.axes, self.pins, tuple(names), values, tuple(conditions), tuple(required),
            self.pinned,
        )  # fmt: skip

    def _conditions(self, values: Mapping[int, int]) -> list[int]:
        """What vanishes at a position that meets the pins and the constraints."""
        equations, build = self.dynamics.equations, self.build
        found = []
        for name in self.pins.positions:
            if name.startswith("gap."):
                gap = build.replaced(int(equations.gap[self.dynamics.contacts.index(name[4:])]), values)
                found.append(build.subtract(gap, self.pinned[name]))
        found += [build.replaced(int(equations.constraint[row]), values) for row in self.pins.independent]
        return found

    def _is_affine(self, conditions: Sequence[int], free: Sequence[int]) -> bool:
        slopes = jacobian(self.build, conditions, free)
        names = {str(self.build.graph().values[node]) for node in free}
        return self.build.graph().names(slopes.ravel()).isdisjoint(names)

    def _linear(self, conditions: Sequence[int], unknown: Sequence[int]) -> tuple[dict[int, int], int]:
        """Solve conditions that are linear in some names, by Cramer's rule; their determinant."""
        build = self.build
        at_zero = {node: build.number(0) for node in unknown}
        A = [[int(entry) for entry in row] for row in jacobian(build, conditions, unknown)]
        rest = [build.replaced(condition, at_zero) for condition in conditions]
        divisor = determinant(build, A)
        found = {}
        for place, node in enumerate(unknown):
            columns = [
                [*row[:place], build.negate(value), *row[place + 1 :]] for row, value in zip(A, rest, strict=True)
            ]
            found[node] = build.divide(determinant(build, columns), divisor)
        return found, divisor

    def _rates(self, values: Mapping[int, int]) -> list[int]:
        """What vanishes at a velocity that meets the pins and the constraints."""
        equations, build, dynamics = self.dynamics.equations, self.build, self.dynamics
        found = []
        for name in self.pins.velocities:
            if name in dynamics.mechanism.velocities:
                continue
            if name.startswith("gap_dot."):
                node = int(equations.gap_dot[dynamics.contacts.index(name.removeprefix("gap_dot."))])
            else:
                parts = name.split(".")
                node = int(
                    equations.slip[dynamics.columns[parts[1]].start + (int(parts[2]) - 1 if len(parts) == 3 else 0)]
                )
            found.append(build.subtract(build.replaced(node, values), self.pinned[name]))
        found += [build.replaced(int(equations.constraint_dot[row]), values) for row in self.pins.independent]
        return found
