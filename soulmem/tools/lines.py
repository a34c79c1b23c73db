"""Standard input and output as lines of JSON-RPC, for a server that must stop at any moment.

A reading thread that waits for input cannot be cancelled: here it is a daemon, and the
event loop waits for a queue.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

_MOST_BYTES = 8 << 20  # of a line; the longest text that a tool takes is far below
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class LineWriter:
    """Writes whole lines as UTF-8. A reader that has gone ends nothing: the input ends then, too."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()

    async def write(self, text: str) -> None:
        """Write one line, with its end."""
        await asyncio.to_thread(self._write, text)

    async def flush(self) -> None:
        """Nothing: each line is flushed as it is written."""

    def _write(self, text: str) -> None:
        with self._lock:
            try:
                self._out.write(text.encode())
                self._out.flush()
            except (BrokenPipeError, ValueError):
                return


class LineReader:
    """The lines of a stream that are messages; what is none is answered with an error at once."""

    def __init__(
        self, stream: BinaryIO, writer: LineWriter, check: Callable[[bytes], object]
    ) -> None:
        """`check` raises ValueError for JSON that is no message."""
        self._stream = stream
        self._writer = writer
        self._check = check
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        threading.Thread(target=self._read, name="soulmem-stdin", daemon=True).start()

    def __aiter__(self) -> LineReader:
        return self

    async def __anext__(self) -> str:
        while True:
            line = await self._lines.get()
            if line is None:
                raise StopAsyncIteration
            problem = self._problem(line)
            if problem is None:
                return line.decode()
            await self._writer.write(json.dumps(problem) + "\n")

    def end(self) -> None:
        """End the lines, though the stream goes on."""
        self._lines.put_nowait(None)

    def _problem(self, line: bytes) -> dict[str, Any] | None:
        """The answer to a line that is no message; None for a message."""
        if len(line) > _MOST_BYTES:
            return _error(
                None, _INVALID_REQUEST, f"a message of more than {_MOST_BYTES} bytes"
            )
        try:
            value = json.loads(line)
        except ValueError as error:  # UnicodeDecodeError is one
            return _error(None, _PARSE_ERROR, f"this line is no JSON: {error}")
        try:
            self._check(line)
        except ValueError:
            number = value.get("id") if isinstance(value, dict) else None
            number = number if isinstance(number, str | int) else None
            words = "this is no JSON-RPC 2.0 request: it needs jsonrpc, method and id"
            return _error(number, _INVALID_REQUEST, words)
        return None

    def _read(self) -> None:
        """Runs in a thread of its own."""
        while True:
            try:
                line = self._stream.readline(_MOST_BYTES + 1)
                rest = line
                while rest and not rest.endswith(b"\n"):  # too long, or the last line
                    rest = self._stream.readline(_MOST_BYTES)
            except (OSError, ValueError):
                line = b""
            if line.strip() or not line:
                self._hand_over(line or None)
            if not line:
                return

    def _hand_over(self, line: bytes | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:  # the loop is closed: nobody reads any more
            return


def _error(number: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "error": {"code": code, "message": message},
    }
