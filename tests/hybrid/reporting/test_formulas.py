"""Formulas as they are printed, read back by the two readings of a product behind a quotient: both give the value."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from hybrid.declaration.parser import parse_expression
from hybrid.declaration.tree import evaluate
from hybrid.reporting.symbols import formula_html, symbol, symbol_html, symbol_mathtext

VALUES = {
    name: np.float64(value)
    for name, value in {"x": 1.25, "k1": 0.75, "k_1": 1.5, "n": 2.0, "phi": 0.5, "x_dot": 3.0}.items()
}
_PIECE = re.compile(r"</?sup>|<i>[^<]*</i>(?:<sub>[^<]*</sub>)?|[0-9.]+(?:e[−+]?[0-9]+)?|[a-z]+|[-−+/^()·\u202f]| ")


class Reading:
    """Values of printed formulas; a space or dot binds closer than a slash if it is tight, and as close if not."""

    def __init__(self, text, *, tight):
        pieces = [piece for piece in _PIECE.findall(text) if piece != " "]
        assert "".join(_PIECE.findall(text)) == text
        shown = {"<sup>": ["^", "("], "</sup>": [")"], "·": ["\u202f"]}
        self.pieces = [part for piece in pieces for part in shown.get(piece, [piece])]
        self.tight, self.names = tight, {symbol_html(name): value for name, value in VALUES.items()}

    @property
    def value(self):
        found = self.sum()
        assert not self.pieces
        return found

    def next_is(self, *wanted):
        return self.pieces.pop(0) if self.pieces and self.pieces[0] in wanted else None

    def sum(self):
        total = self.product()
        while sign := self.next_is("+", "−"):
            total += self.product() * (1 if sign == "+" else -1)
        return total

    def product(self):
        value = self.close_product()
        while sign := self.next_is("/", "\u202f"):
            value = value / self.close_product() if sign == "/" else value * self.close_product()
        return value

    def close_product(self):
        value = self.power()
        while self.tight and self.next_is("\u202f"):
            value *= self.power()
        return value

    def power(self):
        if sign := self.next_is("−", "+"):
            return self.power() * (-1 if sign == "−" else 1)
        base = self.operand()
        return base ** self.power() if self.next_is("^") else base

    def operand(self):
        piece = self.pieces.pop(0)
        if piece in self.names:
            return self.names[piece]
        if piece[0].isdigit() or piece[0] == ".":
            return np.float64(piece.replace("−", "-"))
        function = (lambda value: value) if piece == "(" else {"cos": np.cos}[piece]
        assert piece == "(" or self.next_is("(")
        value = self.sum()
        assert self.next_is(")")
        return function(value)


def check(text):
    expected = complex(evaluate(parse_expression(text, known=VALUES), VALUES))
    for tight in (False, True):
        with np.errstate(all="ignore"):
            found = Reading(formula_html(text), tight=tight).value
        if np.isfinite(expected) and expected.imag == 0.0:  # others have no value that could be compared
            # some ten roundings, and what remains of numbers of some 1e3 that cancel
            assert found == pytest.approx(expected.real, rel=1e-9, abs=1e-9), text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1e-3*x + 2e3*n", "1e−3\u202f<i>x</i> + 2e3\u202f<i>n</i>"),
        ("(1+x**2)**1e-1", "(1+<i>x</i><sup>2</sup>)<sup>1e−1</sup>"),
        ("x**2**3", "<i>x</i><sup>2<sup>3</sup></sup>"),
        ("x**2**n", "<i>x</i><sup>2<sup><i>n</i></sup></sup>"),
        ("x**2**(n+1)", "<i>x</i>^2^(<i>n</i>+1)"),
        ("x**-2*n", "<i>x</i><sup>−2</sup>\u202f<i>n</i>"),
        ("2e3**n", "(2e3)<sup><i>n</i></sup>"),
        ("x/n*phi", "(<i>x</i>/<i>n</i>)\u202f<i>φ</i>"),
        ("x/(n*phi)", "<i>x</i>/(<i>n</i>\u202f<i>φ</i>)"),
        ("1 - x/n/3", "1 − (<i>x</i>/<i>n</i>)/3"),
        ("2*3*x*-n", "2·3\u202f<i>x</i>·−<i>n</i>"),
        ("k1*k_1", "<i>k</i><sub>1</sub>\u202f<i>k</i><sub>_1</sub>"),
    ],
)
def test_formulas_that_could_be_misread(text, shown):
    assert formula_html(text) == shown
    check(text)


NUMBERS = st.sampled_from(["2", "3", "0.5", "1.5e0", "2e-1"])
ATOMS = st.one_of(NUMBERS, st.sampled_from(sorted(VALUES)))


def longer(inner):
    joined = st.tuples(inner, st.sampled_from(["*", "/", "+", " - ", " * "]), inner).map("".join)
    return st.one_of(
        joined,
        joined.map("({})".format),
        st.tuples(ATOMS, st.just("**"), st.sampled_from(["2", "n", "-1", "0.5", "2**n", "(n - 1)", "-2**-1"])).map(
            "".join
        ),
        inner.map("cos({})".format),
        ATOMS.map("-{}".format),
    )


@settings(deadline=None)
@given(st.recursive(ATOMS, longer, max_leaves=8))
def test_a_printed_formula_has_the_value_of_its_text(text):
    try:
        parse_expression(text, known=VALUES)
    except ValueError:  # a division by 0, or a constant beyond all numbers
        return
    check(text)


def test_no_two_names_look_alike():
    """Whatever is made of a letter, a second one, digits, underscores and the ending of a rate."""
    words = ("".join(parts) for size in range(4) for parts in itertools.product("ab12_", repeat=size))
    names = [f"{first}{word}{rate}" for first in "a_" for word in words for rate in ("", "_dot")]
    names = sorted({*names, "phi", "phi1", "phi_1", "ddot", "a_ddot"})
    for shown in (symbol, symbol_html, symbol_mathtext):
        assert len({" ".join(shown(name).split()) for name in names}) == len(names), shown
