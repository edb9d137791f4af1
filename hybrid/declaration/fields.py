"""Every expression of a mechanism, where it stands, and what it may depend on.

What the names of a mechanism mean, and what an expression depends on once definitions are put in.
"""

from __future__ import annotations

import graphlib
import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs
import numpy as np

from hybrid.declaration.parts import EnergyDynamics
from hybrid.declaration.tree import Apply, Expression, Name, Node, Number, apply
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hybrid.declaration.parts import AbstractFriction, AbstractMechanism, Constraint, Contact


MAX_EXPANDED = 20_000
_MAX_CYCLES = 20

Kind: TypeAlias = Literal["coordinate", "velocity", "parameter", "time"]


@attrs.frozen
class Traits:
    """What an expression is made of once definitions are put in.

    Attributes
    ----------
    names : frozenset of str
        Coordinates, velocities, parameters and ``t`` that occur.
    degree : float
        Upper bound of the degree of the polynomial in the velocities; infinite where it is not one.
    size : int
        Number of nodes.
    """

    names: frozenset[str]
    degree: float
    size: int


@attrs.frozen
class Scope:
    """The meaning of every name.

    Attributes
    ----------
    kinds : mapping of str to Kind
        Every name but those of definitions.
    definitions : mapping of str to Expression
    traits : mapping of str to Traits
        Of the definitions; one without an entry is wrong in itself, and has been reported.
    """

    kinds: Mapping[str, Kind]
    definitions: Mapping[str, Expression]
    traits: Mapping[str, Traits]

    def traits_of(self, expression: Expression) -> Traits | None:
        """Return what an expression is made of; None if it uses a definition that is wrong in itself."""
        return traits_of(expression, self.kinds, self.traits)


def traits_of(expression: Expression, kinds: Mapping[str, Kind], definitions: Mapping[str, Traits]) -> Traits | None:
    """The traits of an expression, from those of the definitions it uses.

    Parameters
    ----------
    expression : Expression
    kinds : mapping of str to Kind
        Every name but those of definitions.
    definitions : mapping of str to Traits
        Of the definitions that are right in themselves.

    Returns
    -------
    Traits or None
        None if the expression uses any other name but ``pi``.
    """
    names: set[str] = set()
    size = 0
    for node in expression.tree:
        size += 1
        if isinstance(node, Name):
            if node.name in kinds:
                names.add(node.name)
            elif node.name in definitions:
                names |= definitions[node.name].names
                size += definitions[node.name].size - 1
            elif node.name != "pi":
                return None
    return Traits(frozenset(names), _degree(expression, kinds, definitions), size)


def _degree(expression: Expression, kinds: Mapping[str, Kind], definitions: Mapping[str, Traits]) -> float:
    stack: list[tuple[float, float | None]] = []  # degree, and the value of a constant
    for node in expression.tree:
        if isinstance(node, Number):
            stack.append((0.0, node.nearest))
        elif isinstance(node, Name):
            own = 1.0 if kinds.get(node.name) == "velocity" else 0.0
            stack.append((definitions[node.name].degree if node.name in definitions else own, None))
        else:
            arguments = stack[-node.arity :]
            del stack[-node.arity :]
            constants = [np.float64(constant) for _, constant in arguments if constant is not None]
            is_constant = len(constants) == node.arity
            stack.append((_combined(node, arguments), float(apply(node.operation, constants)) if is_constant else None))
    return stack[0][0]


def _combined(node: Apply, arguments: list[tuple[float, float | None]]) -> float:
    degrees = [degree for degree, _ in arguments]
    if node.operation in ("+", "-", "negate"):
        return max(degrees)
    if node.operation == "*":
        return sum(degrees)
    if node.operation == "/" and degrees[1] == 0.0:
        return degrees[0]
    if node.operation == "**" and degrees[1] == 0.0:
        exponent = arguments[1][1]
        if degrees[0] > 0.0 and exponent is not None and exponent == int(exponent):
            return degrees[0] * exponent
    return math.inf if any(degrees) else 0.0


def ordered(expressions: Mapping[str, Expression], *, field: str) -> tuple[list[str], list[Problem]]:
    """Names in an order in which each comes after those its expression uses, and the names in circles as problems.

    Parameters
    ----------
    expressions : mapping of str to Expression
        Names that are not among the keys count as given.
    field : str
        The table they are in, for messages.

    Returns
    -------
    order : list of str
        Without the names that are in a circle; empty if there are too many circles to list.
    problems : list of Problem
        One a circle, which begins with the name declared first.

    Examples
    --------
    >>> from hybrid.declaration import parse_expression
    >>> texts = {"I": "m*l**2", "m": "2", "l": "1"}
    >>> order, problems = ordered(
    ...     {name: parse_expression(text, known=texts) for name, text in texts.items()}, field="parameters"
    ... )
    >>> order[-1], problems
    ('I', [])
    """
    # Sorted, so that the same declaration always gives the same messages.
    graph = {name: sorted(item.names & expressions.keys()) for name, item in expressions.items()}
    problems: list[Problem] = []
    while True:
        sorter = graphlib.TopologicalSorter(graph)
        try:
            return list(sorter.static_order()), problems
        except graphlib.CycleError as error:
            circle = _from_first_declared(list(dict.fromkeys(reversed(error.args[1]))), list(expressions))
        problems.append(_circle(circle, field))
        gone = set(circle)
        graph = {name: [n for n in used if n not in gone] for name, used in graph.items() if name not in gone}
        if len(problems) == _MAX_CYCLES:
            return [], problems


