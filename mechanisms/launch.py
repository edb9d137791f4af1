"""The command ``painleve`` starts here: other distributions have a package ``hybrid`` too.

Nothing is imported before Ctrl-C is caught.
"""

from __future__ import annotations

import sys

__all__ = ["foreign_hybrid", "main"]

_NOT_COMPUTED = 3
_INTERRUPTED = 130
_OWN = "Hybrid-automaton models of mechanisms"  # how our package begins


def main() -> int:
    """Run ``painleve`` as :func:`hybrid.cli.main`, or say in one sentence that ``hybrid`` is another one's.

    Returns
    -------
    int
        The exit status.
    """
    try:
        said = foreign_hybrid()
        if said:
            sys.stderr.write(f"error: {said}\n")
            return _NOT_COMPUTED
        from hybrid.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return _INTERRUPTED


def foreign_hybrid() -> str:
    """A sentence if the package ``hybrid`` that Python finds is not that of painleve; otherwise empty.

    Returns
    -------
    str

    Examples
    --------
    >>> foreign_hybrid()
    ''
    """
    from importlib.util import find_spec
    from pathlib import Path

    found = find_spec("hybrid")
    file = Path(found.origin) if found is not None and found.origin else None
    if file is not None and _OWN in file.read_text(encoding="utf-8", errors="replace")[:200]:
        return ""
    from importlib.metadata import packages_distributions  # slow to load, and needed for the sentence alone

    others = sorted(set(packages_distributions().get("hybrid", ())) - {"painleve"})
    whose = f" of {' and '.join(others)}" if others else ""
    where = f"the package hybrid in {file.parent} is another one's{whose}" if file else "the package hybrid is missing"
    return f"{where}; install painleve in an environment of its own (painleve doctor there checks it)"
