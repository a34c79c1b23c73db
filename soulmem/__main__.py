"""`python -m soulmem` is the command `soulmem`."""

from __future__ import annotations

try:
    from soulmem.cli import run_and_leave
except KeyboardInterrupt:  # Ctrl-C while the code is still read
    raise SystemExit(130) from None

if __name__ == "__main__":
    run_and_leave()
