"""How long the first step of an arc may be where a contact opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.motion.arcs import touch_limit

if TYPE_CHECKING:
    from hybrid.motion.context import Choice, Context

__all__ = ["first_step_limit"]


def first_step_limit(context: Context, choice: Choice, t: float, y: NDArray[np.float64]) -> float | None:
    """Largest first step of a mode's arc, so that no bounce of a contact that opens is stepped over.

    Parameters
    ----------
    context : Context
    choice : Choice
    t : float
    y : array, (2n,)
        Where the arc starts.

    Returns
    -------
    float or None
        None where no contact opens.
    """
    n = context.dynamics.n
    open_ = [part.index for part in context.flow(choice).parts if part.is_open]
    if not open_:
        return None
    terms = context.terms(t, y[:n], y[n:])
    closed = context.settings.tolerances.gap * context.scales(t, y[:n], y[n:], terms).gap
    near = [index for index in open_ if terms.gap[index] <= closed[index]]
    if not near:
        return None
    acceleration = context.flow(choice).observe(np.array([t]), y[:, None]).acceleration[:, 0]
    rates = [float(terms.gap_dot[index]) for index in near]
    normal = [float(terms.W_N[:, index] @ acceleration + terms.zeta_N[index]) for index in near]
    return touch_limit(rates, normal, [float(terms.gap[index]) for index in near])
