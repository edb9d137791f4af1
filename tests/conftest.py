"""Settings and fixtures of the whole suite."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The time of one example says nothing: a first call compiles kernels. The blob makes a failure reproducible.
settings.register_profile("painleve", deadline=None, print_blob=True)
settings.load_profile("painleve")

LONG_CASES = Path(__file__).with_name("long_cases.txt")


@pytest.hookimpl(tryfirst=True)  # before pytest deselects what is marked
def pytest_collection_modifyitems(items):
    """Mark the cases that are listed as long."""
    lines = LONG_CASES.read_text(encoding="utf-8").splitlines()
    listed = {line for line in lines if line and not line.startswith("#")}
    for item in items:
        file, _, _ = item.nodeid.partition("::")
        test, _, _ = item.nodeid.partition("[")
        if listed & {file, test, item.nodeid}:
            item.add_marker(pytest.mark.long)


@pytest.fixture
def terminal():
    """Ctrl-C raises as at a terminal: a process that a shell starts in its background ignores it."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)
