"""The command ``painleve``, also ``python -m hybrid``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``painleve`` and return its exit status; an interrupt while it is still loading ends it quietly, too.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the name of the program; those of the process when None.

    Returns
    -------
    int
        0 answered, 2 bad input, 3 could not be computed, 130 interrupted.

    Examples
    --------
    >>> main(["list", "--help"])  # doctest: +ELLIPSIS
    Usage: painleve list [OPTIONS]
    ...
    0
    """
    try:
        from hybrid.cli.program import main as run

        return run(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
