"""Periodic motions through impacts and stick-slip by Newton's method, and their Floquet multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.shooting import Shooting, Shot, solve_closed
from hybrid.arguments import checks_arguments
from hybrid.dynamics.derive import bound
from hybrid.dynamics.state import State
from hybrid.tolerances import CLEAR

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.motion.trajectory import Trajectory

__all__ = ["ON_CIRCLE", "PeriodicMotion", "StabilityChange", "periodic_motion"]

Array = NDArray[np.float64]

ON_CIRCLE = CLEAR  # so close to the unit circle a multiplier is on no side: a double one moves by the root of rounding


@attrs.frozen
class StabilityChange:
    """Where a multiplier crosses the unit circle.

    Attributes
    ----------
    value : float
        Of the parameter.
    kind : str
        ``"fold"`` (multiplier 1), ``"flip"`` (-1) or ``"torus"`` (a complex pair).
    multiplier : complex
    """

    value: float
    kind: str
    multiplier: complex


@attrs.frozen(eq=False)
class PeriodicMotion:
    """A motion that repeats itself; made by :func:`periodic_motion`.

    Attributes
    ----------
    state : State
        Where it starts.
    period : float
    trajectory : Trajectory
        Over one period.
    monodromy : array, (2n, 2n)
        Derivative of the state after one period with respect to that before, at fixed time.
    multipliers : array of complex, (d,)
        Floquet multipliers by falling modulus: eigenvalues of the monodromy matrix on the directions that the mode at
        the start allows, without drifting coordinates; of an autonomous motion those of its Poincaré map on the
        section, so that the trivial multiplier 1 is left out.
    drift : mapping of str to float
        How far each drifting coordinate goes in a period.
    residual : float
        What is left of ``x(T) - x``, relative to the extent of the motion.
    """

    state: State
    period: float
    trajectory: Trajectory
    monodromy: Array
    multipliers: NDArray[np.complex128]
    drift: dict[str, float]
    residual: float

    @property
    def is_stable(self) -> bool:
        """True if every multiplier lies inside the unit circle by more than rounding, as none of a vibration does."""
        return bool(np.all(np.abs(self.multipliers) < 1.0 - ON_CIRCLE))


@checks_arguments
def periodic_motion(
    dynamics: Dynamics,
    guess: State,
    *,
    period: float | str,
    section: str | None = None,
    drift: Sequence[str] = (),
    law: AbstractImpactLaw | None = None,
    parameters: Values | None = None,
) -> PeriodicMotion | Refusal:
    """Find a periodic motion from a guess, by Newton's method with the exact monodromy matrix.

    Parameters
    ----------
    dynamics : Dynamics
    guess : State
        Near the motion, at a time at which no event happens. Its time stays fixed.
    period : float or str
        The period, which may be an expression of parameters (``"2*pi/Omega"``); with a section, a guess of it.
    section : str, optional
        For an autonomous mechanism: an expression that is to be zero at the start, which fixes the phase.
    drift : sequence of str
        Coordinates on which nothing depends and which need not return.
    law : AbstractImpactLaw, optional
    parameters : mapping, optional

    Returns
    -------
    PeriodicMotion, or Refusal
        The latter where the motion found on the way has no derivative, for example because it grazes.

    Raises
    ------
    StateError
        The guess is no state of the mechanism.
    ArgumentError
        The period is not positive.
    ComputationError
        Newton's method does not converge, or leads to a motion that closes once and does not repeat: an equilibrium,
        or a time after which what drives the mechanism is not the same.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> from hybrid.contact.impacts.laws import NewtonImpact
    >>> table = derive(mechanisms.load("ball_on_vibrating_table"))
    >>> found = periodic_motion(table, State([0.015], [0.25], 0.02), period="2*pi/Omega", law=NewtonImpact())
    >>> [round(float(abs(multiplier)), 9) for multiplier in found.multipliers]
    [0.5, 0.5]
    """
    dynamics = bound(dynamics, parameters)
    shooting = Shooting.of(dynamics, section=section, drift=drift, law=law, period=period)
    found = solve_closed(shooting, guess, dynamics)
    return found if isinstance(found, Refusal) else periodic_of(shooting, found)


def periodic_of(shooting: Shooting, shot: Shot) -> PeriodicMotion:
    """The periodic motion of a shot that closes.

    Parameters
    ----------
    shooting : Shooting
    shot : Shot

    Returns
    -------
    PeriodicMotion
    """
    n = shooting.dynamics.n
    names = shooting.dynamics.mechanism.coordinates
    gone = shot.motion.end - shot.x
    return PeriodicMotion(
        state=State(shot.x[:n], shot.x[n:], shot.t),
        period=shot.T,
        trajectory=shot.motion.trajectory,
        monodromy=shot.matrix,
        multipliers=shooting.multipliers(shot),
        drift={name: float(gone[names.index(name)]) for name in shooting.drift},
        residual=shot.size,
    )
