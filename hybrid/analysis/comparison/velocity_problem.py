"""The velocity-level problem of time stepping in the limit of vanishing steps (Stewart and Trinkle 1996)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

import lcp
from hybrid.contact.complementarity import planar_lcp
from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact, ImpactProblem, Impulses, Phase, resolve_impact
from hybrid.errors import ComputationError
from hybrid.tolerances import NOTHING, RESOLVED, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State

_STEP = RESOLVED  # of the time in which the free acceleration would change the velocities by themselves


@attrs.frozen
class VelocityProblem(AbstractImpactLaw):
    """One step of the velocity problem: ``gamma+ = gamma + h c + G P`` complementary to the impulses, inelastic.

    Its matrix is copositive, so that a solution exists even where the acceleration problem has none; the impulse then
    stays finite as the step tends to zero (Stewart and Trinkle 1996; Anitescu and Potra 1997).

    Attributes
    ----------
    step : float, optional
        Time step ``h``; by default one so small that the answer is its limit to ten digits.
    """

    step: float | None = None

    @property
    def name(self) -> str:
        """Name of the law."""
        return "velocity LCP"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses of one step by Lemke's method."""
        free = problem.posed.c
        size = float(np.max(np.abs(free), initial=0.0))
        speed = float(np.max(np.abs(problem.gamma), initial=0.0))
        step = self.step if self.step is not None else (_STEP * (speed or 1.0) / size if size else 0.0)
        posed = attrs.evolve(problem.posed, c=problem.gamma + step * free)
        if any(element.is_spatial_at_rest for element in problem.elements):
            raise ComputationError("the velocity problem is planar here; this contact is spatial")
        reduced = planar_lcp(posed)
        solution = lcp.Lemke().solve(reduced.question)
        if solution.status is not lcp.Status.SOLVED:
            raise ComputationError("Lemke's method found no impulses of the velocity problem")
        values = reduced.forces(solution.z)
        total = float(np.sum(np.abs(values[problem.normals])))
        change = float(np.max(np.abs(problem.G @ values), initial=0.0))
        return Impulses(values, (Phase("jump", total),) if change > NOTHING * speed else ())


def velocity_impact(
    dynamics: Dynamics,
    state: State,
    *,
    step: float | None = None,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
) -> Impact | str:
    """Impact by the velocity problem, or the sentence that says why there is none.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    step : float, optional
        Time step; by default its limit.
    parameters, tolerances : optional

    Returns
    -------
    Impact or str
    """
    try:
        return resolve_impact(dynamics, state, law=VelocityProblem(step), parameters=parameters, tolerances=tolerances)
    except ComputationError as error:
        return f"velocity LCP: {error}"
