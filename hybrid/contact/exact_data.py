"""A contact problem in rational numbers: the mechanism's own expressions at data that are known exactly."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.known_numbers import (
    Clock,
    Matrix,
    UnknownNumberError,
    dot,
    evaluate,
    known_number,
    number_of,
    solve,
)
from hybrid.contact.table import force_elements
from hybrid.declaration.parser import parse_expression
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.modes import ActiveElement
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.state import State

__all__ = ["ExactProblem", "exact_directions", "exact_problem"]

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
    reader, exact_at = _read(dynamics, state, problem, clock)
    known = ", ".join(f"{name} = {value}" for name, value in exact_at.items())
    return _posed(dynamics, reader, problem, known)


def exact_directions(dynamics: Dynamics, state: State, problem: ContactProblem, clock: Clock) -> tuple[Matrix, Matrix]:
    """Directions of forces at data that are known exactly, in the plane or in space.

    Parameters
    ----------
    dynamics, state, problem, clock
        As for :func:`exact_problem`.

    Returns
    -------
    W : n by r
    held : m by n
        Gradients of the constraints that are eliminated.

    Raises
    ------
    UnknownNumberError
        As for :func:`exact_problem`.
    """
    if any(len(element.direction or ()) == 2 for element in problem.elements):
        raise UnknownNumberError("friction in space has directions that are not rational")
    reader, _ = _read(dynamics, state, problem, clock)
    rows, _, held, _ = _rows(reader, problem)
    return [list(line) for line in zip(*rows, strict=True)], held


def _read(
    dynamics: Dynamics, state: State, problem: ContactProblem, clock: Clock
) -> tuple[_Reader, dict[str, Fraction]]:
    """A reader of the equations at the exact data, which are checked, and these by name."""
    values = _parameters(dynamics)
    components = _components(dynamics, state)
    given = components | values
    graph, names = dynamics.equations.graph, dynamics.equations.arguments
    exact_at = {name: given[name] for name in (str(graph.values[node]) for node in names)}
    reader = _Reader(dynamics, dict(zip(names, exact_at.values(), strict=True)), problem.terms, clock)
    _check_position(dynamics, state, reader, problem)
    _check_pins(dynamics, state, reader, problem, values, components)
    return reader, exact_at


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
    for name, given in state.pins.items():
        kind, _, place = name.partition(".")
        if not place:
            exact = components[name]
        elif kind == "slip":
            contact, _, axis = place.partition(".")
            column = problem.columns[contact].start + int(axis or 1) - 1
            exact = reader.block("slip")[column]
        else:
            exact = reader.block(kind)[dynamics.contacts.index(place)]
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
    near: Terms
    clock: Clock

    def entry(self, name: str, node: int, near: float) -> Fraction:
        self.clock.check()
        exact = evaluate(self.dynamics.equations.graph, node, self.known, name)
        if abs(float(exact) - near) > _AGREEMENT * (1.0 + abs(near)):
            raise UnknownNumberError(f"{name} has another value in floats than exactly, {near!r} and {float(exact)!r}")
        return exact

    def block(self, name: str) -> NDArray[Any]:
        """All entries of a term, as an array of fractions."""
        equations, near = self.dynamics.equations, getattr(self.near, name)
        nodes = np.asarray(equations.coefficients[name] if name in equations.coefficients else getattr(equations, name))
        found = np.empty(nodes.shape, dtype=object)
        for place in np.ndindex(nodes.shape):
            found[place] = self.entry(name, int(nodes[place]), float(near[place]))
        return found


def _check_position(dynamics: Dynamics, state: State, reader: _Reader, problem: ContactProblem) -> None:
    """Refuse a state that is not exactly where the contact problem takes it to be."""
    gap, gap_dot, slip = (reader.block(name) for name in ("gap", "gap_dot", "slip"))
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
    if reader.block("constraint_dot").any() or reader.block("constraint").any():
        raise UnknownNumberError("the constraints are not met exactly")


def _rows(reader: _Reader, problem: ContactProblem) -> tuple[Matrix, Vector, Matrix, Vector]:
    """Directions and remainders of all forces, then those of the constraints that are eliminated."""
    names = ("W_N", "W_T", "J", "zeta_N", "zeta_T", "zeta_B")
    terms: Any = SimpleNamespace(**{name: reader.block(name) for name in names})
    carried = {element.name for element in problem.elements}
    rows = [row for element in force_elements(reader.dynamics) if element.name in carried for row in element.rows]
    kept = [index for index, name in enumerate(reader.dynamics.rigid) if name not in carried]
    directions, zeta = [row.direction(terms).tolist() for row in rows], [row.zeta(terms) for row in rows]
    return directions, zeta, terms.J[kept].tolist(), terms.zeta_B[kept].tolist()


def _posed(dynamics: Dynamics, reader: _Reader, problem: ContactProblem, known: str) -> ExactProblem:
    rows, zeta, J, zeta_B = _rows(reader, problem)
    M, h = reader.block("M").tolist(), reader.block("h").tolist()
    answers = _answers(M, (J, zeta_B), [h, *rows], reader.clock)
    a_free, response = answers[0], answers[1:]
    return ExactProblem(
        elements=tuple(_with_exact_friction(dynamics, reader, problem, element) for element in problem.elements),
        G=[[dot(row, column) for column in response] for row in rows],
        c=[dot(row, a_free) + rest for row, rest in zip(rows, zeta, strict=True)],
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
