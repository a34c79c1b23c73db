"""HTTP by hand, for requests that no client would send."""

from __future__ import annotations

import asyncio
import json
from typing import Any


async def exchange(port: int, raw: bytes) -> tuple[int, Any]:
    """Send bytes, read the answer to its end: (status, JSON). The request must ask to close."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(raw)
    head, _, body = (await asyncio.wait_for(reader.read(), 5)).partition(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    assert b"X-Evil" not in head
    return int(head.split()[1]), json.loads(body)
