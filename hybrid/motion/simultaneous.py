"""Contacts that land at the same instant: whether the order of their impacts would matter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice, permutations
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.impacts.impact import ImpactProblem, impact_problem
from hybrid.dynamics.state import State
from hybrid.errors import HybridError
from hybrid.motion.failure import in_words
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.motion.context import Context
    from hybrid.motion.selecting import Moment

__all__ = ["order_of_impacts"]

Array = NDArray[np.float64]

_SAME = NOTHING  # of the velocities, each times the square root of its inertia: what rounding of the impacts may change
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
        The contacts that land, two at least.
    together : array, (n,)
        Velocities after the impact of all at once.

    Returns
    -------
    str or None
        A sentence with one order whose outcome differs and its reverse, or that not all orders were tried.
    """
    if context.law is None:
        return None
    single = _Single.posed(context, context.law, moment, touching)
    # velocities of unlike units are compared by the momentum that goes with them
    inertia = np.sqrt(np.diagonal(context.terms(moment.t, moment.q, moment.v).M))
    size = _SAME * float(np.max(inertia * np.maximum(np.abs(moment.v), np.abs(together))))
    for order in islice(permutations(touching), _ORDERS):
        outcome = _one_by_one(single, order)
        if isinstance(outcome, str) or np.max(inertia * np.abs(outcome - together)) > size:
            break
    else:
        count = math.factorial(len(touching))
        if count <= _ORDERS:
            return None
        return (
            f"{', '.join(touching)} land at the same instant; {_ORDERS} of the {count} orders in which the law may be "
            f"applied were tried and have the same outcome"
        )
    least = size / inertia
    known = "; ".join(
        f"{' before '.join(names)}: {_in_words(context, reached, least)}"
        for names, reached in ((order, outcome), (order[::-1], _one_by_one(single, order[::-1])))
    )
    return (
        f"{', '.join(touching)} land at the same instant, and the outcome depends on the order in which the law is "
        f"applied: all at once (followed here): {_in_words(context, together, least)}; {known}"
    )


@attrs.frozen(eq=False)
class _Single:
    """The impact of every contact alone at one position, and the velocities at which it was posed."""

    law: AbstractImpactLaw
    problems: Mapping[str, ImpactProblem]
    v: Array
    slow: Mapping[str, float]

    @classmethod
    def posed(cls, context: Context, law: AbstractImpactLaw, moment: Moment, touching: tuple[str, ...]) -> _Single:
        state, tolerances = State(moment.q, moment.v, moment.t), context.settings.tolerances
        problems = {
            name: impact_problem(context.dynamics, state, tolerances=tolerances, closed=(name,)) for name in touching
        }
        terms = context.terms(moment.t, moment.q, moment.v)
        slow = tolerances.velocity * context.scales(moment.t, moment.q, moment.v, terms).gap_dot
        contacts = context.dynamics.contacts
        return cls(law, problems, moment.v, {name: float(slow[contacts.index(name)]) for name in touching})

    def struck(self, name: str, v: Array) -> Array | None:
        """Velocities after the impact of one contact; None if it does not approach."""
        problem = self.problems[name]
        gamma = problem.gamma + problem.posed.W.T @ (v - self.v)
        if gamma[problem.normals[[element.name for element in problem.elements].index(name)]] >= -self.slow[name]:
            return None
        return v + problem.response_W @ self.law.impulses(attrs.evolve(problem, gamma=gamma)).values


def _one_by_one(single: _Single, order: tuple[str, ...]) -> Array | str:
    """Velocities after single impacts, again and again in one order, or in words why there are none."""
    v = single.v
    try:
        for _ in range(_ROUNDS):
            is_over = True
            for name in order:
                after = single.struck(name, v)
                if after is not None:
                    v, is_over = after, False
            if is_over:
                return v
    except (HybridError, ArithmeticError, ValueError) as error:
        return in_words(error)
    return "the impacts do not end"


def _in_words(context: Context, reached: Array | str, least: Array) -> str:
    """Velocities by name, those within rounding of zero as zero."""
    if isinstance(reached, str):
        return reached
    names = context.dynamics.mechanism.velocities
    known = np.where(np.abs(reached) <= least, 0.0, reached)
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, known, strict=True))
