"""Proofs that a problem has no solution, and their judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from lcp.errors import LCPError
from lcp.exact.lemke import Number, RationalLCP, fraction, rational

if TYPE_CHECKING:
    from lcp.problem import LCP

__all__ = [
    "NoSolutionCertificate",
    "Refutation",
    "certificate_from_json",
    "certificate_to_json",
    "verify",
]


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
