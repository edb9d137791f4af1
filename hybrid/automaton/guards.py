"""Guards: the quantities whose zeros end an arc, and what a mode requires while it lasts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.automaton.notation import text
from hybrid.automaton.structure import CLOSED, FREE, SLIDE, STICK, NodeMode, Part
from hybrid.automaton.view import Measure, Quantity
from hybrid.contact.modes import ContactMode

if TYPE_CHECKING:
    import sympy

    from hybrid.automaton.numeric import ModeSystem
    from hybrid.dynamics.derive import Values


class GuardKind(StrEnum):
    """Why an arc ends."""

    TOUCHDOWN = "touchdown"
    RELEASE = "release"
    REVERSAL = "reversal"
    SLIP = "slip"
    CONE_PLUS = "cone+"
    CONE_MINUS = "cone-"
    CONE = "cone"
    SINGULAR = "singular"
    EXHAUSTED = "exhausted"

    @property
    def sentence(self) -> str:
        """The kind in words."""
        return _SENTENCES[self]


_SENTENCES = {
    GuardKind.TOUCHDOWN: "gap falls to 0",
    GuardKind.RELEASE: "lambda_N falls to 0",
    GuardKind.REVERSAL: "lambda_N changes sign",
    GuardKind.SLIP: "slip reaches 0",
    GuardKind.CONE_PLUS: "lambda_T reaches the friction cone against positive slip",
    GuardKind.CONE_MINUS: "lambda_T reaches the friction cone against negative slip",
    GuardKind.CONE: "abs(lambda_T) reaches the friction cone",
    GuardKind.SINGULAR: "A_s reaches 0",
    GuardKind.EXHAUSTED: "no admissible contact forces are left",
}


@attrs.frozen(eq=False)
class Guard:
    """A function of the state whose zero ends an arc in a mode.

    Calling it evaluates it: ``guard(q, v, t=0.0, parameters={})`` with leading axes that broadcast, as an array (...).

    Attributes
    ----------
    contact : str
        The contact (friction element, constraint) whose guard it is; several names joined by ``+`` where the equations
        of a mode with several sliding contacts become singular together.
    kind : GuardKind
    expression : Expr
        The function in the mechanism's symbols. Unknowns of the node's ``definitions`` may appear where a closed form
        would be too long.
    direction : int
        -1 if it falls through zero, +1 if it rises, 0 for either.
    label : str
        The guard in words.
    """

    contact: str
    kind: GuardKind
    expression: sympy.Expr
    direction: int
    label: str
    quantity: Quantity = attrs.field(repr=False)
    _system: ModeSystem = attrs.field(repr=False)

    @property
    def text(self) -> str:
        """The expression in the language of mechanism files."""
        return text(self.expression)

    def __call__(self, q: Any, v: Any, *, t: Any = 0.0, parameters: Values | None = None) -> NDArray[np.float64]:
        """Evaluate at states, as if the mode held there.

        Parameters
        ----------
        q, v : array_like, (..., n)
        t : array_like, (...), default 0
        parameters : mapping of str to array_like, optional

        Returns
        -------
        array, (...)
            NaN where the mode's equations are singular.
        """
        return np.asarray(self.quantity.of(self._system.solve(q, v, t=t, parameters=parameters)))


@attrs.frozen(eq=False)
class Condition:
    """What a mode requires of a state: ``= 0``, ``> 0``, or lexicographically ``>= 0``.

    Of several expressions the first that does not vanish must be positive: a free contact has ``gap > 0``, or ``gap =
    0`` and ``gap_dot > 0``, or both zero and ``a_N >= 0``.

    Attributes
    ----------
    contact : str
    relation : str
        ``"= 0"``, ``"> 0"`` or ``">= 0"``.
    expressions : tuple of Expr
    label : str
        In words, with the names of the quantities.
    """

    contact: str
    relation: str
    expressions: tuple[sympy.Expr, ...]
    label: str
    quantities: tuple[Quantity, ...] = attrs.field(repr=False)
    _system: ModeSystem = attrs.field(repr=False)

    @property
    def text(self) -> str:
        """The condition in the language of mechanism files."""
        first, *later = [text(expression) for expression in self.expressions]
        words = f"{first} {self.relation}"
        for before, after in zip((first, *later), later, strict=False):
            words += f"; where {before} = 0: {after} {self.relation}"
        return words

    def __call__(
        self,
        q: Any,
        v: Any,
        *,
        t: Any = 0.0,
        parameters: Values | None = None,
        sides: Mapping[str, tuple[float, ...]] | None = None,
    ) -> NDArray[np.float64]:
        """Evaluate the expressions at states.

        Returns
        -------
        array, (..., number of expressions)
        """
        solved = self._system.solve(q, v, t=t, parameters=parameters, sides=sides)
        return np.stack(np.broadcast_arrays(*(quantity.of(solved) for quantity in self.quantities)), axis=-1)


def guard_quantities(
    parts: Sequence[Part], node: NodeMode, *, slides: Sequence[str], is_hyperstatic: bool
) -> Iterator[tuple[GuardKind, str, Quantity, int]]:
    """Kind, contact, quantity and direction of every guard of a mode.

    Parameters
    ----------
    slides : sequence of str
        Sliding contacts whose equations can become singular.
    is_hyperstatic : bool
        Forces are not determined one by one: instead of their signs, the set of admissible forces is watched.
    """
    for part in parts:
        label, side = node.mode[part.name], node.side(part.name)
        if label is FREE:
            yield GuardKind.TOUCHDOWN, part.name, Quantity(Measure.GAP, part), -1
            continue
        if part.has_normal and not is_hyperstatic:
            kind = GuardKind.RELEASE if part.is_unilateral else GuardKind.REVERSAL
            yield kind, part.name, Quantity(Measure.NORMAL_FORCE, part), -side
        if label is STICK and not is_hyperstatic:
            for kind, quantity in _cone(part, side):
                yield kind, part.name, quantity, -1
        elif label is SLIDE:
            yield GuardKind.SLIP, part.name, Quantity(Measure.SLIP_NORM, part), -1
        elif label.slip_sign:
            yield GuardKind.SLIP, part.name, Quantity(Measure.SLIP, part), -label.slip_sign
    if slides:
        yield GuardKind.SINGULAR, "+".join(slides), Quantity(Measure.DETERMINANT, None), 0
    if is_hyperstatic:
        pressing = [part.name for part in parts if node.mode[part.name] is not FREE]
        yield GuardKind.EXHAUSTED, "+".join(pressing), Quantity(Measure.SLACK, None), -1


def _cone(part: Part, side: int) -> tuple[tuple[GuardKind, Quantity], ...]:
    """Distance to the friction cone on both sides, or to the circular one."""
    if len(part.columns) == 2:
        return ((GuardKind.CONE, Quantity(Measure.CONE, part)),)
    plus, minus = Measure.CONE_PLUS, Measure.CONE_MINUS
    if not part.has_normal:
        plus, minus = Measure.LIMIT_PLUS, Measure.LIMIT_MINUS
    return (
        (GuardKind.CONE_PLUS, Quantity(plus, part, side=side)),
        (GuardKind.CONE_MINUS, Quantity(minus, part, side=side)),
    )


def condition_quantities(
    parts: Sequence[Part], node: NodeMode, *, is_hyperstatic: bool
) -> Iterator[tuple[str, str, tuple[Quantity, ...]]]:
    """Contact, relation and quantities of everything a mode requires."""
    for part in parts:
        label, side, name = node.mode[part.name], node.side(part.name), part.name
        gap, gap_dot = Quantity(Measure.GAP, part), Quantity(Measure.GAP_DOT, part)
        if label is FREE:
            yield name, ">= 0", (gap, gap_dot, Quantity(Measure.NORMAL_ACCELERATION, part))
            continue
        if part.is_unilateral:
            yield name, "= 0", (gap,)
            yield name, "= 0", (gap_dot,)
        if part.has_normal and not is_hyperstatic:
            yield name, ">= 0", (Quantity(Measure.NORMAL_FORCE, part, sign=side),)
        if label is STICK:
            for axis in range(len(part.columns)):
                yield name, "= 0", (Quantity(Measure.SLIP, part, axis=axis),)
            for _, quantity in () if is_hyperstatic else _cone(part, side):
                yield name, ">= 0", (quantity,)
        elif label is SLIDE:
            yield name, "> 0", (Quantity(Measure.SLIP_NORM, part),)
        elif label is not CLOSED:
            slip, start = _slipping(part, label)
            yield name, ">= 0", (slip,) if is_hyperstatic else (slip, start)
    if is_hyperstatic:
        yield "", ">= 0", (Quantity(Measure.SLACK, None),)


def _slipping(part: Part, label: ContactMode) -> tuple[Quantity, Quantity]:
    sign = label.slip_sign
    return (
        Quantity(Measure.SLIP, part, sign=sign),
        Quantity(Measure.TANGENTIAL_ACCELERATION, part, sign=sign),
    )
