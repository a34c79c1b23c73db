"""Standard input and output as lines of JSON-RPC, for a server that must stop at any moment.

A thread that waits for input, or for a client to read, cannot be cancelled: here both are daemons, and the
event loop waits for queues.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, BinaryIO

from soulmem.domain.foreign_json import read_json

_MOST_BYTES = 8 << 20  # of a line; the longest text that a tool takes is far below
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class LineWriter:
    """Writes whole lines as UTF-8. A reader that has gone ends nothing: the input ends then, too."""

    def __init__(self, out: BinaryIO) -> None:
        """`out` is not buffered: a buffer that a thread is stuck in would abort the interpreter's end."""
        self._out = out
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[tuple[bytes, asyncio.Future[None]]] = SimpleQueue()
        self.written = 0  # lines
        threading.Thread(target=self._write_all, name="soulmem-stdout", daemon=True).start()

    async def write(self, text: str) -> None:
        """Write one line, with its end. Waits for as long as the client does not read."""
        done: asyncio.Future[None] = self._loop.create_future()
        self._waiting.put((text.encode("utf-8", "replace"), done))
        await done

    async def flush(self) -> None:
        """Nothing: each line is flushed as it is written."""

    def _write_all(self) -> None:
        """Runs in a thread of its own."""
        while True:
            line, done = self._waiting.get()
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[self._out.write(rest) or 0 :]
            except (OSError, ValueError):
                pass  # the reader has gone
            self.written += 1
            try:
                self._loop.call_soon_threadsafe(_settle, done)
            except RuntimeError:  # the loop is closed: nobody waits any more
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
        self._is_over = False
        self.ended = asyncio.Event()  # the input is over, or was ended
        threading.Thread(target=self._read, name="soulmem-stdin", daemon=True).start()

    def __aiter__(self) -> LineReader:
        return self

    async def __anext__(self) -> str:
        while True:
            line = await self._lines.get()
            if line is None or self._is_over:
                raise StopAsyncIteration
            message, problem = self._message(line)
            if problem is None:
                return message
            await self._writer.write(json.dumps(problem) + "\n")

    def end(self) -> None:
        """End the lines, though the stream goes on and some were read already."""
        self._is_over = True
        self._take(None)

    def _take(self, line: bytes | None) -> None:
        self._lines.put_nowait(line)
        if line is None:
            self.ended.set()

    def _message(self, line: bytes) -> tuple[str, dict[str, Any] | None]:
        """The message in a line, as any program can read it, or the answer to a line that is none."""
        if len(line) > _MOST_BYTES:
            words = f"a message of more than {_MOST_BYTES} bytes"
            return "", _error(None, _INVALID_REQUEST, words)
        try:
            value = read_json(line)
        except ValueError as error:  # UnicodeDecodeError is one
            return "", _error(None, _PARSE_ERROR, f"this line is no JSON: {error}")
        message = json.dumps(value, ensure_ascii=False) + "\n"
        number = value.get("id", 0) if isinstance(value, dict) else None
        is_number = isinstance(number, str | int) and not isinstance(number, bool)
        try:
            if not is_number:
                raise ValueError("an id of another kind")
            self._check(message.encode())
        except ValueError:
            known = number if is_number and "id" in value else None
            words = (
                "this is no JSON-RPC 2.0 request: it needs jsonrpc, method and an id that"
                " is a text or a whole number"
            )
            return "", _error(known, _INVALID_REQUEST, words)
        return message, None

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
            self._loop.call_soon_threadsafe(self._take, line)
        except RuntimeError:  # the loop is closed: nobody reads any more
            return


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _error(number: str | int | None, code: int, message: str) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "error": {"code": code, "message": message},
    }
