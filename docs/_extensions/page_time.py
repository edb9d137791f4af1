"""No page may take long to compute: a build with one that does fails, and says which.

What counts is the smaller of the time that passed and the time of processors (of this process and those that it
waited for): a busy machine makes no page slow.
"""

import os
import time
from pathlib import Path

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

LOG = logging.getLogger(__name__)
STARTED: dict[str, tuple[float, float]] = {}
SECONDS: dict[str, float] = {}


def clocks() -> tuple[float, float]:
    """Return the time that passed and the time of processors, in seconds."""
    times = os.times()
    return time.perf_counter(), times.user + times.system + times.children_user + times.children_system


def begin_page(gallery_conf: dict[str, object], file: str | Path, when: str = "before") -> None:
    """Take the time of a script of the gallery; sphinx-gallery calls this before and after each."""
    name = Path(file).name
    if when == "before":
        STARTED[name] = clocks()
    elif name in STARTED:
        SECONDS[name] = min(now - then for now, then in zip(clocks(), STARTED.pop(name), strict=True))


def judge(app: Sphinx, error: Exception | None) -> None:
    """Fail the build when a page took longer than `page_seconds`."""
    # The kernel of a notebook tells only the time that passed: it is divided by the processes that wanted a processor.
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    executed = {
        name: data["exec_data"]["runtime"] / crowd
        for name, data in NbMetadataCollector.get_doc_data(app.env).items()
        if data.get("exec_data") and data["exec_data"]["runtime"] is not None
    }
    seconds = SECONDS | executed
    for name, taken in sorted(seconds.items(), key=lambda item: -item[1])[:5]:
        LOG.info("page %s took %.1f s", name, taken)
    slow = {name: round(taken, 1) for name, taken in seconds.items() if taken > app.config.page_seconds}
    if slow and error is None:
        raise ExtensionError(f"pages that take longer than {app.config.page_seconds} s: {slow}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Judge the times when everything is written."""
    app.add_config_value("page_seconds", 15, "")
    app.connect("build-finished", judge)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
