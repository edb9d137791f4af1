"""Problems in rational numbers, proofs that one has no solution, and their judge."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import attrs

from lcp.errors import LCPError
from lcp.problem import LCP, checked

__all__ = [
    "NoSolutionCertificate",
    "Number",
    "RationalLCP",
    "Refutation",
    "certificate_from_json",
    "certificate_to_json",
    "fraction",
    "integer_row",
    "rational",
    "rational_vector",
    "verify",
]


Number: TypeAlias = int | float | Fraction


def rational_vector(values: Iterable[Number]) -> tuple[Fraction, ...]:
    """The numbers as fractions; floats are the rationals they are.

    Parameters
    ----------
    values : iterable of int, float or Fraction

    Returns
    -------
    tuple of Fraction

    Raises
    ------
    LCPError
        If one is not a finite rational number.

    Examples
    --------
    >>> rational_vector([0.5, 2])
    (Fraction(1, 2), Fraction(2, 1))
    """
    try:
        return tuple(fraction(value) for value in values)
    except (TypeError, ValueError, OverflowError) as error:
        raise LCPError(f"a rational problem needs finite rational numbers: {error}") from error


def fraction(value: Number | str) -> Fraction:
    """The number as a fraction of Python's integers; those of NumPy would remain in it and overflow there.

    Parameters
    ----------
    value : int, float, Fraction or str
        Integers of NumPy too; a string such as "1/3".

    Returns
    -------
    Fraction
    """
    return Fraction(operator.index(value)) if hasattr(value, "__index__") else Fraction(value)


def _matrix(rows: Sequence[Sequence[Number]]) -> tuple[tuple[Fraction, ...], ...]:
    try:
        return tuple(rational_vector(row) for row in rows)
    except TypeError as error:
        raise LCPError(f"a matrix must be a sequence of rows: {error}") from error


def integer_row(values: Sequence[Fraction]) -> list[int]:
    """The smallest multiple of a row of fractions by their denominators that is a row of integers.

    Parameters
    ----------
    values : sequence of Fraction

    Returns
    -------
    list of int
        With the signs of the fractions.

    Examples
    --------
    >>> integer_row([Fraction(1, 2), Fraction(-2, 3)])
    [3, -4]
    """
    factor = math.lcm(*(value.denominator for value in values))
    return [int(value * factor) for value in values]


@attrs.frozen
class RationalLCP:
    """The problem (M, q) in rational numbers; floats are taken as the rationals they are.

    Attributes
    ----------
    M : tuple of tuple of Fraction
        n rows of length n.
    q : tuple of Fraction
        Of length n.

    Examples
    --------
    >>> RationalLCP([[Fraction(1, 3)]], [-1]).q
    (Fraction(-1, 1),)
    """

    M: tuple[tuple[Fraction, ...], ...] = attrs.field(converter=_matrix)
    q: tuple[Fraction, ...] = attrs.field(converter=rational_vector)

    @q.validator
    def _matches(self, attribute: object, value: tuple[Fraction, ...]) -> None:
        if len(self.M) != len(value) or any(len(row) != len(value) for row in self.M):
            raise LCPError(f"M must be square and of the order of q, which is {len(value)}")

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.q)

    def w(self, z: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """The complementary variable M z + q.

        Parameters
        ----------
        z : sequence of Fraction, (n,)

        Returns
        -------
        tuple of Fraction, (n,)
        """
        return tuple(
            sum((a * b for a, b in zip(row, z, strict=True)), constant)
            for row, constant in zip(self.M, self.q, strict=True)
        )


def rational(problem: LCP | RationalLCP) -> RationalLCP:
    """The same problem in rational numbers, without rounding.

    Parameters
    ----------
    problem : LCP or RationalLCP

    Returns
    -------
    RationalLCP

    Examples
    --------
    >>> rational(LCP([[0.5]], [-1.0])).M
    ((Fraction(1, 2),),)
    """
    if isinstance(problem, RationalLCP):
        return problem
    return RationalLCP(checked(problem).M.tolist(), problem.q.tolist())


def _numbers(values: Iterable[Number | str]) -> tuple[Fraction, ...]:
    return tuple(fraction(value) for value in values)


def _indices(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(values)


@attrs.frozen
class Refutation:
    """One contradiction, shared by all complementary bases that agree on some indices.

    The equations w - M z = q, combined with the multipliers y, give
    sum_i y_i w_i - sum_j (y^T M)_j z_j = y^T q. The right side is negative. With w_i = 0 for i in
    `zero_w` and z_j = 0 for j in `zero_z`, every term on the left is >= 0. So no solution has these zeros.

    Parameters
    ----------
    zero_w : tuple of int
        Indices that belong to the basis (z_i basic, w_i = 0); y may have any sign there.
    zero_z : tuple of int
        Indices that do not (z_i = 0); y^T M may have any sign there.
    multipliers : tuple of Fraction, length n
        y, a Farkas vector. Where one basis alone is refuted by one negative entry of its basic solution,
        y is the corresponding row of the inverse basis.
    combination : tuple of Fraction, length n
        y^T M.
    constant : Fraction
        y^T q, negative.
    """

    zero_w: tuple[int, ...] = attrs.field(converter=_indices)
    zero_z: tuple[int, ...] = attrs.field(converter=_indices)
    multipliers: tuple[Fraction, ...] = attrs.field(converter=_numbers)
    combination: tuple[Fraction, ...] = attrs.field(converter=_numbers)
    constant: Fraction = attrs.field(converter=fraction)

    def covers(self, basis: Sequence[int]) -> bool:
        """Whether a complementary basis is refuted.

        Parameters
        ----------
        basis : sequence of int
            The i for which z_i is basic.

        Returns
        -------
        bool
        """
        return set(self.zero_w) <= set(basis) and not set(self.zero_z) & set(basis)


def _refutations(values: Iterable[Refutation]) -> tuple[Refutation, ...]:
    return tuple(values)


@attrs.frozen
class NoSolutionCertificate:
    """Refutations that together cover every complementary basis of a problem.

    Parameters
    ----------
    refutations : tuple of Refutation

    Examples
    --------
    >>> from lcp import LCP
    >>> from lcp.exact import refute, verify
    >>> problem = LCP([[-1.0]], [-1.0])
    >>> certificate = refute(problem)
    >>> verify(problem, certificate)
    True
    """

    refutations: tuple[Refutation, ...] = attrs.field(converter=_refutations)

    @property
    def is_farkas(self) -> bool:
        """Whether the linear inequalities w >= 0, z >= 0 alone are contradictory."""
        return len(self.refutations) == 1

    def refutation_of(self, basis: Sequence[int]) -> Refutation:
        """The contradiction that excludes one complementary basis.

        Parameters
        ----------
        basis : sequence of int
            The i for which z_i is basic.

        Returns
        -------
        Refutation

        Raises
        ------
        LCPError
            If the certificate does not cover the basis.
        """
        for refutation in self.refutations:
            if refutation.covers(basis):
                return refutation
        raise LCPError(f"the certificate does not cover the basis {tuple(basis)}")


def verify(problem: LCP | RationalLCP, certificate: NoSolutionCertificate) -> bool:
    """Whether the certificate proves, in rational arithmetic, that the problem has no solution.

    Depends on (M, q) and the certificate only: every refutation must be exactly true, and
    the refutations must cover all 2**n complementary bases.

    Parameters
    ----------
    problem : LCP or RationalLCP
    certificate : NoSolutionCertificate

    Returns
    -------
    bool

    References
    ----------
    Farkas' lemma, Cottle, Pang and Stone 1992, theorem 2.7.9.
    """
    exact = rational(problem)
    return all(_is_true(exact, refutation) for refutation in certificate.refutations) and _is_cover(
        certificate.refutations, frozenset(), frozenset()
    )


def _is_true(problem: RationalLCP, refutation: Refutation) -> bool:
    n, y = problem.n, refutation.multipliers
    zero_w, zero_z = set(refutation.zero_w), set(refutation.zero_z)
    indices = [*refutation.zero_w, *refutation.zero_z]
    if len(y) != n or len(refutation.combination) != n or zero_w & zero_z:
        return False
    if any(i not in range(n) for i in indices):
        return False
    combination = tuple(sum((y[i] * problem.M[i][j] for i in range(n)), Fraction(0)) for j in range(n))
    constant = sum((y[i] * problem.q[i] for i in range(n)), Fraction(0))
    if combination != refutation.combination or constant != refutation.constant:
        return False
    return (
        constant < 0
        and all(y[i] >= 0 for i in range(n) if i not in zero_w)
        and all(combination[j] <= 0 for j in range(n) if j not in zero_z)
    )


def _is_cover(refutations: Sequence[Refutation], zero_w: frozenset[int], zero_z: frozenset[int]) -> bool:
    """Whether every basis with these zeros satisfies the zeros of some refutation."""
    able = [
        refutation
        for refutation in refutations
        if not zero_z.intersection(refutation.zero_w) and not zero_w.intersection(refutation.zero_z)
    ]
    counts: dict[int, int] = {}
    for refutation in able:
        open_indices = {*refutation.zero_w, *refutation.zero_z} - zero_w - zero_z
        if not open_indices:
            return True
        for index in open_indices:
            counts[index] = counts.get(index, 0) + 1
    if not able:
        return False
    # the index most refutations depend on is the root of the tree they came from, so no work is repeated
    index = max(counts, key=counts.__getitem__)
    return _is_cover(able, zero_w | {index}, zero_z) and _is_cover(able, zero_w, zero_z | {index})


def certificate_to_json(certificate: NoSolutionCertificate) -> dict[str, object]:
    """The certificate in plain JSON types, fractions as strings "p/q".

    Parameters
    ----------
    certificate : NoSolutionCertificate

    Returns
    -------
    dict
        With the keys "kind" and "refutations".

    Examples
    --------
    >>> from lcp import LCP
    >>> from lcp.exact import refute
    >>> certificate_to_json(refute(LCP([[-2.0]], [-1.0])))["refutations"]
    [{'zero_w': [], 'zero_z': [], 'multipliers': ['1'], 'combination': ['-2'], 'constant': '-1'}]
    """
    refutations = [
        {
            "zero_w": list(refutation.zero_w),
            "zero_z": list(refutation.zero_z),
            "multipliers": [str(value) for value in refutation.multipliers],
            "combination": [str(value) for value in refutation.combination],
            "constant": str(refutation.constant),
        }
        for refutation in certificate.refutations
    ]
    return {"kind": "no solution", "refutations": refutations}


def certificate_from_json(data: object) -> NoSolutionCertificate:
    """The inverse of `certificate_to_json`; the result is not verified.

    Parameters
    ----------
    data : object
        As decoded from JSON: lists, dicts, strings and numbers.

    Returns
    -------
    NoSolutionCertificate

    Raises
    ------
    LCPError
        If the data does not have the form written by `certificate_to_json`.
    """
    entries = data.get("refutations") if isinstance(data, Mapping) else None
    if not isinstance(entries, list):
        raise LCPError("a certificate must be an object with a list of refutations")
    return NoSolutionCertificate(tuple(_refutation_from_json(entry) for entry in entries))


def _refutation_from_json(entry: object) -> Refutation:
    if not isinstance(entry, Mapping):
        raise LCPError(f"a refutation must be an object, got {entry!r}")
    try:
        return Refutation(
            zero_w=_json_indices(entry["zero_w"]),
            zero_z=_json_indices(entry["zero_z"]),
            multipliers=entry["multipliers"],
            combination=entry["combination"],
            constant=entry["constant"],
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise LCPError(f"a refutation is malformed: {error!r}") from error


def _json_indices(values: Iterable[object]) -> tuple[int, ...]:
    indices = tuple(value for value in values if type(value) is int)
    if len(indices) != len(tuple(values)):
        raise TypeError(f"indices must be integers, got {values!r}")
    return indices
