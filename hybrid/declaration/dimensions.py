"""Dimensions of every expression as products of powers, those of coordinates found on the way, and what does not fit.

What has no unit is unknown, not a pure number: a parameter without one, a number that is no small fraction (9.81 may
be an acceleration), and a product of such numbers and coordinates alone. Where something is unknown nothing is said.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from hybrid.declaration import fields
from hybrid.declaration.names import TIME, velocity_name
from hybrid.declaration.parts import EnergyDynamics
from hybrid.declaration.tree import Apply, Expression, Name, Number
from hybrid.declaration.unit_names import (
    BASES,
    SCALES,
    Exponents,
    UnitError,
    Unknowns,
    product,
    read_unit,
    to_power,
    unit_text,
)
from hybrid.errors import MAX_PROBLEMS, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.declaration.fields import Scope
    from hybrid.declaration.parameters import Read
    from hybrid.declaration.parts import AbstractMechanism

__all__ = ["Dimensions", "dimension_problems"]

_JOULE = read_unit("J")
_DEGREE = read_unit("deg")
# Factors of formulas; other numbers may stand for a quantity.
_FACTORS = frozenset(Fraction(a, b) for a in range(1, 10) for b in (1, 2, 4, 8)) | {Fraction(12)}
_PURE_FUNCTIONS = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
_PURE_ROLES = (fields.FRICTION, fields.RESTITUTION, fields.RATIO)
_LENGTHS: tuple[Exponents, ...] = ({"m": Fraction(1)}, {})
_VELOCITIES: tuple[Exponents, ...] = ({"m": Fraction(1), "s": Fraction(-1)}, {"s": Fraction(-1)})


@attrs.frozen
class _Quantity:
    """Exponents of base units and of unknown units (``?x``), and what they come from."""

    powers: Exponents
    has_unit: bool = False
    has_number: bool = False
    number: Fraction | None = None

    @property
    def is_vague(self) -> bool:
        """A number may carry a unit that is not written, as does one that stands alone."""
        return not self.has_unit and (self.has_number or not self.powers)


class Dimensions:
    """One pass over a mechanism, in the dimensions or in the scales of its units.

    Parameters
    ----------
    mechanism : AbstractMechanism
    read : sequence of Read
        Its expressions but those of parameters and definitions.
    scope : Scope
    parameters : mapping of str to float or Expression
    units : mapping of str to Exponents
        As declared, of the parameters that have one.
    axes : tuple of str
        ``BASES`` or ``SCALES``.

    Attributes
    ----------
    problems : list of Problem
        Expressions whose units contradict each other or what they stand for.
    """

    def __init__(
        self,
        mechanism: AbstractMechanism,
        read: Sequence[Read],
        scope: Scope,
        parameters: Mapping[str, float | Expression],
        units: Mapping[str, Exponents],
        axes: tuple[str, ...],
    ) -> None:
        self.mechanism = mechanism
        self.scope = scope
        self.parameters = parameters
        self.axes = axes
        self.units = {name: {axis: unit[axis] for axis in unit if axis in axes} for name, unit in units.items()}
        self.known: dict[str, _Quantity | None] = {}
        self.unknowns = Unknowns()
        self.problems: list[Problem] = []
        # a consistent system of millimetres and tonnes has its own units of time and energy
        self.time = {"s": Fraction(1)} if axes is BASES else {"?t": Fraction(1)}
        for name in mechanism.coordinates:
            own = {f"?{name}": Fraction(1)}
            self.known[name] = _Quantity(own)
            self.known[velocity_name(name)] = _Quantity(product(own, self.time, -1))
        self.known[TIME] = _Quantity(self.time)
        for name, value in parameters.items():
            self._parameter(name, value)
        for name in scope.traits:  # each after those that it uses
            self._definition(name, scope.definitions[name])
        self.found: dict[fields.FieldPath, _Quantity | None] = {}
        for item in read:
            quantity = self._quantity(item.expression, item.entry.field, item.entry.path)
            self.found[item.entry.path] = quantity
            is_energy = item.entry.role is fields.KINETIC and quantity is not None and quantity.has_unit
            if is_energy and axes is BASES:
                self.unknowns.equal({"?energy": Fraction(1)}, _JOULE)
            self._role(item, quantity)
        for item in read:  # now that the coordinates have their units
            self._kind(item, self.found[item.entry.path])

    def unit(self, name: str) -> Exponents:
        """Of a coordinate, or of the ``energy``; holds names with ``?`` where it is not known."""
        return self.unknowns.reduced({f"?{name}": Fraction(1)})

    def unit_at(self, path: fields.FieldPath) -> Exponents | None:
        """Of the expression at a place; None where it is not known."""
        quantity = self.found.get(path)
        return None if quantity is None or quantity.is_vague else self.unknowns.reduced(quantity.powers)

    def _parameter(self, name: str, value: float | Expression) -> _Quantity | None:
        if name in self.known:
            return self.known[name]
        self.known[name] = None if name not in self.units else _Quantity(self.units[name], has_unit=True)
        if isinstance(value, Expression):
            field, path = f"parameters.{name}", ("parameters", name)
            found = self._quantity(value, field, path)
            if name not in self.units:
                self.known[name] = None if found is None or found.is_vague else found
            elif found is not None and found.has_unit and not self.unknowns.equal(found.powers, self.units[name]):
                unit = self.mechanism.parameters[name].unit
                pair = found.powers, self.units[name]
                message = f"is {self._text(*pair)}, but its unit is {unit}"
                if self.axes is SCALES:
                    message = f"is in {self._text(*pair)}, but its unit {unit} is {self._text(*pair[::-1])}"
                self.problems.append(Problem(message, field, path=path))
        return self.known[name]

    def _definition(self, name: str, expression: Expression) -> _Quantity | None:
        if name not in self.known:
            self.known[name] = None  # of one that stands in a circle, which is reported elsewhere
            self.known[name] = self._quantity(expression, f"definitions.{name}", ("definitions", name))
        return self.known[name]

    def _named(self, name: str) -> _Quantity | None:
        if name in self.scope.definitions:
            return self._definition(name, self.scope.definitions[name])
        if name in self.parameters:
            return self._parameter(name, self.parameters[name])
        return _Quantity({}, has_number=True) if name == "pi" else self.known.get(name)

    def _quantity(self, expression: Expression, field: str, path: fields.FieldPath) -> _Quantity | None:
        """What an expression is; a contradiction within it is reported and leaves it unknown."""
        stack: list[_Quantity | None] = []
        for node in expression.tree:
            if isinstance(node, Number):
                stack.append(_Quantity({}, has_number=True, number=node.exact) if node.exact in _FACTORS else None)
            elif isinstance(node, Name):
                stack.append(self._named(node.name))
            else:
                arguments = stack[-node.arity :]
                del stack[-node.arity :]
                result = self._applied(node, arguments)
                if isinstance(result, str):
                    self.problems.append(Problem(result, field, column=node.column or None, path=path))
                stack.append(None if isinstance(result, str) else result)
        return stack[0]

    def _applied(self, node: Apply, arguments: list[_Quantity | None]) -> _Quantity | str | None:
        """The result of an operation, or what is wrong with it."""
        first, operation = arguments[0], node.operation
        if operation == "negate" and first is not None and first.number is not None:
            return attrs.evolve(first, number=-first.number)
        if operation in ("negate", "abs"):
            return first
        if operation in ("+", "-", "min", "max", "atan2"):
            return self._alike(operation, [item for item in arguments if item is not None and not item.is_vague])
        if operation == "sign":
            return _Quantity({}, has_number=True)
        if operation in _PURE_FUNCTIONS:
            if first is not None and first.has_unit and not self.unknowns.equal(first.powers, {}):
                angle = " or an angle in radians" if operation in ("sin", "cos", "tan") else ""
                return f"{operation} takes a pure number{angle}, not {self._text(first.powers)}"
            # the cosine of an angle with a unit is a pure number for sure, that of another may stand for a length
            return _Quantity({}, has_number=first is None or not first.has_unit)
        if first is None:
            return None
        if operation == "sqrt":
            return attrs.evolve(first, powers=to_power(first.powers, Fraction(1, 2)), number=None)
        second = arguments[1]
        if second is None:
            return None
        if operation == "**":
            exponent = second.number
            return (
                None if exponent is None else attrs.evolve(first, powers=to_power(first.powers, exponent), number=None)
            )
        sign = 1 if operation == "*" else -1
        return _Quantity(
            product(first.powers, second.powers, sign),
            first.has_unit or second.has_unit,
            first.has_number or second.has_number,
            _combined(first.number, second.number, operation),
        )

    def _alike(self, operation: str, known: list[_Quantity]) -> _Quantity | str | None:
        """What is added or compared must have one unit."""
        is_known = any(item.has_unit for item in known)
        for item in known[1:]:
            if not is_known and not self.unknowns.are_shared(known[0].powers, item.powers):
                return None  # as in x + x**2/2, whose factor has a unit that is not written
            if not self.unknowns.equal(known[0].powers, item.powers):
                done = "added" if operation in ("+", "-") else f"compared by {operation}"
                pair = known[0].powers, item.powers
                return f"{self._text(*pair)} and {self._text(*pair[::-1])} are {done}"
        if operation == "atan2":
            return _Quantity({}, has_number=True)
        return _Quantity(known[0].powers, is_known) if known else None

    def _role(self, item: Read, quantity: _Quantity | None) -> None:
        """Compare an expression with what it stands for."""
        if quantity is None or not quantity.has_unit:
            return
        expected = self._expected(item)
        if expected is not None and not self.unknowns.equal(quantity.powers, expected):
            pair = expected, quantity.powers
            message = f"{item.entry.role.noun} must be {self._text(*pair)} here, not {self._text(*pair[::-1])}"
            self.problems.append(Problem(message, item.entry.field, path=item.entry.path))

    def _expected(self, item: Read) -> Exponents | None:
        path, role = item.entry.path, item.entry.role
        energy = {"?energy": Fraction(1)}
        if role in _PURE_ROLES:
            return {}
        if role in (fields.KINETIC, fields.POTENTIAL):
            return energy
        if role in (fields.FORCE, fields.MASS):
            return self._generalised(path)
        if role is fields.LIMIT:
            return self._along(path)
        if role is fields.STIFFNESS:
            own = self.unit_at((*path[:-1], "equation"))
            return None if own is None else product(energy, own, -2)
        if role is fields.DAMPING:
            own = self.unit_at((*path[:-1], "gap"))
            root = product(to_power(energy, Fraction(1, 2)), self.time, 1)
            return None if own is None else product(root, own, -1)
        return None

    def _along(self, path: fields.FieldPath) -> Exponents | None:
        """The force along a displacement, or along a slip."""
        for name, rate in (("tangent", 0), ("slip", 1)):
            own = self.unit_at((*path[:-1], name))
            if own is not None:
                return product(product({"?energy": Fraction(1)}, own, -1), self.time, -rate)
        return None

    def _generalised(self, path: fields.FieldPath) -> Exponents | None:
        """Of a force or a mass; equations of motion may be divided by anything, each row by its own."""
        names = self.mechanism.coordinates
        if path[0] == "forces":
            row = names.index(str(path[1]))
        elif isinstance(path[2], int):
            row = path[2]
        if isinstance(self.mechanism.dynamics, EnergyDynamics):
            return product({"?energy": Fraction(1)}, {f"?{names[row]}": Fraction(1)}, -1)
        own: Exponents = {f"?row {row}": Fraction(1)}
        if path[1] != "mass_matrix":
            return own
        return product(product(own, self.time, 2), {f"?{names[int(path[3])]}": Fraction(1)}, -1)

    def _kind(self, item: Read, quantity: _Quantity | None) -> None:
        """A displacement is a length or an angle, a slip its rate."""
        role = item.entry.role
        allowed = {fields.GAP: _LENGTHS, fields.TANGENT: _LENGTHS, fields.SLIP: _VELOCITIES}.get(role)
        if allowed is None or quantity is None or quantity.is_vague or self.axes is not BASES:
            return
        powers = self.unknowns.reduced(quantity.powers)
        if not any(name.startswith("?") for name in powers) and powers not in allowed:
            kinds = "a length or an angle" if allowed is _LENGTHS else "a velocity or an angular velocity"
            message = f"{role.noun} must be {kinds}, not {self._text(powers)}"
            self.problems.append(Problem(message, item.entry.field, path=item.entry.path))

    def _text(self, powers: Exponents, other: Exponents | None = None) -> str:
        """A unit in words, beside another one that it contradicts."""
        reduced = self.unknowns.reduced(powers)
        shown = {f"[{name[1:]}]" if name.startswith("?") else name: power for name, power in reduced.items()}
        if self.axes is BASES:
            return unit_text(shown)
        if reduced == _DEGREE:
            return "an angle in degrees"
        if not reduced and other is not None and self.unknowns.reduced(other) == _DEGREE:
            return "an angle in radians"
        scale = unit_text(shown, pure="")
        return f"{scale} times the SI unit" if scale else "the SI unit"


def _combined(first: Fraction | None, second: Fraction | None, operation: str) -> Fraction | None:
    if first is None or second is None:
        return None
    return first * second if operation == "*" else first / second


def dimension_problems(
    mechanism: AbstractMechanism, read: Sequence[Read], scope: Scope, parameters: Mapping[str, float | Expression]
) -> list[Problem]:
    """Unknown units, and expressions whose units contradict each other or what they stand for, as problems.

    Parameters
    ----------
    mechanism : AbstractMechanism
    read : sequence of Read
        Its expressions but those of parameters and definitions.
    scope : Scope
    parameters : mapping of str to float or Expression

    Returns
    -------
    list of Problem
        Those of dimensions; where there are none, those of scales, as metres added to millimetres.
    """
    problems: list[Problem] = []
    units: dict[str, Exponents] = {}
    for name, parameter in mechanism.parameters.items():
        if not parameter.unit.strip():
            continue
        try:
            units[name] = read_unit(parameter.unit)
        except UnitError as error:
            path = ("parameters", name, "unit")
            problems.append(Problem(error.message, f"parameters.{name}.unit", hint=error.hint, path=path))
    for axes in (BASES, SCALES):
        if not problems and units and (axes is BASES or any(set(unit) & set(SCALES) for unit in units.values())):
            problems += Dimensions(mechanism, read, scope, parameters, units, axes).problems
    return problems[:MAX_PROBLEMS]
