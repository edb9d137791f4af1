"""The symbolic equations of a mechanism, written in SymPy for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.expressions import Nodes, sympy_expressions

if TYPE_CHECKING:
    from hybrid.dynamics.equations import Equations


@attrs.frozen(eq=False)
class SymbolicModel:
    """Equations of motion and contact kinematics of a mechanism as SymPy matrices.

    ``M v' = h + W_N lambda_N + W_T lambda_T + J^T lambda_B`` (Pfeiffer and Glocker 1996, eq. 2.1), with the contact
    velocities ``gap_dot = W_N^T v + drift`` and ``slip = W_T^T v + drift``, and the contact accelerations
    ``W_N^T v' + zeta_N`` and ``W_T^T v' + zeta_T``.

    Attributes
    ----------
    coordinates, velocities : tuple of Symbol, length n
        Generalised coordinates and velocities under the names of the declaration.
    time : Symbol
        Time.
    parameters : mapping of name to Symbol
        Parameters; their values are put in at evaluation.
    M, h : Matrix, (n, n) and (n, 1)
        Mass matrix; all generalised forces but those of contacts and constraints.
    gap, gap_dot, zeta_N : Matrix, (k, 1)
        Signed distances, their rates, and the part of their accelerations that is not ``W_N^T v'``.
    W_N : Matrix, (n, k)
        Normal force directions.
    slip, zeta_T : Matrix, (p, 1)
        Tangential velocities and the part of their accelerations that is not ``W_T^T v'``.
    W_T : Matrix, (n, p)
        Tangential force directions.
    constraint, constraint_dot, zeta_B : Matrix, (m, 1)
        Rigid bilateral constraints, their rates, and acceleration remainders.
    J : Matrix, (m, n)
        Constraint Jacobian.
    coefficients : mapping of str to Matrix
        ``friction``, ``static_friction``, ``restitution``, ``damping``, ``stiffness_ratio`` (k, 1); ``limit``,
        ``static_limit`` (number of friction elements, 1); ``constraint_friction`` (m, 1); ``mean_T`` (p, 1).
    """

    coordinates: tuple[sympy.Symbol, ...]
    velocities: tuple[sympy.Symbol, ...]
    time: sympy.Symbol
    parameters: Mapping[str, sympy.Symbol]
    M: sympy.Matrix
    h: sympy.Matrix
    gap: sympy.Matrix
    gap_dot: sympy.Matrix
    zeta_N: sympy.Matrix
    W_N: sympy.Matrix
    slip: sympy.Matrix
    zeta_T: sympy.Matrix
    W_T: sympy.Matrix
    constraint: sympy.Matrix
    constraint_dot: sympy.Matrix
    zeta_B: sympy.Matrix
    J: sympy.Matrix
    coefficients: Mapping[str, sympy.Matrix]


def symbolic_model(equations: Equations) -> SymbolicModel:
    """The equations of a mechanism in SymPy.

    Parameters
    ----------
    equations : Equations

    Returns
    -------
    SymbolicModel
    """
    blocks = equations.terms()
    nodes = [*equations.arguments, *(int(node) for block in blocks.values() for node in block.ravel())]
    known = dict(zip(nodes, sympy_expressions(equations.graph, nodes), strict=True))
    matrices = {name: _matrix(block, known) for name, block in blocks.items()}
    return SymbolicModel(
        coordinates=tuple(known[node] for node in equations.coordinates),
        velocities=tuple(known[node] for node in equations.velocities),
        time=known[equations.time],
        parameters={name: known[node] for name, node in equations.parameters.items()},
        coefficients={name: matrices.pop(name) for name in equations.coefficients},
        **matrices,
    )


def _matrix(block: Nodes, known: Mapping[int, sympy.Expr]) -> sympy.Matrix:
    rows, columns = block.shape if block.ndim == 2 else (len(block), 1)
    return sympy.Matrix(rows, columns, [known[int(node)] for node in block.ravel()])
