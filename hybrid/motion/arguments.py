"""What a motion is asked for, checked before it is followed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hybrid.contact.activity import Activity
from hybrid.contact.domain import check_inertia
from hybrid.contact.impacts.impact import AbstractImpactLaw
from hybrid.dynamics.consistency import check_consistency
from hybrid.errors import StateError
from hybrid.motion.pointwise import PointTerms
from hybrid.motion.rules import SelectionRule
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = ["check_arguments", "check_start"]


def check_arguments(
    dynamics: Dynamics,
    state: State,
    *,
    t_end: float,
    parameters: Values | None = None,
    law: object = None,
    rule: object = None,
    tolerances: Tolerances = Tolerances(),
) -> None:
    """Refuse a start that is no state of the mechanism or has no inertia, an end before it, and what is no law or rule.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    t_end : float
    parameters : mapping, optional
        Values that replace those of the declaration.
    law, rule : object, optional
    tolerances : Tolerances, optional

    Returns
    -------
    None
        A motion can be followed with these arguments.

    Raises
    ------
    StateError
        Says what is wrong with which argument.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> check_arguments(derive(mechanisms.load("bouncing_ball")), State([1, 0], [0, 0]), t_end=1)
    Traceback (most recent call last):
    ...
    hybrid.errors.StateError: bouncing_ball has 1 coordinates: q and v must have the shape (1,), not (2,) and (2,)
    """
    n = dynamics.n
    if state.q.shape != (n,) or state.v.shape != (n,):
        raise StateError(
            f"{dynamics.name} has {n} coordinates: q and v must have the shape ({n},), "
            f"not {state.q.shape} and {state.v.shape}"
        )
    if not (np.isfinite(state.q).all() and np.isfinite(state.v).all() and math.isfinite(state.t)):
        raise StateError(f"the state at the start must be finite: q = {state.q}, v = {state.v}, t = {state.t:g}")
    if not (math.isfinite(t_end) and t_end > state.t):
        raise StateError(f"t_end must be a time later than the start, t = {state.t:g}; it is {t_end:g}")
    if not (law is None or isinstance(law, AbstractImpactLaw)):
        raise StateError(f"law must be a law of impact, such as hybrid.contact.EnergeticImpact(), not {law!r}")
    if not (rule is None or isinstance(rule, SelectionRule)):
        raise StateError(f"rule must be a rule, such as hybrid.motion.Stop(), not {rule!r}")
    terms = PointTerms(dynamics)(state.t, state.q, state.v)
    check_inertia(dynamics, state, terms, rank=tolerances.rank)


def check_start(
    dynamics: Dynamics,
    state: State,
    activities: Mapping[str, Activity],
    *,
    collides: bool,
    tolerances: Tolerances = Tolerances(),
) -> None:
    """Refuse a start that a motion cannot have: within a surface, off a rigid constraint, or into one without a law.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    activities : mapping of str to Activity
        What the contacts do at the state.
    collides : bool
        True if something decides impacts.
    tolerances : Tolerances, optional

    Returns
    -------
    None
        A motion can start there.

    Raises
    ------
    StateError
        Names the contact or the constraint.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> ball, state = derive(mechanisms.load("bouncing_ball")), State([-1.0], [0.0])
    >>> check_start(ball, state, {"floor": Activity.PENETRATING}, collides=True)
    Traceback (most recent call last):
    ...
    hybrid.errors.StateError: contact 'floor' penetrates at the start: gap = -1; start with gap >= 0
    """
    terms = PointTerms(dynamics)(state.t, state.q, state.v)
    for name, gap, rate in zip(dynamics.contacts, terms.gap, terms.gap_dot, strict=True):
        if activities[name] is Activity.PENETRATING:
            raise StateError(penetration(name, gap))
        if activities[name] is Activity.APPROACHING and not collides:
            raise StateError(approach(name, rate))
    check_consistency(dynamics, state, tolerances=tolerances)


def penetration(name: str, gap: float) -> str:
    """Why a start within a surface is refused.

    Parameters
    ----------
    name : str
        Of the contact.
    gap : float

    Returns
    -------
    str
    """
    return f"contact {name!r} penetrates at the start: gap = {gap:.6g}; start with gap >= 0"


def approach(name: str, rate: float) -> str:
    """Why a start that collides is refused where no law decides impacts.

    Parameters
    ----------
    name : str
        Of the contact.
    rate : float
        Of its gap.

    Returns
    -------
    str
    """
    return f"contact {name!r} is closed and approaches at the start (gap_dot = {rate:.6g}): give an impact law"
