"""Names, formulas and numbers as mathematics is printed: Greek letters, dots, indices, powers.

Words on plots: headings that fit, labels with their units, and the units of everything that an axis may name.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import attrs

from hybrid.declaration.tree import FUNCTIONS

__all__ = [
    "as_written",
    "axis_label",
    "formula_html",
    "heading",
    "number_text",
    "sentence_html",
    "symbol",
    "symbol_html",
    "symbol_mathtext",
    "with_unit",
]


_GREEK = {
    unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda"): letter
    for letter in "αβγδεζηθικλμνξπρστυφχψω"
}
_GREEK |= {name.capitalize(): letter.upper() for name, letter in _GREEK.items() if letter in "γδθλξπσφψω"}
# matplotlib's \phi is the other form of the letter
_MATHTEXT = {"phi": r"\varphi", "epsilon": r"\varepsilon"}
_DOTS = ("", "\u0307", "\u0308")
_NAME, _NUMBER = r"[A-Za-z_][A-Za-z0-9_]*", r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_ATOM = rf"[+-]?(?:{_NAME}|{_NUMBER})"
_TOKEN = re.compile(
    rf"(?P<name>{_NAME})|(?P<number>{_NUMBER})"
    # a tower is raised as a whole or not at all: ** groups from the right
    rf"|\*\*(?P<power>{_ATOM}(?:\*\*{_ATOM}){{0,9}})(?![\w.]|\s*\*\*|\s*\()|(?P<caret>\*\*)"
    r"|(?P<times>\*)|(?P<over>/)|(?P<sign>[+-])|(?P<open>\()|(?P<close>\))|(?P<space>\s+)|(?P<relation>>=|<=)"
    r"|(?P<other>.)",
    re.DOTALL,
)
# what stands in words where a formula is too long to be shown
_MATRIX = re.compile(r"(?<![\w.'])(?P<name>(?:W|zeta|lambda)_[NT]|[Mh])(?:\^(?P<power>T|-1))?(?![\w'])")
_SIGNED = re.compile(r"\s*[+\-.0-9]")


def _parts(name: str) -> tuple[str, str, int]:
    """Split a name into its letter or word, what follows it, and its number of time derivatives."""
    stem, dots = name, 0
    for suffix, number in (("_ddot", 2), ("_dot", 1)):
        if name.endswith(suffix) and name != suffix:
            stem, dots = name[: -len(suffix)], number
            break
    match = re.fullmatch(r"([A-Za-z0-9]+)(_.*)|([A-Za-z]+)([0-9]+)", stem)
    return match[1] or match[3] if match else stem, match[2] or match[4] if match else "", dots


def _index(head: str, rest: str) -> str:
    """What is lowered: without underscores where that is the index of no other name, as ``k1`` has that of ``k_1``."""
    words = rest.split("_")[1:]
    is_plain = all(words) and not (head.isalpha() and "".join(words).isdigit() and len(words) == 1)
    return " ".join(words) if words and is_plain else rest


def symbol(name: str) -> str:
    """A name as plain text.

    Parameters
    ----------
    name : str
        As declared: a letter or the name of a Greek one, with an index after it or after an underscore; a
        rate ends in ``_dot``, its rate in ``_ddot``.

    Returns
    -------
    str

    Examples
    --------
    >>> symbol("phi"), symbol("theta1_dot"), symbol("lambda_N"), symbol("belt_speed")
    ('φ', 'θ̇1', 'λ_N', 'belt_speed')
    """
    head, rest, dots = _parts(name)
    return _GREEK.get(head, head) + _DOTS[dots] + rest


def symbol_html(name: str) -> str:
    """A name as HTML with an italic letter and a lowered index; no two names look alike.

    Parameters
    ----------
    name : str
        Letters, digits and underscores only.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        The text is not a name: it could hold markup.

    Examples
    --------
    >>> symbol_html("mu_wall")
    '<i>μ</i><sub>wall</sub>'
    >>> symbol_html("k1"), symbol_html("k_1")
    ('<i>k</i><sub>1</sub>', '<i>k</i><sub>_1</sub>')
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"{name!r} is not a name of letters, digits and underscores")
    head, rest, dots = _parts(name)
    letter = f"<i>{_GREEK.get(head, head)}{_DOTS[dots]}</i>"
    return f"{letter}<sub>{_index(head, rest)}</sub>" if rest else letter


