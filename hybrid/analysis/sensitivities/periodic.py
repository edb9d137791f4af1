"""Periodic motions through impacts and stick-slip by Newton's method, and their Floquet multipliers.

One period of a motion from a trial start: how far it is from closing, and the derivatives of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.event_map import Replay, admissible
from hybrid.analysis.sensitivities.mode_system import evaluate_point
from hybrid.analysis.sensitivities.passes import not_finite, tangents_along
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.repetition import why_not_periodic
from hybrid.analysis.sensitivities.replay import replay
from hybrid.analysis.sensitivities.smoothness import switch_refusal
from hybrid.analysis.sensitivities.start_slopes import parameter_chain, text_slopes
from hybrid.arguments import checks_arguments
from hybrid.declaration import evaluate
from hybrid.dynamics.derive import bound
from hybrid.dynamics.partials import CompiledExpression, Partials, compile_expression, partial_derivatives
from hybrid.dynamics.state import State, cyclic_coordinates
from hybrid.errors import ComputationError, StateError
from hybrid.motion.simulate import simulate
from hybrid.tolerances import CLEAR, INTEGRATED, LEAST, RANK, ROUNDING

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.motion.trajectory import Trajectory

__all__ = ["ON_CIRCLE", "PeriodicMotion", "Shooting", "Shot", "StabilityChange", "periodic_motion"]


Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Shot:
    """One period from a trial start.

    Attributes
    ----------
    x : array, (2n,)
    T, t : float
        Duration and time of the start.
    motion : Replay
    matrix : array, (2n, 2n)
        Derivative of the end with respect to the start.
    parameter : array, (2n,)
        Derivative of the end with respect to the continuation's parameter, at fixed duration.
    residual : array, (2n + 1,)
        What must vanish: ``end - x`` without drift, and the section, or what the duration lacks of a given period.
    size : float
        The residual relative to the states.
    free : array, (2n, d)
        Directions that the mode at the start allows.
    """

    x: Array
    T: float
    t: float
    motion: Replay
    matrix: Array
    parameter: Array
    residual: Array
    size: float
    free: Array

    @property
    def flow(self) -> Array:
        """Velocities and accelerations where it ends, (2n,)."""
        return evaluate_point(self.motion.segments[-1].system, self.motion.t_end, self.motion.end).f


@attrs.frozen(eq=False)
class Shooting:
    """What stays the same while a periodic motion is sought.

    Attributes
    ----------
    dynamics : Dynamics
    partials : Partials
    law : AbstractImpactLaw or None
    section : CompiledExpression or None
    drift : tuple of str
    parameter : str or None
        The continuation's parameter.
    period : float or str
    """

    dynamics: Dynamics
    partials: Partials
    law: AbstractImpactLaw | None
    section: CompiledExpression | None
    drift: tuple[str, ...]
    parameter: str | None
    period: float | str

    @classmethod
    def of(
        cls,
        dynamics: Dynamics,
        *,
        section: str | None,
        drift: Sequence[str],
        law: AbstractImpactLaw | None,
        period: float | str,
        parameter: str | None = None,
        parameters: Values | None = None,
    ) -> Shooting:
        """Check the names and compile what is needed."""
        cyclic = cyclic_coordinates(dynamics)
        wrong = [name for name in drift if name not in cyclic]
        if wrong:
            known = ", ".join(cyclic) or "none"
            raise StateError(f"{', '.join(wrong)} cannot drift: forces or gaps depend on it; cyclic are {known}")
        changing: tuple[str, ...] = ()
        if parameter is not None:
            changing, _ = parameter_chain(dynamics, [parameter], parameters=parameters)
        compiled = None
        if section is not None:
            compiled = compile_expression(dynamics, section, parameters=changing, field="section")
        partials = partial_derivatives(dynamics, changing)
        return cls(dynamics, partials, law, compiled, tuple(drift), parameter, period)

    def period_of(self, parameters: Values) -> float:
        """The period, or its guess, at parameters."""
        if not isinstance(self.period, str):
            return float(self.period)
        mechanism = self.dynamics.mechanism
        expression = mechanism.expression(self.period, field="period")
        return float(evaluate(expression, mechanism.parameter_values(parameters)))

    def period_slope(self, parameters: Values) -> float:
        """Derivative of a given period with respect to the continuation's parameter."""
        if self.parameter is None or self.section is not None or not isinstance(self.period, str):
            return 0.0
        return float(text_slopes(self.dynamics, self.period, [self.parameter], parameters=parameters)[0])

    def chain(self, parameters: Values) -> Array:
        """How all parameters follow the continuation's, (c, 1)."""
        if self.parameter is None:
            return np.zeros((0, 1))
        return parameter_chain(self.dynamics, [self.parameter], parameters=parameters)[1]

    def shoot(self, x: Array, T: float, t: float, parameters: Values) -> Shot | Refusal:
        """Follow one period.

        Parameters
        ----------
        x : array, (2n,)
        T, t : float
        parameters : mapping

        Returns
        -------
        Shot, or Refusal
        """
        n = self.dynamics.n
        state = State(x[:n], x[n:], t)
        if not T > 0.0:
            return Refusal(t, f"a period of {T:.6g} was tried", is_proven=False)
        try:
            trajectory = simulate(self.dynamics, state, t_end=t + T, law=self.law, parameters=parameters)
            motion = replay(trajectory, self.partials)
        except (ComputationError, StateError) as error:
            return Refusal(t, str(error), is_proven=False)
        if isinstance(motion, Refusal):
            return motion
        driven = np.concatenate([np.zeros((2 * n + 1, 1)), self.chain(parameters)])
        first = motion.segments[0]
        free, _ = admissible(evaluate_point(first.system, float(first.knots[0]), first.states[0]))
        refusal = switch_refusal(motion, tangents_along(motion, np.concatenate([free, driven], axis=1)))
        if refusal is not None:
            return refusal
        *_, (_, along) = tangents_along(motion, np.concatenate([np.eye(len(driven), 2 * n), driven], axis=1))
        carried = along[-1, : 2 * n]
        if not np.isfinite(carried).all():
            return not_finite(motion, np.concatenate([free, driven], axis=1))
        residual = self._residual(x, motion.end, T, t, parameters)
        size = float(np.max(np.abs(residual)) / max(float(np.max(np.abs(motion.end[self._kept]))), LEAST))
        return Shot(x, T, t, motion, carried[:, :-1], carried[:, -1], residual, size, free[: 2 * n])

    @property
    def _kept(self) -> list[int]:
        """Places of the state that must return."""
        names = self.dynamics.mechanism.coordinates
        return [index for index in range(2 * self.dynamics.n) if index >= len(names) or names[index] not in self.drift]

    def _residual(self, x: Array, end: Array, T: float, t: float, parameters: Values) -> Array:
        gone = np.zeros(len(x) + 1)
        gone[self._kept] = (end - x)[self._kept]
        if self.section is None:
            gone[-1] = T - self.period_of(parameters)
        else:
            gone[-1] = float(self.section.value(np.array([t]), x[None, :], parameters)[0])
        return gone

    def slopes(self, shot: Shot) -> Array:
        """Derivatives of the residual with respect to ``(x, T, parameter)``, (2n + 1, 2n + 2)."""
        size = len(shot.x)
        matrix = np.zeros((size + 1, size + 2))
        flow, kept = shot.flow, self._kept
        matrix[kept, :size] = (shot.matrix - np.eye(size))[kept]
        matrix[kept, size] = flow[kept]
        parameters = shot.motion.trajectory.parameters
        matrix[kept, size + 1] = shot.parameter[kept]
        if self.section is not None:
            slope = self.section.slope(np.array([shot.t]), shot.x[None, :], parameters)[0]
            matrix[size, :size] = slope[:size]
            matrix[size, size + 1] = slope[size + 1 :] @ self.chain(parameters)[:, 0]
        else:
            matrix[size, size], matrix[size, size + 1] = 1.0, -self.period_slope(parameters)
        return matrix

    def correction(self, shot: Shot) -> Array:
        """Newton's change of ``(x, T)``, (2n + 1,)."""
        size = len(shot.x)
        basis = np.zeros((size + 1, shot.free.shape[1] + 1))
        basis[:size, :-1], basis[size, -1] = shot.free, 1.0
        matrix = self.slopes(shot)[:, : size + 1] @ basis
        return np.asarray(-basis @ np.linalg.lstsq(matrix, shot.residual, rcond=ROUNDING)[0])

    def why_not_periodic(self, shot: Shot) -> str:
        """What keeps a shot that closes from being a periodic motion; empty if nothing does."""
        return why_not_periodic(shot.motion.trajectory, self._kept, shot.flow, self.section)

    def multipliers(self, shot: Shot) -> NDArray[np.complex128]:
        """Floquet multipliers by falling modulus."""
        matrix = shot.matrix
        drop = 0
        if self.section is not None:
            flow, parameters = shot.flow, shot.motion.trajectory.parameters
            slope = self.section.slope(np.array([shot.t]), shot.x[None, :], parameters)[0, : len(flow)]
            matrix = matrix - np.outer(flow, slope @ matrix) / (slope @ flow)
            drop = 1  # the zero that stands for the trivial multiplier
        kept = self._kept
        free = _basis(shot.free[kept])
        found = np.linalg.eigvals(np.linalg.pinv(free) @ matrix[np.ix_(kept, kept)] @ free)
        ordered = found[np.argsort(-np.abs(found), kind="stable")]
        return np.asarray(ordered[: len(ordered) - drop], dtype=np.complex128)


