"""Guards of a node as functions of the state, and what a mode requires while it lasts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Guard, GuardKind, Measure, Quantity, cone_of
from hybrid.contact.modes import ContactMode
from hybrid.dynamics.notation import text

if TYPE_CHECKING:
    import sympy

    from hybrid.automaton.numeric import NodeSystem
    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Values


@attrs.frozen(eq=False)
class GuardFunction:
    """A guard of a node: a function of the state whose zero ends an arc in a mode.

    Calling it evaluates it: ``guard(q, v, t=0.0, parameters={})`` with leading axes that broadcast, as an array (...).

    Attributes
    ----------
    guard : Guard
        What it measures of which force elements.
    expression : Expr
        The function in the mechanism's symbols. Unknowns of the node's ``definitions`` may appear where a closed form
        would be too long.
    label : str
        The guard in words.
    """

    guard: Guard
    expression: sympy.Expr
    label: str
    _system: NodeSystem = attrs.field(repr=False)

    @property
    def contact(self) -> str:
        """The force element; names joined by ``+`` where equations of several contacts become singular together."""
        return "+".join(self.guard.elements)

    @property
    def kind(self) -> GuardKind:
        """Why the arc ends."""
        return self.guard.kind

    @property
    def direction(self) -> int:
        """-1 if it falls through zero, +1 if it rises, 0 for either."""
        return self.guard.direction

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
        quantity, solved = self.guard.quantity, self._system.solve(q, v, t=t, parameters=parameters)
        if quantity is None:
            raise ValueError(f"the guard {self.label!r} measures nothing")
        return np.asarray(quantity.of(solved.view))


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
    quantities : tuple of Quantity
        What the expressions stand for, one for each.
    """

    contact: str
    relation: str
    expressions: tuple[sympy.Expr, ...]
    label: str
    quantities: tuple[Quantity, ...] = attrs.field(repr=False)
    _system: NodeSystem = attrs.field(repr=False)

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
        view = self._system.solve(q, v, t=t, parameters=parameters, sides=sides).view
        return np.stack(np.broadcast_arrays(*(quantity.of(view) for quantity in self.quantities)), axis=-1)


def condition_quantities(
    rows: Sequence[ElementMode], *, is_hyperstatic: bool
) -> Iterator[tuple[str, str, tuple[Quantity, ...]]]:
    """Contact, relation and quantities of everything a mode requires.

    Parameters
    ----------
    rows : sequence of ElementMode
        Of all force elements.
    is_hyperstatic : bool
        The forces are not determined: one condition, that some forces fulfil all inequalities, stands for theirs.

    Returns
    -------
    iterator of (str, str, tuple of Quantity)
        The name of the force element, which is empty for the one condition; ``= 0``, ``>= 0`` or ``> 0``; a quantity,
        and those that decide where the ones before vanish.
    """
    for row in rows:
        name, part, sign = row.name, row.element, row.label.slip_sign
        gap, gap_dot = Quantity(Measure.GAP, part), Quantity(Measure.GAP_DOT, part)
        if row.is_open:
            yield name, ">= 0", (gap, gap_dot, Quantity(Measure.NORMAL_ACCELERATION, part))
            continue
        if part.is_unilateral:
            yield name, "= 0", (gap,)
            yield name, "= 0", (gap_dot,)
        if part.has_normal and not is_hyperstatic:
            yield name, ">= 0", (Quantity(Measure.NORMAL_FORCE, part, sign=int(row.side)),)
        if row.sticks:
            for axis in range(len(part.columns)):
                yield name, "= 0", (Quantity(Measure.SLIP, part, axis=axis),)
            for _, quantity in () if is_hyperstatic else cone_of(row):
                yield name, ">= 0", (quantity,)
        elif row.label is ContactMode.SLIDE:
            yield name, "> 0", (Quantity(Measure.SLIP_NORM, part),)
        elif row.slides:
            slip = Quantity(Measure.SLIP, part, sign=sign)
            start = Quantity(Measure.TANGENTIAL_ACCELERATION, part, sign=sign)
            yield name, ">= 0", (slip,) if is_hyperstatic else (slip, start)
    if is_hyperstatic:
        yield "", ">= 0", (Quantity(Measure.SLACK, None),)
