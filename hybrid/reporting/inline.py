"""SVG pictures made fit to stand in a page next to others."""

from __future__ import annotations

import html
import re

__all__ = ["inline_svg"]

_PROLOGUE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"(<style[^>]*>)(.*?)(</style>)", re.DOTALL)
_RULE = re.compile(r"([^{}]+)(\{[^{}]*\})")


def inline_svg(svg: str, *, prefix: str, label: str) -> str:
    """Prepare an SVG document for a page.

    Parameters
    ----------
    svg : str
        A document as matplotlib or an automaton's export writes it.
    prefix : str
        Put before every id, so that two pictures of a page share none, and before every style rule, so that a picture
        changes nothing outside.
    label : str
        What the picture shows, for readers who do not see it.

    Returns
    -------
    str
        An ``svg`` element without prologue and metadata.

    Examples
    --------
    >>> inline_svg('<svg width="2"><g id="a"/><use href="#a"/></svg>', prefix="map-", label="Map")
    '<svg id="map-root" role="img" aria-label="Map" width="2"><g id="map-a"/><use href="#map-a"/></svg>'
    """
    text = _PROLOGUE.sub("", svg).strip()
    text = re.sub(r'(?<=[\s])id="', f'id="{prefix}', text)
    text = re.sub(r'((?:xlink:)?href=")#', rf"\1#{prefix}", text)
    text = re.sub(r"url\((['\"]?)#", rf"url(\1#{prefix}", text)
    text = re.sub(r'(aria-labelledby|aria-describedby)="', rf'\1="{prefix}', text)
    text = _STYLE.sub(lambda match: match[1] + _scoped(match[2], f"#{prefix}root") + match[3], text)
    opening = re.search(r"<svg\b[^>]*>", text)
    if opening is None:
        return ""
    tag = re.sub(r'\s(?:id|role|aria-label|aria-labelledby)="[^"]*"', "", opening[0])
    named = f'<svg id="{prefix}root" role="img" aria-label="{html.escape(label)}"'
    return text[: opening.start()] + tag.replace("<svg", named, 1) + text[opening.end() :]


def _scoped(style: str, scope: str) -> str:
    """Restrict every rule of a style sheet without nested rules to descendants of one element."""
    plain = style.replace("<![CDATA[", "").replace("]]>", "")

    def restricted(match: re.Match[str]) -> str:
        selectors = (f"{scope} {selector.strip()}" for selector in match[1].split(","))
        return ", ".join(selectors) + match[2]

    return _RULE.sub(restricted, plain)
