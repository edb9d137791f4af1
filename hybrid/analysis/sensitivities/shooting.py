"""One period of a motion from a trial start: how far it is from closing, the derivatives of that, Newton's method.

What closes once is followed once more: an equilibrium and a load that is another a period later close as well.
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
from hybrid.analysis.sensitivities.replay import replay
from hybrid.analysis.sensitivities.smoothness import switch_refusal
from hybrid.analysis.sensitivities.start_slopes import parameter_chain, text_slopes
from hybrid.declaration import evaluate, parse_expression
from hybrid.dynamics.equations import Terms
from hybrid.dynamics.partials import CompiledExpression, Partials, compile_expression, partial_derivatives
from hybrid.dynamics.state import State, check_state, cyclic_coordinates
from hybrid.errors import ArgumentError, ComputationError, StateError
from hybrid.motion.recorded import Termination
from hybrid.motion.simulate import simulate
from hybrid.tolerances import AGREEING, CLEAR, INTEGRATED, LEAST, RANK, ROUNDING

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.trajectory import Trajectory

__all__ = ["Shooting", "Shot", "solve_closed"]

Array = NDArray[np.float64]

_ITERATIONS = 30
_CLOSED = INTEGRATED  # of the extent of the motion
_HALVINGS = 8
_SAMPLES = 64
_OFFSET = (3 - np.sqrt(5)) / 2
_SHARES = (_OFFSET, np.sqrt(0.5))  # of the period, by which times are shifted
_MOVES = 100 * INTEGRATED  # of the states: what moves less is not told from what stays


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
        The residual relative to the extent of the motion.
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
    ) -> Shooting:
        """Check the names and compile what is needed."""
        cyclic = cyclic_coordinates(dynamics)
        wrong = [name for name in drift if name not in cyclic]
        if wrong:
            known = ", ".join(cyclic) or "none"
            raise StateError(f"{', '.join(wrong)} cannot drift: forces or gaps depend on it; cyclic are {known}")
        changing: tuple[str, ...] = ()
        if parameter is not None:
            changing, _ = parameter_chain(dynamics, [parameter])
        compiled = None
        if section is not None:
            compiled = compile_expression(dynamics, section, parameters=changing, field="section")
        partials = dynamics.once(partial_derivatives, changing)
        return cls(dynamics, partials, law, compiled, tuple(drift), parameter, period)

    def period_of(self, dynamics: Dynamics) -> float:
        """The period, or its guess, at parameters."""
        if not isinstance(self.period, str):
            return float(self.period)
        known = dynamics.values
        return float(evaluate(parse_expression(self.period, known=known.keys(), field="period"), known))

    def period_slope(self, dynamics: Dynamics) -> float:
        """Derivative of a given period with respect to the continuation's parameter."""
        if self.parameter is None or self.section is not None or not isinstance(self.period, str):
            return 0.0
        return float(text_slopes(dynamics, self.period, [self.parameter])[0])

    def chain(self, dynamics: Dynamics) -> Array:
        """How all parameters follow the continuation's, (c, 1)."""
        if self.parameter is None:
            return np.zeros((0, 1))
        return parameter_chain(dynamics, [self.parameter])[1]

    def shoot(self, x: Array, T: float, t: float, dynamics: Dynamics) -> Shot | Refusal:
        """Follow one period.

        Parameters
        ----------
        x : array, (2n,)
        T, t : float
        dynamics : Dynamics
            At the values of the parameters.

        Returns
        -------
        Shot, or Refusal
        """
        n = self.dynamics.n
        state = State(x[:n], x[n:], t)
        if not T > 0.0:
            return Refusal(t, f"a period of {T:.6g} was tried", is_proven=False)
        try:
            trajectory = _followed(dynamics, state, t + T, self.law)
            motion = replay(trajectory, self.partials)
        except (ComputationError, StateError) as error:
            tried = f"Newton's method tried the start q = {state.q}, v = {state.v}"
            return Refusal(t, f"{tried}: {error}", is_proven=False)
        if isinstance(motion, Refusal):
            return motion
        driven = np.concatenate([np.zeros((2 * n + 1, 1)), self.chain(dynamics)])
        first = motion.segments[0]
        free, _ = admissible(evaluate_point(first.system, float(first.knots[0]), first.states[0]))
        refusal = switch_refusal(motion, tangents_along(motion, np.concatenate([free, driven], axis=1)))
        if refusal is not None:
            return refusal
        *_, (_, along) = tangents_along(motion, np.concatenate([np.eye(len(driven), 2 * n), driven], axis=1))
        carried = along[-1, : 2 * n]
        if not np.isfinite(carried).all():
            return not_finite(motion, np.concatenate([free, driven], axis=1))
        residual = self._residual(x, motion.end, T, t, dynamics)
        size = self._size(residual, motion, T, t, dynamics)
        return Shot(x, T, t, motion, carried[:, :-1], carried[:, -1], residual, size, free[: 2 * n])

    @property
    def _kept(self) -> list[int]:
        """Places of the state that must return."""
        names = self.dynamics.mechanism.coordinates
        return [index for index in range(2 * self.dynamics.n) if index >= len(names) or names[index] not in self.drift]

    def _residual(self, x: Array, end: Array, T: float, t: float, dynamics: Dynamics) -> Array:
        gone = np.zeros(len(x) + 1)
        gone[self._kept] = (end - x)[self._kept]
        if self.section is None:
            gone[-1] = T - self.period_of(dynamics)
        else:
            gone[-1] = float(self.section.value(np.array([t]), x[None, :], dynamics)[0])
        return gone

    def _size(self, residual: Array, motion: Replay, T: float, t: float, dynamics: Dynamics) -> float:
        """The largest part of a residual, relative to the extent of the motion or to what is rounding of a state."""
        states = np.concatenate([segment.states for segment in motion.segments])
        kept, extents = self._kept, np.ptp(states, axis=0)
        q, v = np.split(np.max(np.abs(states), axis=0), 2)
        rounded = ROUNDING / _CLOSED * np.concatenate([np.maximum(q, T * v), np.maximum(q / T, v)])
        units = np.append(np.maximum(np.max(extents[kept], initial=LEAST), rounded), T)
        if self.section is not None:
            slope = self.section.slope(np.array([t]), states[:1], dynamics)[0, : len(rounded)]
            units[-1] = max(float(np.abs(slope) @ np.maximum(extents, rounded)), LEAST)
        return float(np.max((np.abs(residual) / units)[[*kept, -1]]))

    def slopes(self, shot: Shot) -> Array:
        """Derivatives of the residual with respect to ``(x, T, parameter)``, (2n + 1, 2n + 2)."""
        size = len(shot.x)
        matrix = np.zeros((size + 1, size + 2))
        flow, kept = shot.flow, self._kept
        matrix[kept, :size] = (shot.matrix - np.eye(size))[kept]
        matrix[kept, size] = flow[kept]
        dynamics = shot.motion.trajectory.dynamics
        matrix[kept, size + 1] = shot.parameter[kept]
        if self.section is not None:
            slope = self.section.slope(np.array([shot.t]), shot.x[None, :], dynamics)[0]
            matrix[size, :size] = slope[:size]
            matrix[size, size + 1] = slope[size + 1 :] @ self.chain(dynamics)[:, 0]
        else:
            matrix[size, size], matrix[size, size + 1] = 1.0, -self.period_slope(dynamics)
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
        return _why_not_periodic(shot.motion.trajectory, self._kept, shot.flow, self.section)

    def multipliers(self, shot: Shot) -> NDArray[np.complex128]:
        """Floquet multipliers by falling modulus."""
        matrix = shot.matrix
        drop = 0
        if self.section is not None:
            flow, dynamics = shot.flow, shot.motion.trajectory.dynamics
            slope = self.section.slope(np.array([shot.t]), shot.x[None, :], dynamics)[0, : len(flow)]
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


