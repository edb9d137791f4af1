"""The command ``painleve``, also ``python -m hybrid``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``painleve``, as :func:`hybrid.cli.program.main`.

    An interrupt while it is loading takes one line, too.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the name of the program; those of the process when None.

    Returns
    -------
    int
        0 answered, 2 bad input, 3 could not be computed, 130 interrupted.
    """
    try:
        from hybrid.cli.program import main as run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED
