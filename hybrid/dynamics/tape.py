"""Straight-line programs put together from a kernel's texts: elimination without matrices, zeros and ones skipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.expressions import compile_tape

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

Term = str | float
"""An operand: a text of the program, or a number known when the program is written."""

_NAME = re.compile(r"\b[a-z]\d+\b")
_NUMBER = re.compile(r"^\(?(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)\)?$")


class Tape:
    """A growing list of assignments over the arguments of a mechanism's kernel.

    Parameters
    ----------
    dynamics : Dynamics

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> tape = Tape(derive(mechanisms.load("bouncing_ball")))
    >>> double, _ = tape.functions([tape.dot([(2.0, tape.quantity("gap")[0])])])
    >>> double(tape.parameters())(0.0, [3.0, 0.0])
    (6.0,)
    """

    def __init__(self, dynamics: Dynamics) -> None:
        kernel = dynamics.kernel
        self._dynamics = dynamics
        self._lines: list[tuple[str, str]] = list(kernel.shared)
        self._count = 0
        entries: list[Term] = [self._entry(text) for text in kernel.entries]
        self._entries: dict[str, Any] = {}
        position = 0
        for name, shape in kernel.shapes.items():
            size = int(np.prod(shape))
            block = entries[position : position + size]
            self._entries[name] = block if len(shape) == 1 else _rows(block, *shape)
            position += size

    def _entry(self, text: str) -> Term:
        number = _NUMBER.match(text)
        if number:
            return float(number.group(1))
        return text if _NAME.fullmatch(text) else self.put(text)

    def parameters(self, values: Any = None) -> list[float]:
        """Parameter values in the order in which compiled functions take them."""
        return self._dynamics.arguments(values)

    def quantity(self, name: str) -> Any:
        """Entries of a quantity of ``Terms``: a list, or a list of rows."""
        return self._entries[name]

    def column(self, name: str, index: int) -> list[Term]:
        """One column of a matrix of ``Terms``."""
        return [row[index] for row in self._entries[name]]

    def velocity(self, index: int) -> Term:
        """The argument that holds a velocity."""
        return f"a{self._dynamics.n + index}"

    def put(self, text: str) -> str:
        """Assign a text to a new name."""
        name = f"w{self._count}"
        self._count += 1
        self._lines.append((name, text))
        return name

    def dot(self, pairs: Iterable[tuple[Term, Term]], start: Term = 0.0) -> Term:
        """Sum of products plus ``start``."""
        number, parts = 0.0, []
        for first, second in [*pairs, (1.0, start)]:
            if isinstance(first, float) and isinstance(second, float):
                number += first * second
            elif 0.0 not in (first, second):
                parts.append(_product(first, second))
        if not parts:
            return number
        if number:
            parts.append(repr(number))
        if len(parts) == 1 and _NAME.fullmatch(parts[0]):
            return parts[0]
        return self.put(" + ".join(parts))

    def quotient(self, numerator: Term, denominator: Term) -> Term:
        """A quotient; the denominator must not vanish identically."""
        if numerator == 0.0 or denominator == 1.0:
            return numerator
        return self.put(f"{_text(numerator)}/{_text(denominator)}")

    def functions(self, results: Sequence[Term], *, extra: int = 0) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Compile to ``make(parameters, extra=None)``, which returns ``f(t, y)`` with ``y = (q, v)`` giving a tuple.

        The first result is for plain floats, the second for arrays.

        What depends on parameters alone is computed once, by ``make``. ``extra`` is the length of a mutable sequence
        whose entries are the names ``u0, u1, ...``.
        """
        n = self._dynamics.n
        state = [f"a{index}" for index in range(2 * n)]
        fixed = [f"a{index}" for index in range(2 * n + 1, 2 * n + 1 + len(self.parameters()))]
        needed = self._needed(results)
        known = set(fixed)
        early, late = [], []
        for name, text in needed:
            if set(_NAME.findall(text)) <= known:
                known.add(name)
                early.append(f"    {name} = {text}")
            else:
                late.append(f"        {name} = {text}")
        lines = ["def make(parameters, extra=None):"]
        lines += [f"    ({', '.join(fixed)}, ) = parameters"] if fixed else []
        lines += [*early, f"    def f(a{2 * n}, y):", f"        {', '.join(state)}, = y"]
        lines += [f"        {', '.join(f'u{index}' for index in range(extra))}, = extra"] if extra else []
        lines += [*late, f"        return ({''.join(f'{_text(result)}, ' for result in results)})", "    return f"]
        return compile_tape("\n".join(lines))

    def _needed(self, results: Sequence[Term]) -> list[tuple[str, str]]:
        wanted = {name for result in results for name in _NAME.findall(_text(result))}
        kept = []
        for name, text in reversed(self._lines):
            if name in wanted:
                wanted.update(_NAME.findall(text))
                kept.append((name, text))
        return kept[::-1]


def solve_mass(tape: Tape, columns: Sequence[Sequence[Term]]) -> list[list[Term]]:
    """Write ``M^-1 B`` for several columns by ``L D L^T``, safe without pivoting because M is positive definite.

    Parameters
    ----------
    tape : Tape
    columns : sequence of columns of length n

    Returns
    -------
    list of columns
    """
    M = tape.quantity("M")
    n = len(M)
    L: list[list[Term]] = [[0.0] * n for _ in range(n)]
    D: list[Term] = []
    for i in range(n):
        scaled: list[Term] = [0.0] * n  # L_ij D_j
        for j in range(i):
            scaled[j] = tape.dot([(_negative(scaled[k]), L[j][k]) for k in range(j)], M[i][j])
            L[i][j] = tape.quotient(scaled[j], D[j])
        D.append(tape.dot([(_negative(L[i][k]), scaled[k]) for k in range(i)], M[i][i]))
    solved = []
    for column in columns:
        x: list[Term] = []
        for i in range(n):
            x.append(tape.dot([(_negative(L[i][k]), x[k]) for k in range(i)], column[i]))
        x = [tape.quotient(value, D[i]) for i, value in enumerate(x)]
        for i in reversed(range(n)):
            x[i] = tape.dot([(_negative(L[k][i]), x[k]) for k in range(i + 1, n)], x[i])
        solved.append(x)
    return solved


def _rows(block: list[Term], rows: int, columns: int) -> list[list[Term]]:
    return [block[row * columns : (row + 1) * columns] for row in range(rows)]


def _text(term: Term) -> str:
    return term if isinstance(term, str) else f"({term!r})"


def _negative(term: Term) -> Term:
    return f"(-{term})" if isinstance(term, str) else -term


def _product(first: Term, second: Term) -> str:
    if first == 1.0:
        return _text(second)
    if second == 1.0:
        return _text(first)
    return f"{_text(first)}*{_text(second)}"