def solve_closed(shooting: Shooting, guess: State, dynamics: Dynamics) -> Shot | Refusal:
    """A closed motion by Newton's method, with shorter steps where a full one leads farther away.

    Parameters
    ----------
    shooting : Shooting
    guess : State
        Of the start; its time stays.
    dynamics : Dynamics
        At the values of the parameters.

    Returns
    -------
    Shot or Refusal
        The first shot that closes, or why a motion on the way has no derivative.

    Raises
    ------
    StateError
        The guess is no state of the mechanism.
    ArgumentError
        The period, or its guess, is not positive.
    ComputationError
        No motion closes within the iterations allowed.
    """
    try:
        check_state(shooting.dynamics, guess)
    except StateError as error:
        raise StateError(f"guess: {error}") from None
    T = shooting.period_of(dynamics)
    if not 0.0 < T < np.inf:
        value = f", which is {T:g}" if isinstance(shooting.period, str) else ""
        raise ArgumentError(f"period must be positive and finite, not {shooting.period!r}{value}")
    shot = shooting.shoot(np.concatenate([guess.q, guess.v]), T, guess.t, dynamics)
    for _ in range(_ITERATIONS):
        if isinstance(shot, Refusal):
            return shot
        if shot.size <= _CLOSED:
            if reason := shooting.why_not_periodic(shot):
                raise ComputationError(reason)
            return shot
        change = shooting.correction(shot)
        shot = _stepped(shooting, shot, change, dynamics)
    raise ComputationError(f"Newton's method found no periodic motion in {_ITERATIONS} steps; give a closer guess")