def symbol_mathtext(name: str) -> str:
    r"""A name for matplotlib.

    Parameters
    ----------
    name : str
        Of a coordinate, a velocity, a parameter or a pin.

    Returns
    -------
    str
        A pin with a dot in it as it is.

    Examples
    --------
    >>> symbol_mathtext("phi_dot"), symbol_mathtext("mu_wall"), symbol_mathtext("gap_dot.tip")
    ('$\\dot{\\varphi}$', '$\\mu_{\\mathrm{wall}}$', 'gap_dot.tip')
    """
    if "." in name:
        return name  # a pin as it is typed
    head, rest, dots = _parts(name)
    letter = head if len(head) == 1 else rf"\mathit{{{head}}}"
    if head in _GREEK:
        letter = _MATHTEXT.get(head, "\\" + head)
    letter = letter.replace("_", r"\_")
    if dots:
        letter = rf"\{'d' * dots}ot{{{letter}}}"
    index = _index(head, rest).replace("_", r"\_").replace(" ", r"\ ")
    return f"${letter}$" if not index else f"${letter}_{{\\mathrm{{{index}}}}}$"


def formula_html(text: str) -> str:
    """An expression or inequality of a declaration as HTML.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Escaped, with printed symbols, raised powers and no asterisks. A quotient that is multiplied or divided has
        brackets, as nobody knows whether ``a/b c`` is divided by c.

    Examples
    --------
    >>> formula_html("l**2*cos(phi)")
    '<i>l</i><sup>2</sup>\\u202fcos(<i>φ</i>)'
    >>> formula_html("lambda_N >= 0")
    '<i>λ</i><sub>N</sub> ≥ 0'
    >>> formula_html("a/b*c + 1e-3")
    '(<i>a</i>/<i>b</i>)\\u202f<i>c</i> + 1e−3'
    """
    written = _Pieces()
    for match in _TOKEN.finditer(text):
        written.add(match.lastgroup or "", _token_html(match))
    return "".join(written.pieces)


def sentence_html(text: str) -> str:
    """Words with the matrices and vectors of the equations of motion in them, as HTML.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Escaped.

    Examples
    --------
    >>> sentence_html("too long: W_N^T M^-1 h")
    'too long: <i>W</i><sub>N</sub><sup>T</sup> <i>M</i><sup>−1</sup> <i>h</i>'
    """

    def typeset(found: re.Match[str]) -> str:
        power = (found["power"] or "").replace("-", "−")
        return symbol_html(found["name"]) + (f"<sup>{power}</sup>" if power else "")

    return _MATRIX.sub(typeset, html.escape(text, quote=False))


@attrs.define(eq=False)
class _Pieces:
    """Pieces of a formula, with brackets around quotients that go on.

    Attributes
    ----------
    pieces : list of str
    products : list of [int, bool]
        Of every open bracket: the piece with which its last product begins, and whether that ends in a quotient.
    last : int
        The last piece that is no space.
    is_value : bool
        Whether that ends a value: a sign behind it adds or subtracts.
    """

    pieces: list[str] = attrs.field(factory=list)
    products: list[tuple[int, bool]] = attrs.field(factory=lambda: [(0, False)])
    last: int = -1
    is_value: bool = False

    def add(self, kind: str, piece: str) -> None:
        begin, is_quotient = self.products[-1]
        after = len(self.pieces) + 1
        if kind in ("times", "over"):
            if is_quotient:
                self.pieces[begin] = f"({self.pieces[begin]}"
                self.pieces[self.last] += ")"
            self.products[-1] = begin, kind == "over"
        elif kind == "open":
            self.products.append((after, False))
        elif kind == "close":
            self.products = self.products[:-1] or [(after, False)]
        elif (
            kind in ("relation", "other")
            or (kind == "sign" and self.is_value)
            or (kind == "space" and begin == after - 1)
        ):
            self.products[-1] = after, False
        self.pieces.append(piece)
        if kind != "space":
            self.last, self.is_value = after - 1, kind in ("name", "number", "power", "close")


