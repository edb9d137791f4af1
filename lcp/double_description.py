"""Generators of polyhedral cones by the double description method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar, cast

import attrs

__all__ = ["Generators", "cone_generators"]

T = TypeVar("T", int, float)


@attrs.frozen(eq=False)
class Generators(Generic[T]):
    """A cone as all sums of multiples of `lines` and non-negative multiples of `rays`."""

    lines: list[list[T]]
    rays: list[list[T]]


@attrs.define(eq=False)
class _Ray(Generic[T]):
    vector: list[T]
    zeros: int  # bit k set: inequality k holds with equality


def cone_generators(
    inequalities: Iterable[Sequence[T]],
    *,
    dimension: int,
    tolerance: T,
    unit: T,
    equalities: Iterable[Sequence[T]] = (),
) -> Generators[T]:
    """Generators of {x : a.x >= 0 for every inequality a, e.x = 0 for every equality e}.

    Parameters
    ----------
    inequalities, equalities : iterables of rows of length `dimension`
    dimension : int
    tolerance : int or float
        Scalar products up to this size, of vectors of maximum norm one, count as zero; 0 for integers.
    unit : int or float
        The number one of the arithmetic.

    Returns
    -------
    Generators
        The rays are the extreme rays of the pointed part.

    References
    ----------
    Motzkin, Raiffa, Thompson and Thrall 1953; Fukuda and Prodon 1996, proposition 7 (combinatorial
    adjacency test).

    Examples
    --------
    >>> cone_generators([[1, 0], [1, 1]], dimension=2, tolerance=0, unit=1).rays
    [[1, -1], [0, 1]]
    """
    zero = unit - unit
    lines = [[unit if i == k else zero for i in range(dimension)] for k in range(dimension)]
    rays: list[_Ray[T]] = []
    rows = [(row, True) for row in equalities] + [(row, False) for row in inequalities]
    for k, (row, is_equality) in enumerate(rows):
        vector = _normalised(list(row))
        products = [_dot(vector, line) for line in lines]
        best = max(range(len(lines)), key=lambda i: abs(products[i]), default=None)
        if best is not None and abs(products[best]) > tolerance:
            rays = _cut_lines(lines, rays, vector, products, best=best, k=k)
            if is_equality:
                rays.pop()
        else:
            rays = _cut_rays(rays, vector, tolerance, k=k, is_equality=is_equality)
    return Generators(lines=lines, rays=[ray.vector for ray in rays])


def _cut_lines(
    lines: list[list[T]], rays: list[_Ray[T]], row: list[T], products: list[T], *, best: int, k: int
) -> list[_Ray[T]]:
    """Turn line `best` into the last ray and move everything else into the hyperplane of `row`."""
    line, product = lines[best], products[best]
    if product < 0:
        line, product = [-a for a in line], -product
    moved = [_combined(other, product, line, -products[i]) for i, other in enumerate(lines) if i != best]
    lines[:] = moved
    kept: list[_Ray[T]] = []
    for ray in rays:
        vector = _combined(ray.vector, product, line, -_dot(row, ray.vector))
        kept.append(_Ray(vector, ray.zeros | (1 << k)))
    kept.append(_Ray(line, (1 << k) - 1))
    return kept


def _cut_rays(rays: list[_Ray[T]], row: list[T], tolerance: T, *, k: int, is_equality: bool) -> list[_Ray[T]]:
    products = [_dot(row, ray.vector) for ray in rays]
    positive = [i for i, product in enumerate(products) if product > tolerance]
    negative = [i for i, product in enumerate(products) if product < -tolerance]
    kept: list[_Ray[T]] = []
    if not is_equality:
        kept = [rays[i] for i in positive]
    for ray, product in zip(rays, products, strict=True):
        if -tolerance <= product <= tolerance:
            kept.append(_Ray(ray.vector, ray.zeros | (1 << k)))
    for i in positive:
        for j in negative:
            common = rays[i].zeros & rays[j].zeros
            if any(ray.zeros & common == common for m, ray in enumerate(rays) if m not in (i, j)):
                continue
            vector = _combined(rays[i].vector, -products[j], rays[j].vector, products[i])
            kept.append(_Ray(vector, common | (1 << k)))
    return kept


def _dot(a: Sequence[T], b: Sequence[T]) -> T:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total += x * y
    return total


def _combined(a: Sequence[T], alpha: T, b: Sequence[T], beta: T) -> list[T]:
    return _normalised([alpha * x + beta * y for x, y in zip(a, b, strict=True)])


def _normalised(vector: list[T]) -> list[T]:
    """Divide by the greatest common divisor, or by the largest entry in floating point."""
    if isinstance(vector[0], int):
        divisor = math.gcd(*map(int, vector))
        return vector if divisor <= 1 else [a // divisor for a in vector]
    largest = max(abs(a) for a in vector)
    return vector if not largest else cast("list[T]", [a / largest for a in vector])
