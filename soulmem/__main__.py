"""`python -m soulmem` is the command `soulmem`."""

from __future__ import annotations

import sys

from soulmem.cli import main

if __name__ == "__main__":
    sys.exit(main())
