"""Free loopback ports."""

from __future__ import annotations

import os
import socket

_handed_out: set[int] = set()


def free_port() -> int:
    """A port of `SOULMEM_E2E_PORTS` that nobody listens on and that this run has not given away yet."""
    first, last = map(int, os.environ.get("SOULMEM_E2E_PORTS", "19100-19199").split("-"))
    for port in range(first, last + 1):
        if port in _handed_out:
            continue
        with socket.socket() as probe:
            # Without it a port closed a moment ago by another run counts as taken for a minute.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _handed_out.add(port)
        return port
    raise RuntimeError(f"no free port in {first}-{last}: set SOULMEM_E2E_PORTS")
