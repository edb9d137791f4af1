"""The conditions of every mode as signs of functions of the axes.

With the equations ``E x + e = 0`` of a mode, an inequality ``a.x + b >= 0`` is the quotient of two determinants, of
``[[E, e], [a, b]]`` and of ``E`` (Schur's complement): its sign needs no division, and modes share their determinants.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.analysis.certified.equality import shared_solutions
from hybrid.analysis.certified.motion_equations import MotionEquations, motion_equations
from hybrid.analysis.certified.zeros import may_vanish, seems_zero, vanishes
from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind, Mode, ModeConditions, Row, solvable_modes
from hybrid.contact.table import ForceElement, force_elements
from hybrid.errors import ComputationError, StateError
from hybrid.expressions import Builder, Nodes, Term, determinant, dot, solve_definite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hybrid.analysis.maps.node_states import NodeStates

__all__ = ["Clause", "ModeClauses", "SignConditions", "sign_conditions"]

MAX_MODES = 16
"""Combinations of modes at most: those of two planar contacts at rest."""

MAX_LABELS = 60
"""Different modes at most, over all directions of slip: a set of them is a number of 64 bits."""

_FEW = 4  # coordinates, up to which determinants are short
_NEXT_TO_NOTHING = Fraction(1, 10**300)


@attrs.frozen
class Clause:
    """A product of functions that must not be negative.

    Attributes
    ----------
    functions : tuple of int
        Numbers of the functions.
    sign : int
        1 or -1, by which the product is multiplied; 0 for a product that vanishes identically.
    why : str
        What is the case where it is not positive, of a clause that is required.
    """

    functions: tuple[int, ...]
    sign: int
    why: str = attrs.field(default="", eq=False)


@attrs.frozen(eq=False)
class ModeClauses:
    """When a mode is consistent.

    Attributes
    ----------
    label : str
    directions : tuple of Clause
        Which way contacts slip.
    determinant : Clause
        Of the equations.
    numerators : tuple of Clause
        Those of the inequalities: all have the sign of the determinant.
    shared : tuple of tuple of int
        Modes with the same solution, where each numerator vanishes.
    independence : Clause
        Gram's determinant of the directions of the forces that press: where it vanishes, forces may not be unique.
    """

    label: str
    directions: tuple[Clause, ...]
    determinant: Clause
    numerators: tuple[Clause, ...]
    shared: tuple[tuple[int, ...], ...]
    independence: Clause


@attrs.frozen(eq=False)
class SignConditions:
    """Everything that decides the modes over a box.

    Attributes
    ----------
    functions : tuple of int
        Nodes.
    modes : tuple of ModeClauses
    open : tuple of Clause
        Gaps of contacts that are not pinned: where one is negative, the state is penetrating.
    required : tuple of Clause
        What is positive wherever a state exists: minors of the mass matrix, friction, squares of spatial slips.
    """

    functions: tuple[int, ...]
    modes: tuple[ModeClauses, ...]
    open: tuple[Clause, ...]
    required: tuple[Clause, ...]


def sign_conditions(states: NodeStates) -> SignConditions:
    """Write the conditions of all modes over the axes of some states.

    Parameters
    ----------
    states : NodeStates

    Returns
    -------
    SignConditions

    Raises
    ------
    StateError
        A contact is pinned neither open nor closed.
    ComputationError
        Spatial contacts at rest, redundant contacts, or too many modes.
    """
    return _ConditionWriter(states, motion_equations(states)).written()


@attrs.frozen(eq=False)
class _Participant:
    """A force element that takes part, and the signs of its slip that are possible."""

    element: ForceElement
    directions: tuple[tuple[Any, ...] | None, ...]
    slip: int | None
    friction: Any
    static_friction: Any

    @property
    def rests(self) -> bool:
        return bool(self.element.columns) and self.directions == (None,)


def _active(item: _Participant, direction: tuple[Any, ...] | None, first: int) -> ActiveElement:
    """A participant that slips one way, its rows from a given one on."""
    normal = first if item.element.has_normal else None
    start = first + (normal is not None)
    tangential = tuple(range(start, start + len(item.element.columns)))
    kind = item.element.kind
    return ActiveElement(item.element.name, kind, normal, tangential, direction, item.friction, item.static_friction)


@attrs.frozen(eq=False)
class _ConditionWriter:
    states: NodeStates
    motion: MotionEquations
    functions: dict[int, int] = attrs.field(factory=dict)

    @property
    def build(self) -> Builder:
        return self.states.build

    def written(self) -> SignConditions:
        participants, gaps, required = self._participants()
        fixed = (self.clause(node, square=True) for node in self.states.required)
        required += [*self._minors(), *(attrs.evolve(item, why="the pins do not fix one state") for item in fixed)]
        names = [item.name for item in force_elements(self.states.dynamics)]
        different = math.prod(
            len({mode.label for way in item.directions for mode in solvable_modes(_active(item, way, 0))})
            for item in participants
        )
        if different > MAX_LABELS:
            raise ComputationError(
                f"{different} different modes over all directions of slip; certified maps tell {MAX_LABELS} apart: "
                "pin slips"
            )
        modes: list[ModeClauses] = []
        for chosen in itertools.product(*(item.directions for item in participants)):
            modes += self._modes(participants, chosen, names, len(modes))
        open_, needed = tuple(map(self.clause, gaps)), tuple(_open(required))
        return SignConditions(tuple(self.functions), tuple(modes), open_, needed)  # all functions are numbered by now

    def clause(self, node: int, *, square: bool = False) -> Clause:
        """A node as a product of functions with a sign; of a square, zero is what counts."""
        counted, sign = self._factors(int(node))
        if square:
            return Clause(tuple(self._number(factor) for factor in counted) * 2, abs(sign))
        return Clause(tuple(self._number(factor) for factor, times in counted.items() for _ in range(times)), sign)

    def _number(self, node: int) -> int:
        return self.functions.setdefault(node, len(self.functions))

    def _factors(self, node: int) -> tuple[dict[int, int], int]:
        """Factors of a node that are no numbers, each once or twice, and the sign of the number before them."""
        build = self.build
        value = build.value(node)
        if value is not None:
            return {}, (value > 0) - (value < 0)
        operation, arguments = build.operation(node), build.arguments(node)
        counted: dict[int, int] = {}
        sign = 1
        if operation in ("*", "/"):
            for argument in arguments:
                inner, own = self._factors(argument)
                sign *= own
                for factor, times in inner.items():
                    counted[factor] = (counted.get(factor, 0) + times - 1) % 2 + 1
            return counted, sign
        if operation == "**" and isinstance(exponent := build.value(arguments[1]), int):
            inner, own = self._factors(arguments[0])
            n = abs(exponent)
            return {factor: (times * n - 1) % 2 + 1 for factor, times in inner.items()}, own**n
        return {node: 1}, 1

    def _participants(self) -> tuple[list[_Participant], list[int], list[Clause]]:
        states, equations = self.states, self.states.dynamics.equations
        found: list[_Participant] = []
        gaps: list[int] = []
        required: list[Clause] = []
        for item in force_elements(states.dynamics):
            if item.kind is ElementKind.CONTACT and not self._is_closed(item.name, gaps):
                continue
            factors = []
            for is_static in (False, True):
                node = states.at(equations.coefficients[item.friction_term(is_static=is_static)][item.index])
                value = self.build.value(node)
                factors.append(Term(self.build, node) if value is None else float(value) and Term(self.build, node))
                if item.columns and value is None:  # friction may vanish, at an end of its axis
                    above = self.clause(self.build.add(node, self.build.number(_NEXT_TO_NOTHING)))
                    required.append(attrs.evolve(above, why=f"the friction of {item.name} is negative"))
            found.append(self._directed(item, factors[0], factors[1], required))
            if found[-1].rests and isinstance(factors[1], Term) and any(may_vanish(states, [factors[1].node])):
                why = f"the friction of {item.name}, which rests, may vanish on a part of the box"
                required.append(attrs.evolve(self.clause(factors[1].node), why=why))
        return found, gaps, required

    def _is_closed(self, name: str, gaps: list[int]) -> bool:
        states = self.states
        gap, rate = states.pinned.get(f"gap.{name}"), states.pinned.get(f"gap_dot.{name}")
        if gap is None:
            found = self.build.collected(states.at(states.dynamics.equations.gap[states.dynamics.contacts.index(name)]))
            if seems_zero(states, found):
                raise StateError(f"the gap of {name} vanishes everywhere: pin gap.{name} at 0 in place of a coordinate")
            gaps.append(found)
            return False
        value, speed = self.build.value(gap), None if rate is None else self.build.value(rate)
        if value is None:
            raise StateError(f"gap.{name} is an axis, or follows one; pin it: 0 for a closed contact, or above 0")
        if value:
            if value < 0:
                raise StateError(f"gap.{name}: the contact penetrates everywhere")
            return False
        if speed is None:
            raise StateError(f"gap_dot.{name} is not pinned, or follows an axis; pin it at 0 for a closed contact")
        if speed < 0:
            raise StateError(f"gap_dot.{name}: the contact is struck everywhere")
        return speed == 0

    def _directed(self, item: ForceElement, friction: Any, static: Any, required: list[Clause]) -> _Participant:
        states, build, nodes = self.states, self.build, self.states.dynamics.equations.slip
        pins = [f"slip.{item.name}{axis}" for axis in ([""] if len(item.columns) == 1 else [".1", ".2"])]
        slips = [states.measured(pin, nodes[row]) for pin, row in zip(pins, item.columns, strict=False)]
        if not slips:
            return _Participant(item, (None,), None, friction, static)
        if item.name in states.pins.sides:
            side = states.pins.sides[item.name]
            given = tuple(side) if len(side) == 1 else tuple(Term(build, build.number(Fraction(part))) for part in side)
            return _Participant(item, (given,), None, friction, static)
        is_still = all(vanishes(build, build.collected(slip)) for slip in slips)
        if len(slips) == 2:
            if is_still:
                raise ComputationError(f"{item.name} is a spatial contact at rest, which has no finite set of modes")
            size = build.call("sqrt", dot(build, slips, slips))
            required.append(attrs.evolve(self.clause(size), why=f"the slip of {item.name} vanishes"))
            return _Participant(
                item, (tuple(Term(build, build.divide(slip, size)) for slip in slips),), None, friction, static
            )
        if is_still:
            if not isinstance(friction, Term) and not isinstance(static, Term):
                raise ComputationError(f"{item.name} rests without friction: its modes have no conditions of their own")
            return _Participant(item, (None,), None, friction, static)
        slip = build.collected(slips[0])
        value = build.value(slip)
        if value is None and seems_zero(states, slip):
            raise ComputationError(f"the slip of {item.name} seems to vanish everywhere, and is not known to: pin it")
        if value is not None:
            return _Participant(item, ((math.copysign(1.0, value),),), None, friction, static)
        return _Participant(item, ((1.0,), (-1.0,)), slip, friction, static)

    def _modes(
        self, participants: Sequence[_Participant], chosen: Sequence[Any], names: Sequence[str], first: int
    ) -> Iterator[ModeClauses]:
        elements, rows = [], 0
        for item, direction in zip(participants, chosen, strict=True):
            element = _active(item, direction, rows)
            rows += len(element.rows)
            elements.append(element)
        combinations = list(itertools.product(*map(solvable_modes, elements)))
        if len(combinations) > MAX_MODES:
            raise ComputationError(
                f"{len(combinations)} combinations of modes; certified maps decide {MAX_MODES} at most"
            )
        G, c = self._response(elements)
        signs = [
            attrs.evolve(clause, sign=clause.sign * int(direction[0]))
            for item, direction in zip(participants, chosen, strict=True)
            if item.slip is not None and direction is not None
            for clause in (self.clause(item.slip),)
        ]
        others = shared_solutions(combinations, self._node, self.build.negate)
        for modes, places in zip(combinations, others, strict=True):
            shared = tuple(tuple(first + place for place in own) for own in places)
            found = {mode.element.name: mode.label for mode in modes}
            label = Mode({name: found.get(name, ContactMode.FREE) for name in names}).label
            yield self._mode(label, modes, tuple(signs), shared, G, c)

    def _mode(
        self,
        label: str,
        modes: Sequence[ModeConditions],
        directions: tuple[Clause, ...],
        shared: tuple[tuple[int, ...], ...],
        G: Sequence[Sequence[int]],
        c: Sequence[int],
    ) -> ModeClauses:
        n_free = len(c) - sum(len(mode.element.rows) for mode in modes)
        held = [Row("a_B = 0", alpha={len(c) - n_free + k: 1.0}) for k in range(n_free)]
        equations = [self._line(row, G, c) for row in [row for mode in modes for row in mode.equations] + held]
        inequalities = [self._line(row, G, c) for mode in modes for row in mode.inequalities]
        E = [line[:-1] for line in equations]
        found = self._determinant(E)
        if self.build.value(found) == 0:
            raise ComputationError(f"the equations of mode {label} are singular everywhere: its contacts are redundant")
        return ModeClauses(
            label,
            directions,
            self.clause(found),
            tuple(self.clause(self._determinant([*equations, line])) for line in inequalities),
            shared,
            self.clause(determinant(self.build, self._gram(modes, G))),
        )

    def _determinant(self, rows: Sequence[Sequence[int]]) -> int:
        """The number zero where all terms cancel."""
        found = determinant(self.build, rows)
        gathered = self.build.collected(found)
        return gathered if self.build.value(gathered) == 0 else found

    def _gram(self, modes: Sequence[ModeConditions], G: Sequence[Sequence[int]]) -> list[list[int]]:
        """Inner products of the accelerations under the forces that the laws of a mode leave free."""
        build = self.build
        columns: dict[int, dict[int, int]] = {index: {index: build.number(1)} for index in range(len(G))}
        for mode in modes:
            for row in mode.equations:
                led = [index for index in row.beta if index in mode.element.tangential]
                followed = [index for index in row.beta if index not in led]
                for index in led or followed:
                    columns.pop(index, None)
                if led and followed and followed[0] in columns:
                    columns[followed[0]][led[0]] = build.negate(self._node(row.beta[followed[0]]))
        listed = list(columns.values())
        return [
            [
                build.total(
                    build.multiply(build.multiply(x, y), int(G[i][j])) for i, x in one.items() for j, y in two.items()
                )
                for two in listed
            ]
            for one in listed
        ]

    def _line(self, row: Row, G: Sequence[Sequence[int]], c: Sequence[int]) -> list[int]:
        """Coefficients of the forces, and the constant, of a condition."""
        build = self.build
        line = [self._node(0.0)] * (len(c) + 1)
        for index, value in row.alpha.items():
            factor = self._node(value)
            line = [
                build.add(entry, build.multiply(factor, int(own)))
                for entry, own in zip(line, [*G[index], c[index]], strict=True)
            ]
        for index, value in row.beta.items():
            line[index] = build.add(line[index], self._node(value))
        line[-1] = build.add(line[-1], self._node(row.constant))
        return line

    def _node(self, value: Any) -> int:
        return value.node if isinstance(value, Term) else self.build.number(Fraction(float(value)))

    def _response(self, elements: Sequence[ActiveElement]) -> tuple[list[list[int]], list[int]]:
        """Delassus operator and free accelerations of the rows of force elements, then of the other constraints."""
        states, build = self.states, self.build
        equations, dynamics = states.dynamics.equations, states.dynamics
        columns: list[Nodes] = []
        zeta: list[int] = []
        declared = {item.name: item for item in force_elements(dynamics)}
        for element in elements:
            item = declared[element.name]
            if item.kind is ElementKind.CONTACT:
                columns.append(self.motion.W_N[item.index])
                zeta.append(int(equations.zeta_N[item.index]))
            elif item.kind is ElementKind.BILATERAL:
                columns.append(self.motion.J[item.index])
                zeta.append(int(equations.zeta_B[item.index]))
            columns += [self.motion.W_T[column] for column in item.columns]
            zeta += [int(equations.zeta_T[column]) for column in item.columns]
        carried = {element.name for element in elements}
        for row in states.pins.independent:
            if dynamics.rigid[row] not in carried:
                columns.append(self.motion.J[row])
                zeta.append(int(equations.zeta_B[row]))
        W, M, h = [column.tolist() for column in columns], self.motion.M, self.motion.h.tolist()
        if len(h) <= _FEW:
            return self._scaled_response(M, h, W, [states.at(rest) for rest in zeta])
        a_free, *answers = solve_definite(build, M, [h, *W])
        G = [[build.collected(dot(build, column, answer)) for answer in answers] for column in W]
        c = [build.collected(dot(build, column, a_free, states.at(rest))) for column, rest in zip(W, zeta, strict=True)]
        return G, c

    def _scaled_response(
        self, M: Nodes, h: list[int], W: list[list[int]], zeta: list[int]
    ) -> tuple[list[list[int]], list[int]]:
        """The same times the determinant of the mass matrix, which is positive: no quotient may be undefined.

        ``det [[M, y], [-x, z]] = det M (z + x M^-1 y)``.
        """
        build = self.build

        def bordered(x: list[int], y: list[int], z: int) -> int:
            rows = [[*line, entry] for line, entry in zip(M.tolist(), y, strict=True)]
            return build.collected(determinant(build, [*rows, [*(build.negate(entry) for entry in x), z]]))

        zero = build.number(0)
        G = [[bordered(one, two, zero) for two in W] for one in W]
        return G, [bordered(one, h, rest) for one, rest in zip(W, zeta, strict=True)]

    def _minors(self) -> list[Clause]:
        """Leading principal minors of the mass matrix, which is positive definite where a state exists."""
        M = self.motion.M.tolist()
        minors = [determinant(self.build, [line[:k] for line in M[:k]]) for k in range(1, len(M) + 1)]
        return [attrs.evolve(self.clause(node), why="the mass matrix is not positive definite") for node in minors]


def _open(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Clauses that are not met identically, each once."""
    seen: set[Clause] = set()
    for clause in clauses:
        if clause not in seen and (clause.functions or clause.sign <= 0):
            seen.add(clause)
            yield clause
