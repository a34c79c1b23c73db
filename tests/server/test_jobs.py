"""Do the routes to long work take what they should, and hand it on as it was sent?"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from soulmem.domain.errors import NotFound, Unprocessable
from soulmem.domain.ids import DEFAULT_OWNER, SoulId
from soulmem.engine.api.requests import ImportFormat, ImportRequest
from soulmem.server.bodies import BODY_LIMIT
from soulmem.server.resources.jobs import IMPORT_LIMIT
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine

JSON = {"Content-Type": "application/json"}
_S1, _S2 = SoulId("s1"), SoulId("s2")
FILE: dict[str, Any] = {
    "soul": "s1",
    "format": "st_chat",
    "name": "night.jsonl",
    "text": "{}\n",
}


async def test_a_job_is_started_looked_at_and_cancelled(client: Client, engine: FakeEngine) -> None:
    answer = await client.post(
        "/v1/jobs", json={"kind": "count", "soul": "s1", "arguments": {"to": 3}}
    )
    assert (answer.status, await answer.json()) == (202, {"job": "j1"})
    answer = await client.get("/v1/jobs/j1")
    assert await answer.json() == {
        "job": "j1",
        "kind": "count",
        "soul": "s1",
        "at": "2024-03-01T12:00:00Z",
        "state": "running",
        "progress": {"done": 3, "total": 9, "unit": "pages"},
        "result": None,
        "error": None,
    }
    answer = await client.delete("/v1/jobs/j1")
    assert (answer.status, (await answer.json())["state"]) == (200, "cancelled")
    assert engine.calls == [
        ("ask_job", (DEFAULT_OWNER, "count", "s1", {"to": 3})),
        ("get_job", (DEFAULT_OWNER, "j1")),
        ("cancel_job", (DEFAULT_OWNER, "j1")),
    ]


async def test_the_jobs_of_a_soul_are_listed(client: Client, engine: FakeEngine) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    engine.calls.clear()
    (job,) = (await (await client.get("/v1/jobs?soul=s1")).json())["jobs"]
    assert (job["job"], job["state"], job["result"]) == ("j1", "done", {"pages": 9})
    assert engine.calls[-1] == ("list_jobs", (DEFAULT_OWNER, "s1"))
    await refused(await client.get("/v1/jobs"), 422, "soul")


async def test_looking_at_a_job_is_no_use_of_the_sidecar(
    client: Client, engine: FakeEngine
) -> None:
    await client.get("/v1/jobs/j1")
    assert engine.touches == 0
    await client.post("/v1/import", json=FILE)
    assert engine.touches == 1


async def test_what_the_engine_refuses_is_refused(client: Client, engine: FakeEngine) -> None:
    engine.failure = Unprocessable("no job of kind 'dream'", field="kind")
    await refused(await client.post("/v1/jobs", json={"kind": "dream", "soul": "s1"}), 422, "kind")
    engine.failure = NotFound("no job 'j9'", field="job")
    await refused(await client.get("/v1/jobs/j9"), 404, "job")
    engine.failure = NotFound("no soul 's9'", field="soul")
    await refused(await client.post("/v1/import", json={**FILE, "soul": "s9"}), 404, "soul")


async def test_a_file_comes_as_text_or_as_base64(client: Client, engine: FakeEngine) -> None:
    raw = b"\x89PNG\x00\xff"
    body = {
        **FILE,
        "base64": base64.b64encode(raw).decode(),
        "dry_run": True,
        "others": ["s2", "s1", "s2"],
    }
    del body["text"]
    for sent, expected in (
        (
            {**FILE, "text": "你好\n"},
            ImportRequest(_S1, ImportFormat.ST_CHAT, "你好\n".encode(), "night.jsonl"),
        ),
        (
            body,
            ImportRequest(
                _S1,
                ImportFormat.ST_CHAT,
                raw,
                "night.jsonl",
                others=(_S2,),
                dry_run=True,
            ),
        ),
    ):
        answer = await client.post("/v1/import", json=sent)
        assert (answer.status, await answer.json()) == (202, {"job": "j2"})
        assert engine.calls.pop() == ("import_file", (DEFAULT_OWNER, expected))


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"text": None}, "text", "either"),
        ({"base64": ""}, "text", "either"),
        ({"text": None, "base64": "no base64!"}, "base64", "not valid base64"),
        ({"text": None, "base64": "abc"}, "base64", "not valid base64"),
        ({"text": None, "base64": "é"}, "base64", "not valid base64"),
        ({"format": "novel"}, "format", "st_chat, card, world_info"),
        ({"format": None}, "format", ""),
        ({"name": "x" * 2001}, "name", "2000"),
        ({"others": ["../s1"]}, "others[0]", "A-Z a-z"),
        ({"dry_runs": True}, "dry_runs", "dry_run"),
        ({"text": 7}, "text", "text"),
    ],
)
async def test_a_bad_file_request_is_refused(
    client: Client, engine: FakeEngine, change: dict[str, Any], field: str, words: str
) -> None:
    sent = {**FILE, **change}
    assert words in await refused(await client.post("/v1/import", json=sent), 422, field)
    assert engine.calls == []


@pytest.fixture
def large() -> bytes:
    """A file over the limit of other bodies; made before the loop of the test runs."""
    return b"x" * (BODY_LIMIT + 1)


async def test_files_may_be_larger_than_other_bodies(
    client: Client, engine: FakeEngine, large: bytes
) -> None:
    text = json.dumps({**FILE, "text": "§"}).encode().split(b"\\u00a7")

    async def body() -> Any:
        yield text[0]
        for start in range(0, len(large), 1 << 16):
            yield large[start : start + (1 << 16)]
        yield text[1]

    answer = await client.post("/v1/import", data=body(), headers=JSON)
    assert answer.status == 202
    assert len(engine.calls[0][1][1].data) == len(large)
    announced = {
        **JSON,
        "Content-Length": str(IMPORT_LIMIT + 1),
        "Expect": "100-continue",
    }
    answer = await client.post("/v1/import", data=b"{}", headers=announced)
    assert str(IMPORT_LIMIT) in await refused(answer, 413)
