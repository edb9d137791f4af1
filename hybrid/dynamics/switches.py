"""Where expressions jump or have a kink: the arguments of ``sign``, ``heaviside``, ``abs``, ``min`` and ``max``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.kernel import Kernel, compile_kernel

if TYPE_CHECKING:
    import sympy

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
        return [*y.T, np.asarray(t, dtype=float), *self.dynamics.arguments(parameters)]


def compile_switches(dynamics: Dynamics, entries: Sequence[sympy.Expr], parameters: Sequence[str] = ()) -> Switches:
    """Find and compile what makes expressions jump or bend.

    Parameters
    ----------
    dynamics : Dynamics
    entries : sequence of sympy.Expr
        In the symbols of its model.
    parameters : sequence of str
        Parameters to differentiate with respect to.

    Returns
    -------
    Switches

    Examples
    --------
    >>> import mechanisms, sympy
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> (y,) = ball.model.coordinates
    >>> found = compile_switches(ball, [sympy.Abs(y - 2), 3 * sympy.sign(y)])
    >>> found.texts, found.n_jumps
    (('y', 'y - 2'), 1)
    >>> found.weights(np.zeros(1), np.array([[1.0, 0.0]]), {}).tolist()
    [[6.0, 1.0]]
    """
    import sympy

    model = dynamics.model
    jumps, kinks = _jumps(entries), _kinks(entries)
    found = [*jumps.items(), *kinks.items()]
    state = [*model.coordinates, *model.velocities, model.time]
    chosen = [*state, *(model.parameters[name] for name in parameters)]
    arguments = [*state, *model.parameters.values()]
    slopes = [
        argument.diff(symbol).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
        for argument, _ in found
        for symbol in chosen
    ]
    return Switches(
        dynamics=dynamics,
        texts=tuple(str(argument) for argument, _ in found),
        n_jumps=len(jumps),
        values=compile_kernel({"values": [argument for argument, _ in found]}, arguments),
        details=compile_kernel({"slopes": slopes, "weights": [weight for _, weight in found]}, arguments),
    )


def _jumps(entries: Sequence[sympy.Expr]) -> dict[sympy.Expr, sympy.Expr]:
    """Arguments of functions that jump, and the heights of the jumps of all entries."""
    import sympy

    found: dict[sympy.Expr, sympy.Expr] = {}
    for entry in entries:
        for function in entry.atoms(sympy.sign, sympy.Heaviside):
            low = -1 if isinstance(function, sympy.sign) else 0
            height = entry.xreplace({function: sympy.Integer(1)}) - entry.xreplace({function: sympy.Integer(low)})
            found[function.args[0]] = found.get(function.args[0], sympy.Integer(0)) + sympy.Abs(height)
    return dict(sorted(found.items(), key=lambda item: str(item[0])))


def _kinks(entries: Sequence[sympy.Expr]) -> dict[sympy.Expr, sympy.Expr]:
    """Arguments of ``abs`` and differences of those of ``min`` and ``max``, and the bends of all entries."""
    import sympy

    found: dict[sympy.Expr, sympy.Expr] = {}
    for entry in entries:
        for function in entry.atoms(sympy.Abs, sympy.Max, sympy.Min):
            place = sympy.Dummy(real=True)
            bend = sympy.Abs(entry.xreplace({function: place}).diff(place).xreplace({place: function}))
            pairs = [(function.args[0], 0)] if isinstance(function, sympy.Abs) else combinations(function.args, 2)
            for first, second in pairs:
                found[first - second] = found.get(first - second, sympy.Integer(0)) + bend
    return dict(sorted(found.items(), key=lambda item: str(item[0])))
