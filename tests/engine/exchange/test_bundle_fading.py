"""A bundle brings how texts fade, and refuses what no text can have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from soulmem.domain.ids import SoulId
from soulmem.domain.micro_units import AnchorKind
from soulmem.engine.api.requests import MemoryPatch, NewAnchor, NewUnit
from soulmem.transfer.bundle import FadingLine, encode, read_bundle
from tests.engine.exchange.test_bundle_import import exported, take_in
from tests.engine.stage import ME, Stage, line, lines

TEXT = "Mira lost the ring."
ANCHORS = (NewAnchor("ring", AnchorKind.FORCED),)


async def told_apart(stage: Stage) -> None:
    """An episode and a note with a unit and an anchor each."""
    await stage.sync("c1", [line("m1", TEXT), *lines(3, start=2)])
    note = (await stage.note("The ring lies in the well.")).memory.id
    for key in (note, await stage.find(f"Al: {TEXT}")):
        units = (NewUnit("the ring" if key != note else "the well", gist="a thing"),)
        patch = MemoryPatch(units=units, anchors=ANCHORS)
        await stage.engine.memories.patch(ME, key, patch)


async def test_units_and_anchors_go_along(stage: Stage) -> None:
    """Into an empty soul of that id, and into one of another."""
    await told_apart(stage)
    data = await exported(stage)
    records = await stage.store.fading(ME, SoulId("s1"))
    assert len(records) == 2
    other = Stage()
    await other.start()
    for soul in ("s1", "s9"):
        await other.soul(soul)
        await take_in(other, data, soul)
        there = await other.store.fading(ME, SoulId(soul))
        for record in records:
            copies = [r for r in there if r.wording == record.wording]
            same = [replace(r, memory=record.memory, soul=record.soul) for r in copies]
            assert same == [record]
        await other.engine.memories.get(ME, there[0].memory)
        mind = await other.mind(soul)
        assert all(mind.memories[r.memory].soul == soul for r in mind.fading)
    await other.stop()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"visibility":1.0', b'"visibility":1.5'),
        (b'"stability":600.0', b'"stability":0'),
        (b'"touched":"2', b'"touched":"x'),
        (b'"soul":"s1"', b'"soul":"s2"'),
        (b'"retold":null', b'"retold":{"text":"a","chat":"no id!","slot":"m1"}'),
    ],
)
async def test_a_state_that_cannot_be_is_a_broken_line(
    stage: Stage, old: bytes, new: bytes
) -> None:
    await told_apart(stage)
    data = await exported(stage)
    (record, _) = await stage.store.fading(ME, SoulId("s1"))
    raw = encode([FadingLine(record)])
    assert raw in data
    assert old in raw
    broken = read_bundle(data.replace(raw, raw.replace(old, new)))
    assert len(broken.broken) == 1
    assert record.memory not in broken.fading
    assert len(read_bundle(data).fading) == 2
