"""Names and formulas as they are printed: symbols, powers, and no markup but our own."""

import html
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from hybrid.reporting.page import inline_svg
from hybrid.reporting.symbols import formula_html, number_text, symbol, symbol_html, symbol_mathtext


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text = set(), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not attrs

    def handle_data(self, data):
        self.text += data


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_formula_of_any_text_holds_no_markup_but_its_own(text):
    read = Reader(formula_html(text))
    assert read.tags <= {"i", "sub", "sup"}


@given(st.lists(st.sampled_from(["m", "+", " ", "(", ")", "/", "<", "&", '"', "7", "."]), max_size=30).map("".join))
def test_formula_keeps_what_it_does_not_set(text):
    # nothing in this alphabet is printed otherwise, but numbers that follow a name make an index
    # and brackets come around a quotient that is divided
    added = str.maketrans("", "", " ()")
    assert Reader(formula_html(text)).text.translate(added) == text.translate(added)


def test_greek_letters_are_those_that_mathtext_knows():
    assert symbol("lambda") + symbol("sigma") + symbol("Omega") == "λσΩ"
    assert (symbol("omicron"), symbol("Alpha"), symbol("san")) == ("omicron", "Alpha", "san")


def test_symbols_of_the_literature():
    assert symbol_html("lambda_N") == "<i>λ</i><sub>N</sub>"
    assert symbol_html("phi_ddot") == "<i>φ\u0308</i>"
    assert symbol("q1_dot") == "q\u03071"
    assert symbol_mathtext("theta1_ddot") == r"$\ddot{\theta}_{\mathrm{1}}$"
    assert formula_html("x**2*y**(1/2)") == "<i>x</i><sup>2</sup>\u202f<i>y</i>^(1/2)"


def test_symbol_of_a_text_that_is_no_name_is_refused():
    with pytest.raises(ValueError, match="not a name"):
        symbol_html("a<b")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_printed_number_is_the_number_to_six_digits(value):
    shown = number_text(value).replace("−", "-")
    mantissa, _, exponent = shown.partition("·10^")
    # half a unit of the sixth digit, of a number whose first digit may be 1
    assert float(f"{mantissa}e{exponent or 0}") == pytest.approx(value, rel=5e-6, abs=0)


def test_pictures_share_no_id_and_style_nothing_outside():
    svg = '<?xml version="1.0"?><svg id="x"><style>*{fill:red}</style><path stroke="url(#p)"/><g id="p"/></svg>'
    one, two = (inline_svg(svg, prefix=prefix, label='a "map"') for prefix in ("one-", "two-"))
    assert "<?xml" not in one
    assert '<g id="one-p"/>' in one
    assert '<g id="two-p"/>' in two
    assert "#one-root *{fill:red}" in one
    assert 'stroke="url(#one-p)"' in one
    assert html.escape('a "map"') in one
    assert one.count('id="one-root"') == 1
