"""Pages: one Markdown template for a report, written as Markdown or, through CommonMark, as HTML."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from hybrid.reporting.symbols import formula_html, number_text, sentence_html, symbol, symbol_html

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure

__all__ = [
    "Html",
    "body_html",
    "inline_svg",
    "loader",
    "number_html",
    "page_html",
    "page_markdown",
    "picture_html",
    "stylesheet",
    "unit_html",
]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")
"""What makes a paragraph a list or a heading, where it stands first."""
_TOKENS = "\ue000", "\ue001"
"""Around the number of a piece of markup while CommonMark is read; private to a page, so they are taken out of text."""


class Html(str):
    """Text that is markup already; templates do not escape it."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def loader() -> jinja2.BaseLoader:
    """Where the templates of this package are.

    Returns
    -------
    jinja2.BaseLoader
    """
    import jinja2

    return jinja2.PackageLoader("hybrid.reporting")


def stylesheet() -> Html:
    """The style of all pages.

    Returns
    -------
    Html
        CSS, which needs no other file.
    """
    return Html((resources.files("hybrid.reporting") / "templates" / "report.css").read_text(encoding="utf-8"))


def page_markdown(template: str, view: Mapping[str, Any]) -> str:
    """A report as Markdown, without pictures.

    Parameters
    ----------
    template : str
        File name of the template.
    view : mapping
        What the template asks for; ``anchors`` are those of headings whose words do not give them.

    Returns
    -------
    str
        Everything that the template prints is escaped, unless a filter has made it markup.
    """
    text = _environment(None).get_template(template).render(view, pictures={})
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def page_html(
    template: str, view: Mapping[str, Any], *, pictures: Mapping[str, Sequence[str]], title: str, verdict: str = ""
) -> str:
    """A report as one HTML page that needs nothing else.

    Parameters
    ----------
    template : str
        File name of the Markdown template, the one of :func:`page_markdown`.
    view : mapping
        What the template asks for.
    pictures : mapping of str to sequence of str
        SVG elements, by the name under which the template asks for them.
    title : str
        Of the window.
    verdict : str, optional
        Class of the page, which gives it its colour.

    Returns
    -------
    str
        Raw HTML in the text is shown, not read. Every heading of the second level is in the list of contents.
    """
    import jinja2

    body, headings = _body(template, view, pictures)
    head, _, rest = body.partition("<h2")
    shell = jinja2.Environment(loader=loader(), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return shell.get_template("page.html").render(
        title=title,
        verdict=verdict,
        version=view["version"],
        css=stylesheet(),
        headings=headings,
        head=Html(head),
        rest=Html(f"<h2{rest}" if rest else ""),
    )


def body_html(template: str, view: Mapping[str, Any], *, pictures: Mapping[str, Sequence[str]]) -> str:
    """What stands on a page, without the page around it.

    Parameters
    ----------
    template, view, pictures
        As of :func:`page_html`.

    Returns
    -------
    str
        Raw HTML in the text is shown, not read.
    """
    return _body(template, view, pictures)[0]


def number_html(value: Any, *, exact: Any = None) -> str:
    """A number with raised powers; the full value of a float is in the attribute ``value``.

    Parameters
    ----------
    value : float, int, a sequence of them, or None
    exact : float, optional
        The full value, where rounding was taken off the one to show.

    Returns
    -------
    str
        Markup, with six digits shown.

    Examples
    --------
    >>> number_html(1e-7)
    '<data value="1e-07">1·10<sup>−7</sup></data>'
    """
    shown = re.sub(r"·10\^(−?\d+)", r"·10<sup>\1</sup>", number_text(value))
    full = value if exact is None else exact
    return f'<data value="{full!r}">{shown}</data>' if isinstance(value, float) else shown


def unit_html(text: str) -> str:
    """A unit with raised powers, escaped, and nothing for a pure number.

    Parameters
    ----------
    text : str
        As ``kg m^2`` or ``kg^(1/2)``; ``1`` for a pure number.

    Returns
    -------
    str
        Markup.

    Examples
    --------
    >>> unit_html("kg m^2"), unit_html("1")
    ('kg m<sup>2</sup>', '')
    """
    shown = "" if text == "1" else html.escape(text)
    return re.sub(r"\^(?:\(([-0-9/]+)\)|(-?[0-9]+))", r"<sup>\1\2</sup>", shown)


def inline_svg(svg: str, *, prefix: str, label: str) -> str:
    """An SVG document as a part of a page.

    Parameters
    ----------
    svg : str
        A document as matplotlib or an automaton's export writes it.
    prefix : str
        Put before every id, so that two pictures of a page share none, and before the style rule, so that a picture
        changes nothing outside.
    label : str
        What the picture shows, for readers who do not see it.

    Returns
    -------
    str
        A ``div`` with the picture, without prologue and metadata.

    Examples
    --------
    >>> inline_svg('<svg width="2"><g id="a"/><use href="#a"/></svg>', prefix="map-", label="Map")
    '<div id="map-root" role="img" aria-label="Map"><svg width="2"><g id="map-a"/><use href="#map-a"/></svg></div>'
    """
    text = re.sub("<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    own = set(re.findall(r'\sid="([^"]+)"', text))  # a link to somewhere else on the page stays
    text = re.sub(
        r'(\sid="|href="#|url\(#)([^")]+)',
        lambda found: found[1] + (prefix if found[2] in own else "") + found[2],
        text,
    )
    text = re.sub(r"(<style[^>]*>)\s*\*", rf"\1#{prefix}root *", text)  # the one rule that matplotlib writes
    return f'<div id="{prefix}root" role="img" aria-label="{html.escape(label)}">{text}</div>'


def picture_html(figure: Figure, kind: str, label: str) -> str:
    """A figure as a part of a page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    kind : str
        Without spaces; of the pictures of a page each has its own.
    label : str
        As of :func:`inline_svg`.

    Returns
    -------
    str
        Markup.
    """
    from hybrid.reporting.figures import figure_svg  # a page without pictures needs no plots

    return inline_svg(figure_svg(figure), prefix=f"{kind}-", label=label)


def _environment(pieces: list[str] | None) -> jinja2.Environment:
    """The templates; pieces of markup go into the list, and a token into the text. Without a list all is Markdown."""
    import jinja2

    def piece(markup: str) -> Html:
        if pieces is None:
            return Html("")
        pieces.append(markup)
        return Html(f"{_TOKENS[0]}{len(pieces) - 1}{_TOKENS[1]}")

    def number(value: Any, exact: Any = None) -> Html:
        return Html(number_text(value)) if pieces is None else piece(number_html(value, exact=exact))

    def panels(drawn: Sequence[str], kind: str = "") -> Html:
        figures = "".join(f"<figure>{svg}</figure>" for svg in drawn)
        return piece(f'<div class="{f"panels {kind}".rstrip()}">{figures}</div>')

    templates = jinja2.Environment(
        loader=loader(),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else Html(_escaped(str(value))),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"code": _code, "block": _block, "markup": piece, "number": number, "panels": panels}
    if pieces is None:
        templates.filters |= {
            "sym": lambda name: Html(_escaped(symbol(name))),
            "pin": lambda name: _code(name) if "." in name else Html(_escaped(symbol(name))),
            "formula": _code,
            "unit": lambda text: Html("" if text == "1" else _escaped(text)),
            "sentence": lambda text: Html(_escaped(text)),
        }
    else:
        templates.filters |= {
            "sym": lambda name: piece(symbol_html(name)),
            "pin": lambda name: piece(_pin_html(name)),
            "formula": lambda text: piece(formula_html(text)),
            "unit": lambda text: piece(unit_html(text)),
            "sentence": lambda text: piece(sentence_html(text)),
            "block": lambda text: piece(_command_html(text)),
        }
    return templates


def _command_html(text: str) -> str:
    """A command whose options are not broken over two lines where they fit into one."""
    options = re.split(r" (?=-)", html.escape(_unmarked(text)))
    return f"<pre><code>{' '.join(f'<span>{option}</span>' for option in options)}</code></pre>"


def _pin_html(name: str) -> str:
    """``lambda_N.floor`` and ``tip.N`` as a symbol with an index; a pin with a dot as it is typed."""
    head, dot, rest = name.partition(".")
    if not dot:
        return symbol_html(name)
    if head.startswith("lambda_"):
        return f"{symbol_html(head)}<sub> {html.escape(rest)}</sub>"
    if head not in ("gap", "gap_dot", "slip") and re.fullmatch("N|T[12]?", rest):
        return f"{html.escape(head)}<sub> {rest}</sub>"
    return f"<code>{html.escape(name)}</code>"


def _body(
    template: str, view: Mapping[str, Any], pictures: Mapping[str, Sequence[str]]
) -> tuple[str, list[tuple[str, str]]]:
    """Markup of a template, and the anchors and texts of its headings of the second level."""
    pieces: list[str] = []
    text = _environment(pieces).get_template(template).render(view, pictures=pictures)
    body, headings = _from_markdown(text, view.get("anchors", {}))
    begin, end = _TOKENS
    # a token that is a paragraph by itself stands for pictures, which a paragraph cannot hold
    token = f"<p>{begin}(\\d+){end}</p>|{begin}(\\d+){end}"
    return re.sub(token, lambda found: pieces[int(found[1] or found[2])], body), headings


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    line = " ".join(_unmarked(text).split())
    escaped = _SPECIAL.sub(r"\\\1", line)
    before, after = (" " * (bool(line) and has_space) for has_space in (text.startswith(" "), text.endswith(" ")))
    return before + _BLOCK.sub(r"\1\\\2", escaped) + after


def _code(text: str) -> Html:
    """Text as a code span, with more backticks around it than there are inside."""
    line = " ".join(_unmarked(text).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return Html(f"{fence}{space}{line}{space}{fence}")


def _block(text: str) -> Html:
    """Text as an indented block of code."""
    return Html("\n".join(f"    {line}" for line in _unmarked(text).splitlines()))


def _unmarked(text: str) -> str:
    """Text without the marks of the page's own pieces."""
    return text.translate({ord(token): None for token in _TOKENS})


def _from_markdown(text: str, anchors: Mapping[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """The body of a page, and the anchors and texts of its headings of the second level."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(text)
    headings = []
    for token, inline in itertools.pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            words = "".join(child.content for child in inline.children or ())
            anchor = anchors.get(words) or re.sub(r"\W+", "-", words.lower()).strip("-")
            token.attrSet("id", anchor)
            headings.append((anchor, words))
    body = str(reader.renderer.render(tokens, reader.options, {}))
    body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return body, headings
