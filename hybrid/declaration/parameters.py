"""Values of parameters: numbers, expressions of one another, replacements, and the ranges they must keep."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.declaration.fields import Entry, Scope, Traits, ordered
from hybrid.declaration.names import suggestion
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.tree import Expression, evaluate
from hybrid.declaration.unit_names import UnitError, read_unit
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


@attrs.frozen
class Bound:
    """A range that a quantity made of parameters must keep.

    Attributes
    ----------
    expression : Expression
    names : frozenset of str
        The parameters on which it depends.
    low, high : float
        Limits.
    field : str
        Where the file declares it, in words, ``contact.tip.friction``.
    path : tuple of str or int
        The same by keys and indices.
    positive : bool
        True if the lower limit itself is excluded.
    above : Expression or None
        Another quantity that this one must not fall below.
    above_name : str
        What that is called.
    """

    expression: Expression
    names: frozenset[str]
    field: str
    path: tuple[str | int, ...]
    low: float = 0.0
    high: float = np.inf
    positive: bool = False
    above: Expression | None = None
    above_name: str = ""

    def violation(self, values: Mapping[str, Any]) -> Problem | None:
        """Return what is wrong at these values, if anything."""
        value = evaluate(self.expression, values).real
        if not _is_finite(value):
            return self._problem("must be a finite number", value[~np.isfinite(value)] if np.ndim(value) else value)
        if self.above is not None:
            other = np.real(evaluate(self.above, values))
            short = value < other
            if np.any(short):
                least, floor = (np.broadcast_to(item, np.shape(short))[short].flat[0] for item in (value, other))
                return self._problem(f"must be at least {self.above_name}, which is {float(floor):g}", least)
        lowest = highest = value
        if not isinstance(value, float):
            lowest, highest = np.min(value, initial=np.inf), np.max(value, initial=-np.inf)
        if lowest < self.low or (self.positive and lowest <= self.low):
            return self._problem("must be positive" if self.positive else "must not be negative", lowest)
        if highest > self.high:
            return self._problem(f"must lie between {self.low:g} and {self.high:g}", highest)
        return None

    def _problem(self, message: str, value: Any) -> Problem:
        return Problem(f"{message}, not {float(np.ravel(value)[0]):.12g}", self.field, path=self.path)


@attrs.frozen
class Parameters:
    """Parameters with their values resolved.

    Attributes
    ----------
    given : mapping of str to float or Expression
        As declared.
    order : tuple of str
        Every parameter after those that it uses.
    defaults : mapping of str to float
    constants : mapping of str to Expression
        Definitions that the bounds use, each after those that it uses itself.
    bounds : tuple of Bound
    """

    given: Mapping[str, float | Expression]
    order: tuple[str, ...]
    defaults: Mapping[str, float]
    constants: Mapping[str, Expression]
    bounds: tuple[Bound, ...]

    @property
    def ordered(self) -> dict[str, float | Expression]:
        """As declared, every parameter after those that it uses."""
        return {name: self.given[name] for name in self.order}

    def values(self, overrides: Mapping[str, Any], swept: Collection[str] = ()) -> dict[str, Any]:
        """Return all values after replacing some; see ``Mechanism.parameter_values``.

        Parameters
        ----------
        overrides : mapping of str to float, array (...) or str
        swept : collection of str
            Parameters whose values are still to come: ranges of what follows them are not checked.

        Returns
        -------
        dict of str to float or array, (...)
        """
        if not overrides:
            return dict(self.defaults)
        replaced = self._replacements(overrides)
        given, order = self.given, self.order
        texts = {name: value for name, value in replaced.items() if isinstance(value, Expression)}
        if texts:
            given, order = self._reordered(texts)
        values: dict[str, Any] = {**self.defaults, **replaced}
        changed, open_ = set(replaced), set(swept)
        for name in order:
            item = given[name]
            if isinstance(item, Expression) and (name in texts or name not in replaced) and open_ & item.names:
                open_.add(name)
            if isinstance(item, Expression) and (name in texts or (name not in changed and changed & item.names)):
                values[name] = evaluate(item, values)
                changed.add(name)
        problems = _not_finite_first(given, values, changed - open_)
        problems = problems or self.violations(values, changed=changed, swept=open_)
        if problems:
            raise DeclarationError(problems)
        return {name: values[name] for name in self.given}

    def violations(
        self, values: Mapping[str, Any], *, changed: set[str] | None = None, swept: Collection[str] = ()
    ) -> list[Problem]:
        """Return every range that is left, of those that depend on changed parameters if these are given.

        Parameters
        ----------
        values : mapping of str to float or array, (...)
            A value for every parameter.
        changed : set of str or None
            None for all ranges.
        swept : collection of str
            Parameters whose values are still to come: their ranges are left out.

        Returns
        -------
        list of Problem
        """
        concerned = [b for b in self.bounds if changed is None or not changed.isdisjoint(b.names)]
        concerned = [bound for bound in concerned if bound.names.isdisjoint(swept)]
        if concerned and self.constants:
            values = dict(values)
            for name, expression in self.constants.items():
                values[name] = evaluate(expression, values)
        return [problem for bound in concerned if (problem := bound.violation(values))]

    def _replacements(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        problems: list[Problem] = []
        replaced: dict[str, Any] = {}
        for name, value in overrides.items():
            if name not in self.given:
                known = f"the parameters are {', '.join(self.given)}" if self.given else "there are no parameters"
                hint = suggestion(name, self.given) or known
                problems.append(Problem(f"unknown parameter '{name}'", hint=hint))
                continue
            try:
                replaced[name] = self._replacement(name, value)
            except DeclarationError as error:
                problems.extend(error.problems)
        if problems:
            raise DeclarationError(problems)
        return replaced

    def _replacement(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return parse_value(value, known=self.given.keys(), field=f"parameters.{name}", is_declared=True)
        if type(value) is float and math.isfinite(value):  # the usual case, without arrays
            return value
        try:
            array = np.asarray(float(value) if type(value) in (Fraction, int) else value)
        except OverflowError:
            array = np.asarray(np.inf)
        except ValueError:  # rows of different lengths
            array = np.asarray(None)
        if array.dtype.kind not in "iufc":
            raise DeclarationError(Problem("must be a number or an array of numbers", f"parameters.{name}"))
        array = array * 1.0
        if not np.all(np.isfinite(array)):
            raise DeclarationError(_not_finite(name))
        return array[()] if array.ndim or array.dtype.kind == "c" else float(array)

    def _reordered(self, texts: Mapping[str, Expression]) -> tuple[dict[str, float | Expression], tuple[str, ...]]:
        given = {**self.given, **texts}
        expressions = {name: item for name, item in given.items() if isinstance(item, Expression)}
        order, problems = ordered(expressions, field="parameters")
        if problems:
            raise DeclarationError(problems)
        return given, (*(name for name in given if name not in expressions), *order)


# A number and, without a sign between them, what may be its unit.
_MEASURED = re.compile(
    r"\s*(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(?P<unit>[^\W\d_].*|[°%].*)"
)

_LONGEST = 100  # characters of a number with its unit


def parse_value(
    text: str, *, known: Collection[str], field: str, path: tuple[str | int, ...] = (), is_declared: bool = False
) -> Expression:
    """The value of a parameter, read from its text.

    Parameters
    ----------
    text : str
        An expression.
    known : collection of str
        The names that may occur.
    field, path
        Where the text stands, for messages.
    is_declared : bool
        Whether it replaces a value whose unit is declared elsewhere.

    Returns
    -------
    Expression

    Raises
    ------
    DeclarationError
        As of `parse_expression`; with the place of the unit for a number that is followed by one.

    Examples
    --------
    >>> parse_value("9.81 m/s^2", known=["m"], field="g")
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: g (column 6): a value holds no unit; write { value = 9.81, unit = "m/s^2" }
    """
    try:
        return parse_expression(text, known=known, field=field, path=path)
    except DeclarationError:
        measured = _MEASURED.fullmatch(text) if len(text) <= _LONGEST else None
        if measured is None or not (math.isfinite(float(measured["number"])) and _is_unit(measured["unit"].strip())):
            raise
    number, unit = repr(float(measured["number"])).removesuffix(".0"), measured["unit"].strip()
    hint = f'write {{ value = {number}, unit = "{unit}" }}'
    if is_declared:
        hint = f"give the number alone, {number}, in the unit that is declared"
    elif unit in known:
        hint = f"{hint}, or {number}*{unit} for a product"
    column = measured.start("unit") + 1
    raise DeclarationError(Problem("a value holds no unit", field, column=column, hint=hint, path=path)) from None


def _is_unit(text: str) -> bool:
    try:
        read_unit(text)
    except UnitError:
        return False
    return True


def _not_finite_first(
    given: Mapping[str, float | Expression], values: Mapping[str, Any], changed: set[str]
) -> list[Problem]:
    """List values that are not finite, but not those that are so because of another."""
    infinite = {name for name in changed if not _is_finite(values[name])}
    if not infinite:
        return []
    return [
        _not_finite(name)
        for name, item in given.items()
        if name in infinite and not (isinstance(item, Expression) and infinite & item.names)
    ]


def _is_finite(value: Any) -> bool:
    return math.isfinite(value) if isinstance(value, float) else bool(np.all(np.isfinite(value)))


def _not_finite(name: str) -> Problem:
    return Problem("must be a finite number", f"parameters.{name}", path=("parameters", name))


# A quantity and the smaller one of the same part that it must not fall below.
_ABOVE = {"static_friction": "friction", "static_limit": "limit"}


@attrs.frozen
class Read:
    """An entry of the declaration that was read and depends on what it may."""

    entry: Entry
    expression: Expression
    traits: Traits


def bounds(read: list[Read], scope: Scope) -> dict[str, Any]:
    """The fields ``bounds`` and ``constants`` of ``Parameters``.

    Parameters
    ----------
    read : list of Read
        All entries that could be read.
    scope : Scope

    Returns
    -------
    dict
        ``bounds``: a tuple of Bound, one for each entry made of parameters only whose role has a range. ``constants``:
        a mapping of the definitions that these use, each after those that it uses itself.
    """
    constant = {item.entry.path: item for item in read if _is_constant(item.traits, scope)}
    found: list[Bound] = []
    for path, item in constant.items():
        role = item.entry.role
        floor = constant.get((*path[:-1], _ABOVE.get(str(path[-1]), "")))
        if role.low == float("-inf"):
            continue
        found.append(
            Bound(
                expression=item.expression,
                names=item.traits.names | (floor.traits.names if floor else frozenset()),
                field=item.entry.field,
                path=path,
                low=role.low,
                high=role.high,
                positive=role.positive,
                above=floor.expression if floor else None,
                above_name=str(floor.entry.path[-1]) if floor else "",
            )
        )
    return {"bounds": tuple(found), "constants": _constants(found, scope)}


def _is_constant(traits: Traits, scope: Scope) -> bool:
    return all(scope.kinds[name] == "parameter" for name in traits.names)


def _constants(found: list[Bound], scope: Scope) -> Mapping[str, Expression]:
    """Return the definitions that the bounds use, each after those that it uses itself."""
    needed: set[str] = set()
    pending = [expression for bound in found for expression in (bound.expression, bound.above) if expression]
    while pending:
        new = pending.pop().names & scope.definitions.keys() - needed
        needed |= new
        pending += [scope.definitions[name] for name in new]
    return {name: scope.definitions[name] for name in scope.traits if name in needed}
