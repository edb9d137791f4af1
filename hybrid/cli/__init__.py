"""The command ``painleve``, also ``python -m hybrid``."""

from hybrid.cli.program import main, program

__all__ = ["main", "program"]
