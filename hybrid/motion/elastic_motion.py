"""Motions with springs in place of rigid constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid.arguments import checks_arguments
from hybrid.dynamics.derive import derive
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.motion.recorded import Termination
from hybrid.motion.simulate import simulate
from hybrid.motion.springs import HandOver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.declaration.realisation import Stiffness
    from hybrid.motion.arguments import SelectionRule, Settings
    from hybrid.motion.trajectory import Trajectory

__all__ = ["hand_over"]


@checks_arguments
def hand_over(
    motion: Trajectory,
    *,
    stiffness: Stiffness,
    t_end: float,
    constraints: str | Sequence[str] | None = None,
    length: float | str | None = None,
    law: AbstractImpactLaw | None = None,
    rule: SelectionRule | None = None,
    settings: Settings | None = None,
) -> Trajectory:
    """Go on from a singular configuration with elastic constraints, which have one motion there.

    The springs are unstretched where the rigid motion ended; which branch they follow may depend on their stiffness.
    ``simulate(..., singular=HandOver(...))`` gives both parts as one motion.

    Parameters
    ----------
    motion : Trajectory
        A rigid motion that ended at a singular configuration.
    stiffness : float or str, or a mapping of them by constraint
        As for :func:`hybrid.realise`.
    t_end : float
        When to stop, in s.
    constraints : str or sequence of str, optional
        Which to realise; by default all rigid ones without friction.
    length : float or str, optional
        As for :func:`hybrid.realise`.
    law, rule, settings
        As for :func:`hybrid.simulate`.

    Returns
    -------
    Trajectory
        From the end of the rigid motion on.

    Raises
    ------
    StateError
        The motion did not end at a singular configuration.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, simulate, solve_state
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> rigid = simulate(pendulum, solve_state(pendulum, {"u": 0.5, "u_dot": 0}), t_end=2)
    >>> elastic = hand_over(rigid, stiffness=1e4, t_end=1)
    >>> elastic.t_start == rigid.t, abs(float(elastic.q[1])) > 0.1
    (True, True)
    """
    if motion.termination is not Termination.SINGULAR_CONFIGURATION:
        raise StateError(f"the motion did not end at a singular configuration, but because {motion.termination.value}")
    dynamics = motion.dynamics
    realised = derive(HandOver(constraints, stiffness=stiffness, length=length).realised(dynamics.mechanism))
    return simulate(
        realised,
        State(motion.q, motion.v, motion.t),
        t_end=t_end,
        parameters=motion.parameters,
        law=law,
        rule=rule,
        settings=settings,
    )
