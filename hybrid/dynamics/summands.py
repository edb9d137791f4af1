"""Magnitudes of the terms that forces and acceleration remainders are sums of: their rounding is a share of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import sympy
from numpy.typing import NDArray

from hybrid.dynamics.kernel import Kernel, compile_kernel

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms, Values

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


def summands_of(
    dynamics: Dynamics, terms: Terms, q: Any, v: Any, *, t: Any = 0.0, parameters: Values | None = None
) -> Summands | None:
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
    parameters : mapping, optional

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
    found = kernel(dynamics.kernel_arguments(q, v, t, parameters))
    return Summands(*(_larger(getattr(plain, field), found.get(field)) for field in _FIELDS))


def _larger(plain: Array, found: Array | None) -> Array:
    return plain if found is None else np.fmax(plain, found)


def _compiled(dynamics: Dynamics) -> Kernel:
    """A kernel of the quantities in which something may cancel."""
    model = dynamics.model
    symbols = [*model.coordinates, *model.velocities, model.time, *model.parameters.values()]
    known: dict[sympy.Expr, sympy.Expr] = {}
    quantities = {field: list(getattr(model, field)) for field in _FIELDS}
    sums = {
        field: [_magnitude(entry, known) for entry in entries]
        for field, entries in quantities.items()
        if any(entry.has(sympy.Add) for entry in entries)
    }
    return compile_kernel(sums, symbols)


def _magnitude(expression: sympy.Expr, known: dict[sympy.Expr, sympy.Expr]) -> sympy.Expr:
    """The sum of the magnitudes of an expression's terms, and what the rounding of an argument makes of a function."""
    if expression not in known:
        known[expression] = _read(expression, known)
    return known[expression]


def _read(expression: sympy.Expr, known: dict[sympy.Expr, sympy.Expr]) -> sympy.Expr:
    parts = [_magnitude(item, known) for item in expression.args]
    if isinstance(expression, sympy.Add | sympy.Abs | sympy.Max | sympy.Min):
        return sympy.Add(*parts)
    if isinstance(expression, sympy.Mul):
        return sympy.Mul(*parts)
    if expression.is_Pow and expression.exp.is_Integer and expression.exp.is_positive:
        return parts[0] ** expression.exp
    size = sympy.Abs(expression, evaluate=bool(expression.is_number))
    if isinstance(expression, sympy.sign | sympy.Heaviside) or not expression.has(sympy.Add):
        return size
    if isinstance(expression, sympy.sin | sympy.cos | sympy.tanh | sympy.atan):
        return size + parts[0]  # the slope is 1 at most
    places = [sympy.Dummy(real=True) for _ in parts]
    given = dict(zip(places, expression.args, strict=True))
    slopes = [expression.func(*places).diff(place).xreplace(given) for place in places]
    spread = [sympy.Abs(slope) * part for slope, part in zip(slopes, parts, strict=True) if not slope.has(sympy.log)]
    return sympy.Add(size, *spread)
