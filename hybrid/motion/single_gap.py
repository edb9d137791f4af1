"""Keeping a single contact closed, which is what most modes hold: in plain floats, without matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.expressions import Builder, dot, solve_definite

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["SingleGap", "single_gap"]

Array = NDArray[np.float64]


@attrs.frozen
class SingleGap:
    """A gap with what moves it, at one state.

    Attributes
    ----------
    gap, rate : float
        The gap and its velocity.
    mobility : float
        ``w . M^-1 w``, with the gap's direction ``w``.
    direction, lift : sequence of float, (n,)
        ``w`` and ``M^-1 w``.
    """

    gap: float
    rate: float
    mobility: float
    direction: Sequence[float]
    lift: Sequence[float]


def single_gap(
    dynamics: Dynamics, index: int, values: Mapping[str, Any]
) -> Callable[[float, list[float]], SingleGap | None]:
    """Compile the function of ``t`` and ``y = (q, v)`` that gives one contact's gap with what moves it.

    Parameters
    ----------
    dynamics : Dynamics
    index : int
        Of the contact.
    values : mapping of str to float
        Values of all parameters.

    Returns
    -------
    callable
        Gives None where an expression is undefined, or a force at the contact would not move it.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> held = single_gap(ball, 0, ball.mechanism.parameter_values({}))(0.0, [0.5, -2.0])
    >>> held.gap, held.rate, held.lift
    (0.5, -2.0, [1.0])
    """
    key = (single_gap, index)
    if key not in dynamics.programs:
        dynamics.programs[key] = _program(dynamics, index)
    function, n = dynamics.programs[key]([float(values[name]) for name in dynamics.equations.parameters]), dynamics.n

    def evaluate(t: float, y: list[float]) -> SingleGap | None:
        try:
            gap, rate, mobility, *columns = function(t, y)
        except (ArithmeticError, ValueError):
            return None
        return SingleGap(gap, rate, mobility, columns[:n], columns[n:]) if mobility > 0.0 else None

    return evaluate


def _program(dynamics: Dynamics, index: int) -> Callable[..., Any]:
    equations = dynamics.equations
    build, normal = Builder(equations.graph), equations.W_N[:, index]
    lift = solve_definite(build, equations.M, [normal])[0]
    mobility = dot(build, normal, lift)
    results = [equations.gap[index], equations.gap_dot[index], mobility, *normal, *lift]
    return equations.program(build, results).scalar
