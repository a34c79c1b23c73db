"""Lines of standard input: messages go on, what is none is answered at once."""

from __future__ import annotations

import io
import json

import pytest

from soulmem.tools.lines import LineReader, LineWriter


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