def _stepped(shooting: Shooting, shot: Shot, change: Array, dynamics: Dynamics) -> Shot | Refusal:
    step, refused = 1.0, None
    for _ in range(_HALVINGS):
        trial = shooting.shoot(shot.x + step * change[:-1], shot.T + step * change[-1], shot.t, dynamics)
        if isinstance(trial, Refusal):
            refused = trial
        elif trial.size < shot.size or trial.size <= _CLOSED:
            return trial
        step /= 2
    if refused is not None:
        return refused
    raise ComputationError(
        f"Newton's method stalls before the motion closes: {shot.size:.3g} of the motion is left; give a closer guess"
    )


def _why_not_periodic(
    trajectory: Trajectory, kept: Sequence[int], flow: Array, section: CompiledExpression | None
) -> str:
    """What keeps a motion that ends in the state of its start from being periodic, in words.

    Parameters
    ----------
    trajectory : Trajectory
        From the start to where it closes.
    kept : sequence of int
        Places of the state that return; others drift.
    flow : array, (2n,)
        Velocities and accelerations where it closes.
    section : CompiledExpression or None
        What is zero at the start, where the period was not given.

    Returns
    -------
    str
        Empty if nothing does.
    """
    t, duration = trajectory.t_start, trajectory.t - trajectory.t_start
    if section is not None:
        times = t + duration * (np.arange(_SAMPLES) + _OFFSET) / _SAMPLES
        q, v = trajectory.sample(times)
        states, dynamics = np.concatenate([q, v], axis=-1), trajectory.dynamics
        extent = np.ptp(states, axis=0)
        if np.max(extent[kept]) <= _MOVES * np.max(np.abs(states[:, kept])):
            return "the motion found stays where it is: an equilibrium has no period; give a guess farther from it"
        slope = section.slope(np.array([t]), states[:1], dynamics)[0, : len(flow)]
        if abs(slope @ flow) * duration <= CLEAR * (np.abs(slope) @ extent):
            return "the motion found touches the section and does not cross it; give another section"
        shifted = [times + share * duration for share in (0.0, *_SHARES)]
        terms = [trajectory.dynamics.terms(q, v, t=moved) for moved in shifted]
        found = [[getattr(item, field.name) for item in terms] for field in attrs.fields(Terms)]
        found.append([section.value(moved, states, dynamics) for moved in shifted])
        if not all(map(_are_constant, found)):
            return "forces or surfaces, or the section, depend on time: give the period of what drives the mechanism"
    if _ends_alike(trajectory, kept):
        return ""
    return (
        f"what drives the motion is not the same {duration:.6g} later, so that it does not repeat: give a period of "
        "the load, as exactly as by an expression of its parameters"
    )


def _are_constant(values: Sequence[Array]) -> bool:
    """Whether a quantity is the same at all times that were tried."""
    first, *others = values
    limit = ROUNDING * np.max(np.abs(first), initial=0.0)
    return all(bool(np.max(np.abs(other - first), initial=0.0) <= limit) for other in others)


def _ends_alike(trajectory: Trajectory, kept: Sequence[int]) -> bool:
    """Whether the motion from the same state a period later ends in the same state."""
    duration = trajectory.t - trajectory.t_start
    start = State(trajectory.q_start, trajectory.v_start, trajectory.t)
    try:
        again = _followed(trajectory.dynamics, start, start.t + duration, trajectory.law)
    except (ComputationError, StateError):  # as where the table is no longer where the body touches it
        return False
    ends = np.concatenate([trajectory.q, trajectory.v])[kept], np.concatenate([again.q, again.v])[kept]
    size = float(np.max(np.abs(ends[0]), initial=0.0))
    return again.termination.is_complete and bool(np.max(np.abs(ends[1] - ends[0]), initial=0.0) <= AGREEING * size)


def _followed(dynamics: Dynamics, start: State, t_end: float, law: AbstractImpactLaw | None) -> Trajectory:
    """A motion; an interrupt of it is not taken for its end."""
    trajectory = simulate(dynamics, start, t_end=t_end, law=law)
    if trajectory.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    return trajectory
