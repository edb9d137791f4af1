"""``python -m hybrid`` is the command ``painleve``."""

import sys

from hybrid.cli import main

if __name__ == "__main__":
    sys.exit(main())
