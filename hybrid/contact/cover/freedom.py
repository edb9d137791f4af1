"""Changes of contact forces that accelerate nothing: whether forces are unique is a question of rank, decided exactly.

Singular values far from zero prove that directions are independent. That they depend on each other is never concluded
from small ones: it needs a combination of forces, in fractions, that the constraints bear to the last digit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.known_numbers import Clock, UnknownNumberError, dot, known_number, solve
from hybrid.contact.modes import ElementKind
from lcp.exact.certificate import integer_row
from lcp.polytopes import cone_generators

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.conditions import Scale
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = ["Freedom", "KnownDirections", "Rows", "freedom_of", "holding_forces"]

Array = NDArray[np.float64]
Rows = list[list[Fraction]]

_SECONDS = 1.0
"""What exact forces may take; beyond, they are not known."""


@attrs.frozen(eq=False)
class Freedom:
    """Changes of contact forces that change no acceleration.

    Attributes
    ----------
    n_small : int
        Number of independent ones, but for changes of accelerations within the tolerance.
    least : float
        Least length of a combination of the directions, each of which has length 1, but no less than the rounding unit;
        0 if there are more directions than velocities, infinite if there are none.
    kernel : tuple of tuple of Fraction, (d, r)
        Independent ones, in physical units with the largest entry 1 or -1, that change none at all.
    is_known : bool
        The numbers that say so are known (:func:`hybrid.contact.known_numbers.known_number`): there are ``d`` of them.
        Otherwise there are at least ``d``, of the numbers as they are.
    within : mapping of str to tuple of str
        By body, its contacts with what does not move: forces along the line that joins two of them cancel.
    """

    n_small: int
    least: float
    kernel: tuple[tuple[Fraction, ...], ...] = ()
    is_known: bool = True
    within: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    @property
    def n_proved(self) -> int:
        """Number of independent ones that are proved: exactly, or by six balances of forces and moments of a body."""
        joined = sum(max(3 * len(names) - 6, 1) for names in self.within.values())
        return max(len(self.kernel), joined)

    @property
    def dimension(self) -> int:
        """Number of independent ones: the proved ones where the numbers are known, else as the tolerance tells."""
        return self.n_proved if self.is_known else max(self.n_small, self.n_proved)


@attrs.frozen(eq=False)
class KnownDirections:
    """What is known of the directions of forces beside their floats.

    Attributes
    ----------
    bodies : mapping of str to str
        Of contacts with what does not move, the rigid bodies on which they act.
    exact : pair of list of list of Fraction, (n, r) and (m, n), or None
        The directions, and the gradients of the constraints that are eliminated.
    """

    bodies: Mapping[str, str] = attrs.field(factory=dict)
    exact: tuple[Rows, Rows] | None = None


def freedom_of(
    problem: ContactProblem, forces: Array, scale: Scale, tolerances: Tolerances, *, known: KnownDirections
) -> Freedom:
    """Changes of forces along some directions that change no acceleration.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    forces : array, (r, k)
        Directions of the forces.
    scale : Scale
    tolerances : Tolerances
        ``rank`` is the length up to which it is looked at closely whether a combination of directions vanishes.
    known : KnownDirections

    Returns
    -------
    Freedom
    """
    if not forces.size:
        return Freedom(0, float("inf"))
    answers = np.linalg.cholesky(problem.terms.M).T @ problem.response_W @ forces
    units = np.linalg.norm(forces * scale.row[:, None], axis=0)
    lengths = np.linalg.svd(answers / np.where(units > 0.0, units, 1.0), compute_uv=False)
    n_small = int(forces.shape[1] - np.sum(lengths > max(tolerances.rank, float(scale.lost))))
    least = float(max(lengths[-1], np.finfo(float).eps)) if len(lengths) == forces.shape[1] else 0.0
    if not n_small:
        return Freedom(0, least)
    within, is_known, exact = _within(problem, forces, known.bodies), _is_known(forces), known.exact
    if exact is None:
        if (held := _held(problem)) is None:
            return Freedom(n_small, least, is_known=False, within=within)
        is_known = is_known and _is_known(problem.W[:, forces.any(axis=1)]) and _is_known(held)
        exact = _fractions(problem.W), _fractions(held)
    return Freedom(n_small, least, _kernel(*exact, _fractions(forces)), is_known, within)


def _is_known(numbers: Array) -> bool:
    return all(known_number(value) is not None for value in numbers.flat)


def _within(problem: ContactProblem, forces: Array, bodies: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Contacts of each body that has several of which all forces in space are among the directions."""
    alone = np.count_nonzero(forces[:, np.count_nonzero(forces, axis=0) == 1], axis=1)
    found: dict[str, tuple[str, ...]] = {}
    for element in problem.elements:
        if len(element.rows) == 3 and all(alone[row] for row in element.rows) and (body := bodies.get(element.name)):
            found[body] = (*found.get(body, ()), element.name)
    return {body: names for body, names in found.items() if len(names) > 1}


