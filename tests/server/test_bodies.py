"""Bodies: only JSON in UTF-8, only so large, only so deep, and never read in vain."""

from __future__ import annotations

import asyncio
import io
import json
import zlib
from collections.abc import AsyncIterator

import pytest

from soulmem.server.bodies import BODY_LIMIT
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine

JSON = {"Content-Type": "application/json"}
GOOD = json.dumps({"soul": "s1", "query": "雨"}, ensure_ascii=False).encode()


@pytest.fixture(autouse=True)
async def soul(client: Client, engine: FakeEngine) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    engine.calls.clear()


@pytest.mark.parametrize(
    "raw",
    [
        b" ",
        b"{",
        b"nul",
        b"'a'",
        b"{'a':1}",
        GOOD[:-1],
        GOOD + b"x",
        GOOD + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        b"\xff\xfe" + GOOD,
        GOOD.decode().encode("utf-16"),
        GOOD.replace("雨".encode(), b"\xe9\x9b"),
        GOOD.decode().encode("latin-1", "replace").replace(b"?", b"\xfc"),
        b'{"soul":"s1","query":NaN}',
        b'{"soul":"s1","max_items":Infinity}',
        b'{"soul":"s1","query":"\\ud800"}',
        b'{"soul":"s1","query":"a\\udc00b"}',
        b'{"\\ud800":1}',
        b'{"soul":"s1","query":"\x01"}',
        b"NaN",
        b"<xml/>",
        b"a=b&c=d",
        b"[" * 200_000,
        b'{"soul":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"soul":' + b'{"a":' * 20_000 + b"1" + b"}" * 20_000 + b"}",
        b'{"typo":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    ],
)
async def test_what_is_no_json_is_a_bad_request(
    client: Client, engine: FakeEngine, raw: bytes
) -> None:
    await refused(await client.post("/v1/recall", data=raw, headers=JSON), 400)
    assert engine.calls == []


@pytest.mark.parametrize(
    "raw",
    [
        b"[]",
        b"1",
        b'"x"',
        b"null",
        b"true",
        b'{"soul":"s1","max_items":1e999}',
        b'{"soul":"s1","swipe":' + b"9" * 5000 + b"}",
    ],
)
async def test_json_of_another_shape_is_unprocessable(
    client: Client, engine: FakeEngine, raw: bytes
) -> None:
    answer = await client.post("/v1/recall", data=raw, headers=JSON)
    field = (await answer.json()).get("field")
    await refused(answer, 422, field)
    assert engine.calls == []


async def test_half_a_surrogate_pair_is_named(client: Client) -> None:
    for text in (rb"\ud83d", rb"\ude00", rb"x\uD83D y", rb"\ud83d\ud83d"):
        answer = await client.post(
            "/v1/recall", data=b'{"soul":"s1","query":"' + text + b'"}', headers=JSON
        )
        assert "surrogate" in await refused(answer, 400)
    whole = b'{"soul":"s1","query":"\\ud83d\\ude00"}'
    assert (await client.post("/v1/recall", data=whole, headers=JSON)).status == 200


async def test_texts_arrive_as_they_are(client: Client, engine: FakeEngine) -> None:
    for text in (
        "\u0000",
        "a\u202eb",
        "\ufffe\uffff",
        "é e\u0301",
        "𝔘👩‍👩‍👧",
        '"\\/\b\f\n\r\t',
        "x" * 200_000,
    ):
        assert (await client.post("/v1/recall", json={"soul": "s1", "query": text})).status == 200
        assert engine.asked("recall").query == text


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/html",
        "application/jsonx",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "application/octet-stream",
        "",
    ],
)
async def test_another_content_type_is_unsupported(
    client: Client, engine: FakeEngine, kind: str
) -> None:
    answer = await client.post("/v1/recall", data=GOOD, headers={"Content-Type": kind})
    await refused(answer, 415, "Content-Type")
    assert engine.calls == []


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "Application/JSON; charset=UTF-8",
        "application/json;charset=utf8",
    ],
)
async def test_json_in_utf8_is_supported(client: Client, kind: str) -> None:
    assert (
        await client.post("/v1/recall", data=GOOD, headers={"Content-Type": kind})
    ).status == 200


async def test_a_compressed_body_is_unsupported(client: Client) -> None:
    packed = {**JSON, "Content-Encoding": "deflate"}
    answer = await client.post("/v1/recall", data=zlib.compress(GOOD), headers=packed)
    await refused(answer, 415, "Content-Encoding")


async def test_a_missing_body_is_a_bad_request(client: Client) -> None:
    assert "missing" in await refused(await client.post("/v1/recall", headers=JSON), 400)


@pytest.mark.alone
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
async def test_an_announced_flood_is_refused_unread(client: Client, method: str) -> None:
    server = client.server
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"{method} /v1/souls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {1 << 33}\r\n\r\n{{".encode())
    assert b" 413 " in await asyncio.wait_for(reader.readline(), 2)
    writer.close()
    await writer.wait_closed()


@pytest.fixture(scope="module")
def flood() -> bytes:
    """One byte more than is taken; made outside the loop, which must not compute."""
    return b'{"soul":"s1","query":"' + b"x" * (BODY_LIMIT - 23) + b'"}'


async def in_pieces(raw: bytes) -> AsyncIterator[bytes]:
    """A body whose length nobody announces."""
    for start in range(0, len(raw), 1 << 16):
        yield raw[start : start + (1 << 16)]


async def test_a_body_over_the_limit_is_too_large(
    client: Client, engine: FakeEngine, flood: bytes
) -> None:
    assert len(flood) == BODY_LIMIT + 1
    for data in (io.BytesIO(flood), in_pieces(flood)):
        answer = await client.post("/v1/recall", data=data, headers=JSON)
        assert str(BODY_LIMIT) in await refused(answer, 413)
    assert engine.calls == []


@pytest.fixture
def largest(flood: bytes) -> bytes:
    """A body of exactly the limit; made before the loop of the test runs."""
    return flood.replace(b"xx", b"x", 1)


async def test_the_limit_itself_is_read(client: Client, largest: bytes) -> None:
    answer = await client.post("/v1/recall", data=in_pieces(largest), headers=JSON)
    assert "200000" in await refused(answer, 422, "query")


async def test_expect_100_continue(client: Client) -> None:
    answer = await client.post("/v1/recall", data=GOOD, headers=JSON, expect100=True)
    assert answer.status == 200


async def test_a_query_parameter_is_sent_once_and_named_in_short(
    client: Client,
) -> None:
    twice = await client.get("/v1/memories?soul=s1&soul=s1")
    assert "'soul' is sent twice" in await refused(twice, 400, "soul")
    name = "x" * 90
    twice = await client.get(f"/v1/memories?{name}=1&{name}=1")
    assert f"'{name[:80]}'" in await refused(twice, 400, name[:80])
