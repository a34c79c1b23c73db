"""`python -m soulmem` is the command `soulmem`."""

from __future__ import annotations

from soulmem.cli import run_and_leave

if __name__ == "__main__":
    run_and_leave()