def _basis(columns: Array) -> Array:
    """An orthonormal basis of the span of columns."""
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, singular > RANK * max(float(singular[0]), LEAST)])


_ITERATIONS = 30
_CLOSED = INTEGRATED  # of the size of the states
_HALVINGS = 8
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
        What is left of ``x(T) - x``, relative to the states.
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
    dynamics = bound(dynamics, None)
    shooting = Shooting.of(dynamics, section=section, drift=drift, law=law, period=period)
    values = dict(parameters or {})
    x, T = np.concatenate([guess.q, guess.v]), shooting.period_of(values)
    found = solve_closed(shooting, x, T, guess.t, values)
    return found if isinstance(found, Refusal) else periodic_of(shooting, found)


def solve_closed(shooting: Shooting, x: Array, T: float, t: float, parameters: Values) -> Shot | Refusal:
    """A closed motion by Newton's method, with shorter steps where a full one leads farther away.

    Parameters
    ----------
    shooting : Shooting
    x : array, (2n,)
        First guess of the start.
    T : float
        First guess of the period.
    t : float
        Time of the start.
    parameters : mapping
        Values in place of the declared ones.

    Returns
    -------
    Shot or Refusal
        The first shot that closes, or why a motion on the way has no derivative.

    Raises
    ------
    ComputationError
        No motion closes within the iterations allowed.
    """
    shot = shooting.shoot(x, T, t, parameters)
    for _ in range(_ITERATIONS):
        if isinstance(shot, Refusal):
            return shot
        if shot.size <= _CLOSED:
            if reason := shooting.why_not_periodic(shot):
                raise ComputationError(reason)
            return shot
        change = shooting.correction(shot)
        shot = _stepped(shooting, shot, change, parameters)
    raise ComputationError(f"Newton's method found no periodic motion in {_ITERATIONS} steps; give a closer guess")


def _stepped(shooting: Shooting, shot: Shot, change: Array, parameters: Values) -> Shot | Refusal:
    step, refused = 1.0, None
    for _ in range(_HALVINGS):
        trial = shooting.shoot(shot.x + step * change[:-1], shot.T + step * change[-1], shot.t, parameters)
        if isinstance(trial, Refusal):
            refused = trial
        elif trial.size < shot.size or trial.size <= _CLOSED:
            return trial
        step /= 2
    if refused is not None:
        return refused
    raise ComputationError(
        f"Newton's method stalls before the motion closes: {shot.size:.3g} of the states is left; give a closer guess"
    )


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
