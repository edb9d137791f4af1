"""What the site promises: it asks no other machine, and its tables of words are whole.

The build calls the same function on every page.
"""

import importlib.util
from pathlib import Path

import pytest

from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import ContactMode
from hybrid.contact.verdict import Verdict

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = DOCS / "_extensions/offline.py"


@pytest.fixture(scope="module")
def requests_of():
    spec = importlib.util.spec_from_file_location("offline", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.requests_of


@pytest.mark.parametrize(
    "page",
    [
        '<script src="{0}/a.js"></script>',
        '<img src="{0}/a.png">',
        '<img srcset="a.png 1x, {0}/a.png 2x">',
        '<link rel="stylesheet" href="{0}/a.css">',
        '<link rel="canonical" href="{0}/index.html">',
        '<iframe src="{0}"></iframe>',
        '<p style="background: url({0}/a.png)">',
        "<style>@import '{0}/a.css';</style>",
    ],
)
@pytest.mark.parametrize("host", ["https://doi.org", "http://doi.org", "//doi.org"])
def test_what_a_page_loads_from_elsewhere_is_found(requests_of, page, host):
    assert len(requests_of(page.format(host))) == 1


def test_links_and_files_beside_the_page_are_no_requests(requests_of):
    page = """<link rel="stylesheet" href="_static/a.css"><link rel="next" href="b.html">
    <script src="_static/a.js"></script> <a href="https://doi.org/10.1">source</a>
    <img src="data:image/png;base64,AA//BB"> <p style="background: url(a.png)">"""
    assert requests_of(page) == []


def test_style_sheets_are_read(requests_of):
    assert len(requests_of("@font-face { src: url('//doi.org/a.woff') } p { background: url(a.png) }", style=True)) == 1


@pytest.mark.parametrize("kind", [GuardKind, ContactMode, Verdict])
def test_the_page_on_notation_has_every_guard_mode_and_verdict(kind):
    page = (DOCS / "reference" / "notation.md").read_text(encoding="utf-8")
    words = [item.name if kind is Verdict else item.value for item in kind]
    assert [word for word in words if f"`{word}`" not in page] == []
