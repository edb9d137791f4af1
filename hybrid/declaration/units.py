"""Units of a mechanism's quantities, as they follow from those of its parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from hybrid.declaration.dimensions import Dimensions
from hybrid.declaration.fields import FieldPath, expand, parts_of
from hybrid.declaration.names import velocity_name
from hybrid.declaration.parts import Constraint, Contact
from hybrid.declaration.tree import Apply, Expression, Name
from hybrid.declaration.unit_names import BASES, SCALES, Exponents, product, read_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hybrid.declaration.fields import Scope
    from hybrid.declaration.parameters import Read
    from hybrid.declaration.parts import AbstractMechanism

__all__ = ["Units", "angles_of", "inequality_unit", "units_of"]

_METRE: Exponents = {"m": Fraction(1)}
_FORCES = {"m": "N", "rad": "N m"}

_INEQUALITIES = {
    "lambda_N": "forces",
    "lambda_T": "tangential_forces",
    "a_N": "contact_accelerations",
    "a_T": "tangential_accelerations",
}


@attrs.frozen
class Units:
    """Units of a mechanism's quantities; empty where the declaration does not say enough.

    Attributes
    ----------
    time : str
        ``"s"``, unless a declared unit counts time otherwise, as milliseconds, minutes or kilonewtons may.
    coordinates : mapping of str to str
        Of coordinates and velocities.
    accelerations : mapping of str to str
        Of the second derivatives, by coordinate.
    forces, contact_accelerations : mapping of str to str
        Normal to every contact and to every bilateral constraint with friction.
    tangential_forces, tangential_accelerations : mapping of str to str
        Along every contact, friction element and bilateral constraint with friction.
    """

    time: str
    coordinates: Mapping[str, str]
    accelerations: Mapping[str, str]
    forces: Mapping[str, str]
    contact_accelerations: Mapping[str, str]
    tangential_forces: Mapping[str, str]
    tangential_accelerations: Mapping[str, str]

    @classmethod
    def none(cls) -> Units:
        """Units of a model that declares none.

        Returns
        -------
        Units
        """
        return cls("s", {}, {}, {}, {}, {}, {})

    def tables(self) -> dict[str, Mapping[str, str]]:
        """The units by kind of quantity and name.

        Returns
        -------
        dict of str to mapping of str to str
            By ``"coordinates"``, ``"forces"`` and the like.
        """
        return attrs.asdict(self, filter=lambda attribute, _: attribute.name != "time")


def angles_of(read: Iterable[Read], scope: Scope) -> set[str]:
    """Names that are added up in a sine, a cosine or a tangent: they turn, whatever else is known of them.

    Parameters
    ----------
    read : iterable of Read
    scope : Scope

    Returns
    -------
    set of str
    """
    turned: set[str] = set()
    for item in read:
        stack: list[set[str]] = []
        for node in expand(item.expression, scope.definitions).tree:
            if not isinstance(node, Apply):
                stack.append({node.name} if isinstance(node, Name) else set())
                continue
            names = set().union(*stack[-node.arity :])
            del stack[-node.arity :]
            if node.operation in ("sin", "cos", "tan"):
                turned |= names
            stack.append(names if node.operation in ("+", "-", "negate") else set())
    return turned


def units_of(
    mechanism: AbstractMechanism, read: Sequence[Read], scope: Scope, parameters: Mapping[str, float | Expression]
) -> Units:
    """The units of coordinates, forces and accelerations of a mechanism whose units fit.

    A parameter in millimetres or degrees counts as one without a unit: what follows from it is not shown.

    Parameters
    ----------
    mechanism : AbstractMechanism
    read : sequence of Read
        Its expressions but those of parameters and definitions.
    scope : Scope
    parameters : mapping of str to float or Expression

    Returns
    -------
    Units
    """
    declared = {name: read_unit(item.unit) for name, item in mechanism.parameters.items() if item.unit.strip()}
    plain = {name: unit for name, unit in declared.items() if not set(unit) & set(SCALES)}
    time = "" if any("s" in unit for name, unit in declared.items() if name not in plain) else "s"
    found = Dimensions(mechanism, read, scope, parameters, plain, BASES)
    turned = angles_of(read, scope)
    lengths = {name: _length(found.unit(name)) or ("rad" if name in turned else "") for name in mechanism.coordinates}
    is_joule = bool(time) and found.unit("energy") == read_unit("J")
    normal: dict[str, str] = {}
    along: dict[str, str] = {}
    for table, index, part in parts_of(mechanism):
        if isinstance(part, Contact):
            normal[part.name] = _length(found.unit_at((table, index, "gap")))
        elif isinstance(part, Constraint) and part.friction is not None:
            normal[part.name] = _length(found.unit_at((table, index, "equation")))
        if part.tangent or part.slip:
            along[part.name] = _tangential(found, (table, index))
    forces, tangential_forces = (
        {name: _FORCES.get(length, "") if is_joule else "" for name, length in lengths_along.items()}
        for lengths_along in (normal, along)
    )
    return Units(
        time,
        lengths | {velocity_name(name): _per(length, time) for name, length in lengths.items()},
        {name: _per(length, time, "²") for name, length in lengths.items()},
        forces,
        {name: _per(length, time, "²") for name, length in normal.items()},
        tangential_forces,
        {name: _per(length, time, "²") for name, length in along.items()},
    )


def inequality_unit(units: Mapping[str, Mapping[str, str]], contact: str, inequality: str) -> str:
    """The unit of what an inequality of a mode compares with zero.

    Parameters
    ----------
    units : mapping
        Fields of :class:`Units` by name.
    contact : str
        Empty where the inequality belongs to none.
    inequality : str
        As in a slack or violation.

    Returns
    -------
    str
        Empty where it is not known.

    Examples
    --------
    >>> units = {"forces": {"tip": "N"}, "contact_accelerations": {"tip": "m/s²"}}
    >>> inequality_unit(units, "tip", "a_N >= 0"), inequality_unit(units, "tip", "lambda_N >= 0")
    ('m/s²', 'N')
    """
    quantity = inequality.lstrip("-(|").split(" ")[0].split("(")[-1]
    for beginning, group in _INEQUALITIES.items():
        if quantity.startswith(beginning):
            return units[group].get(contact, "")
    return ""


def _length(unit: Exponents | None) -> str:
    return "m" if unit == _METRE else "rad" if unit == {} else ""


def _tangential(found: Dimensions, place: FieldPath) -> str:
    """The unit of a displacement along a surface, which may be declared by its rate."""
    for name, seconds in (("tangent", 0), ("slip", 1)):
        for path in ((*place, name), (*place, name, 0)):
            unit = found.unit_at(path)
            if unit is not None:
                return _length(product(unit, {"s": Fraction(1)}, seconds))
    return ""


def _per(length: str, time: str, power: str = "") -> str:
    return f"{length}/{time}{power}" if length and time else ""
