"""What the model for recall lacks is told over HTTP, and a job fetches it."""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.domain.ids import DEFAULT_OWNER
from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine


async def test_it_is_told_where_the_model_can_come_from(client: Client) -> None:
    answer = await client.get("/v1/embedder")
    assert (answer.status, await answer.json()) == (
        200,
        {
            "lack": "weights",
            "hub": "https://hub.example",
            "own_hub": False,
            "package": "pack==1.0",
            "job": None,
        },
    )


@pytest.mark.parametrize(
    ("body", "way", "hub"),
    [
        ({"way": "package"}, "package", ""),
        ({"way": "hub", "hub": "https://own.example"}, "hub", "https://own.example"),
        ({"way": "disk"}, "disk", ""),
    ],
)
async def test_a_job_fetches_it(
    client: Client, engine: FakeEngine, body: dict[str, Any], way: str, hub: str
) -> None:
    answer = await client.post("/v1/embedder", json=body)
    assert (answer.status, await answer.json()) == (202, {"job": "j3"})
    assert engine.calls == [("fetch_model", (DEFAULT_OWNER, way, hub))]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "way"),
        ({"way": "magic"}, "way"),
        ({"way": "hub", "hub": 1}, "hub"),
        ({"way": "package", "file": "/etc/passwd"}, "file"),
    ],
)
async def test_what_is_no_way_is_refused(
    client: Client, engine: FakeEngine, body: dict[str, Any], field: str
) -> None:
    await refused(await client.post("/v1/embedder", json=body), 422, field)
    assert engine.calls == []
