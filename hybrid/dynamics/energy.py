"""Energy of a mechanism and the power of what is applied to it, for the balance along a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from hybrid.declaration.expressions import to_sympy

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Mechanism
    from hybrid.dynamics.model import SymbolicModel


def energy_and_power(model: SymbolicModel, mechanism: Mechanism) -> list[sympy.Expr]:
    """Jacobi's energy and the power that enters it other than through contacts and constraints.

    ``d/dt (v . L_v - L) = Q . v - L_t`` for applied forces ``Q`` (Lagrange's equations of the second kind). Where the
    mechanism is declared by its equations, the energy is ``v . M v / 2`` and its power ``v . h + v . M' v / 2``.

    Parameters
    ----------
    model : SymbolicModel
    mechanism : Mechanism

    Returns
    -------
    list of Expr
        Energy and power.
    """
    q, v = sympy.Matrix(model.coordinates), sympy.Matrix(model.velocities)
    if model.kinetic is None or model.potential is None:
        kinetic = (v.T * model.M * v)[0] / 2
        turning = sum((_rate(kinetic, a) * b for a, b in zip(q, v, strict=True)), _rate(kinetic, model.time))
        return [kinetic, (v.T * model.h)[0] + turning]
    symbols = {str(symbol): symbol for symbol in (*model.coordinates, *model.velocities, model.time)}
    symbols.update(model.parameters)
    applied = [to_sympy(mechanism.expanded(mechanism.forces.get(str(name), "0")), symbols) for name in q]
    momentum = sympy.Matrix([model.kinetic]).jacobian(v)
    energy = (momentum * v)[0] - model.kinetic + model.potential
    power = sum((force * rate for force, rate in zip(applied, v, strict=True)), sympy.Integer(0))
    return [energy, power - _rate(model.kinetic - model.potential, model.time)]


def _rate(expression: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Derivative without the impulses of jumps: that of sign(t) vanishes wherever it exists."""
    return expression.diff(symbol).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0))
