"""Units and anchors of a memory over HTTP."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.micro_units import (
    Anchor,
    AnchorKind,
    MicroUnit,
    Retention,
    UnitSpan,
)
from soulmem.engine.api.requests import MemoryPatch, NewAnchor, NewMemory, NewUnit
from soulmem.engine.api.results import MemoryView
from soulmem.server.resources.memory_responses import memory_response
from tests.server.conftest import Client
from tests.server.fake_engine import FakeEngine

NOON = datetime(2024, 3, 1, 12, tzinfo=timezone.utc)
TEXT = "She hid the 钥匙 in a well."
UNIT = {"text": "钥匙", "gist": "an object", "visibility": 0.5, "start": 12, "end": 14}
ANCHOR = {"text": "well", "kind": "forced"}


async def test_they_reach_the_engine_as_they_are_sent(client: Client, engine: FakeEngine) -> None:
    new = {"soul": "s1", "kind": "note", "text": TEXT, "units": [UNIT]}
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    made = await (await client.post("/v1/memories", json=new)).json()
    change = {"units": [UNIT, {"text": "in a well"}], "anchors": [ANCHOR]}
    path = f"/v1/memories/{made['id']}"
    assert (await client.patch(path, json=change)).status == 200
    assert (await client.patch(path, json={"units": []})).status == 200
    calls = {name: value for name, value in engine.calls if name == "create_memory"}
    created = calls["create_memory"]
    assert isinstance(created, NewMemory)
    unit = NewUnit("钥匙", 12, 14, "an object", 0.5)
    assert (created.units, created.anchors) == ((unit,), None)
    patches = [v for _, v in engine.calls if isinstance(v, MemoryPatch)]
    assert patches[0].units == (unit, NewUnit("in a well"))
    assert patches[0].anchors == (NewAnchor("well", AnchorKind.FORCED),)
    assert (patches[1].units, patches[1].anchors) == ((), None)


def test_they_are_shown_as_clear_as_they_are_by_now() -> None:
    state = Retention(0.123456789, 1080.0, NOON, 4.0)
    memory = Memory(MemoryId("m1"), SoulId("s1"), MemoryKind.NOTE, TEXT, Origin.USER, NOON)
    view = MemoryView(
        memory,
        (),
        visibility=0.123456789,
        reads=TEXT,
        units=(MicroUnit(UnitSpan(12, 14, "an object"), state),),
        anchors=(Anchor("well", AnchorKind.SPONTANEOUS, state),),
    )
    shown = memory_response(view)
    (unit,), (anchor,) = shown.units, shown.anchors
    assert (unit.text, unit.gist, unit.start, unit.end) == ("钥匙", "an object", 12, 14)
    assert (unit.visibility, unit.stability) == (0.123456789, 1080.0)
    assert (anchor.text, anchor.kind) == ("well", "spontaneous")
    assert (shown.text, shown.reworded) == (TEXT, None)


def test_the_units_of_a_rewording_are_parts_of_it() -> None:
    state = Retention(0.5, 1080.0, NOON, 4.0)
    memory = Memory(MemoryId("m1"), SoulId("s1"), MemoryKind.NOTE, TEXT, Origin.USER, NOON)
    view = MemoryView(memory, (), units=(MicroUnit(UnitSpan(0, 3), state),))
    shown = memory_response(replace(view, reads="The key is lost."))
    assert (shown.text, shown.reworded) == (TEXT, "The key is lost.")
    assert shown.units[0].text == "The"