def _held(problem: ContactProblem) -> Array | None:
    """Gradients (m, n) of the constraints that bear forces of their own; None where that is not told."""
    if any(element.kind is not ElementKind.CONTACT and element.normal is not None for element in problem.elements):
        return None  # the gradient of a rail with friction is the direction of one of the forces
    return problem.terms.J


def _fractions(numbers: Array) -> Rows:
    """What floats were written as, where they have few digits; otherwise the fractions that they are."""
    return [[known_number(value) or Fraction(value) for value in line] for line in numbers.tolist()]


def _kernel(W: Rows, held: Rows, forces: Rows) -> tuple[tuple[Fraction, ...], ...]:
    """Independent combinations of forces that nothing feels but the constraints."""
    # what moves without a constraint being felt: a force that does no work along it accelerates nothing
    free = _null(held, len(W)) if held else [[int(i == k) for k in range(len(W))] for i in range(len(W))]
    columns = [[dot(line, force) for line in W] for force in zip(*forces, strict=True)]
    works = [[dot(motion, column) for column in columns] for motion in free]
    changes = [[dot(line, shares) for line in forces] for shares in _null(works, len(columns))]
    return tuple(tuple(value / max(map(abs, change)) for value in change) for change in changes)


def _null(rows: Rows, n: int) -> list[list[int]]:
    """Independent integer vectors, each of length ``n``, that are orthogonal to all rows."""
    return cone_generators([], dimension=n, tolerance=0, unit=1, equalities=map(integer_row, rows)).lines


def holding_forces(problem: ContactProblem, rows: Sequence[int], *, any_number: bool) -> tuple[Fraction, ...] | None:
    """The only forces in some rows that leave these no acceleration, exactly.

    Parameters
    ----------
    problem : ContactProblem
        At one state; its rows are those of contacts, whose directions are independent.
    rows : sequence of int
    any_number : bool
        Take floats that are the outcome of a computation for the fractions that they are.

    Returns
    -------
    tuple of Fraction, (r,), or None
        None where there are none, or a number is not known.
    """
    terms, held = problem.terms, _held(problem)
    zeta = np.zeros(problem.n_rows)
    for element in problem.elements:
        if element.normal is None or held is None:
            return None
        zeta[element.normal] = terms.zeta_N[problem.names.index(element.name)]
        if element.tangential:
            zeta[list(element.tangential)] = terms.zeta_T[problem.columns[element.name]]
    (n, k), m = (len(terms.h), len(rows)), len(terms.J)
    table = np.zeros((n + k + m, n + k + m + 1))
    directions = np.concatenate([problem.W[:, list(rows)].T, terms.J])
    table[:n, :n], table[:n, n:-1], table[n:, :n] = terms.M, directions.T, directions
    table[:, -1] = np.concatenate([terms.h, -zeta[list(rows)], -terms.zeta_B])
    if not (any_number or _is_known(table)):
        return None
    try:
        found = solve(_fractions(table), n + k + m, Clock(_SECONDS))
    except UnknownNumberError:
        return None
    if found is None:
        return None
    forces = [Fraction(0)] * problem.n_rows
    for row, (value,) in zip(rows, found[n : n + k], strict=True):
        forces[row] = -value
    return tuple(forces)
