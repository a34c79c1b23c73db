"""Health is told exactly as the contract says, and asking for it is no use of the sidecar."""

from __future__ import annotations

from soulmem import __version__
from tests.server.conftest import Client
from tests.server.fake_engine import FakeEngine


async def test_health_has_every_field_of_the_contract(client: Client) -> None:
    answer = await client.get("/v1/health")
    assert answer.status == 200
    assert await answer.json() == {
        "status": "ok",
        "version": __version__,
        "api": {"major": 1, "minor": 5},
        "phase": "working",
        "store": {"state": "ok", "detail": ""},
        "embedder": {
            "state": "ok",
            "model": "tiny",
            "dim": 8,
            "fallback": True,
            "prompt": "",
        },
        "kernels": {"state": "ok"},
        "llm": {
            "state": "off",
            "model": None,
            "calls_this_hour": 0,
            "tokens_this_hour": 0,
        },
        "pending": 0,
        "bin_days": 7.0,
        "souls": {"open": 0, "closed": 0},
        "core_left_out": [],
        "opening": [{"soul": "s1", "name": "Mira", "memories": 3, "of": 9}],
        "notes": ["the packaged model answers"],
        "note_phrases": [None],
    }


async def test_a_watching_client_does_not_keep_the_sidecar_awake(
    client: Client, engine: FakeEngine
) -> None:
    await client.get("/v1/health")
    await client.get("/openapi.json")
    assert engine.touches == 0
    await client.get("/v1/souls")
    assert engine.touches == 1


async def test_the_engine_lives_as_long_as_the_application(
    client: Client, engine: FakeEngine
) -> None:
    assert engine.running
    await client.close()
    assert not engine.running
