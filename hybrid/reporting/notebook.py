"""Sections of pages in notebooks: several live side by side, in whatever theme the notebook has."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from importlib import resources

__all__ = ["notebook_html", "themed"]

_PICTURE = re.compile(r'<div id="(?P<id>[^"]+)-root" (?P<rest>role="img"[^>]*>)(?P<svg><svg.*?</svg>)', re.DOTALL)
_STYLED = re.compile(r'<(?P<tag>g|path|use)\b[^>]*\sstyle="[^"]*"')
_GROUND = re.compile(r'(<g id="[^"]*patch_\d+">\s*<path\b[^>]*\sstyle="fill: )#ffffff')
_BLACK = re.compile(r'<path (?![^>]*(?:\bid="|fill))')
"""Areas that are black have no word on it; letters, which are named to be used, have none either."""
_COLOUR = re.compile(r"(?P<what>fill|stroke): #(?P<red>[0-9a-f]{2})(?P<green>[0-9a-f]{2})(?P<blue>[0-9a-f]{2})")
# Maps have grounds of their own, on which ink stays as it is; diagrams of boxes need a light ground behind.
_ON_FILLS, _ON_CARDS = ("map", "certified"), ("automaton",)
_SHARES = (0.2126, 0.7152, 0.0722)
_DARK = 0.25  # luminance of a line below which it is lightened on a dark ground


def notebook_html(body: str, *, verdict: str = "") -> str:
    """A part of a page as a notebook shows it.

    Parameters
    ----------
    body : str
        Markup with pictures as of :func:`hybrid.reporting.page.inline_svg`.
    verdict : str, optional
        Class of the section, which gives it its colour.

    Returns
    -------
    str
        The same text for the same part. Ids begin with a fingerprint of what is shown, so that they are those of no
        other part; the style rules nothing outside; headings are none of the notebook's contents; letters and axes
        have the colours of the notebook.

    Examples
    --------
    >>> page = notebook_html('<h2 id="state">State</h2>')
    >>> page.startswith('<div class="painleve" id="p'), page.count("<h2"), page.count('id="state"')
    (True, 0, 0)
    """
    body = _PICTURE.sub(_themed_picture, body)
    own = "p" + hashlib.sha256(body.encode()).hexdigest()[:10]
    body = re.sub(r'(\sid="|href="#|url\(#|<style[^>]*>#)', rf"\g<1>{own}-", body)
    body = re.sub(r"<h([1-6])([ >])", r'<div role="heading" aria-level="\1"\2', body)
    body = re.sub(r"</h[1-6]>", "</div>", body)
    # what is wider than a column is scrolled by keys as well, and a corner of a table heads nothing
    body = body.replace('<div class="scroll">', '<div class="scroll" tabindex="0">')
    body = re.sub(r"<th(|\s[^>]*)></th>", r"<td\1></td>", body)
    style = (resources.files("hybrid.reporting") / "templates" / "notebook.css").read_text(encoding="utf-8")
    named = " ".join(filter(None, ("painleve", verdict)))
    return f'<div class="{named}" id="{own}">\n<style>\n{style}</style>\n{body}\n</div>'


def themed(svg: str, *, on_fills: bool = False) -> str:
    """A picture of matplotlib's whose ground is that of the text around, and whose ink is its colour.

    Parameters
    ----------
    svg : str
    on_fills : bool, optional
        Whether coloured areas fill the frame: what is drawn on these keeps its colour, and only black is turned.

    Returns
    -------
    str
        Greys are shares of the colour of the text; dark lines are mixed with it.

    Examples
    --------
    >>> themed('<svg a="1"><path style="fill: none; stroke: #000000"/></svg>')
    '<svg fill="currentColor" a="1"><path style="fill: none; stroke: currentColor"/></svg>'
    >>> themed('<svg><g style="fill: #808080"/></svg>')
    '<svg fill="currentColor"><g style="fill: color-mix(in srgb, currentColor 50%, transparent)"/></svg>'
    """

    def turned(found: re.Match[str]) -> str:
        colour = [int(found[name], 16) for name in ("red", "green", "blue")]
        if max(colour) == 0:
            return f"{found['what']}: currentColor"
        if on_fills:
            return found[0]
        if len(set(colour)) == 1:
            if colour[0] == 255:  # letters on a dark area
                return found[0]
            share = round(100 * (1 - colour[0] / 255))
            return f"{found['what']}: color-mix(in srgb, currentColor {share}%, transparent)"
        if found["what"] == "stroke" and _luminance(colour) < _DARK:
            return f"stroke: color-mix(in srgb, {found[0].partition(' ')[2]} 60%, currentColor)"
        return found[0]

    def styled(found: re.Match[str]) -> str:
        # letters are groups; areas keep the colour that the letters on them were chosen for
        is_letter = found["tag"] == "g"
        return _COLOUR.sub(lambda item: turned(item) if is_letter or item["what"] == "stroke" else item[0], found[0])

    svg = _BLACK.sub(r'<path fill="#000000" ', svg)
    svg = _GROUND.sub(r"\1none", svg)
    return _STYLED.sub(styled, svg).replace("<svg", '<svg fill="currentColor"', 1)


def _themed_picture(found: re.Match[str]) -> str:
    kind = found["id"].partition("-")[0]
    if kind in _ON_CARDS:
        return f'<div class="card" id="{found["id"]}-root" {found["rest"]}{found["svg"]}'
    return f'<div id="{found["id"]}-root" {found["rest"]}{themed(found["svg"], on_fills=kind in _ON_FILLS)}'


def _luminance(colour: Sequence[int]) -> float:
    """Relative luminance of Rec. 709, with the usual power 2.2 for the curve of sRGB."""
    return math.fsum(share * math.pow(value / 255, 2.2) for share, value in zip(_SHARES, colour, strict=True))