def _from_first_declared(circle: list[str], declared: list[str]) -> list[str]:
    start = min(range(len(circle)), key=lambda index: declared.index(circle[index]))
    return [*circle[start:], *circle[:start]]


def _circle(names: list[str], field: str) -> Problem:
    first = names[0]
    if len(names) == 1:
        message = "refers to itself"
    else:
        shown = [*names[:6], "..."] if len(names) > 6 else names
        message = "refers to itself in a circle: " + " -> ".join([*shown, first])
    return Problem(message, f"{field}.{first}", path=(field, first))


def definition_traits(
    definitions: Mapping[str, Expression], kinds: Mapping[str, Kind]
) -> tuple[dict[str, Traits], list[Problem]]:
    """The traits of all definitions, each from those it uses.

    Parameters
    ----------
    definitions : mapping of str to Expression
    kinds : mapping of str to Kind
        Every other name.

    Returns
    -------
    traits : dict of str to Traits
        Without the definitions that are in a circle, too large, or use one that has no traits.
    problems : list of Problem
        The circles, and the definitions that are too large.
    """
    order, problems = ordered(definitions, field="definitions")
    traits: dict[str, Traits] = {}
    for name in order:
        own = traits_of(definitions[name], kinds, traits)
        if own is not None and own.size > MAX_EXPANDED:
            message = f"has {own.size} numbers, names and operators once definitions are put in"
            hint = f"at most {MAX_EXPANDED} are allowed"
            problems.append(Problem(message, f"definitions.{name}", hint=hint, path=("definitions", name)))
        elif own is not None:
            traits[name] = own
    return traits, problems


def expand(expression: Expression, definitions: Mapping[str, Expression]) -> Expression:
    """An expression with definitions put in for their names.

    Parameters
    ----------
    expression : Expression
    definitions : mapping of str to Expression
        Not in circles; they may use each other.

    Returns
    -------
    Expression
        With the text of the one given.

    Raises
    ------
    DeclarationError
        If the result has more than ``MAX_EXPANDED`` nodes.

    Examples
    --------
    >>> from hybrid.declaration import parse_expression
    >>> tip = parse_expression("x + 1", known=["x"])
    >>> sorted(expand(parse_expression("2*tip", known=["tip"]), {"tip": tip}).names)
    ['x']
    """
    if definitions.keys().isdisjoint(expression.names):
        return expression
    nodes: list[Node] = []
    pending: list[Iterable[Node]] = [iter(expression.tree)]
    while pending:
        for node in pending[-1]:
            if isinstance(node, Name) and node.name in definitions:
                pending.append(iter(definitions[node.name].tree))
                break
            nodes.append(node)
            if len(nodes) > MAX_EXPANDED:
                message = f"more than {MAX_EXPANDED} numbers, names and operators once definitions are put in"
                raise DeclarationError(Problem(f"'{expression.text}' has {message}"))
        else:
            pending.pop()
    return Expression(expression.text, tuple(nodes))


FieldPath = tuple[str | int, ...]


@attrs.frozen(kw_only=True)
class Role:
    """What an expression stands for and what it may depend on.

    Attributes
    ----------
    noun : str
        With its article, as ``a gap``.
    allowed : frozenset of Kind
    degree : float
        Largest degree of the polynomial in the velocities.
    needs : frozenset of Kind
        At least one of these kinds must occur, or the expression has no effect; empty: none need.
    low, high, positive
        Range, checked where the expression is made of parameters only.
    """

    noun: str
    allowed: frozenset[Kind]
    degree: float = math.inf
    needs: frozenset[Kind] = frozenset()
    low: float = -math.inf
    high: float = math.inf
    positive: bool = False


@attrs.frozen
class Entry:
    """An expression of the declaration in its place."""

    path: FieldPath
    field: str
    text: str
    role: Role


_CONSTANT: frozenset[Kind] = frozenset({"parameter"})
_POSITION: frozenset[Kind] = frozenset({"parameter", "coordinate", "time"})
_MOTION: frozenset[Kind] = frozenset({"parameter", "coordinate", "time", "velocity"})
_COORDINATE: frozenset[Kind] = frozenset({"coordinate"})
_VELOCITY: frozenset[Kind] = frozenset({"velocity"})

