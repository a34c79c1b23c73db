"""Is a soul sent as one file, piece by piece?"""

from __future__ import annotations

from soulmem.domain.errors import NotFound
from soulmem.domain.ids import DEFAULT_OWNER
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine


async def test_a_soul_is_sent_as_lines_to_be_saved(client: Client, engine: FakeEngine) -> None:
    answer = await client.get("/v1/export?soul=s1")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="soulmem-s1.jsonl"'
    assert answer.headers["Cache-Control"] == "no-store"
    assert await answer.read() == b'{"type":"bundle"}\n{"type":"end","lines":1}\n'
    assert engine.calls == [("export", (DEFAULT_OWNER, "s1"))]


async def test_its_head_has_no_lines(client: Client) -> None:
    answer = await client.head("/v1/export?soul=s1")
    assert (answer.status, await answer.read()) == (200, b"")


async def test_what_cannot_be_exported_is_an_error_in_the_one_shape(
    client: Client, engine: FakeEngine
) -> None:
    await refused(await client.get("/v1/export"), 422, "soul")
    await refused(await client.get("/v1/export?soul=a%20b"), 422, "soul")
    await refused(await client.get("/v1/export?soul=s1&chat=c1"), 422, "chat")
    engine.failure = NotFound("no soul 's1'", field="soul")
    await refused(await client.get("/v1/export?soul=s1"), 404, "soul")
