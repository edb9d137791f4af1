"""Magnitudes of the terms that forces and acceleration remainders are sums of: their rounding is a share of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.expressions import Builder, Kernel, compile_kernel, magnitudes

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms
    from hybrid.dynamics.equations import Equations
    from hybrid.expressions import Nodes

__all__ = ["Summands", "single_terms", "summand_nodes", "summands_of", "with_sums"]

Array = NDArray[np.float64]
_FIELDS = ("h", "zeta_N", "zeta_T", "zeta_B")


@attrs.frozen(eq=False)
class Summands:
    """Magnitudes of the terms of sums, each of the shape of what it belongs to.

    Attributes
    ----------
    h : array, (..., n)
    zeta_N, zeta_T, zeta_B : array, (..., k), (..., p) and (..., m)
    """

    h: Array
    zeta_N: Array
    zeta_T: Array
    zeta_B: Array


def single_terms(terms: Terms) -> Summands:
    """Summands where nothing cancels: the magnitudes of the terms themselves.

    Parameters
    ----------
    terms : Terms

    Returns
    -------
    Summands
    """
    return Summands(*(np.abs(getattr(terms, field)) for field in _FIELDS))


def summands_of(dynamics: Dynamics, terms: Terms, q: Any, v: Any, *, t: Any = 0.0) -> Summands | None:
    """Magnitudes of the terms at one state or many.

    The square ``(p . v + b)**2`` of a rate that vanishes, the force of a spring that carries a weight: such numbers are
    the rounding of what cancels in them, and do not say how large that is.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At the states.
    q, v : array_like, (..., n)
    t : array_like, (...)

    Returns
    -------
    Summands or None
        None where no quantity is a sum: nothing can cancel in any.

    Examples
    --------
    >>> from hybrid import EnergyDynamics, Mechanism, derive
    >>> hung = derive(
    ...     Mechanism(
    ...         name="hung", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="5*x**2 - 2*x")
    ...     )
    ... )
    >>> terms = hung.terms([0.2], [0.0])
    >>> float(terms.h[0]), float(summands_of(hung, terms, [0.2], [0.0]).h[0])
    (0.0, 4.0)
    """
    if Summands not in dynamics.programs:
        dynamics.programs[Summands] = _compiled(dynamics)
    kernel: Kernel = dynamics.programs[Summands]
    if not kernel.shapes:
        return None
    return with_sums(terms, kernel(dynamics.kernel_arguments(q, v, t)))


def with_sums(terms: Terms, sums: Mapping[str, Array]) -> Summands:
    """Summands of terms of which some are known to be sums.

    Parameters
    ----------
    terms : Terms
    sums : mapping of str to array
        Magnitudes of their terms, by field.

    Returns
    -------
    Summands
    """
    plain = single_terms(terms)
    larger = {field: np.fmax(getattr(plain, field), sizes) for field, sizes in sums.items()}
    return attrs.evolve(plain, **larger)


def summand_nodes(build: Builder, equations: Equations) -> dict[str, Nodes]:
    """Magnitudes of the terms of the quantities in which something may cancel, as nodes.

    Parameters
    ----------
    build : Builder
        Of the graph of the equations.
    equations : Equations

    Returns
    -------
    dict of str to array of int
        Empty if there is none.
    """
    graph, blocks = equations.graph, {field: getattr(equations, field) for field in _FIELDS}
    return {
        field: magnitudes(build, block)
        for field, block in blocks.items()
        if any(graph.operations[node] == "+" for node in graph.needed(np.ravel(block)))
    }


def _compiled(dynamics: Dynamics) -> Kernel:
    build = Builder(dynamics.equations.graph)
    sums = summand_nodes(build, dynamics.equations)
    return compile_kernel(build.graph(), sums, dynamics.equations.arguments)
