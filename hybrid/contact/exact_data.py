"""A contact problem in rational numbers: the mechanism's own expressions at data that are known exactly.

A number of the state or of the parameters is *known* if it is given as an expression of numbers, such as ``"4/3"``, or
as a float with a short decimal, which is then the number that was written: 0.3 is 3/10. A float of many digits is the
outcome of a computation and stands for a number that it only approximates. Nothing is decided from those.

Numbers that are known exactly: what a float was written as, and expressions in fractions.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.contact.table import force_elements
from hybrid.declaration.parser import parse_expression
from hybrid.dynamics.equations import read
from hybrid.expressions import Builder, Graph, NotRationalError, exact_values
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.modes import ActiveElement
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State

__all__ = [
    "Clock",
    "ExactProblem",
    "UnknownNumberError",
    "evaluate",
    "exact_problem",
    "known_number",
    "number_of",
    "solve",
]


_DIGITS = 12
"""A computed float has so short a decimal by accident once in ten thousand; what people write is shorter."""

Matrix = list[list[Fraction]]


class UnknownNumberError(Exception):
    """A number that the decision needs is not known exactly, or not rational; the text says which."""


@attrs.define
class Clock:
    """Processor time that a decision may still take: what it decides must not hang on what else the machine does."""

    seconds: float
    _start: float = attrs.field(factory=time.process_time)

    def check(self) -> None:
        """Raise UnknownNumberError if the time is over."""
        if time.process_time() - self._start > self.seconds:
            raise UnknownNumberError(f"exact arithmetic takes more than {self.seconds:g} s")


def known_number(value: float) -> Fraction | None:
    """The number that a float was written as, or None if it has more digits than people write.

    Parameters
    ----------
    value : float

    Returns
    -------
    Fraction or None
        Of the shortest decimal that rounds to the float, if that has at most 12 significant digits.

    Examples
    --------
    >>> known_number(0.3), known_number(1 / 3), known_number(-2.0)
    (Fraction(3, 10), None, Fraction(-2, 1))
    """
    exact = Fraction(repr(float(value)))
    digits = repr(float(value)).partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    return exact if len(digits) <= _DIGITS else None


def number_of(name: str, value: str | float, values: Mapping[str, Fraction]) -> Fraction:
    """The number that a text or a float gives.

    Parameters
    ----------
    name : str
        What it is the value of, for messages.
    value : str or float
        An expression of the names in ``values``, or a number.
    values : mapping of str to Fraction

    Returns
    -------
    Fraction

    Raises
    ------
    UnknownNumberError
        The expression is not rational at these values, or the float is the outcome of a computation.
    """
    if isinstance(value, str):
        expression = parse_expression(value, known=values.keys(), field=name)
        build = Builder()
        nodes = {other: build.name(other) for other in expression.names}
        root = read(build, expression, nodes)
        return evaluate(build.graph(), root, {node: values[other] for other, node in nodes.items()}, name)
    known = known_number(float(value))
    if known is None:
        raise UnknownNumberError(f"{name} = {float(value)!r} is the outcome of a computation")
    return known


def evaluate(graph: Graph, root: int, known: dict[int, Fraction], name: str) -> Fraction:
    """Value of a node of a graph in rational numbers.

    Parameters
    ----------
    graph : Graph
    root : int
        The node.
    known : dict of int to Fraction
        Values of nodes, at least of the names; those of all nodes that were met are added.
    name : str
        What the node is, for messages.

    Returns
    -------
    Fraction

    Raises
    ------
    UnknownNumberError
        The value is not rational.
    """
    try:
        return exact_values(graph, [root], known)[0]
    except NotRationalError as error:
        raise UnknownNumberError(f"{name} is not rational here: {error}") from None


def solve(table: Matrix, unknowns: int, clock: Clock) -> Matrix | None:
    """Solutions of a linear system for several right sides by elimination; what is undetermined is set to zero.

    Parameters
    ----------
    table : list of list of Fraction, (m, unknowns + k)
        The matrix with the right sides next to it; it is overwritten.
    unknowns : int
    clock : Clock
        Raises UnknownNumberError once its time is over.

    Returns
    -------
    list of list of Fraction, (unknowns, k), or None
        None if the equations contradict each other for one of the right sides.
    """
    pivots: list[int] = []
    for column in range(unknowns):
        clock.check()
        rank = len(pivots)
        pivot = next((i for i in range(rank, len(table)) if table[i][column]), None)
        if pivot is None:
            continue
        table[rank], table[pivot] = table[pivot], table[rank]
        lead = table[rank][column]
        table[rank] = [value / lead for value in table[rank]]
        for i, line in enumerate(table):
            if i != rank and line[column]:
                table[i] = [a - line[column] * b for a, b in zip(line, table[rank], strict=True)]
        pivots.append(column)
    if any(any(line[unknowns:]) for line in table[len(pivots) :]):
        return None
    found = [[Fraction(0)] * (len(table[0]) - unknowns) for _ in range(unknowns)]
    for line, column in zip(table, pivots, strict=False):
        found[column] = line[unknowns:]
    return found


_DENOMINATOR = 10**6
"""Largest one of a component that was solved from pins; what it is taken for is checked against the pins."""
_ROUNDING = Fraction(1, 2**48)
"""Of a component that was solved from pins, relative: some tens of units in the last place."""
_AGREEMENT = NOTHING
"""Share of a term by which its value in floats may differ from the exact one: more, and they mean different things."""

Vector = list[Fraction]


class _Coefficient(Fraction):
    """A fraction that stays one in products with the signs of laws, which are floats."""

    def __mul__(self, other: Any) -> Any:
        return _Coefficient(Fraction(self) * Fraction(other))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return _Coefficient(-Fraction(self))


@attrs.frozen(eq=False)
class ExactProblem:
    """As :class:`hybrid.contact.problem.ContactProblem`, in fractions.

    Attributes
    ----------
    elements : tuple of ActiveElement
        With friction in fractions.
    G, c : r by r, and r
    response_W : n by r
    a_free : n
    known : str
        The data, in words.
    """

    elements: tuple[ActiveElement, ...]
    G: Matrix
    c: Vector
    response_W: Matrix
    a_free: Vector
    known: str


def exact_problem(dynamics: Dynamics, state: State, problem: ContactProblem, clock: Clock) -> ExactProblem:
    """Evaluate a contact problem at data that are known exactly.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    problem : ContactProblem
        The same in floats.
    clock : Clock

    Returns
    -------
    ExactProblem

    Raises
    ------
    UnknownNumberError
        A number is not known, a term is irrational there, or the state is not exactly on its contacts, at rest or on
        its constraints; or the time is over.
    """
    if any(len(element.tangential) == 2 for element in problem.elements):
        raise UnknownNumberError("friction in space has directions that are not rational")
    values = _parameters(dynamics)
    components = _components(dynamics, state)
    given = components | values
    graph, names = dynamics.equations.graph, dynamics.equations.arguments
    exact_at = {name: given[name] for name in (str(graph.values[node]) for node in names)}
    reader = _Reader(dynamics, dict(zip(names, exact_at.values(), strict=True)), clock)
    _check_position(dynamics, state, reader, problem)
    _check_pins(dynamics, state, reader, problem, values, components)
    known = ", ".join(f"{name} = {value}" for name, value in exact_at.items())
    return _posed(dynamics, reader, problem, known)


def _components(dynamics: Dynamics, state: State) -> dict[str, Fraction]:
    """Rational numbers for the components of a state and the time; those of solved ones are to be checked."""
    names = dynamics.mechanism
    at = [*zip(names.coordinates, state.q, strict=True), *zip(names.velocities, state.v, strict=True), ("t", state.t)]
    found = {}
    for name, value in at:
        number = known_number(float(value))
        if number is None and state.pins:
            near = Fraction(float(value)).limit_denominator(_DENOMINATOR)
            number = near if abs(near - Fraction(float(value))) <= _ROUNDING * abs(near) else None
        if number is None:
            raise UnknownNumberError(f"{name} = {float(value)!r} is the outcome of a computation")
        found[name] = number
    return found


def _check_pins(
    dynamics: Dynamics,
    state: State,
    reader: _Reader,
    problem: ContactProblem,
    values: Mapping[str, Fraction],
    components: Mapping[str, Fraction],
) -> None:
    """Refuse numbers that do not satisfy the pins exactly from which the state was solved."""
    terms = problem.terms
    for name, given in state.pins.items():
        kind, _, place = name.partition(".")
        if not place:
            exact = components[name]
        elif kind == "slip":
            contact, _, axis = place.partition(".")
            column = problem.columns[contact].start + int(axis or 1) - 1
            exact = reader.vector("slip", terms.slip)[column]
        else:
            exact = reader.vector(kind, getattr(terms, kind))[dynamics.contacts.index(place)]
        if exact != number_of(name, given, values):
            raise UnknownNumberError(f"no rational state satisfies the pin {name} = {given} exactly")


def _parameters(dynamics: Dynamics) -> dict[str, Fraction]:
    """Exact values of all parameters, those of expressions from the others."""
    declared: Mapping[str, Any] = {name: item.value for name, item in dynamics.mechanism.parameters.items()}
    given = {**declared, **dynamics.given}
    found: dict[str, Fraction] = {}
    waiting = list(given)
    while waiting:
        name = waiting.pop()
        value = given[name]
        if name in found:
            continue
        used = parse_expression(value, known=given.keys(), field=name).names if isinstance(value, str) else ()
        missing = [other for other in used if other not in found]
        if missing:
            waiting += [name, *missing]
        else:
            found[name] = number_of(name, value, found)
    return found


@attrs.frozen(eq=False)
class _Reader:
    """Entries of the equations at the exact data, each compared with its float."""

    dynamics: Dynamics
    known: dict[int, Fraction]
    clock: Clock

    def entry(self, name: str, node: int, near: float) -> Fraction:
        self.clock.check()
        exact = evaluate(self.dynamics.equations.graph, node, self.known, name)
        if abs(float(exact) - near) > _AGREEMENT * (1.0 + abs(near)):
            raise UnknownNumberError(f"{name} has another value in floats than exactly, {near!r} and {float(exact)!r}")
        return exact

    def vector(self, name: str, near: Any) -> Vector:
        block = self.dynamics.equations.coefficients.get(name)
        block = getattr(self.dynamics.equations, name) if block is None else block
        return [self.entry(name, int(node), float(value)) for node, value in zip(block, near, strict=True)]

    def columns(self, name: str, near: Any) -> Matrix:
        """Columns of a matrix."""
        block = getattr(self.dynamics.equations, name)
        pairs = zip(block.T, near.T, strict=True)
        return [[self.entry(name, int(a), float(b)) for a, b in zip(*pair, strict=True)] for pair in pairs]


def _check_position(dynamics: Dynamics, state: State, reader: _Reader, problem: ContactProblem) -> None:
    """Refuse a state that is not exactly where the contact problem takes it to be."""
    terms = problem.terms
    gap, gap_dot = reader.vector("gap", terms.gap), reader.vector("gap_dot", terms.gap_dot)
    slip = reader.vector("slip", terms.slip)
    for element in problem.elements:
        if element.name in dynamics.contacts:
            index = dynamics.contacts.index(element.name)
            if gap[index] or gap_dot[index]:
                raise UnknownNumberError(f"the gap of {element.name}, or its rate, is not exactly zero")
        if element.direction is not None:
            along = Fraction(element.direction[0]) * slip[problem.columns[element.name].start]
            if along < 0 or (along == 0) != (element.name in state.sides):
                raise UnknownNumberError(f"the slip of {element.name} has no exact sign")
        elif any(slip[problem.columns.get(element.name, slice(0, 0))]):
            raise UnknownNumberError(f"the slip of {element.name} is not exactly zero")
    rates = reader.vector("constraint_dot", terms.constraint_dot)
    if any(reader.vector("constraint", terms.constraint)) or any(rates):
        raise UnknownNumberError("the constraints are not met exactly")


def _posed(dynamics: Dynamics, reader: _Reader, problem: ContactProblem, known: str) -> ExactProblem:
    terms = problem.terms
    normals = reader.columns("W_N", terms.W_N), reader.vector("zeta_N", terms.zeta_N)
    tangents = reader.columns("W_T", terms.W_T), reader.vector("zeta_T", terms.zeta_T)
    J = [list(row) for row in zip(*reader.columns("J", terms.J), strict=True)]
    rigid = J, reader.vector("zeta_B", terms.zeta_B)
    rows: Matrix = []
    zeta: Vector = []
    for element in problem.elements:
        if element.normal is not None:
            is_contact = element.name in dynamics.contacts
            source, place = (normals, dynamics.contacts) if is_contact else (rigid, dynamics.rigid)
            rows.append(source[0][place.index(element.name)])
            zeta.append(source[1][place.index(element.name)])
        if element.tangential:
            column = problem.columns[element.name].start
            rows.append(tangents[0][column])
            zeta.append(tangents[1][column])
    carried = {element.name for element in problem.elements}
    kept = [index for index, name in enumerate(dynamics.rigid) if name not in carried]
    held = [J[index] for index in kept], [rigid[1][index] for index in kept]
    M = reader.columns("M", terms.M)
    h = reader.vector("h", terms.h)
    answers = _answers(M, held, [h, *rows], reader.clock)
    a_free, response = answers[0], answers[1:]
    return ExactProblem(
        elements=tuple(_with_exact_friction(dynamics, reader, problem, element) for element in problem.elements),
        G=[[_dot(row, column) for column in response] for row in rows],
        c=[_dot(row, a_free) + rest for row, rest in zip(rows, zeta, strict=True)],
        response_W=[list(line) for line in zip(*response, strict=True)] if response else [[] for _ in h],
        a_free=a_free,
        known=known,
    )


def _with_exact_friction(
    dynamics: Dynamics, reader: _Reader, problem: ContactProblem, element: ActiveElement
) -> ActiveElement:
    terms, coefficients = problem.terms, dynamics.equations.coefficients
    declared = next(item for item in force_elements(dynamics) if item.name == element.name)
    names, index = [declared.friction_term(is_static=is_static) for is_static in (False, True)], declared.index
    found = [
        _Coefficient(reader.entry(name, int(coefficients[name][index]), float(getattr(terms, name)[index])))
        for name in names
    ]
    return attrs.evolve(element, friction=found[0], static_friction=found[1])


def _answers(M: Matrix, held: tuple[Matrix, Vector], forces: list[Vector], clock: Clock) -> list[Vector]:
    """Accelerations under generalised forces with constraints held: of the first, and per unit of the others."""
    J, zeta = held
    n, m = len(M), len(J)
    lines = [[*row, *(-J[k][i] for k in range(m))] for i, row in enumerate(M)]
    lines += [[*row, *[Fraction(0)] * m] for row in J]
    drift = [-value for value in zeta]
    rights = [[*force, *(drift if place == 0 else [Fraction(0)] * m)] for place, force in enumerate(forces)]
    solved = solve([[*line, *(right[i] for right in rights)] for i, line in enumerate(lines)], n + m, clock)
    if solved is None:
        raise UnknownNumberError("the constraints contradict each other, or the mass matrix is singular")
    return [[solved[i][place] for i in range(n)] for place in range(len(forces))]


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
