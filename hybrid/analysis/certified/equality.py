"""Modes whose solutions are one where a condition is met with equality, as sliding without a force is separating."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hybrid.contact.modes import ModeConditions, Row

__all__ = ["shared_solutions"]

Key = tuple[object, ...]
Node = Callable[[Any], int]


def shared_solutions(
    combinations: Sequence[tuple[ModeConditions, ...]], node: Node, negate: Callable[[int], int]
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Which other combinations a solution also belongs to, if one of its inequalities is an equation.

    Asked of combinations that differ in one force element. The inequality, and the equations of the element's mode,
    imply those of its other mode; where these have one solution, it is the same.

    Parameters
    ----------
    combinations : sequence of tuple of ModeConditions
        A mode of each force element, in the same order.
    node, negate : callable
        The node of a coefficient, and of the negative of a node.

    Returns
    -------
    tuple of tuple of tuple of int
        By combination and inequality, in their order: places of the others.

    Examples
    --------
    A contact that slides without a normal force is free; one that is free is closed if it does not accelerate away.

    >>> from hybrid.contact.modes import ActiveElement, ElementKind, solvable_modes
    >>> sliding = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), (-1.0,), 0.5, 0.5)
    >>> combinations = [(mode,) for mode in solvable_modes(sliding)]
    >>> shared_solutions(combinations, lambda value: value, lambda value: -value)
    (((1,),), ((0,),))
    """

    def others(place: int, combination: tuple[ModeConditions, ...], row: Row) -> Iterator[int]:
        for number, other in enumerate(combinations):
            differing = [k for k, mode in enumerate(other) if mode is not combination[k]]
            if differing == [place] and _implies(combination[place], row, other[place], node, negate):
                yield number

    return tuple(
        tuple(tuple(others(k, one, row)) for k, mode in enumerate(one) for row in mode.inequalities)
        for one in combinations
    )


def _implies(mode: ModeConditions, row: Row, other: ModeConditions, node: Node, negate: Callable[[int], int]) -> bool:
    """Whether the equations of a mode, and one of its inequalities as an equation, imply those of another mode."""
    known = [*mode.equations, row]
    keys = {key for item in known for key in _keys(item, node, negate)}
    zeros = {next(iter(item.beta)) for item in known if len(item.beta) == 1 and not item.alpha and _is_zero(item, node)}
    if mode.element.normal in zeros:  # friction is a share of the normal force at most
        zeros |= set(mode.element.tangential)
    return all(
        not keys.isdisjoint(_keys(item, node, negate))
        or (not item.alpha and zeros.issuperset(item.beta) and _is_zero(item, node))
        for item in other.equations
    )


def _is_zero(row: Row, node: Node) -> bool:
    return node(row.constant) == node(0.0)


def _keys(row: Row, node: Node, negate: Callable[[int], int]) -> tuple[Key, Key]:
    """A condition and its negative, which vanish together, for comparison."""
    alpha, beta = ({index: node(value) for index, value in own.items()} for own in (row.alpha, row.beta))
    constant = node(row.constant)
    turned = ({index: negate(value) for index, value in own.items()} for own in (alpha, beta))
    return (_listed(alpha), _listed(beta), constant), (*map(_listed, turned), negate(constant))


def _listed(coefficients: dict[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(coefficients.items()))
