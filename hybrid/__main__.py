"""``python -m hybrid`` is the command ``painleve``."""

import sys

if __name__ == "__main__":
    try:
        from hybrid.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # while it is loading; the command itself ends with a status
        sys.stderr.write("interrupted\n")
        sys.exit(130)
