"""The symbolic equations of a mechanism, derived with SymPy from its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

import attrs
import sympy

from hybrid.declaration.expressions import to_sympy
from hybrid.declaration.parts import EquationDynamics

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Constraint, Contact, FrictionElement, Mechanism

TIME = "t"


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
        ``static_limit`` (number of friction elements, 1); ``constraint_friction`` (m, 1).
    kinetic, potential : Expr or None
        Energies, when the mechanism was declared by them (the potential includes elastic constraints).
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
    kinetic: sympy.Expr | None
    potential: sympy.Expr | None


@attrs.frozen(eq=False)
class _Reader:
    """Turns the declaration's texts into SymPy expressions over one set of symbols."""

    mechanism: Mechanism
    symbols: Mapping[str, sympy.Symbol]
    q: tuple[sympy.Symbol, ...]
    v: tuple[sympy.Symbol, ...]
    time: sympy.Symbol

    def expression(self, text: str) -> sympy.Expr:
        return to_sympy(self.mechanism.expanded(text), self.symbols)

    def column(self, texts: Iterable[str]) -> sympy.Matrix:
        entries = [self.expression(text) for text in texts]
        return sympy.Matrix(len(entries), 1, entries)

    def rate(self, expressions: sympy.Matrix) -> sympy.Matrix:
        """Rate of change of functions of position and time."""
        q, v = sympy.Matrix(self.q), sympy.Matrix(self.v)
        if not len(expressions):
            return expressions
        return _without_impulses(expressions.jacobian(q) * v + expressions.diff(self.time))


def _without_impulses(matrix: sympy.Matrix) -> sympy.Matrix:
    """Drop Dirac terms: the derivative of sign(x) vanishes wherever it exists."""
    return cast(sympy.Matrix, matrix.replace(sympy.DiracDelta, lambda *_: sympy.Integer(0)))


def symbolic_model(mechanism: Mechanism) -> SymbolicModel:
    """Derive the equations of a mechanism symbolically.

    Energies give Lagrange's equations of the second kind; an explicit mass matrix and force vector are taken as they
    are. Elastic constraints (those with a stiffness) enter as the potential ``k f^2 / 2``.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    SymbolicModel
    """
    reader = _reader(mechanism)
    q, v = sympy.Matrix(reader.q), sympy.Matrix(reader.v)
    M, h, kinetic, potential = _equations_of_motion(reader)
    gap = reader.column(contact.gap for contact in mechanism.contact)
    gap_dot = reader.rate(gap)
    slip = _slip_velocities(reader)
    rigid = [constraint for constraint in mechanism.constraint if constraint.stiffness is None]
    constraint = reader.column(item.equation for item in rigid)
    constraint_dot = reader.rate(constraint)
    n = len(reader.q)
    return SymbolicModel(
        coordinates=reader.q,
        velocities=reader.v,
        time=reader.time,
        parameters={name: reader.symbols[name] for name in mechanism.parameters},
        M=M,
        h=h,
        gap=gap,
        gap_dot=gap_dot,
        zeta_N=reader.rate(gap_dot),
        W_N=_without_impulses(gap.jacobian(q).T) if len(gap) else sympy.zeros(n, 0),
        slip=slip,
        zeta_T=reader.rate(slip),
        W_T=slip.jacobian(v).T if len(slip) else sympy.zeros(n, 0),
        constraint=constraint,
        constraint_dot=constraint_dot,
        zeta_B=reader.rate(constraint_dot),
        J=_without_impulses(constraint.jacobian(q)) if len(constraint) else sympy.zeros(0, n),
        coefficients=_coefficients(reader, rigid),
        kinetic=kinetic,
        potential=potential,
    )


def _reader(mechanism: Mechanism) -> _Reader:
    names = [*mechanism.coordinates, *mechanism.velocities, *mechanism.parameters, TIME]
    symbols = {name: sympy.Symbol(name, real=True) for name in names}
    return _Reader(
        mechanism=mechanism,
        symbols=symbols,
        q=tuple(symbols[name] for name in mechanism.coordinates),
        v=tuple(symbols[name] for name in mechanism.velocities),
        time=symbols[TIME],
    )


def _equations_of_motion(
    reader: _Reader,
) -> tuple[sympy.Matrix, sympy.Matrix, sympy.Expr | None, sympy.Expr | None]:
    mechanism = reader.mechanism
    q, v = sympy.Matrix(reader.q), sympy.Matrix(reader.v)
    applied = reader.column(mechanism.forces.get(name, "0") for name in mechanism.coordinates)
    elastic = sympy.Integer(0)
    for item in mechanism.constraint:
        if item.stiffness is not None:
            elastic += reader.expression(item.stiffness) * reader.expression(item.equation) ** 2 / 2
    elastic_force = _without_impulses(-sympy.Matrix([elastic]).jacobian(q).T)
    declared = mechanism.dynamics
    if isinstance(declared, EquationDynamics):
        M = sympy.Matrix([[reader.expression(entry) for entry in row] for row in declared.mass_matrix])
        return M, reader.column(declared.forces) + applied + elastic_force, None, None
    kinetic = reader.expression(declared.kinetic)
    potential = reader.expression(declared.potential) + elastic
    momentum = sympy.Matrix([kinetic]).jacobian(v).T
    M = momentum.jacobian(v)
    h = (
        sympy.Matrix([kinetic - potential]).jacobian(q).T
        - momentum.jacobian(q) * v
        - momentum.diff(reader.time)
        + applied
    )
    return M, _without_impulses(h), kinetic, potential


def _slip_velocities(reader: _Reader) -> sympy.Matrix:
    entries: list[sympy.Expr] = []
    mechanism = reader.mechanism
    frictional = [item for item in mechanism.constraint if item.friction is not None]
    carriers: list[Contact | FrictionElement | Constraint] = [*mechanism.contact, *mechanism.friction, *frictional]
    for carrier in carriers:
        if carrier.slip:
            entries.extend(reader.column(_texts(carrier.slip)))
        elif carrier.tangent:
            entries.extend(reader.rate(reader.column(_texts(carrier.tangent))))
    return sympy.Matrix(len(entries), 1, entries)


def _texts(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else texts


def _coefficients(reader: _Reader, rigid: list[Constraint]) -> dict[str, sympy.Matrix]:
    contacts, elements = reader.mechanism.contact, reader.mechanism.friction
    return {
        "friction": reader.column(c.friction for c in contacts),
        "static_friction": reader.column(c.static_friction or c.friction for c in contacts),
        "restitution": reader.column(c.restitution for c in contacts),
        "damping": reader.column(c.damping for c in contacts),
        "stiffness_ratio": reader.column(c.stiffness_ratio for c in contacts),
        "limit": reader.column(e.limit for e in elements),
        "static_limit": reader.column(e.static_limit or e.limit for e in elements),
        "constraint_friction": reader.column(c.friction or "0" for c in rigid),
    }
