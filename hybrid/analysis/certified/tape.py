"""Nodes of a graph as a tape of interval operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.arithmetic import OPERATIONS, evaluate

if TYPE_CHECKING:
    from hybrid.expressions import Graph

__all__ = ["Tape", "enclosed", "tape_of"]

_LANES = 128  # boxes that are worked on together: their registers stay in the cache


@attrs.frozen(eq=False)
class Tape:
    """Operations on intervals, one after the other.

    Attributes
    ----------
    codes : array of int64, (o,)
    places : array of int64, (o, 4)
    constants : mapping of int to pair of float
        Registers that hold enclosed numbers.
    outputs : array of int64, (m,)
    n_registers : int
    """

    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    constants: Mapping[int, tuple[float, float]]
    outputs: NDArray[np.int64]
    n_registers: int

    def __call__(self, boxes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Enclose the values over boxes.

        Parameters
        ----------
        boxes : array, (N, k, 2)
            Lower and upper ends.

        Returns
        -------
        values : array, (N, m, 2)
        broken : array of bool, (N,)
            Where an operation is undefined, or jumps, somewhere in the box.
        """
        registers = np.zeros((self.n_registers, 2, _LANES))
        for register, (low, high) in self.constants.items():
            registers[register, 0], registers[register, 1] = low, high
        values = np.empty((len(boxes), len(self.outputs), 2))
        broken = np.zeros(len(boxes), dtype=np.bool_)
        evaluate(self.codes, self.places, registers, self.outputs, np.ascontiguousarray(boxes), values, broken)
        return values, broken


def enclosed(value: int | Fraction) -> tuple[float, float]:
    """The floats next to a number.

    Parameters
    ----------
    value : int or Fraction

    Returns
    -------
    low, high : float
        Equal if the number is a float itself.

    Examples
    --------
    >>> enclosed(Fraction(1, 4))
    (0.25, 0.25)
    >>> low, high = enclosed(Fraction(1, 3))
    >>> Fraction(low) < Fraction(1, 3) < Fraction(high)
    True
    """
    try:
        near = float(value)
    except OverflowError:
        return (float(np.finfo(float).max), np.inf) if value > 0 else (-np.inf, -float(np.finfo(float).max))
    exact = Fraction(near)
    low = near if exact <= value else float(np.nextafter(near, -np.inf))
    return low, near if exact >= value else float(np.nextafter(near, np.inf))


def tape_of(graph: Graph, roots: Sequence[int], inputs: Sequence[int]) -> Tape:
    """The operations by which nodes are computed from some names.

    Parameters
    ----------
    graph : Graph
    roots : sequence of int, length m
    inputs : sequence of int, length k
        Nodes of names, in the order of the axes of the boxes.

    Returns
    -------
    Tape

    Raises
    ------
    KeyError
        A root depends on another name.
    """
    return _TapeWriter(graph, [int(root) for root in roots], [int(node) for node in inputs]).tape()


@attrs.define
class _TapeWriter:
    graph: Graph
    roots: list[int]
    inputs: list[int]
    place: dict[int, int] = attrs.field(factory=dict)
    constants: dict[int, tuple[float, float]] = attrs.field(factory=dict)
    lines: list[tuple[int, int, int, int, int]] = attrs.field(factory=list)
    free: list[int] = attrs.field(factory=list)
    n_registers: int = 0

    def tape(self) -> Tape:
        order = self.graph.needed(self.roots)
        last = {argument: node for node in order for argument in self.graph.arguments[node]}
        kept = {*self.roots, *self.inputs}
        for node in self.inputs:
            self.place[node] = self._register()
        for node in order:
            value = self.graph.values[node]
            if isinstance(value, int | Fraction) or self.graph.operations[node] == "pi":
                self.place[node] = self._register()
                bounds = enclosed(value) if isinstance(value, int | Fraction) else _PI
                self.constants[self.place[node]] = bounds
                kept.add(node)
        for node in order:
            if node in self.place:
                continue
            if not self.graph.arguments[node]:
                raise KeyError(self.graph.values[node])
            self.place[node] = self._written(node)
            for argument in set(self.graph.arguments[node]):
                if last[argument] == node and argument not in kept:
                    self.free.append(self.place[argument])
        codes = np.array([line[0] for line in self.lines], dtype=np.int64)
        places = np.array([line[1:] for line in self.lines], dtype=np.int64).reshape(-1, 4)
        outputs = np.array([self.place[root] for root in self.roots], dtype=np.int64)
        return Tape(codes, places, self.constants, outputs, self.n_registers)

    def _register(self) -> int:
        if self.free:
            return self.free.pop()
        self.n_registers += 1
        return self.n_registers - 1

    def _line(self, operation: str, first: int, second: int, result: int, exponent: int = 0) -> None:
        self.lines.append((OPERATIONS[operation], first, second, result, exponent))

    def _written(self, node: int) -> int:
        operation, arguments = self.graph.operations[node], self.graph.arguments[node]
        first, *others = [self.place[argument] for argument in arguments]
        result = self._register()
        if operation == "**":
            exponent = self.graph.values[arguments[1]]
            if isinstance(exponent, int):
                self._line("**", first, first, result, exponent)
            else:
                self._line("root", first, others[0], result)
        elif not others:
            self._line(operation, first, first, result)
        else:
            for other in others:  # a sum or product of many is taken two at a time
                self._line(operation, first, other, result)
                first = result
        return result


_PI = (float(np.pi), float(np.nextafter(np.pi, 4.0)))  # the float lies below pi
