"""What notebooks show, side by side on a light and a dark page as Jupyter has them."""

import base64
import html

import pytest

from tests.browser.conftest import IMAGES
from tests.notebooks import NOTEBOOKS, read

pytestmark = pytest.mark.browser

# Ground, letters and striped tables of JupyterLab's themes.
THEMES = {"light": ("#ffffff", "rgba(0, 0, 0, 0.87)"), "dark": ("#111111", "#e0e0e0")}
STYLE = """
:root {{ color-scheme: {scheme}; }}
body {{ background: {ground}; color: {ink}; font: 14px/1.4 system-ui, sans-serif; margin: 1rem; }}
main {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 2rem; }}
main > * {{ min-width: 0; overflow: auto; }}
table {{ border-collapse: collapse; font-size: 12px; }}
tbody tr:nth-child(odd) {{ background: #8883; }}
"""


def outputs(names):
    """Everything that the notebooks show, as the markup of a page."""
    for name in names:
        for cell in read(name).cells:
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                if "text/html" in data:
                    yield data["text/html"]
                elif "image/svg+xml" in data:  # as JupyterLab shows it
                    code = base64.b64encode(data["image/svg+xml"].encode()).decode()
                    yield f'<img alt="figure" src="data:image/svg+xml;base64,{code}">'


def page_of(scheme, names):
    ground, ink = THEMES[scheme]
    parts = "\n".join(f"<section>{part}</section>" for part in outputs(names))
    style = STYLE.format(scheme=scheme, ground=ground, ink=ink)
    head = f'<meta charset="utf-8"><title>{html.escape(", ".join(names))}</title><style>{style}</style>'
    return f'<!DOCTYPE html><html lang="en">{head}<main>{parts}</main></html>'


@pytest.fixture(params=sorted(THEMES))
def shown(request, chromium, tmp_path):
    file = tmp_path / "notebooks.html"
    file.write_text(page_of(request.param, NOTEBOOKS), encoding="utf-8")
    said = []
    page = chromium.new_page(viewport={"width": 1280, "height": 1600}, color_scheme=request.param)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda asked: said.append(asked.url) if asked.url.startswith("http") else None)
    page.goto(file.as_uri())
    yield request.param, page
    page.close()
    assert said == []


def test_many_sections_live_on_one_page_in_its_theme(shown, axe):
    scheme, page = shown
    sections = page.locator(".painleve").count()
    assert sections >= 10
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((item) => item.id)")
    own = [item for item in ids if item.startswith("p")]
    assert len(own) == len(set(own))
    inks = page.evaluate("[...document.querySelectorAll('.painleve p')].map((item) => getComputedStyle(item).color)")
    bright = "rgb(224, 224, 224)" if scheme == "dark" else "rgba(0, 0, 0, 0.87)"
    assert bright in inks
    page.screenshot(path=IMAGES / f"notebook-{scheme}.png")
    found = page.evaluate(axe + "; axe.run(document.querySelectorAll('.painleve')).then((result) => result.violations)")
    assert [(item["id"], [node["html"][:160] for node in item["nodes"][:3]]) for item in found] == []


def test_an_animation_plays_in_its_frame(shown):
    scheme, page = shown
    frame = page.frame_locator("iframe").first
    page.locator("iframe").first.scroll_into_view_if_needed()
    frame.locator("#play").wait_for()
    before = frame.locator("#time").inner_text()
    frame.locator("#scrub").evaluate("(item) => { item.value = 500; item.dispatchEvent(new Event('input')); }")
    assert frame.locator("#time").inner_text() != before
    ground = frame.locator("body").evaluate("(item) => getComputedStyle(item).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    page.locator("iframe").first.screenshot(path=IMAGES / f"animation-{scheme}.png")
