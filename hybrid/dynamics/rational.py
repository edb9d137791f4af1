"""Closed forms as quotients of polynomials, with the growth of their terms bounded.

Sines, cosines, roots and whatever else is not rational become generators of a field of fractions; sin^2 + cos^2 = 1 is
used to shorten. Arithmetic there cancels as it goes and is orders of magnitude faster than on expression trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import sub
from typing import Any

import attrs
import sympy
from sympy.polys.fields import FracField

_LONG = 80  # terms beyond which shortening takes longer than it saves
_UNCANCELLED = 3000  # terms of a difference before it is shortened
_LARGEST_POWER = 8  # a larger power of a sum is kept as it is: expanded, it has too many terms to be read

Element = Any  # SymPy ships no annotations: an element of the field of fractions
Row = list[Element]


class TooLongError(Exception):
    """A closed form has more terms than anybody reads; caught where the linear equations are stated instead."""


class SingularError(Exception):
    """A matrix whose determinant vanishes identically."""


@attrs.frozen(eq=False)
class Fractions:
    """A field of fractions that holds given expressions; made by :func:`fractions_of`.

    Attributes
    ----------
    field : FracField
    generators : mapping of expression to field element
    pairs : tuple of (int, int)
        Positions of the generators that are sine and cosine of the same angle.
    max_terms : int
        Terms of numerator and denominator together.
    """

    field: Any
    generators: Mapping[sympy.Expr, Element]
    pairs: tuple[tuple[int, int], ...]
    max_terms: int

    def element(self, expression: sympy.Expr) -> Element:
        """The element of an expression.

        Raises
        ------
        TooLongError
            It has too many terms.
        KeyError
            It holds a symbol or function that the field does not.
        """
        if expression in self.generators:
            return self.generators[expression]
        if expression.is_Rational:
            return self.field(int(expression.p)) / self.field(int(expression.q))
        if expression.is_Add:
            total = self.field.zero
            for term in expression.args:
                total = self.bounded(total + self.element(term))
            return total
        if expression.is_Mul:
            product = self.field.one
            for factor in expression.args:
                product = self.bounded(product * self.element(factor))
            return product
        base, exponent = expression.as_base_exp()
        if base == expression:
            raise KeyError(f"{expression} is not in the field")
        factor = self.element(base) if exponent > 0 else 1 / self.element(base)
        power = factor
        for _ in range(abs(int(exponent)) - 1):
            power = self.bounded(power * factor)  # at once, a power of a sum could have millions of terms
        return power

    def length(self, element: Element) -> int:
        """Number of terms above and below the line."""
        return len(element.numer) + len(element.denom)

    def expression(self, element: Element) -> sympy.Expr:
        """Write an element as a quotient, common factors in front."""
        back = {self.field.symbols[i]: original for i, original in enumerate(self.generators)}
        numerator, denominator = element.numer, element.denom
        if not numerator:
            return sympy.Integer(0)
        positive = sum(1 if coefficient > 0 else -1 for coefficient in denominator.values())
        if positive < 0 or (positive == 0 and denominator.LC < 0):
            numerator, denominator = -numerator, -denominator
        scale, top, bottom = self._factored(numerator, denominator)
        return sympy.Mul(scale, top, 1 / bottom).xreplace(back)

    def _factored(self, numerator: Any, denominator: Any) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
        """Common factors of all terms, and what remains above and below the line."""
        scale, rests = sympy.Integer(1), []
        for polynomial, power in ((numerator, 1), (denominator, -1)):
            content, rest = polynomial.primitive()
            common = tuple(map(min, zip(*rest, strict=True)))
            lowered = {tuple(map(sub, monomial, common)): coefficient for monomial, coefficient in rest.terms()}
            factors = zip(self.field.symbols, common, strict=True)
            factor = sympy.Integer(int(content)) * sympy.Mul(*(symbol**exponent for symbol, exponent in factors))
            scale *= factor**power
            rests.append(polynomial.ring.from_dict(lowered).as_expr())
        return scale, rests[0], rests[1]

    def tidied(self, expression: sympy.Expr) -> sympy.Expr:
        """The expression as one shortened quotient; itself where that is not possible."""
        try:
            return self.expression(self.short(self.element(expression)))
        except (KeyError, TooLongError):
            return expression

    def bounded(self, element: Element) -> Element:
        """The element itself, unless it is too long."""
        if self.length(element) > self.max_terms:
            raise TooLongError
        return element

    def short(self, element: Element) -> Element:
        """An equal element, shortened by sin^2 + cos^2 = 1."""
        numerator, denominator = element.numer, element.denom
        if self.length(element) > _LONG:
            return self.bounded(element)
        for pair in self.pairs:
            for one, other in (pair, pair[::-1]):
                forms = [_without_square(part, one, other) for part in (element.numer, element.denom)]
                if forms[0] is element.numer and forms[1] is element.denom:
                    continue
                tried = self.field.new(*forms)
                if _length(tried.numer, tried.denom) < _length(numerator, denominator):
                    numerator, denominator = tried.numer, tried.denom
            element = self.field.raw_new(self._shortest(numerator, pair), self._shortest(denominator, pair))
            numerator, denominator = element.numer, element.denom
        return self.bounded(element)

    def is_zero(self, element: Element) -> bool:
        """True if the element vanishes identically (given sin^2 + cos^2 = 1)."""
        polynomial = element.numer
        for sine, cosine in self.pairs:
            polynomial = _without_square(polynomial, sine, cosine)
        return not polynomial

    def _shortest(self, polynomial: Any, pair: tuple[int, int]) -> Any:
        sine, cosine = pair
        forms = (_without_square(polynomial, sine, cosine), _without_square(polynomial, cosine, sine))
        return min((polynomial, *forms), key=len)

    def dot(self, left: Iterable[Element], right: Iterable[Element]) -> Element:
        """Sum of products, shortened."""
        total = self.field.zero
        for a, b in zip(left, right, strict=True):
            if a and b:
                total = self.bounded(total + a * b)
        return self.short(total)

    def elements(self, matrix: sympy.Matrix) -> list[Row]:
        """Elements of a matrix, row by row; raises as for one."""
        return [[self.element(entry) for entry in matrix.row(i)] for i in range(matrix.rows)]

    def solve_held(self, M: Sequence[Row], J: Sequence[Row], loads: Sequence[Row], offsets: Sequence[Row]) -> list[Row]:
        """Accelerations X under loads with constraints kept: ``M X - J^T L = loads`` and ``J X = offsets``.

        Parameters
        ----------
        M, J : sequence of rows, (n, n) and (m, n)
        loads, offsets : sequence of rows, (n, k) and (m, k)

        Returns
        -------
        list of rows, (n, k)

        Raises
        ------
        SingularError, TooLongError
            As of :meth:`solve_definite`.
        """
        bordered = [[*row, *(-held[i] for held in J)] for i, row in enumerate(M)]
        bordered += [[*held, *(self.field.zero for _ in J)] for held in J]
        return self.solve_definite(bordered, [*loads, *offsets])[: len(M)]

    def solve_definite(self, A: Sequence[Row], B: Sequence[Row]) -> list[Row]:
        """Solve ``A X = B`` by elimination along the diagonal, ``A`` a mass matrix, perhaps bordered by constraints.

        The pivots of such a matrix vanish nowhere, so that the closed form divides by nothing that may be zero.

        Raises
        ------
        SingularError
            A pivot vanishes identically.
        TooLongError
        """
        n = len(A)
        rows = [[*a, *b] for a, b in zip(A, B, strict=True)]
        for column in range(n):
            pivot = rows[column][column]
            if self.is_zero(pivot):
                raise SingularError
            rows[column] = [self.short(entry / pivot) if entry else entry for entry in rows[column]]
            for i in range(n):
                factor = rows[i][column]
                if i != column and factor:
                    pairs = zip(rows[i], rows[column], strict=True)
                    rows[i] = [self.less(a, factor, b) if b else a for a, b in pairs]
        return [row[n:] for row in rows]

    def less(self, a: Element, factor: Element, b: Element) -> Element:
        """``a - factor b``, shortened.

        Raises
        ------
        TooLongError
            It is too long, or would be before it is shortened: cancelling in so long a quotient takes minutes.
        """
        above, below = len(factor.numer) * len(b.numer), len(factor.denom) * len(b.denom)
        if above * len(a.denom) + below * (len(a.numer) + len(a.denom)) > _UNCANCELLED:
            raise TooLongError
        return self.short(a - factor * b)

    def determinant(self, A: Sequence[Row]) -> Element:
        """Determinant by expansion along the first row."""
        if not A:
            return self.field.one
        total = self.field.zero
        for j, entry in enumerate(A[0]):
            if entry:
                minor = self.determinant([[*row[:j], *row[j + 1 :]] for row in A[1:]])
                total = self.bounded(total + (-1) ** j * entry * minor)
        return self.short(total)

    def solve_by_cramer(self, A: Sequence[Row], b: Row, determinant: Element) -> Row:
        """Solve ``A x = b`` by Cramer's rule: the solution divides by the determinant and by nothing else."""
        solution = []
        for k in range(len(A)):
            replaced = [[*row[:k], value, *row[k + 1 :]] for row, value in zip(A, b, strict=True)]
            solution.append(self.short(self.determinant(replaced) / determinant))
        return solution


