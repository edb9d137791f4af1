"""A page asks nothing of any other machine: what it loads lies beside it, or the build fails and says what does not.

Links that a reader may follow are no requests.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOREIGN = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
LOADED = {"src", "poster", "data", "background"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest", "modulepreload"}
IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""", re.IGNORECASE)


class Resources(HTMLParser):
    """What a page loads, or names as its address."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read the attributes that load something."""
        values = {name: value or "" for name, value in attrs}
        self.in_style = tag == "style"
        self.found += [values[name] for name in LOADED & set(values)]
        self.found += values.get("srcset", "").split(",")
        self.found += IN_STYLE.findall(values.get("style", ""))
        relations = set(values.get("rel", "").split()) if tag == "link" else set()
        if relations & (LOADING_LINKS | {"canonical"}):
            self.found.append(values.get("href", ""))

    def handle_data(self, data: str) -> None:
        """Read a style sheet that stands in the page."""
        if self.in_style:
            self.found += IN_STYLE.findall(data)


def requests_of(text: str, *, style: bool = False) -> list[str]:
    """Return the addresses of other machines that a page, or a style sheet, would ask."""
    if style:
        found = IN_STYLE.findall(text)
    else:
        parser = Resources()
        parser.feed(text)
        found = parser.found
    return [address for address in found if FOREIGN.match(address)]


def judge(app: "Sphinx", error: Exception | None) -> None:
    """Fail the build when a page or a style sheet would ask another machine."""
    if error is not None or app.builder.format != "html":
        return
    files = [path for path in Path(app.outdir).rglob("*") if path.suffix in (".html", ".css", ".svg")]
    asked = {
        str(path.relative_to(app.outdir)): addresses
        for path in files
        if (addresses := requests_of(path.read_text(encoding="utf-8"), style=path.suffix == ".css"))
    }
    if asked:
        raise ValueError(f"pages that would ask other machines: {asked}")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Look at every page when all are written."""
    app.connect("build-finished", judge)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
