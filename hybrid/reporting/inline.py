"""SVG pictures made fit to stand in a page next to others."""

from __future__ import annotations

import html
import re

__all__ = ["inline_svg"]


def inline_svg(svg: str, *, prefix: str, label: str) -> str:
    """Prepare an SVG document for a page.

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
    text = re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>{prefix}", text)
    text = re.sub(r"(<style[^>]*>)\s*\*", rf"\1#{prefix}root *", text)  # the one rule that matplotlib writes
    return f'<div id="{prefix}root" role="img" aria-label="{html.escape(label)}">{text}</div>'
