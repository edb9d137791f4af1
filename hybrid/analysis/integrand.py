"""A functional along a replayed motion: its values and slopes where the passes need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.functional import CompiledExpression, Functional, compile_expression
from hybrid.analysis.refusal import Refusal
from hybrid.analysis.replay import Replay

if TYPE_CHECKING:
    from hybrid.analysis.gauss import Leg
    from hybrid.analysis.mode_system import Response
    from hybrid.dynamics.partials import Partials
    from hybrid.motion.trajectory import Trajectory

__all__ = ["Integrand", "compiled_integrand"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Integrand:
    """A functional compiled for one motion.

    Attributes
    ----------
    along, terminal : CompiledExpression
    names : frozenset of str
        Names that occur in it.
    trajectory : Trajectory
    """

    along: CompiledExpression
    terminal: CompiledExpression
    names: frozenset[str]
    trajectory: Trajectory

    def values(self, at: Response) -> Array:
        """The integrand at N instants."""
        return self.along.value(at.t, at.y, self.trajectory.parameters)

    def kinks(self, t: Array, y: Array) -> Array:
        """Quantities (N, number) at whose zeros the integrand has a kink."""
        return self.along.kinks(t, y, self.trajectory.parameters)

    def at(self, t: float, y: Array) -> float:
        """The integrand at one state."""
        return float(self.along.value(np.array([t]), y[None, :], self.trajectory.parameters)[0])

    def terminal_at(self, t: float, y: Array) -> tuple[float, Array]:
        """The terminal term and its derivatives with respect to ``(q, v, t, parameters)``."""
        point = np.array([t]), y[None, :], self.trajectory.parameters
        return float(self.terminal.value(*point)[0]), np.asarray(self.terminal.slope(*point)[0])

    def over(self, leg: Leg) -> tuple[float, Array]:
        """The integral over a leg, and the slopes (S, s, 2n + 1 + c) at its stages."""
        S = len(leg.lengths)
        values = self.values(leg.at).reshape(S, -1)
        slopes = self.along.slope(leg.at.t, leg.at.y, self.trajectory.parameters)
        return float(np.sum(leg.weights * values)), slopes.reshape(S, values.shape[1], -1)

    def refusal(self, motion: Replay) -> Refusal | None:
        """Why the functional has no derivative along this motion, if it jumps or is undefined on it."""
        for leg in motion.legs:
            found = self.along.jump_time(leg.at.t, leg.at.y, self.trajectory.parameters)
            if found is not None:
                return Refusal(found, "the integrand jumps: an argument of sign() changes sign")
            _, slopes = self.over(leg)
            finite = np.isfinite(slopes).reshape(len(leg.at.t), -1).all(axis=1)
            if not finite.all():
                return Refusal(float(leg.at.t[np.argmin(finite)]), "the integrand has no finite derivative")
        _, slope = self.terminal_at(motion.t_end, motion.end)
        if not np.isfinite(slope).all():
            return Refusal(motion.t_end, "the terminal term has no finite derivative")
        return None


def compiled_integrand(trajectory: Trajectory, functional: Functional, partials: Partials) -> Integrand:
    """Compile a functional for a motion and the parameters that change.

    Raises
    ------
    hybrid.errors.DeclarationError
        Unknown names, with the nearest one.
    """
    mechanism = trajectory.dynamics.mechanism
    texts = {"functional": functional.integrand, "terminal term": functional.terminal}
    names = frozenset().union(*(mechanism.expanded(text, field=field).names for field, text in texts.items()))
    along, terminal = (
        compile_expression(trajectory.dynamics, text, parameters=partials.parameters, field=field)
        for field, text in texts.items()
    )
    return Integrand(along, terminal, names, trajectory)
