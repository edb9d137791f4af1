"""Functionals of a motion: an integrand over time and a term at the end, in the mechanism's own names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.equations import Reader
from hybrid.dynamics.switches import Switches, compile_switches
from hybrid.expressions import Builder, Kernel, compile_kernel, jacobian

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["CompiledExpression", "Functional", "compile_expression"]

Array = NDArray[np.float64]


@attrs.frozen
class Functional:
    """The quantity ``integral of integrand over time + terminal at the end`` of a motion.

    Attributes
    ----------
    integrand : str
        An expression of coordinates, velocities, parameters, definitions and ``t``; ``"0"`` for none.
    terminal : str
        An expression of the same names, evaluated where the motion ends.

    Examples
    --------
    >>> Functional("q1_dot**2 + q2_dot**2").terminal
    '0'
    """

    integrand: str = "0"
    terminal: str = "0"


@attrs.frozen(eq=False)
class CompiledExpression:
    """An expression with its first derivatives, compiled; made by :func:`compile_expression`.

    Attributes
    ----------
    dynamics : Dynamics
    switches : Switches
        Where it jumps or has a kink.
    """

    dynamics: Dynamics
    switches: Switches
    _kernel: Kernel = attrs.field(repr=False)

    def value(self, t: Array, y: Array, parameters: Values) -> Array:
        """Values (N,) at times (N,) and states (N, 2n)."""
        found = self._evaluated(t, y, parameters)["value"]
        return np.broadcast_to(found[..., 0], len(t))

    def slope(self, t: Array, y: Array, parameters: Values) -> Array:
        """Derivatives with respect to ``(q, v, t, parameters)``, (N, 2n + 1 + c)."""
        found = self._evaluated(t, y, parameters)["slope"]
        return np.broadcast_to(found, (len(t), found.shape[-1]))

    def _evaluated(self, t: Array, y: Array, parameters: Values) -> dict[str, Array]:
        return self._kernel([*y.T, t, *self.dynamics.at(parameters).arguments])


def compile_expression(
    dynamics: Dynamics, text: str, *, parameters: Sequence[str] = (), field: str = "functional"
) -> CompiledExpression:
    """Read an expression in a mechanism's names and compile it with its derivatives.

    Parameters
    ----------
    dynamics : Dynamics
    text : str
    parameters : sequence of str
        Parameters to differentiate with respect to.
    field : str
        What the expression is called in messages.

    Returns
    -------
    CompiledExpression

    Raises
    ------
    hybrid.errors.DeclarationError
        Unknown names, with the nearest known one, or text that is no expression.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> speed = compile_expression(derive(mechanisms.load("bouncing_ball")), "m*y_dot**2/2", parameters=["m"])
    >>> speed.slope(np.zeros(1), np.array([[0.0, 3.0]]), {}).tolist()
    [[0.0, 3.0, 0.0, 4.5]]
    """
    equations = dynamics.equations
    reader = Reader(Builder(equations.graph), dynamics.mechanism)
    node, build = reader.expression(text, field=field), reader.build
    chosen = [*equations.state, *(equations.parameters[name] for name in parameters)]
    quantities = {"value": [node], "slope": jacobian(build, [node], chosen)[0]}
    kernel = compile_kernel(build.graph(), quantities, equations.arguments)
    return CompiledExpression(dynamics, compile_switches(dynamics, build, [node], parameters), kernel)