def _token_html(match: re.Match[str]) -> str:
    kind, value = match.lastgroup, match.group()
    rest = match.string[match.end() :]
    if kind == "name":
        return value if value in FUNCTIONS else symbol_html(value)
    if kind == "number":
        shown = value.replace("-", "−")
        return f"({shown})" if "e" in shown.lower() and rest.lstrip().startswith("**") else shown
    if kind == "power":
        return f"<sup>{''.join(map(_token_html, _TOKEN.finditer(match['power'])))}</sup>"
    if kind == "times":  # a space between digits would make one number of them
        return "·" if _SIGNED.match(rest) else "\u202f"
    if kind == "relation":
        return "≥" if value == ">=" else "≤"
    return {"caret": "^", "-": "−", "space": " "}.get(value if kind == "sign" else kind or "") or html.escape(value)


_DIGITS = 6


def number_text(value: float | Sequence[Any] | None) -> str:
    """A number, or a vector of numbers, to six digits.

    Parameters
    ----------
    value : float, a sequence of them, or None

    Returns
    -------
    str
        With a minus sign instead of a hyphen; a dash for None and NaN.

    Examples
    --------
    >>> number_text(-1 / 3), number_text(2e-12), number_text([0.0, 1.0]), number_text(None)
    ('−0.333333', '2·10^−12', '(0, 1)', '–')
    """
    if value is None:
        return "–"
    if not isinstance(value, int | float):
        return "(" + ", ".join(number_text(item) for item in value) + ")"
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    mantissa, _, exponent = f"{value + 0.0:.{_DIGITS}g}".partition("e")
    shown = mantissa.replace("-", "−")
    return f"{shown}·10^{int(exponent)}".replace("-", "−") if exponent else shown


_WIDTH = 0.62
"""Of a letter of DejaVu Sans, in ems: the mean of English text is below."""
_POINTS_PER_INCH = 72.0


def as_written(text: str) -> str:
    r"""Text that matplotlib shows as it is: a dollar sign does not begin a formula.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> as_written("5$ or 6$")
    '5\\$ or 6\\$'
    """
    return text.replace("$", r"\$")


def heading(text: str, *, inches: float, size: float) -> str:
    """A heading in as many lines as it takes, as text for matplotlib.

    Parameters
    ----------
    text : str
    inches : float
        Room from left to right.
    size : float
        Of the letters, in points.

    Returns
    -------
    str

    Examples
    --------
    >>> heading("A rod on a rough plane", inches=1.0, size=10)
    'A rod on a\\nrough plane'
    """
    letters = max(1, int(inches * _POINTS_PER_INCH / (_WIDTH * size)))
    return as_written("\n".join(textwrap.fill(line, letters) for line in text.splitlines()))


def with_unit(label: str, unit: str, *, gap: str = " ") -> str:
    """A label for matplotlib with its unit in brackets; a pure number has none.

    Parameters
    ----------
    label : str
        In matplotlib's mathtext.
    unit : str
        As ``m/s``; ``1`` for a pure number, empty where it is not known.
    gap : str
        What stands between them.

    Returns
    -------
    str

    Examples
    --------
    >>> with_unit("$x$", "m"), with_unit("$e$", "1")
    ('$x$ (m)', '$e$')
    """
    return label if unit in ("", "1") else f"{label}{gap}({as_written(unit)})"


def axis_label(name: str, unit: str) -> str:
    """The label of an axis that sweeps a quantity.

    Parameters
    ----------
    name : str
        Of a pin or a parameter.
    unit : str
        As of `with_unit`.

    Returns
    -------
    str
        In matplotlib's mathtext.
    """
    return with_unit(symbol_mathtext(name), unit, gap="  ")
