"""How all parameters of a mechanism follow a few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.declaration.expressions import to_sympy
from hybrid.dynamics.kernel import compile_kernel

if TYPE_CHECKING:
    import sympy

    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["parameter_chain", "text_slopes"]

Array = NDArray[np.float64]


def parameter_chain(
    dynamics: Dynamics, names: Sequence[str], *, parameters: Values | None = None
) -> tuple[tuple[str, ...], Array]:
    """Parameters that change with the named ones, and their derivatives.

    Parameters
    ----------
    dynamics : Dynamics
    names : sequence of str
    parameters : mapping, optional
        Values that replace those of the declaration; a replaced parameter follows no other unless it is a text.

    Returns
    -------
    changing : tuple of str, length c
        The named ones and those computed from them.
    slopes : array, (c, number of names)

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> changing, slopes = parameter_chain(derive(mechanisms.load("rod_on_incline")), ["l"])
    >>> changing, slopes.round(12).tolist()
    (('l', 'I'), [[1.0], [0.666666666667]])
    """
    resolved = _resolved(dynamics, parameters or {}, frozenset(names))
    symbols = list(dynamics.model.parameters.values())
    chosen = [dynamics.model.parameters[name] for name in names]
    changing = tuple(name for name, value in resolved.items() if any(symbol in value.free_symbols for symbol in chosen))
    entries = [resolved[name].diff(symbol) for name in changing for symbol in chosen]
    return changing, _evaluated(dynamics, entries, symbols, parameters).reshape(len(changing), len(names))


def text_slopes(dynamics: Dynamics, text: str, names: Sequence[str], *, parameters: Values | None = None) -> Array:
    """Derivatives of an expression of parameters with respect to the named ones, (number of names,)."""
    resolved = _resolved(dynamics, parameters or {}, frozenset(names))
    value = to_sympy(dynamics.mechanism.expression(text), resolved)
    entries = [value.diff(dynamics.model.parameters[name]) for name in names]
    return _evaluated(dynamics, entries, list(dynamics.model.parameters.values()), parameters)


def _resolved(dynamics: Dynamics, overrides: Mapping[str, Any], free: frozenset[str]) -> dict[str, sympy.Expr]:
    """Every parameter as an expression of the free ones and of numbers."""
    mechanism, symbols = dynamics.mechanism, dynamics.model.parameters
    texts = {
        name: overrides.get(name, parameter.value)
        for name, parameter in mechanism.parameters.items()
        if name not in free and isinstance(overrides.get(name, parameter.value), str)
    }
    resolved: dict[str, sympy.Expr] = {name: symbol for name, symbol in symbols.items() if name not in texts}
    pending = dict(texts)
    while pending:  # the declaration was checked: no circles
        for name, text in list(pending.items()):
            expression = mechanism.expression(text)
            if pending.keys().isdisjoint(expression.names):
                resolved[name] = to_sympy(expression, resolved)
                del pending[name]
    return {name: resolved[name] for name in symbols}


def _evaluated(
    dynamics: Dynamics, entries: Sequence[sympy.Expr], symbols: Sequence[sympy.Symbol], parameters: Values | None
) -> Array:
    kernel = compile_kernel({"slopes": list(entries)}, symbols)
    return np.array(kernel(dynamics.arguments(parameters))["slopes"], dtype=float)
