"""Where expressions jump or have a kink: the arguments of ``sign``, ``heaviside``, ``abs``, ``min`` and ``max``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.expressions import Builder, Kernel, compile_kernel, jacobian, switches, sympy_expressions

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["Switches", "compile_switches"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Switches:
    """Quantities at whose zeros expressions jump or have a kink; made by :func:`compile_switches`.

    Attributes
    ----------
    dynamics : Dynamics
    texts : tuple of str, length z
        The quantities: first those of jumps, then those of kinks.
    n_jumps : int
        Number of the former.
    """

    dynamics: Dynamics
    texts: tuple[str, ...]
    n_jumps: int
    _values: Kernel = attrs.field(repr=False)
    _details: Kernel = attrs.field(repr=False)

    def values(self, t: Array, y: Array, parameters: Values) -> Array:
        """The quantities at N instants, (N, z)."""
        found = self._values(self._arguments(t, y, parameters))["values"]
        return np.broadcast_to(found, (len(t), len(self.texts)))

    def slopes(self, t: Array, y: Array, parameters: Values) -> Array:
        """Their derivatives with respect to ``(q, v, t, parameters)``, (N, z, 2n + 1 + c)."""
        found = self._details(self._arguments(t, y, parameters))["slopes"]
        shape = (len(t), len(self.texts), found.shape[-1] // max(len(self.texts), 1))
        return np.broadcast_to(found, (len(t), found.shape[-1])).reshape(shape)

    def weights(self, t: Array, y: Array, parameters: Values) -> Array:
        """What each would change in the expressions, (N, z): the heights of a jump, the bends of a kink, added up.

        The weight of ``v`` in ``v*abs(v)`` is zero where ``v`` is: there is no kink.
        """
        with np.errstate(all="ignore"):  # infinite where the expression has no derivative beside the kink either
            found = self._details(self._arguments(t, y, parameters))["weights"]
        return np.broadcast_to(found, (len(t), len(self.texts)))

    def _arguments(self, t: Array, y: Array, parameters: Values) -> list[Any]:
        return [*y.T, np.asarray(t, dtype=float), *self.dynamics.at(parameters).arguments]


def compile_switches(dynamics: Dynamics, build: Builder, entries: Any, parameters: Sequence[str] = ()) -> Switches:
    """What makes expressions jump or bend, compiled.

    Parameters
    ----------
    dynamics : Dynamics
    build : Builder
        Of its graph and more.
    entries : array of int, (...)
        Nodes of the builder.
    parameters : sequence of str
        Parameters to differentiate with respect to.

    Returns
    -------
    Switches

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.expressions import Builder
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> build = Builder(ball.equations.graph)
    >>> (y,) = ball.equations.coordinates
    >>> beyond = build.call("abs", build.subtract(y, build.number(2)))
    >>> found = compile_switches(ball, build, [beyond, build.multiply(build.number(3), build.call("sign", y))])
    >>> found.texts, found.n_jumps
    (('y', 'y - 2'), 1)
    >>> found.weights(np.zeros(1), np.array([[1.0, 0.0]]), {}).tolist()
    [[6.0, 1.0]]
    """
    equations = dynamics.equations
    present = switches(build, entries)
    texts = sympy_expressions(build.graph(), [switch.quantity for switch in present]) if present else []
    found = [(str(text), switch) for text, switch in zip(texts, present, strict=True)]
    found.sort(key=lambda item: (not item[1].is_jump, item[0]))
    quantities = np.array([switch.quantity for _, switch in found], dtype=np.intp)
    weights = np.array([switch.weight for _, switch in found], dtype=np.intp)
    chosen = [*equations.state, *(equations.parameters[name] for name in parameters)]
    slopes = jacobian(build, quantities, chosen).ravel()
    graph = build.graph()
    return Switches(
        dynamics=dynamics,
        texts=tuple(text for text, _ in found),
        n_jumps=sum(switch.is_jump for _, switch in found),
        values=compile_kernel(graph, {"values": quantities}, equations.arguments),
        details=compile_kernel(graph, {"slopes": slopes, "weights": weights}, equations.arguments),
    )
