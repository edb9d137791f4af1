"""The jump of the velocities at an impact as relations, for programs that have no impact law of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.laws import friction_of
from hybrid.automaton.notation import fresh_symbol
from hybrid.contact.active_elements import ElementKind

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton
    from hybrid.contact.table import ForceElement


@attrs.frozen(eq=False)
class ImpactReset:
    """Newton's impact with a friction impulse anywhere in Coulomb's cone.

    Attributes
    ----------
    impulses : tuple of Symbol
    velocity : mapping of Symbol to Expr, or None
        Velocities after the impact; None if their closed form is too long, then any jump is admitted.
    vanishing, positive : tuple of Expr
        Expressions that vanish, and that are not negative.
    """

    impulses: tuple[sympy.Symbol, ...]
    velocity: dict[sympy.Symbol, sympy.Expr] | None
    vanishing: tuple[sympy.Expr, ...]
    positive: tuple[sympy.Expr, ...]


def jump_of(automaton: Automaton, taken: set[str]) -> ImpactReset:
    """The relations between the velocities before and after an impact.

    Every contact obeys ``P_N >= 0``, ``gap P_N = 0``, ``P_N (gap_dot+ + e gap_dot-) = 0`` and ``abs(P_T) <= mu P_N``;
    friction elements, whose force is bounded, transmit no impulse.

    Parameters
    ----------
    automaton : Automaton
    taken : set of str
        Names in use; those of the impulses are added.

    Returns
    -------
    ImpactReset
        Without impulses and velocities if the mechanism has no closed form.
    """
    table, algebra = automaton.table, automaton.algebra
    if algebra is None:
        return ImpactReset((), None, (), ())
    model, write = automaton.dynamics.model, algebra.fractions.expression
    impulse: dict[int, sympy.Symbol] = {}
    for part in automaton.parts:
        if part.has_normal:
            for stem, row in _rows(part, table.normal[part.name], table.tangential[part.name]):
                impulse[row] = fresh_symbol(f"{stem}_{part.name}", taken)
                taken.add(impulse[row].name)
    velocity = {
        v: sympy.Add(v, *(write(row[j]) * symbol for j, symbol in impulse.items() if row[j]))
        for v, row in zip(model.velocities, algebra.response, strict=True)
    }
    vanishing: list[sympy.Expr] = []
    positive: list[sympy.Expr] = []
    for part in automaton.parts:
        if not part.has_normal:
            continue
        normal = table.normal[part.name]
        P = impulse[normal]
        mobility = algebra.G[normal]
        change = sympy.Add(*(write(mobility[j]) * symbol for j, symbol in impulse.items() if mobility[j]))
        if part.kind is ElementKind.CONTACT:
            gap_dot = model.gap_dot[part.index]
            restitution = model.coefficients["restitution"][part.index]
            positive.append(P)
            vanishing += [model.gap[part.index] * P, P * (change + (1 + restitution) * gap_dot)]
        else:
            vanishing.append(change)
        limit = friction_of(automaton.dynamics, part, is_static=False) * (P if part.is_unilateral else sympy.Abs(P))
        tangential = [impulse[row] for row in table.tangential[part.name]]
        if len(tangential) == 1:
            positive += [limit - tangential[0], limit + tangential[0]]
        elif tangential:
            positive.append(limit**2 - sympy.Add(*(component**2 for component in tangential)))
    return ImpactReset(tuple(impulse.values()), velocity, tuple(vanishing), tuple(positive))


def _rows(part: ForceElement, normal: int, tangential: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    yield "P_N", normal
    for axis, row in enumerate(tangential):
        yield "P_T" if len(part.columns) == 1 else f"P_T{axis + 1}", row
