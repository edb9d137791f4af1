"""One mode's accelerations and forces as a straight-line program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.carriers import CarrierKind
from hybrid.dynamics.tape import Tape, Term, solve_mass
from hybrid.motion.distribution import RANK
from hybrid.motion.parts import Part, spatial_slides

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values

MAX_ROWS = 2  # Cramer's rule; larger systems need pivoting
N_REFERENCES = 3  # extra arguments of every spatial slide: a direction and the rounding of the slip
_POSTURES = (0.3, -1.1, 2.3)  # no particular ones


@attrs.define
class Rows:
    """Conditions ``R_i . v' + zeta_i = 0`` and the force columns ``F_i`` that meet them.

    Attributes
    ----------
    R, F : list of columns of length n
    zeta : list
    labels : list of (Part or None, str)
        Carrier and ``"N"`` or ``"T0"``, ``"T1"``, of each row; ``"B"`` for a bilateral constraint.
    load : list of length n
        Generalised forces that need no elimination.
    """

    R: list[list[Term]]
    F: list[list[Term]]
    zeta: list[Term]
    labels: list[tuple[Part | None, str]]
    load: list[Term]


@attrs.frozen(eq=False)
class Solved:
    """Texts of the accelerations, of the forces of every contact and column, and of the singularity guard."""

    acceleration: list[Term]
    lambda_N: list[Term]
    lambda_T: list[Term]
    determinant: Term


def is_eliminable(
    dynamics: Dynamics, parts: Sequence[Part], *, independent: bool, parameters: Values | None = None
) -> bool:
    """True if the mode can be solved without pivoting and without pseudo-inverses.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of Part
    independent : bool
        True if the rigid constraints are known to be independent, but for singular configurations.
    parameters : mapping, optional
    """
    rows = sum(part.has_normal + (len(part.columns) if part.sticks else 0) for part in parts) + len(dynamics.rigid)
    frictional = any(part.kind is CarrierKind.BILATERAL for part in parts)
    if frictional or (len(dynamics.rigid) > 1 and not independent) or rows > min(MAX_ROWS, dynamics.n):
        return False
    if rows < 2:
        return True
    # the answer is kept for the last parameters alone: a study of thousands of them asks for each but once
    key, values = (_is_independent, tuple(parts)), tuple(dynamics.arguments(parameters))
    known = dynamics.programs.get(key)
    if known is None or known[0] != values:
        known = dynamics.programs[key] = (values, _is_independent(dynamics, parts, parameters))
    return bool(known[1])


def _is_independent(dynamics: Dynamics, parts: Sequence[Part], parameters: Values | None) -> bool:
    """True if the conditions of a mode are independent somewhere; those of a hinged link's end on a floor never are.

    They are as independent as :class:`hybrid.motion.numeric.NumericFlow` tells them from redundant ones.
    """
    for posture in _POSTURES:
        q = posture + np.linspace(0.0, 0.5, dynamics.n)
        terms = dynamics.terms(q, np.zeros(dynamics.n), parameters=parameters)
        rows = [*terms.J]
        for part in parts:
            rows += [terms.W_N[:, part.index]] if part.has_normal else []
            rows += [terms.W_T[:, column] for column in part.columns] if part.sticks else []
        directions = np.array(rows)
        if not (np.isfinite(directions).all() and np.isfinite(terms.M).all()):
            return True
        G = directions @ np.linalg.pinv(terms.M, hermitian=True) @ directions.T
        sizes = np.sqrt(np.maximum(np.diag(G), 1e-300))
        if np.linalg.matrix_rank(G / np.outer(sizes, sizes), rtol=RANK, hermitian=True) == len(rows):
            return True
    return False


def rows_of(tape: Tape, parts: Sequence[Part]) -> Rows:
    """Collect the conditions of a mode."""
    rows = Rows([], [], [], [], list(tape.quantity("h")))
    for J, zeta_B in zip(tape.quantity("J"), tape.quantity("zeta_B"), strict=True):
        _append(rows, J, J, zeta_B, (None, "B"))
    reference = 0
    for part in parts:
        tangents = [tape.column("W_T", column) for column in part.columns]
        zetas = [tape.quantity("zeta_T")[column] for column in part.columns]
        directions: list[Term] = [part.slip_sign] * len(tangents)
        if part.slides and len(tangents) == 2:
            directions = _direction(tape, part, reference)
            reference += N_REFERENCES
        if part.kind is CarrierKind.ELEMENT and part.slides:
            limit = tape.quantity("limit")[part.index]
            force = tape.dot([(limit, directions[0])])
            rows.load = [tape.dot([(_minus(force), w)], start) for w, start in zip(tangents[0], rows.load, strict=True)]
        if part.has_normal:
            normal = tape.column("W_N", part.index)
            force_column = normal
            if part.slides:
                mu = tape.quantity("friction")[part.index]
                for direction, tangent in zip(directions, tangents, strict=True):
                    drag = tape.dot([(mu, direction)])
                    force_column = [
                        tape.dot([(_minus(drag), w)], start) for w, start in zip(tangent, force_column, strict=True)
                    ]
            _append(rows, normal, force_column, tape.quantity("zeta_N")[part.index], (part, "N"))
        if part.sticks:
            for axis, (tangent, zeta) in enumerate(zip(tangents, zetas, strict=True)):
                _append(rows, tangent, tangent, zeta, (part, f"T{axis}"))
    return rows


def _append(rows: Rows, R: list[Term], F: list[Term], zeta: Term, label: tuple[Part | None, str]) -> None:
    rows.R.append(R)
    rows.F.append(F)
    rows.zeta.append(zeta)
    rows.labels.append(label)


def _minus(term: Term) -> Term:
    return f"(-{term})" if isinstance(term, str) else -term


def _direction(tape: Tape, part: Part, reference: int) -> list[Term]:
    """Unit vector of slip that runs straight on through zero.

    The extra arguments are a direction and the rounding of the slip: it keeps to the side of that direction, and has it
    where there is no slip.
    """
    first, second = (tape.quantity("slip")[column] for column in part.columns)
    u, w, floor = (f"u{reference + place}" for place in range(N_REFERENCES))
    side = tape.put(f"sign({first}*{u} + {second}*{w} + 1e-300)")
    first = tape.put(f"{first}*{side} + {floor}*{u}")
    second = tape.put(f"{second}*{side} + {floor}*{w}")
    size = tape.put(f"max(sqrt({first}*{first} + {second}*{second}), 1e-300)")
    return [tape.put(f"{first}/{size}"), tape.put(f"{second}/{size}")]


def n_references(parts: Sequence[Part]) -> int:
    """Number of extra arguments."""
    return N_REFERENCES * len(spatial_slides(parts))


def eliminate(tape: Tape, parts: Sequence[Part], *, n_contacts: int, n_columns: int) -> Solved:
    """Write the solution of a mode's equations of motion.

    Parameters
    ----------
    tape : Tape
    parts : sequence of Part
        With at most two conditions.
    n_contacts, n_columns : int
        Lengths of the force vectors.

    Returns
    -------
    Solved
    """
    rows = rows_of(tape, parts)
    a_free, *responses = solve_mass(tape, [rows.load, *rows.F])
    G = [[tape.dot(zip(R, Y, strict=True)) for Y in responses] for R in rows.R]
    c = [tape.dot(zip(R, a_free, strict=True), zeta) for R, zeta in zip(rows.R, rows.zeta, strict=True)]
    forces, determinant = _solve(tape, G, c)
    acceleration = [
        tape.dot([(Y[i], x) for Y, x in zip(responses, forces, strict=True)], a_free[i]) for i in range(len(a_free))
    ]
    lambda_N: list[Term] = [0.0] * n_contacts
    lambda_T: list[Term] = [0.0] * n_columns
    for (part, row), force in zip(rows.labels, forces, strict=True):
        if part is None:
            continue
        if row == "N":
            lambda_N[part.index] = force
        else:
            lambda_T[part.columns[int(row[1:])]] = force
    _sliding_forces(tape, parts, lambda_N, lambda_T)
    return Solved(acceleration, lambda_N, lambda_T, _relative(tape, rows, determinant))


def _solve(tape: Tape, G: list[list[Term]], c: list[Term]) -> tuple[list[Term], Term]:
    if not c:
        return [], 1.0
    if len(c) == 1:
        return [tape.quotient(_minus(c[0]), G[0][0])], G[0][0]
    determinant = tape.dot([(G[0][0], G[1][1]), (_minus(G[0][1]), G[1][0])])
    first = tape.dot([(_minus(c[0]), G[1][1]), (c[1], G[0][1])])
    second = tape.dot([(_minus(c[1]), G[0][0]), (c[0], G[1][0])])
    return [tape.quotient(first, determinant), tape.quotient(second, determinant)], determinant


def _relative(tape: Tape, rows: Rows, determinant: Term) -> Term:
    """The determinant over that of the same contacts without friction, dimensionless."""
    normals = [R for R, (_, row) in zip(rows.R, rows.labels, strict=True)]
    if not normals or determinant == 1.0:
        return 1.0
    sizes = [tape.dot(zip(R, Y, strict=True)) for R, Y in zip(normals, solve_mass(tape, normals), strict=True)]
    for size in sizes:
        determinant = tape.quotient(determinant, size)
    return determinant


def _sliding_forces(tape: Tape, parts: Sequence[Part], lambda_N: list[Term], lambda_T: list[Term]) -> None:
    reference = 0
    for part in parts:
        if not part.slides:
            continue
        directions: list[Term] = [part.slip_sign]
        if len(part.columns) == 2:
            directions = _direction(tape, part, reference)
            reference += N_REFERENCES
        if part.kind is CarrierKind.ELEMENT:
            size: Term = tape.quantity("limit")[part.index]
        else:
            size = tape.dot([(tape.quantity("friction")[part.index], lambda_N[part.index])])
        for column, direction in zip(part.columns, directions, strict=True):
            lambda_T[column] = tape.dot([(_minus(size), direction)])
