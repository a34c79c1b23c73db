"""Lines of standard input: messages go on, what is none is answered at once."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from typing import Any

import pytest

from soulmem.tools.json_lines import LineReader, LineWriter


def check(line: bytes) -> None:
    """Accepts requests only."""
    if json.loads(line).get("jsonrpc") != "2.0":
        raise ValueError("no request")


async def played(data: bytes) -> tuple[list[str], list[dict[str, object]]]:
    """The messages of the input, and the errors that were written."""
    out = io.BytesIO()
    reader = LineReader(io.BytesIO(data), LineWriter(out), check)
    messages = [line async for line in reader]
    return messages, [json.loads(line) for line in out.getvalue().splitlines()]


async def test_messages_go_on_and_blank_lines_are_nothing() -> None:
    request = '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": "雨"}}\n'
    messages, errors = await played(b"\n  \n" + request.encode() * 2)
    assert (messages, errors) == ([request, request], [])


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"{not json", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"id": 7, "method": "ping"}', 7, -32600),
        (b'{"id": "a", "method": "ping"}', "a", -32600),
        (b'{"id": {"x": 1}}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
        (b"[" * 100_000, None, -32700),
        (
            b'{"jsonrpc": "2.0", "id": 1, "a": ' + b"[" * 900 + b"]" * 900 + b"}",
            None,
            -32700,
        ),
        (b'"' + b"x" * (9 << 20) + b'"', None, -32600),
    ],
)
async def test_what_is_no_message_is_answered_and_the_next_is_read(
    line: bytes, number: object, code: int
) -> None:
    good = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    messages, (error,) = await played(line + b"\n" + good)
    assert [json.loads(message)["id"] for message in messages] == [1]
    assert (error["id"], error["error"]["code"]) == (number, code)  # type: ignore[index]


async def test_half_a_surrogate_pair_is_replaced() -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud83d"}\n'
    (message,), errors = await played(line)
    assert json.loads(message)["method"] == "\ufffd"
    assert errors == []


async def test_the_end_leaves_out_what_was_read_but_not_asked_for() -> None:
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    reader = LineReader(io.BytesIO(ping * 3), LineWriter(io.BytesIO()), check)
    await anext(reader)
    reader.end()
    assert [line async for line in reader] == []


class Full(io.RawIOBase):
    """An output that takes a byte at a time, and nothing more once it is full."""

    def __init__(self) -> None:
        self.taken = b""
        self.room = threading.Semaphore(0)

    def write(self, data: Any) -> int:
        self.room.acquire()
        self.taken += bytes(data[:1])
        return 1


async def test_a_line_is_written_whole_however_little_the_client_reads_at_once() -> None:
    out = Full()
    writing = asyncio.create_task(LineWriter(out).write("雨\n"))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    assert not writing.done()
    out.room.release(4)
    await writing
    assert out.taken.decode() == "雨\n"
