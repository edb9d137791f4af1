"""Contacts that touch: closed, and not separating already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.scales import scales_of
from hybrid.errors import StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State

__all__ = ["closed_contacts"]


def closed_contacts(
    dynamics: Dynamics,
    state: State,
    *,
    wanted: str,
    tolerances: Tolerances = Tolerances(),
) -> NDArray[np.bool_]:
    """Which contacts are closed; at least one of them must not separate already.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    wanted : str
        What there is none of without such a contact, for the error: ``"impact"``.
    parameters, tolerances : optional

    Returns
    -------
    array of bool, (k,)

    Raises
    ------
    StateError
        Every contact is open or separates; with gap and rate of each.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> closed_contacts(ball, solve_state(ball, {"gap_dot.floor": -1}), wanted="impact").tolist()
    [True]
    """
    terms = dynamics.terms(state.q, state.v, t=state.t)
    scales = scales_of(dynamics, terms, state.q, state.v, t=state.t)
    closed = np.asarray(terms.gap <= tolerances.gap * scales.gap)
    if not (closed & (terms.gap_dot <= tolerances.velocity * scales.gap_dot)).any():
        gaps = ", ".join(
            f"gap.{name} = {gap:.6g}, gap_dot.{name} = {rate:.6g}"
            for name, gap, rate in zip(dynamics.contacts, terms.gap, terms.gap_dot, strict=True)
        )
        if not gaps:
            raise StateError(f"{dynamics.name} has no unilateral contact, so there is no {wanted}")
        first = dynamics.contacts[0]
        raise StateError(
            f"no contact is closed that does not separate already, so there is no {wanted}: {gaps}; pin gap.{first}=0 "
            f"and gap_dot.{first} not above 0"
        )
    return closed
