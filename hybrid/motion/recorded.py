"""A motion as it is kept: arcs, events, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from hybrid.contact.modes import ContactMode
from hybrid.motion.flow import make_flow
from hybrid.motion.observation import Flow, Observation
from hybrid.motion.outcome import Event, Termination
from hybrid.motion.rank_guard import rank_guard

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.contact.modes import Mode
    from hybrid.contact.verdict import Selection
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.springs import HandedOver

Array = NDArray[np.float64]

MOMENT = 1e-3
"""Of a step: so much within, a slip that vanishes at an end of it has nearly the direction of its limit."""


@attrs.frozen(eq=False)
class Arc:
    """A smooth part of a motion, in one mode.

    Attributes
    ----------
    mode : Mode
    sides : mapping of str to float
        Signs of the normal forces of bilateral contacts with friction.
    knots : array, (m + 1,)
        Times between the integrator's steps, strictly increasing.
    coefficients : array, (m, d, 2n)
        Chebyshev series of ``(q, v)`` over each step.
    means : Observation or None
        Mean accelerations and contact forces of every step, where time-stepping gave them; otherwise they follow from
        the mode at any instant.
    """

    mode: Mode
    knots: Array
    coefficients: Array
    sides: Mapping[str, float] = attrs.field(factory=dict)
    means: Observation | None = None

    @property
    def start(self) -> float:
        """Time at which it starts."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """Time at which it ends."""
        return float(self.knots[-1])

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.coefficients.shape[-1]) // 2

    def sample(self, t: Any) -> tuple[Array, Array]:
        """Positions and velocities (..., n) at times within the arc.

        Parameters
        ----------
        t : array_like, (...)
        """
        times = np.asarray(t, dtype=float)
        flat = np.atleast_1d(times).ravel()
        step = self.step_of(flat)
        start, end = self.knots[step], self.knots[step + 1]
        x = 2 * (flat - start) / (end - start) - 1
        basis = chebyshev.chebvander(x, self.coefficients.shape[1] - 1)
        values = np.einsum("ij,ijk->ik", basis, self.coefficients[step])
        values = values.reshape(*times.shape, 2 * self.n)
        return values[..., : self.n], values[..., self.n :]

    def step_of(self, t: Array) -> NDArray[np.intp]:
        """Number of the step in which each time (N,) lies."""
        return np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)


@attrs.frozen(eq=False)
class AbstractMotion:
    """A motion that was followed as far as its law allows.

    Attributes
    ----------
    dynamics : Dynamics
    parameters : mapping
        Values that replace those of the declaration.
    arcs : tuple of Arc
        In order of time. Between two arcs there may be a jump of velocity at one time.
    events : tuple of Event
    termination : Termination
    cause : str
        The termination with time, state and evidence.
    t_start, q_start, v_start : float and arrays, (n,)
        Where it began; time in s.
    t, q, v : float and arrays, (n,)
        Where it ended; time in s.
    selection : Selection or None
        The verdict at the end, where none or several modes were consistent.
    warnings : tuple of str
    law : AbstractImpactLaw or None
        What decided its impacts.
    method : str
        How it was computed, ``event-driven`` or ``time-stepping``.
    handed_over : HandedOver or None
        The springs that took the place of rigid constraints at a singular configuration, and when; arcs from then on
        are those of its dynamics.
    """

    dynamics: Dynamics = attrs.field(repr=False)
    parameters: Mapping[str, Any]
    arcs: tuple[Arc, ...] = attrs.field(repr=False)
    events: tuple[Event, ...]
    termination: Termination
    cause: str
    t_start: float
    q_start: Array = attrs.field(repr=False)
    v_start: Array = attrs.field(repr=False)
    t: float
    q: Array
    v: Array
    selection: Selection | None = attrs.field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    law: AbstractImpactLaw | None = None
    method: str = "event-driven"
    handed_over: HandedOver | None = None
    _flows: dict[Any, Flow] = attrs.field(factory=dict, init=False, repr=False)

    def sample(self, t: Any) -> tuple[Array, Array]:
        """Positions and velocities at any times of the motion; after the jump where two arcs meet.

        Parameters
        ----------
        t : array_like, (...)
            Between the start and the end of the motion.

        Returns
        -------
        q, v : array, (..., n)

        Raises
        ------
        ValueError
            For a time outside the motion.
        """
        times = np.asarray(t, dtype=float)
        flat = np.atleast_1d(times).ravel()
        if flat.size and not (flat.min() >= self.t_start and flat.max() <= self.t):
            raise ValueError(f"the motion lasts from t = {self.t_start:.12g} to {self.t:.12g}")
        n = self.dynamics.n
        q, v = np.tile(self.q, (flat.size, 1)), np.tile(self.v, (flat.size, 1))
        starts = np.array([arc.start for arc in self.arcs])
        which = np.searchsorted(starts, flat, side="right") - 1
        for index in np.unique(which[which >= 0]):
            chosen = which == index
            q[chosen], v[chosen] = self.arcs[index].sample(np.minimum(flat[chosen], self.arcs[index].end))
        at_end = flat == self.t
        q[at_end], v[at_end] = self.q, self.v
        return q.reshape(*times.shape, n), v.reshape(*times.shape, n)

    def forces(self, arc: Arc, t: Any) -> Observation:
        """Accelerations and contact forces at times (N,) within one arc of this motion."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        if arc.means is not None:
            step = arc.step_of(times)
            return Observation(*(values[:, step] for values in attrs.astuple(arc.means, recurse=False)))
        if any(label is ContactMode.SLIDE for label in arc.mode.values()):
            # where a spatial slip begins or ends, friction has the direction of the slip a moment later or before
            ends = arc.knots[[1, -2]] - arc.knots[[0, -1]]
            times = np.clip(times, arc.start + MOMENT * ends[0], arc.end + MOMENT * ends[1])
        q, v = arc.sample(times)
        return self._flow(arc).observe(times, np.vstack([q.T, v.T]))

    def dynamics_at(self, t: float) -> Dynamics:
        """The mechanism that the motion follows from a time on: that with the springs after a hand-over."""
        return self.dynamics if self.handed_over is None or t < self.handed_over.t else self.handed_over.dynamics

    def _flow(self, arc: Arc) -> Flow:
        dynamics = self.dynamics_at(arc.start)
        key = (dynamics is self.dynamics, arc.mode, tuple(sorted(arc.sides.items())))
        if key not in self._flows:
            independent = self._constraints_are_independent(dynamics, arc)
            self._flows[key] = make_flow(dynamics, arc.mode, sides=arc.sides, independent=independent)
        return self._flows[key]

    def _constraints_are_independent(self, dynamics: Dynamics, arc: Arc) -> bool:
        """As the run found where it began, so that its own kind of flow tells the forces."""
        if len(dynamics.rigid) < 2:
            return True
        is_first = dynamics is self.dynamics
        t, q = (self.t_start, self.q_start) if is_first else (arc.start, arc.sample(arc.start)[0])
        rank = rank_guard(dynamics, t, q)
        return rank is not None and rank.is_full
