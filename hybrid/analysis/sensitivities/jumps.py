"""The change of velocity at an event with its first derivatives: nothing, or an impact under any rigid law."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.compliant_jump import compliant_slopes
from hybrid.analysis.sensitivities.impact_site import ImpactSite, problem_change, velocity_slopes
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactChange, ImpactProblem, impact_problem
from hybrid.contact.impacts.laws import NewtonImpact, PoissonImpact
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.expressions import NotDifferentiable

__all__ = ["Jump", "impact_jumps", "no_jump"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Jump:
    """The state after an event with its derivatives.

    Attributes
    ----------
    y : array, (2n,)
    slopes : array, (2n, size)
        With respect to ``(q, v, t, parameters)`` before the event.
    """

    y: Array
    slopes: Array


def no_jump(y: Array, size: int) -> Jump:
    """The jump of an event at which the state is continuous.

    Parameters
    ----------
    y : array, (2n,)
        The state.
    size : int
        2n + 1 + c, for c parameters.

    Returns
    -------
    Jump
    """
    return Jump(np.array(y), np.eye(len(y), size))


def impact_jumps(site: ImpactSite, law: AbstractImpactLaw, closed: tuple[str, ...]) -> tuple[Jump, ...]:
    """The jump of an impact; several where a contact neither presses nor separates and both must give the same.

    Parameters
    ----------
    site : ImpactSite
    law : AbstractImpactLaw
    closed : tuple of str
        The contacts that take part.

    Returns
    -------
    tuple of Jump

    Raises
    ------
    NoDerivative
        The law has a kink here, or its derivative is not known.
    StateError
        A law of one's own gives changes that are no numbers for every row.
    """
    dynamics = site.partials.dynamics
    is_rough = any(name in dynamics.columns for name in dynamics.rigid)
    if is_rough and not isinstance(law, NewtonImpact | PoissonImpact):
        raise NoDerivative(
            "an impact of a mechanism with dry friction in its constraints, under this law", is_proven=False
        )
    problem = impact_problem(dynamics.at(site.parameters), State(site.q, site.v, site.t), closed=tuple(closed))
    change = problem_change(site, problem)
    if isinstance(law, KelvinVoigtLimit):
        P, slopes = compliant_slopes(site, problem, law, change)
    else:
        P, slopes = law.impulses(problem).values, _impulse_slopes(law, problem, change)
    return tuple(_jump(site, problem, P, piece) for piece in slopes.reshape(-1, len(P), site.size))


def _impulse_slopes(law: AbstractImpactLaw, problem: ImpactProblem, change: ImpactChange) -> Array:
    """Derivatives of the impulses, (..., r, size); a law of one's own is taken at its word."""
    try:
        slopes = np.asarray(law.impulse_change(problem, change), dtype=np.float64)
    except NotDifferentiable as error:
        raise NoDerivative(str(error), is_proven=error.is_proven) from error
    rows, size = change.gamma.shape
    if slopes.shape[-2:] not in ((rows, size), (rows, 1)) or not np.isfinite(slopes).all():
        raise StateError(
            f"impulse_change of the law {law.name!r} must return {rows} finite numbers for each of {size} changes, "
            f"not {slopes}"
        )
    return np.broadcast_to(slopes, (*slopes.shape[:-1], size))


def _jump(site: ImpactSite, problem: ImpactProblem, P: Array, P_slopes: Array) -> Jump:
    v, v_slopes = velocity_slopes(site, problem, P, P_slopes)
    return Jump(np.concatenate([site.q, v]), np.concatenate([np.eye(site.n, site.size), v_slopes]))
