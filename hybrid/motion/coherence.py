"""Ties: several modes give the same forces at a state, and the one that its own flow keeps consistent is followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import GuardKind
from hybrid.motion.events import is_known_zero
from hybrid.motion.rest import Rest
from hybrid.motion.spatial_slip import references, while_it_begins
from hybrid.motion.steps import PLACES, Stepper
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.motion.context import Choice, Context
    from hybrid.motion.events import Watch

Array = NDArray[np.float64]

_NOISE = ROUNDING  # relative to the guard's values over a trial step; forces have about 1e-14 of rounding
_DISTINCT = 4.0  # roundings by which an inequality must differ from zero
_SOON: Array = np.concatenate([[0.0], 2.0 ** np.arange(-30, 1)])


def is_coherent(context: Context, choice: Choice, t: float, q: Array, v: Array, t_end: float) -> bool:
    """Whether the inequalities of a mode that are tight at a state become satisfied along its own flow.

    The sign of the first non-vanishing derivative decides, read off a trial step: the first of its points at which
    the inequality differs from zero.

    Parameters
    ----------
    context : Context
    choice : Choice
    t : float
    q, v : array, (n,)
    t_end : float

    Returns
    -------
    bool
    """
    constraints = context.constraints(choice, t, q)
    q, v = constraints.project(t, q, v)
    y = np.concatenate([q, v])
    watch = context.watch(choice, t, q, v, with_users=False)
    known = references(constraints, t, y, choice.directions, watch.settings)
    watch.flow.set_references(known)
    if constraints.hold_everything(t, q, v):
        rest = Rest(watch, t, y, t_end).step()
        values = watch.oriented(rest.time(_SOON), np.repeat(y[:, None], len(_SOON), axis=1))
        # what comes soon decides, also where it is little next to what comes later
        return _stays_positive(watch, values, np.maximum.accumulate(np.abs(values), axis=1))
    step = Stepper(watch.flow.derivative, t, y, t_end, while_it_begins(watch, known)).step()
    if step is None:
        return False
    values = watch.oriented(step.time(PLACES), step.at_places())
    return _stays_positive(watch, values, np.max(np.abs(values), axis=1, keepdims=True))


def _stays_positive(watch: Watch, values: Array, sizes: Array) -> bool:
    for position, guard in enumerate(watch.guards):
        if guard.kind is GuardKind.SINGULAR:
            continue
        row = values[position]
        if not is_known_zero(watch, position, row):
            if row[0] < 0:
                return False
            continue
        floor = np.maximum(_NOISE * sizes[position], _DISTINCT * watch.floors.get(position, 0.0))
        clear = np.abs(row - row[0]) > floor
        if clear.any() and row[np.argmax(clear)] < row[0]:
            return False
    return True
