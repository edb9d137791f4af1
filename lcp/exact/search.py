"""Existence and all solutions in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from lcp.dictionary import Dictionary, Face, Refuted, explore
from lcp.errors import LCPError
from lcp.exact.certificate import NoSolutionCertificate, Refutation
from lcp.exact.lemke import RationalLCP, integer_dictionary, rational
from lcp.faces import face_generators

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lcp.problem import LCP

__all__ = [
    "ExactPiece",
    "ExactSolutionSet",
    "basic_solution",
    "enumerate_solutions",
    "find_solution",
    "refute",
]

Vector = tuple[Fraction, ...]


def refute(problem: LCP | RationalLCP) -> NoSolutionCertificate | None:
    """A proof that the problem has no solution, or None if it has one.

    Parameters
    ----------
    problem : LCP or RationalLCP
        Floats are taken as the rationals they are.

    Returns
    -------
    NoSolutionCertificate or None

    Examples
    --------
    >>> from lcp import LCP
    >>> refute(LCP([[1.0]], [-1.0])) is None
    True
    """
    outcome = _search(problem)
    return outcome if isinstance(outcome, NoSolutionCertificate) else None


def find_solution(problem: LCP | RationalLCP) -> Vector | None:
    """One solution in rational numbers, or None if there is none.

    Parameters
    ----------
    problem : LCP or RationalLCP
        Floats are taken as the rationals they are.

    Returns
    -------
    tuple of Fraction or None
        z, of length n.

    Examples
    --------
    >>> from lcp import LCP
    >>> find_solution(LCP([[2.0]], [-1.0]))
    (Fraction(1, 2),)
    """
    outcome = _search(problem)
    return None if isinstance(outcome, NoSolutionCertificate) else outcome


def _search(problem: LCP | RationalLCP) -> NoSolutionCertificate | Vector:
    exact = rational(problem)
    refutations: list[Refutation] = []
    for leaf in explore(integer_dictionary(exact), exhaustive=False):
        if isinstance(leaf, Face):
            dictionary = leaf.dictionary
            values = [Fraction(dictionary.value(exact.n + i), dictionary.denominator) for i in range(exact.n)]
            return tuple(values)
        refutations.append(_refutation(exact, leaf))
    return NoSolutionCertificate(tuple(refutations))


def _refutation(problem: RationalLCP, leaf: Refuted[int]) -> Refutation:
    n, fixed = problem.n, leaf.dictionary.fixed
    raw = leaf.dictionary.multipliers(leaf.row)
    divisor = math.gcd(*raw)
    y = [Fraction(value // divisor) for value in raw]
    return Refutation(
        zero_w=tuple(i for i in range(n) if i in fixed),
        zero_z=tuple(i for i in range(n) if n + i in fixed),
        multipliers=tuple(y),
        combination=tuple(sum((y[i] * problem.M[i][j] for i in range(n)), Fraction(0)) for j in range(n)),
        constant=sum((y[i] * problem.q[i] for i in range(n)), Fraction(0)),
    )


@attrs.frozen
class ExactPiece:
    """A convex set of solutions: the hull of its vertices plus the cone of its rays.

    Attributes
    ----------
    vertices, rays : tuple of tuple of Fraction
        Of length n each.
    """

    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]


@attrs.frozen
class ExactSolutionSet:
    """All solutions in rational numbers.

    Parameters
    ----------
    isolated : tuple of tuples of Fraction
        The isolated solutions, sorted.
    continua : tuple of ExactPiece
        The maximal faces of positive dimension.
    """

    isolated: tuple[Vector, ...]
    continua: tuple[ExactPiece, ...]


def enumerate_solutions(problem: LCP | RationalLCP) -> ExactSolutionSet:
    """Every solution in rational arithmetic.

    Parameters
    ----------
    problem : LCP or RationalLCP

    Returns
    -------
    ExactSolutionSet

    Examples
    --------
    >>> from lcp import LCP
    >>> [z[0] for z in enumerate_solutions(LCP([[-2.0]], [1.0])).isolated]
    [Fraction(0, 1), Fraction(1, 2)]
    """
    exact = rational(problem)
    leaves = explore(integer_dictionary(exact), exhaustive=True)
    pieces = {_piece(leaf.dictionary) for leaf in leaves if isinstance(leaf, Face)}
    zeros = {piece: _zeros(exact, piece) for piece in pieces}
    maximal = [piece for piece in pieces if not any(zeros[other] < zeros[piece] for other in pieces)]
    points = {piece for piece in maximal if len(piece.vertices) == 1 and not piece.rays}
    isolated = sorted(piece.vertices[0] for piece in points)
    continua = [piece for piece in maximal if piece not in points]
    continua.sort(key=lambda piece: (piece.vertices, piece.rays))
    return ExactSolutionSet(isolated=tuple(isolated), continua=tuple(continua))


def _piece(dictionary: Dictionary[int]) -> ExactPiece:
    vertices, rays = [], []
    for scale, z in face_generators(dictionary):
        if scale:
            vertices.append(tuple(Fraction(entry, scale * dictionary.denominator) for entry in z))
        elif any(z):
            largest = max(abs(entry) for entry in z)
            rays.append(tuple(Fraction(entry, largest) for entry in z))
    return ExactPiece(vertices=tuple(sorted(set(vertices))), rays=tuple(sorted(set(rays))))


def _zeros(problem: RationalLCP, piece: ExactPiece) -> frozenset[int]:
    """Variables that vanish on the whole piece; a piece with fewer zeros contains those with more."""
    n = problem.n
    zeros = set(range(2 * n))
    for vector, constant in [(v, 1) for v in piece.vertices] + [(r, 0) for r in piece.rays]:
        w = [
            sum((a * b for a, b in zip(row, vector, strict=True)), constant * q)
            for row, q in zip(problem.M, problem.q, strict=True)
        ]
        zeros -= {i for i in range(n) if w[i]} | {n + i for i in range(n) if vector[i]}
    return frozenset(zeros)


def basic_solution(problem: LCP | RationalLCP, basis: Sequence[int]) -> tuple[Vector, Vector] | None:
    """The point (z, w) of one complementary basis, or None if its matrix is singular.

    Its negative entries are the inequalities the basis violates (Cottle, Pang and Stone 1992, section 1.3).

    Parameters
    ----------
    problem : LCP or RationalLCP
    basis : sequence of int
        The indices with z_i basic; w_i is basic for the others.

    Returns
    -------
    z, w : tuple of Fraction
        Of length n each, with w = M z + q; or None instead of both.

    Raises
    ------
    LCPError
        If an index is repeated, or is not below n.

    Examples
    --------
    >>> from lcp import LCP
    >>> basic_solution(LCP([[-2.0]], [-1.0]), [0])
    ((Fraction(-1, 2),), (Fraction(0, 1),))
    """
    exact = rational(problem)
    n = exact.n
    if len(set(basis)) != len(basis) or not all(0 <= i < n for i in basis):
        raise LCPError(f"a basis must consist of different indices below {n}, got {tuple(basis)}")
    dictionary = integer_dictionary(exact)
    for j in basis:
        column = dictionary.nonbasic.index(n + j)
        rows = enumerate(zip(dictionary.basic, dictionary.rows, strict=True))
        able = [r for r, (variable, row) in rows if variable in basis and row[column]]
        if not able:
            return None
        dictionary.pivot(able[0], column)
    z = tuple(Fraction(dictionary.value(n + i), dictionary.denominator) for i in range(n))
    return z, exact.w(z)