def fractions_of(expressions: Iterable[sympy.Expr], *, max_terms: int = 150) -> Fractions:
    """The field of fractions that holds all given expressions.

    Parameters
    ----------
    expressions : iterable of Expr
    max_terms : int, default 150
        Length at which a closed form is given up.

    Returns
    -------
    Fractions

    Examples
    --------
    >>> x = sympy.Symbol("x", real=True)
    >>> held = fractions_of([sympy.sin(x), sympy.cos(x)])
    >>> s, c = held.element(sympy.sin(x)), held.element(sympy.cos(x))
    >>> held.expression(held.short((s**2 + c**2) / s))
    1/sin(x)
    """
    atoms: dict[sympy.Expr, None] = {}
    for expression in expressions:
        _collect(expression, atoms)
    originals = sorted(atoms, key=sympy.default_sort_key)
    symbols = [sympy.Symbol(f"g{index}") for index in range(len(originals))]
    field = FracField(symbols, sympy.ZZ) if symbols else FracField([sympy.Symbol("g0")], sympy.ZZ)
    place = {original: index for index, original in enumerate(originals)}
    pairs = tuple(
        (index, place[sympy.cos(original.args[0])])
        for original, index in place.items()
        if isinstance(original, sympy.sin) and sympy.cos(original.args[0]) in place
    )
    return Fractions(field, dict(zip(originals, field.gens, strict=False)), pairs, max_terms)


def _collect(expression: sympy.Expr, atoms: dict[sympy.Expr, None]) -> None:
    if expression.is_Rational:
        return
    if expression.is_Add or expression.is_Mul:
        for argument in expression.args:
            _collect(argument, atoms)
        return
    if expression.is_Pow and expression.exp.is_Integer and abs(int(expression.exp)) <= _LARGEST_POWER:
        _collect(expression.base, atoms)
        return
    atoms[expression] = None


def _without_square(polynomial: Any, one: int, other: int) -> Any:
    """Replace ``g_one^2`` by ``1 - g_other^2``."""
    if all(monomial[one] < 2 for monomial in polynomial):
        return polynomial
    ring = polynomial.ring
    rest = 1 - ring.gens[other] ** 2
    result = ring.zero
    for monomial, coefficient in polynomial.terms():
        halves, odd = divmod(monomial[one], 2)
        kept = (*monomial[:one], odd, *monomial[one + 1 :])
        term = ring.from_dict({kept: coefficient})
        result += term * rest**halves if halves else term
    return result


def _length(numerator: Any, denominator: Any) -> tuple[int, int]:
    """Degree of the denominator first: a factor that cancels may hide a removable division by zero."""
    return max(map(sum, denominator)), len(numerator) + len(denominator)
