"""Steps of the integrator as Chebyshev series of the state in time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.integrate import DOP853, Radau

from hybrid.motion.chebyshev import NODES, points_and_transform
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.motion.arguments import Settings

Array = NDArray[np.float64]

N_COEFFICIENTS = 8  # the dense output of DOP853 has degree 7, that of Radau 3
_POINTS, _TRANSFORM = points_and_transform(N_COEFFICIENTS)
# The dense output of DOP853 is s (F_0 + (1 - s) (F_1 + s (F_2 + ...))) (Hairer, Norsett and Wanner 1993, section II.6).
_FACTORS = np.cumprod([_POINTS, 1 - _POINTS] * 3 + [_POINTS], axis=0)
FROM_DIFFERENCES = _TRANSFORM @ _FACTORS.T
# By the 16 stages: F_0 = h sum b_i k_i is the step, F_1 = h k_1 - F_0, F_2 = 2 F_0 - h (k_1 + k_13), the rest h D k.
_FIRST, _LAST = np.eye(DOP853.D.shape[1])[[0, len(DOP853.B)]]
_SUM = np.append(DOP853.B, np.zeros(len(_FIRST) - len(DOP853.B)))
_FROM_STAGES = FROM_DIFFERENCES @ np.vstack([_SUM, _FIRST - _SUM, 2 * _SUM - _FIRST - _LAST, DOP853.D])
# Stage s is at the state y + h sum w_si k_i; the twelfth is the end of the step, the last three serve the dense output.
_WEIGHTS = np.zeros((len(_FIRST) - 1, len(_FIRST)))
for _row, _given in zip(_WEIGHTS, [*DOP853.A[1:], DOP853.B, *DOP853.A_EXTRA], strict=True):
    _row[: len(_given)] = _given
_INSTANTS = [*DOP853.C[1:].tolist(), 1.0, *DOP853.C_EXTRA.tolist()]
PLACES: Array = np.concatenate([[0.0], NODES, [1.0]])
"""Where guards are looked at in every step: both ends and the Chebyshev points."""
_ORDERS = np.arange(N_COEFFICIENTS)
AT_PLACES = chebyshev.chebvander(2 * PLACES - 1, N_COEFFICIENTS - 1)

LEAST_RTOL = 100 * float(np.finfo(np.float64).eps)  # that SciPy takes
_SAFETY, _SMALLEST_GROWTH, _LARGEST_GROWTH = 0.9, 0.2, 10.0  # of a step from the last: SciPy's
_STABLE = 3.0  # half of -h times the eigenvalue to which DOP853 is stable (6.1 in dop853.f): steps hover below that
_STIFF = 15  # steps beyond that, without _OTHERS others in a row, make an arc stiff (both as in dop853.f)
_OTHERS = 6
_FAR = 1000.0  # steps like the last one to the end of the time: with fewer the explicit method is soon there


@attrs.frozen(eq=False)
class Step:
    """The state ``y = (q, v)`` over one step.

    Attributes
    ----------
    start, end : float
        Times.
    first, last : array, (2n,)
        States at both ends, before ``first`` and ``last`` were brought back onto any constraints.
    coefficients : array, (8, 2n)
        Chebyshev series in ``2 (t - start) / (end - start) - 1``.
    """

    start: float
    end: float
    first: Array
    last: Array
    coefficients: Array

    def at_places(self) -> Array:
        """States at ``PLACES``, (2n, 19)."""
        states = (AT_PLACES @ self.coefficients).T
        states[:, 0] = self.first
        states[:, -1] = self.last
        return states

    def at(self, s: Array) -> Array:
        """States at points ``s`` of [0, 1], (2n, N)."""
        angles = np.arccos(np.minimum(np.maximum(2 * s - 1, -1.0), 1.0))
        return np.asarray((np.cos(np.multiply.outer(angles, _ORDERS)) @ self.coefficients).T)

    def time(self, s: Any) -> Any:
        """Times at points of [0, 1]."""
        return self.start + s * (self.end - self.start)


def constant_step(start: float, end: float, y: Array) -> Step:
    """A step in which nothing moves.

    Parameters
    ----------
    start, end : float
        Times.
    y : array, (2n,)
        The state.

    Returns
    -------
    Step
    """
    coefficients = np.zeros((N_COEFFICIENTS, len(y)))
    coefficients[0] = y
    return Step(start, end, y, y, coefficients)


def step_along(states: Callable[[Array], Array], start: float, end: float) -> Step:
    """A step along a known motion.

    Parameters
    ----------
    states : callable
        From times (N,) to states (2n, N).
    start, end : float
        Times.

    Returns
    -------
    Step
        Of degree 7 in time.
    """
    ends = states(np.array([start, end]))
    return Step(start, end, ends[:, 0], ends[:, 1], _TRANSFORM @ states(start + _POINTS * (end - start)).T)


class _Explicit(DOP853):  # type: ignore[misc]
    """SciPy's method of Dormand and Prince, forward in time: its steps to rounding, with less done between them.

    SciPy's own step spends more time between the evaluations of a small right-hand side than in them. Here the state
    and the rates of the stages are rows of one table, so that the state of a stage is one product.
    """

    t: float
    y: Array
    f: Array
    h_abs: float
    K_extended: Array

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._table = np.zeros((1 + len(self.K_extended), self.n))
        self.K_extended = self._table[1:]
        self.K = self.K_extended[: self.n_stages + 1]
        self._weights = np.ones((len(_WEIGHTS), len(self._table)))
        stages = [
            (place, self._table[: s + 1].T, self._weights[s - 1, : s + 1], self._table[s + 1])
            for s, place in enumerate(_INSTANTS, 1)
        ]
        self._stages, self._more_stages = stages[: self.n_stages], stages[self.n_stages :]

    def _step_impl(self) -> tuple[bool, str | None]:
        t, y, K = self.t, self.y, self.K
        shortest = 10 * (math.nextafter(t, math.inf) - t)
        length = self.max_step if self.h_abs > self.max_step else max(self.h_abs, shortest)
        size, growth = np.abs(y), _LARGEST_GROWTH
        self._table[0], K[0] = y, self.f
        while length >= shortest:
            end = min(t + length, self.t_bound)
            length = h = end - t
            np.multiply(_WEIGHTS, h, out=self._weights[:, 1:])
            last = self._evaluate(self._stages, t, h)
            error = self._estimate_error_norm(K, h, self.atol + np.maximum(size, np.abs(last)) * self.rtol)
            if error < 1.0:
                growth = min(growth, _SAFETY * error**self.error_exponent) if error else growth
                self.h_previous, self.y_old, self.h_abs = h, y, length * growth
                self.t, self.y, self.f = end, last, K[-1].copy()
                return True, None
            length, growth = length * max(_SMALLEST_GROWTH, _SAFETY * error**self.error_exponent), 1.0
        return False, self.TOO_SMALL_STEP

    def _estimate_error_norm(self, K: Array, h: float, scale: Array) -> float:
        fifth, third = np.dot(K.T, self.E5) / scale, np.dot(K.T, self.E3) / scale
        squares = math.sqrt(fifth @ fifth) ** 2, math.sqrt(third @ third) ** 2
        size = math.sqrt((squares[0] + 0.01 * squares[1]) * len(scale))
        return h * squares[0] / size if size else 0.0

    def _evaluate(self, stages: Sequence[tuple[float, Array, Array, Array]], t: float, h: float) -> Array:
        """Rates at some stages of a step of length h; the state of the last of them."""
        fun = self.fun
        state: Array = self._table[0]
        for place, before, weights, rate in stages:
            state = before.dot(weights)
            rate[:] = fun(t + place * h, state)
        return state

    def series(self) -> Array:
        """Chebyshev coefficients of the last step, (8, 2n), by three more evaluations."""
        self._evaluate(self._more_stages, self.t_old, self.h_previous)
        coefficients: Array = self.h_previous * (_FROM_STAGES @ self.K_extended)
        coefficients[0] += self.y_old
        return coefficients


class Stepper:
    """scipy's integrator for one arc, whose state may be corrected between steps.

    Parameters
    ----------
    derivative : callable
        Right-hand side; where it raises, the state counts as undefined.
    t : float
    y : array, (2n,)
    t_end : float
    settings : Settings
    first_step : float, optional
    held : float
        Step at which the explicit method was held before the implicit one took over.
    slip_begins : bool
        True where friction turns with slips that are next to none: the implicit method then takes differences of the
        rates over changes of the state by which even such a slip hardly turns. SciPy's changes turn it over, and steps
        with such a Jacobian pass for converged where they are not.
    """

    def __init__(
        self,
        derivative: Callable[[float, Array], Sequence[float]],
        t: float,
        y: Array,
        t_end: float,
        settings: Settings,
        first_step: float | None = None,
        held: float = 0.0,
        *,
        slip_begins: bool = False,
    ) -> None:
        self.cause = ""
        self._derivative = derivative
        kind = _Explicit if settings.stepper == "DOP853" else Radau
        if first_step is not None:
            first_step = min(first_step, t_end - t)
        self._sizes = settings.sizes
        options: dict[str, Any] = {"jac": self._jacobian} if slip_begins and kind is Radau else {}
        with np.errstate(all="ignore"):
            self._solver = kind(
                self._guarded,
                t,
                y,
                t_end,
                rtol=max(settings.rtol, LEAST_RTOL),
                atol=settings.atol * settings.sizes,
                max_step=settings.max_step,
                first_step=first_step,
                **options,
            )
        self._stiff_steps, self._other_steps = 0, 0
        self._held, self._short_steps = held, 0
        self._is_explicit = kind is _Explicit
        if self._is_explicit:
            self._solver.fun = self._guarded  # takes any sequence; spares the class's conversions at every stage

    def _guarded(self, t: float, y: Array) -> Any:
        try:
            return self._derivative(t, y)
        except (ValueError, ArithmeticError) as error:
            self.cause = f"{error} at t = {t:.12g}"
            return np.full(len(y), np.nan)

    def _jacobian(self, t: float, y: Array) -> Array:
        """Central differences of the rates, (2n, 2n)."""
        changes = np.diag(ROUNDING * np.maximum(self._sizes, np.abs(y)))
        columns = []
        for after, before in zip(y + changes, y - changes, strict=True):
            difference = np.subtract(self._guarded(t, after), self._guarded(t, before))
            columns.append(difference / np.max(after - before))
        return np.array(columns).T

    def step(self) -> Step | None:
        """Advance by one step; None where no step succeeds."""
        solver = self._solver
        first = np.array(solver.y)
        with np.errstate(all="ignore"):
            solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                return None
            start, h = solver.t_old, solver.t - solver.t_old
            if self._is_explicit:
                coefficients = solver.series()
            else:
                coefficients = _TRANSFORM @ solver.dense_output()(start + _POINTS * h).T
            if not self._is_explicit:
                self._short_steps = self._short_steps + 1 if h < self._held else 0
            elif solver.t_bound - solver.t > _FAR * h:
                self._count(first, h)
        return Step(float(start), float(solver.t), first, np.array(solver.y), coefficients)

    @property
    def is_stiff(self) -> bool:
        """True if for some time steps have been held short by the stability of the explicit method, and many remain.

        Hairer and Wanner (1996), Solving Ordinary Differential Equations II, section IV.2, equation (2.26): the last
        two stages are taken at the same time at two states near each other, so that ``|f(y_2) - f(y_1)|/|y_2 - y_1|``
        estimates the dominant eigenvalue.
        """
        return self._stiff_steps >= _STIFF

    @property
    def is_slower(self) -> bool:
        """True if for some time the implicit method has taken shorter steps than the explicit one was held at.

        A fast oscillation looks stiff while it is too small to be seen. Once it is not, both methods must follow it.
        """
        return self._short_steps >= _STIFF

    def _count(self, first: Array, h: float) -> None:
        """Count a step that is as long as the method is stable, or one that is not."""
        solver, last = self._solver, self._solver.n_stages - 1
        apart = solver.y - first - h * (solver.A[last, :last] @ solver.K[:last])
        rates = (h / _STABLE) * (solver.K[last + 1] - solver.K[last])
        if rates @ rates > apart @ apart > 0.0:
            self._stiff_steps, self._other_steps = self._stiff_steps + 1, 0
        elif self._other_steps + 1 >= _OTHERS:
            self._stiff_steps, self._other_steps = 0, 0
        else:
            self._other_steps += 1

    def finish(self) -> tuple[Array, Array] | None:
        """Go to the end of the interval; the state there and its rate, None where no step succeeds."""
        solver = self._solver
        with np.errstate(all="ignore"):
            while solver.status == "running":
                solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            return None
        return np.array(solver.y), np.asarray(solver.f)

    def correct(self, y: Array) -> None:
        """Replace the present state."""
        self._solver.y = y
        self._solver.f = np.asarray(self._guarded(self._solver.t, y), dtype=float)

    @property
    def is_finished(self) -> bool:
        """True at the end of the interval."""
        return bool(self._solver.status == "finished")


def end_at(
    derivative: Callable[[float, Array], Sequence[float]], step: Step, t_end: float, settings: Settings
) -> tuple[Array, Array] | None:
    """The state and its rate at an earlier time, from the start of a step.

    Goes there by steps of its own, because their ends are more accurate than the series.

    Parameters
    ----------
    derivative : callable
        From time and state (2n,) to the rate of the state, (2n,).
    step : Step
    t_end : float
        The time, within the step.
    settings : Settings

    Returns
    -------
    (array, array) or None
        State and rate, (2n,) each; None where no step succeeds.
    """
    duration = t_end - step.start
    return Stepper(derivative, step.start, step.first, t_end, settings, first_step=duration).finish()


def resampled(step: Step, t_end: float, last: Array | None = None) -> Step:
    """The part of a step up to a time, from its own series.

    Parameters
    ----------
    step : Step
    t_end : float
        The time, within the step or a little beyond.
    last : array, (2n,), optional
        A better value of the state there, if one is known.

    Returns
    -------
    Step
    """
    duration = step.end - step.start
    s = (t_end - step.start) / duration if duration > 0 else 1.0
    states = step.at(_POINTS * s)
    return Step(
        step.start, t_end, step.first, step.at(np.array([s]))[:, 0] if last is None else last, _TRANSFORM @ states.T
    )
