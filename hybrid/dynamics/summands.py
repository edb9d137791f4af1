"""Magnitudes of the terms that forces and acceleration remainders are sums of: their rounding is a share of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.expressions import Builder, Kernel, compile_kernel, magnitudes

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms

__all__ = ["Summands", "single_terms", "summands_of"]

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
    plain = single_terms(terms)
    found = kernel(dynamics.kernel_arguments(q, v, t))
    return Summands(*(_larger(getattr(plain, field), found.get(field)) for field in _FIELDS))


def _larger(plain: Array, found: Array | None) -> Array:
    return plain if found is None else np.fmax(plain, found)


def _compiled(dynamics: Dynamics) -> Kernel:
    """A kernel of the quantities in which something may cancel."""
    equations, build = dynamics.equations, Builder(dynamics.equations.graph)
    graph = equations.graph
    sums = {}
    for field in _FIELDS:
        block = getattr(equations, field)
        if any(graph.operations[node] == "+" for node in graph.needed(block)):
            sums[field] = magnitudes(build, block)
    return compile_kernel(build.graph(), sums, equations.arguments)
