"""What a user declares is text on every page, whatever Markdown or HTML it looks like."""

from html.parser import HTMLParser

import attrs
import pytest

import mechanisms
from hybrid import derive, solve_state
from hybrid.reporting import build_comparison, render_comparison_html, render_comparison_markdown
from hybrid.reporting.page import page_html, page_markdown

HOSTILE = (
    "<script>alert(1)</script>",
    "[press](javascript:alert(1))",
    "![seen](javascript:alert(1))",
    "<javascript:alert(1)>",
    "`code` *italic* **bold** | a cell",
    "&lt;b&gt; &amp; &#106;avascript",
    "- a list",
    "3. a list",
    "# a heading",
    "\\*not italic\\*",
)


class Text(HTMLParser):
    """Elements, attributes and the text of the first heading."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.addresses, self.heading, self.inside = [], [], "", False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.addresses += [value for name, value in attributes if name in ("href", "src")]
        self.inside = tag == "h1" or (self.inside and tag not in ("h2", "p"))

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "h1"

    def handle_data(self, data):
        self.heading += data if self.inside else ""


@pytest.fixture(scope="module")
def comparison():
    ball = derive(mechanisms.load("bouncing_ball"))
    return build_comparison(ball, solve_state(ball, {"gap_dot.floor": -1}), stiffness=(1e6,))


@pytest.mark.parametrize("title", HOSTILE)
def test_a_hostile_title_is_shown_as_it_is_typed(comparison, title):
    declared = attrs.evolve(comparison.dynamics.mechanism, title=title)
    changed = attrs.evolve(comparison, dynamics=attrs.evolve(comparison.dynamics, mechanism=declared))
    page = Text(render_comparison_html(changed))
    assert page.heading == title
    assert not {"script", "img", "em", "strong", "a"} & set(page.elements[: page.elements.index("h1") + 1])
    assert "script" not in page.elements
    assert all(address.startswith("#") for address in page.addresses)
    assert render_comparison_markdown(changed).count("\n# ") == 0  # one heading of the first level, in the first line


def test_page_and_markdown_have_the_same_headings_and_tables(comparison):
    text, page = render_comparison_markdown(comparison), Text(render_comparison_html(comparison))
    pictures = sum(line.startswith("## History of") for line in text.splitlines())
    assert pictures == 0
    headings = sum(line.startswith("## ") for line in text.splitlines())
    assert page.elements.count("h2") == headings + 1  # the plots of the one contact are on the page only
    assert page.elements.count("table") == sum(line.startswith("|--") for line in text.splitlines())


def test_every_heading_has_its_entry_in_the_contents(comparison):
    page = render_comparison_html(comparison)
    addresses = [address for address in Text(page).addresses if f'<a href="{address}">' in page]
    assert len(addresses) == Text(page).elements.count("h2")
    assert all(f'id="{address[1:]}"' in page for address in addresses)


def test_a_command_of_several_lines_stays_a_block_of_code():
    view = {"r": {"mechanism": "m", "functional": "`", "terminal": "0", "t_end": 1.0, "events": [], "notes": []}}
    view["r"] |= {"refusal": {"verdict": "none", "t": 0.0, "reason": "*"}}
    view |= {"title": "m", "rows": [], "version": "1", "command": "painleve\n# no \ue0000\ue001heading\n<b>"}
    page = page_html("sensitivity.md", view, pictures={}, title="m")
    assert (
        "<pre><code><span>painleve\n# no 0heading\n&lt;b&gt;</span></code></pre>" in page
    )  # marks of the page are no text
    assert "<code>`</code>" in page
    assert page_markdown("sensitivity.md", view).endswith("    painleve\n    # no 0heading\n    <b>\n")
    page = page_html("sensitivity.md", view | {"command": "painleve x --pin 'a=1 deg' -o f"}, pictures={}, title="m")
    assert "<span>painleve x</span> <span>--pin &#x27;a=1 deg&#x27;</span> <span>-o f</span>" in page
