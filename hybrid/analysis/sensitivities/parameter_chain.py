"""How all parameters of a mechanism follow a few of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.reading import read
from hybrid.expressions import Builder, compile_kernel, jacobian

if TYPE_CHECKING:
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
    build = Builder(dynamics.equations.graph)
    resolved = _resolved(dynamics, build, parameters or {}, frozenset(names))
    graph = build.graph()
    changing = tuple(name for name, node in resolved.items() if not graph.names([node]).isdisjoint(names))
    return changing, _slopes(dynamics, build, [resolved[name] for name in changing], names, parameters)


def text_slopes(dynamics: Dynamics, text: str, names: Sequence[str], *, parameters: Values | None = None) -> Array:
    """Derivatives of an expression of parameters with respect to the named ones.

    Parameters
    ----------
    dynamics : Dynamics
    text : str
        The expression.
    names : sequence of str
        Parameters.
    parameters : mapping, optional
        Values in place of the declared ones.

    Returns
    -------
    array, (number of names,)
        Through parameters that are declared as expressions of others, too.
    """
    build = Builder(dynamics.equations.graph)
    resolved = _resolved(dynamics, build, parameters or {}, frozenset(names))
    node = read(build, dynamics.mechanism.expression(text), resolved)
    return np.asarray(_slopes(dynamics, build, [node], names, parameters)[0])


def _resolved(dynamics: Dynamics, build: Builder, overrides: Mapping[str, Any], free: frozenset[str]) -> dict[str, int]:
    """Every parameter as a node of the free ones and of numbers."""
    mechanism, nodes = dynamics.mechanism, dynamics.equations.parameters
    texts = {
        name: overrides.get(name, parameter.value)
        for name, parameter in mechanism.parameters.items()
        if name not in free and isinstance(overrides.get(name, parameter.value), str)
    }
    resolved = {name: node for name, node in nodes.items() if name not in texts}
    pending = dict(texts)
    while pending:  # the declaration was checked: no circles
        for name, text in list(pending.items()):
            expression = mechanism.expression(text)
            if pending.keys().isdisjoint(expression.names):
                resolved[name] = read(build, expression, resolved)
                del pending[name]
    return {name: resolved[name] for name in nodes}


def _slopes(
    dynamics: Dynamics, build: Builder, roots: Sequence[int], names: Sequence[str], parameters: Values | None
) -> Array:
    nodes = dynamics.equations.parameters
    slopes = jacobian(build, roots, [nodes[name] for name in names])
    kernel = compile_kernel(build.graph(), {"slopes": slopes}, list(nodes.values()))
    return np.array(kernel(dynamics.at(parameters).arguments)["slopes"], dtype=float)
