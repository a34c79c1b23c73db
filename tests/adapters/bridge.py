"""A SurrealDB server for tests: the embedded engine behind a websocket.

Server and engine speak the same CBOR messages, so that passing them on unread is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import WSMsgType, web
from surrealdb_embedded import AsyncEmbeddedDB

# A message {"id": "1", "method": "use", ..} in CBOR, where a text of three bytes begins with 0x63.
_USE, _HEAD = b"\x66method\x63use", 32


@asynccontextmanager
async def bridge(url: str, port: int = 0) -> AsyncIterator[str]:
    """Serve the store at `url`; gives the server's ws:// address, at a free port unless one is named."""
    engine = await asyncio.to_thread(AsyncEmbeddedDB, url)  # which would block the loop
    await engine.connect()
    alone = asyncio.Lock()
    chosen: bytes | None = None  # the last `use`: the engine has one session for all

    async def serve(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=["cbor"], max_msg_size=128 << 20)
        await socket.prepare(request)
        nonlocal chosen
        own: bytes | None = None  # the last `use` of this connection
        async for frame in socket:
            if frame.type is not WSMsgType.BINARY:
                continue
            async with alone:
                if _USE in frame.data[:_HEAD]:
                    own = chosen = frame.data
                elif own is not None and own != chosen:
                    await engine.execute(own)
                    chosen = own
                answer = await engine.execute(frame.data)
            await socket.send_bytes(answer)
        return socket

    app = web.Application()
    app.router.add_get("/rpc", serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield f"ws://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
        await engine.close()
