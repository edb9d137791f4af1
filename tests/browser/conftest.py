"""A headless Chromium, and an explorer to look at; both must be there: `make test-browser` says what is missing."""

import shutil
from pathlib import Path

import pytest

from tests.explorers import Explorer

OUT = Path(__file__).parents[2] / "out" / "browser"
IMAGES = Path(__file__).parents[2] / "docs" / "images"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def explorer():
    found = Explorer("--port", "0")
    yield found
    assert found.stop() == 0


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path, "chromium was not found; install it (Debian and Ubuntu: apt install chromium)"
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def opened(chromium, explorer):
    """Opens windows; nothing may leave the machine, and nothing be said on the console."""
    contexts, said = [], []

    def window(address="", *, size=(1280, 900), scheme="light", context=None):
        if context is None:
            context = chromium.new_context(
                viewport=dict(zip(("width", "height"), size, strict=True)), color_scheme=scheme
            )
            context.set_default_timeout(60_000)  # of a machine with other work; limits are asserted where there are any
            contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        own = f"http://127.0.0.1:{explorer.port}/"
        page.on(
            "request", lambda request: said.append(f"left: {request.url}") if not is_own(request.url, own) else None
        )
        page.goto(address if "://" in address else f"{own}#token={explorer.token}{address}")
        page.wait_for_selector("#map[data-complete=true]")
        return page

    yield window
    for context in contexts:
        context.close()
    assert said == []


def is_own(url, own):
    return url.startswith((own, "data:", "blob:", "file:"))


@pytest.fixture(scope="session")
def axe():
    path = OUT / "node_modules" / "axe-core" / "axe.min.js"
    assert path.exists(), "axe-core was not found: run `make test-browser`"
    return path.read_text(encoding="utf-8")