GAP = Role(noun="a gap", allowed=_POSITION, needs=_COORDINATE)
TANGENT = Role(noun="a tangential displacement", allowed=_POSITION, needs=_COORDINATE)
SLIP = Role(noun="a slip velocity", allowed=_MOTION, degree=1, needs=_VELOCITY)
FRICTION = Role(noun="a friction coefficient", allowed=_POSITION, low=0.0)
LIMIT = Role(noun="a friction limit", allowed=_POSITION, low=0.0)
RESTITUTION = Role(noun="a coefficient of restitution", allowed=_CONSTANT, low=0.0, high=1.0)
# its square, times one over a mass, must be a number; contacts behave alike long before
DAMPING = Role(noun="a contact damping", allowed=_CONSTANT, low=0.0, high=1e100)
RATIO = Role(noun="a stiffness ratio", allowed=_CONSTANT, low=0.0, positive=True)
STIFFNESS = Role(noun="a stiffness", allowed=_CONSTANT, low=0.0, positive=True)
EQUATION = Role(noun="a constraint equation", allowed=_POSITION, needs=_COORDINATE)
KINETIC = Role(noun="the kinetic energy", allowed=_MOTION, degree=2)
POTENTIAL = Role(noun="the potential energy", allowed=_POSITION)
MASS = Role(noun="an entry of the mass matrix", allowed=_POSITION)
FORCE = Role(noun="a force", allowed=_MOTION)
POINT = Role(noun="a point of the drawing", allowed=_POSITION)

# What the fields of contacts, friction elements and constraints hold, by name.
ROLES: Mapping[str, Role] = {
    "gap": GAP,
    "equation": EQUATION,
    "tangent": TANGENT,
    "slip": SLIP,
    "friction": FRICTION,
    "static_friction": FRICTION,
    "limit": LIMIT,
    "static_limit": LIMIT,
    "reverse_limit": LIMIT,
    "restitution": RESTITUTION,
    "damping": DAMPING,
    "stiffness_ratio": RATIO,
    "stiffness": STIFFNESS,
}


def entries(mechanism: AbstractMechanism) -> Iterator[Entry]:
    """Every expression but those of parameters and definitions, in the order of the file format.

    Parameters
    ----------
    mechanism : AbstractMechanism

    Returns
    -------
    iterator of Entry
    """
    yield from _dynamics(mechanism)
    for name, text in mechanism.forces.items():
        yield Entry(("forces", name), f"forces.{name}", text, FORCE)
    for table, index, part in parts_of(mechanism):
        yield from _texts(table, part, index)
    for name, point in mechanism.drawing.points.items():
        for number, text in enumerate(point):
            yield Entry(("drawing", "points", name, number), f"drawing.points.{name}", text, POINT)


def parts_of(mechanism: AbstractMechanism) -> Iterator[tuple[str, int, Contact | AbstractFriction | Constraint]]:
    """Contacts, friction elements and constraints in turn.

    Parameters
    ----------
    mechanism : AbstractMechanism

    Returns
    -------
    iterator of (str, int, part)
        The table of each, its place there, and itself.
    """
    for table in ("contact", "friction", "constraint"):
        for index, part in enumerate(getattr(mechanism, table)):
            yield table, index, part


def label(table: str, name: str, index: int) -> str:
    """Name of an entry of an array of tables in messages: by its name, or by its number if it has none.

    Parameters
    ----------
    table : str
    name : str
        Empty if there is none.
    index : int
        Counted from 0; shown from 1.

    Returns
    -------
    str

    Examples
    --------
    >>> label("contact", "tip", 0), label("contact", "", 1)
    ('contact.tip', 'contact[2]')
    """
    return f"{table}.{name}" if name else f"{table}[{index + 1}]"


def _dynamics(mechanism: AbstractMechanism) -> Iterator[Entry]:
    dynamics = mechanism.dynamics
    if isinstance(dynamics, EnergyDynamics):
        yield Entry(("dynamics", "kinetic"), "dynamics.kinetic", dynamics.kinetic, KINETIC)
        yield Entry(("dynamics", "potential"), "dynamics.potential", dynamics.potential, POTENTIAL)
        return
    for i, row in enumerate(dynamics.mass_matrix):
        for j, text in enumerate(row):
            field = f"dynamics.mass_matrix[{i + 1}][{j + 1}]"
            yield Entry(("dynamics", "mass_matrix", i, j), field, text, MASS)
    for i, text in enumerate(dynamics.forces):
        yield Entry(("dynamics", "forces", i), f"dynamics.forces[{i + 1}]", text, FORCE)


def _texts(table: str, part: Contact | AbstractFriction | Constraint, index: int) -> Iterator[Entry]:
    for name, role in ROLES.items():
        value = getattr(part, name, None)
        field = f"{label(table, part.name, index)}.{name}"
        if isinstance(value, str):
            yield Entry((table, index, name), field, value, role)
        elif value is not None:
            for number, text in enumerate(value):
                yield Entry((table, index, name, number), field, text, role)
