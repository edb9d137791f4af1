"""The command ``painleve``, also ``python -m hybrid``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``painleve`` as :func:`hybrid.cli.program.main`; an interrupt while it is loading takes one line, too."""
    try:
        from hybrid.cli.program import main as run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED
