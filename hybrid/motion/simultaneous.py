"""Contacts that land at the same instant: whether the order of their impacts would matter."""

from __future__ import annotations

from itertools import islice, permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.impacts.impact import resolve_impact
from hybrid.dynamics.state import State

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.motion.context import Context
    from hybrid.motion.selecting import Moment

__all__ = ["order_of_impacts"]

Array = NDArray[np.float64]

_SAME = 1e-9  # of the velocities: what rounding of the impacts may change
_ROUNDS = 100  # of single impacts, until none approaches
_ORDERS = 24  # all orders of four contacts


def order_of_impacts(context: Context, moment: Moment, touching: tuple[str, ...], together: Array) -> str | None:
    """Tell where contacts that land together would end with other velocities if they landed one after the other.

    Parameters
    ----------
    context : Context
        With an impact law.
    moment : Moment
        Before the impact.
    touching : tuple of str
        The contacts that land.
    together : array, (n,)
        Velocities after the impact of all at once.

    Returns
    -------
    str or None
        A sentence with the orders and their outcomes.
    """
    if len(touching) < 2 or context.law is None:
        return None
    orders = list(islice(permutations(touching), _ORDERS))
    outcomes = [_one_by_one(context, context.law, moment, order) for order in orders]
    size = _SAME * (1.0 + float(np.max(np.abs(together))))
    if all(v is not None and np.max(np.abs(v - together)) <= size for v in outcomes):
        return None
    told = "; ".join(
        f"{' before '.join(order)}: {_in_words(context, v)}" for order, v in zip(orders[:2], outcomes[:2], strict=True)
    )
    return (
        f"{', '.join(touching)} land at the same instant, and the outcome depends on the order in which the law is "
        f"applied: all at once (followed here): {_in_words(context, together)}; {told}"
    )


def _one_by_one(context: Context, law: AbstractImpactLaw, moment: Moment, order: tuple[str, ...]) -> Array | None:
    """Velocities after single impacts, again and again in one order; None if they do not end."""
    v, tolerance = moment.v, context.settings.tolerances.velocity
    for _ in range(_ROUNDS):
        is_over = True
        for name in order:
            rate = context.terms(moment.t, moment.q, v).gap_dot[context.dynamics.contacts.index(name)]
            if rate < -tolerance:
                is_over = False
                state = State(moment.q, v, moment.t)
                v = resolve_impact(
                    context.dynamics, state, law=law, parameters=context.parameters, closed=(name,)
                ).v_after
        if is_over:
            return v
    return None


def _in_words(context: Context, v: Array | None) -> str:
    if v is None:
        return "the impacts do not end"
    names = context.dynamics.mechanism.velocities
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, v + 0.0, strict=True))
