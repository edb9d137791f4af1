"""From a slider to the picture of the map: the explorer in a headless Chromium beside matplotlib, in one run.

    python benchmarks/explorer.py [STEPS]

needs Chromium on the path and the extra ``browser``.
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import mechanisms
from hybrid import derive, plot_map, region_map, save_figure
from hybrid.analysis import Axis
from tests.explorers import Explorer

CELLS = 300
STEP = """async (value) => {
  const track = document.getElementById("parameters-mu"), map = document.getElementById("map");
  const before = map.dataset.drawn, begun = performance.now();
  track.value = value;
  track.dispatchEvent(new Event("input"));
  const is_done = () => map.dataset.drawn !== before && map.dataset.complete === "true";
  while (!is_done()) await new Promise((done) => setTimeout(done, 1));
  await new Promise((done) => requestAnimationFrame(done));
  return performance.now() - begun;
}"""


def by_the_page(values):
    """Milliseconds of every step, as a visitor sees them; and of the first picture."""
    own = Explorer("--port", "0")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        begun = time.perf_counter()
        page.goto(f"http://127.0.0.1:{own.port}/#token={own.token}")
        page.wait_for_selector("#map[data-complete=true]")
        first = 1e3 * (time.perf_counter() - begun)
        found = [page.evaluate(STEP, value) for value in values]
        browser.close()
    own.stop()
    return first, found


def by_matplotlib(values):
    """Milliseconds of the same maps computed and drawn as PNG files by the functions for figures."""
    rod = derive(mechanisms.load("rod_on_incline"))
    axes = [Axis.parse(f"phi=0:pi:{CELLS}"), Axis.parse(f"phi_dot=-3:3:{CELLS}")]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for value in values:
            begun = time.perf_counter()
            shown = region_map(rod, axes=axes, pins={"slip.tip": -1}, parameters={"mu": value})
            save_figure(plot_map(shown), Path(folder) / "map.png")
            found.append(1e3 * (time.perf_counter() - begun))
    return found


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    values = [0.8 + 1.2 * k / steps for k in range(steps)]
    first, page = by_the_page(values)
    figure = by_matplotlib(values)
    print(f"rod_on_incline, {CELLS} x {CELLS} cells, {steps} steps of mu; milliseconds")
    print(f"first picture of the page            {first:8.0f}")
    for name, times in (("slider to picture", page), ("the same map by matplotlib", figure)):
        ordered = sorted(times)
        print(f"{name:<28} median {statistics.median(times):6.0f}   95 % {ordered[int(0.95 * steps) - 1]:6.0f}")
    print(f"ratio of the medians                 {statistics.median(figure) / statistics.median(page):8.1f}")


if __name__ == "__main__":
    main()
